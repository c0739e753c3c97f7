/* tma: boxes of a tensor in global memory, and where their bytes lie in shared memory. */
#pragma once

#include "engine/rec/tensor_map.h"
#include "engine/sim/exec/bodies.h"

enum tma_kind { TMA_LOAD, TMA_STORE, TMA_REDUCE, TMA_PREFETCH };
enum tma_mode { TMA_TILE, TMA_IM2COL, TMA_GATHER4, TMA_SCATTER4, TMA_IM2COL_W, TMA_IM2COL_W128 };

/* What decoding leaves (exec_inst.x); in->a and its like: the address in shared memory. */
struct exec_tma {
    uint8_t kind; /* enum tma_kind */
    uint8_t mode; /* enum tma_mode */
    uint8_t rank;
    uint8_t ncoord;     /* used of coord */
    uint8_t noff;       /* used of off */
    bool has_bar, pair; /* pair: .cta_group::2 */
    struct exec_ref map, bar;
    /* slots */
    uint32_t coord[TENSOR_RANK_MOST];
    uint32_t off[3];  /* im2col */
    uint32_t targets; /* mask of the cluster's CTAs */
    uint32_t policy;
    struct exec_atom atom;
};

/* One copy: a map, the coordinates, and a walk over its rows. A row is what lies side by side in both
 * memories. */
struct tma_box {
    struct tensor_map m;
    uint8_t mode;
    int64_t at[TENSOR_RANK_MOST]; /* coordinates; gather4: column, then four rows */
    int32_t off[3];               /* im2col */
    uint32_t nrows;
    uint32_t row_bytes;
    uint32_t pitch; /* bytes from row to row in shared memory */
    uint64_t bytes;
};
struct tma_row {
    uint64_t addr;        /* of its first byte in global memory, were that inside */
    uint32_t first, last; /* bytes [first, last) of the row are inside the tensor; none: equal */
    uint32_t to;          /* offset in the box before swizzling */
};
exec_fn exec_tma;
bool tma_box_init(struct tma_box *b, const char **why);
/* Row n; consecutive n are cheap. */
void tma_box_row(const struct tma_box *b, uint32_t n, struct tma_row *r);
/* What an address in shared memory becomes under the map's swizzle. */
uint64_t tma_swizzled(const struct tensor_map *m, uint64_t a);
/* Bytes of elements outside the tensor. */
void tma_fill(const struct tensor_map *m, uint8_t *to, uint32_t n);
