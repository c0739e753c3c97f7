/* races: does the result of the original depend on the order in which its warps run? One checked launch
 * before anything is measured. */
#include "engine/base/base.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/device.h"
#include "engine/rec/launch.h"
#include "engine/rec/knobs.h"
#include "engine/rec/options.h"
#include "engine/rec/result.h"
#include "engine/sim/sim.h"
#include "engine/tune/tune.h"
#include "engine/tune/tune_int.h"

#include <string.h>

/* One launch executes no more instructions of warps than this, some seconds of one processor: a first
 * look, where --check-memory looks at everything. */
#define LOOK_INSTS UINT64_C(4000000)

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

/* Another launch of the original: with races looked for, or with its warps in another order. */
static enum status launch(struct tune_bench *b, bool check, struct sim_hostile how, struct result *out,
                          struct diags *ds)
{
    struct options none = options_default();
    struct tune_job j = { 0 };
    struct tune_shape *shape = NULL;
    *out = result_empty();
    enum status st = tune_rewrite(b, &none, &j.code, ds);
    if (st != ST_OK)
        return st;
    struct pass_output own = j.code; /* the text moves into the shape; the launch stays ours */
    st = tune_shape_get(b, &own, &shape, ds);
    if (st != ST_OK)
        return st;
    tune_fill_run(b, &none, &j, true);
    j.run.check_uninit = false;
    j.run.check_races = check;
    j.run.hostile = how;
    j.run.max_insts = LOOK_INSTS;
    j.run.cancel = tune_cancel(b);
    return dev_launch(b->subject.dev, shape->loaded, b->data, &j.run, out, ds);
}

/* The first output that another order of the warps changes; -1: none did. */
static int changed(struct tune_bench *b, enum status *st)
{
    static const struct sim_hostile orders[] = { { .order = ORDER_DOWN },
                                                 { .order = ORDER_SHUFFLED, .seed = 1 },
                                                 { .order = ORDER_SHUFFLED, .seed = 2 } };
    for (size_t k = 0; *st == ST_OK && k < ARRAY_LEN(orders); k++) {
        struct diags quiet = { 0 };
        struct result r;
        enum status s = launch(b, false, orders[k], &r, &quiet);
        diags_free(&quiet);
        *st = s == ST_CANCELLED || s == ST_NOMEM ? s : ST_OK;
        for (uint32_t i = 0; s == ST_OK && r.status == ST_OK && i < r.noutputs; i++)
            if (r.outputs[i].hash != b->original.outputs[i].hash)
                return (int)i;
    }
    return -1;
}

static void tell(const struct tune_bench *b, struct diag *d, int output)
{
    if (output >= 0)
        diag_hint(
            d,
            "output '%s' is another one when the warps run in another order: what is printed is one "
            "of several results; a barrier between the two accesses settles it",
            b->original.outputs[output].name);
    else
        diag_hint(d, "the result may depend on the order in which warps run; the orders that were tried "
                     "left the same outputs");
}

enum status tune_races(struct tune_bench *b, struct diags *ds)
{
    struct result r;
    struct diags own = { 0 }, races = { 0 };
    if (dev_describe(b->subject.dev)->kind != DEV_SIMULATED || b->opts.check_memory ||
        tune_warps(&b->subject) < 2 || !has_shared(b->subject.module))
        return ST_OK;
    enum status st = launch(b, true, (struct sim_hostile){ 0 }, &r, &own);
    st = st == ST_CANCELLED || st == ST_NOMEM ? st : ST_OK;
    for (size_t i = 0; st == ST_OK && i < own.n; i++) {
        const struct diag *from = &own.v[i];
        if (!from->code || strcmp(from->code, "race") != 0)
            continue;
        int output = changed(b, &st);
        struct diag *d = diag_add(&races, DIAG_WARNING, "race", from->file, from->at, "%s", from->msg);
        if (d && from->at.line)
            diag_source(d, b->subject.module->text);
        if (d)
            tell(b, d, output);
        break;
    }
    diags_free(&own);
    diags_move(ds, &races);
    return st;
}
