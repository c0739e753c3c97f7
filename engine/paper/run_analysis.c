/* Runners that analyse: coalescing, reuse; costs by the model beside the simulated device. */
#include "engine/analysis/analysis.h"
#include "engine/paper/paper_int.h"
#include "engine/perfmodel/warp_sim.h"
#include "engine/predict/prediction.h"
#include "engine/rec/elem.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/result_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void paper_run_reuse(struct paper_cell *c)
{
    struct paper_row *row = cell_row(c);
    if (!row || cell_open(c, false) != ST_OK)
        return;
    const struct ana_reuse *u = &c->w.facts->reuse;
    double again = u->intra_warp + u->intra_cta + u->inter_cta;
    if (u->valid && again > 0) {
        row->v[0].ours = (u->intra_warp + u->intra_cta) / again;
        row->v[1].ours = u->inter_cta / again;
        double touched = u->sectors.intra_warp + u->sectors.intra_cta + u->sectors.inter_cta;
        row->v[2].ours =
            touched > 0 ? (u->sectors.intra_warp + u->sectors.intra_cta) / touched : (double)NAN;
        row->v[3].ours = touched > 0 ? u->sectors.inter_cta / touched : (double)NAN;
    } else {
        snprintf(row->note, sizeof row->note, "%s",
                 u->valid ? "nothing is loaded twice" : "the addresses could not be followed");
    }
    if (u->valid && u->sampled)
        snprintf(row->note, sizeof row->note, "from neighbouring CTAs, not the whole launch");
}

/* ---- coalescing ---- */
static void put(const struct paper_cell *c, struct paper_row *row, const char *series, double v)
{
    static const char *const all[] = { "degree", "sectors in range", "expected", "counted",
                                       "L1 hit rate" };
    static const char *const hits[] = { "degree", "L1 hit rate" };
    static const char *const sectors[] = { "expected", "counted" };
    bool h = strcmp(c->e->id, "s4-fig7") == 0, s = strcmp(c->e->id, "s4-fig8") == 0;
    const char *const *name = h ? hits : s ? sectors : all;
    for (size_t i = 0; i < (h || s ? 2 : ARRAY_LEN(all)); i++)
        if (strcmp(name[i], series) == 0)
            row->v[i].ours = v;
}

void paper_run_coalesce(struct paper_cell *c)
{
    struct result *r = result_new();
    struct paper_row *row = r ? cell_row(c) : NULL;
    if (row && cell_open(c, false) == ST_OK && cell_bench(c) == ST_OK) {
        const struct ana_every_lane *e = &c->w.facts->coalesce.every;
        put(c, row, "degree", 100 * e->degree);
        put(c, row, "sectors in range", e->num_sectors ? (double)e->num_sectors : (double)NAN);
        put(c, row, "expected", e->expected);
        cell_try(c, "", r);
        put(c, row, "counted", cell_counter(r, "l1.sectors_per_request"));
        put(c, row, "L1 hit rate", cell_counter(r, "l1.hit_rate"));
        if (result_message(r)[0])
            snprintf(row->note, sizeof row->note, "%s", result_message(r));
    } else if (!r) {
        c->st = ST_NOMEM;
    }
    base_free(r);
}

void paper_run_graph(struct paper_cell *c)
{
    struct paper_row *row = cell_row(c);
    if (!row || cell_open(c, false) != ST_OK)
        return;
    const struct ana_coalesce *g = &c->w.facts->coalesce;
    for (size_t i = 0; g->valid && i < 32; i++)
        row->v[i].ours = g->every.graph[i]; /* as the paper has it: all lanes, all loads alike */
}

/* ---- the schedule paper's cost ---- */
enum { SCHEDULES = 16 };
struct tried {
    double cost[SCHEDULES], time[SCHEDULES];
    size_t n;
};

static size_t schedule_lines(const struct paper_cell *c, char line[][48])
{
    uint64_t threads = dim3u_count(launch_block(c->w.spec));
    size_t n = 0;
    snprintf(line[n++], 48, "%s", "");
    for (uint32_t x = 512; x >= 4 && n + 1 < SCHEDULES; x /= 2)
        if (threads % x == 0 && threads >= x && threads / x <= 64 && x != launch_block(c->w.spec).x)
            snprintf(line[n++], 48, "--block %ux%ux1", x, (unsigned)(threads / x));
    snprintf(line[n++], 48, "--swap-xy");
    return n;
}

/* Cost and time of one schedule; false: refused, or not predicted. */
static bool try_schedule(struct paper_cell *c, const char *line, struct tried *t)
{
    struct tune_prediction *p = base_alloc(sizeof *p);
    struct result *r = result_new();
    struct options *o = options_new();
    struct diags none = { 0 };
    bool good = false;
    if (!p || !r || !o)
        c->st = ST_NOMEM;
    else if (cell_try(c, line, r) == ST_OK && cell_ns(r) == cell_ns(r)) {
        good = options_parse_line(o, str_of(line), &none) == ST_OK &&
               tune_predict(c->bench, o, p) == ST_OK && p->valid;
        t->cost[t->n] = good ? p->cost.paper : NAN;
        t->time[t->n] = cell_ns(r);
        t->n += good;
    }
    diags_free(&none);
    BASE_FREE(p, r, o);
    return good;
}

void paper_run_costs(struct paper_cell *c)
{
    char line[SCHEDULES + 1][48], name[96];
    struct tried t = { .n = 0 };
    if (cell_open(c, true) != ST_OK || cell_bench(c) != ST_OK)
        return;
    size_t n = schedule_lines(c, line);
    for (size_t i = 0; i < n && !cell_cancelled(c) && c->st == ST_OK; i++) {
        if (c->q->quick && i > 2)
            break;
        struct paper_row *row = try_schedule(c, line[i], &t) ? cell_row(c) : NULL;
        if (row) {
            snprintf(row->point, sizeof row->point, "%.47s", line[i][0] ? line[i] : "as launched");
            row->v[0].ours = t.cost[t.n - 1] / t.cost[0];
            row->v[1].ours = t.time[t.n - 1] / t.time[0];
        }
        c->tick(c, (double)(i + 1) / (double)n);
    }
    snprintf(name, sizeof name, "rank correlation of cost and time, %s", c->app->abbr);
    if (t.n > 2)
        cell_fact(c, name, model_rank_correlation(t.cost, t.time, t.n));
}

void paper_run_hit_rate(struct paper_cell *c)
{
    struct tune_prediction *p = base_alloc(sizeof *p);
    struct result *r = result_new();
    struct paper_row *row = p && r ? cell_row(c) : NULL;
    if (row && cell_open(c, true) == ST_OK && cell_bench(c) == ST_OK) {
        cell_try(c, "", r);
        row->v[1].ours = cell_counter(r, "l1.hit_rate");
        if (!cell_cancelled(c) && tune_predict(c->bench, options_none(), p) == ST_OK && p->valid)
            row->v[0].ours = 100 * (1 - p->paper.m1);
        else if (p->why_not[0])
            snprintf(row->note, sizeof row->note, "%s", p->why_not);
    } else if (!p || !r) {
        c->st = ST_NOMEM;
    }
    base_free(p);
    base_free(r);
}
