/* command: the command line of the workbench (after ':'), one table. Lessons and
 * the plain line mode use the same commands. */
#pragma once

#include "engine/base/base.h"

struct app;

/* How the argument is completed. */
enum complete {
    COMPLETE_NONE,
    COMPLETE_AXIS,
    COMPLETE_KNOB,
    COMPLETE_FILE,
    COMPLETE_OPEN,
    COMPLETE_THEME,
    COMPLETE_KERNEL,
    COMPLETE_DEVICE,
    COMPLETE_FORMAT,
    COMPLETE_SWITCH,
    COMPLETE_STYLE,
    COMPLETE_PANEL,
    COMPLETE_METHOD,
    COMPLETE_REPLAY,
    COMPLETE_LAUNCH,
    COMPLETE_METRIC,
    COMPLETE_LAYOUT
};
/* What a command may do to more than the screen. SHOWS: changes what is shown or would be run: the
 * `begin` of a lesson may hold it. ACTS: runs, opens or leaves something: for the user alone. WRITES:
 * changes a file: while a lesson is open it asks first and shows the whole path. */
enum command_use { COMMAND_SHOWS = 1, COMMAND_ACTS, COMMAND_WRITES };
struct command_info {
    const char *name;
    const char *form;
    const char *help;
    enum complete complete;
    enum command_use use;
    unsigned (*run)(struct app *a, char *args); /* args: the rest, trimmed; may be changed */
};
size_t cmdline_count(void);
const struct command_info *cmdline_info(size_t i);
/* Does the line begin with a command's name? */
bool cmdline_known(const char *line);
/* May the `begin` of a lesson hold it? It writes, opens and runs nothing and names no file. */
bool cmdline_begins(const char *line);
/* Completes the word before the cursor of the prompt; several choices are offered above it. */
void cmdline_complete(struct app *a);
