/* native_int: what regs.c (values in registers, the ways on), mem.c (loads and stores), loop.c (loops of
 * one run) and native.c (instructions, runs) share. regs.c calls none of the others.
 *
 *   rbx            the warp
 *   r13, r14, r15  its frame, the constants, special registers: as exec_warp.bank has them
 *   rbp            exec_worker.cache
 *   r12            exec_worker.loads
 *   r8, r10        where in the host's memory the loads of a group (exec_inst.group) are that build.held
 *                  says, when their first found them in sequence and all inside its allocation; 0: it
 *                  did not
 *   r9, r11        where to ask ahead for them
 *   zmm 2k, 2k+1   a 32-bit value of 32 lanes: build.val[k]; 28 to 30: scratch; 31: the NaN of f32
 *                  results
 *
 * A value may be newer in its registers than in the frame (dirty). Before anything else looks at the
 * frame it is stored; values that only one run of the program ever uses are not stored at its end. A
 * result that is a NaN is made PTX's one NaN where it can be observed; between operations that turn any
 * NaN into a NaN it may be another (odd). */
#pragma once

#include "engine/sim/decoded.h"
#include "engine/sim/exec/native/x86.h"

#define PAIRS      14u
#define SCRATCH    28u
#define SCRATCH2   29u
#define SCRATCH3   30u
#define NAN_REG    31u
#define STUB_JUMPS 16u
#define HELD       2u

enum native_form {
    FORM_NONE,
    FORM_PAIR,
    FORM_MAD,
    FORM_MOVE,
    FORM_SELECT,
    FORM_FMA,
    FORM_ONE,
    FORM_RECIPROCAL,
    FORM_WIDE,
    FORM_WIDE_MOVE,
    FORM_WIDE_SHIFT,
    FORM_EXTEND,
    FORM_MUL_WIDE,
    FORM_MAD_WIDE,
    FORM_NARROW,
    FORM_COMPARE,
    FORM_COMPARE_WIDE,
    FORM_MEMORY,
    FORM_PARAM,
    FORM_NOTHING,
    FORM_COUNT
};
struct native_op {
    uint8_t form, more;
    struct x86_op op;
};

struct value {
    uint32_t slot /* EXEC_NO_ID: free */, age;
    bool dirty, odd /* NaNs may be others than the one; then dirty */;
};
/* Code out of the way: jumps to it, where it goes back to, and the values at that point. */
struct stub {
    const struct exec_inst *in;
    size_t jump[STUB_JUMPS], back;
    uint32_t njumps, end;
    struct value val[PAIRS];
    uint32_t fresh; /* pairs that the access is to set */
    bool nan, same; /* same: for lanes at one address; else by the body */
    uint32_t lost;  /* groups held, by bits, that are no more after it */
};
/* Loads of one group at `low` and beyond from their base register, in this run. */
struct held {
    uint32_t group;
    int32_t low, bytes;
    const struct exec_inst *first; /* what was checked is as this load has it */
};
/* values a loop wants from the turn before, of those that are looked at */
#define LOOP_READS 32u
struct build {
    struct x86 a;
    const struct sim_program *p;
    exec_fn *const *lanes;
    struct value val[PAIRS];
    uint32_t clock, pinned; /* pairs of the instruction at hand */
    bool nan;               /* NAN_REG is set */
    struct held held[HELD];
    uint32_t next_held;                 /* group 0: none */
    uint32_t end;                       /* code index after the run */
    uint32_t reads[LOOP_READS], nreads; /* slots that the run took from the frame */
    /* [nregs]: used by one run only; [frame units of 128 bytes]: holds such a one's value */
    bool *own, *holds_own;
    struct stub *stub;
    size_t nstubs, cap_stubs;
    size_t leave;   /* the common way out: eax is the pc */
    size_t iota[4]; /* tables: 32-bit times 4, times 8; 64-bit times 4, times 8 */
    size_t *at;     /* [ncode]: where the code of a run begins, 0: nowhere */
    struct fix {
        size_t jump;
        uint32_t pc;
        bool leaves;
    } * fix;
    size_t nfix, cap_fix;
};

struct x86_mem native_slot(uint32_t slot, uint32_t off);
unsigned native_value(struct build *b, uint32_t slot);  /* pair that holds it */
unsigned native_float(struct build *b, uint32_t slot);  /* the same for who makes a NaN of any NaN */
void native_settle(struct build *b, unsigned k);        /* a pair's NaNs are the one */
void native_canonical(struct build *b, unsigned z);     /* a register's */
unsigned native_result(struct build *b, uint32_t slot); /* pair that is to be its new value */
void native_sync(struct build *b, uint32_t slot);       /* the frame has its value */
void native_forget(struct build *b, uint32_t slot);     /* the frame gets a new one */
/* its body, mask in edx; leaves when stopped */
void native_call(struct build *b, const struct exec_inst *in, uint32_t end);
/* to the run at pc, or out with this pc */
void native_jump(struct build *b, enum x86_cond c, uint32_t pc, bool leaves);
/* pair that holds it, or PAIRS */
unsigned native_find(const struct build *b, uint32_t slot);
/* holds what only this run uses */
bool native_is_own(const struct build *b, uint32_t slot);
void native_store(struct build *b, unsigned k);
/* what is dirty; `end`: of the run, but for its own values */
void native_store_all(struct build *b, bool end);
void native_forget_all(struct build *b);
void native_want_nan(struct build *b);                      /* NAN_REG is set */
void native_pred(struct build *b, uint32_t slot, bool neg); /* eax: a predicate */
/* to pc, or out when the budget is used up; control: after a branch */
void native_go_on(struct build *b, uint32_t pc, bool control);

/* loop.c. A run that ends in a branch to itself has its code twice: as one comes to it, with all values
 * in the frame, and for the turns after the first, with what they want from the turn before in the pairs
 * `val`. */
struct native_loop {
    struct value val[PAIRS];
    bool nan;
    uint32_t first;
    size_t at;
};
/* After the body's code: false where it is no such loop or has no such values. Then comes the body's
 * code again, and the end. */
bool native_loop_begin(struct build *b, uint32_t first, struct native_loop *l);
void native_loop_end(struct build *b, const struct native_loop *l);
/* mem.c. False: no code for this form of it. */
bool native_memory(struct build *b, const struct exec_inst *in);
bool native_param(struct build *b, const struct exec_inst *in);
void native_stubs(struct build *b);

#define VMOVE_LOAD  ((struct x86_op){ 0, 1, 0, 0x10 })
#define VMOVE_STORE ((struct x86_op){ 0, 1, 0, 0x11 })
#define VMOVE       ((struct x86_op){ 0, 1, 0, 0x28 })
