/* apply: the plan for the injected library, its questions while the program runs, what it says at the
 * end. */
#include "engine/live/apply.h"

#include "engine/base/private_folder.h"
#include "engine/live/live_int.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LINE_MOST = 8192, KEPT_MOST = 1 << 20 };

const char *live_apply_why(int why)
{
    static const char *const WORDS[] = {
#define WORD(id, text) text,
        LIVE_APPLY_WHY(WORD)
#undef WORD
    };
    return why >= 0 && why < LIVE_APPLY_NWHY ? WORDS[why] : "";
}

static void symbols_free(struct live_symbol *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        base_free(v[i].name);
    base_free(v);
}

static void live_apply_reset(struct live_apply *a)
{
    for (size_t i = 0; i < a->n; i++) {
        struct live_target *t = &a->v[i];
        for (size_t k = 0; k < LIVE_ARMS; k++)
            base_free(t->time[k].v);
        memset(t->time, 0, sizeof t->time);
        memset(t->skipped, 0, sizeof t->skipped);
        t->launches = t->applied = t->captured = t->load_ns = t->enter_ns = 0;
        t->verified = t->differed = 0;
    }
    live_survey_free(&a->survey);
    a->span_ns = 0;
}

void live_apply_free(struct live_apply *a)
{
    live_apply_reset(a);
    for (size_t i = 0; i < a->n; i++) {
        struct live_target *t = &a->v[i];
        symbols_free(t->zero, t->nzero);
        symbols_free(t->mirror, t->nmirror);
        BASE_FREE(t->kernel, t->text, t->code, t->whole);
    }
    base_free(a->v);
    *a = (struct live_apply){ 0 };
}

static int by_value(const void *x, const void *y)
{
    const uint32_t *a = x, *b = y;
    return (*a > *b) - (*a < *b);
}

bool live_spread(struct live_times *t, struct live_spread *out)
{
    if (!t->kept)
        return false;
    qsort(t->v, t->kept, sizeof *t->v, by_value);
    size_t half = t->kept / 2;
    out->median = t->kept % 2 ? t->v[half] : ((uint64_t)t->v[half] + t->v[half - 1]) / 2;
    out->min = t->v[0];
    out->max = t->v[t->kept - 1];
    return true;
}

/* ---- the plan ---- */
static void put_shape(struct buf *b, char key, const struct live_shape *s)
{
    buf_printf(b, "%c %u %u %u %u %u %u %u\n", key, s->grid.x, s->grid.y, s->grid.z, s->block.x,
               s->block.y, s->block.z, s->shared);
}

static enum status put_target(struct buf *b, const struct live_target *t, size_t i, const char *folder,
                              struct diags *ds)
{
    struct buf path = { 0 };
    char name[32];
    snprintf(name, sizeof name, "tuned.%zu", i);
    enum status st = private_folder_put(folder, name, t->text, strlen(t->text), &path, ds);
    if (st == ST_OK)
        buf_printf(b, "T %s %s\n", t->kernel, path.s);
    buf_free(&path);
    if (st == ST_OK && t->code) {
        snprintf(name, sizeof name, "code.%zu", i);
        st = private_folder_put(folder, name, t->code, t->ncode, &path, ds);
        if (st == ST_OK)
            buf_printf(b, "B %s\n", path.s);
    }
    buf_free(&path);
    if (st == ST_OK && t->whole) {
        snprintf(name, sizeof name, "whole.%zu", i);
        st = private_folder_put(folder, name, t->whole, strlen(t->whole), &path, ds);
        if (st == ST_OK)
            buf_printf(b, "W %s\n", path.s);
    }
    if (!t->any) {
        put_shape(b, 'O', &t->original);
        put_shape(b, 'N', &t->tuned);
    }
    if (t->carveout >= 0)
        buf_printf(b, "C %d\n", t->carveout);
    for (size_t k = 0; k < t->nzero; k++)
        buf_printf(b, "Z %llu %s\n", (unsigned long long)t->zero[k].bytes, t->zero[k].name);
    for (size_t k = 0; k < t->nmirror; k++)
        buf_printf(b, "S %d %s\n", t->mirror[k].back, t->mirror[k].name);
    if (t->unsafe)
        buf_puts(b, "U\n");
    buf_free(&path);
    return st;
}

static enum status put_plan(const struct live_apply *a, const char *folder, const char *socket,
                            struct buf *path, struct diags *ds)
{
    struct buf b = { 0 };
    enum status st = ST_OK;
    buf_printf(&b, "%s\nM %d %u %s\n", LIVE_APPLY_HEAD, a->mode, a->verify, socket);
    for (size_t i = 0; i < a->n && st == ST_OK; i++)
        st = put_target(&b, &a->v[i], i, folder, ds);
    if (st == ST_OK)
        st = b.oom ? ST_NOMEM : private_folder_put(folder, "plan", b.s, b.n, path, ds);
    buf_free(&b);
    return st;
}

/* ---- questions of the library ---- */
struct answering {
    const struct live_apply *a;
    int listening, stop[2];
    pthread_t thread;
    bool running;
};

void live_apply_answer(const struct live_apply *a, char *question, struct buf *out)
{
    unsigned long long hash = 0, bytes = 0;
    int at = 0, maxreg = 0;
    question[strcspn(question, "\n")] = 0;
    char *name = question, *path = strchr(question, ' ');
    if (!path)
        return;
    *path++ = 0;
    if (sscanf(path, "%llu %llu %n", &hash, &bytes, &at) < 2 || !at)
        return;
    path += at;
    uint64_t whole = 0,
             mask = a->match(a->ctx, name, hash, strcmp(path, "-") == 0 ? NULL : path, &maxreg, &whole);
    buf_printf(out, "%llu %d %llu\n", (unsigned long long)mask, maxreg, (unsigned long long)whole);
}

static void answer(const struct live_apply *a, int s)
{
    char line[LINE_MOST];
    struct buf out = { 0 };
    size_t n = 0;
    ssize_t got;
    struct timeval patience = { .tv_sec = 5 };
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    while (n < sizeof line - 1 && !memchr(line, '\n', n) &&
           (got = read(s, line + n, sizeof line - 1 - n)) > 0)
        n += (size_t)got;
    line[n] = 0;
    live_apply_answer(a, line, &out);
    if (!out.oom && out.n)
        /* a program that has gone does not wait */
        (void)!send(s, out.s, out.n, MSG_NOSIGNAL);
    buf_free(&out);
}

static void *answer_all(void *ctx)
{
    struct answering *w = ctx;
    struct pollfd p[] = { { w->listening, POLLIN, 0 }, { w->stop[0], POLLIN, 0 } };
    while (poll(p, 2, -1) >= 0 && !p[1].revents) {
        int s = p[0].revents ? accept4(w->listening, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (s < 0)
            continue;
        answer(w->a, s);
        close(s);
    }
    return NULL;
}

static enum status answering_start(struct answering *w, const char *path, struct diags *ds)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    w->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ok = strlen(path) < sizeof at.sun_path && w->listening >= 0;
    if (ok) {
        memcpy(at.sun_path, path, strlen(path) + 1);
        ok = bind(w->listening, (const struct sockaddr *)&at, sizeof at) == 0 &&
             listen(w->listening, 64) == 0 && pipe2(w->stop, O_CLOEXEC) == 0;
    }
    w->running = ok && pthread_create(&w->thread, NULL, answer_all, w) == 0;
    if (!w->running)
        diag_hint(diag_add(ds, DIAG_ERROR, "apply", NULL, NO_SPAN, "cannot create the socket %s", path),
                  "set TMPDIR to a shorter path, on a file system with sockets");
    return w->running ? ST_OK : ST_IO;
}

static void answering_stop(struct answering *w)
{
    if (w->running && write(w->stop[1], "", 1) == 1)
        pthread_join(w->thread, NULL);
    if (w->listening >= 0)
        close(w->listening);
    for (size_t i = 0; i < 2; i++)
        if (w->stop[i] > 0)
            close(w->stop[i]);
}

/* ---- the record ---- */
static bool take_times(struct live_times *t, const char *numbers, uint64_t n)
{
    t->n += n;
    for (char *end; t->kept < KEPT_MOST; numbers = end) {
        unsigned long ns = strtoul(numbers, &end, 10);
        if (end == numbers)
            break;
        if (!base_grow((void **)&t->v, t->kept, &t->cap, sizeof *t->v))
            return false;
        t->v[t->kept++] = (uint32_t)ns;
    }
    return true;
}

bool live_apply_line(void *ctx, const char *line)
{
    struct live_apply *a = ctx;
    unsigned long long n[8];
    unsigned i, arm;
    int at = 0;
    if (sscanf(line, "AP %llu %llu", &n[0], &n[1]) == 2 && n[1] > n[0] && n[1] - n[0] > a->span_ns)
        a->span_ns = n[1] - n[0];
    if (sscanf(line, "AS %u %u %llu %n", &i, &arm, &n[0], &at) >= 3 && at && i < a->n && arm < LIVE_ARMS)
        return take_times(&a->v[i].time[arm], line + at, n[0]);
    if (sscanf(line, "AW %u %u %llu", &i, &arm, &n[0]) == 3 && i < a->n && arm < LIVE_APPLY_NWHY)
        a->v[i].skipped[arm] += n[0];
    if (sscanf(line, "AT %u %llu %llu %llu %llu %llu %llu %llu", &i, &n[0], &n[1], &n[2], &n[3], &n[4],
               &n[5], &n[6]) == 8 &&
        i < a->n) {
        struct live_target *t = &a->v[i];
        t->launches += n[0];
        t->applied += n[1];
        t->captured += n[2];
        t->verified += (unsigned)n[3];
        t->differed += (unsigned)n[4];
        t->load_ns = n[5] > t->load_ns ? n[5] : t->load_ns;
        t->enter_ns += n[6];
    }
    return true;
}

static void peek(void *ctx, const char *record)
{
    struct live_apply *a = ctx, now = { .n = a->n };
    struct live_extra x = { .line = live_apply_line, .ctx = &now };
    struct diags unsaid = { 0 };
    now.v = base_alloc(a->n * sizeof *now.v);
    now.n = now.v ? a->n : 0;
    bool room = now.v != NULL;
    for (size_t i = 0; i < now.n; i++)
        room = (now.v[i].kernel = base_strdup(a->v[i].kernel)) && room;
    if (room && live_records_peek(&now.survey, record, &x, &unsaid) == ST_OK)
        a->so_far(a->ctx, &now);
    else
        live_apply_free(&now);
    diags_free(&unsaid);
}

enum status live_apply_run(char *const *argv, struct live_apply *a, struct diags *ds)
{
    struct answering w = { .a = a, .listening = -1 };
    struct buf socket = { 0 }, plan = { 0 };
    char *folder;
    live_apply_reset(a);
    enum status st = private_folder_make(&folder, ds);
    if (st == ST_OK) {
        buf_printf(&socket, "%s/ask", folder);
        st = socket.oom ? ST_NOMEM : answering_start(&w, socket.s, ds);
    }
    if (st == ST_OK)
        st = put_plan(a, folder, socket.s, &plan, ds);
    if (st == ST_OK) {
        struct live_extra extra = { LIVE_APPLY_VARIABLE, plan.s, live_apply_line, a,
                                    a->so_far ? peek : NULL };
        st = live_run(argv, &extra, &a->survey, ds);
    }
    answering_stop(&w);
    private_folder_remove(folder);
    buf_free(&socket);
    buf_free(&plan);
    return st;
}
