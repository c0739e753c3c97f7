/* Tuned kernels as files that need no gpulocw. */
#pragma once

#include "engine/base/base.h"

struct tuned_kernel;
struct tuned_kernels;

/* Writes DIR/KERNEL.ptx, KERNEL.cubin (and a fatbin of both) where ptxas is found, the folder that
 * TRITON_OVERRIDE_DIR takes for kernels of Triton's cache, and a README with what the launch wants.
 * Names what it wrote in `said`. ST_USAGE: a file is there that gpulocw did not write, and not `force`.
 */
enum status tuned_export(const struct tuned_kernels *t, const char *dir, bool force, struct buf *said,
                         struct diags *ds);

/* The kernel's text, which is in the file `ptx`, as machine code into the file `cubin`. ST_REFUSED: no
 * ptxas here, or it refuses; ds says so. ST_IO: it is not there whole; nothing new is in `cubin`. */
enum status tuned_compile(const char *ptx, const struct tuned_kernel *k, const char *cubin,
                          struct diags *ds);
