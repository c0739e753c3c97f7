/* The first section of a page, as the workbench's first screen: what limits the kernel, on which lines, what
 * to try, what was gained. One for each text, kernel, launch and device whose original ran. */
#include "engine/base/name.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/gain.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/limits.h"
#include "engine/report/report.h"
#include "engine/search/tuner.h"
#include "engine/session/baseline.h"
#include "engine/session/run.h"
#include "engine/session/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELL = 160, BAR = 20, CAUSES = 5, LINES = 5 };
#define LEAST 0.005f /* of the time: what is shown as 0 % is not shown */

struct page {
    struct session *s;
    const struct run_originals *originals;
    const struct ptx_module *module;
    const struct report_writer *w;
    struct buf *out;
};

/* What gains are over: an original and the run that it is of, or, where none ran, a sweep's own base. */
struct base {
    const struct session_run *run;
    const struct result *x;
    const char *name;
};
/* What gained most over it. */
struct best {
    size_t run;
    double gain; /* 1: nothing gained */
    enum evidence evidence;
    struct buf options;
};

static void say(const struct page *p, struct buf *text)
{
    if (text->n)
        p->w->para(p->out, text->s);
    p->out->oom |= text->oom;
    buf_free(text);
}

static const char *bar(double share, char text[CELL])
{
    int n = (int)lround(share * BAR), at = 0;
    text[0] = '\0';
    for (int i = 0; i < n; i++)
        at += snprintf(text + at, (size_t)(CELL - at), "█");
    return text;
}

static void put_row(const struct page *p, const char *name, double share, long whole)
{
    char percent[16], text[CELL];
    snprintf(percent, sizeof percent, "%ld %%", whole);
    const char *cell[] = { name, percent, bar(share, text) };
    p->w->row(p->out, cell, ARRAY_LEN(cell), false, false);
}

static void put_limits(const struct page *p, const struct result *r)
{
    static const char *const head[] = { "what limits it", "share of the time", "" };
    const struct limits *l = result_limits(r);
    struct buf why = { 0 };
    double rest = 1;
    long left = 100;
    if (!l->valid) {
        buf_puts(&why, "What limits it is not told: this device does not count where the time goes.");
        say(p, &why);
        return;
    }
    limit_why(r, limits_first(l), &why);
    struct buf text = { 0 };
    buf_printf(&text, "What limits it: %s%s%s", limit_name(limits_first(l)), why.n ? ", " : "",
               why.n ? why.s : "");
    buf_free_checked(&why, p->out);
    say(p, &text);
    p->w->head(p->out, head, ARRAY_LEN(head));
    for (size_t i = 0; i < CAUSES && limits_nth(l, i) < LIMIT_COUNT; i++) {
        double share = (double)l->share[limits_nth(l, i)];
        long whole = lround(100 * share);
        put_row(p, limit_name(limits_nth(l, i)), share, whole < left ? whole : left);
        rest -= share;
        left -= whole < left ? whole : left;
    }
    if (left) /* together they are the whole launch */
        put_row(p, "all else", rest, left);
    p->w->tail(p->out);
}

/* "valley.cu:18"; "line 81" of the PTX text. */
static void place_name(const struct limits *l, const struct limit_place *at, char *text, size_t n)
{
    if (at->file)
        snprintf(text, n, "%s:%u", base_file_name(l->files[at->file - 1]), at->line);
    else
        snprintf(text, n, "line %u", at->line);
}

static bool stands_at(const struct page *p, const struct limit_place *at, uint32_t line)
{
    struct ptx_place user = ptx_user_place_at(p->module, line);
    return (at->file ? user.line : line) == at->line;
}

/* The first store to global memory of a place, else a line of the place. */
static uint32_t store_at(const struct page *p, const struct limit_place *at)
{
    for (uint32_t f = 0; p->module && f < p->module->nfuncs; f++)
        for (uint32_t i = 0; i < p->module->funcs[f]->ninsts; i++) {
            const struct ptx_inst *x = &p->module->funcs[f]->insts[i];
            if (ptx_is_plain_store(x) && x->space == PTX_SPACE_GLOBAL && stands_at(p, at, x->at.line))
                return x->at.line;
        }
    return at->ptx;
}

/* The loads of a place: the line of the heaviest, else of the place; sectors a request of all. */
static uint32_t heaviest(const struct page *p, const struct result *r, const struct limit_place *at,
                         double *per_request)
{
    uint64_t sectors = 0, requests = 0, most = 0;
    uint32_t line = at->ptx;
    for (uint32_t i = 0; p->module && i < result_nloads(r); i++) {
        const struct load_counts *c = &result_loads(r)[i];
        if (!stands_at(p, at, c->line))
            continue;
        sectors += c->sectors;
        requests += c->requests;
        line = c->sectors > most ? c->line : line;
        most = c->sectors > most ? c->sectors : most;
    }
    *per_request = requests ? (double)sectors / (double)requests : (double)NAN;
    return line;
}

/* An instruction without its tabs and what stands behind it. */
static void put_code(struct str s, char *code, size_t size)
{
    size_t n = 0;
    for (size_t k = 0; k < s.n && n + 1 < size && s.s[k] != ';'; k++)
        if (s.s[k] != ' ' && s.s[k] != '\t')
            code[n++] = s.s[k];
        else if (n && code[n - 1] != ' ')
            code[n++] = ' ';
    code[n] = '\0';
}

static void put_where(const struct page *p, const struct result *r)
{
    static const char *const head[] = { "where", "share of the time", "sectors a request", "PTX there" };
    struct limit_place v[LIMIT_POOL];
    size_t n = limits_lines(result_limits(r), v);
    if (!n)
        return;
    p->w->head(p->out, head, ARRAY_LEN(head));
    for (size_t i = 0; i < n && i < LINES && v[i].share >= LEAST; i++) {
        char name[CELL], percent[16], sectors[16] = "", code[CELL] = "";
        double per_request = NAN; /* of stores nothing is counted by line */
        uint32_t line = v[i].cause == LIMIT_COALESCING_STORE ? store_at(p, &v[i])
                                                             : heaviest(p, r, &v[i], &per_request);
        if (p->module)
            put_code(str_trim(ptx_line_text(p->module, line)), code, sizeof code);
        if (!isnan(per_request))
            snprintf(sectors, sizeof sectors, "%.3g", per_request);
        place_name(result_limits(r), &v[i], name, sizeof name);
        snprintf(percent, sizeof percent, "%.0f %%", 100 * (double)v[i].share);
        p->w->row(p->out, (const char *[]){ name, percent, sectors, code }, ARRAY_LEN(head), false,
                  false);
    }
    p->w->tail(p->out);
}

static void put_try(const struct page *p, const struct result *r)
{
    struct limit_try t = { NULL, NULL };
    struct buf text = { 0 };
    unsigned i = 0;
    while (result_limits(r)->valid &&
           limit_next_try(result_limits(r), limits_first(result_limits(r)), &i, &t))
        buf_printf(&text, "%s%s%s",
                   text.n ? "; " : "What to try next: ", t.edit ? "in the source: " : "",
                   t.edit ? t.edit : t.options);
    if (text.n)
        buf_puts(&text, ".");
    say(p, &text);
}

/* The best of the runs that are of the same text, kernel, launch and device; of a sweep's own base: of its
 * points. */
static struct best best_over(const struct page *p, const struct base *base, const struct cancel *cancel)
{
    struct best b = { .run = SIZE_MAX, .gain = 1 + ADVICE_LEAST };
    for (size_t i = 0; i < session_count(p->s) && !cancel_asked(cancel); i++) {
        const struct session_run *r = session_look(p->s, i);
        bool over = r && (base->x == base->run->one ? run_alike(r, base->run) : r == base->run);
        const struct result *x = over && !r->deleted ? session_run_recommended(r) : NULL;
        double gain = x ? run_gain(p->originals->run, p->originals->n, r, x) : (double)NAN;
        if (!isnan(gain) && equality_known(result_equal(x)) && gain > b.gain) {
            b.run = i;
            b.gain = gain;
            b.evidence = evidence_of(x);
            buf_clear(&b.options);
            options_line(result_options(x), &b.options);
        }
        if (r != base->run)
            session_rest(p->s, i);
    }
    return b;
}

static void put_gained(const struct page *p, const struct base *base, const struct best *b)
{
    struct buf text = { 0 };
    if (b->run == SIZE_MAX)
        buf_printf(&text, "What it has gained: nothing that ran beat %s by more than %.0f %%.",
                   base->name, 100 * ADVICE_LEAST);
    else
        buf_printf(&text, "What it has gained: %s over %s (run %zu, %s, outputs equal): %s",
                   gain_words(b->gain).s, base->name, b->run + 1, evidence_name(b->evidence),
                   b->options.s ? b->options.s : "");
    say(p, &text);
}

static void put_guessed(const struct page *p, const struct result *r)
{
    bool sampled = evidence_of(r) == EVIDENCE_SAMPLED;
    struct buf text = { 0 };
    if (!result_guessed(r) && !sampled)
        return;
    launch_guess_line("What is guessed: ", result_guessed(r), &text);
    if (sampled)
        buf_printf(&text, "%stimes are from a sample; --exact times all CTAs and turns.",
                   result_guessed(r) ? "Besides, " : "What is guessed: ");
    say(p, &text);
}

static void put_subject(const struct page *p, const struct base *base)
{
    const struct session_run *r = base->run;
    char label[PTX_LABEL];
    struct time_scale t = report_unit(r);
    struct buf text = { 0 };
    buf_printf(&text, "Summary of %s", ptx_label(r->kernel, label));
    p->w->heading(p->out, 2, text.s ? text.s : "");
    buf_clear(&text);
    buf_printf(&text, "%.*f %s (%s) by %s on %s (%s), grid %ux%ux%u, block %ux%ux%u.", t.decimals,
               (double)result_time(base->x)->median / t.ns, t.name, evidence_name(evidence_of(base->x)),
               base->name, r->dev.name, r->dev.spec, r->grid.x, r->grid.y, r->grid.z, r->block.x,
               r->block.y, r->block.z);
    say(p, &text);
}

static void put_summary(const struct page *p, const struct base *base, const struct cancel *cancel)
{
    struct best b = best_over(p, base, cancel);
    put_subject(p, base);
    put_limits(p, base->x);
    if (!base->run->earlier)
        put_where(p, base->x);
    put_try(p, base->x);
    put_gained(p, base, &b);
    put_guessed(p, base->x);
    buf_free_checked(&b.options, p->out);
}

void report_summary(struct session *s, const struct run_originals *originals, const struct ptx_module *m,
                    const struct report_writer *w, const struct cancel *cancel, struct buf *out)
{
    struct page p = { s, originals, m, w, out };
    bool any = false;
    for (size_t i = 0; i < originals->n && !cancel_asked(cancel); i++) {
        const struct session_run *r = originals->run[i];
        if (result_time(r->one)->valid)
            put_summary(&p, &(struct base){ r, r->one, "the original" }, cancel);
        any |= result_time(r->one)->valid;
    }
    for (size_t i = 0; i < session_count(s) && !any && !cancel_asked(cancel); i++) {
        const struct session_run *r = session_look(s, i);
        any = r && !r->deleted && r->kind == RUN_SWEEP && result_time(r->sweep.cha)->valid;
        if (any)
            put_summary(&p, &(struct base){ r, r->sweep.cha, "caching all" }, cancel);
        else
            session_rest(s, i);
    }
}
