/* Matrix instructions (9.7.14): decoding. */
#include "engine/ptx/meaning.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/decode/decode.h"
#include "engine/sim/exec/tensor/mma_kind.h"

static bool shape_of(struct decode *d, const struct ptx_inst *i, uint8_t shape[3])
{
    unsigned m, n, k;
    if (!ptx_shape_of(i, &m, &n, &k) || k > 255)
        return decode_why(d, "shape");
    shape[0] = (uint8_t)m;
    shape[1] = (uint8_t)n;
    shape[2] = (uint8_t)k;
    return true;
}

/* Registers of a fragment: 32-bit, or 64-bit for f64. */
static bool part_slots(struct decode *d, const struct ptx_operand *o, enum ptx_type t, bool write,
                       struct exec_part *p)
{
    unsigned n;
    const struct ptx_operand *e = decode_elements(o, &n);
    *p = (struct exec_part){ .n = (uint8_t)n, .type = (uint8_t)t, .bytes = t == PTX_T_F64 ? 8 : 4 };
    return p->n > 8 ? decode_why(d, "fragment of more than eight registers")
                    : decode_list(d, e, p->n, p->bytes, write, p->slot);
}

/* D, A, B and C. */
static bool four_parts(struct decode *d, const struct ptx_inst *i, const uint8_t type[4],
                       struct exec_mma *x)
{
    for (unsigned k = 0; k < 4; k++)
        if (!part_slots(d, &i->opnds[k], type[k], k == 0, &x->part[k]))
            return false;
    return true;
}

static bool input_type(enum ptx_type t)
{
    return t == PTX_T_F16 || t == PTX_T_BF16 || t == PTX_T_TF32 || t == PTX_T_F64 || t == PTX_T_S8 ||
           t == PTX_T_U8 || t == PTX_T_S4 || t == PTX_T_U4 || t == PTX_T_B1 || t == PTX_T_E4M3 ||
           t == PTX_T_E5M2;
}

static bool keep_mma(struct decode *d, const struct ptx_inst *i, struct exec_inst *in,
                     struct exec_mma *x)
{
    x->finite = ptx_has_mod(i, PTX_MOD_SATFINITE);
    x->xor_popc = ptx_has_mod(i, PTX_MOD_XOR);
    return decode_whole(d, in, in->fn, x, sizeof *x);
}

/* Shapes and types whose sums are known as tensor cores make them (tensor/mma.c). */
static bool on_core(const struct ptx_inst *i, const struct exec_mma *x)
{
    unsigned bits = ptx_type_bits(i->type[1]);
    return x->shape[0] == 16 && x->shape[1] == 8 &&
           (i->type[1] == PTX_T_TF32 || bits == 16 || bits == 8);
}

/* Some parts have no core for 8-bit floats here, and make two products of halves of them. */
static void core_model(const struct decode *d, const struct ptx_inst *i, struct exec_mma *x)
{
    bool bytes = i->type[1] == PTX_T_E4M3 || i->type[1] == PTX_T_E5M2;
    x->halves = bytes && d->p->preset.mma_8_as_halves;
    x->model = decode_dot_model(d, x->halves ? PTX_T_F16 : i->type[1], i->type[0]);
    if (x->sparse)
        x->model.block = (uint8_t)(x->model.block * 2);
}

bool decode_mma_sp(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_mma x = { .op = i->op, .sparse = true };
    int64_t selector;
    if (!shape_of(d, i, x.shape))
        return false;
    if (i->ntypes != 4 || i->nopnds != 6 || !input_type(i->type[1]) || !on_core(i, &x))
        return decode_why(d, "block scaling or this input type");
    if (!decode_is_imm(&i->opnds[5], &selector))
        return decode_why(d, "a selector that is not a constant");
    x.selector = (uint8_t)selector;
    core_model(d, i, &x);
    in->fn = exec_mma_core;
    return four_parts(d, i, i->type, &x) && decode_src(d, &i->opnds[4], 4, &x.meta) &&
           keep_mma(d, i, in, &x);
}

/* The four registers of factors: data, {byte, thread}. */
static bool scale_slots(struct decode *d, const struct ptx_inst *i, unsigned at, struct exec_scale *s)
{
    const struct ptx_operand *v = &i->opnds[at + 1];
    if (v->kind != OPND_VEC || v->nelem != 2)
        return decode_why(d, "scale factors without {byte, thread}");
    return decode_src(d, &i->opnds[at], 4, &s->data) && decode_src(d, &v->elem[0], 4, &s->byte) &&
           decode_src(d, &v->elem[1], 4, &s->thread);
}

static bool is_kind(const struct ptx_inst *i)
{
    return ptx_has_mod(i, PTX_MOD_KIND_F8F6F4) || ptx_has_mod(i, PTX_MOD_KIND_MXF8F6F4) ||
           ptx_has_mod(i, PTX_MOD_KIND_MXF4) || ptx_has_mod(i, PTX_MOD_KIND_MXF4NVF4);
}

/* Sums keep as many bits as those of f16. */
static bool decode_mma_kind(struct decode *d, const struct ptx_inst *i, struct exec_inst *in,
                            struct exec_mma *m)
{
    struct exec_mma_kind x = { .m = *m, .ue4m3 = ptx_has_mod(i, PTX_MOD_UE4M3) };
    bool scaled = ptx_has_mod(i, PTX_MOD_BLOCK_SCALE);
    if (i->ntypes < 4 || i->nopnds != (scaled ? 8 : 4) || (m->shape[2] != 32 && m->shape[2] != 64))
        return decode_why(d, "this form of a kind");
    x.scales = !scaled ? 0 : ptx_has_mod(i, PTX_MOD_SCALE_VEC_4X) ? 4 : m->shape[2] == 64 ? 2 : 1;
    x.m.model = decode_dot_model(d, PTX_T_F16, i->type[0]);
    x.m.model.block = m->shape[2];
    if (!four_parts(d, i, i->type, &x.m) ||
        (scaled && (!scale_slots(d, i, 4, &x.a) || !scale_slots(d, i, 6, &x.b))))
        return false;
    return decode_whole(d, in, exec_mma_kind, &x, sizeof x);
}

bool decode_mma(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_mma x = { .op = i->op };
    if (!shape_of(d, i, x.shape))
        return false;
    if (is_kind(i))
        return decode_mma_kind(d, i, in, &x);
    if (i->ntypes != 4 || i->nopnds != 4 || !input_type(i->type[1]) || !input_type(i->type[2]))
        return decode_why(d, "block scaling or this input type");
    if (x.shape[2] == 4 && i->type[1] == PTX_T_F16)
        return decode_why(d, "m8n8k4 with f16");
    core_model(d, i, &x);
    in->fn = on_core(i, &x) ? exec_mma_core : exec_mma;
    return four_parts(d, i, i->type, &x) && keep_mma(d, i, in, &x);
}

/* wmma.mma names two types when the inputs are f16. */
bool decode_wmma_mma(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_mma x = { .op = i->op };
    if (!shape_of(d, i, x.shape))
        return false;
    const uint8_t f16[4] = { i->type[0], PTX_T_F16, PTX_T_F16, i->type[1] },
                  *type = i->ntypes == 4 ? i->type : f16;
    enum ptx_type a = type[1];
    bool bytes = a == PTX_T_S8 || a == PTX_T_U8,
         core = a == PTX_T_F16 || a == PTX_T_BF16 || a == PTX_T_TF32;
    if (core)
        x.model = decode_dot_model(d, a, i->type[0]);
    if (a == PTX_T_TF32 && x.model.block > 4)
        x.model.block = 4; /* an H200 makes two products of half the depth */
    in->fn = core || bytes ? exec_wmma_core : exec_wmma_mma;
    return four_parts(d, i, type, &x) && keep_mma(d, i, in, &x);
}

bool decode_wmma_memory(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    bool load = i->op != PTX_OP_WMMA_STORE_D;
    struct exec_mma x = { .op = i->op, .stride = EXEC_NO_ID };
    const struct ptx_operand *v = &i->opnds[load ? 0 : 1], *m = &i->opnds[load ? 1 : 0];
    if (!shape_of(d, i, x.shape) || !part_slots(d, v, i->type[0], load, &x.part[0]) ||
        !decode_address(d, m, i->space, in))
        return false;
    if (i->nopnds > 2 && !decode_src(d, &i->opnds[2], 4, &x.stride))
        return false;
    x.column = ptx_has_mod(i, PTX_MOD_COL);
    in->bytes = (uint8_t)(ptx_type_bits(i->type[0]) >= 8 ? ptx_type_bits(i->type[0]) / 8 : 1);
    if (i->type[0] == PTX_T_TF32)
        in->bytes = 4;
    decode_policy(d, i, &in->policy);
    in->fn = load ? exec_wmma_load : exec_wmma_store;
    bool ok = keep_mma(d, i, in, &x);
    if (ok && load && (in->space == PTX_SPACE_GLOBAL || in->space == PTX_SPACE_GENERIC))
        in->load_id = d->p->nloads++;
    return ok;
}

bool decode_matrix_memory(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    bool load = i->op == PTX_OP_LDMATRIX;
    struct exec_mma x = { .op = i->op };
    if (i->type[0] != PTX_T_B16 || !ptx_has_mod(i, PTX_MOD_M8N8))
        return decode_why(d, "only .m8n8 of .b16");
    if (!part_slots(d, &i->opnds[load ? 0 : 1], PTX_T_B32, load, &x.part[0]) ||
        !decode_address(d, &i->opnds[load ? 1 : 0],
                        i->space == PTX_SPACE_GENERIC ? PTX_SPACE_GENERIC : PTX_SPACE_SHARED, in))
        return false;
    x.column = ptx_has_mod(i, PTX_MOD_TRANS);
    in->bytes = 16;
    in->fn = load ? exec_ldmatrix : exec_stmatrix;
    return keep_mma(d, i, in, &x);
}
