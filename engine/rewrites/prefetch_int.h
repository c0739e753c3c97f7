/* prefetch: which loads and how (prefetch.c), values computed ahead (prefetch_slice.c), the kernel's own
 * bounds for them (prefetch_bound.c). */
#pragma once

#include "engine/base/base.h"

struct pass_ctx;
struct pass_flow;
struct ptx_inst;

enum { SLICE_MAX = 96, SLICE_NAME = 24, BOUNDS_MAX = 8 };
struct slice {
    struct pass_ctx *c;
    const struct pass_flow *fl;
    const char *const *next; /* TASK: %ctaid's replacements; NULL: LOOP */
    uint32_t loop;           /* LOOP: registers defined outside stay; PTX_NO_INDEX under TASK */
    uint32_t at;             /* instruction the prefetch stands before */
    /* instruction that the value is for: `at`, or one the slice goes through */
    uint32_t use;
    int64_t turns;                   /* LOOP: how many later */
    uint32_t done[SLICE_MAX], ndone; /* registers that have a fresh copy: <tag>s<serial> */
    uint32_t *counter;               /* of fresh registers in this rewrite */
    struct buf *decls, *code;
    uint32_t moved;     /* induction variables moved on */
    uint32_t induction; /* the last of them */
    int64_t step;
    bool step_known;
    char text[SLICE_MAX][SLICE_NAME];
    uint32_t busy[SLICE_MAX]; /* registers being computed: one met again depends on itself */
    uint32_t nbusy;
};
/* The value of a register, ahead: true when it can be had, in slice_name's register or, NULL, in its
 * own. */
bool slice_reg(struct slice *s, uint32_t reg);
const char *slice_name(struct slice *s, uint32_t reg);
/* a fresh register of the same class for it; NULL: none */
const char *slice_new(struct slice *s, uint32_t reg);
bool slice_in_loop(const struct slice *s, uint32_t inst);
/* What one turn adds to an induction register: imm + count * reg, summed over a chain of
 * additions (an unrolled loop has several). */
struct turn {
    int64_t imm, count;
    uint32_t reg;
};
bool slice_turn(const struct slice *s, uint32_t reg, const struct ptx_inst *d, struct turn *t);
/* Turns between a register's value before s->at now and at `use` s->turns later; `step` is what steps
 * it. */
int64_t slice_turns(const struct slice *s, uint32_t step, uint32_t use);
/* Takes back what a slice that failed wrote. */
struct slice_mark {
    uint32_t ndone;
    uint32_t moved;
    uint32_t counter;
    size_t decls, code;
    uint32_t induction;
    int64_t step;
    bool step_known;
};
struct slice_mark slice_mark(const struct slice *s);
void slice_rewind(struct slice *s, const struct slice_mark *m);

/* Predicates that must hold for the kernel itself to come to the load; `open`: bounds that depend on
 * data. */
struct bounds {
    char pred[BOUNDS_MAX][SLICE_NAME];
    uint32_t own[BOUNDS_MAX]; /* the kernel's register that it is; PTX_NO_INDEX: a new one */
    bool negated[BOUNDS_MAX];
    uint32_t n, open;
};
void bounds_of(struct slice *s, const struct ptx_inst *load, struct bounds *out);

/* A tensor copy into shared memory whose box is known by its coordinates (prefetch_tensor.c). */
bool prefetch_reads_box(const struct ptx_inst *i);
/* Writes the prefetch of that box, number n of the rewrite. False: its coordinates cannot be had ahead.
 */
bool prefetch_box(struct slice *s, const struct ptx_inst *i, uint32_t n, struct bounds *bounds);
