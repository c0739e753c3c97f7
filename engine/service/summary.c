/* A document cut down to what matters: the paths that tools.def keeps. */
#include "engine/base/base.h"
#include "engine/service/service_int.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct cutting {
    const char *kept;
    struct jw w;
    char path[256]; /* of the value that is looked at; [] stands for every element */
};

enum keep { KEEP_NONE, KEEP_PART, KEEP_ALL };

/* The path itself is kept, or something inside it. */
static enum keep keeps(const char *kept, const char *path)
{
    size_t n = strlen(path);
    enum keep found = KEEP_NONE;
    for (const char *p = kept; *p && found != KEEP_ALL;) {
        size_t k = strcspn(p, " ");
        if (k == n && memcmp(p, path, n) == 0)
            found = KEEP_ALL;
        else if (k > n && memcmp(p, path, n) == 0 && (p[n] == '.' || p[n] == '['))
            found = KEEP_PART;
        p += k + (p[k] == ' ');
    }
    return found;
}

static void put_kept(struct cutting *c, const cJSON *v);

static void put_members(struct cutting *c, const cJSON *o)
{
    size_t n = strlen(c->path);
    const cJSON *v;
    jw_obj(&c->w);
    cJSON_ArrayForEach(v, o)
    {
        int k = snprintf(c->path + n, sizeof c->path - n, "%s%s", n ? "." : "", v->string);
        if (k > 0 && n + (size_t)k < sizeof c->path && keeps(c->kept, c->path) != KEEP_NONE) {
            jw_key(&c->w, v->string);
            put_kept(c, v);
        }
        c->path[n] = 0;
    }
    jw_end_obj(&c->w);
}

static void put_left_out(struct cutting *c, int n)
{
    struct buf said = { 0 };
    buf_printf(&said, "%d more: the whole document has them", n);
    jw_str(&c->w, said.s);
    buf_free_checked(&said, c->w.out);
}

static void put_elements(struct cutting *c, const cJSON *list)
{
    size_t n = strlen(c->path);
    int i = 0, all = cJSON_GetArraySize(list);
    const cJSON *v;
    snprintf(c->path + n, sizeof c->path - n, "[]");
    jw_arr(&c->w);
    cJSON_ArrayForEach(v, list) if (i++ < SUMMARY_MOST) put_kept(c, v);
    if (all > SUMMARY_MOST)
        put_left_out(c, all - SUMMARY_MOST);
    jw_end_arr(&c->w);
    c->path[n] = 0;
}

static void put_kept(struct cutting *c, const cJSON *v)
{
    if (keeps(c->kept, c->path) == KEEP_ALL)
        jw_tree(&c->w, v);
    else if (cJSON_IsObject(v))
        put_members(c, v);
    else if (cJSON_IsArray(v))
        put_elements(c, v);
    else
        jw_tree(&c->w, v);
}

void summary_put(const struct tool *t, const cJSON *document, struct buf *out)
{
    struct cutting c = { .kept = t->kept, .w = jw_open(out, 0) };
    if (cJSON_IsObject(document))
        put_members(&c, document);
    else
        buf_puts(out, "{}");
}

static cJSON *last_line(const struct service_job *j)
{
    struct diags none = { 0 };
    cJSON *o = j->last.s ? json_parse("progress", j->last.s, j->last.n, &none) : NULL;
    diags_free(&none);
    return o;
}

void summary_diagnostics(const struct service_job *j, struct buf *out)
{
    struct jw w = jw_open(out, 0);
    cJSON *o = last_line(j);
    const cJSON *list = json_get(o, "diagnostics");
    if (cJSON_IsArray(list))
        jw_tree(&w, list);
    else
        buf_puts(out, "[]");
    cJSON_Delete(o);
}

/* Where a process ended without a word of its own: what it wrote on standard error. */
static void put_errors(const struct service_job *j, struct buf *out)
{
    char text[2000];
    ssize_t n = j->err >= 0 ? pread(j->err, text, sizeof text, 0) : 0;
    if (n > 0)
        buf_put(out, text, (size_t)n);
}

void summary_words(const struct service_job *j, int code, struct buf *out)
{
    cJSON *o = last_line(j);
    const cJSON *d;
    size_t was = out->n;
    cJSON_ArrayForEach(d, json_get(o, "diagnostics"))
    {
        const char *level = json_text(d, "level"), *file = json_text(d, "file");
        const char *message = json_text(d, "message"), *hint = json_text(d, "hint");
        const cJSON *line = json_get(d, "line");
        if (file && cJSON_IsNumber(line))
            buf_printf(out, "%s:%.0f: ", file, line->valuedouble);
        else if (file)
            buf_printf(out, "%s: ", file);
        buf_printf(out, "%s: %s\n", level ? level : "", message ? message : "");
        if (hint)
            buf_printf(out, "  %s\n", hint);
    }
    cJSON_Delete(o);
    if (out->n == was && code) {
        buf_printf(out, "the command ended with exit code %d\n", code);
        put_errors(j, out);
    }
}
