/* counter_ids: every counter by its name in code. */
#pragma once

#include "engine/rec/counters.h"

#define X(id, name, unit, help, better, counted) COUNTER_##id,
enum counter_id {
#include "engine/rec/counters.def"
    COUNTER_COUNT
};
#undef X
/* From here on documents have every counter, also those that are 0. */
#define COUNTER_WRITTEN COUNTER_SHARED_PASSES
