/* Where the issue slots of schedulers go: each cycle to one cause and one instruction. */
#include "engine/sim/timing/spent.h"

#include "engine/ptx/ptx.h"
#include "engine/sim/decoded.h"
#include "engine/sim/timing/group.h"
#include "engine/sim/timing/sm.h"
#include "engine/sim/timing/warp.h"

/* ---- what was waited for ---- */

struct timing_why timing_why_of(const struct timing_sm *s, const struct timing_stages *x, uint32_t pc,
                                uint8_t turns, uint8_t rest)
{
    const uint8_t cause[STAGE_COUNT] = {
        [STAGE_UNIT] = s->now.ahead.cause, [STAGE_TURNS] = turns,
        [STAGE_TRACKER] = LIMIT_L1,        [STAGE_L2] = LIMIT_L2,
        [STAGE_DRAM] = LIMIT_DRAM,         [STAGE_ATOMICS] = LIMIT_ATOMICS
    };
    float all = 0, most = 0;
    uint32_t longest = STAGE_UNIT;
    for (uint32_t k = 0; k < STAGE_COUNT; k++) {
        all += x->took[k];
        longest = x->took[k] > most ? k : longest;
        most = x->took[k] > most ? x->took[k] : most;
    }
    return (struct timing_why){ .queue = timing_blame_of(longest == STAGE_UNIT ? s->now.ahead.pc : pc,
                                                         cause[longest]),
                                .queued = (uint32_t)all,
                                .rest = timing_blame_of(pc, rest) };
}

/* What there is at `until`; else as said. */
static struct timing_why noted(const struct timing_waits *w, uint32_t until, struct timing_blame other)
{
    const struct timing_wait *v = w->v[timing_wait_set(until)];
    for (unsigned k = 0; k < TIMING_WAIT_WAYS; k++)
        if (v[k].until == until)
            return v[k].why;
    return (struct timing_why){ .rest = other };
}

/* ---- giving cycles to causes ---- */

static void give(struct timing_sm *s, const struct timing_sched *q, struct timing_blame to, uint32_t n)
{
    s->spent[to.pc].cycles[to.cause] += n;
    if (to.cause == LIMIT_LATENCY)
        s->resident += (double)n * q->live;
}

/* The first warp that was there before `from` says what the scheduler waited for while another one
 * started; with none there: that others of the SM were not done, then that the start took so long. */
static void give_start(struct timing_sm *s, const struct timing_sched *q, uint32_t pc, uint32_t from,
                       uint32_t to)
{
    for (uint32_t i = q->id; i < s->nwarps; i += s->nscheds) {
        const struct timing_warp *w = &s->warp[i];
        if (w->state == WARP_BARRIER && w->started < from) {
            give(s, q, timing_blame_of(w->work->held_at, LIMIT_BARRIERS), to - from);
            return;
        }
        if (w->state != WARP_RUN || w->started >= from || !w->next || w->operands <= from)
            continue;
        struct timing_why y = noted(w->work->waits, w->operands - w->next->late,
                                    timing_blame_of(w->next->pc, LIMIT_LATENCY));
        give(s, q, y.queued ? y.queue : y.rest, to - from);
        return;
    }
    uint32_t over = s->until > from ? s->until < to ? s->until : to : from;
    give(s, q, timing_blame_of(pc, LIMIT_IMBALANCE), over - from);
    give(s, q, timing_blame_of(pc, LIMIT_LAUNCH), to - over);
}

static void give_wait(struct timing_sm *s, const struct timing_sched *q, const struct timing_why *y,
                      uint32_t pc, uint32_t from, uint32_t to)
{
    uint32_t n = to - from, queued = y->queued < n ? y->queued : n;
    if (y->rest.cause == LIMIT_LAUNCH) {
        give_start(s, q, pc, from, to);
        return;
    }
    if (queued)
        give(s, q, y->queue, queued);
    if (n > queued)
        give(s, q, y->rest, n - queued);
}

static uint8_t unit_cause(uint8_t unit)
{
    return unit == UNIT_TENSOR ? LIMIT_TENSOR : unit == UNIT_LSU ? LIMIT_L1 : LIMIT_ISSUE;
}

enum { BY_OPERANDS, BY_UNIT, BY_ROOM, BY_RELEASE, BYS };

/* Cycles of a result that no memory instruction or barrier noted: arithmetic, branches and calls take less. */
#define LONGEST 128u
static struct timing_why why_by(const struct timing_sm *s, const struct timing_sched *q,
                                const struct timing_warp *w, const struct timing_slot *o, unsigned by)
{
    bool brief = (by == BY_OPERANDS ? w->operands : w->release) - q->free < LONGEST;
    struct timing_blame here = timing_blame_of(o->pc, brief ? LIMIT_LATENCY : LIMIT_UNKNOWN);
    switch (by) {
    case BY_OPERANDS: return noted(w->work->waits, w->operands - o->late, here);
    case BY_UNIT: return (struct timing_why){ .rest = timing_blame_of(o->pc, unit_cause(o->unit)) };
    case BY_ROOM: return (struct timing_why){ .rest = timing_lsu_holder(s, q) };
    default: return noted(w->work->waits, w->release, here);
    }
}

/* From the last that was there to the first: each has the cycles in which it alone was missing. */
void timing_spend_wait(struct timing_sm *s, const struct timing_sched *q, const struct timing_warp *w,
                       const struct timing_slot *o, uint32_t room, uint32_t t)
{
    uint32_t at[BYS] = { w->operands, q->from[o->unit], room, w->release }, to = t;
    struct timing_why y = { .rest = timing_blame_of(o->pc, LIMIT_UNKNOWN) };
    if (s->wants[w - s->warp] == TIMING_WANT_ROOM) /* others took the room that there was */
        y.rest = timing_lsu_holder(s, q);
    for (unsigned k = 0; k < BYS; k++) {
        unsigned last = 0;
        for (unsigned i = 1; i < BYS; i++)
            last = at[i] > at[last] ? i : last;
        if (at[last] <= q->free)
            break;
        if (at[last] < to) {
            give_wait(s, q, &y, o->pc, at[last], to);
            to = at[last];
        }
        y = why_by(s, q, w, o, last);
        at[last] = 0;
    }
    give_wait(s, q, &y, o->pc, q->free, to);
}

static void spend_end(struct timing_sm *s, uint32_t end, struct timing_blame to)
{
    for (uint32_t i = 0; i < s->nscheds; i++) {
        struct timing_sched *q = &s->sched[i];
        struct timing_blame by =
            q->free ? to : timing_blame_of(q->pc, LIMIT_GRID); /* never had a warp */
        if (q->free < end)
            s->spent[by.pc].cycles[by.cause] += end - q->free;
        q->free = q->free < end ? end : q->free;
    }
}

/* ---- of a group ---- */

bool timing_spent_new(struct timing_group *g)
{
    g->spent = base_alloc((2 * (size_t)g->nworkers * g->t->p->ncode + 1) * sizeof *g->spent);
    return g->spent;
}

void timing_spent_free(struct timing_group *g)
{
    base_free(g->spent);
    g->spent = NULL;
}

/* The queue of memory that the launch waited for most, and the instruction that did; cause LIMIT_IMBALANCE:
 * none. */
static struct timing_blame longest_queue(const struct timing_group *g)
{
    static const uint8_t queues[] = { LIMIT_DRAM, LIMIT_L2, LIMIT_ATOMICS, LIMIT_COALESCING_LOAD,
                                      LIMIT_COALESCING_STORE };
    uint64_t most = 0;
    struct timing_blame to = { 0, LIMIT_IMBALANCE };
    for (unsigned k = 0; k < ARRAY_LEN(queues); k++) {
        uint64_t all = 0, top = 0;
        uint32_t pc = 0, n = g->t->p->ncode;
        for (size_t i = 0; i < (size_t)n * g->nworkers; i++)
            all += g->spent[i].cycles[queues[k]];
        for (uint32_t i = 0; i < n; i++) {
            uint64_t here = 0;
            for (uint32_t w = 0; w < g->nworkers; w++)
                here += g->spent[(size_t)w * n + i].cycles[queues[k]];
            pc = here > top ? i : pc;
            top = here > top ? here : top;
        }
        if (all > most)
            to = timing_blame_of(pc, queues[k]);
        most = all > most ? all : most;
    }
    return to;
}

/* An SM that had as much to do as the others was served sooner: their queues are what is waited for. */
#define AS_MUCH 0.9
void timing_spent_end(struct timing_group *g)
{
    struct timing_blame queue = longest_queue(g), work = timing_blame_of(queue.pc, LIMIT_IMBALANCE);
    uint64_t most = 0;
    for (uint32_t i = 0; i < g->nsms; i++)
        most = g->sm[i].inst_warp > most ? g->sm[i].inst_warp : most;
    for (uint32_t i = 0; i < g->nsms; i++)
        spend_end(&g->sm[i], g->last_end,
                  (double)g->sm[i].inst_warp >= AS_MUCH * (double)most ? queue : work);
}

void timing_spent_stop(struct timing_group *g)
{
    for (uint32_t i = 0; i < g->nsms; i++) {
        /* idle since its work ended: the others had more */
        if (g->sm[i].at == UINT32_MAX)
            spend_end(&g->sm[i], g->now, timing_blame_of(0, LIMIT_IMBALANCE));
        g->sm[i].spent += (size_t)g->nworkers * g->t->p->ncode;
    }
}

static void add_row(struct limit_row *to, const struct timing_spent *x)
{
    for (unsigned c = 0; c < LIMIT_COUNT; c++)
        to->cycles[c] += x->cycles[c];
    to->read += x->read;
    to->used += x->used;
    to->stored += x->stored;
    to->kept += x->kept;
    to->atomics += x->atomics;
    to->local += x->local;
}

static bool is_empty(const struct limit_row *r)
{
    for (unsigned c = 0; c < LIMIT_COUNT; c++)
        if (r->cycles[c])
            return false;
    return !(r->read || r->stored || r->atomics || r->local);
}

/* The launch's slots: those of SMs that no CTA came to, and how many warps there were. */
static void describe(const struct timing_group *g, uint32_t n, const struct limit_row *rows,
                     size_t nrows, struct limit_launch *l)
{
    const struct timing_launch *t = g->t;
    double scheds = (double)t->g->schedulers, latency = 0, all = 0, resident = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < g[i].nsms; k++)
            resident += g[i].sm[k].resident;
    for (size_t i = 0; i < nrows; i++)
        for (unsigned c = 0; c < LIMIT_COUNT; c++) {
            all += (double)rows[i].cycles[c];
            latency += c == LIMIT_LATENCY ? (double)rows[i].cycles[c] : 0;
        }
    double sms = (double)t->units * t->span,
           used = t->nctas < t->units ? (double)t->nctas * t->span : sms;
    *l = (struct limit_launch){
        .facts = { .ctas = (double)(t->nctas * t->cluster),
                   .sms = (float)((double)t->g->sms),
                   .used = (float)(used),
                   .warps_most = (float)((double)t->g->max_warps),
                   .warps_room = (float)((double)t->ctas_per_sm * t->warps_per_cta),
                   .warps_held = (float)(latency > 0 ? scheds * resident / latency : 0),
                   .cta_threads = (uint32_t)dim3u_count(t->l->block),
                   .held_by = t->held_by },
        .waves = t->nctas > (uint64_t)t->units * t->ctas_per_sm,
        .idle = all * ((double)t->g->sms - used) / used
    };
}

/* A function of the compiler's own (pow ...) names no lines: its time is that of the line which calls it. */
static struct limit_row row_of(const struct sim_program *p, const struct exec_inst *in)
{
    const struct ptx_func *f = in->func->ptx, *kernel = p->funcs[0].ptx;
    struct ptx_place at = f->nlocs || !kernel->nlocs ? ptx_place_near(p->module, f, in->ptx)
                                                     : ptx_place_of_call(p->module, kernel, f);
    struct limit_row r = { .line = in->ptx->at.line };
    if (at.line && at.file) {
        r.source = at.line;
        r.file = p->module->files[at.file];
    }
    return r;
}

enum status timing_spent_take(const struct timing_group *g, uint32_t n, struct limit_row **rows,
                              size_t *nrows, struct limit_launch *l)
{
    const struct sim_program *p = g->t->p;
    struct limit_row *v = base_alloc((p->ncode + 1) * sizeof *v);
    if (!v)
        return ST_NOMEM;
    size_t k = 0;
    for (uint32_t pc = 0; pc < p->ncode; pc++) {
        struct limit_row r = row_of(p, &p->code[pc]);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < g[i].nworkers; j++)
                add_row(&r, &g[i].spent[(size_t)j * p->ncode + pc]);
        if (!is_empty(&r))
            v[k++] = r;
    }
    describe(g, n, v, k, l);
    base_free(*rows);
    *rows = v;
    *nrows = k;
    return ST_OK;
}
