/* interval: how far a simulated or modelled time may be from a GPU's, in numbers. */
#pragma once

#include "engine/rec/counters.h"

struct dev_info;
struct options;

/* Of 100 kernels that nobody fitted, so many have their measured time in the interval. The shares come
 * from tests/suites on a GPU; docs/accuracy.md says how they were found and how well they hold. */
#define INTERVAL_PERCENT 80

/* Where the time of the configuration lies on the GPU that d stands for, in the unit of `time`. {0, 0}:
 * not known, since d was not compared with a GPU, configurations of this kind were not, or the time is
 * measured. */
struct interval interval_of_time(const struct dev_info *d, const struct options *o, enum origin from,
                                 double time);
/* The same for a gain: the original's simulated time over the configuration's. */
struct interval interval_of_gain(const struct dev_info *d, const struct options *o, double gain);
/* `before`, then "22.1 µs to 30.4 µs in 80 of 100 cases", of nanoseconds; nothing where it is not known.
 */
void interval_words(const char *before, struct interval i, struct buf *out);
