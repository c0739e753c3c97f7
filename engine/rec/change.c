/* What made the time change. Causes that the code sets (registers, instructions) come before what
 * follows from them (hit rates, traffic), and the time by limits comes last: it is the effect. */
#include "engine/rec/change.h"

#include "engine/rec/counter_ids.h"
#include "engine/rec/result.h"

#include <math.h>

#define LEAST_CHANGE 0.05 /* of a figure, before it is named */
#define MOST_FIGURES 3u

/* In this order; unit as a reader says it. */
static const struct {
    enum counter_id id;
    const char *name;
    double scale;
} told[] = {
    { COUNTER_INST_WARP, "warp instructions", 1 },
    { COUNTER_L1_SECTORS_PER_REQUEST, "sectors a request", 1 },
    { COUNTER_SHARED_EXTRA_PASSES, "extra passes over shared memory", 1 },
    { COUNTER_CONSTANT_EXTRA_PASSES, "extra passes over constant memory", 1 },
    { COUNTER_ATOMIC_EXTRA_PASSES, "extra turns of atomics", 1 },
    { COUNTER_LOADS_IN_FLIGHT, "loads in flight of a warp", 1 },
    { COUNTER_LOCAL_LOAD_BYTES, "MB loaded from local memory", 1e-6 },
    { COUNTER_L1_HIT_RATE, "% L1 hits", 1 },
    { COUNTER_L2_READ_SECTORS, "MB read from L2", 32e-6 },
    { COUNTER_DRAM_READ_BYTES, "MB read from device memory", 1e-6 },
    { COUNTER_L2_WRITE_SECTORS, "MB written to L2", 32e-6 },
};

static const char *separator(const struct buf *out, size_t from)
{
    return out->n > from ? "; " : "";
}

static bool both(const struct result *was, const struct result *is, enum counter_id id)
{
    return was->counters[id].valid && is->counters[id].valid;
}

static bool changed(double a, double b)
{
    return fabs(a - b) > LEAST_CHANGE * fmax(fabs(a), fabs(b)) && fmax(fabs(a), fabs(b)) > 0;
}

/* More registers have room for more of them. */
static bool put_flight(const struct result *was, const struct result *is, struct buf *out)
{
    double a = was->counters[COUNTER_LOADS_IN_FLIGHT].value,
           b = is->counters[COUNTER_LOADS_IN_FLIGHT].value;
    if (is->regs <= was->regs || !both(was, is, COUNTER_LOADS_IN_FLIGHT) || !changed(a, b) || b < a)
        return false;
    buf_printf(out, ", so that a warp has %.1f loads in flight for %.1f", b, a);
    return true;
}

/* True: it has told the loads in flight. */
static bool put_code(const struct result *was, const struct result *is, struct buf *out)
{
    size_t from = out->n;
    bool flight = false;
    if (was->regs && is->regs && was->regs != is->regs) {
        buf_printf(out, "registers %u -> %u", was->regs, is->regs);
        flight = put_flight(was, is, out);
    }
    if (was->limits.valid && is->limits.valid &&
        fabsf(was->limits.facts.warps_room - is->limits.facts.warps_room) >= 1)
        buf_printf(out, "%san SM has room for %.0f -> %.0f warps", separator(out, from),
                   (double)was->limits.facts.warps_room, (double)is->limits.facts.warps_room);
    return flight;
}

static void put_figures(const struct result *was, const struct result *is, size_t from, bool flight,
                        struct buf *out)
{
    unsigned n = 0;
    for (size_t i = 0; i < ARRAY_LEN(told) && n < MOST_FIGURES; i++) {
        double a = was->counters[told[i].id].value * told[i].scale,
               b = is->counters[told[i].id].value * told[i].scale;
        bool again = flight && told[i].id == COUNTER_LOADS_IN_FLIGHT;
        if (again || !both(was, is, told[i].id) || !changed(a, b))
            continue;
        buf_printf(out, "%s%.3g -> %.3g %s", separator(out, from), a, b, told[i].name);
        n++;
    }
}

static double spent(const struct result *r, enum limit_cause c)
{
    return (double)r->limits.share[c] * (double)r->time.median / 1e3;
}

static void put_limit(const struct result *was, const struct result *is, size_t from, struct buf *out)
{
    enum limit_cause most = LIMIT_COUNT;
    double way = is->time.median <= was->time.median ? 1 : -1, largest = 0;
    for (unsigned c = 0; was->limits.valid && is->limits.valid && c < LIMIT_COUNT; c++) {
        double by = way * (spent(was, c) - spent(is, c));
        if (by > largest) {
            largest = by;
            most = (enum limit_cause)c;
        }
    }
    if (most == LIMIT_COUNT || largest < 1e-3 * LEAST_CHANGE * (double)was->time.median)
        return;
    const struct limit_place *p = limits_place(way > 0 ? &was->limits : &is->limits, most, 0);
    buf_printf(out, "%s%s takes %.3g -> %.3g µs", separator(out, from), limit_name(most),
               spent(was, most), spent(is, most));
    if (p)
        buf_printf(out, " (line %u)", p->line);
}

void change_words(const struct result *was, const struct result *is, struct buf *out)
{
    size_t from = out->n;
    if (!was->time.valid || !is->time.valid || was->time.median <= 0 || is->time.median <= 0)
        return;
    bool flight = put_code(was, is, out);
    put_figures(was, is, from, flight, out);
    put_limit(was, is, from, out);
}
