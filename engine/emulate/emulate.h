/* emulate: a CUDA program run without a GPU. A library of ours stands in front of it as CUDA runtime and driver
 * (engine/emulate/runtime, driver); it hands launches to this process, where they run on a simulated
 * device. */
#pragma once

#include "engine/check/check.h"
#include "engine/live/live.h"
#include "engine/sim/preset.h"

struct emulate_want {
    struct sim_preset preset;
    unsigned threads; /* of the host, 0: all */
    bool timed;
    bool exact;
    bool check_memory;
    const struct live_want *take; /* launches to write down, as capture does; NULL: none */
    double limit_s;               /* most seconds of one launch; 0: EMULATE_LIMIT_S */
    /* Where it has a signal, the program and what it started get that, and are killed when they do not
     * heed it. NULL: none. */
    const struct cancel *cancel;
    /* A launch failed, a module cannot be used, a check found something: told as it happens, one call at
     * a time, from another thread. */
    void (*tell)(void *ctx, const struct diags *ds);
    void *ctx;
};
#define EMULATE_LIMIT_S 600.0

/* A call that is not there. */
struct emulate_missing {
    char *call; /* owned */
    uint64_t count;
};
/* What the first launch of a kernel did, where it was small enough to look at each access. */
struct emulate_look {
    char *kernel;      /* as in the PTX; owned */
    uint64_t requests; /* of warps to global memory */
    uint64_t sectors;  /* of 32 bytes that they touched */
    uint64_t least;    /* sectors that their bytes would fill */
    uint64_t insts;    /* warp instructions */
    uint64_t ctas;
};
struct emulate_seen {
    struct live_survey survey; /* time_ns is simulated; timed 0: functional */
    struct emulate_missing *missing;
    size_t nmissing, cap_missing;
    struct findings findings; /* of checked launches and of failed ones */
    struct emulate_look *look;
    size_t nlooks, cap_looks;
    uint64_t faults; /* launches that failed */
    bool oom;
};
/* Runs argv (ends in NULL) and waits; its input, output and error are those of this process. ST_IO: it
 * cannot be started; ST_REFUSED: this kind of program cannot be run so, and ds says how to build one that
 * can. Free in every case. */
enum status emulate_run(char *const *argv, const struct emulate_want *w, struct emulate_seen *out,
                        struct diags *ds);
void emulate_free(struct emulate_seen *s);
