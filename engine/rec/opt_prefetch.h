/* opt_prefetch: what is prefetched, and how far ahead. */
#pragma once

#include "engine/rec/option_group.h"

#define PREFETCH_LEVELS(X) \
    X(PREFETCH_OFF, "off") \
    X(PREFETCH_L1, "l1")   \
    X(PREFETCH_L2, "l2")

enum prefetch_level { PREFETCH_LEVELS(OPTION_VALUE) };

struct opt_prefetch {
    int level;    /* enum prefetch_level */
    int distance; /* tasks or iterations */
};
#define opt_prefetch(options) OPTION_GROUP_OF(options, prefetch)
OPTION_GROUP(prefetch);
