/* Micro-kernels: what a device does with one access pattern at a time. `gpu_micro [--only PREFIX]
 * DEVICE|FILE...` prints one column per device (cuda:0, sim:hopper-h200); a FILE is an earlier run's
 * output (a single device's), so a GPU's figures can stand beside a simulated device's where there is no
 * GPU. The rows are in micro_rows.c.
 *
 * A kernel: each warp walks its own part of a buffer, `unroll` accesses at a time, and notes the clock
 * before and after. */
#include "engine/rec/counter_ids.h"
#include "engine/rec/data.h"
#include "engine/rec/device.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"
#include "engine/session/preset.h"
#include "tests/gpu/micro.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUT_WARPS 65536u /* records of {begin, end, SM, 0} */

/* ---- the kernel ---- */

static void put_sum(struct buf *t, const struct micro_walk *w, uint32_t u)
{
    const char *kind = strstr(w->op, "@f")   ? "f"
                       : strstr(w->op, "@w") ? "w"
                       : strstr(w->op, "@v") ? "v"
                                             : "";
    if (*kind == 'v' && w->chain)
        buf_printf(t, "cvt.u64.u32 %%rd9, %%v%u;\nadd.s64 %%rd4, %%rd4, %%rd9;\n", u);
    if (*kind == 'v')
        buf_printf(t, "add.u32 %%r%u, %%r%u, %%v%u;\n", 20 + u % 4, 20 + u % 4, u);
    if (*kind == 'w')
        buf_printf(t, "cvt.u32.u64 %%v%u, %%w%u;\nadd.u32 %%r%u, %%r%u, %%v%u;\n", u, u, 20 + u % 4,
                   20 + u % 4, u);
    if (*kind == 'f')
        buf_printf(t, "add.f32 %%g%u, %%g%u, %%f%u;\n", u % 4, u % 4, u);
}

/* Arithmetic: registers that no assembler knows the value of, and their sum at the end. */
static void put_operand(struct buf *t, char kind, uint32_t u, uint32_t value)
{
    buf_printf(t, "add.u32 %%r27, %%r26, %u;\n", value);
    if (kind == 'v')
        buf_printf(t, "mov.u32 %%v%u, %%r27;\n", u);
    if (kind == 'w')
        buf_printf(t, "cvt.u64.u32 %%w%u, %%r27;\n", u);
    if (kind == 'f')
        buf_printf(t, "cvt.rn.f32.u32 %%f%u, %%r27;\n", u);
    if (kind == 'd')
        buf_printf(t, "cvt.rn.f64.u32 %%d%u, %%r27;\n", u);
}

static void put_result(struct buf *t, char kind, uint32_t u)
{
    if (kind == 'w')
        buf_printf(t, "mov.b64 {%%v%u, %%r27}, %%w%u;\nadd.u32 %%r20, %%r20, %%r27;\n", u, u);
    if (kind == 'd')
        buf_printf(t, "cvt.rn.f32.f64 %%f%u, %%d%u;\n", u, u);
    if (kind == 'v' || kind == 'w')
        buf_printf(t, "add.u32 %%r20, %%r20, %%v%u;\n", u);
    else
        buf_printf(t, "add.f32 %%g0, %%g0, %%f%u;\n", u);
}

static void put_operands(struct buf *t, const struct micro_walk *w)
{
    buf_puts(t, "cvt.u32.u64 %r26, %rd10;\n");
    for (uint32_t u = 0; u < w->unroll; u++)
        put_operand(t, w->math, u, 3 + u);
    put_operand(t, w->math, 50, 3);
    put_operand(t, w->math, 51, 1);
    buf_puts(t, "cvt.u32.u64 %v52, %rd10;\n");
}

static void put_access(struct buf *t, const struct micro_walk *w, uint32_t u)
{
    for (const char *s = w->op; *s; s++) {
        if (*s != '@' || s[1] == '%')
            buf_put(t, s, 1);
        else if (*++s == 'a')
            buf_printf(t, "%%rd4+%llu", (unsigned long long)u * w->step);
        else
            buf_printf(t, "%%%c%u", *s, u);
    }
    buf_puts(t, "\n");
}

static void put_math(struct buf *t, const struct micro_walk *w, const char *label)
{
    put_operands(t, w);
    buf_printf(
        t, "mov.u32 %%r5, 0;\nbar.warp.sync -1;\nmov.u32 %%r6, %%clock;\n%s:\n.pragma \"nounroll\";\n",
        label);
    for (uint32_t u = 0; u < w->unroll; u++)
        put_access(t, w, u);
    buf_printf(t, "add.u32 %%r5, %%r5, 1;\nsetp.lt.u32 %%p1, %%r5, %u;\n@%%p1 bra %s;\n", w->rounds,
               label);
    for (uint32_t u = 0; u < w->unroll; u++)
        put_result(t, w->math, u);
    put_result(t, w->math, 50);
}

static void put_loop(struct buf *t, const struct micro_walk *w, const char *label, bool issue)
{
    if (!*w->op)
        return;
    buf_printf(t, "add.s64 %%rd2, %%rd1, %llu;\n", (unsigned long long)w->base);
    const uint32_t stride[] = { w->warp, w->lane, w->cta }; /* of %r2, %r3, %r4 */
    for (int k = 0; k < 3; k++)
        if (stride[k])
            buf_printf(t, "mad.wide.u32 %%rd2, %%r%d, %u, %%rd2;\n", k + 2, stride[k]);
    buf_puts(t, "mov.u64 %rd3, 0;\n");
    if (w->apart)
        buf_printf(t,
                   "mov.u32 %%r11, %%ntid.x;\nshr.u32 %%r11, %%r11, 5;\nmad.lo.u32 %%r12, %%r4, %%r11, "
                   "%%r2;\nmul.lo.u32 %%r12, %%r12, %u;\n"
                   "rem.u32 %%r12, %%r12, %llu;\ncvt.u64.u32 %%rd3, %%r12;\n",
                   w->apart, (unsigned long long)w->wrap);
    buf_puts(t, "mov.u32 %r5, 0;\nbar.warp.sync -1;\nmov.u32 %r6, %clock;\n");
    buf_printf(t, "%s:\n.pragma \"nounroll\";\nadd.s64 %%rd4, %%rd2, %%rd3;\n", label);
    for (uint32_t u = 0; u < w->unroll; u++) {
        put_access(t, w, u);
        if (!issue)
            put_sum(t, w, u);
    }
    if (issue) { /* the sums come after the clock is read */
        buf_puts(t, "mov.u32 %r7, %clock;\n");
        for (uint32_t u = 0; u < w->unroll; u++)
            put_sum(t, w, u);
    }
    if (w->chain)
        buf_puts(t, "sub.s64 %rd2, %rd4, %rd3;\n");
    buf_printf(t,
               "add.s64 %%rd3, %%rd3, %llu;\nadd.s64 %%rd3, %%rd3, %%rd10;\nsetp.ge.u64 %%p1, %%rd3, "
               "%llu;\n@%%p1 mov.u64 %%rd3, %%rd10;\n",
               (unsigned long long)w->advance, (unsigned long long)w->wrap);
    buf_printf(t, "add.u32 %%r5, %%r5, 1;\nsetp.lt.u32 %%p1, %%r5, %u;\n@%%p1 bra %s;\n", w->rounds,
               label);
}

static void put_kernel(struct buf *t, const struct micro_row *r)
{
    buf_puts(t, ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 buf, "
                ".param .u64 out, .param .u64 zero)\n{\n"
                ".reg .pred %p<4>;\n.reg .b32 %r<32>;\n.reg .b32 %v<64>;\n.reg .b64 %rd<16>;\n.reg .b64 "
                "%w<64>;\n.reg .f32 %f<64>;\n.reg .f64 %d<64>;\n.reg .f32 %g<4>;\n");
    if (r->shared)
        buf_printf(t, ".shared .align 16 .b8 smem[%u];\n", r->shared);
    buf_puts(t, "ld.param.u64 %rd1, [buf];\nld.param.u64 %rd7, [out];\nld.param.u64 %rd10, [zero];\n");
    if (r->shared)
        buf_puts(t, "mov.u64 %rd1, smem;\n");
    buf_puts(t, "mov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 5;\nand.b32 %r3, %r1, 31;\nmov.u32 %r4, "
                "%ctaid.x;\nmov.u32 %r20, 0;\nmov.u32 %r21, 0;\n"
                "mov.u32 %r22, 0;\nmov.u32 %r23, 0;\nmov.f32 %g0, 0f00000000;\nmov.f32 %g1, "
                "0f00000000;\nmov.f32 %g2, 0f00000000;\n"
                "mov.f32 %g3, 0f00000000;\nmov.u32 %r10, 1;\nmov.f32 %f60, 0f3f800000;\nmov.f32 %f61, "
                "0f00000000;\nmov.u64 %w60, 1;\nmov.u32 %r6, %clock;\n");
    if (r->out.op && *r->out.op)
        buf_printf(t, "setp.ge.u32 %%p2, %%r2, %u;\n@%%p2 bra OUT;\n", r->split);
    else if (r->out.op)
        buf_printf(t, "setp.ge.u32 %%p2, %%r2, %u;\n@%%p2 bra END;\n", r->split);
    if (r->sms)
        buf_printf(t,
                   "mov.u32 %%r13, %%smid;\nrem.u32 %%r14, %%r13, %u;\nsetp.ne.u32 %%p2, %%r14, "
                   "0;\n@%%p2 bra END;\nsetp.ge.u32 %%p2, %%r13, %u;\n@%%p2 bra END;\n",
                   r->sm_step, r->sms * r->sm_step);
    if (r->in.math)
        put_math(t, &r->in, "IN");
    else
        put_loop(t, &r->in, "IN", r->metric == MICRO_ISSUE);
    if (r->out.op && *r->out.op) {
        buf_puts(t, "bra DONE;\nOUT:\n");
        put_loop(t, &r->out, "LOUT", false);
    }
    /* The sums are used: the clock is read after the last result has come, and no load is dead. */
    buf_puts(t, "DONE:\nadd.u32 %r20, %r20, %r21;\nadd.u32 %r22, %r22, %r23;\nadd.u32 %r20, %r20, "
                "%r22;\nadd.f32 %g0, %g0, %g1;\nadd.f32 %g2, %g2, %g3;\n"
                "add.f32 %g0, %g0, %g2;\nadd.f32 %g0, %g0, %f61;\nsetp.eq.u32 %p3, %r20, 0x13579;\n@%p3 "
                "st.global.u32 [%rd7], %r20;\n@%p3 bra END;\nsetp.eq.f32 %p3, %g0, 0f4b123457;\n"
                "@%p3 st.global.f32 [%rd7], %g0;\n@%p3 bra END;\n");
    if (r->stamps)
        buf_printf(t,
                   "%smov.u32 %%r8, %%smid;\nmov.u32 %%r11, %%ntid.x;\nadd.u32 %%r11, %%r11, "
                   "31;\nshr.u32 %%r11, %%r11, 5;\n"
                   "mad.lo.u32 %%r12, %%r4, %%r11, %%r2;\nmad.wide.u32 %%rd8, %%r12, 16, "
                   "%%rd7;\nsetp.ne.u32 %%p3, %%r3, 0;\n@%%p3 bra END;\n"
                   "st.global.v4.u32 [%%rd8], {%%r6, %%r7, %%r8, %%r10};\n",
                   r->metric == MICRO_ISSUE ? "" : "mov.u32 %r7, %clock;\n");
    buf_puts(t, "END:\nret;\n}\n");
}

/* ---- a device ---- */

struct column {
    const char *spec;
    struct dev *dev;
    struct dev_data *data[2]; /* small, large */
    double clock_ghz, empty_ns;
    double *value; /* [rows], of a file or measured */
};
struct bench {
    struct launch_spec l[2];
    struct arg_spec arg[2][3];
    struct launch_data data[2];
    struct diags ds;
    uint32_t *stamp;
};

static void describe_buffers(struct bench *b)
{
    static char names[3][5] = { "buf", "out", "zero" };
    const uint64_t words[2] = { MICRO_SMALL / 4, MICRO_LARGE / 4 };
    for (int k = 0; k < 2; k++) {
        b->arg[k][0] = (struct arg_spec){ .kind = ARG_BUFFER,
                                          .name = names[0],
                                          .elem = ELEM_U32,
                                          .count = words[k],
                                          .init = { .kind = INIT_FILL, .integral = true } };
        b->arg[k][1] = (struct arg_spec){ .kind = ARG_BUFFER,
                                          .name = names[1],
                                          .elem = ELEM_U32,
                                          .count = OUT_WARPS * 4,
                                          .output = true,
                                          .init = { .kind = INIT_FILL, .integral = true } };
        /* what no assembler knows to be 0 */
        b->arg[k][2] = (struct arg_spec){ .kind = ARG_SCALAR, .name = names[2], .elem = ELEM_U64 };
        b->l[k] = (struct launch_spec){ .kernel = (char *)(uintptr_t) "k",
                                        .grid = { 1, 1, 1 },
                                        .block = { 32, 1, 1 },
                                        .args = b->arg[k],
                                        .nargs = 3 };
    }
}

static bool open_column(struct bench *b, struct column *c)
{
    static const struct dev_env env = { .preset = preset_read, .in_process = true };
    if (dev_open(c->spec, &env, &c->dev, &b->ds) != ST_OK)
        return false;
    c->clock_ghz = dev_describe(c->dev)->clock_khz / 1e6;
    for (int k = 0; k < 2; k++)
        if (dev_bind(c->dev, &b->data[k], &c->data[k], &b->ds) != ST_OK)
            return false;
    return true;
}

struct outcome {
    double ns, l1_hit, l1_sectors, l2_reads, l2_hit, dram, cycles, first, mean, least, most;
};

/* From the warps' records: cycles of the first SM that wrote any, when its first warp ended and all did
 * on average (as parts of that), least and most cycles of a single warp anywhere. */
static void read_stamps(const uint32_t *s, uint32_t warps, struct outcome *o)
{
    uint32_t begin = 0, end = 0, n = 0, sm = UINT32_MAX;
    double sum = 0, first = INFINITY;
    o->least = INFINITY;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < warps; i++) {
            const uint32_t *r = &s[4 * i];
            if (!r[3])
                continue;
            if (sm == UINT32_MAX) {
                sm = r[2];
                begin = r[0];
                end = r[1];
            }
            double own = (double)(uint32_t)(r[1] - r[0]);
            o->least = fmin(o->least, own);
            o->most = fmax(o->most, own);
            if (r[2] != sm)
                continue;
            if (pass == 0) {
                if ((int32_t)(r[0] - begin) < 0)
                    begin = r[0];
                if ((int32_t)(r[1] - end) > 0)
                    end = r[1];
            } else {
                sum += (double)(uint32_t)(r[1] - begin);
                first = fmin(first, (double)(uint32_t)(r[1] - begin));
                n++;
            }
        }
    o->cycles = (double)(uint32_t)(end - begin);
    o->first = first / o->cycles;
    o->mean = sum / n / o->cycles;
}

/* First byte behind what a walk of global memory reads: a mistake in the table is to be a message, not a
 * fault that takes the device's other rows with it. */
static uint64_t reach(const struct micro_walk *w, const struct micro_row *r)
{
    if (!w->op || !w->op[0] || w->math)
        return 0;
    uint64_t offset = w->wrap ? w->wrap - (w->wrap > w->advance ? w->advance : w->wrap)
                              : w->advance * (w->rounds ? w->rounds - 1 : 0);
    return w->base + (uint64_t)(r->grid - 1) * w->cta + (uint64_t)((r->block + 31) / 32 - 1) * w->warp +
           31ull * w->lane + offset + (w->unroll ? w->unroll - 1 : 0) * w->step + 4;
}

static bool fits(const struct micro_row *r)
{
    uint64_t in = reach(&r->in, r), out = reach(&r->out, r), most = in > out ? in : out,
             room = r->large ? MICRO_LARGE : MICRO_SMALL;
    if (r->shared || most <= room)
        return true;
    fprintf(stderr, "%s: reads byte %" PRIu64 " of a buffer of %" PRIu64 "\n", r->name, most - 1, room);
    return false;
}

static bool run_row(struct bench *b, struct column *c, const struct micro_row *r, struct outcome *o)
{
    if (!fits(r))
        return false;
    struct buf text = { 0 };
    struct dev_code *code = NULL;
    struct result res = result_empty();
    struct dev_run run = dev_run_default();
    put_kernel(&text, r);
    struct dev_data *data = c->data[r->large];
    run.launch = &b->l[r->large];
    run.grid = (struct dim3u){ r->grid, 1, 1 };
    run.block = (struct dim3u){ r->block, 1, 1 };
    run.carveout = r->carveout;
    run.counters = r->metric >= MICRO_L1_HITS;
    run.exact = r->stamps;
    run.flush_l2 = r->cold;
    run.time_limit_s = 60;
    enum status st =
        text.oom ? ST_NOMEM : dev_load(c->dev, r->name, str_of(text.s), STR("k"), 0, &code, &b->ds);
    if (st == ST_OK)
        st = dev_launch(c->dev, code, data, &run, &res, &b->ds);
    if (st == ST_OK && res.status != ST_OK)
        fprintf(stderr, "%s: %s\n", r->name, res.message);
    bool ok = st == ST_OK && res.status == ST_OK;
    *o = (struct outcome){
        .ns = (double)res.time.min, .l1_hit = NAN, .l2_reads = NAN, .l2_hit = NAN, .dram = NAN
    };
    struct {
        int id;
        double *to;
    } counters[] = { { COUNTER_L1_HIT_RATE, &o->l1_hit },
                     { COUNTER_L1_SECTORS, &o->l1_sectors },
                     { COUNTER_L2_READ_SECTORS, &o->l2_reads },
                     { COUNTER_L2_HIT_RATE, &o->l2_hit },
                     { COUNTER_DRAM_READ_BYTES, &o->dram } };
    for (size_t i = 0; i < ARRAY_LEN(counters); i++)
        if (res.counters[counters[i].id].valid)
            *counters[i].to = res.counters[counters[i].id].value;
    if (ok && r->stamps) {
        ok = dev_read_arg(c->dev, data, 1, b->stamp, OUT_WARPS * 16ull, &b->ds) == ST_OK;
        if (ok)
            read_stamps(b->stamp, r->grid * ((r->block + 31) / 32), o);
    }
    dev_unload(c->dev, code);
    buf_free(&text);
    return ok;
}

/* ---- what a row prints ---- */

static double amount(const struct micro_row *r, const struct micro_walk *w, uint32_t warps)
{
    return w->op && *w->op
               ? (double)(r->sms ? r->sms : r->grid) * warps * w->rounds * w->unroll * r->each
               : 0;
}

static double value_of(const struct column *c, const struct micro_row *r, const struct outcome *o)
{
    uint32_t warps = (r->block + 31) / 32, in = r->out.op ? r->split : warps;
    double work = amount(r, &r->in, in) + amount(r, &r->out, warps - in),
           steps = (double)r->in.rounds * (r->in.unroll ? r->in.unroll : 1);
    double chip_ns = o->ns - c->empty_ns;
    switch (r->metric) {
    case MICRO_PER_CYCLE: return work / o->cycles;
    case MICRO_CYCLES_PER: return o->cycles / work;
    case MICRO_LATENCY: return o->cycles / steps;
    case MICRO_LEAST: return o->least / steps;
    case MICRO_ISSUE: return o->least;
    case MICRO_MOST: return o->most / steps;
    case MICRO_CHIP: return work / (chip_ns * c->clock_ghz);
    case MICRO_CHIP_GBPS: return work / chip_ns;
    case MICRO_NS: return o->ns;
    case MICRO_FIRST: return 100 * o->first;
    case MICRO_L1_HITS: return o->l1_hit * o->l1_sectors / amount(r, &r->in, in);
    case MICRO_L2_READS: return o->l2_reads / work;
    case MICRO_L2_HITS: return o->l2_hit;
    case MICRO_DRAM: return o->dram / work;
    default: return NAN;
    }
}

static void measure_column(struct bench *b, struct column *c, const char *only)
{
    for (size_t i = 0; i < micro_row_count(); i++) {
        const struct micro_row *r = micro_row(i);
        struct outcome o;
        c->value[i] = NAN;
        bool base = r->metric == MICRO_NS && !i;
        if (!base && only && strncmp(r->name, only, strlen(only)) != 0)
            continue;
        if (run_row(b, c, r, &o))
            c->value[i] = value_of(c, r, &o);
        if (base)
            c->empty_ns = o.ns;
        if (c->value[i] == c->value[i])
            fprintf(stderr, "%s\t%s\t%.4g\n", c->spec, r->name, c->value[i]);
    }
}

/* Rows `name | value` of an earlier run; what it lacks is n/a. */
static bool read_column(struct column *c)
{
    FILE *f = fopen(c->spec, "r");
    if (!f)
        return false;
    char line[512], name[256];
    double v;
    for (size_t i = 0; i < micro_row_count(); i++)
        c->value[i] = NAN;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "| %255[^|] | %*[^|] | %lf", name, &v) == 2)
            for (size_t i = 0; i < micro_row_count(); i++)
                if (strlen(micro_row(i)->name) + 1 >= strlen(name) &&
                    strncmp(micro_row(i)->name, name,
                            strcspn(name, "|") - (name[strlen(name) - 1] == ' ')) == 0 &&
                    micro_row(i)->name[strlen(name) - (name[strlen(name) - 1] == ' ')] == 0)
                    c->value[i] = v;
    fclose(f);
    return true;
}

static bool is_file(const char *spec)
{
    size_t n = strlen(spec);
    bool device = !strncmp(spec, "sim:", 4) || !strncmp(spec, "cuda:", 5) ||
                  (n > 5 && !strcmp(spec + n - 5, ".json"));
    FILE *f = device ? NULL : fopen(spec, "r");
    if (f)
        fclose(f);
    return f != NULL;
}

static void print_table(const struct column *c, size_t n)
{
    printf("| micro-kernel | unit |");
    for (size_t k = 0; k < n; k++)
        printf(" %s |", c[k].spec);
    printf("\n|---|---|");
    for (size_t k = 0; k < n; k++)
        printf("---|");
    for (size_t i = 0; i < micro_row_count(); i++) {
        bool any = false;
        for (size_t k = 0; k < n; k++)
            any |= c[k].value[i] == c[k].value[i];
        if (!any)
            continue;
        printf("\n| %s | %s |", micro_row(i)->name, micro_row(i)->unit);
        for (size_t k = 0; k < n; k++)
            if (c[k].value[i] == c[k].value[i])
                printf(" %.4g |", c[k].value[i]);
            else
                printf(" n/a |");
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    static struct bench b;
    struct column c[8] = { { 0 } };
    size_t n = 0;
    const char *only = NULL;
    describe_buffers(&b);
    b.stamp = malloc(OUT_WARPS * 16);
    bool ok = b.stamp != NULL;
    for (int k = 0; ok && k < 2; k++)
        ok = launch_data_make(&b.l[k], 1ull << 31, &b.data[k], &b.ds) == ST_OK;
    for (int i = 1; ok && i < argc && n < ARRAY_LEN(c); i++) {
        if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            only = argv[++i];
            continue;
        }
        struct column *k = &c[n++];
        *k = (struct column){ .spec = argv[i], .value = calloc(micro_row_count(), sizeof *k->value) };
        ok = k->value && (is_file(argv[i]) ? read_column(k) : open_column(&b, k));
        if (ok && k->dev)
            measure_column(&b, k, only);
        if (k->dev)
            dev_close(k->dev);
    }
    struct buf text = { 0 };
    diags_print(&b.ds, &text);
    if (text.n)
        fputs(text.s, stderr);
    if (ok && n)
        print_table(c, n);
    return ok && n ? 0 : 2;
}
