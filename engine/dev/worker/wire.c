/* Transport of the worker protocol: frames over two file descriptors. */
#include "engine/dev/worker/wire.h"

#include "engine/base/crc.h"
#include "engine/base/version.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#define POLL_MS  20
#define GREET_NS INT64_C(60000000000)

/* Where the fields of a head are. */
enum { AT_TYPE = 4, AT_LENGTH = 8, AT_NUMBER = 16, AT_PART = 24, AT_CRC = 28, AT_HEAD_CRC = 32 };

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
static bool wait_writable(int fd, int64_t until, const struct cancel *cancel)
{
    struct pollfd p = { .fd = fd, .events = POLLOUT };
    while (base_now_ns() < until && !cancel_asked(cancel)) {
        int k = poll(&p, 1, POLL_MS);
        if (k > 0)
            return true;
        if (k < 0 && errno != EINTR)
            return false;
    }
    return false;
}

/* Takes k written bytes off the front of n parts. */
static size_t advance(struct iovec *v, size_t n, size_t k)
{
    size_t i = 0;
    for (; i < n && k >= v[i].iov_len; i++)
        k -= v[i].iov_len;
    if (i < n) {
        v[i].iov_base = (char *)v[i].iov_base + k;
        v[i].iov_len -= k;
    }
    return i;
}

/* All parts, in one go where the other end has room. `until` is for all of it: an end that takes a byte
 * a second is as good as one that takes none. */
static bool write_parts(int fd, struct iovec *v, size_t n, int64_t until, const struct cancel *cancel)
{
    while (n) {
        ssize_t k = writev(fd, v, (int)n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0 && errno == EAGAIN && wait_writable(fd, until, cancel))
            continue;
        if (k <= 0)
            return false;
        size_t done = advance(v, n, (size_t)k);
        v += done;
        n -= done;
        if (n && (cancel_asked(cancel) || base_now_ns() > until))
            return false;
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

static bool write_guarded(int fd, const void *head, size_t nhead, const struct buf *payload,
                          int64_t until, const struct cancel *cancel)
{
    struct iovec v[3] = { { (void *)(uintptr_t)head, nhead } };
    struct pipe_guard g;
    size_t n = 1;
    if (payload && payload->n)
        v[n++] = (struct iovec){ payload->s, payload->n };
    v[n++] = (struct iovec){ (void *)(uintptr_t) "\n", 1 };
    guard_enter(&g);
    bool ok = write_parts(fd, v, n, until, cancel);
    guard_leave(&g);
    return ok;
}

bool wire_send(int fd, const struct wire_frame *f, const struct buf *payload, int64_t until,
               const struct cancel *cancel)
{
    uint8_t head[WIRE_HEAD] = { 'G', 'L', 'W', WIRE_VERSION };
    size_t n = payload ? payload->n : 0;
    if (n > WIRE_MAX || (payload && payload->oom))
        return false;
    put_le(head + AT_TYPE, (uint64_t)f->type, 4);
    put_le(head + AT_LENGTH, n, 8);
    put_le(head + AT_NUMBER, f->number, 8);
    put_le(head + AT_PART, f->part, 4);
    put_le(head + AT_CRC, base_crc32c(0, n ? payload->s : NULL, n), 4);
    put_le(head + AT_HEAD_CRC, base_crc32c(0, head, AT_HEAD_CRC), 4);
    return write_guarded(fd, head, sizeof head, payload, until, cancel);
}

bool wire_greet(int fd)
{
    static const uint8_t greeting[WIRE_GREET - 1] = { 'G', 'L', 'W', WIRE_VERSION, WIRE_GREETING };
    const struct wire_frame hello = { .type = WIRE_HELLO };
    struct buf b = { 0 };
    int64_t until = base_now_ns() + GREET_NS;
    buf_printf(&b, "%s %d %d", GPULOCW_VERSION, WIRE_OLDEST, WIRE_VERSION);
    bool ok = write_guarded(fd, greeting, sizeof greeting, NULL, until, NULL) &&
              wire_send(fd, &hello, &b, until, NULL);
    buf_free(&b);
    return ok;
}

bool wire_get_hello(const struct buf *payload, struct wire_hello *out)
{
    char text[80];
    unsigned oldest, newest;
    snprintf(text, sizeof text, "%.*s", (int)(payload->n < sizeof text ? payload->n : sizeof text - 1),
             payload->n ? payload->s : "");
    if (sscanf(text, "%31s %9u %9u", out->program, &oldest, &newest) != 3 || oldest > newest)
        return false;
    for (char *c = out->program; *c; c++)
        *c = *c > ' ' && *c < 127 ? *c : '?'; /* a terminal is to show it */
    out->oldest = oldest;
    out->newest = newest;
    return true;
}

/* ---- receiving ---- */
/* Past the time what is there already is still taken, so that a program that was held up itself blames
 * nobody; a drop now and then is not waited for. */
static enum wire_end wait_readable(int fd, int64_t until, const struct cancel *cancel)
{
    for (;;) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        bool late = base_now_ns() > until;
        int k = poll(&p, 1, late || cancel_asked(cancel) ? 0 : POLL_MS);
        if (k < 0 && errno != EINTR)
            return WIRE_CLOSED;
        if (cancel_asked(cancel))
            return WIRE_CANCELLED;
        if (k > 0)
            return WIRE_OK;
        if (late)
            return WIRE_TIMEOUT;
    }
}

/* Some bytes, at most n; *got says how many. */
static enum wire_end read_some(int fd, void *to, size_t n, int64_t until, const struct cancel *cancel,
                               size_t *got)
{
    for (;;) {
        enum wire_end e = wait_readable(fd, until, cancel);
        if (e != WIRE_OK)
            return e;
        ssize_t k = read(fd, to, n);
        if (k < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        *got = k > 0 ? (size_t)k : 0;
        return k > 0 ? WIRE_OK : WIRE_CLOSED;
    }
}

static enum wire_end fill_head(struct wire_stream *s, size_t n, int64_t until,
                               const struct cancel *cancel)
{
    enum wire_end e = WIRE_OK;
    while (e == WIRE_OK && s->nhead < n) {
        size_t got = 0;
        e = read_some(s->fd, s->head + s->nhead, n - s->nhead, until, cancel, &got);
        s->nhead += got;
    }
    return e;
}

static bool is_greeting(const uint8_t *head)
{
    return !memcmp(head, "GLW", 3) && get_le(head + AT_TYPE, 4) == WIRE_GREETING &&
           get_le(head + AT_LENGTH, 8) == 0;
}

/* A greeting that came twice is no frame. */
static enum wire_end read_head(struct wire_stream *s, int64_t until, const struct cancel *cancel)
{
    enum wire_end e = fill_head(s, WIRE_HEAD, until, cancel);
    while (e == WIRE_OK && is_greeting(s->head) && s->head[WIRE_GREET - 1] == '\n') {
        s->nhead -= WIRE_GREET;
        memmove(s->head, s->head + WIRE_GREET, s->nhead);
        e = fill_head(s, WIRE_HEAD, until, cancel);
    }
    return e;
}

static bool head_makes_sense(const uint8_t *head)
{
    return !memcmp(head, "GLW", 3) &&
           get_le(head + AT_HEAD_CRC, 4) == base_crc32c(0, head, AT_HEAD_CRC) &&
           head[3] >= WIRE_OLDEST && head[3] <= WIRE_VERSION && get_le(head + AT_LENGTH, 8) <= WIRE_MAX;
}

/* Payload and newline; the newline is the last byte, and not part of the checksum. */
static enum wire_end read_body(struct wire_stream *s, uint64_t n, int64_t until,
                               const struct cancel *cancel, struct buf *payload)
{
    char chunk[65536];
    while (s->nbody <= n) {
        uint64_t left = s->nbody < n ? n - s->nbody : 1;
        size_t got = 0;
        enum wire_end e = read_some(s->fd, chunk, left < sizeof chunk ? (size_t)left : sizeof chunk,
                                    until, cancel, &got);
        if (e != WIRE_OK)
            return e;
        if (s->nbody == n) {
            s->nbody++;
            return chunk[0] == '\n' ? WIRE_OK : WIRE_BAD;
        }
        buf_put(payload, chunk, got);
        s->crc = base_crc32c(s->crc, chunk, got);
        s->nbody += got;
    }
    return WIRE_OK;
}

enum wire_end wire_recv(struct wire_stream *s, int64_t until, const struct cancel *cancel,
                        struct wire_frame *f, struct buf *payload)
{
    enum wire_end e = read_head(s, until, cancel);
    if (e != WIRE_OK)
        return e;
    if (!s->nbody && !head_makes_sense(s->head))
        return WIRE_BAD;
    if (!s->nbody) {
        buf_clear(payload);
        s->crc = 0;
    }
    e = read_body(s, get_le(s->head + AT_LENGTH, 8), until, cancel, payload);
    if (e != WIRE_OK)
        return e;
    f->type = (enum wire_type)get_le(s->head + AT_TYPE, 4);
    f->number = get_le(s->head + AT_NUMBER, 8);
    f->part = (uint32_t)get_le(s->head + AT_PART, 4);
    bool whole = !payload->oom && s->crc == (uint32_t)get_le(s->head + AT_CRC, 4);
    s->nhead = 0;
    s->nbody = 0;
    return whole ? WIRE_OK : WIRE_BAD;
}

enum wire_end wire_greeting(struct wire_stream *s, int64_t until, const struct cancel *cancel,
                            uint32_t *version)
{
    enum wire_end e = fill_head(s, WIRE_GREET, until, cancel);
    for (unsigned noise = 0; e == WIRE_OK && noise < WIRE_NOISE; noise++) {
        if (is_greeting(s->head)) {
            *version = s->head[3];
            s->nhead = 0;
            return WIRE_OK;
        }
        memmove(s->head, s->head + 1, --s->nhead);
        e = fill_head(s, WIRE_GREET, until, cancel);
    }
    return e == WIRE_OK ? WIRE_BAD : e;
}

/* ---- writing fields ---- */
#define TEXT_NULL UINT32_MAX

static void put_name(struct buf *b, const char *name, uint32_t n)
{
    uint8_t len = (uint8_t)strlen(name), size[4];
    put_le(size, n, 4);
    buf_put(b, &len, 1);
    buf_put(b, name, len);
    buf_put(b, size, sizeof size);
}

void wire_uint(struct buf *b, const char *name, uint64_t v)
{
    uint8_t s[8];
    put_le(s, v, 8);
    wire_bytes(b, name, s, sizeof s);
}

void wire_num(struct buf *b, const char *name, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    wire_uint(b, name, bits);
}

void wire_bytes(struct buf *b, const char *name, const void *p, uint64_t n)
{
    b->oom = b->oom || n > WIRE_MAX;
    put_name(b, name, (uint32_t)n);
    buf_put(b, p, (size_t)n);
}

void wire_text(struct buf *b, const char *name, const char *s)
{
    if (s)
        wire_bytes(b, name, s, strlen(s));
    else
        put_name(b, name, TEXT_NULL);
}

size_t wire_open(struct buf *b, const char *name)
{
    put_name(b, name, 0);
    return b->n;
}

void wire_close(struct buf *b, size_t opened)
{
    if (!b->oom && b->n - opened <= WIRE_MAX)
        put_le((uint8_t *)b->s + opened - 4, b->n - opened, 4);
    else
        b->oom = true;
}

/* ---- reading fields ---- */
void wire_fail(struct wire_in *w)
{
    for (; w; w = w->in)
        w->bad = true;
}

/* A field as it stands; `bytes.s` NULL: text that is NULL. */
struct field {
    struct str name, bytes;
    size_t end; /* where the next one begins */
};
static bool field_at(const struct wire_in *w, size_t at, struct field *f)
{
    size_t name = at < w->n ? w->p[at] : 0;
    if (at >= w->n || w->n - at < 1 + name + 4)
        return false;
    uint32_t n = (uint32_t)get_le(w->p + at + 1 + name, 4);
    size_t from = at + 1 + name + 4;
    bool null = n == TEXT_NULL;
    if (!null && n > w->n - from)
        return false;
    f->name = (struct str){ (const char *)w->p + at + 1, name };
    f->bytes = (struct str){ null ? NULL : (const char *)w->p + from, null ? 0 : n };
    f->end = from + f->bytes.n;
    return true;
}

/* From where the last one was found on, and then from the start: written and read in one order, the next
 * is the next. */
static bool find(struct wire_in *w, const char *name, struct field *f)
{
    size_t start = w->at, at = start;
    for (bool again = false;;) {
        if (at >= w->n && !again && start) {
            again = true;
            at = 0;
        }
        if (at >= w->n || (again && at >= start))
            return false;
        if (!field_at(w, at, f)) {
            wire_fail(w);
            return false;
        }
        at = f->end;
        if (str_is(f->name, name)) {
            w->at = f->end;
            return true;
        }
    }
}

bool wire_has(struct wire_in *w, const char *name)
{
    struct field f;
    size_t at = w->at;
    bool there = !w->bad && find(w, name, &f);
    w->at = at;
    return there;
}

/* The bytes of a field; false, and the payload is bad: it is missing, or `size` (0: any) is another. */
static bool take(struct wire_in *w, const char *name, size_t size, struct str *bytes)
{
    struct field f;
    struct wire_in *top = w;
    bool was = w->bad, there = !was && find(w, name, &f);
    while (top->in)
        top = top->in;
    if (!was && !there && !top->lacks[0])
        snprintf(top->lacks, sizeof top->lacks, "%s", name);
    if (!there || (size && f.bytes.n != size)) {
        wire_fail(w);
        *bytes = (struct str){ "", 0 };
        return false;
    }
    *bytes = f.bytes;
    return true;
}

uint64_t wire_get_uint(struct wire_in *w, const char *name)
{
    struct str s;
    return take(w, name, 8, &s) ? get_le((const uint8_t *)s.s, 8) : 0;
}

double wire_get_num(struct wire_in *w, const char *name)
{
    uint64_t bits = wire_get_uint(w, name);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

struct str wire_get_bytes(struct wire_in *w, const char *name)
{
    struct str s;
    take(w, name, 0, &s);
    return s.s ? s : (struct str){ "", 0 };
}

char *wire_get_text(struct wire_in *w, const char *name)
{
    struct str s;
    if (!take(w, name, 0, &s) || !s.s)
        return NULL;
    char *copy = base_alloc(s.n + 1);
    if (!copy)
        wire_fail(w);
    else
        memcpy(copy, s.s, s.n);
    return copy;
}

void wire_get_chars(struct wire_in *w, const char *name, char *to, size_t n)
{
    struct str s = wire_get_bytes(w, name);
    size_t k = s.n < n ? s.n : n - 1;
    memcpy(to, s.s, k);
    to[k] = '\0';
}

struct wire_in wire_get_record(struct wire_in *w, const char *name)
{
    struct str s = wire_get_bytes(w, name);
    return (struct wire_in){ .p = (const uint8_t *)s.s, .n = s.n, .bad = w->bad, .in = w };
}

bool wire_next(struct wire_in *list, struct wire_in *item)
{
    struct field f;
    if (list->bad || list->at >= list->n)
        return false;
    if (!field_at(list, list->at, &f) || f.name.n || !f.bytes.s) {
        wire_fail(list);
        return false;
    }
    list->at = f.end;
    *item = (struct wire_in){ .p = (const uint8_t *)f.bytes.s, .n = f.bytes.n, .in = list };
    return true;
}

size_t wire_left(const struct wire_in *list)
{
    struct field f;
    size_t n = 0;
    for (size_t at = list->at; !list->bad && field_at(list, at, &f); at = f.end)
        n++;
    return n;
}

enum status wire_judge(const struct wire_in *w, struct diags *ds)
{
    if (!w->bad)
        return ST_OK;
    if (w->lacks[0])
        diag_error(ds, "worker", "a message of the worker protocol lacks the field '%s'", w->lacks);
    else
        diag_error(ds, "worker", "a message of the worker protocol makes no sense");
    return ST_DEVICE;
}
