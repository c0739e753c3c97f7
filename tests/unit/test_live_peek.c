/* What apply has seen so far, while the program still runs: with the fake driver of tests of apply. */
#include "engine/base/base.h"
#include "engine/live/apply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char root[1024], folder[] = "/tmp/gpulocw-peek-XXXXXX", go[80], text[1 << 16];

struct seen {
    uint64_t launches, tuned, looks;
};

static uint64_t match(void *ctx, const char *kernel, uint64_t hash, const char *path, int *maxreg,
                      uint64_t *whole)
{
    *whole = 0;
    (void)ctx, (void)hash, (void)path;
    *maxreg = 0;
    return strcmp(kernel, "step") == 0;
}

/* The program waits half-way until it may go on. */
static void so_far(void *ctx, struct live_apply *results)
{
    struct seen *s = ctx;
    s->looks++;
    struct live_times *t = results->n == 1 ? results->v[0].time : NULL;
    if (t && results->v[0].launches == 18 && t[LIVE_TUNED].n == 6 && t[LIVE_ORIGINAL].n &&
        !s->launches) {
        s->launches = results->v[0].launches;
        s->tuned = t[LIVE_TUNED].kept;
        FILE *f = fopen(go, "w");
        assert_non_null(f);
        assert_int_equal(fclose(f), 0);
    }
    live_apply_free(results);
}

static void times_are_there_before_the_end(void **state)
{
    char program[1200], file[64];
    static char count[] = "36", how[] = "slow";
    char *argv[] = { program, file, count, how, NULL };
    struct seen seen = { 0 };
    struct diags ds = { 0 };
    struct live_target target = { .any = true, .carveout = -1 };
    (void)state;
    snprintf(program, sizeof program, "%s/tests/live/swap/swapped", root);
    snprintf(file, sizeof file, "%s/step.ptx", folder);
    snprintf(go, sizeof go, "%s.go", file);
    FILE *from = fopen("tests/live/step.ptx", "r"), *to = fopen(file, "w");
    assert_non_null(from);
    assert_non_null(to);
    size_t n = fread(text, 1, sizeof text - 16, from);
    assert_int_equal(fwrite(text, 1, n, to), n);
    assert_int_equal(fclose(from) | fclose(to), 0);
    strcpy(text + n, "// fast\n");
    struct live_apply a = { .n = 1, .mode = LIVE_APPLY_AB, .match = match, .ctx = &seen };
    a.so_far = so_far;
    a.v = base_alloc(sizeof *a.v);
    assert_non_null(a.v);
    *a.v = target;
    a.v->kernel = base_strdup("step");
    a.v->text = base_strdup(text);
    assert_int_equal(live_apply_run(argv, &a, &ds), ST_OK);
    assert_int_equal(seen.launches, 18);
    assert_int_equal(seen.tuned, 6);
    assert_int_equal(a.v[0].launches, 36);
    assert_int_equal(a.v[0].time[LIVE_TUNED].n, 12);
    assert_int_equal(a.survey.exit, 0);
    live_apply_free(&a);
    diags_free(&ds);
    unlink(file);
    unlink(go);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(times_are_there_before_the_end) };
    char fake[1200];
    const char *build = getenv("GPULOCW_BUILD");
    if (!realpath(build ? build : "build", root) || !mkdtemp(folder))
        return 1;
    snprintf(fake, sizeof fake, "%s/tests/live/swap/libfake.so", root);
    setenv("CUPTI_PATH", fake, 1);
    unsetenv("CUDA_INJECTION64_PATH");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
