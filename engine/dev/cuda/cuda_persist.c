/* Lines of one buffer kept in L2 (CUDA programming guide, "L2 set-aside cache for persisting accesses"):
 * an access policy window on the stream that launches go to, and a part of L2 set aside by a limit of
 * the context. Neither is a setting of the card; both are as before when the launch is over. */
#include "engine/dev/cuda/cuda_int.h"
#include "engine/sim/window.h"

#include <string.h>

bool cuda_can_persist(const struct drv *v)
{
    return v->limit_get && v->limit_set && v->stream_set_attr && v->persisting_reset;
}

static enum status set_window(struct cuda_job *j, drv_ptr base, uint64_t bytes, double ratio)
{
    struct drv_window w = { (void *)(uintptr_t)base, (size_t)bytes, (float)ratio, DRV_ACCESS_PERSISTING,
                            DRV_ACCESS_NORMAL };
    drv_stream_value v;
    memset(&v, 0, sizeof v);
    memcpy(&v, &w, sizeof w); /* the window is a member of the union, at its start */
    return cuda_check(j->d, j->d->drv.stream_set_attr(j->d->stream, DRV_STREAM_WINDOW, &v),
                      "access policy window", j->ds);
}

enum status cuda_persist_begin(struct cuda_job *j, struct cuda_window *w)
{
    struct cuda_dev *d = j->d;
    const struct drv *v = &d->drv;
    *w = (struct cuda_window){ 0 };
    if (!j->r->persist.n)
        return ST_OK;
    int widest = 0;
    if (v->device_attr(&widest, DRV_ATTR_MAX_WINDOW, d->device) != DRV_SUCCESS || widest <= 0)
        widest =
            (int)(d->base.info.l2_persist_bytes < INT32_MAX ? d->base.info.l2_persist_bytes : INT32_MAX);
    struct sim_window what;
    if (dev_window(&j->b->bound, j->r, d->base.info.l2_persist_bytes, (uint64_t)widest, &what, j->ds) !=
        ST_OK)
        return ST_INPUT;
    enum status st =
        cuda_check(d, v->limit_get(&w->limit, DRV_LIMIT_PERSISTING_L2), "the L2 limit", j->ds);
    if (st == ST_OK)
        st = cuda_check(d, v->limit_set(DRV_LIMIT_PERSISTING_L2, (size_t)what.part), "the L2 limit",
                        j->ds);
    w->on = st == ST_OK;
    return st == ST_OK ? set_window(j, what.addr, what.bytes, what.ratio) : st;
}

void cuda_persist_end(struct cuda_job *j, const struct cuda_window *w)
{
    if (!w->on || j->d->base.unusable)
        return;
    set_window(j, 0, 0, 0);
    j->d->drv.persisting_reset();
    cuda_check(j->d, j->d->drv.limit_set(DRV_LIMIT_PERSISTING_L2, w->limit), "the L2 limit", j->ds);
}
