/* The simulated device: engine/sim behind dev.h.
 *
 * A launch always starts from the same state: module variables as the module declares them, then the
 * launch's symbols, then buffers as the launch description makes them, then the `before` launches, then
 * knobs. Module variables are copied between the programs of `before` kernels and the main one. What
 * `before` launches made is kept per (code, data) and copied back: a sweep runs them once. */
#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/dev/dev_int.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/counters.h"
#include "engine/rec/data.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"
#include "engine/sim/decoded.h"
#include "engine/sim/mem.h"
#include "engine/sim/preset.h"
#include "engine/sim/sim.h"
#include "engine/sim/window.h"

#include <stdio.h>
#include <string.h>

struct sim_dev {
    struct dev base;
    struct sim_preset preset;
    struct sim_mem *mem;
    unsigned threads;
    uint64_t serial;
};
/* a module variable: as loaded, after `before` */
struct sim_var {
    struct str name;
    uint8_t *first, *kept;
    uint64_t n;
    bool addresses; /* struct dev_left */
};
struct sim_helper {
    struct str kernel;
    struct sim_program *prog;
}; /* a kernel that runs before */
struct sim_code {
    struct dev_code base;
    struct ptx_module *module;
    const struct ptx_func *func;
    struct sim_program *prog;
    struct sim_var *vars;
    size_t nvars;
    struct sim_helper *helpers;
    size_t nhelpers, cap;
    /* kept_for: serial of the data whose state vars[].kept is */
    uint64_t serial, kept_for;
};
/* holds: what device memory was last filled with; it still holds that unless a launch has stored into
 * it. */
enum sim_holds { HOLDS_UNKNOWN, HOLDS_INIT, HOLDS_KEPT };
/* after: what it holds once the `before` launches have run. kept: a copy of that, where it is HOLDS_KEPT
 * and the launch itself changes it (as it does an output, or was seen to); other buffers still hold it
 * by themselves. */
struct sim_buffer {
    uint8_t holds, after;
    bool changes;
    uint8_t *kept;
    /* of the launch data: their pages, held, are this memory's own, or somebody else's */
    bool held, taken;
    struct sim_data *of;
};
struct sim_data {
    struct dev_data base;
    struct dev_bound bound;
    struct sim_buffer *state; /* [bound.nbuffers] */
    /* bytes of the launch data that are there as they were, and changed */
    uint64_t twice;
    /* kept_for: serial of the code whose `before` launches `after` is of, 0: none */
    uint64_t serial, kept_for;
    /* the last timed launch came from a sample: the next will, most likely */
    bool ran_dry;
};

/* One launch under way. */
struct sim_job {
    struct sim_dev *d;
    struct sim_code *c;
    struct sim_data *b;
    const struct dev_run *r;
    const struct cancel *cancel;
    struct diags *ds;
};

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
        base_free(c->vars[i].first);
        base_free(c->vars[i].kept);
    }
    base_free(c->helpers);
    base_free(c->vars);
    if (c->prog)
        sim_unload(c->prog);
    ptx_free(c->module);
    base_free(c);
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

static enum status code_fill(struct sim_dev *d, struct sim_code *c, const struct dev_source *s,
                             struct diags *ds)
{
    enum status st = ptx_parse(s->path, s->text, &c->module, ds);
    if (st == ST_OK)
        st = dev_find_kernel(c->module, s, &c->func, ds);
    if (st != ST_OK)
        return st;
    st = sim_load_marked(c->module, s->kernel, s->marks, &d->preset, d->mem, &c->prog, ds);
    if (st != ST_OK)
        return st;
    struct sim_resources r = sim_program_resources(c->prog);
    uint32_t regs = s->maxnreg > 0 && (uint32_t)s->maxnreg < r.regs ? (uint32_t)s->maxnreg : r.regs;
    c->serial = ++d->serial;
    c->base.res = (struct dev_resources){ regs, r.shared_static, r.local_bytes, r.max_threads, true };
    return remember_vars(d, c);
}

static enum status sim_load_code(struct dev *d, const struct dev_source *s, struct dev_code **out,
                                 struct diags *ds)
{
    struct sim_code *c = base_alloc(sizeof *c);
    if (!c)
        return ST_NOMEM;
    enum status st = code_fill((struct sim_dev *)d, c, s, ds);
    if (st == ST_OK)
        *out = &c->base;
    else
        sim_unload_code(d, &c->base);
    return st;
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
            launch_buffer_let_go(b->bound.buffers[i].of);
    }
    base_free(b->state);
    dev_bound_free(&b->bound);
    base_free(b);
}

/* What has to be made again before the next launch anyway, or costs nothing to, goes. */
static void sim_rest(struct dev *d, struct dev_data *data)
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

static enum status sim_bind_data(struct dev *d, const struct launch_data *data, struct dev_data **out,
                                 struct diags *ds)
{
    struct sim_dev *s = (struct sim_dev *)d;
    struct sim_data *b = base_alloc(sizeof *b);
    if (!b)
        return ST_NOMEM;
    b->base.data = data;
    b->serial = ++s->serial;
    enum status st = dev_bound_init(&b->bound, data, ds);
    if (st != ST_OK) {
        base_free(b);
        return st;
    }
    st = place_buffers(s, b, ds);
    if (st == ST_OK)
        *out = &b->base;
    else
        sim_unbind_data(d, &b->base);
    return st;
}

/* ---- state before a launch ---- */
static enum status restore_vars(struct sim_job *j)
{
    for (size_t i = 0; i < j->c->nvars; i++) {
        const struct sim_var *v = &j->c->vars[i];
        enum status st = v->first ? sim_symbol_write(j->c->prog, v->name, 0, v->first, v->n) : ST_OK;
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

static enum status write_symbol(struct sim_job *j, struct str name, uint64_t off, const void *bytes,
                                uint64_t n)
{
    uint64_t addr, size;
    if (!sim_symbol(j->c->prog, name, &addr, &size) || off > size || n > size - off) {
        diag_error(j->ds, "symbol", "the module has no variable '%.*s' with %llu bytes", (int)name.n,
                   name.s, (unsigned long long)(off + n));
        return ST_INPUT;
    }
    if (bytes)
        return sim_symbol_write(j->c->prog, name, off, bytes, n);
    uint8_t *zero = base_alloc(n ? n : 1);
    enum status st = zero ? sim_symbol_write(j->c->prog, name, off, zero, n) : ST_NOMEM;
    base_free(zero);
    return st;
}

static enum status write_knobs(struct sim_job *j)
{
    enum status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < j->r->nzero; i++)
        st = write_symbol(j, str_of(j->r->zero[i].symbol), j->r->zero[i].offset, NULL, j->r->zero[i].n);
    for (size_t i = 0; st == ST_OK && i < j->r->nset; i++)
        st = write_symbol(j, str_of(j->r->set[i].symbol), j->r->set[i].offset, j->r->set[i].bytes,
                          j->r->set[i].n);
    return st;
}

static enum status write_spec_symbols(struct sim_job *j)
{
    const struct launch_data *data = j->b->base.data;
    enum status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < data->spec->nsymbols; i++)
        st = write_symbol(j, str_of(data->spec->symbols[i].name), 0, data->symbols[i].bytes,
                          data->symbols[i].n);
    return st;
}

/* Module variables of one program put into another of the same module. */
static enum status carry_vars(struct sim_job *j, struct sim_program *from, struct sim_program *to)
{
    for (size_t i = 0; i < j->c->nvars; i++) {
        uint64_t a, na, b, nb;
        struct str name = j->c->vars[i].name;
        if (!sim_symbol(from, name, &a, &na) || !sim_symbol(to, name, &b, &nb) || a == b || na != nb)
            continue;
        const uint8_t *bytes = sim_mem_host(j->d->mem, a, na);
        enum status st = bytes ? sim_symbol_write(to, name, 0, bytes, na) : ST_OK;
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

static enum status helper_find(struct sim_job *j, struct str kernel, struct sim_program **out)
{
    struct sim_code *c = j->c;
    for (size_t i = 0; i < c->nhelpers; i++)
        if (str_eq(c->helpers[i].kernel, kernel)) {
            *out = c->helpers[i].prog;
            return ST_OK;
        }
    if (!base_grow((void **)&c->helpers, c->nhelpers, &c->cap, sizeof *c->helpers))
        return ST_NOMEM;
    enum status st = sim_load(c->module, kernel, &j->d->preset, j->d->mem, out, j->ds);
    if (st == ST_OK)
        c->helpers[c->nhelpers++] = (struct sim_helper){ kernel, *out };
    return st;
}

static enum status run_one_before(struct sim_job *j, size_t k)
{
    const struct launch_spec *l = &j->b->base.data->spec->before[k];
    const struct ptx_func *f = ptx_find_func(j->c->module, str_of(l->kernel));
    if (!f || !f->entry) {
        diag_error(j->ds, "kernel", "no kernel named '%s', which \"before\" refers to",
                   l->kernel ? l->kernel : "?");
        return ST_INPUT;
    }
    struct sim_program *prog = j->c->prog;
    bool own = !str_eq(f->name, j->c->func->name);
    enum status st = own ? helper_find(j, f->name, &prog) : ST_OK;
    if (st == ST_OK && own)
        st = carry_vars(j, j->c->prog, prog);
    struct sim_launch s = { .grid = l->grid,
                            .block = l->block,
                            .cluster = l->cluster,
                            .shared = l->shared,
                            .functional = true,
                            .threads = j->r->serial ? 1 : j->d->threads,
                            .carveout = -1,
                            .hw_pi = -1,
                            .seed = 1,
                            .cancel = j->cancel };
    struct sim_stats stats = { 0 };
    if (st == ST_OK)
        st = dev_sim_args(&j->b->bound, k, l, f, prog, &s, j->ds);
    if (st == ST_OK)
        st = sim_run(prog, &s, &stats, j->ds);
    if (st == ST_OK && own)
        st = carry_vars(j, prog, j->c->prog);
    sim_stats_free(&stats);
    dev_sim_args_free(&s);
    return st;
}

/* Large buffers by several threads: where their pages are new, the host clears those first. */
#define COPY_PIECE (1u << 22)
struct copying {
    uint8_t *to;
    const uint8_t *from;
    uint64_t n;
};
static void copy_piece(void *ctx, size_t i)
{
    const struct copying *c = ctx;
    uint64_t at = (uint64_t)i * COPY_PIECE, left = c->n - at;
    memcpy(c->to + at, c->from + at, left < COPY_PIECE ? left : COPY_PIECE);
}

/* Makes buffer i hold what `as` says; nothing to do when it still does. ST_REFUSED: nobody knows any
 * more what that was. */
static enum status fill_buffer(struct sim_job *j, size_t i, enum sim_holds as)
{
    const struct dev_buffer *buf = &j->b->bound.buffers[i];
    struct sim_buffer *state = &j->b->state[i];
    unsigned threads = j->d->threads ? j->d->threads : base_cpus();
    bool written = sim_mem_take_written(j->d->mem, buf->addr);
    if (!written && state->holds == as)
        return ST_OK;
    uint8_t *host = sim_mem_host(j->d->mem, buf->addr, buf->bytes);
    struct copying c = { host,
                         as == HOLDS_KEPT ? state->kept
                         : state->taken   ? NULL
                                          : buf->of->bytes,
                         buf->bytes };
    state->holds = HOLDS_UNKNOWN;
    if (!host || (as == HOLDS_KEPT && !c.from)) {
        state->changes |= written;
        return host ? ST_REFUSED : ST_OK;
    }
    enum status st = ST_OK;
    if (as == HOLDS_INIT && buf->of->zero)
        memset(host, 0, buf->bytes);
    else if (!c.from)
        st = launch_buffer_fill(buf->of, host, threads, j->ds);
    else
        base_parallel(threads, (buf->bytes + COPY_PIECE - 1) / COPY_PIECE, copy_piece, &c);
    if (st != ST_OK)
        return st;
    state->holds = (uint8_t)as;
    if (as == HOLDS_INIT)
        sim_mem_put_back(j->d->mem, buf->addr);
    return ST_OK;
}

/* Remembers what the `before` launches have made. False: it would be too much; they are to run before
 * every launch. */
#define KEEP_MOST (UINT64_C(32) << 20)
static bool keep_buffers(struct sim_job *j)
{
    uint64_t all = 0;
    for (size_t i = 0; i < j->b->bound.nbuffers; i++) {
        const struct dev_buffer *buf = &j->b->bound.buffers[i];
        struct sim_buffer *state = &j->b->state[i];
        base_free(state->kept);
        state->kept = NULL;
        if (sim_mem_take_written(j->d->mem, buf->addr) || state->holds == HOLDS_UNKNOWN)
            state->holds = HOLDS_KEPT;
        state->after = state->holds;
        if (state->after == HOLDS_INIT || !state->changes)
            continue;
        const uint8_t *host = sim_mem_host(j->d->mem, buf->addr, buf->bytes);
        if (!host || buf->bytes > KEEP_MOST - all || !(state->kept = base_alloc(buf->bytes)))
            return false;
        memcpy(state->kept, host, buf->bytes);
        all += buf->bytes;
    }
    return true;
}

static bool keep_vars(struct sim_job *j)
{
    for (size_t i = 0; i < j->c->nvars; i++) {
        struct sim_var *v = &j->c->vars[i];
        uint64_t addr, n;
        const uint8_t *now =
            sim_symbol(j->c->prog, v->name, &addr, &n) ? sim_mem_host(j->d->mem, addr, v->n) : NULL;
        if (!now)
            continue;
        if (!v->kept && !(v->kept = base_alloc(v->n)))
            return false;
        memcpy(v->kept, now, v->n);
    }
    return true;
}

/* Not having the memory to keep it costs time, not the launch. */
static void keep(struct sim_job *j)
{
    bool done =
        !launch_runs_before(j->b->base.data->spec, j->c->func->name) && keep_buffers(j) && keep_vars(j);
    j->b->kept_for = done ? j->c->serial : 0;
    j->c->kept_for = done ? j->b->serial : 0;
}

/* Puts back what was kept. ST_REFUSED: it was not, or no longer is. */
static enum status back_to_kept(struct sim_job *j)
{
    enum status st =
        j->b->kept_for == j->c->serial && j->c->kept_for == j->b->serial ? ST_OK : ST_REFUSED;
    for (size_t i = 0; st == ST_OK && i < j->b->bound.nbuffers; i++)
        st = fill_buffer(j, i, j->b->state[i].after);
    for (size_t i = 0; st == ST_OK && i < j->c->nvars; i++) {
        const struct sim_var *v = &j->c->vars[i];
        st = !v->kept || sim_symbol_write(j->c->prog, v->name, 0, v->kept, v->n) == ST_OK ? ST_OK
                                                                                          : ST_REFUSED;
    }
    return st;
}

static enum status make_state(struct sim_job *j)
{
    size_t nbefore = j->b->base.data->spec->nbefore;
    enum status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < j->b->bound.nbuffers; i++)
        st = fill_buffer(j, i, HOLDS_INIT);
    if (st == ST_OK)
        st = restore_vars(j);
    if (st == ST_OK)
        st = write_spec_symbols(j);
    if (st == ST_OK && nbefore)
        st = write_knobs(j);
    for (size_t k = 0; st == ST_OK && k < nbefore; k++)
        st = run_one_before(j, k);
    if (st == ST_OK && nbefore)
        keep(j);
    return st;
}

/* Everything as it must be when the kernel starts. */
static enum status prepare(struct sim_job *j)
{
    enum status st = back_to_kept(j);
    if (st == ST_REFUSED)
        st = make_state(j);
    return st == ST_OK ? write_knobs(j) : st;
}

/* ---- the launch ---- */
/* Where the buffers begin that a launch changes: between launches a device copies them back. Returns how
 * many; at most n. */
static size_t restored_buffers(const struct sim_job *j, uint64_t *addr, size_t n)
{
    const struct launch_spec *l = j->b->base.data->spec;
    size_t k = 0;
    for (size_t i = 0; i < l->nargs && k < n; i++) {
        size_t b = j->b->bound.main_use[i].buffer;
        if (l->args[i].output && b != SIZE_MAX)
            addr[k++] = j->b->bound.buffers[b].addr;
    }
    return k;
}

/* outputs: see sim_launch.outputs. */
static enum status run_main(struct sim_job *j, bool functional, struct sim_stats *stats,
                            struct sim_stats *outputs)
{
    const struct dev_run *r = j->r;
    uint64_t restored[RESULT_MAX_OUTPUTS];
    struct sim_window window;
    struct sim_launch s = {
        .grid = r->grid,
        .block = r->block,
        .cluster = r->launch->cluster,
        .shared = r->shared,
        .functional = functional,
        .exact = r->exact,
        .threads = r->serial ? 1 : j->d->threads,
        .carveout = r->carveout,
        .hw_pi = r->hw_pi,
        .dispatch = r->dispatch,
        .seed = r->seed,
        .max_insts = r->max_insts,
        .hostile = r->hostile,
        .sums = r->sums,
        .sides = r->sides,
        .touch = r->touch,
        .check_uninit = r->check_uninit,
        .check_races = r->check_races,
        .cancel = j->cancel,
        .progress = r->progress,
        .ctx = r->ctx,
        .warm_l2 = !r->flush_l2,
        .outputs = outputs,
        .restored = restored,
        .window = &window,
        .nrestored = restored_buffers(j, restored, RESULT_MAX_OUTPUTS),
    };
    enum status st = prepare(j);
    if (st == ST_OK)
        st = dev_sim_args(&j->b->bound, DEV_MAIN, r->launch, j->c->func, j->c->prog, &s, j->ds);
    if (st == ST_OK)
        st = dev_sim_window(&j->b->bound, r, &j->d->preset, &window, j->ds);
    if (st == ST_OK)
        st = sim_run(j->c->prog, &s, stats, j->ds);
    dev_sim_args_free(&s);
    if (!functional && !stats->sampled)
        base_trim(); /* all SMs with all their warps */
    return st;
}

static void fill_stats(const struct sim_job *j, const struct sim_stats *s, bool timed,
                       struct result *out)
{
    dev_sim_counters(out, s, timed);
    out->regs = j->c->base.res.regs;
    out->counters[COUNTER_REGS_PER_THREAD] =
        (struct counter){ out->regs, ORIGIN_MODELLED, out->regs > 0 };
    out->shared_static = j->c->base.res.shared_static;
    out->local_bytes = j->c->base.res.local_bytes;
    out->ctas_per_sm = s->ctas_per_sm;
}

/* A timed run makes the outputs too unless it ran dry. */
static enum status run_all(struct sim_job *j, struct result *out)
{
    struct sim_stats stats = { 0 }, all = { 0 };
    bool timed = !j->r->functional, both = timed && j->b->ran_dry;
    enum status st = run_main(j, !timed, &stats, both ? &all : NULL);
    if (st == ST_OK && stats.again) {
        sim_stats_free(&stats);
        st = run_main(j, false, &stats, NULL);
    }
    if (st == ST_OK && timed)
        j->b->ran_dry = stats.dry;
    if (st == ST_OK && timed && stats.dry) {
        if (!stats.made)
            st = run_main(j, true, &all, NULL);
        sim_stats_complete(&stats, &j->d->preset, &all);
    }
    sim_stats_free(&all);
    if (st == ST_OK)
        fill_stats(j, &stats, timed && stats.time_ns >= 0, out);
    sim_stats_free(&stats);
    if (st == ST_OK)
        dev_sim_outputs(out, j->b->base.data->spec, &j->b->bound, j->d->mem);
    return st;
}

/* limit: seconds that were up; 0: none was. A kernel that faults is a failed configuration, not a failed
 * call. */
static enum status settle(enum status st, double limit, const struct dev_run *r, struct result *out,
                          const struct diags *ds)
{
    if (limit > 0 && (st == ST_CANCELLED || st == ST_OK) && !cancel_asked(r->cancel)) {
        dev_result_fail(out, ST_DEVICE, "time limit of %g s reached; --time-limit allows more", limit);
        return ST_OK;
    }
    if (st == ST_DEVICE)
        dev_result_from_diags(out, st, ds);
    return st == ST_DEVICE ? ST_OK : st;
}

static enum status sim_launch_code(struct dev *d, struct dev_code *c, struct dev_data *b,
                                   const struct dev_run *r, struct result *out, struct diags *ds)
{
    struct diags own = { 0 };
    struct sim_job j = {
        (struct sim_dev *)d, (struct sim_code *)c, (struct sim_data *)b, r, r->cancel, &own
    };
    double limit = r->time_limit_s > 0 ? r->time_limit_s : DEV_SIM_LIMIT_S;
    struct dev_watch *w = dev_watch_start(limit, r->cancel);
    if (w)
        j.cancel = dev_watch_cancel(w);
    enum status st = run_all(&j, out);
    st = settle(st, w && dev_watch_stop(w) && st != ST_OK ? limit : 0, r, out, &own);
    diags_move(ds, &own);
    diags_free(&own);
    return st;
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
    .load = sim_load_code,
    .unload = sim_unload_code,
    .bind = sim_bind_data,
    .unbind = sim_unbind_data,
    .launch = sim_launch_code,
    .rest = sim_rest,
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
