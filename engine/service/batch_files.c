/* The files of a batch: requests, results in order, and results that wait for their turn. */
#include "engine/base/io.h"
#include "engine/service/batch_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum status cannot(struct batch *b, const char *what, const char *path)
{
    diag_add(b->ds, DIAG_ERROR, "io", path, NO_SPAN, "cannot %s: %s", what, strerror(errno));
    return ST_IO;
}

/* ---- results of an earlier run ---- */
static bool take_old(struct batch *b, const char *line, size_t n, bool part)
{
    cJSON *o = json_parse("results", line, n, NULL);
    const char *format = json_text(o, "format"), *hash = json_text(o, "request");
    uint64_t number = 0;
    bool ours = format && hash && strcmp(format, "gpulocw-batch") == 0 &&
                json_u64(json_get(o, "line"), &number) &&
                base_grow((void **)&b->old, b->nold, &b->old_cap, sizeof *b->old);
    if (ours) {
        struct batch_old *at = &b->old[b->nold++];
        *at = (struct batch_old){ .number = number, .hash = strtoull(hash, NULL, 16) };
        if (part) {
            buf_put(&at->line, line, n);
            buf_puts(&at->line, "\n");
        }
    }
    cJSON_Delete(o);
    return ours;
}

/* All whole lines of a file of results; *whole: bytes of them. A last line that was cut off is left out.
 * ST_USAGE: the file holds something else. */
static enum status read_old(struct batch *b, const char *path, bool part, uint64_t *whole)
{
    char *data = NULL;
    size_t n = 0, at = 0;
    struct stat is;
    *whole = 0;
    if (stat(path, &is) != 0)
        return ST_OK;
    enum status st = file_read_regular(path, SIZE_MAX / 2, &data, &n, b->ds);
    for (char *end; st == ST_OK && at < n && (end = memchr(data + at, '\n', n - at));) {
        if (!take_old(b, data + at, (size_t)(end - (data + at)), part)) {
            struct diag *d = diag_add(b->ds, DIAG_ERROR, "output", path, NO_SPAN,
                                      "this file exists and was not written by gpulocw batch");
            diag_hint(d, "choose another file, or delete this one");
            st = ST_USAGE;
        }
        at = (size_t)(end - data) + 1;
    }
    *whole = at;
    base_free(data);
    return st;
}

static int by_number(const void *a, const void *b)
{
    const struct batch_old *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* The output is cut behind its last whole line; results wait in the part file until their turn. */
static enum status open_output(struct batch *b)
{
    struct buf path = { 0 };
    if (!b->o->output) {
        b->out = dup(STDOUT_FILENO);
        return b->out < 0 ? cannot(b, "write", "standard output") : ST_OK;
    }
    buf_printf(&path, "%s.part", b->o->output);
    b->part_path = buf_take(&path);
    if (!b->part_path)
        return ST_NOMEM;
    enum status st = read_old(b, b->o->output, false, &b->written);
    if (st == ST_OK)
        st = read_old(b, b->part_path, true, &b->spooled);
    if (st != ST_OK)
        return st;
    if (b->nold)
        qsort(b->old, b->nold, sizeof *b->old, by_number);
    b->out = base_open(b->o->output, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (b->out < 0 || ftruncate(b->out, (off_t)b->written) || lseek(b->out, 0, SEEK_END) < 0)
        return cannot(b, "write", b->o->output);
    b->part = base_open(b->part_path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (b->part < 0 || ftruncate(b->part, (off_t)b->spooled) || lseek(b->part, 0, SEEK_END) < 0)
        return cannot(b, "write", b->part_path);
    return ST_OK;
}

enum status batch_open(struct batch *b)
{
    struct stat is;
    bool standard = strcmp(b->o->file, "-") == 0;
    b->in = standard ? dup(STDIN_FILENO) : base_open(b->o->file, O_RDONLY | O_CLOEXEC, 0);
    if (b->in < 0)
        return cannot(b, "open", b->o->file);
    if (fstat(b->in, &is) == 0 && S_ISDIR(is.st_mode)) {
        errno = EISDIR;
        return cannot(b, "read", b->o->file);
    }
    b->size = fstat(b->in, &is) == 0 && S_ISREG(is.st_mode) ? (uint64_t)is.st_size : 0;
    b->more = true;
    return open_output(b);
}

/* ---- requests ---- */
/* Reads until a line is whole or the end; its length with the line feed; 0: the end. */
static size_t whole_line(struct batch *b)
{
    size_t looked = 0;
    for (;;) {
        char *end = b->ahead.n > looked ? memchr(b->ahead.s + looked, '\n', b->ahead.n - looked) : NULL;
        if (end)
            return (size_t)(end - b->ahead.s) + 1;
        looked = b->ahead.n;
        char piece[65536];
        ssize_t n = looked > BATCH_MOST_LINE ? 0 : base_read(b->in, piece, sizeof piece);
        if (n < 0 && errno == EINTR && !cancel_asked(b->o->cancel))
            continue;
        if (n < 0) {
            b->unread = true;
            cannot(b, "read", b->o->file);
            return 0; /* half a line is no request */
        }
        if (n == 0)
            return b->ahead.n;
        buf_put(&b->ahead, piece, (size_t)n);
        b->read += (uint64_t)n;
    }
}

static bool blank(struct str s)
{
    size_t k = 0;
    while (k < s.n && strchr(" \t\r\n", s.s[k]))
        k++;
    return k == s.n;
}

/* The result of an earlier run for this line: *at; it must be of the same request. */
static bool had(struct batch *b, uint64_t number, uint64_t hash, struct batch_old **at)
{
    while (b->next_old < b->nold && b->old[b->next_old].number < number)
        b->next_old++;
    *at = b->next_old < b->nold && b->old[b->next_old].number == number ? &b->old[b->next_old] : NULL;
    if (!*at || (*at)->hash == hash)
        return *at != NULL;
    struct diag *d =
        diag_add(b->ds, DIAG_ERROR, "resume", b->o->output, NO_SPAN,
                 "the result of line %llu belongs to another request", (unsigned long long)number);
    diag_hint(d, "these results belong to another file of requests: choose another output with -o");
    b->failed = true;
    return false;
}

static struct batch_line *append(struct batch *b, struct str text)
{
    if (!base_grow((void **)&b->line, b->n, &b->cap, sizeof *b->line)) {
        b->failed = true;
        return NULL;
    }
    struct batch_line *l = &b->line[b->n++];
    *l = (struct batch_line){ .number = b->numbers, .hash = base_hash(text.s, text.n) };
    l->job = (struct service_job){ .out = -1, .err = -1, .steps = -1 };
    buf_str(&l->text, text);
    return l;
}

static void drop_ahead(struct batch *b, size_t n)
{
    struct buf rest = { .oom = b->ahead.oom };
    buf_put(&rest, b->ahead.s + n, b->ahead.n - n);
    buf_free(&b->ahead);
    b->ahead = rest;
}

struct batch_line *batch_next(struct batch *b)
{
    for (size_t n; (n = whole_line(b)) > 0;) {
        struct str text = { b->ahead.s, b->ahead.s[n - 1] == '\n' ? n - 1 : n };
        struct batch_old *old = NULL;
        struct batch_line *l = NULL;
        b->numbers++;
        if (!blank(text)) {
            b->counts->requests++;
            bool done = had(b, b->numbers, base_hash(text.s, text.n), &old);
            b->counts->resumed += done;
            l = b->failed || (done && !old->line.n) ? NULL : append(b, text);
            if (l && done) {
                l->state = BATCH_DONE;
                l->result = old->line;
                old->line = (struct buf){ 0 };
            }
        }
        drop_ahead(b, n);
        if (l || b->failed)
            return l;
    }
    b->more = false;
    return NULL;
}

/* ---- results ---- */
/* The whole line, or the file is as it was, with *whole bytes; NULL: standard output, which keeps what
 * went. */
static bool put_all(int fd, const struct buf *line, uint64_t *whole)
{
    bool ok = !line->oom;
    for (size_t at = 0; ok && at < line->n;) {
        ssize_t n = base_write(fd, line->s + at, line->n - at);
        ok = n >= 0 || errno == EINTR;
        at += n > 0 ? (size_t)n : 0;
    }
    int why = line->oom ? ENOMEM : errno;
    if (ok && whole)
        *whole += line->n;
    else if (whole && ftruncate(fd, (off_t)*whole) == 0)
        lseek(fd, (off_t)*whole, SEEK_SET);
    errno = why;
    return ok;
}

static void lost(struct batch *b, const char *path)
{
    if (!b->failed)
        diag_add(b->ds, DIAG_ERROR, "io", path, NO_SPAN,
                 "cannot write a result: %s; earlier results are kept, and the same command continues "
                 "from there",
                 strerror(errno));
    b->failed = true;
}

void batch_spool(struct batch *b, struct batch_line *l)
{
    if (b->part >= 0 && l != b->line && l->state == BATCH_DONE &&
        !put_all(b->part, &l->result, &b->spooled))
        lost(b, b->part_path);
}

static void free_line(struct batch_line *l)
{
    job_free(&l->job);
    request_free(&l->request);
    cJSON_Delete(l->json);
    buf_free(&l->text);
    buf_free(&l->result);
}

void batch_flush(struct batch *b)
{
    size_t k = 0;
    while (k < b->n && b->line[k].state == BATCH_DONE && !b->failed) {
        if (put_all(b->out, &b->line[k].result, b->o->output ? &b->written : NULL))
            free_line(&b->line[k++]);
        else
            lost(b, b->o->output ? b->o->output : "standard output");
    }
    if (k)
        memmove(b->line, b->line + k, (b->n - k) * sizeof *b->line);
    b->n -= k;
}

enum status batch_close(struct batch *b, bool whole)
{
    if (b->out >= 0 && b->o->output && base_fsync(b->out))
        lost(b, b->o->output);
    if (b->out >= 0 && base_close(b->out))
        lost(b, b->o->output ? b->o->output : "standard output");
    if (b->in >= 0)
        base_close(b->in);
    if (b->part >= 0)
        base_close(b->part);
    if (whole && !b->failed && b->part_path)
        unlink(b->part_path);
    for (size_t i = 0; i < b->n; i++)
        free_line(&b->line[i]);
    for (size_t i = 0; i < b->nold; i++)
        buf_free(&b->old[i].line);
    BASE_FREE(b->line, b->old, b->part_path);
    buf_free(&b->ahead);
    return b->failed || b->unread ? ST_IO : ST_OK;
}
