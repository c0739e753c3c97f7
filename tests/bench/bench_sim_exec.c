/* Speed of the simulated device's functional mode: thread instructions per second on one host
 * thread, and on two. */
#include "engine/ptx/ptx.h"
#include "engine/sim/preset.h"
#include "engine/sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct job {
    struct ptx_module *m;
    struct sim_mem *mem;
    struct sim_program *p;
    uint64_t addr[3];
    uint8_t params[64];
    uint32_t n;
};

static void put(uint8_t *params, const struct ptx_func *f, uint32_t i, const void *v, size_t n)
{
    memcpy(params + f->params[i]->offset, v, n);
}

static bool job_open(struct job *j, const char *path, const char *kernel, uint32_t n, struct diags *ds)
{
    struct sim_preset g = sim_preset_default();
    j->n = n;
    if (ptx_parse_file(path, &j->m, ds) != ST_OK || !(j->mem = sim_mem_new(1ull << 32)))
        return false;
    for (int k = 0; k < 3; k++) {
        j->addr[k] = sim_mem_alloc(j->mem, (uint64_t)n * n * 4, k == 0 ? "A" : k == 1 ? "B" : "C");
        float *h = (float *)(void *)sim_mem_host(j->mem, j->addr[k], (uint64_t)n * n * 4);
        for (uint32_t i = 0; h && i < n * n; i++)
            h[i] = (float)(base_splitmix((uint64_t)k, i) >> 40) * 0x1p-24f;
    }
    const struct ptx_func *f = ptx_find_func(j->m, str_of(kernel));
    if (!f)
        return false;
    for (uint32_t k = 0; k < 3; k++)
        put(j->params, f, k, &j->addr[k], 8);
    put(j->params, f, 3, &n, 4);
    return sim_load(j->m, str_of(kernel), &g, j->mem, &j->p, ds) == ST_OK;
}

static bool job_time(struct job *j, unsigned threads, struct diags *ds)
{
    struct sim_launch l = { .grid = { j->n / 32, j->n / 8, 1 },
                            .block = { 32, 8, 1 },
                            .params = j->params,
                            .nparams = 64,
                            .functional = true,
                            .threads = threads,
                            .carveout = -1,
                            .hw_pi = -1 };
    double best = 0, best_cpu = 0;
    struct sim_stats s = { 0 };
    for (int k = 0; k < 5; k++) {
        int64_t t = base_now_ns();
        double c = cpu_s();
        if (sim_run(j->p, &l, &s, ds) != ST_OK)
            return false;
        double rate = (double)s.inst_thread * 1e3 / (double)(base_now_ns() - t);
        double rate_cpu = (double)s.inst_thread * 1e-6 / (cpu_s() - c);
        best = rate > best ? rate : best;
        best_cpu = rate_cpu > best_cpu ? rate_cpu : best_cpu;
        sim_stats_free(&s);
    }
    printf("naive fp32 matmul n=%u, %u thread%s: %.0f M thread-instr/s (%.0f M per second of processor "
           "time; %llu per launch)\n",
           j->n, threads, threads > 1 ? "s" : "", best, best_cpu, (unsigned long long)s.inst_thread);
    return true;
}

static double job_error(const struct job *j)
{
    const float *a = (const void *)sim_mem_host(j->mem, j->addr[0], 4),
                *b = (const void *)sim_mem_host(j->mem, j->addr[1], 4);
    const float *c = (const void *)sim_mem_host(j->mem, j->addr[2], 4);
    uint32_t wrong = 0;
    for (uint32_t row = 0; row < j->n; row += 7)
        for (uint32_t col = 0; col < j->n; col++) {
            float sum = 0;
            for (uint32_t k = 0; k < j->n; k++)
                sum = __builtin_fmaf(a[row * j->n + k], b[k * j->n + col], sum);
            wrong += memcmp(&sum, &c[row * j->n + col], 4) != 0;
        }
    return wrong;
}

int main(void)
{
    struct job j = { 0 };
    struct diags ds = { 0 };
    bool ok = job_open(&j, "kernels/gemm.ptx", "gemm", 256, &ds) && job_time(&j, 1, &ds) &&
              job_time(&j, 2, &ds);
    if (ok)
        printf("elements that differ from the host's: %.0f\n", job_error(&j));
    struct buf out = { 0 };
    diags_print(&ds, &out);
    if (out.n)
        fputs(out.s, stderr);
    buf_free(&out);
    diags_free(&ds);
    sim_unload(j.p);
    ptx_free(j.m);
    sim_mem_free(j.mem);
    return ok ? 0 : 1;
}
