/* What a limit means in the figures of a result, and what may be done about it. */
#include "engine/base/base.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/device.h"
#include "engine/rec/limits.h"
#include "engine/rec/result_read.h"

static const struct {
    enum limit_cause cause;
    struct limit_try what;
} tries[] = {
    { LIMIT_GRID, { NULL, "launch more CTAs: smaller ones, or less work for each thread" } },
    { LIMIT_IMBALANCE,
      { NULL, "share the work out: smaller pieces, several CTAs for a long one, or CTAs that take the "
              "next when "
              "one is done" } },
    { LIMIT_IMBALANCE, { "--cluster agent", NULL } },
    { LIMIT_OCCUPANCY, { NULL, "use fewer registers or less shared memory, or another size of CTA" } },
    { LIMIT_DRAM,
      { NULL, "move fewer bytes: narrower types, reuse in registers or shared memory, fewer passes; "
              "where each is "
              "needed once, leave it alone" } },
    { LIMIT_L2, { NULL, "keep what is read again in registers, shared memory or L1" } },
    { LIMIT_L2, { "--cluster agent", NULL } },
    { LIMIT_L1, { NULL, "load wider words (float4), or keep values in registers" } },
    { LIMIT_L1, { "--coarsen 2 --coarsen-mode vector", NULL } },
    { LIMIT_COALESCING_LOAD,
      { NULL,
        "let neighbouring lanes read neighbouring words: structure of arrays, a warp for a row, or a "
        "tile through shared memory" } },
    { LIMIT_COALESCING_STORE,
      { NULL, "let neighbouring lanes write neighbouring words, through shared memory if need be" } },
    { LIMIT_BANKS,
      { NULL,
        "give the rows of the shared array another pitch (a pad as wide as an access: 33 words for 32, "
        "144 bytes for 128), or swizzle its columns" } },
    { LIMIT_ATOMICS,
      { NULL, "add up in registers or in a private copy in shared memory, and store that once" } },
    { LIMIT_CONSTANT,
      { NULL, "move the table to global or shared memory: lanes read different words" } },
    { LIMIT_LOCAL,
      { NULL, "index small arrays by constants, and allow more registers, so that nothing spills" } },
    { LIMIT_LATENCY, { NULL, "batch the loads of a loop before their uses: more of them in flight" } },
    { LIMIT_LATENCY, { "--coarsen 2", NULL } },
    { LIMIT_LATENCY, { "--prefetch l1", NULL } },
    { LIMIT_ISSUE,
      { NULL, "execute fewer instructions: hoist what does not change, use cheaper operations" } },
    { LIMIT_TENSOR,
      { NULL, "leave it alone: its tensor cores are busy; only fewer operations would help" } },
    { LIMIT_BARRIERS, { NULL, "meet at fewer barriers, or have more CTAs on an SM to fill the wait" } },
    { LIMIT_LAUNCH, { NULL, "do more in one launch: join kernels, or use a graph" } },
};

static bool is_own(const struct limits *l, enum limit_cause c, unsigned k)
{
    return l->edit[k].text[0] && l->edit[k].cause == c;
}

/* Those of this kernel first; with them, none that is said of any kernel. */
bool limit_next_try(const struct limits *l, enum limit_cause c, unsigned *i, struct limit_try *out)
{
    bool own = false;
    for (unsigned k = 0; k < LIMIT_EDITS; k++)
        own |= is_own(l, c, k);
    for (; *i < LIMIT_EDITS + ARRAY_LEN(tries); ++*i) {
        unsigned k = *i - LIMIT_EDITS; /* in tries */
        if (*i < LIMIT_EDITS ? !is_own(l, c, *i) : tries[k].cause != c || (own && tries[k].what.edit))
            continue;
        *out = *i < LIMIT_EDITS ? (struct limit_try){ NULL, l->edit[*i].text } : tries[k].what;
        ++*i;
        return true;
    }
    return false;
}

/* ---- in figures ---- */

static double value(const struct result *r, enum counter_id c)
{
    return result_counters(r)[c].valid ? result_counters(r)[c].value : 0;
}

static void put_rate(const struct result *r, double bytes, const char *where, struct buf *out)
{
    if (result_time(r)->valid && result_time(r)->median > 0)
        buf_printf(out, "%.3g MB to and from %s, %.0f GB/s", bytes / 1e6, where,
                   bytes / (double)result_time(r)->median);
}

static void put_grid(const struct limit_facts *f, struct buf *out)
{
    if (f->used < (double)f->sms)
        buf_printf(out, "the grid's %.0f CTAs fill %.0f of %.0f SMs", f->ctas, (double)f->used,
                   (double)f->sms);
    else
        buf_printf(out,
                   "%.0f CTAs of %u threads: while an SM waits it holds %.1f of the %.0f warps that it "
                   "has room for",
                   f->ctas, f->cta_threads, (double)f->warps_held, (double)f->warps_room);
}

static void put_occupancy(const struct limit_facts *f, struct buf *out)
{
    buf_printf(out, "an SM has room for %.0f of %.0f warps", (double)f->warps_room,
               (double)f->warps_most);
    if (f->warps_room < (double)f->warps_most)
        buf_printf(out, ": held by %s", dev_limit_name((enum dev_limit)f->held_by));
}

static void put_waves(const struct limit_facts *f, struct buf *out)
{
    double room =
        f->cta_threads ? (double)f->warps_room / ((f->cta_threads + 31) / 32) * (double)f->sms : 0;
    if (room > 0)
        buf_printf(out, "%.0f CTAs, %.2f times what the device holds; the last to end are waited for",
                   f->ctas, f->ctas / room);
}

static void put_sectors(const struct result *r, struct buf *out)
{
    if (result_counters(r)[COUNTER_L1_SECTORS_PER_REQUEST].valid)
        buf_printf(out, "%.1f sectors a request", value(r, COUNTER_L1_SECTORS_PER_REQUEST));
}

void limit_why(const struct result *r, enum limit_cause c, struct buf *out)
{
    const struct limit_facts *f = &result_limits(r)->facts;
    double l2 = 32 * (value(r, COUNTER_L2_READ_SECTORS) + value(r, COUNTER_L2_WRITE_SECTORS)),
           dram = value(r, COUNTER_DRAM_READ_BYTES) + value(r, COUNTER_DRAM_WRITE_BYTES);
    size_t from = out->n;
    buf_printf(out, "%s: ", limit_help(c));
    size_t colon = out->n;
    switch (c) {
    case LIMIT_GRID: put_grid(f, out); break;
    case LIMIT_IMBALANCE: put_waves(f, out); break;
    case LIMIT_OCCUPANCY: put_occupancy(f, out); break;
    case LIMIT_DRAM: put_rate(r, dram, "device memory", out); break;
    case LIMIT_L2: put_rate(r, l2, "L2", out); break;
    case LIMIT_COALESCING_LOAD: put_sectors(r, out); break;
    default: break;
    }
    if (out->n == colon && out->n >= from + 2)
        out->n -= 2;
    if (out->s)
        out->s[out->n] = 0;
}
