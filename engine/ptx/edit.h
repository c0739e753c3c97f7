/* edit: how a pass changes a module: a list of text edits anchored at statements. */
#pragma once

#include "engine/ptx/text_marks.h"

struct ptx_func;
struct ptx_module;

/* ---- edits: how a pass changes a module ---- */
struct ptx_edit; /* a list of changes to one module's text */
struct ptx_edit *ptx_edit_new(const struct ptx_module *m);
void ptx_edit_free(struct ptx_edit *e);
/* Whole lines put before or after a statement, with its indentation; text may hold several lines.
 * Same anchor: in the order of the calls. `tag` names the pass (static string). */
void ptx_edit_before(struct ptx_edit *e, const struct ptx_func *f, uint32_t stmt, const char *tag,
                     const char *fmt, ...) BASE_PRINTF(5, 6);
void ptx_edit_after(struct ptx_edit *e, const struct ptx_func *f, uint32_t stmt, const char *tag,
                    const char *fmt, ...) BASE_PRINTF(5, 6);
/* The statement's own text replaced (its indentation and trailing comment stay). Empty text: removed. */
void ptx_edit_replace(struct ptx_edit *e, const struct ptx_func *f, uint32_t stmt, const char *tag,
                      const char *fmt, ...) BASE_PRINTF(5, 6);
/* Any span of the module text replaced (length 0: inserted); for headers and directives. */
void ptx_edit_span(struct ptx_edit *e, uint32_t off, uint32_t len, const char *tag, const char *fmt, ...)
    BASE_PRINTF(5, 6);
/* A module-scope declaration, placed after the header and before the first use. */
void ptx_edit_global(struct ptx_edit *e, const char *tag, const char *fmt, ...) BASE_PRINTF(3, 4);
/* Lines at the start of a body, after its last leading declaration. Declarations (.reg, .shared) go to
 * the front of it. */
void ptx_edit_entry(struct ptx_edit *e, const struct ptx_func *f, const char *tag, const char *fmt, ...)
    BASE_PRINTF(4, 5);
void ptx_edit_declare(struct ptx_edit *e, const struct ptx_func *f, const char *tag, const char *fmt,
                      ...) BASE_PRINTF(4, 5);
/* Lines just before the closing brace of a body. */
void ptx_edit_end(struct ptx_edit *e, const struct ptx_func *f, const char *tag, const char *fmt, ...)
    BASE_PRINTF(4, 5);
/* Origin of each line of the new text: which original line it is, or is a copy of (0: inserted), and
 * which pass changed or wrote it (NULL: untouched). A line of an edit's text may begin with
 * PTX_EDIT_COPY_OF, whose arguments are line and offset of the statement that it copies. */
#define PTX_EDIT_COPY_OF "\001%u,%u\002"
struct ptx_line_origin {
    uint32_t line;
    const char *tag;
    bool copy;
};
/* What the next instruction of an edit's text means: put before it. */
void ptx_edit_mark(struct buf *text, enum mark_kind kind);
struct ptx_edit_mark {
    enum mark_kind kind;
    uint32_t off; /* in the new text */
};
/* Where text from offset `off` on comes from: n bytes that stand unchanged at `was`; n 0: the statement
 * that begins here is a copy of the one at `was`, or has replaced it. */
struct ptx_edit_place {
    uint32_t off;
    uint32_t was;
    uint32_t n;
};
struct ptx_edit_result {
    char *text;
    size_t n;
    struct ptx_edit_place *places; /* by off */
    uint32_t nplaces;
    struct ptx_line_origin *lines;
    uint32_t nlines;
    struct ptx_edit_mark *marks; /* by place */
    uint32_t nmarks;
};
/* ST_REFUSED with a diagnostic when two edits overlap. Owned; ptx_edit_result_free. */
enum status ptx_edit_apply(const struct ptx_edit *e, struct ptx_edit_result *out, struct diags *ds);
/* Offset in the old text of the statement that begins at `off` in the new; PTX_NO_INDEX: it is new. */
uint32_t ptx_edit_was(const struct ptx_edit_result *r, uint32_t off);
void ptx_edit_result_free(struct ptx_edit_result *r);
