/* A launch is run twice with its loop cut short, all CTAs of it, so that waves, tails and what comes before and behind
 * the loop are there; what a turn adds is the difference. */
#include "engine/sim/timing/turns.h"

#include "engine/ptx/facts/facts.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/timing/phase.h"

static bool holds(const struct ptx_loop *l, uint32_t block)
{
    for (uint32_t i = 0; i < l->nblocks; i++)
        if (l->blocks[i] == block)
            return true;
    return false;
}

/* The only block with a way out of the loop, and the only one with a way back to its header; PTX_NO_INDEX: there are
 * more. */
static uint32_t latch_of(const struct ptx_cfg *c, const struct ptx_loop *l)
{
    uint32_t latch = PTX_NO_INDEX;
    for (uint32_t i = 0; i < l->nblocks; i++) {
        const struct ptx_block *b = &c->blocks[l->blocks[i]];
        bool ends = b->nsucc == 0;
        for (uint32_t k = 0; k < b->nsucc; k++)
            ends |= !holds(l, b->succ[k]) || b->succ[k] == l->header;
        if (ends && latch != PTX_NO_INDEX)
            return PTX_NO_INDEX;
        latch = ends ? l->blocks[i] : latch;
    }
    return latch;
}

static uint64_t instructions(const struct ptx_cfg *c, const struct ptx_loop *l)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < l->nblocks; i++)
        n += c->blocks[l->blocks[i]].n;
    return n;
}

bool timing_turns_find(const struct sim_program *p, struct sim_cut *out)
{
    const struct ptx_cfg *c = ptx_cfg_of(p->funcs[0].ptx);
    uint64_t most = 0;
    for (uint32_t i = 0; c && i < c->nloops; i++) {
        const struct ptx_loop *l = &c->loops[i];
        uint32_t latch = l->parent == PTX_NO_INDEX && !l->irreducible ? latch_of(c, l) : PTX_NO_INDEX;
        if (latch == PTX_NO_INDEX || instructions(c, l) <= most)
            continue;
        const struct ptx_block *b = &c->blocks[latch];
        uint32_t at = p->funcs[0].first + b->first + b->n - 1;
        const struct exec_inst *in = &p->code[at];
        if (in->fn != exec_bra || in->guard == EXEC_NO_ID ||
            in->target != p->funcs[0].first + c->blocks[l->header].first)
            continue;
        *out = (struct sim_cut){ .on = true, .latch = at };
        most = instructions(c, l);
    }
    return most > 0;
}

static void extend_rows(struct sim_stats *s, const struct sim_stats *fewer, double by)
{
    for (size_t i = 0; i < s->nspent; i++) {
        struct limit_row *r = &s->spent[i];
        const struct limit_row *f = &fewer->spent[i];
        for (unsigned k = 0; k < LIMIT_COUNT; k++)
            r->cycles[k] = (uint64_t)timing_extended((double)r->cycles[k], (double)f->cycles[k], by);
        uint64_t *v[] = { &r->read, &r->used, &r->stored, &r->kept, &r->atomics, &r->local };
        const uint64_t *w[] = { &f->read, &f->used, &f->stored, &f->kept, &f->atomics, &f->local };
        for (size_t k = 0; k < ARRAY_LEN(v); k++)
            *v[k] = (uint64_t)timing_extended((double)*v[k], (double)*w[k], by);
    }
}

/* The same instructions took slots in both. */
static bool same_rows(const struct sim_stats *a, const struct sim_stats *b)
{
    bool same = a->nspent == b->nspent;
    for (size_t i = 0; same && i < a->nspent; i++)
        same = a->spent[i].line == b->spent[i].line && a->spent[i].source == b->spent[i].source;
    return same;
}

void timing_turns_extend(struct sim_stats *s, struct sim_stats *fewer, uint32_t turns,
                         uint32_t fewer_turns, uint64_t all)
{
    double by = (double)(all - turns) / (double)(turns - fewer_turns), was = s->cycles;
    double overhead = s->time_ns - s->cycles * 1000 / s->clock_mhz;
    s->cycles = timing_extended(s->cycles, fewer->cycles, by);
    s->time_ns = s->cycles * 1000 / s->clock_mhz + overhead;
    timing_extend_counters(s, fewer, by);
    if (same_rows(s, fewer))
        extend_rows(s, fewer, by);
    s->slots.idle *= s->cycles / was;
    s->sampled = true;
    s->timed_turns = turns;
    s->turns = all;
    s->sample_share = (double)turns / (double)all;
}
