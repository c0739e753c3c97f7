/* analyze: what the text and the launch description say. */
#include "engine/analysis/analysis.h"
#include "engine/cmd/cmd_int.h"
#include "engine/cmd/measurement.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/result_read.h"
#include "engine/report/text_curve.h"
#include "engine/session/documents.h"
#include "engine/session/limits_doc.h"
#include "engine/workspace/args.h"
#include "engine/workspace/workspace.h"

#include <math.h>
#include <string.h>

/* ---- analyze ---- */
static void put_bar(double degree, struct buf *out)
{
    for (int i = 0; i < 8; i++)
        buf_puts(out, degree * 8 > i + 0.5 ? "#" : ".");
}

static void put_access(const struct ana_kernel *k, const struct ana_access *a, struct buf *out)
{
    buf_printf(out, "%s:%u:%u  %.*s\n", k->module->path, a->at.line, a->at.col, (int)a->at.len,
               k->module->text.s + a->at.off);
    struct buf source = { 0 };
    if (ptx_loc_text(k->module, a->loc, &source))
        buf_printf(out, "    source   %s\n", source.s);
    buf_free_checked(&source, out);
    buf_printf(out, "    address  %s\n", a->address ? a->address : a->unknown ? a->unknown : "unknown");
    if (!a->array && a->arrays)
        buf_printf(out, "    array    %s\n", a->arrays);
    if (a->loops)
        buf_printf(out, "    loops    %s\n", a->loops);
    if (a->unknown)
        buf_printf(out, "    unknown  %s\n", a->unknown);
    if (a->coalesce.valid) {
        buf_puts(out, "    degree   ");
        put_bar(a->coalesce.degree, out);
        buf_printf(out, " %6.2f %%", 100 * a->coalesce.degree);
        if (!a->exact.valid && ana_expected_tells(a->coalesce.expected))
            buf_printf(out, "  sectors in range %u  expected per request %.2f", a->coalesce.num_sectors,
                       a->coalesce.expected);
        buf_puts(out, "\n");
        if (fabs(a->coalesce.every.degree - a->coalesce.degree) >= 5e-5)
            buf_printf(out, "    static   %.2f %% over all lanes%s\n", 100 * a->coalesce.every.degree,
                       a->coalesce.every.of_lanes_that_run ? " that run it" : "");
    }
    if (a->coalesce.valid)
        buf_printf(
            out,
            "    width    %u byte%s: %.2f sectors per request, at least %.2f: %.1f %% of them needed\n",
            a->bytes, a->bytes == 1 ? "" : "s", a->coalesce.sectors, a->coalesce.least,
            100 * ana_sector_use(&a->coalesce));
    if (a->exact.valid && !a->exact.requests)
        buf_puts(out, a->exact.sampled ? "    exact    never executed by the CTAs of the sample\n"
                                       : "    exact    never executed in this launch\n");
    else if (a->exact.valid) {
        buf_printf(out, "    exact    %.4f sectors per request", a->exact.sectors_per_request);
        if (a->exact.sampled)
            buf_printf(out, " from a sample of CTAs, within %.2f %%", 100 * a->exact.error);
        buf_printf(out, " (%llu requests, %llu sectors)\n", (unsigned long long)a->exact.requests,
                   (unsigned long long)a->exact.sectors);
    }
    if (a->same_line)
        buf_printf(out,
                   "    same     as line %u: ptxas makes both once, a timed run counts that one alone\n",
                   a->same_line);
    if (a->joined_line)
        buf_printf(out,
                   "    joined   with line %u: ptxas makes one wider access of both, which a timed run "
                   "counts\n",
                   a->joined_line);
    text_curve_load(k, a, out);
    buf_printf(out, "    class    %s%s%s\n", ana_class_name(a->cls), a->evidence ? ": " : "",
               a->evidence ? a->evidence : "");
}

/* The paper's figure, which no guard or branch changes. */
static void put_every_lane(const struct ana_coalesce *c, struct buf *out)
{
    const struct ana_every_lane *e = &c->every;
    if (!c->valid || isnan(e->degree))
        return;
    buf_printf(out,
               "\n             over all 32 lanes, guards and branches aside (static, as the paper): "
               "degree %.2f %%, %u sectors",
               100 * e->degree, e->num_sectors);
    if (ana_expected_tells(e->expected))
        buf_printf(out, ", %.2f expected", e->expected);
    if (e->of_lanes_that_run)
        buf_printf(out, "; %u load%s of loaded addresses by the lanes that run %s", e->of_lanes_that_run,
                   e->of_lanes_that_run == 1 ? "" : "s", e->of_lanes_that_run == 1 ? "it" : "them");
}

static void put_graph(const struct ana_coalesce *c, struct buf *out)
{
    double top = 0;
    for (int i = 0; i < 32; i++)
        top = c->graph[i] > top ? c->graph[i] : top;
    if (!(top > 0))
        return;
    buf_puts(out,
             "\ncoalescing graph: threads of a warp per 4-byte word from the first lane's sector\n");
    for (int row = 6; row > 0; row--) {
        buf_printf(out, "  %6.2f |", top * row / 6);
        for (int i = 0; i < 32; i++)
            buf_printf(out, "%s%s", c->graph[i] / top * 6 > row - 0.5 ? "#" : " ",
                       i % 8 == 7 ? "|" : "");
        buf_puts(out, "\n");
    }
    buf_puts(
        out,
        "         +--------+--------+--------+--------+\n          sector 0  1        2        3\n");
}

static void put_reuse(const struct ana_kernel *k, struct buf *out)
{
    const struct ana_reuse *r = &k->reuse;
    if (r->valid)
        buf_printf(out,
                   "reuse        intra-warp %.1f %%, intra-CTA %.1f %%, inter-CTA %.1f %%, none %.1f %% "
                   "(of bytes, before L1)\n"
                   "             intra-warp %.1f %%, intra-CTA %.1f %%, inter-CTA %.1f %%, none %.1f %% "
                   "(of 32-byte sectors); %.1f %% of a CTA's line touches are again\n"
                   "             counted on %s\n",
                   100 * r->intra_warp, 100 * r->intra_cta, 100 * r->inter_cta, 100 * r->none,
                   100 * r->sectors.intra_warp, 100 * r->sectors.intra_cta, 100 * r->sectors.inter_cta,
                   100 * r->sectors.none, 100 * r->line_reuse, r->from ? r->from : "nothing");
    if (k->partition.index)
        buf_printf(out, "partition    %s: %s\n", k->partition.index,
                   k->partition.why ? k->partition.why : "");
    if (k->footprint.valid)
        buf_printf(out, "footprint    %.0f bytes a warp, %.0f a CTA, %.0f an SM; fits L1 up to π=%d\n",
                   k->footprint.bytes_per_warp, k->footprint.bytes_per_cta, k->footprint.bytes_per_sm,
                   k->footprint.pi_fit);
    else if (k->partition.index)
        buf_puts(out, "footprint    n/a: no line came again in the part of a CTA that was traced\n");
}

/* Of a bulk or tensor copy: what one moves, and who else moves the same. */
static void put_copy(const struct ana_access *a, struct buf *out)
{
    double n = (double)a->exact.requests;
    buf_printf(out, "   %.0f copies of %.0f bytes, %.2f sectors each, at least %.2f; %s", n,
               (double)a->exact.bytes_used / n, a->exact.sectors_per_request, (double)a->exact.least / n,
               ana_class_name(a->cls));
    if (a->evidence)
        buf_printf(out, ": %s", a->evidence);
}

/* Stores, atomics, shared, local and constant memory: a line each. */
static void put_others(const struct ana_kernel *k, struct buf *out)
{
    bool any = false;
    for (uint32_t i = 0; i < k->naccess; i++) {
        const struct ana_access *a = &k->access[i];
        bool global = a->space == PTX_SPACE_GLOBAL || a->space == PTX_SPACE_GENERIC;
        if (!a->store && global)
            continue;
        if (!any)
            buf_puts(out, "\nother accesses\n");
        any = true;
        buf_printf(out, "  line %-5u %-8s %-7s %s", a->at.line,
                   a->atomic     ? "atomic"
                   : a->prefetch ? "prefetch"
                   : a->store    ? "store"
                                 : "load",
                   ana_space_name(a->space),
                   a->address   ? a->address
                   : a->unknown ? a->unknown
                                : "unknown");
        if (a->exact.valid && !a->exact.requests)
            buf_puts(out, a->exact.sampled ? "   never executed by the CTAs of the sample"
                                           : "   never executed");
        else if (a->exact.valid && a->space == PTX_SPACE_SHARED)
            buf_printf(out, "   %.2f extra passes per request (bank conflicts)",
                       a->exact.bank_conflicts);
        else if (a->exact.valid && a->space == ANA_SPACE_COPY)
            put_copy(a, out);
        else if (a->exact.valid && global)
            buf_printf(out, "   %.2f sectors per request", a->exact.sectors_per_request);
        buf_puts(out, "\n");
    }
}

/* Accesses to shared memory whose lanes wait for each other: which banks, which words. */
static void put_banks(const struct ana_kernel *k, struct buf *out)
{
    const struct banks_cure c = banks_cure_of(k);
    char map[BANKS_N + 1];
    if (!(c.now > 0))
        return;
    buf_puts(out, "\nshared memory, the worst request of each access\n");
    for (uint32_t i = 0; i < k->naccess; i++) {
        const struct ana_access *a = &k->access[i];
        const struct ana_banks *b = &a->exact.banks;
        if (a->space != PTX_SPACE_SHARED || !a->exact.valid || b->passes <= b->ideal)
            continue;
        int32_t stride = banks_stride(b);
        banks_map(b, map);
        buf_printf(out, "  line %-5u %-8s %2u bytes a lane   %u passes for %u", a->at.line,
                   a->atomic  ? "atomic"
                   : a->store ? "store"
                              : "load",
                   b->bytes, b->passes, b->ideal);
        if (stride != INT32_MIN)
            buf_printf(out, "   lanes %d word%s apart", (int)stride, stride == 1 ? "" : "s");
        buf_printf(out, "\n    banks 0 to 31: %s   ", map);
        banks_say(b, 8, out);
        buf_puts(out, "\n");
    }
    buf_puts(out, "  all of them: ");
    banks_cure_say(&c, out);
    buf_puts(out, "\n");
}

static void put_kernel(const struct ana_kernel *k, const struct result *timed, struct buf *out)
{
    buf_puts(out, "kernel ");
    ptx_readable(k->func->name, out);
    buf_puts(out, "  ");
    if (k->assumed)
        buf_printf(out, "no launch description, so assumed: %s\n", k->assumed);
    else
        buf_printf(out, "grid %ux%ux%u  block %ux%ux%u\n", k->grid.x, k->grid.y, k->grid.z, k->block.x,
                   k->block.y, k->block.z);
    if (k->coalesce.valid)
        buf_printf(out, "coalescing   degree %.2f %%, %u sectors in range", 100 * k->coalesce.degree,
                   k->coalesce.num_sectors);
    else
        buf_puts(out, "coalescing   n/a: no global load could be counted");
    if (k->coalesce.valid && ana_expected_tells(k->coalesce.expected))
        buf_printf(out, ", %.2f expected per request", k->coalesce.expected);
    if (k->exact.valid && k->exact.requests)
        buf_printf(out, "; exact %.4f per request", k->exact.sectors_per_request);
    if (k->coalesce.valid)
        buf_printf(out,
                   "\n             sectors of a request %.2f, at least %.2f for what its lanes ask for: "
                   "%.1f %% needed",
                   k->coalesce.sectors, k->coalesce.least, 100 * ana_sector_use(&k->coalesce));
    put_every_lane(&k->coalesce, out);
    buf_printf(out, "\nclass        %s%s%s\n", ana_class_name(k->cls),
               k->sensitivity ? ", sensitivity " : "", k->sensitivity ? k->sensitivity : "");
    for (uint32_t i = 0; i < k->nevidence; i++)
        buf_printf(out, "             %s\n", k->evidence[i]);
    if (timed && result_limits(timed)->valid) {
        buf_puts(out, "limits       ");
        limits_first_text(timed, out);
        buf_puts(out, "; run says where and what to try\n");
        launch_guess_line("guess        ", result_guessed(timed), out);
    }
    put_reuse(k, out);
    put_graph(&k->coalesce, out);
    text_curve(k, out);
    buf_puts(out, "\n");
    for (uint32_t i = 0; i < k->naccess; i++)
        if (!k->access[i].store &&
            (k->access[i].space == PTX_SPACE_GLOBAL || k->access[i].space == PTX_SPACE_GENERIC))
            put_access(k, &k->access[i], out);
    put_others(k, out);
    put_banks(k, out);
    for (uint32_t i = 0; i < k->ngaps; i++)
        buf_printf(out, "not analysed: %s\n", k->gaps[i]);
}

/* timed: one launch of the first; NULL: none. */
static void print_kernels(const struct args *a, struct ana_kernel *const *k, size_t n,
                          const struct result *timed)
{
    struct buf out = { 0 };
    if (a->json)
        json_analysis((const struct ana_kernel *const *)k, n, timed, &out);
    else
        for (size_t i = 0; i < n; i++)
            put_kernel(k[i], i ? NULL : timed, &out);
    cmd_give(a, &out);
}

/* What limits the launch that is there: it is timed, where that takes no longer than this, in seconds. */
#define TIMED_WITHIN 10.0
static enum status time_launch(struct workspace *s, const struct args *a, struct ana_kernel *k,
                               struct result *r)
{
    struct diags none = { 0 }; /* a launch that does not run: `run` says why */
    struct args how = *a;
    if (!s->spec || a->quick || s->info.kind != DEV_SIMULATED)
        return ST_OK;
    how.time_limit = TIMED_WITHIN;
    s->facts = k;
    enum status st = measurement_original(s, &how, r, &none);
    s->facts = NULL;
    diags_free(&none);
    return st == ST_CANCELLED || st == ST_NOMEM ? st : ST_OK;
}

/* Without a launch and without --kernel: every kernel of the module, with the assumption stated. */
static enum status every_kernel(struct workspace *s, const struct args *a, struct ana_kernel **k,
                                size_t *n, size_t most, struct diags *ds)
{
    const char *one = s->spec || a->kernel ? s->kernel : NULL;
    enum status st = ST_OK;
    for (uint32_t i = 0; i < s->module->nfuncs && st == ST_OK && *n < most; i++) {
        const struct ptx_func *f = s->module->funcs[i];
        if (!f->entry || !f->has_body || (one && !str_is(f->name, one)))
            continue;
        struct ana_opts o = workspace_analysis(s, a, f->name);
        o.quick = a->quick;
        o.curve = !a->quick;
        o.sample_ctas = a->sample > 0 ? (unsigned)a->sample : 0;
        st = ana_run(s->module, f->name, &o, &k[*n], ds);
        *n += st == ST_OK;
    }
    if (st == ST_OK && !*n)
        diag_add(ds, DIAG_NOTE, "kernel", s->module->path, NO_SPAN,
                 "no kernel with a body in this module");
    return st;
}

int cmd_analyze(struct args *a)
{
    enum { MOST = 256 };
    struct diags ds = { 0 };
    struct workspace s = { 0 };
    struct ana_kernel *k[MOST] = { 0 };
    struct result *timed = result_new();
    size_t n = 0;
    enum status st = timed ? workspace_open(&s, a, &ds) : ST_NOMEM;
    if (st == ST_OK && a->schedules)
        st = cmd_schedules(a, &s, &ds);
    else if (st == ST_OK && (st = every_kernel(&s, a, k, &n, MOST, &ds)) == ST_OK &&
             (!n || (st = time_launch(&s, a, k[0], timed)) == ST_OK))
        print_kernels(a, k, n, result_limits(timed)->valid ? timed : NULL);
    for (size_t i = 0; i < n; i++)
        ana_free(k[i]);
    base_free(timed);
    workspace_close(&s);
    return cmd_finish(a, st, &ds);
}
