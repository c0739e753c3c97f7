/* The panel of a program on the GPU, with the fake driver of tests of apply, and without one: its kernels, what stands in
 * the way, and both kernels' times after a run with the session's recommendation. */
#include "tests/support.h"

#include "engine/base/base.h"
#include "engine/ptx/ptx.h"
#include "engine/workspace/snapshot.h"
#include "tests/terminal/live.h"
#include "tui/app/work.h"
#include "tui/base/request.h"
#include "tui/base/text.h"
#include "tui/control/control.h"
#include "tui/control/panels.h"
#include "tui/view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[1024];

static void frame(struct app *a)
{
    app_begin_frame(a);
    view_of(PANEL_PROGRAM)->update(a, 100, 40);
}

static size_t line_with(const struct app *a, const char *text)
{
    const struct page *p = &a->page[PANEL_PROGRAM];
    for (size_t i = 0; i < p->n; i++)
        for (unsigned k = 0; k < p->line[i].n; k++)
            if (text_find(p->line[i].v[k].s, str_of(text)) != SIZE_MAX)
                return i;
    return SIZE_MAX;
}

static void until(struct app *a, const char *text)
{
    for (int i = 0; i < 3000; i++) {
        frame(a);
        if (line_with(a, text) != SIZE_MAX)
            return;
        usleep(10000);
    }
    fail_msg("no line says '%s'", text);
}

static void open_page(struct app *a, struct diags *ds)
{
    assert_status_ok(live_open(a, NULL, ds), ds);
    a->w = 100;
    a->h = 40;
    app_focus(a, PANEL_PROGRAM);
    frame(a);
}

static void nothing_is_asked_for_first(void **state)
{
    struct app a;
    struct diags ds = { 0 };
    (void)state;
    open_page(&a, &ds);
    assert_int_not_equal(line_with(&a, ":program COMMAND"), SIZE_MAX);
    assert_int_equal(app_request(&a, REQ_PROGRAM_APPLY) & UI_REDRAW, UI_REDRAW);
    assert_non_null(strstr(a.notice, "runs one first"));
    assert_false(view_program_survey(&a, ""));
    live_close(&a);
    diags_free(&ds);
}

static void a_program_without_cuda_is_told(void **state)
{
    struct app a;
    struct diags ds = { 0 };
    (void)state;
    open_page(&a, &ds);
    assert_true(view_program_survey(&a, "true"));
    until(&a, "used CUDA");
    live_close(&a);
    diags_free(&ds);
}

/* A program that does not start is no program without CUDA; what it said last is told. */
static void what_went_wrong_is_told(void **state)
{
    struct app a;
    struct diags ds = { 0 };
    (void)state;
    open_page(&a, &ds);
    assert_true(view_program_survey(&a, "./no-such-program 5"));
    until(&a, "could not run it");
    assert_true(view_program_survey(&a, "ls /no-such-folder"));
    until(&a, "exit status 2");
    assert_int_not_equal(line_with(&a, "Its last line: ls: "), SIZE_MAX);
    live_close(&a);
    diags_free(&ds);
}

/* A program that does not end is ended by the key that stops things. */
static void a_program_is_ended(void **state)
{
    struct app a;
    struct diags ds = { 0 };
    (void)state;
    open_page(&a, &ds);
    assert_false(view_program_stop(&a));
    assert_true(view_program_survey(&a, "sleep 300"));
    until(&a, "Running; its kernels");
    for (int i = 0; i < 3000 && work_state(a.program) == WORK_BUSY; i++) {
        app_request(&a, REQ_CANCEL);
        usleep(10000);
    }
    until(&a, "Stopped before it used CUDA");
    assert_string_equal(a.notice, "");
    live_close(&a);
    diags_free(&ds);
}

static void its_kernels_are_listed(void **state)
{
    struct app a;
    struct diags ds = { 0 };
    char command[2400];
    (void)state;
    open_page(&a, &ds);
    snprintf(command, sizeof command, "%s/tests/live/swap/swapped tests/live/step.ptx 12", root);
    assert_true(view_program_survey(&a, command));
    until(&a, "100.0 %");
    size_t row = line_with(&a, "100.0 %");
    struct row r = { .arena = a.frame };
    for (unsigned k = 0; k < a.page[PANEL_PROGRAM].line[row].n; k++)
        row_str(&r, ROLE_TEXT, a.page[PANEL_PROGRAM].line[row].v[k].s);
    assert_int_not_equal(text_find(row_text(&r), str_of("        12 ")), SIZE_MAX); /* launches */
    list_show(&a.list[PANEL_PROGRAM], row);
    app_request(&a, REQ_PROGRAM_APPLY);
    assert_non_null(strstr(a.notice, "no saved session"));
    live_close(&a);
    diags_free(&ds);
}

/* A program that is opened is offered to be run: Enter does. */
static void an_open_program_is_offered(void **state)
{
    struct app a;
    struct diags ds = { 0 };
    (void)state;
    open_page(&a, &ds);
    char path[] = "/tmp/gpulocw it's a program-XXXXXX";
    int f = mkstemp(path);
    assert_true(f >= 0);
    static const char elf[] = "\177ELF is no program";
    assert_int_equal(write(f, elf, sizeof elf), sizeof elf);
    assert_int_equal(fchmod(f, 0700), 0);
    assert_int_equal(close(f), 0);
    struct ptx_module m = { .path = path };
    struct job_snapshot with = *a.snap;
    const struct job_snapshot *own = a.snap;
    with.module = &m;
    with.spec = NULL;
    a.snap = &with;
    assert_true(view_program_offered(&a));
    frame(&a);
    assert_int_not_equal(line_with(&a, "This file is a program"), SIZE_MAX);
    m.path = "/nowhere";
    assert_false(view_program_offered(&a));
    m.path = "kernels/valley.ptx";
    assert_false(view_program_offered(&a));
    m.path = path;
    assert_int_equal(app_request(&a, REQ_PROGRAM_CAPTURE) & UI_REDRAW, UI_REDRAW);
    assert_non_null(a.program);
    a.snap = own;
    until(&a, "could not run it"); /* the shell says so: it was handed the whole name */
    live_close(&a);
    diags_free(&ds);
    unlink(path);
}

static void removed(const char *folder)
{
    static const char *const names[] = { "add.ptx", "add.launch.json", "add.data.bin", "add.left.bin" };
    char path[1200];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(folder), 0);
}

/* Without a GPU it runs on the simulated device, and a kernel is captured all the same. */
static void without_a_gpu_it_runs_all_the_same(void **state)
{
    struct app a;
    struct diags ds = { 0 };
    char command[1200], here[1024], folder[] = "/tmp/gpulocw-program-XXXXXX",
                                    *fake = getenv("CUPTI_PATH");
    (void)state;
    if (access("/dev/nvidiactl", F_OK) == 0)
        skip();
    snprintf(command, sizeof command, "%s/tests/emulate/vectors", root);
    fake = strdup(fake);
    open_page(&a, &ds);
    unsetenv("CUPTI_PATH");
    assert_non_null(getcwd(here, sizeof here));
    assert_non_null(mkdtemp(folder));
    assert_true(view_program_survey(&a, command));
    until(&a, "add");
    assert_int_not_equal(line_with(&a, "on NVIDIA H200"), SIZE_MAX);
    assert_int_equal(line_with(&a, "n/a"), SIZE_MAX); /* it has a simulated time */
    app_request(&a, REQ_PROGRAM_APPLY);
    assert_non_null(strstr(a.notice, "no GPU"));
    list_show(&a.list[PANEL_PROGRAM], line_with(&a, "add"));
    assert_int_equal(chdir(folder), 0);
    app_request(&a, REQ_PROGRAM_CAPTURE);
    for (int i = 0; i < 3000 && !strstr(a.notice, "captured; opening"); i++)
        usleep(10000), frame(&a);
    assert_string_equal(a.notice, "captured; opening captured/add.ptx");
    assert_int_equal(chdir(here), 0);
    setenv("CUPTI_PATH", fake, 1);
    free(fake);
    live_close(&a);
    diags_free(&ds);
    strcpy(command, folder);
    strcat(command, "/captured");
    removed(command);
    assert_int_equal(rmdir(folder), 0);
}

static bool told_below(const struct app *a, const char *text)
{
    const struct page *p = &a->chart[PANEL_PROGRAM];
    for (size_t i = 0; i < p->n; i++)
        for (unsigned k = 0; k < p->line[i].n; k++)
            if (text_find(p->line[i].v[k].s, str_of(text)) != SIZE_MAX)
                return true;
    return false;
}

static void until_below(struct app *a, const char *text)
{
    for (int i = 0; i < 3000 && !told_below(a, text); i++)
        usleep(10000), frame(a);
    if (told_below(a, text))
        return;
    fail_msg("no line says '%s'", text);
}

/* O: optimize, in a process of its own; its gain stands below, and the key that stops things ends it. */
static void a_program_is_optimized(void **state)
{
    struct app a;
    struct diags ds = { 0 };
    struct job_snapshot with;
    char command[1200], self[1200], here[1024], folder[] = "/tmp/gpulocw-optimize-XXXXXX",
                                                *fake = getenv("CUPTI_PATH");
    (void)state;
    if (access("/dev/nvidiactl", F_OK) == 0)
        skip();
    snprintf(command, sizeof command, "%s/tests/emulate/columns 7", root);
    snprintf(self, sizeof self, "%s/gpulocw", root);
    fake = strdup(fake);
    open_page(&a, &ds);
    unsetenv("CUPTI_PATH");
    const struct job_snapshot *own = a.snap;
    with = *a.snap;
    assert_non_null(getcwd(here, sizeof here));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_true(view_program_survey(&a, command));
    until(&a, "100.0 %");
    a.snap = &with;
    with.self = NULL;
    app_request(&a, REQ_PROGRAM_OPTIMIZE);
    assert_string_equal(a.notice, "the program could not be started");
    with.self = "/no/such/program";
    app_request(&a, REQ_PROGRAM_OPTIMIZE);
    until_below(&a, "exit");
    with.self = self;
    app_request(&a, REQ_PROGRAM_OPTIMIZE);
    until_below(&a, "Optimizing: ");
    app_request(&a, REQ_CANCEL);
    until_below(&a, "Stopped");
    app_request(&a, REQ_PROGRAM_OPTIMIZE);
    until_below(&a, "Optimized, simulated");
    assert_true(told_below(&a, "x"));
    assert_true(told_below(&a, "expected of simulated times"));
    assert_int_equal(access("optimized/columns.session.json", R_OK), 0);
    a.snap = own;
    assert_int_equal(chdir(here), 0);
    setenv("CUPTI_PATH", fake, 1);
    free(fake);
    live_close(&a);
    diags_free(&ds);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_asked_for_first),
        cmocka_unit_test(a_program_without_cuda_is_told),
        cmocka_unit_test(what_went_wrong_is_told),
        cmocka_unit_test(a_program_is_ended),
        cmocka_unit_test(its_kernels_are_listed),
        cmocka_unit_test(an_open_program_is_offered),
        cmocka_unit_test(without_a_gpu_it_runs_all_the_same),
        cmocka_unit_test(a_program_is_optimized),
    };
    char fake[1200];
    const char *build = getenv("GPULOCW_BUILD");
    if (!realpath(build ? build : "build", root))
        return 1;
    snprintf(fake, sizeof fake, "%s/tests/live/swap/libfake.so", root);
    setenv("CUPTI_PATH", fake, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
