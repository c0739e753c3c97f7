/* Figures of the simulated device's timing half: line requests per second of the
 * cache model alone, thread instructions per second with caches and SM timing, and
 * the time of a 17-point sweep. Prints, asserts nothing. */
#include <time.h>

#include "engine/rec/launch.h"
#include "engine/sim/cache/cache.h"
#include "engine/sim/cache/l1.h"
#include "tests/unit/sim_job.h"

/* Processor time of this process: the machine may have other work. */
static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- the cache model alone ---- */

static void bench_cache(const char *name, uint64_t lines, bool random)
{
    struct cache_l1 c;
    enum { N = 20000000 };
    if (cache_l1_init(&c, 256 * 1024, 4, 32) != ST_OK)
        return;
    uint64_t hits = 0, at = 0;
    double t0 = cpu_s();
    for (uint32_t i = 0; i < N; i++) {
        struct cache_answer a;
        at = random ? at * 6364136223846793005u + 1442695040888963407u : at + 1;
        uint64_t line = random ? (at >> 33) % lines : at % lines;
        cache_l1_load(&c, line, 15, CACHE_NORMAL, i, &a);
        if (a.line)
            cache_l1_fill(a.line, i + 100);
        hits += a.hit == 15;
    }
    double s = cpu_s() - t0;
    printf("cache model, %-22s %8.1f M line requests per CPU second  (hit rate %.1f %%)\n", name,
           N / s / 1e6, 100.0 * (double)hits / N);
    cache_l1_free(&c);
}

/* ---- launches ---- */

static struct sim_stats run(struct job *j, bool exact, int hw_pi, unsigned threads)
{
    struct sim_launch l = job_launch(j);
    l.exact = exact;
    l.hw_pi = hw_pi;
    l.threads = threads;
    return job_run(j, &l);
}

static void bench_exact(const char *kernel, const char *launch, unsigned threads)
{
    struct job j;
    job_open(&j, kernel, launch, "hopper-h200");
    int64_t t0 = base_now_ns();
    double c0 = cpu_s();
    struct sim_stats s = run(&j, true, -1, threads);
    double host = (double)(base_now_ns() - t0) / 1e9, cpu = cpu_s() - c0;
    printf("timed, every CTA, %-8s %-7s %u thread%s %7.1f M thread instr/s, %7.1f M per CPU second  "
           "(%.2f s, simulated %.1f us)\n",
           kernel, launch, threads, threads > 1 ? "s" : " ", (double)s.inst_thread / host / 1e6,
           (double)s.inst_thread / cpu / 1e6, host, s.time_ns / 1e3);
    sim_stats_free(&s);
    job_close(&j);
}

static void bench_sweep(const char *kernel, const char *launch)
{
    struct job j;
    job_open(&j, kernel, launch, "hopper-h200");
    double best = 0, ends[2] = { 0 };
    int at = 0;
    int64_t t0 = base_now_ns();
    double c0 = cpu_s();
    for (int pi = 0; pi <= 16; pi++) {
        struct sim_stats s = run(&j, false, pi, 0);
        if (!pi || s.time_ns < best) {
            best = s.time_ns;
            at = pi;
        }
        if (pi == 0 || pi == 16)
            ends[pi / 16] = s.time_ns;
        sim_stats_free(&s);
    }
    printf("sweep of 17 points, %s %s: %.2f s, %.2f CPU s  (best at %d: %.1f us; all bypass %.1f us, "
           "all cached %.1f us)\n",
           kernel, launch, (double)(base_now_ns() - t0) / 1e9, cpu_s() - c0, at, best / 1e3,
           ends[0] / 1e3, ends[1] / 1e3);
    job_close(&j);
}

/* The two parts of a point of a sweep on one thread: the sample that is timed, and all outputs. Least of
 * a few runs. */
static void bench_point(const char *kernel, const char *launch, int hw_pi)
{
    struct job j;
    double least[2] = { 1e9, 1e9 };
    job_open(&j, kernel, launch, "hopper-h200");
    for (int i = 0; i < 16; i++) {
        struct sim_launch l = job_launch(&j);
        l.functional = i & 1;
        l.hw_pi = l.functional ? -1 : hw_pi;
        l.threads = 1;
        double c0 = cpu_s();
        struct sim_stats s = job_run(&j, &l);
        double cpu = cpu_s() - c0;
        if (cpu < least[i & 1])
            least[i & 1] = cpu;
        sim_stats_free(&s);
    }
    printf("one point, %s %s: sample %.1f ms, all outputs %.1f ms of processor time\n", kernel, launch,
           1e3 * least[0], 1e3 * least[1]);
    job_close(&j);
}

/* ---- beside what was measured on a real H200 ---- */

/* Time in ms, or, where no CTA ended within the sample, cycles per instruction. */
static double shaped(const char *kernel, const char *launch, uint32_t bx, uint32_t by, int carveout)
{
    struct job j;
    job_open(&j, kernel, launch, "hopper-h200");
    if (bx) {
        uint32_t nx = j.l->grid.x * j.l->block.x, ny = j.l->grid.y * j.l->block.y;
        j.l->block = (struct dim3u){ bx, by, 1 };
        j.l->grid = (struct dim3u){ nx / bx, ny / by, 1 };
    }
    struct sim_launch l = job_launch(&j);
    l.carveout = carveout;
    struct sim_stats s = job_run(&j, &l);
    double cost = s.cycles_per_inst > 0 ? s.cycles_per_inst : s.time_ns / 1e6;
    sim_stats_free(&s);
    job_close(&j);
    return cost;
}

/* Beside what one H200 measured (docs/lab/measured-h200.md; the block shapes:
 * docs/lab/micro-kernels.md). */
static void facts(void)
{
    /* a rate: every shape has the same instructions */
    double syrk = shaped("syrk", "h200", 32, 8, -1);
    printf("syrk h200, block 32x8 16x16 8x32: simulated 1 to %.2f to %.2f, measured 1 to 0.54 to 0.36\n",
           shaped("syrk", "h200", 16, 16, -1) / syrk, shaped("syrk", "h200", 8, 32, -1) / syrk);
    printf("atax h200, full L1 and carve-out 100: simulated %.2f %.2f ms, measured 0.28 0.35 ms\n",
           shaped("atax", "h200", 0, 0, -1), shaped("atax", "h200", 0, 0, 100));
    printf("tile_share h200, default order: simulated %.1f ms, measured 4.2 ms\n",
           shaped("tile_share", "h200", 0, 0, -1));
}

int main(void)
{
    bench_cache("stream", 1u << 30, false);
    bench_cache("loop that fits", 1800, false);
    bench_cache("random, twice the size", 4096, true);
    bench_exact("gemm", "n256", 1);
    bench_exact("gemm", "n256", 2);
    bench_exact("valley", "default", 2);
    bench_sweep("valley", "h200");
    bench_point("valley", "default", 8);
    bench_point("conv2d", "default", 8);
    facts();
    return 0;
}
