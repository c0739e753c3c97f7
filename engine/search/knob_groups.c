/* Knob groups: a knob and what belongs to it go together. A group is the members of struct options from
 * its first to its last. */
#include "engine/base/base.h"
#include "engine/rec/knobs.h"
#include "engine/rec/options.h"
#include "engine/search/search.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *knob;
    size_t at, n;
} groups[] = {
#define GROUP(knob, first, last)                                                   \
    {                                                                              \
        knob, offsetof(struct options, first),                                     \
            offsetof(struct options, last) + sizeof(((struct options *)0)->last) - \
                offsetof(struct options, first)                                    \
    }
    GROUP("bypass", bypass, bypass_loads),
    GROUP("cluster", cluster, agents),
    GROUP("prefetch", prefetch, prefetch_distance),
    GROUP("softcache", softcache, softcache_again),
    GROUP("block", block, block),
    GROUP("swap-xy", swap_xy, swap_xy),
    GROUP("coarsen", coarsen, coarsen_mode),
    GROUP("throttle-shared", throttle_shared, throttle_shared),
    GROUP("swizzle-shared", swizzle_shared, swizzle_shared),
    GROUP("smem-pad", smem_pad, smem_pad),
    GROUP("readonly", readonly, readonly),
    GROUP("carveout", carveout, carveout),
#undef GROUP
};
_Static_assert(ARRAY_LEN(groups) == GROUPS, "one row per group");

const char *group_knob(size_t g)
{
    return groups[g].knob;
}

size_t group_find(const char *knob)
{
    size_t g = 0;
    while (g + 1 < GROUPS && strcmp(groups[g].knob, knob) != 0)
        g++;
    return g;
}

struct options group_with(const struct options *o, const struct options *from, size_t g)
{
    struct options out = *o;
    memcpy((char *)&out + groups[g].at, (const char *)from + groups[g].at, groups[g].n);
    return out;
}

struct options group_without(const struct options *o, size_t g)
{
    struct options none = options_default();
    return group_with(o, &none, g);
}

bool group_is_set(const struct options *o, size_t g)
{
    struct options less = group_without(o, g);
    return !options_equal(&less, o);
}

unsigned group_number(const struct options *o)
{
    unsigned n = 0;
    for (size_t g = 0; g < GROUPS; g++)
        n += group_is_set(o, g);
    return n;
}
