/* Knob groups: a knob and what belongs to it go together. */
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
#define GROUP(knob, from, to)                                             \
    {                                                                     \
        knob, offsetof(struct options, from),                             \
            offsetof(struct options, to) - offsetof(struct options, from) \
    }
    GROUP("bypass", bypass, cluster),
    GROUP("cluster", cluster, prefetch),
    GROUP("prefetch", prefetch, softcache),
    GROUP("softcache", softcache, block),
    GROUP("block", block, swap_xy),
    GROUP("swap-xy", swap_xy, coarsen),
    GROUP("coarsen", coarsen, throttle_shared),
    GROUP("throttle-shared", throttle_shared, maxnreg),
    GROUP("swizzle-shared", swizzle_shared, smem_pad),
    GROUP("smem-pad", smem_pad, readonly),
    GROUP("readonly", readonly, carveout),
    GROUP("carveout", carveout, assume_read_only),
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
