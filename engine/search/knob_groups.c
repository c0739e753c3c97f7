/* Knob groups: a knob and those that it switches on go together (column `with` of options.def), in the
 * table's order. */
#include "engine/base/base.h"
#include "engine/rec/knobs.h"
#include "engine/search/knob_groups.h"

#include <string.h>

static bool heads(size_t knob)
{
    const struct knob_info *k = knob_info(knob);
    return !strcmp(k->name, k->with);
}

const char *group_knob(size_t g)
{
    size_t i = 0;
    while (!heads(i) || g--)
        i++;
    return knob_info(i)->name;
}

size_t group_find(const char *knob)
{
    size_t g = 0;
    for (size_t i = 0; i < knob_count() && strcmp(knob_info(i)->name, knob) != 0; i++)
        g += heads(i);
    return g;
}

struct options group_with(const struct options *o, const struct options *from, size_t g)
{
    struct options out = *o;
    const char *head = group_knob(g);
    for (size_t i = 0; i < knob_count(); i++)
        if (!strcmp(knob_info(i)->with, head))
            knob_copy(&out, from, i);
    return out;
}

struct options group_without(const struct options *o, size_t g)
{
    const struct options *none = options_none();
    return group_with(o, none, g);
}

bool group_is_set(const struct options *o, size_t g)
{
    const char *head = group_knob(g);
    for (size_t i = 0; i < knob_count(); i++)
        if (!strcmp(knob_info(i)->with, head) && !knob_is_default(o, i))
            return true;
    return false;
}

unsigned group_number(const struct options *o)
{
    unsigned n = 0;
    for (size_t g = 0; g < GROUPS; g++)
        n += group_is_set(o, g);
    return n;
}
