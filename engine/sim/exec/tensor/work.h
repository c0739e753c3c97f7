/* work: what a worker keeps for copies and products. */
#pragma once

#include "engine/base/base.h"

struct exec_late;
struct mat_factors;

/* The mbarrier that a warp last found incomplete: its offset, and where in the code; EXEC_NO_ID: none.
 */
struct exec_mbar_wait {
    uint32_t at, pc;
};

/* Where a warp stands among the four of its warpgroup (meet.h). */
struct exec_meet {
    uint32_t come;      /* fences and products that it has reached */
    uint32_t committed; /* groups of products */
    uint32_t all_come;  /* waits until all have reached so many, */
    uint32_t all_done;  /* and have committed so many groups */
    uint32_t pc;        /* waits: at this instruction */
    uint64_t desc[2];   /* of a product: its matrix descriptors; 0: none */
    bool waits;
};

struct exec_tensor_work {
    bool woke; /* a warp that waited for its warpgroup may go on (exec_step.woke) */
    /* mbarriers are told later (step.h): what is to be told */
    bool defers;
    struct exec_late *late;
    size_t nlate, cap_late;
    uint64_t *box; /* lines of the copy at hand */
    size_t nbox, cap_box;
    struct mat_factors *factors; /* of the product at hand, or NULL (operand.h) */
};
