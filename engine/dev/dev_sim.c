/* The simulated device: engine/sim behind dev.h. Its memory before a launch: sim_state.c; a launch: sim_launch.c. */
#include "engine/dev/sim_dev.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/data.h"
#include "engine/rec/launch.h"
#include <stdio.h>
#include <string.h>

static void sim_close(struct dev *d)
{
    struct sim_dev *s = (struct sim_dev *)d;
    sim_mem_free(s->mem);
    base_free(s);
}

/* ---- code ---- */
static void sim_unload_code(struct dev *d, struct dev_code *code)
{
    (void)d;
    struct sim_code *c = (struct sim_code *)code;
    for (size_t i = 0; i < c->nhelpers; i++)
        sim_unload(c->helpers[i].prog);
    for (size_t i = 0; i < c->nvars; i++) {
        BASE_FREE(c->vars[i].first, c->vars[i].kept);
    }
    BASE_FREE(c->helpers, c->vars);
    sim_stats_free(&c->made.stats);
    if (c->prog)
        sim_unload(c->prog);
    ptx_free(c->module);
}

/* Remembers every module variable's bytes as loaded (relocations included). */
static enum status remember_vars(struct sim_dev *d, struct sim_code *c)
{
    c->vars = base_alloc((c->module->nglobals + 1) * sizeof *c->vars);
    if (!c->vars)
        return ST_NOMEM;
    for (uint32_t i = 0; i < c->module->nglobals; i++) {
        struct str name = c->module->globals[i]->name;
        uint64_t addr, n;
        if (!sim_symbol(c->prog, name, &addr, &n) || !n)
            continue;
        const uint8_t *now = sim_mem_host(d->mem, addr, n);
        uint8_t *first = now ? base_alloc(n) : NULL;
        if (now && !first)
            return ST_NOMEM;
        if (now)
            memcpy(first, now, n);
        c->vars[c->nvars++] = (struct sim_var){ name, first, NULL, n, c->module->globals[i]->nreloc };
    }
    return ST_OK;
}

static enum status sim_load_code(struct dev *dev, struct dev_code *code, const struct dev_source *s,
                                 struct diags *ds)
{
    struct sim_dev *d = (struct sim_dev *)dev;
    struct sim_code *c = (struct sim_code *)code;
    enum status st = ptx_parse(s->path, s->text, &c->module, ds);
    if (st == ST_OK)
        st = dev_find_kernel(c->module, s, &c->func, ds);
    if (st != ST_OK)
        return st;
    st = sim_load_marked(c->module, s->kernel, s->marks, &d->preset, d->mem, &c->prog, ds);
    if (st != ST_OK)
        return st;
    if (s->compiled.regs)
        sim_program_set_compiled(c->prog, &s->compiled);
    struct sim_resources r = sim_program_resources(c->prog);
    uint32_t regs = s->maxnreg > 0 && (uint32_t)s->maxnreg < r.regs ? (uint32_t)s->maxnreg : r.regs;
    c->serial = ++d->serial;
    c->base.res = (struct dev_resources){ regs,
                                          r.shared_static,
                                          r.local_bytes,
                                          r.max_threads,
                                          .estimated = !s->compiled.regs,
                                          .spilled = r.spilled };
    snprintf(c->base.res.regs_from, sizeof c->base.res.regs_from, "%s",
             s->compiled.regs ? s->compiled.by : "model");
    return remember_vars(d, c);
}

/* ---- data ---- */
static void sim_unbind_data(struct dev *d, struct dev_data *data)
{
    struct sim_dev *s = (struct sim_dev *)d;
    struct sim_data *b = (struct sim_data *)data;
    for (size_t i = 0; i < b->bound.nbuffers; i++) {
        if (b->bound.buffers[i].addr)
            sim_mem_release(s->mem, b->bound.buffers[i].addr);
        if (!b->state)
            continue;
        base_free(b->state[i].kept);
        if (b->state[i].held)
            launch_buffer_drop(b->bound.buffers[i].of);
    }
    sim_left_free(&b->left);
    base_free(b->state);
    dev_bound_free(&b->bound);
}

/* What has to be made again before the next launch anyway, or costs nothing to, goes. */
static void sim_discard(struct dev *d, struct dev_data *data)
{
    struct sim_dev *s = (struct sim_dev *)d;
    struct sim_data *b = (struct sim_data *)data;
    for (size_t i = 0; i < b->bound.nbuffers; i++) {
        const struct dev_buffer *buf = &b->bound.buffers[i];
        struct sim_buffer *state = &b->state[i];
        /* what `before` launches made */
        bool only_here = b->kept_for && state->after == HOLDS_KEPT && !state->kept;
        if ((!state->taken && !buf->of->zero) || only_here || !sim_mem_take_written(s->mem, buf->addr))
            continue;
        state->holds = sim_mem_rest(s->mem, buf->addr) && buf->of->zero ? HOLDS_INIT : HOLDS_UNKNOWN;
    }
}

static bool used_before(const struct dev_bound *b, size_t buffer)
{
    const struct launch_spec *l = b->data->spec;
    for (size_t k = 0; k < l->nbefore; k++)
        for (size_t i = 0; i < l->before[k].nargs; i++)
            if (b->before_use[k][i].buffer == buffer)
                return true;
    return false;
}

/* A launch is about to change the buffer. Of so many bytes in all the launch data stay as they are
 * beside that, since to copy them back is quickest; what is beyond lends its pages, and is made again by
 * its rule before the next launch. */
#define TWICE_MOST (UINT64_C(32) << 20)
static bool give_pages(void *ctx)
{
    struct sim_buffer *state = ctx;
    struct sim_data *b = state->of;
    const struct launch_buffer *of = b->bound.buffers[state - b->state].of;
    if (of->n <= TWICE_MOST - b->twice)
        b->twice += of->n;
    else
        state->taken = launch_buffer_take(of) > 0;
    return state->taken;
}

/* Device memory is made of initial data that are there, or of zeros: that costs only what launches
 * change. Zeros that `before` launches are to change have memory of their own, as samples look at it
 * through private views. */
static bool place_over(struct sim_dev *s, struct sim_data *b, size_t i)
{
    struct dev_buffer *buf = &b->bound.buffers[i];
    struct sim_buffer *state = &b->state[i];
    struct sim_give give = { give_pages, state };
    if (buf->of->zero)
        return !used_before(&b->bound, i) &&
               (buf->addr = sim_mem_alloc_over(s->mem, buf->bytes, buf->name, 0, NULL));
    state->taken = !launch_buffer_hold(buf->of);
    state->held = true;
    if (state->taken || buf->of->file <= 0 ||
        !(buf->addr = sim_mem_alloc_over(s->mem, buf->bytes, buf->name, buf->of->file, &give)))
        return false;
    base_pages_rest(buf->of->bytes, buf->bytes);
    return true;
}

static bool place_buffer(struct sim_dev *s, struct sim_data *b, size_t i)
{
    struct dev_buffer *buf = &b->bound.buffers[i];
    b->state[i].of = b;
    if (buf->must)
        buf->addr = sim_mem_alloc_at(s->mem, buf->must, buf->bytes, buf->name) ? buf->must : 0;
    else if (place_over(s, b, i))
        b->state[i].holds = HOLDS_INIT;
    else
        buf->addr = sim_mem_alloc(s->mem, buf->bytes, buf->name);
    return buf->addr != 0;
}

static enum status place_buffers(struct sim_dev *s, struct sim_data *b, struct diags *ds)
{
    const struct launch_spec *l = b->base.data->spec;
    b->state = base_alloc((b->bound.nbuffers + 1) * sizeof *b->state);
    if (!b->state)
        return ST_NOMEM;
    for (size_t i = 0; i < l->nargs; i++)
        if (l->args[i].output && b->bound.main_use[i].buffer != SIZE_MAX)
            b->state[b->bound.main_use[i].buffer].changes = true;
    for (size_t k = 0; k < 2 * b->bound.nbuffers; k++) { /* those that must lie somewhere first */
        size_t i = k % b->bound.nbuffers;
        const struct dev_buffer *buf = &b->bound.buffers[i];
        if ((buf->must != 0) != (k < b->bound.nbuffers) || place_buffer(s, b, i))
            continue;
        if (buf->must)
            return dev_bound_misplaced(buf, "the address is already in use", ds);
        if (buf->bytes <= sim_mem_room(s->mem))
            return ST_NOMEM; /* the device has room for it: it is the host that has none */
        diag_error(ds, "device-memory", "no room for buffer '%s' (%llu bytes) on %s",
                   buf->name ? buf->name : "?", (unsigned long long)buf->bytes, s->base.info.name);
        return ST_INPUT;
    }
    return ST_OK;
}

static enum status sim_bind_data(struct dev *d, struct dev_data *data, struct diags *ds)
{
    struct sim_dev *s = (struct sim_dev *)d;
    struct sim_data *b = (struct sim_data *)data;
    b->serial = ++s->serial;
    enum status st = dev_bound_init(&b->bound, data->data, ds);
    return st == ST_OK ? place_buffers(s, b, ds) : st;
}

static enum status sim_read_arg(struct dev *d, struct dev_data *data, size_t arg, uint64_t at,
                                void *bytes, uint64_t n, struct diags *ds)
{
    struct sim_data *b = (struct sim_data *)data;
    uint64_t offset;
    const struct dev_buffer *buf = dev_bound_arg(&b->bound, arg, at, n, &offset, ds);
    const uint8_t *from = buf ? sim_mem_host(((struct sim_dev *)d)->mem, buf->addr + offset, n) : NULL;
    if (!from)
        return ST_INPUT;
    memcpy(bytes, from, n);
    return ST_OK;
}

static enum status sim_read_symbol(struct dev *d, struct dev_code *code, const char *symbol, void *bytes,
                                   uint64_t n, struct diags *ds)
{
    struct sim_code *c = (struct sim_code *)code;
    uint64_t addr, size;
    const uint8_t *from = NULL;
    if (sim_symbol(c->prog, str_of(symbol), &addr, &size) && n <= size)
        from = sim_mem_host(((struct sim_dev *)d)->mem, addr, n);
    if (!from) {
        diag_error(ds, "symbol", "the module has no readable variable '%s' with %llu bytes", symbol,
                   (unsigned long long)n);
        return ST_INPUT;
    }
    memcpy(bytes, from, n);
    return ST_OK;
}

static bool sim_left(struct dev *d, struct dev_code *code, struct dev_data *data, size_t i,
                     struct dev_left *out)
{
    struct sim_dev *s = (struct sim_dev *)d;
    struct sim_data *b = (struct sim_data *)data;
    struct sim_code *c = (struct sim_code *)code;
    uint64_t addr, size;
    if (i < b->bound.nbuffers) {
        const struct dev_buffer *buf = &b->bound.buffers[i];
        *out = (struct dev_left){ .name = str_of(buf->name ? buf->name : "?"), .n = buf->bytes };
        out->arg = dev_bound_user(&b->bound, i);
        out->written = sim_mem_written(s->mem, buf->addr);
        out->bytes = sim_mem_host(s->mem, buf->addr, buf->bytes);
        return out->bytes != NULL;
    }
    if ((i -= b->bound.nbuffers) >= c->nvars || !sim_symbol(c->prog, c->vars[i].name, &addr, &size))
        return false;
    const struct sim_var *v = &c->vars[i];
    const uint8_t *now = sim_mem_host(s->mem, addr, v->n);
    *out = (struct dev_left){ v->name, DEV_LEFT_VARIABLE, now, v->n, true, v->addresses };
    return out->bytes != NULL;
}

static const struct dev_bound *sim_bound(const struct dev_data *data)
{
    return &((const struct sim_data *)data)->bound;
}

static const struct dev_ops SIM_OPS = {
    .close = sim_close,
    .code_bytes = sizeof(struct sim_code),
    .data_bytes = sizeof(struct sim_data),
    .load = sim_load_code,
    .unload = sim_unload_code,
    .bind = sim_bind_data,
    .unbind = sim_unbind_data,
    .launch = sim_job_launch,
    .discard = sim_discard,
    .left = sim_left,
    .bound = sim_bound,
    .read_arg = sim_read_arg,
    .read_symbol = sim_read_symbol,
};

enum status dev_sim_open(const struct sim_preset *p, const char *spec, unsigned threads,
                         struct dev **out, struct diags *ds)
{
    enum status st = sim_preset_check(p, ds);
    if (st != ST_OK)
        return st;
    struct sim_dev *d = base_alloc(sizeof *d);
    if (!d)
        return ST_NOMEM;
    d->base.ops = &SIM_OPS;
    d->preset = *p;
    d->threads = threads;
    sim_preset_info(p, &d->base.info);
    snprintf(d->base.info.spec, sizeof d->base.info.spec, "%s", spec);
    d->mem = sim_mem_new(d->base.info.mem_bytes);
    if (!d->mem) {
        base_free(d);
        return ST_NOMEM;
    }
    *out = &d->base;
    return ST_OK;
}
