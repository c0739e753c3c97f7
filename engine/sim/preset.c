/* Presets: the field table of preset.def as data, defaults, checks, and the
 * description of the device a preset stands for. Reading JSON is session's. */
#include "engine/sim/preset.h"

#include "engine/rec/device.h"
#include "engine/sim/timing/expansion.h"

#include <stdio.h>
#include <string.h>

static const struct sim_preset_field fields[] = {
#define PRESET_INT(field, unit, def, least, most, source, help) \
    { #field, unit, help, source, true, offsetof(struct sim_preset, field), def, least, most },
#define PRESET_NUM(field, unit, def, least, most, source, help) \
    { #field, unit, help, source, false, offsetof(struct sim_preset, field), def, least, most },
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
#define PRESET_INT(field, unit, def, least, most, source, help) .field = def,
#define PRESET_NUM(field, unit, def, least, most, source, help) .field = def,
#include "engine/sim/preset.def"
#undef PRESET_INT
#undef PRESET_NUM
    };
    return p;
}

/* ---- what an architecture has where a preset says nothing ---- */

static const struct arch_value {
    const char *field;
    int first, last; /* compute capabilities, 10 * major + minor */
    double value;
    const char *source;
} arch_values[] = {
#define ARCH(field, first, last, value, source) { #field, first, last, value, source },
#include "engine/sim/preset_arch.def"
#undef ARCH
};

static const struct arch_value *arch_value_of(const char *field, int64_t major, int64_t minor)
{
    int64_t cc = 10 * major + minor;
    for (size_t i = 0; i < ARRAY_LEN(arch_values); i++)
        if (strcmp(arch_values[i].field, field) == 0 && arch_values[i].first <= cc &&
            cc <= arch_values[i].last)
            return &arch_values[i];
    return NULL;
}

double sim_preset_field_default(size_t i, int64_t major, int64_t minor, const char **source)
{
    const struct arch_value *a = arch_value_of(fields[i].name, major, minor);
    *source = a ? a->source : fields[i].source;
    return a ? a->value : fields[i].def;
}

void sim_preset_set(struct sim_preset *p, size_t i, double value)
{
    char *at = (char *)p + fields[i].offset;
    if (fields[i].integer)
        *(int64_t *)(void *)at = (int64_t)value;
    else
        *(double *)(void *)at = value;
}

void sim_preset_fill(struct sim_preset *p, const bool *given)
{
    const char *source;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (!given[i] && i != SIM_PRESET_AT_cc_major && i != SIM_PRESET_AT_cc_minor)
            sim_preset_set(p, i, sim_preset_field_default(i, p->cc_major, p->cc_minor, &source));
}

struct sim_preset sim_preset_default_for(int64_t major, int64_t minor)
{
    static const bool given[SIM_PRESET_FIELDS] = {
        [SIM_PRESET_AT_cc_major] = true, [SIM_PRESET_AT_cc_minor] = true
    };
    struct sim_preset p = sim_preset_default();
    p.cc_major = major;
    p.cc_minor = minor;
    sim_preset_fill(&p, given);
    return p;
}

/* ---- checks ---- */

double sim_preset_value(const struct sim_preset *p, const struct sim_preset_field *f)
{
    const char *at = (const char *)p + f->offset;
    return f->integer ? (double)*(const int64_t *)(const void *)at : *(const double *)(const void *)at;
}

static void check_range(const struct sim_preset *p, const struct sim_preset_field *f, struct diags *ds)
{
    double v = sim_preset_value(p, f);
    if (!(v >= f->least && v <= f->most))
        diag_error(ds, "preset-range", "preset %s: %s is %g, must be %g to %g", p->name, f->name, v,
                   f->least, f->most);
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
            diag_error(ds, "preset-range", "preset %s: carve_%d is not larger than the one before",
                       p->name, i);
        if ((double)c[i] * 1024 + set > (double)p->unified_bytes)
            diag_error(ds, "preset-range", "preset %s: carve_%d leaves no L1", p->name, i);
    }
}

static bool is_power(int64_t n)
{
    return !(n & (n - 1));
}

enum status sim_preset_check(const struct sim_preset *p, struct diags *ds)
{
    size_t before = ds->errors;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        check_range(p, &fields[i], ds);
    check_carve(p, ds);
    if (!is_power(p->l1_line) || !is_power(p->l1_sector) || !is_power(p->l2_fill) ||
        !is_power(p->l1_pool_banks) || !is_power(p->l2_atomic_unit_bytes))
        diag_error(ds, "preset-range",
                   "preset %s: l1_line, l1_sector, l1_pool_banks, l2_fill and l2_atomic_unit_bytes must "
                   "be powers of two",
                   p->name);
    if ((double)p->max_warps > 64.0 * (double)p->schedulers)
        diag_error(ds, "preset-range", "preset %s: more than 64 warps per scheduler", p->name);
    if (!timing_expansion_set_exists((uint32_t)p->expansion_set))
        diag_error(ds, "preset-range", "preset %s: no expansion_set %lld", p->name,
                   (long long)p->expansion_set);
    if (p->l1_sector > p->l1_line)
        diag_error(ds, "preset-range", "preset %s: l1_sector exceeds l1_line", p->name);
    if (p->dram_latency < p->l2_latency || p->l2_latency <= p->l1_latency)
        diag_error(ds, "preset-range", "preset %s: l1_latency < l2_latency < dram_latency does not hold",
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
        .l2_persist_bytes = (uint64_t)p->l2_persist_bytes,
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
#define X(f) out->spread.f = (float)p->f;
    DEV_SPREAD(X)
#undef X
    snprintf(out->spec, sizeof out->spec, "sim:%s", p->name);
    snprintf(out->name, sizeof out->name, "%s", p->title);
}
