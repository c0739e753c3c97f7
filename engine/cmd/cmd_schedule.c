/* analyze --schedules: loop schedules of the kernel (paper: schedule): block shapes of the same size, x
 * and y exchanged, several iterations per thread, and CTA orders. The legal ones by the memory-cost
 * model, cheapest first; the others with the reason. Nothing is launched. */
#include "engine/analysis/analysis.h"
#include "engine/cmd/cmd_int.h"
#include "engine/pass/pass.h"
#include "engine/predict/prediction.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/opt_memory.h"
#include "engine/session/document.h"
#include "engine/tune/tune.h"
#include "engine/workspace/args.h"
#include "engine/workspace/workspace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEDULES = 48 };
struct schedule {
    struct options *options; /* of the list's */
    struct dim3u grid, block;
    bool legal;
    char why[256];
    struct tune_prediction cost;
};
struct list {
    struct schedule *v;
    struct options *options; /* SCHEDULES, owned */
    size_t n;
};

static void add(struct list *l, const char *line)
{
    if (l->n == SCHEDULES)
        return;
    l->v[l->n].options = options_put(l->options, l->n, options_none());
    if (options_parse_line(l->v[l->n].options, str_of(line), NULL) == ST_OK)
        l->n++;
}

static void collect(struct list *l, const struct launch_spec *spec)
{
    static const char *const others[] = { "--swap-xy",
                                          "--coarsen 2",
                                          "--coarsen 4",
                                          "--coarsen 8",
                                          "--coarsen 2 --coarsen-mode blocked",
                                          "--coarsen 4 --coarsen-mode blocked",
                                          "--cluster redirect --index row",
                                          "--cluster redirect --index column",
                                          "--cluster redirect --index tile:8x8" };
    uint64_t threads = dim3u_count(launch_block(spec));
    add(l, "");
    for (uint32_t x = 1024; x; x /= 2) {
        char line[64];
        if (threads % x || threads / x > 1024 ||
            (x == launch_block(spec).x && threads / x == launch_block(spec).y))
            continue;
        snprintf(line, sizeof line, "--block %ux%ux1", x, (unsigned)(threads / x));
        add(l, line);
        snprintf(line, sizeof line, "--block %ux%ux1 --swap-xy", x, (unsigned)(threads / x));
        add(l, line);
    }
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        add(l, others[i]);
}

static enum status judge(struct schedule *c, const struct workspace *s, struct tune_bench *bench)
{
    struct diags why = { 0 };
    struct pass_output out;
    struct pass_input in = workspace_input(s, c->options);
    enum status st = pass_apply(&in, &out, &why);
    c->legal = st == ST_OK;
    for (size_t k = 0; st != ST_OK && k < why.n; k++)
        if (why.v[k].level == DIAG_ERROR)
            snprintf(c->why, sizeof c->why, "%s", why.v[k].msg);
    if (st == ST_OK) {
        c->grid = out.grid;
        c->block = out.block;
        pass_output_free(&out);
        st = tune_predict(bench, c->options, &c->cost);
    }
    diags_free(&why);
    return st == ST_REFUSED ? ST_OK : st;
}

/* Legal before refused, then by our figure; what cannot be predicted last of the legal ones. */
static int by_cost(const void *pa, const void *pb)
{
    const struct schedule *a = pa, *b = pb;
    if (a->legal != b->legal)
        return a->legal ? -1 : 1;
    double x = a->cost.valid ? a->cost.cost.extended : INFINITY,
           y = b->cost.valid ? b->cost.cost.extended : INFINITY;
    return x < y ? -1 : x > y;
}

static void put_text(const struct list *l, const struct workspace *s, struct buf *out)
{
    char label[PTX_LABEL];
    buf_printf(out,
               "loop schedules of %s on %s, all figures modelled (cycles; a lower bound, and the "
               "paper's sum of latencies)\n\n%14s %14s  %-16s %-12s options\n",
               ptx_label(s->kernel, label), s->info.name, "cycles", "paper's", "grid", "block");
    for (size_t i = 0; i < l->n; i++) {
        const struct schedule *c = &l->v[i];
        struct buf line = { 0 };
        char grid[48], block[48];
        options_line(c->options, &line);
        snprintf(grid, sizeof grid, "%ux%ux%u", c->grid.x, c->grid.y, c->grid.z);
        snprintf(block, sizeof block, "%ux%ux%u", c->block.x, c->block.y, c->block.z);
        if (c->legal && c->cost.valid)
            buf_printf(out, "%14.0f %14.0f  %-16s %-12s %s\n", c->cost.cost.extended, c->cost.cost.paper,
                       grid, block, line.n ? line.s : "(as launched)");
        else if (c->legal)
            buf_printf(out, "%14s %14s  %-16s %-12s %s: %s\n", "n/a", "n/a", grid, block,
                       line.n ? line.s : "(as launched)", c->cost.why_not);
        else
            buf_printf(out, "%14s %14s  %-16s %-12s %s: %s\n", "refused", "", "", "",
                       line.n ? line.s : "(as launched)", c->why);
        buf_free_checked(&line, out);
    }
}

static void put_json(const struct list *l, const struct workspace *s, struct buf *out)
{
    struct jw w = document_open(out, "gpulocw-schedules", 2);
    jw_put_str(&w, "kernel", s->kernel);
    jw_put_str(&w, "device", s->info.spec);
    jw_put_arr(&w, "schedules");
    for (size_t i = 0; i < l->n; i++) {
        const struct schedule *c = &l->v[i];
        bool known = c->legal && c->cost.valid;
        struct buf line = { 0 };
        options_line(c->options, &line);
        jw_obj(&w);
        jw_put_str(&w, "options", line.s ? line.s : "");
        jw_put_bool(&w, "legal", c->legal);
        if (c->legal) {
            jw_put_dim(&w, "grid", c->grid);
            jw_put_dim(&w, "block", c->block);
        } else {
            jw_put_null(&w, "grid");
            jw_put_null(&w, "block");
        }
        jw_put_num(&w, "cost_cycles", known ? c->cost.cost.extended : (double)NAN);
        jw_put_num(&w, "paper_cycles", known ? c->cost.cost.paper : (double)NAN);
        jw_put_str(&w, "why", known ? NULL : c->legal ? c->cost.why_not : c->why);
        jw_end_obj(&w);
        buf_free_checked(&line, out);
    }
    jw_end_arr(&w);
    document_close(&w);
}

enum status cmd_schedules(const struct args *a, const struct workspace *s, struct diags *ds)
{
    struct tune_bench *bench = NULL;
    struct list l = { base_alloc(SCHEDULES * sizeof *l.v), options_list(SCHEDULES), 0 };
    if (!s->spec) {
        BASE_FREE(l.v, l.options);
        struct diag *d = diag_add(ds, DIAG_ERROR, "launch", s->module->path, NO_SPAN,
                                  "no launch description: a loop schedule needs its grid and block");
        diag_hint(d, "write one beside the PTX (docs/reference/launch.md) or give it with --launch");
        return ST_INPUT;
    }
    struct workspace own = *s;
    struct ana_opts o = { .data = &s->data,
                          .dev = &s->info,
                          .assume_restrict = opt_memory(a->options)->assume_restrict,
                          .cancel = a->cancel,
                          .quick = true };
    enum status st =
        l.v && l.options ? ana_run(s->module, str_of(s->kernel), &o, &own.facts, ds) : ST_NOMEM;
    struct tune_subject subject = { s->module, s->spec, &s->data, s->dev, own.facts };
    if (st == ST_OK)
        st = tune_bench_open_model(&subject, &bench, ds);
    if (st == ST_OK)
        collect(&l, s->spec);
    for (size_t i = 0; i < l.n && st == ST_OK; i++)
        st = cancel_asked(a->cancel) ? ST_CANCELLED : judge(&l.v[i], &own, bench);
    if (st == ST_OK) {
        struct buf out = { 0 };
        qsort(l.v, l.n, sizeof *l.v, by_cost);
        if (a->json)
            put_json(&l, s, &out);
        else
            put_text(&l, s, &out);
        cmd_give(a, &out);
    }
    tune_bench_close(bench);
    ana_free(own.facts);
    BASE_FREE(l.v, l.options);
    return st;
}
