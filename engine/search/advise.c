/* Advice: the rules of the bypass paper's section 5.3 and what the analysis knows, as
 * ranked items that are one key away from being tried. What such items gained when they were run is
 * recorded (gain_record.h). */
#include "engine/analysis/analysis.h"
#include "engine/analysis/banks.h"
#include "engine/base/base.h"
#include "engine/base/name.h"
#include "engine/dev/dev.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/counters.h"
#include "engine/rec/data.h"
#include "engine/rec/device.h"
#include "engine/rec/gain.h"
#include "engine/rec/interval.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch_arg.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_memory.h"
#include "engine/rec/opt_schedule.h"
#include "engine/rec/opt_shared.h"
#include "engine/rec/result_read.h"
#include "engine/rec/tensor_map.h"
#include "engine/search/advice.h"
#include "engine/search/gain_record.h"
#include "engine/search/search.h"
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

static struct tune_advice *item(struct advising *a, const char *title)
{
    if (a->n == a->most)
        return NULL;
    struct tune_advice *t = &a->out[a->n++];
    memset(t, 0, sizeof *t);
    t->options = options_default();
    t->model_gain = t->real_gain = NAN;
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
    const struct result *cha = a->sweep ? a->sweep->cha : NULL;
    double gain = gain_of(cha, best);
    if (isnan(gain))
        return;
    struct tune_advice *t =
        item(a, gain > 1 + a->sweep->curve.significance ? "use the best point of the sweep"
                                                        : "no valley here: leave it alone");
    if (!t)
        return;
    struct buf why = { 0 };
    tune_verdict(a->sweep, &why);
    snprintf(t->why, sizeof t->why, "%s", why.s ? why.s : "");
    buf_free(&why);
    if (gain > 1 + a->sweep->curve.significance)
        t->options = *result_options(best);
    t->tried = true;
    t->reason = SIZE_MAX;
    t->evidence = evidence_of(best);
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
    struct tune_advice *t = item(a, "let some warps of a CTA bypass L1");
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

void tune_advise_order(struct tune_advice *v)
{
    struct buf b = { 0 };
    knob_get(&v->options, (size_t)knob_find(STR("index")), &b);
    const char *index = b.s ? b.s : "";
    if (!strcmp(index, "row") || !strcmp(index, "column"))
        snprintf(v->title, sizeof v->title, "run CTAs %s by %s", index, index);
    else if (!strncmp(index, "tile:", 5))
        snprintf(v->title, sizeof v->title, "run CTAs in tiles of %s", index + 5);
    else
        snprintf(v->title, sizeof v->title, "run CTAs in another order");
    buf_free(&b);
}

static void from_partition(struct advising *a)
{
    const struct ana_kernel *k = a->s->facts;
    const char *index = k->partition.index;
    if (!index || strcmp(index, "none") == 0 ||
        (k->cls != ANA_CLASS_ALGORITHM && k->cls != ANA_CLASS_CACHE_LINE))
        return;
    struct tune_advice *t = item(a, "cluster CTAs that share data (agents)");
    if (!t)
        return;
    int i = knob_find(STR("index"));
    opt_cluster(&t->options)->kind = CLUSTER_AGENT;
    knob_set(&t->options, (size_t)i, str_of(index), NULL);
    tune_advise_order(t);
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
    if (!spread_out(k) || !a->s->launch ||
        launch_block(a->s->launch).y * launch_block(a->s->launch).z == 1)
        return;
    struct tune_advice *t = item(a, "exchange x and y, or another block shape");
    if (!t)
        return;
    opt_schedule(&t->options)->swap_xy = true;
    snprintf(t->why, sizeof t->why,
             "only %.0f %% of the threads coalesce: %.1f sectors per request expected, %.0f %% of those "
             "fetched "
             "are needed; the mapping of threads to data decides that",
             100 * k->coalesce.degree, k->coalesce.expected, 100 * ana_sector_use(&k->coalesce));
}

/* Is anything of the array that x reads touched again, by x or another load? */
static bool array_reused(const struct ana_kernel *k, const struct ana_access *x)
{
    bool any = x->reused;
    for (uint32_t i = 0; i < k->naccess && !any; i++)
        any = k->access[i].reused && x->param >= 0 && k->access[i].param == x->param;
    return any;
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
        streams += x->cls == ANA_CLASS_STREAMING && !array_reused(k, x);
        reused += x->reused;
    }
    if (!streams || !reused)
        return;
    struct tune_advice *t = item(a, "let the streaming loads bypass L1, load by load");
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
    struct tune_advice *t = item(a, "read through the read-only cache");
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
    int knob = knob_find(STR("l2-persist"));
    struct options kept = options_default();
    bool set = knob_set(&kept, (size_t)knob, str_of(name[0]), NULL) == ST_OK;
    struct interval likely = interval_of_gain(d, &kept, 1);
    if (set && likely.low > 0 && likely.high < 1 + LEAST_SIMULATED)
        return; /* GPUs gained nothing */
    struct tune_advice *t = item(a, "keep what is read again in a part of L2");
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
    for (size_t i = 0; l && d && i < launch_nargs(l); i++) {
        const struct arg_spec *g = launch_arg(l, i);
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
    struct tune_advice *t = g ? item(a, "let L2 fetch whole lines for tensor copies") : NULL;
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
    struct tune_advice *t = item(a, "do neighbouring tiles at the same time");
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
    struct tune_advice *t = item(a, "spread shared memory over its banks");
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
    struct tune_advice *t = item(a, "find out what each CTA reuses");
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
    struct tune_advice *t = item(a, again       ? "leave it cached: the reused data fit"
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

/* What to try first: the middle of what was recorded, else half of what the model expects. What is
 * expected to gain nothing comes behind "leave it alone". */
static double worth(const struct tune_advice *a)
{
    bool little = a->command[0] && a->model_gain < gain_least(&a->options);
    const struct interval *i = &a->likely.gain;
    double w = i->high > 0 ? sqrt(i->low * i->high) : isfinite(a->model_gain) ? sqrt(a->model_gain) : 1;
    return little ? fmin(w, 0.999) : w;
}

static double modelled(const struct tune_advice *a)
{
    return isfinite(a->model_gain) ? a->model_gain : 1;
}

/* What rests on one record stands in the model's order. */
static int by_expectation(const void *x, const void *y)
{
    const struct tune_advice *a = x, *b = y;
    double p = worth(a), q = worth(b);
    bool same = fabs(p - q) < 1e-9;
    if (a->tried != b->tried)
        return b->tried - a->tried;
    p = same ? modelled(a) : p;
    q = same ? modelled(b) : q;
    return (p < q) - (p > q);
}

/* A command line that a shell takes as it stands, for paths without blanks and quotes. */
void tune_advise_command(const struct tune_subject *s, struct tune_advice *v)
{
    const struct options *none = options_none();
    struct buf line = { 0 };
    const char *path = s->module->path ? s->module->path : "FILE.ptx",
               *kernel = s->launch ? (launch_name(s->launch) ? launch_name(s->launch)
                                                             : launch_kernel(s->launch))
                                   : NULL;
    size_t stem = base_stem(path, ".ptx"), n = stem ? stem : strlen(path);
    options_line(&v->options, &line);
    v->command[0] = 0;
    if (!options_equal(&v->options, none))
        snprintf(v->command, sizeof v->command, "gpulocw rewrite %s%s%s %s -o %.*s.tuned.ptx", path,
                 kernel ? " --kernel " : "", kernel ? kernel : "", line.s ? line.s : "", (int)n, path);
    buf_free(&line);
}

/* Was it tried, and gained nothing? */
static bool refuted(const struct tune_advice *a)
{
    return a->tried && !(a->real_gain > 1 + ADVICE_LEAST);
}

size_t tune_advise_rank(const struct dev_info *d, struct tune_advice *v, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        v[i].likely = v[i].tried ? (struct gain_experience){ 0 }
                                 : gain_recorded(d, &v[i].options, v[i].model_gain);
        if (!refuted(&v[i]))
            v[kept++] = v[i];
    }
    n = kept;
    qsort(v, n, sizeof *v, by_expectation);
    return n;
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
    return tune_advise_rank(device(&a), out, a.n);
}

/* Some of its outputs may have been the original's where all are not. */
static bool came_out_wrong(const struct options *o, const struct result *done, size_t ndone)
{
    for (size_t k = 0; k < ndone; k++)
        if (result_equal(result_at(done, k)) == EQUAL_NO &&
            options_equal(o, result_options(result_at(done, k))))
            return true;
    return false;
}

/* "Leave it alone" is refuted by whatever was tried and gained. */
static bool anything_gained(const struct result *original, const struct result *done, size_t ndone)
{
    for (size_t k = 0; k < ndone; k++)
        if (tune_usable(result_at(done, k)) &&
            gain_of(original, result_at(done, k)) > 1 + ADVICE_LEAST &&
            !came_out_wrong(result_options(result_at(done, k)), done, ndone))
            return true;
    return false;
}

/* After a run the words are the run's. */
static void say_ran(struct tune_advice *v, const struct result *original, const struct result *r)
{
    const struct counter *was = &result_counters(original)[COUNTER_L1_HIT_RATE],
                         *now = &result_counters(r)[COUNTER_L1_HIT_RATE];
    struct buf b = { 0 };
    if (v->reason == SIZE_MAX)
        return;
    v->reason = v->reason ? v->reason : strlen(v->why);
    buf_printf(&b, ": in the run %s", time_words((double)result_time(r)->median).s);
    if (!isnan(v->real_gain))
        buf_printf(&b, " instead of %s", time_words((double)result_time(original)->median).s);
    if (!isnan(v->real_gain) && was->valid && now->valid)
        buf_printf(&b, "; L1 misses %.0f %% instead of %.0f %%", 100 - now->value, 100 - was->value);
    buf_printf(&b, " (%s)", evidence_words(v->evidence));
    snprintf(v->why + v->reason, sizeof v->why - v->reason, "%s", b.s ? b.s : "");
    buf_free(&b);
}

static void prove_one(struct tune_advice *v, const struct result *original, const struct result *done,
                      size_t ndone)
{
    if (came_out_wrong(&v->options, done, ndone)) {
        v->tried = true;
        v->real_gain = 0;
        return;
    }
    for (size_t k = 0; k < ndone; k++) {
        if (!tune_usable(result_at(done, k)) ||
            !options_equal(&v->options, result_options(result_at(done, k))))
            continue;
        double gain = gain_of(original, result_at(done, k));
        if (v->tried && isnan(gain))
            continue;
        v->tried = true;
        v->evidence = evidence_of(result_at(done, k));
        v->real_gain = gain;
        say_ran(v, original, result_at(done, k));
    }
}

size_t tune_advise_prove(const struct dev_info *d, struct tune_advice *v, size_t n,
                         const struct result *original, const struct result *done, size_t ndone)
{
    const struct options *none = options_none();
    bool gained = anything_gained(original, done, ndone);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bool leave = options_equal(&v[i].options, none);
        if (leave && gained)
            continue;
        if (!leave)
            prove_one(&v[i], original, done, ndone);
        v[kept++] = v[i];
    }
    return tune_advise_rank(d, v, kept);
}
