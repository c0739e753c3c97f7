#include "engine/rec/limits_measured.h"

#include "engine/base/base.h"
#include "engine/rec/limits.h"
#include "engine/rec/result_read.h"

#include <math.h>

static const struct {
    const char *name;
    bool needed;
} metrics[LIMIT_METRIC_COUNT] = {
#define X(id, metric, need) [LIMIT_BY_##id] = { metric, need },
    LIMIT_METRICS(X)
#undef X
#define X(reason, kind, need) \
    [LIMIT_STALL_##           \
        reason] = { "smsp__average_warps_issue_stalled_" #reason "_per_issue_active.ratio", need },
        LIMIT_STALLS(X)
#undef X
};

const char *limit_metric_name(enum limit_metric m)
{
    return metrics[m].name;
}

bool limit_metric_needed(enum limit_metric m)
{
    return metrics[m].needed;
}

enum stall_kind {
    KIND_MEMORY,       /* data of L1, L2 or DRAM */
    KIND_QUEUE,        /* room in the queue to L1 */
    KIND_SHARED,       /* data of shared memory, results of the function units */
    KIND_SHARED_QUEUE, /* room in the queue there */
    KIND_MATH,         /* a unit of arithmetic is taken */
    KIND_PRODUCT,
    KIND_BARRIER,
    KIND_CONSTANT,
    KIND_LATENCY,
    KIND_ISSUE,
    KIND_UNKNOWN,
    KINDS
};
static const struct {
    enum limit_metric metric;
    enum stall_kind kind;
} stalls[] = {
#define X(reason, kind, needed) { LIMIT_STALL_##reason, KIND_##kind },
    LIMIT_STALLS(X)
#undef X
};

static double of(const struct limit_measures *m, enum limit_metric k)
{
    return m->has[k] && m->v[k] > 0 ? m->v[k] : 0;
}

/* 0..1 of a percentage; `other` where the chip does not say. */
static double part(const struct limit_measures *m, enum limit_metric k, double other)
{
    return m->has[k] ? fmin(of(m, k) / 100, 1) : other;
}

static bool enough(const struct limit_measures *m)
{
    for (unsigned k = 0; k < LIMIT_METRIC_COUNT; k++)
        if (metrics[k].needed && (!m->has[k] || !isfinite(m->v[k])))
            return false;
    return of(m, LIMIT_BY_ELAPSED) > 0 && of(m, LIMIT_BY_MEAN) > 0 && of(m, LIMIT_BY_SPAN) > 0;
}

/* Schedulers of the device. */
static double schedulers(const struct limit_measures *m)
{
    return of(m, LIMIT_BY_ACTIVE) / of(m, LIMIT_BY_MEAN);
}

/* 0..1 of a percentage of the profiler's range, as a share of the launch's span. */
static double of_span(const struct limit_measures *m, enum limit_metric k)
{
    return fmin(part(m, k, 0) * of(m, LIMIT_BY_ELAPSED) / schedulers(m) / of(m, LIMIT_BY_SPAN), 1);
}

#define SLOTS 1e9 /* that a launch's cycles are told in */
static void put(struct limit_row *r, enum limit_cause c, double share)
{
    r->cycles[c] += (uint64_t)(SLOTS * share);
}

/* Bytes that go by L1, to whoever fills it. */
static void put_bytes(struct limit_row *r, const struct limit_measures *m)
{
    double loads = 32 * of(m, LIMIT_BY_LOADS), stores = 32 * of(m, LIMIT_BY_STORES);
    r->read = (uint64_t)loads;
    r->used = (uint64_t)(loads * part(m, LIMIT_BY_LOAD_USED, 1));
    r->stored = (uint64_t)stores;
    r->kept = (uint64_t)(stores * part(m, LIMIT_BY_STORE_USED, 1));
    r->atomics = (uint64_t)(32 * (of(m, LIMIT_BY_ATOMS) + of(m, LIMIT_BY_REDS)));
    r->local = (uint64_t)(32 * (of(m, LIMIT_BY_LOCAL_LOADS) + of(m, LIMIT_BY_LOCAL_STORES)));
}

static void put_l1(struct limit_row *r, double share)
{
    double all = (double)(r->read + r->stored + r->atomics + r->local), each = all > 0 ? share / all : 0;
    put(r, LIMIT_COALESCING_LOAD, each * (double)(r->read - r->used));
    put(r, LIMIT_COALESCING_STORE, each * (double)(r->stored - r->kept));
    put(r, LIMIT_ATOMICS, each * (double)r->atomics);
    put(r, LIMIT_LOCAL, each * (double)r->local);
    put(r, LIMIT_L1, all > 0 ? each * (double)(r->used + r->kept) : share);
}

static void put_memory(struct limit_row *r, const struct limit_measures *m, double share)
{
    double dram = of_span(m, LIMIT_BY_DRAM), l2 = of_span(m, LIMIT_BY_L2), l1 = part(m, LIMIT_BY_L1, 0),
           most = fmax(dram, fmax(l2, l1));
    if (most > 0 && most == dram)
        put(r, LIMIT_DRAM, share * most);
    else if (most > 0 && most == l2)
        put(r, LIMIT_L2, share * most);
    else
        put_l1(r, share * most);
    /* no counter has the units of atomics: who waits for those waits there */
    double all = (double)(r->read + r->stored + r->atomics + r->local),
           atomics = all > 0 ? (double)r->atomics / all : 0;
    put(r, LIMIT_ATOMICS, share * (1 - most) * atomics);
    put(r, LIMIT_LATENCY, share * (1 - most) * (1 - atomics));
}

static void put_stalls(struct limit_row *r, const struct limit_measures *m, const double kind[KINDS])
{
    double waves = of(m, LIMIT_BY_WAVEFRONTS), tensor = part(m, LIMIT_BY_TENSOR, 0),
           banks = waves > 0 ? fmin(of(m, LIMIT_BY_CONFLICTS) / waves, 1) : 0,
           loads = of(m, LIMIT_BY_CONSTANTS), constants = loads > 0 ? loads / (loads + waves) : 0,
           shared = (1 - constants) * kind[KIND_SHARED],
           queue = (1 - constants) * kind[KIND_SHARED_QUEUE];
    put_memory(r, m, kind[KIND_MEMORY]);
    put_l1(r, kind[KIND_QUEUE]);
    put(r, LIMIT_BANKS, banks * (shared + queue));
    put(r, LIMIT_LATENCY, (1 - banks) * shared + kind[KIND_LATENCY]);
    put(r, LIMIT_L1, (1 - banks) * queue);
    put(r, LIMIT_TENSOR, tensor * kind[KIND_MATH] + kind[KIND_PRODUCT]);
    put(r, LIMIT_ISSUE, (1 - tensor) * kind[KIND_MATH] + kind[KIND_ISSUE]);
    put(r, LIMIT_BARRIERS, kind[KIND_BARRIER]);
    put(r, LIMIT_CONSTANT,
        kind[KIND_CONSTANT] + constants * (kind[KIND_SHARED] + kind[KIND_SHARED_QUEUE]));
    put(r, LIMIT_UNKNOWN, kind[KIND_UNKNOWN]);
}

/* Cycles in which warps were there and none issued. */
static void put_waits(struct limit_row *r, const struct limit_measures *m, double share)
{
    double kind[KINDS] = { 0 }, all = 0;
    for (size_t i = 0; i < ARRAY_LEN(stalls); i++)
        all += of(m, stalls[i].metric);
    for (size_t i = 0; i < ARRAY_LEN(stalls) && all > 0; i++)
        kind[stalls[i].kind] += share * of(m, stalls[i].metric) / all;
    if (!(all > 0))
        kind[KIND_UNKNOWN] = share;
    put_stalls(r, m, kind);
}

/* What the launch took before its first warp and behind its last. */
static void put_around(struct limit_launch *l, const struct limit_measures *m)
{
    double span = of(m, LIMIT_BY_SPAN), around = m->cycles - span;
    if (!(around > 0))
        return;
    double launch = fmin(around, m->launch);
    l->overhead = launch / m->cycles;
    l->end = (around - launch) / (m->cycles - launch);
    l->end_cause = of(m, LIMIT_BY_ATOMS) + of(m, LIMIT_BY_REDS) > 0 ? LIMIT_ATOMICS : LIMIT_L2;
}

/* Cycles without a warp: those of SMs that get no CTA; else others end later, or the launch begins. */
static void put_empty(struct limit_row *r, struct limit_launch *l, double share)
{
    double unused = l->facts.sms > 0 ? 1 - (double)(l->facts.used / l->facts.sms) : 0,
           idle = fmin(share, fmax(unused, 0));
    l->idle += SLOTS * idle;
    put(r, l->waves ? LIMIT_IMBALANCE : LIMIT_LAUNCH, share - idle);
}

void limits_measured(struct result *r, const struct limit_launch *l, const struct limit_measures *m)
{
    struct limit_row row = { 0 };
    struct limit_launch launch = *l;
    *result_limits_set(r) = (struct limits){ .facts = l->facts };
    if (!enough(m))
        return;
    double all = schedulers(m) * of(m, LIMIT_BY_SPAN), active = fmin(of(m, LIMIT_BY_ACTIVE) / all, 1),
           issued = fmin(of(m, LIMIT_BY_ISSUED) / all, active);
    put_around(&launch, m);
    put_bytes(&row, m);
    put(&row, LIMIT_ISSUE, issued);
    put_waits(&row, m, active - issued);
    put_empty(&row, &launch, 1 - active);
    limits_attribute(r, &launch, &row, 1);
}
