/* compare_doc: two results of one kernel side by side, as text and as the document gpulocw-compare. */
#pragma once

#include "engine/base/base.h"

struct ptx_module;
struct result;

/* A kernel that was run in an old and a new form. module: of the text that ran, for lines of the source;
 * NULL: lines are those of the PTX text. */
struct compared {
    const char *name;
    const struct result *old, *now;
    const struct ptx_module *old_module, *now_module;
};
/* How much slower, in percent, below 0: faster; NaN as above. */
double compare_slower(const struct compared *c);
void compare_text(const struct compared *c, struct buf *out);
void json_compare(const struct compared *c, size_t n, const char *old_file, const char *new_file,
                  struct buf *out);
