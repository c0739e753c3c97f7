/* What the texture and surface arguments of a launch stand for, on a simulated device. */
#include "engine/dev/dev_int.h"
#include "engine/ptx/reference.h"
#include "engine/rec/launch_arg.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/texture.h"

#include <string.h>

/* Edges as PTX names them; clamp_ogl takes the border in between as the edge. */
static uint8_t edge_of(uint8_t mode)
{
    return mode == PTX_ADDR_WRAP     ? EDGE_WRAP
           : mode == PTX_ADDR_MIRROR ? EDGE_MIRROR
           : mode == PTX_ADDR_BORDER ? EDGE_BORDER
                                     : EDGE_CLAMP;
}

static struct texture declared_sampler(const struct ptx_symbol *s)
{
    static const struct ptx_sampling plain = { { PTX_ADDR_CLAMP, PTX_ADDR_CLAMP, PTX_ADDR_CLAMP },
                                               false,
                                               false };
    const struct ptx_sampling *said = s->sampling ? s->sampling : &plain;
    struct texture t = { .rank = 3,
                         .dims = { 1, 1, 1 },
                         .layers = 1,
                         .sampler = SAMPLER_COORDINATES_OF_TEXTURE,
                         .linear = said->linear,
                         .normalized = !said->unnormalized };
    for (unsigned d = 0; d < 3; d++)
        t.edge[d] = edge_of(said->addr_mode[d]);
    return t;
}

static bool is_sampler(const struct ptx_symbol *s)
{
    return s->type == PTX_T_SAMPLERREF && s->linkage != LINK_EXTERN;
}

static struct textures *room_for(const struct launch_spec *l, const struct ptx_module *m)
{
    size_t n = launch_nargs(l);
    for (uint32_t g = 0; g < m->nglobals; g++)
        n += is_sampler(m->globals[g]);
    struct textures *found = base_alloc(sizeof *found + n * (sizeof *found->v + sizeof *found->at));
    if (!found)
        return NULL;
    found->n = n;
    found->at = (uint64_t *)(void *)(found->v + n);
    return found;
}

/* Samplers that the module describes, unless the launch does. */
static void add_declared(const struct launch_spec *l, const struct ptx_module *m,
                         const struct sim_program *prog, struct textures *to)
{
    size_t n = launch_nargs(l);
    for (uint32_t g = 0; g < m->nglobals; g++) {
        uint64_t bytes;
        if (!is_sampler(m->globals[g]))
            continue;
        to->v[n] = declared_sampler(m->globals[g]);
        if (!sim_symbol(prog, m->globals[g]->name, &to->at[n], &bytes))
            to->at[n] = 0;
        n++;
    }
}

static bool any_texture(const struct launch_spec *l, const struct ptx_module *m)
{
    bool any = false;
    for (size_t i = 0; i < launch_nargs(l); i++)
        any |= launch_arg(l, i)->kind == ARG_TEXTURE;
    for (uint32_t g = 0; g < m->nglobals; g++)
        any |= is_sampler(m->globals[g]);
    return any;
}

/* The texels of texture argument i are inside its buffer. */
static enum status place_texels(const struct dev_bound *b, const struct dev_use *use,
                                const struct arg_spec *a, struct texture *t, struct diags *ds)
{
    const struct dev_buffer *data = &b->buffers[use->buffer];
    uint64_t left = use->offset > data->bytes ? 0 : data->bytes - use->offset;
    t->address = data->addr + use->offset;
    if (texture_bytes(t) <= left && use->offset <= data->bytes)
        return ST_OK;
    diag_error(ds, "launch-texture", "'%s' needs %llu bytes; '%s' has %llu left", a->name,
               (unsigned long long)texture_bytes(t), data->name, (unsigned long long)left);
    return ST_INPUT;
}

static enum status bound_textures(const struct dev_bound *b, size_t which, const struct launch_spec *l,
                                  const struct ptx_module *m, const struct sim_program *prog,
                                  struct textures **out, struct diags *ds)
{
    const struct dev_use *use = which == DEV_MAIN ? b->main_use : b->before_use[which];
    *out = NULL;
    if (!any_texture(l, m))
        return ST_OK;
    struct textures *found = room_for(l, m);
    if (!found)
        return ST_NOMEM;
    add_declared(l, m, prog, found);
    for (size_t i = 0; i < launch_nargs(l); i++) {
        const struct arg_spec *a = launch_arg(l, i);
        uint64_t bytes;
        if (a->kind != ARG_TEXTURE || a->nbytes != sizeof *found->v ||
            (a->same_as && use[i].buffer == SIZE_MAX))
            continue;
        memcpy(&found->v[i], a->bytes, sizeof *found->v);
        if (arg_apart(a) && !sim_symbol(prog, str_of(a->name), &found->at[i], &bytes))
            found->at[i] = 0;
        if (a->same_as && place_texels(b, &use[i], a, &found->v[i], ds) != ST_OK) {
            base_free(found);
            return ST_INPUT;
        }
    }
    *out = found;
    return ST_OK;
}

enum status dev_sim_args(const struct dev_bound *b, size_t which, const struct launch_spec *l,
                         const struct ptx_func *f, const struct sim_program *prog, struct sim_launch *s,
                         struct diags *ds)
{
    uint8_t *block = NULL;
    struct textures *textures = NULL;
    enum status st = dev_bound_params(b, which, l, f, &block, &s->nparams, ds);
    if (st == ST_OK)
        st = bound_textures(b, which, l, f->module, prog, &textures, ds);
    s->params = block;
    s->textures = textures;
    return st;
}

void dev_sim_args_free(struct sim_launch *s)
{
    BASE_FREE((void *)s->params, (void *)s->textures);
    s->params = NULL;
    s->textures = NULL;
}
