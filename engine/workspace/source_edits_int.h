/* Private to source_edits*.c. */
#ifndef GPULOCW_WORKSPACE_SOURCE_EDITS_INT_H
#define GPULOCW_WORKSPACE_SOURCE_EDITS_INT_H

#include "engine/ptx/ptx.h"
#include "engine/workspace/source_edits.h"
#include "engine/workspace/tuned.h"

/* A load of the original that the rewritten code makes in another way. */
struct source_load {
    struct ptx_loc loc; /* file 0: not told */
    uint32_t ptx_line;
    /* ".cg", ".cs", ".nc", "no_allocate", "evict_first", "evict_last", "evict_unchanged" */
    const char *op;
    const char *array; /* parameter or variable; NULL: not known */
    int param;         /* of the kernel; -1: none */
    bool whole;        /* all global loads of its source line are made so */
    bool inlined;
};
struct source_editing {
    const struct tuned_kernel *k;
    struct source_edits *out;
    struct source_load *load;
    size_t nloads, cap;
    bool partial; /* by warps: the first pi cache */
    bool oom;
};
/* Adds advice; the text by format. file NULL: no place. */
void source_say(struct source_editing *h, const char *knob, const struct source_file *file,
                uint32_t line, bool edited, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* --tile-order, where it is asked for: what the loop over tiles uses in the place of t. */
void source_say_tiles(struct source_editing *h, const struct source_file *file, uint32_t line);
/* The file of that number in the PTX, read where it is found; NULL: out of memory or no such file. */
struct source_file *source_file_of(struct source_editing *h, uint32_t number);
void source_edit(struct source_editing *h, struct source_file *f, uint32_t line, bool insert,
                 const char *text);
/* The line as it is after the edits so far. */
struct str source_line(const struct source_file *f, uint32_t line);
/* Whether an earlier load of the same line has been told as load n is: one edit covers both. */
bool source_load_said(const struct source_editing *h, size_t n);
/* "the load of WHAT (line 7 of the PTX)", or of all that are told with it. */
void source_load_words(const struct source_editing *h, size_t n, const char *what, char *out,
                       size_t size);

void source_edits_cuda(struct source_editing *h);
void source_edits_python(struct source_editing *h); /* Triton and Numba */

#endif
