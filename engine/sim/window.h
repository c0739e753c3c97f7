/* window: an access policy window of a launch. */
#pragma once

#include "engine/base/base.h"

/* Of its lines `ratio` (0 to 1) stay in `part` bytes of L2 set aside for them. bytes 0: none. */
struct sim_window {
    uint64_t addr, bytes;
    double ratio;
    uint64_t part;
};
