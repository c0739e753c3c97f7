/* apply: a program of somebody's run with tuned kernels in place of its own. */
#pragma once

#include "engine/dev/inject/record.h"
#include "engine/live/live.h"
#include "engine/rec/elem.h"

struct live_symbol {
    char *name;     /* owned */
    uint64_t bytes; /* to zero; of a mirrored one 0 */
    bool back;      /* mirrored: the kernel may write it */
};
struct live_shape {
    struct dim3u grid, block;
    uint32_t shared; /* dynamic, bytes */
};
/* Times on the GPU in ns, in the order of their end. */
enum {
    LIVE_ORIGINAL,
    LIVE_AGAIN,
    LIVE_TUNED,
    LIVE_REPLAYED /* tuned, by graphs */,
    LIVE_STEADY,
    LIVE_STEADY_TUNED /* behind a launch of the same kind */,
    LIVE_ARMS
};
struct live_times {
    uint64_t n; /* launches; v is an even choice of them */
    uint32_t *v;
    size_t kept, cap;
};
struct live_target {
    /* what to put in; all owned */
    char *kernel; /* as in the PTX */
    char *text;   /* PTX that has it tuned */
    void *code; /* the same as machine code, so that the program need not wait for a compiler; NULL: none
                 */
    size_t ncode;
    char *whole; /* the original's text, where an image may be swapped before it is loaded; else NULL */
    bool any;    /* any launch, which stays as it is */
    struct live_shape original, tuned;
    int carveout; /* percent; -1: as the program has it */
    bool unsafe;  /* writes through pointers that it loads: its outputs cannot be told */
    struct live_symbol *zero, *mirror;
    size_t nzero, nmirror;
    /* what came of it */
    uint64_t launches;
    uint64_t applied;  /* launches that ran the tuned kernel */
    uint64_t captured; /* into graphs, with the tuned kernel */
    uint64_t skipped[LIVE_APPLY_NWHY];
    uint64_t load_ns;  /* host time that loading the tuned kernel took */
    uint64_t enter_ns; /* host time added to launches */
    unsigned verified, differed;
    struct live_times time[LIVE_ARMS];
};
struct live_apply {
    struct live_target *v; /* at most 64 */
    size_t n;
    int mode; /* LIVE_APPLY_AB: by turns, LIVE_APPLY_ALL: each launch tuned, LIVE_APPLY_NONE: none */
    unsigned verify; /* launches of each kernel that run both on a copy of the data */
    /* Which targets (bits) does the image have from which the program loaded a kernel of that name?
     * path: its PTX (text, or a fatbin), NULL: it has none; hash, bytes: of an ELF file (0: not known).
     * *maxreg: the register limit that it was compiled with. *whole: of which it is the text, and
     * nothing else. Called on a thread of its own. */
    uint64_t (*match)(void *ctx, const char *kernel, uint64_t hash, const char *path, int *maxreg,
                      uint64_t *whole);
    void *ctx;
    /* While the program runs, twice a second: what came of it until then, in another record of the same
     * targets, without what is to be put in; live_apply_free. On the caller's thread; may be NULL. */
    void (*so_far)(void *ctx, struct live_apply *results);
    /* what came of it: the GPU's time from the first kernel's begin to the last one's end, of the
     * process with the most */
    uint64_t span_ns;
    struct live_survey survey;
};
const char *live_apply_why(int why);
/* Runs argv with the targets put in. As live_survey_run. Free in every case. */
enum status live_apply_run(char *const *argv, struct live_apply *a, struct diags *ds);
/* The results alone, so that it can run again. */
void live_apply_free(struct live_apply *a);
/* Median, least and most of some times; false: there are none, *out stays. Sorts
 * them. */
struct live_spread {
    uint64_t median; /* ns */
    uint64_t min;    /* ns */
    uint64_t max;    /* ns */
};
bool live_spread(struct live_times *t, struct live_spread *out);
