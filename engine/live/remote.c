/* Both ends of a command that runs elsewhere. What is sent: a head line, then records "KIND BYTES
 * NAME\n" with so many bytes and a line feed: W a word, P a word of the program, F a file that is named,
 * B one beside it; at the end "E 0 -\n". It travels in frames of the worker protocol, as request 1:
 * parts of type BYTES, and a REPLY that says how many there were. */
#include "engine/live/remote.h"

#include "engine/base/name.h"
#include "engine/base/private_folder.h"
#include "engine/dev/worker/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SENT_MOST = 256 << 20, FILES_MOST = 256 };
#define HEAD "gpulocw-remote 1\n"

extern char **environ;

bool remote_add(char ***v, size_t *n, size_t *cap, const char *text)
{
    void *grown = *v;
    char *own = base_strdup(text);
    if (!own || !base_grow(&grown, *n + 1, cap, sizeof **v)) {
        base_free(own);
        return false;
    }
    *v = grown;
    (*v)[(*n)++] = own;
    (*v)[*n] = NULL;
    return true;
}

static void list_free(char **v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        base_free(v[i]);
    base_free(v);
}

void remote_free(struct remote *r)
{
    list_free(r->word, r->nwords);
    list_free(r->program, r->nprogram);
    list_free(r->file, r->nfiles);
    private_folder_remove(r->folder);
    *r = (struct remote){ 0 };
}

/* ---- this end ---- */
static void put(struct buf *b, char kind, const char *name, const char *data, size_t n)
{
    buf_printf(b, "%c %zu %s\n", kind, n, name);
    buf_put(b, data, n);
    buf_puts(b, "\n");
}

static enum status pack(const struct remote *r, struct buf *b, struct diags *ds)
{
    enum status st = ST_OK;
    buf_puts(b, HEAD);
    for (size_t i = 0; i < r->nwords; i++)
        put(b, 'W', "-", r->word[i], strlen(r->word[i]));
    for (size_t i = 0; i < r->nprogram; i++)
        put(b, 'P', "-", r->program[i], strlen(r->program[i]));
    for (size_t i = 0; i < r->nfiles && st == ST_OK; i++) {
        char *text = NULL;
        size_t n = 0;
        st = file_read_regular(r->file[i], SENT_MOST, &text, &n, ds);
        if (st == ST_OK)
            put(b, i < r->named ? 'F' : 'B', base_file_name(r->file[i]), text, n);
        base_free(text);
    }
    buf_puts(b, "E 0 -\n");
    return b->oom ? ST_NOMEM : st;
}

/* "ssh host gpulocw worker" -> "exec ssh host gpulocw apply --from-stdin" */
static enum status line_of(const char *launcher, const char *command, struct buf *out, struct diags *ds)
{
    static const char word[] = "worker";
    size_t n = strlen(launcher), m = sizeof word - 1;
    while (n && launcher[n - 1] == ' ')
        n--;
    if (n <= m || memcmp(launcher + n - m, word, m) != 0 || launcher[n - m - 1] != ' ') {
        struct diag *d = diag_add(ds, DIAG_ERROR, "usage", NULL, NO_SPAN,
                                  "the launcher must end in 'worker' to run %s on that machine: %s",
                                  command, launcher);
        diag_hint(d, "for example --worker 'ssh host gpulocw worker'");
        return ST_USAGE;
    }
    buf_printf(out, "exec %.*s%s --from-stdin", (int)(n - m), launcher, command);
    return out->oom ? ST_NOMEM : ST_OK;
}

static pid_t start(char *line, int in, int out, struct diags *ds)
{
    static char sh[] = "/bin/sh", c[] = "-c";
    char *argv[] = { sh, c, line, NULL };
    posix_spawn_file_actions_t fa;
    pid_t pid = 0;
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, in, 0);
    if (out >= 0)
        posix_spawn_file_actions_adddup2(&fa, out, 1);
    int e = posix_spawn(&pid, sh, &fa, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&fa);
    if (e)
        diag_error(ds, "worker", "cannot start %s: %s", line, strerror(e));
    return e ? 0 : pid;
}

/* An end that has gone says by its exit status how. */
static void send_all(int f, const struct buf *all)
{
    struct wire_frame frame = { .type = WIRE_BYTES, .number = 1 };
    bool there = true;
    for (size_t at = 0; there && at < all->n; frame.part++) {
        size_t n = all->n - at < WIRE_CHUNK ? all->n - at : WIRE_CHUNK;
        struct buf part = { .s = all->s + at, .n = n }; /* borrowed */
        there = wire_send(f, &frame, &part, INT64_MAX, NULL);
        at += n;
    }
    frame.type = WIRE_REPLY;
    if (there)
        wire_send(f, &frame, NULL, INT64_MAX, NULL);
}

static void close_both(const int p[2])
{
    close(p[0]);
    close(p[1]);
}

/* in, out: pipes. out is closed on the way. */
static enum status run_line(char *line, const struct buf *data, int in[2], int out[2],
                            const struct remote_back *back, int *exit, struct diags *ds)
{
    int state = 0;
    pid_t pid = start(line, in[0], back ? out[1] : -1, ds);
    enum status st = pid ? ST_OK : ST_IO;
    close(in[0]);
    close(out[1]);
    if (pid)
        send_all(in[1], data);
    close(in[1]);
    if (pid && back)
        st = remote_take_back(out[0], back, exit, ds);
    close(out[0]);
    while (pid && waitpid(pid, &state, 0) < 0 && errno == EINTR) {}
    if (!back || st != ST_OK)
        *exit = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
    if (pid && st != ST_OK && *exit)
        diag_hint(diags_last(ds), "the launcher ended with exit status %d", *exit);
    return st;
}

enum status remote_run(const char *launcher, const char *command, const struct remote *r,
                       const struct remote_back *back, int *exit, struct diags *ds)
{
    struct buf line = { 0 }, data = { 0 };
    int in[2], out[2];
    enum status st = line_of(launcher, command, &line, ds);
    if (st == ST_OK)
        st = pack(r, &data, ds);
    if (st == ST_OK && pipe2(in, O_CLOEXEC) != 0)
        st = ST_IO;
    if (st == ST_OK && pipe2(out, O_CLOEXEC) != 0) {
        close_both(in);
        st = ST_IO;
    } else if (st == ST_OK) {
        st = run_line(line.s, &data, in, out, back, exit, ds);
    }
    buf_free(&line);
    buf_free(&data);
    return st;
}

/* ---- the other end ---- */
static enum status damaged(struct diags *ds)
{
    diag_hint(diag_add(ds, DIAG_ERROR, "remote", NULL, NO_SPAN,
                       "standard input is truncated or does not come from --worker"),
              "both machines need the same version of gpulocw");
    return ST_INPUT;
}

static bool plain_name(const char *name)
{
    return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static enum status take(struct remote *r, char kind, const char *name, const char *data, size_t n,
                        struct diags *ds)
{
    struct buf text = { 0 };
    enum status st = ST_OK;
    bool ok = true;
    if (kind == 'F' || kind == 'B') {
        if (!plain_name(name) || r->nfiles == FILES_MOST || (kind == 'F' && r->named < r->nfiles))
            return damaged(ds);
        st = private_folder_put(r->folder, name, data, n, &text, ds);
        ok = st != ST_OK || remote_add(&r->file, &r->nfiles, &r->files_cap, text.s);
        r->named += kind == 'F' && ok && st == ST_OK;
    } else {
        buf_put(&text, data, n);
        ok = text.s || !n;
        if (kind == 'W')
            ok = ok && remote_add(&r->word, &r->nwords, &r->words_cap, n ? text.s : "");
        else if (kind == 'P')
            ok = ok && remote_add(&r->program, &r->nprogram, &r->program_cap, n ? text.s : "");
        else
            st = damaged(ds);
    }
    buf_free(&text);
    return !ok ? ST_NOMEM : st;
}

enum status remote_unpack(struct remote *r, char *at, size_t size, struct diags *ds)
{
    char *end = at + size;
    if ((size_t)(end - at) < sizeof HEAD - 1 || memcmp(at, HEAD, sizeof HEAD - 1) != 0)
        return damaged(ds);
    at += sizeof HEAD - 1;
    for (;;) {
        char *line = at, *feed = memchr(at, '\n', (size_t)(end - at)), kind;
        size_t n;
        int name = 0;
        if (!feed)
            return damaged(ds);
        *feed = 0;
        at = feed + 1;
        if (sscanf(line, "%c %zu %n", &kind, &n, &name) < 2 || !name)
            return damaged(ds);
        if (kind == 'E')
            return ST_OK;
        if (n >= (size_t)(end - at) || at[n] != '\n')
            return damaged(ds);
        enum status st = take(r, kind, line + name, at, n, ds);
        if (st != ST_OK)
            return st;
        at += n + 1;
    }
}

/* The bytes of all parts, in order. */
static enum status read_parts(int f, struct buf *all, struct diags *ds)
{
    struct wire_stream stream = { .fd = f };
    struct wire_frame frame;
    struct buf part = { 0 };
    uint32_t next = 0;
    bool fine = true, whole = false;
    while (fine && !whole && wire_recv(&stream, INT64_MAX, NULL, &frame, &part) == WIRE_OK) {
        whole = frame.type == WIRE_REPLY && frame.number == 1 && frame.part == next;
        fine = whole || (frame.type == WIRE_BYTES && frame.number == 1 && frame.part == next++ &&
                         part.n <= SENT_MOST - all->n);
        if (!whole && fine)
            buf_put(all, part.s, part.n);
    }
    buf_free(&part);
    return all->oom ? ST_NOMEM : whole && all->s ? ST_OK : damaged(ds);
}

enum status remote_read(int f, struct remote *r, struct diags *ds)
{
    struct buf all = { 0 };
    enum status st = private_folder_make(&r->folder, ds);
    if (st == ST_OK)
        st = read_parts(f, &all, ds);
    if (st == ST_OK)
        st = remote_unpack(r, all.s, all.n, ds);
    buf_free(&all);
    return st;
}
