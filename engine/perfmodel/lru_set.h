/* lru_set: the things touched last, known by their numbers. */
#pragma once

#include "engine/base/base.h"

/* ---- the things touched last (lru_set.c): where only one size of an LRU cache matters ---- */
/* things 0..things-1; heap, not thread-safe */
struct model_recent;
/* owned; NULL when out of memory */
struct model_recent *model_recent_new(uint32_t things, uint64_t most);
void model_recent_free(struct model_recent *r);
/* True: it was touched before, and fewer than `most` different others since. */
bool model_recent_touch(struct model_recent *r, uint32_t thing);
