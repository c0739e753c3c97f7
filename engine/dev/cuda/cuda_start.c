/* One launch on a GPU: what fits, the start, and waiting for its end. */
#include "engine/dev/cuda/cuda_int.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/launch_read.h"

#include <stdio.h>
#include <time.h>

#define SPIN_NS         200000   /* kernels this short are waited for without sleeping */
#define CANCEL_GRACE_NS 60000000 /* after a cancel a running kernel may still end by itself */

static enum status give_up(struct cuda_job *j, bool cancelled, double limit)
{
    /* a running kernel can only be ended with its process */
    j->d->base.unusable = true;
    if (cancelled)
        return ST_CANCELLED;
    diag_error(j->ds, "time-limit", "time limit of %g s reached before the kernel ended", limit);
    return ST_DEVICE;
}

enum status cuda_wait(struct cuda_job *j)
{
    double limit = j->r->time_limit_s > 0 ? j->r->time_limit_s : CUDA_DEFAULT_LIMIT_S;
    int64_t start = base_now_ns(), until = start + (int64_t)(limit * 1e9), cancelled = 0;
    for (;;) {
        drv_result e = j->d->drv.event_query(j->d->end);
        if (e != DRV_ERROR_NOT_READY)
            return cuda_check(j->d, e, "the kernel failed", j->ds);
        int64_t now = base_now_ns();
        if (!cancelled && cancel_asked(j->r->cancel))
            cancelled = now;
        if (now > until || (cancelled && now - cancelled > CANCEL_GRACE_NS))
            return give_up(j, cancelled != 0, limit);
        if (now - start > SPIN_NS) {
            struct timespec t = { 0, now - start > 20 * SPIN_NS ? 500000 : 50000 };
            nanosleep(&t, NULL);
        }
    }
}

/* Why the driver could not take this launch, before it is asked. */
static enum status fits(struct cuda_job *j, const struct ptx_func *f, struct dim3u grid,
                        struct dim3u cluster, bool cooperative)
{
    struct dim_directive c = f->reqnctapercluster;
    if (cluster.x && !c.x)
        c = (struct dim_directive){ cluster.x, cluster.y, cluster.z };
    if (f->explicitcluster && !c.x) {
        diag_error(
            j->ds, "cluster",
            "kernel %.*s needs a cluster size at launch: add \"cluster\" to the launch description",
            (int)f->name.n, f->name.s);
        return ST_REFUSED;
    }
    if (cluster.x && (cooperative || !j->d->drv.launch_ex)) {
        diag_error(j->ds, "cluster", "kernel %.*s: %s", (int)f->name.n, f->name.s,
                   cooperative ? "a launch with clusters and grid-wide synchronisation is not supported"
                               : "this driver cannot launch clusters");
        return ST_REFUSED;
    }
    if (c.x && (grid.x % c.x || grid.y % (c.y ? c.y : 1) || grid.z % (c.z ? c.z : 1))) {
        diag_error(j->ds, "cluster",
                   "the grid is not a multiple of the kernel's cluster of %ux%ux%u CTAs", c.x, c.y, c.z);
        return ST_REFUSED;
    }
    int able = 0;
    if (cooperative &&
        (!j->d->drv.launch_cooperative ||
         j->d->drv.device_attr(&able, DRV_ATTR_COOPERATIVE_LAUNCH, j->d->device) != DRV_SUCCESS ||
         !able)) {
        diag_error(j->ds, "cooperative",
                   "kernel %.*s synchronises the whole grid; this device has no cooperative launch",
                   (int)f->name.n, f->name.s);
        return ST_REFUSED;
    }
    return ST_OK;
}

static drv_result start_cluster(struct cuda_job *j, drv_function f, struct dim3u g, struct dim3u b,
                                struct dim3u cluster, uint32_t shared, void **params)
{
    struct drv_attribute a = { .id = DRV_LAUNCH_CLUSTER,
                               .value.cluster = { cluster.x, cluster.y, cluster.z } };
    drv_launch_config c = { g.x, g.y, g.z, b.x, b.y, b.z, shared, j->d->stream, &a, 1 };
    return j->d->drv.launch_ex(&c, f, params, NULL);
}

enum status cuda_start(struct cuda_job *j, drv_function f, const struct ptx_func *pf, struct dim3u g,
                       struct dim3u b, struct dim3u cluster, uint32_t shared, void **params,
                       bool cooperative)
{
    const struct drv *v = &j->d->drv;
    enum status st = fits(j, pf, g, cluster, cooperative);
    if (st != ST_OK)
        return st;
    drv_result e =
        cluster.x ? start_cluster(j, f, g, b, cluster, shared, params)
        : cooperative
            ? v->launch_cooperative(f, g.x, g.y, g.z, b.x, b.y, b.z, shared, j->d->stream, params)
            : v->launch(f, g.x, g.y, g.z, b.x, b.y, b.z, shared, j->d->stream, params, NULL);
    char what[96];
    snprintf(what, sizeof what, "launch of %.*s", (int)(pf->name.n < 64 ? pf->name.n : 64), pf->name.s);
    return cuda_check(j->d, e, what, j->ds);
}

enum status cuda_launch_once(struct cuda_job *j)
{
    struct cuda_dev *d = j->d;
    enum status st = cuda_check(d, d->drv.event_record(d->begin, d->stream), "event", j->ds);
    if (st == ST_OK)
        st = cuda_start(j, j->c->fn, j->c->func, j->r->grid, j->r->block, launch_cluster(j->r->launch),
                        j->r->shared, j->params, j->c->cooperative);
    if (st == ST_OK)
        st = cuda_check(d, d->drv.event_record(d->end, d->stream), "event", j->ds);
    return st == ST_OK ? cuda_wait(j) : st;
}
