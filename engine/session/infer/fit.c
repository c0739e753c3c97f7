/* A guess that runs is corrected until its threads have work and its buffers are used:
 *
 *   CTAs, threads without work     a smaller grid, a smaller block, where the outputs stay the same
 *   gaps between touched bytes     more CTAs along an axis, for as long as gaps close
 *   bytes behind the last touched  no part of the problem: the buffer ends there */
#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/device.h"
#include "engine/rec/launch.h"
#include "engine/session/infer/trying.h"
#include "engine/sim/sim.h"

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
    return infer_outputs_hash(now->r) == infer_outputs_hash(next->r) &&
           infer_undone(&next->work) <= infer_undone(&now->work) + 0.01;
}

/* Twice as many CTAs along a row, and rows half as long, touch twice as much of it. */
static bool fewer_gaps(const struct tried *now, const struct tried *next)
{
    return 1 - infer_undone(&next->work) > CLOSES * (1 - infer_undone(&now->work));
}

static bool less_undone(const struct tried *now, const struct tried *next)
{
    return fewer_gaps(now, next) ||
           infer_undone(&next->work) < infer_undone(&now->work) - INFER_UNDONE / 2;
}

static bool more_written(const struct tried *now, const struct tried *next)
{
    return (double)next->work.written > CLOSES * (double)now->work.written;
}

/* Rows that overlap write fewer words. */
static bool apart(const struct tried *now, const struct tried *next)
{
    return less_undone(now, next) && next->work.written >= now->work.written;
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
    if (g->shape.lanes && threads.x < LANES) /* those that touch no memory have a value for the others */
        threads.x = had.x < LANES ? had.x : LANES;
    g->grid = t->now.work.ctas;
    if (!dim3u_same(g->grid, t->now.l.grid))
        s = fit(t, was, same_outputs, &taken, &how);
    else
        put_shape(g, was);
    was = shape_now(g);
    if (s != ST_OK || dim3u_same(threads, had) || g->f->reqntid.x || g->asked.block.x)
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
    double each =
        result_counters(t->now.r)[COUNTER_INST_WARP].value / (double)dim3u_count(t->now.l.grid);
    return each * (double)dim3u_count(grid) > (double)t->most;
}

/* Twice as many CTAs along an axis, or along all that have more than one (GUESS_DIMS); false: it is long enough. */
static bool double_axis(const struct guess *g, struct dim3u *grid, unsigned axis)
{
    bool any = false;
    for (unsigned k = 0; k < GUESS_DIMS; k++) {
        uint32_t *n = axis_of(grid, k);
        if (k != axis && (axis < GUESS_DIMS || !g->shape.cta[k] || *n == 1))
            continue;
        if (*n >= LONGEST_AXIS)
            return false;
        *n *= 2;
        any = true;
    }
    return any;
}

/* Half as many along another axis where that is too much to try. */
static enum status grow_axis(struct trying *t, unsigned axis, bool *taken)
{
    struct shape_of was = shape_now(t->g);
    struct dim3u grid = t->now.l.grid;
    uint64_t had = dim3u_count(grid);
    enum trial how = TRIAL_LATE;
    enum status s = ST_OK;
    *taken = false;
    if (!double_axis(t->g, &grid, axis))
        return ST_OK;
    while (s == ST_OK && !*taken && how == TRIAL_LATE && !infer_spent(t)) {
        uint32_t *other;
        while (axis < GUESS_DIMS && too_much(t, grid) && (other = longest_other(&grid, axis)))
            *other /= 2;
        t->g->grid = grid;
        s = fit(t, was, fewer_gaps, taken, &how);
        if (s == ST_OK && how == TRIAL_OUTSIDE && t->size.count < infer_most_count(t->g)) {
            t->size.count *= 4; /* more room */
            t->g->grid = grid;
            s = fit(t, was, fewer_gaps, taken, &how);
            t->size.count /= *taken ? 1 : 4;
        }
        if (axis == GUESS_DIMS || !(other = longest_other(&grid, axis)))
            break;
        *other /= 2;
    }
    t->cut |= *taken && dim3u_count(t->now.l.grid) < 2 * had;
    return s;
}

/* Where each buffer may end for what stands. */
static const uint64_t *ends(struct trying *t)
{
    for (size_t i = 0; i < t->now.l.nargs; i++)
        t->now.reached[i] = t->now.reached[i] ? t->now.reached[i] : LEAST_BYTES;
    return t->now.reached;
}

static double gaps(const struct infer_work *w)
{
    double most = isnan(w->unread) ? 0 : w->unread;
    return isnan(w->unwritten) ? most : fmax(most, w->unwritten);
}

/* Rows as long as what is used of them; where they overlap then, half as long. */
static uint32_t shorter_row(const struct trying *t, uint32_t pitch, bool used)
{
    double n = ceil(pitch * (1 - gaps(&t->now.work)) - 1e-6);
    return used && n >= 1 && n < pitch ? (uint32_t)n : pitch / 2;
}

/* Shorter rows, where nothing but their length is said of them. */
static enum status shorten_rows(struct trying *t)
{
    enum status s = ST_OK;
    bool taken = true, used = true;
    for (unsigned k = 0; s == ST_OK && (taken || k == 1) && k < MOST_FITS && !infer_spent(t); k++) {
        enum trial how;
        struct size_guess was = t->size;
        used = taken && k < 2;
        t->size.pitch = shorter_row(t, was.pitch ? was.pitch : was.n, used);
        if (gaps(&t->now.work) <= INFER_UNDONE || t->g->asked.n || !t->size.pitch ||
            (!infer_has_bound(t->g, INFER_BOUNDS_PITCH) && !t->g->parts)) {
            t->size = was;
            return s;
        }
        struct shape_of whole = shape_now(t->g);
        t->g->bytes = ends(t); /* shorter rows end earlier */
        s = fit(t, whole, apart, &taken, &how);
        put_shape(t->g, whole);
        t->size = taken ? t->size : was;
    }
    return s;
}

/* Offsets of one element, where memory between is left out. */
static enum status shorten_offsets(struct trying *t)
{
    struct size_guess was = t->size;
    bool taken = false;
    enum trial how;
    if (gaps(&t->now.work) <= INFER_UNDONE || t->g->asked.n ||
        !infer_has_bound(t->g, INFER_BOUNDS_OFFSET))
        return ST_OK;
    struct shape_of whole = shape_now(t->g);
    t->size.offset = 1;
    enum status s = fit(t, whole, less_undone, &taken, &how);
    t->size = taken ? t->size : was;
    return s;
}

/* More CTAs along an axis that has one and is read, as long as they write more: whether a second one leaves a gap
 * behind the first tells more than one does. */
static enum status second_ctas(struct trying *t)
{
    enum status s = ST_OK;
    uint64_t sms = dev_describe(t->dev)->sms;
    for (unsigned axis = 0; s == ST_OK && axis < t->g->shape.dims; axis++) {
        bool taken =
            *axis_of(&t->now.l.grid, axis) == 1 && t->g->shape.cta[axis] && !t->g->shape.one_thread;
        while (s == ST_OK && taken && dim3u_count(t->now.l.grid) < sms && !infer_spent(t)) {
            struct shape_of was = shape_now(t->g);
            enum trial how;
            t->g->grid = t->now.l.grid;
            *axis_of(&t->g->grid, axis) *= 2;
            s = fit(t, was, more_written, &taken, &how);
        }
    }
    return s;
}

/* Twice the size, where it bounds CTAs: a grid alone would only add idle ones; twice the turns of a loop along rows
 * that are longer. */
static enum status grow_number(struct trying *t, uint32_t *number, enum infer_bound kind)
{
    enum status s = ST_OK;
    bool taken = infer_has_bound(t->g, kind) && !t->g->asked.n;
    while (s == ST_OK && taken && gaps(&t->now.work) > INFER_UNDONE && !infer_spent(t)) {
        struct shape_of was = shape_now(t->g);
        enum trial how;
        *number *= 2;
        if (kind == INFER_BOUNDS_CTAS)
            t->g->grid = (struct dim3u){ 0 };
        s = fit(t, was, less_undone, &taken, &how);
        *number /= taken ? 1 : 2;
    }
    return s;
}

static enum status close_gaps(struct trying *t)
{
    enum status s = grow_number(t, &t->size.n, INFER_BOUNDS_CTAS);
    if (s == ST_OK)
        s = grow_number(t, &t->size.turns, INFER_BOUNDS_TURNS);
    for (unsigned axis = 0, k = 0; s == ST_OK && axis <= GUESS_DIMS && k < MOST_FITS;) {
        bool taken = false;
        if (gaps(&t->now.work) <= INFER_UNDONE || infer_spent(t))
            return s;
        if ((axis == GUESS_DIMS || t->g->shape.cta[axis]) && !t->g->shape.one_thread && !t->g->asked.n) {
            s = grow_axis(t, axis, &taken);
            k++;
        }
        axis += !taken;
    }
    return s;
}

/* As much dynamic shared memory as is touched. */
static uint32_t shared_used(const struct trying *t)
{
    uint64_t of_launch =
        t->now.work.shared > t->shared_static ? t->now.work.shared - t->shared_static : 0;
    return t->g->shape.shared ? (uint32_t)(of_launch + LEAST_BYTES - 1) / LEAST_BYTES * LEAST_BYTES : 0;
}

/* Buffers and shared memory that end where the launch ends, checked; *how TRIAL_OUTSIDE: they may not. */
static enum status trim(struct trying *t, unsigned look, enum trial *how)
{
    struct shape_of was = shape_now(t->g);
    uint32_t shared = t->g->shape.shared;
    t->g->bytes = ends(t);
    t->g->shape.shared = t->simulated ? shared_used(t) : shared;
    enum status s = infer_try_next(t, t->size, LOOK_WORK | look, how);
    if (s == ST_OK && (*how == TRIAL_WORKS || *how == TRIAL_UNCLEAN))
        infer_take_next(t);
    put_shape(t->g, was);
    t->g->shape.shared = shared;
    return s;
}

/* t->now checked, with buffers that end where it ends if that goes. Each word that a lane touches is looked up: of
 * what is too much, the first CTAs are checked, and all of them run. */
static enum status check(struct trying *t, enum trial *how)
{
    enum status s = ST_OK;
    const struct infer_work work = t->now.work;
    double insts = result_counters(t->now.r)[COUNTER_INST_WARP].value;
    bool part = work.touched > CHECKED_WORDS;
    t->most = part ? (uint64_t)(insts * CHECKED_WORDS / (double)work.touched) : CHECKED_INSTS / t->part;
    t->now.checked_part = false;
    *how = TRIAL_OUTSIDE;
    if (work.known)
        s = trim(t, LOOK_RACES, how);
    if (s == ST_OK && part && *how == TRIAL_LATE) {
        t->most = CHECKED_INSTS / t->part;
        s = trim(t, 0, how);
        t->now.checked_part = *how == TRIAL_WORKS;
    }
    if (s == ST_OK && *how != TRIAL_WORKS && *how != TRIAL_UNCLEAN)
        s = infer_trial(t, &t->now, LOOK_WORK | LOOK_RACES, how);
    if (*how == TRIAL_UNCLEAN) /* it ended there: what it does was measured before */
        t->now.work = work;
    return s;
}

/* A part of the CTAs in some order, as many as a trial takes, of what g says; they stay inside. */
static enum status try_part(struct trying *t, enum sim_order order, bool *inside)
{
    enum trial how;
    t->order = (uint8_t)order;
    enum status s = infer_try_next(t, t->size, LOOK_WORK, &how);
    t->order = 0;
    *inside = s == ST_OK && (how == TRIAL_LATE || how == TRIAL_WORKS);
    return s;
}

/* An axis that was cut to try a longer one gets a square's side again. That is too much to try whole: its last CTAs
 * are, which tell where the buffers end, and its first. */
static enum status square(struct trying *t)
{
    struct guess *g = t->g;
    struct shape_of was = shape_now(g);
    struct size_guess size = t->size;
    const struct block_guess *b = &g->blocks[t->block];
    struct dim3u covers = dim3u_same(b->covers, b->block) ? t->now.l.block : b->covers,
                 whole = t->now.l.grid;
    uint32_t side = 0;
    bool inside = false;
    enum status s = ST_OK;
    for (unsigned k = 0; k < g->shape.dims; k++)
        if (*axis_of(&whole, k) * *axis_of(&covers, k) > side)
            side = *axis_of(&whole, k) * *axis_of(&covers, k);
    for (unsigned k = 0; k < g->shape.dims; k++)
        if (g->shape.cta[k])
            *axis_of(&whole, k) = (side + *axis_of(&covers, k) - 1) / *axis_of(&covers, k);
    g->grid = whole;
    t->most = TRIAL_INSTS / t->part;
    while (s == ST_OK && !inside && t->size.count <= infer_most_count(g)) {
        s = try_part(t, ORDER_DOWN, &inside);
        t->size.count *= inside ? 1 : 4;
    }
    g->bytes = t->next.reached;
    if (inside && s == ST_OK)
        s = try_part(t, ORDER_UP, &inside);
    put_shape(g, was);
    if (inside) {
        struct launch_spec small = t->now.l;
        t->now.l = t->next.l;
        t->next.l = small;
    }
    t->now.in_part = inside;
    t->size = inside ? t->size : size;
    return s;
}

enum status infer_fit(struct trying *t, bool *clean)
{
    static enum status (*const steps[])(struct trying *) = { shrink, shorten_offsets, shorten_rows,
                                                             second_ctas, close_gaps };
    enum trial how;
    bool taken;
    t->cut = t->now.in_part = false;
    enum status s = fit(t, shape_now(t->g), any_outputs, &taken, &how);
    bool fits = s == ST_OK && taken && t->now.work.known;
    t->left = t->left < ALL_INSTS / t->part / 2 ? ALL_INSTS / t->part / 2
                                                : t->left; /* of its own: growing may take all */
    for (size_t i = 0; fits && s == ST_OK && i < ARRAY_LEN(steps); i++)
        s = steps[i](t);
    if (s == ST_OK)
        s = check(t, &how);
    if (s == ST_OK && how == TRIAL_UNCLEAN && t->size.pitch) { /* rows that overlap */
        t->size.pitch = 0;
        s = fit(t, shape_now(t->g), any_outputs, &taken, &how);
        s = s == ST_OK ? check(t, &how) : s;
    }
    if (s == ST_OK && how == TRIAL_UNCLEAN && !t->unclean[0])
        snprintf(t->unclean, sizeof t->unclean, "%s", result_message(t->now.r));
    *clean = s == ST_OK && how == TRIAL_WORKS;
    return *clean && t->cut ? square(t) : s;
}
