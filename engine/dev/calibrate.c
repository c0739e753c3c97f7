/* Calibration: measures a device with microbenchmarks and fills a preset. What no
 * benchmark here shows (policies, tracker counts) keeps the value of the default
 * preset; each measured field is listed with its value and residual. Runs on any
 * device: on a simulated one it must find that one's own numbers again. */
#include "engine/dev/calibrate_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct calibration {
    struct dev *d;
    struct sim_preset *p;
    struct buf *log;
    struct diags *ds;
    const struct cancel *cancel;
    double clock_hz;
    const char *l1_op;           /* the load that stays in L1 */
};

/* ---- one run ---- */

static struct arg_spec scalar_arg(const char *name, uint32_t v)
{
    struct arg_spec a = { .kind = ARG_SCALAR, .name = (char *)(uintptr_t)name, .elem = ELEM_U32 };
    memcpy(a.scalar, &v, sizeof v);
    return a;
}

static struct arg_spec buffer_arg(const char *name, uint64_t count, double start, double step, bool output)
{
    struct arg_spec a = { .kind = ARG_BUFFER, .name = (char *)(uintptr_t)name, .elem = ELEM_U64, .count = count, .output = output };
    a.init = (struct init_spec){ .kind = step != 0 ? INIT_IOTA : INIT_FILL, .a = start, .b = step, .ia = (int64_t)start,
                                 .ib = (int64_t)step, .integral = true };
    return a;
}

static enum status launch_code(struct dev *d, struct dev_code *c, const struct launch_data *data, const struct calibrate_run *r,
                               struct calibrate_value *v, struct diags *ds)
{
    struct dev_data *b = NULL;
    struct result res = result_empty();
    enum status st = dev_bind(d, data, &b, ds);
    if (st != ST_OK) return st;
    struct dev_run run = dev_run_default();
    run.launch = data->spec;
    run.grid = data->spec->grid;
    run.block = data->spec->block;
    run.carveout = r->carveout;
    run.counters = false;
    run.flush_l2 = r->cold;
    run.exact = true;                /* a simulated device: no sample, whose error a slope would magnify */
    run.time_limit_s = dev_describe(d)->kind == DEV_SIMULATED ? 600 : 20;    /* a GPU takes milliseconds */
    run.cancel = r->cancel;
    st = dev_launch(d, c, b, &run, &res, ds);
    if (st == ST_OK && cancel_asked(r->cancel))
        st = ST_CANCELLED;
    if (st == ST_OK && res.status != ST_OK) {
        diag_error(ds, "calibrate", "a microbenchmark failed: %s", res.message);
        st = ST_DEVICE;
    }
    uint64_t cycles[2] = { 0, 0 };
    if (st == ST_OK) st = dev_read_arg(d, b, 1, cycles, sizeof cycles, ds);
    *v = (struct calibrate_value){ (double)cycles[0], (double)res.time.min };
    dev_unbind(d, b);
    return st;
}

enum status calibrate_measure(struct dev *d, const struct calibrate_run *r, struct calibrate_value *v, struct diags *ds)
{
    struct arg_spec args[] = { buffer_arg("buf", r->elems, r->start, r->step, false), buffer_arg("out", 8, 0, 0, true),
                               scalar_arg("a", r->a), scalar_arg("b", r->b), scalar_arg("c", r->c) };
    struct launch_spec l = { .kernel = (char *)(uintptr_t) "k", .grid = { r->grid ? r->grid : 1, 1, 1 },
                             .block = { r->block ? r->block : 1, 1, 1 }, .args = args, .nargs = ARRAY_LEN(args) };
    struct launch_data data = { 0 };
    struct dev_code *c = NULL;
    enum status st = dev_load(d, "calibrate.ptx", str_of(r->text), STR("k"), 0, &c, ds);
    if (st == ST_OK) st = launch_data_make(&l, 1ull << 34, &data, ds);
    if (st == ST_OK) st = launch_code(d, c, &data, r, v, ds);
    launch_data_free(&data);
    dev_unload(d, c);
    return st;
}

/* Runs and releases the text. NAN when it failed (the diagnostics say why). */
static struct calibrate_value measure(struct calibration *k, struct buf *text, struct calibrate_run r)
{
    struct calibrate_value v = { NAN, NAN };
    r.text = text->s;
    r.cancel = k->cancel;
    if (text->oom || cancel_asked(k->cancel) || calibrate_measure(k->d, &r, &v, k->ds) != ST_OK) v = (struct calibrate_value){ NAN, NAN };
    buf_free(text);
    return v;
}

static void note(struct calibration *k, const char *field, double value, const char *unit, double residual)
{
    buf_printf(k->log, "%-22s %12.4g %-12s residual %.2g\n", field, value, unit, residual);
}

/* Sets an integer field; the residual is what rounding took away. */
static void set_int(struct calibration *k, const char *name, int64_t *field, double value, const char *unit)
{
    if (!isfinite(value)) return;
    *field = llround(value);
    note(k, name, value, unit, fabs(value - (double)*field));
}

/* ---- latencies ---- */

static double ring_latency(struct calibration *k, const char *op, uint32_t stride, uint32_t count, int carveout)
{
    struct buf t = { 0 };
    calibrate_ring(&t, op);
    uint32_t steps = (count + 15) / 16 * 16;
    if (steps < 256) steps = 256;
    struct calibrate_run r = { .elems = (uint64_t)stride * count / 8 + 16, .a = stride, .b = count, .c = steps, .carveout = carveout };
    return measure(k, &t, r).cycles / steps;
}

static double walk_latency(struct calibration *k, const char *op, uint32_t distance, uint32_t steps, bool cold)
{
    struct buf t = { 0 };
    calibrate_walk(&t, op);
    struct calibrate_run r = { .elems = (uint64_t)distance * steps / 8 + 16, .start = distance, .step = distance ? 8 : 0, .c = steps,
                               .carveout = -1, .cold = cold };
    return measure(k, &t, r).cycles / steps;
}

/* Where plain loads do not stay in L1, .ca may (Kepler, Maxwell), or nothing does. */
static void find_latencies(struct calibration *k)
{
    double l1 = ring_latency(k, "", 128, 8, -1), l2 = ring_latency(k, ".cg", 128, 1024, -1);
    k->p->l1_plain = l1 < 0.8 * l2;
    if (!k->p->l1_plain) {
        k->l1_op = ".ca";
        l1 = ring_latency(k, k->l1_op, 128, 8, -1);
        k->p->l1_ca = l1 < 0.8 * l2;
    }
    set_int(k, "l2_latency", &k->p->l2_latency, l2, "cycle");
    if (k->p->l1_ca || k->p->l1_plain) set_int(k, "l1_latency", &k->p->l1_latency, l1, "cycle");
    double add = walk_latency(k, k->l1_op, 0, 256, false) - l1; /* the address addition of a walk */
    double dram = walk_latency(k, ".cg", 8192, 1024, true) - add;
    set_int(k, "dram_latency", &k->p->dram_latency, dram, "cycle");
}

/* ---- what comes together on a miss ---- */

static double pair_cycles(struct calibration *k, uint32_t distance)
{
    struct buf t = { 0 };
    calibrate_pair(&t, k->l1_op);
    return measure(k, &t, (struct calibrate_run){ .elems = 4096, .a = distance, .carveout = -1, .cold = true }).cycles;
}

static void find_sectors(struct calibration *k)
{
    double same = pair_cycles(k, 8), far = pair_cycles(k, 16384);
    double l1_miss = same + 0.5 * (double)(k->p->l2_latency - k->p->l1_latency);
    double l2_miss = far - 0.5 * (double)(k->p->dram_latency - k->p->l2_latency);
    int64_t sector = 256, fill = 256;
    for (uint32_t d = 128; d >= 32; d /= 2) {
        double c = pair_cycles(k, d);
        if (c > l1_miss) sector = d;
        if (c > l2_miss) fill = d;
    }
    if (!isfinite(same) || !isfinite(far)) return;
    k->p->l1_sector = sector > 128 ? 128 : sector;
    k->p->l2_fill = fill > 128 ? 128 : fill;
    note(k, "l1_sector", (double)k->p->l1_sector, "byte", 0);
    note(k, "l2_fill", (double)k->p->l2_fill, "byte", 0);
}

/* ---- capacities: the largest ring that still hits ---- */

static uint64_t l1_capacity(struct calibration *k, int carveout)
{
    double limit = (double)k->p->l1_latency + 0.06 * (double)(k->p->l2_latency - k->p->l1_latency);
    uint64_t lo = 4096, hi = 512 * 1024;
    while (hi - lo > 1024) {
        uint64_t mid = (lo + hi) / 2 / 128 * 128;
        double lat = ring_latency(k, k->l1_op, 128, (uint32_t)(mid / 128), carveout);
        if (!isfinite(lat)) return 0;
        if (lat <= limit) lo = mid;
        else hi = mid;
    }
    return (lo + 512) / 1024 * 1024;
}

/* Carve-outs larger than shared memory, or that leave no L1, are none of this device's. */
static void drop_carves(struct sim_preset *p)
{
    int64_t *c = &p->carve_0;
    unsigned n = 0;
    for (unsigned i = 0; i < 10; i++) {
        int64_t bytes = c[i] * 1024;
        if (c[i] >= 0 && bytes <= p->shared_max && (!p->unified_bytes || bytes + p->l1_line * p->l1_ways <= p->unified_bytes)) c[n++] = c[i];
    }
    while (n < 10) c[n++] = -1;
}

/* L1 beside the smallest, a middle and the largest carve-out. Where the largest and its L1 are clearly more than L1 alone,
 * no carve-out is 0, and those of the device are what the three leave of the sum. */
static void set_carves(struct sim_preset *p, const uint64_t l1[3])
{
    int64_t sum = p->shared_max + (int64_t)l1[2], *c = &p->carve_0;
    p->unified_bytes = (int64_t)l1[0] + p->carve_0 * 1024;
    if ((double)sum <= 1.1 * (double)p->unified_bytes) return;
    unsigned n = 0;
    p->unified_bytes = sum;
    for (unsigned i = 0; i < 3; i++) {
        int64_t kib = (sum - (int64_t)l1[i]) / 1024;
        if (!n || kib > c[n - 1]) c[n++] = kib;
    }
    while (n < 10) c[n++] = -1;
}

static void find_capacity(struct calibration *k)
{
    static const int percents[] = { 0, 50, 100 };
    uint64_t bytes[ARRAY_LEN(percents)];
    if (!k->p->l1_plain && !k->p->l1_ca) return;
    for (size_t i = 0; i < ARRAY_LEN(percents); i++) {
        bytes[i] = l1_capacity(k, percents[i]);
        if (!bytes[i]) return;
        buf_printf(k->log, "L1 at carve-out %3d %%    %12llu byte\n", percents[i], (unsigned long long)bytes[i]);
    }
    if (k->p->unified_bytes) set_carves(k->p, bytes);
    else k->p->l1_bytes = (int64_t)bytes[0];
}

/* ---- bandwidths: the slope between two lengths, so that what a launch costs cancels out ---- */

static double stream_rate(struct calibration *k, uint64_t bytes, uint32_t reads, bool cold)
{
    uint32_t grid = (uint32_t)k->p->sms * 4, block = 512;
    double ns[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct buf t = { 0 };
        calibrate_stream(&t, ".cg");
        ns[i] = measure(k, &t, (struct calibrate_run){ .elems = bytes / 8, .a = (uint32_t)(bytes / 16), .b = reads * (i + 1), .grid = grid,
                                                       .block = block, .carveout = -1, .cold = cold }).ns;
    }
    return (double)grid * block * reads * 16 / (ns[1] - ns[0]);     /* bytes per nanosecond */
}

static void find_bandwidths(struct calibration *k)
{
    uint64_t l2 = 1;
    while (l2 * 4 <= (uint64_t)k->p->l2_bytes) l2 *= 2;              /* between an eighth and a half of L2 */
    double from_l2 = stream_rate(k, l2, 32, false);
    if (isfinite(from_l2) && from_l2 > 0) {
        k->p->l2_bytes_per_cycle = from_l2 * 1e9 / k->clock_hz;
        note(k, "l2_bytes_per_cycle", k->p->l2_bytes_per_cycle, "byte/cycle", 0);
    }
    uint32_t threads = (uint32_t)k->p->sms * 4 * 512, reads = 16;
    uint64_t need = 1;
    while (need < (uint64_t)threads * reads * 2 * 16) need *= 2;     /* no byte is read twice */
    double from_dram = stream_rate(k, need, reads, true);
    if (!isfinite(from_dram) || from_dram <= 0) return;
    k->p->dram_efficiency = from_dram < k->p->dram_gbps ? from_dram / k->p->dram_gbps : 1;
    if (from_dram > k->p->dram_gbps) k->p->dram_gbps = from_dram;
    note(k, "dram, achieved", from_dram, "GB/s", 0);
}

/* ---- issue rates and latencies of instruction classes ---- */

static double rate_cycles(struct calibration *k, const char *type, const char *inst, const char *setup, bool chain, uint32_t threads,
                          uint32_t rounds)
{
    struct buf t = { 0 };
    calibrate_rate(&t, type, inst, chain, setup);
    return measure(k, &t, (struct calibrate_run){ .elems = 8 * 1024, .c = rounds, .block = threads, .carveout = -1 }).cycles;
}

static void find_class(struct calibration *k, const char *name, int64_t *lanes, int64_t *latency, const char *type, const char *inst,
                       const char *setup)
{
    char label[32];
    double slow = rate_cycles(k, type, inst, setup, true, 32, 10), quick = rate_cycles(k, type, inst, setup, true, 32, 2);
    snprintf(label, sizeof label, "lat_%s", name);
    set_int(k, label, latency, (slow - quick) / (256 * 8), "cycle");
    uint32_t threads = 1024;
    slow = rate_cycles(k, type, inst, setup, false, threads, 10);
    quick = rate_cycles(k, type, inst, setup, false, threads, 2);
    snprintf(label, sizeof label, "lanes_%s", name);
    set_int(k, label, lanes, threads * 256.0 * 8 / (slow - quick), "lane/cycle");
}

static void find_classes(struct calibration *k)
{
    struct sim_preset *p = k->p;
    const char *ints = "add.s32 %%%s%d, %%r20, 3;", *floats = "cvt.rn.f32.u32 %%%s%d, %%r20;", *doubles = "cvt.rn.f64.u32 %%%s%d, %%r20;";
    find_class(k, "alu", &p->lanes_alu, &p->lat_alu, "b32", "lop3.b32 @d, @d, @s, %r20, 0x58;", ints);
    find_class(k, "imul", &p->lanes_imul, &p->lat_imul, "b32", "mad.lo.s32 @d, @d, @s, @d;", ints);
    find_class(k, "fp32", &p->lanes_fp32, &p->lat_fp32, "f32", "fma.rn.f32 @d, @d, @s, @s;", floats);
    find_class(k, "fp64", &p->lanes_fp64, &p->lat_fp64, "f64", "fma.rn.f64 @d, @d, @s, @s;", doubles);
    find_class(k, "sfu", &p->lanes_sfu, &p->lat_sfu, "f32", "ex2.approx.ftz.f32 @d, @d;", floats);
}

/* ---- all of it ---- */

static void start_from(struct calibration *k, const struct dev_info *i)
{
    struct sim_preset *p = k->p;
    *p = sim_preset_default();
    snprintf(p->name, sizeof p->name, "calibrated");
    snprintf(p->title, sizeof p->title, "%.80s (calibrated)", i->name);
    p->cc_major = i->cc_major;
    p->cc_minor = i->cc_minor;
    p->sms = i->sms;
    p->max_warps = i->max_warps_per_sm;
    p->max_ctas = i->max_ctas_per_sm ? i->max_ctas_per_sm : p->max_ctas;
    p->max_threads_per_block = i->max_threads_per_block;
    p->regs_per_sm = i->regs_per_sm;
    p->shared_max = i->shared_per_sm;
    p->shared_block_max = i->shared_per_block_optin;
    p->l2_bytes = (int64_t)i->l2_bytes;
    p->mem_bytes = (int64_t)i->mem_bytes;
    p->clock_mhz = i->clock_khz / 1000.0;
    k->clock_hz = i->clock_khz * 1000.0;
    if (i->bw_dram > 0) p->dram_gbps = i->bw_dram / 1e9;
}

enum status dev_calibrate(struct dev *d, const struct cancel *cancel, struct sim_preset *out, struct buf *residuals, struct diags *ds)
{
    struct calibration k = { .d = d, .p = out, .log = residuals, .ds = ds, .cancel = cancel, .l1_op = "" };
    size_t errors = ds->errors;
    start_from(&k, dev_describe(d));
    struct buf t = { 0 };
    calibrate_empty(&t);
    double empty = measure(&k, &t, (struct calibrate_run){ .elems = 16, .block = 32, .carveout = -1 }).ns;
    if (isfinite(empty)) {
        out->launch_ns = empty;
        note(&k, "launch_ns", empty, "ns", 0);
    }
    if (ds->errors == errors) find_latencies(&k);
    if (ds->errors == errors) find_sectors(&k);
    if (ds->errors == errors) find_capacity(&k);
    if (ds->errors == errors) find_classes(&k);
    if (ds->errors == errors) find_bandwidths(&k);
    drop_carves(out);
    if (cancel_asked(cancel))
        return ST_CANCELLED;
    return ds->errors == errors && sim_preset_check(out, ds) == ST_OK ? ST_OK : ST_DEVICE;
}
