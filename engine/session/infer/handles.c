/* Parameters that are texture or surface handles: what their fetches say of the texels behind them. */
#include "engine/base/base.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch_arg.h"
#include "engine/rec/texture.h"
#include "engine/session/infer/infer.h"

#include <string.h>

enum { LAYERS = 4 };
static const uint32_t most_texels[3] = { 4096, 1024, 128 }; /* along one dimension, by rank */

/* The handle among the operands: the first part of [handle, {coordinates}]. */
static const struct ptx_operand *handle_operand(const struct ptx_inst *i)
{
    if (ptx_effect_of(i) != EFFECT_TEXTURE && ptx_effect_of(i) != EFFECT_SURFACE)
        return NULL;
    for (unsigned k = 0; k < i->nopnds; k++)
        if (i->opnds[k].kind == OPND_MULTI && i->opnds[k].nelem)
            return &i->opnds[k].elem[0];
    return NULL;
}

static bool in_register(const struct ptx_operand *o, uint32_t reg)
{
    return o && (o->kind == OPND_REG || (o->kind == OPND_ADDR && o->base == BASE_REG)) &&
           o->index == reg;
}

/* A store or an atomic of a surface: the handle stands where others have their result. */
static bool is_written(const struct ptx_inst *i)
{
    return ptx_effect_of(i) == EFFECT_SURFACE && i->opnds[0].kind == OPND_MULTI;
}

/* A fetch through the parameter that `load` reads, itself or by a copy; NULL: none. */
static const struct ptx_inst *fetch_of(const struct guess *g, const struct ptx_inst *load)
{
    uint32_t reg[4], n = 0;
    if (!load || load->opnds[0].kind != OPND_REG)
        return NULL;
    reg[n++] = load->opnds[0].index;
    for (uint32_t k = 0; k < g->f->ninsts; k++) {
        const struct ptx_inst *i = &g->f->insts[k];
        for (uint32_t r = 0; r < n; r++) {
            if (in_register(handle_operand(i), reg[r]))
                return i;
            const struct ptx_operand *o = n < ARRAY_LEN(reg) ? ptx_copied(i) : NULL;
            if (o && in_register(o, reg[r]) && i->opnds[0].index != reg[r])
                reg[n++] = i->opnds[0].index;
        }
    }
    return NULL;
}

static bool is_read(const struct guess *g, const struct ptx_operand *o)
{
    for (uint32_t k = 0; o->kind == OPND_REG && k < g->f->ninsts; k++) {
        const struct ptx_inst *i = &g->f->insts[k];
        for (unsigned m = 0; m < i->nopnds; m++) {
            const struct ptx_operand *x = &i->opnds[m];
            if (x->kind == OPND_REG && x->index == o->index && m > 0)
                return true;
            for (unsigned e = 0; x->kind == OPND_VEC && m > 0 && e < x->nelem; e++)
                if (x->elem[e].kind == OPND_REG && x->elem[e].index == o->index)
                    return true;
        }
    }
    return false;
}

/* Channels of a texel: up to the last of the four results that is read. */
static uint8_t channels_read(const struct guess *g, const struct ptx_inst *i)
{
    const struct ptx_operand *v = &i->opnds[0];
    uint8_t n = 1;
    for (unsigned e = 1; v->kind == OPND_VEC && e < v->nelem && ptx_role_of(i) != ROLE_GATHER; e++)
        n = is_read(g, &v->elem[e]) ? (uint8_t)(e + 1) : n;
    return n == 3 ? 4 : n;
}

static void shape_of(const struct ptx_inst *i, uint32_t n, struct texture *t)
{
    bool three = ptx_has_mod(i, PTX_MOD_3D),
         one = ptx_has_mod(i, PTX_MOD_1D) || ptx_has_mod(i, PTX_MOD_A1D);
    t->cube = ptx_has_mod(i, PTX_MOD_CUBE) || ptx_has_mod(i, PTX_MOD_ACUBE);
    t->array =
        ptx_has_mod(i, PTX_MOD_A1D) || ptx_has_mod(i, PTX_MOD_A2D) || ptx_has_mod(i, PTX_MOD_ACUBE);
    t->rank = three ? 3 : one ? 1 : 2;
    t->layers = t->array ? LAYERS : 1;
    if (!n || n > most_texels[t->rank - 1]) /* 0: nothing says how many */
        n = most_texels[t->rank - 1];
    for (unsigned d = 0; d < 3; d++)
        t->dims[d] = d < t->rank ? n : 1;
}

static void texel_of(const struct guess *g, const struct ptx_inst *i, struct texture *t)
{
    enum ptx_type type = i->type[0];
    unsigned bits = ptx_type_bits(type);
    if (!t->surface) {
        t->elem = type == PTX_T_S32 ? ELEM_S32 : type == PTX_T_U32 ? ELEM_U32 : ELEM_F32;
        t->channels = channels_read(g, i);
        return;
    }
    const struct ptx_operand *v = &i->opnds[is_written(i) ? 1 : 0];
    t->elem = bits == 8 ? ELEM_U8 : bits == 16 ? ELEM_U16 : ELEM_F32;
    t->channels = (uint8_t)((v->kind == OPND_VEC ? v->nelem : 1) * (bits == 64 ? 2u : 1u));
}

bool infer_texture(const struct guess *g, uint32_t p, uint32_t n, struct texture *out, bool *written)
{
    const struct ptx_symbol *s = g->f->params[p];
    const struct ptx_inst *i =
        s->bytes == 8 && !s->array ? fetch_of(g, infer_param_load(g, p, 0)) : NULL;
    if (!i)
        return false;
    *out = (struct texture){ .surface = ptx_effect_of(i) == EFFECT_SURFACE };
    shape_of(i, n, out);
    texel_of(g, i, out);
    out->pitch = (uint64_t)out->dims[0] * texture_texel(out);
    *written = is_written(i);
    return out->channels == 1 || out->channels == 2 || out->channels == 4;
}

enum status infer_texture_arg(const struct guess *g, uint32_t p, uint32_t n, struct arg_spec *a,
                              struct arg_spec *texels)
{
    struct texture t;
    bool written;
    struct buf name = { 0 };
    if (!infer_texture(g, p, n, &t, &written))
        return ST_OK;
    buf_printf(&name, "%s_texels", a->name);
    a->kind = ARG_TEXTURE;
    a->bytes = base_alloc(sizeof t);
    a->nbytes = sizeof t;
    *texels = (struct arg_spec){ .kind = ARG_BUFFER,
                                 .name = buf_take(&name),
                                 .inside = base_strdup(""),
                                 .elem = (enum elem)t.elem,
                                 .count = texture_bytes(&t) / elem_size((enum elem)t.elem),
                                 .output = written,
                                 .init = { .kind = INIT_RANDOM, .seed = p + 1, .b = 1, .ib = 100 } };
    texels->init.integral = !elem_is_float(texels->elem);
    texels->init.b = texels->init.integral ? 100 : 1;
    a->same_as = texels->name ? base_strdup(texels->name) : NULL;
    if (!a->bytes || !a->same_as || !texels->inside)
        return ST_NOMEM;
    memcpy(a->bytes, &t, sizeof t);
    return ST_OK;
}
