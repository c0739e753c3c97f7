/* lesson_export: a lesson, taken by its own commands without a terminal, as a web page or a recording.
 */
#pragma once

#include "engine/base/base.h"

struct dev_env;

/* struct cmd_front.export_lesson. format: "html" or "cast". ST_INPUT: the lesson cannot be opened, asks
 * for a command that is not for lessons of strangers (drive_allows), or its commands do not fulfil a
 * check; out is of no use then. */
enum status lesson_export(const struct dev_env *env, const char *lesson, const char *format,
                          struct buf *out, struct diags *ds);
