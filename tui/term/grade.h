/* grade: the checks of a lesson, tried without a terminal on what a student answers. */
#pragma once

#include "engine/base/base.h"

struct dev_env;

/* struct cmd_front.try_lesson: plays the lesson in this file by the commands of its steps, without a
 * terminal. A command that fails, and a check that its own commands do not fulfil, is a mistake of its
 * step (ST_INPUT). A command that writes is not tried, and its step's check with it (a warning). */
enum status lesson_try(const struct dev_env *env, const char *path, struct diags *ds);

/* struct cmd_front.grade. `answers` holds a line "lesson FILE-OR-NAME", then commands of the workbench,
 * one a line, in the order of the steps; "next" goes to the next step; '#' begins a comment. Appends to
 * out one line a task (TAP) and how many hold, or with `json` one document. ST_OK: all do; ST_DIFFER:
 * not all; ST_INPUT: the file is not understood. lesson_path: the lesson's file for a name; owned by the
 * caller, NULL: none. */
enum status grade_answers(const struct dev_env *env, const char *answers,
                          char *(*lesson_path)(const char *name), bool json, struct buf *out,
                          struct diags *ds);
