/* Energy of a launch by the card's counter (nvmlDeviceGetTotalEnergyConsumption), which moves in steps some
 * tens of milliseconds apart and knows no kernel: launches follow each other until the counter has moved
 * by so many of its steps that one more or less is nothing. Read from a step to a step. Buffers that the
 * kernel changes are restored before each launch, as where it is timed; what that takes alone is measured
 * the same way and taken off. What the card takes while it stands idle between launches is in it. */
#include "engine/dev/cuda/cuda_int.h"
#include "engine/dev/cuda/nvml.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/result.h"

#include <math.h>
#include <stdio.h>

#define STEPS    50          /* of a reading: one more or less is 2 %; an H200's come each 100 ms */
#define ENOUGH   0.05        /* of the difference of two readings: what the steps may come to */
#define SPARE    1.2         /* times as many steps as that would take */
#define LIMIT_NS 20000000000 /* of one reading */
#define LONG_NS  1000000     /* launches that long are waited for one by one */
#define LIFE_NS  500000000

/* What was read, from the first step of the counter to the last. */
struct reading {
    uint64_t mj, launches;
    uint64_t step; /* the largest */
};

/* Some turns of what is measured, waited for. */
static enum status turns(struct cuda_job *j, bool launches, unsigned n)
{
    struct cuda_dev *d = j->d;
    enum status st = ST_OK;
    for (unsigned i = 0; i < n && st == ST_OK; i++) {
        st = cuda_restore(j, false);
        if (st == ST_OK && launches)
            st = cuda_start(j, j->c->fn, j->c->func, j->r->grid, j->r->block,
                            launch_cluster(j->r->launch), j->r->shared, j->params, j->c->cooperative);
    }
    if (st == ST_OK)
        st = cuda_check(d, d->drv.event_record(d->end, d->stream), "event", j->ds);
    return st == ST_OK ? cuda_wait(j) : st;
}

/* Who waits for a worker hears from it. */
static void show_life(struct cuda_job *j, int64_t *next)
{
    int64_t now = base_now_ns();
    if (!j->r->progress || now < *next)
        return;
    *next = now + LIFE_NS;
    j->r->progress(j->r->ctx, 1);
}

/* *why: set where the counter does not tell. */
static enum status read_steps(struct cuda_job *j, bool launches, unsigned steps, struct reading *r,
                              const char **why)
{
    int64_t until = base_now_ns() + LIMIT_NS, life = 0;
    uint64_t first = 0, last = 0, now = 0, n = 0, from = 0;
    unsigned each = j->out->time.median < LONG_NS ? CUDA_BATCH : 1;
    bool begun = false;
    *r = (struct reading){ 0 };
    *why = nvml_energy(j->d->nvml, &last);
    while (!*why && r->mj < steps * r->step + !r->step) {
        if (base_now_ns() > until) {
            *why = r->step ? "the counter moved by too few steps in 20 s"
                           : "the counter stood still for 20 s";
            break;
        }
        enum status st = cancel_asked(j->r->cancel) ? ST_CANCELLED : turns(j, launches, each);
        if (st != ST_OK)
            return st;
        n += each;
        show_life(j, &life);
        *why = nvml_energy(j->d->nvml, &now);
        if (*why || now == last)
            continue;
        if (!begun) { /* the first step: from here on */
            first = now;
            from = n;
            begun = true;
        } else {
            r->step = now - last > r->step ? now - last : r->step;
            r->mj = now - first;
            r->launches = n - from;
        }
        last = now;
    }
    return ST_OK;
}

static bool restores(const struct cuda_job *j)
{
    bool any = false;
    for (size_t i = 0; i < j->b->bound.nbuffers; i++)
        any |= j->b->buffers[i].modified;
    return any;
}

static double each_nj(const struct reading *r)
{
    return r->launches ? (double)r->mj * 1e6 / (double)r->launches : 0;
}

/* What a step of the counter comes to in it. */
static double step_nj(const struct reading *r)
{
    return r->mj ? each_nj(r) * (double)r->step / (double)r->mj : 0;
}

/* With restoring taken off; *why: set where the counter does not tell. */
static enum status read_difference(struct cuda_job *j, struct energy *e, const char **why)
{
    struct reading all, rest = { 0 };
    int64_t took = 0;
    for (double steps = STEPS, more; (double)took < LIMIT_NS; steps *= more) {
        int64_t begin = base_now_ns();
        enum status st = read_steps(j, true, (unsigned)steps, &all, why);
        took = base_now_ns() - begin;
        if (st == ST_OK && !*why && restores(j))
            st = read_steps(j, false, (unsigned)steps, &rest, why);
        if (st != ST_OK || *why)
            return st;
        e->nj = each_nj(&all) - each_nj(&rest);
        e->step = (step_nj(&all) + step_nj(&rest)) / e->nj;
        e->launches = all.launches;
        if (e->nj > 0 && e->step <= ENOUGH)
            return ST_OK;
        more =
            e->nj > 0 ? SPARE * e->step / ENOUGH : 4; /* what a step comes to falls with their number */
        took = (int64_t)((double)took * more);
    }
    *why = "it is little beside restoring the inputs";
    return ST_OK;
}

enum status cuda_energy(struct cuda_job *j)
{
    const struct energy none = { .nj = NAN, .step = NAN };
    struct energy *e = &j->out->energy;
    const char *why = NULL;
    enum status st = read_difference(j, e, &why);
    if (st == ST_OK && !why)
        return ST_OK;
    *e = none;
    if (why)
        snprintf(e->why, sizeof e->why, "%s", why);
    return st;
}
