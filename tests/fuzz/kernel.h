/* What the targets that need a kernel and a launch share: the input is PTX text. A first line
 *     //! GX GY GZ BX BY BZ SHARED SEED [options]
 * gives grid, block, dynamic shared memory, a seed and a configuration; without it, defaults. Sizes are
 * cut to what runs in a moment. */
#ifndef GPULOCW_FUZZ_KERNEL_H
#define GPULOCW_FUZZ_KERNEL_H

#include "engine/ptx/edit.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch.h"
#include "engine/rec/options.h"

struct fuzz_kernel;

enum { FUZZ_ARGS = 16, FUZZ_ELEMENTS = 4096 };

struct fuzz_kernel {
    struct ptx_module *m;      /* NULL: the text is no module */
    const struct ptx_func *f;  /* its first kernel; NULL: none that can be launched */
    struct launch_spec launch; /* a u64 parameter is a buffer, another a small number */
    struct arg_spec args[FUZZ_ARGS];
    char names[FUZZ_ARGS][8];
    uint8_t *zeros; /* for parameters of other sizes */
    uint32_t seed;
    struct options options;
    bool has_options; /* the line names a configuration that can be read */
};
/* Reads the text; fuzz_kernel_close. */
void fuzz_kernel_open(struct fuzz_kernel *k, const uint8_t *data, size_t size);
void fuzz_kernel_close(struct fuzz_kernel *k);
/* Ends the process with a report when `ok` is false: a property does not hold. */
void fuzz_must(bool ok, const char *what);

#endif
