/* run_line: what a finished run came to, in one line. */
#pragma once

#include "engine/base/base.h"

struct app;
struct options;
struct result;
struct session_run;

/* The result a run stands for: its own, the best point of a sweep, what a search found. NULL: none. */
const struct result *run_best(const struct session_run *r);
/* What its gain is over (engine/session/baseline.h); NULL: nothing is. */
const struct result *run_base(const struct app *a, size_t run);
/* That gain; NaN: there is none to tell. */
double run_gained(const struct app *a, size_t run);
/* Is there no gain to tell since the baseline rests on more than the run? */
bool run_outdone(const struct app *a, size_t run);
/* The original of the present text, launch and device by the best evidence, and its run: the one baseline.
 * NULL: it has not run. */
const struct result *run_original_now(const struct app *a, size_t *run);
/* What a run of the present text, launch and device came to with these options, by the best evidence, and
 * the run. NULL: they are none's own or best. */
const struct result *run_of_options(const struct app *a, const struct options *o, size_t *run);
/* "run 2: 24.1 µs (whole), 1.60x vs the original, equal ✓"; nothing where the run has no time. */
void run_line(const struct app *a, size_t run, struct buf *out);
