/* Decoding of texture fetches and surface accesses (9.7.10, 9.7.11). */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/decode/decode.h"
#include "engine/sim/exec/texture/texture.h"

/* A handle: in a register, a variable of the module by its address, or a parameter that is one. */
static bool handle_of(struct decode *d, const struct ptx_operand *o, struct exec_ref *ref)
{
    bool symbol = o->kind == OPND_SYM || (o->kind == OPND_ADDR && o->base == BASE_SYM);
    if (!decode_ref(d, o, PTX_SPACE_GENERIC, ref))
        return false;
    if (symbol && o->sym->space == PTX_SPACE_PARAM) {
        if (!d->pf->entry)
            return decode_why(d, "a texture, sampler or surface that is a parameter of a function");
        ref->space = PTX_SPACE_PARAM;
        ref->imm = (int32_t)((uint64_t)o->imm + o->sym->offset);
    }
    return true;
}

static bool shape_of(struct decode *d, const struct ptx_inst *i, struct exec_tex *x)
{
    static const struct {
        uint16_t mod;
        uint8_t rank, ncoord;
        bool array, cube;
    } shapes[] = { { PTX_MOD_1D, 1, 1, false, false }, { PTX_MOD_2D, 2, 2, false, false },
                   { PTX_MOD_3D, 3, 3, false, false }, { PTX_MOD_A1D, 1, 1, true, false },
                   { PTX_MOD_A2D, 2, 2, true, false }, { PTX_MOD_CUBE, 2, 3, false, true },
                   { PTX_MOD_ACUBE, 2, 3, true, true } };
    for (unsigned k = 0; k < ARRAY_LEN(shapes); k++)
        if (ptx_has_mod(i, shapes[k].mod)) {
            x->rank = shapes[k].rank;
            x->ncoord = shapes[k].ncoord;
            x->array = shapes[k].array;
            x->cube = shapes[k].cube;
            return true;
        }
    return decode_why(d, "textures of several samples");
}

/* [handle, {layer, x, y, z}]; what follows in the vector is not looked at. */
static bool place_of(struct decode *d, const struct ptx_operand *o, struct exec_tex *x)
{
    if (o->kind != OPND_MULTI || o->nelem < 2 || o->nelem > 3)
        return decode_why(d, "an address without coordinates");
    const struct ptx_operand *c = &o->elem[o->nelem - 1];
    x->sampler.slot = EXEC_NO_ID;
    if (o->nelem == 3 && !handle_of(d, &o->elem[1], &x->sampler))
        return false;
    unsigned n, want = x->ncoord + (x->array ? 1u : 0u);
    const struct ptx_operand *e = decode_elements(c, &n);
    if (n < want)
        return decode_why(d, "%u coordinates, of which %u are needed", n, want);
    if ((x->array && !decode_src(d, e, 4, &x->layer)) ||
        !decode_list(d, e + x->array, x->ncoord, 4, false, x->coord))
        return false;
    return handle_of(d, &o->elem[0], &x->handle);
}

/* Registers of {a, b, c, d}, or of one. */
static bool values_of(struct decode *d, const struct ptx_operand *o, unsigned bytes, bool write,
                      struct exec_tex *x)
{
    unsigned n;
    const struct ptx_operand *e = decode_elements(o, &n);
    x->n = (uint8_t)n;
    x->reg_bytes = (uint8_t)bytes;
    return x->n > ARRAY_LEN(x->value) ? decode_why(d, "vector of an unusual length")
                                      : decode_list(d, e, x->n, bytes, write, x->value);
}

static bool keep(struct decode *d, const struct ptx_inst *i, struct exec_inst *in, exec_fn *fn,
                 const struct exec_tex *x)
{
    in->fn = fn;
    in->kind = EXEC_MEM;
    in->space = PTX_SPACE_GLOBAL;
    in->mem_id = d->p->nmem++;
    in->bytes = 4;
    in->vec = 1;
    decode_policy(d, i, &in->policy);
    in->policy.nc = !x->surface;
    return decode_more(d, in, x, sizeof *x);
}

/* The first n of a vector of 32-bit values. */
static bool some_of(struct decode *d, const struct ptx_operand *o, unsigned n, uint32_t *slot)
{
    unsigned there;
    const struct ptx_operand *e = decode_elements(o, &there);
    return there < n ? decode_why(d, "%u components, of which %u are needed", there, n)
                     : decode_list(d, e, n, 4, false, slot);
}

static bool is_float_operand(const struct decode *d, const struct ptx_operand *o)
{
    return (o->kind == OPND_REG && d->pf->regs[o->index].type == PTX_T_F32) ||
           (o->kind == OPND_IMM && o->is_float);
}

/* What follows [texture, {coordinates}]: the level, offsets, the operand of a depth compare. */
static bool extras_of(struct decode *d, const struct ptx_inst *i, unsigned k, struct exec_tex *x)
{
    for (unsigned n = 0; n < 3; n++)
        x->gradient[0][n] = x->gradient[1][n] = x->offset[n] = EXEC_NO_ID;
    x->lod = x->reference = EXEC_NO_ID;
    x->level = ptx_has_mod(i, PTX_MOD_LEVEL)  ? TEX_LEVEL
               : ptx_has_mod(i, PTX_MOD_GRAD) ? TEX_GRAD
                                              : TEX_BASE;
    if (x->level == TEX_GRAD && x->cube)
        return decode_why(d, "gradients of a direction into a cube");
    if (x->level == TEX_LEVEL && (k >= i->nopnds || !decode_src(d, &i->opnds[k++], 4, &x->lod)))
        return false;
    for (unsigned g = 0; x->level == TEX_GRAD && g < 2; g++, k++)
        if (k >= i->nopnds || !some_of(d, &i->opnds[k], x->rank, x->gradient[g]))
            return false;
    unsigned left = k < i->nopnds ? i->nopnds - k : 0;
    bool compares =
        left == 1 && i->opnds[k].kind != OPND_VEC && (x->rank > 1 || is_float_operand(d, &i->opnds[k]));
    if (left && !compares && !some_of(d, &i->opnds[k++], x->rank, x->offset))
        return false;
    if (k < i->nopnds && !decode_src(d, &i->opnds[k++], 4, &x->reference))
        return false;
    return k == i->nopnds || decode_why(d, "operands of an unusual form");
}

bool decode_tex(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    bool packed = i->type[0] == PTX_T_F16X2, half = i->type[0] == PTX_T_F16, neg;
    struct exec_tex x = { .gather = i->op == PTX_OP_TLD4,
                          .floats = i->type[1] == PTX_T_F32,
                          .half = packed ? 2
                                  : half ? 1
                                         : 0,
                          .resident = EXEC_NO_ID,
                          .is_float = packed || half || i->type[0] == PTX_T_F32 };
    static const uint16_t parts[] = { PTX_MOD_R, PTX_MOD_G, PTX_MOD_B, PTX_MOD_A };
    unsigned at = i->nopnds > 1 && i->opnds[1].kind != OPND_MULTI ? 2 : 1; /* behind |p */
    for (unsigned k = 0; x.gather && k < ARRAY_LEN(parts); k++)
        if (ptx_has_mod(i, parts[k]))
            x.component = (uint8_t)k;
    if (i->nopnds <= at || i->opnds[at].kind != OPND_MULTI)
        return decode_why(d, "an address without coordinates");
    if (at == 2 && !decode_pred(d, &i->opnds[1], &x.resident, &neg))
        return false;
    if (!shape_of(d, i, &x))
        return false;
    if (x.gather && x.cube)
        return decode_why(d, "four texels of a cube");
    return place_of(d, &i->opnds[at], &x) && extras_of(d, i, at + 1, &x) &&
           values_of(d, &i->opnds[0], 4, true, &x) && keep(d, i, in, exec_tex, &x);
}

bool decode_tex_query(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    static const struct {
        uint16_t mod;
        uint8_t query;
    } queries[] = { { PTX_MOD_WIDTH, QUERY_WIDTH },
                    { PTX_MOD_HEIGHT, QUERY_HEIGHT },
                    { PTX_MOD_DEPTH, QUERY_DEPTH },
                    { PTX_MOD_ARRAY_SIZE, QUERY_LAYERS },
                    { PTX_MOD_NUM_MIPMAP_LEVELS, QUERY_LEVELS },
                    { PTX_MOD_NORMALIZED_COORDS, QUERY_NORMALIZED },
                    { PTX_MOD_NUM_SAMPLES, QUERY_SAMPLES },
                    { PTX_MOD_FILTER_MODE, QUERY_FILTER },
                    { PTX_MOD_ADDR_MODE_0, QUERY_EDGE },
                    { PTX_MOD_ADDR_MODE_1, QUERY_EDGE_Y },
                    { PTX_MOD_ADDR_MODE_2, QUERY_EDGE_Z },
                    { PTX_MOD_FORCE_UNNORMALIZED_COORDS, QUERY_UNNORMALIZED },
                    { PTX_MOD_CHANNEL_DATA_TYPE, QUERY_TYPE },
                    { PTX_MOD_CHANNEL_ORDER, QUERY_ORDER },
                    { PTX_MOD_MEMORY_LAYOUT, QUERY_LINEAR_MEMORY } };
    struct exec_tex x = { .surface = i->op == PTX_OP_SUQ, .lod = EXEC_NO_ID };
    for (unsigned k = 0; k < ARRAY_LEN(queries); k++)
        if (ptx_has_mod(i, queries[k].mod)) {
            x.query = queries[k].query;
            in->fn = exec_tex_query;
            return decode_dst(d, &i->opnds[0], 4, &in->dst) && handle_of(d, &i->opnds[1], &x.handle) &&
                   (i->nopnds < 3 || decode_src(d, &i->opnds[2], 4, &x.lod)) &&
                   (in->kind = EXEC_MEM, true) && decode_more(d, in, &x, sizeof x);
        }
    return decode_why(d, "this query");
}

bool decode_surface(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_tex x = { .surface = true,
                          .formatted = i->op == PTX_OP_SUST_P || i->op == PTX_OP_SURED_P,
                          .edge = ptx_has_mod(i, PTX_MOD_CLAMP)  ? SURFACE_CLAMP
                                  : ptx_has_mod(i, PTX_MOD_ZERO) ? SURFACE_ZERO
                                                                 : SURFACE_TRAP,
                          .bytes = (uint8_t)(ptx_type_bits(i->type[0]) / 8) };
    bool load = i->op == PTX_OP_SULD_B, reduce = i->op == PTX_OP_SURED_B || i->op == PTX_OP_SURED_P;
    if (i->nopnds != 2 || !shape_of(d, i, &x))
        return i->nopnds == 2 ? false : decode_why(d, "surface access of this form");
    if (x.cube)
        return decode_why(d, "cube surfaces");
    if (i->op == PTX_OP_SURED_P && x.bytes == 8)
        return decode_why(d, "formatted reductions of 64 bits");
    if (reduce) {
        x.atom = (struct exec_atom){ .type = i->type[0], .bytes = x.bytes, .vec = 1 };
        if (!decode_atom_op(i, &x.atom.op))
            return false;
    }
    in->store = !load;
    return place_of(d, &i->opnds[load ? 1 : 0], &x) &&
           values_of(d, &i->opnds[load ? 0 : 1], x.bytes == 8 ? 8 : 4, load, &x) &&
           keep(d, i, in,
                load     ? exec_surface_load
                : reduce ? exec_surface_reduce
                         : exec_surface_store,
                &x);
}
