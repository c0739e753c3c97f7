/* Counters of a launch: the same kernel from the same baseline, once per pass. */
#include "engine/base/base.h"
#include "engine/dev/cuda/cuda_int.h"
#include "engine/dev/cuda/cupti.h"
#include "engine/dev/dev_int.h"
#include "engine/rec/counters.h"
#include "engine/rec/result.h"

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
    for (size_t i = 0; i < COUNTER_COUNT; i++)
        snprintf(out->of[i].from, sizeof out->of[i].from, "no counters");
    return ST_OK;
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
    struct counter values[COUNTER_COUNT] = { 0 };
    d->cupti_why[0] = '\0';
    enum status st = cupti_collect(d->cupti, &w, values, d->cupti_why, sizeof d->cupti_why);
    values[COUNTER_REGS_PER_THREAD] = j->out->counters[COUNTER_REGS_PER_THREAD]; /* the driver says it */
    if (st == ST_OK)
        memcpy(j->out->counters, values, sizeof values);
    if (st == ST_OK || !d->cupti_why[0])
        return st;
    /* CUPTI itself failed, not the kernel: go on without it. */
    explain(j);
    cupti_close(d->cupti);
    d->cupti = NULL;
    return ST_OK;
}
