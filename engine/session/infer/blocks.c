/* Block shapes to try, best first: what index arithmetic and shared arrays were made for, what the
 * kernel says it takes at most, then common ones.
 *
 *   t, c   steps of an address from a thread, a CTA to the next: where both are fixed by the text, c / t
 *          is how many indices a CTA covers, and t.y / t.x how many threads a row of the block has
 *   shared arrays: a row is t.y long, and the block as high as the array has rows; an array without
 *          rows has an element for each thread */
#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/session/infer/infer.h"
#include "engine/session/infer/shape.h"

#include <string.h>

enum { MOST_THREADS = 1024, MOST_COVERED = 2000, MOST_CHUNK = 64, LANES = 32 };

static const struct dim3u common[GUESS_DIMS][8] = {
    { { 256, 1, 1 },
      { 128, 1, 1 },
      { 64, 1, 1 },
      { 32, 1, 1 },
      { 512, 1, 1 },
      { 1024, 1, 1 },
      { 16, 1, 1 },
      { 8, 1, 1 } },
    { { 16, 16, 1 },
      { 32, 8, 1 },
      { 32, 32, 1 },
      { 8, 8, 1 },
      { 32, 4, 1 },
      { 16, 8, 1 },
      { 8, 16, 1 },
      { 32, 16, 1 } },
    { { 8, 8, 4 },
      { 32, 4, 2 },
      { 4, 4, 4 },
      { 8, 8, 8 },
      { 32, 8, 1 },
      { 16, 4, 4 },
      { 16, 16, 1 },
      { 8, 8, 1 } },
};
/* CTAs that cover more than their threads. */
static const struct block_guess wide[GUESS_DIMS][1] = {
    { { { 256, 1, 1 }, { 1024, 1, 1 }, false, INFER_COMMON } },
    { { { 32, 8, 1 }, { 32, 32, 1 }, false, INFER_COMMON } },
    { { { 8, 8, 4 }, { 8, 8, 8 }, false, INFER_COMMON } },
};

/* .reqntid is the block, .maxntid the most threads of one. */
static void add(struct guess *g, struct dim3u block, struct dim3u covers, bool fixed,
                enum infer_construct why)
{
    const struct dim_directive *r = &g->f->reqntid, *m = &g->f->maxntid;
    if (g->shape.one_thread) {
        block = covers = (struct dim3u){ 1, 1, 1 };
        why = INFER_ONE;
    }
    if (r->x) {
        block = (struct dim3u){ r->x, r->y, r->z };
        why = INFER_REQUIRED;
    }
    if (g->asked.block.x)
        block = g->asked.block;
    while (m->x && dim3u_count(block) > (uint64_t)m->x * m->y * m->z)
        *(block.z > 1 ? &block.z : block.y > 1 ? &block.y : &block.x) /= 2;
    if (!covers.x) {
        covers = block;
        covers.x *= g->chunk;
    }
    for (unsigned k = 0; k < g->nblocks; k++)
        if (dim3u_same(g->blocks[k].block, block) && dim3u_same(g->blocks[k].covers, covers))
            return;
    if (dim3u_count(block) > MOST_THREADS || g->nblocks == INFER_BLOCKS)
        return;
    g->blocks[g->nblocks++] = (struct block_guess){ block, covers, fixed, why };
}

/* How often b goes into a, where that is a whole number of 2 to `most`; else 0. */
static uint32_t ratio(int64_t a, int64_t b, int64_t most)
{
    a = a < 0 && a > INT64_MIN ? -a : a;
    b = b < 0 && b > INT64_MIN ? -b : b;
    return a > 0 && b > 0 && a % b == 0 && a / b >= 2 && a / b <= most ? (uint32_t)(a / b) : 0;
}

/* Indices along each axis that a CTA covers, by one address; 1 where it does not tell. */
static struct dim3u covered(const int64_t s[ANA_STEPS])
{
    uint32_t c[3];
    for (int d = 0; d < 3; d++) {
        c[d] = ratio(s[3 + d], s[d], MOST_COVERED);
        c[d] = c[d] ? c[d] : 1;
    }
    return (struct dim3u){ c[0], c[1], c[2] };
}

/* How many blocks' indices along x a CTA takes by one address, as (ctaid * 8 * ntid + tid) does; 0: it does not tell. */
static uint32_t chunk_of(const struct ana_access *a)
{
    uint64_t each = ratio(a->step[3], a->step[0], (int64_t)ANA_STEP_SIZE * MOST_CHUNK);
    return a->space == PTX_SPACE_GLOBAL && each % ANA_STEP_SIZE == 0 ? (uint32_t)(each / ANA_STEP_SIZE)
                                                                     : 0;
}

static uint32_t least_chunk(const struct guess *g)
{
    uint32_t least = 0;
    for (uint32_t k = 0; k < g->facts->naccess; k++) {
        const struct ana_access *a = &g->facts->access[k];
        uint32_t c = a->stepped && !a->prefetch ? chunk_of(a) : 0;
        least = c && (!least || c < least) ? c : least;
    }
    return least ? least : 1;
}

/* The block counted along x in rows of a fixed length, as y * 16 + x is. */
static void add_rows(struct guess *g, const int64_t s[ANA_STEPS])
{
    uint32_t row = ratio(s[1], s[0], MOST_THREADS), all = ratio(s[3], s[0], MOST_COVERED);
    uint32_t plane = ratio(s[2], s[0], MOST_THREADS);
    bool cube = g->shape.block_dims > 2 && row && plane > row && plane % row == 0 &&
                (uint64_t)plane * (plane / row) <= MOST_THREADS;
    for (uint32_t part = 1; cube && part < 3; part++) /* half of it, where a thread adds two up */
        add(g, (struct dim3u){ row, plane / row, plane / row / part }, (struct dim3u){ 0 }, false,
            INFER_ROWS);
    if (row && g->shape.block_dims == 2 && row <= LANES && !all)
        add(g, (struct dim3u){ row, row, 1 }, (struct dim3u){ 0 }, false, INFER_ROWS);
    if (row && all && all % row == 0 && all / row > 1 && all <= MOST_THREADS)
        add(g, (struct dim3u){ row, all / row, 1 }, (struct dim3u){ all, 1, 1 }, true, INFER_ROWS);
}

/* As many threads as a CTA covers, or a part of them where that is more than a block has, or has by
 * habit. */
static void add_covered(struct guess *g, const int64_t s[ANA_STEPS])
{
    static const uint32_t warps[] = { 128, 256, 64, 32 };
    struct dim3u c = covered(s), b = c;
    if (dim3u_count(c) == 1)
        return;
    if (g->shape.block_dims == 1 && c.y * c.z > 1) { /* a tile for warps, as of a product of matrices */
        for (size_t k = 0; k < ARRAY_LEN(warps); k++)
            add(g, (struct dim3u){ warps[k], 1, 1 }, c, true, INFER_COVERED);
        return;
    }
    if (c.y == 1 && g->shape.block_dims > 1 && c.x <= MOST_THREADS)
        b.y = c.x * 8 <= 256 ? 8 : 1;
    for (unsigned k = 0; k < 3; k++) {
        while (dim3u_count(b) > MOST_THREADS)
            *(b.z > 1 ? &b.z : b.y > 1 ? &b.y : &b.x) /= 2;
        add(g, b, c.y == 1 && g->shape.block_dims > 1 ? (struct dim3u){ 0 } : c, true, INFER_COVERED);
        *(b.z > 1 ? &b.z : b.y > 1 ? &b.y : &b.x) /= 2;
        if (b.x < 2)
            return;
    }
}

/* Stores to the same buffer, as far apart from thread to thread, in no loop: one over a part of the tile that was unrolled. */
static uint32_t unrolled(const struct guess *g, const struct ana_access *a)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < g->facts->naccess; k++) {
        const struct ana_access *b = &g->facts->access[k];
        n += b->store && b->stepped && !b->loops && b->space == a->space && b->param == a->param &&
             !memcmp(b->step, a->step, 6 * sizeof *a->step);
    }
    return n;
}

/* Where the text says along each axis what a CTA covers: as many threads; where each stores several elements, as many as
 * are left along the longer axis, or along both. */
static void add_unrolled(struct guess *g, const struct ana_access *a)
{
    struct dim3u c = covered(a->step), b = c;
    uint32_t n = a->param < 0 || a->loops || a->step[0] != a->bytes ? 1 : unrolled(g, a), root = 1;
    while (root * root < n)
        root++;
    if (c.x < 2 || g->shape.block_dims > 2 || (c.y > 1) != (g->shape.block_dims == 2) || c.y * n == 1)
        return;
    if (root * root == n && c.x == c.y && c.x % root == 0)
        add(g, (struct dim3u){ c.x / root, c.y / root, 1 }, c, true, INFER_COVERED);
    *(c.x > c.y ? &b.x : &b.y) /= n;
    bool along = (c.x > c.y ? c.x : c.y) % n == 0 && dim3u_count(b) >= LANES;
    if (along || c.y > 1)
        add(g, along ? b : c, c, true, INFER_COVERED);
}

static const struct ptx_symbol *shared_array(const struct guess *g, const struct ana_access *a)
{
    const struct ptx_module *m = g->facts->module;
    const struct ptx_func *f = m->funcs[a->func];
    if (a->space != PTX_SPACE_SHARED || !a->array)
        return NULL;
    for (uint32_t i = 0; i < f->nvars; i++)
        if (f->vars[i]->space == PTX_SPACE_SHARED && str_is(f->vars[i]->name, a->array))
            return f->vars[i];
    for (uint32_t i = 0; i < m->nglobals; i++)
        if (m->globals[i]->space == PTX_SPACE_SHARED && str_is(m->globals[i]->name, a->array))
            return m->globals[i];
    return NULL;
}

/* Whole warps, or a part of one. */
static void add_rows_of(struct guess *g, struct dim3u block)
{
    uint64_t n = dim3u_count(block);
    if (n % LANES == 0 || (n < LANES && !(n & (n - 1))))
        add(g, block, (struct dim3u){ 0 }, false, INFER_SHARED);
}

static void add_shared(struct guess *g, const struct ana_access *a)
{
    const struct ptx_symbol *s = shared_array(g, a);
    const int64_t *t = a->step;
    if (!s || s->unsized || t[0] <= 0)
        return;
    if (g->shape.block_dims == 2 && t[1] == t[0] * ANA_STEP_SIZE) { /* an element for each of all */
        uint64_t all = s->bytes / (uint64_t)t[0];
        for (uint32_t x = 16; x <= LANES && all > LANES && all < 256;
             x *= 2) /* common blocks have 256 */
            if (all / x <= x)
                add_rows_of(g, (struct dim3u){ x, (uint32_t)all / x, 1 });
        return;
    }
    bool turned = t[1] > 0 && t[1] < t[0]; /* x counts rows */
    int64_t one = turned ? t[1] : t[0];
    uint32_t row = ratio(turned ? t[0] : t[1], one, MOST_THREADS),
             all = ratio((int64_t)s->bytes, one, MOST_COVERED);
    if (all <= LANES) /* an element for each warp, or a few counters: common blocks come down to it */
        return;
    if (row && all > row) /* one more than the row: padding against bank conflicts */
        for (uint32_t k = 0; k < 2; k++)
            add_rows_of(g, turned ? (struct dim3u){ all / row, row - k, 1 }
                                  : (struct dim3u){ row - k, all / row, 1 });
    else if (!t[1] && !t[2] && all <= MOST_THREADS) {
        /* rows that a loop walks are as long as the block */
        uint32_t length = ratio(t[6], t[0], MOST_THREADS);
        for (uint32_t k = 0; k < 2 && length > 1; k++)
            add_rows_of(g, (struct dim3u){ length - k, 1, 1 });
        add_rows_of(g, (struct dim3u){ all, 1, 1 });
    }
}

/* Lanes that work together and none of whose threads asks which it is, or that no CTA and no shared memory brings
 * together with others: one warp; of a product of matrices, a tile of it. */
static void add_warp(struct guess *g)
{
    const struct infer_shape *s = &g->shape;
    if (s->lanes && (!s->threads || (!s->tiles && !s->cta[0] && !s->cta[1])))
        add(g, (struct dim3u){ LANES, 1, 1 },
            s->threads || !s->tile[0] ? (struct dim3u){ 0 }
                                      : (struct dim3u){ s->tile[0], s->tile[1], 1 },
            true, INFER_WARP);
    if (s->lanes && s->threads && s->block_dims == 2 && !s->products)
        for (uint32_t y = 4; y <= 8; y *= 2)
            add(g, (struct dim3u){ LANES, y, 1 }, (struct dim3u){ 0 }, false, INFER_LANES);
}

void infer_blocks(struct guess *g)
{
    const struct dim_directive *m = &g->f->maxntid;
    unsigned dims = g->shape.block_dims - 1;
    g->nblocks = 0;
    g->chunk = least_chunk(g);
    add_warp(g);
    if (m->x &&
        (g->shape.tiles || g->shape.products)) /* what shares memory was compiled for that block */
        add(g, (struct dim3u){ m->x, m->y, m->z }, (struct dim3u){ 0 }, false, INFER_MOST);
    for (unsigned round = 0; round < 4; round++)
        for (uint32_t k = 0; k < g->facts->naccess && g->nblocks < INFER_BLOCKS - 9; k++) {
            const struct ana_access *a = &g->facts->access[k];
            if (!a->stepped || a->prefetch)
                continue;
            if (round == 0 && a->space == PTX_SPACE_GLOBAL && a->store)
                add_unrolled(g, a);
            else if (round == 1)
                add_rows(g, a->step);
            else if (round == 2)
                add_shared(g, a);
            else if (round == 3 && a->space == PTX_SPACE_GLOBAL && a->store)
                add_covered(g, a->step);
        }
    if (m->x)
        add(g, (struct dim3u){ m->x, m->y, m->z }, (struct dim3u){ 0 }, false, INFER_MOST);
    if (dims == 0 && g->shape.beyond >= common[0][0].x) /* common ones would leave nobody behind it */
        add(g, (struct dim3u){ g->shape.beyond * 2, 1, 1 }, (struct dim3u){ 0 }, false, INFER_BEYOND);
    for (unsigned k = 0; k < 8; k++) {
        if (dims || !g->shape.lanes || common[0][k].x >= LANES)
            add(g, common[dims][k], (struct dim3u){ 0 }, false, INFER_COMMON);
        if (k == 1)
            add(g, wide[dims][0].block, wide[dims][0].covers, false, INFER_COMMON);
    }
}
