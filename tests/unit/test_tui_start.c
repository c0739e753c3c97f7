/* What the workbench was started with: a device that is not there is told with what is used instead; the
 * command that tells the configuration has the workers too. */
#include "tests/support.h"

#include "engine/base/base.h"
#include "engine/workspace/job.h"
#include "engine/workspace/snapshot.h"
#include "tests/terminal/live.h"
#include "tui/app/as_command.h"
#include "tui/app/post.h"
#include "tui/base/key.h"
#include "tui/control/control.h"

#include <stdio.h>
#include <string.h>

static void a_device_that_is_not_there(void **state)
{
    struct app a;
    struct diags ds = { 0 };
    (void)state;
    assert_status_ok(live_open(&a, NULL, &ds), &ds);
    app_post(&a, JOB_DEVICE, "sim:nosuch", 0);
    app_post(&a, JOB_OPEN, "kernels/valley.ptx", 0);
    live_settle(&a, 0);
    assert_ptr_equal(
        strstr(a.notice,
               "'sim:nosuch' cannot be used; still using sim:hopper-h200: no simulated device 'nosuch'"),
        a.notice);
    assert_string_equal(a.snap->dev.spec, "sim:hopper-h200");
    app_command(&a, "device sim:fermi-16k");
    app_command(&a, "device sim:nosuch");
    live_settle(&a, 0);
    assert_non_null(strstr(a.notice, "still using sim:fermi-16k"));
    assert_string_equal(a.snap->dev.spec, "sim:fermi-16k");
    live_close(&a);
    diags_free(&ds);
}

static void the_command_has_the_workers(void **state)
{
    static const char *const worker[] = { "ssh host gpulocw worker" };
    struct app a;
    struct diags ds = { 0 };
    (void)state;
    assert_status_ok(live_open(&a, NULL, &ds), &ds);
    app_post(&a, JOB_OPEN, "kernels/gemm.ptx", 0);
    live_settle(&a, 0);
    app_begin_frame(&a);
    assert_string_equal(as_command(&a), "gpulocw run kernels/gemm.ptx -k default -d sim:hopper-h200");
    assert_null(as_command_lacks(&a));
    a.set.worker = worker;
    a.set.nworkers = 1;
    app_command(&a, "launch grid 2x2");
    live_settle(&a, 0);
    assert_string_equal(
        as_command(&a),
        "gpulocw run kernels/gemm.ptx -k default -d sim:hopper-h200 --worker 'ssh host gpulocw worker'");
    assert_non_null(strstr(as_command_lacks(&a), "writes the launch"));
    live_close(&a);
    diags_free(&ds);
}

/* Ticks until the list of kernels is offered or nobody wants it any more. */
static bool offered(struct app *a)
{
    while (a->kernels_wanted) {
        a->now_ns = base_now_ns();
        app_event(a, &(struct event){ .kind = EVENT_TICK });
    }
    return a->overlay == OVERLAY_KERNELS;
}

static void open_two_kernels(struct app *a, struct diags *ds)
{
    assert_status_ok(live_open(a, NULL, ds), ds);
    app_post(a, JOB_OPEN, "tests/attacks/tiles/kernels.ptx", 0);
    live_settle(a, 0);
    assert_true(a->kernels_wanted);
}

/* A list of kernels that nobody asked for does not come over what the user went on to. */
static void a_key_is_quicker_than_the_list(void **state)
{
    static const struct {
        uint32_t key;
        bool list;
    } table[] = { { 0, true }, { 'j', true }, { '4', false }, { 't', false }, { ':', false } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct app a;
        struct diags ds = { 0 };
        open_two_kernels(&a, &ds);
        if (table[i].key)
            app_event(&a, &(struct event){ .kind = EVENT_KEY, .key = table[i].key });
        assert_int_equal(offered(&a), table[i].list);
        live_close(&a);
        diags_free(&ds);
    }
}

/* Nor where the key came while the file was still read; the next file's list comes again. */
static void a_key_is_quicker_than_the_file(void **state)
{
    struct app a;
    struct diags ds = { 0 };
    (void)state;
    assert_status_ok(live_open(&a, NULL, &ds), &ds);
    app_post(&a, JOB_OPEN, "tests/attacks/tiles/kernels.ptx", 0);
    app_event(&a, &(struct event){ .kind = EVENT_KEY, .key = '4' });
    live_settle(&a, 0);
    assert_false(a.kernels_wanted);
    app_post(&a, JOB_OPEN, "kernels/mvt.ptx", 0);
    live_settle(&a, 0);
    assert_true(a.kernels_wanted);
    live_close(&a);
    diags_free(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_device_that_is_not_there),
                                        cmocka_unit_test(the_command_has_the_workers),
                                        cmocka_unit_test(a_key_is_quicker_than_the_list),
                                        cmocka_unit_test(a_key_is_quicker_than_the_file) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
