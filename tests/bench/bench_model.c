/* Figures of the model room: touches per second of the reuse-distance analyser on
 * traces like those an SM makes, and the time of one valley fit. Prints, asserts nothing. */
#include <stdio.h>

#include "engine/perfmodel/reuse.h"
#include "engine/perfmodel/valley.h"

#define TOUCHES 10000000u

/* line of touch i */
static uint64_t stream(uint64_t i)
{
    return i;
}
static uint64_t tiles(uint64_t i) /* 64 warps in turn, each re-reading 64 lines of its own 8 times */
{
    uint64_t warp = i % 64, step = i / 64;
    return (step / 512 * 64 + warp) * 64 + step % 64;
}
static uint64_t row_walk(uint64_t i) /* 64 warps x 32 lanes, rows of 1 KB walked a word at a time */
{
    uint64_t lane = i % 2048, step = i / 2048;
    return (step / 256 * 2048 + lane) * 8 + step % 256 / 32;
}
static uint64_t gather(uint64_t i) /* half stream, half anywhere in 128 MB */
{
    return i % 2 ? base_splitmix(1, i) % 1000000 : 1u << 30 | i / 2 / 32;
}
static uint64_t stencil(uint64_t i) /* five rows of a 4096-wide grid */
{
    static const int64_t offset[5] = { -128, -1, 0, 1, 128 };
    return (uint64_t)((int64_t)(i / 5 / 4) + 1024 + offset[i % 5]);
}

static const struct {
    const char *name;
    uint64_t (*line)(uint64_t);
} traces[] = {
    { "stream", stream }, { "tiles re-read", tiles }, { "row walk", row_walk },
    { "gather", gather }, { "stencil", stencil },
};

static void bench_reuse(void)
{
    printf("%-16s %14s %12s %10s\n", "reuse trace", "Mtouches/s", "lines", "hits@2048");
    for (size_t t = 0; t < ARRAY_LEN(traces); t++) {
        struct model_hist h = { 0 };
        struct model_reuse *r = model_reuse_new(0);
        int64_t begin = base_now_ns();
        for (uint64_t i = 0; i < TOUCHES; i++)
            model_hist_add(&h, model_reuse_touch(r, traces[t].line(i)));
        double s = (double)(base_now_ns() - begin) / 1e9;
        printf("%-16s %14.1f %12llu %9.1f%%\n", traces[t].name, TOUCHES / s / 1e6,
               (unsigned long long)model_reuse_lines(r), 100 * model_hist_hit_rate(&h, 2048));
        model_reuse_free(r);
    }
}

static void bench_fit(void)
{
    static const double time[17] = { 0.25, 0.24, 0.22, 0.18, 0.15, 0.13, 0.12, 0.115, 0.13,
                                     0.17, 0.19, 0.18, 0.24, 0.24, 0.25, 0.25, 0.25 };
    struct model_valley base = { .cache_bytes = 256 * 1024,
                                 .t_cache = 30,
                                 .t_mem = 500,
                                 .npe = 128,
                                 .freq_hz = 1.7e9,
                                 .cpi = 1,
                                 .r_m = 0.4,
                                 .b_reg = 4,
                                 .bandwidth = 2e10 };
    double n[17];
    for (int i = 0; i < 17; i++)
        n[i] = 128 * i;
    int64_t begin = base_now_ns();
    struct model_fit f = model_valley_fit(&base, n, time, 17, 2048);
    printf("valley fit of 17 points: %.2f ms; alpha %.3g, beta %.4g bytes, sharpness %.3g, residual "
           "%.1f%%; the paper's law: residual %.1f%%\n",
           (double)(base_now_ns() - begin) / 1e6, f.alpha, f.beta, f.sharpness, 100 * f.residual,
           100 * f.paper_residual);
}

int main(void)
{
    bench_reuse();
    bench_fit();
    return 0;
}
