/* opt_memory: how loads of global memory go, and what the user states about it. */
#pragma once

#include "engine/rec/option_group.h"

#define READONLY_MODES(X)          \
    X(READONLY_KEEP, "keep")       \
    X(READONLY_PROMOTE, "promote") \
    X(READONLY_DEMOTE, "demote")

#define COPY_HINTS(X)                         \
    X(COPY_HINT_KEEP, "keep")                 \
    X(COPY_HINT_EVICT_FIRST, "evict_first")   \
    X(COPY_HINT_EVICT_LAST, "evict_last")     \
    X(COPY_HINT_EVICT_NORMAL, "evict_normal") \
    X(COPY_HINT_EVICT_UNCHANGED, "evict_unchanged")

#define PROMOTIONS(X)         \
    X(PROMOTION_KEEP, "keep") \
    X(PROMOTION_NONE, "none") \
    X(PROMOTION_64, "64B")    \
    X(PROMOTION_128, "128B")  \
    X(PROMOTION_256, "256B")

enum promotion { PROMOTIONS(OPTION_VALUE) };
enum copy_hint { COPY_HINTS(OPTION_VALUE) };
enum readonly_mode { READONLY_MODES(OPTION_VALUE) };

struct opt_memory {
    int readonly;               /* enum readonly_mode */
    int copy_hint;              /* enum copy_hint */
    int promotion;              /* enum promotion: of the launch's tensor maps */
    char assume_read_only[256]; /* parameters, comma-separated */
    bool assume_restrict;
    char l2_persist[64]; /* BUFFER or BUFFER:FRACTION; empty: none */
};
#define opt_memory(options) OPTION_GROUP_OF(options, memory)
OPTION_GROUP(memory);
