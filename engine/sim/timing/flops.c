/* Operations of numbers in each instruction, by pipe.
 *
 *   a vector operation        what column .flops of ops.def says, for each element
 *   a product of matrices     2 m n k of a warp; half when sparse
 *
 * Comparisons, conversions, minima, moves and atomics count none. In the straight pieces of a warp all
 * lanes of the path count, those too whose guard does not hold. */
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/sim/decoded.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/tensor/wgmma.h"
#include "engine/sim/timing/plan.h"

struct flops {
    enum pipe pipe;
    uint64_t n; /* of one thread */
};

static struct flops of_vector(const struct ptx_inst *i)
{
    unsigned n = ptx_flops(i);
    switch (n && i->ntypes ? i->type[0] : PTX_T_NONE) {
    case PTX_T_F16:
    case PTX_T_BF16: return (struct flops){ PIPE_FP16, n };
    case PTX_T_F16X2:
    case PTX_T_BF16X2: return (struct flops){ PIPE_FP16, 2 * n };
    case PTX_T_F32: return (struct flops){ PIPE_FP32, n };
    case PTX_T_F32X2: return (struct flops){ PIPE_FP32, 2 * n };
    case PTX_T_F64: return (struct flops){ PIPE_FP64, n };
    default: return (struct flops){ PIPE_COUNT, 0 };
    }
}

static enum pipe pipe_of(enum ptx_type t)
{
    switch (t) {
    case PTX_T_F16:
    case PTX_T_BF16: return PIPE_TENSOR_16;
    case PTX_T_TF32: return PIPE_TENSOR_TF32;
    case PTX_T_E4M3:
    case PTX_T_E5M2:
    case PTX_T_S8:
    case PTX_T_U8: return PIPE_TENSOR_8;
    default: return PIPE_TENSOR_OTHER;
    }
}

/* A warp has a quarter of the 64 rows. */
static struct flops of_wgmma(const struct exec_wgmma *x)
{
    uint64_t rows = 16, n = 2 * rows * x->n * x->k / WARP_LANES;
    return (struct flops){ pipe_of((enum ptx_type)x->type_a), x->sparse ? n / 2 : n };
}

static struct flops of_mma(const struct exec_mma *x)
{
    enum ptx_type t = (enum ptx_type)x->part[1].type;
    uint64_t n = (uint64_t)2 * x->shape[0] * x->shape[1] * x->shape[2];
    if (t == PTX_T_F16 && x->shape[0] == 8 && x->shape[1] == 8 && x->shape[2] == 4)
        n *= 4; /* one by each quarter of the warp */
    n /= WARP_LANES;
    return (struct flops){ pipe_of(t), x->sparse ? n / 2 : n };
}

static bool is_unknown(const struct ptx_inst *i)
{
    return ptx_role_of(i) == ROLE_PRODUCT && ptx_is(i, IS_TCGEN05);
}

static struct flops of(const struct exec_inst *in)
{
    if (ptx_is(in->ptx, IS_WGMMA))
        return of_wgmma(in->x);
    bool product = ptx_role_of(in->ptx) == ROLE_PRODUCT && !is_unknown(in->ptx);
    return product ? of_mma(in->x) : of_vector(in->ptx);
}

void timing_flops(struct timing_plan *t)
{
    for (uint32_t i = 0; i < t->p->ncode; i++) {
        const struct exec_inst *in = &t->p->code[i];
        struct flops f = of(in);
        t->tensor_unknown |= is_unknown(in->ptx);
        if (f.n && !t->work[f.pipe])
            t->work[f.pipe] = ARENA_ARRAY(t->arena, uint64_t, t->p->ncode + 1);
        if (arena_failed(t->arena))
            return;
        for (unsigned k = 0; k < PIPE_COUNT; k++)
            if (t->work[k])
                t->work[k][i + 1] = t->work[k][i] + (f.pipe == k ? f.n : 0);
    }
}
