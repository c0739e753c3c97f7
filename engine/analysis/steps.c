/* How far an address moves from one thread or CTA to the next, for who looks for the shape of a launch.
 *
 * The address is worked out on numbers: parameters and sizes of the launch are numbers that no block
 * has, each another one, so that a step with such a factor is seen as none that the text fixes. */
#include "engine/analysis/facts.h"

#include <string.h>

enum {
    PARAM_LEAST = 2003, /* above any block's size; three of them multiplied fit into 64 bits */
    PARAM_NUMBERS = 900,
    SIZE_NEXT = 12
};

static int64_t param_number(const struct symexpr *x)
{
    const struct ptx_symbol *s = x->ref;
    uint64_t h = s ? base_hash(s->name.s, s->name.n) : 0;
    return PARAM_LEAST + 2 * (int64_t)((h + (uint64_t)x->c * 7) % PARAM_NUMBERS);
}

/* Lane 1 + d is the next thread along d, lane 4 + d the next CTA, lane 7 the next round. */
static bool sreg_lanes(const struct symexpr *x, int64_t lane[32])
{
    unsigned d = x->op < 3 ? x->op : 0;
    int64_t all = ANA_STEP_SIZE + SIZE_NEXT * (int64_t)d;
    switch (x->c) {
    case PTX_SREG_TID: lane[1 + d] = 1; return true;
    case PTX_SREG_LANEID: lane[1] = 1; return true;
    case PTX_SREG_CTAID: lane[4 + d] = 1; return true;
    case PTX_SREG_WARPID: return true;
    case PTX_SREG_NTID: break;
    case PTX_SREG_NCTAID: all += 3 * SIZE_NEXT; break;
    default: return false;
    }
    for (int i = 0; i < 32; i++)
        lane[i] = all;
    return true;
}

static bool leaf(void *ctx, const struct symexpr *x, int64_t lane[32])
{
    (void)ctx;
    memset(lane, 0, 32 * sizeof *lane);
    switch (x->kind) {
    case SYMEXPR_SREG: return sreg_lanes(x, lane);
    case SYMEXPR_PARAM:
        for (int i = 0; i < 32; i++)
            lane[i] = param_number(x);
        return true;
    case SYMEXPR_ITER: lane[7] = 1; return true;
    case SYMEXPR_ADDR: return true;
    default: return false;
    }
}

bool ana_steps(struct facts *f, const struct symexpr *address, int64_t step[ANA_STEPS])
{
    struct symexpr_tape t;
    if (!symexpr_tape_make(f->arena, &address, 1, &t) || !t.n)
        return false;
    int64_t(*value)[32] = base_alloc(sizeof *value * (t.n + 1));
    bool *valid = base_alloc(t.n + 1), ok = value && valid;
    if (ok) {
        symexpr_tape_run(&t, leaf, NULL, value, valid);
        ok = valid[t.root[0]];
    }
    for (int k = 0; ok && k < ANA_STEPS; k++)
        step[k] = (int64_t)((uint64_t)value[t.root[0]][k + 1] - (uint64_t)value[t.root[0]][0]);
    BASE_FREE(value, valid);
    return ok;
}
