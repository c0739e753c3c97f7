/* Warps run ahead of their timing by one region: the region's instructions are
 * executed in program order when the warp reaches it, and what they did is kept
 * while they issue in the plan's order. Regions end at barriers, atomics, warp
 * operations and clock reads, so nothing another warp could see moves past them. */
#include "engine/sim/timing/warp.h"

#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/sim/timing/access.h"
#include "engine/sim/timing/group.h"
#include "engine/sim/timing/sm.h"

#include <string.h>

#define LOCAL_LINES (1ull << 43) /* line numbers no device address reaches */

uint64_t timing_local_line(const struct timing_sm *s, const struct timing_warp *w)
{
    return LOCAL_LINES + (((uint64_t)s->id * TIMING_SM_WARPS + (uint64_t)(w - s->warp)) << 20);
}

static inline uint32_t lanes_of(uint32_t m)
{
    if (m == EXEC_FULL)
        return WARP_LANES;
    m -= m >> 1 & 0x55555555u;
    m = (m & 0x33333333u) + (m >> 2 & 0x33333333u);
    return ((m + (m >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

static bool has_lines(const struct exec_access *a)
{
    return a->space == PTX_SPACE_GLOBAL || a->space == PTX_SPACE_LOCAL;
}

/* Turns of an atomic in global memory. Integers of one word are added before they leave the SM; old
 * parts serve lane by lane. A compare-and-swap brings two words a lane: where lanes share turns it has
 * twice as many. */
static void note_atomic(const struct sim_preset *g, const struct exec_inst *in, bool one,
                        struct timing_access *m, const struct exec_access *a)
{
    char kind = in->ptx->ntypes ? ptx_type_kind((enum ptx_type)in->ptx->type[0]) : 0;
    uint64_t word;
    m->passes = (uint8_t)lanes_of(a->mask);
    if (!(g->l2_atomic_cycles > 0))
        return;
    uint8_t turns = one && (kind == 'u' || kind == 's') ? 1 : timing_atomic_turns(a);
    m->level = kind == 'f' ? TIMING_LOOP : ptx_has_mod(in->ptx, PTX_MOD_CAS) ? TIMING_SWAP : 0;
    if (m->level == TIMING_LOOP)
        m->same = timing_same_word(a, &word);
    m->passes = m->level == TIMING_SWAP && turns < m->passes ? (uint8_t)(2 * turns) : turns;
}

static void note_shared_atomic(struct timing_access *m, const struct exec_inst *in,
                               const struct exec_access *a)
{
    char kind = in->ptx->ntypes ? ptx_type_kind((enum ptx_type)in->ptx->type[0]) : 0;
    uint64_t word;
    m->same = timing_same_word(a, &word);
    m->word = (uint32_t)(word / 4);
    m->level = kind == 'f' || kind == 'x'          ? TIMING_LOOP
               : ptx_has_mod(in->ptx, PTX_MOD_CAS) ? TIMING_SWAP
                                                   : 0;
}

/* Brings what an SM knows of a load's lines into the host's cache. */
static inline void prefetch_lines(const struct timing_sm *s, const uint64_t *lines, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        cache_l1_prefetch(&s->l1, timing_line(lines[i]));
        timing_mem_prefetch(s, timing_line(lines[i]));
    }
}

/* Makes room for one access and n lines. Most regions have few of both, and an SM has many warps.
 * Without memory the SM is marked and its group ends. */
static bool access_room(struct timing_sm *s, struct timing_work *k)
{
    size_t cap = k->cap_mem;
    if (k->nmem < cap)
        return true;
    s->oom |= !base_grow((void **)&k->mem, k->nmem, &cap, sizeof *k->mem);
    k->cap_mem = (uint16_t)cap;
    return k->nmem < cap;
}
static inline bool line_room(struct timing_sm *s, struct timing_work *k, uint32_t n)
{
    if (k->nlines + n <= k->cap_lines)
        return true;
    size_t cap = k->cap_lines;
    while (!s->oom && cap < k->nlines + n)
        s->oom |= !base_grow((void **)&k->lines, cap, &cap, sizeof *k->lines);
    k->cap_lines = (uint16_t)cap;
    return !s->oom;
}

/* The common case: a load of global memory by all lanes in order, within one line. False: this
 * access is not like that. */
static inline bool keep_row(struct timing_sm *s, struct timing_warp *w, uint32_t at,
                            const struct exec_access *a)
{
    struct timing_work *k = w->work;
    uint64_t first = a->addr[0], last = first + (uint64_t)a->bytes * WARP_LANES - 1;
    if (a->shape != SHAPE_SEQ || a->kind != ACCESS_LOAD || a->space != PTX_SPACE_GLOBAL || a->bulk ||
        (first ^ last) >> CACHE_LINE_SHIFT)
        return false;
    if (!line_room(s, k, 1))
        return true;
    k->lines[k->nlines] = time_row(first, last);
    prefetch_lines(s, &k->lines[k->nlines], 1);
    k->mem[k->nmem] = (struct timing_access){ .kind = ACCESS_LOAD,
                                              .space = PTX_SPACE_GLOBAL,
                                              .level = a->level,
                                              .bytes = a->bytes,
                                              .hint = a->hint,
                                              .passes = 1,
                                              .lanes = (uint8_t)lanes_of(a->mask),
                                              .first = (uint16_t)k->nlines++,
                                              .nlines = 1 };
    k->mem_of[at] = (uint8_t)++k->nmem;
    return true;
}

/* All lines of a bulk or tensor copy. */
static void keep_box(struct timing_sm *s, struct timing_work *k, struct timing_access *m,
                     const struct exec_access *a)
{
    m->box = (uint32_t)k->nbox;
    while (!s->oom && k->cap_box < k->nbox + a->nbox)
        s->oom |= !base_grow((void **)&k->box, k->cap_box, &k->cap_box, sizeof *k->box);
    if (s->oom)
        return;
    memcpy(k->box + k->nbox, a->box, a->nbox * sizeof *k->box);
    k->nbox += a->nbox;
    m->nbox = a->nbox;
}

/* What the instruction just executed leaves to be told to mbarriers. */
static void keep_late(struct timing_sm *s, struct timing_warp *w)
{
    struct timing_work *k = w->work;
    uint32_t n;
    const struct exec_late *l = exec_late_take(exec_cta_worker(s->cta[w->cta].x), &n);
    struct timing_access *m = k->nmem ? &k->mem[k->nmem - 1] : NULL;
    for (uint32_t i = 0; i < n; i++) {
        if (m && !l[i].starts && k->nlate < TIMING_LATES &&
            base_grow((void **)&k->late, k->nlate, &k->cap_late, sizeof *k->late)) {
            if (!m->nlate)
                m->late = (uint8_t)k->nlate;
            m->nlate++;
            k->late[k->nlate++] = l[i];
        } else {
            timing_late_put(s, w->cta, &l[i],
                            l[i].starts || w->release > k->async ? w->release : k->async,
                            (struct timing_why){ .rest = timing_blame_of(k->held_at, LIMIT_BARRIERS) });
        }
    }
}

static void keep_access(struct timing_sm *s, struct timing_warp *w, uint32_t at, uint32_t pc,
                        const struct exec_access *a)
{
    struct timing_work *k = w->work;
    if (!access_room(s, k))
        return;
    if (keep_row(s, w, at, a))
        return;
    struct timing_access *m = &k->mem[k->nmem];
    uint64_t lines[2 * WARP_LANES];
    *m = (struct timing_access){ .kind = a->kind,
                                 .space = a->space,
                                 .level = a->level,
                                 .bytes = a->bytes,
                                 .hint = a->hint,
                                 .fill = a->fill,
                                 .passes = 1,
                                 .lanes = (uint8_t)lanes_of(a->mask),
                                 .first = (uint16_t)k->nlines };
    const struct sim_preset *g = s->group->t->g;
    if (a->space == PTX_SPACE_LOCAL) {
        m->nlines = (uint8_t)timing_coalesce_local(a, timing_local_line(s, w), lines);
    } else if (a->nbox) {
        m->lanes = 1;
    } else if (has_lines(a)) {
        m->nlines = (uint8_t)timing_coalesce(a, lines);
        if (a->kind == ACCESS_LOAD)
            prefetch_lines(s, lines, m->nlines);
        if (a->kind == ACCESS_ATOMIC || a->kind == ACCESS_RED)
            note_atomic(g, &s->group->t->p->code[pc], s->group->t->plan.op[pc].flags & TIMING_ONE_WORD,
                        m, a);
        if (a->kind == ACCESS_STORE && !a->bulk)
            m->torn = (uint8_t)timing_store_torn(a);
        if (a->kind == ACCESS_LOAD && m->nlines > 1)
            m->passes = timing_bank_passes(a, (uint32_t)g->shared_banks, (uint32_t)g->shared_bank_bytes);
    } else if (a->space == PTX_SPACE_CONST || a->space == PTX_SPACE_PARAM) {
        m->passes = timing_distinct_words(a);
        if (a->space == PTX_SPACE_CONST && g->const_bytes &&
            s->group->t->p->code[pc].ptx->opnds[1].base == BASE_REG)
            m->nlines = (uint8_t)timing_coalesce(a, lines);
    } else {
        if (a->kind == ACCESS_ATOMIC || a->kind == ACCESS_RED)
            note_shared_atomic(m, &s->group->t->p->code[pc], a);
        m->passes = timing_bank_passes(a, (uint32_t)g->shared_banks, (uint32_t)g->shared_bank_bytes);
    }
    if (a->nbox) {
        keep_box(s, k, m, a);
        m->nlines = 0;
    }
    m->pieces = a->bulk > TIMING_BULK
                    ? (uint8_t)((a->bulk - 1) / TIMING_BULK < 255 ? (a->bulk - 1) / TIMING_BULK : 255)
                    : 0;
    uint32_t n = m->torn == TIMING_APART ? 2u * m->nlines : m->nlines;
    if (!line_room(s, k, n))
        return;
    /* there may be no room for any yet */
    if (m->nlines)
        memcpy(k->lines + k->nlines, lines, m->nlines * sizeof *lines);
    if (n > m->nlines)
        timing_store_halves(a, lines, m->nlines, k->lines + k->nlines + m->nlines);
    k->nlines = (uint16_t)(k->nlines + n);
    k->mem_of[at] = (uint8_t)++k->nmem;
}

/* An access that is made together with others: all of it where it is the one that is made, else nothing. */
static void keep_made(struct timing_sm *s, struct timing_warp *w, uint32_t at, uint32_t pc,
                      const struct exec_access *a)
{
    const struct timing_op *o = &s->group->t->plan.op[pc];
    struct exec_access wide;
    if (o->flags & TIMING_FREE)
        return;
    if (!o->wide) {
        keep_access(s, w, at, pc, a);
        return;
    }
    wide = *a;
    if (a->shape == SHAPE_SEQ)
        exec_access_spread(&wide);
    wide.bytes = o->wide;
    for (uint32_t l = 0; l < (a->shape == SHAPE_SAME ? 1 : WARP_LANES); l++)
        wide.addr[l] -= o->before;
    keep_access(s, w, at, pc, &wide);
}

#define MOST_MEMORY 2u /* times the memory instructions and lines that one region has */

/* Copies of a loop's body executed together may have as many times what one region may. */
static inline bool has_room(const struct timing_work *k, uint32_t copies)
{
    copies = copies < MOST_MEMORY ? copies : MOST_MEMORY;
    return k->nmem < TIMING_MEMS * copies && k->nlate + WARP_LANES <= TIMING_LATES &&
           k->nlines + 2 * WARP_LANES <= TIMING_LINES * copies;
}

/* code[pc + place - lo] is what is executed. */
struct keeper {
    struct timing_sm *s;
    struct timing_warp *w;
    uint32_t copies, pc, from;
};
static bool keep_nth(void *ctx, uint32_t nth, const struct exec_access *a)
{
    struct keeper *k = ctx;
    keep_made(k->s, k->w, k->from + nth, k->pc + nth, a);
    keep_late(k->s, k->w);
    return has_room(k->w->work, k->copies);
}

/* code[pc .. pc + n) by so many lanes of a warp. */
static inline void count_work(struct timing_sm *s, uint32_t pc, uint32_t n, uint32_t lanes)
{
    const struct timing_plan *plan = &s->group->t->plan;
    for (unsigned k = 0; k < PIPE_COUNT; k++)
        if (plan->work[k])
            s->flop[k] += lanes * (plan->work[k][pc + n] - plan->work[k][pc]);
}

/* Instructions from `pc` on, which `most` are left of, as far as they need no branch or barrier. False:
 * there is no more to execute now. */
static bool run_straight(struct timing_sm *s, struct timing_warp *w, const struct timing_region *r,
                         uint32_t pc, uint32_t most, uint32_t t, struct exec_step *st)
{
    struct keeper k = { s, w, r->copies, pc, (uint32_t)w->hi - w->lo };
    uint32_t active = 0, n = exec_straight(w->x, t, most, &st->access, keep_nth, &k, &active);
    if (!n)
        return true;
    st->event = exec_warp_faulted(w->x) ? STEP_FAULT : STEP_DONE;
    st->branched = false;
    s->inst_warp += n;
    w->work->lanes = (uint8_t)lanes_of(active);
    s->inst_thread += (uint64_t)n * w->work->lanes;
    count_work(s, pc, n, w->work->lanes);
    w->hi = (uint8_t)(w->hi + n);
    w->pending = (uint8_t)(w->pending + n);
    return st->event == STEP_DONE && n < most && has_room(w->work, r->copies);
}

/* Executes the region's code from w->hi on up to its end, or what stops it before. True: to its end. */
static bool run_once(struct timing_sm *s, struct timing_warp *w, const struct timing_region *r,
                     uint32_t t, struct exec_step *st)
{
    const struct exec_inst *code = s->group->t->p->code;
    uint32_t begin = w->hi - w->hi % r->n, end = begin + r->n, first = r->first - begin;
    if (!run_straight(s, w, r, first + w->hi, end - w->hi, t, st))
        return false;
    for (;;) {
        st->access.kind = ACCESS_NONE;
        exec_step(w->x, t, st);
        w->work->woke |= st->woke;
        if (st->event == STEP_BLOCKED || st->event == STEP_FAULT)
            return false;
        uint32_t at = (uint32_t)w->hi - w->lo, pc = first + w->hi;
        w->work->mem_of[at] = 0;
        s->inst_warp++;
        s->inst_thread += w->work->lanes = (uint8_t)lanes_of(st->active);
        count_work(s, pc, 1, lanes_of(st->mask));
        if (st->access.kind != ACCESS_NONE && st->access.mask)
            keep_made(s, w, at, pc, &st->access);
        keep_late(s, w);
        w->hi++;
        w->pending++;
        if (st->event != STEP_DONE || !has_room(w->work, r->copies))
            return false;
        if (w->hi == end)
            return true;
        if (exec_warp_peek(w->x) != &code[pc + 1] || !run_straight(s, w, r, pc + 1, end - w->hi, t, st))
            return false;
    }
}

/* As many turns of a loop as are scheduled together: those that the warp makes. */
static void run_region(struct timing_sm *s, struct timing_warp *w, const struct timing_region *r,
                       uint32_t t, struct exec_step *st)
{
    const struct exec_inst *first = &s->group->t->p->code[r->first];
    while (run_once(s, w, r, t, st) && w->hi < r->n * r->copies && exec_warp_peek(w->x) == first)
        continue;
}

/* What the copies left in their own slots becomes the registers'. */
static void settle(const struct timing_plan *plan, struct timing_warp *w)
{
    const struct timing_region *r = &plan->region[w->region];
    if (r->copies < 2 || w->hi == w->lo)
        return;
    uint32_t from = w->hi > w->lo + r->n ? w->hi - r->n : w->lo;
    const struct timing_left *l = &plan->left[r->left + from / r->n * r->nleft],
                             *end = &plan->left[r->left + ((w->hi - 1u) / r->n + 1) * r->nleft];
    for (; l < end; l++)
        if (l->at >= from && l->at < w->hi)
            w->slot[l->reg] = w->slot[l->own];
}

enum fetch_result timing_warp_fetch(struct timing_sm *s, struct timing_warp *w, uint32_t t,
                                    const struct timing_slot **first)
{
    const struct timing_launch *l = s->group->t;
    const struct exec_inst *in = exec_warp_peek(w->x);
    if (w->gone)
        return FETCH_ENDED;
    if (!in)
        return exec_warp_done(w->x) ? FETCH_ENDED : FETCH_BLOCKED;
    uint32_t pc = (uint32_t)(in - l->p->code);
    struct exec_step st;
    settle(&l->plan, w);
    w->region = l->plan.op[pc].region;
    const struct timing_region *r = &l->plan.region[w->region];
    *first = &l->plan.slot[r->order];
    w->lo = w->hi = (uint8_t)(pc - r->first);
    w->pending = 0;
    w->work->nmem = w->work->nlines = 0;
    w->work->nbox = w->work->nlate = 0;
    w->work->woke = false;
    memset(w->work->mem_of, 0, r->n * r->copies);
    run_region(s, w, r, t, &st);
    if (st.event == STEP_FAULT)
        return FETCH_FAULT;
    w->last = (uint8_t)(w->hi > w->lo ? (w->hi - 1u) / r->n * r->n : 0);
    w->branched = st.branched;
    s->cta[w->cta].inst += (uint32_t)w->hi - w->lo;
    s->warp_inst[s->cta[w->cta].first_warp + w->index] += (uint32_t)w->hi - w->lo;
    if (w->pending)
        return FETCH_READY;
    return exec_warp_done(w->x) ? FETCH_ENDED : FETCH_BLOCKED;
}
