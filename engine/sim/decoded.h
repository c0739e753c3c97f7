/* decoded: instructions and programs ready to execute. */
#pragma once

#include "engine/sim/preset.h"
#include "engine/sim/sim.h"
#include "engine/sim/sim_int.h"

struct exec_warp;
struct native;
struct ptx_func;
struct exec_inst;
struct ptx_symbol;
struct part;
struct dot_ops;

/* ---- decoded instructions ---- */
/* Runs the instruction for the lanes of `mask` (never 0). */
typedef void exec_fn(struct exec_warp *w, const struct exec_inst *in, uint32_t mask);

enum exec_kind {              /* what the run loop has to do besides calling the body */
                 EXEC_PLAIN,  /* registers only: call the body, next */
                 EXEC_MEM,    /* may fault */
                 EXEC_SYNC,   /* warp-synchronous: waits for the lanes of its member mask */
                 EXEC_CONTROL /* the body moves w->pc itself (branch, call, ret, exit, barrier) */
};

/* first of a basic block; waits for lanes of its warp (EXEC_SYNC) */
enum { LEADS_BLOCK = 1, LEADS_LANES = 2 };

/* Loads and stores of one element that lane kernels may serve without looking at every lane's address.
 */
enum exec_quick {
    QUICK_NONE,
    QUICK_GLOBAL /* 64-bit base, global or constant memory */,
    QUICK_SHARED /* 32-bit base */
};

/* A 32-lane value: byte offset into one of the warp's banks, bank in the low two
 * bits. Predicates are one 32-bit word (bit = lane); 8, 16 and 32-bit values are
 * uint32_t[32] with the upper bits zero; 64-bit values uint64_t[32]; 128-bit
 * values uint64_t[2][32]. */
enum exec_bank { BANK_FRAME, BANK_CONST, BANK_SREG, BANK_CTA, BANK_COUNT };

/* Cache behaviour asked for by a load, store or prefetch (section 9.7.9.1). */
enum exec_cop {
    COP_NONE,
    COP_CA,
    COP_CG,
    COP_CS,
    COP_LU,
    COP_CV /* .volatile, .relaxed.sys too */,
    COP_WB,
    COP_WT
};
enum exec_evict {
    EVICT_NONE,
    EVICT_NORMAL,
    EVICT_FIRST,
    EVICT_LAST,
    EVICT_UNCHANGED,
    EVICT_NO_ALLOCATE
};
struct exec_policy {
    uint8_t cop;          /* enum exec_cop */
    uint8_t l1;           /* enum exec_evict from .L1::x */
    uint8_t l2;           /* enum exec_evict from .L2::x (without createpolicy) */
    uint8_t nc;           /* .nc: read-only path */
    uint16_t l2_prefetch; /* 0, 64, 128, 256 bytes */
    uint16_t hint;        /* operand slot index + 1 of .L2::cache_hint; 0: none */
};

/* bits of exec_inst.flags */
enum exec_flag {
    EXEC_F_NEG_C = 1, /* predicate operand c is complemented */
    EXEC_F_NEG_A = 2,
    EXEC_F_NEG_B = 4,
    EXEC_F_BASE64 = 8,  /* address base register is 64 bits wide */
    EXEC_F_FRAME = 16,  /* address is relative to the frame: .local and .param variables */
    EXEC_F_CLUSTER = 32 /* a shared address may be another CTA's: shared::cluster */
};

struct exec_inst {
    exec_fn *fn;
    /* in a timing sample: fn, or what is left of it; NULL: nothing (timing_slice.c) */
    exec_fn *lean;
    uint32_t dst, dst2; /* slots; EXEC_NO_ID: none (a sink) */
    /* sources; d: member mask of EXEC_SYNC */
    uint32_t a;
    uint32_t b;
    uint32_t c;
    uint32_t d;
    uint32_t guard;          /* predicate slot, EXEC_NO_ID when unguarded */
    uint8_t guard_neg, kind; /* enum exec_kind */
    uint8_t flags;           /* EXEC_F_*, meaning is the body's */
    uint8_t leader;          /* LEADS_*: fragments may meet here */
    uint8_t spin;            /* an instruction that a spinning loop must contain */
    /* instructions from here on that need nothing of the run loop but to be called; 0: this one does */
    uint16_t run;
    uint8_t fast_path;  /* enum exec_quick */
    uint8_t reads_time; /* reads a clock: instructions must have been counted one by one */
    uint8_t mark;       /* enum mark_kind (text_marks.h): what its pass says that it means */
    /* schedule order within the function: lower runs first, so that paths meet */
    uint32_t rank;
    int32_t imm;     /* address offset, small constant */
    uint32_t target; /* branch target in code[] */
    uint32_t next;   /* code index of the following instruction */
    uint8_t cls;     /* enum ptx_class */
    uint8_t space;   /* enum ptx_space of a memory instruction */
    /* per element; elements; st rather than ld */
    uint8_t bytes;
    uint8_t vec;
    uint8_t store;
    /* enum exec_reach (mem.h); REACH_ANY where nobody relies on it (sim_program.apart) */
    uint8_t reach;
    uint32_t load_id; /* static id of a global load or a product (index into stats.loads), EXEC_NO_ID */
    uint32_t mem_id;  /* per-instruction allocation cache */
    /* accesses of one block with the same unchanged base register: alike in pattern; 0: none */
    uint32_t group;
    /* the group, for all of it but the first: that one looks at the lanes; 0: it, or no group */
    uint32_t follows;
    /* a first load: how many that follow it in its run want words this many bytes further on */
    uint8_t nahead, ahead[EXEC_AHEAD];
    uint8_t nth;  /* such a load: its place among them, from 1 */
    uint8_t live; /* the first of a block: machine registers that it reads from before it, at most 255 */
    /* an atomic whose address the assembler knows to be one for all lanes: it makes one machine atomic
     * of such a warp's integers */
    bool one_address;
    uint16_t ndst, nsrc; /* scoreboard: function register indices, destinations then sources */
    const uint32_t *regs;
    struct exec_policy policy;
    const void *x; /* what does not fit: owned by the program's arena */
    const struct ptx_inst *ptx;
    const struct exec_func *func;
};

static inline bool writes_reg(const struct exec_inst *in, uint32_t reg) /* index in the function */
{
    for (uint32_t k = 0; k < in->ndst; k++)
        if (in->regs[k] == reg)
            return true;
    return false;
}

struct exec_func { /* a decoded function */
    const struct ptx_func *ptx;
    uint32_t first, n; /* code[first .. first+n) */
    uint32_t index;
    uint32_t frame_bytes; /* registers of one warp */
    uint32_t *zero;
    uint32_t nzero;              /* 128-byte units that may be read before written */
    uint32_t local_bytes, nregs; /* local_bytes: .local and .param variables of one thread */
    /* [nregs] slots, EXEC_NO_ID: not used; several have one that are never live at once */
    uint32_t *reg_slot;
    /* [nregs] the same for what is known of the time: numbers below nready; shared if no block uses both
     */
    uint32_t *ready_slot, nready;
    bool *read; /* [nregs] an instruction reads it */
    /* [ptx->nvars] .local, .param: offset in the frame; .shared: in shared memory */
    uint64_t *var_off;
    /* device functions: [nrets + nparams] offsets of formal parameters in the frame */
    uint64_t *param_off;
    /* of the same: slots of those that are registers, EXEC_NO_ID for the others */
    uint32_t *formal_slot;
};

/* enum ptx_sreg; PTX_SREG_NONE: the parameter at that offset */
struct exec_sreg {
    uint16_t sreg;
    int8_t comp;
    uint8_t bytes;
    uint32_t slot, param;
};
struct exec_symbol {
    const struct ptx_symbol *sym;
    uint64_t addr, bytes;
    bool kept; /* by the memory, for other programs of the module */
};             /* placed module variable */

struct sim_program {
    const struct ptx_module *module;
    struct arena *arena;
    struct sim_mem *mem;     /* NULL: of a part */
    const struct part *part; /* what it runs, and on which memory; NULL: all, on mem */
    struct sim_preset preset;
    struct exec_inst *code;
    uint32_t ncode;
    struct exec_func *funcs;
    uint32_t nfuncs;   /* funcs[0] is the kernel */
    uint32_t *func_at; /* [module->nfuncs] where in funcs each is; EXEC_NO_ID: not */
    uint8_t *constants;
    uint32_t const_bytes; /* BANK_CONST: broadcast immediates */
    struct exec_symbol *symbols;
    uint32_t nsymbols; /* .global, .const and .shared */
    /* of them, what module-scope .global and .const are called: the host's way to them */
    struct strmap by_name;
    /* device addresses, 0: not used; malloc's heap, and what %envreg1 and 2 point to */
    uint64_t heap, grid_space;
    uint32_t shared_static; /* bytes; dynamic shared begins at shared_dyn */
    uint32_t shared_dyn;
    /* per thread, all frames of the deepest non-recursive chain */
    uint32_t local_bytes;
    /* special registers the code reads (sreg.c) */
    struct exec_sreg *sregs;
    uint32_t nsregs, sreg_bytes[BANK_COUNT];
    uint32_t nloads, nmem;          /* static global loads and products; memory instructions */
    const struct exec_inst **loads; /* [nloads] */
    uint32_t regs;                  /* estimated 32-bit registers per thread */
    /* that the kernel lets ptxas use, by .minnctapersm or .maxnreg; 0: it says nothing */
    uint32_t regs_allowed;
    struct sim_compiled compiled; /* by an assembler */
    uint32_t spilled;             /* sim_resources */
    /* ordered: results depend on the order of CTAs: one thread runs them */
    bool recursive, ordered;
    bool flies;   /* copies asynchronously, or reads shared memory so */
    bool watched; /* asynchronous products may break their rules: every instruction is looked at */
    /* no contents of global memory reach what the timing of a launch depends on */
    bool timing_ignores_data;
    /* CTAs claim tasks, and a sample takes those of its own SMs only */
    bool own_tasks;
    /* only those of module variables do: a sample leaves buffers as they are, as long as accesses stay
     * where exec_inst.reach says */
    bool timing_reads_only_symbols;
    /* the lane bodies that the code is made of (lanes.h) */
    exec_fn *const *lanes;
    const struct dot_ops *dots; /* and its products of matrices (tensor/dot.h) */
    bool no_native;             /* no machine code is to be made, or an attempt was */
    /* made by the first functional launch; NULL: none (native.h) */
    struct native *native;
};
