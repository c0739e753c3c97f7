/* The journal of a session, written: journal.h says what is in it. */
#include "engine/session/store/journal.h"

#include "engine/base/crc.h"
#include "engine/base/io.h"
#include "engine/session/store/store_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *journal_name(const struct session *s)
{
    struct buf b = { 0 };
    char *real = realpath(s->path, NULL); /* beside the file, also where the path is a link */
    buf_printf(&b, "%s.journal", real ? real : s->path);
    free(real);
    return buf_take(&b);
}

struct journal_mark journal_mark_of(const char *p, size_t n)
{
    return (struct journal_mark){ n, base_crc32c(0, p, n) };
}

static const char magic[] = "{\"format\": \"gpulocw-journal\"";

bool journal_ours(const char *path)
{
    char head[9 + sizeof magic - 1];
    struct stat st;
    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    int fd = base_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    bool ours = fd >= 0 && base_pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head &&
                memcmp(head + 9, magic, sizeof magic - 1) == 0;
    if (fd >= 0)
        base_close(fd);
    return ours;
}

static void put_mark(struct jw *w, struct journal_mark m)
{
    char hex[16];
    snprintf(hex, sizeof hex, "%08x", m.crc);
    jw_put_uint(w, "size", m.size);
    jw_put_str(w, "crc", hex);
}

/* The line of a text, with its checksum and newline. */
static void line_of(const struct buf *text, struct buf *line)
{
    buf_printf(line, "%08x ", base_crc32c(0, text->s, text->n));
    buf_str(line, (struct str){ text->s, text->n });
    buf_puts(line, "\n");
    line->oom = line->oom || text->oom;
}

static enum status cannot(const char *path, int err, struct diags *ds)
{
    diag_add(ds, DIAG_ERROR, "io", path, NO_SPAN, "cannot write: %s", strerror(err ? err : EIO));
    return ST_IO;
}

static bool put_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t w = base_write(fd, p, n);
        if (w < 0 && errno == EINTR)
            continue;
        if (w <= 0)
            return false;
        p += w;
        n -= (size_t)w;
    }
    return true;
}

/* What could not be written whole is cut off again; where that fails, too, no line follows it. */
static enum status append(struct session_journal *j, const struct buf *text, struct diags *ds)
{
    struct buf line = { 0 };
    line_of(text, &line);
    bool ok = !line.oom && put_all(j->fd, line.s, line.n) && base_fsync(j->fd) == 0;
    int err = line.oom ? ENOMEM : errno;
    if (ok)
        j->n += line.n;
    else
        j->off = ftruncate(j->fd, (off_t)j->n) != 0 || j->off;
    buf_free(&line);
    return ok ? ST_OK : cannot(j->path, err, ds);
}

static struct jw text_open(struct buf *text)
{
    struct jw w = jw_open(text, 0);
    jw_obj(&w);
    return w;
}

static enum status opened(struct session_journal *j, char *path, uint64_t n, struct diags *ds)
{
    j->fd = !path ? -1 : base_open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0);
    if (j->fd < 0) {
        enum status st = path ? cannot(path, errno, ds) : ST_NOMEM;
        base_free(path);
        return st;
    }
    j->path = path;
    j->n = n;
    return ST_OK;
}

/* The first line gets its name whole, so that a journal that is there can be told from other files. */
static enum status begin(struct session *s, struct diags *ds)
{
    struct session_journal *j = &s->journal;
    struct buf text = { 0 }, line = { 0 };
    struct stat st;
    char *path = journal_name(s);
    if (path && lstat(path, &st) == 0) {
        base_free(path);
        j->off = true; /* another program's */
        return ST_IO;
    }
    if (!j->base.size && s->source)
        j->base = journal_mark_of(s->source, s->nsource);
    struct jw w = text_open(&text);
    jw_put_str(&w, "format", "gpulocw-journal");
    jw_put_uint(&w, "major", 1);
    put_mark(&w, j->base);
    jw_end_obj(&w);
    line_of(&text, &line);
    enum status r = line.oom || !path ? ST_NOMEM : file_write_atomic(path, line.s, line.n, ds);
    if (r == ST_OK)
        r = opened(j, base_strdup(path), line.n, ds);
    if (r != ST_OK && path)
        unlink(path); /* there was none before */
    base_free(path);
    buf_free(&line);
    buf_free(&text);
    return r;
}

static enum status put_line(struct session *s, const struct buf *text, struct diags *ds)
{
    enum status st = text->oom ? ST_NOMEM : s->journal.path ? ST_OK : begin(s, ds);
    return st == ST_OK ? append(&s->journal, text, ds) : st;
}

enum status journal_run(struct session *s, size_t i, struct diags *ds)
{
    struct buf text = { 0 };
    struct jw w = text_open(&text);
    jw_put_uint(&w, "run", i);
    jw_key(&w, "whole");
    const struct session_slot *t = &s->slots[i];
    if (t->run && (t->open || !t->text))
        session_run_put(&w, t->run);
    else
        jw_raw(&w, (struct str){ t->text, t->n });
    jw_end_obj(&w);
    enum status st = put_line(s, &text, ds);
    buf_free(&text);
    return st;
}

enum status journal_point(struct session *s, size_t i, const struct result *r, struct diags *ds)
{
    struct buf text = { 0 };
    struct jw w = text_open(&text);
    jw_put_uint(&w, "run", i);
    jw_put_obj(&w, "point");
    put_result(&w, r);
    jw_end_obj(&w);
    jw_end_obj(&w);
    enum status st = put_line(s, &text, ds);
    buf_free(&text);
    return st;
}

/* Opens the journal that a program left behind, cut to its whole lines. */
static void adopt(struct session *s)
{
    struct session_journal *j = &s->journal;
    char *path = journal_name(s), *text = NULL;
    size_t n = 0;
    j->looked = true;
    if (!path || !journal_ours(path) || file_read(path, (size_t)1 << 30, &text, &n, NULL) != ST_OK) {
        base_free(path);
        return;
    }
    while (n && text[n - 1] != '\n')
        n--;
    base_free(text);
    if (opened(j, path, n, NULL) == ST_OK && ftruncate(j->fd, (off_t)n) != 0)
        j->off = true;
}

void journal_saving(struct session *s, const char *p, size_t n)
{
    struct session_journal *j = &s->journal;
    if (!j->path && (j->merged || !j->looked))
        adopt(s);
    if (!j->path || j->off)
        return;
    struct buf text = { 0 };
    struct jw w = text_open(&text);
    jw_put_obj(&w, "saved");
    put_mark(&w, journal_mark_of(p, n));
    jw_end_obj(&w);
    jw_end_obj(&w);
    if (!text.oom)
        append(j, &text, NULL); /* without it, a kill right after the save leaves a journal to remove */
    buf_free(&text);
}

void journal_saved(struct session *s, const char *p, size_t n)
{
    struct session_journal *j = &s->journal;
    if (j->path)
        base_close(j->fd);
    else if (j->merged)
        j->path = journal_name(s);
    if (j->path)
        unlink(j->path);
    base_free(j->path);
    j->path = NULL;
    j->n = 0;
    j->off = j->merged = false;
    j->base = n >= SESSION_JOURNAL_FROM ? journal_mark_of(p, n) : (struct journal_mark){ n, 0 };
}

void journal_free(struct session_journal *j)
{
    if (j->path)
        base_close(j->fd);
    BASE_FREE(j->path, j->source);
    j->path = j->source = NULL;
}
