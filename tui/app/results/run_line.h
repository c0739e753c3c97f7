/* run_line: what a finished run came to, in one line. */
#ifndef GPULOCW_TUI_APP_RESULTS_RUN_LINE_H
#define GPULOCW_TUI_APP_RESULTS_RUN_LINE_H

#include "engine/base/base.h"

struct app;
struct result;
struct session_run;

/* The result a run stands for: its own, the best point of a sweep, what a search found. NULL: none. */
const struct result *run_best(const struct session_run *r);
/* What its gain is over, timed in the same way: cha of a sweep, the original; NULL: nothing is. */
const struct result *run_base(const struct app *a, size_t run);
/* The original in a run, timed in the same way as x: by itself, in a search, among a sweep's points.
 * NULL: it is not there. */
const struct result *run_original(const struct session_run *r, const struct result *x);
/* The original as it ran last, of the present text, launch and device, whole or from a sample, and its
 * run. NULL: it has not run so. */
const struct result *run_original_now(const struct app *a, bool sampled, size_t *run);
/* The same, whole before sampled, of a run that says what limits it. */
const struct result *run_original_limits(const struct app *a, size_t *run);
/* Did the original run whole, of the present text, launch and device? */
bool run_original_known(const struct app *a);
/* "run 2: 24.1 µs, 1.60x vs cha, equal ✓"; nothing where the run has no time. */
void run_line(const struct app *a, size_t run, struct buf *out);

#endif
