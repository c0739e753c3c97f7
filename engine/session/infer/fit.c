/* A guess that runs is corrected until its threads have work and its buffers are used:
 *
 *   CTAs, threads without work     a smaller grid, a smaller block, where the outputs stay the same
 *   gaps between touched bytes     more CTAs along an axis, for as long as gaps close
 *   bytes behind the last touched  no part of the problem: the buffer ends there */
#include "engine/base/base.h"
#include "engine/rec/counters.h"
#include "engine/rec/launch.h"
#include "engine/session/infer/trying.h"

#include <math.h>
#include <stdio.h>

enum { MOST_FITS = 16, LANES = 32, LEAST_BYTES = 1024, LONGEST_AXIS = 1 << 15 };

#define CLOSES 1.6

/* What g says of grid, block and buffers. */
struct shape_of {
    struct dim3u grid, threads;
    const uint64_t *bytes;
};
static struct shape_of shape_now(const struct guess *g)
{
    return (struct shape_of){ g->grid, g->threads, g->bytes };
}
static void put_shape(struct guess *g, struct shape_of s)
{
    g->grid = s.grid;
    g->threads = s.threads;
    g->bytes = s.bytes;
}

static bool same(struct dim3u a, struct dim3u b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* Tried as g says now; taken where `better` says so, else g is as `was`. */
static enum status fit(struct trying *t, struct shape_of was,
                       bool (*better)(const struct tried *now, const struct tried *next), bool *taken,
                       enum trial *how)
{
    enum status s = infer_try_next(t, t->size, LOOK_WORK, how);
    *taken = s == ST_OK && *how == TRIAL_WORKS && better(&t->now, &t->next);
    if (*taken)
        infer_take_next(t);
    else
        put_shape(t->g, was);
    return s;
}

static bool same_outputs(const struct tried *now, const struct tried *next)
{
    return infer_outputs_hash(&now->r) == infer_outputs_hash(&next->r) &&
           infer_undone(&next->work) <= infer_undone(&now->work) + 0.01;
}

/* Twice as many CTAs along a row, and rows half as long, touch twice as much of it. */
static bool fewer_gaps(const struct tried *now, const struct tried *next)
{
    return 1 - infer_undone(&next->work) > CLOSES * (1 - infer_undone(&now->work));
}

static bool any_outputs(const struct tried *now, const struct tried *next)
{
    (void)now;
    (void)next;
    return true;
}

/* Warps stay whole; what is smaller than one is a power of two. */
static uint32_t round_threads(uint32_t n, uint32_t most)
{
    uint32_t up = 1;
    while (up < n && up < LANES)
        up *= 2;
    if (n > LANES)
        up = (n + LANES - 1) / LANES * LANES;
    return up < most ? up : most;
}

static enum status shrink(struct trying *t)
{
    struct guess *g = t->g;
    struct shape_of was = shape_now(g);
    struct dim3u box = t->now.work.threads, had = t->now.l.block;
    struct dim3u threads = { round_threads(box.x, had.x), round_threads(box.y, had.y),
                             round_threads(box.z, had.z) };
    bool taken;
    enum trial how;
    enum status s = ST_OK;
    g->grid = t->now.work.ctas;
    if (!same(g->grid, t->now.l.grid))
        s = fit(t, was, same_outputs, &taken, &how);
    else
        put_shape(g, was);
    was = shape_now(g);
    if (s != ST_OK || same(threads, had) || g->f->reqntid.x || g->asked.block.x)
        return s;
    g->grid = t->now.l.grid;
    g->threads = threads;
    return fit(t, was, same_outputs, &taken, &how);
}

static uint32_t *axis_of(struct dim3u *d, unsigned axis)
{
    return axis == 0 ? &d->x : axis == 1 ? &d->y : &d->z;
}

/* The longest of the other axes; NULL: they are one CTA long. */
static uint32_t *longest_other(struct dim3u *d, unsigned axis)
{
    uint32_t *most = NULL;
    for (unsigned k = 0; k < GUESS_DIMS; k++)
        if (k != axis && *axis_of(d, k) > 1 && (!most || *axis_of(d, k) > *most))
            most = axis_of(d, k);
    return most;
}

/* By the work of the CTAs that there are. */
static bool too_much(const struct trying *t, struct dim3u grid)
{
    double each = t->now.r.counters[COUNTER_INST_WARP].value / (double)dim3u_count(t->now.l.grid);
    return each * (double)dim3u_count(grid) > (double)t->most;
}

/* Twice as many CTAs along one axis; half as many along another where that is too much to try. */
static enum status grow_axis(struct trying *t, unsigned axis, bool *taken)
{
    struct shape_of was = shape_now(t->g);
    struct dim3u grid = t->now.l.grid;
    enum trial how = TRIAL_LATE;
    enum status s = ST_OK;
    *taken = false;
    if (*axis_of(&grid, axis) >= LONGEST_AXIS)
        return ST_OK;
    *axis_of(&grid, axis) *= 2;
    while (s == ST_OK && !*taken && how == TRIAL_LATE && !infer_spent(t)) {
        uint32_t *other;
        while (too_much(t, grid) && (other = longest_other(&grid, axis)))
            *other /= 2;
        t->g->grid = grid;
        s = fit(t, was, fewer_gaps, taken, &how);
        if (s == ST_OK && how == TRIAL_OUTSIDE && t->size.count < infer_most_count(t->g)) {
            t->size.count *= 4; /* more room */
            t->g->grid = grid;
            s = fit(t, was, fewer_gaps, taken, &how);
            t->size.count /= *taken ? 1 : 4;
        }
        if (!(other = longest_other(&grid, axis)))
            break;
        *other /= 2;
    }
    return s;
}

static double gaps(const struct infer_work *w)
{
    double most = isnan(w->unread) ? 0 : w->unread;
    return isnan(w->unwritten) ? most : fmax(most, w->unwritten);
}

/* Where each buffer may end for what stands. */
static const uint64_t *ends(struct trying *t)
{
    for (size_t i = 0; i < t->now.l.nargs; i++)
        t->now.reached[i] = t->now.reached[i] ? t->now.reached[i] : LEAST_BYTES;
    return t->now.reached;
}

/* Rows half as long, where nothing but their length is said of them. */
static enum status shorten_rows(struct trying *t)
{
    enum status s = ST_OK;
    bool taken = true;
    for (unsigned k = 0; s == ST_OK && taken && k < MOST_FITS && !infer_spent(t); k++) {
        enum trial how;
        struct size_guess was = t->size;
        t->size.pitch = (was.pitch ? was.pitch : was.n) / 2;
        if (gaps(&t->now.work) <= INFER_UNDONE || t->g->asked.n || !t->size.pitch ||
            !infer_has_rows(t->g)) {
            t->size = was;
            return s;
        }
        struct shape_of whole = shape_now(t->g);
        t->g->bytes = ends(t); /* shorter rows end earlier */
        s = fit(t, whole, fewer_gaps, &taken, &how);
        put_shape(t->g, whole);
        t->size = taken ? t->size : was;
    }
    return s;
}

static enum status close_gaps(struct trying *t)
{
    enum status s = ST_OK;
    for (unsigned axis = 0, k = 0; s == ST_OK && axis < GUESS_DIMS && k < MOST_FITS;) {
        bool taken = false;
        if (gaps(&t->now.work) <= INFER_UNDONE || infer_spent(t))
            return s;
        if (t->g->shape.cta[axis] && !t->g->shape.one_thread && !t->g->asked.n) {
            s = grow_axis(t, axis, &taken);
            k++;
        }
        axis += !taken;
    }
    return s;
}

/* Buffers that end where the launch ends, checked; *how TRIAL_OUTSIDE: they may not. */
static enum status trim(struct trying *t, enum trial *how)
{
    struct shape_of was = shape_now(t->g);
    t->g->bytes = ends(t);
    enum status s = infer_try_next(t, t->size, LOOK_WORK | LOOK_RACES, how);
    if (s == ST_OK && (*how == TRIAL_WORKS || *how == TRIAL_UNCLEAN))
        infer_take_next(t);
    put_shape(t->g, was);
    return s;
}

/* t->now checked, with buffers that end where it ends if that goes. */
static enum status check(struct trying *t, enum trial *how)
{
    enum status s = ST_OK;
    t->most = CHECKED_INSTS;
    *how = TRIAL_OUTSIDE;
    if (t->now.work.known)
        s = trim(t, how);
    if (s == ST_OK && *how != TRIAL_WORKS && *how != TRIAL_UNCLEAN)
        s = infer_trial(t, &t->now, LOOK_WORK | LOOK_RACES, how);
    return s;
}

enum status infer_fit(struct trying *t, bool *clean)
{
    enum trial how;
    bool taken;
    enum status s = fit(t, shape_now(t->g), any_outputs, &taken, &how);
    bool fits = s == ST_OK && taken && t->now.work.known;
    t->left = t->left < ALL_INSTS / 4 ? ALL_INSTS / 4 : t->left; /* of its own: growing may take all */
    if (fits)
        s = shrink(t);
    if (fits && s == ST_OK)
        s = shorten_rows(t);
    if (fits && s == ST_OK)
        s = close_gaps(t);
    if (s == ST_OK)
        s = check(t, &how);
    if (s == ST_OK && how == TRIAL_UNCLEAN && t->size.pitch) { /* rows that overlap */
        t->size.pitch = 0;
        s = fit(t, shape_now(t->g), any_outputs, &taken, &how);
        s = s == ST_OK ? check(t, &how) : s;
    }
    if (s == ST_OK && how == TRIAL_UNCLEAN && !t->unclean[0])
        snprintf(t->unclean, sizeof t->unclean, "%s", t->now.r.message);
    *clean = s == ST_OK && how == TRIAL_WORKS;
    return s;
}
