/* Presets: the field table of preset.def as data, defaults, checks, and the
 * description of the device a preset stands for. Reading JSON is session's. */
#include "engine/sim/preset.h"

#include "engine/base/base.h"
#include "engine/rec/device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct sim_preset_field fields[] = {
#define PRESET_INT(field, unit, def, help) \
    { #field, unit, help, true, offsetof(struct sim_preset, field), def },
#define PRESET_NUM(field, unit, def, help) \
    { #field, unit, help, false, offsetof(struct sim_preset, field), def },
#include "engine/sim/preset.def"
#undef PRESET_INT
#undef PRESET_NUM
};

size_t sim_preset_field_count(void)
{
    return ARRAY_LEN(fields);
}

const struct sim_preset_field *sim_preset_field(size_t i)
{
    return i < ARRAY_LEN(fields) ? &fields[i] : NULL;
}

struct sim_preset sim_preset_default(void)
{
    struct sim_preset p = {
        .name = "default",
        .title = "default device",
#define PRESET_INT(field, unit, def, help) .field = def,
#define PRESET_NUM(field, unit, def, help) .field = def,
#include "engine/sim/preset.def"
#undef PRESET_INT
#undef PRESET_NUM
    };
    return p;
}

/* ---- checks ---- */

/* Ranges outside of which the model's arrays, divisions or clocks would not hold: one row for every
 * field. */
static const struct {
    const char *name;
    double min, max;
} ranges[] = {
    { "sms", 1, 1024 },
    { "clock_mhz", 1, 1e5 },
    { "schedulers", 1, 8 },
    { "issue_interval", 1, 64 },
    { "scheduler_policy", 0, 2 },
    { "dual_issue", 0, 1 },
    { "max_warps", 1, 128 },
    { "max_ctas", 1, 128 },
    { "max_threads_per_block", 32, 1024 },
    { "regs_per_sm", 1024, 1 << 24 },
    { "regs_per_thread", 16, 1024 },
    { "reg_unit", 1, 4096 },
    { "warp_unit", 1, 32 },
    { "unified_bytes", 0, 1 << 24 },
    { "shared_max", 0, 1 << 24 },
    { "shared_reserved", 0, 65536 },
    { "shared_unit", 1, 65536 },
    { "shared_banks", 1, 64 },
    { "shared_bank_bytes", 1, 32 },
    { "launch_ns", 0, 1e9 },
    { "cta_cycles", 0, 1e6 },
    { "cta_latency", 0, 1e6 },
    { "lanes_alu", 1, 4096 },
    { "lanes_imul", 1, 4096 },
    { "lanes_fp32", 1, 4096 },
    { "lanes_fp16", 1, 4096 },
    { "lanes_fp64", 1, 4096 },
    { "lanes_sfu", 1, 4096 },
    { "lanes_cvt", 1, 4096 },
    { "lanes_move", 1, 4096 },
    { "lanes_control", 1, 4096 },
    { "lanes_warp", 1, 4096 },
    { "lanes_lsu", 1, 4096 },
    { "lanes_tensor", 0, 4096 },
    { "l1_bytes", 0, 1 << 24 },
    { "l1_line", 32, 128 },
    { "l1_sector", 32, 128 },
    { "l1_ways", 1, 64 },
    { "l1_latency", 1, 10000 },
    { "l1_bytes_per_cycle", 1, 4096 },
    { "l1_mshrs", 1, 4096 },
    { "l1_flight", 0, 65536 },
    { "l1_mshr_merge", 1, 4096 },
    { "l1_queue", 1, 4096 },
    { "l1_queue_each", 1, 4096 },
    { "ro_bytes", 0, 1 << 24 },
    { "ro_ways", 1, 64 },
    { "ro_sector", 32, 128 },
    { "ro_latency", 1, 10000 },
    { "icnt_bytes_per_cycle", 0.001, 1e5 },
    { "icnt_write_bytes_per_cycle", 0.001, 1e5 },
    { "l2_bytes", 65536, 1e12 },
    { "l2_distinct", 0.1, 1 },
    { "l1_reserve", 0, 1 },
    { "l2_slices", 1, 4096 },
    { "l2_ways", 1, 64 },
    { "l2_latency", 2, 100000 },
    { "l2_far_latency", 0, 200 },
    { "l2_bytes_per_cycle", 0.001, 1e6 },
    { "l2_fill", 32, 128 },
    { "l2_atomics_per_cycle", 0.001, 1e6 },
    { "dram_latency", 2, 1000000 },
    { "dram_queue", 0, 100000 },
    { "dram_gbps", 0.001, 1e6 },
    { "dram_efficiency", 0.01, 1 },
    { "dram_channels", 1, 1024 },
    { "mem_bytes", 1 << 20, 1e15 },
    { "l1_tag_banks", 1, 8 },
    { "l1_bypass_allocates", 0, 1 },
    { "l1_bypass_invalidates", 0, 1 },
    { "l1_tags", 0, 65536 },
    { "l1_fill_buffers", 0, 65536 },
    { "l1_random_candidates", 0, 64 },
    { "l2_request_bytes", 0, 1024 },
    { "l2_partial_write", 0.1, 64 },
    { "icnt_write_cycles", 0, 1024 },
    { "l2_write", 0.1, 64 },
    { "l2_atomic_cycles", 0, 1024 },
    { "l2_merge", 0, 1 },
    { "l2_merge_sms", 1, 1024 },
    { "l2_first_share", 0, 1 },
    { "cc_major", 1, 99 },
    { "cc_minor", 0, 9 },
    { "shared_block_max", 0, 1 << 24 },
    { "carve_default", -1, 16384 },
    { "carve_0", -1, 16384 },
    { "carve_1", -1, 16384 },
    { "carve_2", -1, 16384 },
    { "carve_3", -1, 16384 },
    { "carve_4", -1, 16384 },
    { "carve_5", -1, 16384 },
    { "carve_6", -1, 16384 },
    { "carve_7", -1, 16384 },
    { "carve_8", -1, 16384 },
    { "carve_9", -1, 16384 },
    { "lat_alu", 0, 10000 },
    { "lat_imul", 0, 10000 },
    { "lat_fp32", 0, 10000 },
    { "lat_fp16", 0, 10000 },
    { "lat_fp64", 0, 10000 },
    { "lat_sfu", 0, 10000 },
    { "lat_cvt", 0, 10000 },
    { "lat_move", 0, 10000 },
    { "lat_control", 0, 10000 },
    { "lat_barrier", 0, 10000 },
    { "lat_tensor", 0, 10000 },
    { "lat_warp", 0, 10000 },
    { "lat_const", 0, 10000 },
    { "lat_shared", 0, 10000 },
    { "lat_cluster", 0, 10000 },
    { "cluster_bytes_per_cycle", 0.001, 1e5 },
    { "lat_atom_shared", 0, 10000 },
    { "lat_fence", 0, 100000 },
    { "l1_hash", 0, 1 },
    { "l1_plain", 0, 1 },
    { "l1_ca", 0, 1 },
    { "l1_write", 0, 2 },
    { "l2_hash", 0, 1 },
    { "l2_shared_rate", 0.01, 1e5 },
    { "dram_scatter", 0.01, 1 },
    { "cta_rate", 0.001, 1000 },
};

static double field_value(const struct sim_preset *p, const struct sim_preset_field *f)
{
    const char *at = (const char *)p + f->offset;
    return f->integer ? (double)*(const int64_t *)(const void *)at : *(const double *)(const void *)at;
}

static void check_range(const struct sim_preset *p, const char *name, double min, double max,
                        struct diags *ds)
{
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        if (strcmp(fields[i].name, name) != 0)
            continue;
        double v = field_value(p, &fields[i]);
        if (!(v >= min && v <= max))
            diag_error(ds, "preset-range", "preset %s: %s is %g, must be %g to %g", p->name, name, v,
                       min, max);
    }
}

/* Carve-outs ascend, and each leaves L1 at least one line per way. In doubles: a field out of its range
 * could overflow. */
static void check_carve(const struct sim_preset *p, struct diags *ds)
{
    double set = (double)p->l1_line * (double)p->l1_ways;
    if (!p->unified_bytes) {
        if ((double)p->l1_bytes < set)
            diag_error(ds, "preset-range", "preset %s: l1_bytes is smaller than one set", p->name);
        return;
    }
    const int64_t *c = &p->carve_0;
    if (c[0] < 0)
        diag_error(ds, "preset-range", "preset %s: unified_bytes without any carve_N", p->name);
    for (int i = 0; i < 10 && c[i] >= 0; i++) {
        if (i && c[i] <= c[i - 1])
            diag_error(ds, "preset-range", "preset %s: carve_%d does not ascend", p->name, i);
        if ((double)c[i] * 1024 + set > (double)p->unified_bytes)
            diag_error(ds, "preset-range", "preset %s: carve_%d leaves no L1", p->name, i);
    }
}

enum status sim_preset_check(const struct sim_preset *p, struct diags *ds)
{
    size_t before = ds->errors;
    for (size_t i = 0; i < ARRAY_LEN(ranges); i++)
        check_range(p, ranges[i].name, ranges[i].min, ranges[i].max, ds);
    check_carve(p, ds);
    bool pow2 = !(p->l1_line & (p->l1_line - 1)) && !(p->l1_sector & (p->l1_sector - 1)) &&
                !(p->l2_fill & (p->l2_fill - 1));
    if (!pow2)
        diag_error(ds, "preset-range", "preset %s: l1_line, l1_sector and l2_fill must be powers of two",
                   p->name);
    if ((double)p->max_warps > 64.0 * (double)p->schedulers)
        diag_error(ds, "preset-range", "preset %s: more than 64 warps per scheduler", p->name);
    if (p->l1_sector > p->l1_line)
        diag_error(ds, "preset-range", "preset %s: l1_sector exceeds l1_line", p->name);
    if (p->dram_latency < p->l2_latency || p->l2_latency <= p->l1_latency)
        diag_error(ds, "preset-range",
                   "preset %s: latencies must grow from l1_latency over l2_latency to dram_latency",
                   p->name);
    return ds->errors == before ? ST_OK : ST_INPUT;
}

void sim_preset_info(const struct sim_preset *p, struct dev_info *out)
{
    *out = (struct dev_info){
        .kind = DEV_SIMULATED,
        .cc_major = (int)p->cc_major,
        .cc_minor = (int)p->cc_minor,
        .sms = (uint32_t)p->sms,
        .warp_size = 32,
        .max_warps_per_sm = (uint32_t)p->max_warps,
        .max_ctas_per_sm = (uint32_t)p->max_ctas,
        .max_threads_per_block = (uint32_t)p->max_threads_per_block,
        .regs_per_sm = (uint32_t)p->regs_per_sm,
        .shared_per_sm = (uint32_t)p->shared_max,
        .shared_per_block_optin = (uint32_t)p->shared_block_max,
        .l1_bytes = (uint64_t)(p->unified_bytes
                                   ? p->unified_bytes -
                                         (p->carve_default >= 0 ? p->carve_default : p->carve_0) * 1024
                                   : p->l1_bytes),
        .l2_bytes = (uint64_t)p->l2_bytes,
        .mem_bytes = (uint64_t)p->mem_bytes,
        .clock_khz = (uint32_t)(p->clock_mhz * 1000),
        .lat_l1 = (double)p->l1_latency,
        .lat_l2 = (double)p->l2_latency,
        .lat_dram = (double)p->dram_latency,
        .bw_l2 = p->l2_bytes_per_cycle * p->clock_mhz * 1e6,
        .bw_dram = p->dram_gbps * p->dram_efficiency * 1e9,
        .issue_per_cycle = (double)p->schedulers / (double)p->issue_interval,
        .lat_alu = (double)p->lat_alu,
        .l2_shared_rate = p->l2_shared_rate,
        .l2_partial_write = p->l2_partial_write
    };
#define X(f) out->sm.f = (double)p->f;
    DEV_SM(X)
#undef X
    snprintf(out->spec, sizeof out->spec, "sim:%s", p->name);
    snprintf(out->name, sizeof out->name, "%s", p->title);
}
