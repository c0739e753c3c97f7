/* What memory holds before a launch of the simulated device.
 *
 * A launch always starts from the same state: module variables as the module declares them, then the
 * launch's symbols, then buffers as the launch description makes them, then the `before` launches, then
 * knobs. Module variables are copied between the programs of `before` kernels and the main one. What
 * `before` launches made is kept per (code, data) and copied back: a sweep runs them once. */
#include "engine/dev/sim_dev.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/data.h"
#include "engine/rec/launch.h"
#include <string.h>

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

enum status sim_job_prepare(struct sim_job *j)
{
    enum status st = back_to_kept(j);
    if (st == ST_REFUSED)
        st = make_state(j);
    return st == ST_OK ? write_knobs(j) : st;
}
