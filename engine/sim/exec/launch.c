/* Launches, workers, CTAs. */
#include "engine/ptx/ptx.h"
#include "engine/rec/device.h"
#include "engine/sim/exec/chosen.h"
#include "engine/sim/exec/cluster.h"
#include "engine/sim/exec/hostile.h"
#include "engine/sim/exec/runtime/builtin.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/exec/sreg.h"
#include "engine/sim/mem.h"
#include "engine/sim/part.h"
#include "engine/sim/sides.h"
#include "engine/sim/sums.h"
#include <string.h>

#define PARKED 4096u /* CTAs that may wait for others at one time, where the device holds fewer */

/* ---- launch ---- */
static enum status launch_fill(struct exec_launch *x, struct sim_program *p, const struct sim_launch *l)
{
    uint64_t nctas = dim3u_count(l->grid) / x->cluster_ctas;
    x->cut = l->cut;
    x->least_turns = UINT64_MAX;
    x->chosen = l->functional ? l->chosen : (struct sim_chosen){ 0 };
    x->nctas = exec_chosen_count(x->chosen, nctas);
    x->warps_per_cta = (uint32_t)((dim3u_count(l->block) + WARP_LANES - 1) / WARP_LANES);
    x->shared_bytes = p->shared_static + l->shared;
    x->local_bytes = p->local_bytes;
    if (p->part && x->shared_bytes > p->part->most_shared)
        x->shared_bytes = p->part->most_shared;
    if (p->part && x->local_bytes > p->part->most_local)
        x->local_bytes = p->part->most_local;
    x->nparams = p->funcs[0].ptx->param_bytes;
    x->params = base_alloc(x->nparams + 64);
    x->loads = base_alloc((p->nloads + 1) * sizeof *x->loads);
    x->threads = l->threads ? l->threads : base_cpus();
    for (uint32_t i = 0; i < p->ncode; i++)
        x->reads_time |= p->code[i].reads_time;
    uint64_t held = p->part ? 1 : sim_resident(p, l).ctas / x->cluster_ctas;
    x->resident = (uint32_t)(held > PARKED ? held : PARKED);
    x->checks = l->check_uninit || l->check_races || (l->functional && l->touch.fn);
    x->sums = l->functional ? l->sums : NULL;
    sim_sums_begin(x->sums);
    x->sides = l->functional ? l->sides : NULL;
    if (x->sides && !sim_sides_begin(x->sides, p))
        return ST_NOMEM;
    x->serial = p->ordered || l->check_uninit || l->check_races || x->sums || x->sides;
    exec_hostile_begin(x);
    x->threads = x->serial ? 1 : x->threads;
    atomic_init(&x->faulted, false);
    atomic_init(&x->astray, false);
    atomic_init(&x->spent, 0);
    atomic_init(&x->fault_cta, UINT64_MAX);
    if (!x->params || !x->loads || !exec_check_launch(x))
        return ST_NOMEM;
    memcpy(x->params, l->params, l->nparams < x->nparams ? l->nparams : x->nparams);
    if (!exec_launch_sregs(x))
        return ST_NOMEM;
    for (uint32_t i = 0; i < p->nloads; i++) {
        const struct exec_inst *in = p->loads[i];
        x->loads[i].func = in->func->ptx->index;
        x->loads[i].inst = in->ptx->index;
        x->loads[i].line = in->ptx->at.line;
    }
    return ST_OK;
}

enum status exec_launch_new(struct sim_program *p, const struct sim_launch *l, struct exec_launch **out,
                            struct diags *ds)
{
    struct exec_launch *x = base_alloc(sizeof *x);
    *out = x;
    if (!x)
        return ST_NOMEM;
    pthread_mutex_init(&x->lock, NULL);
    x->p = p;
    x->l = l;
    enum status st = exec_cluster_sizes(x, ds) ? launch_fill(x, p, l) : ST_USAGE;
    if (st == ST_NOMEM)
        diag_error(ds, "memory", "out of memory for the launch");
    if (st != ST_OK) {
        exec_launch_free(x);
        *out = NULL;
    }
    return st;
}

void exec_launch_free(struct exec_launch *x)
{
    if (!x)
        return;
    for (size_t i = 0; i < x->nprints; i++)
        base_free(x->prints[i].text);
    exec_check_free(x);
    exec_heap_free(x);
    exec_hostile_end(x);
    BASE_FREE(x->prints, x->params, x->sregs, x->loads);
    pthread_mutex_destroy(&x->lock);
    base_free(x);
}

static void sort_prints(struct exec_launch *x)
{
    for (size_t i = 1; i < x->nprints; i++) {
        struct exec_print e = x->prints[i];
        size_t k = i;
        for (; k && x->prints[k - 1].cta > e.cta; k--)
            x->prints[k] = x->prints[k - 1];
        x->prints[k] = e;
    }
}

void exec_launch_stats(struct exec_launch *x, struct sim_stats *out)
{
    struct buf all = { 0 };
    sort_prints(x);
    for (size_t i = 0; i < x->nprints; i++)
        buf_put(&all, x->prints[i].text, x->prints[i].n);
    out->nprint = all.n;
    out->print = all.n ? buf_take(&all) : NULL;
    buf_free(&all);
    out->least_turns = x->least_turns;
    out->most_turns = x->most_turns;
    out->ctas = x->nctas;
    out->all_ctas = dim3u_count(x->l->grid) / x->cluster_ctas;
    out->inst_warp = x->inst_warp;
    out->inst_thread = x->inst_thread;
    memcpy(out->inst_of_warp, x->inst_of_warp, sizeof out->inst_of_warp);
    out->loads = x->loads;
    out->nloads = x->p->nloads;
    x->loads = NULL;
}

/* ---- workers ---- */
struct exec_worker *exec_worker_new(struct exec_launch *x)
{
    struct exec_worker *k = base_alloc(sizeof *k);
    if (!k)
        return NULL;
    k->x = x;
    k->loads = base_alloc((x->p->nloads + 1) * sizeof *k->loads);
    k->cache = base_alloc((x->p->nmem + 1) * (sizeof *k->cache + sizeof(uint64_t)));
    if (!k->loads || !k->cache) {
        BASE_FREE(k->loads, k->cache, k);
        return NULL;
    }
    return k;
}

struct exec_worker *exec_worker_new_private(struct exec_launch *x)
{
    struct exec_worker *k = exec_worker_new(x);
    if (k)
        k->private_view = true;
    return k;
}

void exec_worker_lean(struct exec_worker *k)
{
    k->lean = true;
}
bool exec_launch_escaped_region(const struct exec_launch *x)
{
    return atomic_load(&x->astray);
}

void exec_worker_free(struct exec_worker *k)
{
    if (!k)
        return;
    struct exec_launch *x = k->x;
    pthread_mutex_lock(&x->lock);
    x->inst_warp += k->inst_warp;
    x->inst_thread += k->inst_thread;
    for (uint32_t i = 0; i < SIM_CTA_WARPS; i++)
        x->inst_of_warp[i] += k->inst_of_warp[i];
    for (uint32_t i = 0; x->loads && i < x->p->nloads; i++) {
        /* machine code counts loads by all lanes in one place: `requests` */
        const struct sim_load_stats *l = &k->loads[i];
        x->loads[i].executions += l->executions + l->requests;
        x->loads[i].threads += l->threads + WARP_LANES * l->requests;
    }
    pthread_mutex_unlock(&x->lock);
    frame_free_all(k);
    for (size_t i = 0; i < k->nviews; i++)
        sim_mem_view_free(k->views[i].host, k->views[i].mapped);
    BASE_FREE(k->tensor.late, k->tensor.box, k->tensor.factors, k->views, k->loads, k->cache, k);
}

/* ---- CTAs ---- */
static bool cta_memory(struct exec_cta *c)
{
    struct exec_launch *x = c->x;
    uint32_t n = c->nwarps;
    c->warps = base_alloc(n * sizeof *c->warps);
    c->bar_words = base_alloc(EXEC_MAX_BARRIERS * n * sizeof *c->bar_words);
    c->shared = base_alloc(x->shared_bytes + 64);
    c->locals = base_alloc((size_t)n * WARP_LANES * x->local_bytes + 64);
    if (!c->warps || !c->bar_words || !c->shared || !c->locals)
        return false;
    for (uint32_t i = 0; i < EXEC_MAX_BARRIERS; i++)
        c->bar[i].arrived = c->bar_words + i * n;
    for (uint32_t i = 0; i < n; i++) {
        struct exec_warp *w = &c->warps[i];
        uint64_t threads = dim3u_count(x->l->block) - (uint64_t)i * WARP_LANES;
        *w = (struct exec_warp){ .cta = c, .k = c->k, .x = x, .index = i, .lean = c->k->lean };
        w->frag = w->two;
        w->born = threads >= WARP_LANES ? EXEC_FULL : (1u << threads) - 1;
        bank_set(w, BANK_CONST, x->p->constants);
        w->local = c->locals + (size_t)i * WARP_LANES * x->local_bytes;
        w->root = frame_new(c->k, &x->p->funcs[0], NULL, w->born);
        if (!w->root)
            return false;
    }
    return exec_cta_sregs(c) && exec_check_cta(c);
}

/* As many as branches back, and the last turn. */
static void note_turns(struct exec_launch *x, uint32_t branches)
{
    pthread_mutex_lock(&x->lock);
    x->least_turns = branches + 1ull < x->least_turns ? branches + 1ull : x->least_turns;
    x->most_turns = branches + 1ull > x->most_turns ? branches + 1ull : x->most_turns;
    pthread_mutex_unlock(&x->lock);
}

static void cta_account(struct exec_cta *c)
{
    for (uint32_t i = 0; c->warps && i < c->nwarps; i++) {
        c->k->inst_warp += c->warps[i].ninst;
        if (i < SIM_CTA_WARPS)
            c->k->inst_of_warp[i] += c->warps[i].ninst;
        c->k->inst_thread += c->warps[i].nthread;
        if (c->x->cut.on && c->warps[i].ninst)
            note_turns(c->x, c->warps[i].turns);
        c->warps[i].ninst = c->warps[i].nthread = 0;
    }
    if (!c->print.n)
        return;
    struct exec_launch *x = c->x;
    pthread_mutex_lock(&x->lock);
    if (base_grow((void **)&x->prints, x->nprints, &x->cap_prints, sizeof *x->prints)) {
        size_t n = c->print.n;
        char *text = buf_take(&c->print);
        if (text)
            x->prints[x->nprints++] = (struct exec_print){ c->index, text, n };
    }
    pthread_mutex_unlock(&x->lock);
}

/* Frames of calls that a fault cut short go back too. */
static void warp_frames_back(struct exec_warp *w)
{
    for (uint32_t i = 0; i < w->nfrag; i++) {
        struct exec_frame *f = i == w->cur && w->runnable ? w->frame : w->frag[i].frame;
        uint32_t mask = i == w->cur && w->runnable ? w->mask : w->frag[i].mask;
        while (f && f->parent) {
            struct exec_frame *parent = f->parent;
            bool was = f->live != 0;
            f->live &= ~mask;
            if (was && !f->live)
                frame_release(w->k, f);
            f = parent;
        }
    }
    w->nfrag = 0;
}

static void cta_free(struct exec_cta *c)
{
    cta_account(c);
    for (uint32_t i = 0; c->warps && i < c->nwarps; i++) {
        warp_frames_back(&c->warps[i]);
        if (c->warps[i].root)
            frame_release(c->k, c->warps[i].root);
        if (c->warps[i].frag != c->warps[i].two)
            base_free(c->warps[i].frag);
        base_free(c->warps[i].watch.write);
    }
    exec_check_cta_free(c);
    buf_free(&c->print);
    BASE_FREE(c->warps, c->bar_words, c->shared, c->tmem, c->locals, c->sregs, c->peer, c);
}

void exec_cta_free(struct exec_cta *lead)
{
    if (!lead)
        return;
    for (uint32_t r = 1; lead->peer && r < lead->x->cluster_ctas; r++)
        if (lead->peer[r])
            cta_free(lead->peer[r]);
    cta_free(lead);
}

static struct exec_cta *cta_new(struct exec_worker *k, uint32_t rank, struct exec_cta *lead)
{
    struct exec_cta *c = base_alloc(sizeof *c);
    if (!c)
        return NULL;
    c->k = k;
    c->x = k->x;
    c->rank = rank;
    c->lead = lead ? lead : c;
    c->nwarps = k->x->warps_per_cta;
    if (cta_memory(c))
        return c;
    cta_free(c);
    return NULL;
}

struct exec_cta *exec_cta_new(struct exec_worker *k)
{
    struct exec_cta *lead = cta_new(k, 0, NULL);
    bool ok = lead && (lead->peer = base_alloc(k->x->cluster_ctas * sizeof(struct exec_cta *)));
    for (uint32_t r = 0; ok && r < k->x->cluster_ctas; r++)
        ok = (lead->peer[r] = r ? cta_new(k, r, lead) : lead) != NULL;
    if (ok)
        return lead;
    exec_cta_free(lead);
    return NULL;
}

static void warp_start(struct exec_warp *w)
{
    const struct exec_func *f = &w->x->p->funcs[0];
    struct exec_frame *g = w->root;
    warp_frames_back(w);
    for (uint32_t i = 0; i < f->nzero; i++)
        memset(g->regs + f->zero[i], exec_fresh(w->x, SIM_POISON_REGISTERS), 128);
    for (uint32_t i = 0; i < WARP_LANES; i++) {
        g->base[i] = 0;
        g->top[i] = f->local_bytes;
    }
    g->live = w->live = w->born;
    w->turns = 0;
    w->stop = w->settled = false;
    w->cluster_in = w->cluster_owed = 0;
    base_free(w->watch.write);
    w->watch.write = NULL;
    w->mbar.pc = EXEC_NO_ID;
    w->meet = (struct exec_meet){ 0 };
    w->memo.group = 0;
    w->memo.seq = EXEC_NO_ID;
    frame_load(w, g);
    frag_start(w, f->first, w->born);
}

static void cta_start(struct exec_cta *c, uint64_t cluster, uint32_t smid, uint32_t first_warpid)
{
    cta_account(c);
    exec_cluster_place(c, cluster);
    c->smid = smid;
    c->first_warpid = first_warpid;
    c->ended = 0;
    c->turn_warp = 0;
    c->spins = c->looks = c->passed = 0;
    c->parked = false;
    c->repeats = 0;
    c->fault = c->circles = c->refused = false;
    c->look = 0;
    if (c->x->sums && c->x->cluster_ctas == 1)
        sim_sums_cta(c->x->sums);
    memset(c->shared, exec_fresh(c->x, SIM_POISON_MEMORY), c->x->shared_bytes);
    if (c->x->hostile.poison)
        memset(c->locals, exec_fresh(c->x, SIM_POISON_MEMORY),
               (size_t)c->nwarps * WARP_LANES * c->x->local_bytes);
    base_free(c->tmem);
    c->tmem = NULL;
    memset(c->bar_words, 0, EXEC_MAX_BARRIERS * c->nwarps * sizeof *c->bar_words);
    for (uint32_t i = 0; i < EXEC_MAX_BARRIERS; i++) {
        c->bar[i].used = false;
        c->bar[i].count_true = 0;
    }
    exec_fill_sregs(c);
    for (uint32_t i = 0; i < c->nwarps; i++)
        warp_start(&c->warps[i]);
    c->cluster_used = false;
    exec_check_cta_start(c);
}

void exec_cta_start(struct exec_cta *lead, uint64_t index, uint32_t smid, uint32_t first_warpid,
                    bool apart)
{
    for (uint32_t r = 0; r < lead->x->cluster_ctas; r++)
        cta_start(lead->peer[r], index, smid + (apart ? r : 0),
                  first_warpid + (apart ? 0 : r * lead->nwarps));
}

enum status exec_fault_report(const struct exec_launch *x, struct diags *ds)
{
    if (!x->fault.set)
        exec_check_tell(x, ds);
    if (!x->fault.set)
        return ST_OK;
    struct diag *d =
        diag_add(ds, DIAG_ERROR, x->fault.code, x->p->module->path, x->fault.at, "%s", x->fault.msg);
    if (d && x->fault.at.line)
        diag_source(d, x->p->module->text);
    if (d)
        d->other_line = x->fault.other_line;
    if (d && x->fault.hint[0])
        diag_hint(d, "%s", x->fault.hint);
    return x->fault.status;
}
