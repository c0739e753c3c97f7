/* Memory-access cost of a configuration (schedule paper, section 5 of the digest).
 *
 * The paper's sum charges every transaction its latency and every L1 miss four
 * sectors. That ranks schedules of latency-bound kernels; it knows neither
 * bandwidth nor sectors. Ours is a roofline over the same counts: the time can be
 * no less than what latency, L1's rate, L2's and DRAM's bandwidth each ask. */
#include "engine/perfmodel/cost.h"

#define SECTOR_BYTES  32
#define PAPER_SECTORS 4 /* sectors that a miss moves, in the paper */

static double at_rate(double amount, double rate)
{
    return rate > 0 ? amount / rate : 0;
}

static double largest(double a, double b)
{
    return a > b ? a : b;
}

struct model_cost model_memory_cost(const struct model_cost_in *in)
{
    struct model_cost c = { 0 };
    double g = in->loads, m1 = in->m1, m2 = in->m2;
    c.l1 = g * (1 - m1) * in->lat_l1;
    c.l2 = g * m1 * PAPER_SECTORS * in->lat_l2;
    c.dram = g * m1 * m2 * PAPER_SECTORS * in->lat_dram;
    c.paper = c.l1 + c.l2 + c.dram;

    double side_by_side = in->parallelism > 0 ? in->parallelism : 1;
    c.latency_l1 = g * (1 - m1) * in->lat_l1 / side_by_side;
    c.latency_l2 = g * m1 * (1 - m2) * in->lat_l2 / side_by_side;
    c.latency_dram = g * m1 * m2 * in->lat_dram / side_by_side;
    c.latency = c.latency_l1 + c.latency_l2 + c.latency_dram;
    c.bound_l1 = at_rate(g, in->rate_l1);
    c.bound_l2 = at_rate(in->sectors * m1 * SECTOR_BYTES, in->bw_l2);
    c.bound_dram = at_rate(in->sectors * m1 * m2 * SECTOR_BYTES, in->bw_dram);
    c.extended = largest(largest(c.latency, c.bound_l1), largest(c.bound_l2, c.bound_dram));
    return c;
}
