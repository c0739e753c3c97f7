/* The processes of a program: the socket to which they come, a thread for each, and the end of all of them
 * when this process is told to end. */
#include "engine/emulate/emulate_int.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

enum {
    LOOK_MS = 50,    /* how often it is looked whether to end */
    FORCE_MS = 5000, /* what a program has to end by itself, once it was told */
};

struct visitor {
    pthread_t thread;
    struct host *host;
    int socket;
    atomic_bool over;
    struct visitor *next;
    int got; /* the signal sent last; 0: none */
};
struct host {
    struct emulation *e;
    int listens, wake[2]; /* wake: a pipe, 0 when a visitor has gone, 1 when the program has */
    pthread_t thread;
    bool runs;
    struct visitor *visitors; /* of the thread */
    pthread_mutex_t lock;     /* of program */
    pid_t program;            /* 0: none */
    int64_t told_ns;          /* when it was told to end; 0: not */
};

/* ---- visitors ---- */
static void *serve(void *ctx)
{
    struct visitor *v = ctx;
    guest_serve(v->host->e, v->socket);
    atomic_store(&v->over, true);
    if (write(v->host->wake[1], "", 1) < 0)
        return NULL; /* the pipe is full: it is awake */
    return NULL;
}

static void welcome(struct host *h, int socket)
{
    struct visitor *v = base_alloc(sizeof *v);
    if (v)
        *v = (struct visitor){ .host = h, .socket = socket, .next = h->visitors };
    if (v && pthread_create(&v->thread, NULL, serve, v) == 0) {
        h->visitors = v;
        return;
    }
    base_free(v);
    close(socket);
}

static bool any_left(struct host *h)
{
    for (struct visitor **at = &h->visitors; *at;) {
        struct visitor *v = *at;
        if (!atomic_load(&v->over)) {
            at = &v->next;
            continue;
        }
        *at = v->next;
        pthread_join(v->thread, NULL);
        base_free(v);
    }
    return h->visitors;
}

/* ---- told to end ---- */
static int asked_by(const struct cancel *c)
{
    for (; c; c = c->also)
        if (atomic_load(&c->asked))
            return atomic_load(&c->signal);
    return 0;
}

/* To each visitor once: who comes later than the signal gets it, too. */
static void send_to_visitors(struct host *h, int signal)
{
    for (struct visitor *v = h->visitors; v; v = v->next) {
        struct ucred who;
        socklen_t n = sizeof who;
        if (v->got != signal && !atomic_load(&v->over) &&
            getsockopt(v->socket, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 && who.pid > 1)
            kill(who.pid, signal);
        v->got = signal;
    }
}

/* The program first: a script whose child dies before it would go on to its next line. */
static void send_to_all(struct host *h, int signal)
{
    pthread_mutex_lock(&h->lock);
    if (h->program > 0)
        kill(h->program, signal);
    pthread_mutex_unlock(&h->lock);
    send_to_visitors(h, signal);
}

/* The signal goes on to the program, and no launch goes on. Who does not heed it is killed. */
static void heed(struct host *h)
{
    int signal = asked_by(h->e->want->cancel);
    if (!signal)
        return;
    if (!h->told_ns) {
        h->told_ns = base_now_ns();
        atomic_store(&h->e->stop.asked, true);
        send_to_all(h, signal);
    } else if (base_now_ns() > h->told_ns + FORCE_MS * INT64_C(1000000)) {
        send_to_all(h, SIGKILL);
    } else {
        send_to_visitors(h, signal);
    }
}

static void *listen_on(void *ctx)
{
    struct host *h = ctx;
    struct pollfd p[2] = { { .fd = h->listens, .events = POLLIN },
                           { .fd = h->wake[0], .events = POLLIN } };
    bool ended = false;
    do {
        char byte;
        int n = poll(p, 2, LOOK_MS);
        if (n < 0 && errno != EINTR)
            break;
        if (n > 0 && p[0].revents & POLLIN) {
            int s = accept4(h->listens, NULL, NULL, SOCK_CLOEXEC);
            if (s >= 0)
                welcome(h, s);
            continue; /* all that wants to come comes first */
        }
        if (n > 0 && p[1].revents && read(h->wake[0], &byte, 1) == 1)
            ended |= byte != 0;
        heed(h);
    } while (any_left(h) || !ended);
    return NULL;
}

/* ---- for who starts the program ---- */
enum status host_start(struct emulation *e, const char *path, struct host **out, struct diags *ds)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    struct host *h = base_alloc(sizeof *h);
    if (!h)
        return ST_NOMEM;
    *h = (struct host){ .e = e, .listens = -1, .wake = { -1, -1 } };
    pthread_mutex_init(&h->lock, NULL);
    *out = h;
    if (strlen(path) < sizeof a.sun_path) {
        memcpy(a.sun_path, path, strlen(path) + 1);
        h->listens = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    } else {
        errno = ENAMETOOLONG;
    }
    bool fine = h->listens >= 0 && bind(h->listens, (struct sockaddr *)&a, sizeof a) == 0 &&
                listen(h->listens, 64) == 0 && pipe2(h->wake, O_CLOEXEC) == 0;
    if (fine)
        fine = h->runs = pthread_create(&h->thread, NULL, listen_on, h) == 0;
    if (!fine)
        diag_error(ds, "io", "no socket at %s for the program to reach its device: %s", path,
                   strerror(errno));
    return fine ? ST_OK : ST_IO;
}

void host_program(struct host *h, pid_t pid)
{
    pthread_mutex_lock(&h->lock);
    h->program = pid;
    pthread_mutex_unlock(&h->lock);
}

void host_stop(struct host *h)
{
    if (!h)
        return;
    if (h->runs && write(h->wake[1], "\1", 1) == 1)
        pthread_join(h->thread, NULL);
    if (h->listens >= 0)
        close(h->listens);
    for (int i = 0; i < 2; i++)
        if (h->wake[i] >= 0)
            close(h->wake[i]);
    pthread_mutex_destroy(&h->lock);
    base_free(h);
}
