/* Pools: who starts when, what is taken when, what is kept between runs, what a member did, and what a
 * member that left behind is still good for. The devices are the fake driver's. */
#include "engine/dev/dev_pool.h"
#include "engine/rec/device.h"
#include "engine/rec/result.h"

#include "tests/unit/dev_scene.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#define N    512u
#define JOBS 12

struct rig {
    struct scene s;
    struct dev_pool *p;
    struct dev_pool_code code;
    struct dev_pool_job jobs[JOBS];
    struct result out[JOBS];
    size_t order[JOBS], told;
};

static void rig_open(struct rig *r, const char *script, const char *const *specs, size_t n,
                     const char *const *workers, size_t nworkers)
{
    struct dev_env env = fake_env();
    memset(r, 0, sizeof *r);
    fake_use("libcuda.so.1", script, NULL);
    scene_open(&r->s, N, N / 2, NULL);
    r->code = (struct dev_pool_code){ "conf.ptx", { r->s.ptx, r->s.nptx }, STR("conf_bump"), NULL };
    for (size_t i = 0; i < JOBS; i++) {
        r->jobs[i].run = scene_run(&r->s);
        r->jobs[i].run.counters = false;
        r->jobs[i].run.repeat = r->jobs[i].run.max_repeat = 1;
        r->out[i] = result_empty();
    }
    env.workers = workers;
    env.nworkers = nworkers;
    assert_int_equal(dev_pool_open(specs, n, &env, &r->p, &r->s.ds), ST_OK);
}

static void on_done(void *ctx, size_t job, const struct result *res)
{
    struct rig *r = ctx;
    (void)res;
    r->order[r->told++] = job;
}

static enum status rig_run(struct rig *r, size_t njobs)
{
    struct dev_pool_watch w = { .done = on_done, .ctx = r };
    r->told = 0;
    return dev_pool_run(r->p, &r->s.data, &r->code, 1, r->jobs, njobs, &w, r->out, &r->s.ds);
}

static void rig_close(struct rig *r)
{
    dev_pool_close(r->p);
    scene_close(&r->s);
}

static const char *const FOUR[] = { "cuda:0", "cuda:1", "cuda:2", "cuda:3" };

/* The first driver of a machine starts alone; the pool is there with it. */
static void test_head_start(void **state)
{
    (void)state;
    struct rig r;
    struct dev_pool_member m[4];
    int64_t from = base_now_ns();
    rig_open(&r, "devices=3,startms=150", FOUR, 3, NULL, 0);
    double opened = (double)(base_now_ns() - from) / 1e9;
    assert_int_equal(dev_pool_count(r.p), 3);
    assert_int_equal(dev_pool_members(r.p, m, 4), 3);
    assert_true(m[0].up_s >= 0.15);
    assert_true(m[0].up_s < opened + 0.05);
    for (size_t i = 0; i < 3; i++) {
        assert_true(m[i].up);
        assert_true(!m[i].jobs);
        assert_true(isnan(m[i].first_s));
    }
    assert_true(m[1].up_s - m[0].up_s >= 0.15);
    assert_true(m[2].up_s - m[0].up_s >= 0.15);
    rig_close(&r);
}

/* One that does not come up holds the others for a while only, one that fails not at all. */
static void test_head_start_ends(void **state)
{
    (void)state;
    struct rig r;
    struct dev_pool_member m[2];
    static const char *const specs[] = { "cuda:9", "cuda:0", "cuda:1" };
    rig_open(&r, "devices=2", specs, 3, NULL, 0);
    assert_int_equal(dev_pool_count(r.p), 2);
    rig_close(&r);
    rig_open(&r, "devices=2,startms=1000", FOUR, 2, NULL, 0);
    assert_int_equal(dev_pool_count(r.p), 2);
    dev_pool_members(r.p, m, 2);
    assert_true(m[1].up_s - m[0].up_s < 0.9);
    rig_close(&r);
}

/* What repeats a job comes after it; what repeats a failed one is not run. */
static void test_second_round(void **state)
{
    (void)state;
    struct rig r;
    size_t at[JOBS];
    rig_open(&r, "devices=2", FOUR, 2, NULL, 0);
    for (size_t k = 0; k < JOBS / 2; k++)
        r.jobs[JOBS - 1 - k].after = k + 1;
    r.jobs[2].run.hw_pi = 3; /* refused on a GPU */
    assert_int_equal(rig_run(&r, JOBS), ST_OK);
    assert_int_equal(r.told, JOBS);
    for (size_t i = 0; i < JOBS; i++)
        at[r.order[i]] = i;
    for (size_t k = 0; k < JOBS / 2; k++) {
        assert_true(at[JOBS - 1 - k] > at[k]);
        assert_int_equal(r.out[JOBS - 1 - k].status, k == 2 ? ST_REFUSED : ST_OK);
    }
    assert_non_null(strstr(r.out[JOBS - 3].message, "not launched again"));
    rig_close(&r);
}

/* At the end, of the jobs that ran before, the longest is taken first: with one member the order is
 * plain. */
static void test_longest_first(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, "launchms=5", FOUR, 1, NULL, 0);
    r.jobs[1].run.repeat = r.jobs[1].run.max_repeat = 8;
    r.jobs[2].after = 1;
    r.jobs[3].after = 2;
    assert_int_equal(rig_run(&r, 4), ST_OK);
    assert_int_equal(r.order[0], 0);
    assert_int_equal(r.order[1], 1);
    assert_int_equal(r.order[2], 3);
    assert_int_equal(r.order[3], 2);
    rig_close(&r);
}

/* Data stay bound from one run to the next, until they are forgotten. */
static void test_data_stay(void **state)
{
    (void)state;
    struct rig r;
    struct dev_pool_member m[1];
    rig_open(&r, "copyms=200", FOUR, 1, NULL, 0);
    assert_int_equal(rig_run(&r, 2), ST_OK);
    dev_pool_members(r.p, m, 1);
    double bound = m[0].bind_s;
    assert_true(bound >= 0.2);
    assert_true(m[0].first_s >= m[0].up_s);
    assert_true(m[0].last_s >= m[0].first_s);
    assert_true(m[0].jobs == 2);
    assert_true(m[0].launch_s > 0);
    assert_int_equal(rig_run(&r, 2), ST_OK);
    dev_pool_members(r.p, m, 1);
    assert_true(m[0].bind_s - bound < 0.2);
    dev_pool_forget(r.p, &r.s.data);
    assert_int_equal(rig_run(&r, 1), ST_OK);
    dev_pool_members(r.p, m, 1);
    assert_true(m[0].bind_s - bound >= 0.2);
    assert_true(r.out[0].outputs[0].hash == scene_hash(N, 5));
    rig_close(&r);
}

/* What the caller has bound to the first member's device serves that member, and stays the caller's. */
static void test_data_lent(void **state)
{
    (void)state;
    struct rig r;
    struct dev_pool_member m[1];
    struct dev_data *b = NULL;
    uint32_t got[N];
    rig_open(&r, "copyms=200", FOUR, 1, NULL, 0);
    struct dev *first = dev_pool_first(r.p);
    assert_int_equal(dev_bind(first, &r.s.data, &b, &r.s.ds), ST_OK);
    dev_pool_lend(r.p, first, b);
    assert_int_equal(rig_run(&r, 2), ST_OK);
    assert_true(r.out[1].outputs[0].hash == scene_hash(N, 5));
    dev_pool_members(r.p, m, 1);
    assert_true(m[0].bind_s < 0.2);
    dev_pool_forget(r.p, &r.s.data);
    assert_int_equal(dev_read_arg(first, b, 0, got, sizeof got, &r.s.ds), ST_OK);
    assert_int_equal(got[7], 7 + 5);
    dev_unbind(first, b);
    rig_close(&r);
}

/* The first member leaves after two deaths in a row; whoever has its device may go on using it. */
static void test_first_leaves(void **state)
{
    (void)state;
    struct rig r;
    struct dev_pool_member m[2];
    struct dev_data *b = NULL;
    static char dying[1400], fine[1400];
    static const char *const workers[] = { dying, fine };
    static const char *const spec[] = { "cuda:0" };
    /* Until the file is there the first worker lives; from then on it and its successors die at once. */
    char mark[] = "/tmp/gpulocw-pool-XXXXXX";
    int fd = mkstemp(mark);
    assert_true(fd >= 0);
    snprintf(dying, sizeof dying,
             "test -s %s && exit 1; exec 3<&0; '%s' worker <&3 & p=$!; (while kill -0 $p 2>/dev/null; "
             "do test -s %s && kill -9 $p; sleep 0.02; done) & wait $p",
             mark, fake_self(), mark);
    snprintf(fine, sizeof fine, "exec '%s' worker", fake_self());
    rig_open(&r, "launchms=30", spec, 1, workers, 2);
    assert_int_equal(dev_pool_count(r.p), 2);
    struct dev *first = dev_pool_first(r.p);
    assert_int_equal(dev_bind(first, &r.s.data, &b, &r.s.ds), ST_OK);
    assert_int_equal(write(fd, "x", 1), 1);
    assert_int_equal(rig_run(&r, JOBS), ST_OK);
    for (size_t i = 0; i < JOBS; i++)
        assert_int_equal(r.out[i].status, ST_OK);
    dev_pool_members(r.p, m, 2);
    assert_false(m[0].up);
    assert_true(m[1].up);
    assert_true(m[0].lost >= 1);
    assert_true(m[1].jobs + m[0].jobs == JOBS);
    assert_string_equal(dev_describe(first)->name, "Fake GPU 0");
    dev_unbind(first, b);
    unlink(mark);
    close(fd);
    rig_close(&r);
}

int main(int argc, char **argv)
{
    int code;
    if (fake_worker_main(argc, argv, &code))
        return code;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head_start),   cmocka_unit_test(test_head_start_ends),
        cmocka_unit_test(test_second_round), cmocka_unit_test(test_longest_first),
        cmocka_unit_test(test_data_stay),    cmocka_unit_test(test_data_lent),
        cmocka_unit_test(test_first_leaves),
    };
    return cmocka_run_group_tests_name("pools", tests, NULL, NULL);
}
