/* Decoding of tensor copies (9.7.9.27). */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/decode/decode.h"
#include "engine/sim/exec/tensor/tma.h"

static bool ref_of(struct decode *d, const struct ptx_operand *o, enum ptx_space space,
                   struct exec_ref *r)
{
    struct exec_inst at = { .flags = 0 };
    if (!decode_address(d, o, space, &at))
        return false;
    if (at.flags & EXEC_F_FRAME)
        return decode_why(d, "a tensor map or mbarrier in local memory");
    *r = (struct exec_ref){ at.a, at.imm, (at.flags & EXEC_F_BASE64) != 0, at.space };
    return true;
}

static unsigned rank_of(const struct ptx_inst *i)
{
    static const struct {
        uint16_t mod;
        uint8_t rank;
    } ranks[] = {
        { PTX_MOD_1D, 1 }, { PTX_MOD_2D, 2 }, { PTX_MOD_3D, 3 }, { PTX_MOD_4D, 4 }, { PTX_MOD_5D, 5 }
    };
    for (unsigned k = 0; k < ARRAY_LEN(ranks); k++)
        if (ptx_has_mod(i, ranks[k].mod))
            return ranks[k].rank;
    return 0;
}

static uint8_t mode_of(const struct ptx_inst *i)
{
    return ptx_has_mod(i, PTX_MOD_TILE_GATHER4)                                       ? TMA_GATHER4
           : ptx_has_mod(i, PTX_MOD_TILE_SCATTER4)                                    ? TMA_SCATTER4
           : ptx_has_mod(i, PTX_MOD_IM2COL) || ptx_has_mod(i, PTX_MOD_IM2COL_NO_OFFS) ? TMA_IM2COL
           : ptx_has_mod(i, PTX_MOD_IM2COL_W)                                         ? TMA_IM2COL_W
           : ptx_has_mod(i, PTX_MOD_IM2COL_W_128)                                     ? TMA_IM2COL_W128
                                                                                      : TMA_TILE;
}

/* [tensor map, {coordinates}] */
static bool tensor_of(struct decode *d, const struct ptx_operand *o, struct exec_tma *x)
{
    unsigned n;
    if (o->kind != OPND_MULTI || o->nelem != 2)
        return decode_why(d, "a tensor that is not [map, {coordinates}]");
    if (!ref_of(d, &o->elem[0], PTX_SPACE_GENERIC, &x->map))
        return false;
    const struct ptx_operand *c = decode_elements(&o->elem[1], &n);
    bool four = x->mode == TMA_GATHER4 || x->mode == TMA_SCATTER4;
    if (n != (four ? 5u : x->rank))
        return decode_no_ptx(d, "%u coordinates for %u%s", n, four ? 5u : x->rank,
                             four ? ": a column and four rows" : " dimensions");
    x->ncoord = (uint8_t)n;
    return decode_list(d, c, n, 4, false, x->coord);
}

/* What follows the mbarrier (or the tensor of a prefetch): offsets, lanes of a multicast, a policy. */
static bool rest_of(struct decode *d, const struct ptx_inst *i, unsigned at, struct exec_tma *x)
{
    unsigned n;
    if (x->mode >= TMA_IM2COL && x->mode != TMA_GATHER4 && x->mode != TMA_SCATTER4 &&
        !ptx_has_mod(i, PTX_MOD_IM2COL_NO_OFFS)) {
        if (at >= i->nopnds)
            return decode_why(d, "im2col without offsets");
        const struct ptx_operand *o = decode_elements(&i->opnds[at++], &n);
        if (n > ARRAY_LEN(x->off) || n != x->rank - 2u)
            return decode_why(d, "%u offsets for %u dimensions", n, x->rank);
        x->noff = (uint8_t)n;
        if (!decode_list(d, o, n, 4, false, x->off))
            return false;
    }
    if (ptx_has_mod(i, PTX_MOD_MULTICAST_CLUSTER)) {
        if (at >= i->nopnds || !decode_src(d, &i->opnds[at], 4, &x->targets))
            return false;
        at++;
    }
    return !ptx_has_mod(i, PTX_MOD_L2_CACHE_HINT) ||
           (at < i->nopnds && decode_src(d, &i->opnds[at], 8, &x->policy));
}

static bool keep(struct decode *d, const struct ptx_inst *i, struct exec_inst *in, struct exec_tma *x)
{
    in->fn = exec_tma;
    in->bytes = 1;
    in->kind = EXEC_MEM;
    decode_policy(d, i, &in->policy);
    in->policy.hint = 0;
    return decode_more(d, in, x, sizeof *x);
}

static bool load(struct decode *d, const struct ptx_inst *i, struct exec_inst *in, struct exec_tma *x)
{
    enum ptx_space to =
        ptx_has_mod(i, PTX_MOD_SHARED_CLUSTER) ? PTX_SPACE_SHARED_CLUSTER : PTX_SPACE_SHARED;
    x->has_bar = true;
    if (i->nopnds < 3 || !tensor_of(d, &i->opnds[1], x) || !ref_of(d, &i->opnds[2], to, &x->bar) ||
        !rest_of(d, i, 3, x))
        return false;
    return decode_address(d, &i->opnds[0], to, in) && keep(d, i, in, x);
}

bool decode_tma(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_tma x = { .mode = mode_of(i), .targets = EXEC_NO_ID, .policy = EXEC_NO_ID };
    x.rank = (uint8_t)rank_of(i);
    if (x.mode == TMA_IM2COL_W || x.mode == TMA_IM2COL_W128)
        return decode_why(d, ".im2col::w");
    if (i->op == PTX_OP_CP_ASYNC_BULK_PREFETCH_TENSOR) {
        x.kind = TMA_PREFETCH;
        in->mem_id = d->p->nmem++;
        return tensor_of(d, &i->opnds[0], &x) && rest_of(d, i, 1, &x) && keep(d, i, in, &x);
    }
    if (i->opnds[0].kind != OPND_MULTI) {
        x.kind = TMA_LOAD;
        return load(d, i, in, &x);
    }
    x.kind = i->op == PTX_OP_CP_REDUCE_ASYNC_BULK_TENSOR ? TMA_REDUCE : TMA_STORE;
    x.atom = (struct exec_atom){ .vec = 1 };
    if (x.kind == TMA_REDUCE && !decode_atom_op(i, &x.atom.op))
        return false;
    d->atomic_order |= x.kind == TMA_REDUCE && x.atom.op == ATOM_ADD;
    return tensor_of(d, &i->opnds[0], &x) && decode_address(d, &i->opnds[1], PTX_SPACE_SHARED, in) &&
           (!ptx_has_mod(i, PTX_MOD_L2_CACHE_HINT) || i->nopnds < 3 ||
            decode_src(d, &i->opnds[2], 8, &x.policy)) &&
           keep(d, i, in, &x);
}
