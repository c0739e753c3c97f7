/* Cancelling what is no launch: starting a device, compiling a module, uploading buffers. Each takes 20
 * s in the fake driver; the user is free within 100 ms, and the device works again. On a loaded machine
 * a try may take longer: one of a few is in time. */
#include "engine/rec/result.h"

#include "tests/unit/dev_scene.h"

#include <pthread.h>
#include <time.h>

#define N       4096u
#define SOON_NS 100000000
#define TRIES   6

struct cut {
    struct cancel cancel;
    int64_t asked, took;
    pthread_t thread;
    struct dev_env env;
    struct dev *dev;
    struct dev_code *code;
    struct dev_data *bound;
    struct scene s;
};

static void *ask_later(void *ctx)
{
    struct cut *s = ctx;
    nanosleep(&(struct timespec){ 0, 300000000 }, NULL);
    s->asked = base_now_ns();
    atomic_store(&s->cancel.asked, true);
    return NULL;
}

static void ask(struct cut *s)
{
    assert_int_equal(pthread_create(&s->thread, NULL, ask_later, s), 0);
}

/* The call is back, soon after it was asked. */
static void is_free(struct cut *s, enum status st)
{
    int64_t now = base_now_ns();
    pthread_join(s->thread, NULL);
    assert_int_equal(st, ST_CANCELLED);
    s->took = now - s->asked;
    atomic_store(&s->cancel.asked, false);
    setenv("FAKE_CUDA", "", 1);
}

static void cut_open(struct cut *s, const char *script)
{
    memset(s, 0, sizeof *s);
    fake_use("libcuda.so.1", script, NULL);
    s->env = fake_env();
    s->env.cancel = &s->cancel;
    scene_open(&s->s, N, 128, NULL);
}

static enum status load(struct cut *s)
{
    return scene_load(&s->s, s->dev, &s->code);
}

/* Everything that was not done yet, and one launch. */
static void works(struct cut *s)
{
    struct dev_run run = scene_run(&s->s);
    struct result r = result_empty();
    if (!s->dev)
        assert_int_equal(dev_open("cuda:0", &s->env, &s->dev, &s->s.ds), ST_OK);
    if (!s->code)
        assert_int_equal(load(s), ST_OK);
    if (!s->bound)
        assert_int_equal(dev_bind(s->dev, &s->s.data, &s->bound, &s->s.ds), ST_OK);
    assert_int_equal(dev_launch(s->dev, s->code, s->bound, &run, &r, &s->s.ds), ST_OK);
    assert_int_equal(r.status, ST_OK);
    assert_true(r.outputs[0].hash == scene_hash(N, 5));
}

/* The whole of it, until once the user was free in time. */
static void in_time(void (*one)(struct cut *s))
{
    static struct cut s;
    int64_t least = INT64_MAX;
    for (int i = 0; i < TRIES && least >= SOON_NS; i++) {
        one(&s);
        least = s.took < least ? s.took : least;
    }
    if (least >= SOON_NS)
        fail_msg("free after %lld ms at best", (long long)least / 1000000);
}

static void cut_close(struct cut *s)
{
    dev_unbind(s->dev, s->bound);
    dev_unload(s->dev, s->code);
    dev_close(s->dev);
    scene_close(&s->s);
}

static void cancel_open(struct cut *s)
{
    cut_open(s, "slowstart");
    ask(s);
    is_free(s, dev_open("cuda:0", &s->env, &s->dev, &s->s.ds));
    assert_null(s->dev);
    works(s);
    cut_close(s);
}

static void cancel_load(struct cut *s)
{
    cut_open(s, "slowjit");
    assert_int_equal(dev_open("cuda:0", &s->env, &s->dev, &s->s.ds), ST_OK);
    ask(s);
    is_free(s, load(s));
    assert_null(s->code);
    works(s);
    cut_close(s);
}

static void cancel_bind(struct cut *s)
{
    cut_open(s, "slowcopy");
    assert_int_equal(dev_open("cuda:0", &s->env, &s->dev, &s->s.ds), ST_OK);
    assert_int_equal(load(s), ST_OK);
    ask(s);
    is_free(s, dev_bind(s->dev, &s->s.data, &s->bound, &s->s.ds));
    assert_null(s->bound);
    works(s); /* the code is loaded anew in the new worker */
    cut_close(s);
}

/* A launcher that never comes up: a queue, a host that does not answer. */
static void cancel_launcher(struct cut *s)
{
    static const char *const workers[] = { "sleep 20" };
    cut_open(s, "");
    s->env.workers = workers;
    s->env.nworkers = 1;
    ask(s);
    is_free(s, dev_open("cuda:0", &s->env, &s->dev, &s->s.ds));
    s->env.nworkers = 0;
    works(s);
    cut_close(s);
}

static void test_open(void **state)
{
    (void)state;
    in_time(cancel_open);
}
static void test_load(void **state)
{
    (void)state;
    in_time(cancel_load);
}
static void test_bind(void **state)
{
    (void)state;
    in_time(cancel_bind);
}
static void test_launcher(void **state)
{
    (void)state;
    in_time(cancel_launcher);
}

int main(int argc, char **argv)
{
    int code;
    if (fake_worker_main(argc, argv, &code))
        return code;
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_open), cmocka_unit_test(test_load),
                                        cmocka_unit_test(test_bind), cmocka_unit_test(test_launcher) };
    return cmocka_run_group_tests_name("cancelling", tests, NULL, NULL);
}
