/* Sessions: the file that every finished point is appended to. The file is always a
 * whole JSON document: it is written beside, synced and renamed (file_write_atomic).
 * Keys this version does not know, of the same major, are kept and written again. */
#include "engine/base/name.h"
#include "engine/base/version.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/result_read.h"
#include "engine/session/document.h"
#include "engine/session/launch_file.h"
#include "engine/session/run.h"
#include "engine/session/session.h"
#include "engine/session/store/store_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- life ---- */

void session_free(struct session *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++) {
        session_run_drop(s->slots[i].run);
        if (s->slots[i].own)
            base_free((void *)(uintptr_t)s->slots[i].text);
    }
    launch_spec_drop(s->launch);
    BASE_FREE(s->slots, s->source);
    journal_free(&s->journal);
    diags_free(&s->trouble);
    BASE_FREE(s->path, s->ptx_path, s->time, s->text);
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
    const char *stem = ptx_path ? base_file_name(ptx_path) : "session";
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
    struct stat there;
    s->absent = s->path && stat(s->path, &there) != 0;
    if (!s->path || !s->time) {
        session_free(s);
        *out = NULL;
        return ST_NOMEM;
    }
    if (!file_make_dirs(s->path)) {
        diag_add(ds, DIAG_WARNING, "session", s->path, NO_SPAN, "cannot create the session's folder: %s",
                 strerror(errno));
        return ST_IO;
    }
    return ST_OK;
}

void session_set_ptx(struct session *s, const char *path, struct str text)
{
    s->head_changed = true;
    BASE_FREE(s->ptx_path, s->text);
    s->ptx_path = base_strdup(path);
    s->hash = base_hash(text.s, text.n);
    s->ntext = text.n <= KEPT_TEXT ? text.n : 0;
    s->text = base_alloc(s->ntext + 1);
    if (s->text && s->ntext)
        memcpy(s->text, text.s, s->ntext);
}

enum status session_set_launch(struct session *s, const struct launch_spec *l)
{
    launch_spec_drop(s->launch);
    s->head_changed = true;
    return launch_copied(l, &s->launch);
}

const char *session_path(const struct session *s)
{
    return s->path;
}
uint64_t session_bytes(const struct session *s)
{
    return s->placed ? (uint64_t)s->mine.st_size : 0;
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
    return s->launch;
}
const char *session_time(const struct session *s)
{
    return s->time;
}
size_t session_count(const struct session *s)
{
    return s->n;
}

struct session_run *session_begin(struct session *s, enum run_kind kind)
{
    if (!base_grow((void **)&s->slots, s->n, &s->cap, sizeof *s->slots))
        return NULL;
    struct session_run *r = session_run_new(kind);
    if (!r)
        return NULL;
    r->time = (int64_t)time(NULL);
    s->slots[s->n++] = (struct session_slot){ .run = r, .open = true };
    return r;
}

const struct session_run *session_look(struct session *s, size_t i)
{
    struct session_slot *t = i < s->n ? &s->slots[i] : NULL;
    if (t && !t->run && session_read_ahead(s, i, &s->trouble) != ST_OK)
        return NULL;
    s->looked = i;
    return t ? t->run : NULL;
}

struct session_run *session_at(struct session *s, size_t i)
{
    if (!session_look(s, i))
        return NULL;
    s->slots[i].open = true;
    return s->slots[i].run;
}

void session_rest(struct session *s, size_t i)
{
    struct session_slot *t = i < s->n ? &s->slots[i] : NULL;
    if (!t || t->open || !t->text)
        return;
    session_run_drop(t->run);
    t->run = NULL;
}

struct session_run *session_take(struct session *s, size_t i)
{
    if (!session_look(s, i) || s->slots[i].open || !s->slots[i].text)
        return NULL;
    struct session_run *r = s->slots[i].run;
    s->slots[i].run = NULL;
    return r;
}

bool session_trouble(struct session *s, struct diags *ds)
{
    bool any = s->trouble.errors > 0;
    diags_move(ds, &s->trouble);
    return any;
}

/* ---- writing ---- */

static void put_head(struct jw *w, const struct session *s)
{
    jw_put_int(w, "major", SESSION_MAJOR);
    jw_put_int(w, "minor", SESSION_MINOR);
    jw_put_int(w, "reads_from", SESSION_MAJOR);
    jw_put_str(w, "writer", "gpulocw " GPULOCW_VERSION);
    jw_put_str(w, "time", s->time);
}

static void put_subject(struct jw *w, const struct session *s)
{
    char hex[24];
    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)s->hash);
    if (s->ptx_path) {
        jw_put_obj(w, "ptx");
        jw_put_str(w, "path", s->ptx_path);
        jw_put_str(w, "hash", hex);
        jw_key(w, "text");
        if (s->ntext)
            jw_view(w, (struct str){ s->text, s->ntext });
        else
            jw_null(w);
        jw_end_obj(w);
    }
    if (s->launch) {
        jw_put_obj(w, "launch");
        put_launch(w, s->launch, false);
        jw_end_obj(w);
    }
}

/* Every save is a new file, so a file that is not the one left behind is somebody else's, and what is in
 * it goes. */
static bool is_mine(const struct session *s)
{
    struct stat now;
    return stat(s->path, &now) == 0 && now.st_ino == s->mine.st_ino && now.st_size == s->mine.st_size &&
           now.st_mtim.tv_sec == s->mine.st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == s->mine.st_mtim.tv_nsec;
}

/* Has another program put a file there since this one last looked? */
static bool is_taken(const struct session *s)
{
    struct stat now;
    return stat(s->path, &now) == 0 && S_ISREG(now.st_mode) && (s->placed ? !is_mine(s) : s->absent);
}

/* "two-2.json" for "two.json": the first of these names that is free. Owned; NULL: out of memory, or
 * none is. */
static char *free_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    int stem = (int)(dot ? (size_t)(dot - path) : strlen(path));
    struct stat any;
    for (unsigned k = 2; k < 1000; k++) {
        struct buf b = { 0 };
        buf_printf(&b, "%.*s-%u%s", stem, path, k, dot ? dot : "");
        char *name = buf_take(&b);
        if (!name || lstat(name, &any) != 0)
            return name;
        base_free(name);
    }
    return NULL;
}

/* The session goes on under this name, which is kept. */
static void rename_to(struct session *s, char *path)
{
    char *source = s->journal.source; /* runs point into it */
    s->journal.source = NULL;
    journal_free(&s->journal);
    s->journal = (struct session_journal){ .looked = true, .source = source };
    base_free(s->path);
    s->path = path;
    s->placed = s->absent = false;
}

/* False with errno: it cannot be locked, or (EWOULDBLOCK) another holds it for more than two seconds. */
static bool take_lock(int fd)
{
    for (int k = 0; k < 400; k++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return false;
        nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
    }
    errno = EWOULDBLOCK;
    return false;
}

/* Programs that save in one folder do so one after the other, so that what is_taken and free_name saw still holds
 * when the file is put there. NFS locks nothing that is not open for writing, folders neither: there a file stands
 * for the folder, and stays. -1: no lock; then the look alone has to do. */
static int lock_folder(const char *path)
{
    char *folder = base_strdup(strchr(path, '/') ? path : "./");
    if (folder)
        strrchr(folder, '/')[1] = '\0';
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    base_free(folder);
    if (fd < 0 || take_lock(fd))
        return fd;
    int file = errno == EWOULDBLOCK
                   ? -1
                   : openat(fd, ".gpulocw.lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    close(fd);
    if (file < 0 || take_lock(file))
        return file;
    close(file);
    return -1;
}

/* Every save replaces the file: where it is another program's now, this one writes beside it. */
static enum status step_aside(struct session *s, struct diags *ds)
{
    char *name = is_taken(s) ? free_name(s->path) : NULL;
    if (!name)
        return is_taken(s) ? ST_IO : ST_OK;
    diag_add(
        ds, DIAG_WARNING, "session", s->path, NO_SPAN,
        "another program has written this session: this one goes on in %s, and nothing of either is "
        "lost",
        name);
    rename_to(s, name);
    return ST_OK;
}

void session_note_place(struct session *s)
{
    s->placed = stat(s->path, &s->mine) == 0;
}

static enum status put_file(struct session *s, const struct buf *b, struct diags *ds)
{
    int lock = lock_folder(s->path);
    enum status st = step_aside(s, ds);
    if (st == ST_OK) {
        journal_saving(s, b->s, b->n);
        st = file_write_atomic(s->path, b->s, b->n, ds);
        session_note_place(s); /* it may be in place although what comes after that failed */
    }
    if (lock >= 0)
        close(lock);
    return st;
}

enum status session_save(struct session *s, struct diags *ds)
{
    struct buf b = { 0 };
    struct jw w = document_open(&b, "gpulocw-session", 2);
    put_head(&w, s);
    put_subject(&w, s);
    jw_put_arr(&w, "runs");
    for (size_t i = 0; i < s->n; i++)
        if (s->slots[i].open || !s->slots[i].text)
            session_run_put(&w, s->slots[i].run);
        else
            jw_raw(&w, (struct str){ s->slots[i].text, s->slots[i].n });
    jw_end_arr(&w);
    const cJSON *k;
    cJSON_ArrayForEach(k, s->kept)
    {
        jw_key(&w, k->string);
        jw_tree(&w, k);
    }
    document_close(&w);
    enum status st = b.oom ? ST_NOMEM : put_file(s, &b, ds);
    if (st == ST_OK) {
        journal_saved(s, b.s, b.n);
        for (size_t i = 0; i < s->n; i++)
            s->slots[i].kept = true;
        s->head_changed = false;
    }
    buf_free(&b);
    return st;
}

enum status session_move(struct session *s, const char *path, struct diags *ds)
{
    char *own = base_strdup(path);
    if (!own)
        return ST_NOMEM;
    rename_to(s, own);
    return session_save(s, ds);
}

/* ---- keeping: a line of the journal, or the whole file ---- */
static bool whole_file(const struct session *s)
{
    uint64_t n = session_bytes(s);
    return n < SESSION_JOURNAL_FROM || s->head_changed || s->journal.off || s->journal.merged ||
           s->journal.n > n / 2 + SESSION_JOURNAL_FROM || !is_mine(s);
}

/* A line for each run that is not on disk as it is. */
static enum status keep_fresh(struct session *s)
{
    enum status st = ST_OK;
    for (size_t k = 0; k < s->n && st == ST_OK; k++) {
        struct session_slot *t = &s->slots[k];
        if (t->kept)
            continue;
        st = journal_run(s, k, NULL);
        t->kept = st == ST_OK;
    }
    return st;
}

enum status session_keep_run(struct session *s, size_t i, struct diags *ds)
{
    if (i >= s->n || whole_file(s))
        return session_save(s, ds);
    s->slots[i].kept = s->slots[i].kept && !s->slots[i].run;
    return keep_fresh(s) == ST_OK ? ST_OK : session_save(s, ds);
}

enum status session_keep_point(struct session *s, const struct session_run *run, const struct result *r,
                               struct diags *ds)
{
    size_t i = s->n;
    while (i-- > 0 && s->slots[i].run != run)
        ;
    if (i >= s->n || whole_file(s))
        return session_save(s, ds);
    bool line = s->slots[i].kept && !result_probe_ctas(r);
    s->slots[i].kept = line;
    enum status st = keep_fresh(s);
    if (st == ST_OK && line)
        st = journal_point(s, i, r, NULL);
    if (st == ST_OK)
        return ST_OK;
    s->slots[i].kept = false;
    return session_save(s, ds);
}

enum status session_finish(struct session *s, struct diags *ds)
{
    return s->journal.path ? session_save(s, ds) : ST_OK;
}

/* A run's text as session_save writes it; NULL: out of memory. */
static char *run_text(const struct session_run *r, size_t *n)
{
    struct buf b = { 0 };
    struct jw w = jw_open(&b, 2);
    w.depth = 2; /* in "runs" of the document */
    w.keyed = true;
    session_run_put(&w, r);
    *n = b.n;
    return buf_take(&b);
}

void session_settle(struct session *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct session_slot *t = &s->slots[i];
        size_t n = 0;
        char *text = t->open ? run_text(t->run, &n) : NULL;
        if (!text)
            continue;
        if (t->own)
            base_free((void *)(uintptr_t)t->text);
        *t = (struct session_slot){ .run = t->run, .text = text, .n = n, .own = true, .kept = t->kept };
        session_rest(s, i);
    }
}
