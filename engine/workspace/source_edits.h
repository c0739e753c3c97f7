/* source_edits: what to write in the source for a configuration that a session recommends: advice by
 * file and line, and the edits that are certain. */
#pragma once

#include "engine/base/base.h"

struct tuned_kernel;

/* What a part of a configuration is in the source. */
enum source_form {
    SOURCE_EDIT,   /* edited */
    SOURCE_LAUNCH, /* the matter of the launch: the kernel's source stays */
    SOURCE_WORDS   /* no form that is the rewrite: told, not edited */
};
/* What is known of the edits of a configuration. */
enum source_state {
    SOURCE_NO_FORM,   /* a part has no form: nothing is edited */
    SOURCE_UNTRIED,   /* derived from the rewrite, and not compiled */
    SOURCE_WITHDRAWN, /* tried, and not the rewrite: nothing is edited */
    SOURCE_VERIFIED   /* compiled: outputs of the original, sectors of the rewrite */
};
enum source_lang { SOURCE_ANY, SOURCE_CUDA, SOURCE_TRITON, SOURCE_NUMBA };
struct source_advice {
    const char *knob;
    char *file;    /* as the PTX names it; owned; NULL: the PTX has no lines */
    uint32_t line; /* 0: none */
    char *text;    /* owned */
    enum source_form form;
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
    enum source_state state;
    char *why; /* why it is not verified; owned; NULL: it is */
    /* --- tried: the edited source beside original and rewritten code, simulated */
    bool tried, equal;
    int64_t original_ns;
    int64_t tuned_ns;
    int64_t patched_ns;
    uint32_t tuned_regs, patched_regs;     /* of a thread; 0: not known */
    double tuned_sectors, patched_sectors; /* asked of L1 by global loads */
    double tuned_insts, patched_insts;     /* of warps */
    char device[128];
};
const char *source_lang_name(enum source_lang l);
/* lang SOURCE_ANY: by the names of the files. session: the file that k was read from, for the launch on
 * which the edits are tried. What cannot be verified is in out->state. ST_INPUT: no session; ST_NOMEM. Free
 * in every case. */
enum status source_edits_make(const struct tuned_kernel *k, const char *session, enum source_lang lang,
                              struct source_edits *out, struct diags *ds);
void source_edits_free(struct source_edits *h);
/* Unified diff of all edits; empty: there are none. */
void source_edits_diff(const struct source_edits *h, struct buf *out);
void source_edits_patched(const struct source_file *f, struct buf *out);
/* For people; one kernel of the document gpulocw-source-advice. */
void source_edits_text(const struct tuned_kernel *k, const struct source_edits *h, struct buf *out);
void source_edits_json(struct jw *w, const struct tuned_kernel *k, const struct source_edits *h);
