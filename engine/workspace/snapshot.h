/* snapshot: what the workbench shows: the state of the engine thread (job.h) at one moment. */
#pragma once

#include "engine/rec/device.h"

struct ana_kernel;
struct launch_file;
struct launch_spec;
struct options;
struct pass_output;
struct ptx_module;
struct session_run;
struct tune_advice;
struct tune_live;
struct tune_prediction;

struct job_message {
    enum diag_level level;
    int64_t time_ns;
    char *text;
    struct span at;
    char *file;
};
/* Everything is read-only and stays valid until the snapshot is released. */
struct job_snapshot {
    uint64_t version;                /* grows with every publication */
    const struct ptx_module *module; /* NULL: nothing open */
    const struct launch_file *launches;
    size_t launch;                  /* current one; launches NULL: none */
    const struct launch_spec *spec; /* current launch, edited or not; NULL: none */
    uint32_t guessed_n; /* what integer parameters say in a guessed launch; 0: it is no guess */
    bool launch_edited; /* it is not what its file says, or has none */
    const char *kernel; /* current kernel's name */
    const struct ana_kernel *facts; /* of the current kernel; NULL until analysed */
    struct dev_info dev;
    bool has_dev;
    const struct options *options;     /* last options previewed or run */
    const struct pass_output *preview; /* NULL: none or refused */
    const char *refusal;               /* why the options are not legal here, or NULL */
    /* as the session counts them; NULL before first_run: of a large session only the last are made */
    const struct session_run *const *runs;
    size_t nruns; /* finished and (last) running one */
    size_t first_run;
    const struct tune_advice *advice;
    size_t nadvice;
    const struct job_message *messages;
    size_t nmessages;
    const char *self; /* this program, for what runs in a process of its own; NULL: not known */
    bool busy;
    const char *what;
    uint8_t doing; /* the same as enum job_kind; where `what` is there */
    double done;   /* 0..1 */
    int64_t started_ns;
    double rate; /* points per second */
    const char *session_path;
    bool session_unsaved;
    const char *trying; /* tune: why the next configuration is tried */
    /* the search under way, or the last one: explored, frontier, best; NULL: none yet */
    const struct tune_live *search;
    /* modelled cost of `options` and of the original; NULL: not predicted (yet) */
    const struct tune_prediction *cost, *cost_original;
    const struct options *cost_of; /* what `cost` is of */
    /* the whole analysis, or what the model says, is still to be worked out in the background */
    bool unsettled;
    /* requests worked off since the start: with busy false and all of them, idle */
    uint64_t worked;
};
