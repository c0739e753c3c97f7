/* Sweeps and searches that were cut off go on: what was stopped here as it was asked for, what a session
 * brings as far as it can be told; what has run is not run again. */
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/rec/result.h"
#include "engine/search/found.h"
#include "engine/session/run.h"

#include "tests/support.h"

#include "engine/workspace/job.h"
#include "engine/workspace/snapshot.h"
#include "tests/terminal/live.h"
#include "tui/app/post.h"

#include <stdio.h>
#include <string.h>

static char path[300];

static void open_kernel(struct app *a, const char *kernel)
{
    struct diags ds = { 0 };
    snprintf(path, sizeof path, "%s/resume.json", support_scratch());
    remove(path);
    assert_status_ok(live_open(a, path, &ds), &ds);
    app_post(a, JOB_DEVICE, "sim:fermi-16k", 0);
    app_post(a, JOB_OPEN, kernel, 0);
    if (strstr(kernel, "valley"))
        app_post(a, JOB_KERNEL, "fermi", 0);
    live_settle(a, 0);
    diags_free(&ds);
}

static size_t finished(const struct session_run *r)
{
    return r->kind == RUN_SWEEP ? r->sweep.npoints : r->ntrail;
}

/* Stops what was asked for last when the newest run has some results. */
static void stop_at(struct app *a, size_t runs, size_t points)
{
    bool asked = false;
    for (;;) {
        const struct job_snapshot *s = job_snapshot_get(live_engine), *old = a->snap;
        app_snapshot(a, s);
        job_snapshot_release(old);
        if (s->nruns >= runs && finished(s->runs[s->nruns - 1]) >= points && !asked) {
            app_request(a, REQ_CANCEL);
            asked = true;
        }
        if (!s->busy && s->worked >= live_posted)
            break;
        struct pollfd p = { job_wake_fd(live_engine), POLLIN, 0 };
        (void)poll(&p, 1, 20);
    }
    assert_true(asked);
}

static void a_sweep_goes_on(void **state)
{
    struct app a;
    (void)state;
    open_kernel(&a, "kernels/valley.ptx");
    app_command(&a, "set bypass-op cs");
    app_command(&a, "sweep pi,carveout=0/100");
    stop_at(&a, 2, 0);
    assert_int_equal(a.snap->nruns, 2);
    assert_false(a.snap->runs[0]->sweep.complete && a.snap->runs[1]->sweep.complete);
    app_command(&a, "unset"); /* it goes on as it was asked for */
    app_request(&a, REQ_RESUME);
    live_settle(&a, 0);
    assert_int_equal(a.snap->nruns, 4);
    for (size_t i = 2; i < 4; i++) {
        const struct session_run *r = a.snap->runs[i];
        assert_true(r->sweep.complete);
        assert_int_equal(opt_bypass(&r->sweep.points[0].options)->op, BYPASS_OP_CS);
        assert_int_equal(opt_occupancy(&r->sweep.points[0].options)->carveout, i == 2 ? 0 : 100);
    }
    live_close(&a);
}

/* Another day: the session's file is all there is. */
static void a_loaded_sweep_goes_on(void **state)
{
    struct app a;
    struct diags ds = { 0 };
    char other[300];
    (void)state;
    open_kernel(&a, "kernels/valley.ptx");
    app_command(&a, "set bypass-op cs");
    app_command(&a, "sweep");
    stop_at(&a, 1, 3);
    size_t had = a.snap->runs[0]->sweep.npoints;
    bool cut = !a.snap->runs[0]->sweep.complete;
    live_close(&a);
    assert_true(cut);
    assert_true(had >= 3);
    snprintf(other, sizeof other, "%s/other.json", support_scratch());
    assert_status_ok(live_open(&a, other, &ds), &ds);
    app_post(&a, JOB_OPEN, path, 0);
    live_settle(&a, 0);
    assert_int_equal(a.snap->nruns, 1);
    app_command(&a, "resume");
    live_settle(&a, 0);
    assert_int_equal(a.snap->nruns, 2);
    assert_true(a.snap->runs[1]->sweep.complete);
    assert_int_equal(opt_bypass(&a.snap->runs[1]->sweep.points[0].options)->op, BYPASS_OP_CS);
    assert_int_equal(opt_bypass(&a.snap->runs[1]->sweep.points[0].options)->pi.value, 0);
    assert_true(a.snap->runs[1]->sweep.npoints > had);
    live_close(&a);
    diags_free(&ds);
}

static void a_search_goes_on(void **state)
{
    struct app a;
    (void)state;
    open_kernel(&a, "kernels/stride_4.ptx");
    app_command(&a, "tune");
    stop_at(&a, 1, 3);
    assert_true(a.snap->runs[0]->found->interrupted);
    size_t had = a.snap->runs[0]->ntrail;
    app_request(&a, REQ_RESUME);
    live_settle(&a, 0);
    assert_int_equal(a.snap->nruns, 2);
    assert_false(a.snap->runs[1]->found->interrupted);
    /* the original is no configuration of its own */
    assert_true(a.snap->runs[1]->found->resumed + 1 >= had);
    live_close(&a);
}

static void nothing_to_go_on_with(void **state)
{
    struct app a;
    (void)state;
    open_kernel(&a, "kernels/valley.ptx");
    app_request(&a, REQ_RESUME);
    live_settle(&a, 0);
    assert_non_null(strstr(a.notice, "no sweep or search was interrupted"));
    app_command(&a, "run");
    app_request(&a, REQ_RESUME);
    live_settle(&a, 0);
    assert_non_null(strstr(a.notice, "no sweep or search was interrupted"));
    app_command(&a, "sweep");
    stop_at(&a, 2, 2);
    app_command(&a, "device sim:fermi-48k");
    app_request(&a, REQ_RESUME);
    live_settle(&a, 0);
    assert_non_null(strstr(a.notice, "run 2 belongs to another kernel, launch, device or text"));
    live_close(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_sweep_goes_on),
                                        cmocka_unit_test(a_loaded_sweep_goes_on),
                                        cmocka_unit_test(a_search_goes_on),
                                        cmocka_unit_test(nothing_to_go_on_with) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
