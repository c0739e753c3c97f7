/* The whole program, unchanged and tuned by turns: start to end, as a person waits for it. Nothing is injected into
 * the unchanged one. */
#include "engine/cmd/optimize/optimize.h"

#include "engine/session/json.h"
#include "engine/workspace/args.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS    5u
#define TURNS_S  20.0 /* no further turn begins after so many seconds, */
#define ONE_TURN 2u   /* unless there was no second one */

extern char **environ;

/* Nanoseconds of one run of it; what it prints goes nowhere. NaN: it ended otherwise than before. */
static double run_plain(const struct optimize *o)
{
    posix_spawn_file_actions_t fa;
    int64_t from = base_now_ns();
    pid_t pid;
    int status = 0;
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_addopen(&fa, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&fa, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawnp(&pid, o->a->program[0], &fa, NULL, o->a->program, environ);
    posix_spawn_file_actions_destroy(&fa);
    if (failed)
        return NAN;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    int exit = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return exit == o->exit ? (double)(base_now_ns() - from) : NAN;
}

/* How many launches took what was put in. */
static void take_applied(struct optimize *o, const cJSON *doc)
{
    const cJSON *k;
    cJSON_ArrayForEach(k, json_get(doc, "kernels"))
    {
        struct optimized *x;
        struct optimized_shape *s = optimize_row(o, k, &x);
        if (s) {
            json_u64(json_get(k, "launches"), &s->launches);
            json_u64(json_get(k, "applied"), &s->applied);
        }
    }
}

/* The same with the sessions put in; *gpu: of all kernels together. NaN: not known. */
static double run_tuned(struct optimize *o, const char *const *sessions, double *gpu)
{
    const char *word[OPTIMIZE_PUT + 5] = { "apply" };
    struct buf printed = { 0 };
    cJSON *doc = NULL;
    size_t n = 1;
    uint64_t ns = 0, gpu_ns = 0;
    while (*sessions)
        word[n++] = *sessions++;
    word[n++] = "--mode";
    word[n++] = "all";
    word[n] = "--json";
    enum status st = optimize_step(o, word, &printed, &doc);
    const cJSON *program = json_get(doc, "program");
    bool known = st == ST_OK && json_u64(json_get(program, "wall_ns"), &ns);
    *gpu = known && json_u64(json_get(program, "gpu_ns"), &gpu_ns) ? (double)gpu_ns : NAN;
    if (known)
        take_applied(o, doc);
    if (known && o->output_same == EQUAL_YES &&
        (printed.n != o->printed[0].n || (printed.n && memcmp(printed.s, o->printed[0].s, printed.n))))
        o->output_same = EQUAL_NO;
    cJSON_Delete(doc);
    buf_free(&printed);
    return known ? (double)ns : NAN;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* v is sorted. *spread: the largest over the least, less one. NaN: one of them is not known. */
static double middle(double *v, unsigned n, double *spread)
{
    for (unsigned i = 0; i < n; i++)
        if (isnan(v[i]))
            return NAN;
    qsort(v, n, sizeof *v, by_size);
    *spread = fmax(*spread, v[n - 1] / v[0] - 1);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

void optimize_whole(struct optimize *o, const char *const *sessions)
{
    double plain[TURNS], tuned[TURNS], gpu[TURNS], spread = 0, ignored = 0;
    int64_t from = base_now_ns();
    unsigned n = 0;
    for (; n < TURNS && !cancel_asked(o->a->cancel); n++) {
        if (n >= ONE_TURN && (double)(base_now_ns() - from) / 1e9 > TURNS_S)
            break;
        plain[n] = run_plain(o);
        tuned[n] = run_tuned(o, sessions, &gpu[n]);
        if (isnan(plain[n]) || isnan(tuned[n]))
            break;
    }
    if (!n)
        return;
    o->turns = n;
    o->wall_ns = middle(plain, n, &spread);
    o->wall_tuned_ns = middle(tuned, n, &spread);
    o->gpu_tuned_ns = middle(gpu, n, &ignored);
    o->spread = spread;
}
