/* The run loops: one instruction with its record (exec_step), or as many as it takes (exec_cta_run). */
#include "engine/ptx/meaning.h"
#include "engine/sim/exec/cluster.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/hostile.h"
#include "engine/sim/exec/native/native.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/sides.h"

#define WARP_SLICE 8192u /* instructions before the next warp of the CTA */
#define SPIN_SLICE 256u  /* spinning instructions that end a slice */
/* such slices per warp, and no other, before the CTA is said to wait for another */
#define SPIN_ROUNDS 4u
/* Once a CTA was found waiting its turns are short: all it does is look again. */
#define PARKED_SLICE 8u

static inline uint32_t guard_mask(const struct exec_warp *w, const struct exec_inst *in)
{
    return in->guard == EXEC_NO_ID ? w->mask : w->mask & pred_read(w, in->guard, in->guard_neg);
}

/* A warp-wide operation waits for named lanes that are elsewhere. False: it does, and none can run. */
static bool sync_ready(struct exec_warp *w)
{
    while (w->runnable) {
        const struct exec_inst *in = &w->x->p->code[w->pc];
        uint32_t mask = guard_mask(w, in);
        if (in->kind != EXEC_SYNC || !mask)
            return true;
        uint32_t need = 0;
        FOR_LANES(i, mask) need |= ((const uint32_t *)slot_at(w, in->d))[i];
        need &= w->live & ~w->mask;
        if (!need)
            return true;
        w->frag[w->cur].need = need;
        frag_block(w, FRAG_SYNC, w->pc);
    }
    return false;
}

/* Several fragments: merge those that met, let one that spins or has run for long make room. */
static bool settle(struct exec_warp *w)
{
    if (w->turn) {
        if (--w->turn == 0)
            frag_choose(w);
    } else if (w->x->p->code[w->pc].leader) {
        if (w->spins >= EXEC_SPIN_LIMIT || w->ninst - w->since > EXEC_PATIENCE)
            frag_yield(w);
        else
            frag_choose(w);
    }
    return sync_ready(w);
}

/* ---- stepping ---- */
/* Lets fragments meet and chooses who runs, once per instruction: what peek shows is what step runs. */
static bool ready(struct exec_warp *w)
{
    frag_resume(w);
    if (w->runnable && w->nfrag > 1 && !w->settled)
        w->settled = settle(w);
    return w->runnable;
}
const struct exec_inst *exec_warp_peek(struct exec_warp *w)
{
    return ready(w) ? &w->x->p->code[w->pc] : NULL;
}

bool exec_warp_done(const struct exec_warp *w)
{
    return !w->live;
}
bool exec_warp_blocked(const struct exec_warp *w)
{
    if (!w->live || w->runnable)
        return false;
    for (uint32_t i = 0; i < w->nfrag; i++)
        if (w->frag[i].state == FRAG_READY)
            return false;
    return true;
}

/* Lanes ended: the CTA's barriers may be complete now. */
static void after_exit(struct exec_warp *w, uint32_t live)
{
    if (w->live == live)
        return;
    if (!w->live)
        w->cta->ended++;
    barrier_recheck(w->cta);
}

void exec_warp_end(struct exec_warp *w)
{
    uint32_t live = w->live;
    w->live = 0;
    after_exit(w, live);
}

void exec_step(struct exec_warp *w, uint64_t now, struct exec_step *out)
{
    out->inst = NULL;
    out->event = STEP_BLOCKED;
    out->branched = out->woke = false;
    out->access.kind = ACCESS_NONE;
    w->stop = false;
    if (!ready(w))
        return;
    w->settled = false;
    const struct exec_inst *in = &w->x->p->code[w->pc];
    uint32_t mask = guard_mask(w, in), live = w->live, nfrag = w->nfrag;
    out->inst = in;
    out->pc = w->pc;
    out->active = w->mask;
    out->mask = mask;
    w->now = now;
    w->rec = &out->access;
    w->recording = true;
    w->memo.seq = EXEC_NO_ID; /* not for what is recorded */
    w->pc++;
    w->ninst++;
    w->nthread += lane_count(w->mask);
    w->spins += in->spin;
    w->nreads += in->spin && !ptx_is(in->ptx, IS_SLEEP);
    exec_fn *fn = w->lean ? in->lean : in->fn;
    if (in->kind == EXEC_SYNC && w->x->checks)
        exec_check_lanes(w, in, mask);
    if (mask && fn && (!w->x->p->watched || exec_watch(w, in)))
        fn(w, in, mask);
    w->recording = false;
    after_exit(w, live);
    out->woke = w->k->tensor.woke;
    w->k->tensor.woke = false;
    out->branched = in->kind == EXEC_CONTROL && mask && (w->pc != out->pc + 1 || w->nfrag != nfrag);
    out->event = w->cta->fault                              ? STEP_FAULT
                 : w->meet.waits && !w->runnable            ? STEP_BLOCKED
                 : w->live != live                          ? STEP_EXIT
                 : in->cls == CLASS_BARRIER && !w->runnable ? STEP_BARRIER
                                                            : STEP_DONE;
}

bool exec_warp_faulted(const struct exec_warp *w)
{
    return w->cta->fault;
}

static inline void prefetch_slot(const struct exec_warp *w, uint32_t slot, unsigned bytes)
{
    if (slot == EXEC_NO_ID || (slot & 3u) != BANK_FRAME)
        return;
    const uint8_t *at = slot_at(w, slot);
    for (unsigned i = 0; i < bytes; i += 64)
        __builtin_prefetch(at + i);
}

void exec_warp_prefetch(const struct exec_warp *w, uint32_t most)
{
    const struct exec_inst *in = &w->x->p->code[w->pc];
    if (!w->runnable)
        return;
    for (uint32_t i = 0; i < most && w->pc + i < w->x->p->ncode; i++) {
        if (w->lean && !in[i].lean)
            continue;
        prefetch_slot(w, in[i].a, 128);
        prefetch_slot(w, in[i].b, 128);
        prefetch_slot(w, in[i].c, 128);
    }
}

uint32_t exec_straight(struct exec_warp *w, uint64_t now, uint32_t most, struct exec_access *a,
                       exec_note_fn *note, void *ctx, uint32_t *active)
{
    frag_resume(w);
    if (!w->runnable || w->nfrag > 1)
        return 0;
    const struct exec_inst *in = &w->x->p->code[w->pc];
    uint32_t n = in->run < most ? in->run : most, i = 0;
    const uint32_t all = w->mask;
    *active = all;
    w->now = now;
    w->rec = a;
    w->recording = true;
    w->memo.seq = EXEC_NO_ID; /* not for what is recorded */
    w->stop = false;
    const bool lean = w->lean;
    for (bool more = true; i < n && more && !w->stop; i++, in++) {
        exec_fn *fn = lean ? in->lean : in->fn;
        if (!fn)
            continue;
        uint32_t mask = in->guard == EXEC_NO_ID ? all : all & pred_read(w, in->guard, in->guard_neg);
        a->kind = ACCESS_NONE;
        if (mask)
            fn(w, in, mask);
        if (a->kind != ACCESS_NONE && a->mask && !w->stop)
            more = note(ctx, i, a);
    }
    w->recording = false;
    w->pc += i;
    w->ninst += i;
    w->nthread += (uint64_t)lane_count(all) * i;
    return i;
}

/* ---- running ---- */
/* Which ways instruction `in` goes, in the lanes that come to it. */
static void note_sides(struct exec_warp *w, const struct exec_inst *in)
{
    uint32_t at = (uint32_t)(in - w->x->p->code), on = w->mask, yes;
    if (in->guard != EXEC_NO_ID)
        yes = pred_read(w, in->guard, in->guard_neg);
    else if (sim_selects(in) && in->c != EXEC_NO_ID)
        yes = pred_read(w, in->c, in->flags & EXEC_F_NEG_C);
    else
        return;
    sim_sides_note(w->x->sides, at, on & yes, on & ~yes);
}

/* in->run instructions, none of which moves lanes or waits. False: one of them faulted. lean: only what control flow
 * and addresses need. */
static inline bool straight(struct exec_warp *w, const struct exec_inst *in, const bool lean)
{
    const struct exec_inst *end = in + in->run;
    const uint32_t all = w->mask;
    w->pc += in->run;
    w->ninst += in->run;
    w->nthread += (uint64_t)lane_count(all) * in->run;
    for (; in < end; in++) {
        uint32_t mask = all;
        if (__builtin_expect(w->x->sides != NULL, false))
            note_sides(w, in);
        if (__builtin_expect(in->guard != EXEC_NO_ID, false) &&
            !(mask &= pred_read(w, in->guard, in->guard_neg)))
            continue;
        exec_fn *fn = lean ? in->lean : in->fn;
        if (!lean || fn)
            fn(w, in, mask);
        if (__builtin_expect(w->stop, false))
            return false;
    }
    return true;
}

/* Returns how many of the instructions were spinning ones. */
static uint32_t warp_run(struct exec_warp *w, uint64_t budget)
{
    const struct exec_inst *code = w->x->p->code;
    const uint64_t end = w->ninst + budget;
    const bool sides = w->x->sides != NULL;
    const bool lean = w->lean;
    const struct native *native = w->x->checks || sides || lean ? NULL : w->x->p->native;
    const uint8_t *const *entry = native ? native->entry : NULL;
    struct exec_cta *lead = w->cta->lead;
    const uint32_t slice = lead->parked ? PARKED_SLICE : SPIN_SLICE;
    uint32_t spins = 0;
    bool spun = false;
    w->stop = false;
    while (w->ninst < end) {
        if (w->nfrag > 1 && !settle(w))
            break;
        const struct exec_inst *in = &code[w->pc];
        if (in->run && !w->turn && budget > 1) {
            bool whole = entry && entry[w->pc] && w->mask == EXEC_FULL && w->nfrag == 1;
            if (!(whole  ? native_run(native, w, end - w->ninst)
                  : lean ? straight(w, in, true)
                         : straight(w, in, false)))
                break;
            continue;
        }
        uint32_t mask = guard_mask(w, in), live = w->live;
        if (sides)
            note_sides(w, in);
        w->pc++;
        w->ninst++;
        w->nthread += lane_count(w->mask);
        if (in->kind == EXEC_SYNC && w->x->checks)
            exec_check_lanes(w, in, mask);
        exec_fn *fn = lean ? in->lean : in->fn;
        if (mask && fn && (!w->x->p->watched || exec_watch(w, in)))
            fn(w, in, mask);
        if (w->stop) {
            after_exit(w, live);
            if (w->cta->fault || !w->runnable)
                break;
            w->stop = false;
        }
        if (in->spin) {
            w->spins += in->spin;
            if ((spins += in->spin) >= slice) {
                spun = true;
                break;
            }
        }
    }
    lead->spins = spun ? lead->spins + 1 : 0;
    return spins;
}

bool exec_cta_done(const struct exec_cta *lead)
{
    for (uint32_t r = 0; r < lead->x->cluster_ctas; r++)
        if (!cta_ended(lead->peer[r]))
            return false;
    return true;
}

bool exec_cta_stuck(struct exec_cta *lead)
{
    struct exec_cta *waits = NULL;
    for (uint32_t i = exec_cta_nwarps(lead); i--;) {
        struct exec_warp *w = exec_cta_warp(lead, i);
        if (!w->live)
            continue;
        if (!exec_warp_blocked(w))
            return false;
        waits = w->cta;
    }
    if (waits)
        exec_fault_stuck(waits);
    return waits != NULL;
}

static bool over_limit(struct exec_warp *w)
{
    uint64_t most = w->x->l->max_cycles;
    if (!most || w->ninst <= most)
        return false;
    exec_fault(w, &w->x->p->code[w->pc], first_lane(w->mask ? w->mask : 1), FAULT_HANG,
               "no end in sight: warp %u has executed %llu instructions", w->index,
               (unsigned long long)w->ninst);
    return true;
}

static enum exec_run_result run_cta(struct exec_cta *lead, uint64_t budget, uint64_t *spent)
{
    const uint32_t n = exec_cta_nwarps(lead);
    uint64_t used = 0;
    uint32_t idle = 0, spins = 0;
    while (!exec_cta_done(lead)) {
        struct exec_warp *w = exec_cta_warp(lead, exec_hostile_warp(lead->x, lead->turn_warp, n));
        lead->turn_warp = lead->turn_warp + 1 == n ? 0 : lead->turn_warp + 1;
        frag_resume(w);
        if (!w->runnable) {
            if (++idle > n && exec_cta_stuck(lead))
                return RUN_FAULT;
            continue;
        }
        uint64_t before = w->ninst;
        spins += warp_run(w, exec_hostile_slice(lead->x, WARP_SLICE));
        used += w->ninst - before;
        *spent = used;
        idle = 0;
        if (w->cta->fault || over_limit(w))
            return RUN_FAULT;
        lead->polls = false;
        if (used >= budget && !exec_cta_done(lead))
            /* the loop that waits may be long: unoptimised code calls functions in it */
            return spins ? RUN_SPIN : RUN_BUDGET;
        if (lead->spins >= (uint64_t)(lead->parked ? 1 : SPIN_ROUNDS) * n) {
            lead->spins = 0;
            lead->parked = lead->polls = true;
            return RUN_SPIN;
        }
    }
    return RUN_DONE;
}

/* The limit of a launch is one of all its warps together: whether it is passed hangs on no order. */
enum exec_run_result exec_cta_run(struct exec_cta *lead, uint64_t budget)
{
    struct exec_launch *x = lead->x;
    uint64_t spent = 0, most = x->l->functional ? x->l->max_insts : 0;
    enum exec_run_result r = run_cta(lead, budget, &spent);
    if (!most || r == RUN_FAULT || atomic_fetch_add(&x->spent, spent) + spent <= most)
        return r;
    struct exec_warp *w = exec_cta_warp(lead, 0);
    exec_fault(w, &x->p->code[w->pc], 0, FAULT_HANG,
               "no end in sight: the launch has executed more than %llu instructions of warps",
               (unsigned long long)most);
    return RUN_FAULT;
}
