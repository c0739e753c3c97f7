/* Warps in time: the interleaving of Nugteren et al. (HPCA'14) with a clock.
 *
 * Every warp of one SM has a clock. The warp that is earliest takes its next memory instruction:
 *
 *   clock + instructions before it -> load/store unit (one at a time) -> a line in L1, on its way, or to be fetched
 *                                     L1's data banks, a queue behind it
 *                                     L2 and DRAM: this SM's share of their bandwidth, a queue each
 *
 * and its clock moves on; to where the data is there, when what follows needs it. What ends makes room for the
 * next CTA. So hits on lines that are still on their way wait as long as the miss they ride on, few warps hide less
 * than many, the last wave counts whole, and several limits that are near each other add up. */
#include "engine/model/model.h"

#include <math.h>
#include <string.h>

struct flight { uint64_t line1 /* line + 1; 0: empty */; double ready; uint8_t from; };
/* at: when its next instruction, `step`, comes to the load/store unit; pending: when the loads asked for so far are there */
struct walker { double at, pending; uint8_t from; uint32_t cta; struct model_walk_step step; };
struct walk {
    const struct model_walk_config *c;
    struct flight *flight; size_t mask, n;
    struct walker *walker;               /* slots x warps */
    uint32_t *heap, nheap;               /* walkers, the earliest first */
    uint32_t *left;                      /* per slot: warps that still walk */
    double lsu, data, l2, dram, end;           /* when each is free; the last warp's end */
    uint64_t started; double live;       /* CTAs begun; warps that walk */
    model_walk_next next; void *ctx;
    struct model_waits *waits;
};

/* ---- lines that were fetched, and when they arrive ---- */
static struct flight *flight_at(struct flight *v, size_t mask, uint64_t line)
{
    size_t i = (size_t)(line * UINT64_C(0x9E3779B97F4A7C15) >> 20) & mask;
    while (v[i].line1 && v[i].line1 != line + 1)
        i = (i + 1) & mask;
    return &v[i];
}

static bool flights_grow(struct walk *w)
{
    size_t mask = w->mask ? w->mask * 2 + 1 : 4095;
    struct flight *v = base_alloc((mask + 1) * sizeof *v);
    if (!v)
        return false;
    for (size_t i = 0; w->flight && i <= w->mask; i++)
        if (w->flight[i].line1)
            *flight_at(v, mask, w->flight[i].line1 - 1) = w->flight[i];
    base_free(w->flight);
    w->flight = v;
    w->mask = mask;
    return true;
}

static struct flight *flight_of(struct walk *w, uint64_t line)
{
    if (2 * w->n >= w->mask && !flights_grow(w))
        return NULL;
    struct flight *f = flight_at(w->flight, w->mask, line);
    if (!f->line1) {
        *f = (struct flight){ .line1 = line + 1 };
        w->n++;
    }
    return f;
}

/* ---- the earliest walker: a binary heap ---- */
static bool earlier(const struct walk *w, uint32_t a, uint32_t b)
{
    return w->walker[a].at < w->walker[b].at || (w->walker[a].at == w->walker[b].at && a < b);
}

static void heap_down(struct walk *w)
{
    uint32_t at = 0, v = w->heap[0];
    for (uint32_t k = 1; k < w->nheap; k = 2 * at + 1) {
        k += k + 1 < w->nheap && earlier(w, w->heap[k + 1], w->heap[k]);
        if (!earlier(w, w->heap[k], v))
            break;
        w->heap[at] = w->heap[k];
        at = k;
    }
    w->heap[at] = v;
}

static void heap_add(struct walk *w, uint32_t v)
{
    uint32_t at = w->nheap++;
    for (; at && earlier(w, v, w->heap[(at - 1) / 2]); at = (at - 1) / 2)
        w->heap[at] = w->heap[(at - 1) / 2];
    w->heap[at] = v;
}

static double queue(double *unit, double at, double turn)
{
    double start = fmax(*unit, at);
    *unit = start + turn;
    return start;
}

/* ---- from one memory instruction to the next ---- */
static void wait_for(struct walk *w, struct walker *x)
{
    const double alone[] = { w->c->lat_l1, w->c->lat_l2, w->c->lat_dram };
    if (x->pending <= x->at)
        return;
    w->waits->of[x->from] += fmin(x->pending - x->at, alone[x->from]);   /* more than that is queueing */
    x->at = x->pending;
}

/* The walker's next instruction and when it comes to the load/store unit; false: the warp has ended. */
static bool prepare(struct walk *w, uint32_t v)
{
    const struct model_walk_config *c = w->c;
    struct walker *x = &w->walker[v];
    if (!w->next(w->ctx, x->cta, v % c->warps, &x->step)) {
        wait_for(w, x);
        return false;
    }
    if (x->step.waits)
        wait_for(w, x);
    double shared = c->issue > 0 ? w->live / c->issue : 0;      /* the schedulers serve all warps alike */
    x->at += x->step.before * fmax(c->dependent, shared) + x->step.chained * c->lat_l1;
    return true;
}

static void end_warp(struct walk *w, uint32_t slot, double at)
{
    w->end = fmax(w->end, at);
    w->left[slot]--;
    w->live--;
}

static void start_cta(struct walk *w, uint32_t slot, double at)
{
    uint32_t warps = w->c->warps, first = slot * warps, cta = (uint32_t)w->started++;
    w->left[slot] = warps;
    w->live += warps;
    for (uint32_t v = first; v < first + warps; v++) {
        w->walker[v] = (struct walker){ .at = at, .pending = at, .cta = cta };
        if (prepare(w, v))
            heap_add(w, v);
        else
            end_warp(w, slot, w->walker[v].at);
    }
}

/* Room for a CTA from `at` on; those without any step make room at once. */
static void fill_slot(struct walk *w, uint32_t slot, double at)
{
    while (!w->left[slot] && w->started < w->c->ctas)
        start_cta(w, slot, at);
}

/* ---- one instruction ---- */
/* Asked of L2 at `at`: when it arrives. */
static double fetch(struct walk *w, const struct model_walk_line *l, double at)
{
    const struct model_walk_config *c = w->c;
    double ask = queue(&w->l2, at, fmax(l->sectors * c->l2_turn, l->crowd * c->crowd_turn));
    if (l->from != MODEL_FROM_DRAM)
        return ask + c->lat_l2;
    return queue(&w->dram, ask, l->sectors * c->dram_turn) + c->lat_dram;
}

/* Its data is there at the return value; NaN: out of memory. */
static double ask_line(struct walk *w, const struct model_walk_line *l, double at, uint8_t *from)
{
    struct flight *f = flight_of(w, l->line);
    double hit = at + w->c->lat_l1;
    if (!f)
        return (double)NAN;
    *from = MODEL_FROM_L1;
    if (l->from == MODEL_FROM_L1) {
        if (f->ready <= hit)
            return hit;
        *from = f->from;                     /* on its way */
        return f->ready;
    }
    double ready = fetch(w, l, at);
    if (!l->past) {                          /* what goes past L1 is nobody else's */
        f->ready = ready;
        f->from = l->from;
    }
    *from = l->from;
    return ready;
}

/* False: out of memory. */
static bool take_step(struct walk *w, struct walker *x)
{
    const struct model_walk_step *s = &x->step;
    double at = queue(&w->lsu, x->at, s->turns), done = at;
    uint8_t last = MODEL_FROM_L1;
    if (s->data)
        done = queue(&w->data, at, s->data) + w->c->lat_l1;
    for (uint32_t i = 0; i < s->nlines; i++) {
        uint8_t from;
        double turn = at + (i + 1) * s->turns / s->nlines - 1;   /* the unit takes them one after the other */
        double there = ask_line(w, &s->line[i], fmax(turn, at), &from);
        if (isnan(there))
            return false;
        if (there > done) {
            done = there;
            last = from;
        }
    }
    x->at = at + 1;
    if (!s->quiet && done > x->pending) {
        x->pending = done;
        x->from = last;
    }
    return true;
}

static bool walk_all(struct walk *w)
{
    for (uint32_t k = 0; k < w->c->slots; k++)
        fill_slot(w, k, 0);
    while (w->nheap) {
        uint32_t v = w->heap[0];
        if (!take_step(w, &w->walker[v]))
            return false;
        if (prepare(w, v)) {
            heap_down(w);
            continue;
        }
        w->heap[0] = w->heap[--w->nheap];
        if (w->nheap)
            heap_down(w);
        end_warp(w, v / w->c->warps, w->walker[v].at);
        fill_slot(w, v / w->c->warps, w->walker[v].at);
    }
    return true;
}

double model_walk(const struct model_walk_config *c, model_walk_next next, void *ctx, struct model_waits *waits)
{
    size_t n = (size_t)c->slots * c->warps;
    struct walk w = { .c = c, .next = next, .ctx = ctx, .waits = waits };
    *waits = (struct model_waits){ 0 };
    w.walker = base_alloc((n + 1) * sizeof *w.walker);
    w.heap = base_alloc((n + 1) * sizeof *w.heap);
    w.left = base_alloc((c->slots + 1) * sizeof *w.left);
    bool ok = w.walker && w.heap && w.left && walk_all(&w);
    base_free(w.flight);
    base_free(w.walker);
    base_free(w.heap);
    base_free(w.left);
    return ok ? w.end : (double)NAN;
}
