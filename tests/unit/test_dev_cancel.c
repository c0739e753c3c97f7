/* Cancelling what is no launch: starting a device, compiling a module, uploading buffers. Each takes 20 s in the
 * fake driver; the user is free within 100 ms (here: a second, for a loaded machine), and the device works again. */
#include "tests/conformance/conf.h"
#include "tests/fake/fake.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#define N 4096u
#define SOON_NS 1000000000

struct scene {
    struct cancel cancel; int64_t asked; pthread_t thread;
    struct dev_env env; struct dev *dev; struct dev_code *code; struct dev_data *bound; struct diags ds;
    struct arg_spec args[2]; struct launch_spec l; struct launch_data data; char *ptx; size_t nptx;
};

static void *ask_later(void *ctx)
{
    struct scene *s = ctx;
    nanosleep(&(struct timespec){ 0, 300000000 }, NULL);
    s->asked = base_now_ns();
    atomic_store(&s->cancel.asked, true);
    return NULL;
}

static void ask(struct scene *s)
{
    assert_int_equal(pthread_create(&s->thread, NULL, ask_later, s), 0);
}

/* The call is back, soon after it was asked. */
static void is_free(struct scene *s, enum status st)
{
    pthread_join(s->thread, NULL);
    assert_int_equal(st, ST_CANCELLED);
    assert_true(base_now_ns() - s->asked < SOON_NS);
    atomic_store(&s->cancel.asked, false);
    setenv("FAKE_CUDA", "", 1);
}

static void scene_init(struct scene *s, const char *script)
{
    static char kernel[] = "conf_bump", buf[] = "buf", five[] = "add";
    memset(s, 0, sizeof *s);
    fake_use("libcuda.so.1", script, NULL);
    s->env = fake_env();
    s->env.cancel = &s->cancel;
    s->l = (struct launch_spec){ .kernel = kernel, .grid = { N / 128, 1, 1 }, .block = { 128, 1, 1 }, .args = s->args, .nargs = 2 };
    s->args[0] = (struct arg_spec){ .kind = ARG_BUFFER, .name = buf, .elem = ELEM_U32, .count = N, .output = true };
    s->args[1] = (struct arg_spec){ .kind = ARG_SCALAR, .name = five, .elem = ELEM_U32, .scalar = { 5 } };
    assert_int_equal(launch_data_make(&s->l, 1 << 20, &s->data, &s->ds), ST_OK);
    assert_int_equal(file_read(CONF_PTX, 1 << 20, &s->ptx, &s->nptx, &s->ds), ST_OK);
}

static enum status load(struct scene *s)
{
    return dev_load(s->dev, "conf.ptx", (struct str){ s->ptx, s->nptx }, STR("conf_bump"), 0, &s->code, &s->ds);
}

/* Everything that was not done yet, and one launch. */
static void works(struct scene *s)
{
    struct dev_run run = dev_run_default();
    struct result r = result_empty();
    uint32_t got[N];
    if (!s->dev)
        assert_int_equal(dev_open("cuda:0", &s->env, &s->dev, &s->ds), ST_OK);
    if (!s->code)
        assert_int_equal(load(s), ST_OK);
    if (!s->bound)
        assert_int_equal(dev_bind(s->dev, &s->data, &s->bound, &s->ds), ST_OK);
    run.launch = &s->l;
    run.grid = s->l.grid;
    run.block = s->l.block;
    assert_int_equal(dev_launch(s->dev, s->code, s->bound, &run, &r, &s->ds), ST_OK);
    assert_int_equal(r.status, ST_OK);
    assert_int_equal(dev_read_arg(s->dev, s->bound, 0, got, sizeof got, &s->ds), ST_OK);
    assert_int_equal(got[N - 1], 5);
}

static void scene_free(struct scene *s)
{
    dev_unbind(s->dev, s->bound);
    dev_unload(s->dev, s->code);
    dev_close(s->dev);
    launch_data_free(&s->data);
    base_free(s->ptx);
    diags_free(&s->ds);
}

static void test_open(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, "slowstart");
    ask(&s);
    is_free(&s, dev_open("cuda:0", &s.env, &s.dev, &s.ds));
    assert_null(s.dev);
    works(&s);
    scene_free(&s);
}

static void test_load(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, "slowjit");
    assert_int_equal(dev_open("cuda:0", &s.env, &s.dev, &s.ds), ST_OK);
    ask(&s);
    is_free(&s, load(&s));
    assert_null(s.code);
    works(&s);
    scene_free(&s);
}

static void test_bind(void **state)
{
    (void)state;
    struct scene s;
    scene_init(&s, "slowcopy");
    assert_int_equal(dev_open("cuda:0", &s.env, &s.dev, &s.ds), ST_OK);
    assert_int_equal(load(&s), ST_OK);
    ask(&s);
    is_free(&s, dev_bind(s.dev, &s.data, &s.bound, &s.ds));
    assert_null(s.bound);
    works(&s);                                   /* the code is loaded anew in the new worker */
    scene_free(&s);
}

/* A launcher that never comes up: a queue, a host that does not answer. */
static void test_launcher(void **state)
{
    (void)state;
    static const char *const workers[] = { "sleep 20" };
    struct scene s;
    scene_init(&s, "");
    s.env.workers = workers;
    s.env.nworkers = 1;
    ask(&s);
    is_free(&s, dev_open("cuda:0", &s.env, &s.dev, &s.ds));
    s.env.nworkers = 0;
    works(&s);
    scene_free(&s);
}

int main(int argc, char **argv)
{
    int code;
    if (fake_worker_main(argc, argv, &code))
        return code;
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_open), cmocka_unit_test(test_load), cmocka_unit_test(test_bind), cmocka_unit_test(test_launcher) };
    return cmocka_run_group_tests_name("cancelling", tests, NULL, NULL);
}
