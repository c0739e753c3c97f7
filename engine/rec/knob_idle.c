/* knob_idle: options that are set and change nothing. */
#include "engine/rec/knobs.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_prefetch.h"
#include "engine/rec/opt_schedule.h"
#include "engine/rec/opt_softcache.h"

#include <stdio.h>
#include <string.h>

static bool bypasses(const struct options *o)
{
    return opt_bypass(o)->level != BYPASS_NONE;
}
static bool names_loads(const struct options *o)
{
    return bypasses(o) &&
           (opt_bypass(o)->form == BYPASS_FORM_VERTICAL || opt_bypass(o)->form == BYPASS_FORM_HYBRID);
}
static bool clusters(const struct options *o)
{
    return opt_cluster(o)->kind != CLUSTER_NONE;
}
static bool has_agents(const struct options *o)
{
    return opt_cluster(o)->kind == CLUSTER_AGENT;
}
static bool prefetches(const struct options *o)
{
    return opt_prefetch(o)->level != PREFETCH_OFF;
}
static bool has_softcache(const struct options *o)
{
    return opt_softcache(o)->lines != 0;
}
static bool softcache_dynamic(const struct options *o)
{
    return opt_softcache(o)->lines == OPT_SOFTCACHE_DYNAMIC;
}
static bool softcache_chooses(const struct options *o)
{
    return opt_softcache(o)->lines == OPT_SOFTCACHE_AUTO || softcache_dynamic(o);
}
static bool coarsens(const struct options *o)
{
    return opt_schedule(o)->coarsen > 1;
}

/* A knob that only another one makes useful. */
static const struct {
    const char *knob, *needs;
    bool (*met)(const struct options *o);
} needs[] = {
    { "pi", "it needs bypass l1 or bypass l2", bypasses },
    { "bypass-op", "it needs bypass l1 or bypass l2", bypasses },
    { "bypass-form", "it needs bypass l1 or bypass l2", bypasses },
    { "bypass-loads", "it needs bypass, and bypass-form vertical or hybrid", names_loads },
    { "index", "it needs cluster redirect or cluster agent", clusters },
    { "clusters", "it needs cluster redirect or cluster agent", clusters },
    { "agents", "it needs cluster agent", has_agents },
    { "claims", "it needs cluster agent", has_agents },
    { "prefetch-distance", "it needs prefetch l1 or prefetch l2", prefetches },
    { "softcache-data", "it needs softcache", has_softcache },
    { "softcache-line", "it needs softcache", has_softcache },
    { "softcache-sample", "it needs softcache auto or dynamic", softcache_chooses },
    { "softcache-again", "it needs softcache dynamic", softcache_dynamic },
    { "coarsen-mode", "it needs coarsen 2, 4 or 8", coarsens },
};

/* Knobs that the form of the bypass leaves without a say, and a bypass that nothing bypasses. */
static const char *form_says(const struct options *o, const char *name)
{
    bool by_load =
        opt_bypass(o)->form == BYPASS_FORM_VERTICAL || opt_bypass(o)->form == BYPASS_FORM_HYBRID;
    if (!bypasses(o))
        return NULL;
    if (!strcmp(name, "pi") && opt_bypass(o)->form == BYPASS_FORM_VERTICAL)
        return "bypass-form vertical selects loads and has no threshold; hybrid uses both";
    if (!strcmp(name, "bypass-op") && opt_bypass(o)->form == BYPASS_FORM_HARDWARE)
        return "bypass-form hardware inserts no operator";
    if (!strcmp(name, "bypass") && !by_load && opt_bypass(o)->pi.mode == PI_CHA)
        return "with pi cha all warps use the cache; it needs pi N, bpa or vote, or a sweep over pi";
    return NULL;
}

bool knob_idle(const struct options *o, size_t i, unsigned warps, char *why, size_t n)
{
    const char *name = knob_info(i)->name;
    if (knob_is_default(o, i))
        return false;
    for (size_t k = 0; k < ARRAY_LEN(needs); k++)
        if (!strcmp(needs[k].knob, name) && !needs[k].met(o)) {
            snprintf(why, n, "%s", needs[k].needs);
            return true;
        }
    if (form_says(o, name)) {
        snprintf(why, n, "%s", form_says(o, name));
        return true;
    }
    if (!strcmp(name, "pi") && opt_bypass(o)->pi.mode == PI_VALUE && warps &&
        opt_bypass(o)->pi.value > (int)warps) {
        snprintf(why, n, "a CTA has %u warps: a threshold over %u has the same effect as pi %u", warps,
                 warps, warps);
        return true;
    }
    return false;
}
