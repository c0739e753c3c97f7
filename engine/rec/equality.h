/* equality: how outputs compare with the original's. */
#pragma once

#include <stdbool.h>

/* WITHIN: a stated tolerance. PART: not all outputs were made, and those that were are equal. */
enum equality { EQUAL_UNKNOWN, EQUAL_YES, EQUAL_WITHIN, EQUAL_NO, EQUAL_PART };

/* Were all outputs compared? */
static inline bool equality_known(enum equality e)
{
    return e == EQUAL_YES || e == EQUAL_WITHIN || e == EQUAL_NO;
}

/* Outputs that a timed launch makes: all; those of some CTAs, compared with what an earlier launch left
 * (dev_run.keep_from); none. A simulated device of this process does as asked where no value decides what is
 * executed; else, and elsewhere, all are made. result.part says which it was. */
enum dev_outputs { DEV_OUTPUTS_ALL, DEV_OUTPUTS_SOME, DEV_OUTPUTS_NONE };
