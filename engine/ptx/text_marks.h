/* text_marks: what instructions of a rewritten text mean, said by the pass that wrote them. They go
 * beside the text, from pass to device: names in the text mean nothing. A text from a file has none. */
#pragma once

#include "engine/base/base.h"

enum mark_kind {
    MARK_NONE,
    /* an atomic whose old value says which task, or whether any, the CTA works on */
    MARK_CLAIM,
    /* a load that looks how far the claims of others have come */
    MARK_LOOK,
    /* the same, where nearly all tasks are run on the SM that they belong to. Its register has a value
     * before, which says that nothing is left there. */
    MARK_LOOK_SPARE,
    MARK_KINDS
};
struct text_mark {
    enum mark_kind kind;
    uint32_t func; /* of the module */
    uint32_t inst; /* of the function */
};
/* at most one of an instruction */
struct text_marks {
    struct text_mark *v;
    size_t n;
    size_t cap;
};
/* False: out of memory. */
bool text_marks_add(struct text_marks *m, struct text_mark one);
bool text_marks_copy(const struct text_marks *m, struct text_marks *out);
void text_marks_free(struct text_marks *m);
/* in the same order */
bool text_marks_equal(const struct text_marks *a, const struct text_marks *b);
/* m may be NULL. */
enum mark_kind text_marks_at(const struct text_marks *m, uint32_t func, uint32_t inst);
