/* Guesses are tried until one is clean: inside its buffers, no race, no read of shared memory that
 * nobody wrote, and something written; of several, the one that leaves least undone. What a trial may
 * take is counted in instructions, so that a guess is the same on a machine that is busy.
 *
 *   outside its buffers, no end    smaller sizes, then more room
 *   a race, unwritten memory       another block
 *   idle threads, untouched bytes  another grid, another block (fit.c)
 *   no output changes              smaller sizes: a product of sizes may overflow */
#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/ptx/label.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/device.h"
#include "engine/rec/launch.h"
#include "engine/session/infer/infer.h"
#include "engine/session/infer/trying.h"

#include <stdio.h>
#include <string.h>

enum {
    MOST_CTAS = 1024 /* that a guess grows to */,
    LEAST_TURNS = 16,
    LANES = 32,
    VECTOR = 16 /* bytes that one access moves at most */,
    FEW_TURNS = 4 /* of what is done over and over */,
    MOST_BLOCKS = 4 /* that run and leave something undone */,
    MOST_ROOM = 1 << 21 /* elements, where more did not help before */,
    MOST_IDLE = 5 /* sizes that change no output; half of them, where none did before */
};

/* By the number of grid dimensions that the kernel reads: kernels without loops; those that loop up to what
 * bounds their CTAs too, and touch n, n*n or n*n*n elements; those whose loops have a bound of their
 * own. */
static const struct size_guess first_sizes[3][GUESS_DIMS] = {
    { { 1u << 20, 1u << 20, 1024, 128, 0, 0, 0 },
      { 1024, 1u << 20, 1024, 256, 0, 0, 0 },
      { 128, 1u << 21, 128, 128, 0, 0, 0 } },
    { { 1024, 1u << 20, 1024, 128, 0, 0, 0 },
      { 256, 1u << 18, 256, 256, 0, 0, 0 },
      { 64, 1u << 18, 64, 64, 0, 0, 0 } },
    { { 1u << 16, 1u << 21, 1024, 32, 0, 0, 0 },
      { 256, 1u << 20, 256, 256, 0, 0, 0 },
      { 64, 1u << 20, 64, 32, 0, 0, 0 } },
};
/* Then smaller problems, then more room. */
static const struct size_guess next_sizes[] = {
    { 1u << 16, 1u << 20, 1024, 32, 0, 0, 0 }, { 4096, 1u << 20, 1024, 32, 0, 0, 0 },
    { 4096, 1u << 20, 64, 8, 0, 0, 0 },        { 1024, 1u << 20, 256, 32, 0, 0, 0 },
    { 256, 1u << 20, 256, 32, 0, 0, 0 },       { 128, 1u << 21, 128, 128, 0, 0, 0 },
    { 256, 1u << 20, 16, 4, 0, 0, 0 },         { 64, 1u << 20, 64, 32, 0, 0, 0 },
    { 16, 1u << 20, 16, 16, 0, 0, 0 },         { 256, 1u << 24, 256, 32, 0, 0, 0 },
    { 64, 1u << 24, 64, 32, 0, 0, 0 }
};
#define NSIZES (1 + ARRAY_LEN(next_sizes))
/* Values of integers that are places in a small array: as many of them, then the letters of a genome. */
static const uint32_t few_values[] = { 16, 4 };

/* t's size and block tried; t->now has them. *how: whether it runs, and writes. */
static enum status try_one(struct trying *t, enum trial *how)
{
    t->g->wider = 1;
    t->g->grid = t->g->threads = (struct dim3u){ 0 };
    enum status s = infer_try_next(t, t->size, 0, how);
    infer_take_next(t);
    t->leaves |= *how == TRIAL_OUTSIDE;
    if (*how == TRIAL_IDLE && !t->found_idle) {
        t->found_idle = true;
        t->idle = t->size;
        t->idle_block = t->block;
        t->idle_brief = t->g->brief;
    }
    return s;
}

/* The guess of g's state with `size`, taken where it works and its outputs are others; *better says
 * whether, *how what came of it. */
static enum status replace(struct trying *t, struct size_guess size, enum trial *how, bool *better)
{
    enum status s = infer_try_next(t, size, 0, how);
    *better = s == ST_OK && *how == TRIAL_WORKS &&
              infer_outputs_hash(t->next.r) != infer_outputs_hash(t->now.r);
    if (*better)
        infer_take_next(t);
    return s;
}

/* More CTAs, for as long as they write more: where a thread's index runs to a product of sizes, or a CTA
 * has a row. */
static enum status grow(struct trying *t)
{
    struct guess *g = t->g;
    enum status s = ST_OK;
    enum trial how;
    bool few = dim3u_count(t->now.l.grid) < (uint64_t)dev_describe(t->dev)->sms;
    bool better = (g->shape.dims == 1 || few) && !g->shape.one_thread && g->shape.cta[0];
    while (s == ST_OK && better && (uint64_t)t->now.l.grid.x * 4 <= MOST_CTAS && !infer_spent(t) &&
           result_counters(t->now.r)[COUNTER_INST_WARP].value < (double)(TRIAL_INSTS / t->part / 4)) {
        g->wider *= 4;
        s = replace(t, t->size, &how, &better);
        if (!better)
            g->wider /= 4;
    }
    return s;
}

/* Sizes that a CTA's part does not divide let CTAs meet. */
static uint32_t whole_parts(struct dim3u covers, uint32_t n)
{
    uint32_t most = covers.x > covers.y ? covers.x : covers.y;
    return n > UINT32_MAX - most ? n : (n + most - 1) / most * most;
}

/* Sizes that cover more CTAs, for as long as the device has SMs without one: of an array first, then of
 * a square of that side. */
static enum status fill_device(struct trying *t)
{
    const struct guess *g = t->g;
    uint64_t sms = dev_describe(t->dev)->sms;
    bool better = !g->asked.n && g->wider == 1 && !g->shape.one_thread;
    enum trial how;
    enum status s = ST_OK;
    t->most = GROWN_INSTS / t->part;
    while (s == ST_OK && better && dim3u_count(t->now.l.grid) < sms && !infer_spent(t)) {
        struct size_guess now = t->size, next = now;
        uint64_t had = dim3u_count(t->now.l.grid);
        next.n *= 2;
        if (g->blocks[t->block].fixed)
            next.n = whole_parts(g->blocks[t->block].covers, next.n);
        s = replace(t, next, &how, &better);
        if (s == ST_OK && how == TRIAL_OUTSIDE && !infer_spent(t)) {
            next.count *= 4;
            s = replace(t, next, &how, &better);
        }
        if (s == ST_OK && how == TRIAL_LATE && next.turns > LEAST_TURNS && !infer_spent(t)) {
            next.turns /= 4; /* less work of more CTAs */
            s = replace(t, next, &how, &better);
        }
        t->size = better ? next : now;
        better = better && next.count < infer_most_count(g) && dim3u_count(t->now.l.grid) > had;
    }
    return s;
}

static bool any_updated(const struct guess *g)
{
    for (uint32_t p = 0; p < g->f->nparams; p++)
        if (g->use[p].loaded && g->use[p].stored)
            return true;
    return false;
}

/* Flags that CTAs wait for and set: of a launch before, or random, they would let nobody wait. */
static bool any_flag(const struct guess *g)
{
    bool any = false;
    for (uint32_t p = 0; p < g->f->nparams; p++)
        any |= g->use[p].flag && g->use[p].stored;
    return any;
}

/* Integers bound its CTAs, and none of them a loop as well. */
static bool loops_apart(const struct guess *g)
{
    bool any = false, both = false;
    for (uint32_t p = 0; p < g->f->nparams; p++) {
        unsigned by = infer_bounds_of(g, infer_param_load(g, p, 0));
        any |= by == INFER_BOUNDS_CTAS;
        both |= by & INFER_BOUNDS_CTAS && by & (INFER_BOUNDS_TURNS | INFER_BOUNDS_THREADS);
    }
    return any && !both;
}

/* Size i of a block; false: as the one before. */
static bool set_size(struct trying *t, unsigned i)
{
    const struct guess *g = t->g;
    struct size_guess first = first_sizes[g->loops ? 1 + loops_apart(g) : 0][g->shape.dims - 1],
                      s = i ? next_sizes[i - 1] : first;
    if (i && s.n >= first.n && s.turns >= first.turns && s.count <= t->size.count)
        return false;
    if (g->asked.n)
        s.n = s.row = s.turns = g->asked.n;
    if (g->blocks[t->block].fixed)
        s.n = whole_parts(g->blocks[t->block].covers, s.n);
    t->size = s;
    return true;
}

static bool any_counts_turns(const struct guess *g)
{
    for (uint32_t p = 0; p < g->f->nparams; p++) {
        const struct ptx_inst *x = infer_param_load(g, p, 0);
        if (x && x->opnds[0].kind == OPND_REG && infer_counts_turns(g->f, x->opnds[0].index) > 0)
            return true;
    }
    return false;
}

/* What is read through a pointer is not known, as where one of two is taken. */
static bool any_untyped(const struct guess *g)
{
    for (uint32_t p = 0; p < g->f->nparams; p++)
        if (g->use[p].type == PTX_T_NONE && infer_loads_address(g, infer_param_load(g, p, 0)))
            return true;
    return false;
}

/* As many turns as a trial may take, in powers of two, where a few work. */
static enum status more_turns(struct trying *t, enum trial *how)
{
    double each = result_counters(t->now.r)[COUNTER_INST_WARP].value / FEW_TURNS;
    uint32_t few = t->g->brief, turns = few;
    while (turns * 2 <= t->size.turns && each * turns * 2 <= (double)(TRIAL_INSTS / t->part) / 2)
        turns *= 2;
    if (turns == few)
        return ST_OK;
    t->g->brief = turns;
    enum status s = try_one(t, how);
    if (s == ST_OK && *how != TRIAL_WORKS) {
        t->g->brief = few;
        s = try_one(t, how);
    }
    return s;
}

/* Integers in memory are places in a small array. */
static enum status try_few(struct trying *t, enum trial *how)
{
    enum status s = ST_OK;
    for (size_t k = 0; s == ST_OK && *how == TRIAL_OUTSIDE && k < ARRAY_LEN(few_values); k++) {
        t->g->few = few_values[k];
        s = try_one(t, how);
    }
    t->g->few = *how == TRIAL_WORKS ? t->g->few : 0;
    return s;
}

/* What changes no output may write what is there: then it works. */
static enum status writes_all(struct trying *t, enum trial *how)
{
    t->size = t->idle;
    t->may_idle = true;
    enum status s = infer_try_next(t, t->size, LOOK_WORK, how);
    infer_take_next(t);
    const struct infer_work *w = &t->now.work;
    bool all = s == ST_OK && *how == TRIAL_WORKS && w->known && w->unwritten <= INFER_UNDONE &&
               w->idle_ctas <= INFER_UNDONE && w->idle_threads <= INFER_UNDONE;
    t->may_idle = all;
    *how = all ? TRIAL_WORKS : TRIAL_IDLE;
    return s;
}

/* One size with the data that it may want. */
static enum status try_size(struct trying *t, enum trial *how)
{
    enum status s = try_one(t, how);
    if (s == ST_OK && *how == TRIAL_LATE && !t->g->zero && any_updated(t->g)) {
        t->g->zero = true; /* it may wait for a flag, or look for an empty place */
        s = try_one(t, how);
        t->g->zero = *how == TRIAL_WORKS;
    }
    if (s == ST_OK && *how == TRIAL_IDLE && !t->all_idle && infer_has_bound(t->g, INFER_BOUNDS_OFFSET)) {
        t->size.offset = 1; /* it may move the index out of its bounds */
        s = try_one(t, how);
    }
    if (s == ST_OK && *how == TRIAL_OUTSIDE && t->g->counted && !t->g->few)
        s = try_few(t, how);
    if (s == ST_OK && t->g->indexed && !t->g->ends &&
        (*how == TRIAL_LATE || (*how == TRIAL_OUTSIDE && any_untyped(t->g)))) {
        t->g->ends = true; /* it may follow a list, or go down a tree */
        s = try_one(t, how);
        t->g->ends = *how == TRIAL_WORKS;
    }
    if (s == ST_OK && *how == TRIAL_LATE && !t->g->brief && any_counts_turns(t->g)) {
        t->g->brief = FEW_TURNS; /* it may do all of it over and over */
        s = try_one(t, how);
        t->g->brief = *how == TRIAL_WORKS ? FEW_TURNS : 0;
        if (s == ST_OK && t->g->brief)
            s = more_turns(t, how);
    }
    return s;
}

/* One block: sizes from the first down. What changes no output does not with more room, either. */
static enum status walk(struct trying *t, enum trial *how)
{
    enum status s = ST_OK;
    unsigned outside = 0, idle = 0, most = t->all_idle ? MOST_IDLE / 2 : MOST_IDLE;
    struct size_guess was = { 0 };
    for (unsigned i = 0; s == ST_OK && i < NSIZES && idle < most && !infer_spent(t); i++) {
        if (!set_size(t, i) || (t->outside && t->size.n > 256) ||
            (was.n && (t->size.n >= was.n || t->size.count > was.count)) ||
            (t->room && t->size.count > t->room))
            continue;
        s = try_size(t, how);
        outside += *how == TRIAL_OUTSIDE;
        idle += *how == TRIAL_IDLE;
        was = *how == TRIAL_IDLE ? t->size : (struct size_guess){ 0 };
        if (*how == TRIAL_WORKS || *how == TRIAL_FAILS || *how == TRIAL_UNCLEAN ||
            (t->outside && outside > 2))
            return s;
    }
    t->outside |= outside > 2;
    t->room = *how == TRIAL_OUTSIDE ? MOST_ROOM : t->room;
    bool first = idle == most && !t->all_idle;
    t->all_idle |= idle == most;
    return s == ST_OK && first && t->simulated ? writes_all(t, how) : s;
}

/* Extents that the text fixes: one CTA stays inside where the fewest of any size do not; more come where they write. */
static enum status one_cta(struct trying *t, enum trial *how)
{
    const struct guess *g = t->g;
    if (!t->simulated || g->asked.n || g->shape.one_thread)
        return ST_OK;
    t->g->grid = (struct dim3u){ 1, 1, 1 };
    t->size.count = t->size.count < MOST_ROOM ? t->size.count : MOST_ROOM;
    enum status s = infer_try_next(t, t->size, 0, how);
    if (s == ST_OK && *how == TRIAL_WORKS)
        infer_take_next(t);
    else
        t->g->grid = (struct dim3u){ 0 };
    return s;
}

/* What runs with one block: as many CTAs as the device has SMs, all of them at work. */
static enum status finish(struct trying *t, bool *clean)
{
    if (t->g->grid.x)
        return infer_fit(t, clean);
    bool one = t->g->shape.dims == 1;
    enum status s = one ? grow(t) : ST_OK;
    if (s == ST_OK)
        s = fill_device(t);
    if (s == ST_OK && !one) /* only what larger sizes did not bring: they keep a square square */
        s = grow(t);
    return s == ST_OK ? infer_fit(t, clean) : s;
}

/* Clean before unclean, then the one that leaves less undone. */
static void keep_best(struct trying *t, bool clean)
{
    double undone = infer_undone(&t->now.work);
    if (t->any && (t->clean > clean ||
                   (t->clean == clean && undone > infer_undone(&t->best.work) - INFER_UNDONE / 2)))
        return;
    struct tried was = t->best;
    t->best = t->now;
    t->now = was;
    t->any = true;
    t->clean = clean;
    t->best_size = t->size;
    t->best_block = t->block;
}

static bool good(const struct trying *t)
{
    return t->any && t->clean && infer_undone(&t->best.work) <= INFER_UNDONE;
}

/* A block that threads of a CTA race with, at the size that runs first. */
static enum status block_races(struct trying *t, bool *races)
{
    enum trial how = TRIAL_WORKS;
    enum status s = ST_OK;
    t->most = BLOCK_INSTS;
    if (t->simulated && t->g->shape.tiles)
        s = infer_trial(t, &t->now, LOOK_RACES, &how);
    *races = how == TRIAL_UNCLEAN;
    if (*races && !t->unclean[0])
        snprintf(t->unclean, sizeof t->unclean, "%s", result_message(t->now.r));
    return s;
}

/* What only bounds threads, as a halo does, is no more than a block has. */
static enum status block_rows(struct trying *t, enum trial *how, bool *races)
{
    uint64_t threads = dim3u_count(t->now.l.block);
    enum status s = ST_OK;
    if (!*races || t->g->asked.n || t->size.row <= threads ||
        !infer_has_bound(t->g, INFER_BOUNDS_THREADS))
        return ST_OK;
    t->size.row = (uint32_t)threads;
    t->most = TRIAL_INSTS / t->part;
    s = try_one(t, how);
    return s == ST_OK && *how == TRIAL_WORKS ? block_races(t, races) : s;
}

/* Pointers lead as far into their buffers as something in front of them is touched. */
static enum status find_fronts(struct trying *t, enum trial *how)
{
    struct guess *g = t->g;
    const struct launch_spec *l = &t->now.l;
    enum status s = infer_trial(t, &t->now, LOOK_WORK, how);
    for (uint32_t p = 0; p < g->f->nparams; p++) {
        const struct arg_spec *a = &l->args[p];
        uint64_t first = a->kind == ARG_SAME_AS && t->now.work.known
                             ? t->now.first[launch_arg_named(l, a->same_as)]
                             : UINT64_MAX;
        g->front[p] = first < a->offset ? (a->offset - first + VECTOR - 1) / VECTOR * VECTOR : 0;
    }
    g->ahead = false;
    return s == ST_OK && *how == TRIAL_WORKS ? try_one(t, how) : s;
}

/* t's block with sizes that run, made fit and kept where it is the best so far. *end: no further block. */
static enum status one_block(struct trying *t, unsigned *ran, bool *end)
{
    enum trial how = TRIAL_FAILS;
    bool clean = false, races = false;
    t->most = TRIAL_INSTS / t->part;
    t->g->ahead = t->ahead;
    enum status s = walk(t, &how);
    if (s == ST_OK && how == TRIAL_OUTSIDE && !infer_spent(t))
        s = one_cta(t, &how);
    /* no end, or nothing to do, whatever the block */
    *end = how == TRIAL_LATE ||
           (how == TRIAL_IDLE && t->all_idle && t->g->blocks[t->block].why == INFER_COMMON);
    if (s == ST_OK && how == TRIAL_WORKS && t->ahead)
        s = find_fronts(t, &how);
    if (s == ST_OK && how == TRIAL_WORKS)
        s = block_races(t, &races);
    if (s == ST_OK && how == TRIAL_WORKS)
        s = block_rows(t, &how, &races);
    if (s != ST_OK || how != TRIAL_WORKS)
        return s;
    if (!races)
        s = finish(t, &clean);
    if (s == ST_OK)
        keep_best(t, clean);
    *ran += clean;
    bool threads_work = t->now.work.idle_threads <= INFER_UNDONE, asks = infer_asks_block(t->g->f);
    *end = good(t) || (asks && *ran >= MOST_BLOCKS) ||
           (clean && t->g->shape.block_dims == 1 && threads_work && asks);
    return s;
}

/* One warp, only because warps race in memory that no block shares: that is none of the block's. */
static bool hides_race(const struct trying *t)
{
    const struct block_guess *b = &t->g->blocks[t->block];
    const struct infer_shape *s = &t->g->shape;
    return b->why == INFER_COMMON && dim3u_count(b->block) <= LANES && t->any && !t->clean &&
           !s->tiles && !s->lanes && infer_asks_block(t->g->f);
}

static enum status all_blocks(struct trying *t)
{
    enum status s = ST_OK;
    bool end = false;
    unsigned ran = 0;
    for (t->block = 0; s == ST_OK && !end && t->block < t->g->nblocks && !infer_spent(t); t->block++)
        if (!hides_race(t))
            s = one_block(t, &ran, &end);
    return s;
}

/* One kind of data after the other, until one runs clean: as the code seems to want them; offsets of
 * something else; wide numbers taken for pointers; flags, counters and tables that start empty (first,
 * where CTAs wait for each other's flags); a few small integers, where they are places in a small array. */
static enum status all_data(struct trying *t)
{
    struct guess *g = t->g;
    bool rows = g->rows;
    enum status s = ST_OK;
    for (unsigned n = 0; s == ST_OK && !(t->any && t->clean) && n < 5; n++) {
        unsigned kind = n < 4 && any_flag(g) ? (n + 3) % 4 : n;
        bool use = !kind || (kind == 1   ? rows
                             : kind == 2 ? infer_hides_pointers(g)
                             : kind == 3 ? any_updated(g)
                                         : g->indexed);
        if (!use)
            continue;
        g->rows = rows && (!kind || kind == 3);
        g->all_wide |= kind == 2;
        g->zero = kind == 3;
        g->few = kind == 4 && !g->few ? few_values[0] : g->few;
        t->left = n ? ALL_INSTS / t->part / 2 : ALL_INSTS / t->part;
        t->trials = 0;
        t->outside = false;
        s = all_blocks(t);
    }
    g->rows = rows;
    g->few = t->any ? g->few : 0;
    return s;
}

static void warn(struct trying *t, const char *what, const char *why)
{
    snprintf(t->why, sizeof t->why, "no guess makes it %s: %.180s", what, why);
    char name[PTX_LABEL], label[PTX_LABEL];
    const struct str full = t->g->f->name;
    snprintf(name, sizeof name, "%.*s", (int)full.n, full.s);
    struct diag *d = diag_add(t->ds, DIAG_WARNING, "guess", t->g->facts->module->path, NO_SPAN,
                              "no guess made '%s' %s: %.180s", ptx_label(name, label), what, why);
    diag_hint(d, "set the sizes and data in the description by hand");
}

/* The first output whose bytes are others in `other`; NULL: none. Those with a tolerance may differ. */
static const char *other_output(const struct tried *x, const struct result *other)
{
    for (size_t i = 0, k = 0; i < x->l.nargs && k < result_noutputs(other) && k < result_noutputs(x->r);
         i++) {
        const struct arg_spec *a = &x->l.args[i];
        if (!a->output || a->kind != ARG_BUFFER)
            continue;
        if (!(a->tolerance > 0) && result_outputs(other)[k].hash != result_outputs(x->r)[k].hash)
            return a->name;
        k++;
    }
    return NULL;
}

/* A guess may be clean and say nothing: CTAs that find flags of no launch before pass them by, each in
 * its turn. Such a kernel has another result in another order. */
static enum status try_orders(struct trying *t)
{
    static const uint8_t orders[] = { ORDER_DOWN, ORDER_SHUFFLED };
    bool may = any_updated(t->g) || t->g->shape.writes_unlisted || t->g->facts->module->nglobals;
    const char *name = NULL;
    struct result *first = t->now.r, *other = result_new();
    enum status s = other ? ST_OK : ST_NOMEM;
    const struct infer_work work = t->now.work;
    for (size_t i = 0; i < ARRAY_LEN(orders) && may && s == ST_OK && !name; i++) {
        enum trial how = TRIAL_FAILS;
        t->order = orders[i];
        t->now.r = other;
        s = infer_trial(t, &t->now, 0, &how);
        t->now.r = first;
        name = s == ST_OK && how == TRIAL_WORKS ? other_output(&t->now, other) : NULL;
    }
    base_free(other);
    t->order = 0;
    t->now.work = work;
    if (name) {
        char why[160];
        snprintf(why, sizeof why, "'%.60s' differs: CTAs wait for what another kernel prepares, or race",
                 name);
        warn(t, "give one result in every order of its CTAs", why);
    }
    return s;
}

static enum status skeleton(struct trying *t, const char *what, const char *why)
{
    warn(t, what, why);
    t->block = 0;
    set_size(t, 0);
    launch_spec_free(&t->now.l);
    return infer_spec(t->g, t->size, 0, &t->now.l);
}

/* What the device does not model cannot be tried: a skeleton all the same. */
static enum status untried(struct trying *t, const struct diags *load)
{
    const char *why = "the device does not support it";
    for (size_t i = load->n; i-- > 0;)
        if (load->v[i].level == DIAG_ERROR && load->v[i].msg)
            why = load->v[i].msg;
    return skeleton(t, "be tried", why);
}

/* A stencil's halo, or a mistake: nobody but the author knows. */
static void tell_fronts(struct trying *t)
{
    for (uint32_t p = 0; p < t->g->f->nparams; p++) {
        const struct arg_spec *a = &t->now.l.args[p];
        if (a->kind != ARG_SAME_AS)
            continue;
        t->front = true;
        struct diag *d = diag_add(
            t->ds, DIAG_WARNING, "guess", t->g->facts->module->path, NO_SPAN,
            "up to %llu bytes in front of where '%.100s' points are touched: taken for a pointer "
            "into the middle of its buffer",
            (unsigned long long)a->offset, a->name);
        diag_hint(d, "where it points to the beginning, this is an access out of bounds");
    }
}

static enum status take_best(struct trying *t)
{
    struct tried was = t->now;
    t->now = t->best;
    t->best = was;
    t->size = t->best_size;
    t->block = t->best_block;
    enum status s = ST_OK;
    if (!t->now.work.known && t->simulated) /* it races with every block: what it does all the same */
        s = finish(t, &t->clean);
    if (s != ST_OK)
        return s;
    tell_fronts(t);
    if (!t->clean && t->simulated)
        warn(t, "run clean", t->unclean);
    return try_orders(t);
}

static bool any_mode(const struct guess *g)
{
    int64_t v;
    for (uint32_t p = 0; p < g->f->nparams; p++) {
        const struct ptx_inst *x = infer_param_load(g, p, 0);
        if (x && x->opnds[0].kind == OPND_REG && infer_mode(g->f, x->opnds[0].index, &v) > 0)
            return true;
    }
    return false;
}

static enum status settle(struct trying *t)
{
    struct guess *g = t->g;
    enum trial how = TRIAL_FAILS;
    g->brief = g->shape.meets ? FEW_TURNS : 0; /* a few turns of many CTAs, not many turns of a few */
    enum status s = all_data(t);
    if (s == ST_OK && !t->any && t->leaves && t->simulated) {
        t->ahead = true;
        s = all_data(t);
        t->ahead = g->ahead = false;
    }
    if (!t->any)
        memset(g->front, 0, g->f->nparams * sizeof *g->front);
    if (s != ST_OK)
        return s;
    if (!t->any && t->found_idle && any_mode(g)) {
        g->modes = true; /* what is done only in some mode, maybe writing zeros over zeros */
        s = all_data(t);
    }
    if (s != ST_OK || t->any)
        return s == ST_OK ? take_best(t) : s;
    g->zero = g->all_wide = false;
    g->brief = t->idle_brief;
    g->wider = 1;
    t->size = t->idle;
    t->block = t->idle_block;
    if (t->found_idle) {
        t->may_idle = true;
        s = try_one(t, &how);
        if (s == ST_OK && how == TRIAL_WORKS)
            s = infer_fit(t, &t->clean);
        if (s != ST_OK || how == TRIAL_WORKS) {
            t->any = true;
            if (!t->clean && s == ST_OK)
                warn(t, "run clean", t->unclean[0] ? t->unclean : "nothing is written");
            return s;
        }
    }
    if (t->fault.kernel) {
        warn(t, "run to its end", t->fault_why);
        launch_spec_free(&t->now.l);
        t->now.l = t->fault;
        t->fault = (struct launch_spec){ 0 };
        t->faults = true;
        return ST_OK;
    }
    char last[256];
    snprintf(last, sizeof last, "%s", result_message(t->now.r));
    return skeleton(t, "run to its end inside its buffers", last);
}

static bool tried_make(struct tried *x)
{
    x->reached = base_alloc((INFER_ARGS + 1) * 2 * sizeof *x->reached);
    x->first = x->reached ? x->reached + INFER_ARGS + 1 : NULL;
    x->r = result_new();
    return x->reached && x->r;
}
static void tried_free(struct tried *x)
{
    launch_spec_free(&x->l);
    BASE_FREE(x->reached, x->r);
}

/* Tried with all that the device gives a CTA; then it is cut to what is touched. */
static void room_for_shared(struct trying *t)
{
    uint32_t most = dev_describe(t->dev)->shared_per_block_optin;
    t->shared_static = dev_code_resources(t->code).shared_static;
    if (t->simulated && t->g->shape.shared && most > t->shared_static + t->g->shape.shared)
        t->g->shape.shared = most - t->shared_static;
}

static enum status search(struct trying *t, struct diags *ds)
{
    const struct ptx_module *m = t->g->facts->module;
    struct diags load = { 0 };
    enum status s = dev_load(t->dev, m->path, m->text, t->g->f->name, 0, &t->code, &load);
    if (s == ST_OK) {
        room_for_shared(t);
        s = settle(t);
    } else if (s != ST_NOMEM && s != ST_CANCELLED)
        s = untried(t, &load);
    else
        diags_move(ds, &load);
    diags_free(&load);
    if (t->code)
        dev_unload(t->dev, t->code);
    return s;
}

enum status infer_find(struct guess *g, struct dev *d, const struct cancel *cancel,
                       struct launch_spec *out, struct diags *ds)
{
    struct trying t = { .g = g, .dev = d, .cancel = cancel, .ds = ds, .most = TRIAL_INSTS };
    t.simulated = dev_describe(d)->kind == DEV_SIMULATED;
    t.part = g->shape.products ? 3 : 1;
    infer_blocks(g);
    infer_start_clock(&t);
    enum status s =
        tried_make(&t.now) && tried_make(&t.next) && tried_make(&t.best) ? search(&t, ds) : ST_NOMEM;
    const struct block_guess *b = &g->blocks[t.block < g->nblocks ? t.block : 0];
    struct infer_row row = { 0 };
    infer_row(b->why, &row);
    g->asked = (struct infer_asked){ .n = t.size.n,
                                     .said_n = g->asked.n,
                                     .said_block = g->asked.block.x,
                                     .block = s == ST_OK ? t.now.l.block : b->block,
                                     .why = g->asked.block.x ? NULL : row.has,
                                     .runs = t.any,
                                     .clean = t.any && t.clean,
                                     .faults = t.faults,
                                     .in_part = t.any && t.now.in_part,
                                     .checked_part = t.any && t.now.checked_part,
                                     .free_block = b->why == INFER_COMMON,
                                     .front = t.front,
                                     .work = t.now.work };
    if (!g->asked.clean)
        snprintf(g->asked.unclean, sizeof g->asked.unclean, "%s", t.why);
    *out = t.now.l;
    t.now.l = (struct launch_spec){ 0 };
    tried_free(&t.now);
    tried_free(&t.next);
    tried_free(&t.best);
    launch_spec_free(&t.fault);
    return s;
}
