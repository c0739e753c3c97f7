/* What an SM has room for beside a traced launch: its CTAs, and what is left for L1. */
#include "engine/predict/request_trace.h"
#include "engine/rec/device.h"
#include "engine/rec/opt_cluster.h"
#include "engine/tune/tune_int.h"

static struct dev_resident resident_ctas(const struct tune_bench *b, const struct options *o,
                                         const struct tune_trace *t)
{
    struct dev_cta cta = tune_cta(&b->subject, o);
    cta.threads = dim3u_count(t->block);
    cta.regs = t->regs;
    cta.shared = (uint64_t)t->shared + t->shared_static;
    return dev_resident(dev_describe(b->subject.dev), &cta);
}

uint64_t tune_l1_bytes(const struct tune_bench *b, const struct options *o, const struct tune_trace *t)
{
    uint64_t left = resident_ctas(b, o, t).l1_bytes;
    return left ? left : LINE_BYTES;
}

unsigned tune_trace_resident(const struct tune_bench *b, const struct options *o,
                             const struct tune_trace *t)
{
    uint64_t most = resident_ctas(b, o, t).ctas_per_sm;
    if (opt_cluster(o)->kind == CLUSTER_AGENT && opt_cluster(o)->agents > 0 &&
        (uint64_t)opt_cluster(o)->agents < most)
        most = (uint64_t)opt_cluster(o)->agents;
    return most ? (unsigned)most : 1;
}
