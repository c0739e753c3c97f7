/* cell: one application on one platform, opened once; its configurations run one after another. */
#include "engine/analysis/analysis.h"
#include "engine/dev/dev.h"
#include "engine/paper/paper_int.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/result.h"
#include "engine/tune/tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct paper_row *cell_row(struct paper_cell *c)
{
    if (!base_grow((void **)&c->row, c->nrows, &c->rows_cap, sizeof *c->row)) {
        c->st = ST_NOMEM;
        return NULL;
    }
    struct paper_row *r = &c->row[c->nrows++];
    memset(r, 0, sizeof *r);
    for (size_t i = 0; i < PAPER_SERIES; i++)
        r->v[i] = (struct paper_value){ NAN, NAN, NULL, NULL, "" }, r->speed[i] = NAN;
    r->waves = NAN;
    r->platform = c->platform;
    if (c->app) {
        snprintf(r->application, sizeof r->application, "%s", c->app->abbr);
        snprintf(r->group, sizeof r->group, "%s", c->app->class_ ? c->app->class_ : "");
    }
    return r;
}

static struct paper_fact *new_fact(struct paper_cell *c, const char *name)
{
    if (!base_grow((void **)&c->fact, c->nfacts, &c->facts_cap, sizeof *c->fact)) {
        c->st = ST_NOMEM;
        return NULL;
    }
    struct paper_fact *f = &c->fact[c->nfacts++];
    memset(f, 0, sizeof *f);
    snprintf(f->name, sizeof f->name, "%s", name);
    f->v = paper_beside(c->e->id, c->platform, name, "");
    return f;
}

void cell_fact(struct paper_cell *c, const char *name, double ours)
{
    struct paper_fact *f = new_fact(c, name);
    if (f)
        f->v.ours = ours;
}

void cell_fact_text(struct paper_cell *c, const char *name, const char *ours)
{
    struct paper_fact *f = new_fact(c, name);
    if (f)
        f->v.ours_text = ours;
}

bool cell_cancelled(struct paper_cell *c)
{
    if (cancel_asked(c->q->cancel))
        c->st = ST_CANCELLED;
    return c->st == ST_CANCELLED;
}

bool cell_on_gpu(const struct paper_cell *c)
{
    return c->platform && strncmp(c->platform, "cuda:", 5) == 0;
}

void cell_device(const struct paper_cell *c, struct buf *out)
{
    buf_printf(out, "%s%s%s", cell_on_gpu(c) ? "" : "sim:", c->platform, c->e->l1 ? "+l1" : "");
}

static char *app_file(const struct paper_cell *c)
{
    struct buf path = { 0 };
    buf_printf(&path, "%s/%s.ptx", c->q->kernels, c->app->file);
    return buf_take(&path);
}

static enum status open_launch(struct paper_cell *c, const char *launch, bool quick_facts)
{
    c->args = base_alloc(sizeof *c->args);
    if (!c->args || !(c->args->options = options_new()))
        return c->st = ST_NOMEM;
    c->args->env = c->q->env;
    c->args->cancel = c->q->cancel;
    c->args->threads = 1;
    c->args->kernel = launch;
    c->args->file[0] = app_file(c);
    c->args->nfiles = 1;
    struct buf spec = { 0 };
    cell_device(c, &spec);
    c->args->device = buf_take(&spec);
    enum status st = c->args->file[0] && c->args->device ? ST_OK : ST_NOMEM;
    if (st == ST_OK)
        st = workspace_ptx(&c->w, c->args, &c->ds);
    if (st == ST_OK)
        st = workspace_launch(&c->w, c->args, true, &c->ds);
    if (st == ST_OK)
        st = workspace_device(&c->w, c->args, &c->ds);
    if (st == ST_OK)
        st = workspace_data(&c->w, &c->ds);
    if (st == ST_OK)
        st = workspace_facts(&c->w, c->args, quick_facts, &c->ds);
    return c->st = st;
}

/* The application's second kernel, a cell beside it. */
static enum status open_then(struct paper_cell *c)
{
    c->then = base_alloc(sizeof *c->then);
    c->then_own = base_alloc(sizeof *c->then_own);
    if (!c->then || !c->then_own)
        return c->st = ST_NOMEM;
    *c->then = (struct paper_cell){ .e = c->e, .q = c->q, .app = c->app, .platform = c->platform };
    *c->then_own = result_empty();
    c->st = open_launch(c->then, c->app->then, true);
    return c->st == ST_OK ? c->st = cell_bench(c->then) : c->st;
}

enum status cell_open(struct paper_cell *c, bool quick_facts)
{
    bool large = c->e->waves || cell_on_gpu(c);
    const char *launch = large && c->app->waves ? c->app->waves : c->app->launch;
    if (open_launch(c, launch, quick_facts) == ST_OK && c->e->kind == PAPER_BARS && c->app->then)
        open_then(c);
    return c->st;
}

enum status cell_bench(struct paper_cell *c)
{
    struct tune_subject s = { c->w.module, c->w.spec, &c->w.data, c->w.dev, c->w.facts };
    struct tune_run_opts o = tune_run_opts_default(&c->w.info);
    o.cancel = c->q->cancel;
    /* what every CTA measured is read; times of all values compare */
    o.exact = c->e->kind == PAPER_LATENCY || c->e->kind == PAPER_VOTES;
    o.cold = c->e->kind == PAPER_LATENCY; /* the paper's first CTA fetches from DRAM */
    o.energy = c->e->measure == PAPER_ENERGY && cell_on_gpu(c);
    return c->st = tune_bench_open(&s, &o, &c->bench, &c->ds);
}

static enum status launch_one(struct paper_cell *c, const char *options, struct result *out)
{
    struct options o = options_default();
    struct diags ds = { 0 };
    *out = result_empty();
    enum status st = options_parse_line(&o, str_of(options), &ds);
    if (st == ST_OK)
        st = tune_run_one(c->bench, &o, out, &ds);
    if (st != ST_OK)
        out->status = st;
    if (st != ST_OK && !out->message[0] && ds.n)
        snprintf(out->message, sizeof out->message, "%s", ds.v[0].msg);
    diags_free(&ds);
    if (st == ST_NOMEM || st == ST_CANCELLED)
        c->st = st;
    return st;
}

static enum status try_one(struct paper_cell *c, const char *options, struct result *out)
{
    struct buf key = { 0 };
    enum status st = ST_OK;
    if (!c->q->memo)
        return launch_one(c, options, out);
    buf_printf(&key, "%s %s %s %d %s", c->args->file[0], c->args->kernel ? c->args->kernel : "",
               c->args->device, c->e->kind == PAPER_LATENCY || c->e->kind == PAPER_VOTES, options);
    if (!key.s || key.oom || !paper_memo_get(c->q->memo, key.s, out)) {
        st = launch_one(c, options, out);
        if (key.s && !key.oom && st != ST_NOMEM && st != ST_CANCELLED)
            paper_memo_put(c->q->memo, key.s, out);
    }
    buf_free(&key);
    return st;
}

/* Counts add up; rates do not. */
static void add_result(struct result *to, const struct result *r)
{
    to->time.median += r->time.median;
    to->time.valid &= r->time.valid;
    to->energy.nj += r->energy.nj;
    if (r->equal == EQUAL_NO)
        to->equal = EQUAL_NO;
    for (unsigned i = 0; i < COUNTER_COUNT; i++) {
        const char *unit = counter_unit(i);
        to->counters[i].value += r->counters[i].value;
        to->counters[i].valid &=
            r->counters[i].valid && strcmp(unit, "percent") != 0 && !strchr(unit, '/');
    }
}

/* A second kernel that cannot take the options runs as it is, as a kernel without such loads does. */
static enum status add_then(struct paper_cell *c, const char *options, struct result *out)
{
    struct result *r = base_alloc(sizeof *r);
    enum status st = r ? try_one(c->then, options, r) : ST_NOMEM;
    if (r && r->status == ST_REFUSED) {
        if (!c->then_own->time.valid)
            st = try_one(c->then, "", c->then_own);
        *r = *c->then_own;
    }
    if (r && r->status == ST_OK)
        add_result(out, r);
    else if (r)
        out->status = r->status;
    base_free(r);
    if (st == ST_NOMEM || st == ST_CANCELLED)
        c->st = st;
    return st;
}

enum status cell_try(struct paper_cell *c, const char *options, struct result *out)
{
    enum status st = try_one(c, options, out);
    return out->status == ST_OK && c->then ? add_then(c, options, out) : st;
}

void cell_close(struct paper_cell *c)
{
    if (c->then)
        cell_close(c->then);
    base_free(c->then);
    base_free(c->then_own);
    c->then = NULL;
    c->then_own = NULL;
    tune_bench_close(c->bench);
    workspace_close(&c->w);
    if (c->args) {
        base_free((char *)(uintptr_t)c->args->file[0]);
        base_free((char *)(uintptr_t)c->args->device);
        base_free(c->args->options);
    }
    base_free(c->args);
    c->args = NULL;
    c->bench = NULL;
    diags_free(&c->ds);
}

uint32_t cell_warps(const struct paper_cell *c)
{
    return (uint32_t)((dim3u_count(launch_block(c->w.spec)) + 31) / 32);
}

void cell_waves(const struct paper_cell *c, const struct result *r, struct paper_row *row)
{
    double at_once = (double)r->ctas_per_sm * c->w.info.sms;
    row->waves = r->status == ST_OK && at_once > 0
                     ? (double)dim3u_count(launch_grid(c->w.spec)) / at_once
                     : (double)NAN;
}

double cell_counter(const struct result *r, const char *name)
{
    for (int i = 0; r->status == ST_OK && i < COUNTER_COUNT; i++)
        if (strcmp(counter_name((enum counter_id)i), name) == 0)
            return r->counters[i].valid ? r->counters[i].value : NAN;
    return NAN;
}

double cell_ns(const struct result *r)
{
    bool good = r->status == ST_OK && r->time.valid && r->equal != EQUAL_NO && r->time.median > 0;
    return good ? (double)r->time.median : NAN;
}

double cell_energy(const struct paper_cell *c, const struct result *r)
{
    return cell_on_gpu(c) ? (energy_asked(&r->energy) ? r->energy.nj : (double)NAN) : energy_modelled(r);
}
