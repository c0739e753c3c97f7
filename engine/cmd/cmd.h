/* cmd: headless subcommands, argument parsing, text output. The only room of the
 * engine that prints. The workbench is given as a function, so that nothing here
 * knows of a terminal. */
#pragma once

#include "engine/base/base.h"

struct cmd_io;
struct dev_env;
struct lesson;

struct cmd_front_opts {
    bool sweep_at_once; /* begin with a sweep */
    bool plain;
    bool mouse;
    bool replay;
    /* NULL: default */
    const char *axis;
    const char *theme;
    const char *session;
    const char *lesson;
    const char *color;
    /* Launch description to open the file with; NULL: the first one in the file beside it. */
    const char *kernel, *launch;
    double replay_speed;
};
struct cmd_front { /* the terminal front end; NULL in a headless build */
    /* Opens the workbench on a file (NULL: the demo picker). Returns the exit code. */
    int (*workbench)(const struct dev_env *env, const char *file, const char *device,
                     const struct cmd_front_opts *o);
    /* Are the checks and commands of a lesson's steps understood? Diagnostics name the step. */
    enum status (*check_lesson)(const struct lesson *l, struct diags *ds);
    /* The lesson in this file, played by its own commands: each does what it says, and fulfils its step. */
    enum status (*try_lesson)(const struct dev_env *env, const char *path, struct diags *ds);
    /* Gives a lesson the answers of a file; which tasks they do goes to out, as TAP or JSON.
     * lesson_path: a lesson's file, by name or number; the caller's, NULL: none. ST_DIFFER: not all are
     * done. */
    enum status (*grade)(const struct dev_env *env, const char *answers,
                         char *(*lesson_path)(const char *name), bool json, struct buf *out,
                         struct diags *ds);
    /* A lesson, taken by its own commands, as `format` "html" or "cast". Runs what they run. */
    enum status (*export_lesson)(const struct dev_env *env, const char *lesson, const char *format,
                                 struct buf *out, struct diags *ds);
};
int cmd_main(int argc, char **argv, const struct cmd_front *front);
/* A command for a caller in this process: argv as of the program, argv[1] the command. Its words go to
 * io, nothing to the standard streams; no signal is caught. Returns the exit code. Several threads may
 * call at once. */
struct cmd_call {
    struct cmd_io *io;
    const struct cancel *cancel; /* may be NULL */
    const char *self;            /* this program, where a device needs a worker; NULL: by PATH */
};
int cmd_call(int argc, char **argv, const struct cmd_call *c);
/* Folder of kernels/, sessions/, themes/: GPULOCW_DATA, beside the binary, or the installed place. */
const char *cmd_data_dir(void);
