/* Figures of the simulated device's timing half: line requests per second of the
 * cache model alone, thread instructions per second with caches and SM timing, and
 * the time of a 17-point sweep. Prints, asserts nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/session/session.h"
#include "engine/sim/cache_int.h"

/* ---- the cache model alone ---- */

static void bench_cache(const char *name, uint64_t lines, bool random)
{
    struct cache_l1 c;
    enum { N = 20000000 };
    if (cache_l1_init(&c, 256 * 1024, 4, 32) != ST_OK) return;
    uint64_t hits = 0, at = 0;
    int64_t t0 = base_now_ns();
    for (uint32_t i = 0; i < N; i++) {
        struct cache_answer a;
        at = random ? at * 6364136223846793005u + 1442695040888963407u : at + 1;
        uint64_t line = random ? (at >> 33) % lines : at % lines;
        cache_l1_load(&c, line, 15, CACHE_NORMAL, i, &a);
        if (a.line) cache_l1_fill(a.line, i + 100);
        hits += a.hit == 15;
    }
    double s = (double)(base_now_ns() - t0) / 1e9;
    printf("cache model, %-22s %8.1f M line requests/s  (hit rate %.1f %%)\n", name, N / s / 1e6, 100.0 * (double)hits / N);
    cache_l1_free(&c);
}

/* ---- launches ---- */

struct job { struct launch_file file; struct launch_data data; struct ptx_module *m; struct sim_mem *mem; struct sim_program *prog;
             struct sim_preset preset; uint8_t params[512]; uint64_t nparams; const struct launch_spec *l; };

static void stop_on(enum status st, struct diags *ds)
{
    if (st == ST_OK) return;
    struct buf b = { 0 };
    diags_print(ds, &b);
    fprintf(stderr, "%s\n", b.s ? b.s : status_text(st));
    exit(1);
}

static void bind(struct job *j)
{
    const struct ptx_func *f = ptx_find_func(j->m, str_of(j->l->kernel));
    for (size_t i = 0; i < j->l->nargs; i++) {
        const struct arg_spec *a = &j->l->args[i];
        uint64_t off = f->params[i]->offset;
        if (a->kind == ARG_SCALAR) memcpy(j->params + off, a->scalar, elem_size(a->elem));
        if (a->kind != ARG_BUFFER) continue;
        uint64_t n = j->data.buffers[i].n, addr = sim_mem_alloc(j->mem, n, a->name);
        memcpy(sim_mem_host(j->mem, addr, n), j->data.buffers[i].bytes, n);
        memcpy(j->params + off, &addr, 8);
    }
    j->nparams = f->param_bytes;
}

static void open_job(struct job *j, const char *kernel, const char *launch, const char *preset)
{
    struct diags ds = { 0 };
    char path[256];
    memset(j, 0, sizeof *j);
    snprintf(path, sizeof path, "kernels/%s.launch.json", kernel);
    stop_on(launch_file_read(path, &j->file, &ds), &ds);
    j->l = &j->file.launch[0];
    for (size_t i = 0; i < j->file.n; i++)
        if (j->file.launch[i].name && strcmp(j->file.launch[i].name, launch) == 0) j->l = &j->file.launch[i];
    stop_on(preset_read(NULL, preset, &j->preset, &ds), &ds);
    snprintf(path, sizeof path, "kernels/%s", j->l->ptx);
    stop_on(ptx_parse_file(path, &j->m, &ds), &ds);
    stop_on(launch_data_make(j->l, 1ull << 33, &j->data, &ds), &ds);
    j->mem = sim_mem_new(1ull << 36);
    stop_on(sim_load(j->m, str_of(j->l->kernel), &j->preset, j->mem, &j->prog, &ds), &ds);
    bind(j);
    diags_free(&ds);
}

static void close_job(struct job *j)
{
    sim_unload(j->prog);
    ptx_free(j->m);
    launch_data_free(&j->data);
    launch_file_free(&j->file);
    sim_mem_free(j->mem);
}

static struct sim_stats run(struct job *j, bool exact, int hw_pi, unsigned threads)
{
    struct diags ds = { 0 };
    struct sim_stats s = { 0 };
    struct sim_launch l = { .grid = j->l->grid, .block = j->l->block, .shared = j->l->shared, .params = j->params, .nparams = j->nparams,
                            .exact = exact, .threads = threads, .carveout = -1, .hw_pi = hw_pi, .seed = 1, .warm_l2 = true };
    stop_on(sim_run(j->prog, &l, &s, &ds), &ds);
    diags_free(&ds);
    return s;
}

static void bench_exact(const char *kernel, const char *launch, unsigned threads)
{
    struct job j;
    open_job(&j, kernel, launch, "hopper-h200");
    int64_t t0 = base_now_ns();
    struct sim_stats s = run(&j, true, -1, threads);
    double host = (double)(base_now_ns() - t0) / 1e9;
    printf("timed, every CTA, %-8s %-7s %u thread%s %7.1f M thread instr/s  (%.2f s, simulated %.1f us)\n", kernel, launch, threads,
           threads > 1 ? "s" : " ", (double)s.inst_thread / host / 1e6, host, s.time_ns / 1e3);
    sim_stats_free(&s);
    close_job(&j);
}

static void bench_sweep(const char *kernel, const char *launch)
{
    struct job j;
    open_job(&j, kernel, launch, "hopper-h200");
    double best = 0, ends[2] = { 0 };
    int at = 0;
    int64_t t0 = base_now_ns();
    for (int pi = 0; pi <= 16; pi++) {
        struct sim_stats s = run(&j, false, pi, 0);
        if (!pi || s.time_ns < best) { best = s.time_ns; at = pi; }
        if (pi == 0 || pi == 16) ends[pi / 16] = s.time_ns;
        sim_stats_free(&s);
    }
    printf("sweep of 17 points, %s %s: %.2f s  (best at %d: %.1f us; all bypass %.1f us, all cached %.1f us)\n", kernel, launch,
           (double)(base_now_ns() - t0) / 1e9, at, best / 1e3, ends[0] / 1e3, ends[1] / 1e3);
    close_job(&j);
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
    return 0;
}
