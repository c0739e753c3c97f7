/* What limits a launch, as text and in documents. */
#include "engine/session/limits_doc.h"

#include "engine/base/base.h"
#include "engine/base/name.h"
#include "engine/rec/gain.h"
#include "engine/rec/limits.h"
#include "engine/rec/result_read.h"
#include "engine/session/session_int.h"

#include <stdio.h>
#include <string.h>

static const char *file_of(const struct limits *l, const struct limit_place *p)
{
    return p->file ? l->files[p->file - 1] : NULL;
}

/* ---- writing ---- */

#define LEAST_PLACE 0.001f
static void put_where(struct jw *w, const struct limits *l, enum limit_cause c)
{
    const struct limit_place *p;
    jw_put_arr(w, "where");
    for (unsigned k = 0; (p = limits_place(l, c, k)) && p->share >= LEAST_PLACE; k++) {
        jw_obj(w);
        jw_put_str(w, "file", file_of(l, p));
        jw_put_uint(w, "line", p->line);
        jw_put_uint(w, "ptx_line", p->ptx);
        jw_put_num(w, "share", (double)p->share);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

/* What it gains is known when it has run. */
static void put_tries(struct jw *w, const struct result *r, enum limit_cause c)
{
    struct limit_try t;
    jw_put_arr(w, "try");
    for (unsigned i = 0;
         result_limits(r)->share[c] >= LIMIT_LEAST && limit_next_try(result_limits(r), c, &i, &t);) {
        jw_obj(w);
        jw_put_str(w, "options", t.options);
        jw_put_str(w, "edit", t.edit);
        jw_put_null(w, "low"); /* nothing is known before a run */
        jw_put_null(w, "high");
        jw_put_str(w, "evidence", t.edit ? evidence_name(evidence_of(r)) : NULL);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void put_limit(struct jw *w, const struct result *r, enum limit_cause c)
{
    struct buf why = { 0 };
    int pretty = w->pretty;
    jw_obj(w);
    w->pretty = 0; /* on one line: a session holds hundreds */
    jw_put_str(w, "what", limit_name(c));
    jw_put_num(w, "share", (double)result_limits(r)->share[c]);
    jw_put_str(w, "evidence", evidence_name(evidence_of(r)));
    put_where(w, result_limits(r), c);
    limit_why(r, c, &why);
    jw_put_str(w, "why", why.s ? why.s : "");
    buf_free(&why);
    put_tries(w, r, c);
    jw_end_obj(w);
    w->pretty = pretty;
}

static void put_facts(struct jw *w, const struct limit_facts *f)
{
    int pretty = w->pretty;
    jw_put_obj(w, "filled");
    w->pretty = 0;
    members_write(w, record_members("filled"), f);
    jw_end_obj(w);
    w->pretty = pretty;
}

void json_limits(struct jw *w, const struct result *r)
{
    jw_key(w, "limits");
    if (!r || !result_limits(r)->valid) {
        jw_null(w);
        jw_put_null(w, "filled");
        return;
    }
    jw_arr(w);
    for (size_t i = 0; i < LIMIT_COUNT; i++) {
        enum limit_cause c = limits_order(result_limits(r), i);
        if (result_limits(r)->share[c] > 0)
            put_limit(w, r, c);
    }
    jw_end_arr(w);
    put_facts(w, &result_limits(r)->facts);
}

/* ---- reading ---- */

static double number(const cJSON *o, const char *key)
{
    const cJSON *v = json_get(o, key);
    return cJSON_IsNumber(v) ? v->valuedouble : 0;
}

static uint32_t whole(const cJSON *o, const char *key)
{
    double v = number(o, key);
    return v >= 0 && v <= UINT32_MAX ? (uint32_t)v : 0;
}

static void get_where(const cJSON *list, struct limits *l, enum limit_cause c)
{
    const cJSON *o;
    cJSON_ArrayForEach(o, list)
        limits_add_place(l, (struct limit_place){ .line = whole(o, "line"),
                                                  .ptx = whole(o, "ptx_line"),
                                                  .file = limits_file(l, str_of(json_text(o, "file"))),
                                                  .cause = (uint8_t)c,
                                                  .share = (float)number(o, "share") });
}

/* Edits that are not those of any kernel. */
static void get_edits(const cJSON *list, struct limits *l, enum limit_cause c)
{
    const cJSON *o;
    struct limit_try t = { 0 };
    unsigned i = 0, k = 0;
    while (limit_next_try(l, c, &i, &t) && !t.edit)
        ;
    cJSON_ArrayForEach(o, list)
    {
        const char *edit = json_text(o, "edit");
        while (k < LIMIT_EDITS && l->edit[k].text[0])
            k++;
        if (!edit || k == LIMIT_EDITS || (t.edit && strcmp(edit, t.edit) == 0))
            continue;
        l->edit[k].cause = (uint8_t)c;
        snprintf(l->edit[k].text, sizeof l->edit[k].text, "%s", edit);
    }
}

void get_limits(const cJSON *o, struct limits *out)
{
    const cJSON *v;
    enum limit_cause c;
    *out = (struct limits){ .valid = cJSON_IsArray(json_get(o, "limits")) };
    cJSON_ArrayForEach(v, json_get(o, "limits")) if (limit_named(json_text(v, "what"), &c))
    {
        out->share[c] = (float)number(v, "share");
        get_where(json_get(v, "where"), out, c);
        get_edits(json_get(v, "try"), out, c);
    }
    limits_sort(out);
    if (out->valid)
        members_read(json_get(o, "filled"), record_members("filled"), &out->facts, "filled", NULL);
}

/* ---- text ---- */

/* "gemm.cu:12", or "line 12" of the PTX text. */
static void limits_place_text(const struct limits *l, const struct limit_place *p, struct buf *out)
{
    const char *name = file_of(l, p);
    if (name)
        buf_printf(out, "%s:%u", base_file_name(name), p->line);
    else
        buf_printf(out, "line %u", p->line);
}

static void put_line(const struct result *r, enum limit_cause c, struct buf *out)
{
    const struct limit_place *p;
    buf_printf(out, "  %5.1f %%  %-17s", 100 * (double)result_limits(r)->share[c], limit_name(c));
    for (unsigned k = 0; k < 2 && (p = limits_place(result_limits(r), c, k)) && p->share >= LIMIT_LEAST;
         k++) {
        buf_puts(out, k ? ", " : "  ");
        limits_place_text(result_limits(r), p, out);
        buf_printf(out, " (%.0f %%)", 100 * (double)p->share);
    }
    buf_puts(out, "\n");
}

void limits_first_text(const struct result *r, struct buf *out)
{
    enum limit_cause first = limits_first(result_limits(r));
    buf_printf(out, "%s, %.0f %% of the issue slots (%s)", limit_name(first),
               100 * (double)result_limits(r)->share[first], evidence_name(evidence_of(r)));
}

void limits_text(const struct result *r, struct buf *out)
{
    struct limit_try t;
    if (!result_limits(r)->valid) {
        buf_puts(out, result_time(r)->valid && result_time(r)->origin == ORIGIN_MEASURED
                          ? "n/a: counters of the GPU were not read, or do not tell (gpulocw devices "
                            "--counters)\n"
                          : "n/a: a launch that was timed knows\n");
        return;
    }
    enum limit_cause first = limits_first(result_limits(r));
    limits_first_text(r, out);
    buf_puts(out, "\n");
    for (size_t i = 0; i < LIMITS_SHOWN && limits_nth(result_limits(r), i) < LIMIT_COUNT; i++)
        put_line(r, limits_nth(result_limits(r), i), out);
    buf_puts(out, "  ");
    limit_why(r, first, out);
    buf_puts(out, "\n");
    for (unsigned i = 0; limit_next_try(result_limits(r), first, &i, &t);)
        if (t.edit)
            buf_printf(out, "  try: %s\n", t.edit);
    for (unsigned k = 0; k < LIMIT_EDITS; k++)
        if (result_limits(r)->edit[k].text[0] && result_limits(r)->edit[k].cause != first)
            buf_printf(out, "  and: %s (%s)\n", result_limits(r)->edit[k].text,
                       limit_name((enum limit_cause)result_limits(r)->edit[k].cause));
}
