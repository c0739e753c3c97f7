/* What calls cost. Parameters travel in registers; a call and its return are two branches, the second to
 * a register; a function that calls others keeps the address it returns to in local memory and fetches
 * it again; where it branches too, it keeps a convergence barrier, which takes two slow moves. A call
 * through a pointer is made once for each of the functions its lanes choose. What the driver brings
 * (malloc, free, vprintf) is known from outside only.
 */
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/sim/decoded.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/runtime/builtin.h"
#include "engine/sim/timing/group.h"
#include "engine/sim/timing/sm.h"

#include <string.h>

struct callee {
    bool calls, branches, direct;
};

static void look_at(const struct timing_plan *t, uint32_t k, struct callee *v)
{
    const struct exec_func *f = &t->p->funcs[k];
    for (uint32_t i = f->first; i < f->first + f->n; i++) {
        const struct exec_inst *in = &t->p->code[i];
        enum ptx_effect e = ptx_effect_of(in->ptx);
        v[k].branches |= e == EFFECT_BRANCH;
        if (e != EFFECT_CALL)
            continue;
        v[k].calls = true;
        if (in->fn == exec_call)
            v[((const struct exec_call *)in->x)->func].direct = true;
    }
}

/* Of one warp: cycles, and more for each lane. */
struct builtin_cost {
    int64_t cycles, each;
};
static struct builtin_cost builtin_cost(const struct sim_preset *g, uint32_t builtin)
{
    switch (builtin) {
    case BUILTIN_VPRINTF: return (struct builtin_cost){ g->vprintf_cycles, g->vprintf_lane };
    case BUILTIN_MALLOC: return (struct builtin_cost){ g->malloc_cycles, g->malloc_lane };
    case BUILTIN_FREE: return (struct builtin_cost){ g->free_cycles, g->free_lane };
    default: return (struct builtin_cost){ 0, 0 }; /* an assertion that holds */
    }
}

static void cost_call(struct timing_op *o, const struct exec_inst *in, const struct sim_preset *g)
{
    o->flags = (o->flags & (uint16_t)~TIMING_MEMORY) | TIMING_CALL;
    o->latency = (uint16_t)g->lat_call;
    o->slots = (uint16_t)g->call_slots;
    /* counted where each of the functions returns */
    if (in->fn == exec_call_indirect)
        o->latency = 1;
    if (in->fn != exec_builtin)
        return;
    uint32_t b = ((const struct exec_call *)in->x)->builtin;
    struct builtin_cost c = builtin_cost(g, b);
    o->latency = (uint16_t)c.cycles;
    o->each = (uint16_t)c.each;
}

static void cost_return(struct timing_op *o, const struct callee *f, const struct sim_preset *g)
{
    o->flags |= TIMING_CALL;
    o->latency = (uint16_t)g->lat_call;
    if (f->calls) {
        o->latency += (uint16_t)g->l1_latency;
        o->slots += (uint16_t)(2 * g->call_saved_regs);
    }
    if (f->calls && f->branches) {
        o->latency += (uint16_t)g->call_barrier_cycles;
        o->slots += (uint16_t)g->call_barrier_slots;
    }
    if (f->direct)
        return;
    o->latency += (uint16_t)(g->lat_call + g->call_pointer_cycles);
    o->busy = (uint16_t)g->call_pointer_busy;
}

/* A parameter of a call: writing it moves a register; reading it is free, since the register itself
 * is used. */
static void cost_parameter(struct timing_op *o, const struct exec_inst *in, const struct sim_preset *g)
{
    o->flags &= (uint16_t)~TIMING_MEMORY;
    o->unit = UNIT_MOVE;
    o->latency = (uint16_t)g->lat_move;
    o->busy = o->slots = 1;
    if (ptx_is_plain_load(in->ptx))
        o->flags |= TIMING_FREE;
}

void timing_calls(struct timing_plan *t, const struct sim_preset *g)
{
    struct callee *v = ARENA_ARRAY(t->arena, struct callee, t->p->nfuncs + 1);
    if (!v)
        return;
    memset(v, 0, (t->p->nfuncs + 1) * sizeof *v);
    for (uint32_t k = 0; k < t->p->nfuncs; k++)
        look_at(t, k, v);
    for (uint32_t k = 0; k < t->p->nfuncs; k++) {
        const struct exec_func *f = &t->p->funcs[k];
        for (uint32_t i = f->first; i < f->first + f->n; i++) {
            const struct exec_inst *in = &t->p->code[i];
            bool plain = ptx_is(in->ptx, IS_PLAIN);
            if (ptx_effect_of(in->ptx) == EFFECT_CALL)
                cost_call(&t->op[i], in, g);
            else if (k && ptx_is(in->ptx, IS_RETURN))
                cost_return(&t->op[i], &v[k], g);
            else if (plain && ptx_has_mod(in->ptx, PTX_MOD_PARAM))
                cost_parameter(&t->op[i], in, g);
        }
    }
}

uint32_t timing_call_until(struct timing_sm *s, const struct timing_slot *o, uint32_t lanes, uint32_t t)
{
    uint32_t done = t + o->latency + o->each * lanes;
    if (!o->each || !lanes)
        return done;
    double turns =
        s->group->t->g->heap_turn * lanes * (s->group->mem.active > 1 ? s->group->mem.active : 1);
    s->heap_free = (s->heap_free > t ? s->heap_free : t) + turns;
    return s->heap_free > done ? (uint32_t)s->heap_free : done;
}
