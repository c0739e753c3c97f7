/* check: the small language of a lesson's checks; see lesson_run.h. */
#include "engine/rec/counter_ids.h"
#include "engine/rec/knobs.h"
#include "engine/rec/result_read.h"
#include "engine/search/found.h"
#include "engine/session/run.h"
#include "engine/session/session.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/control/lesson_run.h"
#include "tui/view/view.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a name stands for: a number, a word, or nothing yet. */
struct fact {
    enum { FACT_UNKNOWN, FACT_NONE, FACT_NUMBER, FACT_WORD } kind;
    double number;
    char word[64];
};

static struct fact number(double v)
{
    return (struct fact){ .kind = isnan(v) ? FACT_NONE : FACT_NUMBER, .number = v };
}

static struct fact word_fact(const char *s)
{
    struct fact f = { .kind = s ? FACT_WORD : FACT_NONE };
    char *end;
    if (!s)
        return f;
    snprintf(f.word, sizeof f.word, "%s", s);
    double v = strtod(s, &end);
    if (end != s && !*end)
        f = number(v);
    return f;
}

static const struct session_run *last_sweep(const struct app *a)
{
    size_t i = app_last_run(a, RUN_SWEEP);
    return i == SIZE_MAX || i < a->lesson.runs_before ? NULL : app_run(a, i);
}

/* The last finished result, and the cha it can be compared with. */
static const struct result *last_result(const struct app *a, const struct result **cha)
{
    const struct session_run *s = last_sweep(a);
    size_t i = app_last_run(a, -1);
    *cha = s ? s->sweep.cha : NULL;
    if (i == SIZE_MAX || i < a->lesson.runs_before)
        return NULL;
    const struct session_run *r = app_run(a, i);
    if (r->kind == RUN_ONE)
        return r->one;
    if (r->kind == RUN_TUNE)
        return r->found->best;
    size_t best = valley_best(&r->sweep);
    return best == SIZE_MAX ? NULL : result_at(r->sweep.points, best);
}

static struct fact knob_fact(const struct options *o, struct str name)
{
    int k = knob_find(name);
    struct buf v = { 0 };
    if (k < 0)
        return (struct fact){ .kind = FACT_UNKNOWN };
    knob_get(o, (size_t)k, &v);
    struct fact f = word_fact(v.s ? v.s : "");
    buf_free(&v);
    return f;
}

static struct fact result_fact(const struct app *a, struct str name)
{
    const struct result *cha, *r = last_result(a, &cha);
    double t = r && result_time(r)->valid ? (double)result_time(r)->median : NAN;
    for (int c = 0; c < COUNTER_COUNT; c++)
        if (str_is(name, counter_name((enum counter_id)c)))
            return number(result_counter(r, (size_t)c));
    if (str_is(name, "time_ms"))
        return number(t / 1e6);
    if (str_is(name, "speedup"))
        return number(gain_of(cha, r));
    if (str_is(name, "equal"))
        return number(!r || !equality_known(result_equal(r)) ? NAN : result_equal(r) != EQUAL_NO);
    return (struct fact){ .kind = FACT_UNKNOWN };
}

static double count_runs(const struct app *a, int kind)
{
    unsigned n = 0;
    for (size_t i = a->lesson.runs_before; i < a->snap->nruns; i++) {
        const struct session_run *r = app_run(a, i);
        bool finished = r && (r->kind != RUN_SWEEP || r->sweep.complete);
        n += finished && !r->deleted && !r->aside && (kind < 0 || (int)r->kind == kind);
    }
    return n;
}

static struct fact kernel_fact(const struct app *a, struct str name)
{
    const struct ana_kernel *k = a->snap->facts;
    if (str_is(name, "degree"))
        return number(k && k->coalesce.valid ? k->coalesce.degree * 100 : NAN);
    if (str_is(name, "expected"))
        return number(k && k->coalesce.valid ? k->coalesce.expected : NAN);
    if (str_is(name, "sectors"))
        return number(k && k->exact.valid ? k->exact.sectors_per_request : NAN);
    if (str_is(name, "class"))
        return word_fact(k ? ana_class_name(k->cls) : NULL);
    if (str_is(name, "kernel"))
        return word_fact(a->snap->kernel);
    if (str_is(name, "device"))
        return word_fact(a->snap->has_dev ? a->snap->dev.spec : NULL);
    return (struct fact){ .kind = FACT_UNKNOWN };
}

/* Does a sweep's axis ("pi,carveout=0/100") go over this knob? */
static bool axis_has(const char *axis, struct str knob)
{
    for (const char *s = axis; s && *s;) {
        size_t word = strcspn(s, "=,"), whole = strcspn(s, ",");
        if (str_eq(knob, (struct str){ s, word }))
            return true;
        s += whole + (s[whole] == ',');
    }
    return false;
}

/* In a check that asks for a run: knobs, device, kernel and axis are those of the run that came last. */
static struct fact run_fact(const struct app *a, struct str name)
{
    const struct session_run *sweep = last_sweep(a);
    const struct result *cha, *x = last_result(a, &cha);
    size_t i = app_last_run(a, -1);
    const struct session_run *r = i == SIZE_MAX || i < a->lesson.runs_before ? NULL : app_run(a, i);
    if (str_is(name, "axis"))
        return word_fact(sweep ? sweep->sweep.axis : NULL);
    if (str_is(name, "kernel"))
        return word_fact(r ? r->kernel : NULL);
    if (str_is(name, "device"))
        return word_fact(r ? r->dev.spec : NULL);
    if (knob_find(name) < 0)
        return (struct fact){ .kind = FACT_UNKNOWN };
    return x ? knob_fact(result_options(x), name) : (struct fact){ .kind = FACT_NONE };
}

/* Is it something that only a run can make true? */
static bool about_runs(struct str name)
{
    static const char *const words[] = { "runs", "sweeps", "tunes", "time_ms", "speedup", "equal" };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_is(name, words[i]))
            return true;
    for (int c = 0; c < COUNTER_COUNT; c++)
        if (str_is(name, counter_name((enum counter_id)c)))
            return true;
    return false;
}

static struct fact fact_of(const struct app *a, struct str name, bool of_run)
{
    const struct session_run *s = last_sweep(a);
    struct fact ran = of_run ? run_fact(a, name) : (struct fact){ .kind = FACT_UNKNOWN };
    if (ran.kind != FACT_UNKNOWN)
        return ran;
    if (str_is(name, "runs"))
        return number(count_runs(a, -1));
    if (str_is(name, "sweeps"))
        return number(count_runs(a, RUN_SWEEP));
    if (str_is(name, "tunes"))
        return number(count_runs(a, RUN_TUNE));
    if (str_is(name, "panel"))
        return word_fact(panel_info(a->focus)->name);
    if (str_is(name, "axis"))
        return word_fact(a->valley.axis);
    if (str_is(name, "metric"))
        return word_fact(plot_metric_word(a->valley.metric));
    if (str_is(name, "overlay"))
        return number(a->valley.overlay != SIZE_MAX || a->valley.other);
    if (str_is(name, "category"))
        return word_fact(s && s->sweep.complete ? model_category_name(s->sweep.curve.category) : NULL);
    if (name.n > 5 && !memcmp(name.s, "best.", 5)) {
        size_t b = s ? valley_best(&s->sweep) : SIZE_MAX;
        struct str knob = { name.s + 5, name.n - 5 };
        if (b == SIZE_MAX || (knob_find(knob) >= 0 && !axis_has(s->sweep.axis, knob)))
            return (struct fact){ .kind = knob_find(knob) < 0 ? FACT_UNKNOWN : FACT_NONE };
        return knob_fact(result_options(result_at(s->sweep.points, b)), knob);
    }
    struct fact f = kernel_fact(a, name);
    if (f.kind == FACT_UNKNOWN)
        f = result_fact(a, name);
    return f.kind == FACT_UNKNOWN ? knob_fact(a->options, name) : f;
}

/* ---- the language ---- */
struct check {
    const struct app *a;
    struct str rest;
    struct str bad;
    struct buf *unmet; /* NULL, or what the first comparison lacks */
    bool of_run;       /* something in it asks for a run */
};

static struct str token(struct check *c)
{
    struct str *s = &c->rest;
    while (s->n && isspace((unsigned char)*s->s))
        s->s++, s->n--;
    struct str t = { s->s, 0 };
    bool op = s->n && strchr("<>=!", *s->s);
    while (t.n < s->n && !isspace((unsigned char)t.s[t.n]) && (strchr("<>=!", t.s[t.n]) != NULL) == op)
        t.n++;
    s->s += t.n, s->n -= t.n;
    return t;
}

static bool compare(double x, double y, struct str op, bool *known)
{
    *known = true;
    if (str_is(op, "<"))
        return x < y;
    if (str_is(op, "<="))
        return x <= y;
    if (str_is(op, ">"))
        return x > y;
    if (str_is(op, ">="))
        return x >= y;
    if (str_is(op, "=="))
        return x == y;
    *known = str_is(op, "!=");
    return x != y;
}

/* Says what a check lacks: in words for what counts runs or names a panel, else the fact and its value.
 */
static void put_missed(struct buf *b, struct str name, const struct fact *f, struct str op,
                       struct str value, bool of_run)
{
    static const char *const counts[][2] = { { "runs", "run" },
                                             { "sweeps", "sweep" },
                                             { "tunes", "search" } };
    static const char *const ops[][2] = { { "<", "below" }, { "<=", "at most" },
                                          { ">", "above" }, { ">=", "at least" },
                                          { "==", "" },     { "!=", "anything but" } };
    const char *word = "";
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        if (str_is(name, counts[i][0]) && f->kind == FACT_NUMBER && f->number == 0) {
            buf_printf(b, "no %s so far", counts[i][1]);
            return;
        }
    if (str_is(name, "panel")) {
        buf_printf(b, "the %.*s panel is not in front", (int)value.n, value.s);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        if (str_is(op, ops[i][0]))
            word = ops[i][1];
    bool ran = of_run && !about_runs(name) && knob_find(name) >= 0;
    if (ran && f->kind == FACT_NONE) {
        buf_puts(b, "no run so far");
        return;
    }
    buf_printf(b, "%.*s %s ", (int)name.n, name.s, ran ? "in the last run was" : "is");
    if (f->kind == FACT_NUMBER)
        buf_printf(b, "%.4g", f->number);
    else
        buf_puts(b, f->kind == FACT_WORD ? f->word : "not known yet");
    buf_printf(b, ", it should be %s%s%.*s", word, *word ? " " : "", (int)value.n, value.s);
}

static enum check_result missed(struct check *c, struct str name, const struct fact *f, struct str op,
                                struct str value)
{
    struct buf *b = c->unmet;
    if (!b || b->n)
        return CHECK_NO;
    put_missed(b, name, f, op, value, c->of_run);
    return CHECK_NO;
}

static enum check_result comparison(struct check *c)
{
    struct str name = token(c), op = token(c), value = token(c);
    struct fact left = fact_of(c->a, name, c->of_run);
    char text[64];
    bool known;
    if (!name.n || left.kind == FACT_UNKNOWN) {
        c->bad = name;
        return CHECK_BAD;
    }
    compare(0, 0, op, &known);
    if (!known || !value.n) {
        c->bad = known ? name : op;
        return CHECK_BAD;
    }
    if (left.kind == FACT_NONE)
        return missed(c, name, &left, op, value);
    snprintf(text, sizeof text, "%.*s", (int)value.n, value.s);
    struct fact right = strncmp(text, "best.", 5) ? word_fact(text) : fact_of(c->a, value, c->of_run);
    if (left.kind == FACT_NUMBER && right.kind == FACT_NUMBER)
        return compare(left.number, right.number, op, &known) ? CHECK_YES
                                                              : missed(c, name, &left, op, value);
    bool same = left.kind == right.kind && !strcmp(left.word, right.word);
    return str_is(op, same ? "==" : "!=") ? CHECK_YES : missed(c, name, &left, op, value);
}

enum check_result check_eval(const struct app *a, const char *text, struct str *bad, struct buf *unmet)
{
    struct check c = { .a = a, .rest = str_of(text), .unmet = unmet };
    for (struct str t = token(&c); t.n; t = token(&c))
        c.of_run = c.of_run || about_runs(t);
    c.rest = str_of(text);
    bool any = false, all = true;
    for (;;) {
        enum check_result r = comparison(&c);
        struct str join = r == CHECK_BAD ? c.bad : token(&c);
        if (r == CHECK_BAD || (join.n && !str_is(join, "and") && !str_is(join, "or"))) {
            if (bad)
                *bad = join;
            return CHECK_BAD;
        }
        all = all && r == CHECK_YES;
        if (str_is(join, "and"))
            continue;
        any = any || all;
        all = true;
        if (!join.n)
            return any ? CHECK_YES : CHECK_NO;
    }
}
