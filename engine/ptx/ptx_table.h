/* ptx_table: what the tables say (ops.def, mods.def, sregs.def).
 * Part of ptx.h, which includes it. */
#pragma once

#include "engine/base/base.h"
#include "engine/ptx/ptx_type.h"

/* Every dot-word after an opcode: .global .ca .rn .u32 .L1::no_allocate ...
 * PTX_MOD_GLOBAL, PTX_MOD_CA, PTX_MOD_RN, PTX_MOD_U32, PTX_MOD_L1_NO_ALLOCATE */
enum ptx_mod {
    PTX_MOD_NONE,
#define MOD(id, text, category) PTX_MOD_##id,
#include "engine/ptx/mods.def"
#undef MOD
    PTX_MOD_COUNT
};
enum ptx_mod_category {
    MODCAT_TYPE,
    MODCAT_SPACE,
    MODCAT_CACHE,
    MODCAT_L1,
    MODCAT_L2,
    MODCAT_ROUND,
    MODCAT_CMP,
    MODCAT_BOOL,
    MODCAT_SEM,
    MODCAT_SCOPE,
    MODCAT_VEC,
    MODCAT_SHAPE,
    MODCAT_ATOM,
    MODCAT_FLAG
};
enum ptx_space { /* section 5.1; GENERIC: ld/st/atom with no space named */
                 PTX_SPACE_GENERIC,
                 PTX_SPACE_REG,
                 PTX_SPACE_SREG,
                 PTX_SPACE_CONST,
                 PTX_SPACE_GLOBAL,
                 PTX_SPACE_LOCAL,
                 PTX_SPACE_PARAM,
                 PTX_SPACE_SHARED,
                 PTX_SPACE_SHARED_CLUSTER,
                 PTX_SPACE_TEX
};
/* What an operation does to memory and control (op table column .effect). */
enum ptx_effect {
    EFFECT_NONE,
    EFFECT_LOAD,
    EFFECT_STORE,
    EFFECT_ATOMIC,
    EFFECT_PREFETCH,
    EFFECT_FENCE,
    EFFECT_BARRIER,
    EFFECT_BRANCH,
    EFFECT_CALL,
    EFFECT_EXIT,
    EFFECT_WARP /* shuffle, vote, match, redux ... */,
    EFFECT_ASYNC_COPY,
    EFFECT_TEXTURE,
    EFFECT_SURFACE,
    EFFECT_TENSOR,
    EFFECT_OTHER
};
/* How the destination follows from the sources for address analysis. UNKNOWN is
 * zero on purpose: a row without a rule says "anything", never "unchanged". */
enum ptx_addr_rule {
    ADDR_UNKNOWN,
    ADDR_COPY,
    ADDR_ADD,
    ADDR_SUB,
    ADDR_MUL_LO,
    ADDR_MUL_HI,
    ADDR_MUL_WIDE,
    ADDR_MAD_LO,
    ADDR_MAD_WIDE,
    ADDR_SHL,
    ADDR_SHR,
    ADDR_AND,
    ADDR_OR,
    ADDR_XOR,
    ADDR_NOT,
    ADDR_NEG,
    ADDR_CVT,
    ADDR_CVTA,
    ADDR_SELP,
    ADDR_MIN,
    ADDR_MAX,
    ADDR_DIV,
    ADDR_REM,
    ADDR_BFE,
    ADDR_BFI,
    ADDR_LOP3,
    ADDR_SHF_L,
    ADDR_SHF_R,
    ADDR_PRMT,
    ADDR_ABS,
    ADDR_LOAD /* a loaded value */,
    ADDR_PRED /* writes predicates: setp and friends */
};
/* What the first destination lies in, whatever the sources hold (op table column .range). */
enum ptx_range_rule {
    RANGE_UNKNOWN,
    RANGE_BITS /* 0 to the number of bits of type 0 */
};
/* What an operation is besides its effect (op table column .is): what code asks instead of its name. */
enum ptx_trait {
    IS_PLAIN = 1 << 0,     /* ld, st: each thread moves bytes of its own between registers and memory */
    IS_READ_ONLY = 1 << 1, /* reads memory that nobody writes while the kernel runs (9.7.9.10) */
    IS_JUMP = 1 << 2,      /* a branch with one target */
    IS_RETURN = 1 << 3,    /* goes back to the caller; of a kernel: ends the thread */
    IS_STOP = 1 << 4,      /* ends the thread wherever it stands */
    IS_THREAD_COPY = 1 << 5,   /* each thread copies bytes of its own, asynchronously */
    IS_CLUSTER = 1 << 6,       /* concerns the other CTAs of its cluster */
    IS_REMOTE = 1 << 7,        /* makes or takes addresses in the shared memory of other CTAs */
    IS_MBARRIER = 1 << 8,      /* of an mbarrier object (9.7.13.15) */
    IS_MBARRIER_WAIT = 1 << 9, /* asks whether a phase of an mbarrier is over */
    IS_MULTIMEM = 1 << 10,     /* of memory on several devices */
    IS_CARRY_IN = 1 << 11,     /* reads the carry flag, which is no operand */
    IS_CARRY_OUT = 1 << 12,    /* writes the carry flag */
    IS_WARPGROUP = 1 << 13,    /* all warps of a warpgroup, four of them, must execute the same one */
    IS_WGMMA = 1 << 14,        /* a product of a warpgroup */
    IS_WMMA = 1 << 15,         /* wmma.* (9.7.14.4) */
    IS_FRAGMENT = 1 << 16,     /* a warp moves a matrix between its registers and memory */
    IS_TCGEN05 = 1 << 17,      /* of tensor memory (9.7.16) */
    IS_LASTS = 1 << 18,        /* holds until its thread ends */
    IS_CTA_STATE = 1 << 19,    /* leaves state that holds until its CTA ends */
    IS_BULK = 1 << 20,         /* moves more bytes than one access can */
    IS_SLEEP = 1 << 21,        /* lets time pass and does nothing else */
    IS_DEPENDENT = 1 << 22,    /* of launches that depend on each other */
    IS_TAKEOVER = 1 << 23,     /* takes the work of a CTA that has not started */
    IS_CTA_BARRIER = 1 << 24,  /* a barrier of a CTA's threads, or of a cluster's */
    IS_ARRIVES = 1 << 25,      /* a barrier that is not waited for */
    IS_CTA_VOTE = 1 << 26,     /* a barrier that gives all threads one answer */
    IS_RETURNS_OLD = 1 << 27,  /* an atomic that returns what memory held */
    IS_FETCH = 1 << 28,        /* returns a texel or an element of a surface */
    IS_LEGACY_SYNC = 1 << 29,  /* without .sync not allowed from PTX ISA 6.4 and sm_70 on */
    IS_TENSORMAP = 1 << 30     /* changes a tensor map */
};
/* What an operation does in particular (op table column .role); each has at most one. */
enum ptx_role {
    ROLE_NONE,
    ROLE_COMPARE,         /* compares two values */
    ROLE_WINDOW_TEST,     /* asks in which state space an address lies */
    ROLE_EXCHANGE,        /* the lanes of a warp give each other values */
    ROLE_PRODUCT,         /* multiplies matrices */
    ROLE_COMMIT,          /* ends a group of asynchronous operations */
    ROLE_WAIT_GROUP,      /* waits for such groups */
    ROLE_SM_FENCE,        /* orders inside an SM, and waits for no memory beyond it */
    ROLE_MBARRIER_ARRIVE, /* arrives at an mbarrier */
    ROLE_MAP_PREFETCH,    /* fetches a tensor map before it is needed */
    ROLE_PROPERTY,        /* asks for a size or setting of a texture or surface */
    ROLE_GATHER,          /* one channel of four texels */
    ROLE_STACK            /* moves, or gives, the thread's stack pointer */
};
/* Where an operation stands for throughput and latency (SM timing, cost). */
enum ptx_class {
    CLASS_ALU,
    CLASS_IMUL,
    CLASS_FP32,
    CLASS_FP16,
    CLASS_FP64,
    CLASS_SFU,
    CLASS_CVT,
    CLASS_MOVE,
    CLASS_LSU,
    CLASS_CONTROL,
    CLASS_BARRIER,
    CLASS_TENSOR,
    CLASS_TEX,
    CLASS_NOP
};
struct ptx_op_info {
    const char *name;  /* canonical spelling without types: "mul.lo", "ld", "bar.sync" */
    const char *sig;   /* operand signature; the little language is described in ops.def */
    const char *types; /* allowed type sets; described in ops.def */
    const char *mods;  /* allowed modifiers; described in ops.def */
    enum ptx_effect effect;
    enum ptx_addr_rule addr;
    const char *keeps; /* words, separated by ' ', with which the address rule holds all the same */
    enum ptx_range_rule range;
    unsigned is; /* enum ptx_trait, several of them */
    enum ptx_role role;
    uint8_t flops; /* operations on floats that one element counts for */
    enum ptx_class cls;
    /* least .version (10*major+minor) and .target for the base form; 0: any */
    uint16_t version, sm;
    char suffix;         /* 'a': only on architecture-specific targets such as sm_90a */
    const char *section; /* PTX ISA section */
};
/* The row of an operation (enum ptx_op, op_enum.h). */
const struct ptx_op_info *ptx_op_info(unsigned op);
const char *ptx_mod_text(enum ptx_mod m); /* with the dot: ".ca" */
enum ptx_mod_category ptx_mod_category(enum ptx_mod m);

/* PTX_SREG_TID (with comp), PTX_SREG_LANEID, ... */
enum ptx_sreg {
    PTX_SREG_NONE,
#define SREG(id, name, bits, vector, sees) PTX_SREG_##id,
#include "engine/ptx/sregs.def"
#undef SREG
    PTX_SREG_COUNT
};
const char *ptx_sreg_name(enum ptx_sreg s); /* "%tid" */
unsigned ptx_sreg_bits(enum ptx_sreg s);
bool ptx_sreg_is_vector(enum ptx_sreg s); /* it has .x, .y, .z */
/* What the value of a special register follows: the thread's place in its CTA, the block's shape, the
 * CTA's number, the grid's shape, the thread's place in its warp, where and beside whom a CTA runs, the
 * size of shared memory, time, the hardware cluster, the launch itself, the cluster's number, the place
 * of the thread's warp among those of the SM. */
enum ptx_sees {
    PTX_SEES_THREAD = 1,
    PTX_SEES_BLOCK = 2,
    PTX_SEES_CTA = 4,
    PTX_SEES_GRID = 8,
    PTX_SEES_WARP = 16,
    PTX_SEES_PLACE = 32,
    PTX_SEES_SHARED = 64,
    PTX_SEES_TIME = 128,
    PTX_SEES_CLUSTER = 256,
    PTX_SEES_LAUNCH = 512,
    PTX_SEES_CLUSTERID = 1024,
    PTX_SEES_SLOT = 2048
};
unsigned ptx_sreg_sees(enum ptx_sreg s); /* PTX_SEES_*; 0: no register */
