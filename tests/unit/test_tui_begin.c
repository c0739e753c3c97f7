/* What the `begin` of a lesson may hold: a list by name, so that a new command of the workbench has to
 * decide. */
#include "tests/support.h"

#include "tui/control/command.h"

#include <string.h>

static const char *const shows[] = { "set",     "unset",  "best",  "undo", "redo",   "kernel", "launch",
                                     "overlay", "metric", "panel", "line", "replay", "help" };
static const char *const writes[] = { "save",  "write", "report", "save-launch", "export", "note",
                                      "theme", "plot",  "mouse",  "keys",        "layout" };

static bool among(const char *const *list, size_t n, const char *name)
{
    bool is = false;
    for (size_t i = 0; i < n; i++)
        is = is || !strcmp(list[i], name);
    return is;
}

static void every_command_decides(void **state)
{
    (void)state;
    for (size_t i = 0; i < cmdline_count(); i++) {
        const struct command_info *c = cmdline_info(i);
        enum command_use want = among(shows, ARRAY_LEN(shows), c->name)     ? COMMAND_SHOWS
                                : among(writes, ARRAY_LEN(writes), c->name) ? COMMAND_WRITES
                                                                            : COMMAND_ACTS;
        assert_int_equal(c->use, want);
        assert_int_equal(cmdline_begins(c->name), want == COMMAND_SHOWS);
    }
}

static void files_are_refused(void **state)
{
    (void)state;
    assert_true(cmdline_begins("set bypass l1"));
    assert_true(cmdline_begins("launch grid 64x16"));
    assert_false(cmdline_begins("launch guess"));
    assert_false(cmdline_begins("set index custom:order.txt"));
    assert_false(cmdline_begins("set index custom:/etc/passwd"));
    assert_false(cmdline_begins("write ../home/.bashrc"));
    assert_false(cmdline_begins(":wri x"));
    assert_false(cmdline_begins("nonsense"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_command_decides),
                                        cmocka_unit_test(files_are_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
