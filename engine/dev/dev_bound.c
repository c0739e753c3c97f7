/* Buffers of a launch description: each distinct buffer once, with every
 * argument that uses it (same_as, and `before` launches by name), and parameter
 * blocks made from them (PTX ISA 5.1.6: parameters at their declared offsets). */
#include "engine/dev/dev_int.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/data.h"
#include "engine/rec/launch.h"
#include "engine/rec/tensor_map.h"
#include "engine/rec/texture.h"

#include <string.h>

/* Follows same_as to the argument that owns the bytes; adds up the offsets.
 * Returns SIZE_MAX and the name that is not in `l` when the chain leaves it. */
static size_t chase(const struct launch_spec *l, size_t i, uint64_t *offset, const char **outside)
{
    for (size_t hop = 0; hop <= l->nargs; hop++) {
        const struct arg_spec *a = &l->args[i];
        if (!arg_shares(a))
            return i;
        *offset += a->offset;
        size_t next = launch_arg_named(l, a->same_as);
        if (next == SIZE_MAX || next == i) {
            *outside = a->same_as;
            return SIZE_MAX;
        }
        i = next;
    }
    return SIZE_MAX;
}

static bool is_pointer(const struct arg_spec *a)
{
    return a->kind == ARG_BUFFER || arg_shares(a);
}

static void use_own(struct dev_bound *b, const struct launch_spec *l, const struct launch_buffer *own,
                    struct dev_use *use)
{
    for (size_t i = 0; i < l->nargs; i++) {
        use[i] = (struct dev_use){ SIZE_MAX, 0 };
        if (l->args[i].kind != ARG_BUFFER || !own || !own[i].n)
            continue;
        struct dev_buffer *nb = &b->buffers[b->nbuffers];
        *nb = (struct dev_buffer){ l->args[i].name, own[i].n, 0, l->args[i].address, &own[i] };
        use[i].buffer = b->nbuffers++;
    }
}

static enum status use_main(struct dev_bound *b, struct diags *ds)
{
    const struct launch_spec *l = b->data->spec;
    use_own(b, l, b->data->buffers, b->main_use);
    for (size_t i = 0; i < l->nargs; i++) {
        if (!arg_shares(&l->args[i]))
            continue;
        const char *outside = NULL;
        uint64_t offset = 0;
        size_t root = chase(l, i, &offset, &outside);
        if (root == SIZE_MAX || b->main_use[root].buffer == SIZE_MAX) {
            diag_error(ds, "launch-same-as",
                       "argument '%s' refers to '%s', which is not a buffer of this launch",
                       l->args[i].name, l->args[i].same_as);
            return ST_INPUT;
        }
        b->main_use[i] = (struct dev_use){ b->main_use[root].buffer, offset };
    }
    return ST_OK;
}

/* A `before` launch reaches the main launch's buffers by name. */
static enum status use_before(struct dev_bound *b, size_t k, struct diags *ds)
{
    const struct launch_spec *m = b->data->spec, *l = &m->before[k];
    struct dev_use *use = b->before_use[k];
    use_own(b, l, b->data->before ? b->data->before[k] : NULL, use);
    for (size_t i = 0; i < l->nargs; i++) {
        if (!is_pointer(&l->args[i]) || use[i].buffer != SIZE_MAX)
            continue;
        const char *name = l->args[i].name;
        uint64_t offset = 0;
        size_t root = chase(l, i, &offset, &name);
        if (root != SIZE_MAX && use[root].buffer != SIZE_MAX) {
            use[i] = (struct dev_use){ use[root].buffer, offset };
            continue;
        }
        if (root != SIZE_MAX)
            name = l->args[root].name;
        size_t outer = launch_arg_named(m, name);
        if (outer == SIZE_MAX || b->main_use[outer].buffer == SIZE_MAX) {
            diag_error(ds, "launch-same-as", "before launch %zu: '%s' is not a buffer of the launch", k,
                       name ? name : "?");
            return ST_INPUT;
        }
        use[i] = (struct dev_use){ b->main_use[outer].buffer, b->main_use[outer].offset + offset };
    }
    return ST_OK;
}

static enum status bound_fill(struct dev_bound *b, struct diags *ds)
{
    const struct launch_spec *l = b->data->spec;
    size_t n = l->nargs;
    for (size_t k = 0; k < l->nbefore; k++)
        n += l->before[k].nargs;
    b->buffers = base_alloc((n + 1) * sizeof *b->buffers);
    b->main_use = base_alloc((l->nargs + 1) * sizeof *b->main_use);
    b->before_use = base_alloc((l->nbefore + 1) * sizeof *b->before_use);
    if (!b->buffers || !b->main_use || !b->before_use)
        return ST_NOMEM;
    enum status st = use_main(b, ds);
    for (size_t k = 0; st == ST_OK && k < l->nbefore; k++) {
        b->before_use[k] = base_alloc((l->before[k].nargs + 1) * sizeof **b->before_use);
        st = b->before_use[k] ? use_before(b, k, ds) : ST_NOMEM;
    }
    return st;
}

enum status dev_bound_init(struct dev_bound *b, const struct launch_data *data, struct diags *ds)
{
    *b = (struct dev_bound){ .data = data };
    enum status st = bound_fill(b, ds);
    if (st != ST_OK)
        dev_bound_free(b);
    return st;
}

void dev_bound_free(struct dev_bound *b)
{
    for (size_t k = 0; b->before_use && k < b->data->spec->nbefore; k++)
        base_free(b->before_use[k]);
    BASE_FREE(b->before_use, b->main_use, b->buffers);
    *b = (struct dev_bound){ 0 };
}

enum status dev_bound_misplaced(const struct dev_buffer *b, const char *why, struct diags *ds)
{
    diag_error(ds, "device-memory",
               "buffer '%s' cannot be placed at 0x%llx, where pointers in the data point: %s",
               b->name ? b->name : "?", (unsigned long long)b->must, why);
    return ST_DEVICE;
}

static void put_little_endian(uint8_t *to, uint64_t v, uint64_t n)
{
    for (uint64_t i = 0; i < n && i < 8; i++)
        to[i] = (uint8_t)(v >> (8 * i));
}

/* Size an argument has by itself; pointers take the module's address size. */
static uint64_t arg_bytes(const struct arg_spec *a, uint64_t pointer)
{
    switch (a->kind) {
    case ARG_SCALAR: return elem_size(a->elem);
    case ARG_BYTES:
    case ARG_TENSOR_MAP: return a->nbytes;
    default: return pointer;
    }
}

static void put_tensor_map(uint8_t *at, const struct arg_spec *a, uint64_t address)
{
    struct tensor_map m;
    if (tensor_map_decode(a->bytes, &m)) {
        m.address = address;
        tensor_map_encode(&m, at);
    }
}

static void put_value(const struct dev_bound *b, const struct dev_use *use, const struct arg_spec *a,
                      size_t nth, uint64_t n, uint8_t *at)
{
    if (a->kind == ARG_SCALAR)
        memcpy(at, a->scalar, n);
    else if (a->kind == ARG_BYTES)
        memcpy(at, a->bytes, n);
    else if (a->kind == ARG_TEXTURE)
        put_little_endian(at, TEXTURE_HANDLE + nth, n);
    else if (a->kind == ARG_TENSOR_MAP)
        put_tensor_map(at, a, b->buffers[use->buffer].addr + use->offset);
    else
        put_little_endian(at, b->buffers[use->buffer].addr + use->offset, n);
}

/* A member of a struct passed by value. */
static enum status put_inside(const struct dev_bound *b, const struct dev_use *use,
                              const struct launch_spec *l, size_t i, const struct ptx_func *f,
                              uint8_t *block, struct diags *ds)
{
    const struct arg_spec *a = &l->args[i];
    size_t outer = launch_outer_of(l, i);
    uint64_t n = arg_bytes(a, f->module->address_size / 8);
    if (outer == SIZE_MAX || outer >= f->nparams || n > f->params[outer]->bytes ||
        a->at > f->params[outer]->bytes - n) {
        diag_error(ds, "launch-arg", "argument '%s' does not lie inside '%s'", a->name ? a->name : "?",
                   a->inside);
        return ST_INPUT;
    }
    put_value(b, use, a, i, n, block + f->params[outer]->offset + a->at);
    return ST_OK;
}

static enum status put_arg(const struct dev_bound *b, const struct dev_use *use,
                           const struct arg_spec *a, size_t nth, const struct ptx_symbol *p, uint8_t *at,
                           struct diags *ds)
{
    uint64_t pointer = p->func && p->func->module && p->func->module->address_size == 32 ? 4 : 8;
    uint64_t want = arg_bytes(a, pointer);
    if (want != p->bytes) {
        diag_error(ds, "launch-arg-size", "argument '%s' has %llu bytes, parameter %.*s has %llu",
                   a->name ? a->name : "?", (unsigned long long)want, (int)p->name.n, p->name.s,
                   (unsigned long long)p->bytes);
        return ST_INPUT;
    }
    put_value(b, use, a, nth, want, at);
    return ST_OK;
}

enum status dev_bound_params(const struct dev_bound *b, size_t which, const struct launch_spec *l,
                             const struct ptx_func *f, uint8_t **block, uint64_t *n, struct diags *ds)
{
    const struct launch_spec *own = which == DEV_MAIN ? b->data->spec : &b->data->spec->before[which];
    const struct dev_use *use = which == DEV_MAIN ? b->main_use : b->before_use[which];
    size_t nparams = launch_params(l);
    if (nparams != f->nparams || l->nargs != own->nargs) {
        diag_error(ds, "launch-args", "kernel %.*s has %u parameters, the launch gives %zu",
                   (int)f->name.n, f->name.s, f->nparams, nparams);
        return ST_INPUT;
    }
    *n = f->param_bytes;
    *block = base_alloc(*n ? *n : 1);
    if (!*block)
        return ST_NOMEM;
    for (size_t i = 0; i < l->nargs; i++) {
        enum status st = is_pointer(&l->args[i]) && use[i].buffer == SIZE_MAX ? ST_INPUT : ST_OK;
        if (arg_apart(&l->args[i]))
            continue;
        if (st != ST_OK)
            diag_error(ds, "launch-arg", "argument '%s' was not bound",
                       l->args[i].name ? l->args[i].name : "?");
        else if (i < nparams)
            st = put_arg(b, &use[i], &l->args[i], i, f->params[i], *block + f->params[i]->offset, ds);
        else
            st = put_inside(b, &use[i], l, i, f, *block, ds);
        if (st != ST_OK) {
            base_free(*block);
            *block = NULL;
            return st;
        }
    }
    return ST_OK;
}

const struct dev_buffer *dev_bound_arg(const struct dev_bound *b, size_t arg, uint64_t at, uint64_t n,
                                       uint64_t *offset, struct diags *ds)
{
    if (arg >= b->data->spec->nargs || b->main_use[arg].buffer == SIZE_MAX) {
        diag_error(ds, "dev-read", "argument %zu is not a buffer", arg);
        return NULL;
    }
    const struct dev_buffer *buffer = &b->buffers[b->main_use[arg].buffer];
    *offset = b->main_use[arg].offset;
    uint64_t room = *offset < buffer->bytes ? buffer->bytes - *offset : 0;
    if (at > room || n > room - at) {
        diag_error(ds, "dev-read", "argument '%s' has fewer than %llu bytes",
                   buffer->name ? buffer->name : "?", (unsigned long long)(at + n));
        return NULL;
    }
    *offset += at;
    return buffer;
}

enum status dev_find_kernel(const struct ptx_module *m, const struct dev_source *s,
                            const struct ptx_func **out, struct diags *ds)
{
    *out = ptx_find_func(m, s->kernel);
    if (*out && (*out)->entry)
        return ST_OK;
    diag_add(ds, DIAG_ERROR, "kernel", s->path, NO_SPAN, "no kernel named '%.*s'", (int)s->kernel.n,
             s->kernel.s);
    return ST_INPUT;
}

bool dev_placed(struct dev *d, struct dev_data *b, size_t arg, uint64_t *addr, uint64_t *n)
{
    const struct dev_bound *all = d->ops->bound ? d->ops->bound(b) : NULL;
    size_t k = all && arg < all->data->spec->nargs ? all->main_use[arg].buffer : SIZE_MAX;
    if (k == SIZE_MAX || all->data->spec->args[arg].kind != ARG_BUFFER)
        return false;
    *addr = all->buffers[k].addr;
    *n = all->buffers[k].bytes;
    return true;
}

size_t dev_bound_user(const struct dev_bound *b, size_t buffer)
{
    for (size_t i = 0; i < b->data->spec->nargs; i++)
        if (b->main_use[i].buffer == buffer)
            return i;
    return DEV_LEFT_BEFORE;
}

bool dev_left(struct dev *d, struct dev_code *c, struct dev_data *b, size_t i, struct dev_left *out)
{
    return d->ops->left && d->ops->left(d, c, b, i, out);
}
