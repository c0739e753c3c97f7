/* Private to run, sweep, tune and predict: a bench and the session its results go to. */
#ifndef GPULOCW_CMD_RUNNING_H
#define GPULOCW_CMD_RUNNING_H

#include "engine/cmd/cmd_int.h"

struct running { struct args *a; struct session *session; struct session_run *run; struct diags *ds; };
/* Everything up to the bench: module, launch, device, data, facts. */
enum status running_subject(struct subject *s, struct args *a, struct diags *ds);
enum status running_bench(struct subject *s, struct args *a, struct tune_bench **bench, struct diags *ds);
/* The file of -o or --session; none without them. */
enum status running_session(struct running *w, const struct subject *s, enum run_kind kind);
/* May results of an earlier run be taken for this one? Same kernel, launch shape and device; and, where the session
 * holds it, the same PTX. */
bool running_alike(const struct session *old, const struct session_run *r, const struct subject *s);
/* For an observer. Every finished point is in the file before the next one starts. */
void running_point(void *ctx, const struct result *r, const char *why);
void running_progress(void *ctx, double done, const char *what);

#endif
