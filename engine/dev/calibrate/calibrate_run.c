/* One microbenchmark run, and what it found put into a field of the preset. */
#include "engine/dev/calibrate/calibrate_int.h"
#include "engine/dev/dev_int.h"
#include "engine/rec/data.h"
#include "engine/rec/launch.h"
#include "engine/rec/result_read.h"

#include <math.h>
#include <string.h>

static enum status launch_code(struct dev *d, struct dev_code *c, const struct launch_data *data,
                               const struct calibrate_run *r, struct calibrate_value *v,
                               struct diags *ds)
{
    struct dev_data *b = NULL;
    struct result *res = result_new();
    enum status st = res ? dev_bind(d, data, &b, ds) : ST_NOMEM;
    if (st != ST_OK) {
        base_free(res);
        return st;
    }
    struct dev_run run = dev_run_default();
    run.launch = data->spec;
    run.grid = data->spec->grid;
    run.block = data->spec->block;
    run.carveout = r->carveout;
    run.counters = false;
    run.flush_l2 = r->cold;
    /* a simulated device: no sample, whose error a slope would magnify */
    run.exact = true;
    /* a GPU takes milliseconds */
    run.time_limit_s = dev_describe(d)->kind == DEV_SIMULATED ? 600 : 20;
    run.cancel = r->cancel;
    st = dev_launch(d, c, b, &run, res, ds);
    if (st == ST_OK && cancel_asked(r->cancel))
        st = ST_CANCELLED;
    if (st == ST_OK && result_status(res) != ST_OK) {
        diag_error(ds, "calibrate", "a microbenchmark failed: %s", result_message(res));
        st = ST_DEVICE;
    }
    uint64_t cycles[2] = { 0, 0 };
    if (st == ST_OK)
        st = dev_read_arg(d, b, 1, cycles, sizeof cycles, ds);
    *v = (struct calibrate_value){ (double)cycles[0], (double)result_time(res)->min };
    base_free(res);
    dev_unbind(d, b);
    return st;
}

static enum status calibrate_measure(struct dev *d, const struct calibrate_run *r,
                                     struct calibrate_value *v, struct diags *ds)
{
    struct arg_spec args[] = { arg_buffer("buf", ELEM_U64, r->elems, r->start, r->step, false),
                               arg_buffer("out", ELEM_U64, 8, 0, 0, true), arg_u32("a", r->a),
                               arg_u32("b", r->b), arg_u32("c", r->c) };
    struct launch_spec l = { .kernel = (char *)(uintptr_t) "k",
                             .grid = { r->grid ? r->grid : 1, 1, 1 },
                             .block = { r->block ? r->block : 1, 1, 1 },
                             .args = args,
                             .nargs = ARRAY_LEN(args) };
    struct launch_data data = { 0 };
    struct dev_code *c = NULL;
    enum status st = dev_load(d, "calibrate.ptx", str_of(r->text), STR("k"), 0, &c, ds);
    if (st == ST_OK)
        st = launch_data_make(&l, 1ull << 34, &data, ds);
    if (st == ST_OK)
        st = launch_code(d, c, &data, r, v, ds);
    launch_data_free(&data);
    dev_unload(d, c);
    return st;
}

struct calibrate_value calibrate_time(struct calibration *k, struct buf *text, struct calibrate_run r)
{
    struct calibrate_value v = { NAN, NAN };
    r.text = text->s;
    r.cancel = k->cancel;
    if (text->oom || cancel_asked(k->cancel) || calibrate_measure(k->d, &r, &v, k->ds) != ST_OK)
        v = (struct calibrate_value){ NAN, NAN };
    buf_free(text);
    return v;
}

/* ---- what was found ---- */

void calibrate_note(struct calibration *k, const void *field, enum calibrate_from from, double residual)
{
    size_t at = (size_t)((const char *)field - (const char *)k->p);
    for (size_t i = 0; i < sim_preset_field_count(); i++)
        if (sim_preset_field(i)->offset == at)
            k->notes[i] = (struct calibrate_note){ from, residual };
}

void calibrate_set(struct calibration *k, const char *field, double value, double spread)
{
    if (!isfinite(value))
        return;
    for (size_t i = 0; i < sim_preset_field_count(); i++) {
        const struct sim_preset_field *f = sim_preset_field(i);
        if (strcmp(f->name, field) != 0)
            continue;
        void *at = (char *)k->p + f->offset;
        double kept = f->integer ? round(value) : value;
        if (f->integer)
            *(int64_t *)at = (int64_t)kept;
        else
            *(double *)at = kept;
        double residual = fmax(spread, fabs(value - kept));
        calibrate_note(k, at, CALIBRATE_MEASURED, residual);
        buf_printf(k->log, "%-22s %12.4g %-12s residual %.2g\n", field, value, f->unit, residual);
    }
}
