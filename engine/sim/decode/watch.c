/* Does a kernel keep the rules of asynchronous products on all its paths (exec/tensor/watch.h)? */
#include "engine/ptx/facts/solve.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/decode/decode.h"
#include "engine/sim/exec/tensor/watch.h"

#include <string.h>

static bool has_products(const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->ninsts; i++)
        if (f->insts[i].op == PTX_OP_WGMMA_MMA_ASYNC || f->insts[i].op == PTX_OP_WGMMA_MMA_ASYNC_SP)
            return true;
    return false;
}

/* True: `to` changed. The worst of both paths is kept: the younger product, any write. */
static bool meet(uint8_t *to, const uint8_t *from, uint32_t n)
{
    bool changed = false;
    for (uint32_t i = 0; i < 3 * n; i++) {
        bool more = i < 2 * n ? from[i] < to[i] : from[i] > to[i];
        to[i] = more ? from[i] : to[i];
        changed |= more;
    }
    return changed;
}

struct walk {
    const struct ptx_cfg *c;
    const struct exec_inst *code;
    uint8_t *in; /* [nblocks][3 * n]: states at the blocks' beginnings */
    struct watch_state at;
    bool broken;
};

static void block(struct walk *k, uint32_t b)
{
    size_t size = 3 * (size_t)k->at.n;
    uint32_t reg;
    memcpy(k->at.write, k->in + b * size, size);
    for (uint32_t i = 0; i < k->c->blocks[b].n; i++)
        k->broken |= watch_step(&k->at, &k->code[k->c->blocks[b].first + i], &reg) != WATCH_FINE;
}

static void walk_step(void *ctx, struct ptx_solver *s, uint32_t b)
{
    struct walk *k = ctx;
    const struct ptx_block *x = &k->c->blocks[b];
    if (!x->reachable)
        return;
    block(k, b);
    for (uint32_t e = 0; e < x->nsucc; e++)
        if (meet(k->in + x->succ[e] * 3 * (size_t)k->at.n, k->at.write, k->at.n))
            ptx_ask(s, x->succ[e]);
}

bool decode_watch(struct decode *d, const struct ptx_cfg *c, const struct exec_inst *code)
{
    struct walk k = { .c = c, .code = code };
    uint32_t n = d->pf->nregs;
    if (!d->pf->entry || !has_products(d->pf))
        return true;
    bool ok = watch_new(&k.at, n);
    k.in = ok ? base_alloc(3 * (size_t)n * c->nblocks + 1) : NULL;
    ok = k.in != NULL;
    if (ok) {
        for (uint32_t b = 0; b < c->nblocks; b++) {
            memset(k.in + 3 * (size_t)n * b, WATCH_IDLE, 2 * (size_t)n);
            memset(k.in + 3 * (size_t)n * b + 2 * (size_t)n, b == 0, n);
        }
        ok = ptx_solve(c->nblocks, PTX_FORWARD, walk_step, &k);
        d->p->watched |= k.broken;
    }
    BASE_FREE(k.in, k.at.write);
    d->oom |= !ok;
    return ok;
}
