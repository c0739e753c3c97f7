/* Advice: the rules of the bypass paper's section 5.3 and what the analysis knows, as
 * ranked items that are one key away from being tried. Expected gains are modelled. */
#include "engine/analysis/analysis.h"
#include "engine/analysis/banks.h"
#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/data.h"
#include "engine/rec/device.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_memory.h"
#include "engine/rec/opt_schedule.h"
#include "engine/rec/opt_shared.h"
#include "engine/rec/result.h"
#include "engine/rec/tensor_map.h"
#include "engine/search/advice.h"
#include "engine/search/space.h"
#include "engine/search/tuner.h"
#include "engine/tune/sweep.h"
#include "engine/tune/tune.h"
#include "engine/tune/tune_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct advising {
    const struct tune_subject *s;
    const struct tune_sweep *sweep;
    struct tune_advice *out;
    size_t n, most;
};

static struct tune_advice *item(struct advising *a, double gain, double confidence, const char *title)
{
    if (a->n == a->most)
        return NULL;
    struct tune_advice *t = &a->out[a->n++];
    memset(t, 0, sizeof *t);
    t->options = options_default();
    t->expected_gain = gain;
    t->confidence = confidence;
    t->real_gain = NAN;
    snprintf(t->title, sizeof t->title, "%s", title);
    return t;
}

static const struct dev_info *device(const struct advising *a)
{
    return a->s->dev ? dev_describe(a->s->dev) : NULL;
}

/* A finished sweep has the real gain: that is what is said first. */
static void from_sweep(struct advising *a)
{
    const struct result *best = a->sweep ? tune_sweep_best(a->sweep) : NULL;
    const struct result *cha = a->sweep ? &a->sweep->cha : NULL;
    if (!best || !cha->time.valid || best->time.median <= 0)
        return;
    double gain = (double)cha->time.median / (double)best->time.median;
    struct tune_advice *t =
        item(a, gain, 1,
             gain > 1 + a->sweep->curve.significance ? "use the best point of the sweep"
                                                     : "no valley here: leave it alone");
    if (!t)
        return;
    struct buf why = { 0 };
    tune_verdict(a->sweep, &why);
    snprintf(t->why, sizeof t->why, "%s", why.s ? why.s : "");
    buf_free(&why);
    if (gain > 1 + a->sweep->curve.significance)
        t->options = best->options;
    t->tried = true;
    t->sampled = best->sampled;
    t->real_gain = gain;
}

/* bypass paper, rule: the threshold is where the warps' footprints stop fitting the cache together. */
static void from_footprint(struct advising *a)
{
    const struct ana_kernel *k = a->s->facts;
    const struct dev_info *d = device(a);
    int warps = a->s->launch ? (int)tune_warps(a->s) : 0;
    if (a->sweep || !k->footprint.valid || !d || !warps || k->footprint.pi_fit >= warps)
        return;
    double over = k->footprint.bytes_per_sm / (double)(d->l1_bytes ? d->l1_bytes : 1);
    bool reused = k->reuse.valid && k->reuse.none < 0.9;
    struct tune_advice *t = item(a, reused ? fmin(2.5, 1 + over / 4) : 1.05, reused ? 0.6 : 0.3,
                                 "bypass L1 for some warps: find the threshold");
    if (!t)
        return;
    opt_bypass(&t->options)->level = BYPASS_L1;
    opt_bypass(&t->options)->pi.mode = k->footprint.pi_fit > 0 ? PI_VALUE : PI_BPA;
    opt_bypass(&t->options)->pi.value = k->footprint.pi_fit;
    snprintf(t->why, sizeof t->why,
             "an SM touches %.0f KiB between reuses, L1 holds %llu KiB: the footprint fits up to π=%d "
             "of %d (modelled)",
             k->footprint.bytes_per_sm / 1024, (unsigned long long)d->l1_bytes / 1024,
             k->footprint.pi_fit, warps);
}

static void from_partition(struct advising *a)
{
    const struct ana_kernel *k = a->s->facts;
    const char *index = k->partition.index;
    if (!index || strcmp(index, "none") == 0 ||
        (k->cls != ANA_CLASS_ALGORITHM && k->cls != ANA_CLASS_CACHE_LINE))
        return;
    struct tune_advice *t = item(
        a, 1 + fmax(k->partition.strength_x, fmax(k->partition.strength_y, k->partition.strength_z)),
        0.5, "cluster CTAs that share data (agents)");
    if (!t)
        return;
    int i = knob_find(STR("index"));
    opt_cluster(&t->options)->kind = CLUSTER_AGENT;
    knob_set(&t->options, (size_t)i, str_of(index), NULL);
    snprintf(t->why, sizeof t->why, "%s", k->partition.why ? k->partition.why : "");
}

/* Does it fetch sectors that its lanes do not need? The degree alone would say so of vector loads, whose
 * lanes are more than 128 bytes wide together. */
static bool spread_out(const struct ana_kernel *k)
{
    return k->coalesce.valid && k->coalesce.degree <= 0.9 && ana_sector_use(&k->coalesce) <= 0.9;
}

/* schedule: uncoalesced 2-D kernels often gain most from another block shape. */
static void from_coalescing(struct advising *a)
{
    const struct ana_kernel *k = a->s->facts;
    if (!spread_out(k) || !a->s->launch || a->s->launch->block.y * a->s->launch->block.z == 1)
        return;
    struct tune_advice *t = item(a, fmin(3, 1 / fmax(k->coalesce.degree, 0.34)), 0.4,
                                 "exchange x and y, or another block shape");
    if (!t)
        return;
    opt_schedule(&t->options)->swap_xy = true;
    snprintf(t->why, sizeof t->why,
             "only %.0f %% of the threads coalesce: %.1f sectors per request expected, %.0f %% of those "
             "fetched "
             "are needed; the mapping of threads to data decides that",
             100 * k->coalesce.degree, k->coalesce.expected, 100 * ana_sector_use(&k->coalesce));
}

/* bypass paper 5.3: loads that nothing uses again only push others out. */
static void from_streams(struct advising *a)
{
    const struct ana_kernel *k = a->s->facts;
    unsigned streams = 0, reused = 0;
    for (uint32_t i = 0; i < k->naccess; i++) {
        const struct ana_access *x = &k->access[i];
        if (x->store || x->atomic || x->prefetch || x->space != PTX_SPACE_GLOBAL)
            continue;
        streams += x->cls == ANA_CLASS_STREAMING && !x->reused;
        reused += x->reused;
    }
    if (!streams || !reused)
        return;
    struct tune_advice *t = item(a, 1.08, 0.5, "let the streaming loads bypass L1, load by load");
    if (!t)
        return;
    opt_bypass(&t->options)->level = BYPASS_L1;
    opt_bypass(&t->options)->op =
        device(a) && device(a)->cc_major < 7 ? BYPASS_OP_CG : BYPASS_OP_NO_ALLOCATE;
    opt_bypass(&t->options)->form = BYPASS_FORM_VERTICAL;
    snprintf(t->why, sizeof t->why,
             "%u load%s and %s not used again, %u %s: the streams need not evict the others' lines",
             streams, streams == 1 ? " streams" : "s stream", streams == 1 ? "is" : "are", reused,
             reused == 1 ? "is" : "are");
}

static void from_read_only(struct advising *a)
{
    const struct ana_kernel *k = a->s->facts;
    const struct dev_info *d = device(a);
    unsigned proven = 0;
    for (uint32_t i = 0; i < k->naccess; i++)
        proven += !k->access[i].store && k->access[i].space == PTX_SPACE_GLOBAL &&
                  k->access[i].read_only == ANA_YES;
    int cc = d ? d->cc_major * 10 + d->cc_minor : 0;
    if (!proven || cc < 35 || cc >= 70) /* no such cache before; since Volta .nc shares L1 */
        return;
    struct tune_advice *t = item(a, 1.2, 0.5, "read through the read-only cache");
    if (!t)
        return;
    opt_memory(&t->options)->readonly = READONLY_PROMOTE;
    snprintf(t->why, sizeof t->why,
             "%u loads read memory that no thread writes; %s has a separate read-only cache", proven,
             d->name);
}

/* A persisting part of L2 keeps what is read again from what passes through. */
static void from_persistence(struct advising *a)
{
    const char *name[SPACE_PERSIST];
    const struct dev_info *d = device(a);
    if (!space_persistent(a->s->facts, a->s->launch, d, name))
        return;
    struct tune_advice *t = item(a, 1.05, 0.2, "keep what is read again in a part of L2");
    int knob = knob_find(STR("l2-persist"));
    if (!t || knob_set(&t->options, (size_t)knob, str_of(name[0]), NULL) != ST_OK)
        return;
    snprintf(t->why, sizeof t->why,
             "'%s' is read again while more than the %llu KiB of L2 pass through; up to %llu KiB can be "
             "set aside for its lines",
             name[0], (unsigned long long)d->l2_bytes >> 10,
             (unsigned long long)d->l2_persist_bytes >> 10);
}

/* A map of a tensor that L2 does not hold, whose boxes have rows of a part of a line; `bytes` of it.
 * NULL: none, or L2 fetches whole lines already. */
static const struct arg_spec *narrow_boxes(const struct advising *a, unsigned *bytes)
{
    const struct launch_spec *l = a->s->launch;
    const struct dev_info *d = device(a);
    for (size_t i = 0; l && d && i < l->nargs; i++) {
        const struct arg_spec *g = &l->args[i];
        struct tensor_map m;
        if (g->kind != ARG_TENSOR_MAP || !tensor_map_decode(g->bytes, &m) || m.im2col || m.l2 > 1)
            continue;
        *bytes = tensor_map_span(&m, 0) * tensor_map_element(&m);
        if (*bytes < 128 && m.dims[0] * tensor_map_element(&m) > *bytes &&
            tensor_map_extent(&m) > d->l2_bytes)
            return g;
    }
    return NULL;
}

/* Measured: 1.27 to 1.56 times as fast on an H100 (docs/lab/clusters.md), no change or 0.9 where the
 * rest of a line is not read. */
static void from_promotion(struct advising *a)
{
    unsigned bytes = 0;
    const struct arg_spec *g = narrow_boxes(a, &bytes);
    struct tune_advice *t = g ? item(a, 1.3, 0.4, "let L2 fetch whole lines for tensor copies") : NULL;
    if (!t)
        return;
    opt_memory(&t->options)->promotion = PROMOTION_128;
    snprintf(
        t->why, sizeof t->why,
        "boxes of '%s' have rows of %u bytes, and L2 fetches 64 at a time: where the next box has the "
        "rest of the line, it comes from DRAM once instead of twice",
        g->name ? g->name : "?", bytes);
}

/* Measured: 1.05 to 1.11 times as fast on an H100 where a product's data are larger than L2
 * (docs/lab/tile-order.md), nothing where they are not. */
static void from_tiles(struct advising *a)
{
    const struct dev_info *d = dev_describe(a->s->dev);
    const struct launch_data *data = a->s->data;
    struct options o = options_default();
    opt_schedule(&o)->tile_order.kind = TILES_TILE;
    opt_schedule(&o)->tile_order.tx = 8;
    opt_schedule(&o)->tile_order.ty = 16;
    if (!data || data->total_bytes <= d->l2_bytes || !tune_legal(a->s, &o))
        return;
    struct tune_advice *t = item(a, 1.05, 0.4, "do neighbouring tiles at the same time");
    if (!t)
        return;
    t->options = o;
    snprintf(
        t->why, sizeof t->why,
        "CTAs take tile after tile, and the launch has %.0f MB where L2 holds %.0f: rows and columns "
        "that a wave of tiles shares are read from DRAM once",
        (double)data->total_bytes / 1e6, (double)d->l2_bytes / 1e6);
}

/* Leaves smem_pad 0 where that is refused. */
static bool legal_pad(struct advising *a, struct tune_advice *t, uint32_t row)
{
    opt_shared(&t->options)->pad = (int)row;
    if (!tune_legal(a->s, &t->options))
        opt_shared(&t->options)->pad = 0;
    return opt_shared(&t->options)->pad > 0;
}

/* Each extra pass of a request holds up all shared memory of the SM for a cycle. */
static void from_bank_conflicts(struct advising *a)
{
    const struct ana_access *at = NULL;
    double passes = space_bank_conflicts(a->s->facts, &at);
    if (passes < 0.5)
        return;
    struct tune_advice *t = item(a, passes > 4 ? 1.3 : 1.1, 0.4, "spread shared memory over its banks");
    if (!t)
        return;
    const struct banks_cure c = banks_cure_of(a->s->facts);
    size_t n =
        (size_t)snprintf(t->why, sizeof t->why,
                         "line %u makes %.1f extra passes per request to shared memory: its lanes "
                         "ask for different words of the same banks; ",
                         at->at.line, passes);
    bool pad = c.nrows && c.padded[0] < c.swizzled && legal_pad(a, t, c.row[0]);
    opt_shared(&t->options)->swizzle = !pad;
    if (!pad && !tune_legal(a->s, &t->options)) {
        opt_shared(&t->options)->swizzle = false;
        pad = c.nrows && legal_pad(a, t, c.row[0]);
        if (!pad)
            snprintf(t->title, sizeof t->title,
                     "pad the rows of the shared array, or swizzle its columns");
    }
    if (n < sizeof t->why)
        snprintf(t->why + n, sizeof t->why - n, "of %.1f passes another layout leaves %.1f", c.now,
                 pad ? c.padded[0] : c.swizzled);
}

/* Whether a CTA touches a line again is known from a trace alone. */
static void from_class_alone(struct advising *a)
{
    struct tune_advice *t = item(a, 1, 0.3, "find out what each CTA reuses");
    if (t)
        snprintf(t->why, sizeof t->why,
                 "CTAs share no data; whether a CTA reuses lines, so that L1 matters, needs a launch "
                 "description");
}

/* Nothing else was found to try: why not, as the degree and the reuse have it. */
static void from_class(struct advising *a)
{
    const struct ana_kernel *k = a->s->facts;
    bool scattered = spread_out(k), again = k->reuse.valid && k->reuse.line_reuse >= 0.1;
    if (a->n || (k->cls != ANA_CLASS_STREAMING && !(k->cls == ANA_CLASS_CACHE_LINE && scattered)))
        return;
    if (!k->reuse.valid && !scattered) {
        from_class_alone(a);
        return;
    }
    struct tune_advice *t = item(a, 1, 0.7,
                                 again       ? "leave it cached: the reused data fit"
                                 : scattered ? "look at the layout: its accesses are spread out"
                                             : "leave it alone: it streams");
    if (!t)
        return;
    if (scattered)
        snprintf(t->why, sizeof t->why,
                 "only %.0f %% of the threads coalesce, %.1f sectors per request expected: how data are "
                 "laid out and threads mapped to them decides%s",
                 100 * k->coalesce.degree, k->coalesce.expected,
                 again ? "; the cache keeps the rest of each line until it is used"
                       : ", more than a cache setting");
    else if (again)
        snprintf(
            t->why, sizeof t->why,
            "%.0f %% of its line accesses are reuse within the size of L1: no warp needs to bypass it",
            100 * k->reuse.line_reuse);
    else
        snprintf(t->why, sizeof t->why, "%s: bandwidth decides, no cache setting will",
                 k->coalesce.valid ? "every load is coalesced and used once" : "CTAs share no data");
}

double tune_advise_least(const struct options *o)
{
    return opt_cluster(o)->kind == CLUSTER_AGENT ? 1.25 : 1.05;
}

/* What the model expects too little of comes behind "leave it alone". */
static double worth(const struct tune_advice *a)
{
    bool little = a->modelled && a->command[0] && a->expected_gain < tune_advise_least(&a->options);
    return 1 + ((little ? fmin(a->expected_gain, 1) - 0.001 : a->expected_gain) - 1) * a->confidence;
}

static int by_expectation(const void *x, const void *y)
{
    const struct tune_advice *a = x, *b = y;
    double p = worth(a), q = worth(b);
    if (a->tried != b->tried)
        return b->tried - a->tried;
    return (p < q) - (p > q);
}

/* A command line that a shell takes as it stands, for paths without blanks and quotes. */
void tune_advise_command(const struct tune_subject *s, struct tune_advice *v)
{
    struct options none = options_default();
    struct buf line = { 0 };
    const char *path = s->module->path ? s->module->path : "FILE.ptx",
               *kernel = s->launch ? (s->launch->name ? s->launch->name : s->launch->kernel) : NULL;
    size_t n = strlen(path);
    if (n > 4 && strcmp(path + n - 4, ".ptx") == 0)
        n -= 4;
    options_line(&v->options, &line);
    v->command[0] = 0;
    if (!options_equal(&v->options, &none))
        snprintf(v->command, sizeof v->command, "gpulocw rewrite %s%s%s %s -o %.*s.tuned.ptx", path,
                 kernel ? " --kernel " : "", kernel ? kernel : "", line.s ? line.s : "", (int)n, path);
    buf_free(&line);
}

void tune_advise_rank(struct tune_advice *v, size_t n)
{
    qsort(v, n, sizeof *v, by_expectation);
}

size_t tune_advise(const struct tune_subject *s, const struct tune_sweep *sweep, struct tune_advice *out,
                   size_t max)
{
    struct advising a = { s, sweep, out, 0, max };
    if (!s->facts)
        return 0;
    from_sweep(&a);
    from_footprint(&a);
    from_partition(&a);
    from_coalescing(&a);
    from_streams(&a);
    from_read_only(&a);
    from_bank_conflicts(&a);
    from_persistence(&a);
    from_promotion(&a);
    from_tiles(&a);
    from_class(&a);
    for (size_t i = 0; i < a.n; i++)
        tune_advise_command(s, &out[i]);
    tune_advise_rank(out, a.n);
    return a.n;
}

/* The original timed as `r` was, whole or from a sample of the CTAs; NULL: it was not. */
static const struct result *original_like(const struct result *original, const struct result *r,
                                          const struct result *done, size_t ndone)
{
    struct options none = options_default();
    if (tune_usable(original) && original->sampled == r->sampled)
        return original;
    for (size_t i = 0; i < ndone; i++)
        if (tune_usable(&done[i]) && done[i].sampled == r->sampled &&
            options_equal(&done[i].options, &none))
            return &done[i];
    return NULL;
}

void tune_advise_prove(struct tune_advice *v, size_t n, const struct result *original,
                       const struct result *done, size_t ndone)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < ndone; k++) {
            const struct result *was = original_like(original, &done[k], done, ndone);
            if (!was || !options_equal(&v[i].options, &done[k].options) || !tune_usable(&done[k]) ||
                done[k].time.median <= 0)
                continue;
            if (v[i].tried && !v[i].sampled && done[k].sampled)
                continue; /* a whole launch tells more than a sample */
            v[i].tried = true;
            v[i].sampled = done[k].sampled;
            v[i].real_gain = (double)was->time.median / (double)done[k].time.median;
        }
}
