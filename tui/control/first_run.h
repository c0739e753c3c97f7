/* first_run: the original of a kernel that was opened runs unasked, so that the summary has its answer. */
#pragma once

struct app;

/* Posts the run once for each kernel that is opened: where a->first_run is set, the launch is known, the
 * device is a simulated one and the original has not run. Call it for every snapshot. */
void first_run(struct app *a);
