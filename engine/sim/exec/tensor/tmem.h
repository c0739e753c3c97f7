/* tmem: tensor memory of a CTA (9.7.16.1): 128 lanes of 512 columns of 32 bits. An address has the lane
 * in its high half, the column in its low half. */
#pragma once

#include "engine/sim/exec/bodies.h"

struct exec_cta;

#define TMEM_LANES   128u
#define TMEM_COLUMNS 512u
#define TMEM_UNIT    32u /* columns that are allocated together */
#define TMEM_REGS    128u

struct tmem {
    uint16_t owned; /* bit: a unit of columns is allocated */
    bool closed;    /* no more allocations (relinquish_alloc_permit) */
    uint32_t word[TMEM_LANES][TMEM_COLUMNS];
};

enum tmem_shape { TMEM_32X32B, TMEM_16X64B, TMEM_16X128B, TMEM_16X256B, TMEM_16X32BX2 };
enum tmem_red { TMEM_RED_NONE, TMEM_RED_MIN, TMEM_RED_MAX };
/* tcgen05.ld and st */
struct exec_tmem {
    struct exec_ref at;
    uint8_t shape; /* enum tmem_shape */
    uint8_t n;     /* registers */
    bool store;
    bool pack;      /* a register holds the low halves of two columns */
    uint32_t split; /* 16x32bx2: columns from the first half to the second */
    uint32_t reg[TMEM_REGS];
    /* ld.red: the least or the largest of a thread's registers */
    uint8_t red; /* enum tmem_red */
    uint8_t red_type;
    bool red_abs;
    bool red_nan;
    uint32_t red_dst;
};
/* tcgen05.cp */
struct exec_tmem_copy {
    struct exec_ref to;
    uint32_t desc;        /* slot */
    uint8_t lanes;        /* of the source */
    uint8_t words;        /* of each */
    uint8_t from_lane[4]; /* of the source, for each 32 lanes of tensor memory */
    uint8_t bits;         /* of packed elements that become bytes; 0: none */
    bool pair;            /* .cta_group::2 */
};
struct exec_tmem_alloc {
    struct exec_ref to; /* alloc: where the address goes */
    uint32_t address;   /* dealloc: slot */
    uint32_t columns;   /* slot */
};
struct exec_tmem_commit {
    struct exec_ref bar;
    uint32_t targets; /* slot of the mask of CTAs, or EXEC_NO_ID */
};
exec_fn exec_tmem_alloc, exec_tmem_dealloc, exec_tmem_close, exec_tmem_move, exec_tmem_copy,
    exec_tmem_shift, exec_tmem_commit;

/* False: some of the columns are not allocated, or lanes do not exist; told. */
bool tmem_check(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, const struct exec_cta *c,
                uint32_t address, uint32_t lanes, uint32_t columns);
uint64_t tmem_ref(const struct exec_warp *w, const struct exec_ref *r, uint32_t lane);
/* The CTA with rank 0 or 1 of the pair that c is in; NULL: c is in no cluster of two. */
struct exec_cta *tmem_pair(const struct exec_cta *c, unsigned rank);
