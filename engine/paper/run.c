/* run: an experiment over its applications and platforms, on all host threads. */
#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/paper/paper_int.h"
#include "engine/perfmodel/warp_sim.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void (*const runners[PAPER_KIND_COUNT])(struct paper_cell *c) = {
    [PAPER_CURVE] = paper_run_curve,       [PAPER_BARS] = paper_run_bars,
    [PAPER_CONFIGS] = paper_run_configs,   [PAPER_REUSE] = paper_run_reuse,
    [PAPER_CLASSES] = paper_run_classes,   [PAPER_COALESCE] = paper_run_coalesce,
    [PAPER_GRAPH] = paper_run_graph,       [PAPER_COSTS] = paper_run_costs,
    [PAPER_HIT_RATE] = paper_run_hit_rate, [PAPER_LATENCY] = paper_run_latency,
    [PAPER_VALLEY] = paper_run_valley,     [PAPER_DISTANCES] = paper_run_distances,
    [PAPER_LINES] = paper_run_lines,       [PAPER_SOFTCACHE] = paper_run_softcache,
    [PAPER_VOTES] = paper_run_votes,       [PAPER_SHARES] = paper_run_shares,
};

/* ---- series ---- */
static const char *series_of(const struct paper_experiment *e)
{
    switch (e->kind) {
    case PAPER_CURVE: return "predicated|cloned|hardware|L1 hit rate|predicated, µs";
    case PAPER_BARS: return "bpa|cha|bypass|opt|opt/cha|opt/bypass|cloned|hardware|hardware/bypass";
    case PAPER_CONFIGS: return e->series;
    case PAPER_REUSE: return "intra-CTA|inter-CTA|sectors intra-CTA|sectors inter-CTA";
    case PAPER_CLASSES: return "class|by probes|redirected|points of L1|L1 off";
    case PAPER_COALESCE:
        return strcmp(e->id, "s4-fig7") == 0   ? "degree|L1 hit rate"
               : strcmp(e->id, "s4-fig8") == 0 ? "expected|counted"
                                               : "degree|sectors in range|expected|counted|L1 hit rate";
    case PAPER_GRAPH:
        return "0|1|2|3|4|5|6|7|8|9|10|11|12|13|14|15|16|17|18|19|20|21|22|23|24|25|26|27|28|29|30|31";
    case PAPER_COSTS: return "cost|time";
    case PAPER_HIT_RATE: return "modelled|counted";
    case PAPER_LATENCY: return "cycles|CTAs";
    case PAPER_VALLEY: return strcmp(e->id, "s1-fig3") == 0 ? "MCS" : "CI|MCS|HCS";
    case PAPER_SHARES: return "L1, KB|threads of an SM|bytes a thread";
    case PAPER_DISTANCES: return "line|distance|status";
    case PAPER_LINES: return "bytes|lines|registers, read-only|registers, read-write";
    case PAPER_SOFTCACHE: return "instructions|time|chosen before: instructions|chosen before: time";
    case PAPER_VOTES: return "best|by SM|by CTA|run-off|by SM/best|by CTA/best|run-off/best|launches";
    default: return "";
    }
}

static void name_each(struct paper_result *r, const char *list, const char *before, size_t *at)
{
    for (const char *s = list; *s && r->nseries < PAPER_SERIES;) {
        size_t part = strcspn(s, "|"), n = strcspn(s, "=|");
        char *to = r->names + *at;
        int put = snprintf(to, sizeof r->names - *at, "%s%s%.*s", before, *before ? " " : "", (int)n, s);
        if (put < 0 || *at + (size_t)put + 1 > sizeof r->names)
            return;
        r->series[r->nseries++] = to;
        *at += (size_t)put + 1;
        s += part + (s[part] == '|');
    }
}

static void name_series(struct paper_result *r)
{
    const char *list = series_of(r->of);
    size_t at = 0;
    name_each(r, list ? list : "", "", &at);
    if (r->of->best && r->nseries < PAPER_SERIES)
        r->series[r->nseries++] = "best";
    if (r->of->also)
        name_each(r, r->nseries > 1 ? list : r->of->also_is, r->nseries > 1 ? r->of->also_is : "", &at);
}

/* ---- which cells ---- */
static bool word_in(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; p && (p = strstr(p, word)); p += n)
        if ((p == list || p[-1] == ' ') && (!p[n] || p[n] == ' '))
            return true;
    return false;
}

/* a word of `apps` is what papers call the application, or a paper that runs it */
static bool takes(const struct paper_experiment *e, const struct paper_app *a)
{
    char word[24];
    for (const char *p = e->apps; *p;) {
        size_t n = strcspn(p, " ");
        snprintf(word, sizeof word, "%.*s", (int)n, p);
        if (word_in(a->in, word) || strcmp(a->abbr, word) == 0)
            return true;
        p += n + (p[n] == ' ');
    }
    return false;
}

struct batch {
    const struct paper_request *q;
    struct paper_cell *cell;
    size_t n, cap;
    double *done;
    pthread_mutex_t lock;
};

static bool add_cell(struct batch *b, const struct paper_experiment *e, const struct paper_app *a,
                     const char *platform)
{
    if (!base_grow((void **)&b->cell, b->n, &b->cap, sizeof *b->cell))
        return false;
    b->cell[b->n++] =
        (struct paper_cell){ .e = e, .q = b->q, .app = a, .platform = platform, .tick_ctx = b };
    return true;
}

static bool on_gpu(const struct paper_request *q)
{
    return q->only && strncmp(q->only, "cuda:", 5) == 0;
}

/* The text that platforms of a row point to lives as long as the program: the table's own, cut into
 * words by the presets' names. */
static const char *preset_of(const struct paper_request *q, const char *word, size_t n)
{
    const char *name;
    for (size_t i = 0; q->env->preset_at && (name = q->env->preset_at(q->env->ctx, i)); i++)
        if (strlen(name) == n && memcmp(name, word, n) == 0)
            return name;
    return NULL;
}

static enum status list_cells(struct batch *b, const struct paper_experiment *e, struct diags *ds)
{
    if (!e->platforms && b->q->only) {
        diag_error(ds, "paper", "%s runs on no device: it has no -d", e->id);
        return ST_USAGE;
    }
    if (!e->platforms)
        return add_cell(b, e, NULL, NULL) ? ST_OK : ST_NOMEM;
    const char *only = b->q->only;
    for (const char *p = only ? only : e->platforms; *p;) {
        size_t n = only ? strlen(p) : strcspn(p, " "), taken = 0;
        const char *platform = preset_of(b->q, p, n);
        if (!platform && only && (on_gpu(b->q) || access(only, R_OK) == 0))
            platform = only;
        if (!platform) {
            struct diag *d = diag_add(ds, DIAG_ERROR, "paper", NULL, NO_SPAN, "no preset '%.*s' for %s",
                                      (int)n, p, e->id);
            diag_hint(d, "-d sim:PRESET, the file of one, or cuda:N");
            return ST_INPUT;
        }
        if (!e->apps && !add_cell(b, e, NULL, platform))
            return ST_NOMEM;
        for (size_t i = 0; e->apps && i < paper_app_count(); i++)
            if (takes(e, paper_app_at(i)) && (!b->q->quick || taken++ < 2) &&
                !add_cell(b, e, paper_app_at(i), platform))
                return ST_NOMEM;
        p += b->q->quick ? strlen(p) : n + (p[n] == ' ');
    }
    return ST_OK;
}

/* ---- running ---- */
static void tick(struct paper_cell *c, double done)
{
    struct batch *b = c->tick_ctx;
    double sum = 0;
    char what[96];
    if (!b->q->progress)
        return;
    pthread_mutex_lock(&b->lock);
    b->done[c - b->cell] = done;
    for (size_t i = 0; i < b->n; i++)
        sum += b->done[i];
    snprintf(what, sizeof what, "%s%s%s%s%s", c->e->id, c->app ? ": " : "", c->app ? c->app->abbr : "",
             c->platform ? ", " : "", c->platform ? c->platform : "");
    b->q->progress(b->q->ctx, sum / (double)b->n, what);
    pthread_mutex_unlock(&b->lock);
}

static void note_failure(struct paper_cell *c)
{
    if (c->st == ST_OK || c->st == ST_CANCELLED || c->st == ST_NOMEM)
        return;
    struct paper_row *r = c->nrows ? &c->row[c->nrows - 1] : cell_row(c);
    const char *why = status_text(c->st);
    for (size_t i = 0; i < c->ds.n; i++)
        if (c->ds.v[i].level == DIAG_ERROR) {
            why = c->ds.v[i].msg;
            break;
        }
    if (r && !r->note[0])
        snprintf(r->note, sizeof r->note, "%s", why);
}

static bool kernel_there(const struct paper_cell *c)
{
    struct buf path = { 0 };
    buf_printf(&path, "%s/%s.ptx", c->q->kernels, c->app->file ? c->app->file : "");
    bool there = path.s && access(path.s, R_OK) == 0;
    buf_free(&path);
    return there;
}

static void run_cell(void *ctx, size_t i)
{
    struct batch *b = ctx;
    struct paper_cell *c = &b->cell[i];
    c->tick = tick;
    if (cell_cancelled(c))
        return;
    tick(c, 0);
    if (c->app && !kernel_there(c)) {
        struct paper_row *r = cell_row(c);
        if (r)
            snprintf(r->note, sizeof r->note, "there is no demo kernel of it");
    } else {
        runners[c->e->kind](c);
        note_failure(c);
    }
    cell_close(c);
    tick(c, 1);
}

/* ---- collecting ---- */
static void beside(struct paper_result *r, struct paper_row *row)
{
    const char *of = row->point[0] ? row->point : row->application;
    for (size_t s = 0; s < r->nseries; s++) {
        struct paper_value v = paper_beside(r->of->id, row->platform, of, r->series[s]);
        if (v.paper == v.paper || v.paper_text) {
            row->v[s].paper = v.paper;
            row->v[s].paper_text = v.paper_text;
        }
    }
}

static enum status collect(struct paper_result *r, struct paper_cell *c)
{
    for (size_t i = 0; i < c->nrows; i++) {
        if (!base_grow((void **)&r->row, r->nrows, &r->rows_cap, sizeof *r->row))
            return ST_NOMEM;
        r->row[r->nrows] = c->row[i];
        beside(r, &r->row[r->nrows++]);
    }
    for (size_t i = 0; i < c->nfacts; i++) {
        if (!base_grow((void **)&r->fact, r->nfacts, &r->facts_cap, sizeof *r->fact))
            return ST_NOMEM;
        r->fact[r->nfacts++] = c->fact[i];
    }
    return ST_OK;
}

static double mean_of(const struct paper_result *r, const struct paper_row *m, size_t s)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < r->nrows; i++) {
        const struct paper_row *x = &r->row[i];
        double v = x->v[s].ours;
        if (x->platform != m->platform || (m->group[0] && strcmp(x->group, m->group) != 0) || v != v)
            continue;
        if (r->of->mean == PAPER_MEAN_GEOMETRIC && !(v > 0))
            return NAN;
        sum += r->of->mean == PAPER_MEAN_GEOMETRIC ? log(v) : v;
        n++;
    }
    if (!n)
        return NAN;
    return r->of->mean == PAPER_MEAN_GEOMETRIC ? exp(sum / (double)n) : sum / (double)n;
}

static bool has_mean(const struct paper_result *r, const struct paper_row *like, bool group)
{
    for (size_t i = 0; i < r->nmeans; i++)
        if (r->mean[i].platform == like->platform &&
            strcmp(r->mean[i].group, group ? like->group : "") == 0)
            return true;
    return false;
}

static enum status add_mean(struct paper_result *r, const struct paper_row *like, bool group)
{
    if (has_mean(r, like, group) || (group && !like->group[0]))
        return ST_OK;
    if (!base_grow((void **)&r->mean, r->nmeans, &r->means_cap, sizeof *r->mean))
        return ST_NOMEM;
    struct paper_row *m = &r->mean[r->nmeans++];
    memset(m, 0, sizeof *m);
    m->waves = NAN;
    m->platform = like->platform;
    snprintf(m->application, sizeof m->application, "%s",
             r->of->mean == PAPER_MEAN_GEOMETRIC ? "G-M" : "mean");
    if (group)
        snprintf(m->group, sizeof m->group, "%s", like->group);
    for (size_t s = 0; s < PAPER_SERIES; s++) {
        m->v[s] = (struct paper_value){ NAN, NAN, NULL, NULL, "" };
        if (s < r->nseries)
            m->v[s] =
                paper_beside(r->of->id, m->platform, group ? m->group : m->application, r->series[s]);
        if (s < r->nseries && (r->of->kind != PAPER_VOTES || strchr(r->series[s], '/')))
            m->v[s].ours = mean_of(r, m, s);
    }
    return ST_OK;
}

/* Those of classes before the one of all, on every platform. */
static enum status means(struct paper_result *r)
{
    enum status st = ST_OK;
    for (int whole = 0; whole < 2; whole++)
        for (size_t i = 0; r->of->mean && st == ST_OK && i < r->nrows; i++)
            if (whole || r->of->by_class)
                st = add_mean(r, &r->row[i], !whole);
    return st;
}

static struct paper_fact *add_fact(struct paper_result *r)
{
    if (!base_grow((void **)&r->fact, r->nfacts, &r->facts_cap, sizeof *r->fact))
        return NULL;
    struct paper_fact *f = &r->fact[r->nfacts++];
    memset(f, 0, sizeof *f);
    return f;
}

/* How many applications have the class that the paper gives them, by each way to find it. */
static enum status count_agreeing(struct paper_result *r)
{
    static const char *const by[] = { "", ", by its probes" };
    for (size_t s = 0; s < ARRAY_LEN(by); s++) {
        size_t agree = 0, of = 0;
        for (size_t i = 0; i < r->nrows; i++) {
            const struct paper_value *v = &r->row[i].v[s];
            of += v->paper_text && v->ours_text;
            agree += v->paper_text && v->ours_text && strcmp(v->paper_text, v->ours_text) == 0;
        }
        struct paper_fact *f = add_fact(r);
        if (!f)
            return ST_NOMEM;
        snprintf(f->name, sizeof f->name,
                 "applications of the paper's class%s, of %zu that its text names", by[s], of);
        f->v = (struct paper_value){ (double)agree, (double)of, NULL, NULL, "" };
    }
    return ST_OK;
}

/* The coalesce paper's conclusion, of its nine real kernels: degree above 70 %, hit rate above 60 %. */
static enum status conclude(struct paper_result *r)
{
    static const char *const name[] = { "kernels of degree above 70 %",
                                        "of them, L1 hit rate above 60 %" };
    size_t n[2] = { 0, 0 };
    for (size_t i = 0; i < r->nrows; i++) {
        const struct paper_row *x = &r->row[i];
        bool base =
            strcmp(x->application, "coalescing") == 0 || strcmp(x->application, "same_location") == 0;
        n[0] += !base && x->v[0].ours > 70;
        n[1] += !base && x->v[0].ours > 70 && x->v[1].ours > 60;
    }
    for (size_t k = 0; k < 2; k++) {
        struct paper_fact *f = add_fact(r);
        if (!f)
            return ST_NOMEM;
        snprintf(f->name, sizeof f->name, "%s", name[k]);
        f->v = paper_beside(r->of->id, NULL, name[k], "");
        f->v.ours = (double)n[k];
    }
    return ST_OK;
}

/* Over all applications and configurations of a platform but the originals: does speed go with fewer
 * sectors of L2, and with L1's hit rate (points over the original's)? */
static enum status correlate(struct paper_result *r, const char *platform)
{
    static const char *const name[] = { "rank correlation of speed and L2 sectors, %s",
                                        "rank correlation of speed and L1 hit rate, %s" };
    size_t also = (r->nseries + r->of->best) / 2, n = 0, most = r->nrows * also;
    double *speed = base_alloc(3 * most * sizeof *speed), *by[] = { speed + most, speed + 2 * most };
    for (size_t i = 0; speed && i < r->nrows; i++)
        for (size_t s = 1; r->row[i].platform == platform && s < also - r->of->best; s++) {
            const struct paper_row *x = &r->row[i];
            by[0][n] = x->v[s].ours;
            by[1][n] = x->v[also + s].ours - x->v[also].ours;
            speed[n] = x->speed[s];
            n += speed[n] == speed[n] && by[0][n] == by[0][n] && by[1][n] == by[1][n];
        }
    enum status st = speed ? ST_OK : ST_NOMEM;
    for (size_t k = 0; st == ST_OK && k < ARRAY_LEN(name); k++) {
        struct paper_fact *f = add_fact(r);
        if (!f)
            st = ST_NOMEM;
        else
            snprintf(f->name, sizeof f->name, name[k], platform);
        if (f)
            f->v = (struct paper_value){ model_rank_correlation(speed, by[k], n), NAN, NULL, NULL, "" };
    }
    base_free(speed);
    return st;
}

enum status paper_run(const struct paper_experiment *e, const struct paper_request *q,
                      struct paper_result *out, struct diags *ds)
{
    struct batch b = { .q = q, .lock = PTHREAD_MUTEX_INITIALIZER };
    int64_t begin = base_now_ns();
    *out = (struct paper_result){ .of = e, .quick = q->quick };
    name_series(out);
    enum status st = list_cells(&b, e, ds);
    b.done = base_alloc((b.n + 1) * sizeof *b.done);
    if (!b.done && st == ST_OK)
        st = ST_NOMEM;
    if (st == ST_OK)
        base_parallel(on_gpu(q) ? 1 : q->threads, b.n, run_cell, &b);
    for (size_t i = 0; i < b.n; i++) {
        enum status of = b.cell[i].st;
        if (st == ST_OK && (of == ST_CANCELLED || of == ST_NOMEM))
            st = of;
        if (st == ST_OK)
            st = collect(out, &b.cell[i]);
        base_free(b.cell[i].row);
        base_free(b.cell[i].fact);
    }
    if (st == ST_OK)
        st = means(out);
    if (st == ST_OK && e->kind == PAPER_CLASSES)
        st = count_agreeing(out);
    if (st == ST_OK && strcmp(e->id, "s4-fig7") == 0)
        st = conclude(out);
    for (size_t i = 0; st == ST_OK && e->measure == PAPER_COUNTER && e->also && i < out->nrows; i++)
        if (!i || out->row[i].platform != out->row[i - 1].platform)
            st = correlate(out, out->row[i].platform);
    base_free(b.cell);
    base_free(b.done);
    out->seconds = (double)(base_now_ns() - begin) / 1e9;
    return st;
}

void paper_result_free(struct paper_result *r)
{
    base_free(r->row);
    base_free(r->mean);
    base_free(r->fact);
    *r = (struct paper_result){ .of = r->of };
}
