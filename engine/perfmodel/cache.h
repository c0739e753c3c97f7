/* cache: a cache whose lines arrive by the clock. */
#pragma once

#include "engine/base/base.h"

/* ---- a cache by the clock (cache.c): sectors of 32 bytes, four a line; times in cycles ---- */
enum model_from { MODEL_FROM_L1, MODEL_FROM_L2, MODEL_FROM_DRAM };
enum model_way {
    MODEL_WAY_KEEP,
    MODEL_WAY_LOOK /* hits what is there, keeps nothing */,
    MODEL_WAY_PAST
};
enum model_store {
    MODEL_STORE_EVICTS,
    MODEL_STORE_UPDATES,
    MODEL_STORE_MAKES /* a line where there is none */
};
struct model_cache_config {
    /* replacement: the oldest of so many drawn at random; 0: LRU */
    uint32_t sets;
    uint32_t ways;
    uint32_t picks;
    bool hashed, whole_line; /* set index; a miss brings four sectors */
    /* what is not kept holds a line while on its way; a miss waits for one that can go */
    bool transit, reserve;
    enum model_store store;
};
struct model_cache_answer {
    /* sectors on their way (there at `ready`, `from` there); to be asked for */
    uint8_t pending;
    uint8_t miss;
    uint8_t from;
    double ready, stall; /* stall > 0: nothing can go before; ask again then */
    ptrdiff_t slot;      /* of what a miss brings, from 1; 0: kept nowhere */
};
struct model_cache;
/* owned; NULL: out of memory, or sizes are 0 */
struct model_cache *model_cache_new(const struct model_cache_config *c);
void model_cache_free(struct model_cache *m);
void model_cache_load(struct model_cache *m, uint64_t line, unsigned sectors, enum model_way how,
                      double now, struct model_cache_answer *a);
/* when a miss arrives */
void model_cache_fill(struct model_cache *m, const struct model_cache_answer *a, double at,
                      uint8_t from);
void model_cache_store(struct model_cache *m, uint64_t line, unsigned sectors, bool partial, double now);
