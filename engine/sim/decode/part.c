/* Programs of which only some instructions do anything (part.h): exec_inst.lean is what is left of each,
 * and their workers are lean ones. */
#include "engine/sim/part.h"

#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/decode/decode.h"
#include "engine/sim/exec/lanes/lanes.h"

/* Of mbarriers: the state of one, or whether a phase is over. */
static bool decode_number(struct decode *d, const struct ptx_inst *i, struct exec_inst *in, bool one)
{
    const struct ptx_operand *o = &i->opnds[0];
    bool neg, pred = o->kind == OPND_REG && d->pf->regs[o->index].type == PTX_T_PRED;
    if (pred) {
        in->fn = exec_pred_mov;
        return decode_pred(d, o, &in->dst, &neg) && decode_const_slot(d, one ? EXEC_FULL : 0, 1, &in->a);
    }
    unsigned bytes = decode_reg_bits(d, o) > 32 ? 8 : 4;
    in->fn = d->lanes[bytes == 8 ? LANE_mov_64 : LANE_mov_32];
    return decode_dst(d, o, bytes, &in->dst) && decode_const_slot(d, one, bytes, &in->a);
}

/* A store or an atomic that says when memory has changed. */
static bool is_written(const struct exec_inst *in)
{
    enum ptx_effect e = ptx_effect_of(in->ptx);
    return (e == EFFECT_STORE || e == EFFECT_ATOMIC) && in->kind == EXEC_MEM;
}

static void nothing(struct exec_inst *in)
{
    in->fn = in->lean = NULL;
    in->kind = EXEC_PLAIN;
    in->cls = CLASS_ALU;
    in->spin = in->reads_time = 0;
    in->x = NULL;
}

bool decode_part(struct decode *d, const struct ptx_inst *i, struct exec_inst *in, bool reachable)
{
    const struct part *part = d->p->part;
    enum part_does does = reachable ? part->does(part->ctx, d->pf, i) : PART_NOTHING;
    bool ok = true;
    switch (does) {
    case PART_NOTHING: break;
    case PART_ALL:
    case PART_PLACE: {
        decode_fn *fn = decode_of(i->op);
        ok = fn && fn(d, i, in);
        break;
    }
    case PART_TELL:
        in->fn = exec_tell;
        in->kind = EXEC_MEM;
        break;
    default: ok = decode_number(d, i, in, does == PART_ONE); break;
    }
    if (does == PART_NOTHING || !ok) {
        nothing(in);
        if (!ok && !d->oom)
            part->odd(part->ctx, d->pf, i);
        return !d->oom;
    }
    in->lean = in->fn == exec_trap       ? exec_exit
               : does != PART_PLACE      ? (is_written(in) ? exec_written : in->fn)
               : in->fn == exec_cp_async ? exec_cp_async_place
               : in->fn == exec_ldmatrix || in->fn == exec_stmatrix ? exec_rows_place
                                                                    : exec_place;
    return true;
}
