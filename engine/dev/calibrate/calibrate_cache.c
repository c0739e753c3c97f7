/* Calibration of the caches: latencies, what a miss brings, L1's line, capacity and
 * associativity. A thread that follows pointers through a ring sees them all. */
#include "engine/dev/calibrate/calibrate_int.h"

#include <math.h>

/* ---- latencies ---- */

static double ring_at(struct calibration *k, const char *op, uint32_t from, uint32_t stride,
                      uint32_t count, int carveout)
{
    struct buf t = { 0 };
    calibrate_ring(&t, op, from);
    uint32_t steps = (count + 15) / 16 * 16;
    if (steps < 256)
        steps = 256;
    struct calibrate_run r = { .elems = ((uint64_t)stride * count + from) / 8 + 16,
                               .a = stride,
                               .b = count,
                               .c = steps,
                               .carveout = carveout };
    return calibrate_time(k, &t, r).cycles / steps;
}

static double ring_latency(struct calibration *k, const char *op, uint32_t stride, uint32_t count,
                           int carveout)
{
    return ring_at(k, op, 0, stride, count, carveout);
}

static double walk_latency(struct calibration *k, const char *op, uint32_t distance, uint32_t steps,
                           bool cold)
{
    struct buf t = { 0 };
    calibrate_walk(&t, op);
    struct calibrate_run r = { .elems = (uint64_t)distance * steps / 8 + 16,
                               .start = distance,
                               .step = distance ? 8 : 0,
                               .c = steps,
                               .carveout = -1,
                               .cold = cold };
    return calibrate_time(k, &t, r).cycles / steps;
}

/* Where plain loads do not stay in L1, .ca may (Kepler, Maxwell), or nothing does. */
static void find_latencies(struct calibration *k)
{
    double l1 = ring_latency(k, "", 128, 8, -1), l2 = ring_latency(k, ".cg", 128, 1024, -1);
    k->p->l1_plain = l1 < 0.8 * l2;
    if (!k->p->l1_plain) {
        k->l1_op = ".ca";
        l1 = ring_latency(k, k->l1_op, 128, 8, -1);
        k->p->l1_ca = l1 < 0.8 * l2;
    }
    calibrate_set(k, "l2_latency", l2, 0);
    if (k->p->l1_ca || k->p->l1_plain)
        calibrate_set(k, "l1_latency", l1, 0);
    double add = walk_latency(k, k->l1_op, 0, 256, false) - l1; /* the address addition of a walk */
    double dram = walk_latency(k, ".cg", 8192, 1024, true) - add;
    calibrate_set(k, "dram_latency", dram, 0);
}

/* ---- what comes together on a miss ---- */

static double pair_cycles(struct calibration *k, uint32_t distance)
{
    struct buf t = { 0 };
    calibrate_pair(&t, k->l1_op);
    return calibrate_time(
               k, &t,
               (struct calibrate_run){ .elems = 4096, .a = distance, .carveout = -1, .cold = true })
        .cycles;
}

static void find_sectors(struct calibration *k)
{
    double same = pair_cycles(k, 8), far = pair_cycles(k, 16384);
    double l1_miss = same + 0.5 * (double)(k->p->l2_latency - k->p->l1_latency);
    double l2_miss = far - 0.5 * (double)(k->p->dram_latency - k->p->l2_latency);
    int64_t sector = 256, fill = 256;
    for (uint32_t d = 128; d >= 32; d /= 2) {
        double c = pair_cycles(k, d);
        if (c > l1_miss)
            sector = d;
        if (c > l2_miss)
            fill = d;
    }
    if (!isfinite(same) || !isfinite(far))
        return;
    calibrate_set(k, "l1_sector", sector > 128 ? 128 : (double)sector, 0);
    calibrate_set(k, "l2_fill", fill > 128 ? 128 : (double)fill, 0);
}

/* ---- capacities: the largest ring that still hits ---- */

/* Whether a ring of `n` elements `stride` bytes apart hits, but for a few; at one of three places, since
 * hashed sets fill unevenly. */
static bool ring_hits(struct calibration *k, uint32_t stride, uint64_t n, int carveout)
{
    static const uint32_t places[] = { 0, 169 * 128, 1021 * 128 };
    double limit = (double)k->p->l1_latency + 0.06 * (double)(k->p->l2_latency - k->p->l1_latency);
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (ring_at(k, k->l1_op, places[i], stride, (uint32_t)n, carveout) <= limit)
            return true;
    return false;
}

static uint64_t bisect(struct calibration *k, uint32_t stride, uint64_t lo, uint64_t hi, uint64_t step,
                       int carveout)
{
    while (hi - lo > step && k->ds->errors == k->errors) {
        uint64_t mid = (lo + hi) / 2;
        if (ring_hits(k, stride, mid, carveout))
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* The most elements that do, from `least` to `most`. 0: a run failed. Where sets are hashed, some
 * shorter ring may do worse than a longer one: what was found is tried again a little further on. */
static uint64_t ring_fits(struct calibration *k, uint32_t stride, uint64_t least, uint64_t most,
                          uint64_t step, int carveout)
{
    uint64_t n = bisect(k, stride, least, most, step, carveout);
    for (uint64_t more = 4; more && n >= 64; more--) {
        uint64_t further = n + n * more / 64;
        if (!ring_hits(k, stride, further, carveout))
            continue;
        n = bisect(k, stride, further, further + n / 64, step, carveout);
        break;
    }
    return k->ds->errors == k->errors ? n : 0;
}

static uint64_t l1_capacity(struct calibration *k, int carveout)
{
    uint64_t lines = ring_fits(k, 128, 32, 4096, 2, carveout);
    return (lines * 128 + 1023) / 1024 * 1024; /* at least what fits */
}

/* Elements that lie farther apart than a line take a line each, so that more bytes seem to fit. Where
 * sets are not hashed this is hidden by elements that share sets. */
static void find_line(struct calibration *k, uint64_t capacity)
{
    for (uint32_t d = 2 * (uint32_t)k->p->l1_sector; d <= 256; d *= 2) {
        uint64_t n = ring_fits(k, d, 1, 2 * capacity / d, capacity / d / 16 + 1, 0);
        if (n * d > capacity * 7 / 5) {
            calibrate_set(k, "l1_line", d / 2, 0);
            return;
        }
    }
    buf_printf(k->log, "%-22s %12s %-12s not visible: lines further apart share sets\n", "l1_line",
               "n/a", "byte");
}

/* Lines a large power of two apart share a set, unless sets are hashed: then as many of them stay as of
 * any others. */
static void find_ways(struct calibration *k)
{
    uint64_t ways = 64;
    for (uint32_t stride = 8192; stride <= 65536 && ways; stride *= 2) {
        uint64_t n = ring_fits(k, stride, 1, 64, 1, 0);
        if (n < ways)
            ways = n;
    }
    if (ways > 32)
        buf_printf(k->log,
                   "%-22s %12s %-12s not visible: %u lines 8 to 64 KB apart all stay, sets are hashed\n",
                   "l1_ways", "n/a", "", (unsigned)ways);
    else if (ways)
        calibrate_set(k, "l1_ways", (double)ways, 0);
}

/* Carve-outs larger than shared memory, or that leave no L1, are none of this device's. */
static void drop_carves(struct sim_preset *p)
{
    int64_t *c = &p->carve_0;
    unsigned n = 0;
    for (unsigned i = 0; i < 10; i++) {
        int64_t bytes = c[i] * 1024;
        if (c[i] >= 0 && bytes <= p->shared_max &&
            (!p->unified_bytes || bytes + p->l1_line * p->l1_ways <= p->unified_bytes))
            c[n++] = c[i];
    }
    while (n < 10)
        c[n++] = -1;
}

/* L1 that a preset leaves beside `percent` of the largest carve-out. */
static double l1_beside(const struct sim_preset *p, int percent)
{
    const int64_t *c = &p->carve_0;
    int64_t want = p->shared_max * percent / 100, kib = c[0];
    for (unsigned i = 0; i < 10 && c[i] >= 0 && kib * 1024 < want; i++)
        kib = c[i];
    return (double)(p->unified_bytes - kib * 1024 - p->l1_fill_buffers * p->l1_line);
}

/* In percent of the largest: the driver takes the next carve-out that the device has. */
enum { CARVES = 10, SAME_CARVE = 3 /* KiB: no two of a device are so near */ };
static const int percents[CARVES] = { 0, 4, 8, 15, 29, 44, 58, 73, 87, 100 };

/* L1 beside each carve-out. A base that has as much within 15 % (a ring of lines next to each other ends
 * a little early) keeps its list. Else, where the largest carve-out and its L1 are clearly more than L1
 * alone, no carve-out is 0, and those of the device are what L1 leaves of the sum. */
static void set_carves(struct calibration *k, const uint64_t l1[CARVES])
{
    struct sim_preset *p = k->p;
    bool agrees = k->based;
    for (unsigned i = 0; i < CARVES; i++)
        agrees = agrees && fabs(l1_beside(p, percents[i]) - (double)l1[i]) <= 0.15 * (double)l1[i];
    if (agrees)
        return;
    int64_t sum = p->shared_max + (int64_t)l1[CARVES - 1], *c = &p->carve_0;
    p->l1_fill_buffers = 0;
    p->unified_bytes = (int64_t)l1[0] + p->carve_0 * 1024;
    calibrate_note(k, &p->l1_fill_buffers, CALIBRATE_MEASURED, 0);
    calibrate_note(k, &p->unified_bytes, CALIBRATE_MEASURED, 0);
    if ((double)sum <= 1.1 * (double)p->unified_bytes)
        return;
    unsigned n = 0;
    p->unified_bytes = sum;
    for (unsigned i = 0; i < CARVES; i++) {
        int64_t kib = (sum - (int64_t)l1[i]) / 1024;
        if (!n || kib > c[n - 1] + SAME_CARVE)
            c[n++] = kib;
    }
    while (n < 10)
        c[n++] = -1;
    for (n = 0; n < 10; n++)
        calibrate_note(k, &c[n], CALIBRATE_MEASURED, 0);
}

static void find_capacity(struct calibration *k)
{
    uint64_t bytes[CARVES];
    for (size_t i = 0; i < CARVES; i++) {
        bytes[i] = l1_capacity(k, percents[i]);
        if (!bytes[i])
            return;
        buf_printf(k->log, "L1 at carve-out %3d %%    %12llu byte\n", percents[i],
                   (unsigned long long)bytes[i]);
    }
    if (k->p->unified_bytes)
        set_carves(k, bytes);
    else
        calibrate_set(k, "l1_bytes", (double)bytes[0], 0);
    find_line(k, bytes[0]);
    find_ways(k);
}

static void find_shared(struct calibration *k)
{
    struct buf t = { 0 };
    calibrate_shared(&t);
    calibrate_set(
        k, "lat_shared",
        calibrate_time(k, &t, (struct calibrate_run){ .elems = 16, .c = 4096, .carveout = -1 }).cycles /
            4096,
        0);
}

void calibrate_caches(struct calibration *k)
{
    find_latencies(k);
    find_shared(k);
    find_sectors(k);
    if (k->p->l1_plain || k->p->l1_ca)
        find_capacity(k);
    drop_carves(k->p);
}
