/* What went wrong, in words: line, thread, CTA, address, nearest buffer. */
#include "engine/ptx/ptx.h"
#include "engine/sim/exec/cluster.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/mbar.h"
#include "engine/sim/exec/tensor/meet.h"
#include "engine/sim/mem.h"

#include <stdio.h>
#include <stdlib.h>

#define NULL_PAGE 4096u /* what is read below it was reached through a null pointer */

static const struct {
    const char *code;
    enum status status;
} kinds[] = { [FAULT_BOUNDS] = { "out-of-bounds", ST_DEVICE },
              [FAULT_ALIGN] = { "misaligned", ST_DEVICE },
              [FAULT_LOCAL_STACK] = { "stack-overflow", ST_DEVICE },
              [FAULT_TRAP] = { "trap", ST_DEVICE },
              [FAULT_ASSERT] = { "assert", ST_DEVICE },
              [FAULT_DEADLOCK] = { "deadlock", ST_DEVICE },
              [FAULT_HANG] = { "hang", ST_DEVICE },
              [FAULT_UNINIT] = { "uninitialised", ST_DEVICE },
              [FAULT_RACE] = { "race", ST_DEVICE },
              [FAULT_LANES] = { "race", ST_DEVICE },
              [FAULT_CALL] = { "bad-call", ST_DEVICE },
              [FAULT_UNIFORM] = { "not-uniform", ST_DEVICE },
              [FAULT_NOMEM] = { "memory", ST_NOMEM },
              [FAULT_CANCELLED] = { "cancelled", ST_CANCELLED },
              [FAULT_ARG] = { "bad-operand", ST_DEVICE } };

/* The lowest CTA's fault is kept, so the report does not depend on the number of threads. */
static void keep_pair(struct exec_cta *c, enum fault_kind kind, struct span at, uint32_t other_line,
                      const char *msg, const char *hint)
{
    struct exec_launch *x = c->x;
    c->fault = true;
    pthread_mutex_lock(&x->lock);
    if (!x->fault.set || c->order < x->fault.cta) {
        x->fault = (struct exec_fault){ .set = true,
                                        .cta = c->order,
                                        .code = kinds[kind].code,
                                        .at = at,
                                        .other_line = other_line,
                                        .status = kinds[kind].status };
        snprintf(x->fault.msg, sizeof x->fault.msg, "%s", msg);
        snprintf(x->fault.hint, sizeof x->fault.hint, "%s", hint);
        atomic_store(&x->fault_cta, c->order);
        atomic_store(&x->faulted, true);
    }
    pthread_mutex_unlock(&x->lock);
}

static void keep(struct exec_cta *c, enum fault_kind kind, struct span at, const char *msg,
                 const char *hint)
{
    keep_pair(c, kind, at, 0, msg, hint);
}

static void thread_of(const struct exec_warp *w, uint32_t lane, uint32_t t[3])
{
    struct dim3u b = w->x->l->block;
    uint32_t i = w->index * WARP_LANES + lane;
    t[0] = i % b.x;
    t[1] = i / b.x % b.y;
    t[2] = i / b.x / b.y;
}

static void where(const struct exec_warp *w, uint32_t lane, char *out, size_t n)
{
    uint32_t t[3];
    thread_of(w, lane, t);
    const uint32_t *c = w->cta->id;
    snprintf(out, n, "thread (%u,%u,%u) of CTA (%u,%u,%u)", t[0], t[1], t[2], c[0], c[1], c[2]);
}

/* The text says what is wrong; behind a line break, what to do about it. */
static void fault(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, enum fault_kind kind,
                  uint32_t other_line, const char *fmt, va_list ap)
{
    char text[560], place[128], msg[760];
    vsnprintf(text, sizeof text, fmt, ap);
    char *hint = strchr(text, '\n');
    if (hint)
        *hint++ = '\0';
    where(w, lane, place, sizeof place);
    snprintf(msg, sizeof msg, "%s: %s", text, place);
    w->stop = true;
    keep_pair(w->cta, kind, in && in->ptx ? in->ptx->at : NO_SPAN, other_line, msg, hint ? hint : "");
}

void exec_fault(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, enum fault_kind kind,
                const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fault(w, in, lane, kind, 0, fmt, ap);
    va_end(ap);
}

void exec_fault_race(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, uint32_t other_line,
                     const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fault(w, in, lane, FAULT_RACE, other_line, fmt, ap);
    va_end(ap);
}

static const char *space_name(enum ptx_space s)
{
    switch (s) {
    case PTX_SPACE_SHARED: return "shared";
    case PTX_SPACE_LOCAL: return "local";
    case PTX_SPACE_CONST: return "constant";
    case PTX_SPACE_PARAM: return "parameter";
    default: return "global";
    }
}

/* bytes; a mistaken index seldom leads that far, something that is no address does */
#define FAR (1ull << 30)

/* Where the nearest buffer is far: what the address looks like. */
static void far_from_buffers(const struct sim_mem *m, const struct sim_alloc *nearest, uint64_t addr,
                             char *out, size_t n)
{
    for (size_t i = 0; addr <= UINT32_MAX && i < m->n; i++)
        if (addr - (uint32_t)m->v[i].a.addr < m->v[i].a.n) {
            snprintf(out, n,
                     "the low 32 bits of an address in buffer '%s': a pointer went through a register "
                     "or variable of 32 bits",
                     m->v[i].a.name);
            return;
        }
    snprintf(out, n,
             "far from every buffer (the nearest, '%s', is at 0x%llx): an index that wrapped, or data "
             "taken for a pointer",
             nearest->name, (unsigned long long)nearest->addr);
}

static void near_buffer(const struct exec_warp *w, enum ptx_space space, uint64_t addr, char *out,
                        size_t n)
{
    uint64_t off;
    const struct exec_cta *peer =
        space == PTX_SPACE_SHARED && addr >= CLUSTER_STEP ? cluster_cta(w->cta, addr, &off) : NULL;
    if (peer && cta_ended(peer)) {
        snprintf(out, n, "CTA (%u,%u,%u) of the cluster has ended", peer->id[0], peer->id[1],
                 peer->id[2]);
    } else if (peer) {
        snprintf(out, n, "byte %llu of the shared memory of CTA (%u,%u,%u), which has %u bytes",
                 (unsigned long long)off, peer->id[0], peer->id[1], peer->id[2], w->x->shared_bytes);
    } else if (space == PTX_SPACE_SHARED) {
        snprintf(out, n, "the CTA has %u bytes of shared memory", w->x->shared_bytes);
    } else if (space == PTX_SPACE_LOCAL) {
        snprintf(out, n, "a thread has %u bytes of local memory", w->x->local_bytes);
    } else if (space == PTX_SPACE_PARAM) {
        snprintf(out, n, "the kernel has %llu bytes of parameters", (unsigned long long)w->x->nparams);
    } else {
        const struct sim_alloc *a = sim_mem_nearest(w->x->p->mem, addr);
        if (addr < NULL_PAGE)
            snprintf(out, n, "a null pointer%s", addr ? ", and an offset" : "");
        else if (!a)
            snprintf(out, n, "nothing is allocated");
        else if ((addr < a->addr ? a->addr - addr : addr - a->addr) > a->n + FAR)
            far_from_buffers(w->x->p->mem, a, addr, out, n);
        else if (addr < a->addr)
            snprintf(out, n, "%llu bytes before buffer '%s' of %llu bytes",
                     (unsigned long long)(a->addr - addr), a->name, (unsigned long long)a->n);
        else if (addr - a->addr >= a->n)
            snprintf(out, n, "%llu bytes past the end of buffer '%s' of %llu bytes",
                     (unsigned long long)(addr - a->addr - a->n), a->name, (unsigned long long)a->n);
        else
            snprintf(out, n, "%llu bytes into buffer '%s' of %llu bytes",
                     (unsigned long long)(addr - a->addr), a->name, (unsigned long long)a->n);
    }
}

static const char *access_verb(const struct exec_inst *in)
{
    switch (in->ptx ? ptx_op_info(in->ptx->op)->effect : EFFECT_NONE) {
    case EFFECT_STORE: return "write";
    case EFFECT_ATOMIC: return "atomic access";
    case EFFECT_ASYNC_COPY: return "copy";
    default: return "read";
    }
}

void exec_fault_access(struct exec_warp *w, const struct exec_inst *in, uint32_t lane,
                       enum ptx_space space, uint64_t addr, unsigned bytes, bool misaligned)
{
    char place[128], near[224], msg[600];
    where(w, lane, place, sizeof place);
    near_buffer(w, space, addr, near, sizeof near);
    snprintf(msg, sizeof msg, "%s %s of %u bytes at %s address 0x%llx: %s",
             misaligned ? "misaligned" : "out-of-bounds", access_verb(in), bytes, space_name(space),
             (unsigned long long)addr, place);
    w->stop = true;
    keep(w->cta, misaligned ? FAULT_ALIGN : FAULT_BOUNDS, in->ptx ? in->ptx->at : NO_SPAN, msg, near);
}

static bool exec_mbar_lacks(const struct exec_warp *w, char *out, size_t n)
{
    uint64_t v;
    if (w->mbar.pc == EXEC_NO_ID || (uint64_t)w->mbar.at + 8 > w->x->shared_bytes)
        return false;
    memcpy(&v, w->cta->shared + w->mbar.at, 8);
    struct mbar m = mbar_read(&v);
    const struct ptx_inst *at = w->x->p->code[w->mbar.pc].ptx;
    snprintf(out, n,
             m.tx < 0
                 ? "the mbarrier at shared address 0x%x, line %u: %u of %u arrivals are missing, and "
                   "%d bytes more than expected have come"
                 : "the mbarrier at shared address 0x%x, line %u: %u of %u arrivals and %d bytes are "
                   "missing",
             w->mbar.at, at ? at->at.line : 0, m.pending, m.expected, abs(m.tx));
    return true;
}

/* ---- launches that cannot go on ---- */
static int describe_meeting(const struct exec_warp *w, uint32_t line, char *out, size_t n)
{
    uint32_t first = w->index / 4 * 4, lacks = exec_meet_lacks(w);
    int at = snprintf(out, n, "warp %u of warpgroup %u at %s, line %u, for", w->index, w->index / 4,
                      ptx_op_info(w->x->p->code[w->meet.pc].ptx->op)->name, line);
    for (uint32_t i = 0; i < 4; i++)
        if (lacks >> i & 1 && at > 0 && (size_t)at < n)
            at += snprintf(out + at, n - (size_t)at, " warp %u%s", first + i,
                           w->cta->warps[first + i].live ? "" : " (ended)");
    return at;
}

static int describe_fragment(const struct exec_warp *w, uint32_t k, char *out, size_t n)
{
    const struct exec_frag *f = &w->frag[k];
    bool runs = w->runnable && k == w->cur; /* its copy among the fragments is stale */
    const struct ptx_inst *at = w->x->p->code[runs ? w->pc : f->pc].ptx;
    uint32_t line = at ? at->at.line : 0, mask = runs ? w->mask : f->mask;
    char lacks[160];
    if ((runs || f->state == FRAG_MBAR) && exec_mbar_lacks(w, lacks, sizeof lacks))
        return snprintf(out, n, "warp %u lanes %08x waits for %s", w->index, mask, lacks);
    if (!runs && f->state == FRAG_GROUP)
        return describe_meeting(w, line, out, n);
    if (runs || f->state == FRAG_READY)
        return snprintf(out, n, "warp %u lanes %08x loops at line %u", w->index, mask, line);
    if (f->state != FRAG_BARRIER)
        return snprintf(out, n, "warp %u lanes %08x at line %u for lanes %08x", w->index, mask, line,
                        f->need & w->live & ~mask);
    if (f->barrier == CLUSTER_BARRIER)
        return snprintf(out, n, "warp %u lanes %08x at the cluster's barrier, line %u", w->index, mask,
                        line);
    return snprintf(out, n, "warp %u lanes %08x at barrier %u, line %u", w->index, mask, f->barrier,
                    line);
}

/* What "warp 4 lanes ffffffff waits ..." says after the number. */
static const char *after_number(const char *one)
{
    const char *p = strchr(one, ' ');
    p = p ? strchr(p + 1, ' ') : NULL;
    return p ? p : one;
}

/* Puts one more piece behind "; ", whole or not at all. */
static bool put_piece(char *out, size_t n, const char *one, uint32_t more)
{
    size_t at = strlen(out);
    char same[48] = "";
    if (more)
        snprintf(same, sizeof same, ", and %u more in the same way", more);
    int m = snprintf(out + at, n - at, "%s%s%s", at ? "; " : "", one, same);
    if (m < 0 || (size_t)m >= n - at)
        out[at] = 0;
    return out[at] != 0;
}

/* Up to four pieces; what waits as the one before it does is counted. */
static void describe_waiting(const struct exec_cta *c, char *out, size_t n)
{
    char last[240] = "", one[240];
    uint32_t shown = 0, more = 0;
    for (uint32_t i = 0; i < c->nwarps; i++)
        for (uint32_t k = 0; c->warps[i].live && k < c->warps[i].nfrag; k++) {
            describe_fragment(&c->warps[i], k, one, sizeof one);
            if (last[0] && !strcmp(after_number(last), after_number(one))) {
                more++;
                continue;
            }
            if (last[0] && (!put_piece(out, n, last, more) || ++shown == 4))
                return;
            memcpy(last, one, sizeof last);
            more = 0;
        }
    if (last[0])
        put_piece(out, n, last, more);
}

/* Some warp waits for its warpgroup. */
static bool meets(const struct exec_cta *c)
{
    bool any = false;
    for (uint32_t i = 0; i < c->nwarps; i++)
        any |= c->warps[i].live && exec_meet_lacks(&c->warps[i]);
    return any;
}
#define MEET_HINT                                                                                       \
    "all four warps of a warpgroup must execute the same instructions of it in the same order: let no " \
    "branch part them, and no warp end before"

/* Some warp waits for an mbarrier. */
static bool mbar_of(const struct exec_cta *c)
{
    char text[160];
    for (uint32_t i = 0; i < c->nwarps; i++)
        if (c->warps[i].live && exec_mbar_lacks(&c->warps[i], text, sizeof text))
            return true;
    return false;
}

void exec_fault_spins(struct exec_cta *c)
{
    char waiting[440] = "", msg[640];
    struct span at = NO_SPAN;
    uint32_t warps = 0;
    for (uint32_t i = c->nwarps; i--;) {
        const struct exec_warp *w = &c->warps[i];
        warps += w->live != 0;
        if (w->live && w->runnable && c->x->p->code[w->pc].ptx)
            at = c->x->p->code[w->pc].ptx->at;
    }
    describe_waiting(c, waiting, sizeof waiting);
    snprintf(msg, sizeof msg,
             "CTA (%u,%u,%u) cannot continue: what it reads never changes, and every CTA that could "
             "change it is in a loop too; %u warps: %s",
             c->id[0], c->id[1], c->id[2], warps, waiting);
    keep(c, FAULT_DEADLOCK, at, msg,
         meets(c) ? MEET_HINT
         : mbar_of(c)
             ? "an mbarrier's phase ends when all have arrived and all bytes that were expected have "
               "come"
             : "a flag that nobody sets, or a lock that nobody releases");
}

void exec_fault_stuck(struct exec_cta *c)
{
    char waiting[440] = "", msg[640];
    struct span at = NO_SPAN;
    uint32_t warps = 0, id = UINT32_MAX;
    for (uint32_t i = 0; i < c->nwarps; i++) {
        warps += c->warps[i].live != 0;
        for (uint32_t k = 0; k < c->warps[i].nfrag && !at.line; k++)
            at = c->x->p->code[c->warps[i].frag[k].pc].ptx->at;
        for (uint32_t k = 0; k < c->warps[i].nfrag; k++)
            if (c->warps[i].frag[k].state == FRAG_BARRIER && c->warps[i].frag[k].barrier < id)
                id = c->warps[i].frag[k].barrier;
    }
    describe_waiting(c, waiting, sizeof waiting);
    if (id == CLUSTER_BARRIER)
        snprintf(
            msg, sizeof msg,
            "CTA (%u,%u,%u) cannot continue: its cluster's barrier is never complete; %u warps wait: %s",
            c->id[0], c->id[1], c->id[2], warps, waiting);
    else if (id != UINT32_MAX)
        snprintf(msg, sizeof msg,
                 "CTA (%u,%u,%u) cannot continue: barrier %u is never complete; %u warps wait: %s",
                 c->id[0], c->id[1], c->id[2], id, warps, waiting);
    else
        snprintf(msg, sizeof msg,
                 "CTA (%u,%u,%u) cannot continue: %u warps wait for %s that never arrive: %s", c->id[0],
                 c->id[1], c->id[2], warps, meets(c) ? "warps" : "lanes", waiting);
    keep(c, FAULT_DEADLOCK, at, msg,
         meets(c) ? MEET_HINT : "every thread that has not exited must reach the barrier");
}

bool exec_launch_faulted(const struct exec_launch *x)
{
    return atomic_load(&x->faulted);
}
