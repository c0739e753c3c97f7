/* What made the time change. Causes that the code sets (registers, instructions) come before what
 * follows from them (hit rates, traffic), and the time by limits comes last: it is the effect. */
#include "engine/rec/change.h"

#include "engine/rec/counter_ids.h"
#include "engine/rec/limits.h"
#include "engine/rec/result_read.h"

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
    return result_counters(was)[id].valid && result_counters(is)[id].valid;
}

static bool changed(double a, double b)
{
    return fabs(a - b) > LEAST_CHANGE * fmax(fabs(a), fabs(b)) && fmax(fabs(a), fabs(b)) > 0;
}

/* More registers have room for more of them. */
static bool put_flight(const struct result *was, const struct result *is, struct buf *out)
{
    double a = result_counters(was)[COUNTER_LOADS_IN_FLIGHT].value,
           b = result_counters(is)[COUNTER_LOADS_IN_FLIGHT].value;
    if (result_regs(is) <= result_regs(was) || !both(was, is, COUNTER_LOADS_IN_FLIGHT) ||
        !changed(a, b) || b < a)
        return false;
    buf_printf(out, ", so that a warp has %.1f loads in flight for %.1f", b, a);
    return true;
}

/* True: it has told the loads in flight. */
static bool put_code(const struct result *was, const struct result *is, struct buf *out)
{
    size_t from = out->n;
    bool flight = false;
    if (result_regs(was) && result_regs(is) && result_regs(was) != result_regs(is)) {
        buf_printf(out, "registers %u -> %u", result_regs(was), result_regs(is));
        flight = put_flight(was, is, out);
    }
    if (result_limits(was)->valid && result_limits(is)->valid &&
        fabsf(result_limits(was)->facts.warps_room - result_limits(is)->facts.warps_room) >= 1)
        buf_printf(out, "%san SM has room for %.0f -> %.0f warps", separator(out, from),
                   (double)result_limits(was)->facts.warps_room,
                   (double)result_limits(is)->facts.warps_room);
    return flight;
}

static void put_figures(const struct result *was, const struct result *is, size_t from, bool flight,
                        struct buf *out)
{
    unsigned n = 0;
    for (size_t i = 0; i < ARRAY_LEN(told) && n < MOST_FIGURES; i++) {
        double a = result_counters(was)[told[i].id].value * told[i].scale,
               b = result_counters(is)[told[i].id].value * told[i].scale;
        bool again = flight && told[i].id == COUNTER_LOADS_IN_FLIGHT;
        if (again || !both(was, is, told[i].id) || !changed(a, b))
            continue;
        buf_printf(out, "%s%.3g -> %.3g %s", separator(out, from), a, b, told[i].name);
        n++;
    }
}

static double spent(const struct result *r, enum limit_cause c)
{
    return (double)result_limits(r)->share[c] * (double)result_time(r)->median / 1e3;
}

static void put_limit(const struct result *was, const struct result *is, size_t from, struct buf *out)
{
    enum limit_cause most = LIMIT_COUNT;
    double way = result_time(is)->median <= result_time(was)->median ? 1 : -1, largest = 0;
    for (unsigned c = 0; result_limits(was)->valid && result_limits(is)->valid && c < LIMIT_COUNT; c++) {
        double by = way * (spent(was, c) - spent(is, c));
        if (by > largest) {
            largest = by;
            most = (enum limit_cause)c;
        }
    }
    if (most == LIMIT_COUNT || largest < 1e-3 * LEAST_CHANGE * (double)result_time(was)->median)
        return;
    const struct limit_place *p =
        limits_place(way > 0 ? result_limits(was) : result_limits(is), most, 0);
    buf_printf(out, "%s%s takes %.3g -> %.3g µs", separator(out, from), limit_name(most),
               spent(was, most), spent(is, most));
    if (p)
        buf_printf(out, " (line %u)", p->line);
}

void change_words(const struct result *was, const struct result *is, struct buf *out)
{
    size_t from = out->n;
    if (!result_time(was)->valid || !result_time(is)->valid || result_time(was)->median <= 0 ||
        result_time(is)->median <= 0)
        return;
    bool flight = put_code(was, is, out);
    put_figures(was, is, from, flight, out);
    put_limit(was, is, from, out);
}
