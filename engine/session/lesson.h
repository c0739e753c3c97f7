/* lesson: a session with narration. A file of the session format whose object
 * "lesson" tells what to say, what to do and how to see that it was done:
 *
 *   { "format": "gpulocw-session", "major": 1, "minor": 0, ...,
 *     "lesson": { "number": 2, "title": "The cache valley", "summary": "one line",
 *       "file": "kernels/valley.ptx", "kernel": "fermi", "device": "sim:fermi-16k", "axis": "pi",
 *       "begin": [ "launch grid 32" ],
 *       "steps": [ { "text": "what is seen", "task": "what to do", "panel": "valley",
 *                    "check": "sweeps >= 1", "do": [ "sweep pi" ] } ] } }
 *
 * "file" is relative to the data folder (that of kernels/); "kernel" names a kernel or
 * one of the launches beside it. "begin" holds workbench commands that are given when the
 * kernel is open. "do" holds the commands that fulfil a task; tests run them. A step
 * without "check" is done when it is read. Checks: see tui/control/lesson_run.h. */
#pragma once

#include "engine/base/base.h"

#define LESSON_MAX_STEPS 40
#define LESSON_MAX_DO    12
struct lesson_step {
    /* task, check, panel: NULL when not given */
    char *text; /* owned */
    char *task;
    char *check;
    char *panel;
    char *commands[LESSON_MAX_DO];
    unsigned ncommands;
};
struct lesson {
    struct arena *arena; /* owns all strings */
    int number;          /* 0: none */
    /* all but title and file: NULL when not given */
    char *title; /* owned */
    char *summary;
    char *file;
    char *kernel;
    char *device;
    char *axis;
    char *begin[LESSON_MAX_DO];
    unsigned nbegin;
    struct lesson_step step[LESSON_MAX_STEPS];
    unsigned nsteps;
};
/* *out owned, lesson_free. ST_INPUT with diagnostics that name the key (step numbers count from 1). */
enum status lesson_read(const char *path, struct lesson **out, struct diags *ds);
void lesson_free(struct lesson *l);
