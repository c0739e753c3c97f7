/* Decoding of asynchronous stores, reductions and bulk copies (9.7.9.12, 9.7.13.7, 9.7.9.25.4). */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/decode/decode.h"

#include <string.h>

bool decode_ref(struct decode *d, const struct ptx_operand *o, enum ptx_space space, struct exec_ref *r)
{
    struct exec_inst at = { .flags = 0 };
    if (!decode_address(d, o, space, &at))
        return false;
    *r = (struct exec_ref){ at.a, at.imm, (at.flags & EXEC_F_BASE64) != 0, at.space };
    return true;
}

static bool atom_of(const struct ptx_inst *i, struct exec_atom *x)
{
    *x = (struct exec_atom){ .type = i->type[0],
                             .bytes = (uint8_t)(ptx_type_bits(i->type[0]) / 8),
                             .vec = 1 };
    return decode_atom_op(i, &x->op);
}

bool decode_async(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_async x = { .reduces = i->op == PTX_OP_RED_ASYNC };
    unsigned size = ptx_type_bits(i->type[0]) / 8;
    const struct ptx_operand *v = &i->opnds[1], *e = v->kind == OPND_VEC ? v->elem : v;
    if (i->nopnds != 3 || ptx_has_mod(i, PTX_MOD_GLOBAL))
        return decode_why(d, "asynchronous store without an mbarrier");
    x.n = v->kind == OPND_VEC ? (uint8_t)v->nelem : 1;
    if (x.n > ARRAY_LEN(x.src))
        return decode_why(d, "asynchronous store of so long a vector");
    for (unsigned k = 0; k < x.n; k++) {
        unsigned bits = decode_reg_bits(d, &e[k]);
        x.reg_bytes[k] = (uint8_t)(bits > 32 || (!bits && size == 8) ? 8 : 4);
        if (!decode_src(d, &e[k], x.reg_bytes[k], &x.src[k]))
            return false;
    }
    in->bytes = (uint8_t)size;
    in->vec = x.n;
    in->fn = exec_async;
    if ((x.reduces && !atom_of(i, &x.atom)) ||
        !decode_ref(d, &i->opnds[2], PTX_SPACE_SHARED_CLUSTER, &x.bar))
        return false;
    return decode_address(d, &i->opnds[0], PTX_SPACE_SHARED_CLUSTER, in) &&
           decode_more(d, in, &x, sizeof x);
}

static enum ptx_space space_of_mod(uint16_t m)
{
    return m == PTX_MOD_GLOBAL           ? PTX_SPACE_GLOBAL
           : m == PTX_MOD_SHARED_CLUSTER ? PTX_SPACE_SHARED_CLUSTER
                                         : PTX_SPACE_SHARED;
}

/* cp.async.bulk and cp.reduce.async.bulk: to, from, size, then an mbarrier or not, lanes of a multicast
 * or not. */
bool decode_cp_bulk(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_bulk x = { .has_bar = ptx_has_mod(i, PTX_MOD_MBARRIER_COMPLETE_TX_BYTES),
                           .targets = EXEC_NO_ID,
                           .reduces = i->op == PTX_OP_CP_REDUCE_ASYNC_BULK };
    enum ptx_space space[2];
    unsigned n = 0;
    for (unsigned k = 0; k < i->nmods && n < 2; k++)
        if (ptx_mod_category(i->mods[k]) == MODCAT_SPACE)
            space[n++] = space_of_mod(i->mods[k]);
    if (n < 2 || ptx_has_mod(i, PTX_MOD_CP_MASK))
        return decode_why(d, "masked bulk copy");
    if (x.reduces && !atom_of(i, &x.atom))
        return false;
    if (x.reduces && space[0] == PTX_SPACE_GLOBAL && x.atom.op == ATOM_ADD &&
        strchr("fx", ptx_type_kind(i->type[0])))
        d->atomic_order = true;
    if (!decode_ref(d, &i->opnds[1], space[1], &x.from) || !decode_src(d, &i->opnds[2], 4, &x.size) ||
        (x.has_bar && !decode_ref(d, &i->opnds[3],
                                  space[0] == PTX_SPACE_GLOBAL ? PTX_SPACE_SHARED : space[0], &x.bar)) ||
        (ptx_has_mod(i, PTX_MOD_MULTICAST_CLUSTER) && !decode_src(d, &i->opnds[4], 4, &x.targets)))
        return false;
    in->bytes = BULK_CHUNK;
    in->fn = exec_cp_bulk;
    decode_policy(d, i, &in->policy);
    in->policy.hint = 0;
    return decode_address(d, &i->opnds[0], space[0], in) && decode_more(d, in, &x, sizeof x);
}
