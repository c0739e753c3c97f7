/* opt_schedule: which thread does what work. */
#ifndef GPULOCW_REC_OPT_SCHEDULE_H
#define GPULOCW_REC_OPT_SCHEDULE_H

#include "engine/rec/options.h"

#define COARSEN_MODES(X)                  \
    X(COARSEN_INTERLEAVED, "interleaved") \
    X(COARSEN_BLOCKED, "blocked")

enum coarsen_mode { COARSEN_MODES(OPTION_VALUE) };

struct opt_schedule {
    struct dim3u block; /* threads; x == 0: as launched */
    bool swap_xy;
    int coarsen;      /* iterations of a thread */
    int coarsen_mode; /* enum coarsen_mode */
};
#define opt_schedule(options) OPTION_GROUP_OF(options, schedule)
OPTION_GROUP(schedule);

#endif
