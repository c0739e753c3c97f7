/* Windows of launches, counted and turned without a lock but for the turn itself. */
#include "engine/dev/inject/sample.h"

#include <pthread.h>

enum {
    WINDOW = 1024,     /* launches that are timed */
    BETWEEN = 32768,   /* launches until the next window, or PAUSE_NS of time */
    LOOK_EVERY = 256,  /* launches from one look at the clock to the next */
    SHORT_NS = 100000, /* a launch: windows are closed where the mean of one is less */
    PAUSE_NS = 250000000,
};
static struct {
    pthread_mutex_t turning;
    int (*turn)(bool);
    uint64_t launches; /* of this window, or since it closed; atomic */
    uint64_t began;    /* ns, of the same */
    bool closed;       /* atomic */
    bool used, never;  /* atomic */
    uint32_t last;     /* number of the call from which on all is recorded; `never` */
} W = { .turning = PTHREAD_MUTEX_INITIALIZER };

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void sample_start(int (*turn)(bool on))
{
    W.turn = turn;
    W.began = now_ns();
}

static bool is(const bool *flag)
{
    return __atomic_load_n(flag, __ATOMIC_RELAXED);
}

/* The lock is held. What cannot be turned is left on for good. */
static void turn_to(bool on)
{
    if (W.turn(on) != 0) {
        W.turn(true);
        __atomic_store_n(&W.never, true, __ATOMIC_RELAXED);
        on = true;
    }
    __atomic_store_n(&W.closed, !on, __ATOMIC_RELAXED);
    if (!on)
        __atomic_store_n(&W.used, true, __ATOMIC_RELAXED);
}

/* A window ends, or the time between two of them: n launches after it began. */
static void look(bool open_now, uint64_t n)
{
    uint64_t now = now_ns();
    bool closed = is(&W.closed);
    if (closed ? open_now || n >= BETWEEN || now - W.began >= PAUSE_NS
               : n >= WINDOW && now - W.began < (uint64_t)SHORT_NS * n)
        turn_to(closed);
    else if (closed || n < WINDOW)
        return;
    W.began = now;
    __atomic_store_n(&W.launches, 0, __ATOMIC_RELAXED);
}

void sample_launch(bool first)
{
    if (!W.turn || is(&W.never))
        return;
    uint64_t n = __atomic_add_fetch(&W.launches, 1, __ATOMIC_RELAXED);
    if (!(first && is(&W.closed)) && n % LOOK_EVERY != 0)
        return;
    pthread_mutex_lock(&W.turning);
    if (!is(&W.never))
        look(first, n);
    pthread_mutex_unlock(&W.turning);
}

void sample_never(uint32_t correlation)
{
    pthread_mutex_lock(&W.turning);
    if (!is(&W.never)) {
        W.last = correlation;
        __atomic_store_n(&W.never, true, __ATOMIC_RELEASE);
        if (W.turn && is(&W.closed))
            turn_to(true);
    }
    pthread_mutex_unlock(&W.turning);
}

bool sample_used(void)
{
    return is(&W.used);
}

bool sample_counted(uint32_t correlation)
{
    return W.turn && !(__atomic_load_n(&W.never, __ATOMIC_ACQUIRE) && correlation >= W.last);
}
