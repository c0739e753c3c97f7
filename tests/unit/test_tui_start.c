/* What the workbench was started with: a device that is not there is told with what is used instead; the
 * command that tells the configuration has the workers too. */
#include "tests/support.h"

#include "tests/terminal/live.h"
#include "engine/base/base.h"
#include "engine/workspace/job.h"
#include "tui/control/control.h"
#include "tui/app/as_command.h"

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
    assert_non_null(strstr(as_command_lacks(&a), "has unsaved changes"));
    live_close(&a);
    diags_free(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_device_that_is_not_there),
                                        cmocka_unit_test(the_command_has_the_workers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
