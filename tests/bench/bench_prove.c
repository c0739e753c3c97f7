/* What an acceptance run costs: `gpulocw run` of demo kernels as it is, with --prove quick and full.
 * Processor seconds of the whole program, least of three; full is meant to take at most twice the usual.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static double used(void)
{
    struct rusage r;
    getrusage(RUSAGE_CHILDREN, &r);
    return (double)r.ru_utime.tv_sec + (double)r.ru_utime.tv_usec / 1e6;
}

static double run(const char *kernel, const char *prove)
{
    const char *program = getenv("GPULOCW");
    char command[400];
    double least = -1;
    snprintf(command, sizeof command,
             "'%s' run kernels/%s.ptx --cluster redirect --clusters 3 --no-counters --threads 1 %s "
             ">/dev/null 2>&1",
             program ? program : "build/gpulocw", kernel, prove);
    for (int i = 0; i < 3; i++) {
        double before = used();
        if (system(command) != 0)
            return -1;
        double now = used() - before;
        least = least < 0 || now < least ? now : least;
    }
    return least;
}

int main(void)
{
    static const char *const kernels[] = { "valley", "transpose", "dot_atomic", "gemm" };
    double all[3] = { 0 };
    printf("%-12s %8s %8s %8s   full/usual\n", "prove", "usual s", "quick s", "full s");
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        double t[3] = { run(kernels[i], ""), run(kernels[i], "--prove quick"),
                        run(kernels[i], "--prove full") };
        if (t[0] < 0 || t[1] < 0 || t[2] < 0) {
            printf("%-12s n/a: it does not run (GPULOCW names the program)\n", kernels[i]);
            continue;
        }
        for (int k = 0; k < 3; k++)
            all[k] += t[k];
        printf("%-12s %8.2f %8.2f %8.2f   %.2f\n", kernels[i], t[0], t[1], t[2], t[2] / t[0]);
    }
    if (all[0] > 0)
        printf("%-12s %8.2f %8.2f %8.2f   %.2f\n", "all", all[0], all[1], all[2], all[2] / all[0]);
    return 0;
}
