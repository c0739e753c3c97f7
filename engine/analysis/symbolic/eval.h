/* eval: from a function's instructions to symbolic addresses.
 *
 * One walk over the dominator tree, children in reverse post-order, keeps the
 * value of every register (an undo log restores it on the way up); joins get
 * phis at dominance frontiers, loop headers get a RECUR leaf that is classified
 * when the loop's subtree is left. Calls are inlined: each call site is a frame.
 *
 *   eval_kernel -> frames (branch conditions, loops) + accesses (raw address, guard)
 *   eval_resolve -> RECUR replaced by start + step*ITER (inside) or TRIPS (after)
 *   eval_reach  -> when a block runs, as a condition; NULL where the flow is not structured */
#pragma once

#include "engine/analysis/symbolic/symexpr.h"

struct ptx_cfg;
struct ptx_inst;
struct ptx_module;
struct ptx_operand;
struct ptx_symbol;

#define EVAL_MAX_FRAMES 256
#define EVAL_MAX_DEPTH  16
#define EVAL_MAX_EXITS  8
#define EVAL_MAX_DIMS   12 /* loops around one access, callers' included */

struct eval_frame;

struct eval_phi {
    struct eval_phi *next; /* of the same block */
    struct eval_frame *frame;
    struct ana_loop *loop; /* header phi; else NULL */
    uint32_t block;
    uint32_t var;
    uint32_t n;
    uint32_t cap;
    uint8_t bits;
    const struct symexpr **in;
    uint32_t *from;              /* operand and predecessor block */
    const struct symexpr *recur; /* header phi: its leaf */
    enum { PHI_OPEN, PHI_INVARIANT, PHI_LINEAR, PHI_GEOMETRIC, PHI_OTHER } state;
    /* geometric: each round shifts or divides by this, or (AXO_POW) multiplies */
    enum symexpr_op grow;
    int64_t by;
    const struct symexpr *start;
    const struct symexpr *step;
    const struct symexpr *latch;
    const struct symexpr *value[2]; /* memo of its value after and inside the loop */
    const struct symexpr *unknown;  /* other: stands for what no form is known for */
    /* its value in the query of that number (resolve_leaf) */
    const struct symexpr *resolved;
    uint32_t query;
    struct symexpr_site site;
};

struct ana_loop {
    struct eval_frame *frame;
    struct ana_loop *parent; /* around it in the same frame */
    /* in cfg->loops; its header block; over all frames */
    uint32_t index;
    uint32_t header;
    uint32_t id;
    /* the loops in it are those after it in cfg->loops, up to this one */
    uint32_t last;
    char name[12];            /* k, k1, ... */
    struct eval_phi *counter; /* the phi printed as the loop's counter, or NULL */
    struct {
        uint32_t block, target;
    } exit[EVAL_MAX_EXITS];
    uint32_t nexits;
    uint32_t exit_target; /* of every exit; PTX_NO_INDEX: they lead to different places */
    /* resolved: taken back round when true; NULL: not analysable */
    const struct symexpr *stay;
    /* holds while no analysable exit is taken; NULL: no exit is analysable */
    const struct symexpr *bound;
    const char *why; /* no stay: what is in the way */
};

struct eval_frame {
    const struct ptx_func *func;
    const struct ptx_cfg *cfg; /* shared by the frames of one function */
    struct eval_frame *parent;
    uint32_t call_inst;
    uint32_t depth;
    uint32_t nvars;
    uint32_t id;
    const struct symexpr **cur;    /* value of each register and .param cell now; NULL: not set */
    struct eval_phi **phi;         /* per block */
    const struct symexpr **branch; /* per block: condition of its last jump; NULL: none */
    /* per block: where the jump goes; PTX_NO_INDEX: out of the function */
    uint32_t *taken;
    uint8_t *odd;           /* per block: ends in a jump that is not modelled (brx) */
    struct ana_loop *loops; /* cfg->nloops */
    const struct symexpr **ret;
    uint32_t nret; /* result cells at the returns */
    const struct symexpr **reach;
    uint8_t *reach_state; /* per block: memo of eval_reach */
};

struct eval_access {
    struct eval_frame *frame;
    uint32_t inst, block;
    const struct symexpr *raw, *guard; /* guard NULL: none */
    const struct symexpr *addr;        /* resolved, 64 bits wide for global and generic */
    uint8_t space, bytes;
    bool load;     /* reads */
    bool store;    /* writes */
    bool atomic;   /* reads and writes at once */
    bool prefetch; /* brings lines, no value */
    /* a bulk or tensor copy: raw is its address, or its map's; its size, or its coordinates */
    bool copy, tensor;
    bool sized; /* cp.async that says how much it reads: some lanes may read nothing */
    uint8_t nvalues;
    const struct symexpr *value[5];
};

struct eval {
    struct arena *arena;
    struct symexpr_pool pool;
    const struct ptx_module *module;
    const struct ptx_func *kernel;
    const struct cancel *cancel;
    struct eval_frame **frames;
    uint32_t nframes;
    struct eval_access *access;
    uint32_t naccess;
    size_t cap_access;
    struct ana_loop **loops;
    uint32_t nloops;
    size_t cap_loops;
    char **gaps;
    uint32_t ngaps;
    size_t cap_gaps; /* arena strings, each once */
    uint32_t query;  /* number of the one that eval_resolve answers */
    const struct symexpr **memo;
    uint32_t *stamp, stamp_now;
    size_t cap_memo;
    bool divergent_call; /* some call was not followed: reachability is incomplete */
    enum status status;
};
/* ST_OK (gaps say what was left out), ST_CANCELLED or ST_NOMEM. eval_done frees what is not in the
 * arena. */
enum status eval_kernel(struct eval *e, struct arena *arena, const struct ptx_module *m,
                        const struct ptx_func *kernel, const struct cancel *cancel);
void eval_done(struct eval *e);
void eval_gap(struct eval *e, const char *fmt, ...) BASE_PRINTF(2, 3);

/* eval_inst.c: the effect on frame->cur of one instruction that is no call; accesses are recorded. */
void eval_inst(struct eval *e, struct eval_frame *f, const struct ptx_inst *i);
/* Calls `set` for every variable (register or .param cell) the instruction may write. */
void eval_inst_defs(const struct eval_frame *f, const struct ptx_inst *i,
                    void (*set)(void *ctx, uint32_t var), void *ctx);
/* Cells: 4-byte pieces of the .param variables that carry call arguments and results. They
 * are numbered after the registers: formal parameters, results, body variables. */
uint32_t eval_cell_count(const struct ptx_func *f);
/* Cells of a .param variable (4 bytes each, at most 64); its first one among those of f, PTX_NO_INDEX:
 * it is none of them (a kernel parameter, another space). */
uint32_t eval_cells(const struct ptx_symbol *s);
uint32_t eval_cell_of(const struct ptx_func *f, const struct ptx_symbol *s);
uint32_t eval_ret_cell(const struct ptx_func *f);
uint32_t eval_ret_cells(const struct ptx_func *f);
/* Cells that `bytes` at [s+off] touch, as variable numbers; false: s is no such variable of f. */
bool eval_cell_range(const struct ptx_func *f, const struct ptx_symbol *s, int64_t off, unsigned bytes,
                     uint32_t *first, uint32_t *n);
/* A call's operands: lists of results and arguments, and who is called (NULL callee operand: malformed).
 */
struct eval_call {
    const struct ptx_operand *ret;
    const struct ptx_operand *callee;
    const struct ptx_operand *arg;
    unsigned nret, narg;
};
struct eval_call eval_call_parts(const struct ptx_inst *i);
const struct ptx_func *eval_callee(const struct eval_call *c);
const struct symexpr *eval_guard(struct eval *e, struct eval_frame *f, const struct ptx_inst *i);
/* The value of an operand in so many bits; of a register that is narrower, extended with or without its
 * sign. */
const struct symexpr *eval_value(struct eval *e, struct eval_frame *f, const struct ptx_inst *i,
                                 const struct ptx_operand *o, unsigned bits, bool sign);
/* The register of o gets v, under the guard of i. */
void eval_write(struct eval *e, struct eval_frame *f, const struct ptx_inst *i,
                const struct ptx_operand *o, const struct symexpr *v, bool sign);
/* Any value of so many bits (0: 32); why: NULL names the instruction. */
const struct symexpr *eval_unknown(struct eval *e, struct eval_frame *f, const struct ptx_inst *i,
                                   unsigned bits, const char *why);
/* Instruction spelled for people: "mul.hi.u32 at line 88". In the arena. */
const char *eval_inst_text(struct eval *e, const struct ptx_func *f, const struct ptx_inst *i);
/* eval_loop.c */
void eval_finish_loop(struct eval *e, struct ana_loop *l);
const struct symexpr *eval_resolve(struct eval *e, struct eval_frame *f, uint32_t block,
                                   const struct symexpr *x);
struct ana_loop *eval_loop_of(const struct eval_frame *f, uint32_t block);
const struct symexpr *eval_reach(struct eval *e, struct eval_frame *f, uint32_t block);

/* Generic bottom-up rewriting: leaf(ctx, x) gives what replaces a node without arguments (or x). */
typedef const struct symexpr *(*eval_leaf_fn)(void *ctx, const struct symexpr *x);
const struct symexpr *eval_subst(struct eval *e, const struct symexpr *x, eval_leaf_fn leaf, void *ctx);
/* x with `to` wherever `from`, itself an expression, stands. */
const struct symexpr *eval_replace(struct eval *e, const struct symexpr *x, const struct symexpr *from,
                                   const struct symexpr *to);
