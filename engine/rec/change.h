/* change: why one result is faster, or slower, than another: in figures of both. */
#pragma once

#include "engine/base/base.h"

struct result;

/* What changed from `was` to `is`, of one kernel on one device, the cause first: registers, what an SM
 * holds, traffic, and the limit whose time changed most with its line. Nothing where neither tells. */
void change_words(const struct result *was, const struct result *is, struct buf *out);
