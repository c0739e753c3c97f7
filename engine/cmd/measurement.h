/* Private to run, sweep, tune and predict: a bench and the session its results go to. */
#pragma once

#include "engine/base/base.h"
#include "engine/session/run_kind.h"

struct args;
struct measure;
struct measure_done;
struct result;
struct session;
struct tune_proof;
struct workspace;

struct measurement {
    struct args *a;
    struct session *session;
    struct session_run *run;
    struct diags *ds;
    size_t points, kept; /* finished; of these in the file */
    bool unsaved;        /* the last try to write the session failed */
    char why[200];       /* what it failed with */
};
/* Writes the session, where there is one. A failure is kept for measurement_kept, and the next point
 * tries again. */
void measurement_save(struct measurement *w);
/* The end: ST_IO, told once, when the file lacks something that has finished; else ST_OK. */
enum status measurement_kept(struct measurement *w);
/* Everything up to the bench: module, launch, device, data, facts (quick: from a short trace). */
enum status measurement_subject(struct workspace *s, struct args *a, bool quick, struct diags *ds);
/* How it is measured: the options of the command line; no bench yet. */
enum status measurement_of(const struct workspace *s, const struct args *a, struct measure *m,
                           struct diags *ds);
/* The subject, and the bench for the command. */
enum status measurement_bench(struct workspace *s, struct args *a, struct measure *m, struct diags *ds);
/* The same of a workspace whose launch, device, data and facts are there. */
enum status measurement_bench_of(struct workspace *s, struct args *a, struct measure *m,
                                 struct diags *ds);
/* One timed launch of the original, its limits with it; why it has no time, r says. */
enum status measurement_original(struct workspace *s, struct args *a, struct result *r,
                                 struct diags *ds);
/* The file of -o or --session; none without them. Nothing is written yet: what an earlier run finished
 * comes first, since its file may be this one. */
enum status measurement_session(struct measurement *w, const struct measure *m, enum run_kind kind);
/* What has run of it in the session that --resume names: all of its sweeps, or its last search. done is to be
 * freed, and *old after it. */
enum status measurement_done(const struct args *a, const struct measure *m, enum run_kind kind,
                             struct session **old, struct measure_done *done, struct diags *ds);
/* The line of a proof that was asked for. */
void measurement_proof_text(const struct args *a, const struct tune_proof *p, struct buf *out);
/* For an observer. Every finished point is in the file before the next one starts. */
void measurement_point(void *ctx, const struct result *r, const char *why);
/* For an observer whose context begins with a measurement. */
void measurement_progress(void *ctx, double done, const char *what);
