/* The simulated device behind dev.h: the same numbers in this process, in a worker
 * and in a pool; kept `before` states; a stopped worker; a lack of memory. */
#include "engine/dev/dev_pool.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/device.h"
#include "engine/rec/result.h"

#include "tests/unit/dev_scene.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N 4096u

static enum status run_on(struct dev *d, struct scene *s, const struct dev_run *run, struct result *out)
{
    struct dev_code *c = NULL;
    struct dev_data *b = NULL;
    *out = result_empty();
    enum status st = scene_load(s, d, &c);
    if (st == ST_OK)
        st = dev_bind(d, &s->data, &b, &s->ds);
    if (st == ST_OK)
        st = dev_launch(d, c, b, run, out, &s->ds);
    if (b)
        dev_unbind(d, b);
    if (c)
        dev_unload(d, c);
    return st;
}

static void same(const struct result *a, const struct result *b)
{
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->time.median, b->time.median);
    assert_int_equal(a->noutputs, b->noutputs);
    assert_memory_equal(a->outputs, b->outputs, a->noutputs * sizeof a->outputs[0]);
    for (int i = 0; i < COUNTER_COUNT; i++) {
        assert_int_equal(a->counters[i].valid, b->counters[i].valid);
        assert_memory_equal(&a->counters[i].value, &b->counters[i].value, sizeof(double));
    }
}

/* ---- the same numbers wherever the device lives ---- */
static void test_worker_gives_the_same(void **state)
{
    (void)state;
    char line[1200];
    const char *workers[] = { line };
    struct scene s;
    struct dev_env env = fake_env();
    struct dev *here, *there;
    struct result a, b;
    snprintf(line, sizeof line, "'%s' worker", fake_self());
    scene_open(&s, N, 128, NULL);
    assert_int_equal(dev_open("sim:hopper-h200", &env, &here, &s.ds), ST_OK);
    env.workers = workers;
    env.nworkers = 1;
    assert_int_equal(dev_open("sim:hopper-h200", &env, &there, &s.ds), ST_OK);
    assert_memory_equal(dev_describe(here), dev_describe(there), sizeof(struct dev_info));
    struct dev_run run = scene_run(&s);
    for (int exact = 0; exact < 2; exact++) {
        run.exact = exact;
        assert_int_equal(run_on(here, &s, &run, &a), ST_OK);
        assert_int_equal(run_on(there, &s, &run, &b), ST_OK);
        assert_int_equal(a.status, ST_OK);
        assert_true(a.outputs[0].hash == scene_hash(N, 5));
        same(&a, &b);
    }
    dev_close(there);
    dev_close(here);
    scene_close(&s);
}

static void test_pool_gives_the_same(void **state)
{
    (void)state;
    enum { JOBS = 9 };
    static const char *const specs[] = { "sim:hopper-h200", "sim:hopper-h200", "sim:hopper-h200" };
    struct scene s;
    struct dev_env env = fake_env();
    struct launch_spec l[JOBS];
    struct arg_spec args[JOBS][2];
    struct dev_pool_job jobs[JOBS];
    struct result out[2][JOBS];
    scene_open(&s, N, 128, NULL);
    for (uint32_t i = 0; i < JOBS; i++) {
        l[i] = s.l;
        l[i].args = args[i];
        args[i][0] = s.args[0];
        args[i][1] = scene_u32("add", i);
        jobs[i] = (struct dev_pool_job){ .run = scene_run(&s) };
        jobs[i].run.launch = &l[i];
        out[0][i] = out[1][i] = result_empty();
    }
    struct dev_pool_code code = { "conf.ptx", { s.ptx, s.nptx }, STR("conf_bump"), NULL };
    for (size_t n = 1; n <= 3; n += 2) {
        struct dev_pool *p;
        assert_int_equal(dev_pool_open(specs, n, &env, &p, &s.ds), ST_OK);
        assert_int_equal(dev_pool_run(p, &s.data, &code, 1, jobs, JOBS, NULL, out[n / 2], &s.ds), ST_OK);
        dev_pool_close(p);
    }
    for (uint32_t i = 0; i < JOBS; i++) {
        assert_true(out[0][i].outputs[0].hash == scene_hash(N, i));
        same(&out[0][i], &out[1][i]);
    }
    scene_close(&s);
}

/* ---- kept `before` states: two data sets and two codes on one device do not mix ---- */
static void test_before_is_kept_apart(void **state)
{
    (void)state;
    struct scene with, without;
    struct dev_env env = fake_env();
    struct dev *d;
    struct dev_code *c[2];
    struct dev_data *b[2];
    struct result r = result_empty();
    /* the main kernel itself: never kept */
    scene_open(&with, N, 128, "conf_bump");
    scene_open(&without, N, 128, NULL);
    assert_int_equal(dev_open("sim:hopper-h200", &env, &d, &with.ds), ST_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(dev_load(d, "conf.ptx", (struct str){ with.ptx, with.nptx }, STR("conf_bump"),
                                  0, &c[i], &with.ds),
                         ST_OK);
    assert_int_equal(dev_bind(d, &with.data, &b[0], &with.ds), ST_OK);
    assert_int_equal(dev_bind(d, &without.data, &b[1], &with.ds), ST_OK);
    for (int k = 0; k < 8; k++) {
        struct dev_run run = scene_run(k & 1 ? &without : &with);
        run.functional = true;
        assert_int_equal(dev_launch(d, c[k >> 1 & 1], b[k & 1], &run, &r, &with.ds), ST_OK);
        assert_true(r.outputs[0].hash == scene_hash(N, k & 1 ? 5 : 7));
    }
    for (int i = 0; i < 2; i++) {
        dev_unbind(d, b[i]);
        dev_unload(d, c[i]);
    }
    dev_close(d);
    scene_close(&with);
    scene_close(&without);
}

/* ---- a worker that stops answering is ended by the time limit, and the session goes on ---- */
static void test_stopped_worker(void **state)
{
    (void)state;
    char line[1400], pidfile[] = "/tmp/gpulocw-worker.XXXXXX", text[32] = "";
    const char *workers[] = { line };
    struct scene s;
    struct dev_env env = fake_env();
    struct dev *d;
    struct dev_code *c;
    struct dev_data *b;
    struct result r = result_empty();
    int fd = mkstemp(pidfile);
    assert_true(fd >= 0);
    snprintf(line, sizeof line, "echo $$ > %s; exec '%s' worker", pidfile, fake_self());
    scene_open(&s, N, 128, NULL);
    env.workers = workers;
    env.nworkers = 1;
    struct dev_run run = scene_run(&s);
    assert_int_equal(dev_open("sim:hopper-h200", &env, &d, &s.ds), ST_OK);
    assert_int_equal(
        dev_load(d, "conf.ptx", (struct str){ s.ptx, s.nptx }, STR("conf_bump"), 0, &c, &s.ds), ST_OK);
    assert_int_equal(dev_bind(d, &s.data, &b, &s.ds), ST_OK);
    assert_true(pread(fd, text, sizeof text - 1, 0) > 0);
    kill((pid_t)atoi(text), SIGSTOP);
    run.time_limit_s = 0.1;
    assert_int_equal(dev_launch(d, c, b, &run, &r, &s.ds), ST_OK);
    assert_int_equal(r.status, ST_DEVICE);
    assert_non_null(strstr(r.message, "time limit"));
    run.time_limit_s = 0;
    assert_int_equal(dev_launch(d, c, b, &run, &r, &s.ds), ST_OK);
    assert_int_equal(r.status, ST_OK);
    assert_true(r.outputs[0].hash == scene_hash(N, 5));
    kill((pid_t)atoi(text), SIGKILL);
    dev_unbind(d, b);
    dev_unload(d, c);
    dev_close(d);
    close(fd);
    unlink(pidfile);
    scene_close(&s);
}

/* ---- a lack of memory at any place is a status, not a crash ---- */
static void test_out_of_memory(void **state)
{
    (void)state;
    struct scene s;
    struct dev_env env = fake_env();
    struct result r;
    scene_open(&s, N, 128, NULL);
    struct dev_run run = scene_run(&s);
    run.functional = true;
    enum status st = ST_NOMEM;
    for (uint64_t n = 1; n < 4000 && st != ST_OK; n += 1 + n / 200) {
        struct dev *d = NULL;
        base_fail_after(n);
        st = dev_open("sim:hopper-h200", &env, &d, &s.ds);
        if (st == ST_OK)
            st = run_on(d, &s, &run, &r);
        if (st == ST_OK)
            st = r.status;
        base_fail_after(0);
        dev_close(d);
        /* not a mistake of the launch description, nor of the device */
        assert_true(st == ST_OK || st == ST_NOMEM);
    }
    assert_int_equal(st, ST_OK);
    assert_true(r.outputs[0].hash == scene_hash(N, 5));
    scene_close(&s);
}

int main(int argc, char **argv)
{
    int code;
    if (fake_worker_main(argc, argv, &code))
        return code;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worker_gives_the_same), cmocka_unit_test(test_pool_gives_the_same),
        cmocka_unit_test(test_before_is_kept_apart),  cmocka_unit_test(test_stopped_worker),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests_name("simulated device", tests, NULL, NULL);
}
