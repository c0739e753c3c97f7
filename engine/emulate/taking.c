/* Launches written down: memory before and after, as capture has it from a GPU (engine/live/take.h). */
#include "engine/dev/card.h"
#include "engine/emulate/guest.h"
#include "engine/live/take.h"
#include "engine/ptx/ptx.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK 4096u

struct taking {
    struct take t;
    int fd; /* its data file, in memory */
    uint64_t end;
};

static char *text_of(struct str s)
{
    struct buf b = { 0 };
    buf_str(&b, s);
    return buf_take(&b);
}

static bool add_params(struct take *t, const struct ptx_func *f, const uint8_t *params)
{
    t->param = base_alloc((f->nparams + 1) * sizeof *t->param);
    for (uint32_t i = 0; t->param && i < f->nparams; i++) {
        uint64_t n = f->params[i]->bytes, off = f->params[i]->offset;
        t->param[i] = (struct take_param){ off, n, base_alloc(n + 1) };
        if (!t->param[i].bytes)
            return false;
        memcpy(t->param[i].bytes, params + off, n);
        t->nparam = i + 1;
    }
    return t->param != NULL;
}

static bool write_at(int fd, const uint8_t *p, uint64_t n, uint64_t at)
{
    while (n) {
        ssize_t k = pwrite(fd, p, n, (off_t)at);
        if (k <= 0)
            return false;
        p += k;
        at += (uint64_t)k;
        n -= (uint64_t)k;
    }
    return true;
}

/* Memory that no parameter points to may be reached through other memory: all of it is taken, as long as
 * it is not too much. */
static bool add_ranges(struct taking *k, const struct guest_kernel *g, uint64_t most)
{
    struct take *t = &k->t;
    struct card_piece p;
    size_t n = 0;
    uint64_t all = 0;
    for (; card_piece(g->kernel, n, &p); n++)
        all += p.n;
    t->range = base_alloc((n + 1) * sizeof *t->range);
    for (size_t i = 0; t->range && card_piece(g->kernel, i, &p); i++) {
        if (all > most && !p.name.s && !take_points_to(t, p.addr))
            continue;
        struct take_range *r = &t->range[t->nrange++];
        *r = (struct take_range){ .addr = p.addr, .n = p.n, .at = k->end, .of = p.n };
        if (p.name.s && !(r->name = text_of(p.name)))
            return false;
        k->end += p.n;
        if (k->end > most)
            return (t->refused = base_strdup("its memory is more than --max-bytes")) != NULL;
        if (!write_at(k->fd, p.bytes, p.n, r->at))
            return false;
    }
    return t->range != NULL;
}

static void taking_free(struct taking *k)
{
    if (k->fd >= 0)
        close(k->fd);
    take_free(&k->t);
    base_free(k);
}

static uint64_t key_of(const struct ptx_func *f, const struct wire_launch *l, const uint8_t *params)
{
    uint64_t key = shape_key(l->grid, l->block, l->shared);
    for (uint32_t i = 0; i < f->nparams; i++)
        key = shape_argument(key, params + f->params[i]->offset, f->params[i]->bytes,
                             take_is_float(f->params[i]));
    return key;
}

/* Is it the launch that is wanted, or the first of a shape that there is room for? */
static bool due(struct guest_kernel *g, const struct live_want *w)
{
    if (!w->shapes)
        return g->launches == w->nth;
    for (unsigned i = 0; i < g->nshapes; i++)
        if (g->shape[i] == g->key)
            return false;
    g->no_room = g->nshapes && w->max_bytes - g->taken < g->taken / g->nshapes;
    if (g->nshapes == w->shapes || g->no_room)
        return false;
    g->shape[g->nshapes++] = g->key;
    return true;
}

struct taking *taking_begin(struct guest *s, struct guest_kernel *g, const struct wire_launch *l,
                            const uint8_t *params)
{
    const struct live_want *w = s->e->want->take;
    const struct ptx_func *f = card_function(g->kernel);
    char path[40];
    if (!w)
        return NULL;
    g->key = w->shapes ? key_of(f, l, params) : 0;
    g->no_room = false;
    if (!due(g, w))
        return NULL;
    struct taking *k = base_alloc(sizeof *k);
    char *name = text_of(f->name);
    if (!k || !name || !live_wanted(w, name)) {
        BASE_FREE(k, name);
        return NULL;
    }
    k->fd = memfd_create("gpulocw-launch", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", k->fd);
    k->t = (struct take){ .name = name,
                          .image = s->module[g->module].hash,
                          .nth = g->launches,
                          .key = g->key,
                          .shared = l->shared,
                          .cooperative = l->cooperative,
                          .whole = true,
                          .data = base_strdup(path) };
    memcpy(k->t.grid, l->grid, sizeof k->t.grid);
    memcpy(k->t.block, l->block, sizeof k->t.block);
    memcpy(k->t.cluster, l->cluster, sizeof k->t.cluster);
    for (size_t i = 0; i < TAKE_FUNC_ATTRIBUTES; i++)
        k->t.func[i] = -1;
    k->t.func[9] = l->carveout; /* CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT */
    bool fine = k->fd >= 0 && k->t.data && add_params(&k->t, f, params) &&
                add_ranges(k, g, w->max_bytes - g->taken);
    g->taken += fine && !k->t.refused ? k->end : 0;
    if (fine)
        return k;
    taking_free(k);
    return NULL;
}

/* Blocks of a range that are others than before. */
static bool add_left(struct taking *k, const struct take_range *r, const uint8_t *now)
{
    uint8_t was[BLOCK];
    for (uint64_t at = 0; at < r->n; at += BLOCK) {
        uint64_t n = r->n - at < BLOCK ? r->n - at : BLOCK;
        if (pread(k->fd, was, n, (off_t)(r->at + at)) != (ssize_t)n)
            return false;
        if (memcmp(was, now + at, n) == 0)
            continue;
        if (!base_grow((void **)&k->t.left, k->t.nleft, &k->t.cap_left, sizeof *k->t.left) ||
            !write_at(k->fd, now + at, n, k->end))
            return false;
        k->t.left[k->t.nleft++] = (struct take_left){ r->addr + at, n, k->end };
        k->end += n;
    }
    return true;
}

static bool add_all_left(struct taking *k, const struct guest_kernel *g)
{
    struct card_piece p;
    for (size_t i = 0; card_piece(g->kernel, i, &p); i++)
        for (size_t r = 0; r < k->t.nrange; r++)
            if (k->t.range[r].addr == p.addr && !add_left(k, &k->t.range[r], p.bytes))
                return false;
    return true;
}

void taking_end(struct guest *s, const struct guest_kernel *g, struct taking *k, bool done)
{
    struct diags ds = { 0 };
    const struct live_want *w = s->e->want->take;
    if (!w || (!k && !w->shapes))
        return;
    if (k && done && !k->t.refused && !add_all_left(k, g))
        diag_error(&ds, "memory", "out of memory while a launch was written down");
    pthread_mutex_lock(&s->e->lock);
    if (k && done && !ds.n)
        live_take_add(&s->e->seen->survey, w, &k->t, card_function(g->kernel)->module, &ds);
    if (done && w->shapes)
        live_take_count(&s->e->seen->survey, card_function(g->kernel)->name, s->module[g->module].hash,
                        g->key, g->no_room);
    pthread_mutex_unlock(&s->e->lock);
    if (k)
        taking_free(k);
    emulation_tell(s->e, &ds);
}
