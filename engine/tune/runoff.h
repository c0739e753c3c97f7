/* run-off: whole launches decide between values of a knob after a vote. Private to tune. */
#pragma once

#include "engine/base/base.h"

struct options;
struct tune_bench;

struct runoff_range {
    int least, most; /* values, both ends included */
    /* puts a value into options that hold no vote */
    void (*set)(struct options *o, int value, int most);
};
/* *best: the fastest value whose outputs were right, `elected` where none ran; *launches: launches it
 * took. ST_OK, ST_CANCELLED, ST_NOMEM. */
enum status tune_runoff(struct tune_bench *b, const struct options *base,
                        const struct runoff_range *range, int elected, int *best, unsigned *launches,
                        struct diags *ds);
