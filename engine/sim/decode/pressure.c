/* How many registers a block needs at once when its instructions stand in an order that needs few, as
 * ptxas puts them: a list from the block's end. Of the instructions whose users all stand already, the
 * one that leaves the fewest registers live comes next; of several the newest, so that one chain is
 * finished before another begins, or the last in the text. */
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/decode/decode.h"

#include <string.h>

#define NONE   UINT32_MAX
#define WINDOW 64 /* instructions looked at for each place */

struct ref {
    uint32_t reg;
    bool read, written, kill /* nothing of what was there stays */;
};
struct step {
    uint32_t first, n; /* of its refs */
    uint32_t made;     /* machine registers for values made again for it */
    uint32_t users;    /* that have no place yet */
    uint32_t before;   /* first of its edges; NONE: there is none */
};
struct edge {
    uint32_t to, next;
};
/* Order of memory accesses: the newest store, and the loads since, of global and of shared memory. */
enum { CHAINS = 2 };
struct list {
    const struct decode_pressure *b;
    bool guarded, nomem;
    struct step *step;
    struct ref *ref;
    size_t nref, ref_cap;
    struct edge *edge;
    size_t nedge, edge_cap;
    uint32_t *writer, *readers; /* by register: its newest writer, and edges to readers since */
    uint32_t store[CHAINS], loads[CHAINS];
    uint32_t *ready, nready;
    uint64_t *live;
    uint32_t cost, most;
};

/* ---- what an instruction reads and writes ---- */
static void list_ref(struct list *l, uint32_t reg, unsigned access)
{
    struct step *s = l->step;
    size_t at = s->first;
    uint32_t kept = l->b->root ? l->b->root[reg] : reg;
    if (kept != reg && !(access & PTX_READ))
        return;
    s->made += kept != reg ? l->b->cost[reg] : 0;
    reg = kept;
    while (at < l->nref && l->ref[at].reg != reg)
        at++;
    if (at == l->nref && !base_grow((void **)&l->ref, l->nref, &l->ref_cap, sizeof *l->ref)) {
        l->nomem = true;
        return;
    }
    if (at == l->nref)
        l->ref[l->nref++] = (struct ref){ .reg = reg };
    bool some = l->guarded || l->b->f->regs[reg].vec > 1;
    l->ref[at].read |= access & PTX_READ || some;
    l->ref[at].written |= (access & PTX_WRITE) != 0;
    l->ref[at].kill = l->ref[at].written && !some;
    s->n = (uint32_t)(l->nref - s->first);
}

/* ---- what has to stand before what ---- */
static void list_edge(struct list *l, uint32_t *head, uint32_t to)
{
    if (!base_grow((void **)&l->edge, l->nedge, &l->edge_cap, sizeof *l->edge)) {
        l->nomem = true;
        return;
    }
    l->edge[l->nedge] = (struct edge){ to, *head };
    *head = (uint32_t)l->nedge++;
}

static void stands_before(struct list *l, uint32_t from, uint32_t to)
{
    if (from == NONE || from == to)
        return;
    list_edge(l, &l->step[to].before, from);
    l->step[from].users++;
}

static void all_before(struct list *l, uint32_t *from, uint32_t to)
{
    for (uint32_t e = *from; e != NONE && !l->nomem; e = l->edge[e].next)
        stands_before(l, l->edge[e].to, to);
    *from = NONE;
}

static void order_registers(struct list *l, uint32_t i)
{
    const struct step *s = &l->step[i];
    for (uint32_t k = s->first; k < s->first + s->n; k++)
        stands_before(l, l->writer[l->ref[k].reg], i);
    for (uint32_t k = s->first; k < s->first + s->n && !l->nomem; k++) {
        uint32_t r = l->ref[k].reg;
        if (l->ref[k].written) {
            all_before(l, &l->readers[r], i);
            l->writer[r] = i;
        } else {
            list_edge(l, &l->readers[r], i);
        }
    }
}

static void order_memory(struct list *l, uint32_t i, unsigned order)
{
    for (int c = 0; c < CHAINS; c++) {
        if (!(order >> c & 1))
            continue;
        stands_before(l, l->store[c], i);
        if (order & DECODE_LOADS) {
            list_edge(l, &l->loads[c], i);
        } else {
            all_before(l, &l->loads[c], i);
            l->store[c] = i;
        }
    }
}

static bool list_begin(struct list *l)
{
    uint32_t n = l->b->block->n, nregs = l->b->f->nregs;
    struct step *all = base_alloc((n + 1) * sizeof *all);
    l->step = all;
    l->ready = base_alloc((n + 1) * sizeof *l->ready);
    l->writer = base_alloc((nregs + 1) * sizeof *l->writer);
    l->readers = base_alloc((nregs + 1) * sizeof *l->readers);
    l->live = base_alloc(((size_t)nregs / 64 + 1) * sizeof *l->live);
    if (!all || !l->ready || !l->writer || !l->readers || !l->live)
        return false;
    memset(l->writer, 0xff, nregs * sizeof *l->writer);
    memset(l->readers, 0xff, nregs * sizeof *l->readers);
    for (uint32_t r = 0; r < nregs; r++) {
        uint32_t kept = l->b->root ? l->b->root[r] : r;
        if (l->b->live[r >> 6] >> (r & 63) & 1)
            l->live[kept >> 6] |= UINT64_C(1) << (kept & 63);
    }
    for (uint32_t i = 0; i < n && !l->nomem; i++) {
        const struct ptx_inst *in = &l->b->f->insts[l->b->block->first + i];
        all[i] = (struct step){ .first = (uint32_t)l->nref, .before = NONE };
        l->step = &all[i];
        l->guarded = in->guarded;
        for (struct ptx_regs r = ptx_regs_of(in, PTX_READ | PTX_WRITE); ptx_next_reg(&r);)
            list_ref(l, r.reg, r.access);
        l->step = all;
        order_registers(l, i);
        order_memory(l, i, l->b->order[l->b->block->first + i]);
    }
    return !l->nomem;
}

/* ---- the list ---- */
static bool is_live(const struct list *l, uint32_t reg)
{
    return l->live[reg >> 6] >> (reg & 63) & 1;
}

static int change_of(const struct list *l, uint32_t i)
{
    const struct step *s = &l->step[i];
    int d = 0;
    for (uint32_t k = s->first; k < s->first + s->n; k++) {
        const struct ref *r = &l->ref[k];
        bool live = is_live(l, r->reg), after = r->read || (live && !r->kill);
        d += ((int)after - (int)live) * l->b->cost[r->reg];
    }
    return d;
}

static void put_before(struct list *l, uint32_t i)
{
    const struct step *s = &l->step[i];
    l->cost = (uint32_t)((int)l->cost + change_of(l, i));
    for (uint32_t k = s->first; k < s->first + s->n; k++) {
        const struct ref *r = &l->ref[k];
        uint64_t bit = UINT64_C(1) << (r->reg & 63), *w = &l->live[r->reg >> 6];
        *w = r->read ? *w | bit : r->kill ? *w & ~bit : *w;
    }
    l->most = l->cost + s->made > l->most ? l->cost + s->made : l->most;
    for (uint32_t e = s->before; e != NONE; e = l->edge[e].next)
        if (--l->step[l->edge[e].to].users == 0)
            l->ready[l->nready++] = l->edge[e].to;
}

static uint32_t take_next(struct list *l)
{
    uint32_t best = l->nready - 1, from = l->nready > WINDOW ? l->nready - WINDOW : 0;
    int least = change_of(l, l->ready[best]);
    for (uint32_t k = best; k-- > from;) {
        int d = change_of(l, l->ready[k]);
        if (d < least || (d == least && !l->b->chains && l->ready[k] > l->ready[best])) {
            least = d;
            best = k;
        }
    }
    uint32_t i = l->ready[best];
    memmove(&l->ready[best], &l->ready[best + 1], (--l->nready - best) * sizeof *l->ready);
    return i;
}

static void list_run(struct list *l)
{
    for (uint32_t r = 0; r < l->b->f->nregs; r++)
        l->cost += is_live(l, r) ? l->b->cost[r] : 0;
    l->most = l->cost;
    for (uint32_t i = 0; i < l->b->block->n; i++)
        if (!l->step[i].users)
            l->ready[l->nready++] = i;
    while (l->nready)
        put_before(l, take_next(l));
}

bool decode_pressure(const struct decode_pressure *b, uint32_t *most)
{
    struct list l = { .b = b, .store = { NONE, NONE }, .loads = { NONE, NONE } };
    bool ok = list_begin(&l);
    if (ok)
        list_run(&l);
    *most = l.most;
    BASE_FREE(l.step, l.ref, l.edge, l.writer, l.readers, l.ready, l.live);
    return ok;
}
