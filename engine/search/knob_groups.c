/* Knob groups: a knob and what belongs to it go together: the rows of options.def from its first to its
 * last. */
#include "engine/base/base.h"
#include "engine/rec/knobs.h"
#include "engine/rec/options.h"
#include "engine/search/search.h"

#include <string.h>

static const struct {
    const char *first, *last; /* knobs */
} groups[] = {
    { "bypass", "bypass-loads" },
    { "cluster", "agents" },
    { "prefetch", "prefetch-distance" },
    { "softcache", "softcache-again" },
    { "block", "block" },
    { "swap-xy", "swap-xy" },
    { "coarsen", "coarsen-mode" },
    { "tile-order", "tile-width" },
    { "throttle-shared", "throttle-shared" },
    { "swizzle-shared", "swizzle-shared" },
    { "smem-pad", "smem-pad" },
    { "readonly", "readonly" },
    { "l2-persist", "l2-persist" },
    { "tma-hint", "tma-hint" },
    { "tma-promotion", "tma-promotion" },
    { "carveout", "carveout" },
    { "maxnreg", "minctas" },
};
_Static_assert(ARRAY_LEN(groups) == GROUPS, "one row per group");

const char *group_knob(size_t g)
{
    return groups[g].first;
}

size_t group_find(const char *knob)
{
    size_t g = 0;
    while (g + 1 < GROUPS && strcmp(groups[g].first, knob) != 0)
        g++;
    return g;
}

struct options group_with(const struct options *o, const struct options *from, size_t g)
{
    struct options out = *o;
    int last = knob_find(str_of(groups[g].last));
    for (int i = knob_find(str_of(groups[g].first)); i <= last; i++)
        knob_copy(&out, from, (size_t)i);
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
