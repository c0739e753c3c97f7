/* main of the full program: the command line with the workbench as its front end. */
#include "engine/cmd/cmd.h"
#include "tui/control/lesson_run.h"
#include "tui/term/grade.h"
#include "tui/term/lesson_export.h"
#include "tui/term/workbench.h"

int main(int argc, char **argv)
{
    static const struct cmd_front front = { .workbench = workbench_run,
                                            .check_lesson = lesson_check,
                                            .try_lesson = lesson_try,
                                            .grade = grade_answers,
                                            .export_lesson = lesson_export };
    return cmd_main(argc, argv, &front);
}
