/* Calibration of bandwidths: L1, into one SM, L2, DRAM. Each is the slope between launches of one, two
 * and three lengths, so that what a launch costs cancels out; how far the two slopes differ is the
 * residual. */
#include "engine/dev/calibrate/calibrate_int.h"
#include "engine/rec/device.h"

#include <math.h>

struct rate {
    double per_ns, spread;
}; /* vectors of 16 bytes */
struct stream {
    uint64_t bytes;
    uint32_t apart, reads, grid, block;
    bool cold;
    const char *op;
};

static struct rate stream_rate(struct calibration *k, const struct stream *s)
{
    double ns[3];
    /* a GPU's clock is coarse, a simulated one's time is dear */
    uint32_t reads = s->reads * (dev_describe(k->d)->kind == DEV_SIMULATED ? 1 : 8);
    for (uint32_t i = 0; i < 3; i++) {
        struct buf t = { 0 };
        calibrate_stream(&t, s->op, s->apart);
        ns[i] = calibrate_time(k, &t,
                               (struct calibrate_run){ .elems = s->bytes / 8,
                                                       .a = (uint32_t)(s->bytes / s->apart),
                                                       .b = reads * (i + 1),
                                                       .grid = s->grid,
                                                       .block = s->block,
                                                       .carveout = -1,
                                                       .cold = s->cold })
                    .ns;
    }
    double work = (double)s->grid * s->block * reads, first = work / (ns[1] - ns[0]),
           second = work / (ns[2] - ns[1]);
    return (struct rate){ 2 * work / (ns[2] - ns[0]), fabs(first - second) };
}

/* Rates in vectors of a warp, 512 bytes or 32 sectors, per cycle. */
static struct rate per_cycle(struct calibration *k, struct rate r)
{
    double cycles = k->clock_hz / 1e9 * 32;
    return (struct rate){ r.per_ns / cycles, r.spread / cycles };
}

static void find_sm(struct calibration *k)
{
    struct stream l1 = {
        .bytes = 8192, .apart = 16, .reads = 512, .grid = 1, .block = 1024, .op = k->l1_op
    };
    struct rate r = per_cycle(k, stream_rate(k, &l1));
    if (k->p->l1_plain || k->p->l1_ca)
        calibrate_set(k, "l1_bytes_per_cycle", 512 * r.per_ns, 512 * r.spread);
    struct stream in = {
        .bytes = 1 << 19, .apart = 16, .reads = 128, .grid = 1, .block = 1024, .op = ".cg"
    };
    r = per_cycle(k, stream_rate(k, &in));
    calibrate_set(k, "icnt_bytes_per_cycle", 512 * r.per_ns, 512 * r.spread);
}

/* A slice is busy for a request's data and for l2_request_bytes more: whole lines and single sectors,
 * both of all SMs, give the two. Where one SM alone gets as many single sectors as each of all, they say
 * nothing of L2, and the base's request stays. */
static void find_l2(struct calibration *k)
{
    uint64_t bytes = 1;
    /* between an eighth and a half of L2 */
    while (bytes * 4 <= (uint64_t)k->p->l2_bytes)
        bytes *= 2;
    struct stream s = { .bytes = bytes,
                        .apart = 16,
                        .reads = 8,
                        .grid = (uint32_t)k->p->sms * 4,
                        .block = 512,
                        .op = ".cg" };
    struct rate whole = per_cycle(k, stream_rate(k, &s));
    s.apart = 128;
    double lines = 4 * whole.per_ns, sectors = 32 * per_cycle(k, stream_rate(k, &s)).per_ns,
           per = 1 / lines - 1 / sectors;
    s.grid = 1;
    s.block = 1024;
    double alone = 32 * per_cycle(k, stream_rate(k, &s)).per_ns * (double)k->p->sms;
    if (!(lines > 0) || !(sectors > 0) || !(alone > 0))
        return;
    if (per > 0 && sectors < 0.8 * alone)
        calibrate_set(k, "l2_request_bytes", 96 / per / lines - 128, 0);
    calibrate_set(k, "l2_bytes_per_cycle", (128 + k->p->l2_request_bytes) * lines,
                  (128 + k->p->l2_request_bytes) * 4 * whole.spread);
    buf_printf(
        k->log,
        "%-22s %12.4g %-12s whole lines; single sectors %.4g, %.4g if each SM got what one alone gets\n",
        "L2, achieved", 128 * lines, "byte/cycle", 32 * sectors, 32 * alone);
}

/* With fewer reads the slope is that of the first burst, where nothing limits what is in flight. */
static void find_dram(struct calibration *k)
{
    struct stream s = { .bytes = 1,
                        .apart = 16,
                        .reads = 8,
                        .grid = (uint32_t)k->p->sms * 4,
                        .block = 512,
                        .cold = true,
                        .op = ".cg" };
    /* no byte is read twice */
    while (s.bytes < (uint64_t)s.grid * s.block * s.reads * 8 * 3 * 16)
        s.bytes *= 2;
    struct rate r = stream_rate(k, &s);
    double gbps = 16 * r.per_ns;
    if (!isfinite(gbps) || gbps <= 0)
        return;
    if (gbps > k->p->dram_gbps)
        calibrate_set(k, "dram_gbps", gbps, 16 * r.spread);
    calibrate_set(k, "dram_efficiency", gbps / k->p->dram_gbps, 16 * r.spread / k->p->dram_gbps);
    buf_printf(k->log, "%-22s %12.4g GB/s\n", "DRAM, achieved", gbps);
}

void calibrate_bandwidths(struct calibration *k)
{
    find_sm(k);
    find_l2(k);
    find_dram(k);
}
