/* Decoding of texture fetches and surface accesses (9.7.10, 9.7.11). */
#include "engine/base/base.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/sim/decode/decode.h"
#include "engine/sim/decoded.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/exec.h"
#include "engine/sim/exec/texture/texture.h"
#include "engine/sim/sim_int.h"

static bool handle_of(struct decode *d, const struct ptx_operand *o, struct exec_tex *x)
{
    struct exec_inst at = { .flags = 0 };
    if (o->kind == OPND_SYM || (o->kind == OPND_ADDR && o->base == BASE_SYM))
        return decode_why(d, "a texture, sampler or surface of the module: only handles are modelled");
    if (!decode_address(d, o, PTX_SPACE_GENERIC, &at))
        return false;
    x->handle = (struct exec_ref){ at.a, at.imm, (at.flags & EXEC_F_BASE64) != 0, at.space };
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
    if (o->kind != OPND_MULTI || o->nelem != 2)
        return decode_why(d, o->kind == OPND_MULTI && o->nelem == 3 ? "a sampler of its own"
                                                                    : "an address without coordinates");
    const struct ptx_operand *c = &o->elem[1];
    unsigned n = c->kind == OPND_VEC ? c->nelem : 1, want = x->ncoord + (x->array ? 1u : 0u), k = 0;
    const struct ptx_operand *e = c->kind == OPND_VEC ? c->elem : c;
    if (n < want)
        return decode_why(d, "%u coordinates, of which %u are needed", n, want);
    if (x->array && !decode_src(d, &e[k++], 4, &x->layer))
        return false;
    for (unsigned j = 0; j < x->ncoord; j++)
        if (!decode_src(d, &e[k++], 4, &x->coord[j]))
            return false;
    return handle_of(d, &o->elem[0], x);
}

/* Registers of {a, b, c, d}, or of one. */
static bool values_of(struct decode *d, const struct ptx_operand *o, unsigned bytes, bool write,
                      struct exec_tex *x)
{
    const struct ptx_operand *e = o->kind == OPND_VEC ? o->elem : o;
    x->n = (uint8_t)(o->kind == OPND_VEC ? o->nelem : 1);
    x->reg_bytes = (uint8_t)bytes;
    if (x->n > ARRAY_LEN(x->value))
        return decode_why(d, "vector of an unusual length");
    for (unsigned k = 0; k < x->n; k++)
        if (!(write ? decode_dst(d, &e[k], bytes, &x->value[k])
                    : decode_src(d, &e[k], bytes, &x->value[k])))
            return false;
    return true;
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
    return (in->x = decode_keep(d, x, sizeof *x)) != NULL;
}

bool decode_tex(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_tex x = { .gather = i->op == PTX_OP_TLD4,
                          .floats = i->type[1] == PTX_T_F32,
                          .is_float = i->type[0] == PTX_T_F32 };
    static const uint16_t parts[] = { PTX_MOD_R, PTX_MOD_G, PTX_MOD_B, PTX_MOD_A };
    unsigned most = ptx_has_mod(i, PTX_MOD_LEVEL) ? 3 : ptx_has_mod(i, PTX_MOD_GRAD) ? 4 : 2;
    for (unsigned k = 0; x.gather && k < ARRAY_LEN(parts); k++)
        if (ptx_has_mod(i, parts[k]))
            x.component = (uint8_t)k;
    if (i->type[0] == PTX_T_F16 || i->type[0] == PTX_T_F16X2)
        return decode_why(d, "results of 16 bits");
    if (i->nopnds < 2 || i->opnds[1].kind != OPND_MULTI || i->nopnds > most)
        return decode_why(d, "offsets, depth comparison or a residency predicate");
    if (!shape_of(d, i, &x))
        return false;
    if (x.gather && x.cube)
        return decode_why(d, "four texels of a cube");
    return place_of(d, &i->opnds[1], &x) && values_of(d, &i->opnds[0], 4, true, &x) &&
           keep(d, i, in, exec_tex, &x);
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
                    { PTX_MOD_NORMALIZED_COORDS, QUERY_NORMALIZED } };
    struct exec_tex x = { .surface = i->op == PTX_OP_SUQ };
    for (unsigned k = 0; k < ARRAY_LEN(queries); k++)
        if (ptx_has_mod(i, queries[k].mod)) {
            x.query = queries[k].query;
            in->fn = exec_tex_query;
            return i->nopnds == 2 && decode_dst(d, &i->opnds[0], 4, &in->dst) &&
                   handle_of(d, &i->opnds[1], &x) && (in->kind = EXEC_MEM, true) &&
                   (in->x = decode_keep(d, &x, sizeof x)) != NULL;
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
