/* native_int: what native.c (values in registers, control) and native_mem.c (loads and stores) share.
 *
 *   rbx  the warp          r13  its frame, r14 the constants, r15 special registers: as exec_warp.bank has them
 *   rbp  exec_worker.cache r12  exec_worker.loads
 *   r8, r10  where in the host's memory the loads of a group (exec_inst.group) are that build.held says, when their first
 *            found them in sequence and all inside its allocation; 0: it did not. r9, r11  where to ask ahead for them
 *   zmm 2k, 2k+1   a 32-bit value of 32 lanes: build.val[k]; 28 to 30: scratch; 31: the NaN of f32 results
 *
 * A value may be newer in its registers than in the frame (dirty). Before anything else looks at the frame it is
 * stored; values that only one run of the program ever uses are not stored at its end. */
#ifndef GPULOCW_SIM_NATIVE_INT_H
#define GPULOCW_SIM_NATIVE_INT_H

#include "engine/sim/decode_exec.h"
#include "engine/sim/native_x86.h"

#define PAIRS 14u
#define SCRATCH 28u
#define SCRATCH2 29u
#define SCRATCH3 30u
#define NAN_REG 31u
#define STUB_JUMPS 16u
#define HELD 2u

enum native_form { FORM_NONE, FORM_PAIR, FORM_MAD, FORM_MOVE, FORM_SELECT, FORM_FMA, FORM_ONE, FORM_RECIPROCAL, FORM_WIDE, FORM_WIDE_MOVE,
                   FORM_WIDE_SHIFT, FORM_EXTEND, FORM_MUL_WIDE, FORM_MAD_WIDE, FORM_NARROW, FORM_COMPARE, FORM_COMPARE_WIDE, FORM_MEMORY,
                   FORM_PARAM, FORM_NOTHING, FORM_COUNT };
struct native_op { uint8_t form, more; struct x86_op op; };

struct value { uint32_t slot /* EXEC_NO_ID: free */, age; bool dirty; };
/* Code out of the way: jumps to it, where it goes back to, and the values at that point. */
struct stub {
    const struct exec_inst *in;
    size_t jump[STUB_JUMPS], back;
    uint32_t njumps, end;
    struct value val[PAIRS];
    uint32_t fresh;                  /* pairs that the access is to set */
    bool nan, same;                  /* same: for lanes at one address; else by the body */
    uint32_t lost;                   /* groups held, by bits, that are no more after it */
};
/* Loads of one group at `low` and beyond from their base register, in this run. */
struct held { uint32_t group; int32_t low, bytes; };
struct build {
    struct x86 a;
    const struct sim_program *p;
    exec_fn *const *lanes;
    struct value val[PAIRS];
    uint32_t clock, pinned;          /* pairs of the instruction at hand */
    bool nan;                        /* NAN_REG is set */
    struct held held[HELD]; uint32_t next_held;      /* group 0: none */
    uint32_t end;                    /* code index after the run */
    bool *own, *holds_own;           /* [nregs]: used by one run only; [frame units of 128 bytes]: holds such a one's value */
    struct stub *stub; size_t nstubs, cap_stubs;
    size_t leave;                    /* the common way out: eax is the pc */
    size_t iota[4];                  /* tables: 32-bit times 4, times 8; 64-bit times 4, times 8 */
    size_t *at;                      /* [ncode]: where the code of a run begins, 0: nowhere */
    struct fix { size_t jump; uint32_t pc; bool leaves; } *fix; size_t nfix, cap_fix;
};

struct x86_mem native_slot(uint32_t slot, uint32_t off);
unsigned native_value(struct build *b, uint32_t slot);     /* pair that holds it */
unsigned native_result(struct build *b, uint32_t slot);    /* pair that is to be its new value */
void native_sync(struct build *b, uint32_t slot);          /* the frame has its value */
void native_forget(struct build *b, uint32_t slot);        /* the frame gets a new one */
void native_call(struct build *b, const struct exec_inst *in, uint32_t end);  /* its body, mask in edx; leaves when stopped */
void native_jump(struct build *b, enum x86_cond c, uint32_t pc, bool leaves); /* to the run at pc, or out with this pc */
/* native_mem.c. False: no code for this form of it. */
bool native_memory(struct build *b, const struct exec_inst *in);
bool native_param(struct build *b, const struct exec_inst *in);
void native_stubs(struct build *b);

#define VMOVE_LOAD ((struct x86_op){ 0, 1, 0, 0x10 })
#define VMOVE_STORE ((struct x86_op){ 0, 1, 0, 0x11 })
#define VMOVE ((struct x86_op){ 0, 1, 0, 0x28 })

#endif
