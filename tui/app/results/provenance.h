/* provenance: what a run belongs to: a text of a kernel, a launch and a device. What was found out about
 * one says nothing about another. */
#ifndef GPULOCW_TUI_APP_RESULTS_PROVENANCE_H
#define GPULOCW_TUI_APP_RESULTS_PROVENANCE_H

#include "engine/base/base.h"

struct app;
struct session_run;

/* Were both runs made of the same text, kernel, launch and device? */
bool same_origin(const struct session_run *x, const struct session_run *y);
/* Why the run is not of what is open now: its text, kernel, launch or device is another. NULL: it is. */
const char *run_stale(const struct app *a, const struct session_run *r);

#endif
