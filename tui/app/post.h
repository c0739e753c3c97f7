/* post: requests to the engine thread, with the options in view. */
#pragma once

#include "engine/workspace/job.h"

struct app;

void app_post(struct app *a, enum job_kind kind, const char *text, long number);
/* Posts a run, a sweep or a search; says when it has to wait or cannot be. */
void app_launch(struct app *a, const struct job *j);
void app_sweep(struct app *a);
void app_run_once(struct app *a, const struct options *o);
void app_tune(struct app *a, const char *method, long budget);
