/* The option space of the tuner, private to tune. */
#pragma once

#include "engine/analysis/banks.h"
#include "engine/base/base.h"
#include "engine/rec/elem.h"

struct ana_access;
struct ana_kernel;
struct options;
struct tune_bench;

#define SPACE_PERSIST 2
#define SPACE_MINCTAS 4
#define SPACE_MOST    80 /* alternatives of one dimension, at most */
struct space {
    uint32_t warps, threads, resident /* CTAs per SM of the original */;
    struct dim3u block, grid;
    uint32_t shared_per_sm, shared_per_block;
    int pi_predicted;
    int level, form;        /* of bypassing, as the kernel's loads allow it */
    bool no_allocate;       /* loads have L1 priorities */
    bool launch_control;    /* agents can claim tasks by it */
    bool conflicts;         /* accesses to shared memory ask a bank twice; */
    struct banks_cure cure; /* what other layouts leave of that */
    /* buffers that may be worth a part of L2, the most read first; names of the launch's */
    const char *persist[SPACE_PERSIST];
    size_t npersist;
    /* CTAs an SM (--minctas) with which the device's compiler takes more registers than it did, the most
     * registers first */
    int minctas[SPACE_MINCTAS];
    size_t nminctas;
    bool copies;        /* bulk or tensor copies read global memory */
    bool maps;          /* and tensor maps of the launch */
    bool tiles;         /* of a persistent kernel, in any order; */
    bool tile_rows;     /* and how many a row has */
    bool asks_to_cache; /* a load that is to cache in L1 must say so: all caching is a choice, too */
    bool fine /* every value */, coarse /* the values of the exhaustive reference */;
};
/* patience: alternatives that a search tries at once, and leaves the dimension when none of them gains.
 * part: its knob is that of the dimension before it, refined or otherwise set. */
struct dimension {
    const char *name;
    size_t (*alternatives)(const struct space *s, const struct options *base,
                           struct options *out /* SPACE_MOST */);
    unsigned char patience;
    bool part;
};
size_t space_dimensions(void);
const struct dimension *space_dimension(size_t i);
const struct dimension *space_find(const char *name); /* NULL: none of that name */
struct space space_of(const struct tune_bench *b);
/* Leaves out what a program sets for itself: parts of L2 for a stream, tensor maps, the order of tiles of a size that
 * another launch may not have. */
void space_in_program(struct space *s);
/* minctas: by compiling the original with each, on a device that compiles or simulates that. */
void space_find_minctas(struct space *s, struct tune_bench *b);
struct dev_info;
struct launch_spec;
/* Of what a launch reads again, while more than L2 holds passes through it: at most SPACE_PERSIST names,
 * and how many. 0 where the device sets no part of L2 aside. */
size_t space_persistent(const struct ana_kernel *k, const struct launch_spec *l,
                        const struct dev_info *d, const char *name[SPACE_PERSIST]);
/* Extra passes that a request to shared memory makes in the worst access, which goes to *at (may be
 * NULL); 0: none does, or k is NULL. */
double space_bank_conflicts(const struct ana_kernel *k, const struct ana_access **at);
