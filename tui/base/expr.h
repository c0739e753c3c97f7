/* expr: evaluates the readable address expressions of the analysis, such as
 * "A + 4*(ctaid.x*ntid.x + tid.x)", for one lane: what draws the lanes ->
 * sectors picture. Operators + - * bind tighter than / % << >> >>> & | ^ (all of
 * one strength); u32(x) keeps 32 bits; parentheses. */
#pragma once

#include "engine/base/base.h"

/* Value of a name; false: unknown. */
struct expr_env {
    bool (*name)(void *ctx, struct str name, int64_t *v);
    void *ctx;
};
/* False when the text is no expression or holds a name that is unknown; *bad (may be
 * NULL) is then the name or the rest of the text. */
bool expr_eval(struct str text, const struct expr_env *env, int64_t *value, struct str *bad);
