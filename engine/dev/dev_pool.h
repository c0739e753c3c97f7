/* dev_pool: a list of launches over several devices or workers.
 * Members: every spec, or with env->workers every spec on every worker. Opened side by side: the pool is
 * there as soon as its first member is, and the others join the run under way when they come up (a queue
 * may keep one). One that does not open is a warning of the run it was missing from; none is ST_DEVICE.
 * Simulated members of one process share its host threads (env->threads each). */
#pragma once

#include "engine/dev/dev.h"

struct dev_pool;
enum status dev_pool_open(const char *const *specs, size_t nspecs, const struct dev_env *env,
                          struct dev_pool **out, struct diags *ds);
void dev_pool_close(struct dev_pool *p);
/* members that are left; waits for those that are coming up */
size_t dev_pool_count(struct dev_pool *p);
/* For what needs a single device: the first by number that is up; NULL: none is left. It lives as long
 * as the pool, also when its member leaves. Not to be used during a run. */
struct dev *dev_pool_first(struct dev_pool *p);
struct dev_pool_code {
    const char *path;
    struct str text, kernel;
    const struct text_marks *marks; /* of the text; NULL: none */
};
/* run's cancel and progress are not used. after: 0, or 1 + the job that this one repeats: it is not
 * taken before that one has finished, and where that one failed it is not run (ST_REFUSED). */
struct dev_pool_job {
    size_t code;
    struct dev_run run;
    size_t after;
};
struct dev_pool_watch {
    /* on the calling thread, in the order of finishing; may be NULL */
    void (*done)(void *ctx, size_t job, const struct result *r);
    void *ctx;
    const struct cancel *cancel;
};
/* Runs every job once; out[i] is job i's result (its options stay the caller's), whatever the pool. Jobs
 * are taken in their order; of the last few, the one that took longest when it ran before (`after`)
 * comes first. A job whose worker died goes back and is given up after DEV_POOL_TRIES deaths; one whose
 * worker fell silent or sent damaged bytes goes back too, and that is not the job's fault. A member that
 * fails twice in a row, or falls silent or sends damage five times in all, leaves the pool. Members keep
 * `data` bound for the next run: it must stay as it is until dev_pool_forget, a run with other data, or
 * the end. ST_CANCELLED: unfinished jobs have that status. ST_DEVICE: no member is left; unfinished jobs
 * have that status. */
#define DEV_POOL_TRIES 2
enum status dev_pool_run(struct dev_pool *p, const struct launch_data *data,
                         const struct dev_pool_code *codes, size_t ncodes,
                         const struct dev_pool_job *jobs, size_t njobs, const struct dev_pool_watch *w,
                         struct result *out, struct diags *ds);
/* unbinds it where it is bound */
void dev_pool_forget(struct dev_pool *p, const struct launch_data *data);
/* The caller's own binding on a member's device serves that member too, instead of a second copy on that
 * GPU. Borrowed until dev_pool_forget. Nothing happens when no member has this device. */
void dev_pool_lend(struct dev_pool *p, const struct dev *d, struct dev_data *bound);
/* What a member did so far, for a timeline: seconds since dev_pool_open; NaN: never. Texts are borrowed
 * from the pool. */
struct dev_pool_member {
    const char *spec, *worker; /* worker NULL: a local child, or this process */
    bool up;                   /* in the pool now */
    /* opened; its first job taken; its last one back */
    double up_s;
    double first_s;
    double last_s;
    /* altogether: uploading data, compiling and loading code, launching */
    double bind_s;     /* second */
    double load_s;     /* second */
    double launch_s;   /* second */
    size_t jobs, lost; /* finished; gone with a worker */
    uint64_t dropped;  /* frames of its workers that came twice or late */
};
/* how many there are */
size_t dev_pool_members(struct dev_pool *p, struct dev_pool_member *out, size_t most);
