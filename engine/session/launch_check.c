/* Does a launch description fit the kernel and the device? Told before anything is allocated. */
#include "engine/ptx/ptx.h"
#include "engine/ptx/reference.h"
#include "engine/rec/device.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/result_read.h"
#include "engine/session/launch_file.h"

#include <string.h>

static uint64_t arg_bytes(const struct arg_spec *a, uint32_t address_size)
{
    return a->kind == ARG_SCALAR                               ? elem_size(a->elem)
           : a->kind == ARG_BYTES || a->kind == ARG_TENSOR_MAP ? a->nbytes
                                                               : address_size / 8;
}

static enum status check_args(const struct launch_spec *l, const struct ptx_func *f, const char *file,
                              struct diags *ds)
{
    size_t n = launch_params(l);
    if (n != f->nparams) {
        struct diag *d = diag_add(ds, DIAG_ERROR, "launch-args", file, NO_SPAN,
                                  "kernel '%.*s' has %u parameters, the launch has %zu arguments",
                                  (int)f->name.n, f->name.s, f->nparams, n);
        diag_hint(d, "the kernel is declared at %s:%u", f->module->path, f->at.line);
        return ST_INPUT;
    }
    enum status s = ST_OK;
    for (size_t i = 0; i < n; i++) {
        uint64_t have = arg_bytes(&l->args[i], f->module->address_size), want = f->params[i]->bytes;
        if (have == want)
            continue;
        struct diag *d = diag_add(ds, DIAG_ERROR, "launch-args", file, NO_SPAN,
                                  "argument %zu ('%s') has %llu bytes, parameter '%.*s' has %llu", i,
                                  l->args[i].name, (unsigned long long)have, (int)f->params[i]->name.n,
                                  f->params[i]->name.s, (unsigned long long)want);
        diag_hint(d, "the parameter is declared at %s:%u", f->module->path, f->params[i]->at.line);
        s = ST_INPUT;
    }
    return s;
}

static bool is_reference(const struct ptx_module *m, const char *name)
{
    for (uint32_t i = 0; i < m->nglobals; i++)
        if (str_is(m->globals[i]->name, name))
            return ptx_is_reference(m->globals[i]);
    return false;
}

/* Members of structs by value: the struct is there, and holds them. */
static enum status check_inside(const struct launch_spec *l, const struct ptx_module *m,
                                const char *file, struct diags *ds)
{
    for (size_t i = launch_params(l); i < l->nargs; i++) {
        const struct arg_spec *a = &l->args[i];
        if (arg_apart(a)) {
            if (a->kind == ARG_TEXTURE && !is_reference(m, a->name)) {
                diag_add(ds, DIAG_ERROR, "launch-symbol", file, NO_SPAN,
                         "symbol '%s' is not a texture, surface or sampler variable of the module",
                         a->name);
                return ST_INPUT;
            }
            continue;
        }
        size_t outer = launch_outer_of(l, i);
        uint64_t bytes = arg_bytes(a, m->address_size);
        if (outer == SIZE_MAX || bytes > l->args[outer].nbytes ||
            a->at > l->args[outer].nbytes - bytes) {
            diag_add(
                ds, DIAG_ERROR, "launch-args", file, NO_SPAN,
                outer == SIZE_MAX
                    ? "argument '%s' is inside '%s', which is not an argument with \"bytes\" or \"size\""
                    : "argument '%s' reaches beyond the end of '%s'",
                a->name, a->inside);
            return ST_INPUT;
        }
    }
    return ST_OK;
}

/* Every output is compared, so there are no more than a result holds. */
static enum status check_outputs(const struct launch_spec *l, const char *file, struct diags *ds)
{
    size_t n = 0;
    for (size_t i = 0; i < l->nargs; i++)
        n += l->args[i].output;
    if (n <= RESULT_MAX_OUTPUTS)
        return ST_OK;
    diag_add(ds, DIAG_ERROR, "launch-args", file, NO_SPAN, "%zu outputs; at most %d are compared", n,
             RESULT_MAX_OUTPUTS);
    return ST_INPUT;
}

/* The buffer that same_as argument i leads to: here, or by name in the main launch. NULL: none. */
static const struct arg_spec *shared_buffer(const struct launch_spec *l, const struct launch_spec *outer,
                                            size_t i)
{
    size_t at = launch_buffer_of(l, i);
    if (at != SIZE_MAX)
        return &l->args[at];
    at = outer ? launch_buffer_of(outer, launch_arg_named(outer, l->args[i].same_as)) : SIZE_MAX;
    return at != SIZE_MAX ? &outer->args[at] : NULL;
}

static enum status check_offsets(const struct launch_spec *l, const struct launch_spec *outer,
                                 const char *file, struct diags *ds)
{
    for (size_t i = 0; i < l->nargs; i++) {
        if (!arg_shares(&l->args[i]))
            continue;
        const struct arg_spec *b = shared_buffer(l, outer, i);
        if (!b) {
            diag_add(ds, DIAG_ERROR, "launch-args", file, NO_SPAN,
                     "argument %zu ('%s'): \"same_as\" leads to no buffer", i, l->args[i].name);
            return ST_INPUT;
        }
        if (l->args[i].offset >= b->count * elem_size(b->elem)) {
            diag_add(ds, DIAG_ERROR, "launch-args", file, NO_SPAN,
                     "argument %zu ('%s'): offset %llu is past the end of buffer '%s'", i,
                     l->args[i].name, (unsigned long long)l->args[i].offset, b->name);
            return ST_INPUT;
        }
    }
    return ST_OK;
}

static enum status check_block(const struct launch_spec *l, const struct ptx_func *f,
                               const struct dev_info *d, const char *file, struct diags *ds)
{
    uint64_t threads = dim3u_count(l->block),
             most = d && d->max_threads_per_block ? d->max_threads_per_block : 1024;
    if (threads > most || l->block.z > 64) {
        diag_add(ds, DIAG_ERROR, "launch-block", file, NO_SPAN,
                 "block of %ux%ux%u threads; the device allows %llu per block (and 64 along z)",
                 l->block.x, l->block.y, l->block.z, (unsigned long long)most);
        return ST_INPUT;
    }
    if (f->reqntid.x &&
        (f->reqntid.x != l->block.x || f->reqntid.y != l->block.y || f->reqntid.z != l->block.z)) {
        diag_add(ds, DIAG_ERROR, "launch-block", file, NO_SPAN,
                 "the kernel requires blocks of %ux%ux%u (.reqntid)", f->reqntid.x, f->reqntid.y,
                 f->reqntid.z);
        return ST_INPUT;
    }
    if (f->maxntid.x && threads > (uint64_t)f->maxntid.x * f->maxntid.y * f->maxntid.z) {
        diag_add(ds, DIAG_ERROR, "launch-block", file, NO_SPAN,
                 "the kernel allows at most %u threads per block (.maxntid)",
                 f->maxntid.x * f->maxntid.y * f->maxntid.z);
        return ST_INPUT;
    }
    if (d && d->shared_per_block_optin && l->shared > d->shared_per_block_optin) {
        diag_add(ds, DIAG_ERROR, "launch-shared", file, NO_SPAN,
                 "%u bytes of dynamic shared memory (\"shared\"); %s allows %u per block", l->shared,
                 d->name, d->shared_per_block_optin);
        return ST_INPUT;
    }
    if (l->grid.y > 65535 || l->grid.z > 65535) {
        diag_add(ds, DIAG_ERROR, "launch-grid", file, NO_SPAN,
                 "grid %ux%ux%u: y and z are limited to 65535", l->grid.x, l->grid.y, l->grid.z);
        return ST_INPUT;
    }
    return ST_OK;
}

static enum status unnamed(const struct launch_spec *l, const struct ptx_module *m, struct diags *ds)
{
    struct buf names = { 0 };
    for (uint32_t i = 0; i < m->nfuncs; i++)
        if (m->funcs[i]->entry) {
            buf_puts(&names, names.n ? ", " : "");
            ptx_readable(m->funcs[i]->name, &names);
        }
    struct diag *d = diag_add(ds, DIAG_ERROR, "launch-kernel", l->file ? l->file : m->path, NO_SPAN,
                              "\"kernel\" is missing, and the module has not just one");
    diag_hint(d, "it has %.400s", names.n ? names.s : "none");
    buf_free(&names);
    return ST_INPUT;
}

static enum status name_kernel(struct launch_spec *l, const struct ptx_module *m)
{
    struct buf several = { 0 };
    const struct ptx_func *f = *l->kernel ? ptx_find_entry(m, str_of(l->kernel), &several) : NULL;
    uint32_t entries = 0;
    for (uint32_t i = 0; !*l->kernel && i < m->nfuncs; i++)
        if (m->funcs[i]->entry && m->funcs[i]->has_body) {
            entries++;
            f = m->funcs[i];
        }
    buf_free(&several);
    if (!f || entries > 1 || str_eq(f->name, str_of(l->kernel)))
        return ST_OK; /* launch_check says what is wrong */
    struct buf name = { 0 };
    buf_put(&name, f->name.s, f->name.n);
    base_free(l->kernel);
    l->kernel = buf_take(&name);
    return l->kernel ? ST_OK : ST_NOMEM;
}

enum status launch_name_kernels(struct launch_file *f, const struct ptx_module *m)
{
    enum status st = ST_OK;
    for (size_t i = 0; i < f->n && st == ST_OK; i++) {
        st = name_kernel(&f->launch[i], m);
        for (size_t k = 0; k < f->launch[i].nbefore && st == ST_OK; k++)
            st = name_kernel(&f->launch[i].before[k], m);
    }
    return st;
}

static enum status check_one(const struct launch_spec *l, const struct launch_spec *outer,
                             const struct ptx_module *m, const struct dev_info *dev, struct diags *ds)
{
    const char *file = l->file ? l->file : "launch description";
    const struct ptx_func *f = ptx_find_func(m, str_of(l->kernel));
    if (!*l->kernel)
        return unnamed(l, m, ds);
    if (!f || !f->entry) {
        struct diag *d = diag_add(ds, DIAG_ERROR, "launch-kernel", m->path, NO_SPAN,
                                  "no kernel '%s' in this module", l->kernel);
        for (uint32_t i = 0; i < m->nfuncs; i++)
            if (m->funcs[i]->entry) {
                diag_hint(d, "it has '%.*s'", (int)m->funcs[i]->name.n, m->funcs[i]->name.s);
                break;
            }
        return ST_INPUT;
    }
    enum status s = check_args(l, f, file, ds);
    if (s == ST_OK)
        s = check_inside(l, m, file, ds);
    if (s == ST_OK)
        s = check_outputs(l, file, ds);
    if (s == ST_OK)
        s = check_offsets(l, outer, file, ds);
    return s == ST_OK ? check_block(l, f, dev, file, ds) : s;
}

enum status launch_check(const struct launch_spec *l, const struct ptx_module *m,
                         const struct dev_info *d, struct diags *ds)
{
    enum status s = check_one(l, NULL, m, d, ds);
    for (size_t i = 0; s == ST_OK && i < l->nbefore; i++)
        s = check_one(&l->before[i], l, m, d, ds);
    return s;
}
