/* Decoding of what changes tensor maps (9.7.9.28, 9.7.13.16), of st.bulk (9.7.9.13), of multimem
 * (9.7.9.14) and of clusterlaunchcontrol (9.7.13.17). */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/tensor_map.h"
#include "engine/sim/decode/decode.h"
#include "engine/sim/exec/tensor/replace.h"

#define BYTES_FROM \
    85u /* version of PTX from which a stride is given in bytes, before it in 16 of them */

static const struct {
    uint16_t mod;
    uint8_t field;
    bool ordinal;
} fields[] = { { PTX_MOD_GLOBAL_ADDRESS, TENSOR_FIELD_ADDRESS, false },
               { PTX_MOD_RANK, TENSOR_FIELD_RANK, false },
               { PTX_MOD_BOX_DIM, TENSOR_FIELD_BOX, true },
               { PTX_MOD_GLOBAL_DIM, TENSOR_FIELD_DIM, true },
               { PTX_MOD_GLOBAL_STRIDE, TENSOR_FIELD_STRIDE, true },
               { PTX_MOD_ELEMENT_STRIDE, TENSOR_FIELD_STEP, true },
               { PTX_MOD_ELEMTYPE, TENSOR_FIELD_TYPE, false },
               { PTX_MOD_INTERLEAVE_LAYOUT, TENSOR_FIELD_INTERLEAVE, false },
               { PTX_MOD_SWIZZLE_MODE, TENSOR_FIELD_SWIZZLE, false },
               { PTX_MOD_FILL_MODE, TENSOR_FIELD_FILL, false } };

bool decode_tensormap_replace(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_replace x = { .field = TENSOR_FIELD_COUNT };
    int64_t ordinal = 0;
    unsigned at = 1, bytes = ptx_type_bits(i->type[i->ntypes - 1]) / 8;
    for (unsigned k = 0; k < ARRAY_LEN(fields); k++)
        if (ptx_has_mod(i, fields[k].mod)) {
            x.field = fields[k].field;
            if (fields[k].ordinal && (i->nopnds < 3 || !decode_is_imm(&i->opnds[at++], &ordinal)))
                return decode_why(d, "a field without its number");
        }
    if (x.field == TENSOR_FIELD_COUNT)
        return decode_why(d, "this field");
    x.ordinal = (uint8_t)ordinal;
    x.in_16_bytes = x.field == TENSOR_FIELD_STRIDE && d->p->module->version < BYTES_FROM;
    x.bytes = bytes == 8 ? 8 : 4;
    in->bytes = TENSOR_MAP_ALIGN;
    in->fn = exec_tensormap_replace;
    enum ptx_space space = ptx_has_mod(i, PTX_MOD_SHARED_CTA) ? PTX_SPACE_SHARED
                           : ptx_has_mod(i, PTX_MOD_GLOBAL)   ? PTX_SPACE_GLOBAL
                                                              : PTX_SPACE_GENERIC;
    return decode_src(d, &i->opnds[at], x.bytes, &x.value) &&
           decode_address(d, &i->opnds[0], space, in) && decode_more(d, in, &x, sizeof x);
}

bool decode_tensormap_copy(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_ref x;
    int64_t size = 0;
    if (!decode_is_imm(&i->opnds[2], &size) || size != TENSOR_MAP_BYTES)
        return decode_why(d, "a size that is not 128");
    if (!decode_ref(d, &i->opnds[1], PTX_SPACE_SHARED, &x))
        return false;
    in->bytes = TENSOR_MAP_ALIGN;
    in->fn = exec_tensormap_copy;
    return decode_address(d, &i->opnds[0], PTX_SPACE_GLOBAL, in) && decode_more(d, in, &x, sizeof x);
}

bool decode_st_bulk(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    int64_t value = 0;
    if (!decode_is_imm(&i->opnds[2], &value) || value)
        return decode_why(d, "a value that is not 0");
    in->bytes = 8;
    in->store = 1;
    in->fn = exec_st_bulk;
    return decode_src(d, &i->opnds[1], 8, &in->b) &&
           decode_address(d, &i->opnds[0],
                          ptx_has_mod(i, PTX_MOD_SHARED_CTA) ? PTX_SPACE_SHARED : PTX_SPACE_GENERIC, in);
}

/* On one device a multicast address has one memory behind it: a reducing load is a load. */
bool decode_multimem(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct ptx_inst j = *i;
    unsigned bits = ptx_type_bits(i->type[0]);
    if (i->op == PTX_OP_MULTIMEM_RED) {
        j.op = PTX_OP_RED;
        return decode_atom(d, &j, in);
    }
    j.type[0] = bits == 64 ? PTX_T_B64 : bits == 32 ? PTX_T_B32 : bits == 16 ? PTX_T_B16 : PTX_T_B8;
    j.op = i->op == PTX_OP_MULTIMEM_ST ? PTX_OP_ST : PTX_OP_LD;
    return j.op == PTX_OP_ST ? decode_st(d, &j, in) : decode_ld(d, &j, in);
}

/* Which CTA is cancelled depends on the order in which CTAs ask. */
bool decode_try_cancel(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_cancel x = { .all = ptx_has_mod(i, PTX_MOD_MULTICAST_CLUSTER_ALL) };
    if (!decode_ref(d, &i->opnds[1], PTX_SPACE_SHARED, &x.bar))
        return false;
    in->bytes = 16;
    in->fn = exec_try_cancel;
    d->atomic_order = true;
    in->flags |= x.all ? EXEC_F_CLUSTER : 0;
    return decode_address(d, &i->opnds[0], PTX_SPACE_SHARED, in) && decode_more(d, in, &x, sizeof x);
}

bool decode_is_canceled(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    bool neg;
    in->fn = exec_is_canceled;
    return decode_pred(d, &i->opnds[0], &in->dst, &neg) && decode_src(d, &i->opnds[1], 16, &in->a);
}

bool decode_first_ctaid(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    unsigned n;
    const struct ptx_operand *e = decode_elements(&i->opnds[0], &n);
    struct exec_moves x = { .n = (uint8_t)n, .bytes = 4 };
    if (x.n > ARRAY_LEN(x.dst) || !decode_src(d, &i->opnds[1], 16, &in->a))
        return decode_why(d, "this form");
    in->fn = exec_first_ctaid;
    in->imm = i->op == PTX_OP_CLUSTERLAUNCHCONTROL_QUERY_CANCEL_GET_FIRST_CTAID_Y   ? 1
              : i->op == PTX_OP_CLUSTERLAUNCHCONTROL_QUERY_CANCEL_GET_FIRST_CTAID_Z ? 2
                                                                                    : 0;
    return decode_list(d, e, x.n, 4, true, x.dst) && decode_more(d, in, &x, sizeof x);
}
