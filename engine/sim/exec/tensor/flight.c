/* Asynchronous copies under way: see flight.h. A word of 4 bytes names the copy that may still use it.
 */
#include "engine/sim/exec/tensor/flight.h"

#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/mbar.h"

enum { WORD = 4, COPIES = UINT16_MAX /* at one time */ };

struct flight_copy {
    uint32_t line;  /* of its instruction */
    uint32_t warp;  /* that issued it */
    uint32_t group; /* of the warp: the number of its commit */
    uint32_t bar;   /* offset of the mbarrier that ends it; NO_BAR */
    uint8_t kind;   /* enum flight_kind */
    bool parity;    /* of the mbarrier's phase that ends it */
    bool over;
};
#define NO_BAR UINT32_MAX

struct exec_flight {
    uint32_t words, nwarps;
    uint16_t *of;          /* [words] copy + 1, or 0 */
    uint16_t *stored;      /* [words] `fences` at the last plain store; 0: none */
    uint16_t fences;       /* fence.proxy.async of any thread so far, and one */
    uint32_t *commits;     /* [2][nwarps] groups of cp.async, of bulk copies */
    struct flight_copy *v; /* [n] */
    size_t n, cap;
    size_t first;       /* all before it are over */
    const void *last;   /* the instruction and */
    uint64_t last_inst; /* its count in its warp, that the last copy is of */
};

struct exec_flight *flight_new(uint32_t shared_bytes, uint32_t nwarps)
{
    struct exec_flight *f = base_alloc(sizeof *f);
    if (!f)
        return NULL;
    f->words = shared_bytes / WORD + 1;
    f->nwarps = nwarps;
    f->of = base_alloc(f->words * sizeof *f->of);
    f->stored = base_alloc(f->words * sizeof *f->stored);
    f->commits = base_alloc(2u * nwarps * sizeof *f->commits);
    f->fences = 1;
    if (f->of && f->stored && f->commits)
        return f;
    flight_free(f);
    return NULL;
}

void flight_free(struct exec_flight *f)
{
    if (!f)
        return;
    BASE_FREE(f->of, f->stored, f->commits, f->v, f);
}

void flight_start(struct exec_flight *f)
{
    if (!f)
        return;
    memset(f->of, 0, f->words * sizeof *f->of);
    memset(f->stored, 0, f->words * sizeof *f->stored);
    memset(f->commits, 0, 2u * f->nwarps * sizeof *f->commits);
    f->fences = 1;
    f->n = f->first = 0;
    f->last = NULL;
}

static void end(struct exec_flight *f, struct flight_copy *v)
{
    v->over = true;
    while (f->first < f->n && f->v[f->first].over)
        f->first++;
}

/* The numbers of copies that are over are free again. */
static void forget(struct exec_flight *f)
{
    for (uint32_t k = 0; k < f->words; k++)
        f->of[k] = (uint16_t)(f->of[k] > f->first ? f->of[k] - f->first : 0);
    memmove(f->v, f->v + f->first, (f->n - f->first) * sizeof *f->v);
    f->n -= f->first;
    f->first = 0;
    f->last = NULL;
}

/* ---- a copy ---- */
static struct flight_copy *copy_of(struct exec_warp *w, const struct exec_inst *in,
                                   struct exec_flight *f, enum flight_kind kind, uint32_t bar)
{
    if (f->n && f->last == in && f->last_inst == w->ninst && f->v[f->n - 1].warp == w->index &&
        f->v[f->n - 1].bar == bar && !f->v[f->n - 1].over)
        return &f->v[f->n - 1];
    if (f->n == COPIES)
        forget(f);
    if (f->n == COPIES || !base_grow((void **)&f->v, f->n, &f->cap, sizeof *f->v))
        return NULL; /* later ones are not watched */
    struct flight_copy *v = &f->v[f->n++];
    *v = (struct flight_copy){ .line = in->ptx ? in->ptx->at.line : 0,
                               .warp = w->index,
                               .group = f->commits[(kind == FLIGHT_READS) * f->nwarps + w->index],
                               .bar = bar,
                               .kind = (uint8_t)kind };
    f->last = in;
    f->last_inst = w->ninst;
    return v;
}

void flight_add(struct exec_warp *w, const struct exec_inst *in, struct exec_cta *c,
                enum flight_kind kind, uint64_t off, uint64_t bytes, uint32_t bar)
{
    struct exec_flight *f = c->flight;
    struct flight_copy *v = f && bytes ? copy_of(w, in, f, kind, bar) : NULL;
    if (!v)
        return;
    if (kind == FLIGHT_BYTES)
        v->parity = mbar_read(c->shared + bar).phase;
    for (uint64_t k = off / WORD; k <= (off + bytes - 1) / WORD && k < f->words; k++) {
        f->of[k] = (uint16_t)(v - f->v + 1);
        if (kind != FLIGHT_READS) /* cp.async, too: Triton's kernels have no fence behind it */
            f->stored[k] = 0;
    }
}

/* ---- waiting ---- */
void flight_phase(struct exec_cta *c, uint64_t bar, bool parity)
{
    struct exec_flight *f = c->flight;
    for (size_t i = f ? f->first : 0; f && i < f->n; i++)
        if (f->v[i].bar == bar && f->v[i].parity == parity && !f->v[i].over)
            end(f, &f->v[i]);
}

void flight_tie(struct exec_warp *w, uint64_t bar, bool parity)
{
    struct exec_flight *f = w->cta->flight;
    for (size_t i = f ? f->first : 0; f && i < f->n; i++) {
        struct flight_copy *v = &f->v[i];
        if (v->kind == FLIGHT_THREAD && v->warp == w->index && v->bar == NO_BAR && !v->over) {
            v->bar = (uint32_t)bar;
            v->parity = parity;
        }
    }
}

/* Groups of this warp that were committed before the last `n` ones are over. */
static void wait_groups(struct exec_warp *w, bool bulk, uint32_t n)
{
    struct exec_flight *f = w->cta->flight;
    for (size_t i = f ? f->first : 0; f && i < f->n; i++) {
        struct flight_copy *v = &f->v[i];
        if ((v->kind == FLIGHT_READS) == bulk && v->kind != FLIGHT_BYTES && v->warp == w->index &&
            v->group + n < f->commits[bulk * f->nwarps + w->index])
            end(f, v);
    }
}

void exec_async_group(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    struct exec_flight *f = w->cta->flight;
    (void)mask;
    if (!f)
        return;
    switch (in->ptx->op) {
    case PTX_OP_CP_ASYNC_COMMIT_GROUP: f->commits[w->index]++; break;
    case PTX_OP_CP_ASYNC_BULK_COMMIT_GROUP: f->commits[f->nwarps + w->index]++; break;
    case PTX_OP_CP_ASYNC_WAIT_GROUP: wait_groups(w, false, (uint32_t)in->imm); break;
    case PTX_OP_CP_ASYNC_BULK_WAIT_GROUP: wait_groups(w, true, (uint32_t)in->imm); break;
    case PTX_OP_CP_ASYNC_WAIT_ALL: /* commits, too */
        f->commits[w->index]++;
        wait_groups(w, false, 0);
        break;
    default: /* fence.proxy.async: later stores are told from those before */
        if (++f->fences == UINT16_MAX) {
            memset(f->stored, 0, f->words * sizeof *f->stored);
            f->fences = 1;
        }
    }
}

/* ---- accesses ---- */
static void tell(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, uint64_t off,
                 bool write, const struct flight_copy *v)
{
    static const char *const how[] = {
        [FLIGHT_THREAD] =
            "wait with cp.async.wait_group or wait_all, then meet at a barrier, before the "
            "bytes are used",
        [FLIGHT_BYTES] = "wait for the phase of its mbarrier (mbarrier.try_wait) before the bytes are "
                         "used",
        [FLIGHT_READS] = "wait with cp.async.bulk.wait_group (.read is enough) before the bytes are "
                         "written again"
    };
    exec_fault(w, in, lane, FAULT_RACE,
               "race: %s of shared address 0x%llx (shared memory+%llu), which the asynchronous copy of "
               "line %u may still %s: no wait for it has ended\n%s",
               write ? "write" : "read", (unsigned long long)off, (unsigned long long)off, v->line,
               v->kind == FLIGHT_READS ? "read" : "write", how[v->kind]);
}

static void tell_proxy(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, uint64_t off)
{
    exec_fault(
        w, in, lane, FAULT_RACE,
        "race: asynchronous read of shared address 0x%llx (shared memory+%llu), which a thread has "
        "stored, and no fence.proxy.async came in between\nput fence.proxy.async behind the "
        "stores, before the barrier that this instruction waits at",
        (unsigned long long)off, (unsigned long long)off);
}

void flight_look(struct exec_warp *w, const struct exec_inst *in, uint32_t lane,
                 const struct exec_cta *c, uint64_t off, uint64_t bytes, bool write, bool async)
{
    struct exec_flight *f = c->flight;
    for (uint64_t k = off / WORD; f && bytes && k <= (off + bytes - 1) / WORD && k < f->words; k++) {
        const struct flight_copy *v = f->of[k] ? &f->v[f->of[k] - 1] : NULL;
        bool own = v && v == &f->v[f->n - 1] && f->last == in && f->last_inst == w->ninst;
        if (v && !v->over && !own && (write || v->kind != FLIGHT_READS)) {
            tell(w, in, lane, k * WORD, write, v);
            return;
        }
        if (async && !write && f->stored[k] == f->fences) {
            tell_proxy(w, in, lane, k * WORD);
            return;
        }
        if (!async && write)
            f->stored[k] = f->fences;
    }
}
