/* Launches: one for the outputs, then timed ones, then counted ones. Each starts
 * from the restored baseline on a single stream, so that the restoring copies are
 * done before the first event is recorded. */
#include "engine/dev/cuda/cuda_int.h"
#include "engine/dev/cuda/cupti.h"
#include "engine/dev/cuda/nvml.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/result.h"

#include <stdio.h>

#define CLOCKS_NS    50000000
#define SHORT_NS     20000 /* launches shorter than that are timed in batches */
#define PLAIN_SHARED (48 * 1024)

/* ---- options of the launch ---- */
static enum status set_shared(struct cuda_job *j)
{
    uint64_t want = j->r->shared;
    if (want + j->c->base.res.shared_static <= PLAIN_SHARED || want <= (uint64_t)j->c->dynamic_shared)
        return ST_OK;
    if (want > j->d->base.info.shared_per_block_optin) {
        diag_error(j->ds, "shared", "%llu bytes of dynamic shared memory; the device allows %u",
                   (unsigned long long)want, j->d->base.info.shared_per_block_optin);
        return ST_REFUSED;
    }
    enum status st =
        cuda_check(j->d, j->d->drv.func_set_attr(j->c->fn, DRV_FUNC_MAX_DYNAMIC_SHARED, (int)want),
                   "shared memory above 48 KB", j->ds);
    if (st == ST_OK)
        j->c->dynamic_shared = (int)want;
    return st;
}

static enum status set_carveout(struct cuda_job *j)
{
    if (j->r->carveout == j->c->carveout)
        return ST_OK;
    enum status st = cuda_check(
        j->d, j->d->drv.func_set_attr(j->c->fn, DRV_FUNC_CARVEOUT, j->r->carveout), "carve-out", j->ds);
    if (st == ST_OK)
        j->c->carveout = j->r->carveout;
    return st;
}

static enum status check_knobs(struct cuda_job *j)
{
    if (j->r->hw_pi < 0)
        return ST_OK;
    diag_error(j->ds, "hardware", "bypass form hardware exists only on the simulated device");
    return ST_REFUSED;
}

/* Allocating may wait for the stream, so not behind a gate. */
static enum status prepare_flush(struct cuda_job *j)
{
    struct cuda_dev *d = j->d;
    if (!j->r->flush_l2 || d->flush)
        return ST_OK;
    d->flush_bytes = d->base.info.l2_bytes ? 2 * d->base.info.l2_bytes : 64u << 20;
    return cuda_alloc(d, d->flush_bytes, "the L2 flush", &d->flush, j->ds);
}

static enum status flush_cache(struct cuda_job *j)
{
    struct cuda_dev *d = j->d;
    return j->r->flush_l2 ? cuda_check(d, d->drv.set_async(d->flush, 0, d->flush_bytes, d->stream),
                                       "L2 flush", j->ds)
                          : ST_OK;
}

/* ---- timing ---- */
static bool spread_enough(const struct timing *t, double spread)
{
    int64_t lo = INT64_MAX, hi = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        lo = t->sample[i] < lo ? t->sample[i] : lo;
        hi = t->sample[i] > hi ? t->sample[i] : hi;
    }
    struct timing copy = *t;
    timing_finish(&copy);
    return copy.median > 0 && (double)(hi - lo) <= spread * (double)copy.median;
}

/* One launch between two events, from the restored baseline; not waited for. */
static enum status queue_one(struct cuda_job *j, drv_event from, drv_event to)
{
    struct cuda_dev *d = j->d;
    enum status st = cuda_restore(j, false);
    if (st == ST_OK)
        st = flush_cache(j);
    if (st == ST_OK)
        st = cuda_check(d, d->drv.event_record(from, d->stream), "event", j->ds);
    if (st == ST_OK)
        st = cuda_start(j, j->c->fn, j->c->func, j->r->grid, j->r->block, launch_cluster(j->r->launch),
                        j->r->shared, j->params, j->c->cooperative);
    return st == ST_OK ? cuda_check(d, d->drv.event_record(to, d->stream), "event", j->ds) : st;
}

static enum status make_events(struct cuda_job *j)
{
    struct cuda_dev *d = j->d;
    enum status st = ST_OK;
    for (size_t i = 0; i < 2 * CUDA_BATCH && st == ST_OK; i++)
        if (!d->batch[i])
            st = cuda_check(d, d->drv.event_create(&d->batch[i], 0), "an event", j->ds);
    return st;
}

/* Those of the batch from `first` on that fit behind one gate; how many. */
static size_t queue_some(struct cuda_job *j, size_t first, enum status *st)
{
    struct cuda_dev *d = j->d;
    size_t room = cuda_gate_room(j), n = 0, most = room ? room : CUDA_BATCH;
    cuda_gate_shut(j);
    for (; n < most && first + n < CUDA_BATCH && *st == ST_OK; n++)
        *st = queue_one(j, d->batch[2 * (first + n)], d->batch[2 * (first + n) + 1]);
    cuda_gate_open(j);
    return n;
}

/* The events' clock ticks every half microsecond. A launch of a few is timed many times over, with the
 * restoring copies between the pairs of events and no wait: where in a tick it begins is chance, so the
 * mean is finer than a tick. */
static enum status time_batch(struct cuda_job *j, double *ms)
{
    struct cuda_dev *d = j->d;
    enum status st = make_events(j);
    *ms = 0;
    for (size_t i = 0; i < CUDA_BATCH && st == ST_OK;)
        i += queue_some(j, i, &st);
    if (st == ST_OK)
        st = cuda_check(d, d->drv.event_record(d->end, d->stream), "event", j->ds);
    if (st == ST_OK)
        st = cuda_wait(j);
    for (size_t i = 0; i < CUDA_BATCH && st == ST_OK; i++) {
        float one = 0;
        st = cuda_check(d, d->drv.event_elapsed(&one, d->batch[2 * i], d->batch[2 * i + 1]), "event",
                        j->ds);
        *ms += (double)one / CUDA_BATCH;
    }
    return st;
}

static enum status time_one(struct cuda_job *j)
{
    struct cuda_dev *d = j->d;
    struct timing *t = &j->out->time;
    float one = 0;
    double ms;
    enum status st;
    if (t->batch) {
        st = time_batch(j, &ms);
    } else {
        cuda_gate_shut(j);
        st = queue_one(j, d->begin, d->end);
        cuda_gate_open(j);
        if (st == ST_OK)
            st = cuda_wait(j);
        if (st == ST_OK)
            st = cuda_check(d, d->drv.event_elapsed(&one, d->begin, d->end), "event", j->ds);
        ms = one;
    }
    if (st == ST_OK)
        t->sample[t->n++] = (int64_t)(ms * 1e6 + 0.5);
    return st;
}

/* Asking the library takes longer than a short kernel: now and then, and what it said holds until then.
 */
static void look_at_clocks(struct cuda_job *j)
{
    struct cuda_dev *d = j->d;
    int64_t now = base_now_ns();
    if (!d->looked || now - d->looked >= CLOCKS_NS) {
        d->throttled = nvml_throttled(d->nvml);
        d->looked = base_now_ns();
    }
    j->out->time.throttled |= d->throttled;
}

static enum status time_all(struct cuda_job *j)
{
    const struct dev_run *r = j->r;
    struct timing *t = &j->out->time;
    unsigned least = r->repeat ? r->repeat : 1, most = r->max_repeat > least ? r->max_repeat : least;
    if (most > TIMING_MAX_SAMPLES)
        most = TIMING_MAX_SAMPLES;
    cupti_rest(j->d->cupti); /* an enabled profiler adds microseconds to every launch */
    enum status first = cancel_asked(r->cancel) ? ST_CANCELLED : prepare_flush(j);
    if (first == ST_OK)
        first = time_one(j);
    if (first != ST_OK)
        return first;
    if (t->sample[0] < SHORT_NS) {
        t->batch = CUDA_BATCH;
        t->n = 0;
    }
    while (t->n < most && (t->n < least || !spread_enough(t, r->spread))) {
        enum status st = cancel_asked(r->cancel) ? ST_CANCELLED : time_one(j);
        if (st != ST_OK)
            return st;
        look_at_clocks(j);
        if (r->progress)
            r->progress(r->ctx, (double)t->n / most);
    }
    t->origin = ORIGIN_MEASURED;
    t->valid = true;
    timing_finish(t);
    return ST_OK;
}

static void fill_resources(struct cuda_job *j)
{
    struct dev_resources r = j->c->base.res;
    int n = 0;
    j->out->regs = r.regs;
    snprintf(j->out->regs_from, sizeof j->out->regs_from, "%s", r.regs_from);
    j->out->counters[COUNTER_REGS_PER_THREAD] = (struct counter){ r.regs, ORIGIN_MEASURED, r.regs > 0 };
    j->out->shared_static = r.shared_static;
    j->out->local_bytes = r.local_bytes;
    if (j->d->drv.occupancy(&n, j->c->fn, (int)dim3u_count(j->r->block), j->r->shared) == DRV_SUCCESS &&
        n > 0)
        j->out->ctas_per_sm = (uint32_t)n;
}

static enum status run_all(struct cuda_job *j)
{
    enum status st = check_knobs(j);
    if (st == ST_OK)
        st = set_shared(j);
    if (st == ST_OK)
        st = set_carveout(j);
    if (st == ST_OK)
        st = cuda_params(j, DEV_MAIN, j->r->launch, j->c->func, &j->block, &j->params);
    if (st == ST_OK)
        st = cuda_baseline(j);
    if (st == ST_OK)
        st = cuda_restore(j, true);
    if (st == ST_OK)
        st = cuda_launch_once(j);
    if (st == ST_OK)
        st = cuda_inspect(j);
    if (st == ST_OK)
        fill_resources(j);
    if (st == ST_OK && !j->r->functional)
        st = time_all(j);
    if (st == ST_OK && j->r->energy && !j->r->functional)
        st = cuda_energy(j);
    return st == ST_OK && !j->r->functional ? cuda_count(j) : st;
}

enum status cuda_launch(struct dev *d, struct dev_code *c, struct dev_data *b, const struct dev_run *r,
                        struct result *out, struct diags *ds)
{
    struct diags own = { 0 };
    struct cuda_job j = {
        (struct cuda_dev *)d, (struct cuda_code *)c, (struct cuda_data *)b, r, out, &own, NULL, NULL
    };
    if (d->unusable) {
        diag_error(ds, "cuda", "the device's context was lost by an earlier launch");
        return ST_DEVICE;
    }
    struct cuda_window window;
    enum status st = cuda_persist_begin(&j, &window);
    if (st == ST_OK)
        st = run_all(&j);
    cuda_persist_end(&j, &window);
    if (st == ST_DEVICE || st == ST_REFUSED) { /* a failed configuration is a result */
        dev_result_from_diags(out, st, &own);
        st = ST_OK;
    }
    BASE_FREE(j.params, j.block);
    diags_move(ds, &own);
    diags_free(&own);
    return st;
}
