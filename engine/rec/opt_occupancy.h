/* opt_occupancy: how many CTAs an SM holds. */
#pragma once

#include "engine/rec/option_group.h"

struct opt_occupancy {
    int throttle_shared; /* byte of dynamic shared memory added */
    int maxnreg;         /* registers a thread; 0: as written */
    int minctas;         /* CTAs an SM; 0: as written */
    int carveout;        /* percent of L1 and shared memory; -1: the driver's choice */
};
#define opt_occupancy(options) OPTION_GROUP_OF(options, occupancy)
OPTION_GROUP(occupancy);
