/* Requests of an access where there is no closed form: counted at a number of points, that is CTAs and
 * turns of loops (closed_form.h). */
#include "engine/analysis/closed_form.h"

#include "engine/analysis/request_count.h"
#include "engine/analysis/symbolic/env.h"
#include "engine/ptx/flow/cfg.h"

#include <string.h>

#define SAMPLE_ITERS  4
#define SAMPLE_POINTS 256
#define SAMPLE_QUICK  16
struct point {
    const struct env *v;
    struct closed_form_lanes lanes;
    int64_t cta[3];
    const struct ana_loop *loop[EVAL_MAX_DIMS];
    int64_t it[EVAL_MAX_DIMS];
    uint32_t n;
};
static bool point_leaf(void *ctx, const struct symexpr *x, int64_t out[32])
{
    struct point *p = ctx;
    int64_t val = 0;
    if (x->kind == SYMEXPR_SREG && x->c == PTX_SREG_CTAID) {
        val = p->cta[x->op < 3 ? x->op : 0];
    } else if (x->kind == SYMEXPR_ITER) {
        for (uint32_t i = 0; i < p->n; i++)
            if (p->loop[i] == x->ref)
                val = p->it[i];
    } else {
        return closed_form_lane(&p->lanes, x, out);
    }
    for (int l = 0; l < 32; l++)
        out[l] = val;
    return true;
}
static void sample_loops(const struct eval_access *a, struct point *p)
{
    uint32_t block = a->block;
    for (struct eval_frame *f = a->frame; f; f = f->parent) {
        for (struct ana_loop *l = eval_loop_of(f, block); l && p->n < EVAL_MAX_DIMS; l = l->parent)
            p->loop[p->n++] = l;
        if (f->parent)
            block = f->parent->cfg->block_of[f->call_inst];
    }
}
static bool next_point(struct env *v, struct point *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        const struct env_loop *l = &v->loop[p->loop[i]->id];
        if (++p->it[i] < SAMPLE_ITERS && (!l->known || p->it[i] <= l->trips))
            return true;
        p->it[i] = 0;
    }
    const int64_t dim[3] = { v->grid.x, v->grid.y, v->grid.z };
    for (int d = 0; d < 3; d++) {
        if (++p->cta[d] < dim[d])
            return true;
        p->cta[d] = 0;
    }
    return false;
}
/* The address and the condition of an access, ready to be computed for a warp at a point. */
struct sampler {
    struct arena *arena;
    struct point p;
    struct symexpr_tape tape;
    int64_t (*value)[32]; /* of every warp, or of the present one */
    bool *valid;
    uint8_t *vary;
    uint32_t warps; /* whose values are kept */
    bool *kept;     /* by warp: they are there */
    struct sampled *last;
};
/* A warp's latest request. */
struct sampled {
    uint64_t addr[32];
    uint32_t mask;
    struct request_count_request r;
};
#define SAMPLE_BYTES (UINT64_C(16) << 20) /* of values of all warps; more are computed each time */
static uint8_t leaf_varies(const struct symexpr *x)
{
    bool point = x->kind == SYMEXPR_ITER || (x->kind == SYMEXPR_SREG && x->c == PTX_SREG_CTAID);
    return point ? SYMEXPR_BY_POINT : x->kind == SYMEXPR_SUM ? 0 : SYMEXPR_BY_LANE;
}
static bool sampler_make(struct sampler *s, struct env *v, const struct eval_access *a, bool every_lane)
{
    const struct ana_loop *loops[EVAL_MAX_DIMS];
    uint32_t nloops;
    const char *why;
    *s = (struct sampler){ .arena = arena_new(0), .p = { .v = v } };
    if (!s->arena)
        return false;
    const struct symexpr *root[2] = { env_concrete(v, a->addr),
                                      every_lane ? NULL
                                                 : closed_form_condition(v, a, loops, &nloops, &why) };
    bool ok = symexpr_tape_make(s->arena, root, root[1] ? 2 : 1, &s->tape);
    uint32_t warps = env_warps(v), nodes = s->tape.n + 1;
    s->warps = sizeof *s->value * nodes * (uint64_t)warps > SAMPLE_BYTES ? 0 : warps;
    warps = s->warps ? warps : 1;
    s->value = ok ? arena_alloc(s->arena, sizeof *s->value * nodes * warps) : NULL;
    s->valid = ok ? arena_alloc(s->arena, (size_t)nodes * warps) : NULL;
    s->vary = ok ? arena_alloc(s->arena, nodes) : NULL;
    s->kept = ok ? arena_alloc(s->arena, warps) : NULL;
    s->last = ok ? arena_alloc(s->arena, sizeof *s->last * (env_warps(v) + 1)) : NULL;
    sample_loops(a, &s->p);
    if (!s->value || !s->valid || !s->vary || !s->kept || !s->last)
        return false;
    memset(s->kept, 0, warps);
    memset(s->last, 0, sizeof *s->last * (env_warps(v) + 1));
    symexpr_tape_vary(&s->tape, leaf_varies, s->vary);
    return true;
}
/* The lanes of warp w that run the access, and where; 0 lanes: none does. False: the address has no
 * value. */
static bool sample_warp(struct sampler *s, uint32_t w, uint64_t addr[32], uint32_t *mask)
{
    uint32_t present = env_threads(s->p.v) - w * 32;
    s->p.lanes = (struct closed_form_lanes){ s->p.v, w };
    uint32_t own = s->warps ? w : 0;
    int64_t(*value)[32] = s->value + (size_t)own * (s->tape.n + 1);
    bool *valid = s->valid + (size_t)own * (s->tape.n + 1);
    symexpr_tape_again(&s->tape, s->vary, !s->kept[own], point_leaf, &s->p, value, valid);
    s->kept[own] = s->warps;
    *mask = 0;
    if (!valid[s->tape.root[0]])
        return false;
    const int64_t *cond = s->tape.nroot > 1 && valid[s->tape.root[1]] ? value[s->tape.root[1]] : NULL;
    for (uint32_t l = 0; l < 32; l++) {
        addr[l] = (UINT64_C(1) << 61) + (uint64_t)value[s->tape.root[0]][l];
        *mask |= l < present && (!cond || cond[l]) ? UINT32_C(1) << l : 0;
    }
    return true;
}
/* The same lanes, all moved by one number of lines: sectors and banks are the same. */
static bool whole_lines_apart(const struct sampled *last, const uint64_t addr[32], uint32_t mask)
{
    unsigned first = (unsigned)__builtin_ctz(mask);
    uint64_t by = addr[first] - last->addr[first];
    bool same = last->mask == mask && by % TALLY_LINE == 0;
    for (unsigned l = first; l < 32 && same; l++)
        same = !(mask >> l & 1) || addr[l] - last->addr[l] == by;
    return same;
}
static bool sample_at(struct sampler *s, const struct eval_access *a, struct tally *t)
{
    uint32_t threads = env_threads(s->p.v), warps = env_warps(s->p.v), mask;
    uint64_t addr[32];
    for (uint32_t w = 0; w < warps; w++) {
        if (!sample_warp(s, w, addr, &mask))
            return false;
        if (!mask)
            continue;
        struct sampled *last = &s->last[w];
        if (!whole_lines_apart(last, addr, mask)) {
            last->r = request_count_measure(addr, mask, a->bytes, a->space == PTX_SPACE_SHARED);
            last->mask = mask;
        }
        memcpy(last->addr, addr, sizeof last->addr);
        request_count_add(t, &last->r, threads - w * 32 < 32 ? threads - w * 32 : 32, 1);
    }
    return true;
}
/* A point evaluates every warp of a CTA, lane by lane: some tens of operations each. */
static uint32_t sample_points(const struct env *v)
{
    uint64_t most = v->quick    ? SAMPLE_QUICK
                    : v->budget ? v->budget / (env_warps(v) * UINT64_C(32))
                                : SAMPLE_POINTS;
    return most < 1 ? 1 : most < SAMPLE_POINTS ? (uint32_t)most : SAMPLE_POINTS;
}
/* Points there are: turns of loops that are looked at, times CTAs; at most `most`. */
static uint32_t points_there_are(const struct env *v, const struct point *p, uint32_t most)
{
    const uint64_t dim[3] = { v->grid.x, v->grid.y, v->grid.z };
    uint64_t n = 1;
    for (uint32_t i = 0; i < p->n && n < most; i++) {
        const struct env_loop *l = &v->loop[p->loop[i]->id];
        n *= !l->known || l->trips >= SAMPLE_ITERS - 1 ? SAMPLE_ITERS
             : l->trips < 0                            ? 1
                                                       : (uint64_t)l->trips + 1;
    }
    for (int d = 0; d < 3 && n < most; d++)
        n *= dim[d] ? dim[d] : 1;
    return n < most ? (uint32_t)n : most;
}
/* Points in a row that count the same, after which groups of them are looked at by their last one. */
enum { SAMPLE_ALIKE = 12, SAMPLE_GROUP = 7 };
/* Counts the point `n` ahead, and moves past it. */
static bool count_point(struct env *v, struct sampler *s, const struct eval_access *a, uint32_t n,
                        struct tally *here)
{
    memset(here, 0, sizeof *here); /* its padding too: it is compared by memcmp */
    for (uint32_t k = 1; k < n; k++)
        next_point(v, &s->p);
    bool ok = sample_at(s, a, here) && !cancel_asked(v->e->cancel);
    next_point(v, &s->p);
    return ok;
}
bool closed_form_sample(struct env *v, const struct eval_access *a, bool every_lane, struct tally *t)
{
    struct sampler s;
    struct tally before = { 0 };
    bool ok = sampler_make(&s, v, a, every_lane);
    uint32_t left = ok ? points_there_are(v, &s.p, sample_points(v)) : 0, alike = 0;
    while (ok && left) {
        uint32_t n = alike < SAMPLE_ALIKE ? 1 : left < SAMPLE_GROUP ? left : SAMPLE_GROUP;
        struct point at = s.p;
        struct tally here;
        ok = count_point(v, &s, a, n, &here);
        bool same = alike && memcmp(&here, &before, sizeof here) == 0;
        if (ok && n > 1 && !same) { /* each by itself */
            s.p = at;
            alike = 0;
            continue;
        }
        alike = same ? alike + 1 : 1;
        before = here;
        request_count_times(&here, n);
        request_count_merge(t, &here);
        left -= n;
    }
    arena_free(s.arena);
    return ok;
}
bool closed_form_first(struct env *v, const struct eval_access *a, const uint32_t cta[3], uint64_t *addr,
                       uint32_t *n)
{
    struct sampler s;
    bool ok = sampler_make(&s, v, a, false);
    uint32_t warps = env_warps(v), mask;
    uint64_t at[32];
    for (int d = 0; d < 3; d++)
        s.p.cta[d] = cta[d];
    for (uint32_t w = 0; ok && w < warps; w++) {
        ok = sample_warp(&s, w, at, &mask);
        for (uint32_t l = 0; l < 32; l++)
            if (mask >> l & 1)
                addr[(*n)++] = at[l];
    }
    arena_free(s.arena);
    return ok;
}
