/* Calibration: measures a device with microbenchmarks and fills a preset. What no
 * benchmark here shows (policies, tracker counts) keeps the value of the base, a
 * preset of a GPU like it; each measured field is listed with its value and residual.
 * Runs on any device: on a simulated one it must find that one's own numbers again. */
#include "engine/dev/calibrate/calibrate_int.h"
#include "engine/dev/dev_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Hardware has a power of two of a unit's lanes, or three times one: the nearest such within 10 %. */
static void calibrate_set_lanes(struct calibration *k, const char *field, double value)
{
    double width = value, off = 0.1; /* of the width */
    for (double w = 1; w <= 2048; w *= 2) {
        const double has[] = { w, 1.5 * w }; /* 1.5 lanes are none */
        for (int i = 0; i < (w < 2 ? 1 : 2); i++)
            if (fabs(value / has[i] - 1) <= off) {
                width = has[i];
                off = fabs(value / has[i] - 1);
            }
    }
    calibrate_set(k, field, width, fabs(value - width));
}

/* ---- issue rates and latencies of instruction classes ---- */

static double rate_cycles(struct calibration *k, const char *type, const char *inst, const char *setup,
                          bool chain, uint32_t threads, uint32_t rounds)
{
    struct buf t = { 0 };
    calibrate_rate(&t, type, inst, chain, setup);
    return calibrate_time(k, &t,
                          (struct calibrate_run){
                              .elems = 8 * 1024, .c = rounds, .block = threads, .carveout = -1 })
        .cycles;
}

static void find_class(struct calibration *k, const char *name, const char *type, const char *inst,
                       const char *setup)
{
    char field[32];
    double slow = rate_cycles(k, type, inst, setup, true, 32, 10),
           quick = rate_cycles(k, type, inst, setup, true, 32, 2);
    snprintf(field, sizeof field, "lat_%s", name);
    calibrate_set(k, field, (slow - quick) / (256 * 8), 0);
    uint32_t threads = 1024;
    slow = rate_cycles(k, type, inst, setup, false, threads, 10);
    quick = rate_cycles(k, type, inst, setup, false, threads, 2);
    snprintf(field, sizeof field, "lanes_%s", name);
    calibrate_set_lanes(k, field, threads * 256.0 * 8 / (slow - quick));
}

static void find_classes(struct calibration *k)
{
    const char *ints = "add.s32 %%%s%d, %%r20, 3;", *floats = "cvt.rn.f32.u32 %%%s%d, %%r20;",
               *doubles = "cvt.rn.f64.u32 %%%s%d, %%r20;";
    find_class(k, "alu", "b32", "lop3.b32 @d, @d, @s, %r20, 0x58;", ints);
    find_class(k, "imul", "b32", "mad.lo.s32 @d, @d, @s, @d;", ints);
    find_class(k, "fp32", "f32", "fma.rn.f32 @d, @d, @s, @s;", floats);
    find_class(k, "fp64", "f64", "fma.rn.f64 @d, @d, @s, @s;", doubles);
    find_class(k, "sfu", "f32", "ex2.approx.ftz.f32 @d, @d;", floats);
}

/* ---- all of it ---- */

/* The fields that the driver tells. */
static void take_info(struct calibration *k, const struct dev_info *d)
{
    struct sim_preset *p = k->p;
    const struct {
        int64_t *to;
        uint64_t value;
    } told[] = { { &p->cc_major, (uint64_t)d->cc_major },
                 { &p->cc_minor, (uint64_t)d->cc_minor },
                 { &p->sms, d->sms },
                 { &p->max_warps, d->max_warps_per_sm },
                 { &p->max_ctas, d->max_ctas_per_sm },
                 { &p->max_threads_per_block, d->max_threads_per_block },
                 { &p->regs_per_sm, d->regs_per_sm },
                 { &p->shared_max, d->shared_per_sm },
                 { &p->shared_block_max, d->shared_per_block_optin },
                 { &p->l2_bytes, d->l2_bytes },
                 { &p->mem_bytes, d->mem_bytes } };
    for (size_t n = 0; n < ARRAY_LEN(told); n++) {
        if (!told[n].value && n > 1)
            continue;
        *told[n].to = (int64_t)told[n].value;
        calibrate_note(k, told[n].to, CALIBRATE_DRIVER, 0);
    }
    p->clock_mhz = d->clock_khz / 1000.0;
    k->clock_hz = d->clock_khz * 1000.0;
    calibrate_note(k, &p->clock_mhz, CALIBRATE_DRIVER, 0);
    if (!(d->bw_dram > 0))
        return;
    p->dram_gbps = d->bw_dram / 1e9;
    calibrate_note(k, &p->dram_gbps, CALIBRATE_DRIVER, 0);
}

static void start_from(struct calibration *k, const struct sim_preset *base)
{
    const struct dev_info *i = dev_describe(k->d);
    *k->p = base ? *base : sim_preset_default();
    memset(k->notes, 0, SIM_PRESET_FIELDS * sizeof *k->notes);
    snprintf(k->p->name, sizeof k->p->name, "calibrated");
    snprintf(k->p->title, sizeof k->p->title, "%.80s (calibrated)", i->name);
    /* nobody compared what is made here with the GPU */
#define X(f) k->p->f = 0;
    DEV_SPREAD(X)
#undef X
    take_info(k, i);
}

/* What a launch costs beside the cycles of its kernel. (An empty kernel shows how quickly the host sends
 * the next command: 3.1 to 5.4 us on an H200, by process.) The middle one of several, some before and
 * some behind the other measurements. */
enum { LAUNCHES = 9, LAUNCH_STEPS = 512 };

static void time_launches(struct calibration *k, double ns[LAUNCHES], unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        struct buf t = { 0 };
        calibrate_walk(&t, "");
        struct calibrate_run r = { .elems = 1024, .c = LAUNCH_STEPS, .carveout = -1, .cold = true };
        struct calibrate_value v = calibrate_time(k, &t, r);
        ns[i] = v.ns - v.cycles / k->clock_hz * 1e9;
    }
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum status dev_calibrate(struct dev *d, const struct sim_preset *base, const struct cancel *cancel,
                          struct sim_preset *out, struct calibrate_note notes[SIM_PRESET_FIELDS],
                          struct buf *residuals, struct diags *ds)
{
    struct calibration k = { .d = d,
                             .p = out,
                             .notes = notes,
                             .log = residuals,
                             .ds = ds,
                             .cancel = cancel,
                             .l1_op = "",
                             .based = base != NULL,
                             .errors = ds->errors };
    start_from(&k, base);
    double ns[LAUNCHES];
    time_launches(&k, ns, 0, LAUNCHES / 3);
    void (*const parts[])(struct calibration *) = { calibrate_caches, find_classes,
                                                    calibrate_bandwidths };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (ds->errors == k.errors && !cancel_asked(cancel))
            parts[i](&k);
    if (cancel_asked(cancel))
        return ST_CANCELLED;
    time_launches(&k, ns, LAUNCHES / 3, LAUNCHES);
    qsort(ns, LAUNCHES, sizeof *ns, by_time);
    calibrate_set(&k, "launch_ns", ns[LAUNCHES / 2], ns[LAUNCHES * 3 / 4] - ns[LAUNCHES / 4]);
    return ds->errors == k.errors && sim_preset_check(out, ds) == ST_OK ? ST_OK : ST_DEVICE;
}
