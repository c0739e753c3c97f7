/* races: does the result of the original depend on the order in which its warps and CTAs run? One
 * checked launch before anything is measured; where it finds a race, launches in other orders. */
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/device.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch_arg.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/result_read.h"
#include "engine/sim/sim.h"
#include "engine/tune/tune_int.h"

#include <stdio.h>
#include <string.h>

/* The checked launch executes no more instructions of warps than this, less where only global memory is
 * shared: a first look, where --check-memory looks at everything. Launches in other orders are not
 * checked, and only made where a race was found. */
#define LOOK_SHARED UINT64_C(4000000)
#define LOOK_GLOBAL UINT64_C(1000000)
#define ORDER_INSTS UINT64_C(20000000)

static bool has_shared(const struct ptx_module *m)
{
    for (uint32_t i = 0; i < m->nglobals; i++)
        if (m->globals[i]->space == PTX_SPACE_SHARED)
            return true;
    for (uint32_t k = 0; k < m->nfuncs; k++)
        for (uint32_t i = 0; i < m->funcs[k]->nvars; i++)
            if (m->funcs[k]->vars[i]->space == PTX_SPACE_SHARED)
                return true;
    return false;
}

/* Another launch of the original: with races looked for, or in another order. ends: it came to its end. */
static enum status launch(struct tune_bench *b, bool check, struct sim_hostile how, bool *ends,
                          struct diags *ds)
{
    const struct options *none = options_none();
    struct tune_job j = { 0 };
    struct tune_shape *shape = NULL;
    *ends = false;
    enum status st = tune_rewrite(b, none, &j.code, ds);
    if (st != ST_OK)
        return st;
    struct pass_output own = j.code; /* the text moves into the shape; the launch stays ours */
    st = tune_shape_get(b, &own, &shape, ds);
    if (st != ST_OK)
        return st;
    tune_fill_run(b, none, &j, true);
    j.run.check_uninit = false;
    j.run.check_races = check;
    j.run.hostile = how;
    j.run.max_insts = !check ? ORDER_INSTS : has_shared(b->subject.module) ? LOOK_SHARED : LOOK_GLOBAL;
    j.run.cancel = tune_cancel(b);
    struct result *r = result_new();
    st = r ? dev_launch(b->subject.dev, shape->loaded, b->data, &j.run, r, ds) : ST_NOMEM;
    *ends = st == ST_OK && result_status(r) == ST_OK;
    base_free(r);
    return st;
}

/* ---- two orders ---- */
static const struct {
    struct sim_hostile how;
    const char *text;
} orders[] = { { { 0 }, "ascending" },
               { { .order = ORDER_DOWN }, "descending" },
               { { .order = ORDER_TURNS }, "alternating" },
               { { .order = ORDER_SHUFFLED, .seed = 1 }, "a shuffled" },
               { { .order = ORDER_SHUFFLED, .seed = 2 }, "another shuffled" } };
/* What an order changes: an element of an output. */
struct change {
    const struct arg_spec *arg;
    const char *order;
    uint64_t at;
    double was, is;
    unsigned compared; /* orders that were run to their end */
};
struct first_run {
    uint8_t *bytes[RESULT_MAX_OUTPUTS]; /* of each output */
    size_t arg[RESULT_MAX_OUTPUTS];
    uint32_t n;
};

static uint8_t *output_bytes(struct tune_bench *b, size_t arg)
{
    const struct arg_spec *a = launch_arg(b->subject.launch, arg);
    uint64_t n = a->count * elem_size(a->elem);
    uint8_t *bytes = n ? base_alloc((size_t)n) : NULL;
    struct diags quiet = { 0 };
    if (bytes && dev_read_arg(b->subject.dev, b->data, arg, bytes, n, &quiet) != ST_OK) {
        base_free(bytes);
        bytes = NULL;
    }
    diags_free(&quiet);
    return bytes;
}

static void keep_outputs(struct tune_bench *b, struct first_run *f)
{
    const struct launch_spec *l = b->subject.launch;
    for (size_t i = 0; i < launch_nargs(l) && f->n < RESULT_MAX_OUTPUTS; i++)
        if (launch_arg(l, i)->output && launch_arg(l, i)->kind == ARG_BUFFER &&
            (f->bytes[f->n] = output_bytes(b, i)))
            f->arg[f->n++] = i;
}

/* The first element that differs by more than float atomics may. */
static bool find_change(struct tune_bench *b, const struct first_run *f, struct change *c)
{
    bool found = false;
    for (uint32_t k = 0; k < f->n && !found; k++) {
        const struct arg_spec *a = launch_arg(b->subject.launch, f->arg[k]);
        uint8_t *now = output_bytes(b, f->arg[k]);
        size_t w = elem_size(a->elem);
        for (uint64_t i = 0; now && !found && i < a->count; i++) {
            if (!memcmp(now + i * w, f->bytes[k] + i * w, w))
                continue;
            double was = elem_load(f->bytes[k] + i * w, a->elem), is = elem_load(now + i * w, a->elem);
            found = !(a->tolerance > 0) || !tune_within(a, NULL, was, is);
            if (found)
                *c = (struct change){ a, c->order, i, was, is, c->compared };
        }
        base_free(now);
    }
    return found;
}

static enum status run_orders(struct tune_bench *b, struct change *c)
{
    struct first_run f = { .n = 0 };
    enum status st = ST_OK;
    for (size_t k = 0; st == ST_OK && !c->arg && k < ARRAY_LEN(orders); k++) {
        struct diags quiet = { 0 };
        bool ends;
        enum status s = launch(b, false, orders[k].how, &ends, &quiet);
        diags_free(&quiet);
        st = s == ST_CANCELLED || s == ST_NOMEM ? s : ST_OK;
        if (!ends) {
            if (!k)
                break; /* too long: nothing to compare with */
            continue;
        }
        c->order = orders[k].text;
        c->compared++;
        if (!k)
            keep_outputs(b, &f);
        else
            find_change(b, &f, c);
    }
    for (uint32_t i = 0; i < f.n; i++)
        base_free(f.bytes[i]);
    return st;
}

static void tell(struct diag *d, const struct change *c)
{
    if (c->arg)
        diag_hint(
            d,
            "the result depends on the order: '%s' element %llu is %.9g if warps and CTAs run in %s "
            "order, and %.9g in %s order; put a barrier between the two accesses or use an atomic",
            c->arg->name ? c->arg->name : "an output", (unsigned long long)c->at, c->was, orders[0].text,
            c->is, c->order);
    else if (c->compared > 1)
        diag_hint(d,
                  "the result may depend on the order in which warps and CTAs run; the %u orders that "
                  "were tried gave the same outputs",
                  c->compared);
    else
        diag_hint(d, "the result may depend on the order in which warps and CTAs run; the launch is too "
                     "long to try other orders");
}

/* For documents and sessions: what the warning says. */
static void keep(struct tune_bench *b, const struct diag *d)
{
    snprintf(b->race, sizeof b->race, "line %u: %s; %s", (unsigned)d->at.line, d->msg,
             d->hint ? d->hint : "");
}

const char *tune_race(const struct tune_bench *b)
{
    return b->race;
}

/* Lanes of one store: no order of warps changes what comes of it. */
static bool of_lanes(const struct diag *race)
{
    return strncmp(race->msg, "race: lanes ", 12) == 0;
}

/* Of a copy that nobody waited for: the simulated device makes it at once, in every order. */
static bool of_copy(const struct diag *race)
{
    return strstr(race->msg, "asynchronous") != NULL;
}

enum status tune_races(struct tune_bench *b, struct diags *ds)
{
    bool ends;
    struct diags own = { 0 }, races = { 0 };
    if (dev_describe(b->subject.dev)->kind != DEV_SIMULATED || b->opts.check_memory)
        return ST_OK;
    enum status st = launch(b, true, (struct sim_hostile){ 0 }, &ends, &own);
    st = st == ST_CANCELLED || st == ST_NOMEM ? st : ST_OK;
    for (size_t i = 0; st == ST_OK && i < own.n; i++) {
        const struct diag *from = &own.v[i];
        if (!from->code || strcmp(from->code, "race") != 0)
            continue;
        struct change c = { 0 };
        bool lanes = of_lanes(from), copy = of_copy(from);
        st = lanes || copy ? ST_OK : run_orders(b, &c);
        struct diag *d = diag_add(&races, DIAG_WARNING, "race", from->file, from->at, "%s", from->msg);
        if (d && from->at.line)
            diag_source(d, b->subject.module->text);
        if (d)
            d->other_line = from->other_line;
        if (d && lanes)
            diag_hint(d,
                      "the result is the value of one lane or the other, as the device likes; the "
                      "simulated device keeps the higher lane's: let one lane store, or use an atomic");
        else if (d && copy)
            diag_hint(d, "the simulated device copies at once, a GPU at any time until then: %s",
                      from->hint ? from->hint : "wait for it");
        else if (d)
            tell(d, &c);
        if (d)
            keep(b, d);
        break;
    }
    diags_free(&own);
    diags_move(ds, &races);
    return st == ST_OK && b->race[0] ? tune_take_turns(b, ds) : st;
}
