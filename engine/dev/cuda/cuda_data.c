/* Buffers on the GPU: guard zones, pristine copies, the baseline.
 *
 *   allocation:  | guard 512 | data | up to 256 | guard 512 |     twice: live, pristine
 */
#include "engine/dev/cuda/cuda_int.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/data.h"
#include "engine/rec/launch.h"

#include <string.h>

/* The allocation of a buffer with n bytes of data, guard zones included. */
static uint64_t cuda_guarded_bytes(uint64_t n)
{
    return CUDA_GUARD + (n + 255) / 256 * 256 + CUDA_GUARD;
}

/* ---- binding ---- */
static enum status upload(struct cuda_dev *d, struct cuda_data *b, struct diags *ds)
{
    enum status st = ST_OK;
    launch_data_hold(b->base.data, true);
    for (size_t i = 0; st == ST_OK && i < b->bound.nbuffers; i++) {
        const struct dev_buffer *from = &b->bound.buffers[i];
        const struct cuda_buffer *to = &b->buffers[i];
        const uint8_t *bytes = launch_buffer_bytes(from->of);
        st = bytes ? cuda_check(d, d->drv.set_async(to->pristine, CUDA_GUARD_BYTE, to->bytes, d->stream),
                                "guard zones", ds)
                   : ST_NOMEM;
        if (st == ST_OK)
            st = cuda_check(
                d, d->drv.copy_in_async(to->pristine + CUDA_GUARD, bytes, from->bytes, d->stream),
                "upload", ds);
    }
    b->module = NULL;
    b->dirty = false;
    st = st == ST_OK ? cuda_check(d, d->drv.context_sync(), "upload", ds) : st;
    launch_data_hold(b->base.data, false);
    return st;
}

static enum status allocate(struct cuda_dev *d, struct cuda_data *b, struct diags *ds)
{
    b->buffers = base_alloc((b->bound.nbuffers + 1) * sizeof *b->buffers);
    b->ref = base_alloc((b->bound.nbuffers + 1) * sizeof *b->ref);
    enum status st = b->buffers && b->ref ? ST_OK : ST_NOMEM;
    for (size_t i = 0; st == ST_OK && i < b->bound.nbuffers; i++) {
        struct dev_buffer *host = &b->bound.buffers[i];
        struct cuda_buffer *buf = &b->buffers[i];
        if (host->must)
            return dev_bound_misplaced(host, "only a simulated device places buffers at addresses", ds);
        buf->bytes = cuda_guarded_bytes(host->bytes);
        buf->modified = true;
        st = cuda_alloc(d, buf->bytes, host->name ? host->name : "a buffer", &buf->live, ds);
        if (st == ST_OK)
            st = cuda_alloc(d, buf->bytes, host->name ? host->name : "a buffer", &buf->pristine, ds);
        host->addr = buf->live + CUDA_GUARD;
    }
    return st;
}

void cuda_unbind(struct dev *dev, struct dev_data *data)
{
    struct cuda_dev *d = (struct cuda_dev *)dev;
    struct cuda_data *b = (struct cuda_data *)data;
    for (size_t i = 0; b->buffers && i < b->bound.nbuffers; i++) {
        if (b->buffers[i].live)
            d->drv.mem_free(b->buffers[i].live);
        if (b->buffers[i].pristine)
            d->drv.mem_free(b->buffers[i].pristine);
        if (b->ref && b->ref[i].copy)
            d->drv.mem_free(b->ref[i].copy);
    }
    for (size_t i = 0; i < d->nmodules; i++)
        if (d->modules[i]->data == b)
            d->modules[i]->data = NULL;
    BASE_FREE(b->ref, b->buffers);
    dev_bound_free(&b->bound);
}

enum status cuda_bind(struct dev *dev, struct dev_data *data, struct diags *ds)
{
    struct cuda_dev *d = (struct cuda_dev *)dev;
    struct cuda_data *b = (struct cuda_data *)data;
    enum status st = dev_bound_init(&b->bound, data->data, ds);
    if (st == ST_OK)
        st = allocate(d, b, ds);
    return st == ST_OK ? upload(d, b, ds) : st;
}

/* ---- parameters ---- */
enum status cuda_params(struct cuda_job *j, size_t which, const struct launch_spec *l,
                        const struct ptx_func *f, uint8_t **block, void ***params)
{
    uint64_t n;
    *params = NULL;
    for (size_t i = 0; i < l->nargs; i++)
        if (l->args[i].kind == ARG_TEXTURE) {
            struct diag *d =
                diag_add(j->ds, DIAG_ERROR, "device-texture", NULL, NO_SPAN,
                         "argument '%s' is a texture or surface, which is not supported on a GPU yet",
                         l->args[i].name);
            diag_hint(d, "use a simulated device: --device sim:hopper-h200");
            return ST_DEVICE;
        }
    enum status st = dev_bound_params(&j->b->bound, which, l, f, block, &n, j->ds);
    if (st != ST_OK)
        return st;
    *params = base_alloc((f->nparams + 1) * sizeof **params);
    if (!*params)
        return ST_NOMEM;
    for (uint32_t i = 0; i < f->nparams; i++)
        (*params)[i] = *block + f->params[i]->offset;
    return ST_OK;
}

/* ---- module variables ---- */
static const struct cuda_var *var_find(const struct cuda_module *m, const char *name)
{
    for (size_t i = 0; i < m->nvars; i++)
        if (!strcmp(m->vars[i].name, name))
            return &m->vars[i];
    return NULL;
}

static enum status var_write(struct cuda_job *j, const char *name, uint64_t off, const void *bytes,
                             uint64_t n)
{
    const struct cuda_var *v = var_find(j->c->module, name);
    if (!v || off > v->n || n > v->n - off) {
        diag_error(j->ds, "symbol", "the module has no variable '%s' with %llu bytes", name,
                   (unsigned long long)(off + n));
        return ST_INPUT;
    }
    struct cuda_dev *d = j->d;
    drv_result e = bytes ? d->drv.copy_in_async(v->live + off, bytes, n, d->stream)
                         : d->drv.set_async(v->live + off, 0, n, d->stream);
    return cuda_check(d, e, name, j->ds);
}

static enum status write_knobs(struct cuda_job *j)
{
    const struct dev_run *r = j->r;
    enum status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < r->nzero; i++)
        st = var_write(j, r->zero[i].symbol, r->zero[i].offset, NULL, r->zero[i].n);
    for (size_t i = 0; st == ST_OK && i < r->nset; i++)
        st = var_write(j, r->set[i].symbol, r->set[i].offset, cuda_gate_bytes(j, i), r->set[i].n);
    return st;
}

static enum status write_spec_symbols(struct cuda_job *j)
{
    const struct launch_data *data = j->b->base.data;
    enum status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < data->spec->nsymbols; i++)
        st = var_write(j, data->spec->symbols[i].name, 0, data->symbols[i].bytes, data->symbols[i].n);
    return st;
}

enum var_copy { FIRST_TO_LIVE, LIVE_TO_NOW, NOW_TO_LIVE };
static enum status copy_vars(struct cuda_job *j, enum var_copy how)
{
    struct cuda_dev *d = j->d;
    enum status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < j->c->module->nvars; i++) {
        const struct cuda_var *v = &j->c->module->vars[i];
        drv_ptr to = how == LIVE_TO_NOW ? v->now : v->live;
        drv_ptr from = how == FIRST_TO_LIVE ? v->first : how == LIVE_TO_NOW ? v->live : v->now;
        st = cuda_check(d, d->drv.copy_async(to, from, v->n, d->stream), v->name, j->ds);
    }
    return st;
}

/* ---- baseline ---- */
static enum status copy_buffers(struct cuda_job *j, bool to_live, bool all)
{
    struct cuda_dev *d = j->d;
    enum status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < j->b->bound.nbuffers; i++) {
        const struct cuda_buffer *c = &j->b->buffers[i];
        if (all || c->modified)
            st = cuda_check(d,
                            d->drv.copy_async(to_live ? c->live : c->pristine,
                                              to_live ? c->pristine : c->live, c->bytes, d->stream),
                            "copy of a buffer", j->ds);
    }
    return st;
}

static enum status run_before(struct cuda_job *j, size_t k)
{
    const struct launch_spec *l = &j->b->base.data->spec->before[k];
    const struct ptx_func *f = ptx_find_func(j->c->module->ptx, str_of(l->kernel));
    if (!f || !f->entry) {
        diag_error(j->ds, "kernel", "no kernel named '%s', which \"before\" refers to",
                   l->kernel ? l->kernel : "?");
        return ST_INPUT;
    }
    uint8_t *block = NULL;
    void **params = NULL;
    drv_function fn = NULL;
    enum status st = cuda_function(j->d, j->c->module, f->name, &fn, j->ds);
    if (st == ST_OK)
        st = cuda_params(j, k, l, f, &block, &params);
    if (st == ST_OK)
        st = cuda_start(j, fn, f, l->grid, l->block, l->cluster, l->shared, params, false);
    if (st == ST_OK)
        st = cuda_check(j->d, j->d->drv.event_record(j->d->end, j->d->stream), "event", j->ds);
    if (st == ST_OK)
        st = cuda_wait(j);
    BASE_FREE(params, block);
    return st;
}

static bool baseline_holds(const struct cuda_job *j)
{
    const struct cuda_module *m = j->c->module;
    bool buffers = !j->b->base.data->spec->nbefore ? j->b->module == NULL : j->b->module == m;
    return buffers && m->data == j->b && !j->b->dirty &&
           !launch_runs_before(j->b->base.data->spec, j->c->func->name);
}

enum status cuda_baseline(struct cuda_job *j)
{
    if (baseline_holds(j))
        return ST_OK;
    size_t nbefore = j->b->base.data->spec->nbefore;
    enum status st = j->b->module || j->b->dirty ? upload(j->d, j->b, j->ds) : ST_OK;
    if (st == ST_OK)
        st = copy_vars(j, FIRST_TO_LIVE);
    if (st == ST_OK)
        st = write_spec_symbols(j);
    if (st == ST_OK && nbefore)
        st = copy_buffers(j, true, true);
    if (st == ST_OK && nbefore)
        st = write_knobs(j);
    for (size_t k = 0; st == ST_OK && k < nbefore; k++)
        st = run_before(j, k);
    if (st == ST_OK && nbefore) {
        st = copy_buffers(j, false, true);
        j->b->module = j->c->module;
    }
    if (st == ST_OK)
        st = copy_vars(j, LIVE_TO_NOW);
    j->c->module->data = st == ST_OK ? j->b : NULL;
    return st;
}

enum status cuda_restore(struct cuda_job *j, bool all)
{
    enum status st = copy_buffers(j, true, all);
    if (st == ST_OK)
        st = copy_vars(j, NOW_TO_LIVE);
    return st == ST_OK ? write_knobs(j) : st;
}
