/* What a launch does with its threads and its memory: who is idle, what nobody reads or writes. Every
 * access of a functional run on the simulated device is told (dev_run.touch) and marked: by thread, by
 * word of four bytes of each buffer. */
#include "engine/session/infer/work.h"

#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/rec/launch.h"
#include "engine/sim/sim.h"

#include <math.h>

enum { WORD = 4, READ = 1, WRITTEN = 2, LANES = 32, MOST_WARPS = 1 << 22 };

struct marked {
    uint64_t addr, n;
    _Atomic uint8_t *how; /* by word; NULL: argument i is no buffer */
};
struct infer_marks {
    const struct launch_spec *l;
    struct marked *arg;
    _Atomic uint32_t *active; /* lanes of each warp of each CTA that touched memory */
    uint32_t warps;           /* of a CTA */
    _Atomic uint64_t shared;  /* bytes up to the last that was touched */
    _Atomic uint64_t touched;
    uint64_t nctas;
};

void infer_marks_free(struct infer_marks *m)
{
    for (size_t i = 0; m && m->arg && i < m->l->nargs; i++)
        base_free((void *)m->arg[i].how);
    if (m) {
        base_free(m->arg);
        base_free((void *)m->active);
    }
    base_free(m);
}

enum status infer_marks_make(const struct launch_spec *l, struct dev *d, struct dev_data *data,
                             struct infer_marks **out)
{
    uint32_t warps = (uint32_t)((dim3u_count(l->block) + LANES - 1) / LANES);
    uint64_t nctas = dim3u_count(l->grid);
    struct infer_marks *m = NULL;
    *out = NULL;
    if (nctas > MOST_WARPS / warps)
        return ST_OK;
    if (!(m = base_alloc(sizeof *m)))
        return ST_NOMEM;
    *m = (struct infer_marks){ .l = l, .warps = warps, .nctas = nctas };
    m->arg = base_alloc((l->nargs + 1) * sizeof *m->arg);
    m->active = base_alloc(nctas * warps * sizeof *m->active);
    bool fine = m->arg && m->active;
    for (size_t i = 0; fine && i < l->nargs; i++) {
        struct marked *a = &m->arg[i];
        if (dev_placed(d, data, i, &a->addr, &a->n))
            fine = (a->how = base_alloc(a->n / WORD + 1)) != NULL;
    }
    if (!fine) {
        infer_marks_free(m);
        return ST_NOMEM;
    }
    *out = m;
    return ST_OK;
}

static struct marked *marked_at(const struct infer_marks *m, uint64_t addr)
{
    for (size_t i = 0; i < m->l->nargs; i++)
        if (m->arg[i].how && addr - m->arg[i].addr < m->arg[i].n)
            return &m->arg[i];
    return NULL;
}

static void mark_bytes(const struct infer_marks *m, const struct sim_touch *t)
{
    uint8_t how = (uint8_t)((t->reads ? READ : 0) | (t->writes ? WRITTEN : 0));
    struct marked *a = NULL;
    for (unsigned lane = 0; lane < LANES; lane++) {
        if (!(t->mask >> lane & 1))
            continue;
        if (!a || t->addr[lane] - a->addr >= a->n)
            a = marked_at(m, t->addr[lane]);
        uint64_t at = a ? (t->addr[lane] - a->addr) / WORD : 1,
                 last = a ? (t->addr[lane] + t->bytes - 1 - a->addr) / WORD : 0;
        for (; at <= last && at <= a->n / WORD; at++)
            if ((atomic_load_explicit(&a->how[at], memory_order_relaxed) & how) != how)
                atomic_fetch_or_explicit(&a->how[at], how, memory_order_relaxed);
    }
}

static void mark_shared(struct infer_marks *m, const struct sim_touch *t)
{
    uint64_t end = 0, was = atomic_load_explicit(&m->shared, memory_order_relaxed);
    for (unsigned lane = 0; lane < LANES; lane++)
        if (t->mask >> lane & 1 && t->addr[lane] + t->bytes > end)
            end = t->addr[lane] + t->bytes;
    while (end > was && !atomic_compare_exchange_weak(&m->shared, &was, end))
        ;
}

/* Shared memory is told by warp: fragments of matrices are moved by all lanes together. */
void infer_marks_touch(void *ctx, const struct sim_touch *t)
{
    struct infer_marks *m = ctx;
    uint64_t warp = (uint64_t)t->cta * m->warps + t->warp;
    if (warp < m->nctas * m->warps)
        atomic_fetch_or_explicit(&m->active[warp], t->shared ? UINT32_MAX : t->mask,
                                 memory_order_relaxed);
    atomic_fetch_add_explicit(&m->touched,
                              (uint64_t)__builtin_popcount(t->mask) * ((t->bytes + WORD - 1) / WORD),
                              memory_order_relaxed);
    if (t->shared)
        mark_shared(m, t);
    else
        mark_bytes(m, t);
}

/* ---- what was marked ---- */
static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void box(struct dim3u *to, struct dim3u of, uint64_t place)
{
    to->x = larger(to->x, (uint32_t)(place % of.x) + 1);
    to->y = larger(to->y, (uint32_t)(place / of.x % of.y) + 1);
    to->z = larger(to->z, (uint32_t)(place / of.x / of.y) + 1);
}

static void count_threads(const struct infer_marks *m, struct infer_work *w)
{
    uint64_t threads = dim3u_count(m->l->block), active = 0, ctas = 0;
    for (uint64_t c = 0; c < m->nctas; c++) {
        bool any = false;
        for (uint64_t t = 0; t < threads; t++) {
            if (!(m->active[c * m->warps + t / LANES] >> t % LANES & 1))
                continue;
            any = true;
            active++;
            box(&w->threads, m->l->block, t);
        }
        ctas += any;
        if (any)
            box(&w->ctas, m->l->grid, c);
    }
    w->idle_ctas = 1 - (double)ctas / (double)m->nctas;
    w->idle_threads = ctas ? 1 - (double)active / ((double)ctas * (double)threads) : 1;
}

/* Bytes up to the last that is touched: the part that the launch is about. *all counts its words, *bare
 * those that lack `how`, *first the bytes before the first that is touched. */
static uint64_t reach(const struct marked *a, uint8_t how, uint64_t *bare, uint64_t *all,
                      uint64_t *first)
{
    uint64_t end = 0, has = 0;
    for (uint64_t i = 0; i < (a->n + WORD - 1) / WORD; i++) {
        *first = a->how[i] && !end ? i * WORD : *first;
        end = a->how[i] ? i + 1 : end;
        has += (a->how[i] & how) != 0;
    }
    *bare += end - has;
    *all += end;
    return end * WORD < a->n ? end * WORD : a->n;
}

void infer_marks_read(const struct infer_marks *m, struct infer_work *out, uint64_t *reached,
                      uint64_t *first)
{
    uint64_t unread = 0, inputs = 0, unwritten = 0, outputs = 0;
    *out = (struct infer_work){ .known = true,
                                .shared = atomic_load(&m->shared),
                                .touched = atomic_load(&m->touched) };
    count_threads(m, out);
    for (size_t i = 0; i < m->l->nargs; i++) {
        const struct arg_spec *a = &m->l->args[i];
        bool in = a->init.kind != INIT_FILL && !a->output;
        first[i] = UINT64_MAX;
        reached[i] = !m->arg[i].how ? 0
                     : in           ? reach(&m->arg[i], READ, &unread, &inputs, &first[i])
                                    : reach(&m->arg[i], WRITTEN, &unwritten, &outputs, &first[i]);
    }
    out->written = outputs - unwritten;
    out->unread = inputs ? (double)unread / (double)inputs : NAN;
    out->unwritten = outputs ? (double)unwritten / (double)outputs : NAN;
}
