/* Warp-wide operations. When the lanes an operation names stand at different instructions of the
 * same kind (w->nsync), values come from each lane's own instruction. */
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/cluster.h"
#include "engine/sim/exec/lanes/math.h"
#include "engine/sim/exec/slots.h"

/* Source a of every lane that takes part; `wide`: 64-bit. */
static void gather(struct exec_warp *w, const struct exec_inst *in, bool wide, uint64_t v[WARP_LANES])
{
    for (uint32_t i = 0; i < WARP_LANES; i++)
        v[i] = lane_read(w, in->a, i, wide ? 8 : 4);
    struct exec_frame *was = w->frame;
    for (uint32_t k = 0; k < w->nsync; k++) {
        const struct exec_frag *f = &w->frag[w->sync_group[k]];
        frame_load(w, f->frame);
        FOR_LANES(i, f->mask) v[i] = lane_read(w, w->x->p->code[f->pc].a, i, wide ? 8 : 4);
    }
    frame_load(w, was);
}
static uint32_t gather_pred(struct exec_warp *w, const struct exec_inst *in)
{
    uint32_t r = pred_read(w, in->a, in->flags & EXEC_F_NEG_A);
    struct exec_frame *was = w->frame;
    for (uint32_t k = 0; k < w->nsync; k++) {
        const struct exec_frag *f = &w->frag[w->sync_group[k]];
        const struct exec_inst *at = &w->x->p->code[f->pc];
        frame_load(w, f->frame);
        r = (r & ~f->mask) | (pred_read(w, at->a, at->flags & EXEC_F_NEG_A) & f->mask);
    }
    frame_load(w, was);
    return r;
}

/* Lanes that name different members execute one instruction together, each party for itself (tiles of a
 * warp). Walks them: `lanes` of this instruction that name the same members, `who` of those is here, at
 * this place or another of the same kind. */
struct party {
    uint32_t left, here, lanes, who;
};
static struct party all_parties(const struct exec_warp *w, uint32_t mask)
{
    struct party p = { .left = mask, .here = mask };
    for (uint32_t k = 0; k < w->nsync; k++)
        p.here |= w->frag[w->sync_group[k]].mask;
    return p;
}
static bool next_party(const struct exec_warp *w, const struct exec_inst *in, struct party *p)
{
    if (!p->left)
        return false;
    const uint32_t *named = slot_at(w, in->d);
    uint32_t mine = named[first_lane(p->left)], same = 0;
    FOR_LANES(i, p->left) same |= (uint32_t)(named[i] == mine) << i;
    p->lanes = same;
    p->left &= ~same;
    p->who = mine & p->here;
    return true;
}

/* 9.7.9.6: the source lane, and whether it is in range. */
static uint32_t shfl_source(uint8_t mode, uint32_t lane, uint32_t b, uint32_t c, bool *ok)
{
    uint32_t seg = c >> 8 & 31, cval = c & 31, bval = b & 31;
    uint32_t most = (lane & seg) | (cval & ~seg), least = lane & seg, j;
    switch (mode) {
    case 0:
        j = lane - bval;
        *ok = (int32_t)j >= (int32_t)most;
        break;
    case 1:
        j = lane + bval;
        *ok = j <= most;
        break;
    case 2:
        j = lane ^ bval;
        *ok = j <= most;
        break;
    default:
        j = least | (bval & ~seg);
        *ok = j <= most;
        break;
    }
    return *ok ? j & 31 : lane;
}

void exec_shfl(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_shfl *x = in->x;
    uint64_t v[WARP_LANES];
    uint32_t r[WARP_LANES], in_range = 0;
    const uint32_t *b = slot_at(w, in->b), *c = slot_at(w, in->c);
    gather(w, in, false, v);
    FOR_LANES(i, mask)
    {
        bool ok;
        r[i] = (uint32_t)v[shfl_source(x->mode, i, b[i], c[i], &ok)];
        in_range |= (uint32_t)ok << i;
    }
    FOR_LANES(i, mask) lane_write(w, in->dst, i, 4, r[i]);
    pred_write(w, in->dst2, mask, in_range);
}

void exec_vote(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t vote = gather_pred(w, in), yes = 0;
    for (struct party q = all_parties(w, mask); next_party(w, in, &q);) {
        uint32_t p = vote & q.who;
        bool r = in->imm == 0 ? p == q.who : in->imm == 1 ? p != 0 : p == q.who || !p;
        yes |= r ? q.lanes : 0;
        if (in->imm > 2)
            FOR_LANES(i, q.lanes) lane_write(w, in->dst, i, 4, p);
    }
    if (in->imm <= 2)
        pred_write(w, in->dst, mask, yes);
}

void exec_match(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint64_t v[WARP_LANES];
    uint32_t equal = 0;
    gather(w, in, in->flags & EXEC_F_BASE64, v);
    for (struct party q = all_parties(w, mask); next_party(w, in, &q);) {
        uint32_t all = 1;
        FOR_LANES(k, q.who) all &= v[k] == v[first_lane(q.who)];
        equal |= all ? q.lanes : 0;
        FOR_LANES(i, q.lanes)
        {
            uint32_t same = 0;
            FOR_LANES(k, q.who) same |= (uint32_t)(v[k] == v[i]) << k;
            lane_write(w, in->dst, i, 4, in->imm ? (all ? q.who : 0) : same);
        }
    }
    pred_write(w, in->dst2, mask, equal);
}

void exec_activemask(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    FOR_LANES(i, mask) lane_write(w, in->dst, i, 4, mask);
}

/* op: 16, 1 max, 2 abs, 4 NaN */
static uint32_t reduce_float(int32_t op, uint32_t a, uint32_t b)
{
    uint32_t keep = op & 2 ? 0x7fffffffu : 0xffffffffu;
    float x = f32_bits(a & keep), y = f32_bits(b & keep);
    if (op & 4 && (x != x || y != y))
        return 0x7fffffffu;
    return bits_f32(op & 1 ? max_f32(x, y) : min_f32(x, y));
}
static uint32_t reduce(int32_t op, uint32_t a, uint32_t b)
{
    if (op & 16)
        return reduce_float(op, a, b);
    switch (op) {
    case 0: return a + b;
    case 1: return a < b ? a : b;
    case 2: return (int32_t)a < (int32_t)b ? a : b;
    case 3: return a > b ? a : b;
    case 4: return (int32_t)a > (int32_t)b ? a : b;
    case 5: return a & b;
    case 6: return a | b;
    default: return a ^ b;
    }
}
void exec_redux(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint64_t v[WARP_LANES];
    gather(w, in, false, v);
    for (struct party q = all_parties(w, mask); next_party(w, in, &q);) {
        if (!q.who)
            continue;
        uint32_t r = (uint32_t)v[first_lane(q.who)];
        r = in->imm & 16 ? reduce_float(in->imm, r, r) : r;
        FOR_LANES(k, q.who & (q.who - 1)) r = reduce(in->imm, r, (uint32_t)v[k]);
        FOR_LANES(i, q.lanes) lane_write(w, in->dst, i, 4, r);
    }
}

void exec_elect(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t leaders = 0;
    for (struct party q = all_parties(w, mask); next_party(w, in, &q);) {
        uint32_t leader = q.who ? first_lane(q.who) : 0;
        FOR_LANES(i, q.lanes) lane_write(w, in->dst, i, 4, leader);
        leaders |= 1u << leader & q.lanes;
    }
    pred_write(w, in->dst2, mask, leaders);
}

void exec_warp_sync(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    (void)mask;
    if (w->x->checks)
        in->kind == EXEC_SYNC ? exec_check_visible(w) : exec_check_warp(w);
}

/* 9.7.14.5.17: an 8x8 matrix of 16-bit elements, two per lane, transposed. */
void exec_movmatrix(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint64_t v[WARP_LANES];
    gather(w, in, false, v);
    FOR_LANES(i, mask)
    {
        uint32_t r = 0;
        /* element (row, col) of the result is (col, row) of the source */
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t row = i / 4, col = i % 4 * 2 + k;
            r |= (uint32_t)(v[col * 4 + row / 2] >> 16 * (row & 1) & 0xffff) << 16 * k;
        }
        lane_write(w, in->dst, i, 4, r);
    }
}

uint32_t exec_cta_nwarps(const struct exec_cta *lead)
{
    return lead->nwarps * lead->x->cluster_ctas;
}

struct exec_warp *exec_cta_warp(struct exec_cta *lead, uint32_t i)
{
    return &lead->peer[i / lead->nwarps]->warps[i % lead->nwarps];
}
