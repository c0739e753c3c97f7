/* alias, inside: values of registers, and the tables that alias_make fills. */
#pragma once

#include "engine/analysis/alias.h"

enum {
    KIND_NULL = 1,    /* the immediate 0: points nowhere */
    KIND_INDEX = 2,   /* no pointer bits */
    KIND_MIX = 4,     /* laundered: pointer bits, not followed */
    KIND_DATA = 8,    /* 64 bits loaded from memory: an index, or a pointer of its own */
    KIND_WINDOW = 16, /* an address of shared, local, const or param memory */
    KIND_STEPPED = 32 /* beside roots: an index was added to one of them */
};
/* What a value may be: one of these kinds, or one of the roots plus an index. All zero: not computed
 * yet. */
struct alias_value {
    uint64_t roots;
    uint64_t bits; /* roots of which it may tell more than their low 8 bits; all: not known of which */
    uint64_t down; /* those of them whose bits may have moved down, so that low bits are no longer low */
    uint8_t kind;
};
enum { ALIAS_ROOTS = 62 };
/* in told: where a window lies, by comparison with a pointer */
#define ALIAS_WINDOW (UINT64_C(1) << 63)
/* bits of roots that are not known */
#define ALIAS_ANY UINT64_MAX
/* initializers of a value that may be made from every pointer there is */
#define KIND_ANYTHING .kind = KIND_MIX, .bits = ALIAS_ANY, .down = ALIAS_ANY
struct alias_root {
    const struct ptx_symbol *sym; /* the parameter or variable */
    int64_t offset;               /* of the pointer in a struct parameter */
    int param;                    /* -1: a variable */
    size_t buffer;                /* argument of the launch that is its buffer; SIZE_MAX: not known */
};
struct alias_slot { /* of a parameter, a result or an argument of a called function */
    const struct ptx_symbol *sym;
    struct alias_value value;
};
/* DIRTY_ALL: what stores reach. DIRTY_PARAM: a parameter's address was taken, so that its bytes can be
 * read by a generic load. */
enum { DIRTY_LOCAL = 1, DIRTY_SHARED = 2, DIRTY_GLOBAL = 4, DIRTY_ALL = 7, DIRTY_PARAM = 8 };
struct alias {
    const struct ptx_module *m;
    const struct ptx_func *kernel;
    struct alias_opts o;
    struct alias_root root[ALIAS_ROOTS];
    uint32_t nroots;
    const struct ptx_func **func; /* the kernel first */
    uint32_t *place;              /* by function index: where in func */
    uint32_t nfuncs;
    uint32_t *first; /* by place: its registers in value; behind them its condition code */
    struct alias_value *value;
    struct alias_slot *slot; /* a hash table, by symbol */
    uint32_t nslots;
    /* without a launch: what carries .ptr or goes through cvta */
    struct {
        int param;
        int64_t offset;
    } pointer[64];
    uint32_t npointers;
    bool all_pointers; /* none carries .ptr or goes through cvta, or too many do: any parameter may be
                          one */
    struct alias_writer *writer; /* what may write global memory at all, in order */
    uint32_t nwriters;
    uint8_t dirty;   /* memory that may hold pointer bits */
    uint64_t stored; /* roots whose bits it may hold */
    uint64_t passed; /* roots whose bits some call hands over or gives back */
    uint64_t told;   /* roots whose bits decide a predicate, a branch, or how long something takes */
    struct alias_value stack; /* what decided how far the stack has grown */
    bool indirect;            /* some call goes through a pointer */
    bool holds;               /* some variable begins with the address of another */
    bool changed;
};
/* Offsets are as written, up to the ends of their type. */
static inline int64_t alias_offset(int64_t at, uint64_t more)
{
    return (int64_t)((uint64_t)at + more);
}
/* alias_param.c */
void alias_find_pointers(struct alias *a);
struct alias_value alias_param_value(struct alias *a, const struct ptx_symbol *s, int64_t offset,
                                     unsigned bytes);
struct alias_value alias_symbol_value(struct alias *a, const struct ptx_symbol *s);
int alias_param_index(const struct ptx_func *f, const struct ptx_symbol *s);
/* alias_op.c: one instruction, given what is known so far. */
void alias_step(struct alias *a, uint32_t at, const struct ptx_inst *i);
/* alias_slot.c. False: out of memory. */
bool alias_make_slots(struct alias *a);
/* NULL: s is no parameter, result or argument of these functions. */
struct alias_slot *alias_slot(struct alias *a, const struct ptx_symbol *s);
/* a system call that stores nothing in the kernel's memory */
bool alias_harmless_call(struct str name);
/* The function that a direct call comes to: NULL with a name where its body is not here, both empty
 * where it goes through a pointer. */
const struct ptx_func *alias_callee(const struct ptx_inst *i, struct str *name);
