/* The way to the device: a socket, one question at a time; errors; waiting. */
#include "engine/emulate/runtime/context.h"
#include "engine/emulate/runtime/runtime.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct {
    int fd;
    bool waits;        /* waits: something was told that may still be under way */
    cudaError_t error; /* of the device, or of the way to it: it stays */
    struct wire_device device;
} L = { .fd = -1 };
static _Thread_local cudaError_t last;
static _Thread_local unsigned depth;     /* how often this thread holds the lock */
static _Thread_local unsigned of_driver; /* calls of the driver that are under way */

void runtime_enter(void)
{
    pthread_mutex_lock(&lock);
    depth++;
}

void runtime_leave(void)
{
    depth--;
    pthread_mutex_unlock(&lock);
}

unsigned runtime_pause(void)
{
    unsigned was = depth;
    while (depth)
        runtime_leave();
    return was;
}

void runtime_resume(unsigned was)
{
    while (was--)
        runtime_enter();
}

const struct wire_device *device(void)
{
    return &L.device;
}

cudaError_t sticky(void)
{
    return L.error;
}

cudaError_t give(cudaError_t e)
{
    if (e && e != cudaErrorNotReady && !of_driver)
        last = e;
    return e;
}

void driver_in(void)
{
    of_driver++;
}

void driver_out(void)
{
    of_driver--;
}

bool in_driver(void)
{
    return of_driver != 0;
}

EXPORT cudaError_t cudaGetLastError(void)
{
    cudaError_t e = last ? last : L.error;
    last = cudaSuccess;
    return e;
}

PLAIN(cudaPeekAtLastError, (void), last ? last : L.error)

/* ---- bytes ---- */
static bool send_all(struct iovec *v, int n, int file)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr head;
    } beside = { .bytes = { 0 } };
    struct msghdr m = { .msg_iov = v, .msg_iovlen = (size_t)n };
    if (file >= 0) {
        m.msg_control = beside.bytes;
        m.msg_controllen = sizeof beside.bytes;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof file);
        memcpy(CMSG_DATA(c), &file, sizeof file);
    }
    while (m.msg_iovlen) {
        ssize_t k = sendmsg(L.fd, &m, MSG_NOSIGNAL);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return false;
        m.msg_control = NULL;
        m.msg_controllen = 0;
        for (size_t left = (size_t)k; m.msg_iovlen && left >= m.msg_iov->iov_len;
             m.msg_iov++, m.msg_iovlen--)
            left -= m.msg_iov->iov_len, k = (ssize_t)left;
        if (m.msg_iovlen && k > 0) {
            m.msg_iov->iov_base = (char *)m.msg_iov->iov_base + k;
            m.msg_iov->iov_len -= (size_t)k;
        }
    }
    return true;
}

static bool receive(void *to, size_t n)
{
    char *p = to;
    while (n) {
        ssize_t k = recv(L.fd, p, n, 0);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        p += k;
        n -= (size_t)k;
    }
    return true;
}

void link_lost(void)
{
    if (L.fd >= 0)
        close(L.fd);
    L.fd = -1;
    L.error = L.error ? L.error : cudaErrorDevicesUnavailable;
}

void link_send(enum wire_kind kind, const void *record, size_t n, const void *bytes, size_t more,
               int file)
{
    struct wire_head h = { .kind = kind, .bytes = n + more };
    struct iovec v[3] = { { &h, sizeof h },
                          { (void *)(uintptr_t)record, n },
                          { (void *)(uintptr_t)bytes, more } };
    if (L.fd >= 0 && !send_all(v, more ? 3 : 2, file))
        link_lost();
}

void tell(enum wire_kind kind, const void *record, size_t n, const void *bytes, size_t more)
{
    link_send(kind, record, n, bytes, more, -1);
}

bool link_answer(void *answer, size_t size, void **rest, size_t *nrest)
{
    struct wire_head h;
    if (L.fd < 0 || !receive(&h, sizeof h) || h.bytes < size || !receive(answer, size))
        return false;
    size_t left = h.bytes - size;
    char *more = malloc(left + 1);
    if (!more || !receive(more, left)) {
        free(more);
        return false;
    }
    more[left] = 0;
    if (rest) {
        *rest = more;
        *nrest = left;
    } else {
        free(more);
    }
    return true;
}

bool ask(enum wire_kind kind, const void *record, size_t n, const void *bytes, size_t more, void *answer,
         size_t size, void **rest, size_t *nrest)
{
    tell(kind, record, n, bytes, more);
    bool fine = link_answer(answer, size, rest, nrest);
    if (!fine)
        link_lost();
    return fine;
}

/* ---- waiting ---- */
void launched(void)
{
    L.waits = true;
}

static cudaError_t wait_for(FILE *out)
{
    struct wire_nothing no = { 0 };
    struct wire_done done;
    void *text;
    size_t n;
    if (!L.waits || L.error)
        return L.error;
    L.waits = false;
    if (!ask(WIRE_SYNC, &no, sizeof no, NULL, 0, &done, sizeof done, &text, &n))
        return L.error;
    if (n && out)
        fwrite(text, 1, n, out);
    free(text);
    L.error = (cudaError_t)done.error;
    return L.error;
}

cudaError_t drain(void)
{
    return wait_for(stdout);
}

/* A program that returns waits for its kernels; as with a GPU, what they printed since the last wait is
 * lost. A lock that another thread holds is not waited for: that thread may never go on. */
__attribute__((destructor)) static void at_exit(void)
{
    if (pthread_mutex_trylock(&lock) != 0)
        return;
    wait_for(NULL);
    pthread_mutex_unlock(&lock);
}

/* ---- the beginning ---- */
static void in_child(void)
{
    /* the device is the parent's: as with a GPU, its calls fail in a child that it forks */
    if (L.fd >= 0)
        close(L.fd);
    L.error = L.fd >= 0 ? cudaErrorInitializationError : L.error;
    L.fd = -1;
    lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}

bool link_open(const char *path)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    L.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return L.fd >= 0 && connect(L.fd, (struct sockaddr *)&a, sizeof a) == 0 &&
           pthread_atfork(NULL, NULL, in_child) == 0;
}

void link_none(void)
{
    L.error = cudaErrorNoDevice;
}

bool link_device(void)
{
    return link_answer(&L.device, sizeof L.device, NULL, NULL);
}

cudaError_t link_reset(void)
{
    struct wire_nothing no = { 0 };
    drain();
    if (L.fd >= 0) {
        L.error = cudaSuccess;
        tell(WIRE_RESET, &no, sizeof no, NULL, 0);
    }
    last = cudaSuccess;
    return L.error;
}
