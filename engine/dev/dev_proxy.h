/* dev_proxy, private to dev: a device that lives in a worker process. */
#ifndef GPULOCW_DEV_PROXY_H
#define GPULOCW_DEV_PROXY_H

#include "engine/dev/dev_int.h"

/* command: a launcher line given to sh, or NULL for `self worker`. preset: sent along, or NULL. */
struct proxy_how { const char *spec, *command, *self; unsigned threads; const struct sim_preset *preset; };
enum status dev_proxy_open(const struct proxy_how *how, struct dev **out, struct diags *ds);
/* GPUs of the machine where the worker runs. */
enum status dev_proxy_list(const char *command, void (*fn)(void *ctx, const struct dev_info *i), void *ctx, struct diags *ds);

/* ---- dev_child.c: the worker process itself ---- */
struct child { long pid; int in, out, err; bool launched; }; /* pid 0: none. in: we write; out: we read; err: its stderr, kept */
enum status child_start(struct child *c, const char *command, const char *self, struct diags *ds);
/* Ends the process and everything it started: closes its input, asks, then kills. Safe when there is none. */
void child_end(struct child *c);
/* Last line of what it wrote to stderr, or "". */
void child_last_words(const struct child *c, char *out, size_t n);

#endif
