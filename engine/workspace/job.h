/* job: the engine thread of the workbench. It owns module, analysis, device and
 * session, works a queue of requests one at a time, and publishes immutable,
 * reference-counted snapshots (snapshot.h). The terminal thread reads snapshots only. */
#pragma once

#include "engine/base/base.h"

struct dev_env;
struct job_snapshot;
struct launch_spec;
struct options;

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
    /* options: one configuration; number 1: timed whole, else from a sample where it is large */
    JOB_RUN,
    JOB_SWEEP, /* options, text: axis */
    JOB_TUNE,  /* text: method or empty; number: budget in launches */
    /* a sweep or a search that was cut off, with what has run of it; number: run index, -1: the last
       such */
    JOB_RESUME,
    JOB_NOTE, /* number: run index; text */
    JOB_DELETE,
    JOB_UNDELETE, /* number: run index */
    JOB_SAVE,     /* text: path or empty */
    /* the whole session as a page, or its summary and newest curve as a picture; text: path (.md: Markdown,
       .svg: the picture, else HTML) or empty (beside the session) */
    JOB_REPORT
};
enum job_launch_part { LAUNCH_ALL, LAUNCH_GRID, LAUNCH_BLOCK, LAUNCH_SHARED, LAUNCH_ARG /* + index */ };
struct job {
    enum job_kind kind;
    const char *text;
    long number;
    const struct options *options; /* NULL: as the kernel is written */
    const struct launch_spec *launch;
};

struct job_engine;
enum status job_engine_new(const struct dev_env *env, const char *session_path, struct job_engine **out,
                           struct diags *ds);
void job_engine_free(struct job_engine *e); /* cancels, joins, saves */
/* Copies what it needs; never blocks on work. Where memory is short there is room laid by for a few requests
 * without a launch description. False: this one was not taken, which the messages say; none is ever worked
 * in part. */
bool job_post(struct job_engine *e, const struct job *j);
/* the running job, else the analysis in the background; within 100 ms */
void job_cancel(struct job_engine *e);
const struct job_snapshot *job_snapshot_get(struct job_engine *e); /* never NULL; release it */
void job_snapshot_release(const struct job_snapshot *s);
/* readable when a newer snapshot exists; job_snapshot_get drains it */
int job_wake_fd(struct job_engine *e);
