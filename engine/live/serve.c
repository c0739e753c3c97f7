/* The other end of engine/dev/inject/ask.c: which kernels are wanted, what PTX an image has, how far the
 * capture is. One connection after the other; a process that asks waits. */
#include "engine/live/serve.h"

#include "engine/dev/inject/record.h"
#include "engine/live/live.h"
#include "engine/live/live_int.h"
#include "engine/live/take.h"
#include "engine/ptx/flow/callgraph.h"
#include "engine/ptx/ptx.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { QUESTION_MOST = 1 << 16, WAITING = 64, ASK_WAIT_S = 60 };

struct serve {
    const struct live_want *want;
    int socket, stop[2], folder;
    pthread_t thread;
    bool started;
    struct serve_code *v;
    size_t n, cap;
};

/* ---- answers ---- */
bool live_wanted(const struct live_want *w, const char *name)
{
    struct buf readable = { 0 };
    bool yes = !w->nkernels;
    ptx_readable(str_of(name), &readable);
    for (size_t i = 0; i < w->nkernels; i++)
        yes |= strstr(name, w->kernel[i]) || (readable.s && strstr(readable.s, w->kernel[i]));
    buf_free(&readable);
    return yes;
}

static const struct ptx_func *entry_of(const struct ptx_module *m, const char *name)
{
    const struct ptx_func *f = ptx_find_func(m, str_of(name));
    return f && f->entry ? f : NULL;
}

static void put_why(struct buf *out, const char *why)
{
    buf_clear(out);
    buf_printf(out, "why %s\n", why);
}

static void put_layout(struct buf *out, const struct ptx_module *m, const struct ptx_func *f)
{
    buf_puts(out, "ptx\n");
    for (uint32_t i = 0; i < f->nparams; i++)
        buf_printf(out, "P %llu %llu%s\n", (unsigned long long)f->params[i]->offset,
                   (unsigned long long)f->params[i]->bytes, take_is_float(f->params[i]) ? " f" : "");
    for (uint32_t i = 0; i < m->nglobals; i++) {
        const struct ptx_symbol *g = m->globals[i];
        if (g->space == PTX_SPACE_GLOBAL || g->space == PTX_SPACE_CONST)
            buf_printf(out, "G %.*s\n", (int)g->name.n, g->name.s);
    }
}

static const char *why_kind(const char *kind)
{
    return strcmp(kind, "lto") == 0     ? "LTO-IR only, which cannot be read"
           : strcmp(kind, "cubin") == 0 ? "machine code only (SASS), and no cache has its PTX"
                                        : "the image it was loaded from was not recorded";
}

/* The first of what went wrong, in one line. */
static void put_diags(struct buf *out, const struct diags *ds)
{
    put_why(out, ds->n && ds->v[0].msg ? ds->v[0].msg : "its PTX could not be read");
    for (size_t i = 0; out->s && i + 1 < out->n; i++)
        if (out->s[i] == '\n')
            out->s[i] = ' ';
}

static bool names_launch(const struct ptx_operand *o)
{
    struct str n =
        o->kind == OPND_SYM && o->sym->kind == SYM_FUNC ? o->sym->name : (struct str){ "", 0 };
    return n.n && (str_is(n, "cudaLaunchDevice") || str_is(n, "cudaLaunchDeviceV2") ||
                   (n.n > 9 && memcmp(n.s, "__cudaCDP", 9) == 0 &&
                    memmem(n.s, n.n, "LaunchDevice", strlen("LaunchDevice"))));
}

/* Does the kernel, or a function that it comes to, launch kernels? 1, 0; -1: out of memory. */
static int launches_kernels(const struct ptx_module *m, const struct ptx_func *f)
{
    const struct ptx_func **list = base_alloc(m->nfuncs * sizeof(void *));
    uint32_t *place = base_alloc(m->nfuncs * sizeof *place), n = 0;
    int yes = list && place ? 0 : -1;
    if (yes == 0)
        n = ptx_reachable(m, f, list, place);
    for (uint32_t i = 0; i < n && !yes; i++)
        for (uint32_t k = 0; k < list[i]->ninsts && !yes; k++)
            for (unsigned o = 0; o < list[i]->insts[k].nopnds; o++)
                yes |= names_launch(&list[i]->insts[k].opnds[o]);
    BASE_FREE(list, place);
    return yes;
}

static void keep(struct serve *s, const char *name, uint64_t image, struct ptx_module *m)
{
    void *v = s->v;
    char *own = base_grow(&v, s->n, &s->cap, sizeof *s->v) ? base_strdup(name) : NULL;
    s->v = v ? v : s->v;
    if (own)
        s->v[s->n++] = (struct serve_code){ own, image, m };
    else
        ptx_free(m);
}

static void code(struct serve *s, char *question, struct buf *out)
{
    char *name = question, *rest = strchr(question, ' '), kind[16] = "", *path = NULL;
    unsigned long long image = 0;
    unsigned cc = 0;
    int at = 0, launches = 0;
    struct diags ds = { 0 };
    struct ptx_module *m = NULL;
    if (!rest || (*rest++ = 0, sscanf(rest, "%llx %15s %u %n", &image, kind, &cc, &at) < 3) || !at) {
        put_why(out, "the request was not understood");
        return;
    }
    const char *file = rest + at;
    if (strcmp(kind, "ptx") != 0 && live_cache_find(s->want->kept, image, &path) == ST_OK && path)
        file = path;
    bool several = false;
    if (strcmp(kind, "ptx") != 0 && !path && live_dump_find(name, &path, &several) == ST_OK && path)
        file = path;
    if (strcmp(kind, "ptx") != 0 && !path) {
        put_why(out, several ? "machine code only (SASS), and several PTX files of XLA's dump have a "
                               "kernel of that name"
                             : why_kind(kind));
    } else if (s->want->open(s->want->ctx, file, name, cc, &m, &ds) != ST_OK) {
        put_diags(out, &ds);
    } else if (!entry_of(m, name)) {
        put_why(out, "its PTX has no kernel of that name");
    } else if ((launches = launches_kernels(m, entry_of(m, name))) != 0) {
        put_why(
            out,
            launches < 0
                ? "out of memory"
                : "it launches kernels itself (device-side launches), whose data cannot be captured");
    } else {
        put_layout(out, m, entry_of(m, name));
        keep(s, name, image, m);
        m = NULL;
    }
    ptx_free(m);
    base_free(path);
    diags_free(&ds);
}

void serve_answer(struct serve *s, char *question, struct buf *out)
{
    struct buf line = { 0 };
    question[strcspn(question, "\n")] = 0;
    if (strncmp(question, "want ", 5) == 0) {
        buf_puts(out, live_wanted(s->want, question + 5) ? "yes\n" : "no\n");
    } else if (strncmp(question, "code ", 5) == 0) {
        code(s, question + 5, out);
    } else if (strncmp(question, "done ", 5) == 0 && s->want->progress) {
        char *bytes = strrchr(question, ' ');
        *bytes++ = 0;
        ptx_readable(str_of(question + 5), &line);
        buf_printf(&line, ": %.1f MB", atof(bytes) / 1e6);
        if (line.s && !line.oom)
            s->want->progress(s->want->ctx, line.s);
    }
    buf_free(&line);
}

static void serve_one(struct serve *s, int c)
{
    struct timeval wait = { .tv_sec = ASK_WAIT_S };
    char *question = base_alloc(QUESTION_MOST + 1);
    struct buf out = { 0 };
    size_t n = 0;
    ssize_t k = 1;
    setsockopt(c, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    while (question && k > 0 && n < QUESTION_MOST) {
        k = recv(c, question + n, QUESTION_MOST - n, 0);
        n += k > 0 ? (size_t)k : 0;
    }
    if (question && n)
        serve_answer(s, question, &out);
    for (size_t at = 0; !out.oom && at < out.n; at += (size_t)k)
        if ((k = send(c, out.s + at, out.n - at, MSG_NOSIGNAL)) <= 0)
            break;
    buf_free(&out);
    base_free(question);
}

static void *serve_all(void *ctx)
{
    struct serve *s = ctx;
    struct pollfd p[2] = { { .fd = s->socket, .events = POLLIN },
                           { .fd = s->stop[0], .events = POLLIN } };
    while (poll(p, 2, -1) >= 0 && !(p[1].revents)) {
        int c = p[0].revents & POLLIN ? accept4(s->socket, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (c < 0)
            continue;
        serve_one(s, c);
        close(c);
    }
    return NULL;
}

/* ---- the socket ---- */
/* A socket's name is short: its folder by a descriptor. */
static bool listen_at(struct serve *s, const char *file)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    struct buf b = { 0 };
    buf_printf(&b, "%s%s", file, LIVE_ASK_SUFFIX);
    char *name = b.s && !b.oom ? strrchr(b.s, '/') : NULL;
    if (name) {
        *name++ = 0;
        s->folder = open(b.s, O_PATH | O_DIRECTORY | O_CLOEXEC);
        s->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    }
    bool fine = name && s->folder >= 0 && s->socket >= 0 &&
                (size_t)snprintf(a.sun_path, sizeof a.sun_path, "/proc/self/fd/%d/%s", s->folder, name) <
                    sizeof a.sun_path &&
                bind(s->socket, (const struct sockaddr *)&a, sizeof a) == 0 &&
                listen(s->socket, WAITING) == 0 && pipe2(s->stop, O_CLOEXEC) == 0;
    buf_free(&b);
    return fine;
}

enum status serve_start(const struct live_want *w, const char *file, struct serve **out,
                        struct diags *ds)
{
    struct serve *s = base_alloc(sizeof *s);
    *out = s;
    if (!s)
        return ST_NOMEM;
    s->want = w;
    s->socket = s->folder = s->stop[0] = s->stop[1] = -1;
    s->started = listen_at(s, file) && pthread_create(&s->thread, NULL, serve_all, s) == 0;
    if (!s->started)
        diag_error(ds, "capture", "cannot create a socket for the program in %s", file);
    return s->started ? ST_OK : ST_IO;
}

void serve_stop(struct serve *s)
{
    if (!s || !s->started)
        return;
    s->started = false;
    if (write(s->stop[1], "", 1) == 1)
        pthread_join(s->thread, NULL);
}

const struct serve_code *serve_code_of(const struct serve *s, const char *name, uint64_t image)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].image == image && strcmp(s->v[i].name, name) == 0)
            return &s->v[i];
    return NULL;
}

void serve_free(struct serve *s)
{
    if (!s)
        return;
    serve_stop(s);
    const int fd[] = { s->socket, s->folder, s->stop[0], s->stop[1] };
    for (size_t i = 0; i < ARRAY_LEN(fd); i++)
        if (fd[i] >= 0)
            close(fd[i]);
    for (size_t i = 0; i < s->n; i++) {
        base_free(s->v[i].name);
        ptx_free(s->v[i].module);
    }
    BASE_FREE(s->v, s);
}
