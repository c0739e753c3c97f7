/* waits, private to pass: loops that wait for other CTAs, and what a rewrite changes for them. */
#pragma once

#include "engine/base/base.h"

struct pass_ctx;
struct pass_flow;
struct ptx_comparison;
struct ptx_func;
struct ptx_inst;

enum pass_wait_kind {
    WAIT_OTHERS,
    WAIT_GRID_BARRIER,
    WAIT_FLAG,
    WAIT_LOCK /* for a thread that runs */
};
struct pass_wait {
    enum pass_wait_kind kind;
    const struct ptx_inst *at;
    const struct ptx_func *f;
    bool cluster; /* for CTAs of its own thread-block cluster, and for no others */
};
/* A loop of the kernel, or of what it calls, that may wait for other CTAs; false: none. at: the read it
 * waits by. */
bool pass_find_wait(struct pass_ctx *c, struct pass_wait *out);
/* The comparison of integers in the same block that decides a guarded branch, and what it compares;
 * NULL: `last` is no such branch. */
const struct ptx_inst *pass_branch_condition(const struct pass_flow *fl, const struct ptx_inst *last,
                                             struct ptx_comparison *out);
/* Does the loop of these blocks, left at the end of block `exit` alone, take a spin lock that is given
 * back without waiting? The atomic; NULL: no (locks.c). */
const struct ptx_inst *pass_lock(struct pass_ctx *c, const struct pass_flow *fl, const bool *in,
                                 uint32_t exit);
/* What c->row changes (changes.def) against what the kernel and its callees see. */
enum {
    PASS_ORDER = 1 << 16,
    PASS_RESIDENT = 1 << 17,
    PASS_THREADS = 1 << 18,
    PASS_SERIAL = 1 << 19,
    PASS_COPIES = 1 << 20
};
enum status pass_check_changes(struct pass_ctx *c);
/* warns of values that no rewrite leaves as they are */
void pass_note_changes(struct pass_ctx *c);
