/* Guesses are tried until one is clean: inside its buffers, no race, no read of shared memory that
 * nobody wrote, and something written. What a trial may take is counted in instructions, so that a guess
 * is the same on a machine that is busy.
 *
 *   outside its buffers, no end    smaller sizes, then more room
 *   a race, unwritten memory       another block
 *   no output changes              smaller sizes: a product of sizes may overflow */
#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/ptx/label.h"
#include "engine/rec/counters.h"
#include "engine/rec/data.h"
#include "engine/rec/device.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"
#include "engine/session/infer/infer.h"
#include "engine/session/session.h"

#include <stdio.h>
#include <string.h>

/* Instructions of warps: of one trial, of all trials with one kind of data. A GPU counts none: seconds.
 */
#define TRIAL_INSTS UINT64_C(3000000)
#define GROWN_INSTS UINT64_C(6000000) /* of one that grows */
#define ALL_INSTS   UINT64_C(24000000)
#define GPU_SECONDS 1.0
enum {
    MOST_CTAS = 1024 /* that a guess grows to */,
    LEAST_COUNT = 1024,
    MOST_COUNT = 1 << 24,
    PER_ROW = 16,
    MOST_TRIALS = 64
};

/* By the number of grid dimensions that the kernel reads, without and with loops: kernels that loop
 * often do so up to an integer parameter, and touch n, n*n or n*n*n elements. */
static const struct size_guess first_sizes[2][GUESS_DIMS] = {
    { { 1u << 20, 1u << 20 }, { 1024, 1u << 20 }, { 128, 1u << 21 } },
    { { 1024, 1u << 20 }, { 256, 1u << 18 }, { 64, 1u << 18 } },
};
/* Then smaller problems, then more room. */
static const struct size_guess next_sizes[] = { { 1u << 16, 1u << 20 }, { 4096, 1u << 20 },
                                                { 1024, 1u << 20 },     { 256, 1u << 20 },
                                                { 64, 1u << 20 },       { 16, 1u << 20 },
                                                { 256, 1u << 24 },      { 64, 1u << 24 } };
#define NSIZES (1 + ARRAY_LEN(next_sizes))

enum trial {
    TRIAL_FAILS,
    TRIAL_OUTSIDE /* of its buffers */,
    TRIAL_UNCLEAN,
    TRIAL_LATE /* no end in sight */,
    TRIAL_IDLE /* no output changes */,
    TRIAL_WORKS
};
struct trying {
    struct guess *g;
    struct dev *dev;
    struct dev_code *code;
    const struct cancel *cancel;
    struct diags *ds;
    struct launch_spec *out; /* of the last trial */
    struct result r;         /* what came of it */
    struct size_guess size;
    unsigned block, trials;
    uint64_t left; /* instructions */
    uint64_t most; /* of one trial */
    bool strict;   /* a race or a read of what nobody wrote counts against a guess */
    bool outside;  /* all sizes led outside with some block */
    uint8_t order; /* of CTAs: enum sim_order */
    bool found_idle;
    struct size_guess idle;
    unsigned idle_block;
    char unclean[256];
};

/* An output's bytes are not what they were, or there is none to tell. */
static bool any_written(const struct launch_spec *l, const struct launch_data *data,
                        const struct result *r)
{
    bool none = true;
    for (size_t i = 0, k = 0; i < l->nargs && k < r->noutputs; i++) {
        if (!l->args[i].output || l->args[i].kind != ARG_BUFFER)
            continue;
        none = false;
        const uint8_t *was = launch_buffer_bytes(&data->buffers[i]);
        if (!was || r->outputs[k++].hash != base_hash(was, data->buffers[i].n))
            return true;
    }
    return none;
}

static enum trial trial_of(const struct launch_spec *l, const struct launch_data *data, enum status s,
                           const struct result *r, const struct diags *ds)
{
    static const struct {
        const char *code;
        enum trial how;
    } codes[] = { { "hang", TRIAL_LATE },
                  { "race", TRIAL_UNCLEAN },
                  { "uninitialised", TRIAL_UNCLEAN },
                  { "out-of-bounds", TRIAL_OUTSIDE } };
    for (size_t i = 0; i < ds->n; i++)
        for (size_t k = 0; k < ARRAY_LEN(codes); k++)
            if (ds->v[i].level == DIAG_ERROR && ds->v[i].code && !strcmp(ds->v[i].code, codes[k].code))
                return codes[k].how;
    return s != ST_OK || r->status != ST_OK ? TRIAL_FAILS
           : any_written(l, data, r)        ? TRIAL_WORKS
                                            : TRIAL_IDLE;
}

static struct dev_run run_of(const struct trying *t, const struct launch_spec *l)
{
    struct dev_run r = dev_run_default();
    bool simulated = dev_describe(t->dev)->kind == DEV_SIMULATED;
    r.launch = l;
    r.grid = l->grid;
    r.block = l->block;
    r.shared = l->shared;
    r.functional = true;
    r.counters = false;
    r.check_uninit = r.check_races = t->strict && simulated;
    r.hostile.order = simulated ? t->order : 0;
    r.max_insts = simulated ? t->most : 0;
    r.time_limit_s = simulated ? 0 : GPU_SECONDS;
    r.cancel = t->cancel;
    return r;
}

/* Does it run inside its buffers? *out says what happened. A guess that fails is no news: ds has only
 * what ends the search. */
static enum status try_spec(struct trying *t, const struct launch_spec *l, struct result *out,
                            enum trial *how)
{
    struct launch_data data = { 0 };
    struct dev_data *bound = NULL;
    struct diags quiet = { 0 };
    enum status s = launch_data_make(l, (uint64_t)4 << 30, &data, &quiet);
    *out = result_empty();
    if (s == ST_OK)
        s = dev_bind(t->dev, &data, &bound, &quiet);
    if (s == ST_OK) {
        struct dev_run r = run_of(t, l);
        s = dev_launch(t->dev, t->code, bound, &r, out, &quiet);
        *how = trial_of(l, &data, s, out, &quiet);
    }
    if (bound)
        dev_unbind(t->dev, bound);
    launch_data_free(&data);
    double spent = out->counters[COUNTER_INST_WARP].valid ? out->counters[COUNTER_INST_WARP].value
                   : *how == TRIAL_LATE                   ? (double)t->most
                                                          : 0;
    t->left -= (double)t->left > spent ? (uint64_t)spent : t->left;
    t->trials++;
    if (s != ST_OK)
        diags_move(t->ds, &quiet);
    diags_free(&quiet);
    return s;
}

static bool spent(const struct trying *t)
{
    return !t->left || t->trials >= MOST_TRIALS;
}

/* t's size and block tried; t->out has them. *how: whether it runs, and writes. */
static enum status try_one(struct trying *t, enum trial *how)
{
    launch_spec_free(t->out);
    *how = TRIAL_FAILS;
    t->g->wider = 1;
    enum status s = infer_spec(t->g, t->size, t->block, t->out);
    if (s == ST_OK)
        s = try_spec(t, t->out, &t->r, how);
    if (*how == TRIAL_UNCLEAN && !t->unclean[0])
        snprintf(t->unclean, sizeof t->unclean, "%s", t->r.message);
    if (*how == TRIAL_IDLE && !t->found_idle) {
        t->found_idle = true;
        t->idle = t->size;
        t->idle_block = t->block;
    }
    return s;
}

static uint64_t outputs_hash(const struct result *r)
{
    uint64_t h = 0;
    for (uint32_t i = 0; i < r->noutputs; i++)
        h = h * 0x9E3779B97F4A7C15u + r->outputs[i].hash;
    return h;
}

/* The guess of g's state with `size` in place of t->out where it works, and its outputs are others if
 * `other`; *better says whether. */
static enum status replace(struct trying *t, struct size_guess size, bool other, bool *better)
{
    struct launch_spec l;
    struct result r;
    enum trial how = TRIAL_FAILS;
    enum status s = infer_spec(t->g, size, t->block, &l);
    if (s == ST_OK)
        s = try_spec(t, &l, &r, &how);
    *better = s == ST_OK && how == TRIAL_WORKS && (!other || outputs_hash(&r) != outputs_hash(&t->r));
    launch_spec_free(*better ? t->out : &l);
    if (!*better)
        return s;
    *t->out = l;
    t->r = r;
    return s;
}

/* More CTAs, for as long as they write more: where a thread's index runs to a product of sizes, or a CTA
 * has a row. */
static enum status grow(struct trying *t)
{
    struct guess *g = t->g;
    enum status s = ST_OK;
    bool few = dim3u_count(t->out->grid) < (uint64_t)dev_describe(t->dev)->sms;
    bool better = (g->shape.dims == 1 || few) && !g->shape.one_thread && g->shape.cta[0];
    while (s == ST_OK && better && (uint64_t)t->out->grid.x * 4 <= MOST_CTAS && !spent(t) &&
           t->r.counters[COUNTER_INST_WARP].value < (double)TRIAL_INSTS / 4) {
        g->wider *= 4;
        s = replace(t, t->size, true, &better);
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
    enum status s = ST_OK;
    t->most = GROWN_INSTS;
    while (s == ST_OK && better && dim3u_count(t->out->grid) < sms && !spent(t)) {
        struct size_guess now = t->size, next = { now.n * 2, now.count };
        if (g->blocks[t->block].fixed)
            next.n = whole_parts(g->blocks[t->block].covers, next.n);
        s = replace(t, next, false, &better);
        if (s == ST_OK && !better && !spent(t)) {
            next.count *= 4;
            s = replace(t, next, false, &better);
        }
        t->size = better ? next : now;
        better = better && next.count < MOST_COUNT;
    }
    return s;
}

/* A quarter of the room, for as long as it still runs: what the kernel does not touch is no part of its
 * problem. */
static enum status trim(struct trying *t)
{
    struct size_guess size = t->size;
    enum status s = ST_OK;
    uint64_t least = t->g->rows ? (uint64_t)PER_ROW * size.n : LEAST_COUNT;
    t->left = t->left < ALL_INSTS / 2 ? ALL_INSTS / 2 : t->left; /* of its own: growing may take all */
    for (bool better = true; s == ST_OK && better && size.count > least && !spent(t);) {
        size.count /= 4;
        s = replace(t, size, false, &better);
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

/* Size i of a block; false: as the one before. */
static bool set_size(struct trying *t, unsigned i)
{
    const struct guess *g = t->g;
    struct size_guess s = i ? next_sizes[i - 1] : first_sizes[g->loops][g->shape.dims - 1];
    if (i && s.n >= first_sizes[g->loops][g->shape.dims - 1].n && s.count <= t->size.count)
        return false;
    if (g->asked.n)
        s.n = g->asked.n;
    if (g->blocks[t->block].fixed)
        s.n = whole_parts(g->blocks[t->block].covers, s.n);
    t->size = s;
    return true;
}

/* One block: sizes from the first down. */
static enum status walk(struct trying *t, enum trial *how)
{
    enum status s = ST_OK;
    unsigned outside = 0;
    for (unsigned i = 0; s == ST_OK && i < NSIZES && !spent(t); i++) {
        if (!set_size(t, i) || (t->outside && t->size.n > 256))
            continue;
        s = try_one(t, how);
        if (s == ST_OK && *how == TRIAL_LATE && !t->g->zero && any_updated(t->g)) {
            t->g->zero = true; /* it may wait for a flag, or look for an empty place */
            s = try_one(t, how);
            t->g->zero = *how == TRIAL_WORKS;
        }
        if (s == ST_OK && *how == TRIAL_LATE && !t->g->brief) {
            t->g->brief = true; /* it may do all of it over and over */
            s = try_one(t, how);
            t->g->brief = *how == TRIAL_WORKS;
        }
        outside += *how == TRIAL_OUTSIDE;
        if (*how == TRIAL_WORKS || *how == TRIAL_FAILS || *how == TRIAL_UNCLEAN ||
            (t->outside && outside > 2))
            return s;
    }
    t->outside |= outside > 2;
    return s;
}

static enum status all_blocks(struct trying *t, enum trial *how)
{
    enum status s = ST_OK;
    *how = TRIAL_FAILS;
    t->most = TRIAL_INSTS;
    for (t->block = 0; s == ST_OK && t->block < t->g->nblocks && !spent(t); t->block++) {
        s = walk(t, how);
        if (*how == TRIAL_WORKS || *how == TRIAL_LATE)
            break; /* no end, whatever the block */
    }
    bool one = t->g->shape.dims == 1, works = *how == TRIAL_WORKS;
    if (s == ST_OK && works && one)
        s = grow(t);
    if (s == ST_OK && works)
        s = fill_device(t);
    if (s == ST_OK && works &&
        !one) /* only what larger sizes did not bring: they keep a square square */
        s = grow(t);
    return s == ST_OK && works ? trim(t) : s;
}

/* One kind of data after the other: as the code seems to want them; offsets of something else; wide
 * numbers taken for pointers; flags, counters and tables that start empty (first, where CTAs wait for
 * each other's flags). */
static enum status all_data(struct trying *t, bool strict, bool *found)
{
    struct guess *g = t->g;
    bool rows = g->rows;
    enum status s = ST_OK;
    *found = false;
    for (unsigned n = 0; s == ST_OK && !*found && n < 4; n++) {
        enum trial how;
        unsigned kind = any_flag(g) ? (n + 3) % 4 : n;
        bool use = !kind || (kind == 1 ? rows : kind == 2 ? infer_hides_pointers(g) : any_updated(g));
        if (!use)
            continue;
        g->rows = rows && (!kind || kind == 3);
        g->all_wide |= kind == 2;
        g->zero = kind == 3;
        t->strict = strict;
        t->left = n || !strict ? ALL_INSTS / 2 : ALL_INSTS;
        t->trials = 0;
        t->outside = false;
        s = all_blocks(t, &how);
        *found = how == TRIAL_WORKS;
    }
    if (!*found)
        g->rows = rows;
    return s;
}

static void warn(struct trying *t, const char *what, const char *why)
{
    char name[PTX_LABEL], label[PTX_LABEL];
    const struct str full = t->g->f->name;
    snprintf(name, sizeof name, "%.*s", (int)full.n, full.s);
    struct diag *d = diag_add(t->ds, DIAG_WARNING, "guess", t->g->facts->module->path, NO_SPAN,
                              "no guess made '%s' %s: %.180s", ptx_label(name, label), what, why);
    diag_hint(d, "set the sizes and data in the description by hand");
}

/* The first output whose bytes are others in r; NULL: none. Those with a tolerance may differ. */
static const char *other_output(const struct trying *t, const struct result *r)
{
    for (size_t i = 0, k = 0; i < t->out->nargs && k < r->noutputs && k < t->r.noutputs; i++) {
        const struct arg_spec *a = &t->out->args[i];
        if (!a->output || a->kind != ARG_BUFFER)
            continue;
        if (!(a->tolerance > 0) && r->outputs[k].hash != t->r.outputs[k].hash)
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
    enum status s = ST_OK;
    const char *name = NULL;
    for (size_t i = 0; i < ARRAY_LEN(orders) && s == ST_OK && !name; i++) {
        struct result r;
        enum trial how = TRIAL_FAILS;
        t->order = orders[i];
        s = try_spec(t, t->out, &r, &how);
        name = s == ST_OK && how == TRIAL_WORKS ? other_output(t, &r) : NULL;
    }
    t->order = 0;
    if (name) {
        char why[160];
        snprintf(why, sizeof why, "'%.60s' differs: CTAs wait for what another kernel prepares, or race",
                 name);
        warn(t, "give one result in every order of its CTAs", why);
    }
    return s;
}

/* What the device does not model cannot be tried: a skeleton all the same. */
static enum status untried(struct trying *t, const struct diags *load)
{
    const char *why = "the device does not support it";
    for (size_t i = load->n; i-- > 0;)
        if (load->v[i].level == DIAG_ERROR && load->v[i].msg)
            why = load->v[i].msg;
    warn(t, "be tried", why);
    set_size(t, 0);
    return infer_spec(t->g, t->size, 0, t->out);
}

static enum status settle(struct trying *t)
{
    struct guess *g = t->g;
    bool found = false;
    enum trial how = TRIAL_FAILS;
    g->brief = g->shape.meets; /* a few turns of many CTAs, not many turns of a few */
    enum status s = all_data(t, true, &found);
    if (s == ST_OK && !found && t->unclean[0]) {
        g->zero = false;
        s = all_data(t, false, &found);
        if (s == ST_OK && found)
            warn(t, "run clean", t->unclean);
    }
    if (s == ST_OK && found)
        return try_orders(t);
    if (s != ST_OK)
        return s;
    g->zero = g->all_wide = g->brief = false;
    g->wider = 1;
    t->size = t->idle;
    t->block = t->idle_block;
    if (t->found_idle) {
        s = try_one(t, &how);
        if (s != ST_OK || how == TRIAL_IDLE || how == TRIAL_WORKS)
            return s;
    }
    t->block = 0;
    set_size(t, 0);
    launch_spec_free(t->out);
    warn(t, "run to its end inside its buffers", t->r.message);
    return infer_spec(g, t->size, 0, t->out);
}

enum status infer_find(struct guess *g, struct dev *dev, const struct cancel *cancel,
                       struct launch_spec *out, struct diags *ds)
{
    struct trying t = {
        .g = g, .dev = dev, .cancel = cancel, .ds = ds, .out = out, .most = TRIAL_INSTS
    };
    const struct ptx_module *m = g->facts->module;
    infer_blocks(g);
    struct diags load = { 0 };
    enum status s = dev_load(dev, m->path, m->text, g->f->name, 0, &t.code, &load);
    if (s == ST_OK)
        s = settle(&t);
    else if (s != ST_NOMEM && s != ST_CANCELLED)
        s = untried(&t, &load);
    else
        diags_move(ds, &load);
    diags_free(&load);
    if (t.code)
        dev_unload(dev, t.code);
    const struct block_guess *b = &g->blocks[t.block < g->nblocks ? t.block : 0];
    struct infer_row row = { 0 };
    infer_row(b->why, &row);
    g->asked = (struct infer_asked){ t.size.n, b->block, row.has };
    return s;
}
