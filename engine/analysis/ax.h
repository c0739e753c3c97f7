/* ax: symbolic values of registers. Immutable, hash-consed nodes: two equal
 * expressions of one pool are one pointer. Arithmetic is modulo 2^bits, as the
 * machine's; `lo..hi` is a proven interval of the value read as a signed number
 * of that width (the full range when nothing is known), so that a widening
 * conversion is taken apart only where no wrap-around can happen.
 *
 *   SUM    c + coef[0]*arg[0] + ...      (n == 0: the constant c)
 *   PROD   arg[0]*arg[1]*...             (none of them constant)
 *   SREG   c: enum ptx_sreg, op: component
 *   PARAM  ref: ptx_symbol of the kernel, c: byte offset; ADDR: address of ref
 *   ITER   ref: loop; the number of back edges taken, from 0
 *   TRIPS  ref: loop; its ITER when the loop is left
 *   RECUR  ref: header phi not resolved yet (struct eval_phi)
 *   LOAD   ref: struct ax_site; arg[0] the address, c: element of the vector
 *   PHI    ref: site; any of arg[] (may-values);  UNKNOWN  ref: site with a reason
 *   SEXT, ZEXT, TRUNC, OP (enum ax_op) */
#ifndef GPULOCW_AX_H
#define GPULOCW_AX_H

#include "engine/ptx/ptx.h"

enum ax_kind {
    AX_SUM, AX_PROD, AX_SREG, AX_PARAM, AX_ADDR, AX_ITER, AX_TRIPS, AX_RECUR, AX_LOAD, AX_PHI, AX_UNKNOWN,
    AX_SEXT, AX_ZEXT, AX_TRUNC, AX_OP
};
/* name for printing; infix when it is not a word */
#define AX_OPS(X) \
    X(UDIV, "/") X(SDIV, "/") X(UREM, "%") X(SREM, "%") X(SHL, "<<") X(LSHR, ">>>") X(ASHR, ">>") \
    X(AND, "&") X(OR, "|") X(XOR, "^") X(UMIN, "min") X(UMAX, "max") X(SMIN, "min") X(SMAX, "max") \
    X(UMULHI, "mulhi") X(SMULHI, "mulhi") X(POW, "pow") X(SELECT, "?:") X(EQ, "==") X(ULT, "<") X(ULE, "<=") X(SLT, "<") X(SLE, "<=") \
    X(BAND, "&&") X(BOR, "||") X(BNOT, "!")
enum ax_op {
#define X(n, text) AXO_##n,
    AX_OPS(X)
#undef X
    AXO_COUNT
};
const char *ax_op_text(enum ax_op o);

/* What an expression contains, somewhere inside. */
enum ax_flag {
    AXF_LOAD = 1, AXF_UNKNOWN = 2, AXF_PHI = 4, AXF_RECUR = 8, AXF_TID = 16, AXF_CTAID = 32, AXF_ITER = 64,
    AXF_PARAM = 128, AXF_TRIPS = 256, AXF_OTHER_SREG = 512 /* clock, smid ...: differs from run to run */, AXF_ADDR = 1024
};
struct ax {
    uint8_t kind, bits, op;
    bool sign;                   /* LOAD, PARAM: sign-extended from its memory width */
    uint16_t flags;
    uint32_t n, id;              /* id: order of creation; arguments have smaller ids */
    uint64_t hash;
    int64_t c, lo, hi;
    const struct ax *const *arg;
    int64_t *coef;               /* SUM */
    const void *ref;
};
/* Where an opaque value comes from. */
struct ax_site {
    const struct ptx_func *func;
    uint32_t inst, block;
    const void *frame;           /* struct eval_frame: which inlined copy */
    const char *why;             /* UNKNOWN: "mul.hi.u32 at line 88" */
};

struct ax_pool {
    struct arena *arena;
    const struct ax **slot; size_t nslot, n;
    bool failed;                 /* out of memory: results are meaningless */
    bool oversized;              /* an expression was cut to unknown because it grew too big */
    uint64_t conversions;        /* steps taken into arguments by conversions; bounded, then they stay as nodes */
};
bool ax_pool_init(struct ax_pool *p, struct arena *arena);

#define AX_MAX_TERMS 24
const struct ax *ax_const(struct ax_pool *p, unsigned bits, int64_t v);
const struct ax *ax_sreg(struct ax_pool *p, unsigned bits, enum ptx_sreg s, int comp, int64_t lo, int64_t hi);
const struct ax *ax_iter(struct ax_pool *p, unsigned bits, const void *loop, int64_t hi);
/* PARAM, ADDR, TRIPS, RECUR, UNKNOWN: a leaf with its own identity. */
const struct ax *ax_leaf(struct ax_pool *p, enum ax_kind k, unsigned bits, const void *ref, int64_t c, bool sign);
const struct ax *ax_load(struct ax_pool *p, unsigned bits, const struct ax_site *site, const struct ax *addr, int elem, unsigned membits, bool sign);
const struct ax *ax_phi(struct ax_pool *p, unsigned bits, const void *ref, const struct ax *const *v, uint32_t n);

const struct ax *ax_add(struct ax_pool *p, const struct ax *a, const struct ax *b);
const struct ax *ax_sub(struct ax_pool *p, const struct ax *a, const struct ax *b);
const struct ax *ax_scale(struct ax_pool *p, const struct ax *a, int64_t k);
const struct ax *ax_mul(struct ax_pool *p, const struct ax *a, const struct ax *b);
const struct ax *ax_sext(struct ax_pool *p, const struct ax *a, unsigned bits);
const struct ax *ax_zext(struct ax_pool *p, const struct ax *a, unsigned bits);
const struct ax *ax_trunc(struct ax_pool *p, const struct ax *a, unsigned bits);
/* Simplifies where it can. Comparisons and BAND/BOR/BNOT have bits 1. */
const struct ax *ax_op2(struct ax_pool *p, enum ax_op op, const struct ax *a, const struct ax *b);
const struct ax *ax_select(struct ax_pool *p, const struct ax *c, const struct ax *a, const struct ax *b);
const struct ax *ax_not(struct ax_pool *p, const struct ax *a);
const struct ax *ax_and(struct ax_pool *p, const struct ax *a, const struct ax *b);
const struct ax *ax_or(struct ax_pool *p, const struct ax *a, const struct ax *b);
/* The same node with other arguments (through the simplifying makers). */
const struct ax *ax_rebuild(struct ax_pool *p, const struct ax *e, const struct ax *const *arg);

static inline bool ax_is_const(const struct ax *e) { return e->kind == AX_SUM && e->n == 0; }
static inline bool ax_is_value(const struct ax *e, int64_t v) { return ax_is_const(e) && e->c == v; }
/* lo..hi says more than the width does. */
bool ax_bounded(const struct ax *e);
int64_t ax_wrap(int64_t v, unsigned bits);      /* low bits, sign-extended */

/* Visits every node below root once, root first, until fn says AX_FOUND (then true). An expression is a graph:
 * walking it by plain recursion can take time exponential in its size. True too when memory is gone. */
enum ax_visit { AX_DESCEND, AX_SKIP, AX_FOUND };
bool ax_find(const struct ax *root, enum ax_visit (*fn)(void *ctx, const struct ax *x), void *ctx);

/* Readable text. Loop counters print as the name their loop was given. */
struct ax_names { const char *(*loop)(void *ctx, const void *loop); const char *(*array)(void *ctx, const struct ax *leaf); void *ctx; };
/* Not negative by its looks: proven, or a sum of products of things that count. */
bool ax_counts(const struct ax *e);
void ax_print(const struct ax *e, const struct ax_names *names, struct buf *out);

/* Straight-line program for evaluating expressions on concrete numbers, 32 lanes at a time. */
struct ax_tape { const struct ax **node; uint32_t n, nroot; uint32_t *root; uint32_t *arg; uint32_t *first; };
bool ax_tape_make(struct arena *a, const struct ax *const *root, uint32_t nroot, struct ax_tape *out);
/* Fills the 32 lanes of a leaf; false: no value (the lane result is then reported invalid). */
typedef bool (*ax_leaf_fn)(void *ctx, const struct ax *leaf, int64_t lane[32]);
/* value: tape->n rows of 32; valid: tape->n flags. Only what the roots need is evaluated. */
void ax_tape_run(const struct ax_tape *t, ax_leaf_fn leaf, void *ctx, int64_t (*value)[32], bool *valid);

#endif
