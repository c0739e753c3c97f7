/* What limits a launch, as text and in documents. */
#include "engine/session/limits_doc.h"

#include "engine/base/base.h"
#include "engine/rec/device.h"
#include "engine/rec/limits.h"
#include "engine/rec/result.h"
#include "engine/session/session_int.h"

#include <math.h>
#include <string.h>

static const char *file_of(const struct limits *l, const struct limit_place *p)
{
    return p->file ? l->files[p->file - 1] : NULL;
}

/* ---- writing ---- */

static void num(struct jw *w, const char *key, double v)
{
    jw_key(w, key);
    jw_num(w, v);
}

static void count(struct jw *w, const char *key, uint64_t n)
{
    jw_key(w, key);
    jw_uint(w, n);
}

#define LEAST_PLACE 0.001f
static void put_where(struct jw *w, const struct limits *l, enum limit_cause c)
{
    const struct limit_place *p;
    jw_key(w, "where");
    jw_arr(w);
    for (unsigned k = 0; (p = limits_place(l, c, k)) && p->share >= LEAST_PLACE; k++) {
        jw_obj(w);
        jw_key(w, "file");
        jw_str(w, file_of(l, p));
        count(w, "line", p->line);
        count(w, "ptx_line", p->ptx);
        num(w, "share", (double)p->share);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

/* What an option gains is known when it has run. */
static void put_tries(struct jw *w, const struct result *r, enum limit_cause c)
{
    struct limit_try t;
    jw_key(w, "try");
    jw_arr(w);
    for (unsigned i = 0; r->limits.share[c] >= LIMIT_LEAST && limit_next_try(c, &i, &t);) {
        jw_obj(w);
        jw_key(w, "options");
        jw_str(w, t.options);
        jw_key(w, "edit");
        jw_str(w, t.edit);
        num(w, "low", t.edit ? 1 : (double)NAN);
        num(w, "high", t.edit ? limit_gain(&r->limits, c) : (double)NAN);
        jw_key(w, "evidence");
        jw_str(w, t.edit ? limits_evidence(r) : NULL);
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
    jw_key(w, "what");
    jw_str(w, limit_name(c));
    num(w, "share", (double)r->limits.share[c]);
    jw_key(w, "evidence");
    jw_str(w, limits_evidence(r));
    put_where(w, &r->limits, c);
    limit_why(r, c, &why);
    jw_key(w, "why");
    jw_str(w, why.s ? why.s : "");
    buf_free(&why);
    put_tries(w, r, c);
    jw_end_obj(w);
    w->pretty = pretty;
}

static void put_facts(struct jw *w, const struct limit_facts *f)
{
    int pretty = w->pretty;
    jw_key(w, "filled");
    jw_obj(w);
    w->pretty = 0;
    num(w, "ctas", f->ctas);
    count(w, "cta_threads", f->cta_threads);
    num(w, "sms", (double)f->sms);
    num(w, "sms_used", (double)f->used);
    num(w, "warps_most", (double)f->warps_most);
    num(w, "warps_room", (double)f->warps_room);
    num(w, "warps_held", (double)f->warps_held);
    jw_key(w, "held_by");
    jw_str(w, dev_limit_name((enum dev_limit)f->held_by));
    jw_end_obj(w);
    w->pretty = pretty;
}

void json_limits(struct jw *w, const struct result *r)
{
    jw_key(w, "limits");
    if (!r->limits.valid) {
        jw_null(w);
        jw_key(w, "filled");
        jw_null(w);
        return;
    }
    jw_arr(w);
    for (size_t i = 0; i < LIMIT_COUNT; i++) {
        enum limit_cause c = limits_order(&r->limits, i);
        if (r->limits.share[c] > 0)
            put_limit(w, r, c);
    }
    jw_end_arr(w);
    put_facts(w, &r->limits.facts);
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

static void get_facts(const cJSON *o, struct limit_facts *f)
{
    const char *held = json_text(o, "held_by");
    f->ctas = number(o, "ctas");
    f->cta_threads = whole(o, "cta_threads");
    f->sms = (float)number(o, "sms");
    f->used = (float)number(o, "sms_used");
    f->warps_most = (float)number(o, "warps_most");
    f->warps_room = (float)number(o, "warps_room");
    f->warps_held = (float)number(o, "warps_held");
    for (unsigned k = 0; held && k < DEV_LIMITS; k++)
        if (strcmp(dev_limit_name((enum dev_limit)k), held) == 0)
            f->held_by = k;
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
    }
    limits_sort(out);
    if (out->valid)
        get_facts(json_get(o, "filled"), &out->facts);
}

/* ---- text ---- */

void limits_place_text(const struct limits *l, const struct limit_place *p, struct buf *out)
{
    const char *name = file_of(l, p), *slash = name ? strrchr(name, '/') : NULL;
    if (name)
        buf_printf(out, "%s:%u", slash ? slash + 1 : name, p->line);
    else
        buf_printf(out, "line %u", p->line);
}

static void put_line(const struct result *r, enum limit_cause c, struct buf *out)
{
    const struct limit_place *p;
    buf_printf(out, "  %5.1f %%  %-17s", 100 * (double)r->limits.share[c], limit_name(c));
    for (unsigned k = 0; k < 2 && (p = limits_place(&r->limits, c, k)) && p->share >= LIMIT_LEAST; k++) {
        buf_puts(out, k ? ", " : "  ");
        limits_place_text(&r->limits, p, out);
        buf_printf(out, " (%.0f %%)", 100 * (double)p->share);
    }
    buf_puts(out, "\n");
}

void limits_text(const struct result *r, struct buf *out)
{
    struct limit_try t;
    if (!r->limits.valid) {
        buf_puts(out, "n/a: a launch that was timed on a simulated device knows\n");
        return;
    }
    enum limit_cause first = limits_first(&r->limits);
    buf_printf(out, "%s, %.0f %% of the issue slots (%s)\n", limit_name(first),
               100 * (double)r->limits.share[first], limits_evidence(r));
    for (size_t i = 0; i < LIMITS_SHOWN && limits_nth(&r->limits, i) < LIMIT_COUNT; i++)
        put_line(r, limits_nth(&r->limits, i), out);
    buf_puts(out, "  ");
    limit_why(r, first, out);
    buf_puts(out, "\n");
    for (unsigned i = 0; limit_next_try(first, &i, &t);)
        if (t.edit)
            buf_printf(out, "  try: %s (%.2fx at most)\n", t.edit, limit_gain(&r->limits, first));
}
