/* option_group: how a group of knobs is declared, and found in a configuration. */
#pragma once

#include "engine/base/base.h"

struct options;

/* Declares a group NAME. opt_NAME(o) is where it stands in *o: const where o is. */
#define OPTION_GROUP(name)                                  \
    struct opt_##name *opt_##name##_set(struct options *o); \
    const struct opt_##name *opt_##name##_get(const struct options *o)
#define OPTION_GROUP_OF(o, name) \
    _Generic((o), struct options * : opt_##name##_set, const struct options * : opt_##name##_get)(o)

#define OPTION_VALUE(name, text) name,
