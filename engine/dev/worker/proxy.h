/* proxy, private to dev: a device that lives in a worker process. */
#pragma once

#include "engine/dev/dev.h"

#include <pthread.h>

/* command: a launcher line given to sh, or NULL for `self worker`. preset: sent along, or NULL. */
struct proxy_how {
    const char *spec;
    const char *command;
    const char *self;
    unsigned threads;
    const struct sim_preset *preset;
    const struct cancel *cancel;
    struct dev_patience patience;
};
enum status dev_proxy_open(const struct proxy_how *how, struct dev **out, struct diags *ds);
/* GPUs of the machine where the worker runs. */
enum status dev_proxy_list(const char *command, const struct dev_env *env,
                           void (*fn)(void *ctx, const struct dev_info *i), void *ctx, struct diags *ds);

/* ---- child.c: the worker process itself ---- */
/* pid 0: none. in: we write; out: we read; err: its stderr, kept. dying: killed, but not gone yet; 0:
 * none. ender: a thread that ends a launcher in its own time, where `ending`. */
struct child {
    long pid;
    int in;
    int out;
    int err;
    bool launched;
    long dying;
    pthread_t ender;
    bool ending;
};
#define CHILD_NONE ((struct child){ .in = -1, .out = -1, .err = -1 })
enum status child_start(struct child *c, const char *command, const char *self, struct diags *ds);
/* Ends the process and everything it started: closes its input, asks, then kills. A launcher is given
 * time in the background. Safe when there is none. */
void child_end(struct child *c);
/* The same without waiting: a user who cancels is not kept by a driver that takes its time. The next
 * start waits instead. */
void child_drop(struct child *c);
/* For one that is of no more use to anyone: it is killed, and its end, a third of a second with a GPU,
 * is not waited for. */
void child_leave(struct child *c);
/* Waits for what still ends in the background: nothing of a worker outlives its device. At most five
 * seconds. */
void child_await(struct child *c);
/* Last line of what it wrote to stderr, or "". */
void child_last_words(const struct child *c, char *out, size_t n);
