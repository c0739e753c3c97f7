/* What the texture and surface arguments of a launch stand for, on a simulated device. */
#include "engine/base/base.h"
#include "engine/dev/dev_int.h"
#include "engine/rec/launch.h"
#include "engine/rec/texture.h"
#include "engine/sim/sim.h"

#include <string.h>

enum status dev_bound_textures(const struct dev_bound *b, size_t which, const struct launch_spec *l,
                               struct textures **out, struct diags *ds)
{
    const struct dev_use *use = which == DEV_MAIN ? b->main_use : b->before_use[which];
    bool any = false;
    *out = NULL;
    for (size_t i = 0; i < l->nargs; i++)
        any |= l->args[i].kind == ARG_TEXTURE;
    if (!any)
        return ST_OK;
    struct textures *found = base_alloc(sizeof *found + l->nargs * sizeof *found->v);
    if (!found)
        return ST_NOMEM;
    struct texture *v = found->v;
    found->n = l->nargs;
    for (size_t i = 0; i < l->nargs; i++) {
        const struct arg_spec *a = &l->args[i];
        if (a->kind != ARG_TEXTURE || a->nbytes != sizeof *v || use[i].buffer == SIZE_MAX)
            continue;
        const struct dev_buffer *data = &b->buffers[use[i].buffer];
        memcpy(&v[i], a->bytes, sizeof *v);
        v[i].address = data->addr + use[i].offset;
        if (use[i].offset > data->bytes || texture_bytes(&v[i]) > data->bytes - use[i].offset) {
            diag_error(
                ds, "launch-texture", "'%s' needs %llu bytes; '%s' has %llu left", a->name,
                (unsigned long long)texture_bytes(&v[i]), data->name,
                (unsigned long long)(use[i].offset > data->bytes ? 0 : data->bytes - use[i].offset));
            base_free(found);
            return ST_INPUT;
        }
    }
    *out = found;
    return ST_OK;
}

enum status dev_sim_args(const struct dev_bound *b, size_t which, const struct launch_spec *l,
                         const struct ptx_func *f, struct sim_launch *s, struct diags *ds)
{
    uint8_t *block = NULL;
    struct textures *textures = NULL;
    enum status st = dev_bound_params(b, which, l, f, &block, &s->nparams, ds);
    if (st == ST_OK)
        st = dev_bound_textures(b, which, l, &textures, ds);
    s->params = block;
    s->textures = textures;
    return st;
}

void dev_sim_args_free(struct sim_launch *s)
{
    base_free((void *)s->params);
    base_free((void *)s->textures);
    s->params = NULL;
    s->textures = NULL;
}
