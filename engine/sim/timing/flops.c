/* Operations of numbers in each instruction, by pipe.
 *
 *   add, sub, mul, div, sqrt, rcp, rsqrt, sin, cos, ex2, lg2, tanh        1 for each element
 *   fma, mad                                                              2
 *   a product of matrices                                                 2 m n k of a warp; half when
 * sparse
 *
 * Comparisons, conversions, minima, moves and atomics count none. In the straight pieces of a warp all
 * lanes of the path count, those too whose guard does not hold. */
#include "engine/base/base.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/counters.h"
#include "engine/sim/decoded.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/tensor/wgmma.h"
#include "engine/sim/preset.h"
#include "engine/sim/sim_int.h"
#include "engine/sim/timing/plan.h"

struct flops {
    enum pipe pipe;
    uint64_t n; /* of one thread */
};

static unsigned per_element(uint16_t op)
{
    switch (op) {
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_MUL:
    case PTX_OP_DIV:
    case PTX_OP_SQRT:
    case PTX_OP_RCP:
    case PTX_OP_RSQRT:
    case PTX_OP_SIN:
    case PTX_OP_COS:
    case PTX_OP_EX2:
    case PTX_OP_LG2:
    case PTX_OP_TANH: return 1;
    case PTX_OP_FMA:
    case PTX_OP_MAD: return 2;
    default: return 0;
    }
}

static struct flops of_vector(const struct ptx_inst *i)
{
    unsigned n = per_element(i->op);
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

static struct flops of(const struct exec_inst *in)
{
    switch (in->ptx->op) {
    case PTX_OP_WGMMA_MMA_ASYNC:
    case PTX_OP_WGMMA_MMA_ASYNC_SP: return of_wgmma(in->x);
    case PTX_OP_MMA:
    case PTX_OP_MMA_SP:
    case PTX_OP_MMA_SP_ORDERED:
    case PTX_OP_WMMA_MMA: return of_mma(in->x);
    default: return of_vector(in->ptx);
    }
}

static bool is_unknown(const struct ptx_inst *i)
{
    return i->op == PTX_OP_TCGEN05_MMA || i->op == PTX_OP_TCGEN05_MMA_SP ||
           i->op == PTX_OP_TCGEN05_MMA_WS || i->op == PTX_OP_TCGEN05_MMA_WS_SP;
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
