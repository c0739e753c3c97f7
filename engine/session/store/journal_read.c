/* The journal of a session, read and taken into it: journal.h says what is in it. */
#include "engine/base/crc.h"
#include "engine/rec/result_read.h"
#include "engine/session/run.h"
#include "engine/session/session.h"
#include "engine/session/store/scan.h"
#include "engine/session/store/store_int.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct reading {
    struct session *s;
    const char *path;
    size_t line; /* from 1 */
    struct diags *ds;
};

static bool bad_line(const struct reading *r, const char *what)
{
    struct diag *d =
        diag_add(r->ds, DIAG_ERROR, "journal", r->path, NO_SPAN, "line %zu: %s", r->line, what);
    diag_hint(d, "remove this line and the rest of the journal, or move the journal away, to open the "
                 "session without these points");
    return false;
}

/* The text of the line at p, up to its newline or `end`; false: its checksum is not that of its text. */
static bool line_text(const char *p, const char *end, struct str *text)
{
    char hex[9] = { 0 }, *stop;
    if (end - p < 9 || p[8] != ' ')
        return false;
    memcpy(hex, p, 8);
    unsigned long crc = strtoul(hex, &stop, 16);
    *text = (struct str){ p + 9, (size_t)(end - p) - 9 };
    return !*stop && crc == base_crc32c(0, text->s, text->n);
}

static bool mark_is(const cJSON *o, struct journal_mark m)
{
    const char *hex = json_text(o, "crc");
    uint64_t size = 0;
    return hex && json_u64(json_get(o, "size"), &size) && size == m.size &&
           strtoul(hex, NULL, 16) == m.crc;
}

/* ---- one line ---- */
struct parts {
    struct str run, whole, point, saved;
};

static bool on_part(void *ctx, struct str key, const char **at, const char *end)
{
    struct parts *p = ctx;
    struct str value;
    if (!scan_value(at, end, &value))
        return false;
    if (str_is(key, "run"))
        p->run = value;
    if (str_is(key, "whole"))
        p->whole = value;
    if (str_is(key, "point"))
        p->point = value;
    if (str_is(key, "saved"))
        p->saved = value;
    return true;
}

static bool parts_of(struct str text, struct parts *p)
{
    const char *at = text.s, *end = text.s + text.n;
    *p = (struct parts){ 0 };
    return text.n && *at == '{' && !memchr(text.s, 0, text.n) && scan_members(&at, end, on_part, p) &&
           at == end;
}

static bool take_whole(struct reading *r, size_t i, struct str value)
{
    struct session *s = r->s;
    if (i > s->n || value.s[0] != '{')
        return bad_line(r, "no such run");
    if (i == s->n) {
        if (!base_grow((void **)&s->slots, s->n, &s->cap, sizeof *s->slots))
            return false;
        s->slots[s->n++] = (struct session_slot){ 0 };
    }
    struct session_slot *t = &s->slots[i];
    session_run_drop(t->run);
    *t = (struct session_slot){ .text = value.s, .n = value.n, .kept = true };
    return true;
}

static bool take_point(struct reading *r, size_t i, struct str value)
{
    struct result *x = result_new();
    cJSON *o = x ? json_parse(r->path, value.s, value.n, r->ds) : NULL;
    bool ok = o && get_result(o, x, r->ds) == ST_OK;
    struct session_run *run = ok && i < r->s->n ? session_at(r->s, i) : NULL;
    bool taken = run && session_run_point(run, x);
    cJSON_Delete(o);
    base_free(x);
    if (!ok)
        return bad_line(r, "no result");
    if (!run) {
        session_trouble(r->s, r->ds);
        return bad_line(r, "no such run");
    }
    return taken;
}

static bool take_line(struct reading *r, struct str text)
{
    struct parts p;
    uint64_t run = 0;
    if (!parts_of(text, &p))
        return bad_line(r, "not a valid journal line");
    if (p.saved.s)
        return true; /* that file never got its name */
    for (size_t k = 0; k < p.run.n; k++) {
        if (p.run.s[k] < '0' || p.run.s[k] > '9' || run > 1000000)
            return bad_line(r, "not a valid journal line");
        run = run * 10 + (uint64_t)(p.run.s[k] - '0');
    }
    if (!p.run.n || !p.whole.s == !p.point.s)
        return bad_line(r, "not a valid journal line");
    return p.whole.s ? take_whole(r, run, p.whole) : take_point(r, run, p.point);
}

/* ---- the journal as a whole ---- */
static const char *line_end(const char *p, const char *end)
{
    const char *nl = memchr(p, '\n', (size_t)(end - p));
    return nl ? nl : end;
}

/* Does a line say that a file of these bytes holds everything? */
static bool spent(const char *text, const char *end, struct journal_mark file)
{
    for (const char *p = text; p < end; p = line_end(p, end) + 1) {
        struct str line;
        struct parts parts;
        if (!line_text(p, line_end(p, end), &line) || line.n > 200 || !parts_of(line, &parts) ||
            !parts.saved.s)
            continue;
        cJSON *o = json_parse("", parts.saved.s, parts.saved.n, NULL);
        bool is = o && mark_is(o, file);
        cJSON_Delete(o);
        if (is)
            return true;
    }
    return false;
}

/* A run or a point of a later line: what is damaged before it is no torn end. */
static bool more_follows(const char *p, const char *end)
{
    struct str line;
    struct parts parts;
    for (; p < end; p = line_end(p, end) + 1)
        if (line_text(p, line_end(p, end), &line) && parts_of(line, &parts) && !parts.saved.s)
            return true;
    return false;
}

static enum status take_lines(struct reading *r, const char *p, const char *end)
{
    for (; p < end; p = line_end(p, end) + 1) {
        const char *nl = line_end(p, end);
        struct str text;
        r->line++;
        if (nl < end && line_text(p, nl, &text)) {
            if (!take_line(r, text))
                return r->ds && r->ds->errors ? ST_INPUT : ST_NOMEM;
            continue;
        }
        if (nl < end && more_follows(nl + 1, end))
            return bad_line(r, "damaged: the checksum is wrong"), ST_INPUT;
        diag_add(r->ds, DIAG_WARNING, "journal", r->path, NO_SPAN,
                 "line %zu is incomplete (the program was killed or the disk was full) and is skipped",
                 r->line);
        break;
    }
    return ST_OK;
}

static enum status of_another(const char *path, struct diags *ds)
{
    struct diag *d =
        diag_add(ds, DIAG_ERROR, "journal", path, NO_SPAN,
                 "the journal belongs to another session, or to an earlier version of this file");
    diag_hint(d, "move it away to open the session without it");
    return ST_INPUT;
}

static void judge(struct session *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct session_run *r = s->slots[i].open ? s->slots[i].run : NULL;
        if (r && r->kind == RUN_SWEEP)
            tune_sweep_judge(&r->sweep, &r->dev, (double)dim3u_count(r->block));
    }
}

static enum status merge(struct session *s, const char *path, size_t nsource, struct diags *ds)
{
    struct reading r = { s, path, 1, ds };
    struct journal_mark file = journal_mark_of(s->source, nsource);
    char *text = NULL;
    size_t n = 0;
    enum status st = file_read(path, (size_t)1 << 30, &text, &n, ds);
    if (st != ST_OK)
        return st;
    s->journal.source = text;
    s->journal.merged = true;
    const char *end = text + n, *nl = line_end(text, end);
    struct str head;
    cJSON *o = line_text(text, nl, &head) ? json_parse(path, head.s, head.n, ds) : NULL;
    uint64_t major = 0;
    bool of_this = o && mark_is(o, file),
         readable = o && json_u64(json_get(o, "major"), &major) && major == 1;
    cJSON_Delete(o);
    if (!readable)
        return bad_line(&r, "not the header of a journal that this version can read"), ST_INPUT;
    if (!of_this)
        return spent(text, end, file) ? ST_OK : of_another(path, ds);
    st = take_lines(&r, nl + (nl < end), end);
    judge(s);
    return st;
}

enum status journal_merge(struct session *s, size_t n, struct diags *ds)
{
    struct stat there;
    char *path = journal_name(s);
    enum status st = path ? ST_OK : ST_NOMEM;
    if (path && lstat(path, &there) == 0 && journal_ours(path))
        st = merge(s, path, n, ds);
    base_free(path);
    return st;
}
