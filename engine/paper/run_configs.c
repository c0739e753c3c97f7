/* Runners that launch configurations: curves, bars, named configurations. */
#include "engine/analysis/analysis.h"
#include "engine/paper/paper_int.h"
#include "engine/perfmodel/category.h"
#include "engine/rec/launch.h"
#include "engine/tune/tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void line_of(char *to, size_t n, const struct paper_cell *c, const char *pi)
{
    snprintf(to, n, "%s --pi %s%s", c->e->options, pi, c->demote ? " --readonly demote" : "");
}

/* Past L1, a kernel of .nc loads has no load to bypass until they are plain, as in the papers' source.
 */
static void settle_loads(struct paper_cell *c, struct result *r)
{
    char line[160];
    line_of(line, sizeof line, c, "bpa");
    if (cell_try(c, line, r) == ST_NOMEM || r->status == ST_OK || strstr(c->e->options, "ro"))
        return;
    c->demote = true;
    line_of(line, sizeof line, c, "bpa");
    cell_try(c, line, r);
    c->demote = r->status == ST_OK;
}

static enum status try_pi(struct paper_cell *c, const char *pi, struct result *r)
{
    char line[160];
    line_of(line, sizeof line, c, pi);
    return cell_try(c, line, r);
}

static void why_not(struct paper_row *row, const struct result *r)
{
    if (!row->note[0] && r->message[0] && cell_ns(r) != cell_ns(r))
        snprintf(row->note, sizeof row->note, "%s", r->message);
}

/* ---- curve ---- */
static struct paper_row *curve_row(struct paper_cell *c, const char *pi, double bpa, struct result *r)
{
    struct paper_row *row = cell_row(c);
    if (!row)
        return NULL;
    bool number = pi[0] >= '0' && pi[0] <= '9';
    snprintf(row->point, sizeof row->point, "%s%s", number ? "π=" : "", pi);
    row->v[0].ours = cell_ns(r) / (bpa > 0 ? bpa : cell_ns(r));
    row->v[1].ours = cell_counter(r, "l1.hit_rate");
    why_not(row, r);
    return row;
}

static void curve_facts(struct paper_cell *c, const struct model_point *p, uint32_t w, double bpa,
                        double cha)
{
    struct model_curve m = model_categorise(p, w + 1);
    double best = NAN;
    for (uint32_t i = 0; i <= w; i++)
        if (!(p[i].time >= best))
            best = p[i].time;
    for (uint32_t i = 0; i <= w; i++)
        if (p[i].time == best) {
            cell_fact(c, "best threshold", i);
            break;
        }
    cell_fact(c, "best over bypassing all", bpa / best);
    cell_fact(c, "best over caching all", cha / best);
    cell_fact(c, "overhead at no threshold (time of π=0 over bpa)", p[0].time / bpa);
    cell_fact(c, "overhead at the full threshold (time of π=W over cha)", p[w].time / cha);
    cell_fact_text(c, "category", model_category_name(m.category));
}

void paper_run_curve(struct paper_cell *c)
{
    static const char *const ends[] = { "bpa", "cha" };
    struct model_point p[65] = { { 0 } };
    struct result *r = base_alloc(sizeof *r);
    double end[2] = { NAN, NAN };
    if (!r || cell_open(c, true) != ST_OK || cell_bench(c) != ST_OK) {
        c->st = r ? c->st : ST_NOMEM;
        base_free(r);
        return;
    }
    uint32_t w = cell_warps(c), step = c->q->quick ? w / 2 + !w : 1;
    bool whole = w < 65;
    for (size_t i = 0; i < 2 && !cell_cancelled(c) && try_pi(c, ends[i], r) != ST_NOMEM; i++) {
        end[i] = cell_ns(r);
        curve_row(c, ends[i], end[0], r);
    }
    for (uint32_t i = 0; i <= w && whole && !cell_cancelled(c); i += step) {
        char pi[16];
        snprintf(pi, sizeof pi, "%u", i);
        if (try_pi(c, pi, r) == ST_NOMEM)
            break;
        curve_row(c, pi, end[0], r);
        double t = cell_ns(r);
        p[i] = (struct model_point){ i, t, t, t };
        whole = t == t;
        c->tick(c, (double)(i + 1) / (w + 1));
    }
    if (whole && step == 1 && !cell_cancelled(c) && c->st == ST_OK)
        curve_facts(c, p, w, end[0], end[1]);
    base_free(r);
}

/* ---- bars ---- */
enum { BAR_BPA, BAR_CHA, BAR_BYPASS, BAR_OPT, BAR_GAIN };

/* of bars: speed over bpa's, or energy over bpa's */
static double bar_of(const struct paper_cell *c, const struct result *bpa, const struct result *r)
{
    return c->e->measure == PAPER_ENERGY ? paper_energy(r) / paper_energy(bpa)
                                         : cell_ns(bpa) / cell_ns(r);
}

/* the fastest of the thresholds tried: *best */
static void best_threshold(struct paper_cell *c, struct result *best, struct paper_row *row)
{
    struct result *r = base_alloc(sizeof *r);
    uint32_t w = cell_warps(c), most = c->q->quick ? 2 : c->e->points ? c->e->points : w;
    uint32_t n = w > 0 && w - 1 < most ? w - 1 : most, last = 0, found = 0;
    if (!r)
        c->st = ST_NOMEM;
    for (uint32_t i = 1; r && i <= n && !cell_cancelled(c); i++) {
        uint32_t pi = (i * w + (n + 1) / 2) / (n + 1);
        char text[16];
        if (pi == last || pi == 0 || pi >= w)
            continue;
        last = pi;
        snprintf(text, sizeof text, "%u", pi);
        if (try_pi(c, text, r) == ST_NOMEM)
            break;
        if (!(cell_ns(r) >= cell_ns(best)) && cell_ns(r) == cell_ns(r)) {
            *best = *r;
            found = pi;
        }
        why_not(row, r);
        c->tick(c, (double)(i + 2) / (n + 3));
    }
    if (found && !row->note[0])
        snprintf(row->note, sizeof row->note, "best threshold tried: %u of %u", found, w);
    base_free(r);
}

static void fill_bars(struct paper_cell *c, struct paper_row *row, const struct result *r)
{
    const struct result *opt = &r[BAR_BPA];
    for (int i = 0; i < BAR_OPT; i++) {
        row->v[i].ours = bar_of(c, &r[BAR_BPA], &r[i]);
        if (cell_ns(&r[i]) < cell_ns(opt))
            opt = &r[i];
    }
    row->v[BAR_OPT].ours = bar_of(c, &r[BAR_BPA], opt);
    row->v[BAR_GAIN].ours = row->v[BAR_OPT].ours / row->v[BAR_CHA].ours;
}

void paper_run_bars(struct paper_cell *c)
{
    struct result *r = base_alloc(3 * sizeof *r);
    struct paper_row *row = r ? cell_row(c) : NULL;
    if (!row || cell_open(c, true) != ST_OK || cell_bench(c) != ST_OK) {
        c->st = r ? c->st : ST_NOMEM;
        base_free(r);
        return;
    }
    r[BAR_BYPASS] = result_empty();
    r[BAR_BYPASS].status = ST_REFUSED;
    settle_loads(c, &r[BAR_BPA]);
    if (!cell_cancelled(c))
        try_pi(c, "cha", &r[BAR_CHA]);
    why_not(row, &r[BAR_BPA]);
    why_not(row, &r[BAR_CHA]);
    if (cell_ns(&r[BAR_BPA]) == cell_ns(&r[BAR_BPA]))
        best_threshold(c, &r[BAR_BYPASS], row);
    fill_bars(c, row, r);
    base_free(r);
}

/* ---- named configurations ---- */
/* One series' options: %I put in, alternative `which` of {a/b/c} chosen. False: there are not so many.
 */
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
    case PAPER_ENERGY: return paper_energy(r) / paper_energy(first);
    case PAPER_TIME: break;
    }
    return cell_ns(first) / cell_ns(r);
}

/* The fastest alternative of one series. */
static void try_series(struct paper_cell *c, const char *text, size_t n, struct result *best,
                       struct paper_row *row)
{
    struct result *r = base_alloc(sizeof *r);
    struct buf line = { 0 };
    *best = result_empty();
    best->status = ST_REFUSED;
    for (unsigned k = 0; r && k < (c->q->quick ? 2u : 16u) && !cell_cancelled(c); k++) {
        if (!options_of(c, text, n, k, &line))
            break;
        if (cell_try(c, line.s ? line.s : "", r) == ST_NOMEM)
            break;
        if (k == 0 || (cell_ns(r) == cell_ns(r) && !(cell_ns(r) >= cell_ns(best))))
            *best = *r;
        why_not(row, r);
        if (!memchr(text, '{', n))
            break;
    }
    if (!r || line.oom)
        c->st = ST_NOMEM;
    buf_free(&line);
    base_free(r);
}

void paper_run_configs(struct paper_cell *c)
{
    struct result *r = base_alloc(3 * sizeof *r), *first = r, *now = r + 1, *best = r + 2;
    struct paper_row *row = r ? cell_row(c) : NULL;
    size_t s = 0;
    if (!row || cell_open(c, false) != ST_OK || cell_bench(c) != ST_OK) {
        c->st = r ? c->st : ST_NOMEM;
        base_free(r);
        return;
    }
    if (c->e->by_class && !row->group[0])
        snprintf(row->group, sizeof row->group, "%s", ana_class_name(c->w.facts->cls));
    for (const char *p = c->e->series; *p && s < PAPER_SERIES - 1 && c->st == ST_OK; s++) {
        size_t part = strcspn(p, "|"), name = strcspn(p, "=") + 1;
        try_series(c, p + name, part - name, s ? now : first, row);
        if (!s)
            *best = *first;
        else if (cell_ns(now) < cell_ns(best))
            *best = *now;
        row->v[s].ours = config_value(c, first, s ? now : first);
        c->tick(c, (double)(s + 1) / 5);
        p += part + (p[part] == '|');
    }
    if (c->e->best && c->st == ST_OK)
        row->v[s].ours = config_value(c, first, best);
    base_free(r);
}

/* ---- software cache ---- */
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
    if (!cell_cancelled(c))
        cell_try(c, "--softcache auto --assume-restrict", &r[1]);
    row->v[0].ours = cell_counter(&r[1], "inst.warp") / cell_counter(&r[0], "inst.warp");
    row->v[1].ours = cell_ns(&r[1]) / cell_ns(&r[0]);
    if (r[1].message[0])
        snprintf(row->note, sizeof row->note, "%s", r[1].message);
    base_free(r);
}
