/* An order of CTAs by what they share, whatever the shape of the grid (PAVER, TACO 2021): a cluster grows
 * by the CTA that has most sectors in common with those it holds; where none has any, by the first that is
 * left. Clusters are as large as an SM's part of the grid. */
#include "engine/analysis/cta_graph.h"
#include "engine/base/base.h"
#include "engine/base/list.h"

#include <stdlib.h>
#include <string.h>

#define MOST_PAIRS (UINT64_C(1) << 22)
#define MOST_STEPS (UINT64_C(1) << 29) /* of looking at the neighbours, about a second */

struct list {
    uint32_t first, n;
}; /* of a sector: its CTAs; of a CTA: its sectors */

struct growing {
    uint32_t n, *member; /* CTAs of each sector, one sector behind the other */
    uint32_t *own;       /* sectors of each CTA, the same way */
    struct list *sector, *cta;
    uint64_t *gain; /* sectors in common with the cluster that grows */
    bool *placed;
};

void cta_graph_note(struct cta_graph *g, uint64_t sector, uint32_t cta)
{
    if (g->oom || g->many)
        return;
    if (g->n >= MOST_PAIRS) {
        g->many = true;
        return;
    }
    if (!LIST_PUSH(g->pair, g->n, g->cap, (struct cta_touch){ sector, cta }))
        g->oom = true;
}

void cta_graph_free(struct cta_graph *g)
{
    base_free(g->pair);
    *g = (struct cta_graph){ 0 };
}

static int by_sector(const void *x, const void *y)
{
    const struct cta_touch *a = x, *b = y;
    if (a->sector != b->sector)
        return a->sector < b->sector ? -1 : 1;
    return (a->cta > b->cta) - (a->cta < b->cta);
}

/* Sectors of more than one CTA and fewer than all: what only one has and what all have tells nothing. */
static uint32_t keep_shared(struct cta_graph *g, uint32_t ctas, struct growing *w)
{
    uint32_t sectors = 0;
    size_t kept = 0;
    for (size_t i = 0, end; i < g->n; i = end) {
        uint32_t n = 0;
        for (end = i; end < g->n && g->pair[end].sector == g->pair[i].sector; end++)
            if (end == i || g->pair[end].cta != g->pair[end - 1].cta)
                w->member[kept + n++] = g->pair[end].cta;
        if (n < 2 || n >= ctas)
            continue;
        w->sector[sectors++] = (struct list){ (uint32_t)kept, n };
        kept += n;
    }
    return sectors;
}

static void sectors_of_ctas(struct growing *w, uint32_t sectors)
{
    uint32_t at = 0;
    for (uint32_t s = 0; s < sectors; s++)
        for (uint32_t k = 0; k < w->sector[s].n; k++)
            w->cta[w->member[w->sector[s].first + k]].n++;
    for (uint32_t c = 0; c < w->n; c++) {
        w->cta[c].first = at;
        at += w->cta[c].n;
        w->cta[c].n = 0;
    }
    for (uint32_t s = 0; s < sectors; s++)
        for (uint32_t k = 0; k < w->sector[s].n; k++) {
            struct list *of = &w->cta[w->member[w->sector[s].first + k]];
            w->own[of->first + of->n++] = s;
        }
}

static void place(struct growing *w, uint32_t cta)
{
    w->placed[cta] = true;
    for (uint32_t i = 0; i < w->cta[cta].n; i++) {
        struct list of = w->sector[w->own[w->cta[cta].first + i]];
        for (uint32_t k = 0; k < of.n; k++)
            w->gain[w->member[of.first + k]]++;
    }
}

static uint32_t nearest(const struct growing *w)
{
    uint32_t best = w->n;
    for (uint32_t c = 0; c < w->n; c++)
        if (!w->placed[c] && (best == w->n || w->gain[c] > w->gain[best]))
            best = c;
    return best;
}

static void grow(struct growing *w, uint32_t clusters, uint32_t *order)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < clusters; i++) {
        uint32_t size = w->n / clusters + (i < w->n % clusters);
        memset(w->gain, 0, sizeof *w->gain * w->n);
        for (uint32_t k = 0; k < size; k++) {
            order[at] = nearest(w);
            place(w, order[at++]);
        }
    }
}

static bool affordable(const struct growing *w, uint32_t sectors)
{
    uint64_t steps = (uint64_t)w->n * w->n;
    for (uint32_t s = 0; s < sectors; s++)
        steps += (uint64_t)w->sector[s].n * w->sector[s].n;
    return steps <= MOST_STEPS;
}

const char *cta_graph_order(struct cta_graph *g, uint32_t ctas, uint32_t clusters, uint32_t *order)
{
    struct growing w = { .n = ctas };
    const char *why = NULL;
    w.member = base_alloc(sizeof *w.member * (g->n + 1));
    w.own = base_alloc(sizeof *w.own * (g->n + 1));
    w.sector = base_alloc(sizeof *w.sector * (g->n + 1));
    w.cta = base_alloc(sizeof *w.cta * (ctas + 1));
    w.gain = base_alloc(sizeof *w.gain * (ctas + 1));
    w.placed = base_alloc(sizeof *w.placed * (ctas + 1));
    if (g->oom || !w.member || !w.own || !w.sector || !w.cta || !w.gain || !w.placed) {
        why = "out of memory";
    } else if (g->many) {
        why = "its CTAs touch too many sectors";
    } else {
        qsort(g->pair, g->n, sizeof *g->pair, by_sector);
        uint32_t sectors = keep_shared(g, ctas, &w);
        sectors_of_ctas(&w, sectors);
        if (!sectors)
            why = "no sector has several CTAs, and not all of them";
        else if (!affordable(&w, sectors))
            why = "it has too many edges";
        else
            grow(&w, clusters && clusters < ctas ? clusters : ctas, order);
    }
    BASE_FREE(w.member, w.own, w.sector, w.cta, w.gain, w.placed);
    return why;
}
