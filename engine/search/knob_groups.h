/* knob_groups: a knob and those that it switches on (column `with` of options.def). */
#pragma once

#include "engine/rec/options.h"

#define KNOB_ENUM(group, field, name, with, values, def, help)  +(__builtin_strcmp(name, with) == 0)
#define KNOB_INT(group, field, name, with, min, max, def, help) +(__builtin_strcmp(name, with) == 0)
#define KNOB_FLAG(group, field, name, with, help)               +(__builtin_strcmp(name, with) == 0)
#define KNOB_TEXT(group, field, name, with, form, help)         +(__builtin_strcmp(name, with) == 0)
enum {
    GROUPS = 0
#include "engine/rec/options.def"
};
#undef KNOB_ENUM
#undef KNOB_INT
#undef KNOB_FLAG
#undef KNOB_TEXT
const char *group_knob(size_t g);
size_t group_find(const char *knob);                  /* of a knob that heads a group */
bool group_is_set(const struct options *o, size_t g); /* not as in the original */
unsigned group_number(const struct options *o);       /* groups that are set */
struct options group_with(const struct options *o, const struct options *from, size_t g);
struct options group_without(const struct options *o, size_t g);
