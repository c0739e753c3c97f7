/* The library that the CUDA driver loads into a program (CUDA_INJECTION64_PATH): it counts and times
 * kernels through CUPTI, says which image each came from, and hands each launch to the parts that look
 * at it. A build of its own, no part of the engine: it uses libc alone, and gives up silently where
 * anything fails, so that the program goes on as without it.
 *
 * Callbacks of driver calls say which function came from which image; activity records say when a kernel
 * ran. Both carry the correlation number of the call. Kernels of graphs carry that of the graph's
 * launch; these are found by name. */
#include "engine/dev/inject/inject.h"
#include "engine/dev/inject/record.h"
#include "engine/dev/inject/sample.h"
#include "engine/dev/inject/take.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define EXPORT __attribute__((visibility("default")))
enum { KIND_CONCURRENT_KERNEL = 10 };

struct inject_state S = { .lock = PTHREAD_MUTEX_INITIALIZER, .writing = PTHREAD_MUTEX_INITIALIZER };

/* A part is a row here. */
const struct launch_part *const launch_parts[] = { &take_part, &apply_part };
const size_t nlaunch_parts = sizeof launch_parts / sizeof *launch_parts;

/* All that lies in f, which is in memory. False: there was no room for it. */
static bool copied(int f, const char *to)
{
    char part[1 << 14];
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool whole = out >= 0 && lseek(f, 0, SEEK_SET) == 0;
    ssize_t n = 0;
    while (whole && (n = read(f, part, sizeof part)) > 0)
        whole = write(out, part, (size_t)n) == n;
    return (out < 0 || close(out) == 0) && whole && n == 0;
}

/* The whole record so far, under another name until it is complete. One that finds no room on the disk
 * leaves the one before it. */
static void record_write(bool end)
{
    char path[4200], unfinished[4210];
    snprintf(path, sizeof path, "%s.%ld", S.file, (long)S.owner);
    snprintf(unfinished, sizeof unfinished, "%s.part", path);
    pthread_mutex_lock(&S.writing);
    int f = S.ended ? -1 : memfd_create("record", MFD_CLOEXEC);
    if (f >= 0) {
        pthread_mutex_lock(&S.lock);
        survey_put(f);
        apply_put(f);
        bool room = dprintf(f, end ? "E\n" : "\n") > 0;
        pthread_mutex_unlock(&S.lock);
        if (room && copied(f, unfinished))
            rename(unfinished, path);
        else
            unlink(unfinished);
        close(f);
    }
    S.ended |= end;
    pthread_mutex_unlock(&S.writing);
}

/* A program may end by _exit or a signal, which nobody hears of: twice a second what is new is written.
 */
static void *record_now_and_then(void *unused)
{
    const struct timespec pause = { .tv_nsec = 500000000 };
    uint64_t written = 0;
    in_callback = true;
    for (;;) {
        nanosleep(&pause, NULL);
        /* never while CUPTI and the driver are taken down: at_end waits for this one */
        pthread_mutex_lock(&S.writing);
        bool ended = S.ended;
        if (!ended && S.flush)
            S.flush(0);
        pthread_mutex_unlock(&S.writing);
        if (ended)
            return unused;
        pthread_mutex_lock(&S.lock);
        uint64_t now = S.ran;
        pthread_mutex_unlock(&S.lock);
        if (now != written || !written)
            record_write(false);
        written = now;
    }
    return unused;
}

/* Its thread gets none of the program's signals. */
static void record_start(void)
{
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, record_now_and_then, NULL) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void at_end(void)
{
    if (getpid() != S.owner)
        return; /* a fork of the program's: the record is its parent's */
    if (S.flush)
        S.flush(1);
    take_end();
    record_write(true);
}

static void *open_like(const char *pattern)
{
    glob_t g = { 0 };
    void *l = NULL;
    if (glob(pattern, 0, NULL, &g) == 0)
        for (size_t k = g.gl_pathc; !l && k-- > 0;)
            l = dlopen(g.gl_pathv[k], RTLD_NOW);
    globfree(&g);
    return l;
}

/* CUPTI_PATH (a file, a folder or a toolkit's root) and CUDA_HOME first, as the engine does; then one
 * that the program has already; then the toolkits. */
static void *cupti_open(void)
{
    static const char *const NAMES[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so" };
    static const char *const UNDER[] = { "", "/libcupti.so*", "/extras/CUPTI/lib64/libcupti.so*",
                                         "/targets/*/lib/libcupti.so*" };
    const char *roots[] = { getenv("CUPTI_PATH"), getenv("CUDA_HOME"), getenv("CUDA_PATH"),
                            "/usr/local/cuda", "/usr/local/cuda-*" };
    enum { NROOTS = sizeof roots / sizeof *roots, NNAMES = sizeof NAMES / sizeof *NAMES };
    void *l = NULL;
    char path[4200];
    for (size_t r = 0; !l && r < NROOTS; r++) {
        for (size_t u = 0; !l && roots[r] && *roots[r] && u < sizeof UNDER / sizeof *UNDER; u++)
            if ((size_t)snprintf(path, sizeof path, "%s%s", roots[r], UNDER[u]) < sizeof path)
                l = open_like(path);
        for (size_t i = 0; !l && r == 2 && i < 2 * NNAMES; i++)
            l = dlopen(NAMES[i % NNAMES], RTLD_NOW | (i < NNAMES ? RTLD_NOLOAD : 0));
    }
    return l;
}

/* The address of a function, put where a pointer to it is kept. */
static bool find(void *library, const char *name, void *to)
{
    void *p = library ? dlsym(library, name) : NULL;
    memcpy(to, &p, sizeof p);
    return p != NULL;
}

static int (*records_on)(int), (*records_off)(int);
static int turn_records(bool on)
{
    return (on ? records_on : records_off)(KIND_CONCURRENT_KERNEL);
}

/* A survey alone may leave records out: the parts that look at launches time all of them. */
static void sample_if_alone(void *cupti)
{
    bool alone = find(cupti, "cuptiActivityDisable", &records_off);
    for (size_t i = 0; i < nlaunch_parts; i++)
        alone = alone && !S.part[i];
    if (alone)
        sample_start(turn_records);
}

typedef void (*call_fn)(void *, int, uint32_t, const struct call *);
typedef void (*wanted_fn)(uint8_t **, size_t *, size_t *);
typedef void (*full_fn)(void *, uint32_t, uint8_t *, size_t, size_t);
static const char *start(void)
{
    void *l = cupti_open(), *subscriber = NULL;
    int (*subscribe)(void **, call_fn, void *);
    enable_fn enable;
    int (*buffers)(wanted_fn, full_fn);
    if (!l)
        return "libcupti was not found (CUPTI_PATH names it)";
    if (!find(l, "cuptiSubscribe", &subscribe) || !find(l, "cuptiEnableCallback", &enable) ||
        !find(l, "cuptiActivityEnable", &records_on) ||
        !find(l, "cuptiActivityRegisterCallbacks", &buffers) ||
        !find(l, "cuptiActivityGetNextRecord", &S.next_record))
        return "libcupti lacks a function";
    int taken = subscribe(&subscriber, on_call, NULL);
    if (taken == MULTIPLE_SUBSCRIBERS)
        return "another profiler uses CUPTI in this process, and CUPTI allows only one";
    if (taken != 0)
        return "CUPTI cannot be used here (cuptiSubscribe failed)";
    calls_enable(enable, subscriber);
    if (buffers(survey_wanted, survey_full) != 0 || turn_records(true) != 0)
        return "CUPTI does not record kernels here";
    find(l, "cuptiActivityFlushAll", &S.flush);
    sample_if_alone(l);
    return NULL;
}

static void driver_find(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
#define DRIVER_FN(name, ...)                                    \
    {                                                           \
        void *p = dlsym(driver ? driver : RTLD_DEFAULT, #name); \
        memcpy(&S.driver.name, &p, sizeof p);                   \
    }
#include "engine/dev/inject/driver.def"
#undef DRIVER_FN
    for (size_t i = 0; i < nlaunch_parts; i++)
        S.part[i] = launch_parts[i]->wanted();
}

EXPORT int InitializeInjection(void);
int InitializeInjection(void)
{
    S.file = getenv(LIVE_RECORD_VARIABLE);
    if (!S.file || S.owner == getpid())
        return 1;
    S.owner = getpid();
    driver_find();
    S.refused = start();
    record_start();
    atexit(at_end);
    return 1;
}
