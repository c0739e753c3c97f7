/* decode: from parsed instructions to exec_inst. One decoder per token of the exec column of
 * engine/ptx/ops.def; a token without a decoder does not compile.
 *
 *   decode.c        operands to slots, constants, special registers, registers of a function
 *   func.c          a function's instructions: order of blocks, groups of accesses
 *   contract.c      mul and add fused as ptxas does
 *   live.c          how many registers what is live takes
 *   pressure.c      the same of a block in an order that takes few
 *   slot.c          registers to slots
 *   reach.c         which global memory an access can reach
 *   timing_slice.c  what a timing sample need not compute
 *   part.c          what is left of each instruction where only some are run
 *   lane.c          arithmetic: rows of lanes.def, else scalar.def
 *   the others      a family of instructions each */
#pragma once

#include "engine/ptx/ptx_table.h"
#include "engine/sim/decoded.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/tensor/dot.h"

struct ptx_cfg;
struct ptx_live;
struct ptx_operand;

#define TY(t)  (1ull << PTX_T_##t)
#define TY_16  (TY(B16) | TY(U16) | TY(S16))
#define TY_32  (TY(B32) | TY(U32) | TY(S32))
#define TY_64  (TY(B64) | TY(U64) | TY(S64))
#define TY_F16 (TY(F16) | TY(BF16))

struct decode_const {
    uint64_t bits;
    uint32_t slot;
    uint8_t bytes;
    bool used;
};
struct decode {
    struct sim_program *p;
    struct diags *ds;
    exec_fn *const *lanes;
    const struct text_marks *marks; /* of the module; NULL: none */
    struct exec_func *f;            /* being decoded */
    const struct ptx_func *pf;
    char why[160]; /* reason of a refusal, or empty */
    bool no_ptx;   /* the reason is that PTX has no such form */
    bool oom;
    uint8_t *consts;
    uint32_t nconst, cap_const; /* bytes */
    struct decode_const *table;
    uint32_t ntable, cap_table;
    /* reachable functions, in the order they were met */
    const struct ptx_func **todo;
    uint32_t ntodo;
    /* by module function: its position among them, EXEC_NO_ID: not reached */
    uint32_t *place;
    uint32_t cap_sregs;
    uint32_t carry; /* predicate slot of CC.CF, EXEC_NO_ID until used */
    /* registers whose slots the instruction at hand asked for, the first of them */
    uint32_t asked[64], nasked;
    uint32_t ngroups;
    bool contract;     /* mul and add are fused as ptxas does */
    bool atomic_order; /* an operation whose result depends on the order of CTAs */
};
/* Fills `in`; false: not modelled (d->why may say more). Common fields are set by the caller. */
typedef bool decode_fn(struct decode *d, const struct ptx_inst *i, struct exec_inst *in);

/* ---- operands ---- */
unsigned decode_bytes(enum ptx_type t); /* width in a slot: 4, 8 or 16 */
/* What is in {a, b, c}, or the operand itself; *n: how many. */
const struct ptx_operand *decode_elements(const struct ptx_operand *o, unsigned *n);
/* Slots of n operands, as decode_src or decode_dst has them. */
bool decode_list(struct decode *d, const struct ptx_operand *o, unsigned n, unsigned bytes, bool write,
                 uint32_t *slot);
/* Slot of a source as `bytes` wide; false with a reason when it cannot be one. */
bool decode_src(struct decode *d, const struct ptx_operand *o, unsigned bytes, uint32_t *slot);
/* a sink: EXEC_NO_ID */
bool decode_dst(struct decode *d, const struct ptx_operand *o, unsigned bytes, uint32_t *slot);
/* A predicate source; *neg: complemented. */
bool decode_pred(struct decode *d, const struct ptx_operand *o, uint32_t *slot, bool *neg);
bool decode_const_slot(struct decode *d, uint64_t bits, unsigned bytes, uint32_t *slot);
/* Where a launch keeps its parameter at that offset, as a register of 4 or 8 bytes in all lanes. False:
 * out of memory. */
bool decode_param_slot(struct decode *d, uint32_t offset, unsigned bytes, uint32_t *slot);
unsigned decode_reg_bits(const struct decode *d, const struct ptx_operand *o); /* 0: not a register */
uint32_t decode_reg_slot(struct decode *d, uint32_t reg, int comp);
bool decode_why(struct decode *d, const char *fmt, ...) BASE_PRINTF(2, 3); /* always false */
/* The same for what PTX has no form for: a GPU takes it as little. */
bool decode_no_ptx(struct decode *d, const char *fmt, ...) BASE_PRINTF(2, 3);
unsigned decode_key(const struct ptx_inst *i);
bool decode_is_imm(const struct ptx_operand *o, int64_t *v);
/* copy in the program's arena */
void *decode_keep(struct decode *d, const void *x, size_t n);
/* in->x is a copy of it. False: out of memory. */
bool decode_more(struct decode *d, struct exec_inst *in, const void *x, size_t n);
/* An instruction of a whole warp, of which no lane is left out. */
bool decode_whole(struct decode *d, struct exec_inst *in, exec_fn *fn, const void *x, size_t n);
/* [address]: a, imm, flags, space, mem_id. */
bool decode_address(struct decode *d, const struct ptx_operand *o, enum ptx_space space,
                    struct exec_inst *in);
bool decode_ref(struct decode *d, const struct ptx_operand *o, enum ptx_space space, struct exec_ref *r);
/* Where a symbol lies: address in its space; *frame: relative to the frame's local memory. */
bool decode_symbol(struct decode *d, const struct ptx_symbol *s, uint64_t *addr, bool *frame);
void decode_policy(struct decode *d, const struct ptx_inst *i, struct exec_policy *p);
/* EXEC_NO_ID: has no body */
uint32_t decode_func_index(struct decode *d, const struct ptx_func *f);
/* What a pointer to it is: the same in every program of its module; 0: it has no body. */
uint64_t decode_func_handle(const struct ptx_func *f);

/* What is left of an instruction of a part (part.c). False: out of memory. */
bool decode_part(struct decode *d, const struct ptx_inst *i, struct exec_inst *in, bool reachable);

/* ---- functions (func.c) ---- */
bool decode_function(struct decode *d, uint32_t index);
/* Registers of the function at hand: sim_program.regs, and all of exec_func that is about slots. The
 * ranks of its code are known. False: out of memory. */
bool decode_live(struct decode *d);
/* What an instruction keeps its place among: accesses of global and of shared memory, of loads only
 * their stores. */
enum decode_order { DECODE_GLOBAL = 1, DECODE_SHARED = 2, DECODE_LOADS = 4 };
/* A block, the registers live at its end, and how many of the machine's each takes. */
struct decode_pressure {
    const struct ptx_func *f;
    const struct ptx_block *block;
    const uint64_t *live; /* bits */
    const uint8_t *cost;  /* [nregs] */
    const uint8_t *order; /* by instruction of the function: enum decode_order */
    /* [nregs], or NULL: the register that a value is made of where it is used, itself: it is kept */
    const uint32_t *root;
    bool chains; /* of instructions that leave as many live the newest, else the text's last */
};
/* *most: machine registers live at once in an order of its instructions that needs few. False: out of
 * memory. */
bool decode_pressure(const struct decode_pressure *b, uint32_t *most);
bool decode_slots(struct decode *d, const struct ptx_cfg *c, const struct ptx_live *l);
/* Sets exec_inst.reach of the kernel's code (reach.c), and exec_inst.lean of all code (timing_slice.c).
 * False: out of memory. */
/* Sets sim_program.watched of a kernel (watch.c). */
bool decode_watch(struct decode *d, const struct ptx_cfg *c, const struct exec_inst *code);
bool decode_reach(struct decode *d);
bool decode_lean(struct decode *d);
bool decode_layout(struct decode *d, const struct ptx_func *pf, struct exec_func *f);

/* ---- one declaration per token of the exec column ---- */
/* How the preset's tensor cores sum products of elements of this type. */
struct dot_model decode_dot_model(const struct decode *d, uint8_t type, uint8_t result);
decode_fn *decode_of(unsigned op);
decode_fn decode_lane, decode_logic, decode_lop3, decode_setp, decode_set, decode_selp, decode_carry,
    decode_video, decode_mov, decode_cvt, decode_cvta, decode_isspacep, decode_ctarank, decode_ld,
    decode_st, decode_prefetch, decode_nop, decode_async_group, decode_policy_make, decode_atom,
    decode_cp_async, decode_cp_bulk, decode_mma_sp, decode_tensormap_replace, decode_tensormap_copy,
    decode_st_bulk, decode_multimem, decode_try_cancel, decode_is_canceled, decode_first_ctaid,
    decode_tma, decode_wgmma, decode_wgmma_order, decode_tmem_alloc, decode_tmem_move, decode_tmem_copy,
    decode_tmem_shift, decode_tmem_commit, decode_tcgen, decode_async, decode_mbar, decode_matrix_memory,
    decode_tex, decode_tex_query, decode_surface, decode_mma, decode_wmma_memory, decode_wmma_mma;
struct exec_scalar *decode_scalar(struct decode *d, const struct ptx_inst *i);
/* enum atom_op of its modifier; false: none */
bool decode_atom_op(const struct ptx_inst *i, uint8_t *op);
