/* alias: the one answer to "which memory may this address point into" and "may this store touch what
 * that load reads". Every pass and the analysis ask here. What is not followed exactly is unknown, and
 * unknown may be anything.
 *
 * The contract. A ROOT is a pointer parameter of the kernel, a pointer inside a struct parameter, or a
 * .global variable.
 *   1. An address has roots when it is root + index, or one of several such (selp, min, max, several
 *      definitions). Followed exactly: 64-bit mov, cvta, add, sub of an index, the addend of mad, selp,
 *      min, max, cvt between 64-bit integers, and with a mask that clears at most the low 8 bits of a
 *      pointer parameter, arguments and results of functions in this module.
 *   2. An index has no pointer bits. It is made, by any operation, from special registers, immediates,
 *      scalar parameters and data loaded from memory. As compilers do, data is taken at its word: base +
 *      4*data stays in the buffer of base.
 *   3. Whatever else is made from a root is LAUNDERED: differences and sums of pointers, products,
 *      shifts, masks, halves, prmt, shuffles, floats, condition codes, selections by a predicate made
 *      from laundered values. It stays laundered; an address with it is unknown. Bits of addresses in a
 *      window (shared, local, const, param) are no bits of a root.
 *   4. Memory: once a root or a laundered value may be stored to local, shared or global memory, loads
 *      from there are laundered, in all functions of the kernel. A 64-bit value loaded from other memory
 *      may be a pointer of its own: alone it is an unknown address, and unscaled it is no index. Scaled
 *      or shifted it is data (2).
 *   5. What an unknown instruction or a function of another module returns is laundered, and all memory
 *      after it as well. A register that nothing defines is laundered.
 *   6. Parameters. With a launch description, its buffers are the pointers and all else is scalars.
 *      Without one, a pointer is what carries .ptr, goes through cvta, or is added to an index where the
 *      sum is an address; where no parameter carries .ptr or goes through cvta, every 8 bytes loaded
 *      from parameters are a pointer.
 *   7. Two roots are distinct when the launch gives them different buffers (`same_as` is the same
 *      buffer, at any offset), when they are two variables, when one is a variable and the other a
 *      buffer of the launch, or when the user says so (`restricts`), unless the launch gives both the
 *      same buffer.
 *   8. What a branch, a selection or a sleep tells. Conditions that depend on more of two roots than how
 *      they are aligned, whether they are null, and indices into one of them, can measure how far the
 *      two are apart: then what points into one of those may point into any of them. Of a window this is
 *      told by a comparison with a pointer alone. */
#pragma once

#include "engine/base/base.h"

struct launch_spec;
struct ptx_func;
struct ptx_inst;
struct ptx_module;
struct ptx_operand;
struct ptx_symbol;

struct alias;
struct alias_opts {
    const struct launch_spec *launch; /* NULL: none known */
    /* NULL: the module itself; variables that it lacks were inserted: no buffer is one */
    const struct ptx_module *original;
    bool restricts; /* the user's word: pointer parameters never overlap */
};
/* Of one kernel of m and what it calls. NULL: out of memory. m and opts' pointers outlive it. */
struct alias *alias_make(const struct ptx_module *m, const struct ptx_func *kernel,
                         const struct alias_opts *o);
void alias_free(struct alias *a); /* NULL is fine */

struct alias_roots {
    uint64_t set;                 /* of roots, as this alias numbers them */
    uint64_t params;              /* parameters of the kernel among them, bit k: parameter k */
    const struct ptx_symbol *sym; /* a .global variable among them; NULL: none */
    bool window;                  /* may be an address of shared, local, const or param memory */
    bool number;                  /* made of numbers and data alone: of no variable and no parameter */
    bool unknown;                 /* may be anything, in any case more than is listed */
};
/* Where an address of function f may point. f: the kernel or a function that it calls; of any other, and
 * of NULL, unknown. */
void alias_roots(const struct alias *a, const struct ptx_func *f, const struct ptx_operand *address,
                 struct alias_roots *out);
/* The memory operand of a load, or the one that is written by a store, an atomic or a copy; NULL: not
 * told by an operand. */
const struct ptx_operand *alias_address(const struct ptx_inst *i);
enum alias_answer { ALIAS_NO, ALIAS_MAYBE, ALIAS_YES /* the same buffer for certain */ };
/* May instruction `store` of f write what an address with roots `read` reads? ALIAS_NO for what writes
 * no global memory. */
enum alias_answer alias_writes(const struct alias *a, const struct ptx_func *f,
                               const struct ptx_inst *store, const struct alias_roots *read);
/* The first instruction of the kernel or its callees that may write there, and its function; one that
 * does for certain comes before one that may. NULL: none. */
struct alias_writer {
    const struct ptx_func *func;
    const struct ptx_inst *inst;
    enum alias_answer answer;
};
struct alias_writer alias_writer(const struct alias *a, const struct alias_roots *read);
/* Do two pointer parameters never overlap? By the launch's buffers or the user's word. */
bool alias_params_distinct(const struct launch_spec *l, bool restricts, int p, int q);
