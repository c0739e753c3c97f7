/* Runners that launch configurations: curves, bars, named configurations. */
#include "engine/analysis/analysis.h"
#include "engine/paper/paper_int.h"
#include "engine/perfmodel/category.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/knobs.h"
#include "engine/rec/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The threshold as the paper inserts it, as its section 6.1 would, as its section 6.2 would. */
enum { FORM_PREDICATE, FORM_CLONE, FORM_HARDWARE, FORMS };
static const char *const form_name[FORMS] = { "predicate", "clone", "hardware" };
enum { MOST_WARPS = 64 };

static void line_of(char *to, size_t n, const struct paper_cell *c, int form, const char *pi)
{
    const char *how = pi[0] >= '0' && pi[0] <= '9' ? form_name[form] : NULL;
    snprintf(to, n, "%s --pi %s%s%s%s", c->e->options, pi, how ? " --bypass-form " : "", how ? how : "",
             c->demote ? " --readonly demote" : "");
}

static enum status try_pi(struct paper_cell *c, int form, const char *pi, struct result *r)
{
    char line[160];
    line_of(line, sizeof line, c, form, pi);
    return cell_try(c, line, r);
}

static enum status try_number(struct paper_cell *c, int form, uint32_t pi, struct result *r)
{
    char text[16];
    snprintf(text, sizeof text, "%u", pi);
    return try_pi(c, form, text, r);
}

/* Past L1, a kernel of .nc loads has no load to bypass until they are plain, as in the papers' source.
 */
static void settle_loads(struct paper_cell *c, struct result *r)
{
    if (try_pi(c, 0, "bpa", r) == ST_NOMEM || r->status == ST_OK || strstr(c->e->options, "ro"))
        return;
    c->demote = true;
    try_pi(c, 0, "bpa", r);
    c->demote = r->status == ST_OK;
}

static void why_not(struct paper_row *row, const struct result *r)
{
    if (!row->note[0] && r->message[0] && cell_ns(r) != cell_ns(r))
        snprintf(row->note, sizeof row->note, "%s", r->message);
}

/* ---- curve ---- */
enum { CURVE_HIT_RATE = FORMS, CURVE_US };

struct curve {
    struct model_point p[FORMS][MOST_WARPS + 1];
    double bpa, cha; /* nanoseconds */
    uint32_t w;
    bool whole;
};

static struct paper_row *curve_row(struct paper_cell *c, const char *pi, const struct result *r)
{
    struct paper_row *row = cell_row(c);
    if (!row)
        return NULL;
    bool number = pi[0] >= '0' && pi[0] <= '9';
    snprintf(row->point, sizeof row->point, "%s%s", number ? "π=" : "", pi);
    row->v[CURVE_HIT_RATE].ours = cell_counter(r, "l1.hit_rate");
    row->v[CURVE_US].ours = cell_ns(r) / 1000;
    cell_waves(c, r, row);
    why_not(row, r);
    return row;
}

/* An end without inserted code: all forms are the same there. */
static double curve_end(struct paper_cell *c, const char *pi, double bpa, struct result *r)
{
    if (try_pi(c, 0, pi, r) == ST_NOMEM)
        return NAN;
    struct paper_row *row = curve_row(c, pi, r);
    for (int f = 0; row && f < FORMS; f++)
        row->v[f].ours = cell_ns(r) / (bpa > 0 ? bpa : cell_ns(r));
    return cell_ns(r);
}

static void curve_point(struct paper_cell *c, struct curve *k, uint32_t pi, struct result *r)
{
    struct paper_row *row = NULL;
    char text[16];
    snprintf(text, sizeof text, "%u", pi);
    for (int f = 0; f < FORMS && !cell_cancelled(c) && c->st == ST_OK; f++) {
        try_number(c, f, pi, r);
        if (f == FORM_PREDICATE)
            row = curve_row(c, text, r);
        double t = cell_ns(r);
        k->p[f][pi] = (struct model_point){ pi, t, t, t };
        k->whole &= t == t || f == FORM_HARDWARE;
        if (row)
            row->v[f].ours = t / k->bpa;
    }
}

static uint32_t best_of(const struct model_point *p, uint32_t w)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i <= w; i++)
        if (p[i].time < p[best].time)
            best = i;
    return best;
}

/* Of several applications each has its own. */
static void curve_fact(struct paper_cell *c, const char *name, double v, const char *text)
{
    char full[96];
    bool several = strchr(c->e->apps, ' ') != NULL;
    snprintf(full, sizeof full, "%s%s%s", several ? c->app->abbr : "", several ? ": " : "", name);
    if (text)
        cell_fact_text(c, full, text);
    else
        cell_fact(c, full, v);
}

static void curve_facts(struct paper_cell *c, const struct curve *k)
{
    const struct model_point *p = k->p[FORM_PREDICATE];
    struct model_curve m = model_categorise(p, k->w + 1);
    uint32_t at = best_of(p, k->w);
    curve_fact(c, "best threshold", at, NULL);
    curve_fact(c, "best threshold, cloned", best_of(k->p[FORM_CLONE], k->w), NULL);
    if (k->p[FORM_HARDWARE][0].time == k->p[FORM_HARDWARE][0].time)
        curve_fact(c, "best threshold, hardware", best_of(k->p[FORM_HARDWARE], k->w), NULL);
    curve_fact(c, "best, µs", p[at].time / 1000, NULL);
    curve_fact(c, "best over bypassing all", k->bpa / p[at].time, NULL);
    curve_fact(c, "best over caching all", k->cha / p[at].time, NULL);
    curve_fact(c, "overhead at no threshold (time of π=0 over bpa)", p[0].time / k->bpa, NULL);
    curve_fact(c, "overhead at the full threshold (time of π=W over cha)", p[k->w].time / k->cha, NULL);
    curve_fact(c, "category", NAN, model_category_name(m.category));
}

void paper_run_curve(struct paper_cell *c)
{
    struct curve *k = base_alloc(sizeof *k);
    struct result *r = base_alloc(sizeof *r);
    if (!k || !r || cell_open(c, true) != ST_OK || cell_bench(c) != ST_OK) {
        c->st = k && r ? c->st : ST_NOMEM;
        base_free(k);
        base_free(r);
        return;
    }
    k->w = cell_warps(c);
    k->whole = k->w <= MOST_WARPS;
    uint32_t step = c->q->quick ? k->w / 2 + !k->w : 1;
    k->bpa = curve_end(c, "bpa", NAN, r);
    if (!cell_cancelled(c) && c->st == ST_OK)
        k->cha = curve_end(c, "cha", k->bpa, r);
    for (uint32_t i = 0; i <= k->w && k->whole && !cell_cancelled(c) && c->st == ST_OK; i += step) {
        curve_point(c, k, i, r);
        c->tick(c, (double)(i + 1) / (k->w + 1));
    }
    if (k->whole && step == 1 && !cell_cancelled(c) && c->st == ST_OK)
        curve_facts(c, k);
    base_free(k);
    base_free(r);
}

/* ---- bars ---- */
enum {
    BAR_BPA,
    BAR_CHA,
    BAR_BYPASS,
    BAR_OPT,
    BAR_GAIN,
    BAR_OVERHEAD,
    BAR_CLONED,
    BAR_HARDWARE,
    BAR_SAVED
};
static const int bar_of_form[FORMS] = { BAR_BYPASS, BAR_CLONED, BAR_HARDWARE };

struct bars {
    struct result end[2], best[FORMS];
    int pi[FORMS]; /* of best; -1: none ran */
};

/* of bars: speed over bpa's, or energy over bpa's */
static double bar_of(const struct paper_cell *c, const struct result *bpa, const struct result *r)
{
    return c->e->measure == PAPER_ENERGY ? cell_energy(c, r) / cell_energy(c, bpa)
                                         : cell_ns(bpa) / cell_ns(r);
}

static void try_threshold(struct paper_cell *c, struct bars *b, int form, uint32_t pi, struct result *r)
{
    try_number(c, form, pi, r);
    if (cell_ns(r) == cell_ns(r) && !(cell_ns(r) >= cell_ns(&b->best[form]))) {
        b->best[form] = *r;
        b->pi[form] = (int)pi;
    }
}

/* The fastest threshold. Predicated: of 0..W, the code in all of them. The other forms: the predicated
 * one's best, its neighbours and the ends; their curves run beside it (s1-fig5 has them whole). */
static void best_threshold(struct paper_cell *c, struct bars *b, int form, struct paper_row *row)
{
    struct result *r = base_alloc(sizeof *r);
    uint32_t w = cell_warps(c), most = c->q->quick ? 3 : c->e->points ? c->e->points : w + 1;
    uint32_t n = w + 1 < most ? w + 1 : most;
    b->best[form] = result_empty();
    b->best[form].status = ST_REFUSED;
    b->pi[form] = -1;
    if (!r)
        c->st = ST_NOMEM;
    for (uint32_t i = 0; r && i < n && !cell_cancelled(c) && c->st == ST_OK; i++) {
        uint32_t pi = n > 1 ? i * w / (n - 1) : 0, near = (uint32_t)b->pi[FORM_PREDICATE];
        if (form == FORM_PREDICATE || pi == 0 || pi == w || (pi + 1 >= near && pi <= near + 1))
            try_threshold(c, b, form, pi, r);
        if (form == FORM_HARDWARE && r->status == ST_REFUSED)
            break; /* the register is L1's: what the experiment says, not each row */
        why_not(row, r);
        c->tick(c, (form + (double)(i + 1) / n) / FORMS);
    }
    base_free(r);
}

static void fill_bars(struct paper_cell *c, const struct bars *b, struct paper_row *row)
{
    static const char *const end[] = { "bpa", "cha" };
    const struct result *bpa = &b->end[0], *opt = bpa;
    struct paper_value *v = row->v;
    const char *which = end[0];
    for (int i = 0; i < 2; i++) {
        v[BAR_BPA + i].ours = bar_of(c, bpa, &b->end[i]);
        if (cell_ns(&b->end[i]) < cell_ns(opt)) {
            opt = &b->end[i];
            which = end[i];
        }
    }
    for (int f = 0; f < FORMS; f++) {
        v[bar_of_form[f]].ours = bar_of(c, bpa, &b->best[f]);
        if (b->pi[f] >= 0)
            snprintf(v[bar_of_form[f]].at, sizeof v->at, "π=%d", b->pi[f]);
    }
    if (cell_ns(&b->best[FORM_PREDICATE]) < cell_ns(opt)) {
        opt = &b->best[FORM_PREDICATE];
        which = v[BAR_BYPASS].at;
    }
    v[BAR_OPT].ours = bar_of(c, bpa, opt);
    snprintf(v[BAR_OPT].at, sizeof v->at, "%s", which);
    v[BAR_GAIN].ours = v[BAR_OPT].ours / v[BAR_CHA].ours;
    v[BAR_OVERHEAD].ours = v[BAR_OPT].ours / v[BAR_BYPASS].ours;
    v[BAR_SAVED].ours = v[BAR_HARDWARE].ours / v[BAR_BYPASS].ours;
}

void paper_run_bars(struct paper_cell *c)
{
    struct bars *b = base_alloc(sizeof *b);
    struct paper_row *row = b ? cell_row(c) : NULL;
    if (!row || cell_open(c, true) != ST_OK || cell_bench(c) != ST_OK) {
        c->st = b ? c->st : ST_NOMEM;
        base_free(b);
        return;
    }
    settle_loads(c, &b->end[0]);
    cell_waves(c, &b->end[0], row);
    if (!cell_cancelled(c) && c->st == ST_OK)
        try_pi(c, 0, "cha", &b->end[1]);
    why_not(row, &b->end[0]);
    why_not(row, &b->end[1]);
    for (int f = 0; f < FORMS && cell_ns(&b->end[0]) == cell_ns(&b->end[0]) && !cell_cancelled(c); f++)
        best_threshold(c, b, f, row);
    if (cell_ns(&b->end[0]) == cell_ns(&b->end[0]) && c->st == ST_OK)
        fill_bars(c, b, row);
    base_free(b);
}

/* ---- named configurations ---- */
/* Lines of the loads that the analysis calls streaming: what the cluster paper has bypass (4.3-II). False:
 * there is none. */
static bool streaming_lines(const struct paper_cell *c, struct buf *out)
{
    const struct ana_kernel *k = c->w.facts;
    unsigned n = 0;
    for (uint32_t i = 0; i < k->naccess; i++) {
        const struct ana_access *a = &k->access[i];
        if (!a->store && !a->prefetch && a->cls == ANA_CLASS_STREAMING && a->space == PTX_SPACE_GLOBAL)
            buf_printf(out, "%s%u", n++ ? "," : "", a->at.line);
    }
    return n > 0;
}

/* One series' options: %I, %A and %S put in, alternative `which` of {a/b/c} chosen. False: there are not
 * so many, or nothing to put in. */
static bool options_of(const struct paper_cell *c, const char *text, size_t n, unsigned which,
                       struct buf *out)
{
    const char *index = c->w.facts->partition.index;
    bool picked = which == 0;
    buf_clear(out);
    buf_puts(out, "");
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '%' && i + 1 < n && text[i + 1] == 'I') {
            buf_puts(out, index && strcmp(index, "none") != 0 ? index : "row");
            i++;
        } else if (text[i] == '%' && i + 1 < n && text[i + 1] == 'A') {
            buf_printf(out, "%u", c->agents);
            i++;
        } else if (text[i] == '%' && i + 1 < n && text[i + 1] == 'S') {
            if (!streaming_lines(c, out))
                return false;
            i++;
        } else if (text[i] == '{') {
            size_t end = i + 1, at = i + 1;
            unsigned k = 0;
            picked = false;
            for (; end < n && text[end - 1] != '}'; end++)
                if (text[end] == '/' || text[end] == '}') {
                    if (k++ == which) {
                        buf_put(out, text + at, end - at);
                        picked = true;
                    }
                    at = end + 1;
                }
            i = end - 1;
        } else {
            buf_put(out, text + i, 1);
        }
    }
    return picked;
}

static double config_value(const struct paper_cell *c, const struct result *first,
                           const struct result *r)
{
    switch (c->e->measure) {
    case PAPER_COUNTER:
        return cell_ns(r) == cell_ns(r)
                   ? cell_counter(r, c->e->counter) / cell_counter(first, c->e->counter)
                   : NAN;
    case PAPER_RATE: return cell_counter(r, c->e->counter);
    case PAPER_ENERGY: return cell_energy(c, r) / cell_energy(c, first);
    case PAPER_TIME: break;
    }
    return cell_ns(first) / cell_ns(r);
}

/* More agents than are resident at once are all of them: tried as such already. */
static bool too_many(const struct paper_cell *c, struct options *o)
{
    return c->agents_most && opt_cluster(o)->agents >= (int)c->agents_most;
}

/* The fastest alternative of one series, and what it is. */
static void try_series(struct paper_cell *c, const char *text, size_t n, struct result *best,
                       struct paper_row *row)
{
    struct result *r = base_alloc(sizeof *r);
    struct buf line = { 0 };
    bool several = memchr(text, '{', n) != NULL;
    struct diags none = { 0 };
    for (unsigned k = 0; r && k < (c->q->quick ? 2u : 16u) && !cell_cancelled(c) && c->st == ST_OK;
         k++) {
        struct options o = options_default();
        if (!options_of(c, text, n, k, &line))
            break;
        if (several && options_parse_line(&o, str_of(line.s), &none) == ST_OK && too_many(c, &o))
            break;
        if (cell_try(c, line.s ? line.s : "", r) == ST_NOMEM)
            break;
        if (best->status != ST_OK || (cell_ns(r) == cell_ns(r) && !(cell_ns(r) >= cell_ns(best))))
            *best = *r;
        why_not(row, r);
        if (!several)
            break;
    }
    diags_free(&none);
    if (!r || line.oom)
        c->st = ST_NOMEM;
    buf_free(&line);
    base_free(r);
}

struct configs {
    struct result first, now, best;
    const char *best_is; /* name of a series, in the experiment's text */
    size_t best_n;
};

/* What the next series take from one that has run: how many agents are resident, how many were fastest. */
static void note_agents(struct paper_cell *c, struct result *now, struct paper_value *v)
{
    const struct opt_cluster *o = opt_cluster(&now->options);
    if (now->status != ST_OK || o->kind != CLUSTER_AGENT)
        return;
    if (!o->agents && !c->agents_most)
        c->agents_most = now->ctas_per_sm;
    c->agents = o->agents > 0 ? (unsigned)o->agents : c->agents_most;
    snprintf(v->at, sizeof v->at, "%u agents", c->agents);
}

static void note_best(struct configs *k, const char *name, size_t n)
{
    if (cell_ns(&k->now) != cell_ns(&k->now) || cell_ns(&k->now) >= cell_ns(&k->best))
        return;
    k->best = k->now;
    k->best_is = name;
    k->best_n = n;
}

static size_t count_series(const char *list)
{
    size_t n = 1;
    for (; *list; list++)
        n += *list == '|';
    return n;
}

static void run_series(struct paper_cell *c, struct configs *k, struct paper_row *row)
{
    size_t n = count_series(c->e->series), s = 0, also = n + c->e->best;
    for (const char *p = c->e->series; *p && s < n && c->st == ST_OK && !cell_cancelled(c); s++) {
        size_t part = strcspn(p, "|"), name = strcspn(p, "=");
        k->now = result_empty();
        k->now.status = ST_REFUSED;
        /* a throttled launch is at least what all agents come to, which the series before tried */
        if (memchr(p, '{', part) && c->agents_most && !c->q->quick)
            k->now = k->best;
        try_series(c, p + name + 1, part - name - 1, &k->now, row);
        if (!s) {
            k->first = k->now;
            cell_waves(c, &k->first, row);
        } else {
            note_best(k, p, name);
        }
        note_agents(c, &k->now, &row->v[s]);
        row->v[s].ours = config_value(c, &k->first, &k->now);
        row->speed[s] = cell_ns(&k->first) / cell_ns(&k->now);
        if (c->e->also && also + s < PAPER_SERIES)
            row->v[also + s].ours = cell_counter(&k->now, c->e->also);
        c->tick(c, (double)(s + 1) / (double)(n + 1));
        p += part + (p[part] == '|');
    }
    if (c->e->best && c->st == ST_OK && k->best_is) {
        row->v[n].ours = config_value(c, &k->first, &k->best);
        snprintf(row->v[n].at, sizeof row->v[n].at, "%.*s", (int)k->best_n, k->best_is);
    }
}

void paper_run_configs(struct paper_cell *c)
{
    struct configs *k = base_alloc(sizeof *k);
    struct paper_row *row = k ? cell_row(c) : NULL;
    if (!row || cell_open(c, false) != ST_OK || cell_bench(c) != ST_OK) {
        c->st = k ? c->st : ST_NOMEM;
        base_free(k);
        return;
    }
    if (c->e->by_class && !row->group[0])
        snprintf(row->group, sizeof row->group, "%s", ana_class_name(c->w.facts->cls));
    k->first = k->best = result_empty();
    k->best.status = ST_REFUSED;
    run_series(c, k, row);
    base_free(k);
}

/* ---- software cache ---- */
/* Over the original; a kernel that caches nothing runs the same instructions, and has no cost to show. */
static void softcache_cost(struct paper_cell *c, const char *options, const struct result *own,
                           struct result *r, struct paper_row *row, size_t at)
{
    if (cell_cancelled(c) || cell_try(c, options, r) == ST_NOMEM)
        return;
    double more = cell_counter(r, "inst.warp") / cell_counter(own, "inst.warp");
    if (more > 1) {
        row->v[at].ours = more;
        row->v[at + 1].ours = cell_ns(r) / cell_ns(own);
    }
    if (!row->note[0])
        snprintf(row->note, sizeof row->note, "%s", r->message[0] ? r->message : "caches nothing");
}

void paper_run_softcache(struct paper_cell *c)
{
    struct result *r = base_alloc(2 * sizeof *r);
    struct paper_row *row = r ? cell_row(c) : NULL;
    if (!row || cell_open(c, false) != ST_OK || cell_bench(c) != ST_OK) {
        c->st = r ? c->st : ST_NOMEM;
        base_free(r);
        return;
    }
    cell_try(c, "", &r[0]);
    softcache_cost(c, "--softcache dynamic --assume-restrict", &r[0], &r[1], row, 0);
    softcache_cost(c, "--softcache auto --assume-restrict", &r[0], &r[1], row, 2);
    base_free(r);
}
