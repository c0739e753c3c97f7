#include "engine/ptx/facts/bits.h"

#include "engine/ptx/flow/cfg.h"

static void step(void *ctx, struct ptx_solver *s, uint32_t b)
{
    const struct ptx_bits *x = ctx;
    const struct ptx_block *k = &x->g->blocks[b];
    bool down = s->way == PTX_BACKWARD, changed = false;
    size_t at = (size_t)b * x->words;
    uint64_t *join = (down ? x->out : x->in) + at, *made = (down ? x->in : x->out) + at;
    const uint64_t *theirs = down ? x->in : x->out;
    const uint32_t *from = down ? k->succ : k->pred, *to = down ? k->pred : k->succ;
    if (!k->reachable)
        return;
    for (uint32_t w = 0; w < x->words; w++) {
        for (uint32_t e = 0; e < (down ? k->nsucc : k->npred); e++)
            join[w] |= theirs[(size_t)from[e] * x->words + w];
        uint64_t now = x->begins[at + w] | (join[w] & ~x->ends[at + w]);
        changed |= now != made[w];
        made[w] = now;
    }
    if (changed)
        ptx_ask_each(s, to, down ? k->npred : k->nsucc);
}

bool ptx_bits_solve(const struct ptx_bits *x, enum ptx_way way)
{
    struct ptx_bits copy = *x;
    return ptx_solve(x->g->nblocks, way, step, &copy);
}
