/* Intervals of times and gains: shares of the device, by what the configuration changes. */
#include "engine/rec/device.h"
#include "engine/rec/interval.h"
#include "engine/rec/knobs.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_memory.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/rec/opt_schedule.h"
#include "engine/rec/opt_shared.h"
#include "engine/rec/options.h"

#include <string.h>

/* Kinds of configurations, by how far the model is off. */
enum kind { PLAIN, THRESHOLD, AGENTS, REGISTERS, COARSENED, PERSISTED, OTHER };

/* What a schedule, a limit or a read-only load makes is an ordinary kernel: these knobs do not count. */
static struct options without_ordinary(struct options o, const struct options *none)
{
    opt_schedule(&o)->block = opt_schedule(none)->block;
    opt_schedule(&o)->swap_xy = opt_schedule(none)->swap_xy;
    opt_schedule(&o)->coarsen = opt_schedule(none)->coarsen;
    opt_schedule(&o)->coarsen_mode = opt_schedule(none)->coarsen_mode;
    opt_occupancy(&o)->throttle_shared = opt_occupancy(none)->throttle_shared;
    opt_occupancy(&o)->maxnreg = opt_occupancy(none)->maxnreg;
    opt_occupancy(&o)->minctas = opt_occupancy(none)->minctas;
    opt_memory(&o)->readonly = opt_memory(none)->readonly;
    memcpy(opt_memory(&o)->assume_read_only, opt_memory(none)->assume_read_only,
           sizeof opt_memory(&o)->assume_read_only);
    opt_memory(&o)->assume_restrict = opt_memory(none)->assume_restrict;
    opt_shared(&o)->swizzle = opt_shared(none)->swizzle;
    opt_shared(&o)->pad = opt_shared(none)->pad;
    return o;
}

/* Bypassing by warps and agents by column were recorded, one at a time. */
static enum kind kind_of(const struct options *o)
{
    const struct options *none = options_none();
    struct options left = without_ordinary(*o, none);
    if (options_equal(&left, none))
        return PLAIN;
    struct options pi = left, agents = left;
    opt_bypass(&pi)->level = opt_bypass(none)->level;
    opt_bypass(&pi)->pi = opt_bypass(none)->pi;
    if (options_equal(&pi, none))
        return THRESHOLD;
    opt_cluster(&agents)->kind = opt_cluster(none)->kind;
    opt_cluster(&agents)->index = opt_cluster(none)->index;
    bool by_column =
        opt_cluster(&left)->kind == CLUSTER_AGENT && opt_cluster(&left)->index.kind == INDEX_COLUMN;
    return by_column && options_equal(&agents, none) ? AGENTS : OTHER;
}

static struct interval scaled(double low, double high, double by)
{
    return low > 0 && high >= low && by > 0 ? (struct interval){ low * by, high * by }
                                            : (struct interval){ 0, 0 };
}

struct interval interval_of_time(const struct dev_info *d, const struct options *o, enum origin from,
                                 double time)
{
    const struct dev_spread *s = &d->spread;
    enum kind k = kind_of(o);
    if (from == ORIGIN_MODELLED && k == PLAIN)
        return scaled(s->spread_model_low, s->spread_model_high, time);
    if (from != ORIGIN_SIMULATED)
        return (struct interval){ 0, 0 };
    return k == PLAIN       ? scaled(s->spread_plain_low, s->spread_plain_high, time)
           : k == THRESHOLD ? scaled(s->spread_pi_low, s->spread_pi_high, time)
           : k == AGENTS    ? scaled(s->spread_agent_low, s->spread_agent_high, time)
                            : (struct interval){ 0, 0 };
}

struct interval interval_of_gain(const struct dev_info *d, const struct options *o, double gain)
{
    const struct dev_spread *s = &d->spread;
    enum kind k = kind_of(o);
    if (opt_memory(o)->l2_persist[0])
        k = PERSISTED; /* beside other knobs as alone */
    else if (k == PLAIN && opt_occupancy(o)->minctas)
        k = REGISTERS;
    else if (k == PLAIN && opt_schedule(o)->coarsen > 1)
        k = COARSENED;
    struct interval t =
        k == THRESHOLD   ? scaled(s->spread_pi_gain_low, s->spread_pi_gain_high, 1)
        : k == AGENTS    ? scaled(s->spread_agent_gain_low, s->spread_agent_gain_high, 1)
        : k == REGISTERS ? scaled(s->spread_regs_gain_low, s->spread_regs_gain_high, 1)
        : k == COARSENED ? scaled(s->spread_coarsen_gain_low, s->spread_coarsen_gain_high, 1)
        : k == PERSISTED ? scaled(s->spread_persist_gain_low, s->spread_persist_gain_high, 1)
                         : (struct interval){ 0, 0 };
    return t.low > 0 && gain > 0 ? (struct interval){ gain / t.high, gain / t.low } : t;
}

void interval_words(const char *before, struct interval i, struct buf *out)
{
    if (i.low > 0)
        buf_printf(out, "%s%s to %s in %d of 100 cases", before, time_words(i.low).s,
                   time_words(i.high).s, INTERVAL_PERCENT);
}
