/* Samples of the timing beside the whole: the first launch of every demo kernel on the presets named
 * (without any: three of few SMs), timed both ways. Prints, asserts nothing. */
#include <math.h>
#include <time.h>

#include "tests/unit/sim_job.h"

#include <glob.h>

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct sum {
    uint32_t n;
    double time, most, l1, l2, whole_s, sample_s;
};

static struct sim_stats timed(struct job *j, bool exact, double *s)
{
    struct sim_launch l = job_launch(j);
    l.exact = exact;
    double from = cpu_s();
    struct sim_stats r = job_run(j, &l);
    *s = cpu_s() - from;
    return r;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void compare(const char *kernel, const char *preset, struct sum *sum)
{
    struct job j;
    double whole_s, sample_s;
    job_open(&j, kernel, "", preset);
    struct sim_stats b = timed(&j, false, &sample_s);
    if (b.sampled && !(b.cycles_per_inst > 0)) {
        job_reset(&j);
        struct sim_stats a = timed(&j, true, &whole_s);
        double e = 100 * (b.time_ns / a.time_ns - 1),
               l1 = percent(b.l1_hits, b.l1_sectors) - percent(a.l1_hits, a.l1_sectors),
               l2 = percent(b.l2_hits, b.l2_reads) - percent(a.l2_hits, a.l2_reads);
        printf("%-16s %-12s time %+6.1f %%, L1 %+5.1f and L2 %+5.1f points; %3.0f %% of the CTAs, %.2f "
               "instead of %.2f CPU s\n",
               kernel, preset, e, l1, l2, 100 * b.sample_share, sample_s, whole_s);
        fflush(stdout);
        sum->n++;
        sum->time += fabs(e);
        sum->most = fabs(e) > sum->most ? fabs(e) : sum->most;
        sum->l1 += fabs(l1);
        sum->l2 += fabs(l2);
        sum->whole_s += whole_s;
        sum->sample_s += sample_s;
        sim_stats_free(&a);
    }
    sim_stats_free(&b);
    job_close(&j);
}

int main(int argc, char **argv)
{
    static const char *const few[] = { "fermi-16k", "kepler-k80", "maxwell-980" };
    glob_t found;
    struct sum sum = { 0 };
    if (glob("kernels/*.launch.json", 0, NULL, &found) != 0)
        return 1;
    int n = argc > 1 ? argc - 1 : (int)ARRAY_LEN(few);
    for (int p = 0; p < n; p++)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            char name[64];
            snprintf(name, sizeof name, "%.*s", (int)strcspn(found.gl_pathv[i] + 8, "."),
                     found.gl_pathv[i] + 8);
            compare(name, argc > 1 ? argv[p + 1] : few[p], &sum);
        }
    globfree(&found);
    double by = sum.n ? sum.n : 1;
    printf("%u sampled: mean absolute error of the time %.1f %% (at most %.1f), of the hit rates %.2f "
           "points (L1) and %.2f (L2); %.1f instead of %.1f CPU s\n",
           sum.n, sum.time / by, sum.most, sum.l1 / by, sum.l2 / by, sum.sample_s, sum.whole_s);
    return 0;
}
