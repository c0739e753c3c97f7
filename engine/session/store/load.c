/* Sessions, read: the text of the file stays, and each run is made of its own piece of it when it is
 * looked at, so that a large session costs little more than its text. */
#include "engine/rec/launch.h"
#include "engine/session/session.h"
#include "engine/session/store/scan.h"
#include "engine/session/store/store_int.h"

#include <stdlib.h>
#include <string.h>

static const char *const known[] = { "format", "major", "minor",  "reads_from", "writer",
                                     "time",   "ptx",   "launch", "runs",       NULL };

static enum status check_head(const cJSON *t, const char *path, struct diags *ds)
{
    const char *format = json_text(t, "format");
    uint64_t major = 0, reads_from = 0;
    if (!format || strcmp(format, "gpulocw-session") != 0 || !json_u64(json_get(t, "major"), &major)) {
        diag_add(ds, DIAG_ERROR, "format", path, NO_SPAN, "not a gpulocw session");
        return ST_INPUT;
    }
    if (!json_u64(json_get(t, "reads_from"), &reads_from))
        reads_from = major;
    if (reads_from > SESSION_MAJOR) {
        diag_add(ds, DIAG_ERROR, "format", path, NO_SPAN,
                 "the session has format version %llu; this program reads version %d",
                 (unsigned long long)reads_from, SESSION_MAJOR);
        return ST_INPUT;
    }
    return ST_OK;
}

static enum status get_subject(const cJSON *t, const char *path, struct session *s, struct diags *ds)
{
    const cJSON *ptx = json_get(t, "ptx"), *launch = json_get(t, "launch");
    const char *text = json_text(ptx, "text"), *hash = json_text(ptx, "hash");
    if (json_text(ptx, "path"))
        session_set_ptx(s, json_text(ptx, "path"), str_of(text));
    if (hash && !text)
        s->hash = strtoull(hash, NULL, 16);
    if (!launch)
        return ST_OK;
    char *dir = path_dir(json_text(ptx, "path") ? json_text(ptx, "path") : path);
    s->launch = base_alloc(sizeof *s->launch);
    enum status st = dir && s->launch ? get_launch(launch, path, dir, s->launch, ds) : ST_NOMEM;
    if (st != ST_OK || launch_data_check(s->launch, path, ds) != ST_OK) {
        launch_spec_drop(s->launch); /* told as a warning; its results are still shown */
        s->launch = NULL;
    }
    base_free(dir);
    return st;
}

static void keep_unknown(cJSON *t, struct session *s)
{
    s->kept = cJSON_CreateObject();
    for (cJSON *k = t->child, *next; k; k = next) {
        size_t i = 0;
        next = k->next;
        while (known[i] && strcmp(known[i], k->string) != 0)
            i++;
        if (!known[i] && s->kept)
            cJSON_AddItemToObject(s->kept, k->string, cJSON_DetachItemViaPointer(t, k));
    }
}

/* ---- the document: its head as a tree, its runs as pieces of text ---- */
#define AT_ONCE ((size_t)8 << 20) /* of files up to this size every run is read at once */

struct splitting {
    struct session *s;
    struct buf head;
    bool oom;
};

static bool on_run(void *ctx, struct str key, const char **at, const char *end)
{
    struct splitting *p = ctx;
    struct session *s = p->s;
    struct str value;
    (void)key;
    if (!scan_value(at, end, &value))
        return false;
    p->oom = !base_grow((void **)&s->slots, s->n, &s->cap, sizeof *s->slots);
    if (!p->oom)
        s->slots[s->n++] = (struct session_slot){ .text = value.s, .n = value.n, .kept = true };
    return !p->oom;
}

static bool on_member(void *ctx, struct str key, const char **at, const char *end)
{
    struct splitting *p = ctx;
    struct str value;
    if (str_is(key, "runs") && *at < end && **at == '[')
        return scan_members(at, end, on_run, p);
    if (!scan_value(at, end, &value))
        return false;
    buf_puts(&p->head, p->head.n > 1 ? ",\"" : "\"");
    buf_str(&p->head, key);
    buf_puts(&p->head, "\":");
    buf_str(&p->head, value);
    return true;
}

/* What is no JSON is told as by the parser, where that can take the whole text. */
static enum status no_json(const char *path, const char *text, size_t n, const char *at,
                           struct diags *ds)
{
    cJSON *t = n <= AT_ONCE ? json_parse(path, text, n, ds) : NULL;
    if (n > AT_ONCE || t)
        json_fail(path, text, n, at, ds);
    cJSON_Delete(t);
    return ST_INPUT;
}

/* Checks the whole text; *head: a tree of everything but the runs. Owned. */
static enum status split(struct session *s, const char *path, size_t n, cJSON **head, struct diags *ds)
{
    const char *text = s->source, *at = text, *end = text + n, *nul = memchr(text, 0, n);
    struct splitting p = { .s = s };
    struct str whole;
    if (n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
        at += 3;
    while (at < end && (unsigned char)*at <= ' ')
        at++;
    bool object = at < end && *at == '{';
    buf_puts(&p.head, "{");
    bool ok = !nul && (object ? scan_members(&at, end, on_member, &p) : scan_value(&at, end, &whole));
    buf_puts(&p.head, "}");
    p.oom = p.oom || p.head.oom;
    while (ok && at < end && (unsigned char)*at <= ' ')
        at++;
    enum status st = p.oom             ? ST_NOMEM
                     : ok && at == end ? ST_OK
                                       : no_json(path, text, n, nul ? nul : at, ds);
    if (st == ST_OK) {
        *head = json_parse(path, p.head.s, p.head.n, ds);
        st = *head ? ST_OK : ST_NOMEM;
    }
    buf_free(&p.head);
    return st;
}

static enum status read_runs(struct session *s, size_t bytes, struct diags *ds)
{
    enum status st = ST_OK;
    for (size_t i = 0; i < s->n && st == ST_OK && bytes <= AT_ONCE; i++)
        st = s->slots[i].run ? ST_OK : session_read_ahead(s, i, ds);
    return st;
}

static enum status read_head(const cJSON *t, const char *path, struct session *s, struct diags *ds)
{
    enum status st = check_head(t, path, ds);
    if (st != ST_OK)
        return st;
    s->path = base_strdup(path);
    s->time = base_strdup(json_text(t, "time") ? json_text(t, "time") : "");
    return s->path && s->time ? get_subject(t, path, s, ds) : ST_NOMEM;
}

enum status session_load(const char *path, struct session **out, struct diags *ds)
{
    cJSON *t = NULL;
    size_t n = 0;
    struct session *s = base_alloc(sizeof *s);
    *out = NULL;
    enum status st = s ? file_read(path, (size_t)1 << 30, &s->source, &n, ds) : ST_NOMEM;
    if (st == ST_OK)
        st = split(s, path, n, &t, ds);
    if (st == ST_OK)
        st = read_head(t, path, s, ds);
    if (st == ST_OK)
        st = journal_merge(s, n, ds);
    if (st == ST_OK)
        st = read_runs(s, n, ds);
    if (st == ST_OK)
        keep_unknown(t, s);
    cJSON_Delete(t);
    if (st == ST_OK) {
        session_note_place(s);
        s->nsource = n;
        s->head_changed = false;
        *out = s;
    } else {
        session_free(s);
    }
    return st;
}
