/* native: runs of instructions (exec_inst.run) as machine code of the host, for functional execution.
 * Host: x86-64 with AVX-512; elsewhere, and where memory cannot be made executable, there is none and
 * the bodies of exec_inst.fn do all. The code computes what those bodies compute, bit for bit, and stops
 * where they would: only for warps whose 32 lanes are all on one path, with nothing to be recorded or
 * checked. */
#pragma once

#include "engine/sim/decoded.h"

struct native {
    uint8_t *code;
    size_t bytes;
    const uint8_t *start;
    const uint8_t *const *entry; /* [ncode]: a run begins here; NULL: not as machine code */
};
/* From decoded code whose lane bodies are those of `lanes`. NULL: none. */
struct native *native_make(const struct sim_program *p, exec_fn *const *lanes);
void native_free(struct native *n);
/* From w->pc, where an entry is, up to `budget` instructions and what is left of a run: pc, ninst and
 * nthread are then as the run loop would have left them. False: stopped (w->stop). */
bool native_run(const struct native *n, struct exec_warp *w, uint64_t budget);
