/* Decoding of mapa and getctarank (9.7.9.23, 9.7.9.24). */
#include "engine/base/base.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/sim/decode/decode.h"
#include "engine/sim/decoded.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/exec.h"

bool decode_mapa(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    unsigned bytes = decode_bytes(i->type[0]);
    in->fn = exec_mapa;
    in->flags |= bytes == 8 ? EXEC_F_BASE64 : 0;
    in->imm = ptx_has_mod(i, PTX_MOD_SHARED_CLUSTER) ? 0 : MAPA_GENERIC;
    return decode_dst(d, &i->opnds[0], bytes, &in->dst) && decode_src(d, &i->opnds[1], bytes, &in->a) &&
           decode_src(d, &i->opnds[2], 4, &in->b);
}

bool decode_ctarank(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    unsigned bytes = decode_bytes(i->type[0]);
    in->fn = exec_ctarank;
    in->flags |= bytes == 8 ? EXEC_F_BASE64 : 0;
    in->imm = ptx_has_mod(i, PTX_MOD_SHARED_CLUSTER) ? 0 : MAPA_GENERIC;
    return decode_dst(d, &i->opnds[0], 4, &in->dst) && decode_src(d, &i->opnds[1], bytes, &in->a);
}
