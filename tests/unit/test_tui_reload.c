/* A kernel compiled anew while the workbench is open: R reads it, what was chosen stays,
 * and what ran before is told apart, on the screen and in the session. */
#include "engine/session/run.h"
#include "tests/support.h"

#include "engine/rec/launch.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/session/launch_file.h"
#include "engine/session/session.h"
#include "engine/workspace/job.h"
#include "engine/workspace/snapshot.h"
#include "tests/terminal/live.h"
#include "tui/app/post.h"
#include "tui/app/reload.h"
#include "tui/control/control.h"
#include "tui/control/panels.h"
#include "tui/view/view.h"

#include <stdio.h>
#include <string.h>

static char ptx[300], launch[300];

static void put(const char *path, const char *text)
{
    struct diags ds = { 0 };
    assert_status_ok(file_write_atomic(path, text, strlen(text), &ds), &ds);
    diags_free(&ds);
}

#define HEAD                                                                                            \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\t.reg .b64 "  \
    "%rd<4>; .reg .b32 %r<3>; .reg .f32 %f<4>;\n"                                                       \
    "\tld.param.u64 %rd1, [p];\n\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd2, %r1, 4;\n\tadd.s64 %rd3, " \
    "%rd1, %rd2;\n"
#define TAIL \
    "\tld.global.f32 %f1, [%rd3];\n\tadd.f32 %f1, %f1, %f1;\n\tst.global.f32 [%rd3], %f1;\n\tret;\n}\n"

static void make_files(void)
{
    snprintf(ptx, sizeof ptx, "%s/again.ptx", support_scratch());
    snprintf(launch, sizeof launch, "%s/again.launch.json", support_scratch());
    put(ptx, HEAD TAIL);
    put(launch, "{ \"format\": \"gpulocw-launch\", \"version\": 1, \"launches\": ["
                "{ \"name\": \"one\", \"ptx\": \"again.ptx\", \"kernel\": \"k\", \"grid\": [1,1,1], "
                "\"block\": [32,1,1], \"args\": [ { \"name\": \"p\", \"buffer\": \"f32\", \"count\": "
                "64, \"init\": { \"fill\": 1 }, \"output\": true } ] },"
                "{ \"name\": \"two\", \"ptx\": \"again.ptx\", \"kernel\": \"k\", \"grid\": [1,1,1], "
                "\"block\": [64,1,1], \"args\": [ { \"name\": \"p\", \"buffer\": \"f32\", \"count\": "
                "64, \"init\": { \"fill\": 1 }, \"output\": true } ] } ] }");
}

static void frame(struct app *a)
{
    a->now_ns += 1000000;
    app_begin_frame(a);
    view_of(PANEL_SOURCE)->update(a, 100, 30);
}

static void read_again(void **state)
{
    struct app a;
    struct diags ds = { 0 };
    char session[300];
    (void)state;
    make_files();
    snprintf(session, sizeof session, "%s/again.json", support_scratch());
    assert_status_ok(live_open(&a, session, &ds), &ds);
    app_post(&a, JOB_OPEN, ptx, 0);
    live_settle(&a, 0);
    app_command(&a, "kernel two");
    app_command(&a, "set carveout 50");
    app_command(&a, "run");
    live_settle(&a, 0);
    frame(&a);
    assert_true(source_goto(&a, 11));
    assert_int_equal(a.snap->nruns, 1);
    put(ptx, HEAD "\t// a line more\n" TAIL);
    app_request(&a, REQ_RELOAD);
    live_settle(&a, 0);
    frame(&a);
    assert_int_equal(a.source.old.n, 16);
    assert_int_equal(opt_occupancy(a.options)->carveout, 50);
    assert_int_equal(opt_occupancy(a.snap->options)->carveout, 50);
    assert_string_equal(a.snap->spec->name, "two");
    assert_int_equal(a.source.line[a.list[PANEL_SOURCE].cursor].old, 11);
    assert_true(a.snap->runs[0]->earlier);
    app_command(&a, "run");
    live_settle(&a, 0);
    assert_int_equal(a.snap->nruns, 2);
    assert_false(a.snap->runs[1]->earlier);
    app_request(&a, REQ_RELOAD); /* nothing changed: nothing is of an earlier text */
    live_settle(&a, 0);
    assert_false(a.snap->runs[1]->earlier);
    live_close(&a);
    struct session *s = NULL; /* the file tells the same, and has the text of the last run */
    assert_status_ok(session_load(session, &s, &ds), &ds);
    assert_true(session_at(s, 0)->earlier);
    assert_false(session_at(s, 1)->earlier);
    assert_true(memmem(session_ptx_text(s).s, session_ptx_text(s).n, "a line more", 11) != NULL);
    session_free(s);
    diags_free(&ds);
}

static uint32_t shown_line(const struct app *a)
{
    return a->source.line[a->list[PANEL_SOURCE].cursor].old;
}

/* A fresh file opens on its first load; from then on the cursor is the person's, on the first line as anywhere. */
static void cursor_is_kept(void **state)
{
    struct app a;
    struct diags ds = { 0 };
    (void)state;
    make_files();
    assert_status_ok(live_open(&a, NULL, &ds), &ds);
    app_post(&a, JOB_OPEN, ptx, 0);
    live_settle(&a, 0);
    frame(&a);
    assert_int_equal(shown_line(&a), 11);
    assert_true(source_goto(&a, 1));
    app_command(&a, "set bypass l1");
    live_settle(&a, 0);
    assert_non_null(a.snap->preview);
    frame(&a);
    assert_int_equal(shown_line(&a), 1);
    char twin[300];
    snprintf(twin, sizeof twin, "%s/twin.ptx", support_scratch());
    put(twin, HEAD "\t// a line more\n" TAIL);
    app_post(&a, JOB_OPEN, twin, 0);
    live_settle(&a, 0);
    frame(&a);
    assert_int_equal(shown_line(&a), 12); /* another file, though its kernel has the same name */
    live_close(&a);
    diags_free(&ds);
}

/* A text with a mistake is shown with it; the next one is read as if nothing had been. */
static void mistakes_between(void **state)
{
    struct app a;
    struct diags ds = { 0 };
    (void)state;
    make_files();
    assert_status_ok(live_open(&a, NULL, &ds), &ds);
    app_post(&a, JOB_OPEN, ptx, 0);
    live_settle(&a, 0);
    app_command(&a, "set carveout 50");
    live_settle(&a, 0);
    put(ptx, HEAD "\tnonsense.f32 %f1, %f2\n" TAIL);
    app_request(&a, REQ_RELOAD);
    live_settle(&a, 0);
    put(ptx, HEAD TAIL);
    app_request(&a, REQ_RELOAD);
    live_settle(&a, 0);
    assert_int_equal(opt_occupancy(a.options)->carveout, 50);
    assert_non_null(a.snap->spec);
    remove(ptx);
    app_request(&a, REQ_RELOAD);
    live_settle(&a, 0);
    assert_non_null(a.snap->module); /* a file that is gone is told; what is open stays */
    assert_non_null(strstr(a.notice, "cannot open"));
    live_close(&a);
    diags_free(&ds);
}

static void open_two(struct app *a)
{
    struct diags ds = { 0 };
    make_files();
    assert_status_ok(live_open(a, NULL, &ds), &ds);
    app_post(a, JOB_OPEN, ptx, 0);
    live_settle(a, 0);
    app_command(a, "kernel two");
    live_settle(a, 0);
    diags_free(&ds);
}

/* A launch that was edited and not saved goes on with the new text, also over one with a mistake; one
 * that does not fit is told. */
static void edits_of_the_launch_stay(void **state)
{
    struct app a;
    (void)state;
    open_two(&a);
    app_command(&a, "launch grid 3");
    live_settle(&a, 0);
    assert_true(a.snap->launch_edited);
    put(ptx, HEAD "\tnonsense.f32 %f1, %f2\n" TAIL);
    app_request(&a, REQ_RELOAD);
    live_settle(&a, 0);
    put(ptx, HEAD "\t// a line more\n" TAIL);
    app_request(&a, REQ_RELOAD);
    live_settle(&a, 0);
    assert_string_equal(a.snap->spec->name, "two");
    assert_int_equal(a.snap->spec->grid.x, 3);
    assert_true(a.snap->launch_edited);
    app_command(&a, "kernel one"); /* it was of the other one */
    live_settle(&a, 0);
    assert_int_equal(a.snap->spec->grid.x, 1);
    assert_false(a.snap->launch_edited);
    app_command(&a, "kernel two"); /* and is there when one comes back to it */
    live_settle(&a, 0);
    assert_int_equal(a.snap->spec->grid.x, 3);
    app_command(&a, "kernel one");
    app_command(&a, "launch grid 5");
    live_settle(&a, 0);
    put(ptx, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p, .param "
             ".u32 n)\n{\n\tret;\n}\n");
    app_request(&a, REQ_RELOAD);
    live_settle(&a, 0);
    bool told = false;
    for (size_t i = 0; i < a.snap->nmessages; i++)
        told |= strstr(a.snap->messages[i].text, "does not fit the new text") != NULL;
    assert_true(told);
    live_close(&a);
}

/* Saving one launch of several leaves the others in the file. */
static void saving_keeps_the_other_launches(void **state)
{
    struct app a;
    struct launch_file f = { 0 };
    struct diags ds = { 0 };
    (void)state;
    open_two(&a);
    app_command(&a, "launch grid 3");
    app_command(&a, "save-launch");
    live_settle(&a, 0);
    assert_false(a.snap->launch_edited);
    assert_status_ok(launch_file_read(launch, &f, &ds), &ds);
    assert_int_equal(f.n, 2);
    assert_string_equal(f.launch[0].name, "one");
    assert_int_equal(f.launch[0].grid.x, 1);
    assert_string_equal(f.launch[1].name, "two");
    assert_int_equal(f.launch[1].grid.x, 3);
    launch_file_free(&f);
    app_command(&a, "kernel one");
    app_command(&a, "kernel two"); /* and it is what is saved that is chosen */
    live_settle(&a, 0);
    assert_int_equal(a.snap->spec->grid.x, 3);
    live_close(&a);
}

/* What another program wrote is told of, or read at once when it is watched. */
static void written_by_others(void **state)
{
    struct app a;
    struct diags ds = { 0 };
    (void)state;
    make_files();
    assert_status_ok(live_open(&a, NULL, &ds), &ds);
    reload_written(&a);
    assert_int_equal(*a.notice, 0);
    app_post(&a, JOB_OPEN, ptx, 0);
    live_settle(&a, 0);
    const struct ptx_module *m = a.snap->module;
    reload_written(&a);
    assert_non_null(strstr(a.notice, "again.ptx has changed: R reloads it"));
    live_settle(&a, 0);
    assert_ptr_equal(a.snap->module, m);
    app_command(&a, "watch on");
    reload_written(&a);
    live_settle(&a, 0);
    assert_ptr_not_equal(a.snap->module, m);
    app_command(&a, "watch maybe");
    assert_int_equal(a.notice_level, DIAG_ERROR);
    live_close(&a);
    remove(ptx);
    remove(launch);
    diags_free(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(read_again),
                                        cmocka_unit_test(mistakes_between),
                                        cmocka_unit_test(cursor_is_kept),
                                        cmocka_unit_test(edits_of_the_launch_stay),
                                        cmocka_unit_test(saving_keeps_the_other_launches),
                                        cmocka_unit_test(written_by_others) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
