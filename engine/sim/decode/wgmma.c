/* Decoding of asynchronous warpgroup products (9.7.15). */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/decode/decode.h"
#include "engine/sim/exec/lanes/soft.h"
#include "engine/sim/exec/tensor/meet.h"
#include "engine/sim/exec/tensor/wgmma.h"

static bool shape_of(struct decode *d, const struct ptx_inst *i, struct exec_wgmma *x)
{
    unsigned m, n, k;
    if (!ptx_shape_of(i, &m, &n, &k) || m != 64 || n % 8 || n > 256)
        return decode_why(d, "shape");
    x->n = (uint16_t)n;
    x->k = (uint16_t)k;
    return true;
}

static bool registers(struct decode *d, const struct ptx_operand *o, bool write, unsigned most,
                      uint32_t *slot, uint8_t *n)
{
    unsigned count;
    const struct ptx_operand *e = decode_elements(o, &count);
    if (count > most)
        return decode_why(d, "a matrix of %u registers", count);
    *n = (uint8_t)count;
    return decode_list(d, e, count, 4, write, slot);
}

/* Immediates of 1 and -1, 0 and 1. */
static bool constant(struct decode *d, const struct ptx_inst *i, unsigned at, int64_t *v)
{
    *v = 0;
    return at < i->nopnds && decode_is_imm(&i->opnds[at], v) ? true
                                                             : decode_why(d, "a missing constant");
}

/* What follows the matrices: scale-d, then the signs of A and B, then how they lie. */
static bool rest_of(struct decode *d, const struct ptx_inst *i, unsigned at, struct exec_wgmma *x)
{
    int64_t v;
    bool floats = soft_format_of(i->type[1]) != NULL,
         halves = i->type[1] == PTX_T_F16 || i->type[1] == PTX_T_BF16;
    if (at < i->nopnds && !decode_pred(d, &i->opnds[at++], &x->scale, &x->scale_neg))
        return false;
    if (!floats)
        return true;
    if (!constant(d, i, at++, &v))
        return false;
    x->neg_a = v == -1;
    if (!constant(d, i, at++, &v))
        return false;
    x->neg_b = v == -1;
    if (!halves)
        return true;
    if (!x->na) {
        if (!constant(d, i, at++, &v))
            return false;
        x->mn_a = v == 1;
    }
    if (!constant(d, i, at, &v))
        return false;
    x->mn_b = v == 1;
    return true;
}

/* How the preset's tensor cores sum products of this type. */
struct dot_model decode_dot_model(const struct decode *d, uint8_t type, uint8_t result)
{
    const struct sim_preset *p = &d->p->preset;
    unsigned bits = mat_bits(type);
    struct dot_model m = { (uint8_t)p->tensor_block_16, (uint8_t)p->tensor_frac_16, 23,
                           result == PTX_T_F16 };
    if (bits == 32)
        m.block = (uint8_t)p->tensor_block_tf32;
    if (bits == 8) {
        m.block = (uint8_t)p->tensor_block_8;
        m.frac = (uint8_t)p->tensor_frac_8;
        m.keep = result == PTX_T_F16 ? 23 : (uint8_t)p->tensor_frac_8;
    }
    return m;
}

bool decode_wgmma(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_wgmma x = { .type_d = i->type[0],
                            .type_a = i->type[1],
                            .type_b = i->type[2],
                            .sparse = i->op == PTX_OP_WGMMA_MMA_ASYNC_SP,
                            .finite = ptx_has_mod(i, PTX_MOD_SATFINITE),
                            .scale = EXEC_NO_ID };
    unsigned at = 3;
    int64_t selector = 0;
    if (!shape_of(d, i, &x) || !registers(d, &i->opnds[0], true, WGMMA_REGS, x.d, &x.nd))
        return false;
    if (x.nd != x.n / (i->type[0] == PTX_T_F16 ? 4u : 2u))
        return decode_why(d, "%u registers for the result", x.nd);
    if (i->opnds[1].kind == OPND_VEC) {
        if (!registers(d, &i->opnds[1], false, 4, x.a, &x.na))
            return false;
    } else if (!decode_src(d, &i->opnds[1], 8, &x.desc_a)) {
        return false;
    }
    if (!decode_src(d, &i->opnds[2], 8, &x.desc_b))
        return false;
    if (x.sparse) {
        if (!decode_src(d, &i->opnds[3], 4, &x.meta) || !decode_is_imm(&i->opnds[4], &selector))
            return false;
        x.selector = (uint8_t)selector;
        at = 5;
    }
    x.model = decode_dot_model(d, x.type_a, x.type_d);
    if (x.sparse) /* as many products, between zeros */
        x.model.block = (uint8_t)(x.model.block * 2);
    return rest_of(d, i, at, &x) && decode_whole(d, in, exec_wgmma, &x, sizeof x);
}

bool decode_wgmma_order(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    int64_t pending = 0;
    if (i->op == PTX_OP_WGMMA_WAIT_GROUP && !decode_is_imm(&i->opnds[0], &pending))
        return decode_why(d, "a number of groups that is not a constant");
    in->fn = i->op == PTX_OP_WGMMA_WAIT_GROUP     ? exec_wgmma_wait
             : i->op == PTX_OP_WGMMA_COMMIT_GROUP ? exec_wgmma_commit
                                                  : exec_wgmma_fence;
    in->imm = pending > INT32_MAX ? INT32_MAX : (int32_t)pending;
    in->kind = EXEC_SYNC;
    return decode_const_slot(d, EXEC_FULL, 4, &in->d);
}
