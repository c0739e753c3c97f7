/* opt_shared: how shared memory is laid out. */
#pragma once

#include "engine/rec/option_group.h"

struct opt_shared {
    bool swizzle;
    int pad; /* bytes of a row that gets a gap; 0: none does */
};
#define opt_shared(options) OPTION_GROUP_OF(options, shared)
OPTION_GROUP(shared);
