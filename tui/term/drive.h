/* drive: the workbench without a terminal, driven by commands: what grading and the export of lessons
 * share. */
#pragma once

#include "engine/base/base.h"
#include "tui/app/app.h"
#include "tui/term/workbench.h"

struct dev_env;

struct drive {
    struct app app;
    struct engine_link link;
    char folder[40]; /* of its own, with the session; goes with it */
};
/* Nothing is open then. drive_close also after a failure. */
enum status drive_open(struct drive *d, const struct dev_env *env, struct diags *ds);
void drive_close(struct drive *d);
/* Until all that was asked for is done; the app holds the last snapshot. */
void drive_settle(struct drive *d);
/* As drive_settle, and until what panels show from the background is there, a minute at most. */
void drive_rest(struct drive *d);
/* May a command of somebody's file be given? Those that set and show, and those that run; a simulated
 * device by name; a kernel below the present folder or that of the demos. None of them writes. */
bool drive_allows(const char *line);
