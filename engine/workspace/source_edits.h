/* source_edits: what to write in the source for a configuration that a session recommends: advice by
 * file and line, and the edits that are certain. */
#ifndef GPULOCW_WORKSPACE_SOURCE_EDITS_H
#define GPULOCW_WORKSPACE_SOURCE_EDITS_H

#include "engine/base/base.h"

struct tuned_kernel;

enum source_lang { SOURCE_ANY, SOURCE_CUDA, SOURCE_TRITON, SOURCE_NUMBA };
struct source_advice {
    const char *knob;
    char *file;    /* as the PTX names it; owned; NULL: the PTX has no lines */
    uint32_t line; /* 0: none */
    char *text;    /* owned */
    bool edited;   /* the diff has it */
};
struct source_edit { /* of one line; insert: a line before it */
    uint32_t line;
    bool insert;
    char *text; /* owned; may hold several lines where it is inserted */
};
struct source_file {
    char *name, *path; /* as the PTX names it, and where it was found; owned */
    char *text;        /* owned */
    struct str *line;
    uint32_t nlines;
    struct source_edit *edit;
    size_t nedits, cap;
};
struct source_edits { /* of one kernel */
    enum source_lang lang;
    struct source_advice *advice;
    size_t n, cap;
    struct source_file *file;
    size_t nfiles, file_cap;
    /* --- what became of the patched source; tried: it was compiled and simulated */
    bool tried, equal;
    /* simulated */
    int64_t original_ns;
    int64_t tuned_ns;
    int64_t patched_ns;
    char device[128];
    char *why_not; /* why it was not tried; owned; NULL: no edit, or it was */
};
const char *source_lang_name(enum source_lang l);
/* lang SOURCE_ANY: by the names of the files. ST_REFUSED: the session has no rewritten code. Free in
 * every case. */
enum status source_edits_make(const struct tuned_kernel *k, enum source_lang lang,
                              struct source_edits *out, struct diags *ds);
void source_edits_free(struct source_edits *h);
/* Unified diff of all edits; empty: there are none. */
void source_edits_diff(const struct source_edits *h, struct buf *out);
void source_edits_patched(const struct source_file *f, struct buf *out);
/* Compiles the patched source where nvcc is here, and simulates original, rewritten and patched code. */
enum status source_edits_try(const struct tuned_kernel *k, const char *session, struct source_edits *h,
                             struct diags *ds);

/* For people; one kernel of the document gpulocw-source-advice. */
void source_edits_text(const struct tuned_kernel *k, const struct source_edits *h, struct buf *out);
void source_edits_json(const struct tuned_kernel *k, const struct source_edits *h, struct buf *out);

#endif
