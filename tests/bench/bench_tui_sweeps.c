/* Many sweeps in one workbench on a pseudo-terminal, one after the other, each kept in the session's
 * file: seconds and processor time of each hundred, and the size of the file. Figures only.
 * usage: bench_tui_sweeps [HUNDREDS], default 5 */
#include "tests/bench/cpu_seconds.h"
#include "tests/terminal/pty.h"

static long resident_kb(pid_t pid)
{
    char path[64], line[256];
    long kb = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        sscanf(line, "VmRSS: %ld", &kb);
    if (f)
        fclose(f);
    return kb;
}

/* The last line says what run k found. */
static bool sweep(struct session *s, unsigned k)
{
    char said[32];
    snprintf(said, sizeof said, " run %u: 3", k);
    keys(s, ":sweep pi\r");
    for (int64_t t0 = now_ms(); !vt_shows(&s->vt, said) && now_ms() - t0 < PTY_LIMIT_MS;)
        pump(s, 2);
    return vt_shows(&s->vt, said);
}

int main(int argc, char **argv)
{
    static const char *const args[] = { "kernels/stride_32.ptx", "--device", "sim:fermi-48k", NULL };
    unsigned hundreds = argc > 1 ? (unsigned)atoi(argv[1]) : 5;
    struct session s;
    if (access(binary(), X_OK) != 0) {
        printf("%s is not built\n", binary());
        return 0;
    }
    start(&s, 120, 36, NULL, args);
    wait_for(&s, "ld.global", 20000);
    keys(&s, "5");
    for (unsigned h = 0; h < hundreds; h++) {
        int64_t t0 = now_ms();
        double cpu = cpu_seconds(s.pid);
        for (unsigned k = 1; k <= 100; k++)
            if (!sweep(&s, 100 * h + k)) {
                printf("sweep %u did not end\n", 100 * h + k);
                return 1;
            }
        printf("sweeps %3u to %3u: %.2f s, processor time %.2f s, resident %.1f MB\n", 100 * h + 1,
               100 * h + 100, (double)(now_ms() - t0) / 1e3, cpu_seconds(s.pid) - cpu,
               (double)resident_kb(s.pid) / 1024);
        fflush(stdout);
    }
    finish(&s);
    return 0;
}
