/* Counters of a launch: the same kernel from the same baseline, once per pass. */
#include "engine/dev/cuda/cuda_int.h"
#include "engine/dev/cuda/cupti.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static enum status prepare(void *ctx)
{
    struct cuda_job *j = ctx;
    enum status st = cancel_asked(j->r->cancel) ? ST_CANCELLED : cuda_restore(j, false);
    return st == ST_OK ? cuda_check(j->d, j->d->drv.context_sync(), "restoring buffers", j->ds) : st;
}

static enum status launch(void *ctx)
{
    return cuda_launch_once(ctx);
}

/* Why there are no counters is said once per device, not once per point. */
static void explain(struct cuda_job *j)
{
    struct cuda_dev *d = j->d;
    snprintf(j->out->message, sizeof j->out->message, "no counters: %.200s", d->cupti_why);
    if (!d->cupti_told)
        diag_add(j->ds, DIAG_WARNING, "counters", NULL, NO_SPAN, "no counters: %s", d->cupti_why);
    d->cupti_told = true;
}

static struct cupti *profiler(struct cuda_dev *d)
{
    if (!d->cupti_tried) {
        d->cupti_tried = true;
        d->cupti = cupti_open(d->ordinal, d->ctx, d->cupti_why, sizeof d->cupti_why);
    }
    return d->cupti;
}

enum status cuda_counters(struct dev *dev, struct dev_counters *out, struct diags *ds)
{
    struct cuda_dev *d = (struct cuda_dev *)dev;
    (void)ds;
    if (profiler(d)) {
        cupti_sources(d->cupti, out);
        return ST_OK;
    }
    snprintf(out->why, sizeof out->why, "%s", d->cupti_why);
    snprintf(out->limits_from, sizeof out->limits_from, "no counters");
    for (size_t i = 0; i < COUNTER_COUNT; i++)
        snprintf(out->of[i].from, sizeof out->of[i].from, "no counters");
    return ST_OK;
}

#define EMPTY_NS 5000.0 /* a launch of nothing, timed by events: 3.9 to 4.5 us on an H200 and an H100 */

/* How full the launch has the GPU, and what binds it. */
static void put_limits(struct cuda_job *j, struct limit_measures *m)
{
    const struct dev_info *d = &j->d->base.info;
    const struct counter *held = &j->out->counters[COUNTER_WARPS_ACTIVE];
    const struct dev_cta cta = { .threads = dim3u_count(j->r->block),
                                 .regs = j->out->regs,
                                 .shared = (uint64_t)j->out->shared_static + j->r->shared,
                                 .carveout = j->r->carveout };
    double ctas = (double)dim3u_count(j->r->grid), warps = (double)((cta.threads + 31) / 32),
           room = (double)j->out->ctas_per_sm * warps, most = (double)d->max_warps_per_sm;
    struct limit_launch l = { .waves = room > 0 && ctas * warps > room * (double)d->sms };
    l.facts = (struct limit_facts){
        .ctas = ctas,
        .sms = (float)d->sms,
        .used = (float)fmin(ctas, (double)d->sms),
        .warps_most = (float)most,
        .warps_room = (float)room,
        .warps_held = (float)(held->valid ? most * held->value / 100 : room),
        .cta_threads = (uint32_t)cta.threads,
        .held_by = dev_resident(d, &cta).limit,
    };
    if (j->out->time.valid) {
        m->cycles = (double)j->out->time.median * (double)d->clock_khz * 1e-6;
        m->launch = EMPTY_NS * (double)d->clock_khz * 1e-6;
    }
    limits_measured(j->out, &l, m);
}

enum status cuda_count(struct cuda_job *j)
{
    struct cuda_dev *d = j->d;
    if (!j->r->counters)
        return ST_OK;
    if (!profiler(d)) {
        explain(j);
        return ST_OK;
    }
    struct cupti_work w = { prepare, launch, j };
    struct counter values[COUNTERS_MOST] = { 0 };
    struct limit_measures measures = { .has = { false } };
    d->cupti_why[0] = '\0';
    enum status st = cupti_collect(d->cupti, &w, values, &measures, d->cupti_why, sizeof d->cupti_why);
    values[COUNTER_REGS_PER_THREAD] = j->out->counters[COUNTER_REGS_PER_THREAD]; /* the driver says it */
    if (st == ST_OK) {
        memcpy(j->out->counters, values, sizeof values);
        put_limits(j, &measures);
    }
    if (st == ST_OK || !d->cupti_why[0])
        return st;
    /* CUPTI itself failed, not the kernel: go on without it. */
    explain(j);
    cupti_close(d->cupti);
    d->cupti = NULL;
    return ST_OK;
}
