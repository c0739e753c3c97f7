/* JSON text, written so that every digit is kept. */
#include "engine/base/json_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define EXACT_INTEGER ((int64_t)1 << 53)

struct jw jw_open(struct buf *out, int pretty)
{
    return (struct jw){ .out = out, .pretty = pretty, .first = true, .from = out->n };
}

/* Puts what separates a value or key from the one before: a comma, and a new line down to the pretty
 * depth. */
static void separate(struct jw *w)
{
    if (w->keyed) {
        w->keyed = false;
        return;
    }
    if (!w->first)
        buf_puts(w->out, ",");
    if (w->depth && w->depth <= w->pretty)
        buf_printf(w->out, "\n%*s", w->depth * 2, "");
    else if (!w->first)
        buf_puts(w->out, " ");
    w->first = false;
}

void jw_key_view(struct jw *w, struct str key)
{
    separate(w);
    buf_json(w->out, key);
    buf_puts(w->out, ": ");
    w->keyed = true;
}

void jw_key(struct jw *w, const char *key)
{
    jw_key_view(w, str_of(key));
}

static void open_as(struct jw *w, const char *c)
{
    separate(w);
    buf_puts(w->out, c);
    w->depth++;
    w->first = true;
}

static void close_as(struct jw *w, const char *c)
{
    bool empty = w->first;
    w->depth--;
    if (!empty && w->depth < w->pretty)
        buf_printf(w->out, "\n%*s", w->depth * 2, "");
    buf_puts(w->out, c);
    w->first = false;
}

void jw_obj(struct jw *w)
{
    open_as(w, "{");
}
void jw_arr(struct jw *w)
{
    open_as(w, "[");
}
void jw_end_obj(struct jw *w)
{
    close_as(w, "}");
}
void jw_end_arr(struct jw *w)
{
    close_as(w, "]");
}

void jw_view(struct jw *w, struct str s)
{
    separate(w);
    buf_json(w->out, s);
}

void jw_raw(struct jw *w, struct str json)
{
    separate(w);
    buf_str(w->out, json);
}

void jw_null(struct jw *w)
{
    separate(w);
    buf_puts(w->out, "null");
}

void jw_str(struct jw *w, const char *s)
{
    if (s)
        jw_view(w, str_of(s));
    else
        jw_null(w);
}

void jw_int(struct jw *w, int64_t v)
{
    bool exact = v <= EXACT_INTEGER && v >= -EXACT_INTEGER;
    separate(w);
    buf_printf(w->out, exact ? "%" PRId64 : "\"%" PRId64 "\"", v);
}

void jw_uint(struct jw *w, uint64_t v)
{
    separate(w);
    buf_printf(w->out, v <= (uint64_t)EXACT_INTEGER ? "%" PRIu64 : "\"%" PRIu64 "\"", v);
}

void jw_num(struct jw *w, double v)
{
    char text[40];
    if (!isfinite(v)) {
        jw_null(w);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    separate(w);
    buf_puts(w->out, text);
}

void jw_bool(struct jw *w, bool v)
{
    separate(w);
    buf_puts(w->out, v ? "true" : "false");
}

void jw_hex(struct jw *w, uint64_t v)
{
    char text[24];
    snprintf(text, sizeof text, "%016" PRIx64, v);
    jw_str(w, text);
}

/* ---- a member: key and value ---- */
void jw_put_uint_if(struct jw *w, const char *key, bool known, uint64_t v)
{
    jw_key(w, key);
    if (known)
        jw_uint(w, v);
    else
        jw_null(w);
}

void jw_put_three(struct jw *w, const char *key, uint32_t x, uint32_t y, uint32_t z)
{
    int pretty = w->pretty;
    jw_key(w, key);
    w->pretty = 0;
    jw_arr(w);
    jw_uint(w, x);
    jw_uint(w, y);
    jw_uint(w, z);
    jw_end_arr(w);
    w->pretty = pretty;
}

void jw_put_texts(struct jw *w, const char *key, char *const *v, size_t n)
{
    jw_put_arr(w, key);
    for (size_t i = 0; i < n; i++)
        jw_str(w, v[i]);
    jw_end_arr(w);
}

void jw_put_words(struct jw *w, const char *key, char *const *v)
{
    size_t n = 0;
    while (v[n])
        n++;
    jw_put_texts(w, key, v, n);
}
