/* Ceilings from the fields of a preset, and where a launch lies under them. A launch lasts at least as
 * long as each pipe needs for its operations and each level of memory for its bytes. What limits it is
 * said by the result's limits (engine/rec/limits.h). */
#include "engine/session/roofline.h"

#include "engine/rec/counter_ids.h"
#include "engine/rec/result_read.h"
#include "engine/session/preset_fields.h"
#include "engine/session/session_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Operations of one unit of the field: a lane makes a multiply-add, of halves two at once. */
static const struct {
    const char *field;
    double each;
} pipes[PIPE_COUNT] = {
    [PIPE_FP16] = { "lanes_fp16", 4 },
    [PIPE_FP32] = { "lanes_fp32", 2 },
    [PIPE_FP64] = { "lanes_fp64", 2 },
    [PIPE_TENSOR_16] = { "tensor_macs_16", 2 },
    [PIPE_TENSOR_TF32] = { "tensor_macs_tf32", 2 },
    [PIPE_TENSOR_8] = { "tensor_macs_8", 2 },
};

static double field(const struct preset_fields *p, const char *name, char *said, size_t n)
{
    for (size_t i = 0; name && i < sim_preset_field_count(); i++) {
        const struct sim_preset_field *f = sim_preset_field(i);
        if (strcmp(f->name, name))
            continue;
        double v = sim_preset_value(&p->p, f);
        if (said)
            snprintf(said, n, "%s = %.10g %s (%.150s)", name, v, f->unit,
                     p->source[i] ? p->source[i] : "no source");
        return v;
    }
    return 0;
}

static double value(const struct result *r, enum counter_id id)
{
    return result_counters(r)[id].valid ? result_counters(r)[id].value : NAN;
}

static struct roof placed(const struct roofline *f, struct roof x)
{
    x.share = x.rate > 0 ? x.amount / x.rate / f->seconds : NAN;
    x.intensity = x.memory && x.amount > 0 ? f->operations / x.amount : NAN;
    return x;
}

static void add(struct roofline *f, struct roof x)
{
    f->roof[f->n++] = placed(f, x);
}

/* Of the SMs in this kernel: tensor cores lower it. */
static double clock_mhz(const struct result *r, const struct sim_preset *p)
{
    bool tensor = false;
    for (unsigned k = 0; k < PIPE_COUNT; k++)
        tensor |= strncmp(pipe_name((enum pipe)k), "tensor", 6) == 0 &&
                  value(r, pipe_counter((enum pipe)k)) > 0;
    return tensor && p->tensor_clock_mhz > 0 ? p->tensor_clock_mhz : p->clock_mhz;
}

static void add_pipes(struct roofline *f, const struct result *r, const struct preset_fields *p)
{
    double mhz = clock_mhz(r, &p->p), hz = mhz * 1e6, sms = (double)p->p.sms;
    for (unsigned k = 0; k < PIPE_COUNT; k++) {
        struct roof x = { .name = pipe_name((enum pipe)k),
                          .amount = value(r, pipe_counter((enum pipe)k)) };
        char said[220] = "";
        if (!(x.amount > 0))
            continue;
        x.rate = field(p, pipes[k].field, said, sizeof said) * pipes[k].each * sms * hz;
        if (x.rate > 0)
            snprintf(x.from, sizeof x.from, "%s x %g x %g SMs x %g MHz", said, pipes[k].each, sms, mhz);
        else
            snprintf(x.from, sizeof x.from, "no field of the preset has its rate");
        add(f, x);
    }
}

static void add_memory(struct roofline *f, const struct result *r, const struct preset_fields *p)
{
    struct roof l1 = { .name = "L1", .memory = true }, l2 = { .name = "L2", .memory = true },
                dram = { .name = "DRAM", .memory = true };
    char said[220] = "";
    double mhz = clock_mhz(r, &p->p);
    l1.amount = 32 * value(r, COUNTER_L1_SECTORS);
    l1.rate = field(p, "l1_bytes_per_cycle", NULL, 0) * (double)p->p.sms * mhz * 1e6;
    f->l1 = placed(f, l1);
    l2.amount = 32 * (value(r, COUNTER_L2_READ_SECTORS) + value(r, COUNTER_L2_WRITE_SECTORS));
    l2.rate = field(p, "l2_bytes_per_cycle", said, sizeof said) * mhz * 1e6;
    snprintf(l2.from, sizeof l2.from, "%s x %g MHz", said, mhz);
    dram.amount = value(r, COUNTER_DRAM_READ_BYTES) + value(r, COUNTER_DRAM_WRITE_BYTES);
    dram.rate = field(p, "dram_gbps", said, sizeof said) * p->p.dram_efficiency * 1e9;
    snprintf(dram.from, sizeof dram.from, "%s x dram_efficiency = %g", said, p->p.dram_efficiency);
    add(f, l2);
    add(f, dram);
}

static struct roofline not_known(const char *why)
{
    struct roofline f = { .limit = LIMIT_UNKNOWN };
    snprintf(f.why_not, sizeof f.why_not, "%s", why);
    return f;
}

void roofline_device_free(struct roofline_device *d)
{
    if (d->fields)
        preset_fields_free(d->fields);
    BASE_FREE(d->fields, d->spec);
    *d = (struct roofline_device){ NULL, NULL };
}

/* Reads it where another device was read last. NULL: it cannot be read. */
static const struct preset_fields *fields_of(struct roofline_device *d, const char *spec)
{
    struct diags none = { 0 };
    if (d->spec && strcmp(d->spec, spec) == 0)
        return d->fields;
    roofline_device_free(d);
    d->spec = base_strdup(spec);
    d->fields = base_alloc(sizeof *d->fields);
    if (d->fields && preset_fields_read(spec, d->fields, &none) != ST_OK) {
        base_free(d->fields);
        d->fields = NULL;
    }
    diags_free(&none);
    return d->fields;
}

static struct roofline roofline_on(const struct result *r, const struct preset_fields *p)
{
    struct roofline f = { .valid = true,
                          .limit = limits_first(result_limits(r)),
                          .origin = result_time(r)->origin };
    for (unsigned k = 0; k < PIPE_COUNT; k++)
        f.operations += result_counters(r)[pipe_counter((enum pipe)k)].valid
                            ? result_counters(r)[pipe_counter((enum pipe)k)].value
                            : NAN;
    f.seconds = (double)result_time(r)->median * 1e-9;
    f.attained = f.operations / f.seconds;
    if (isnan(f.operations))
        f = not_known("what the tensor cores did is not known");
    else if (!(f.seconds > 0))
        f = not_known("the launch has no time");
    else {
        add_pipes(&f, r, p);
        add_memory(&f, r, p);
    }
    return f;
}

struct roofline roofline_of(const struct result *r, const char *spec, struct roofline_device *d)
{
    struct roofline_device own = { NULL, NULL };
    if (!result_time(r)->valid)
        return not_known("the launch has no time");
    if (result_time(r)->origin != ORIGIN_SIMULATED ||
        !result_counters(r)[COUNTER_L2_WRITE_SECTORS].valid)
        return not_known("operations are counted by the simulated device, timed");
    const struct preset_fields *p = fields_of(d ? d : &own, spec);
    struct roofline f = p ? roofline_on(r, p) : not_known("the device's preset cannot be read");
    roofline_device_free(&own);
    return f;
}

/* The mix of operations as it is: all pipes work beside each other. */
double roofline_compute(const struct roofline *f)
{
    double longest = 0;
    for (size_t i = 0; i < f->n; i++)
        if (!f->roof[i].memory && f->roof[i].rate > 0)
            longest = fmax(longest, f->roof[i].amount / f->roof[i].rate);
    return longest > 0 ? f->operations / longest : NAN;
}

static void put_roof(struct jw *w, const struct roof *x)
{
    jw_obj(w);
    jw_put_str(w, "name", x->name);
    jw_put_str(w, "kind", x->memory ? "memory" : "compute");
    jw_put_num(w, "amount", x->amount);
    jw_put_num(w, "per_second", x->rate > 0 ? x->rate : (double)NAN);
    jw_put_num(w, "share", x->share);
    jw_put_num(w, "operations_per_byte", x->intensity);
    jw_put_str(w, "from", x->from);
    jw_end_obj(w);
}

void json_roofline(struct jw *w, const struct roofline *f)
{
    jw_put_obj(w, "roofline");
    jw_put_str(w, "origin", f->valid ? origin_name(f->origin) : NULL);
    jw_put_str(w, "why_not", f->valid ? NULL : f->why_not);
    jw_put_num(w, "operations", f->valid ? f->operations : (double)NAN);
    jw_put_num(w, "attained_per_second", f->valid ? f->attained : (double)NAN);
    jw_put_str(w, "limit", f->valid && f->limit != LIMIT_UNKNOWN ? limit_name(f->limit) : NULL);
    jw_put_arr(w, "ceilings");
    for (size_t i = 0; i < f->n; i++)
        put_roof(w, &f->roof[i]);
    jw_end_arr(w);
    jw_end_obj(w);
}

/* ---- text ---- */
static void put_si(struct buf *out, double v, const char *unit)
{
    static const char *const prefix[] = { "", "k", "M", "G", "T", "P" };
    size_t k = 0;
    while (fabs(v) >= 1000 && k + 1 < ARRAY_LEN(prefix)) {
        v /= 1000;
        k++;
    }
    if (isnan(v))
        buf_puts(out, "n/a");
    else
        buf_printf(out, "%.3g %s%s", v, prefix[k], unit);
}

void roofline_text(const struct roofline *f, struct buf *out)
{
    if (!f->valid) {
        buf_printf(out, "n/a: %s\n", f->why_not);
        return;
    }
    if (f->operations > 0)
        put_si(out, f->attained, "operation/s");
    else
        buf_puts(out, "no arithmetic with fractions");
    buf_printf(out, " (%s)", origin_name(f->origin));
    if (f->limit != LIMIT_UNKNOWN)
        buf_printf(out, "; limited by %s", limit_name(f->limit));
    buf_puts(out, "\n");
    for (size_t i = 0; i < f->n; i++) {
        const struct roof *x = &f->roof[i];
        buf_printf(out, "  %-12s ", x->name);
        put_si(out, x->amount, x->memory ? "B" : "operation");
        buf_puts(out, " at most ");
        put_si(out, x->rate > 0 ? x->rate : NAN, x->memory ? "B/s" : "operation/s");
        if (!isnan(x->share))
            buf_printf(out, ", %.1f %% of the time", 100 * x->share);
        if (x->memory && !isnan(x->intensity) && f->operations > 0)
            buf_printf(out, ", %.4g operations a byte", x->intensity);
        else if (x->memory && !(x->amount > 0))
            buf_puts(out, ", no byte");
        buf_printf(out, "; %s\n", x->from);
    }
}

/* ---- the picture ---- */
struct axes {
    double x0, x1, y0, y1; /* log10 */
    unsigned w, h;
};

static struct axes axes_of(const struct roofline *f, unsigned w, unsigned h)
{
    struct axes a = { .x0 = -1, .x1 = 3, .y1 = ceil(log10(roofline_compute(f)) + 0.3), .w = w, .h = h };
    for (size_t i = 0; i < f->n; i++)
        if (f->roof[i].intensity > 0) {
            a.x0 = fmin(a.x0, floor(log10(f->roof[i].intensity) - 0.3));
            a.x1 = fmax(a.x1, ceil(log10(f->roof[i].intensity) + 0.3));
        }
    a.y0 = fmin(a.y1 - 4, floor(log10(f->attained) - 0.3));
    return a;
}

static int row_of(const struct axes *a, double per_second)
{
    return (int)lround((a->y1 - log10(per_second)) / (a->y1 - a->y0) * (a->h - 1));
}

static void plot_roofs(const struct roofline *f, const struct axes *a, char *cell)
{
    double top = roofline_compute(f);
    for (unsigned c = 0; c < a->w; c++) {
        double x = pow(10, a->x0 + (a->x1 - a->x0) * c / (a->w - 1));
        int flat = row_of(a, top);
        if (flat >= 0 && flat < (int)a->h)
            cell[(unsigned)flat * a->w + c] = '-';
        for (size_t i = 0; i < f->n; i++) {
            int r = f->roof[i].memory && f->roof[i].rate > 0 ? row_of(a, x * f->roof[i].rate) : -1;
            if (r > flat && r < (int)a->h)
                cell[(unsigned)r * a->w + c] = f->roof[i].name[0] == 'L' ? '/' : '.';
        }
    }
}

void roofline_plot(const struct roofline *f, unsigned w, unsigned h, struct buf *out)
{
    enum { WIDEST = 160, HIGHEST = 40 };
    char cell[WIDEST * HIGHEST];
    w = w < WIDEST ? w : WIDEST;
    h = h < HIGHEST ? h : HIGHEST;
    if (!f->valid || !(f->operations > 0) || isnan(roofline_compute(f)) || w < 20 || h < 4)
        return;
    struct axes a = axes_of(f, w, h);
    memset(cell, ' ', (size_t)w * h);
    plot_roofs(f, &a, cell);
    for (size_t i = 0; i < f->n; i++) {
        int r = row_of(&a, f->attained);
        long c = lround((log10(f->roof[i].intensity) - a.x0) / (a.x1 - a.x0) * (w - 1));
        if (f->roof[i].intensity > 0 && r >= 0 && r < (int)h && c >= 0 && c < (long)w)
            cell[(unsigned)r * w + (unsigned)c] = f->roof[i].name[0];
    }
    for (unsigned r = 0; r < h; r++) {
        bool named = r == 0 || r + 1 == h;
        if (named)
            buf_printf(out, "  1e%-3d", (int)lround(r ? a.y0 : a.y1));
        else
            buf_puts(out, "       ");
        buf_printf(out, "|%.*s\n", (int)w, cell + (size_t)r * w);
    }
    buf_printf(out, "        1e%-*d1e%d operations a byte; / L2, . DRAM, - %s\n", (int)w - 6,
               (int)lround(a.x0), (int)lround(a.x1), "arithmetic");
}
