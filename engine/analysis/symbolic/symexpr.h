/* symexpr: symbolic values of registers. Immutable, hash-consed nodes: two equal
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
 *   LOAD   ref: struct symexpr_site; arg[0] the address, c: element of the vector
 *   PHI    ref: site; any of arg[] (may-values);  UNKNOWN  ref: site with a reason
 *   SEXT, ZEXT, TRUNC, OP (enum symexpr_op) */
#pragma once

#include "engine/ptx/ptx_table.h"

struct ptx_func;

enum symexpr_kind {
    SYMEXPR_SUM,
    SYMEXPR_PROD,
    SYMEXPR_SREG,
    SYMEXPR_PARAM,
    SYMEXPR_ADDR,
    SYMEXPR_ITER,
    SYMEXPR_TRIPS,
    SYMEXPR_RECUR,
    SYMEXPR_LOAD,
    SYMEXPR_PHI,
    SYMEXPR_UNKNOWN,
    SYMEXPR_SEXT,
    SYMEXPR_ZEXT,
    SYMEXPR_TRUNC,
    SYMEXPR_OP
};
/* name for printing; infix when it is not a word */
#define SYMEXPR_OPS(X) \
    X(UDIV, "/")       \
    X(SDIV, "/")       \
    X(UREM, "%")       \
    X(SREM, "%")       \
    X(SHL, "<<")       \
    X(LSHR, ">>>")     \
    X(ASHR, ">>")      \
    X(AND, "&")        \
    X(OR, "|")         \
    X(XOR, "^")        \
    X(UMIN, "min")     \
    X(UMAX, "max")     \
    X(SMIN, "min")     \
    X(SMAX, "max")     \
    X(UMULHI, "mulhi") \
    X(SMULHI, "mulhi") \
    X(POW, "pow")      \
    X(SELECT, "?:")    \
    X(EQ, "==")        \
    X(ULT, "<")        \
    X(ULE, "<=")       \
    X(SLT, "<")        \
    X(SLE, "<=")       \
    X(BAND, "&&")      \
    X(BOR, "||")       \
    X(BNOT, "!")
#define SYMEXPR_OP_ITEM(n, text) AXO_##n,
enum symexpr_op { SYMEXPR_OPS(SYMEXPR_OP_ITEM) AXO_COUNT };
#undef SYMEXPR_OP_ITEM
const char *symexpr_op_text(enum symexpr_op o);

/* What an expression contains, somewhere inside. */
enum symexpr_flag {
    AXF_LOAD = 1,
    AXF_UNKNOWN = 2,
    AXF_PHI = 4,
    AXF_RECUR = 8,
    AXF_TID = 16,
    AXF_CTAID = 32,
    AXF_ITER = 64,
    AXF_PARAM = 128,
    AXF_TRIPS = 256,
    AXF_OTHER_SREG = 512 /* clock, smid ...: differs from run to run */,
    AXF_ADDR = 1024
};
struct symexpr {
    uint8_t kind;
    uint8_t bits;
    uint8_t op;
    bool sign; /* LOAD, PARAM: sign-extended from its memory width */
    uint16_t flags;
    uint32_t n, id; /* id: order of creation; arguments have smaller ids */
    uint64_t hash;
    int64_t c;
    int64_t lo;
    int64_t hi;
    const struct symexpr *const *arg;
    int64_t *coef; /* SUM */
    const void *ref;
};
/* Where an opaque value comes from. */
struct symexpr_site {
    const struct ptx_func *func;
    uint32_t inst, block;
    const void *frame; /* struct eval_frame: which inlined copy */
    const char *why;   /* UNKNOWN: "mul.hi.u32 at line 88" */
};

struct symexpr_pool {
    struct arena *arena;
    const struct symexpr **slot;
    size_t nslot, n;
    bool failed;    /* out of memory: results are meaningless */
    bool oversized; /* an expression was cut to unknown because it grew too big */
    /* steps taken into arguments by conversions; bounded, then they stay as nodes */
    uint64_t conversions;
};
bool symexpr_pool_init(struct symexpr_pool *p, struct arena *arena);

#define SYMEXPR_MAX_TERMS 24
const struct symexpr *symexpr_const(struct symexpr_pool *p, unsigned bits, int64_t v);
const struct symexpr *symexpr_sreg(struct symexpr_pool *p, unsigned bits, enum ptx_sreg s, int comp,
                                   int64_t lo, int64_t hi);
const struct symexpr *symexpr_iter(struct symexpr_pool *p, unsigned bits, const void *loop, int64_t hi);
/* PARAM, ADDR, TRIPS, RECUR, UNKNOWN: a leaf with its own identity. */
const struct symexpr *symexpr_leaf(struct symexpr_pool *p, enum symexpr_kind k, unsigned bits,
                                   const void *ref, int64_t c, bool sign);
/* UNKNOWN, but for the interval that it lies in. */
const struct symexpr *symexpr_unknown(struct symexpr_pool *p, unsigned bits,
                                      const struct symexpr_site *site, int64_t lo, int64_t hi);
const struct symexpr *symexpr_load(struct symexpr_pool *p, unsigned bits,
                                   const struct symexpr_site *site, const struct symexpr *addr, int elem,
                                   unsigned membits, bool sign);
const struct symexpr *symexpr_phi(struct symexpr_pool *p, unsigned bits, const void *ref,
                                  const struct symexpr *const *v, uint32_t n);

const struct symexpr *symexpr_add(struct symexpr_pool *p, const struct symexpr *a,
                                  const struct symexpr *b);
const struct symexpr *symexpr_sub(struct symexpr_pool *p, const struct symexpr *a,
                                  const struct symexpr *b);
const struct symexpr *symexpr_scale(struct symexpr_pool *p, const struct symexpr *a, int64_t k);
const struct symexpr *symexpr_mul(struct symexpr_pool *p, const struct symexpr *a,
                                  const struct symexpr *b);
const struct symexpr *symexpr_sext(struct symexpr_pool *p, const struct symexpr *a, unsigned bits);
const struct symexpr *symexpr_zext(struct symexpr_pool *p, const struct symexpr *a, unsigned bits);
const struct symexpr *symexpr_trunc(struct symexpr_pool *p, const struct symexpr *a, unsigned bits);
/* Simplifies where it can. Comparisons and BAND/BOR/BNOT have bits 1. */
const struct symexpr *symexpr_op2(struct symexpr_pool *p, enum symexpr_op op, const struct symexpr *a,
                                  const struct symexpr *b);
const struct symexpr *symexpr_select(struct symexpr_pool *p, const struct symexpr *c,
                                     const struct symexpr *a, const struct symexpr *b);
const struct symexpr *symexpr_not(struct symexpr_pool *p, const struct symexpr *a);
const struct symexpr *symexpr_and(struct symexpr_pool *p, const struct symexpr *a,
                                  const struct symexpr *b);
const struct symexpr *symexpr_or(struct symexpr_pool *p, const struct symexpr *a,
                                 const struct symexpr *b);
/* The same node with other arguments (through the simplifying makers). */
const struct symexpr *symexpr_rebuild(struct symexpr_pool *p, const struct symexpr *e,
                                      const struct symexpr *const *arg);

static inline bool symexpr_is_const(const struct symexpr *e)
{
    return e->kind == SYMEXPR_SUM && e->n == 0;
}
static inline bool symexpr_is_value(const struct symexpr *e, int64_t v)
{
    return symexpr_is_const(e) && e->c == v;
}
/* lo..hi says more than the width does. */
bool symexpr_bounded(const struct symexpr *e);
int64_t symexpr_wrap(int64_t v, unsigned bits); /* low bits, sign-extended */

/* Visits every node below root once, root first, until fn says SYMEXPR_FOUND (then true). An expression
 * is a graph: walking it by plain recursion can take time exponential in its size. True too when memory
 * is gone. */
enum symexpr_visit { SYMEXPR_DESCEND, SYMEXPR_SKIP, SYMEXPR_FOUND };
bool symexpr_find(const struct symexpr *root,
                  enum symexpr_visit (*fn)(void *ctx, const struct symexpr *x), void *ctx);

/* Readable text. Loop counters print as the name their loop was given. */
struct symexpr_names {
    const char *(*loop)(void *ctx, const void *loop);
    const char *(*array)(void *ctx, const struct symexpr *leaf);
    void *ctx;
};
/* Not negative by its looks: proven, or a sum of products of things that count. */
bool symexpr_counts(const struct symexpr *e);
void symexpr_print(const struct symexpr *e, const struct symexpr_names *names, struct buf *out);

/* Straight-line program for evaluating expressions on concrete numbers, 32 lanes at a time. */
struct symexpr_tape {
    const struct symexpr **node;
    uint32_t n, nroot;
    uint32_t *root;
    uint32_t *arg;
    uint32_t *first;
};
bool symexpr_tape_make(struct arena *a, const struct symexpr *const *root, uint32_t nroot,
                       struct symexpr_tape *out);
/* Fills the 32 lanes of a leaf; false: no value (the lane result is then reported invalid). */
typedef bool (*symexpr_leaf_fn)(void *ctx, const struct symexpr *leaf, int64_t lane[32]);
/* value: tape->n rows of 32; valid: tape->n flags. Only what the roots need is evaluated. */
void symexpr_tape_run(const struct symexpr_tape *t, symexpr_leaf_fn leaf, void *ctx,
                      int64_t (*value)[32], bool *valid);
/* What a node's value depends on: the lane, and what the caller changes from run to run. vary (n) gets
 * it for every node from `leaf`, which says it of leaves. `again` computes only what changes since the
 * last run into the same value and valid (first: all); a value that no lane changes is computed once. */
enum { SYMEXPR_BY_LANE = 1, SYMEXPR_BY_POINT = 2 };
void symexpr_tape_vary(const struct symexpr_tape *t, uint8_t (*leaf)(const struct symexpr *x),
                       uint8_t *vary);
void symexpr_tape_again(const struct symexpr_tape *t, const uint8_t *vary, bool first,
                        symexpr_leaf_fn leaf, void *ctx, int64_t (*value)[32], bool *valid);
