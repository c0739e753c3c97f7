/* asks: what the text of a kernel asks of a launch: shared memory, threads, clusters. */
#pragma once

#include "engine/base/base.h"

struct ptx_func;
struct ptx_module;
struct ptx_symbol;

/* Begins as zeroes. */
struct ptx_shared {
    uint64_t bytes; /* of what is placed */
    uint64_t align; /* that the unsized ones ask for */
    bool unsized;   /* there are such: they begin where the others end */
};
/* A variable of the module, with a size, takes room where the kernel or a function names it: with -rdc=true
 * those of all kernels are the module's. Others always do. */
bool ptx_shared_counts(const struct ptx_module *m, const struct ptx_func *kernel,
                       const struct ptx_symbol *v);
/* Address of the next variable; UINT64_MAX: it is unsized. */
uint64_t ptx_shared_place(struct ptx_shared *s, const struct ptx_symbol *v);
/* After the last: where dynamic shared memory begins, which is also what the declarations take, byte. */
uint64_t ptx_shared_end(const struct ptx_shared *s);
/* All that counts of what a kernel and what it may call declare, in the order in which they are placed: the module's,
 * then each function's. */
struct ptx_shared ptx_shared_of(const struct ptx_module *m, const struct ptx_func *kernel);
/* Threads of a CTA by .reqntid, else the most by .maxntid; 0: it says nothing. */
uint64_t ptx_threads_of(const struct ptx_func *kernel);
/* CTAs of a cluster by .reqnctapercluster; 1: it says nothing. */
uint64_t ptx_cluster_of(const struct ptx_func *kernel);
