/* Both ends of a command that runs elsewhere. What is sent: a head line, then records "KIND BYTES
 * NAME\n" with so many bytes and a line feed: W a word, P a word of the program, F a file that is named,
 * B one beside it; at the end "E 0 -\n". */
#include "engine/live/remote.h"

#include "engine/base/private_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
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
            put(b, i < r->named ? 'F' : 'B', base_name(r->file[i]), text, n);
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
                                  "a launcher that does not end in 'worker' cannot run %s there: %s",
                                  command, launcher);
        diag_hint(d, "--worker 'ssh host gpulocw worker'");
        return ST_USAGE;
    }
    buf_printf(out, "exec %.*s%s --from-stdin", (int)(n - m), launcher, command);
    return out->oom ? ST_NOMEM : ST_OK;
}

static pid_t start(char *line, int in[2], struct diags *ds)
{
    static char sh[] = "/bin/sh", c[] = "-c";
    char *argv[] = { sh, c, line, NULL };
    posix_spawn_file_actions_t fa;
    pid_t pid = 0;
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, in[0], 0);
    int e = posix_spawn(&pid, sh, &fa, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&fa);
    if (e)
        diag_error(ds, "worker", "cannot start %s: %s", line, strerror(e));
    return e ? 0 : pid;
}

static void send_all(int f, const struct buf *b)
{
    for (size_t at = 0; at < b->n;) {
        ssize_t n = write(f, b->s + at, b->n - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return; /* it has ended; its exit status says how */
        at += (size_t)n;
    }
}

enum status remote_run(const char *launcher, const char *command, const struct remote *r, int *exit,
                       struct diags *ds)
{
    struct buf line = { 0 }, data = { 0 };
    int in[2], state = 0;
    enum status st = line_of(launcher, command, &line, ds);
    if (st == ST_OK)
        st = pack(r, &data, ds);
    if (st == ST_OK && pipe2(in, O_CLOEXEC) != 0)
        st = ST_IO;
    else if (st == ST_OK) {
        void (*old)(int) = signal(SIGPIPE, SIG_IGN);
        pid_t pid = start(line.s, in, ds);
        close(in[0]);
        if (pid)
            send_all(in[1], &data);
        close(in[1]);
        while (pid && waitpid(pid, &state, 0) < 0 && errno == EINTR) {}
        signal(SIGPIPE, old);
        *exit = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
        st = pid ? ST_OK : ST_IO;
    }
    buf_free(&line);
    buf_free(&data);
    return st;
}

/* ---- the other end ---- */
static enum status damaged(struct diags *ds)
{
    diag_error(ds, "remote", "standard input is not what --worker sends, or was cut off");
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
        if (!plain_name(name) || r->nfiles == FILES_MOST)
            return damaged(ds);
        st = private_folder_put(r->folder, name, data, n, &text, ds);
        ok = st != ST_OK || remote_add(&r->file, &r->nfiles, &r->files_cap, text.s);
        r->named += kind == 'F';
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

static enum status unpack(struct remote *r, char *at, char *end, struct diags *ds)
{
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

enum status remote_read(int f, struct remote *r, struct diags *ds)
{
    struct buf all = { 0 };
    char part[1 << 16];
    ssize_t n;
    enum status st = private_folder_make(&r->folder, ds);
    while (st == ST_OK && all.n < (size_t)SENT_MOST &&
           ((n = read(f, part, sizeof part)) > 0 || (n < 0 && errno == EINTR)))
        if (n > 0)
            buf_put(&all, part, (size_t)n);
    if (st == ST_OK)
        st = all.oom ? ST_NOMEM : all.s ? unpack(r, all.s, all.s + all.n, ds) : damaged(ds);
    buf_free(&all);
    return st;
}
