/* home: what to write in the source for a configuration that a session recommends: advice by file and
 * line, and the edits that are certain. */
#ifndef GPULOCW_WORKSPACE_HOME_H
#define GPULOCW_WORKSPACE_HOME_H

#include "engine/base/base.h"

struct tuned_kernel;

enum home_lang { HOME_ANY, HOME_CUDA, HOME_TRITON, HOME_NUMBA };
struct home_advice {
    const char *knob;
    char *file;    /* as the PTX names it; owned; NULL: the PTX has no lines */
    uint32_t line; /* 0: none */
    char *text;    /* owned */
    bool edited;   /* the diff has it */
};
struct home_edit { /* of one line; insert: a line before it */
    uint32_t line;
    bool insert;
    char *text; /* owned; may hold several lines where it is inserted */
};
struct home_file {
    char *name, *path; /* as the PTX names it, and where it was found; owned */
    char *text;        /* owned */
    struct str *line;
    uint32_t nlines;
    struct home_edit *edit;
    size_t nedits, cap;
};
struct home { /* of one kernel */
    enum home_lang lang;
    struct home_advice *advice;
    size_t n, cap;
    struct home_file *file;
    size_t nfiles, file_cap;
    /* --- what became of the patched source; tried: it was compiled and simulated */
    bool tried, equal;
    int64_t original_ns, tuned_ns, patched_ns;
    char device[128];
    char *why_not; /* why it was not tried; owned; NULL: no edit, or it was */
};
const char *home_lang_name(enum home_lang l);
/* lang HOME_ANY: by the names of the files. ST_REFUSED: the session has no rewritten code. Free in every
 * case. */
enum status home_make(const struct tuned_kernel *k, enum home_lang lang, struct home *out,
                      struct diags *ds);
void home_free(struct home *h);
/* Unified diff of all edits; empty: there are none. */
void home_diff(const struct home *h, struct buf *out);
void home_patched(const struct home_file *f, struct buf *out);
/* Compiles the patched source where nvcc is here, and simulates original, rewritten and patched code. */
enum status home_try(const struct tuned_kernel *k, const char *session, struct home *h,
                     struct diags *ds);

/* For people; one kernel of the document gpulocw-source-advice. */
void home_text(const struct tuned_kernel *k, const struct home *h, struct buf *out);
void home_json(const struct tuned_kernel *k, const struct home *h, struct buf *out);

#endif
