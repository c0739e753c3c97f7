/* Launches from memory as a program sees them: buffers, variables, several launches on one state, faults.
 * Prints TAP; built by tests/cli/api.sh with the address sanitizer. */
#include "engine/api/gpulocw.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int count, failed;

static void claim(const char *name, bool good)
{
    printf("%s %d - %s\n", good ? "ok" : "not ok", ++count, name);
    failed += !good;
}

#define HEAD ".version 7.8\n.target sm_90\n.address_size 64\n"
#define THREAD                                                                                     \
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, " \
    "%r3;\n"
#define REGS ".reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d<9>;\n"
/* add: y[i] += x[i] + seen, and counts launches in a variable; race: all write y[0]; wild: writes behind y's
 * end; forever: never ends */
static const char ptx[] =
    HEAD ".visible .global .align 4 .u32 seen[2] = {7, 1};\n"
         ".visible .entry add(.param .u64 y, .param .u64 x, .param .u32 n)\n{ " REGS
         "ld.param.u64 %d0, [y]; ld.param.u64 %d1, [x]; ld.param.u32 %r0, [n];\n" THREAD
         "setp.ge.u32 %p, %r4, %r0; @%p ret; mul.wide.u32 %d2, %r4, 4; add.u64 %d3, %d0, %d2; add.u64 "
         "%d4, %d1, %d2;\n"
         "ld.global.u32 %r5, [%d4]; ld.global.u32 %r6, [%d3]; add.u32 %r5, %r5, %r6; ld.global.u32 %r6, "
         "[seen]; add.u32 %r5, %r5, %r6;\n"
         "st.global.u32 [%d3], %r5; ret; }\n"
         ".visible .entry bump()\n{ " REGS "atom.global.add.u32 %r1, [seen], 1; ret; }\n"
         ".visible .entry race(.param .u64 y)\n{ " REGS "ld.param.u64 %d0, [y];\n" THREAD
         "st.global.u32 [%d0], %r4; ret; }\n"
         ".visible .entry wild(.param .u64 y, .param .u32 n)\n{ " REGS
         "ld.param.u64 %d0, [y]; ld.param.u32 %r0, [n]; mul.wide.u32 %d2, %r0, 4; add.u64 %d0, %d0, "
         "%d2; st.global.u32 [%d0], 1; ret; }\n"
         ".visible .entry forever()\n{ " REGS "L: atom.global.add.u32 %r1, [seen + 4], 1; bra L; }\n";

enum { N = 1000 };
struct params {
    uint64_t y, x;
    uint32_t n;
};
struct bench {
    gpulocw *g;
    gpulocw_device *d;
    uint32_t *y, *x;
    struct params p;
    unsigned module;
};

static bool open_bench(struct bench *b)
{
    *b = (struct bench){ .g = gpulocw_new(), .p = { .n = N } };
    b->y = calloc(N, 4);
    b->x = calloc(N, 4);
    for (uint32_t i = 0; i < N; i++)
        b->x[i] = i;
    return b->g && gpulocw_device_new(b->g, NULL, &b->d) == GPULOCW_DONE &&
           gpulocw_device_module(b->d, ptx, sizeof ptx - 1, &b->module) == GPULOCW_DONE &&
           gpulocw_device_lend(b->d, b->y, 4 * N, &b->p.y) == GPULOCW_DONE &&
           gpulocw_device_lend(b->d, b->x, 4 * N, &b->p.x) == GPULOCW_DONE;
}

static void close_bench(struct bench *b)
{
    gpulocw_device_free(b->d);
    gpulocw_free(b->g);
    free(b->y);
    free(b->x);
}

static gpulocw_status launch(struct bench *b, const char *entry, unsigned ctas, unsigned threads,
                             unsigned flags, const void *params, size_t n)
{
    const gpulocw_launch l = { .size = sizeof l,
                               .module = b->module,
                               .flags = flags,
                               .entry = entry,
                               .grid = { ctas },
                               .block = { threads },
                               .params = params,
                               .nparams = n };
    return gpulocw_device_launch(b->d, &l);
}

static gpulocw_status add(struct bench *b, unsigned flags)
{
    return launch(b, "add", 8, 128, flags, &b->p, sizeof b->p);
}

/* y after k launches, with `seen` as it was at each. */
static bool is_sum(const struct bench *b, uint32_t k, uint32_t seen)
{
    for (uint32_t i = 0; i < N; i++)
        if (b->y[i] != k * i + seen)
            return false;
    return true;
}

static void check_state(void)
{
    struct bench b;
    uint64_t at = 0, bytes = 0;
    uint32_t seen[2] = { 0, 0 };
    claim("a device, a module, two buffers", open_bench(&b) && b.p.y && b.p.x);
    claim("a launch", add(&b, 0) == GPULOCW_DONE);
    claim("writes the caller's memory", is_sum(&b, 1, 7));
    claim("a second one finds what the first left", add(&b, 0) == GPULOCW_DONE && is_sum(&b, 2, 14));
    claim("without a time", strstr(gpulocw_document(b.g), "\"time_ns\": null") ||
                                strstr(gpulocw_document(b.g), "\"median\": null"));
    claim("a variable is found",
          gpulocw_device_variable(b.d, b.module, "seen", &at, &bytes) == GPULOCW_DONE && bytes == 8);
    claim("and read",
          gpulocw_device_read(b.d, at, seen, 8) == GPULOCW_DONE && seen[0] == 7 && seen[1] == 1);
    claim("a kernel changes it", launch(&b, "bump", 2, 32, 0, NULL, 0) == GPULOCW_DONE &&
                                     gpulocw_device_read(b.d, at, seen, 8) == GPULOCW_DONE &&
                                     seen[0] == 7 + 64);
    seen[0] = 100;
    claim("and the caller", gpulocw_device_write(b.d, at, seen, 4) == GPULOCW_DONE &&
                                add(&b, 0) == GPULOCW_DONE && is_sum(&b, 3, 114));
    claim("what is timed computes the same",
          add(&b, GPULOCW_LAUNCH_TIMED) == GPULOCW_DONE && is_sum(&b, 4, 214));
    claim("and has time and counters", strstr(gpulocw_document(b.g), "\"l1.requests\"") &&
                                           strstr(gpulocw_document(b.g), "\"median\": "));
    claim("exact, too",
          add(&b, GPULOCW_LAUNCH_TIMED | GPULOCW_LAUNCH_EXACT) == GPULOCW_DONE && is_sum(&b, 5, 314));
    for (uint32_t i = 0; i < N; i++)
        b.x[i] = 2 * i;
    claim("the caller's stores are seen",
          add(&b, 0) == GPULOCW_DONE && b.y[10] == 5 * 10 + 314 + 20 + 100);
    claim("a checked launch without a finding",
          add(&b, GPULOCW_LAUNCH_CHECK) == GPULOCW_DONE && b.y[10] == 5 * 10 + 414 + 40 + 100);
    close_bench(&b);
}

static void check_faults(void)
{
    struct bench b;
    open_bench(&b);
    const struct {
        uint64_t y;
        uint32_t n;
    } wild = { b.p.y, N };
    claim("an access behind a buffer is a fault",
          launch(&b, "wild", 1, 1, 0, &wild, sizeof wild) == GPULOCW_DEVICE &&
              strstr(gpulocw_diagnostics(b.g), "out-of-bounds"));
    claim("the device goes on", add(&b, 0) == GPULOCW_DONE && is_sum(&b, 1, 7));
    claim("a race is found",
          launch(&b, "race", 4, 64, GPULOCW_LAUNCH_CHECK, &b.p.y, 8) == GPULOCW_DEVICE &&
              strstr(gpulocw_diagnostics(b.g), "race"));
    claim("before anything has changed", is_sum(&b, 1, 7));
    claim("and not looked for unasked", launch(&b, "race", 4, 64, 0, &b.p.y, 8) == GPULOCW_DONE);
    claim("a buffer that was released is none",
          gpulocw_device_release(b.d, b.p.x) == GPULOCW_DONE && add(&b, 0) == GPULOCW_DEVICE);
    claim("nor released twice", gpulocw_device_release(b.d, b.p.x) == GPULOCW_BAD_INPUT);
    close_bench(&b);
}

static void check_usage(void)
{
    struct bench b;
    gpulocw_device *none = NULL;
    unsigned module;
    uint64_t at = 0, bytes;
    open_bench(&b);
    claim("too few bytes of parameters", launch(&b, "add", 8, 128, 0, &b.p, 8) == GPULOCW_BAD_INPUT &&
                                             strstr(gpulocw_diagnostics(b.g), "20 bytes"));
    claim("no such kernel", launch(&b, "sub", 1, 1, 0, NULL, 0) == GPULOCW_BAD_INPUT &&
                                strstr(gpulocw_diagnostics(b.g), "sub"));
    claim("no kernel named, of several", launch(&b, NULL, 1, 1, 0, NULL, 0) == GPULOCW_BAD_INPUT);
    claim("too many threads", launch(&b, "bump", 1, 4096, 0, NULL, 0) == GPULOCW_BAD_INPUT);
    claim("a module that is none",
          gpulocw_device_module(b.d, "nonsense", 8, &module) == GPULOCW_BAD_INPUT &&
              strstr(gpulocw_diagnostics(b.g), "\"line\""));
    b.module = 9;
    claim("a number of no module", add(&b, 0) == GPULOCW_BAD_INPUT);
    claim("a buffer over another",
          (at = b.p.y, gpulocw_device_lend(b.d, b.x, 64, &at)) == GPULOCW_BAD_INPUT);
    claim("an odd address", (at = 4097, gpulocw_device_lend(b.d, b.x, 64, &at)) == GPULOCW_BAD_INPUT);
    claim("odd memory",
          (at = 0, gpulocw_device_lend(b.d, (char *)b.x + 4, 64, &at)) == GPULOCW_BAD_INPUT);
    claim("more than the device has",
          (at = 0, gpulocw_device_lend(b.d, b.x, SIZE_MAX / 2, &at)) == GPULOCW_BAD_INPUT);
    claim("bytes that are nowhere", gpulocw_device_read(b.d, 64, b.x, 4) == GPULOCW_BAD_INPUT);
    claim("no such variable",
          gpulocw_device_variable(b.d, 0, "nothing", &at, &bytes) == GPULOCW_BAD_INPUT);
    claim("no such device", gpulocw_device_new(b.g, "sim:nothing", &none) == GPULOCW_DEVICE && !none);
    claim("no GPU", gpulocw_device_new(b.g, "cuda:0", &none) != GPULOCW_DONE && !none);
    claim("no device", add(&(struct bench){ 0 }, 0) == GPULOCW_WRONG_USAGE);
    gpulocw_device_free(NULL);
    close_bench(&b);
}

static void *cancel_soon(void *g)
{
    const struct timespec nap = { 0, 300000000 };
    nanosleep(&nap, NULL);
    gpulocw_cancel(g);
    return NULL;
}

static void check_cancel(void)
{
    struct bench b;
    pthread_t t;
    open_bench(&b);
    pthread_create(&t, NULL, cancel_soon, b.g);
    claim("a launch that never ends is cancelled",
          launch(&b, "forever", 1, 32, 0, NULL, 0) == GPULOCW_CANCELLED);
    pthread_join(t, NULL);
    claim("and the device goes on", add(&b, 0) == GPULOCW_DONE && is_sum(&b, 1, 7));
    close_bench(&b);
}

/* Two handles, two threads: devices of their own. */
static void *alone(void *good)
{
    struct bench b;
    bool fine = open_bench(&b);
    for (uint32_t i = 1; i <= 20 && fine; i++)
        fine = add(&b, i % 5 ? 0 : GPULOCW_LAUNCH_TIMED) == GPULOCW_DONE && is_sum(&b, i, 7 * i);
    close_bench(&b);
    *(bool *)good = fine;
    return NULL;
}

static void check_threads(void)
{
    pthread_t t[2];
    bool good[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, alone, &good[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    claim("devices of two threads", good[0] && good[1]);
}

int main(void)
{
    check_state();
    check_faults();
    check_usage();
    check_cancel();
    check_threads();
    return failed ? 1 : 0;
}
