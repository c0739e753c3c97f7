/* The built program on a pseudo-terminal: time to the first complete screen, from
 * a key to the end of its frame while a sweep runs, to the end of a cancelled
 * sweep, and processor time while nothing happens. Figures only. */
#include "tests/bench/cpu_seconds.h"
#include "tests/terminal/pty.h"

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Microseconds from a key to the frame that moves the cursor line to another point. */
static int64_t key_to_frame(struct session *s, const char *key, const char *shows)
{
    int64_t t0 = now_us();
    keys(s, key);
    while (!vt_shows(&s->vt, shows) && now_us() - t0 < 2000000)
        pump(s, 5);
    return now_us() - t0;
}

static void first_screen(void)
{
    static const char *const args[] = { "kernels/valley.ptx", "--device", "sim:fermi-16k", NULL };
    int64_t took[7];
    double cpu = 0;
    for (int i = 0; i < 7; i++) {
        struct session s;
        int64_t t0 = now_us();
        start(&s, 80, 24, NULL, args);
        while (!(vt_shows(&s.vt, "ld.global") && vt_shows(&s.vt, "? help")) && now_us() - t0 < 10000000)
            pump(&s, 5);
        took[i] = now_us() - t0;
        cpu += cpu_seconds(s.pid) / 7;
        finish(&s);
    }
    qsort(took, 7, sizeof took[0], by_value);
    printf("first complete screen: median %.1f ms, slowest of 7 %.1f ms; processor time %.0f ms\n",
           (double)took[3] / 1e3, (double)took[6] / 1e3, cpu * 1e3);
}

static void during_a_sweep(void)
{
    enum { N = 150 };
    static const char *const args[] = { "kernels/valley.ptx", "--device", "sim:fermi-16k", NULL };
    static int64_t took[N];
    struct session s;
    start(&s, 100, 30, NULL, args);
    wait_for(&s, "ld.global", 20000);
    keys(&s, "5:kernel fermi\rs");
    wait_for(&s, "sweep", 20000);
    for (int i = 0; i < N; i++) {
        took[i] = key_to_frame(&s, i % 2 ? "5" : "4", i % 2 ? "next sweep" : "bypass-form");
        for (int64_t t0 = now_us(); now_us() - t0 < 20000;)
            pump(&s, 5);
    }
    keys(&s, "5s");
    wait_for(&s, "x stops", 20000);
    keys(&s, "x");
    int64_t t0 = now_us();
    while (vt_shows(&s.vt, "x stops") && now_us() - t0 < 5000000)
        pump(&s, 2);
    int64_t stopped = now_us() - t0;
    qsort(took, N, sizeof took[0], by_value);
    printf("key to frame during a sweep (%d keys): median %.1f ms, 99th percentile %.1f ms\n", N,
           (double)took[N / 2] / 1e3, (double)took[N * 99 / 100] / 1e3);
    printf("cancelled sweep: %.1f ms\n", (double)stopped / 1e3);
    for (t0 = now_us(); now_us() - t0 < 8000000;) /* messages expire, background work ends */
        pump(&s, 50);
    double before = cpu_seconds(s.pid);
    for (t0 = now_us(); now_us() - t0 < 5000000;)
        pump(&s, 50);
    printf("idle: %.2f %% of one core over 5 s\n", (cpu_seconds(s.pid) - before) / 5 * 100);
    finish(&s);
}

int main(void)
{
    if (access(binary(), X_OK) != 0) {
        printf("%s is not built\n", binary());
        return 0;
    }
    first_screen();
    during_a_sweep();
    return 0;
}
