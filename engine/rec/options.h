/* options: one configuration: the value of every knob.
 *
 * The values stand in groups, a header each: opt_bypass.h, opt_cluster.h ... Who asks or sets a knob
 * includes its group. Who holds, copies or compares configurations needs their size alone, so that a new
 * knob compiles only the users of its group again. */
#ifndef GPULOCW_REC_OPTIONS_H
#define GPULOCW_REC_OPTIONS_H

#include "engine/base/base.h"
#include "engine/rec/elem.h"

enum { OPTIONS_WORDS = 160 };
struct options {
    /* the groups (struct layout of options.c), then zeros for knobs to come */
    uint64_t word[OPTIONS_WORDS];
};

/* Declares a group NAME. opt_NAME(o) is where it stands in *o: const where o is. */
#define OPTION_GROUP(name)                                  \
    struct opt_##name *opt_##name##_set(struct options *o); \
    const struct opt_##name *opt_##name##_get(const struct options *o)
#define OPTION_GROUP_OF(o, name) \
    _Generic((o), struct options * : opt_##name##_set, const struct options * : opt_##name##_get)(o)

#define OPTION_VALUE(name, text) name,

#endif
