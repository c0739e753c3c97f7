/* options: one configuration: the value of every knob.
 *
 * The values stand in groups, a header each: opt_bypass.h, opt_cluster.h ... Who asks or sets a knob
 * includes its group. Who holds, copies or compares configurations includes this header for their size;
 * who hands them on needs neither. */
#pragma once

#include <stdint.h>

enum { OPTIONS_WORDS = 160 };
struct options {
    /* the groups (struct layout of options.c), then zeros for knobs to come */
    uint64_t word[OPTIONS_WORDS];
};
