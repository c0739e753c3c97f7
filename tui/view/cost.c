/* cost: what the memory-cost model says of the present knobs before anything
 * is launched (schedule paper, section 5): the paper's sum with its parts, and
 * ours: one SM's warps in time, no less than five bounds. Always labelled modelled. */
#include "engine/predict/prediction.h"
#include "engine/rec/gain.h"
#include "engine/rec/knobs.h"
#include "engine/rec/result_read.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/app/results/run_line.h"
#include "tui/base/text.h"
#include "tui/view/search.h"
#include "tui/view/view.h"

#include <math.h>
#include <stdio.h>

/* Not known: instructions before a first run counted them, an original that was not predicted. */
static const char *cycles(struct app *a, double v)
{
    char t[TEXT_NUM];
    if (isnan(v))
        return "n/a";
    text_count(t, v);
    return arena_printf(a->frame, "%s", t);
}

static const struct tune_prediction *usable(const struct tune_prediction *p)
{
    return p && p->valid ? p : NULL;
}

/* Does the prediction belong to the options on the screen? */
static bool current(const struct app *a)
{
    return a->snap->cost && options_equal(a->snap->cost_of, a->options);
}

static const char *why_not(struct app *a)
{
    const struct tune_prediction *p = a->snap->cost;
    if (!a->snap->spec)
        return "modelled cost: needs a launch description";
    if (!current(a) && !a->snap->refusal)
        return "modelled cost: computing ...";
    return arena_printf(a->frame, "modelled cost: n/a%s%s", p && *p->why_not ? ": " : "",
                        p ? p->why_not : "");
}

/* "run 2 took 60.7 µs (whole), limited by issue": what runs with these options say; NULL: none ran. */
static const char *ran(struct app *a)
{
    size_t run = 0;
    char t[TEXT_NUM];
    const struct result *x = run_of_options(a, a->options, &run);
    if (!x)
        return NULL;
    text_time(t, (double)result_time(x)->median);
    return arena_printf(a->frame, "run %zu took %s (%s)%s%s", run + 1, t, evidence_name(evidence_of(x)),
                        result_limits(x)->valid ? ", limited by " : "",
                        result_limits(x)->valid ? limit_name(limits_first(result_limits(x))) : "");
}

void cost_brief(struct app *a, struct page *p, unsigned w)
{
    const struct tune_prediction *now = current(a) ? usable(a->snap->cost) : NULL,
                                 *old = usable(a->snap->cost_original);
    char t[TEXT_NUM];
    struct row r = { .arena = a->frame };
    if (!now) {
        page_wrap(a, p, ran(a) ? ROLE_NOTE : ROLE_DIM, 1, w - 1, ran(a) ? ran(a) : why_not(a), -1);
        return;
    }
    row_put(&r, ROLE_LABEL, " modelled cost");
    row_put(&r, ROLE_TITLE, "  %s cycles", cycles(a, now->cost.extended));
    text_time(t, now->time_ns);
    row_put(&r, ROLE_LABEL, " (%s),", t);
    if (ran(a))
        row_put(&r, ROLE_NOTE, " %s", ran(a));
    else
        row_put(&r, ROLE_NOTE, " limited by %s", tune_part_name(tune_part_binding(now)));
    if (old && !options_equal(a->snap->cost_of, options_none()))
        row_put(&r, ROLE_LABEL, "; original %s cycles", cycles(a, old->cost.extended));
    page_flow(a, p, &r, 3, w, -1);
}

/* One part: name, cycles, bar, the original's. */
static void put_part(struct app *a, struct page *p, const char *name, enum role role, double now,
                     double old, double whole, bool binds, unsigned w)
{
    struct row r = { .arena = a->frame };
    unsigned cols = w > 58 ? w - 52 > 40 ? 40 : w - 52 : 6;
    row_put(&r, ROLE_LABEL, "   %-18s", name);
    row_right(&r, role, 9, "%s", cycles(a, now));
    row_right(&r, ROLE_LABEL, 9, "%s", cycles(a, old));
    row_put(&r, ROLE_TEXT, "  ");
    row_bar(&r, role, cols, whole > 0 && !isnan(now) ? now / whole : 0);
    if (binds)
        row_put(&r, ROLE_TITLE, "  limits");
    page_add(a, p, &r, -1);
}

static void put_title(struct app *a, struct page *p, const char *title)
{
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_TITLE, " %-20s", title);
    row_right(&r, ROLE_LABEL, 9, "cycles");
    row_right(&r, ROLE_LABEL, 9, "original");
    page_add(a, p, &r, -1);
}

static void put_ours(struct app *a, struct page *p, const struct tune_prediction *now,
                     const struct tune_prediction *old, bool telling, unsigned w)
{
    size_t binds = telling ? tune_part_binding(now) : TUNE_PARTS;
    put_title(a, p, "the longest counts");
    put_part(a, p, "warps step by step", ROLE_TITLE, now->walked, old ? old->walked : NAN,
             now->cost.extended, false, w);
    for (size_t i = 0; i < TUNE_PARTS; i++)
        put_part(a, p, tune_part_name(i), i == binds ? ROLE_TITLE : ROLE_VALUE, tune_part(now, i),
                 old ? tune_part(old, i) : NAN, now->cost.extended, i == binds, w);
    const struct {
        const char *name;
        double now, old;
        enum role role;
    } wait[] = { { " latency from L1", now->cost.latency_l1, old ? old->cost.latency_l1 : NAN, ROLE_L1 },
                 { " latency from L2", now->cost.latency_l2, old ? old->cost.latency_l2 : NAN, ROLE_L2 },
                 { " latency from DRAM", now->cost.latency_dram, old ? old->cost.latency_dram : NAN,
                   ROLE_DRAM } };
    for (size_t i = 0; i < ARRAY_LEN(wait); i++)
        put_part(a, p, wait[i].name, wait[i].role, wait[i].now, wait[i].old, now->cost.extended, false,
                 w);
}

static void put_papers(struct app *a, struct page *p, const struct tune_prediction *now,
                       const struct tune_prediction *old, unsigned w)
{
    put_title(a, p, "every transaction's latency, added up");
    char g[TEXT_NUM];
    text_count(g, now->paper.loads);
    page_say(a, p, ROLE_LABEL, 3, w - 1,
             "%s line transactions of loads; L1 misses %.1f %%, L2 misses %.1f %%", g,
             now->paper.m1 * 100, now->paper.m2 * 100);
    put_part(a, p, "L1", ROLE_L1, now->cost.l1, old ? old->cost.l1 : NAN, now->cost.paper, false, w);
    put_part(a, p, "L2", ROLE_L2, now->cost.l2, old ? old->cost.l2 : NAN, now->cost.paper, false, w);
    put_part(a, p, "DRAM", ROLE_DRAM, now->cost.dram, old ? old->cost.dram : NAN, now->cost.paper, false,
             w);
    put_part(a, p, "sum", ROLE_TITLE, now->cost.paper, old ? old->cost.paper : NAN, now->cost.paper,
             false, w);
}

void cost_full(struct app *a, struct page *p, unsigned w)
{
    const struct tune_prediction *now = current(a) ? usable(a->snap->cost) : NULL,
                                 *old = usable(a->snap->cost_original);
    char req[TEXT_NUM], t[TEXT_NUM];
    if (!now) {
        page_wrap(a, p, ROLE_DIM, 1, w - 1, why_not(a), -1);
        return;
    }
    page_heading(a, p, "Memory cost of the current knobs: modelled, nothing was launched");
    if (ran(a))
        page_say(a, p, ROLE_NOTE, 3, w - 1, "%s: the run counts", ran(a));
    text_count(req, now->in.loads);
    text_time(t, now->time_ns);
    page_say(a, p, ROLE_LABEL, 3, w - 1,
             "%s line requests; %.1f %% of them miss L1, %.1f %% of those come from DRAM; "
             "%s at the device's clock",
             req, now->in.m1 * 100, now->in.m2 * 100, t);
    put_ours(a, p, now, old, !ran(a), w);
    put_papers(a, p, now, old, w);
    if (*now->note)
        page_wrap(a, p, ROLE_WARN, 3, w - 1, now->note, -1);
}
