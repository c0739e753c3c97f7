/* Two results side by side. A gain stands only between times of one evidence; a figure that one side does
 * not have is n/a. */
#include "engine/session/compare_doc.h"

#include "engine/ptx/ptx.h"
#include "engine/rec/change.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/counters.h"
#include "engine/rec/gain.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/limits.h"
#include "engine/rec/result_read.h"
#include "engine/session/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MOST 64
#define NAMED      0.02 /* of a counter, before text names its change */

/* Traffic of the loads of one line. */
struct line_traffic {
    uint32_t line;
    bool source;
    uint64_t sectors[2], requests[2]; /* old, now */
    bool has[2];
};

/* Times of old over now, at one evidence; NaN: they are not to be compared. */
static double compare_gain(const struct compared *c)
{
    return gain_of(c->old, c->now);
}

double compare_slower(const struct compared *c)
{
    return 100 * (gain_of(c->now, c->old) - 1);
}

/* ---- outputs ---- */

static const struct output_hash *output_named(const struct result *r, const char *name)
{
    for (uint32_t i = 0; i < result_noutputs(r); i++)
        if (strcmp(result_outputs(r)[i].name, name) == 0)
            return &result_outputs(r)[i];
    return NULL;
}

static enum equality outputs_equal(const struct compared *c)
{
    bool same = result_noutputs(c->old) == result_noutputs(c->now);
    if (result_part(c->old)->all_ctas || result_part(c->now)->all_ctas || !result_noutputs(c->old) ||
        !result_noutputs(c->now))
        return EQUAL_UNKNOWN;
    for (uint32_t i = 0; i < result_noutputs(c->old) && same; i++) {
        const struct output_hash *o = output_named(c->now, result_outputs(c->old)[i].name);
        same = o && o->hash == result_outputs(c->old)[i].hash;
    }
    return same ? EQUAL_YES : EQUAL_NO;
}

/* ---- lines ---- */

static struct line_traffic *line_at(struct line_traffic *v, size_t *n, uint32_t line, bool source)
{
    for (size_t i = 0; i < *n; i++)
        if (v[i].line == line && v[i].source == source)
            return &v[i];
    if (*n == LINES_MOST)
        return NULL;
    v[*n] = (struct line_traffic){ .line = line, .source = source };
    return &v[(*n)++];
}

static void add_lines(const struct result *r, const struct ptx_module *m, unsigned side,
                      struct line_traffic *v, size_t *n)
{
    for (uint32_t i = 0; i < result_nloads(r); i++) {
        struct ptx_place p = m ? ptx_user_place_at(m, result_loads(r)[i].line) : (struct ptx_place){ 0 };
        struct line_traffic *l = line_at(v, n, p.file ? p.line : result_loads(r)[i].line, p.file != 0);
        if (!l)
            continue;
        l->has[side] = true;
        l->sectors[side] += result_loads(r)[i].sectors;
        l->requests[side] += result_loads(r)[i].requests;
    }
}

static size_t lines_of(const struct compared *c, struct line_traffic v[LINES_MOST])
{
    size_t n = 0;
    add_lines(c->old, c->old_module, 0, v, &n);
    add_lines(c->now, c->now_module, 1, v, &n);
    return n;
}

/* ---- text ---- */

static void put_side(bool has, double v, const char *unit, struct buf *out)
{
    if (has)
        buf_printf(out, "%14.6g%s", v, unit);
    else
        buf_printf(out, "%14s", "n/a");
}

static void text_time(const struct compared *c, struct buf *out)
{
    double gain = compare_gain(c);
    buf_printf(out, "%s\n  time      ", c->name);
    put_side(result_time(c->old)->valid, (double)result_time(c->old)->median / 1e3, " µs", out);
    put_side(result_time(c->now)->valid, (double)result_time(c->now)->median / 1e3, " µs", out);
    if (isfinite(gain))
        buf_printf(out, "   %s %.2fx (%s)\n", gain >= 1 ? "faster" : "slower",
                   gain >= 1 ? gain : 1 / gain, evidence_name(evidence_of(c->now)));
    else
        buf_printf(out, "   not comparable (%s, %s)\n", evidence_name(evidence_of(c->old)),
                   evidence_name(evidence_of(c->now)));
}

static void text_why(const struct compared *c, struct buf *out)
{
    struct buf why = { 0 };
    change_words(c->old, c->now, &why);
    if (why.n)
        buf_printf(out, "  why       %s\n", why.s);
    buf_free(&why);
}

static void text_limits(const struct compared *c, struct buf *out)
{
    bool valid = result_limits(c->old)->valid && result_limits(c->now)->valid;
    for (unsigned k = 0; valid && k < LIMIT_COUNT; k++) {
        double a = (double)result_limits(c->old)->share[k], b = (double)result_limits(c->now)->share[k];
        if (fmax(a, b) < 0.05)
            continue;
        buf_printf(out, "  limit     %-17s %6.1f %% of the issue slots, now %.1f %%\n",
                   limit_name((enum limit_cause)k), 100 * a, 100 * b);
    }
    if (!valid)
        buf_puts(out, "  limit     n/a\n");
}

static void text_counters(const struct compared *c, struct buf *out)
{
    for (int i = 0; i < COUNTER_COUNT; i++) {
        const struct counter *a = &result_counters(c->old)[i], *b = &result_counters(c->now)[i];
        if ((!a->valid && !b->valid) ||
            (a->valid && b->valid && fabs(a->value - b->value) <= NAMED * fmax(a->value, b->value)))
            continue;
        buf_printf(out, "  %-22s", counter_name((enum counter_id)i));
        put_side(a->valid, a->value, "", out);
        put_side(b->valid, b->value, "", out);
        buf_printf(out, " %s\n", counter_unit((enum counter_id)i));
    }
}

static double moved_by(const struct line_traffic *l)
{
    return fabs((double)l->sectors[1] - (double)l->sectors[0]);
}

static bool line_changed(const struct line_traffic *l)
{
    uint64_t most = l->sectors[0] > l->sectors[1] ? l->sectors[0] : l->sectors[1];
    return l->has[0] != l->has[1] || moved_by(l) > NAMED * (double)most;
}

static int by_change(const void *a, const void *b)
{
    double x = moved_by(a), y = moved_by(b);
    return x > y ? -1 : x < y;
}

/* Lines whose traffic changed, what changed most first; how many others there are. */
static void text_lines(const struct compared *c, struct buf *out)
{
    struct line_traffic v[LINES_MOST];
    size_t all = lines_of(c, v), n = 0;
    for (size_t i = 0; i < all; i++)
        if (line_changed(&v[i]))
            v[n++] = v[i];
    qsort(v, n, sizeof *v, by_change);
    for (size_t i = 0; i < n; i++) {
        buf_printf(out, "  %s %-6u        ", v[i].source ? "line    " : "PTX line", v[i].line);
        put_side(v[i].has[0], (double)v[i].sectors[0], "", out);
        put_side(v[i].has[1], (double)v[i].sectors[1], "", out);
        buf_puts(out, " sectors of loads\n");
    }
    if (all > n)
        buf_printf(out, "  lines     %zu %swhose loads read as many sectors as before\n", all - n,
                   n ? "more " : "");
}

void compare_text(const struct compared *c, struct buf *out)
{
    static const char *const said[] = { [EQUAL_UNKNOWN] = "not compared",
                                        [EQUAL_YES] = "equal",
                                        [EQUAL_WITHIN] = "equal within the stated tolerance",
                                        [EQUAL_NO] = "DIFFERENT",
                                        [EQUAL_PART] = "not compared" };
    text_time(c, out);
    text_why(c, out);
    buf_printf(out, "  outputs   %s\n", said[outputs_equal(c)]);
    launch_guess_line("  guess     ", result_guessed(c->old) | result_guessed(c->now), out);
    text_limits(c, out);
    text_counters(c, out);
    text_lines(c, out);
}

/* ---- the document ---- */

static void num(struct jw *w, const char *key, bool has, double v)
{
    jw_key(w, key);
    jw_num(w, has ? v : (double)NAN);
}

static void put_result_of(struct jw *w, const char *key, const struct result *r)
{
    jw_key(w, key);
    jw_obj(w);
    num(w, "time_ns", result_time(r)->valid, (double)result_time(r)->median);
    jw_put_str(w, "evidence", result_time(r)->valid ? evidence_name(evidence_of(r)) : NULL);
    jw_put_str(w, "first_limit",
               result_limits(r)->valid ? limit_name(limits_first(result_limits(r))) : NULL);
    jw_end_obj(w);
}

static void put_limits_of(struct jw *w, const struct compared *c)
{
    bool valid = result_limits(c->old)->valid && result_limits(c->now)->valid;
    jw_key(w, "limits");
    if (!valid) {
        jw_null(w);
        return;
    }
    jw_arr(w);
    for (unsigned k = 0; k < LIMIT_COUNT; k++) {
        jw_obj(w);
        jw_put_str(w, "what", limit_name((enum limit_cause)k));
        num(w, "old", true, (double)result_limits(c->old)->share[k]);
        num(w, "new", true, (double)result_limits(c->now)->share[k]);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void put_counters_of(struct jw *w, const struct compared *c)
{
    jw_put_arr(w, "counters");
    for (int i = 0; i < COUNTER_COUNT; i++) {
        const struct counter *a = &result_counters(c->old)[i], *b = &result_counters(c->now)[i];
        jw_obj(w);
        jw_put_str(w, "name", counter_name((enum counter_id)i));
        jw_put_str(w, "unit", counter_unit((enum counter_id)i));
        num(w, "old", a->valid, a->value);
        num(w, "new", b->valid, b->value);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void put_lines_of(struct jw *w, const struct compared *c)
{
    struct line_traffic v[LINES_MOST];
    size_t n = lines_of(c, v);
    jw_put_arr(w, "lines");
    for (size_t i = 0; i < n; i++) {
        jw_obj(w);
        jw_put_uint(w, "line", v[i].line);
        jw_put_str(w, "of", v[i].source ? "source" : "ptx");
        num(w, "old_sectors", v[i].has[0], (double)v[i].sectors[0]);
        num(w, "new_sectors", v[i].has[1], (double)v[i].sectors[1]);
        num(w, "old_requests", v[i].has[0], (double)v[i].requests[0]);
        num(w, "new_requests", v[i].has[1], (double)v[i].requests[1]);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void put_kernel(struct jw *w, const struct compared *c)
{
    struct buf why = { 0 };
    enum equality same = outputs_equal(c);
    jw_obj(w);
    jw_put_str(w, "name", c->name);
    put_result_of(w, "old", c->old);
    put_result_of(w, "new", c->now);
    num(w, "gain", true, compare_gain(c));
    jw_put_str(w, "evidence", isfinite(compare_gain(c)) ? evidence_name(evidence_of(c->now)) : NULL);
    change_words(c->old, c->now, &why);
    jw_put_str(w, "why", why.n ? why.s : NULL);
    buf_free(&why);
    jw_key(w, "outputs_equal");
    if (same == EQUAL_UNKNOWN)
        jw_null(w);
    else
        jw_bool(w, same == EQUAL_YES);
    put_limits_of(w, c);
    put_counters_of(w, c);
    put_lines_of(w, c);
    jw_end_obj(w);
}

void json_compare(const struct compared *c, size_t n, const char *old_file, const char *new_file,
                  struct buf *out)
{
    struct jw w = document_open(out, "gpulocw-compare", 1);
    jw_put_str(&w, "old_file", old_file);
    jw_put_str(&w, "new_file", new_file);
    jw_put_arr(&w, "kernels");
    for (size_t i = 0; i < n; i++)
        put_kernel(&w, &c[i]);
    jw_end_arr(&w);
    document_close(&w);
}
