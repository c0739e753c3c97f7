/* Decoding of mapa and getctarank (9.7.9.23, 9.7.9.24). */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/decode/decode.h"

bool decode_ctarank(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    unsigned bytes = decode_bytes(i->type[0]);
    bool maps = i->op == PTX_OP_MAPA;
    in->fn = maps ? exec_mapa : exec_ctarank;
    in->flags |= bytes == 8 ? EXEC_F_BASE64 : 0;
    in->imm = ptx_has_mod(i, PTX_MOD_SHARED_CLUSTER) ? 0 : MAPA_GENERIC;
    return decode_dst(d, &i->opnds[0], maps ? bytes : 4, &in->dst) &&
           decode_src(d, &i->opnds[1], bytes, &in->a) &&
           (!maps || decode_src(d, &i->opnds[2], 4, &in->b));
}
