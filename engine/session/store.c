/* Sessions: the file that every finished point is appended to. The file is always a
 * whole JSON document: it is written beside, synced and renamed (file_write_atomic).
 * Keys this version does not know, of the same major, are kept and written again. */
#include "engine/base/base.h"
#include "engine/rec/elem.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/options.h"
#include "engine/rec/result.h"
#include "engine/search/tuner.h"
#include "engine/session/session.h"
#include "engine/session/session_int.h"
#include "engine/tune/sweep.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define KEPT_TEXT ((size_t)1 << 20) /* PTX up to this size travels in the session */

struct session {
    char *path, *ptx_path, *time;
    char *text;
    size_t ntext;
    uint64_t hash;
    struct launch_spec launch;
    bool has_launch;
    struct session_run **runs;
    size_t n, cap;
    cJSON *kept; /* unknown top-level members of a loaded session */
    struct stat mine;
    bool placed, warned; /* the file as this program left or found it */
};

static const char *const kinds[] = { "run", "sweep", "tune", NULL };
static const struct field run_fields[] = {
    FIELD_E(session_run, "kind", kind, kinds),
    FIELD(session_run, FIELD_I64, "time_unix_s", time),
    FIELD(session_run, FIELD_TEXT, "kernel", kernel),
    FIELD(session_run, FIELD_TEXT, "note", note),
    FIELD(session_run, FIELD_BOOL, "deleted", deleted),
    FIELD(session_run, FIELD_BOOL, "earlier_text", earlier),
    FIELD(session_run, FIELD_U32, "grid_x", grid.x),
    FIELD(session_run, FIELD_U32, "grid_y", grid.y),
    FIELD(session_run, FIELD_U32, "grid_z", grid.z),
    FIELD(session_run, FIELD_U32, "block_x", block.x),
    FIELD(session_run, FIELD_U32, "block_y", block.y),
    FIELD(session_run, FIELD_U32, "block_z", block.z),
};
static const struct field sweep_fields[] = {
    FIELD(session_run, FIELD_BOOL, "complete", sweep.complete),
    FIELD(session_run, FIELD_U32, "warps", sweep.warps),
};
static const struct field found_fields[] = {
    FIELD(tune_found, FIELD_BOOL, "leave_alone", leave_alone),
    FIELD(tune_found, FIELD_TEXT, "reason", reason),
    FIELD(tune_found, FIELD_U32, "launches", launches),
    FIELD(tune_found, FIELD_U32, "space", space),
    FIELD(tune_found, FIELD_U32, "skipped_by_model", skipped),
    FIELD(tune_found, FIELD_U32, "timed_whole", whole),
    FIELD(tune_found, FIELD_U32, "measured_again", again),
    FIELD(tune_found, FIELD_BOOL, "interrupted", interrupted),
    FIELD(tune_found, FIELD_TEXT, "untried", untried),
};
static const char *const known[] = { "format", "major", "minor",  "reads_from", "writer",
                                     "time",   "ptx",   "launch", "runs",       NULL };

/* ---- life ---- */
/* n things of `size`, copied; NULL of none. *ok: false where memory ran out, else as it was. */
static void *copied(const void *from, size_t n, size_t size, bool *ok)
{
    void *to = from && n ? base_alloc(n * size) : NULL;
    if (to)
        memcpy(to, from, n * size);
    *ok = *ok && (to || !from || !n);
    return to;
}

bool session_run_copy(struct session_run *to, const struct session_run *from)
{
    bool ok = true;
    *to = *from;
    to->sweep.points = copied(from->sweep.points, from->sweep.npoints, sizeof *to->sweep.points, &ok);
    to->trail = copied(from->trail, from->ntrail, sizeof *to->trail, &ok);
    to->found = copied(from->found, 1, sizeof *to->found, &ok);
    to->probe = copied(from->probe, from->nprobe, sizeof *to->probe, &ok);
    if (!ok)
        session_run_clear(to);
    return ok;
}

void session_run_clear(struct session_run *r)
{
    base_free(r->sweep.points);
    base_free(r->trail);
    base_free(r->found);
    base_free(r->probe);
    memset(r, 0, sizeof *r);
}

static bool add_result(struct result **list, size_t *n, const struct result *r)
{
    struct result *more = base_realloc(*list, (*n + 1) * sizeof *more);
    if (!more)
        return false;
    *list = more;
    more[(*n)++] = *r;
    return true;
}

bool session_run_point(struct session_run *run, const struct result *r)
{
    struct tune_sweep *w = &run->sweep;
    bool pi = run->kind == RUN_SWEEP && strcmp(w->axis, "pi") == 0;
    if (r->probe_ctas) {
        if (run->probe && run->nprobe < SESSION_PROBES)
            run->probe[run->nprobe++] = *r;
        return true;
    }
    if (run->kind == RUN_TUNE)
        return add_result(&run->trail, &run->ntrail, r);
    if (pi && r->options.pi.mode == PI_BPA)
        w->bpa = *r;
    else if (pi && r->options.pi.mode == PI_CHA)
        w->cha = *r;
    else
        return add_result(&w->points, &w->npoints, r);
    return true;
}

void session_free(struct session *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++) {
        session_run_clear(s->runs[i]);
        base_free(s->runs[i]);
    }
    if (s->has_launch)
        launch_spec_free(&s->launch);
    base_free(s->runs);
    base_free(s->path);
    base_free(s->ptx_path);
    base_free(s->time);
    base_free(s->text);
    cJSON_Delete(s->kept);
    base_free(s);
}

static char *time_text(time_t now)
{
    char text[32];
    struct tm tm;
    gmtime_r(&now, &tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return base_strdup(text);
}

/* sessions/ when it is there and writable, else the user's data folder (XDG). */
static char *fresh_path(const char *ptx_path, time_t now)
{
    struct buf b = { 0 };
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    const char *slash = ptx_path ? strrchr(ptx_path, '/') : NULL,
               *stem = ptx_path ? (slash ? slash + 1 : ptx_path) : "session";
    size_t n = strcspn(stem, ".");
    if (access("sessions", W_OK) == 0)
        buf_puts(&b, "sessions/");
    else if (data && *data == '/')
        buf_printf(&b, "%s/gpulocw/sessions/", data);
    else
        buf_printf(&b, "%s/.local/share/gpulocw/sessions/", home && *home ? home : ".");
    struct tm tm;
    char stamp[32];
    gmtime_r(&now, &tm);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &tm);
    buf_printf(&b, "%.*s-%s-%ld.json", (int)(n < 60 ? n : 60), stem, stamp, (long)getpid());
    return buf_take(&b);
}

enum status session_new(const char *path, const char *ptx_path, struct session **out, struct diags *ds)
{
    struct session *s = base_alloc(sizeof *s);
    time_t now = time(NULL);
    *out = s;
    if (!s)
        return ST_NOMEM;
    s->path = path ? base_strdup(path) : fresh_path(ptx_path, now);
    s->time = time_text(now);
    if (!s->path || !s->time) {
        session_free(s);
        *out = NULL;
        return ST_NOMEM;
    }
    if (!file_make_dirs(s->path)) {
        diag_add(ds, DIAG_WARNING, "session", s->path, NO_SPAN, "cannot make the session's folder: %s",
                 strerror(errno));
        return ST_IO;
    }
    return ST_OK;
}

void session_set_ptx(struct session *s, const char *path, struct str text)
{
    base_free(s->ptx_path);
    base_free(s->text);
    s->ptx_path = base_strdup(path);
    s->hash = base_hash(text.s, text.n);
    s->ntext = text.n <= KEPT_TEXT ? text.n : 0;
    s->text = base_alloc(s->ntext + 1);
    if (s->text && s->ntext)
        memcpy(s->text, text.s, s->ntext);
}

enum status session_set_launch(struct session *s, const struct launch_spec *l)
{
    if (s->has_launch)
        launch_spec_free(&s->launch);
    enum status st = launch_copy(l, &s->launch);
    s->has_launch = st == ST_OK;
    return st;
}

const char *session_path(const struct session *s)
{
    return s->path;
}
const char *session_ptx_path(const struct session *s)
{
    return s->ptx_path;
}
struct str session_ptx_text(const struct session *s)
{
    return (struct str){ s->text ? s->text : "", s->ntext };
}
const struct launch_spec *session_launch(const struct session *s)
{
    return s->has_launch ? &s->launch : NULL;
}
const char *session_time(const struct session *s)
{
    return s->time;
}
size_t session_count(const struct session *s)
{
    return s->n;
}
struct session_run *session_at(struct session *s, size_t i)
{
    return i < s->n ? s->runs[i] : NULL;
}

/* A search has room for what comes of it. */
static bool make_room(struct session_run *r)
{
    if (r->kind != RUN_TUNE || r->found)
        return true;
    r->found = base_alloc(sizeof *r->found);
    r->probe = base_alloc(SESSION_PROBES * sizeof *r->probe);
    if (!r->found || !r->probe)
        return false;
    r->found->best = r->found->original = result_empty();
    r->found->options = options_default();
    return true;
}

struct session_run *session_begin(struct session *s, enum run_kind kind)
{
    if (!base_grow((void **)&s->runs, s->n, &s->cap, sizeof(*s->runs)))
        return NULL;
    struct session_run *r = base_alloc(sizeof *r);
    if (!r)
        return NULL;
    r->kind = kind;
    if (!make_room(r)) {
        session_run_clear(r);
        base_free(r);
        return NULL;
    }
    r->time = (int64_t)time(NULL);
    r->one = r->sweep.bpa = r->sweep.cha = result_empty();
    r->sweep.axis = "pi";
    s->runs[s->n++] = r;
    return r;
}

/* ---- writing ---- */
static void put_named(struct jw *w, const char *key, const struct result *r)
{
    jw_key(w, key);
    jw_obj(w);
    put_result(w, r);
    jw_end_obj(w);
}

static void put_results(struct jw *w, const char *key, const struct result *r, size_t n)
{
    jw_key(w, key);
    jw_arr(w);
    for (size_t i = 0; i < n; i++) {
        jw_obj(w);
        put_result(w, &r[i]);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void put_run(struct jw *w, const struct session_run *r)
{
    jw_obj(w);
    fields_write(w, run_fields, ARRAY_LEN(run_fields), r);
    jw_key(w, "device");
    put_device(w, &r->dev);
    if (r->kind == RUN_ONE)
        put_named(w, "result", &r->one);
    if (r->kind == RUN_SWEEP) {
        jw_key(w, "axis");
        jw_str(w, r->sweep.axis);
        fields_write(w, sweep_fields, ARRAY_LEN(sweep_fields), r);
        put_named(w, "bpa", &r->sweep.bpa);
        put_named(w, "cha", &r->sweep.cha);
        put_results(w, "points", r->sweep.points, r->sweep.npoints);
    }
    if (r->kind == RUN_TUNE) {
        jw_key(w, "recommended");
        put_options(w, &r->found->options);
        fields_write(w, found_fields, ARRAY_LEN(found_fields), r->found);
        put_named(w, "original", &r->found->original);
        put_named(w, "best", &r->found->best);
        put_data_sets(w, r->found);
        put_results(w, "tried", r->trail, r->ntrail);
        if (r->nprobe) {
            put_uint(w, "probe_ctas", r->probe[0].probe_ctas);
            put_results(w, "probes", r->probe, r->nprobe);
        }
    }
    jw_end_obj(w);
}

static void put_head(struct jw *w, const struct session *s)
{
    jw_key(w, "format");
    jw_str(w, "gpulocw-session");
    jw_key(w, "major");
    jw_int(w, SESSION_MAJOR);
    jw_key(w, "minor");
    jw_int(w, SESSION_MINOR);
    jw_key(w, "reads_from");
    jw_int(w, SESSION_MAJOR);
    jw_key(w, "writer");
    jw_str(w, "gpulocw " GPULOCW_VERSION);
    jw_key(w, "time");
    jw_str(w, s->time);
}

static void put_subject(struct jw *w, const struct session *s)
{
    char hex[24];
    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)s->hash);
    if (s->ptx_path) {
        jw_key(w, "ptx");
        jw_obj(w);
        jw_key(w, "path");
        jw_str(w, s->ptx_path);
        jw_key(w, "hash");
        jw_str(w, hex);
        jw_key(w, "text");
        if (s->ntext)
            jw_view(w, (struct str){ s->text, s->ntext });
        else
            jw_null(w);
        jw_end_obj(w);
    }
    if (s->has_launch) {
        jw_key(w, "launch");
        jw_obj(w);
        put_launch(w, &s->launch, false);
        jw_end_obj(w);
    }
}

/* Every save is a new file, so a file that is not the one left behind is somebody else's, and what is in
 * it goes. */
static void warn_of_others(struct session *s, struct diags *ds)
{
    struct stat now;
    if (!s->placed || s->warned || stat(s->path, &now) != 0 || !S_ISREG(now.st_mode))
        return;
    if (now.st_ino == s->mine.st_ino && now.st_size == s->mine.st_size &&
        now.st_mtim.tv_sec == s->mine.st_mtim.tv_sec && now.st_mtim.tv_nsec == s->mine.st_mtim.tv_nsec)
        return;
    s->warned = true;
    diag_add(ds, DIAG_WARNING, "session", s->path, NO_SPAN,
             "another program writes this session too, and each replaces what the other wrote: give "
             "each a file of its own");
}

static void note_place(struct session *s)
{
    s->placed = stat(s->path, &s->mine) == 0;
}

enum status session_save(struct session *s, struct diags *ds)
{
    struct buf b = { 0 };
    struct jw w = jw_open(&b, 2);
    jw_obj(&w);
    put_head(&w, s);
    put_subject(&w, s);
    jw_key(&w, "runs");
    jw_arr(&w);
    for (size_t i = 0; i < s->n; i++)
        put_run(&w, s->runs[i]);
    jw_end_arr(&w);
    const cJSON *k;
    cJSON_ArrayForEach(k, s->kept)
    {
        jw_key(&w, k->string);
        jw_tree(&w, k);
    }
    jw_end_obj(&w);
    buf_puts(&b, "\n");
    warn_of_others(s, ds);
    enum status st = b.oom ? ST_NOMEM : file_write_atomic(s->path, b.s, b.n, ds);
    buf_free(&b);
    if (st == ST_OK)
        note_place(s);
    return st;
}

/* ---- reading ---- */
static enum status get_results(const cJSON *list, struct result **out, size_t *n, struct diags *ds)
{
    const cJSON *o;
    *n = 0;
    *out = base_alloc(((size_t)cJSON_GetArraySize(list) + 1) * sizeof **out);
    if (!*out)
        return ST_NOMEM;
    cJSON_ArrayForEach(o, list)
    {
        enum status s = get_result(o, &(*out)[*n], ds);
        if (s != ST_OK)
            return s;
        (*n)++;
    }
    return ST_OK;
}

static enum status get_sweep(const cJSON *o, struct session_run *r, struct diags *ds)
{
    const char *axis = json_text(o, "axis");
    int knob = axis ? knob_find(str_of(axis)) : -1;
    if (knob >= 0)
        r->sweep.axis = knob_info((size_t)knob)->name;
    enum status s = fields_read(o, sweep_fields, ARRAY_LEN(sweep_fields), r, "sweep", ds);
    if (s == ST_OK && json_get(o, "bpa"))
        s = get_result(json_get(o, "bpa"), &r->sweep.bpa, ds);
    if (s == ST_OK && json_get(o, "cha"))
        s = get_result(json_get(o, "cha"), &r->sweep.cha, ds);
    if (s == ST_OK)
        s = get_results(json_get(o, "points"), &r->sweep.points, &r->sweep.npoints, ds);
    if (s == ST_OK)
        tune_sweep_judge(&r->sweep, &r->dev, (double)dim3u_count(r->block));
    return s;
}

static enum status get_probes(const cJSON *o, struct session_run *r, struct diags *ds)
{
    const cJSON *ctas = json_get(o, "probe_ctas"), *list = json_get(o, "probes");
    struct result *v = NULL;
    size_t n = 0;
    if (!cJSON_IsNumber(ctas) || ctas->valuedouble < 1 || ctas->valuedouble > UINT32_MAX || !list)
        return ST_OK;
    enum status s = get_results(list, &v, &n, ds);
    for (size_t i = 0; i < n && i < SESSION_PROBES && s == ST_OK; i++) {
        r->probe[r->nprobe] = v[i];
        r->probe[r->nprobe++].probe_ctas = (uint32_t)ctas->valuedouble;
    }
    base_free(v);
    return s;
}

static enum status get_tune(const cJSON *o, struct session_run *r, struct diags *ds)
{
    enum status s = get_options(json_get(o, "recommended"), &r->found->options, ds);
    if (s == ST_OK)
        s = fields_read(o, found_fields, ARRAY_LEN(found_fields), r->found, "tune", ds);
    if (s == ST_OK && json_get(o, "original"))
        s = get_result(json_get(o, "original"), &r->found->original, ds);
    if (s == ST_OK && json_get(o, "best"))
        s = get_result(json_get(o, "best"), &r->found->best, ds);
    if (s == ST_OK)
        s = get_data_sets(json_get(o, "data_sets"), r->found, ds);
    if (s == ST_OK)
        s = get_probes(o, r, ds);
    return s == ST_OK ? get_results(json_get(o, "tried"), &r->trail, &r->ntrail, ds) : s;
}

static enum status get_run(const cJSON *o, struct session *s, struct diags *ds)
{
    struct session_run *r = session_begin(s, RUN_ONE);
    if (!r)
        return ST_NOMEM;
    enum status st = fields_read(o, run_fields, ARRAY_LEN(run_fields), r, "run", ds);
    if (st == ST_OK)
        st = get_device(json_get(o, "device"), &r->dev, ds);
    if (st == ST_OK && r->kind == RUN_ONE)
        st = get_result(json_get(o, "result"), &r->one, ds);
    if (st == ST_OK && r->kind == RUN_SWEEP)
        st = get_sweep(o, r, ds);
    if (st == ST_OK && !make_room(r))
        st = ST_NOMEM;
    return st == ST_OK && r->kind == RUN_TUNE ? get_tune(o, r, ds) : st;
}

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
                 "the session needs a reader of major version %llu; this is version %d",
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
    enum status st = dir ? get_launch(launch, path, dir, &s->launch, ds) : ST_NOMEM;
    s->has_launch = st == ST_OK;
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

enum status session_load(const char *path, struct session **out, struct diags *ds)
{
    cJSON *t = NULL;
    const cJSON *r;
    struct session *s = base_alloc(sizeof *s);
    *out = NULL;
    enum status st = s ? json_read_file(path, &t, ds) : ST_NOMEM;
    if (st == ST_OK)
        st = check_head(t, path, ds);
    if (st == ST_OK) {
        s->path = base_strdup(path);
        s->time = base_strdup(json_text(t, "time") ? json_text(t, "time") : "");
        st = s->path && s->time ? get_subject(t, path, s, ds) : ST_NOMEM;
    }
    if (st == ST_OK)
        cJSON_ArrayForEach(r, json_get(t, "runs")) if (st == ST_OK) st = get_run(r, s, ds);
    if (st == ST_OK)
        keep_unknown(t, s);
    cJSON_Delete(t);
    if (st == ST_OK) {
        note_place(s);
        *out = s;
    } else {
        session_free(s);
    }
    return st;
}
