/* provenance: what a run belongs to: a text of a kernel, a launch and a device. What was found out about
 * one says nothing about another. */
#pragma once

struct app;
struct session_run;

/* Why the run is not of what is open now: its text, kernel, launch or device is another. NULL: it is. */
const char *run_stale(const struct app *a, const struct session_run *r);
