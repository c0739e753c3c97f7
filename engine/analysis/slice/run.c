/* Running slices: a warp is a list of (pc, lanes) groups per call frame; the group
 * that stands first in the function's order runs, so that groups meet where their
 * ways join (at the immediate post-dominator at the latest). A CTA runs its warps
 * in index order from barrier to barrier. */
#include "engine/analysis/slice/mem.h"
#include "engine/analysis/slice/slice.h"
#include "engine/analysis/symbolic/bulk.h"
#include "engine/analysis/symbolic/env.h"
#include "engine/analysis/symbolic/eval.h"
#include "engine/base/base.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"

#include <string.h>

/* ---- set-up ---- */
static void fill(uint64_t *row, uint64_t v)
{
    for (int l = 0; l < 32; l++)
        row[l] = v;
}
static void fill_sreg(const struct slice_cta *c, const struct slice_warp *w, const struct slice_sreg *r,
                      uint64_t *row)
{
    const struct env *v = c->s->v;
    uint32_t bx = v->block.x, by = v->block.y;
    const uint32_t ntid[4] = { bx, by, v->block.z, 0 }, ncta[4] = { v->grid.x, v->grid.y, v->grid.z, 0 };
    const uint64_t cta[4] = { c->id % v->grid.x, c->id / v->grid.x % v->grid.y,
                              c->id / v->grid.x / v->grid.y, 0 };
    unsigned k = r->comp < 0 ? 0 : (unsigned)r->comp & 3;
    for (uint32_t l = 0; l < 32; l++) {
        uint32_t t = w->index * 32 + l;
        const uint32_t tid[4] = { t % bx, t / bx % by, t / bx / by, 0 };
        switch (r->sreg) {
        case PTX_SREG_TID: row[l] = tid[k]; break;
        case PTX_SREG_NTID: row[l] = ntid[k]; break;
        case PTX_SREG_CTAID: row[l] = cta[k]; break;
        case PTX_SREG_NCTAID: row[l] = ncta[k]; break;
        case PTX_SREG_LANEID: row[l] = l; break;
        case PTX_SREG_WARPID: row[l] = w->index; break;
        case PTX_SREG_NWARPID: row[l] = c->nwarps; break;
        case PTX_SREG_LANEMASK_EQ: row[l] = UINT32_C(1) << l; break;
        case PTX_SREG_LANEMASK_LT: row[l] = (UINT32_C(1) << l) - 1; break;
        case PTX_SREG_LANEMASK_LE: row[l] = (UINT32_C(2) << l) - 1; break;
        case PTX_SREG_LANEMASK_GT: row[l] = ~((UINT32_C(2) << l) - 1) & 0xffffffffu; break;
        case PTX_SREG_LANEMASK_GE: row[l] = ~((UINT32_C(1) << l) - 1) & 0xffffffffu; break;
        case PTX_SREG_DYNAMIC_SMEM_SIZE: row[l] = v->shared_dynamic; break;
        case PTX_SREG_TOTAL_SMEM_SIZE: row[l] = v->shared_static + v->shared_dynamic; break;
        case PTX_SREG_NCLUSTERID: row[l] = ncta[k]; break;
        case PTX_SREG_CLUSTERID: row[l] = cta[k]; break;
        case PTX_SREG_CLUSTER_NCTAID:
        case PTX_SREG_CLUSTER_NCTARANK:
        case PTX_SREG_NSMID: row[l] = 1; break;
        default: row[l] = 0; break; /* clocks, ids of the machine: no launch decides them */
        }
    }
}
static bool open_frame(struct slice_cta *c, struct slice_warp *w, const struct slice_func *f,
                       uint32_t lanes, const struct slice_op *call)
{
    if (w->nframes == SLICE_MAX_FRAMES ||
        !base_grow((void **)&w->stack, w->n, &w->cap, sizeof *w->stack))
        return false;
    struct slice_frame *fr = &w->frame[w->nframes];
    if (!fr->rows || fr->f != f) {
        uint64_t *rows = base_realloc(fr->rows, ((size_t)f->nrows + 1) * 32 * sizeof *rows);
        if (!rows)
            return false;
        fr->rows = rows;
        fr->f = f;
        memset(rows, 0, ((size_t)f->nrows + 1) * 32 * sizeof *rows);
        for (uint32_t k = 0; k < f->nconsts; k++)
            fill(rows + (size_t)f->consts[k].row * 32, f->consts[k].v);
    }
    for (uint32_t k = 0; k < f->nsregs; k++)
        fill_sreg(c, w, &f->sregs[k], fr->rows + (size_t)f->sregs[k].row * 32);
    fr->base = (uint32_t)w->n;
    fr->lanes = lanes;
    fr->call = call;
    w->nframes++;
    w->stack[w->n++] = (struct slice_entry){ 0, lanes };
    return true;
}
/* No GPU has more of it: what a text declares beyond is never reached by an address that is followed. */
#define MOST_SHARED (4u << 20)   /* bytes of a CTA */
#define MOST_LOCAL  (512u << 10) /* bytes of a thread */

struct slice_cta *slice_cta_new(struct slice *s)
{
    struct slice_cta *c = base_alloc(sizeof *c);
    if (!c)
        return NULL;
    c->s = s;
    c->nwarps = env_warps(s->v);
    uint64_t shared = (uint64_t)s->v->shared_static + s->v->shared_dynamic + 16;
    uint32_t local = s->v->local_bytes < MOST_LOCAL ? s->v->local_bytes : MOST_LOCAL;
    c->nshared = shared < MOST_SHARED ? (uint32_t)shared : MOST_SHARED;
    c->nlocal = local;
    c->warp = base_alloc(sizeof *c->warp * (c->nwarps + 1));
    c->shared = base_alloc(c->nshared);
    bool ok = c->warp && c->shared;
    for (uint32_t w = 0; ok && w < c->nwarps && local; w++)
        ok = (c->warp[w].local = base_alloc((size_t)32 * local)) != NULL;
    if (!ok) {
        slice_cta_free(c);
        return NULL;
    }
    return c;
}
void slice_cta_free(struct slice_cta *c)
{
    if (!c)
        return;
    for (uint32_t w = 0; c->warp && w < c->nwarps; w++) {
        for (uint32_t k = 0; k < SLICE_MAX_FRAMES; k++)
            base_free(c->warp[w].frame[k].rows);
        base_free(c->warp[w].stack);
        base_free(c->warp[w].local);
        slice_spin_free(&c->warp[w]);
    }
    base_free(c->warp);
    base_free(c->run);
    base_free(c->shared);
    base_free(c);
}
void slice_cta_start(struct slice_cta *c, uint64_t cta)
{
    uint32_t threads = env_threads(c->s->v);
    c->id = cta;
    memset(c->shared, 0, c->nshared);
    for (uint32_t k = 0; k < c->nwarps; k++) {
        struct slice_warp *w = &c->warp[k];
        uint32_t left = threads - k * 32;
        w->index = k;
        w->present = left < 32 ? left : 32;
        w->waiting = w->done = false;
        w->left = SLICE_WARP_OPS;
        slice_spin_begin(w);
        w->n = w->nframes = 0;
        w->red = NULL;
        if (!open_frame(c, w, &c->s->f[0], w->present == 32 ? ~0u : (UINT32_C(1) << w->present) - 1,
                        NULL)) {
            c->s->status = ST_NOMEM;
            w->done = true;
        }
    }
}
bool slice_warp_done(const struct slice_cta *c, uint32_t w)
{
    return c->warp[w].done;
}
void slice_warp_end(struct slice_cta *c, uint32_t w)
{
    c->warp[w].done = true;
    c->warp[w].waiting = false;
}
bool slice_warp_waits(const struct slice_cta *c, uint32_t w)
{
    return c->warp[w].waiting;
}

/* ---- control ---- */
static uint32_t mask_of(const uint64_t *row, bool neg)
{
    uint32_t m = 0;
    for (int l = 0; l < 32; l++)
        m |= (uint32_t)(row[l] & 1) << l;
    return neg ? ~m : m;
}
static uint32_t rank_of(const struct slice_func *f, uint32_t pc)
{
    return pc < f->nops ? f->rank[pc] : UINT32_MAX;
}
/* Puts a group in its place: lowest rank on top, one group per pc. */
static bool place(struct slice_warp *w, const struct slice_frame *fr, uint32_t pc, uint32_t mask)
{
    uint32_t rank = rank_of(fr->f, pc);
    size_t k = w->n;
    while (k > fr->base && rank_of(fr->f, w->stack[k - 1].pc) < rank)
        k--;
    if (k > fr->base && w->stack[k - 1].pc == pc) {
        w->stack[k - 1].mask |= mask;
        return true;
    }
    if (!base_grow((void **)&w->stack, w->n, &w->cap, sizeof *w->stack))
        return false;
    memmove(&w->stack[k + 1], &w->stack[k], sizeof *w->stack * (w->n - k));
    w->stack[k] = (struct slice_entry){ pc, mask };
    w->n++;
    return true;
}
/* Lanes `taken` go to the target, the others of the group go on. */
static bool diverge(struct slice_warp *w, const struct slice_frame *fr, const struct slice_op *o,
                    uint32_t taken)
{
    struct slice_entry e = w->stack[w->n - 1];
    uint32_t rest = e.mask & ~taken;
    if (!taken || !rest) {
        w->stack[w->n - 1].pc = taken ? o->target : e.pc + 1;
        return true;
    }
    w->n--;
    return place(w, fr, e.pc + 1, rest) && place(w, fr, o->target, taken);
}
static bool jump_table(struct slice_warp *w, const struct slice_frame *fr, const struct slice_op *o,
                       uint32_t mask)
{
    const struct ptx_label *t = &fr->f->func->labels[o->list];
    const uint64_t *idx = fr->rows + (size_t)o->a * 32;
    struct slice_entry e = w->stack[--w->n];
    uint32_t left = mask, stay = e.mask & ~mask;
    bool ok = !stay || place(w, fr, e.pc + 1, stay);
    while (left && ok) {
        uint64_t v = idx[__builtin_ctz(left)];
        uint32_t same = 0;
        for (unsigned l = 0; l < 32; l++)
            same |= (left >> l & 1) && idx[l] == v ? UINT32_C(1) << l : 0;
        left &= ~same;
        if (v < t->ntargets)
            ok = place(w, fr, fr->f->first[fr->f->func->labels[t->targets[v]].inst], same);
    }
    return ok;
}
static void drop_lanes(struct slice_warp *w, size_t from, uint32_t lanes)
{
    for (size_t k = from; k < w->n; k++)
        w->stack[k].mask &= ~lanes;
}
static void bind_call(struct slice_cta *c, const struct slice_op *o, const uint64_t *from, uint64_t *to,
                      uint32_t mask, bool results)
{
    for (unsigned k = 0; k < o->n; k++) {
        uint32_t here = c->s->rows[o->list + 2 * k], there = c->s->rows[o->list + 2 * k + 1];
        bool res = here >> 31;
        here &= 0x7fffffffu;
        if (res != results)
            continue;
        const uint64_t *a = from + (size_t)(results ? there : here) * 32;
        uint64_t *d = to + (size_t)(results ? here : there) * 32;
        for (unsigned l = 0; l < 32; l++)
            d[l] = mask >> l & 1 ? a[l] : d[l];
    }
}
static bool call(struct slice_cta *c, struct slice_warp *w, const struct slice_op *o, uint32_t mask)
{
    w->stack[w->n - 1].pc++;
    const uint64_t *from = w->frame[w->nframes - 1].rows;
    if (!open_frame(c, w, &c->s->f[o->target], mask, o))
        return false;
    bind_call(c, o, from, w->frame[w->nframes - 1].rows, mask, false);
    return true;
}
/* Drops finished groups and frames and brings the group to run to the top. False: the warp has ended. */
static bool settle(struct slice_cta *c, struct slice_warp *w)
{
    for (;;) {
        struct slice_frame *fr = &w->frame[w->nframes - 1];
        if (w->n > fr->base) {
            struct slice_entry e = w->stack[w->n - 1];
            bool live = e.mask && e.pc < fr->f->nops; /* past the end: returned */
            if (live &&
                (w->n == fr->base + 1 || rank_of(fr->f, e.pc) < rank_of(fr->f, w->stack[w->n - 2].pc)))
                return true;
            w->n--;
            if (live)
                place(w, fr, e.pc, e.mask); /* room is there: it was just taken out */
            continue;
        }
        if (w->nframes == 1)
            return false;
        bind_call(c, fr->call, fr->rows, w->frame[w->nframes - 2].rows, fr->lanes, true);
        w->nframes--;
    }
}

/* ---- one op ---- */
static void write_lanes(uint64_t *rows, uint32_t row, const uint64_t *t, uint32_t mask)
{
    if (row == SL_NONE)
        return;
    uint64_t *d = rows + (size_t)row * 32;
    if (mask == ~0u) {
        memcpy(d, t, 32 * sizeof *d);
        return;
    }
    for (int l = 0; l < 32; l++)
        d[l] = mask >> l & 1 ? t[l] : d[l];
}
static void addresses(const struct slice_op *o, const uint64_t *rows, uint64_t addr[32])
{
    const uint64_t *a = rows + (size_t)o->a * 32;
    for (int l = 0; l < 32; l++)
        addr[l] = a[l] + (uint64_t)o->imm;
}
static bool report(struct slice_cta *c, const struct slice_warp *w, const struct slice_op *o,
                   const uint64_t addr[32], uint32_t mask, slice_fn fn, void *ctx)
{
    struct slice_event ev = { .site = (uint32_t)o->site,
                              .warp = w->index,
                              .mask = mask,
                              .present = w->present,
                              .cta = c->id,
                              .addr = addr,
                              .space = (uint8_t)slice_space(o->space, addr[__builtin_ctz(mask)]) };
    return fn(ctx, &ev);
}
/* A memory op. Returns SLICE_EVENT when it was reported, SLICE_STOPPED when fn said so, else SLICE_DONE.
 */
static enum slice_stop memory(struct slice_cta *c, struct slice_warp *w, const struct slice_op *o,
                              uint32_t mask, uint64_t *rows, slice_fn fn, void *ctx)
{
    uint64_t addr[32];
    addresses(o, rows, addr);
    enum slice_stop r = SLICE_DONE;
    uint32_t asks = mask;
    for (size_t l = 0; o->code == SL_ASYNC && o->flag && l < 32; l++) /* those that read nothing */
        asks &= rows[(size_t)o->c * 32 + l] ? ~0u : ~(UINT32_C(1) << l);
    if (o->site >= 0 && asks)
        r = report(c, w, o, addr, asks, fn, ctx) ? SLICE_EVENT : SLICE_STOPPED;
    if (o->code == SL_LD)
        slice_load(c, w, o, addr, mask, rows);
    else if (o->code == SL_ST && o->store_effect)
        slice_store(c, w, o, addr, mask, rows);
    else if (o->code == SL_ATOM)
        slice_atomic(c, w, o, addr, mask, rows);
    else if (o->code == SL_ASYNC && o->store_effect)
        slice_async(c, w, o, addr, mask, rows);
    return r;
}
/* Each lane's copy by itself. */
static enum slice_stop copies(struct slice_cta *c, struct slice_warp *w, const struct slice_op *o,
                              uint32_t mask, const uint64_t *rows, slice_fn fn, void *ctx)
{
    uint64_t addr[32];
    enum slice_stop r = SLICE_DONE;
    addresses(o, rows, addr);
    for (uint32_t left = o->site < 0 ? 0 : mask; left; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        if (!slice_copy_runs(c, w, o, addr[l], l, rows))
            continue;
        struct slice_event ev = { .site = (uint32_t)o->site,
                                  .warp = w->index,
                                  .mask = UINT32_C(1) << l,
                                  .present = w->present,
                                  .cta = c->id,
                                  .addr = addr,
                                  .space = ANA_SPACE_COPY,
                                  .run = c->run,
                                  .nruns = c->nruns };
        if (!fn(ctx, &ev))
            return SLICE_STOPPED;
        r = SLICE_EVENT;
    }
    return r;
}
static void compute(const struct slice_op *o, uint64_t *rows, uint32_t mask)
{
    uint64_t t[32], t2[32] = { 0 };
    if (o->code >= SL_SHUFFLE)
        slice_exchange(o, mask, rows, t, t2);
    else
        slice_alu(o, rows + (size_t)o->a * 32, rows + (size_t)o->b * 32, rows + (size_t)o->c * 32,
                  rows + (size_t)o->e * 32, t, t2);
    write_lanes(rows, o->d, t, mask);
    write_lanes(rows, o->d2, t2, mask);
}
/* Jumps, calls, ends. False: out of memory. */
static bool control(struct slice_cta *c, struct slice_warp *w, const struct slice_op *o,
                    struct slice_entry *e, uint32_t mask)
{
    const struct slice_frame *fr = &w->frame[w->nframes - 1];
    switch (o->code) {
    case SL_BRA: return diverge(w, fr, o, mask);
    case SL_BRX:
        if (mask)
            return jump_table(w, fr, o, mask);
        break;
    case SL_CALL:
        if (mask)
            return call(c, w, o, mask);
        break;
    default: drop_lanes(w, o->code == SL_RET ? fr->base : 0, mask); break;
    }
    e->pc++;
    return true;
}
static enum slice_stop one_op(struct slice_cta *c, struct slice_warp *w, slice_fn fn, void *ctx)
{
    const struct slice_frame *fr = &w->frame[w->nframes - 1];
    struct slice_entry *e = &w->stack[w->n - 1];
    const struct slice_op *o = &fr->f->op[e->pc];
    uint32_t mask = e->mask;
    uint32_t back = 0; /* line of the loop that it jumps back into */
    if (o->guarded)
        mask &= mask_of(fr->rows + (size_t)o->guard * 32, o->guard_neg);
    if (o->code == SL_CALL && w->nframes == SLICE_MAX_FRAMES) {
        c->s->too_deep = true;
        return SLICE_LIMIT;
    }
    switch (o->code) {
    case SL_BRA:
    case SL_BRX:
    case SL_CALL:
    case SL_RET:
    case SL_EXIT:
        if (o->code == SL_BRA && mask && fr->f->rank[o->target] <= fr->f->rank[e->pc])
            back = fr->f->op[o->target].line;
        if (control(c, w, o, e, mask))
            return back && slice_spins(c, w, back) ? SLICE_SPIN : SLICE_DONE;
        c->s->status = ST_NOMEM;
        return SLICE_STOPPED;
    default: break;
    }
    e->pc++;
    if (!mask)
        return SLICE_DONE;
    switch (o->code) {
    case SL_BAR:
    case SL_BARRED:
        w->waiting = true;
        w->red = o->code == SL_BARRED ? o : NULL;
        w->red_mask = mask;
        return SLICE_BARRIER;
    case SL_LD:
    case SL_ST:
    case SL_ATOM:
    case SL_ASYNC:
    case SL_TOUCH: return memory(c, w, o, mask, fr->rows, fn, ctx);
    case SL_COPY: return copies(c, w, o, mask, fr->rows, fn, ctx);
    default: compute(o, fr->rows, mask); return SLICE_DONE;
    }
}
enum slice_stop slice_warp_run(struct slice_cta *c, uint32_t index, slice_fn fn, void *ctx, bool step,
                               uint64_t *budget)
{
    struct slice_warp *w = &c->warp[index];
    while (!w->done && settle(c, w)) {
        if (*budget == 0 || w->left == 0)
            return SLICE_LIMIT;
        --*budget;
        --w->left;
        if ((*budget & 0xfff) == 0 && cancel_asked(c->s->v->e->cancel))
            return SLICE_STOPPED;
        enum slice_stop r = one_op(c, w, fn, ctx);
        if (slice_stops(r) || r == SLICE_BARRIER || r == SLICE_SPIN || (r == SLICE_EVENT && step))
            return r;
    }
    w->done = true;
    return SLICE_DONE;
}

/* ---- barriers ---- */
static void finish_reduction(struct slice_cta *c)
{
    uint32_t count = 0, all = 0;
    for (uint32_t k = 0; k < c->nwarps; k++) {
        const struct slice_warp *w = &c->warp[k];
        if (!w->waiting || !w->red)
            continue;
        uint32_t m =
            mask_of(w->frame[w->nframes - 1].rows + (size_t)w->red->a * 32, w->red->flag) & w->red_mask;
        count += (uint32_t)__builtin_popcount(m);
        all += (uint32_t)__builtin_popcount(w->red_mask);
    }
    for (uint32_t k = 0; k < c->nwarps; k++) {
        struct slice_warp *w = &c->warp[k];
        if (!w->waiting || !w->red)
            continue;
        uint64_t t[32];
        fill(t, w->red->mode == PTX_MOD_POPC  ? count
                : w->red->mode == PTX_MOD_AND ? count == all
                                              : count != 0);
        write_lanes(w->frame[w->nframes - 1].rows, w->red->d, t, w->red_mask);
        w->red = NULL;
    }
}
bool slice_cta_release(struct slice_cta *c)
{
    bool any = false;
    finish_reduction(c);
    for (uint32_t k = 0; k < c->nwarps; k++) {
        any = any || c->warp[k].waiting;
        c->warp[k].waiting = false;
    }
    return any;
}
enum slice_stop slice_cta_run(struct slice_cta *c, slice_run_warp run, void *ctx)
{
    bool spins;
    uint64_t was;
    do {
        do { /* to the next barrier, or where nobody gets any further */
            spins = false;
            was = c->changes + c->s->changes;
            for (uint32_t w = 0; w < c->nwarps; w++) {
                enum slice_stop r = c->warp[w].waiting ? SLICE_BARRIER : run(ctx, w);
                if (slice_stops(r))
                    return r;
                spins = spins || r == SLICE_SPIN;
            }
        } while (spins && c->changes + c->s->changes != was);
        if (spins) {
            slice_cta_stuck(c);
            return SLICE_SPIN;
        }
    } while (slice_cta_release(c));
    return SLICE_DONE;
}
struct measurement {
    struct slice_cta *c;
    slice_fn fn;
    void *ctx;
    uint64_t *budget;
};
static enum slice_stop run_warp(void *ctx, uint32_t w)
{
    struct measurement *q = ctx;
    return slice_warp_run(q->c, w, q->fn, q->ctx, false, q->budget);
}
enum status slice_run(struct slice *s, uint64_t first, uint64_t n, uint64_t stride, slice_fn fn,
                      void *ctx, uint64_t *budget)
{
    struct measurement q = { slice_cta_new(s), fn, ctx, budget };
    enum slice_stop r = SLICE_DONE;
    if (!q.c)
        return ST_NOMEM;
    for (uint64_t k = 0; k < n && r == SLICE_DONE && s->status == ST_OK; k++) {
        slice_cta_start(q.c, first + k * stride);
        r = slice_cta_run(q.c, run_warp, &q);
    }
    slice_cta_free(q.c);
    if (s->status != ST_OK)
        return s->status;
    return cancel_asked(s->v->e->cancel) ? ST_CANCELLED : r == SLICE_DONE ? ST_OK : ST_REFUSED;
}
