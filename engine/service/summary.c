/* A document cut down to what matters: the paths that tools.def keeps. */
#include "engine/service/service_int.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct cutting {
    const char *kept;
    struct summary_room room;
    bool no_nulls; /* members that are null are left out */
    struct jw *w;
    char path[256]; /* of the value that is looked at; [] stands for every element */
};

enum keep { KEEP_NONE, KEEP_PART, KEEP_ALL };

/* The path itself is kept, or what it is in, or something inside it. */
static enum keep keeps(const char *kept, const char *path)
{
    size_t n = strlen(path);
    enum keep found = KEEP_NONE;
    for (const char *p = kept; *p && found != KEEP_ALL;) {
        size_t k = strcspn(p, " ");
        if (k <= n && memcmp(p, path, k) == 0 && (k == n || path[k] == '.' || path[k] == '['))
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
    jw_obj(c->w);
    cJSON_ArrayForEach(v, o)
    {
        int k = snprintf(c->path + n, sizeof c->path - n, "%s%s", n ? "." : "", v->string);
        if (!(c->no_nulls && cJSON_IsNull(v)) && k > 0 && n + (size_t)k < sizeof c->path &&
            keeps(c->kept, c->path) != KEEP_NONE) {
            jw_key(c->w, v->string);
            put_kept(c, v);
        }
        c->path[n] = 0;
    }
    jw_end_obj(c->w);
}

static void put_more(struct jw *w, int n)
{
    struct buf said = { 0 };
    buf_printf(&said, "%d more: the whole document has them", n);
    jw_str(w, said.s ? said.s : "");
    buf_free_checked(&said, w->out);
}

static void put_elements(struct cutting *c, const cJSON *list)
{
    size_t n = strlen(c->path);
    int i = 0, all = cJSON_GetArraySize(list);
    const cJSON *v;
    snprintf(c->path + n, sizeof c->path - n, "[]");
    jw_arr(c->w);
    cJSON_ArrayForEach(v, list) if (i++ < c->room.list) put_kept(c, v);
    if (all > c->room.list)
        put_more(c->w, all - c->room.list);
    jw_end_arr(c->w);
    c->path[n] = 0;
}

/* A text that is too long ends in three dots, between two characters. */
static void put_string(struct cutting *c, const cJSON *v)
{
    struct str text = str_of(v->valuestring);
    size_t n = text.n;
    if (n > c->room.text) {
        n = c->room.text;
        while (n && ((unsigned char)text.s[n] & 0xC0) == 0x80)
            n--;
    }
    struct buf cut = { 0 };
    buf_put(&cut, text.s, n);
    buf_puts(&cut, n < text.n ? "..." : "");
    jw_str(c->w, cut.s ? cut.s : "");
    buf_free_checked(&cut, c->w->out);
}

static void put_kept(struct cutting *c, const cJSON *v)
{
    if (cJSON_IsObject(v))
        put_members(c, v);
    else if (cJSON_IsArray(v))
        put_elements(c, v);
    else if (cJSON_IsString(v))
        put_string(c, v);
    else
        jw_tree(c->w, v);
}

void summary_put(const struct tool *t, const cJSON *document, struct summary_room room, struct jw *w)
{
    struct cutting c = { .kept = t->kept, .room = room, .w = w };
    put_members(&c, cJSON_IsObject(document) ? document : NULL);
}

static cJSON *last_line(const struct service_job *j)
{
    cJSON *o = j->last.s ? json_parse("progress", j->last.s, j->last.n, NULL) : NULL;
    return o;
}

static void put_first(struct cutting *c, const cJSON *list)
{
    int i = 0, all = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
    const cJSON *d;
    jw_arr(c->w);
    cJSON_ArrayForEach(d, list) if (i++ < c->room.list) put_members(c, d);
    if (all > c->room.list)
        put_more(c->w, all - c->room.list);
    jw_end_arr(c->w);
}

void summary_diagnostics(const struct service_job *j, const struct summary_room *room, struct jw *w)
{
    struct cutting c = { .kept = "level code file line message hint", .no_nulls = true, .w = w };
    cJSON *o = last_line(j);
    const cJSON *list = json_get(o, "diagnostics");
    c.room = room ? *room : c.room;
    if (!room && cJSON_IsArray(list))
        jw_tree(w, list);
    else
        put_first(&c, list);
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
