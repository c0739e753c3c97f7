/* tasks: may a CTA do the work of several CTAs, one after the other, with a bar.sync 0 between? What one
 * of them leaves behind, the next one would find. */
#pragma once

#include "engine/base/base.h"

struct pass_ctx;
struct pass_funcs;
struct ptx_func;

struct task_words {
    const char *who;  /* "an agent" */
    const char *next; /* "task" */
    const char *hint; /* where threads may leave before a barrier; NULL: none */
};
/* Of the kernel and what it calls. ST_REFUSED with a diagnostic: no. */
enum status tasks_check(struct pass_ctx *c, const struct pass_funcs *fs, const struct task_words *w);
/* For it (leaving.c): lanes of a warp that leave f while others still do something together. */
enum status tasks_check_lanes(struct pass_ctx *c, const struct ptx_func *f, const struct task_words *w);
