/* Private to engine/workspace/source. */
#pragma once

#include "engine/ptx/ptx.h"
#include "engine/workspace/source_edits.h"
#include "engine/workspace/tuned.h"

/* A load of global memory in the original, and how the rewritten code makes it. */
struct source_load {
    struct ptx_loc loc; /* file 0: not told */
    uint32_t ptx_line;
    /* words of the instruction between ld.global and its type, as ".cg" or ".nc" */
    char was[48];      /* for warps that cache */
    char op[48];       /* for the others */
    bool changed;      /* op is another than in the original */
    const char *array; /* parameter or variable; NULL: not known */
    int param;         /* of the kernel; -1: none */
    bool inlined;
};
struct source_editing {
    const struct tuned_kernel *k;
    struct source_edits *out;
    struct source_load *load;
    size_t nloads, cap;
    bool partial; /* by warps: the first pi cache */
    bool
        launch_alone; /* another block is the launch's matter alone: the source as it is does the same */
    bool bounds_edited;
    bool oom;
};
/* Adds advice; the text by format. file NULL: no place. */
void source_say(struct source_editing *h, const char *knob, const struct source_file *file,
                uint32_t line, enum source_form form, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* --tile-order, where it is asked for: what the loop over tiles uses in the place of t. */
void source_say_tiles(struct source_editing *h, const struct source_file *file, uint32_t line);
/* The file of that number in the PTX, read where it is found; NULL: out of memory or no such file. */
struct source_file *source_file_of(struct source_editing *h, uint32_t number);
/* A line becomes the text, or (insert) the text stands before it, behind what is inserted there already.
 * The text may have several lines. */
void source_edit(struct source_editing *h, struct source_file *f, uint32_t line, bool insert,
                 const char *text);
/* The line as it is after the edits so far. */
struct str source_line(const struct source_file *f, uint32_t line);
/* Are both told with the same words: of one line, or (without lines) of one buffer? */
bool source_told_together(const struct source_load *a, const struct source_load *b);
/* Whether an earlier changed load has been told as load n is: one edit covers both. */
bool source_load_said(const struct source_editing *h, size_t n);
/* "the load of WHAT (line 7 of the PTX)", or of all that are told with it. */
void source_load_words(const struct source_editing *h, size_t n, const char *what, char *out,
                       size_t size);

void source_edits_cuda(struct source_editing *h);
void source_edits_python(struct source_editing *h); /* Triton and Numba */
