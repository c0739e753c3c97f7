/* The analysis in the background is told, and stops when it is asked to: at once, and for good. */
#include "engine/analysis/analysis.h"

#include "tests/support.h"

#include "engine/workspace/job.h"
#include "engine/workspace/snapshot.h"
#include "tests/terminal/live.h"
#include "tui/app/post.h"

#include <stdio.h>
#include <string.h>

static char ptx[300], launch[300];

/* Each thread follows a chain of loaded indices: a minute of slices. */
static const char text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry walk(.param .u64 next, .param .u64 "
    "o)\n{\n.reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %d<9>;\n"
    "ld.param.u64 %d1, [next]; ld.param.u64 %d2, [o];\nmov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; "
    "mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3; mov.u32 %r5, 0;\n"
    "L:\nmul.wide.u32 %d3, %r4, 4; add.s64 %d4, %d1, %d3;\nld.global.u32 %r4, [%d4];\nadd.s32 %r5, %r5, "
    "1; setp.lt.u32 %p1, %r5, 64;\n@%p1 bra L;\n"
    "mul.wide.u32 %d5, %r4, 4; add.s64 %d6, %d2, %d5; st.global.u32 [%d6], %r4;\nret;\n}\n";

static void put(const char *path, const char *what)
{
    struct diags ds = { 0 };
    assert_status_ok(file_write_atomic(path, what, strlen(what), &ds), &ds);
    diags_free(&ds);
}

static void look(struct app *a, int ms)
{
    struct pollfd p = { job_wake_fd(live_engine), POLLIN, 0 };
    (void)poll(&p, 1, ms);
    const struct job_snapshot *s = job_snapshot_get(live_engine), *old = a->snap;
    app_snapshot(a, s);
    job_snapshot_release(old);
}

static bool said(const struct app *a, const char *part)
{
    for (size_t i = 0; i < a->snap->nmessages; i++)
        if (strstr(a->snap->messages[i].text, part))
            return true;
    return false;
}

static void open_it(struct app *a)
{
    struct diags ds = { 0 };
    snprintf(ptx, sizeof ptx, "%s/walk.ptx", support_scratch());
    snprintf(launch, sizeof launch, "%s/walk.launch.json", support_scratch());
    put(ptx, text);
    put(launch, "{ \"format\": \"gpulocw-launch\", \"version\": 1, \"ptx\": \"walk.ptx\", \"kernel\": "
                "\"walk\", \"grid\": [65536,1,1], \"block\": [256,1,1], \"args\": ["
                "{ \"name\": \"next\", \"buffer\": \"u32\", \"count\": 16777216, \"init\": { "
                "\"random\": [0, 16777215], \"seed\": 1 } },"
                "{ \"name\": \"o\", \"buffer\": \"u32\", \"count\": 16777216, \"init\": { \"fill\": 0 "
                "}, \"output\": true } ] }");
    assert_status_ok(live_open(a, NULL, &ds), &ds);
    app_post(a, JOB_OPEN, ptx, 0);
    live_settle(a, 0);
    diags_free(&ds);
}

static void stops_for_good(void **state)
{
    struct app a;
    (void)state;
    open_it(&a);
    *a.notice = '\0';
    for (int i = 0; i < 20; i++)
        look(&a, 10); /* it is under way */
    *a.notice = '\0';
    assert_true(a.snap->unsettled);
    struct support_clock t = support_clock();
    app_request(&a, REQ_CANCEL);
    while (a.snap->unsettled && support_since(t) < 5000000000)
        look(&a, 10);
    assert_false(a.snap->unsettled);
    /* a fifth of a second, on a machine that is busy with something else */
    assert_true(support_since(t) < 500000000);
    assert_true(said(&a, "the analysis of the whole launch was stopped"));
    assert_true(a.snap->facts);
    assert_true(!a.snap->facts->reuse.valid);
    for (int i = 0; i < 5; i++)
        look(&a, 20);
    assert_false(a.snap->unsettled);
    app_request(&a, REQ_RELOAD); /* and begins again when the text is read again */
    live_settle(&a, 0);
    assert_true(a.snap->unsettled);
    live_close(&a);
}

/* A notice is taken away first: the key that does that stops nothing. */
static void the_notice_goes_first(void **state)
{
    struct app a;
    (void)state;
    open_it(&a);
    app_notice(&a, DIAG_NOTE, "something to read");
    app_request(&a, REQ_CANCEL);
    assert_int_equal(*a.notice, 0);
    look(&a, 50);
    assert_true(a.snap->unsettled);
    live_close(&a);
    remove(ptx);
    remove(launch);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(stops_for_good),
                                        cmocka_unit_test(the_notice_goes_first) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
