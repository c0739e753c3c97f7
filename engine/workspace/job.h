/* job: the engine thread of the workbench. It owns module, analysis, device and
 * session, works a queue of requests one at a time, and publishes immutable,
 * reference-counted snapshots. The terminal thread reads snapshots only. */
#ifndef GPULOCW_WORKSPACE_JOB_H
#define GPULOCW_WORKSPACE_JOB_H

#include "engine/base/base.h"
#include "engine/rec/device.h"
#include "engine/rec/options.h"

struct ana_kernel;
struct dev_env;
struct launch_file;
struct launch_spec;
struct pass_output;
struct ptx_module;
struct session_run;
struct tune_advice;
struct tune_live;
struct tune_prediction;

enum job_kind {
    /* text: PTX, session or launch file; a PTX finds its launch description by itself, unless number is
       1: one is opened next */
    JOB_OPEN,
    JOB_KERNEL,  /* text: kernel (launch) name to make current; or number: index of the launch */
    JOB_DEVICE,  /* text: device spec */
    JOB_OPTIONS, /* options: preview the rewrite (legality, diff), nothing is run */
    /* launch: a changed launch description (deep-copied), validated. number: 0, all of it; else the part
       of it that was changed (enum job_launch_part): the rest stays as the engine has it, where changes
       that were posted before may be on their way */
    JOB_LAUNCH,
    /* a first launch description for the current kernel, which has none; number: what its integer
       parameters say, launch: its block, where the user said so (0, NULL: guessed) */
    JOB_LAUNCH_GUESS,
    JOB_LAUNCH_SAVE, /* text: path or empty */
    /* the rewritten kernel of the current options, and the launch it wants; text: path or empty
       (FILE.tuned.ptx) */
    JOB_WRITE,
    JOB_RUN,   /* options: one configuration */
    JOB_SWEEP, /* options, text: axis */
    JOB_TUNE,  /* text: method or empty; number: budget in launches */
    /* a sweep or a search that was cut off, with what has run of it; number: run index, -1: the last
       such */
    JOB_RESUME,
    JOB_NOTE, /* number: run index; text */
    JOB_DELETE,
    JOB_UNDELETE, /* number: run index */
    JOB_SAVE,     /* text: path or empty */
    /* the whole session as a page; text: path (.md: Markdown, else HTML) or empty (beside the session)
     */
    JOB_REPORT,
    JOB_QUIT
};
enum job_launch_part { LAUNCH_ALL, LAUNCH_GRID, LAUNCH_BLOCK, LAUNCH_SHARED, LAUNCH_ARG /* + index */ };
struct job {
    enum job_kind kind;
    const char *text;
    long number;
    struct options options;
    const struct launch_spec *launch;
};

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
    struct options options;            /* last options previewed or run */
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
    bool busy;
    const char *what;
    double done; /* 0..1 */
    int64_t started_ns;
    double rate; /* points per second */
    const char *session_path;
    bool session_unsaved;
    const char *trying; /* tune: why the next configuration is tried */
    /* the search under way, or the last one: explored, frontier, best; NULL: none yet */
    const struct tune_live *search;
    /* modelled cost of `options` and of the original; NULL: not predicted (yet) */
    const struct tune_prediction *cost, *cost_original;
    /* the whole analysis, or what the model says, is still to be worked out in the background */
    bool unsettled;
    /* requests worked off since the start: with busy false and all of them, idle */
    uint64_t worked;
};
struct job_engine;
enum status job_engine_new(const struct dev_env *env, const char *session_path, struct job_engine **out,
                           struct diags *ds);
void job_engine_free(struct job_engine *e); /* cancels, joins, saves */
/* copies what it needs; never blocks on work */
void job_post(struct job_engine *e, const struct job *j);
/* the running job, else the analysis in the background; within 100 ms */
void job_cancel(struct job_engine *e);
const struct job_snapshot *job_snapshot_get(struct job_engine *e); /* never NULL; release it */
void job_snapshot_release(const struct job_snapshot *s);
/* readable when a newer snapshot exists; job_snapshot_get drains it */
int job_wake_fd(struct job_engine *e);

#endif
