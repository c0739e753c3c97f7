/* What becomes of each instruction of a slice, and the program that the executor makes of it. What it does
 * not know, or no launch says, is tainted: it is never guessed. */
#include "engine/analysis/slice/slice.h"
#include "engine/analysis/slice/slice_int.h"
#include "engine/analysis/symbolic/bulk.h"
#include "engine/analysis/symbolic/env.h"
#include "engine/analysis/symbolic/eval.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/launch_read.h"
#include "engine/sim/step.h"

/* A bulk copy's bytes are followed, and what it brings into shared memory is not. */
static bool is_followed_copy(const struct slice_func *f, const struct ptx_inst *i)
{
    struct bulk b;
    return bulk_parts(i, &b) && b.followed &&
           (b.kind == BULK_PREFETCH || !f->needed[f->nvars + i->index]);
}
/* Waits for mbarriers end at once: what they wait for comes at some time, and what was copied meanwhile
 * is not followed. */
static enum part_does mbarrier(struct slice *s, const struct ptx_inst *i)
{
    bool waits = ptx_is(i, IS_MBARRIER_WAIT);
    s->ends_waits |= waits;
    if (!i->nopnds || i->opnds[0].kind != OPND_REG)
        return PART_NOTHING;
    return waits ? PART_ONE : PART_ZERO;
}
/* What no launch description decides. Places are those of one SM that runs all CTAs. */
#define NOT_GIVEN (PTX_SEES_TIME | PTX_SEES_LAUNCH)
enum { PART_UNKNOWN = -1 };
static int does_barrier(struct slice *s, const struct ptx_inst *i)
{
    if (ptx_is(i, IS_MBARRIER))
        return mbarrier(s, i);
    if (ptx_role_of(i) == ROLE_WAIT_GROUP || ptx_is(i, IS_CLUSTER))
        return PART_NOTHING; /* copies are done at once; the CTAs of a cluster are by themselves */
    return ptx_is(i, IS_TCGEN05) ? PART_UNKNOWN : PART_ALL;
}
/* It loads a parameter that the launch does not give. */
static bool is_missing(const struct slice *s, const struct slice_func *f, const struct ptx_inst *i)
{
    const struct env *v = s->v;
    const struct ptx_operand *m = i->nopnds > 1 ? &i->opnds[1] : NULL;
    if (!m || !ptx_is_param_load(i) || !f->func->entry || !m->sym || m->sym->space != PTX_SPACE_PARAM ||
        !m->sym->func || !m->sym->func->entry)
        return false;
    uint64_t at = m->sym->offset + (uint64_t)m->imm;
    return at < v->nparams && !v->param_known[at];
}
/* Each thread's own bytes, in memory of its CTA or of the device. */
static bool is_own_access(const struct ptx_inst *i, bool place)
{
    if (ptx_is(i, IS_FRAGMENT))
        return place && !ptx_is(i, IS_WMMA);
    if (ptx_effect_of(i) == EFFECT_ATOMIC)
        return !ptx_is(i, IS_REMOTE | IS_MULTIMEM | IS_BULK);
    return ptx_is(i, IS_PLAIN | IS_READ_ONLY | IS_THREAD_COPY);
}
/* An access: its place when it is reported, all of it when its effect or its value matters. */
static int does_access(const struct slice_func *f, const struct ptx_inst *i, bool chosen)
{
    bool all =
        f->needed[f->nvars + i->index] || (ptx_effect_of(i) == EFFECT_LOAD && slice_defines(f, i));
    if (!is_own_access(i, chosen && !all))
        return all || chosen ? PART_UNKNOWN : PART_NOTHING;
    return all ? PART_ALL : chosen ? PART_PLACE : PART_NOTHING;
}
static int does_copy(const struct slice_func *f, const struct ptx_inst *i, bool chosen)
{
    struct bulk b;
    if (ptx_is(i, IS_THREAD_COPY))
        return does_access(f, i, chosen);
    if (!bulk_parts(i, &b)) {
        bool matters = chosen || f->needed[f->nvars + i->index];
        return matters && ptx_is(i, IS_BULK) && ptx_role_of(i) == ROLE_NONE ? PART_UNKNOWN
                                                                            : PART_NOTHING;
    }
    return !is_followed_copy(f, i) ? PART_UNKNOWN : chosen ? PART_TELL : PART_NOTHING;
}
/* Addresses in other CTAs' memory, and which of global and constant memory one is in, are known to the
 * device alone. */
static int does_value(const struct ptx_inst *i)
{
    bool window = ptx_role_of(i) == ROLE_WINDOW_TEST &&
                  (ptx_has_mod(i, PTX_MOD_CONST) || ptx_has_mod(i, PTX_MOD_GLOBAL));
    return window || ptx_is(i, IS_REMOTE) ? PART_UNKNOWN : PART_ALL;
}
/* enum part_does of an instruction that is wanted; PART_UNKNOWN: what it does is not known. */
static int does_wanted(struct slice *s, const struct slice_func *f, const struct ptx_inst *i)
{
    const struct slice_site *x = slice_site_of(s, f->index, i->index);
    bool chosen = x && x->chosen, bulk = ptx_is(i, IS_BULK);
    switch (ptx_effect_of(i)) {
    case EFFECT_LOAD: return is_missing(s, f, i) ? PART_UNKNOWN : does_access(f, i, chosen);
    case EFFECT_STORE:
    case EFFECT_ATOMIC: return bulk ? does_copy(f, i, chosen) : does_access(f, i, chosen);
    case EFFECT_PREFETCH:
        return bulk                                                   ? does_copy(f, i, chosen)
               : chosen && i->nopnds && i->opnds[0].kind == OPND_ADDR ? PART_PLACE
                                                                      : PART_NOTHING;
    case EFFECT_ASYNC_COPY: return does_copy(f, i, chosen);
    case EFFECT_BARRIER: return does_barrier(s, i);
    case EFFECT_CALL: return slice_callee(s, i) ? PART_ALL : PART_UNKNOWN;
    case EFFECT_FENCE: return PART_NOTHING;
    case EFFECT_NONE: return does_value(i);
    case EFFECT_BRANCH:
    case EFFECT_EXIT:
    case EFFECT_WARP: return PART_ALL;
    default: return ptx_is(i, IS_SLEEP) ? PART_NOTHING : PART_UNKNOWN;
    }
}
static void not_modelled(struct slice *s, struct slice_func *f, const struct ptx_inst *i)
{
    enum ptx_effect fx = ptx_effect_of(i);
    slice_not_known(s, f, i, NOT_KNOWN);
    if (fx == EFFECT_BRANCH || fx == EFFECT_CALL || f->needed[f->nvars + i->index] ||
        fx == EFFECT_BARRIER)
        s->refused = eval_inst_text(s->v->e, f->func, i);
    struct slice_site *x = (struct slice_site *)(uintptr_t)slice_site_of(s, f->index, i->index);
    if (x)
        x->tainted = true;
}
static void odd(void *ctx, const struct ptx_func *func, const struct ptx_inst *i)
{
    struct slice *s = ctx;
    not_modelled(s, s->of[func->index], i);
}
static enum part_does does(void *ctx, const struct ptx_func *func, const struct ptx_inst *i)
{
    struct slice *s = ctx;
    const struct slice_func *f = s->of[func->index];
    int r = f && slice_wants(s, f, i) ? does_wanted(s, f, i) : PART_NOTHING;
    if (r == PART_UNKNOWN)
        odd(ctx, func, i);
    if (r == PART_ALL && ptx_sees(i) & NOT_GIVEN)
        slice_not_known(s, s->of[func->index], i, NO_LAUNCH_SAYS);
    if (f && r == PART_ALL && f->needed[f->nvars + i->index] &&
        (i->space == PTX_SPACE_GLOBAL || i->space == PTX_SPACE_GENERIC))
        s->global_writes = true;
    return r == PART_UNKNOWN ? PART_NOTHING : (enum part_does)r;
}
static bool placed(void *ctx, const struct ptx_symbol *sym, uint64_t *addr)
{
    struct slice *s = ctx;
    return env_symbol(s->v, sym, addr);
}
static void stray(void *ctx)
{
    struct slice *s = ctx;
    __atomic_fetch_add(&s->outside, 1, __ATOMIC_RELAXED);
}

/* ---- what runs it ---- */
/* No GPU has more of it: what a text declares beyond is never reached by an address that is followed. */
#define MOST_SHARED (4u << 20)   /* bytes of a CTA */
#define MOST_LOCAL  (512u << 10) /* bytes of a thread */
/* By instruction of the program: which access is reported there, and how many before it do anything. */
static bool number_code(struct slice *s, struct slice_machine *m)
{
    const struct sim_program *p = m->program;
    m->at = ARENA_ARRAY(s->arena, int32_t, p->ncode + 1);
    m->work = ARENA_ARRAY(s->arena, uint32_t, p->ncode + 1);
    for (uint32_t k = 0; m->at && m->work && k < p->ncode; k++) {
        const struct exec_inst *in = &p->code[k];
        const struct slice_site *x = slice_site_of(s, in->func->ptx->index, in->ptx->index);
        bool last = k + 1 == p->ncode || p->code[k + 1].func != in->func; /* stands for ret */
        m->at[k] = x && x->chosen && !last ? (int32_t)(x - s->site) : -1;
        m->work[k + 1] = m->work[k] + (in->lean != NULL);
    }
    return m->at && m->work;
}
static enum status load(struct slice *s, struct slice_machine *m, struct diags *ds)
{
    const struct env *v = s->v;
    m->part = (struct part){ .ctx = s,
                             .does = does,
                             .odd = odd,
                             .place = placed,
                             .at = slice_bytes_at,
                             .stray = stray,
                             .shared = v->shared_static,
                             .most_shared = MOST_SHARED,
                             .most_local = MOST_LOCAL };
    m->launch =
        (struct sim_launch){ .grid = v->grid,
                             .block = v->block,
                             .cluster = v->data ? launch_cluster(v->data->spec) : (struct dim3u){ 0 },
                             .shared = v->shared_dynamic,
                             .params = v->params,
                             .nparams = v->nparams,
                             .functional = true,
                             .threads = 1,
                             .carveout = -1,
                             .hw_pi = -1,
                             .cancel = v->e->cancel };
    enum status st = sim_load_part(v->e->module, v->e->kernel, &m->part, &m->program, ds);
    if (st == ST_OK)
        st = exec_launch_new(m->program, &m->launch, &m->x, ds);
    if (st != ST_OK)
        return st;
    if (s->global_writes && (m->worker = exec_worker_new(m->x)))
        exec_worker_lean(m->worker);
    return number_code(s, m) && (m->worker || !s->global_writes) ? ST_OK : ST_NOMEM;
}

enum status slice_machine_make(struct slice *s)
{
    struct diags ds = { 0 };
    if (!(s->machine = base_alloc(sizeof *s->machine)))
        return ST_NOMEM;
    enum status st = load(s, s->machine, &ds);
    if (st != ST_OK && st != ST_NOMEM) {
        s->refused = ds.n ? arena_dup(s->v->e->arena, str_of(ds.v[0].msg)) : "what the kernel calls";
        st = ST_OK;
    }
    diags_free(&ds);
    return st;
}

void slice_machine_free(struct slice_machine *m)
{
    if (!m)
        return;
    exec_worker_free(m->worker);
    exec_launch_free(m->x);
    sim_unload(m->program);
    base_free(m);
}
