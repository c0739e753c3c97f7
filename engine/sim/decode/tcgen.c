/* Decoding of tensor memory and of products into it (9.7.16). */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/decode/decode.h"
#include "engine/sim/exec/tensor/tcgen.h"
#include "engine/sim/exec/tensor/tmem.h"

static bool single(struct decode *d, struct exec_inst *in, exec_fn *fn, const void *x, size_t n)
{
    in->fn = fn;
    in->kind = EXEC_MEM;
    return decode_more(d, in, x, n);
}

bool decode_tmem_alloc(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_tmem_alloc x = { .address = EXEC_NO_ID };
    enum ptx_space space = ptx_has_mod(i, PTX_MOD_SHARED_CTA) ? PTX_SPACE_SHARED : PTX_SPACE_GENERIC;
    if (i->op == PTX_OP_TCGEN05_RELINQUISH_ALLOC_PERMIT)
        return decode_whole(d, in, exec_tmem_close, &x, sizeof x);
    if (!decode_src(d, &i->opnds[1], 4, &x.columns))
        return false;
    in->bytes = 4;
    if (i->op == PTX_OP_TCGEN05_DEALLOC)
        return decode_src(d, &i->opnds[0], 4, &x.address) &&
               decode_whole(d, in, exec_tmem_dealloc, &x, sizeof x);
    return decode_ref(d, &i->opnds[0], space, &x.to) &&
           decode_whole(d, in, exec_tmem_alloc, &x, sizeof x);
}

/* ---- moves ---- */
static const struct {
    uint16_t mod;
    uint8_t shape, regs; /* for .x1 */
} shapes[] = { { PTX_MOD_32X32B, TMEM_32X32B, 1 },
               { PTX_MOD_16X64B, TMEM_16X64B, 1 },
               { PTX_MOD_16X128B, TMEM_16X128B, 2 },
               { PTX_MOD_16X256B, TMEM_16X256B, 4 },
               { PTX_MOD_16X32BX2, TMEM_16X32BX2, 1 } };

static bool shape_of(struct decode *d, const struct ptx_inst *i, struct exec_tmem *x)
{
    unsigned regs = 0, times = ptx_times_of(i);
    for (unsigned k = 0; k < ARRAY_LEN(shapes); k++)
        if (ptx_has_mod(i, shapes[k].mod)) {
            x->shape = shapes[k].shape;
            regs = shapes[k].regs;
        }
    if (!regs || !times || regs * times > TMEM_REGS)
        return decode_why(d, "this shape");
    x->n = (uint8_t)(regs * times);
    return true;
}

static bool registers(struct decode *d, const struct ptx_operand *o, struct exec_tmem *x)
{
    unsigned n;
    const struct ptx_operand *e = decode_elements(o, &n);
    if (n != x->n)
        return decode_why(d, "%u registers where the shape has %u", n, x->n);
    return decode_list(d, e, n, 4, !x->store, x->reg);
}

static bool split_of(struct decode *d, const struct ptx_inst *i, unsigned at, struct exec_tmem *x)
{
    int64_t v;
    if (x->shape != TMEM_16X32BX2)
        return true;
    if (at >= i->nopnds || !decode_is_imm(&i->opnds[at], &v) || v < 0 || v >= TMEM_COLUMNS)
        return decode_why(d, "16x32bx2 without the columns between its halves");
    x->split = (uint32_t)v;
    return true;
}

bool decode_tmem_move(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    bool red = i->op == PTX_OP_TCGEN05_LD_RED;
    struct exec_tmem x = { .store = i->op == PTX_OP_TCGEN05_ST,
                           .pack =
                               ptx_has_mod(i, PTX_MOD_PACK_16B) || ptx_has_mod(i, PTX_MOD_UNPACK_16B),
                           .red_dst = EXEC_NO_ID };
    unsigned at = x.store ? 0 : red ? 2 : 1;
    if (red) {
        x.red = ptx_has_mod(i, PTX_MOD_MIN) ? TMEM_RED_MIN : TMEM_RED_MAX;
        x.red_type = (uint8_t)i->type[0];
        x.red_abs = ptx_has_mod(i, PTX_MOD_ABS);
        x.red_nan = ptx_has_mod(i, PTX_MOD_NAN_FLAG);
    }
    if (!shape_of(d, i, &x) || !decode_ref(d, &i->opnds[at], PTX_SPACE_SHARED, &x.at) ||
        !split_of(d, i, at + 1, &x) || !registers(d, &i->opnds[x.store ? i->nopnds - 1u : 0], &x))
        return false;
    if (red && !decode_dst(d, &i->opnds[1], 4, &x.red_dst))
        return false;
    return decode_whole(d, in, exec_tmem_move, &x, sizeof x);
}

/* ---- copies ---- */
static const struct {
    uint16_t mod, how; /* how: the second modifier, or 0 */
    uint8_t words;
    uint8_t from[4];
} copies[] = { { PTX_MOD_128X256B, 0, 8, { 0, 32, 64, 96 } },
               { PTX_MOD_128X128B, 0, 4, { 0, 32, 64, 96 } },
               { PTX_MOD_64X128B, PTX_MOD_WARPX2_02_13, 4, { 0, 32, 0, 32 } },
               { PTX_MOD_64X128B, PTX_MOD_WARPX2_01_23, 4, { 0, 0, 32, 32 } },
               { PTX_MOD_32X128B, PTX_MOD_WARPX4, 4, { 0, 0, 0, 0 } } };

bool decode_tmem_copy(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_tmem_copy x = { .pair = ptx_has_mod(i, PTX_MOD_CTA_GROUP_2),
                                .bits = ptx_has_mod(i, PTX_MOD_B6X16_P32)   ? 6
                                        : ptx_has_mod(i, PTX_MOD_B4X16_P64) ? 4
                                                                            : 0 };
    for (unsigned k = 0; k < ARRAY_LEN(copies); k++)
        if (ptx_has_mod(i, copies[k].mod) && (!copies[k].how || ptx_has_mod(i, copies[k].how))) {
            x.words = copies[k].words;
            for (unsigned q = 0; q < 4; q++)
                x.from_lane[q] = copies[k].from[q];
        }
    if (!x.words)
        return decode_why(d, "this shape");
    return decode_ref(d, &i->opnds[0], PTX_SPACE_SHARED, &x.to) &&
           decode_src(d, &i->opnds[1], 8, &x.desc) && single(d, in, exec_tmem_copy, &x, sizeof x);
}

bool decode_tmem_shift(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_tmem_copy x = { .pair = ptx_has_mod(i, PTX_MOD_CTA_GROUP_2), .words = 8 };
    return decode_ref(d, &i->opnds[0], PTX_SPACE_SHARED, &x.to) &&
           single(d, in, exec_tmem_shift, &x, sizeof x);
}

bool decode_tmem_commit(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_tmem_commit x = { .targets = EXEC_NO_ID };
    enum ptx_space space = ptx_has_mod(i, PTX_MOD_SHARED_CLUSTER) ? PTX_SPACE_SHARED : PTX_SPACE_GENERIC;
    if (ptx_has_mod(i, PTX_MOD_MULTICAST_CLUSTER) &&
        (i->nopnds < 2 || !decode_src(d, &i->opnds[1], 4, &x.targets)))
        return decode_why(d, "a multicast without its mask");
    return decode_ref(d, &i->opnds[0], space, &x.bar) && single(d, in, exec_tmem_commit, &x, sizeof x);
}

/* ---- products ---- */
static const struct {
    uint16_t mod;
    uint8_t kind, scales; /* scales: where no modifier says how many */
} kinds[] = { { PTX_MOD_KIND_F16, TCGEN_F16, 0 },           { PTX_MOD_KIND_TF32, TCGEN_TF32, 0 },
              { PTX_MOD_KIND_F8F6F4, TCGEN_F8F6F4, 0 },     { PTX_MOD_KIND_I8, TCGEN_I8, 0 },
              { PTX_MOD_KIND_MXF8F6F4, TCGEN_MXF8F6F4, 1 }, { PTX_MOD_KIND_MXF4, TCGEN_MXF4, 2 },
              { PTX_MOD_KIND_MXF4NVF4, TCGEN_NVF4, 2 } };

/* As wgmma's of f16 sum on the preset's device; 8-bit floats and narrower keep as many bits. */
static struct dot_model model_of(const struct decode *d, uint8_t kind)
{
    struct dot_model m = decode_dot_model(d, kind == TCGEN_TF32 ? PTX_T_TF32 : PTX_T_F16, PTX_T_F32);
    if (kind >= TCGEN_F8F6F4)
        m.block = (uint8_t)d->p->preset.tensor_block_8;
    return m;
}

static bool factors(struct decode *d, const struct ptx_inst *i, struct exec_tcgen *x)
{
    const struct ptx_operand *a = &i->opnds[1];
    x->a_tmem = a->kind == OPND_ADDR;
    return decode_ref(d, &i->opnds[0], PTX_SPACE_SHARED, &x->d) &&
           (x->a_tmem ? decode_ref(d, a, PTX_SPACE_SHARED, &x->a) : decode_src(d, a, 8, &x->desc_a)) &&
           decode_src(d, &i->opnds[2], 8, &x->desc_b) && decode_src(d, &i->opnds[3], 4, &x->idesc);
}

static bool lane_mask(struct decode *d, const struct ptx_operand *o, struct exec_tcgen *x)
{
    if (o->nelem != (x->pair ? 8u : 4u))
        return decode_why(d, "a mask of lanes of %u words", o->nelem);
    x->nmask = (uint8_t)o->nelem;
    return decode_list(d, o->elem, o->nelem, 4, false, x->mask);
}

static bool rest_of(struct decode *d, const struct ptx_inst *i, unsigned at, struct exec_tcgen *x)
{
    int64_t v = 0;
    if (x->scales) {
        if (i->nopnds < at + 3u || !decode_ref(d, &i->opnds[at], PTX_SPACE_SHARED, &x->scale_a) ||
            !decode_ref(d, &i->opnds[at + 1], PTX_SPACE_SHARED, &x->scale_b))
            return decode_why(d, "block scaling without its two addresses");
        at += 2;
    } else if (at < i->nopnds && i->opnds[at].kind == OPND_VEC && !lane_mask(d, &i->opnds[at++], x)) {
        return false;
    }
    if (at >= i->nopnds || !decode_pred(d, &i->opnds[at++], &x->keep, &x->scale_neg))
        return decode_why(d, "no predicate that says whether D is added");
    if (at < i->nopnds && (x->ws || !decode_is_imm(&i->opnds[at], &v) || v < 0 || v > 15))
        return decode_why(d, x->ws ? "a mask of zero columns" : "a scale of D that is not 0 to 15");
    x->old_less = (uint8_t)v;
    return true;
}

bool decode_tcgen(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_tcgen x = { .pair = ptx_has_mod(i, PTX_MOD_CTA_GROUP_2),
                            .ws = i->op == PTX_OP_TCGEN05_MMA_WS };
    for (unsigned k = 0; k < ARRAY_LEN(kinds); k++)
        if (ptx_has_mod(i, kinds[k].mod)) {
            x.kind = kinds[k].kind;
            x.scales = kinds[k].scales;
        }
    if (x.kind == TCGEN_NVF4 &&
        (ptx_has_mod(i, PTX_MOD_SCALE_VEC_4X) || ptx_has_mod(i, PTX_MOD_BLOCK16)))
        x.scales = 4;
    if (ptx_has_mod(i, PTX_MOD_ASHIFT))
        return decode_why(d, ".ashift");
    x.model = model_of(d, x.kind);
    return factors(d, i, &x) && rest_of(d, i, 4, &x) && single(d, in, exec_tcgen, &x, sizeof x);
}
