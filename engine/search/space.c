/* The option space: one row per dimension. A dimension offers alternatives to a base
 * configuration; whether one is legal is the pass room's word (pass_legal). */
#include "engine/rec/options.h"
#include "engine/rec/result_read.h"
#include "engine/search/space.h"

#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/device.h"
#include "engine/rec/elem.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch_arg.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/rec/opt_schedule.h"
#include "engine/rec/opt_shared.h"
#include "engine/tune/tune.h"
#include "engine/tune/tune_int.h"

#include <string.h>

static size_t add(struct options *out, size_t n, struct options o)
{
    if (n < SPACE_MOST)
        out[n++] = o;
    return n;
}

/* One knob at each of these values. */
static size_t each(const struct options *base, const char *name, const char *const *value,
                   size_t nvalues, struct options *out)
{
    int knob = knob_find(str_of(name));
    size_t n = 0;
    for (size_t i = 0; i < nvalues; i++) {
        struct options o = *base;
        if (knob_set(&o, (size_t)knob, str_of(value[i]), NULL) == ST_OK)
            n = add(out, n, o);
    }
    return n;
}

/* ---- cache bypassing: bypassing all and thresholds, each operator ---- */
/* Steps between thresholds: all; eighths of the warps for a search, which refines them; quarters for the
 * reference. */
static uint32_t pi_step(const struct space *s)
{
    uint32_t parts = s->coarse ? 4 : 8;
    return s->fine || s->warps < parts ? 1 : s->warps / parts;
}

static size_t bypass(const struct space *s, const struct options *base, struct options *out)
{
    static const int ops[] = { BYPASS_OP_CG, BYPASS_OP_NO_ALLOCATE };
    uint32_t w = s->warps, step = pi_step(s);
    size_t n = 0;
    for (size_t k = 0; k < ARRAY_LEN(ops); k++) {
        struct options o = *base;
        opt_bypass(&o)->level = s->level;
        opt_bypass(&o)->op = ops[k];
        opt_bypass(&o)->form = s->form;
        opt_bypass(&o)->loads.n = 0;
        opt_bypass(&o)->pi.mode = PI_BPA;
        opt_bypass(&o)->pi.value = 0;
        n = add(out, n, o);
        opt_bypass(&o)->pi.mode = PI_CHA;
        if (s->asks_to_cache && k == 0)
            n = add(out, n, o);
        opt_bypass(&o)->pi.mode = PI_VALUE;
        for (uint32_t pi = step; pi < w; pi += step) {
            opt_bypass(&o)->pi.value = (int)pi;
            n = add(out, n, o);
        }
        if (!s->coarse && s->pi_predicted > 0 && s->pi_predicted < (int)w &&
            (uint32_t)s->pi_predicted % step) {
            opt_bypass(&o)->pi.value = s->pi_predicted;
            n = add(out, n, o);
        }
    }
    return n;
}

/* Per load: what the analysis says is not used again. */
static size_t streams(const struct space *s, const struct options *base, struct options *out)
{
    const struct options *none = options_none();
    struct options o = *base;
    opt_bypass(&o)->level = s->level;
    opt_bypass(&o)->op = s->no_allocate ? BYPASS_OP_NO_ALLOCATE : BYPASS_OP_CG;
    opt_bypass(&o)->form = BYPASS_FORM_VERTICAL;
    memset(&opt_bypass(&o)->pi, 0, sizeof opt_bypass(&o)->pi);
    opt_bypass(&o)->pi.mode = opt_bypass(none)->pi.mode;
    return add(out, 0, o);
}

/* All loads of all warps with each operator in turn. */
static size_t whole_kernel(const struct options *base, int level, const int *ops, size_t nops,
                           struct options *out)
{
    const struct options *none = options_none();
    size_t n = 0;
    for (size_t k = 0; k < nops; k++) {
        struct options o = *base;
        opt_bypass(&o)->level = level;
        opt_bypass(&o)->op = ops[k];
        opt_bypass(&o)->form = opt_bypass(none)->form;
        opt_bypass(&o)->pi.mode = PI_BPA;
        opt_bypass(&o)->pi.value = 0;
        n = add(out, n, o);
    }
    return n;
}

/* Which lines L1 gives up first: all loads with one priority, where the analysis says that L1 does not
 * hold what all warps use again. Targets before sm_70 have no such qualifiers. */
static size_t l1_priority(const struct space *s, const struct options *base, struct options *out)
{
    static const int ops[] = { BYPASS_OP_EVICT_LAST, BYPASS_OP_EVICT_FIRST, BYPASS_OP_EVICT_UNCHANGED };
    struct options all = *base;
    if (!s->no_allocate || s->pi_predicted <= 0 || s->pi_predicted >= (int)s->warps)
        return 0;
    opt_bypass(&all)->loads.n = 0;
    return whole_kernel(&all, s->level, ops, ARRAY_LEN(ops), out);
}

/* L2 as the level: evict-first loads, all warps; a policy where the target has one. */
static size_t l2_policy(const struct space *s, const struct options *base, struct options *out)
{
    static const int ops[] = { BYPASS_OP_CS, BYPASS_OP_CACHE_HINT };
    (void)s;
    return whole_kernel(base, BYPASS_L2, ops, ARRAY_LEN(ops), out);
}

/* ---- schedule ---- */
/* The exchange of x and y, then shapes of the same number of threads: square ones first, ever longer
 * ones after. */
static size_t schedule(const struct space *s, const struct options *base, struct options *out)
{
    uint32_t shape[32], shapes = 0, done = 0;
    struct options swap = *base;
    size_t n = 0;
    opt_schedule(&swap)->swap_xy = true;
    n = add(out, n, swap);
    for (uint32_t x = 1; x <= s->threads && shapes < ARRAY_LEN(shape); x *= 2)
        if (s->threads % x == 0)
            shape[shapes++] = x;
    for (uint32_t away = 0; done < shapes; away++) {
        /* outwards from the middle; wraps below 0 */
        uint32_t at = away % 2 ? shapes / 2 + (away + 1) / 2 : shapes / 2 - away / 2;
        if (at >= shapes)
            continue;
        struct options o = *base;
        opt_schedule(&o)->block = (struct dim3u){ shape[at], s->threads / shape[at], 1 };
        done++;
        if (opt_schedule(&o)->block.x != s->block.x || opt_schedule(&o)->block.y != s->block.y ||
            s->block.z != 1)
            n = add(out, n, o);
    }
    return n;
}

static size_t coarsen(const struct space *s, const struct options *base, struct options *out)
{
    static const int modes[] = { COARSEN_VECTOR, COARSEN_INTERLEAVED, COARSEN_BLOCKED };
    size_t n = 0;
    for (size_t m = 0; m < (s->coarse ? 2 : ARRAY_LEN(modes)); m++)
        for (int f = 2; f <= (s->coarse ? 4 : 8); f *= 2) {
            struct options o = *base;
            opt_schedule(&o)->coarsen = f;
            opt_schedule(&o)->coarsen_mode = modes[m];
            n = add(out, n, o);
        }
    return n;
}

/* ---- cluster ---- */
static size_t cluster(const struct space *s, const struct options *base, struct options *out)
{
    static const struct {
        int kind, claims;
    } how[] = { { CLUSTER_AGENT, CLAIMS_LAUNCH }, /* the cheaper claim, where it is */
                { CLUSTER_AGENT, CLAIMS_ATOMIC },
                { CLUSTER_REDIRECT, CLAIMS_ATOMIC } };
    static const int index[] = { INDEX_COLUMN, INDEX_ROW, INDEX_TILE };
    size_t n = 0;
    for (size_t k = !s->launch_control; k < ARRAY_LEN(how); k++)
        for (size_t i = 0; i < ARRAY_LEN(index); i++) {
            struct options o = *base;
            if (index[i] != INDEX_ROW && s->grid.y * s->grid.z == 1)
                continue; /* a 1-D grid has one order */
            opt_cluster(&o)->kind = how[k].kind;
            opt_cluster(&o)->claims = how[k].claims;
            memset(&opt_cluster(&o)->index, 0, sizeof opt_cluster(&o)->index);
            opt_cluster(&o)->index.kind = index[i];
            if (index[i] == INDEX_TILE)
                opt_cluster(&o)->index.tx = opt_cluster(&o)->index.ty = 8;
            n = add(out, n, o);
        }
    return n;
}

static size_t agents(const struct space *s, const struct options *base, struct options *out)
{
    size_t n = 0;
    uint32_t top = s->resident;
    if (opt_cluster(base)->kind != CLUSTER_AGENT)
        return 0;
    for (uint32_t a = top / 2; a >= 1; a = s->fine ? a - 1 : a / 2) {
        struct options o = *base;
        opt_cluster(&o)->agents = (int)a;
        opt_cluster(&o)->claims = CLAIMS_ATOMIC; /* launch control lets all agents work */
        n = add(out, n, o);
        if (s->coarse)
            break;
    }
    return n;
}

/* ---- what the launch and the loads allow besides ---- */
static size_t carveout(const struct space *s, const struct options *base, struct options *out)
{
    static const char *const percent[] = { "0", "100", "50" };
    return each(base, "carveout", percent, s->coarse ? 2 : ARRAY_LEN(percent), out);
}

static size_t throttle(const struct space *s, const struct options *base, struct options *out)
{
    size_t n = 0;
    for (uint32_t ctas = s->resident / 2; ctas >= 1 && s->shared_per_sm; ctas /= 2) {
        struct options o = *base;
        opt_occupancy(&o)->throttle_shared =
            (int)(s->shared_per_sm / (ctas + 1) + 1024); /* ctas + 1 no longer fit */
        if ((uint32_t)opt_occupancy(&o)->throttle_shared <= s->shared_per_block)
            n = add(out, n, o);
        if (s->coarse)
            break;
    }
    return n;
}

/* Registers for more loads at a time: left alone, ptxas keeps to what a full SM leaves a thread, also
 * where a launch has a few CTAs for each SM. (Measured on an H100, --minctas 1: attention 1.28x,
 * dgemm_naive 1.41x, gemv_trans 1.37x; docs/lab/registers.md.) */
static size_t registers(const struct space *s, const struct options *base, struct options *out)
{
    size_t n = 0;
    for (size_t i = 0; i < s->nminctas && (i < 2 || !s->coarse); i++) {
        struct options o = *base;
        opt_occupancy(&o)->minctas = s->minctas[i];
        n = add(out, n, o);
    }
    return n;
}

static size_t prefetch(const struct space *s, const struct options *base, struct options *out)
{
    static const char *const levels[] = { "l1", "l2" };
    return (void)s, each(base, "prefetch", levels, ARRAY_LEN(levels), out);
}

static size_t softcache(const struct space *s, const struct options *base, struct options *out)
{
    static const char *const lines[] = { "auto" };
    return (void)s, each(base, "softcache", lines, 1, out);
}

static size_t readonly(const struct space *s, const struct options *base, struct options *out)
{
    static const char *const modes[] = { "promote" };
    return (void)s, each(base, "readonly", modes, 1, out);
}

/* ---- a part of L2 for one buffer ---- */
static uint64_t buffer_bytes(const struct arg_spec *a)
{
    return a->kind == ARG_BUFFER ? a->count * elem_size(a->elem) : 0;
}

/* Sectors of the loads that read argument i again: by another CTA, by data, or by the CTA itself. */
static uint64_t read_again(const struct ana_kernel *k, int i)
{
    uint64_t n = 0;
    for (uint32_t j = 0; j < k->naccess; j++) {
        const struct ana_access *a = &k->access[j];
        if (a->param == i && !a->store && !a->prefetch && a->space == PTX_SPACE_GLOBAL &&
            (a->reused || a->cls == ANA_CLASS_ALGORITHM || a->cls == ANA_CLASS_DATA))
            n += a->exact.sectors + 1;
    }
    return n;
}

size_t space_persistent(const struct ana_kernel *k, const struct launch_spec *l,
                        const struct dev_info *d, const char *name[SPACE_PERSIST])
{
    uint64_t all = 0, weight[SPACE_PERSIST] = { 0 };
    size_t n = 0;
    for (size_t i = 0; l && i < launch_nargs(l); i++)
        all += buffer_bytes(launch_arg(l, i));
    if (!k || !d || !l || !d->l2_persist_bytes || all <= d->l2_bytes)
        return 0;
    for (size_t i = 0; i < launch_nargs(l); i++) {
        uint64_t w =
            buffer_bytes(launch_arg(l, i)) && launch_arg(l, i)->name ? read_again(k, (int)i) : 0;
        size_t at = n < SPACE_PERSIST ? n : SPACE_PERSIST;
        if (!w || (at == SPACE_PERSIST && w <= weight[at - 1]))
            continue;
        n += at < SPACE_PERSIST;
        for (at = n - 1; at && weight[at - 1] < w; at--) {
            weight[at] = weight[at - 1];
            name[at] = name[at - 1];
        }
        weight[at] = w;
        name[at] = launch_arg(l, i)->name;
    }
    return n;
}

static size_t persistence(const struct space *s, const struct options *base, struct options *out)
{
    return each(base, "l2-persist", s->persist, s->npersist, out);
}

static size_t copy_policy(const struct space *s, const struct options *base, struct options *out)
{
    static const char *const hints[] = { "evict_last", "evict_first" };
    return each(base, "tma-hint", hints, s->copies ? ARRAY_LEN(hints) : 0, out);
}

static size_t promotion(const struct space *s, const struct options *base, struct options *out)
{
    static const char *const bytes[] = { "128B", "256B" };
    return each(base, "tma-promotion", bytes, s->maps ? ARRAY_LEN(bytes) : 0, out);
}

/* First as many tiles as a large GPU has SMs, in a block: a wave of CTAs shares its rows and columns. */
static size_t tiles(const struct space *s, const struct options *base, struct options *out)
{
    static const struct {
        int kind;
        uint32_t tx, ty;
    } orders[] = { { TILES_TILE, 8, 16 },  { TILES_COLUMN, 0, 0 }, { TILES_TILE, 8, 8 },
                   { TILES_TILE, 16, 16 }, { TILES_TILE, 4, 4 },   { TILES_REVERSE, 0, 0 } };
    size_t n = 0;
    for (size_t i = 0; s->tiles && i < ARRAY_LEN(orders); i++) {
        struct options o = *base;
        if (!s->tile_rows && orders[i].kind != TILES_REVERSE)
            continue;
        opt_schedule(&o)->tile_order.kind = orders[i].kind;
        opt_schedule(&o)->tile_order.tx = orders[i].tx;
        opt_schedule(&o)->tile_order.ty = orders[i].ty;
        n = add(out, n, o);
    }
    return n;
}

/* May the tiles of a persistent kernel be done in another order, and is it known how many a row has? */
static void find_tiles(const struct tune_bench *b, struct space *s)
{
    struct options o = options_default();
    opt_schedule(&o)->tile_order.kind = TILES_REVERSE;
    s->tiles = tune_legal(&b->subject, &o);
    opt_schedule(&o)->tile_order.kind = TILES_COLUMN;
    s->tile_rows = s->tiles && tune_legal(&b->subject, &o);
}

static bool has_copies(const struct ana_kernel *k)
{
    for (uint32_t i = 0; k && i < k->naccess; i++)
        if (k->access[i].space == ANA_SPACE_COPY && !k->access[i].store && !k->access[i].prefetch)
            return true;
    return false;
}

double space_bank_conflicts(const struct ana_kernel *k, const struct ana_access **at)
{
    double most = 0;
    for (uint32_t i = 0; k && i < k->naccess; i++) {
        const struct ana_access *x = &k->access[i];
        if (x->space != PTX_SPACE_SHARED || !x->exact.valid || !(x->exact.bank_conflicts > most))
            continue; /* NaN: no request was made */
        most = x->exact.bank_conflicts;
        if (at)
            *at = x;
    }
    return most;
}

static size_t shared_layout(const struct space *s, const struct options *base, struct options *out)
{
    struct options o = *base;
    size_t n = 0;
    if (!s->conflicts)
        return 0;
    opt_shared(&o)->swizzle = true;
    n = add(out, n, o);
    opt_shared(&o)->swizzle = false;
    for (size_t i = 0; i < s->cure.nrows; i++) {
        opt_shared(&o)->pad = (int)s->cure.row[i];
        n = add(out, n, o);
    }
    return n;
}

/* In the order in which they usually matter: what moves most comes first. */
static const struct dimension dimensions[] = {
    { "block shape", schedule, 3, false },
    { "clustering", cluster, 3, false },
    { "active agents", agents, 1, true },
    { "cache bypassing", bypass, 3, false },
    { "streaming loads", streams, 1, true },
    { "L1 priority", l1_priority, 1, true },
    { "L2 policy", l2_policy, 1, true },
    { "L1 size", carveout, 2, false },
    { "coarsening", coarsen, 2, false },
    { "prefetching", prefetch, 2, false },
    { "throttling", throttle, 1, false },
    { "shared layout", shared_layout, 2, false },
    { "software cache", softcache, 1, false },
    { "read-only path", readonly, 1, false },
    { "L2 persistence", persistence, 1, false },
    { "order of tiles", tiles, 3, false },
    { "L2 policy of copies", copy_policy, 2, false },
    { "L2 promotion of copies", promotion, 2, false },
    { "registers", registers, 2, false },
};

size_t space_dimensions(void)
{
    return ARRAY_LEN(dimensions);
}
const struct dimension *space_dimension(size_t i)
{
    return &dimensions[i];
}

const struct dimension *space_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(dimensions); i++)
        if (strcmp(dimensions[i].name, name) == 0)
            return &dimensions[i];
    return NULL;
}

/* L1, unless the kernel's loads all go through the read-only path; both copies in one text, unless that
 * is refused. */
static void how_to_bypass(const struct tune_bench *b, struct space *s)
{
    static const int levels[] = { BYPASS_L1, BYPASS_RO },
                     forms[] = { BYPASS_FORM_CLONE, BYPASS_FORM_PREDICATE };
    const struct tune_subject *t = &b->subject;
    struct options o = options_default();
    s->level = BYPASS_L1;
    s->form = BYPASS_FORM_CLONE;
    opt_bypass(&o)->pi.mode = PI_VALUE;
    opt_bypass(&o)->pi.value = s->warps > 1;
    for (size_t l = 0; l < ARRAY_LEN(levels); l++)
        for (size_t f = 0; f < ARRAY_LEN(forms); f++) {
            opt_bypass(&o)->level = levels[l];
            opt_bypass(&o)->form = forms[f];
            if (!tune_legal(t, &o))
                continue;
            s->level = levels[l];
            s->form = forms[f];
            return;
        }
}

struct space space_of(const struct tune_bench *b)
{
    const struct dev_info *d = dev_describe(b->subject.dev);
    const struct launch_spec *l = b->subject.launch;
    const struct ana_kernel *k = b->subject.facts;
    struct space s = { .warps = tune_warps(&b->subject),
                       .threads = (uint32_t)dim3u_count(launch_block(l)),
                       .block = launch_block(l),
                       .grid = launch_grid(l),
                       .shared_per_sm = d->shared_per_sm,
                       .shared_per_block = d->shared_per_block_optin,
                       .no_allocate = d->cc_major >= 7,
                       .launch_control = d->cc_major >= 10,
                       .asks_to_cache = d->cc_major < 7 && !(d->sm.l1_plain > 0) && d->sm.l1_ca > 0 };
    const struct options *none = options_none();
    struct dev_cta cta = tune_cta(&b->subject, none);
    s.resident = result_ctas_per_sm(b->original) ? result_ctas_per_sm(b->original)
                                                 : dev_resident(d, &cta).ctas_per_sm;
    s.resident = s.resident ? s.resident : 1;
    if (k && k->footprint.valid)
        s.pi_predicted = k->footprint.pi_fit;
    s.conflicts = space_bank_conflicts(k, NULL) >= 0.5;
    if (s.conflicts)
        s.cure = banks_cure_of(k);
    s.copies = has_copies(k);
    s.maps = s.copies && launch_has_maps(l);
    s.npersist = space_persistent(k, l, d, s.persist);
    find_tiles(b, &s);
    how_to_bypass(b, &s);
    return s;
}

void space_in_program(struct space *s)
{
    s->npersist = 0;
    s->maps = s->tiles = s->tile_rows = false;
}

void space_find_minctas(struct space *s, struct tune_bench *b)
{
    const struct dev_info *d = dev_describe(b->subject.dev);
    static const int counts[] = { 1, 2, 3, 4, 6, 8, 12, 16 };
    struct options o = options_default();
    uint32_t last = tune_compiled_regs(b, &o), own = last;
    for (size_t i = 0; own && i < ARRAY_LEN(counts) && s->nminctas < SPACE_MINCTAS; i++) {
        if (dev_regs_of_warps(d, (uint64_t)s->warps * (unsigned)counts[i]) <= own)
            break;
        opt_occupancy(&o)->minctas = counts[i];
        uint32_t regs = tune_compiled_regs(b, &o);
        if (regs > own && regs != last)
            s->minctas[s->nminctas++] = counts[i];
        last = regs > own ? regs : last;
    }
}
