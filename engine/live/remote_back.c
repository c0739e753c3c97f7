/* What comes back of a command elsewhere, in frames of the worker protocol: the greeting, then parts of
 * request 1 (type BYTES) whose first byte says what the others are: O standard output, N the name of the
 * file that begins here, D its next bytes. At the end a REPLY: how many parts there were, and the exit
 * status. */
#include "engine/live/remote.h"

#include "engine/base/file.h"
#include "engine/dev/worker/wire.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAME_MOST = 200, READ_SIZE = 1 << 16, FILE_PART = 1 << 20 };

/* ---- this end ---- */
struct taking {
    const struct remote_back *back;
    char name[NAME_MOST + 1]; /* of the file that comes in; "": none */
    struct file_new file;
};

/* As capture names its files. */
static bool is_file_name(const char *name, size_t n)
{
    bool ok = n && n <= NAME_MOST && (isalnum((unsigned char)*name) || *name == '_');
    for (size_t i = 0; i < n && ok; i++)
        ok = isalnum((unsigned char)name[i]) || strchr("._-", name[i]);
    return ok && !memchr(name, 0, n);
}

static enum status cannot_write(const struct taking *t, struct diags *ds)
{
    diag_error(ds, "write", "%s/%s: %s: %s", t->back->folder, t->name, t->file.what,
               strerror(t->file.err));
    return t->file.err == ENOMEM ? ST_NOMEM : ST_IO;
}

/* The file is whole, or (keep false) is given up. */
static enum status file_end(struct taking *t, bool keep, struct diags *ds)
{
    if (!*t->name)
        return ST_OK;
    enum status st = !keep || file_new_done(&t->file) ? ST_OK : cannot_write(t, ds);
    file_new_drop(&t->file);
    *t->name = 0;
    return st;
}

static enum status damaged(struct diags *ds)
{
    diag_error(ds, "remote", "the data from the other machine are damaged");
    return ST_IO;
}

static enum status file_begin(struct taking *t, const char *name, size_t n, struct diags *ds)
{
    struct buf path = { 0 };
    enum status st = file_end(t, true, ds);
    if (st != ST_OK)
        return st;
    if (!t->back->folder || !is_file_name(name, n))
        return damaged(ds);
    memcpy(t->name, name, n);
    t->name[n] = 0;
    buf_printf(&path, "%s/%s", t->back->folder, t->name);
    if (path.oom)
        *t->name = 0; /* nothing is open */
    else if (!file_new_open(&t->file, path.s))
        st = cannot_write(t, ds);
    st = path.oom ? ST_NOMEM : st;
    buf_free(&path);
    return st;
}

static enum status file_data(struct taking *t, const char *data, size_t n, struct diags *ds)
{
    if (!*t->name)
        return damaged(ds);
    return file_new_put(&t->file, data, n) ? ST_OK : cannot_write(t, ds);
}

static enum status take_part(struct taking *t, const struct buf *part, struct diags *ds)
{
    if (!part->n)
        return damaged(ds);
    const char *data = part->s + 1;
    size_t n = part->n - 1;
    if (*part->s == 'O' && t->back->out)
        t->back->out(t->back->ctx, data, n);
    return *part->s == 'N'   ? file_begin(t, data, n, ds)
           : *part->s == 'D' ? file_data(t, data, n, ds)
           : *part->s == 'O' ? ST_OK
                             : damaged(ds);
}

/* Frames in order up to the REPLY. */
static enum status take_parts(struct wire_stream *s, struct taking *t, int *exit, struct diags *ds)
{
    struct buf part = { 0 };
    struct wire_frame f;
    enum status st = ST_OK;
    enum wire_end end = WIRE_OK;
    uint32_t next = 0;
    bool whole = false;
    while (st == ST_OK && !whole && (end = wire_recv(s, INT64_MAX, NULL, &f, &part)) == WIRE_OK) {
        if (f.type == WIRE_HELLO)
            continue;
        struct wire_in in = { .p = (const uint8_t *)part.s, .n = part.n };
        whole = f.type == WIRE_REPLY && f.number == 1 && f.part == next;
        if (whole)
            *exit = (int)wire_get_uint(&in, "exit");
        if (whole ? in.bad : f.type != WIRE_BYTES || f.number != 1 || f.part != next++)
            st = damaged(ds);
        else if (!whole)
            st = take_part(t, &part, ds);
    }
    buf_free(&part);
    if (st == ST_OK && !whole && end == WIRE_BAD)
        st = damaged(ds);
    if (st == ST_OK && !whole) {
        diag_error(ds, "remote", "the command on the other machine ended before all data arrived");
        st = ST_IO;
    }
    return st;
}

enum status remote_take_back(int f, const struct remote_back *back, int *exit, struct diags *ds)
{
    struct wire_stream s = { .fd = f };
    struct taking t = { .back = back, .file = { .fd = -1, .folder = -1 } };
    uint32_t version = 0;
    if (wire_greeting(&s, INT64_MAX, NULL, &version) != WIRE_OK) {
        diag_error(ds, "remote", "the command on the other machine did not start");
        return ST_IO;
    }
    enum status st = take_parts(&s, &t, exit, ds);
    enum status last = file_end(&t, st == ST_OK, ds);
    return st == ST_OK ? last : st;
}

/* ---- the other end ---- */
struct remote_out {
    int real;             /* standard output as it was */
    int from[2], stop[2]; /* pipes: what is printed now, and the end of it */
    uint32_t part;
    bool gone; /* the other end takes nothing more: the command goes on */
    pthread_t thread;
};

static void put(struct remote_out *o, char kind, const char *data, size_t n)
{
    const struct wire_frame f = { .type = WIRE_BYTES, .number = 1, .part = o->part };
    struct buf b = { 0 };
    buf_put(&b, &kind, 1);
    buf_put(&b, data, n);
    if (!o->gone && wire_send(o->real, &f, &b, INT64_MAX, NULL))
        o->part++;
    else
        o->gone = true;
    buf_free(&b);
}

/* Hands on what is printed, until `stop` and nothing more is there. */
static void *relay(void *ctx)
{
    struct remote_out *o = ctx;
    struct pollfd p[2] = { { .fd = o->from[0], .events = POLLIN },
                           { .fd = o->stop[0], .events = POLLIN } };
    char data[READ_SIZE];
    for (;;) {
        if (poll(p, 2, -1) < 0 && errno != EINTR)
            return NULL;
        if (!(p[0].revents & POLLIN)) {
            if (p[1].revents || p[0].revents)
                return NULL;
            continue;
        }
        ssize_t n = read(o->from[0], data, sizeof data);
        if (n > 0)
            put(o, 'O', data, (size_t)n);
    }
}

static void out_free(struct remote_out *o)
{
    const int fd[] = { o->real, o->from[0], o->from[1], o->stop[0], o->stop[1] };
    for (size_t i = 0; i < ARRAY_LEN(fd); i++)
        if (fd[i] >= 0)
            close(fd[i]);
    base_free(o);
}

enum status remote_out_start(struct remote_out **out, struct diags *ds)
{
    struct remote_out *o = base_alloc(sizeof *o);
    *out = NULL;
    if (!o)
        return ST_NOMEM;
    o->from[0] = o->from[1] = o->stop[0] = o->stop[1] = -1;
    fflush(stdout);
    o->real = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (o->real < 0 || pipe2(o->from, O_CLOEXEC) != 0 || pipe2(o->stop, O_CLOEXEC) != 0 ||
        !wire_greet(o->real) || pthread_create(&o->thread, NULL, relay, o) != 0) {
        diag_error(ds, "remote", "cannot forward standard output: %s", strerror(errno));
        out_free(o);
        return ST_IO;
    }
    dup2(o->from[1], STDOUT_FILENO);
    *out = o;
    return ST_OK;
}

static enum status put_file(struct remote_out *o, const char *folder, const char *name, struct diags *ds)
{
    struct buf path = { 0 };
    char *data = base_alloc(FILE_PART);
    buf_printf(&path, "%s/%s", folder, name);
    enum status st = path.oom || !data ? ST_NOMEM : ST_OK;
    FILE *f = st == ST_OK ? fopen(path.s, "rbe") : NULL;
    size_t n;
    if (f)
        put(o, 'N', name, strlen(name));
    while (f && !o->gone && (n = fread(data, 1, FILE_PART, f)) > 0)
        put(o, 'D', data, n);
    if (st == ST_OK && (!f || ferror(f))) {
        diag_error(ds, "read", "cannot read %s: %s", path.s, strerror(errno));
        st = ST_IO;
    }
    if (f)
        fclose(f);
    base_free(data);
    buf_free(&path);
    return st;
}

static enum status put_files(struct remote_out *o, const char *folder, struct diags *ds)
{
    enum status st = ST_OK;
    DIR *d = opendir(folder);
    struct dirent *e;
    while (d && st == ST_OK && (e = readdir(d)))
        if (is_file_name(e->d_name, strlen(e->d_name)))
            st = put_file(o, folder, e->d_name, ds);
    if (!d) {
        diag_error(ds, "read", "cannot read %s: %s", folder, strerror(errno));
        st = ST_IO;
    } else {
        closedir(d);
    }
    return st;
}

enum status remote_out_end(struct remote_out *o, const char *folder, int exit, struct diags *ds)
{
    if (!o)
        return ST_OK;
    fflush(stdout);
    dup2(o->real, STDOUT_FILENO);
    if (write(o->stop[1], "", 1) == 1)
        pthread_join(o->thread, NULL);
    enum status st = folder ? put_files(o, folder, ds) : ST_OK;
    const struct wire_frame f = { .type = WIRE_REPLY, .number = 1, .part = o->part };
    struct buf b = { 0 };
    wire_uint(&b, "exit", (uint64_t)(st == ST_OK ? exit : status_exit_code(st)));
    o->gone = o->gone || !wire_send(o->real, &f, &b, INT64_MAX, NULL);
    buf_free(&b);
    if (st == ST_OK && o->gone) {
        diag_error(ds, "remote", "the other machine disconnected before all data were sent");
        st = ST_IO;
    }
    out_free(o);
    return st;
}
