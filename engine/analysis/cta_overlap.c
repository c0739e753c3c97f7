/* What a CTA shares with the next one, from the addresses alone: the assumed launch's
 * first iterations. With a launch, share.c probes the real ones. */
#include "engine/analysis/closed_form.h"
#include "engine/analysis/facts.h"

#include <stdlib.h>

struct touched {
    uint64_t *at;
    uint32_t n;
}; /* where threads access; later which blocks, sorted */

static int by_value(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}
/* Distinct blocks of 2^shift bytes that the accesses touch, sorted; out has room for bytes/2^shift + 2
 * per access. */
static uint32_t blocks(const struct touched *t, unsigned bytes, unsigned shift, uint64_t *out)
{
    uint32_t n = 0, kept = 0;
    for (uint32_t i = 0; i < t->n; i++)
        for (uint64_t b = t->at[i] >> shift; b <= (t->at[i] + bytes - 1) >> shift; b++)
            out[n++] = b;
    uint32_t ascending = 1; /* as the addresses of most kernels are */
    while (ascending < n && out[ascending] >= out[ascending - 1])
        ascending++;
    if (ascending < n)
        qsort(out, n, sizeof *out, by_value);
    for (uint32_t i = 0; i < n; i++)
        if (!i || out[i] != out[i - 1])
            out[kept++] = out[i];
    return kept;
}
static uint64_t common(const uint64_t *a, uint32_t na, const uint64_t *b, uint32_t nb)
{
    uint64_t n = 0;
    for (uint32_t i = 0, j = 0; i < na && j < nb;) {
        n += a[i] == b[j];
        uint64_t least = a[i] < b[j] ? a[i] : b[j];
        i += a[i] == least;
        j += b[j] == least;
    }
    return n;
}
static bool touches(struct facts *f, const struct fact *x, const uint32_t cta[3], struct touched *t)
{
    t->n = 0;
    for (uint32_t c = 0; c < x->nctx; c++) {
        struct eval_access a = *x->ctx[c];
        a.space = x->space;
        if (!closed_form_first(&f->v, &a, cta, t->at, &t->n))
            return false;
    }
    return t->n > 0;
}
static void overlap(const struct touched *a, const struct touched *b, unsigned bytes, uint64_t *room[2],
                    struct fact_overlap *o)
{
    static const unsigned shift[3] = { 0, 5, 7 }; /* bytes, sectors, lines */
    uint64_t both[3], of[3];
    for (int i = 0; i < 3; i++) {
        uint32_t na = blocks(a, bytes, shift[i], room[0]), nb = blocks(b, bytes, shift[i], room[1]);
        both[i] = common(room[0], na, room[1], nb);
        of[i] = na;
    }
    *o = (struct fact_overlap){
        .bytes = both[0], .sectors = both[1], .lines = both[2], .of_bytes = of[0], .of_lines = of[2]
    };
}
/* Bytes of one CTA's accesses that are sorted at most: more is left unknown, as addresses that cannot be
 * followed are. */
#define MOST_BYTES (UINT64_C(1) << 22)

static bool too_many(const struct facts *f, const struct fact *x)
{
    uint64_t bytes = (uint64_t)x->nctx * env_threads(&f->v) * (x->bytes + 2u);
    return bytes > (f->o->budget && f->o->budget < MOST_BYTES ? f->o->budget : MOST_BYTES);
}

void cta_overlap_assumed(struct facts *f, struct fact *x)
{
    if (too_many(f, x))
        return;
    uint32_t most = x->nctx * env_threads(&f->v);
    size_t blocks_most = (size_t)most * (x->bytes + 2u);
    struct touched here = { base_alloc(sizeof *here.at * (most + 1)), 0 },
                   next = { base_alloc(sizeof *next.at * (most + 1)), 0 };
    uint64_t *room[2] = { base_alloc(sizeof *room[0] * (blocks_most + 1)),
                          base_alloc(sizeof *room[1] * (blocks_most + 1)) };
    static const uint32_t first[3];
    if (here.at && next.at && room[0] && room[1] && touches(f, x, first, &here))
        for (unsigned d = 0; d < 3; d++) {
            uint32_t cta[3] = { d == 0, d == 1, d == 2 };
            if (touches(f, x, cta, &next))
                overlap(&here, &next, x->bytes, room, &x->near[d]);
        }
    BASE_FREE(here.at, next.at, room[0], room[1]);
}
