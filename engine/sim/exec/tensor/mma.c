/* mma and mma.sp (9.7.14.5, 9.7.14.6) of shapes m16n8kK with narrow inputs, as tensor cores sum them.
 * Fragments have the layout that exec/matrix.c states; A of mma.sp is compressed along k. */
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/exec/tensor/wgmma.h"

#include <string.h>

#define COLS 8u

/* Elements of a fragment: those of A in rows, those of B in columns. */
static void load_part(struct exec_warp *w, const struct exec_part *part, bool of_b)
{
    struct mat_read r = { .w = w, .to = w->k->tensor.factors, .type = part->type, .of_b = of_b };
    for (unsigned i = 0; i < part->n; i++)
        mat_put_register(&r, i, slot_at(w, part->slot[i]));
}

/* Accumulators as registers of 32 bits: the result's own, widened f16, or copies. */
struct sums {
    float v[4][WARP_LANES];
    void *reg[4];
    bool own;
};

/* The result's registers are the accumulator's. */
static bool in_place(const struct exec_mma *x)
{
    bool own = x->part[0].type != PTX_T_F16 && !x->halves;
    for (unsigned i = 0; i < 4; i++)
        own = own && x->part[0].slot[i] == x->part[3].slot[i];
    return own;
}

static void begin(struct exec_warp *w, const struct exec_mma *x, struct sums *s)
{
    const struct exec_part *c = &x->part[3];
    s->own = in_place(x);
    for (unsigned i = 0; i < 4; i++) {
        s->reg[i] = s->own ? (void *)slot_at(w, c->slot[i]) : s->v[i];
        if (c->type == PTX_T_F16 && i % 2 == 0)
            w->x->p->dots->widen(slot_at(w, c->slot[i / 2]), s->v[i], s->v[i + 1]);
        else if (c->type != PTX_T_F16 && !s->own)
            memcpy(s->v[i], slot_at(w, c->slot[i]), sizeof s->v[i]);
    }
}

static void end(struct exec_warp *w, const struct exec_part *d, const struct sums *s, bool finite)
{
    bool halves = d->type == PTX_T_F16;
    for (unsigned i = 0; i < 4 && !s->own; i += halves ? 2 : 1) {
        uint32_t slot = d->slot[halves ? i / 2 : i];
        if (slot == EXEC_NO_ID)
            continue;
        if (halves)
            w->x->p->dots->narrow(s->v[i], s->v[i + 1], finite, slot_at(w, slot));
        else
            memcpy(slot_at(w, slot), s->v[i], sizeof s->v[i]);
    }
}

/* 8-bit floats become halves two by two, so the products of the first two of every four registers' bytes
 * are summed first, then those of the others. Of sparse A that is whole groups of four. */
static void part_bytes(struct mat_factors *f, unsigned k, bool sparse)
{
    float b[DOT_K][COLS], a[DOT_K][DOT_ROWS];
    int16_t eb[DOT_K][COLS], ea[DOT_K][DOT_ROWS];
    unsigned to[DOT_K], n = 0;
    for (unsigned half = 0; half < 2; half++)
        for (unsigned i = 0; i < k; i++)
            if ((sparse ? i / 4 : i / 2) % 2 == half)
                to[n++] = i;
    for (unsigned i = 0; i < k; i++) {
        memcpy(b[i], f->b[to[i]], sizeof b[i]);
        memcpy(eb[i], f->eb[to[i]], sizeof eb[i]);
        memcpy(a[i], f->a[to[i]], sizeof a[i]);
        memcpy(ea[i], f->ea[to[i]], sizeof ea[i]);
    }
    for (unsigned i = 0; i < k; i++) {
        memcpy(f->b[i], b[i], sizeof b[i]);
        memcpy(f->eb[i], eb[i], sizeof eb[i]);
        memcpy(f->a[i], a[i], sizeof a[i]);
        memcpy(f->ea[i], ea[i], sizeof ea[i]);
    }
}

/* The product from zero, then one addition. */
static void multiply_halves(const struct dot_ops *ops, const struct exec_mma *x, struct mat_factors *f,
                            const struct dot_tile *t, struct sums *s)
{
    float c[4][WARP_LANES];
    memcpy(c, s->v, sizeof c);
    memset(s->v, 0, sizeof s->v);
    part_bytes(f, t->k, x->sparse);
    ops->floats(&x->model, t);
    for (unsigned i = 0; i < 4; i++)
        for (unsigned lane = 0; lane < WARP_LANES; lane++)
            s->v[i][lane] += c[i][lane];
}

bool exec_mma_ready(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    if (mask != EXEC_FULL) {
        exec_fault(w, in, first_lane(mask), FAULT_UNIFORM,
                   "mma executed by part of a warp\nlet all 32 lanes execute it: no branch of single "
                   "lanes around it");
        return false;
    }
    if (!mat_room(w, in, 0))
        return false;
    exec_count_product(w, in);
    return true;
}

void exec_mma_core(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_mma *x = in->x;
    struct sums s;
    if (!exec_mma_ready(w, in, mask))
        return;
    struct mat_factors *f = w->k->tensor.factors;
    load_part(w, &x->part[1], false);
    load_part(w, &x->part[2], true);
    if (x->sparse)
        mat_expand(f, x->part[1].type, x->shape[2], slot_at(w, x->meta), x->selector);
    begin(w, x, &s);
    const struct dot_ops *ops = w->x->p->dots;
    struct dot_tile t = mat_tile(f, COLS, x->shape[2], s.reg, x->finite);
    if (x->halves)
        multiply_halves(ops, x, f, &t, &s);
    else
        mat_multiply(ops, &x->model, &t, x->part[0].type);
    end(w, &x->part[0], &s, x->finite);
}
