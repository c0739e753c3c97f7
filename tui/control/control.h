/* control: what events do to the state of the workbench. */
#pragma once

#include "tui/app/app.h"

/* snap must stay valid until the next app_snapshot or app_free. */
bool app_init(struct app *a, const struct app_engine *engine, const struct job_snapshot *snap,
              const char *data_dir);
void app_free(struct app *a);
/* The present snapshot and this one must be valid during the call; the old one may end after it: no line
 * drawn from it stays. Until the next frame the cursor of a panel that draws lines is on nothing. */
void app_snapshot(struct app *a, const struct job_snapshot *snap);
/* Starts a frame: a fresh frame arena, view-models that depend on the snapshot brought up to date. */
void app_begin_frame(struct app *a);
/* Returns enum ui_effect bits. A frame drawn between app_snapshot and a key or the mouse lets them find
 * what the cursor is on. */
unsigned app_event(struct app *a, const struct event *e);
unsigned app_request(struct app *a, enum request r);
/* One command line without the colon, e.g. "set agents 3". Errors become the notice. */
unsigned app_command(struct app *a, const char *line);
/* Nanoseconds until the app wants EVENT_TICK, -1: never (nothing moves). */
int64_t app_timer(const struct app *a);
/* A frame begins, or has been drawn: what works now gets another one, even if it ends before a tick. */
void app_drawn(struct app *a);
/* Announces what the present snapshot says that `old` did not; the first error that has a place in the
 * shown text is gone to. */
void notice_new(struct app *a, const struct job_snapshot *old);
