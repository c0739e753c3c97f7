/* run: one thing the user ran, and what came of it. */
#pragma once

#include "engine/rec/device.h"
#include "engine/rec/elem.h"
#include "engine/session/run_kind.h"
#include "engine/tune/sweep.h"

struct tune_found;

#define SESSION_PROBES 3
struct session_run { /* one thing the user ran */
    enum run_kind kind;
    bool deleted, earlier /* of a text opened before the session's present one */;
    bool aside; /* asked for by nobody: timed whole for the gain of the run before; not kept */
    int64_t time;
    char kernel[1536] /* mangled names of C++ are long */;
    char note[256];
    char race[512]; /* of the original, and what another order changes; empty: none was seen */
    struct dev_info dev;
    struct dim3u grid, block;
    uint64_t launch_key; /* launch_key of the launch it ran with; 0: not recorded */
    struct result *one;  /* owned */
    struct tune_sweep sweep;
    struct tune_proof *proof; /* of one, or of the sweep's best; NULL: none (a search has its own) */
    /* tune: what came of it; else NULL: a session may have thousands of runs */
    struct tune_found *found;
    struct result *trail;
    size_t ntrail; /* tune: what was tried, in order */
    /* tune: room for SESSION_PROBES; method cluster-framework: launches of a reduced grid */
    struct result *probe;
    size_t nprobe;
};
/* empty, time 0; NULL: out of memory. session_run_drop */
struct session_run *session_run_new(enum run_kind kind);
void session_run_drop(struct session_run *r); /* frees it too; NULL is fine */
/* Deep copies, so that a finished state can be published while the run goes on. False on out of memory.
 */
bool session_run_copy(struct session_run *to, const struct session_run *from);
void session_run_clear(struct session_run *r);
/* What it is proven by, copied. False on out of memory. */
bool session_run_prove(struct session_run *r, const struct tune_proof *p);
/* A finished configuration of a sweep or a search, put where it belongs (bpa, cha, points, trail). */
bool session_run_point(struct session_run *run, const struct result *r);
/* The result that a run recommends, borrowed; NULL: none, one whose outputs differ, or the original as
 * it is. */
const struct result *session_run_recommended(const struct session_run *r);
