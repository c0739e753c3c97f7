/* The conformance suite over every device there is here: simulated, simulated in
 * a worker, the fake driver in this process and in a worker, and a real GPU when
 * the machine has one. A device that is absent is skipped, not passed. */
#include "tests/conformance/conf.h"
#include "tests/fake/fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct workspace {
    const char *name, *spec;
    bool fake, worker, survives;
    struct dev *dev;
    struct diags ds;
};
static struct workspace SUBJECTS[] = {
    { .name = "simulated", .spec = "sim:hopper-h200", .survives = true },
    { .name = "simulated in a worker", .spec = "sim:hopper-h200", .worker = true, .survives = true },
    { .name = "fake driver", .spec = "cuda:0", .fake = true },
    { .name = "fake driver in a worker",
      .spec = "cuda:0",
      .fake = true,
      .worker = true,
      .survives = true },
    { .name = "GPU in a worker", .spec = "cuda:0", .worker = true, .survives = true },
};
struct pair {
    struct workspace *s;
    const struct conf_case *c;
};
static struct str PTX;

/* A worker that is started again takes the environment as it is then. */
static void use_environment(const struct workspace *s)
{
    if (s->fake)
        fake_use("libcuda.so.1", NULL, NULL);
    else {
        unsetenv("GPULOCW_LIBCUDA");
        unsetenv("CUPTI_PATH");
        unsetenv("GPULOCW_LIBNVML");
    }
}

static enum status open_subject(struct workspace *s)
{
    static char command[1200];
    static const char *const workers[] = { command };
    struct dev_env env = fake_env();
    snprintf(command, sizeof command, "'%s' worker", fake_self());
    use_environment(s);
    env.in_process = !s->worker;
    env.workers = workers;
    env.nworkers = s->worker;
    return dev_open(s->spec, &env, &s->dev, &s->ds);
}

static void run_pair(void **state)
{
    struct pair *p = *state;
    if (!p->s->dev)
        skip();
    use_environment(p->s);
    struct conf_env e = { .dev = p->s->dev, .ptx = PTX, .survives = p->s->survives };
    enum conf_verdict v = p->c->run(&e);
    if (v == CONF_SKIP)
        skip();
    if (v == CONF_FAIL)
        fail_msg("%s: %s: %s", p->s->name, p->c->name, e.why);
}

int main(int argc, char **argv)
{
    int code = 0;
    char *text;
    size_t n, cases = conf_count(), total = 0;
    struct diags ds = { 0 };
    if (fake_worker_main(argc, argv, &code))
        return code;
    if (file_read(CONF_PTX, 1 << 20, &text, &n, &ds) != ST_OK)
        return 1;
    PTX = (struct str){ text, n };
    struct CMUnitTest *tests = calloc(cases * ARRAY_LEN(SUBJECTS), sizeof *tests);
    struct pair *pairs = calloc(cases * ARRAY_LEN(SUBJECTS), sizeof *pairs);
    char(*names)[96] = calloc(cases * ARRAY_LEN(SUBJECTS), sizeof *names);
    if (!tests || !pairs || !names)
        return 1;
    for (size_t k = 0; k < ARRAY_LEN(SUBJECTS); k++) {
        struct workspace *s = &SUBJECTS[k];
        bool must = strcmp(s->spec, "cuda:0") || s->fake;
        if (open_subject(s) != ST_OK && must) {
            fprintf(stderr, "%s: %s\n", s->name, s->ds.n ? s->ds.v[0].msg : "cannot be opened");
            code = 1;
        }
        for (size_t i = 0; i < cases; i++, total++) {
            pairs[total] = (struct pair){ s, conf_case(i) };
            snprintf(names[total], sizeof *names, "%s: %s", s->name, conf_case(i)->name);
            tests[total] = (struct CMUnitTest){ .name = names[total],
                                                .test_func = run_pair,
                                                .initial_state = &pairs[total] };
        }
    }
    int failed = _cmocka_run_group_tests("device conformance", tests, total, NULL, NULL);
    for (size_t k = 0; k < ARRAY_LEN(SUBJECTS); k++) {
        dev_close(SUBJECTS[k].dev);
        diags_free(&SUBJECTS[k].ds);
    }
    base_free(text);
    free(names);
    free(pairs);
    free(tests);
    return code ? code : failed;
}
