/* tiles: do the tiles of a persistent kernel depend on each other, or on the order they are done in?
 *
 * The original and the kernel with the order that is asked for run once each on a simulated device, with
 * their tiles marked (PASS_SURVEY_TILES). Each access of a warp counts for the tile it is at:
 *
 *   global memory  is written by one tile alone, and no tile reads what another writes
 *   shared memory  is read by the tile that wrote it, or was written before the first tile
 *   each tile      makes the same accesses in both, with those of its CTA before the first tile: the
 *                  same places of global memory, and of shared memory what the same warp wrote in the
 *                  same of its accesses
 *
 * Values follow from these where no address and no branch follows from data, and no value from the turn
 * (engine/rewrites/tiles/turns.c): then it holds for all data of a launch of this size. */
#include "engine/ptx/ptx.h"
#include "engine/rec/data.h"
#include "engine/rec/elem.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/opt_schedule.h"
#include "engine/rec/result.h"
#include "engine/sim/sim.h"
#include "engine/tune/tune_int.h"

#include <stdio.h>
#include <string.h>

#define NO_TILE ((uint32_t)PASS_TILES_MOST)
#define PAGE    1024u
#define WARPS   64u
#define UNIT    16u
/* of what is remembered of global memory */
#define REMEMBERED_MOST (UINT64_C(1) << 30)

/* Of a byte of shared memory: the tile that wrote it, and 1; which access of which warp; which of its
 * bytes. */
struct written {
    uint32_t tile, by, place;
};
/* Where one access wrote all of it, of its first byte. */
struct unit {
    struct written of[UNIT];
    bool split;
};
struct warp_at {
    uint32_t tile, n; /* accesses of it so far */
    uint64_t hash;    /* of them, and of those before the first tile */
    uint64_t before;  /* of those alone */
};
struct page {
    uint64_t at;         /* address / PAGE, and 1 */
    uint32_t tile[PAGE]; /* by byte: the tile that writes it, and 1 */
};
struct marked {
    bool first; /* the original: what it writes is remembered */
    uint64_t marks, cta;
    bool begun;
    uint8_t *seen; /* by CTA */
    uint64_t nctas;
    struct warp_at warp[WARPS];
    struct unit *unit; /* of shared memory */
    uint64_t nunits;
    uint64_t *hash;     /* by tile */
    struct page **page; /* open addressing */
    size_t npages, cap;
    bool oom;
    char why[240]; /* empty: nothing against it so far */
};

static uint64_t mix(uint64_t h, uint64_t v)
{
    return base_splitmix(h ^ v, h >> 32);
}

static void against(struct marked *m, const char *what, uint32_t tile, uint32_t other, uint64_t at)
{
    if (m->why[0])
        return;
    if (other < NO_TILE)
        snprintf(m->why, sizeof m->why, "tile %u %s tile %u (address 0x%llx)", tile, what, other,
                 (unsigned long long)at);
    else if (tile < NO_TILE)
        snprintf(m->why, sizeof m->why, "tile %u %s (address 0x%llx)", tile, what,
                 (unsigned long long)at);
    else
        snprintf(m->why, sizeof m->why, "%s (address 0x%llx)", what, (unsigned long long)at);
}

/* ---- global memory ---- */
static struct page **slot_of(struct marked *m, uint64_t at)
{
    size_t i = (size_t)base_splitmix(at, 0) & (m->cap - 1);
    while (m->page[i] && m->page[i]->at != at)
        i = (i + 1) & (m->cap - 1);
    return &m->page[i];
}

static bool more_pages(struct marked *m)
{
    struct page **was = m->page;
    size_t cap = m->cap;
    m->cap = cap ? 2 * cap : 1024;
    m->page = base_alloc(m->cap * sizeof *m->page);
    for (size_t i = 0; m->page && i < cap; i++)
        if (was[i])
            *slot_of(m, was[i]->at) = was[i];
    if (!m->page) {
        m->page = was;
        m->cap = cap;
        return false;
    }
    base_free(was);
    return true;
}

/* The page of this byte; NULL: there is none (make: no memory, or too much, which is told). */
static struct page *page_of(struct marked *m, uint64_t addr, bool make)
{
    if (!m->cap && !make)
        return NULL;
    if (make && 2 * m->npages >= m->cap && !more_pages(m))
        return NULL;
    struct page **p = slot_of(m, addr / PAGE + 1);
    bool full = m->npages * sizeof **p >= REMEMBERED_MOST;
    if (!*p && make && full)
        against(m, "more global memory is written than is followed", NO_TILE, NO_TILE, addr);
    if (!*p && make && !full && (*p = base_alloc(sizeof **p))) {
        (*p)->at = addr / PAGE + 1;
        m->npages++;
    }
    return *p;
}

/* An access does not leave its page: it is aligned. */
static void write_global(struct marked *m, const struct warp_at *w, uint64_t addr, uint32_t n)
{
    struct page *p = page_of(m, addr, true);
    m->oom |= !p && !m->why[0];
    if (w->tile == NO_TILE)
        against(m, "global memory is written outside of the tiles", NO_TILE, NO_TILE, addr);
    for (uint32_t k = 0; p && k < n && addr % PAGE + k < PAGE; k++) {
        uint32_t *by = &p->tile[addr % PAGE + k];
        if (*by && *by != w->tile + 1)
            against(m, "writes global memory that is also written by", w->tile, *by - 1, addr + k);
        *by = w->tile + 1;
    }
}

/* What the whole launch writes is known once the original has run. */
static void read_global(struct marked *m, const struct warp_at *w, uint64_t addr, uint32_t n)
{
    const struct page *p = m->first ? NULL : page_of(m, addr, false);
    for (uint32_t k = 0; p && k < n && addr % PAGE + k < PAGE; k++) {
        uint32_t by = p->tile[addr % PAGE + k];
        if (by && by != w->tile + 1)
            against(m, "reads global memory that is written by", w->tile, by - 1, addr + k);
    }
}

static void use_global(struct marked *m, struct warp_at *w, const struct sim_touch *t, uint32_t lane)
{
    w->hash = mix(w->hash, t->addr[lane]);
    if (t->writes)
        write_global(m, w, t->addr[lane], t->bytes);
    else
        read_global(m, w, t->addr[lane], t->bytes);
}

/* ---- shared memory ---- */
/* There are units up to this address. */
static bool reach(struct marked *m, uint64_t end)
{
    if (end <= m->nunits * UNIT)
        return true;
    uint64_t n = (end / UNIT + 1) * 2;
    struct unit *more = base_alloc((size_t)n * sizeof *more);
    if (!more) {
        m->oom = true;
        return false;
    }
    if (m->nunits)
        memcpy(more, m->unit, (size_t)m->nunits * sizeof *more);
    base_free(m->unit);
    m->unit = more;
    m->nunits = n;
    return true;
}

static struct written written_at(const struct marked *m, uint64_t addr)
{
    const struct unit *u = &m->unit[addr / UNIT];
    struct written x = u->of[u->split ? addr % UNIT : 0];
    x.place += u->split ? 0 : (uint32_t)(addr % UNIT);
    return x;
}

static void split(struct unit *u)
{
    for (uint32_t k = 1; k < UNIT && !u->split; k++)
        u->of[k] = (struct written){ u->of[0].tile, u->of[0].by, u->of[0].place + k };
    u->split = true;
}

static void write_shared(struct marked *m, const struct warp_at *w, const struct sim_touch *t,
                         uint32_t lane)
{
    uint64_t by = mix(t->warp, w->n);
    struct written x = { w->tile + 1, (uint32_t)(w->tile == NO_TILE ? mix(by, w->hash) : by), 0 };
    uint64_t at = t->addr[lane], end = at + t->bytes;
    if (!reach(m, end))
        return;
    for (; at < end; at += at % UNIT == 0 && end - at >= UNIT ? UNIT : 1) {
        struct unit *u = &m->unit[at / UNIT];
        bool whole = at % UNIT == 0 && end - at >= UNIT;
        x.place = lane << 16 | (uint32_t)(at - t->addr[lane]);
        if (whole)
            u->split = false;
        else
            split(u);
        u->of[at % UNIT] = x;
    }
}

/* Bytes that lie as they were written are taken together. */
static void read_shared(struct marked *m, struct warp_at *w, const struct sim_touch *t, uint32_t lane)
{
    struct written last = { 0 };
    uint64_t from = t->addr[lane], end = from + t->bytes;
    if (!reach(m, end))
        return;
    for (uint64_t at = from; at < end; at = m->unit[at / UNIT].split ? at + 1 : (at / UNIT + 1) * UNIT) {
        struct written x = written_at(m, at);
        bool on = at > from && x.tile == last.tile && x.by == last.by &&
                  x.place - last.place == (uint32_t)(at - from);
        if (on)
            continue;
        if (!x.tile)
            against(m, "reads shared memory that nobody wrote", w->tile, NO_TILE, at);
        else if (x.tile - 1 != w->tile && x.tile - 1 != NO_TILE)
            against(m, "reads shared memory that was written by", w->tile, x.tile - 1, at);
        w->hash = mix(w->hash, (uint64_t)x.by << 32 | x.place);
        w->hash += (at - from) << 1 | (x.tile - 1 == NO_TILE);
        last = x;
        last.place -= (uint32_t)(at - from);
    }
}

/* ---- accesses ---- */
static void leave(struct marked *m, struct warp_at *w, uint32_t warp)
{
    if (w->tile < NO_TILE)
        m->hash[w->tile] += mix(w->hash, warp);
}

static void leave_all(struct marked *m)
{
    for (uint32_t k = 0; k < WARPS; k++) {
        leave(m, &m->warp[k], k);
        m->warp[k] = (struct warp_at){ .tile = NO_TILE };
    }
}

/* CTAs run one after the other. */
static bool enter_cta(struct marked *m, uint32_t cta)
{
    if (m->begun && m->cta == cta)
        return true;
    leave_all(m);
    m->begun = true;
    m->cta = cta;
    for (uint64_t k = 0; k < m->nunits; k++) {
        m->unit[k].split = false;
        m->unit[k].of[0] = (struct written){ 0 };
    }
    if (cta >= m->nctas || m->seen[cta])
        against(m, "CTAs wait for each other", NO_TILE, NO_TILE, 0);
    else
        m->seen[cta] = 1;
    return !m->why[0];
}

static void mark(struct marked *m, struct warp_at *w, const struct sim_touch *t, uint32_t tile)
{
    for (uint32_t lane = 0; lane < 32; lane++)
        if (t->mask >> lane & 1 && t->addr[lane] - m->marks != tile)
            against(m, "threads of a warp are at several tiles at once", NO_TILE, NO_TILE,
                    t->addr[lane]);
    if (tile == NO_TILE - 1)
        against(m, "there are more tiles than are followed", NO_TILE, NO_TILE, tile);
    if (tile == w->tile)
        return;
    leave(m, w, t->warp);
    if (w->tile == NO_TILE && !w->before)
        w->before = w->hash | 1;
    *w = (struct warp_at){ .tile = tile, .hash = w->before, .before = w->before };
}

static void access(struct marked *m, struct warp_at *w, const struct sim_touch *t)
{
    w->n++;
    w->hash = mix(w->hash, (uint64_t)t->mask << 32 | t->bytes << 3 | (unsigned)t->shared << 2 |
                               (unsigned)t->reads << 1 | t->writes);
    for (uint32_t rest = t->mask; rest && !m->why[0] && !m->oom; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        if (t->shared && t->writes)
            write_shared(m, w, t, lane);
        else if (t->shared)
            read_shared(m, w, t, lane);
        else
            use_global(m, w, t, lane);
    }
}

static void on_touch(void *ctx, const struct sim_touch *t)
{
    struct marked *m = ctx;
    if (m->why[0] || m->oom || t->warp >= WARPS || !enter_cta(m, t->cta) || !t->mask)
        return;
    struct warp_at *w = &m->warp[t->warp];
    uint64_t at = t->addr[__builtin_ctz(t->mask)];
    if (!t->shared && at - m->marks <= NO_TILE)
        mark(m, w, t, (uint32_t)(at - m->marks));
    else if (!(t->shared && t->reads && t->writes)) /* an mbarrier */
        access(m, w, t);
}

/* ---- launches ---- */
struct tune_tiles {
    struct tune_bench *b;
    struct dev *dev;
    struct dev_data *data;
    struct marked m;
    uint64_t *original; /* by tile: its accesses as the kernel is written */
    bool ran;           /* the original did */
    struct answer {
        struct options o; /* the order alone counts */
        char why[240];    /* empty: tiles are independent */
    } * answer;
    size_t n, cap;
};

static void on_progress(void *ctx, double done)
{
    const struct tune_bench *b = ctx;
    if (b->observer && b->observer->progress)
        b->observer->progress(b->observer->ctx, done, "tiles");
}

static enum status run_marked(struct tune_tiles *x, const struct options *o, uint64_t *hash,
                              struct diags *ds)
{
    struct tune_job j = { 0 };
    struct dev_code *c = NULL;
    struct result r = result_empty();
    struct pass_input in = tune_input(&x->b->subject, o);
    enum status st = pass_apply_survey(&in, PASS_SURVEY_TILES, NULL, &j.code, ds);
    struct str text = { j.code.text, j.code.n };
    if (st == ST_OK)
        st = dev_load(x->dev, x->b->subject.module->path, text,
                      str_of(launch_kernel(x->b->subject.launch)), 0, &c, ds);
    if (st == ST_OK) {
        tune_fill_run(x->b, o, &j, true);
        j.run.persist = STR("");
        j.run.nset = j.run.nzero = 0;
        j.run.serial = true;
        j.run.check_races = j.run.check_uninit = false;
        j.run.touch = (struct sim_told){ on_touch, &x->m, true, PASS_TILES_SYMBOL, &x->m.marks };
        j.run.max_insts = BESIDE_INSTS;
        j.run.cancel = tune_cancel(x->b);
        j.run.progress = on_progress;
        j.run.ctx = x->b;
        x->m.first = !x->ran;
        x->m.hash = hash;
        x->m.begun = false;
        memset(x->m.seen, 0, (size_t)x->m.nctas);
        st = dev_launch(x->dev, c, x->data, &j.run, &r, ds);
        leave_all(&x->m);
    }
    if (st == ST_OK && r.status != ST_OK && !x->m.why[0])
        snprintf(x->m.why, sizeof x->m.why, "the launch with marked tiles does not run: %.150s",
                 r.message);
    if (c)
        dev_unload(x->dev, c);
    pass_output_free(&j.code);
    return st == ST_OK && x->m.oom ? ST_NOMEM : st;
}

static enum status run_original(struct tune_tiles *x, struct diags *ds)
{
    struct options o = options_default();
    opt_schedule(&o)->tile_order.kind = TILES_ROW;
    enum status st = run_marked(x, &o, x->original, ds);
    x->ran = st == ST_OK;
    return st;
}

static enum status run_ordered(struct tune_tiles *x, const struct options *from, struct diags *ds)
{
    struct options o = options_default();
    uint64_t *hash = base_alloc(((size_t)NO_TILE + 1) * sizeof *hash);
    opt_schedule(&o)->tile_order = opt_schedule(from)->tile_order;
    opt_schedule(&o)->tile_width = opt_schedule(from)->tile_width;
    enum status st = hash ? run_marked(x, &o, hash, ds) : ST_NOMEM;
    for (uint32_t k = 0; st == ST_OK && !x->m.why[0] && k < NO_TILE; k++)
        if (hash[k] != x->original[k])
            snprintf(x->m.why, sizeof x->m.why,
                     "tile %u makes other accesses where it is done in another turn", k);
    base_free(hash);
    return st;
}

/* As for proofs: beside a GPU or a worker the data may be far more than is simulated. */
static bool too_large(const struct tune_bench *b)
{
    return b->opts.prover && b->subject.data->total_bytes > BESIDE_BYTES;
}

static enum status open_tiles(struct tune_bench *b, struct diags *ds)
{
    struct tune_tiles *x = b->tiles = base_alloc(sizeof *x);
    if (!x)
        return ST_NOMEM;
    x->b = b;
    x->dev = b->opts.prover ? b->opts.prover : b->subject.dev;
    x->m.nctas = dim3u_count(launch_grid(b->subject.launch));
    x->m.seen = base_alloc((size_t)x->m.nctas + 1);
    x->original = base_alloc(((size_t)NO_TILE + 1) * sizeof *x->original);
    for (uint32_t k = 0; k < WARPS; k++)
        x->m.warp[k].tile = NO_TILE;
    if (!x->m.seen || !x->original)
        return ST_NOMEM;
    enum status st = dev_bind(x->dev, b->subject.data, &x->data, ds);
    return st == ST_OK ? run_original(x, ds) : st;
}

static bool same_order(const struct options *a, const struct options *b)
{
    const struct opt_schedule *x = opt_schedule(a), *y = opt_schedule(b);
    return x->tile_order.kind == y->tile_order.kind && x->tile_order.tx == y->tile_order.tx &&
           x->tile_order.ty == y->tile_order.ty && x->tile_width == y->tile_width;
}

/* What speaks against the order; empty: nothing. */
static enum status find(struct tune_tiles *x, const struct options *o, const char **why,
                        struct diags *ds)
{
    *why = x->m.why;
    if (x->m.why[0])
        return ST_OK; /* the original itself */
    for (size_t i = 0; i < x->n; i++)
        if (same_order(&x->answer[i].o, o)) {
            *why = x->answer[i].why;
            return ST_OK;
        }
    if (!base_grow((void **)&x->answer, x->n, &x->cap, sizeof *x->answer))
        return ST_NOMEM;
    struct answer *a = &x->answer[x->n];
    a->o = *o;
    enum status st = run_ordered(x, o, ds);
    memcpy(a->why, x->m.why, sizeof a->why);
    x->m.why[0] = '\0';
    *why = a->why;
    x->n += st == ST_OK;
    return st;
}

enum status tune_tiles_check(struct tune_bench *b, const struct options *o, struct diags *ds)
{
    const char *why = "";
    enum status st = ST_OK;
    if (!b->subject.data || !b->subject.dev) {
        diag_error(ds, "tiles",
                   "whether tiles are independent is found by a launch; nothing is launched here");
        return ST_REFUSED;
    }
    if (too_large(b)) {
        diag_error(ds, "tiles",
                   "the buffers (%.1f GB) are too large to simulate, which would show whether tiles are "
                   "independent",
                   (double)b->subject.data->total_bytes / 1e9);
        return ST_REFUSED;
    }
    if (!b->tiles)
        st = open_tiles(b, ds);
    if (st != ST_OK)
        tune_tiles_free(b);
    else
        st = find(b->tiles, o, &why, ds);
    if (st != ST_OK || !why[0])
        return st;
    diag_hint(diag_add(ds, DIAG_ERROR, "tiles", b->subject.module->path, NO_SPAN,
                       "the tiles are not known to be independent: %s", why),
              "leave the order as it is");
    return ST_REFUSED;
}

void tune_tiles_free(struct tune_bench *b)
{
    struct tune_tiles *x = b->tiles;
    if (!x)
        return;
    if (x->data)
        dev_unbind(x->dev, x->data);
    for (size_t i = 0; i < x->m.cap; i++)
        base_free(x->m.page[i]);
    BASE_FREE(x->m.page, x->m.unit, x->m.seen, x->original, x->answer, x);
    b->tiles = NULL;
}
