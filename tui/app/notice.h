/* notice: the line above the key bar: what the front end says itself (app_notice),
 * and the engine's messages as they come. */
#ifndef GPULOCW_TUI_APP_NOTICE_H
#define GPULOCW_TUI_APP_NOTICE_H

#include "engine/base/base.h"

struct app;
struct job_snapshot;

/* Announces what the present snapshot says that `old` did not; the first error that has a place
 * in the shown text is gone to. */
void notice_new(struct app *a, const struct job_snapshot *old);

#endif
