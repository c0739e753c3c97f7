/* Messages of the runtime library: heads, records, bytes. */
#include "engine/emulate/emulate_int.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PIECE      65536u
#define MOST_BYTES (UINT64_C(4) << 30) /* of one message */

static void take_file(struct stream *s, struct msghdr *m)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        if (s->file >= 0)
            close(s->file);
        memcpy(&s->file, CMSG_DATA(c), sizeof s->file);
    }
}

/* More bytes behind those that are there. */
static bool more(struct stream *s, size_t want)
{
    if (s->at && s->n == s->at)
        s->at = s->n = 0;
    size_t room = want > PIECE ? want : PIECE;
    if (s->cap - s->n < room) {
        memmove(s->in, s->in + s->at, s->n - s->at);
        s->n -= s->at;
        s->at = 0;
        if (s->cap - s->n < room) {
            uint8_t *in = base_realloc(s->in, s->n + room);
            if (!in)
                return false;
            s->in = in;
            s->cap = s->n + room;
        }
    }
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr head;
    } beside;
    struct iovec v = { s->in + s->n, s->cap - s->n };
    struct msghdr m = { .msg_iov = &v,
                        .msg_iovlen = 1,
                        .msg_control = beside.bytes,
                        .msg_controllen = sizeof beside.bytes };
    ssize_t n;
    while ((n = recvmsg(s->fd, &m, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        ;
    if (n <= 0)
        return false;
    take_file(s, &m);
    s->n += (size_t)n;
    return true;
}

static const size_t records[] = {
#define X(kind, record) [WIRE_##kind] = sizeof(struct record),
    WIRE_KINDS(X)
#undef X
};

bool stream_next(struct stream *s, struct wire_head *h, const uint8_t **body)
{
    while (s->n - s->at < sizeof *h)
        if (!more(s, sizeof *h))
            return false;
    memcpy(h, s->in + s->at, sizeof *h);
    if (h->kind >= WIRE_KIND_COUNT || h->bytes > MOST_BYTES || h->bytes < records[h->kind])
        return false;
    while (s->n - s->at < sizeof *h + h->bytes)
        if (!more(s, sizeof *h + h->bytes - (s->n - s->at)))
            return false;
    *body = s->in + s->at + sizeof *h;
    s->at += sizeof *h + h->bytes;
    return true;
}

static bool put_all(int fd, const void *p, size_t n)
{
    const char *from = p;
    while (n) {
        ssize_t k = send(fd, from, n, MSG_NOSIGNAL);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        from += k;
        n -= (size_t)k;
    }
    return true;
}

bool stream_put(struct stream *s, const void *record, size_t n, const void *bytes, size_t extra)
{
    struct wire_head h = { .bytes = n + extra };
    struct buf b = { 0 };
    buf_put(&b, &h, sizeof h);
    buf_put(&b, record, n);
    bool fine = !b.oom && put_all(s->fd, b.s, b.n) && put_all(s->fd, bytes, extra);
    buf_free(&b);
    return fine;
}

void stream_free(struct stream *s)
{
    base_free(s->in);
    if (s->file >= 0)
        close(s->file);
    if (s->fd >= 0)
        close(s->fd);
}
