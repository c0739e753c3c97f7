/* infer_shape: what a kernel's code tells of the launch it was made for: how many dimensions it has,
 * whether shared memory is given by the launch. For launch_infer. */
#pragma once

#include "engine/base/base.h"
#include "engine/ptx/ptx_table.h"

struct ptx_func;
struct ptx_module;
struct ptx_symbol;

#define GUESS_DIMS 3
struct infer_shape {
    unsigned dims, block_dims; /* 1 to 3: of grid and block together, of the block alone */
    bool tiles;                /* it has shared memory: the block's shape matters */
    bool lanes;                /* the lanes of a warp exchange values, or do something together */
    uint32_t
        beyond;   /* the largest power of two that a thread's index along x is compared with; 0: none */
    bool threads; /* it reads which thread of a CTA it is */
    uint32_t tile[2]; /* m and n of a product of matrices; 0: it has none, or they are not said */
    bool meets;       /* its CTAs wait for one another at a barrier of the grid */
    bool products;    /* it multiplies matrices */
    bool one_thread;  /* it reads no index: every thread would do the same */
    /* x, y, z: CTAs at different places there may do different things */
    bool cta[GUESS_DIMS];
    bool writes_unlisted; /* it may write by what the analysis lists no store for */
    /* bytes of dynamic shared memory, a guess; 0: it has none */
    uint32_t shared;
};
/* false: out of memory */
bool infer_shape(const struct ptx_module *m, const struct ptx_func *kernel, struct infer_shape *out);
/* reach.c. Does component comp of an index become part of an address, or of what is stored? 0: only
 * comparisons read it, as those do that look for the first thread of all; -1: out of memory. */
int infer_reaches_memory(const struct ptx_func *f, enum ptx_sreg index, int comp);
/* 1: the value of register reg only says how often something is done: it is compared with counters that
 * are no index and become no part of an address; -1: out of memory. */
int infer_counts_turns(const struct ptx_func *f, uint32_t reg);
/* What the value of register reg, or what is made of it, is compared or multiplied with, as bits; -1: out of memory. */
enum infer_bound {
    INFER_BOUNDS_CTAS = 1,    /* something that the CTA's index is part of */
    INFER_BOUNDS_THREADS = 2, /* something that only the thread's index is part of */
    INFER_BOUNDS_TURNS = 4,   /* a counter that no index is part of */
    INFER_BOUNDS_PITCH =
        8, /* it is multiplied with the CTA's index, or with anything and compared with nothing: a row's length */
    INFER_BOUNDS_OFFSET = 16, /* compared and multiplied with nothing, it moves addresses */
    INFER_BOUNDS_ROWS = 32,   /* an index is divided by it */
    INFER_BOUNDS_FACTOR = 64, /* a product with another parameter bounds CTAs */
    INFER_BOUNDS_PARTS =
        128 /* a number is divided by it, and a CTA has one of the parts: how many CTAs there are */
};
int infer_bounds(const struct ptx_func *f, uint32_t reg);
/* 1: the value of register reg is only asked whether it is *v, the first of such numbers, and goes nowhere else; -1: out
 * of memory. */
int infer_mode(const struct ptx_func *f, uint32_t reg, int64_t *v);
/* f reads the block's size along x: its indices go with it */
bool infer_asks_block(const struct ptx_func *f);
/* some instruction of f has s as an operand */
bool infer_names(const struct ptx_func *f, const struct ptx_symbol *s);
