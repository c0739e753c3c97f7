/* Timed launches. A launch small enough is simulated whole: every CTA on every SM,
 * on the real buffers. A larger one is timed on a sample, unless `exact`: NGROUPS
 * independent groups of a few SMs each, on private memory, so that buffers stay
 * as they were; the number of groups never depends on the host. Small work gets
 * more SMs, since the slowest SM ends a launch and a few do not show it. A GPU of
 * few SMs is simulated with all of them, for the first waves of CTAs, and so are
 * kernels with tensor cores or tensor copies on every GPU. What the
 * sample did not run is extrapolated (time by waves, counts by CTAs) and the
 * result says so. Programs whose CTAs communicate are never sampled: a few SMs
 * would do the work of all. Where no CTA of the sample ended in time, the rate of
 * instructions is what it gives, and the launch's size comes from elsewhere. */
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/ptx/text_marks.h"
#include "engine/rec/device.h"
#include "engine/sim/exec/exec.h"
#include "engine/sim/mem.h"
#include "engine/sim/exec/tensor/replace.h"
#include "engine/sim/exec/tensor/tma.h"
#include "engine/sim/timing/groups.h"
#include "engine/sim/timing/sm.h"
#include "engine/sim/timing/turns.h"

#include <math.h>
#include <string.h>

#define SAMPLE_SMS   4u      /* SMs of a group at first */
#define SAMPLE_MORE  8u      /* and when that many cost less than the budget */
#define SAMPLE_TASKS 800000u /* the same where tasks are claimed: see run_subset */
#define WHOLE_LIMIT  800000u /* warp instructions of a launch that is simulated whole: as the sample's */
#define UNSURE_LIMIT \
    4000000u /* the same, of one that a sample may not stand for, or that makes products */

/* ---- setting up ---- */

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static uint64_t shuffle_of(uint64_t n, uint64_t seed)
{
    uint64_t m = n < 3 ? 1 : base_splitmix(seed, 0) % n | 1;
    while (gcd(m, n) != 1)
        m++;
    return m;
}

/* The launch's buffers, found by the pointers among its parameters. */
static void find_buffers(struct timing_launch *t)
{
    for (uint64_t off = 0; off + 8 <= t->l->nparams && t->nbuffers < ARRAY_LEN(t->buffer); off += 8) {
        uint64_t v;
        memcpy(&v, t->l->params + off, 8);
        const struct sim_alloc *a = sim_mem_find(t->p->mem, v);
        uint32_t k = 0;
        while (a && k < t->nbuffers && t->buffer[k].first != a->addr >> CACHE_LINE_SHIFT)
            k++;
        if (a && k == t->nbuffers)
            t->buffer[t->nbuffers++] = (struct cache_range){ a->addr >> CACHE_LINE_SHIFT,
                                                             (a->n >> CACHE_LINE_SHIFT) + 1, false };
        for (size_t i = 0; a && i < t->l->nrestored; i++)
            t->buffer[k].restored |= t->l->restored[i] == a->addr;
    }
}

static bool uses_tensor_cores(const struct timing_plan *plan)
{
    for (uint32_t i = 0; i < plan->p->ncode; i++)
        if (plan->op[i].unit == UNIT_TENSOR)
            return true;
    return false;
}

static enum status set_up(struct timing_launch *t, struct sim_program *p, const struct sim_launch *l,
                          struct diags *ds)
{
    *t = (struct timing_launch){
        .p = p, .l = l, .g = &p->preset, .ngroups = 1, .nctas = dim3u_count(l->grid)
    };
    uint32_t threads = (uint32_t)dim3u_count(l->block);
    struct dev_resident o = sim_resident(p, l);
    if (!o.ctas_per_sm) {
        struct sim_resources r = sim_program_resources(p);
        diag_error(ds, "launch",
                   "a CTA of %u threads with %u registers per thread and %u bytes of shared memory does "
                   "not fit on an SM of %s",
                   threads, r.regs, r.shared_static + l->shared, t->g->title);
        return ST_USAGE;
    }
    /* A cluster stays together: what is handed out here are clusters. */
    t->cluster = (uint32_t)dim3u_count(exec_cluster_of(p, l));
    t->nctas /= t->cluster;
    t->units = o.places;
    t->span = o.span;
    t->warps_per_cta = t->cluster / t->span * ((threads + WARP_LANES - 1) / WARP_LANES);
    t->ctas_per_sm = o.clusters;
    t->held_by = o.limit;
    t->l1_bytes = (uint32_t)o.l1_bytes;
    /* The shadow that races are looked for in is one for all CTAs. */
    t->threads = l->check_races || l->check_uninit ? 1 : l->threads ? l->threads : base_cpus();
    if (l->warm_l2)
        find_buffers(t);
    if (l->dispatch == DISPATCH_RANDOM && t->nctas < UINT32_MAX / 2)
        t->shuffle = shuffle_of(t->nctas, l->seed);
    enum status st = timing_plan_make(&t->plan, p, t->g);
    t->mhz = st == ST_OK && t->g->tensor_clock_mhz > 0 && uses_tensor_cores(&t->plan)
                 ? t->g->tensor_clock_mhz
                 : t->g->clock_mhz;
    return st;
}

/* ---- statistics ---- */

static uint64_t scale_u64(uint64_t n, double by)
{
    return by == 1 ? n : (uint64_t)((double)n * by + 0.5);
}

static void scale_sums(struct sim_stats *o, double by)
{
    uint64_t *v[TIMING_SCALED];
    timing_scaled_counters(o, v);
    for (size_t i = 0; i < ARRAY_LEN(v); i++)
        *v[i] = scale_u64(*v[i], by);
}

static void scale_counts(struct sim_stats *o, double by)
{
    scale_sums(o, by);
    for (uint32_t i = 0; i < o->nloads; i++) {
        struct sim_load_stats *c = &o->loads[i];
        uint64_t *w[] = { &c->executions, &c->requests, &c->sectors, &c->l1_hits, &c->threads };
        for (size_t k = 0; k < ARRAY_LEN(w); k++)
            *w[k] = scale_u64(*w[k], by);
    }
}

/* Operations of a product by a warp. */
static void note_product(const struct timing_plan *plan, const struct exec_inst *in,
                         struct sim_load_stats *c)
{
    size_t i = (size_t)(in - plan->p->code);
    for (unsigned k = PIPE_TENSOR_16; k < PIPE_COUNT; k++)
        if (plan->work[k] && plan->work[k][i + 1] > plan->work[k][i]) {
            c->flop = WARP_LANES * (plan->work[k][i + 1] - plan->work[k][i]);
            c->pipe = (uint8_t)k;
        }
}

static enum status make_loads(const struct timing_plan *plan, struct sim_stats *o)
{
    const struct sim_program *p = plan->p;
    base_free(o->loads);
    o->nloads = p->nloads;
    o->loads = base_alloc((p->nloads + 1) * sizeof *o->loads);
    if (!o->loads)
        return ST_NOMEM;
    for (uint32_t i = 0; i < p->nloads; i++) {
        const struct exec_inst *in = p->loads[i];
        o->loads[i] = (struct sim_load_stats){ .func = in->func->ptx->index,
                                               .inst = in->ptx->index,
                                               .line = in->ptx->at.line };
        note_product(plan, in, &o->loads[i]);
    }
    return ST_OK;
}

static bool is_partial(const struct timing_groups *a)
{
    bool any = false;
    for (uint32_t i = 0; i < a->n; i++)
        any |= a->v[i].partial;
    return any;
}

/* The rate of a part: cycles = lead + per_inst * instructions. Memory traffic as the sample's share of
 * it. */
static void collect_partial(const struct timing_groups *a, struct sim_stats *o)
{
    o->lead_cycles = o->cycles_per_inst = 0;
    o->dram_read_bytes = o->dram_write_bytes = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        const struct timing_group *g = &a->v[i];
        double rate = (double)(g->stop.inst - g->from.inst) / (double)(g->stop.at - g->from.at);
        if (!g->partial || g->stop.at <= g->from.at)
            rate = (double)timing_group_instructions(g) / (g->last_end ? g->last_end : 1);
        o->cycles_per_inst += 1 / (rate * g->mem.scale) / a->n;
        o->lead_cycles += ((double)g->from.at - (double)g->from.inst / rate) / a->n;
        o->dram_read_bytes += (uint64_t)(g->mem.dram_read / g->mem.scale);
        o->dram_write_bytes += (uint64_t)(g->mem.dram_write / g->mem.scale);
    }
    o->cycles = o->time_ns = NAN;
}

/* Where CTAs differ in length, those that end within the budget are the shorter ones. The sample
 * then stands for fewer instructions than the launch has: time and traffic are scaled up by the
 * ratio. */
/* relative difference that two counts of one launch may have: tasks are claimed in another order,
 * samples are rounded to CTAs */
#define TYPICAL 0.05
static void make_typical(struct sim_stats *s, const struct sim_preset *p, const struct sim_stats *whole)
{
    double by = (double)whole->inst_warp / (double)s->inst_warp;
    if (!s->sampled || !whole->inst_warp || fabs(by - 1) < TYPICAL)
        return;
    s->cycles *= by;
    s->time_ns = s->cycles * 1000 / s->clock_mhz + p->launch_ns;
    s->dram_read_bytes = scale_u64(s->dram_read_bytes, by);
    s->dram_write_bytes = scale_u64(s->dram_write_bytes, by);
    scale_counts(s, by);
}

/* What a load asked for, by the executions that the functional run counted. */
static void count_load(struct sim_load_stats *c, const struct sim_load_stats *whole)
{
    uint64_t *v[] = { &c->requests, &c->sectors, &c->l1_hits };
    for (size_t k = 0; c->executions && k < ARRAY_LEN(v); k++)
        *v[k] = scale_u64(*v[k], (double)whole->executions / (double)c->executions);
    c->executions = whole->executions;
    c->threads = whole->threads;
}

/* Of products every one is counted. */
static void count_products(struct sim_stats *s, const struct sim_stats *whole)
{
    uint64_t flop[PIPE_COUNT] = { 0 }, had = 0, has = 0;
    for (uint32_t i = 0; i < s->nloads; i++)
        flop[s->loads[i].pipe] += s->loads[i].flop * whole->loads[i].executions;
    for (unsigned k = PIPE_TENSOR_16; k < PIPE_COUNT; k++) {
        if (!flop[k])
            continue;
        had += s->work.flop[k];
        has += s->work.flop[k] = flop[k];
    }
    if (had)
        s->work.tensor_busy = scale_u64(s->work.tensor_busy, (double)has / (double)had);
}

/* The functional run counts the instructions of the launch and the executions of its loads: totals are
 * those, and what is counted beside them as much as the sample had of it an instruction. */
static void count_totals(struct sim_stats *s, const struct sim_stats *whole)
{
    if (!s->sampled || !whole->inst_warp || whole->nloads != s->nloads)
        return;
    uint64_t had = s->l1_requests, requests = 0;
    for (uint32_t i = 0; i < s->nloads; i++)
        requests += s->loads[i].requests;
    scale_sums(s, (double)whole->inst_warp / (double)s->inst_warp);
    s->inst_warp = whole->inst_warp;
    s->inst_thread = whole->inst_thread;
    count_products(s, whole);
    /* each request is of a load in the table, but for rounding */
    bool all = fabs((double)requests - (double)had) <= (double)had / 1000 + s->nloads;
    if (all)
        s->l1_requests = s->l1_sectors = s->l1_hits = 0;
    for (uint32_t i = 0; i < s->nloads; i++) {
        struct sim_load_stats *c = &s->loads[i];
        count_load(c, &whole->loads[i]);
        s->l1_requests += all ? c->requests : 0;
        s->l1_sectors += all ? c->sectors : 0;
        s->l1_hits += all ? c->l1_hits : 0;
    }
}

/* What the sample left out. */
static void complete_part(struct sim_stats *s, const struct sim_preset *p, const struct sim_stats *whole)
{
    s->sample_share = fmin(1, (double)s->inst_warp / (double)whole->inst_warp);
    s->cycles = s->lead_cycles + s->cycles_per_inst * (double)whole->inst_warp;
    if (s->nparts)
        timing_parts_add(s, whole);
    double by = (double)whole->inst_warp / (double)s->inst_warp;
    s->time_ns = s->cycles * 1000 / s->clock_mhz + p->launch_ns;
    s->dram_read_bytes = scale_u64(s->dram_read_bytes, by);
    s->dram_write_bytes = scale_u64(s->dram_write_bytes, by);
    scale_counts(s, by);
    s->cycles_per_inst = 0;
}

void sim_stats_complete(struct sim_stats *s, const struct sim_preset *p, const struct sim_stats *whole)
{
    if (!s->inst_warp)
        return;
    if (s->cycles_per_inst > 0)
        complete_part(s, p, whole);
    else
        make_typical(s, p, whole);
    count_totals(s, whole);
}

/* How far the CTAs of all groups differ in instructions, and the groups in time. */
static void note_spread(struct timing_launch *t, const struct timing_groups *a)
{
    double n = 0, inst = 0, squares = 0, least = INFINITY, most = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        const struct timing_group *g = &a->v[i];
        double cycles = g->partial ? 0 : timing_group_cycles(g);
        n += (double)g->finished;
        inst += (double)g->finished_inst;
        squares += g->finished_squares;
        least = fmin(least, cycles);
        most = fmax(most, cycles);
    }
    double mean = n > 0 ? inst / n : 0;
    t->uneven = mean > 0 ? sqrt(fmax(0, squares / n - mean * mean)) / mean : 0;
    t->apart = least > 0 ? most / least - 1 : 0;
}

static enum status collect(const struct timing_launch *t, struct timing_groups *a, struct sim_stats *o)
{
    enum status st = make_loads(&t->plan, o);
    if (st != ST_OK)
        return st;
    double cycles = 0, dram_read = 0, dram_write = 0, warp_cycles = 0, sm_cycles = 0;
    double ctas = 0;
    o->inst_warp = o->inst_thread = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        const struct timing_group *g = &a->v[i];
        for (uint32_t k = 0; k < g->nsms; k++) {
            timing_sm_count(&g->sm[k], o);
            warp_cycles += (double)timing_sm_residency(&g->sm[k], g->now);
            /* as the counter: SMs without a CTA do not count */
            sm_cycles += timing_sm_active(&g->sm[k], g->now);
        }
        if (g->partial)
            continue;
        cycles += timing_group_cycles(g) / a->n;
        double done = timing_group_ctas(g), stood_for = done * g->mem.scale;
        dram_read += g->mem.dram_read * (double)t->nctas / stood_for / a->n;
        dram_write += g->mem.dram_write * (double)t->nctas / stood_for / a->n;
        ctas += done;
    }
    for (uint32_t i = 0; i < a->n; i++) {
        o->l2_reads += a->v[i].mem.reads;
        o->l2_hits += a->v[i].mem.hits;
        o->l2_missed += a->v[i].mem.missed;
        o->l2_writes += a->v[i].mem.writes;
        o->work.write_hits += a->v[i].mem.write_hits;
        o->work.copy_hits += a->v[i].mem.copy_hits;
        o->work.copy_missed += a->v[i].mem.copy_missed;
    }
    o->work.tensor_cores = t->plan.tensor_unknown ? 0 : (uint64_t)(t->g->sms * t->g->schedulers);
    o->dry = t->sampled || t->bare;
    o->sampled = t->sampled && (t->subset || a->v[0].stopped || a->v[0].most < t->nctas);
    o->sample_share = o->sampled ? ctas / (double)t->nctas : 1;
    bool partial = is_partial(a);
    st = timing_spent_take(a->v, a->n, &o->spent, &o->nspent, &o->slots);
    for (uint32_t i = 0; i < a->n && !partial && cycles > 0; i++)
        o->slots.end += timing_group_end(&a->v[i], &o->slots.end_cause) / a->n / cycles;
    if (o->sampled && !partial)
        scale_counts(o, (double)t->nctas / ctas);
    o->cycles = cycles;
    o->clock_mhz = t->mhz;
    o->time_ns = cycles * 1000 / t->mhz + t->g->launch_ns;
    o->dram_read_bytes = (uint64_t)dram_read;
    o->dram_write_bytes = (uint64_t)dram_write;
    o->warps_active = sm_cycles > 0 ? 100 * warp_cycles / ((double)t->g->max_warps * sm_cycles) : 0;
    if (o->warps_active > 100)
        o->warps_active = 100; /* a cluster that needs several SMs may be on one */
    o->ctas_per_sm = t->ctas_per_sm * (t->cluster / t->span);
    if (partial) {
        collect_partial(a, o);
        timing_parts_take(a->v, a->n, o);
    }
    return st;
}

/* The executor has statistics of its own; only what the kernel printed is taken from them. */
static void take_print(struct exec_launch *x, struct sim_stats *out)
{
    struct sim_stats own = { 0 };
    exec_launch_stats(x, &own);
    out->print = own.print;
    out->nprint = own.nprint;
    own.print = NULL;
    sim_stats_free(&own);
}

/* ---- the policy ---- */

enum way {
    WAY_WHOLE,
    WAY_WAVES /* all SMs, as many waves as it takes */,
    WAY_SUBSET /* groups of `simulated` SMs */
};

/* Replaces *out. *astray: the sample left out instructions that it needed, so its figures do not
 * count. */
static enum status run_way(struct timing_launch *t, struct exec_drive *beside, struct sim_stats *out,
                           bool *astray, struct diags *ds)
{
    sim_stats_free(out);
    *out = (struct sim_stats){ .time_ns = NAN, .cycles = NAN };
    struct timing_groups a = { .beside = beside };
    struct cache_l2 left = { 0 };
    t->left = NULL;
    enum status st = timing_run_before(t, &left);
    t->left = left.entry ? &left : NULL;
    if (st == ST_OK)
        st = exec_launch_new(t->p, t->l, &t->x, ds);
    if (st != ST_OK) {
        cache_l2_free(&left);
        return st;
    }
    st = timing_groups_run(t, t->sampled ? NGROUPS * SAMPLE_BUDGET / t->ngroups : 0, &a, ds);
    enum status counted = st == ST_OK ? collect(t, &a, out) : ST_OK;
    if (st == ST_OK)
        note_spread(t, &a);
    timing_groups_free(&a);
    cache_l2_free(&left);
    *astray = exec_launch_escaped_region(t->x);
    if (exec_launch_faulted(t->x))
        st = exec_fault_report(t->x, ds);
    else if (st == ST_OK && !t->sampled)
        take_print(t->x, out);
    exec_launch_free(t->x);
    t->x = NULL;
    return st == ST_OK ? counted : st;
}

/* One way of running it. Replaces *out. */
static enum status run_once(struct timing_launch *t, enum way way, uint32_t simulated,
                            struct exec_drive *beside, struct sim_stats *out, struct diags *ds)
{
    t->sampled = way != WAY_WHOLE;
    t->bare = t->l->chosen.every > 0;
    t->subset = way == WAY_SUBSET;
    t->ngroups = t->subset ? NGROUPS : 1;
    t->simulated = simulated;
    bool astray = false;
    struct diags own = { 0 };
    enum status st = run_way(t, beside, out, &astray, &own);
    if (astray) {
        diags_free(&own);
        t->full = true;
        st = run_way(t, beside, out, &astray, &own);
    }
    diags_move(ds, &own);
    diags_free(&own);
    return st;
}

static bool is_read(const struct sim_program *p, const struct exec_func *f, uint32_t reg)
{
    for (uint32_t i = f->first; i < f->first + f->n; i++)
        for (uint32_t k = p->code[i].ndst; k < (uint32_t)p->code[i].ndst + p->code[i].nsrc; k++)
            if (p->code[i].regs[k] == reg)
                return true;
    return false;
}

enum talk { TALK_NONE, TALK_CLAIMS, TALK_OTHER };

/* What CTAs tell each other: nothing (atomics whose old value is not read), which tasks are claimed (the
 * SMs of a sample claim among themselves as all SMs would), or anything else. */
static enum talk talk_of(const struct sim_program *p)
{
    enum talk t = TALK_NONE;
    bool atomics = false;
    for (uint32_t f = 0; f < p->nfuncs; f++)
        for (uint32_t i = p->funcs[f].first; i < p->funcs[f].first + p->funcs[f].n; i++) {
            const struct exec_inst *in = &p->code[i];
            if (in->fn == exec_try_cancel)
                return TALK_OTHER;
            if (!in->spin || in->space == PTX_SPACE_SHARED || in->space == PTX_SPACE_LOCAL)
                continue;
            if (ptx_op_info(in->ptx->op)->effect != EFFECT_ATOMIC) {
                if (in->mark == MARK_NONE)
                    return TALK_OTHER;
                t = TALK_CLAIMS; /* how many tasks the other clusters have claimed */
                continue;
            }
            atomics = true;
            bool read = false;
            for (uint32_t k = 0; k < in->ndst; k++)
                read |= is_read(p, &p->funcs[f], in->regs[k]);
            if (read && in->mark == MARK_NONE)
                return TALK_OTHER;
            if (read)
                t = TALK_CLAIMS;
        }
    return p->heap || (p->ordered && !atomics) ? TALK_OTHER : t;
}

/* Reads of the copy engine meet those of other SMs in front of L2 all the time, which a sample of few
 * SMs does not see. Such kernels have few and long CTAs; to time all SMs costs little beside the
 * products that they make. */
static bool copies_tensors(const struct sim_program *p)
{
    for (uint32_t i = 0; i < p->ncode; i++)
        if (p->code[i].fn == exec_tma)
            return true;
    return false;
}

/* CTAs that make products share their factors with CTAs that run beside them and with those of the waves
 * before, far away in the grid: all SMs are timed, for the first waves. */
static bool makes_products(const struct timing_launch *t)
{
    return copies_tensors(t->p) || uses_tensor_cores(&t->plan);
}

/* Without a sample first. CTAs that may take tile after tile (they read %nctaid) can be of any length.
 */
#define COPY_WAVES 4u
static bool shares_copies(const struct timing_launch *t)
{
    for (uint32_t i = 0; i < t->p->nsregs; i++)
        if (t->p->sregs[i].sreg == PTX_SREG_NCTAID)
            return false;
    return t->nctas <= COPY_WAVES * (uint64_t)t->units && copies_tensors(t->p);
}

static enum way choose_way(const struct timing_launch *t, enum talk talk)
{
    bool few = t->nctas < (uint64_t)t->units / 2 || shares_copies(t);
    if (t->l->exact || few || talk == TALK_OTHER || t->l->check_uninit || t->l->check_races)
        return WAY_WHOLE;
    bool all = t->units < 2 * NGROUPS * SAMPLE_MORE || t->l->dispatch == DISPATCH_ADVERSARIAL;
    return all ? WAY_WAVES : WAY_SUBSET;
}

/* Runs the sample. Beside it the outputs are computed, where they are asked for and the sample does
 * not depend on them. */
static enum status run_sample(struct timing_launch *t, enum way way, struct sim_stats *out,
                              struct diags *ds)
{
    struct sim_launch l = *t->l;
    struct exec_drive *beside = NULL;
    l.functional = true;
    l.progress = NULL;
    l.chosen.rest = l.chosen.dry = l.chosen.every > 0;
    if (!t->l->outputs || !t->p->timing_ignores_data || t->p->ordered || t->endless)
        return run_once(t, way, SAMPLE_SMS, NULL, out, ds);
    enum status st = exec_drive_new(t->p, &l, &beside, ds);
    if (st != ST_OK)
        return st;
    st = run_once(t, way, SAMPLE_SMS, beside, out, ds);
    struct diags own = { 0 }; /* what ends the sample is told first, and alone */
    enum status all = exec_drive_end(beside, t->l->outputs, &own);
    if (st == ST_OK && all != ST_OK)
        diags_move(ds, &own);
    diags_free(&own);
    out->made = true;
    return st == ST_OK ? all : st;
}

/* Turns of a loop that are timed, before and behind which a turn is measured; of one with at least so many. */
#define TURNS_BEFORE 4u
#define TURNS_TIMED  8u
#define TURNS_LEAST  16u
#define TURNS_MOST   (1u << 20)
#define PROBED_CTAS  16u

/* How many turns its loop has in every warp of some CTAs, and about how many instructions the launch has; 0: not the same
 * in all. */
static enum status count_turns(const struct timing_launch *t, struct sim_cut cut, uint64_t *turns,
                               double *insts, struct diags *ds)
{
    struct sim_launch l = *t->l;
    struct sim_stats s = { 0 };
    uint64_t every = t->nctas / PROBED_CTAS;
    l.functional = true;
    l.progress = NULL;
    l.outputs = NULL;
    l.cut = cut;
    l.chosen = (struct sim_chosen){ every < 2            ? 0
                                    : every > UINT32_MAX ? UINT32_MAX
                                                         : (uint32_t)every,
                                    false, true };
    enum status st = exec_run(t->p, &l, &s, ds);
    *turns = s.least_turns == s.most_turns && s.most_turns < TURNS_MOST ? s.most_turns : 0;
    *insts = s.ctas ? (double)s.inst_warp / (double)s.ctas * (double)t->nctas : 0;
    sim_stats_free(&s);
    return st;
}

/* What later turns touch is there as in the first ones. */
static bool fits_l2(const struct timing_launch *t)
{
    uint64_t lines = 0;
    for (uint32_t i = 0; i < t->nbuffers; i++)
        lines += t->buffer[i].lines;
    return lines << CACHE_LINE_SHIFT <= (uint64_t)t->g->l2_bytes;
}

static enum status run_cut(struct timing_launch *t, struct sim_cut cut, uint32_t turns,
                           struct sim_stats *out, struct diags *ds)
{
    const struct sim_launch *was = t->l;
    struct sim_launch l = *was;
    l.chosen = (struct sim_chosen){ UINT32_MAX, false, false };
    l.cut = cut;
    l.cut.turns = turns;
    t->l = &l;
    enum status st = run_once(t, WAY_WHOLE, 0, NULL, out, ds);
    t->l = was;
    return st;
}

/* Where the kernel is a loop of many equal turns: the launch with a few of them, extended. *done: it was. */
static enum status run_turns(struct timing_launch *t, struct sim_stats *out, bool *done,
                             struct diags *ds)
{
    struct sim_cut cut;
    uint64_t turns = 0;
    double insts = 0;
    *done = false;
    if (!sim_can_skip(t->p) || copies_tensors(t->p) || !fits_l2(t) || !timing_turns_find(t->p, &cut))
        return ST_OK;
    enum status st = count_turns(t, cut, &turns, &insts, ds);
    if (st != ST_OK || turns < TURNS_LEAST || insts <= UNSURE_LIMIT)
        return st;
    struct sim_stats fewer = { 0 };
    *done = true;
    st = run_cut(t, cut, TURNS_BEFORE, &fewer, ds);
    if (st == ST_OK)
        st = run_cut(t, cut, TURNS_TIMED, out, ds);
    if (st == ST_OK)
        timing_turns_extend(out, &fewer, TURNS_TIMED, TURNS_BEFORE, turns);
    sim_stats_free(&fewer);
    return st;
}

/* A sample on few SMs says how many instructions the launch has. */
static enum status run_products(struct timing_launch *t, struct sim_stats *out, struct diags *ds)
{
    bool done;
    enum status turned = run_turns(t, out, &done, ds);
    if (turned != ST_OK || done)
        return turned;
    enum status st = run_once(t, WAY_SUBSET, SAMPLE_SMS, NULL, out, ds);
    bool small = !(out->cycles_per_inst > 0) && out->inst_warp <= UNSURE_LIMIT;
    if (st != ST_OK)
        return st;
    return small ? run_once(t, WAY_WHOLE, 0, NULL, out, ds) : run_sample(t, WAY_WAVES, out, ds);
}

#define UNEVEN 0.1 /* deviation of the CTAs' instructions over their mean: which were sampled matters */

/* Whether few SMs may not stand for all: what is looked up lies where data say, so that the share of it
 * that others bring is a guess; CTAs differ in length; or two samples differ. */
static bool is_unsure(const struct timing_launch *t)
{
    return !t->p->timing_ignores_data || t->uneven > UNEVEN || t->apart > TYPICAL;
}

/* Runs a sample on few SMs first. A small launch, and one that is not much larger and that the sample may
 * not stand for, is then run whole; where the sample cost little, it is taken again on more SMs. Where tasks are claimed, each SM runs a part of the grid of its own,
 * and SMs that share data lie up to a few places apart: the first four have neighbours alone. */
static enum status run_subset(struct timing_launch *t, struct sim_stats *out, struct diags *ds)
{
    enum status st = run_sample(t, WAY_SUBSET, out, ds);
    bool made = out->made;
    if (st != ST_OK || out->cycles_per_inst > 0)
        return st;
    if (out->inst_warp <= (is_unsure(t) ? UNSURE_LIMIT : WHOLE_LIMIT) || t->endless) {
        t->endless = false;
        out->again = made;
        return made ? st : run_once(t, WAY_WHOLE, 0, NULL, out, ds);
    }
    double done = (double)out->inst_warp * out->sample_share / NGROUPS;
    double budget = t->claims ? SAMPLE_TASKS : SAMPLE_BUDGET;
    if (done * SAMPLE_MORE / SAMPLE_SMS <= budget)
        st = run_once(t, WAY_SUBSET, SAMPLE_MORE, NULL, out, ds);
    out->made = made;
    return st;
}

enum status timing_run(struct sim_program *p, const struct sim_launch *l, struct sim_stats *out,
                       struct diags *ds)
{
    struct timing_launch t;
    enum status st = set_up(&t, p, l, ds);
    if (st == ST_OK && t.warps_per_cta * t.ctas_per_sm > WHEEL_WARPS) {
        timing_plan_free(&t.plan); /* a cluster larger than an SM is made to be: its time is n/a */
        *out = (struct sim_stats){ .time_ns = NAN, .cycles = NAN };
        return exec_run(p, l, out, ds);
    }
    enum talk talk = st == ST_OK ? talk_of(p) : TALK_OTHER;
    enum way way = st == ST_OK ? choose_way(&t, talk) : WAY_WHOLE;
    t.claims = talk == TALK_CLAIMS;
    t.endless = way != WAY_WHOLE && talk == TALK_CLAIMS && !p->own_tasks;
    bool sampled = st == ST_OK && way == WAY_SUBSET;
    if (sampled && !t.endless && makes_products(&t))
        st = run_products(&t, out, ds);
    else if (st == ST_OK)
        st = sampled ? run_subset(&t, out, ds) : run_once(&t, way, 0, NULL, out, ds);
    timing_plan_free(&t.plan);
    return st;
}
