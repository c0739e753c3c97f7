/* Private to emulate: the device of one process. */
#pragma once

#include "engine/dev/inject/shape.h"
#include "engine/emulate/emulate_int.h"

struct textures;
struct guest_module {
    uint8_t *bytes; /* its fatbins, until they are opened; owned */
    uint64_t n;
    uint64_t parts;
    uint64_t hash;
    struct card_code *code; /* NULL: not opened, or it cannot be */
    int error;              /* why, as cudaError */
};
struct guest_kernel {
    struct card_kernel *kernel;
    uint64_t module;
    uint64_t launches;
    /* shapes that were written down (engine/dev/inject/shape.h), and the bytes of all of them */
    uint64_t shape[SHAPES_MOST];
    unsigned nshapes;
    uint64_t taken;
    uint64_t key; /* of the launch under way */
    bool no_room; /* for that one */
};
struct guest {
    struct emulation *e;
    struct stream io;
    struct card *card;
    uint8_t *host; /* the memory's file, mapped */
    uint64_t bytes;
    int file;
    struct guest_module *module;
    size_t nmodules, cap_modules;
    struct guest_kernel *kernel;
    size_t nkernels, cap_kernels;
    struct textures *textures; /* by index of handle; NULL: none */
    double *event;             /* times in ns; below 0: not recorded */
    size_t nevents, cap_events;
    double clock_ns; /* simulated time so far */
    struct buf printed;
    int error; /* cudaError of the first launch that failed; it stays */
    /* the watch over launches that take too long */
    pthread_t watch;
    bool watched;
    pthread_mutex_t watch_lock;
    pthread_cond_t watch_wake;
    int64_t until_ns; /* 0: nothing runs */
    bool over;
    struct cancel cancel;
};

/* ---- launches (launches.c) ---- */
bool guest_launch(struct guest *s, const struct wire_launch *l, const uint8_t *params, uint64_t n);
bool guest_fits(struct guest *s, const struct wire_launch *l);
bool guest_done(struct guest *s); /* answers SYNC */

/* ---- a launch that is written down (taking.c) ---- */
struct taking;
/* Before launch number `nth` of k, from 1, or the first of a shape: memory as it is. NULL: it is not wanted, or out of
 * memory. */
struct taking *taking_begin(struct guest *s, struct guest_kernel *k, const struct wire_launch *l,
                            const uint8_t *params);
/* After it: what it left. done: the launch succeeded; else nothing is written. */
void taking_end(struct guest *s, const struct guest_kernel *k, struct taking *t, bool done);
void guest_watch_start(struct guest *s);
void guest_watch_stop(struct guest *s);
