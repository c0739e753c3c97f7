/* What a rewrite changes against what a kernel sees: special registers, and waiting for other CTAs.
 * changes.def has the rows. */
#include "engine/analysis/alias.h"
#include "engine/pass/pass_int.h"
#include "engine/pass/taint.h"
#include "engine/ptx/flow/asks.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/device.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_memory.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/rec/opt_prefetch.h"
#include "engine/rec/opt_schedule.h"
#include "engine/rec/opt_shared.h"
#include "engine/rec/opt_softcache.h"

struct change {
    const struct pass_row *row;
    const char *option;
    bool (*asked)(const struct options *o);
    unsigned changes, own;
};
#define PASTE_(a, b) a##b
#define PASTE(a, b)  PASTE_(a, b)
#define CHANGE(pass, option, condition, changes, own)            \
    static bool PASTE(asked_, __LINE__)(const struct options *o) \
    {                                                            \
        return condition;                                        \
    }
#include "engine/pass/changes.def"
#undef CHANGE
static const struct change table[] = {
#define CHANGE(pass, option, condition, changes, own) \
    { &pass_row_##pass, option, PASTE(asked_, __LINE__), changes, own },
#include "engine/pass/changes.def"
#undef CHANGE
};

static const char *reason(unsigned kind)
{
    switch (kind) {
    case PTX_SEES_PLACE:
    case PTX_SEES_SLOT: return "the kernel depends on where its CTAs run";
    case PTX_SEES_SHARED: return "the kernel depends on the size of shared memory";
    case PTX_SEES_CLUSTER:
    case PTX_SEES_CLUSTERID: return "the kernel depends on the hardware cluster";
    case PTX_SEES_LAUNCH: return "a cooperative grid, or a parameter of the launch, would change";
    case PTX_SEES_WARP: return "the kernel depends on the block shape here";
    default: return "its value would change";
    }
}

static const char *kind_of_wait(const struct pass_wait *w)
{
    return w->kind == WAIT_GRID_BARRIER ? "grid barrier"
           : w->kind == WAIT_LOCK       ? "lock"
           : w->kind == WAIT_FLAG ? "waits for another CTA's flag (stream-K fix-up, or a chained scan)"
                                  : "waits";
}

static const char *danger(unsigned changes)
{
    return changes & PASS_SERIAL
               ? "which may not have started: their work is done one after the other here"
           : changes & (PASS_ORDER | PASS_THREADS)
               ? "which start in another order after this rewrite"
               : "and this rewrite may leave too few of them resident";
}

/* Why a kernel that waits ends after such changes all the same; NULL: it may not. A thread that has a
 * lock has started; threads of one warp may hold each other up, so they stay where they are. */
static const char *progress(unsigned changes, const struct pass_wait *w)
{
    if (w->kind == WAIT_LOCK && !(changes & PASS_THREADS))
        return "whoever has the lock has started, and gives it back without waiting";
    if (w->cluster && !(changes & (PASS_THREADS | PASS_SERIAL)))
        return "it waits for CTAs of its own cluster alone, which start together and stay together";
    return NULL;
}

static enum status check_wait(struct pass_ctx *c, const struct change *x, const struct pass_wait *w)
{
    unsigned all = PASS_ORDER | PASS_RESIDENT | PASS_THREADS | PASS_SERIAL, changes = x->changes & all;
    const char *proof = w->at && changes ? progress(changes, w) : NULL;
    if (proof) {
        c->progress = proof;
        c->progress_of = x->option;
    }
    if (!w->at || !changes || proof)
        return ST_OK;
    if ((x->changes & PASS_COPIES) && !ptx_is_strong(w->at) && ptx_effect_of(w->at) == EFFECT_LOAD)
        return pass_refuse(
            c, w->at->at, "wait by a volatile or relaxed load",
            "%s at line %u: a loop may wait here for other CTAs by a weak load, which may "
            "be answered from a copy (%s)",
            kind_of_wait(w), pass_line(c, w->at->at.line), x->option);
    if (changes == PASS_RESIDENT) { /* what is launched in the end decides: pass_check_resident */
        c->owing = c->owing ? c->owing : x->row;
        c->owing_option = c->owing_option ? c->owing_option : x->option;
        return ST_OK;
    }
    return pass_refuse(c, w->at->at, NULL, "%s at line %u: a loop may wait here for other CTAs, %s (%s)",
                       kind_of_wait(w), pass_line(c, w->at->at.line), danger(changes), x->option);
}

/* ---- special registers ---- */
/* Others see that this was executed. */
static bool is_seen(const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    if (ptx_is(i, IS_MBARRIER_WAIT))
        return false;
    return (e != EFFECT_NONE && e != EFFECT_LOAD && e != EFFECT_BRANCH && e != EFFECT_PREFETCH &&
            e != EFFECT_FENCE && !ptx_is(i, IS_SLEEP)) ||
           ptx_is_opaque(i);
}

static bool block_is_seen(const struct pass_flow *fl, const struct ptx_block *b)
{
    for (uint32_t k = b->first; k < b->first + b->n; k++)
        if (is_seen(&fl->f->insts[k]))
            return true;
    return false;
}

/* Something that is seen stands on one way alone behind a branch that follows from it, or follows from
 * which way was taken. */
static bool parts_what_is_seen(struct pass_taint *t)
{
    const struct ptx_cfg *g = t->fl->cfg;
    bool any = false;
    for (uint32_t b = 0; b < g->nblocks; b++)
        any |= t->branch[b];
    for (uint32_t k = 0; any && k < t->fl->f->ninsts; k++)
        if (is_seen(&t->fl->f->insts[k]) && pass_taint_reads(t, &t->fl->f->insts[k]))
            return true;
    for (uint32_t b = 0; b < g->nblocks; b++) {
        if (!t->branch[b])
            continue;
        ptx_region_take(&t->region, b);
        for (uint32_t n = 0; n < t->region.n; n++)
            if (block_is_seen(t->fl, &g->blocks[t->region.list[n]]))
                return true;
    }
    return false;
}

/* Does what this instruction writes decide an address, what is seen, or go where it cannot be followed?
 * A pause between two looks at a barrier decides nothing. */
static bool decides(struct pass_ctx *c, const struct pass_flow *fl, const struct ptx_inst *from)
{
    struct pass_taint t;
    bool yes = false;
    if (!pass_taint_make(&t, c, fl))
        return true;
    pass_taint_source(&t, from);
    pass_taint_run(&t);
    for (uint32_t k = 0; k < fl->f->ninsts && !yes; k++) {
        const struct ptx_inst *i = &fl->f->insts[k];
        const struct ptx_operand *a = inst_address(i);
        enum ptx_effect e = ptx_effect_of(i);
        bool seen = is_seen(i);
        yes = (i->guarded && t.reg[i->guard] && seen) ||
              (a && a->base == BASE_REG && t.reg[a->index] && (seen || e == EFFECT_LOAD)) ||
              ((e == EFFECT_CALL || e == EFFECT_EXIT) && pass_taint_reads(&t, i)) ||
              (e == EFFECT_STORE && i->space == PTX_SPACE_PARAM && pass_taint_reads(&t, i));
    }
    yes = yes || parts_what_is_seen(&t);
    pass_taint_free(&t);
    return yes;
}

static enum status check_operand(struct pass_ctx *c, const struct change *x, const struct pass_flow *fl,
                                 const struct ptx_inst *i, const struct ptx_operand *o)
{
    unsigned sees = o->kind == OPND_SREG ? ptx_sreg_sees((enum ptx_sreg)o->index) : 0;
    if (sees & x->changes & ~x->own)
        return pass_refuse(c, i->at, NULL, "%s is read here: %s (%s)",
                           ptx_sreg_name((enum ptx_sreg)o->index), reason(sees), x->option);
    if ((sees & (PTX_SEES_TIME | PTX_SEES_PLACE | PTX_SEES_SLOT)) && o->index != PTX_SREG_NSMID &&
        o->index != PTX_SREG_NWARPID && decides(c, fl, i))
        return pass_refuse(
            c, i->at, NULL,
            "%s is read here and decides a branch or an address: every rewrite changes it (%s)",
            ptx_sreg_name((enum ptx_sreg)o->index), x->option);
    return ST_OK;
}

/* A number as an address of shared memory, or what is computed from numbers alone: it holds for one
 * layout of the variables. */
static enum status check_absolute(struct pass_ctx *c, const struct change *x, const struct ptx_func *f)
{
    for (uint32_t k = 0; k < f->ninsts && (x->changes & PTX_SEES_SHARED); k++) {
        const struct ptx_operand *a = inst_address(&f->insts[k]);
        struct alias_roots r = { 0 };
        bool shared = a && f->insts[k].space == PTX_SPACE_SHARED;
        if (shared && a->base == BASE_REG && pass_alias(c))
            alias_roots(pass_alias(c), f, a, &r);
        if (shared && (a->base == BASE_IMM || (a->base == BASE_REG && r.number)))
            return pass_refuse(c, f->insts[k].at, NULL,
                               "a number is used as a shared-memory address here, of no variable: the "
                               "variables would move (%s)",
                               x->option);
    }
    return ST_OK;
}

/* A CTA that takes over others before they start gets their numbers as the hardware counts. */
static enum status check_takeover(struct pass_ctx *c, const struct change *x, const struct ptx_func *f)
{
    unsigned moves = PTX_SEES_CTA | PTX_SEES_GRID | PASS_THREADS | PASS_SERIAL;
    for (uint32_t k = 0; k < f->ninsts && (x->changes & moves); k++)
        if (ptx_is(&f->insts[k], IS_TAKEOVER))
            return pass_refuse(
                c, f->insts[k].at, NULL,
                "the kernel takes over CTAs that have not started here; their numbers would "
                "be those before the rewrite (%s)",
                x->option);
    return ST_OK;
}

static bool reads_special(const struct ptx_func *f)
{
    for (uint32_t k = 0; k < f->ninsts; k++)
        for (uint8_t n = 0; n < f->insts[k].nopnds; n++)
            if (f->insts[k].opnds[n].kind == OPND_SREG || f->insts[k].opnds[n].kind == OPND_VEC)
                return true;
    return false;
}

static enum status check_func(struct pass_ctx *c, const struct change *x, const struct ptx_func *f)
{
    struct pass_flow fl;
    enum status s = check_absolute(c, x, f);
    if (s == ST_OK)
        s = check_takeover(c, x, f);
    if (s != ST_OK || !reads_special(f))
        return s;
    if (!pass_flow_make(f, &fl))
        return ST_NOMEM;
    for (uint32_t k = 0; k < f->ninsts && s == ST_OK; k++)
        for (uint8_t n = 0; n < f->insts[k].nopnds && s == ST_OK; n++) {
            const struct ptx_operand *o = &f->insts[k].opnds[n];
            s = check_operand(c, x, &fl, &f->insts[k], o);
            for (uint16_t e = 0; o->kind == OPND_VEC && e < o->nelem && s == ST_OK; e++)
                s = check_operand(c, x, &fl, &f->insts[k], &o->elem[e]);
        }
    return s;
}

enum status pass_check_changes(struct pass_ctx *c)
{
    struct pass_funcs fs;
    bool declared = false;
    enum status s = ST_OK;
    pass_callees(c, &fs);
    for (size_t k = 0; k < ARRAY_LEN(table) && s == ST_OK; k++) {
        const struct change *x = &table[k];
        if (x->row != c->row || !x->asked(c->opt))
            continue;
        declared = true;
        for (uint32_t n = 0; n <= fs.n && s == ST_OK; n++)
            s = check_func(c, x, n ? fs.v[n - 1] : c->f);
        if (s == ST_OK && (x->changes & (PASS_ORDER | PASS_RESIDENT | PASS_THREADS | PASS_SERIAL))) {
            if (!c->wait_known)
                pass_find_wait(c, &c->wait);
            c->wait_known = true;
            s = check_wait(c, x, &c->wait);
        }
    }
    if (!declared)
        return pass_refuse(
            c, NO_SPAN, NULL,
            "pass %s does not declare what it changes (engine/pass/changes.def), so it is refused",
            c->row->info.name);
    return s;
}

/* A lock or a cluster holds for every launch. */
static void note_progress(struct pass_ctx *c)
{
    pass_note(c, c->wait.at->at, "%s at line %u: a loop waits here for other CTAs, and ends: %s (%s)",
              kind_of_wait(&c->wait), pass_line(c, c->wait.at->at.line), c->progress, c->progress_of);
}

/* ---- after the rewrite: are the CTAs resident that wait for each other? ---- */
/* Most registers that a thread may get: what the kernel allows, and no more than a launch can have. */
static uint32_t most_regs(const struct dev_info *d, const struct ptx_func *f, uint64_t threads)
{
    struct dev_bounds b = { ptx_threads_of(f), f->minnctapersm, f->maxnreg };
    uint32_t allowed = dev_regs_allowed(d, &b), launched = dev_regs_of_warps(d, (threads + 31) / 32);
    allowed = allowed < DEV_REGS_LEAST ? DEV_REGS_LEAST : allowed;
    return allowed < launched ? allowed : launched;
}

/* Of a text that is not changed, whatever its registers are: no fewer CTAs than without the options. */
static bool as_many_as_before(const struct pass_ctx *c, const struct dev_cta *after, uint32_t most)
{
    struct dev_cta now = *after, before = *after;
    before.shared = after->shared - c->out->shared + launch_shared(c->in->launch);
    before.carveout = -1;
    for (uint32_t regs = 1; regs <= most; regs++) {
        now.regs = before.regs = regs;
        if (dev_resident(c->in->dev, &now).ctas < dev_resident(c->in->dev, &before).ctas)
            return false;
    }
    return true;
}

enum status pass_check_resident(struct pass_ctx *c, const struct ptx_module *m, const struct ptx_func *f)
{
    const struct dev_info *d = c->in->dev;
    if (!c->owing)
        return ST_OK;
    struct dev_cta cta = pass_cta(c, m, f);
    struct span at = c->wait.at->at;
    c->row = c->owing; /* it speaks of a place in the original */
    c->m = c->in->module;
    c->lines = NULL;
    if (!d || !c->in->launch || !dev_resident_known(d))
        return pass_refuse(c, at, "choose a device, and give the launch",
                           "%s at line %u: a loop may wait here for other CTAs, %s (%s)",
                           kind_of_wait(&c->wait), at.line, danger(PASS_RESIDENT), c->owing_option);
    cta.regs = most_regs(d, f, cta.threads);
    struct dev_resident r = dev_resident(d, &cta);
    uint64_t ctas = dim3u_count(c->out->grid);
    if (ctas > r.ctas && (m != c->in->module || !as_many_as_before(c, &cta, cta.regs)))
        return pass_refuse(
            c, at, NULL,
            "%s at line %u: a loop may wait here for other CTAs, %s (%s): %llu of %llu, %u on each of "
            "%u SMs with up to %u registers a thread, bound by %s",
            kind_of_wait(&c->wait), at.line, danger(PASS_RESIDENT), c->owing_option,
            (unsigned long long)r.ctas, (unsigned long long)ctas, r.ctas_per_sm, d->sms, cta.regs,
            dev_limit_name(r.limit));
    pass_warn(c, at, "%s at line %u: a loop waits here for other CTAs, and ends: %s (%s)",
              kind_of_wait(&c->wait), at.line,
              ctas > r.ctas ? "as many CTAs are resident at once as without the rewrite"
                            : "all CTAs of this launch are resident at once on this device",
              c->owing_option);
    return ST_OK;
}

void pass_note_changes(struct pass_ctx *c)
{
    struct pass_funcs fs;
    if (c->progress)
        note_progress(c);
    pass_callees(c, &fs);
    for (uint32_t n = 0; n <= fs.n; n++) {
        const struct ptx_func *f = n ? fs.v[n - 1] : c->f;
        for (uint32_t k = 0; k < f->ninsts; k++)
            for (uint8_t o = 0; o < f->insts[k].nopnds; o++) {
                const struct ptx_operand *p = &f->insts[k].opnds[o];
                bool told = p->kind == OPND_SREG &&
                            (ptx_sreg_sees((enum ptx_sreg)p->index) &
                             (PTX_SEES_TIME | PTX_SEES_PLACE | PTX_SEES_SLOT)) &&
                            p->index != PTX_SREG_NSMID && p->index != PTX_SREG_NWARPID;
                if (!told)
                    continue;
                pass_warn(c, f->insts[k].at,
                          "%s is read here: every rewrite changes it, so stored values of it cannot be "
                          "compared",
                          ptx_sreg_name((enum ptx_sreg)p->index));
                return;
            }
    }
}
