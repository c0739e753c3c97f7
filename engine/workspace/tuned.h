/* tuned: the kernels that a session recommends, or that a rewritten PTX file has, as something to put
 * back: into a running program, into files, into the source. */
#pragma once

#include "engine/pass/pass.h"
#include "engine/rec/device.h"
#include "engine/rec/elem.h"

struct live_apply;

struct tuned_kernel {
    char *from;                /* the file it was read from; owned */
    char *kernel;              /* as in the PTX; owned */
    struct ptx_module *module; /* the original; NULL: a tuned file without one beside it */
    char *path;                /* of the original, as the session has it; owned; NULL: none */
    struct options *options;   /* of a session; else the default; owned */
    bool has_options;
    struct pass_output code; /* of a session: the rewritten code; else empty */
    char *text;              /* the tuned PTX, for use without the engine; owned */
    size_t n;
    bool has_launch;            /* the launch that it was tuned for is known */
    struct dim3u grid, block;   /* of the original */
    struct dim3u tgrid, tblock; /* that the tuned kernel wants */
    uint32_t shared, tshared;
    struct pass_reset reset[8]; /* zeroed before every launch */
    uint32_t nreset;
    /* when it was tuned: median times of the kernel alone, and on what; 0: not known */
    int64_t original_ns, tuned_ns;
    struct dev_info dev;
    /* its source is looked for below these folders alone, and no compiler is started; NULL: anywhere;
     * borrowed */
    const char *const *within;
    size_t nwithin;
};
struct tuned_kernels {
    struct tuned_kernel *v;
    size_t n, cap;
};
/* Adds what a session recommends (of each kernel, the last run that recommends something), or the
 * kernels of a PTX file. kernel: this one alone, as people call it; NULL: all. ST_INPUT: nothing is
 * recommended, or no such kernel. */
enum status tuned_read(const char *path, const char *kernel, struct tuned_kernels *out,
                       struct diags *ds);
void tuned_free(struct tuned_kernels *t);
/* As targets of live_apply_run; what cannot be put into a launch is left out with a warning. index[i]:
 * of a->v[i]; room for t->n. */
enum status tuned_targets(const struct tuned_kernels *t, struct live_apply *a, size_t *index,
                          struct diags *ds);
/* Is it the kernel that the PTX in this file (text, or a fatbin) has? maxreg: its register limit. A
 * tuned file without an original is taken by the kernel's name. path NULL: the image has no PTX, its
 * hash says where a cache has it, or that the original was captured from it. *whole:
 * the image is the original's text and nothing else. */
bool tuned_matches(const struct tuned_kernel *t, uint64_t hash, const char *path, int *maxreg,
                   bool *whole);
