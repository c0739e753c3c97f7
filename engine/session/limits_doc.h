/* limits_doc: what limits a launch (engine/rec/limits.h), as text. */
#pragma once

#include "engine/base/base.h"

struct jw;
struct result;

#define LIMITS_SHOWN 6u
/* "l2-bandwidth, 31 % of the issue slots (whole)". */
void limits_first_text(const struct result *r, struct buf *out);
/* The first limit in a line, the heaviest ones in a line each, then why, and what to try. */
void limits_text(const struct result *r, struct buf *out);
/* Writes the keys "limits" and "filled". limits n/a, or r NULL: null. */
void json_limits(struct jw *w, const struct result *r);
