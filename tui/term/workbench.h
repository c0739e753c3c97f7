/* workbench: the event loop over terminal, engine and timers; and the plain line
 * mode with the same content. */
#pragma once

#include "engine/base/base.h"

struct app;
struct app_engine;
struct buf;
struct cmd_front_opts;
struct dev_env;
struct job_engine;

/* The engine with the number of requests it was given. */
struct engine_link {
    struct job_engine *engine;
    uint64_t posted;
};
struct app_engine engine_app(struct engine_link *l); /* as the app asks it */
/* struct cmd_front.workbench */
int workbench_run(const struct dev_env *env, const char *file, const char *device,
                  const struct cmd_front_opts *o);
/* `gpulocw check` with these options on what is open: what it printed. */
void plain_check(struct app *a, char *options, struct buf *out);
/* Line mode: prints what panels hold, reads commands from standard input. */
int workbench_plain(struct app *a, struct engine_link *link, const struct cmd_front_opts *o);
