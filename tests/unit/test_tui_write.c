/* The workbench writes the rewritten kernel and its launch: the files, opened again, run as they stand.
 */
#include "engine/session/run.h"
#include "engine/rec/result.h"
#include "tests/support.h"

#include "engine/workspace/snapshot.h"
#include "tests/terminal/live.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void copy(const char *from, const char *to)
{
    char *text = NULL;
    size_t n;
    assert_int_equal(file_read(from, 1 << 20, &text, &n, NULL), ST_OK);
    assert_int_equal(file_write_atomic(to, text, n, NULL), ST_OK);
    base_free(text);
}

static void has_text(const char *path, const char *text)
{
    char *page = NULL;
    size_t n;
    assert_int_equal(file_read(path, 1 << 20, &page, &n, NULL), ST_OK);
    assert_non_null(strstr(page, text));
    base_free(page);
}

static int64_t last_time(const struct app *a)
{
    const struct session_run *r = a->snap->runs[a->snap->nruns - 1];
    assert_int_equal(r->kind, RUN_ONE);
    assert_int_equal(r->one->equal, EQUAL_YES);
    return r->one->time.median;
}

static bool said(const struct app *a, const char *text)
{
    for (size_t i = 0; i < a->snap->nmessages; i++)
        if (strstr(a->snap->messages[i].text, text))
            return true;
    return false;
}

static void give(struct app *a, const char *command)
{
    app_command(a, command);
    live_settle(a, 0);
}

static void written(void **state)
{
    struct app a;
    struct diags ds = { 0 };
    char session[600], ptx[600], launch[600], tuned[600], command[700];
    (void)state;
    snprintf(session, sizeof session, "%s/write.json", support_scratch());
    snprintf(ptx, sizeof ptx, "%s/transpose.ptx", support_scratch());
    snprintf(launch, sizeof launch, "%s/transpose.launch.json", support_scratch());
    snprintf(tuned, sizeof tuned, "%s/transpose.tuned.ptx", support_scratch());
    copy("kernels/transpose.ptx", ptx);
    copy("kernels/transpose.launch.json", launch);
    assert_status_ok(live_open(&a, session, &ds), &ds);
    snprintf(command, sizeof command, "open %s", ptx);
    give(&a, command);
    give(&a, "device sim:fermi-16k");
    give(&a, "write");
    assert_non_null(strstr(a.notice, "Nothing to write: no option is set"));
    assert_int_not_equal(access(tuned, R_OK), 0);
    give(&a, "set swap-xy on");
    give(&a, "set bypass l1");
    give(&a, "set pi 3");
    give(&a, "run");
    int64_t t = last_time(&a);
    give(&a, "write");
    assert_true(said(&a, "the rewritten kernel"));
    snprintf(command, sizeof command, "report %s/page.html", support_scratch());
    give(&a, command);
    assert_true(said(&a, "report written"));
    has_text(command + strlen("report "), "--bypass l1 --pi 3 --swap-xy");
    snprintf(command, sizeof command, "open %s", tuned);
    give(&a, command);
    give(&a, "device sim:fermi-16k");
    give(&a, "unset");
    give(&a, "run");
    assert_int_equal(last_time(&a), t);
    live_close(&a);
    diags_free(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(written) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
