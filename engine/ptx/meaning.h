/* meaning: what one instruction computes, and what it is. The one place that says so; everything else
 * asks here, and compares no names.
 *
 * The answers follow from the columns of ops.def. What no column tells is unknown: a word such as .sat,
 * a floating-point or narrow type, the carry flag, another number of operands. */
#pragma once

#include "engine/ptx/ptx_table.h"

struct ptx_func;
struct ptx_inst;
struct ptx_operand;

/* Has its row one of these traits (enum ptx_trait)? */
bool ptx_is(const struct ptx_inst *i, unsigned traits);
enum ptx_effect ptx_effect_of(const struct ptx_inst *i);
enum ptx_role ptx_role_of(const struct ptx_inst *i);
/* ld or st of any space: each thread's own bytes */
bool ptx_is_plain_load(const struct ptx_inst *i);
bool ptx_is_plain_store(const struct ptx_inst *i);
/* ld.param: a parameter of its function, or what a call has returned */
bool ptx_is_param_load(const struct ptx_inst *i);
/* mov of any type. Without operands it is nothing: another instruction has taken its work. */
bool ptx_is_move(const struct ptx_inst *i);
/* Changes the sign of a float and nothing else: neg, abs. */
bool ptx_is_float_sign(const struct ptx_inst *i);
/* cvta, to generic addresses or back */
bool ptx_is_address_cast(const struct ptx_inst *i);
/* ret or exit: of a kernel, the end of the thread */
bool ptx_ends_thread(const struct ptx_inst *i);
/* volatile, relaxed, acquire, release, mmio, .cv, .wt: other threads may see it, or answer it */
bool ptx_is_strong(const struct ptx_inst *i);
/* Arithmetic of f32 to the last bit, of which there is an approximate form too. */
bool ptx_is_exact(const struct ptx_inst *i);
/* A load whose memory nobody writes while the kernel runs: .nc, ldu. */
bool ptx_reads_constant_memory(const struct ptx_inst *i);
/* Does it do this to memory (PTX_MOD_ADD, PTX_MOD_CAS ...), as an atomic or a reduction? */
bool ptx_is_atomic_op(const struct ptx_inst *i, enum ptx_mod op);
/* What the special registers among its operands follow: PTX_SEES_*. */
unsigned ptx_sees(const struct ptx_inst *i);
/* Operations on floats that each element of its type counts for; 0: of other types, or none. */
unsigned ptx_flops(const struct ptx_inst *i);
/* The result is a function of what it reads, the same whenever and wherever it is executed. */
bool ptx_is_pure(const struct ptx_inst *i);

/* ---- values; of the first destination, when the guard (not looked at) is true ---- */
/* The rule of its row where that says exactly what the destination holds; else ADDR_UNKNOWN. */
enum ptx_addr_rule ptx_rule_of(const struct ptx_inst *i);
/* a; a * b; or a << b */
struct ptx_term {
    const struct ptx_operand *a;
    const struct ptx_operand *b; /* NULL: none */
    bool shift;                  /* a << b */
    bool minus;                  /* it is subtracted */
};
/* The sum of the terms modulo 2^bits; of an address that changes its window (cvta), up to a number that
 * the launch decides. */
struct ptx_sum {
    uint8_t n; /* of term */
    struct ptx_term term[2];
    uint8_t bits; /* of the destination: 32 or 64 */
    bool widens;  /* operands of the products, or of a conversion, have fewer bits */
    bool cuts;    /* the operand has more bits */
};
/* False: it is no such sum, or has a guard. */
bool ptx_sum_of(const struct ptx_inst *i, struct ptx_sum *out);
/* The operand whose number the destination gets unchanged, in as many bits or more; NULL: none, or it
 * has a guard. */
const struct ptx_operand *ptx_copied(const struct ptx_inst *i);
/* It adds the number *by to its register *reg: reg = reg + by. False: it does something else. */
bool ptx_step_of(const struct ptx_inst *i, uint32_t *reg, int64_t *by);
/* A comparison of integers: what the first predicate is set to; a second one gets the opposite, before
 * either is combined with a third. */
struct ptx_test {
    enum ptx_mod how; /* PTX_MOD_EQ ... */
    const struct ptx_operand *a;
    const struct ptx_operand *b;
    uint8_t bits; /* of both */
    bool sign;
    enum ptx_mod with;               /* PTX_MOD_AND, PTX_MOD_OR, PTX_MOD_XOR; PTX_MOD_NONE: none */
    const struct ptx_operand *other; /* the predicate that it is combined with; NULL: none */
};
/* False: it is no such comparison. */
bool ptx_test_of(const struct ptx_inst *i, struct ptx_test *out);
/* Its destination gets *from + *number, in as many bits as *from has. False: it does not, or has a
 * guard. */
bool ptx_offset_of(const struct ptx_inst *i, const struct ptx_operand **from, int64_t *number);
/* The two values that it compares, whatever it makes of the answer, under a guard too. */
bool ptx_compared(const struct ptx_inst *i, const struct ptx_operand **a, const struct ptx_operand **b);
/* A comparison of integers that sets one predicate, and nothing else. */
struct ptx_comparison {
    uint32_t pred;    /* register */
    enum ptx_mod how; /* PTX_MOD_EQ ... */
    const struct ptx_operand *a;
    const struct ptx_operand *b;
    uint8_t bits; /* of both */
};
/* False: it is none, or has a guard. */
bool ptx_comparison_of(const struct ptx_inst *i, struct ptx_comparison *out);
/* The least and the greatest number that the destination may hold, its bits read as an unsigned number;
 * false: any. */
bool ptx_range_of(const struct ptx_inst *i, uint64_t *lo, uint64_t *hi);
/* The rule of its row whatever its words and types: a sum of floats adds, too. */
enum ptx_addr_rule ptx_row_rule(const struct ptx_inst *i);
/* a * b of floats, which the assembler may fuse with a sum */
bool ptx_is_float_product(const struct ptx_inst *i);
/* A whole number as operand. */
bool ptx_is_number(const struct ptx_operand *o);
/* Which operand of a wgmma says whether it adds to what its registers hold; PTX_NO_INDEX: it always
 * does, or is none. */
uint32_t ptx_wgmma_adds(const struct ptx_inst *i);
/* The operand that names the lanes which do i together, and wait for each other there; NULL: it waits for
 * none. */
const struct ptx_operand *ptx_named_lanes(const struct ptx_inst *i);
/* The result is a set of lanes, all of them among those that do i. */
bool ptx_chooses_lanes(const struct ptx_inst *i);
/* The destination is *a divided by the result, rounded down; 0: it is none, or has a guard. */
uint64_t ptx_divides(const struct ptx_inst *i, const struct ptx_operand **a);
bool ptx_writes_reg(const struct ptx_inst *i, uint32_t reg);
/* The m, n and k of a matrix operation's shape (.m16n8k16); false: it has no such word. */
bool ptx_shape_of(const struct ptx_inst *i, unsigned *m, unsigned *n, unsigned *k);
/* How often: 16 of .x16; 0: it has no such word. */
unsigned ptx_times_of(const struct ptx_inst *i);

/* ---- names that people and prototypes use ---- */
/* The register that a name stands for in the outermost scope that has it; PTX_NO_INDEX: none. */
uint32_t ptx_find_reg(const struct ptx_func *f, struct str name);
/* The register of f that the name stands for in this instruction; PTX_NO_INDEX: none. */
uint32_t ptx_named_reg(const struct ptx_func *f, const struct ptx_inst *i, struct str name);
/* Does the name stand for a register or a variable in this instruction of f? Labels and functions of the
 * same name may be declared in other scopes. */
bool ptx_names_value(const struct ptx_func *f, const struct ptx_inst *i, struct str name);
/* Of a special register, without the %: "tid". */
const char *ptx_sreg_word(enum ptx_sreg s);
