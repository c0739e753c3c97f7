/* Private to home*.c. */
#ifndef GPULOCW_WORKSPACE_HOME_INT_H
#define GPULOCW_WORKSPACE_HOME_INT_H

#include "engine/ptx/ptx.h"
#include "engine/workspace/home.h"
#include "engine/workspace/tuned.h"

/* A load of the original that the rewritten code makes in another way. */
struct home_load {
    struct ptx_loc loc; /* file 0: not told */
    uint32_t ptx_line;
    const char *op;    /* ".cg", ".cs", ".nc", "no_allocate", "evict_first" */
    const char *array; /* parameter or variable; NULL: not known */
    int param;         /* of the kernel; -1: none */
    bool whole;        /* all global loads of its source line are made so */
    bool inlined;
};
struct homing {
    const struct tuned_kernel *k;
    struct home *out;
    struct home_load *load;
    size_t nloads, cap;
    bool partial; /* by warps: the first pi cache */
    bool oom;
};
/* Adds advice; the text by format. file NULL: no place. */
void home_say(struct homing *h, const char *knob, const struct home_file *file, uint32_t line,
              bool edited, const char *format, ...) __attribute__((format(printf, 6, 7)));
/* The file of that number in the PTX, read where it is found; NULL: out of memory or no such file. */
struct home_file *home_file_of(struct homing *h, uint32_t number);
void home_edit(struct homing *h, struct home_file *f, uint32_t line, bool insert, const char *text);
/* The line as it is after the edits so far. */
struct str home_line(const struct home_file *f, uint32_t line);

void home_cuda(struct homing *h);
void home_python(struct homing *h); /* Triton and Numba */

#endif
