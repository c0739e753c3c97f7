/* Transport of the worker protocol: frames over two file descriptors. */
#include "engine/dev/worker/wire.h"

#include "engine/base/base.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HEADER  16u
#define POLL_MS 20
#define SEND_NS INT64_C(30000000000)

static void put_le(uint8_t *to, uint64_t v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        to[i] = (uint8_t)(v >> (8 * i));
}

static uint64_t get_le(const uint8_t *from, unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++)
        v |= (uint64_t)from[i] << (8 * i);
    return v;
}

/* ---- sending ---- */
/* A descriptor set not to block is waited for, but not for ever: a stopped worker reads nothing. */
static bool wait_writable(int fd, const struct cancel *cancel)
{
    struct pollfd p = { .fd = fd, .events = POLLOUT };
    for (int64_t until = base_now_ns() + SEND_NS; base_now_ns() < until && !cancel_asked(cancel);) {
        int k = poll(&p, 1, POLL_MS);
        if (k > 0)
            return true;
        if (k < 0 && errno != EINTR)
            return false;
    }
    return false;
}

static bool write_all(int fd, const void *p, size_t n, const struct cancel *cancel)
{
    const char *s = p;
    while (n) {
        ssize_t k = write(fd, s, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0 && errno == EAGAIN && wait_writable(fd, cancel))
            continue;
        if (k <= 0)
            return false;
        s += k;
        n -= (size_t)k;
    }
    return true;
}

/* Writing to a worker that died must not end the program: SIGPIPE is held back for
 * this thread and taken off its queue if the write raised it. */
struct pipe_guard {
    sigset_t old;
    bool pending;
};
static void guard_enter(struct pipe_guard *g)
{
    sigset_t set, now;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigpending(&now);
    g->pending = sigismember(&now, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &set, &g->old);
}

static void guard_leave(struct pipe_guard *g)
{
    sigset_t set;
    struct timespec zero = { 0, 0 };
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    if (!g->pending)
        while (sigtimedwait(&set, NULL, &zero) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &g->old, NULL);
}

bool wire_send(int fd, enum wire_type type, const struct buf *payload, const struct cancel *cancel)
{
    uint8_t head[HEADER] = { 'G', 'L', 'W', WIRE_VERSION };
    size_t n = payload ? payload->n : 0;
    if (n > WIRE_MAX || (payload && payload->oom))
        return false;
    put_le(head + 4, (uint64_t)type, 4);
    put_le(head + 8, n, 8);
    struct pipe_guard g;
    guard_enter(&g);
    bool ok = write_all(fd, head, sizeof head, cancel) && (!n || write_all(fd, payload->s, n, cancel)) &&
              write_all(fd, "\n", 1, cancel);
    guard_leave(&g);
    return ok;
}

/* ---- receiving ---- */
static enum wire_end wait_readable(int fd, int64_t until, const struct cancel *cancel)
{
    for (;;) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        int k = poll(&p, 1, POLL_MS);
        if (k > 0)
            return WIRE_OK;
        if (k < 0 && errno != EINTR)
            return WIRE_CLOSED;
        if (cancel_asked(cancel))
            return WIRE_CANCELLED;
        if (base_now_ns() > until)
            return WIRE_TIMEOUT;
    }
}

static enum wire_end read_all(int fd, void *to, size_t n, int64_t until, const struct cancel *cancel)
{
    char *s = to;
    while (n) {
        enum wire_end e = wait_readable(fd, until, cancel);
        if (e != WIRE_OK)
            return e;
        ssize_t k = read(fd, s, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return WIRE_CLOSED;
        s += k;
        n -= (size_t)k;
        cancel = NULL; /* a frame that has begun is read to its end */
    }
    return WIRE_OK;
}

static enum wire_end read_body(int fd, const uint8_t *head, int64_t until, enum wire_type *type,
                               struct buf *payload)
{
    uint64_t n = get_le(head + 8, 8);
    *type = (enum wire_type)get_le(head + 4, 4);
    buf_clear(payload);
    if (memcmp(head, "GLW", 3) || n > WIRE_MAX)
        return WIRE_BAD;
    char chunk[65536];
    while (n) {
        size_t k = n < sizeof chunk ? (size_t)n : sizeof chunk;
        enum wire_end e = read_all(fd, chunk, k, until, NULL);
        if (e != WIRE_OK)
            return e;
        buf_put(payload, chunk, k);
        n -= k;
    }
    enum wire_end e = read_all(fd, chunk, 1, until, NULL);
    if (e != WIRE_OK)
        return e;
    return payload->oom || chunk[0] != '\n' ? WIRE_BAD : WIRE_OK;
}

enum wire_end wire_recv(int fd, int64_t until, const struct cancel *cancel, enum wire_type *type,
                        struct buf *payload)
{
    uint8_t head[HEADER];
    enum wire_end e = read_all(fd, head, sizeof head, until, cancel);
    return e == WIRE_OK ? read_body(fd, head, until, type, payload) : e;
}

enum wire_end wire_greeting(int fd, int64_t until, const struct cancel *cancel, uint32_t *version)
{
    uint8_t head[HEADER];
    enum wire_end e = read_all(fd, head, sizeof head, until, cancel);
    for (unsigned noise = 0; e == WIRE_OK && noise < WIRE_NOISE; noise++) {
        if (!memcmp(head, "GLW", 3) && get_le(head + 4, 4) == WIRE_GREETING &&
            get_le(head + 8, 8) == 0) {
            *version = head[3];
            return read_all(fd, head, 1, until, NULL);
        }
        memmove(head, head + 1, sizeof head - 1);
        e = read_all(fd, head + sizeof head - 1, 1, until, cancel);
    }
    return e == WIRE_OK ? WIRE_BAD : e;
}

/* ---- values ---- */
void wire_u32(struct buf *b, uint32_t v)
{
    uint8_t s[4];
    put_le(s, v, 4);
    buf_put(b, s, sizeof s);
}

void wire_u64(struct buf *b, uint64_t v)
{
    uint8_t s[8];
    put_le(s, v, 8);
    buf_put(b, s, sizeof s);
}

void wire_f64(struct buf *b, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    wire_u64(b, bits);
}

void wire_blob(struct buf *b, const void *p, uint64_t n)
{
    wire_u64(b, n);
    buf_put(b, p, (size_t)n);
}

void wire_text(struct buf *b, const char *s)
{
    wire_u32(b, s != NULL);
    if (s)
        wire_blob(b, s, strlen(s));
}

static const uint8_t *take(struct wire_in *w, uint64_t n)
{
    if (w->bad || n > w->n) {
        w->bad = true;
        return NULL;
    }
    const uint8_t *p = w->p;
    w->p += n;
    w->n -= (size_t)n;
    return p;
}

uint32_t wire_get_u32(struct wire_in *w)
{
    const uint8_t *p = take(w, 4);
    return p ? (uint32_t)get_le(p, 4) : 0;
}

uint64_t wire_get_u64(struct wire_in *w)
{
    const uint8_t *p = take(w, 8);
    return p ? get_le(p, 8) : 0;
}

double wire_get_f64(struct wire_in *w)
{
    uint64_t bits = wire_get_u64(w);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

struct str wire_get_blob(struct wire_in *w)
{
    uint64_t n = wire_get_u64(w);
    const uint8_t *p = take(w, n);
    return p ? (struct str){ (const char *)p, (size_t)n } : (struct str){ "", 0 };
}

char *wire_get_text(struct wire_in *w)
{
    if (!wire_get_u32(w))
        return NULL;
    struct str s = wire_get_blob(w);
    char *copy = base_alloc(s.n + 1);
    if (!copy)
        w->bad = true;
    else
        memcpy(copy, s.s, s.n);
    return copy;
}

void wire_get_chars(struct wire_in *w, char *to, size_t n)
{
    struct str s = wire_get_u32(w) ? wire_get_blob(w) : (struct str){ "", 0 };
    size_t k = s.n < n ? s.n : n - 1;
    memcpy(to, s.s, k);
    to[k] = '\0';
}
