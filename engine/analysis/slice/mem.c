/* Memory of slices: initial data read in place, private copies of what is
 * written. An access outside every buffer reads zero and is counted. */
#include "engine/analysis/slice/mem.h"

#include "engine/analysis/slice/slice.h"
#include "engine/analysis/symbolic/env.h"
#include "engine/base/base.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/data.h"

#include <math.h>
#include <string.h>

unsigned slice_space(unsigned space, uint64_t addr)
{
    if (space != PTX_SPACE_GENERIC)
        return space == PTX_SPACE_SHARED_CLUSTER ? PTX_SPACE_SHARED : space;
    return addr >= ENV_PARAM    ? PTX_SPACE_PARAM
           : addr >= ENV_LOCAL  ? PTX_SPACE_LOCAL
           : addr >= ENV_SHARED ? PTX_SPACE_SHARED
                                : PTX_SPACE_GLOBAL;
}
static uint8_t *within(uint8_t *p, uint64_t size, uint64_t off, unsigned n)
{
    return p && off < size && size - off >= n ? p + off : NULL;
}
static bool make_private(struct slice_copy *c, const struct env_region *r)
{
    if (r->of)
        return (c->view = launch_view_new(r->of)) != NULL;
    if ((c->bytes = base_alloc(r->size)))
        memcpy(c->bytes, r->bytes, r->size);
    return c->bytes != NULL;
}
/* Bytes at a global or const address; `write` makes the region private first. */
static uint8_t *region_at(struct slice *s, uint64_t addr, unsigned n, bool write)
{
    const struct env_region *r = env_find(s->v, addr);
    uint64_t off = r ? addr - r->base : 0;
    if (!r || r->size - off < n)
        return NULL;
    struct slice_copy *c = &s->copy[r - s->v->region];
    bool ok = c->view || c->bytes || !write || s->v->effects || make_private(c, r);
    uint8_t *p = NULL;
    if (ok)
        p = c->view    ? launch_view_at(c->view, off, n)
            : c->bytes ? c->bytes + off
                       : (uint8_t *)(uintptr_t)env_bytes(r, off, n);
    if (!p)
        s->status = ST_NOMEM;
    return p;
}
static uint8_t *at(struct slice_cta *c, struct slice_warp *w, unsigned space, uint64_t addr,
                   unsigned lane, unsigned n, bool write)
{
    struct slice *s = c->s;
    bool generic = space == PTX_SPACE_GENERIC;
    uint8_t *p = NULL;
    switch (slice_space(space, addr)) {
    case PTX_SPACE_SHARED:
        p = within(c->shared, c->nshared, addr - (generic ? ENV_SHARED : 0), n);
        break;
    case PTX_SPACE_LOCAL:
        p = within(w->local ? w->local + (size_t)lane * c->nlocal : NULL, c->nlocal,
                   addr - (generic ? ENV_LOCAL : 0), n);
        break;
    case PTX_SPACE_PARAM:
        p = within(s->v->params, s->v->nparams, addr - (generic ? ENV_PARAM : 0), n);
        break;
    default: p = region_at(s, addr, n, write); break;
    }
    if (!p)
        __atomic_fetch_add(&s->outside, 1, __ATOMIC_RELAXED);
    return p;
}
const uint8_t *slice_bytes_at(struct slice_cta *c, struct slice_warp *w, unsigned space, uint64_t addr,
                              unsigned lane, unsigned n)
{
    return at(c, w, space, addr, lane, n, false);
}
static inline uint64_t fetch(const uint8_t *p, unsigned n)
{
    uint64_t v = 0;
    uint32_t w;
    uint16_t h;
    if (!p)
        return 0;
    switch (n) {
    case 1: return *p;
    case 2: memcpy(&h, p, 2); return h;
    case 4: memcpy(&w, p, 4); return w;
    default: memcpy(&v, p, n); return v;
    }
}
static inline uint64_t extend(uint64_t v, const struct slice_op *o)
{
    unsigned from = o->bytes * 8u, to = o->bits2;
    if (o->sign && from < 64)
        v = (uint64_t)((int64_t)(v << (64 - from)) >> (64 - from));
    return to >= 64 ? v : v & ((UINT64_C(1) << to) - 1);
}
/* Where the region of one lane's address lies in memory, if all of it does: the other lanes are rarely
 * elsewhere. */
struct view {
    uint64_t base, size;
    const uint8_t *bytes;
};
static struct view view_of(const struct slice_cta *c, unsigned space, uint64_t addr)
{
    const struct env_region *r = NULL;
    unsigned s = slice_space(space, addr);
    if (s == PTX_SPACE_GLOBAL || s == PTX_SPACE_CONST)
        r = env_find(c->s->v, addr);
    if (!r)
        return (struct view){ 0, 0, NULL };
    const struct slice_copy *own = &c->s->copy[r - c->s->v->region];
    const uint8_t *bytes = own->view    ? launch_view_whole(own->view)
                           : own->bytes ? own->bytes
                                        : env_whole(r);
    return (struct view){ r->base, bytes ? r->size : 0, bytes };
}
void slice_load(struct slice_cta *c, struct slice_warp *w, const struct slice_op *o,
                const uint64_t addr[32], uint32_t mask, uint64_t *rows)
{
    struct view v = view_of(c, o->space, addr[__builtin_ctz(mask)]);
    unsigned n = o->bytes;
    for (unsigned k = 0; k < o->n; k++) {
        uint32_t row = c->s->rows[o->list + k];
        if (row == SL_NONE)
            continue;
        uint64_t *d = rows + (size_t)row * 32;
        for (uint32_t left = mask; left; left &= left - 1) {
            unsigned l = (unsigned)__builtin_ctz(left);
            uint64_t a = addr[l] + k * n, off = a - v.base;
            const uint8_t *p =
                off < v.size && v.size - off >= n ? v.bytes + off : at(c, w, o->space, a, l, n, false);
            d[l] = extend(fetch(p, n), o);
        }
    }
}
/* Who waits for memory to change looks at these counts. Only CTAs that run one after the other change
 * global memory. */
static void put(struct slice_cta *c, unsigned space, uint8_t *p, const void *v, unsigned n)
{
    if (!p || !memcmp(p, v, n))
        return;
    memcpy(p, v, n);
    ++*(space == PTX_SPACE_GLOBAL ? &c->s->changes : &c->changes);
}
void slice_store(struct slice_cta *c, struct slice_warp *w, const struct slice_op *o,
                 const uint64_t addr[32], uint32_t mask, const uint64_t *rows)
{
    for (unsigned l = 0; l < 32; l++)
        for (unsigned k = 0; k < o->n && (mask >> l & 1); k++) {
            uint8_t *p = at(c, w, o->space, addr[l] + k * o->bytes, l, o->bytes, true);
            put(c, slice_space(o->space, addr[l]), p, &rows[(size_t)c->s->rows[o->list + k] * 32 + l],
                o->bytes);
        }
}

/* ---- atomics (section 9.7.13.5): lanes in order ---- */
static float as_f32(uint64_t v)
{
    uint32_t u = (uint32_t)v;
    float f;
    memcpy(&f, &u, 4);
    return f;
}
static uint64_t add_float(uint64_t a, uint64_t b, unsigned bytes)
{
    if (bytes == 4) {
        float r = as_f32(a) + as_f32(b);
        uint32_t u;
        memcpy(&u, &r, 4);
        return u;
    }
    double x, y;
    memcpy(&x, &a, 8);
    memcpy(&y, &b, 8);
    x += y;
    memcpy(&a, &x, 8);
    return a;
}
static int64_t as_signed(uint64_t v, unsigned bytes)
{
    unsigned s = 64 - 8 * bytes;
    return (int64_t)(v << s) >> s;
}
static uint64_t combined(const struct slice_op *o, uint64_t old, uint64_t b, uint64_t c)
{
    bool less = o->sign ? as_signed(b, o->bytes) < as_signed(old, o->bytes) : b < old;
    switch (o->mode) {
    case PTX_MOD_ADD: return o->flag ? add_float(old, b, o->bytes) : old + b;
    case PTX_MOD_MIN: return less ? b : old;
    case PTX_MOD_MAX: return less ? old : b;
    case PTX_MOD_INC: return old >= b ? 0 : old + 1;
    case PTX_MOD_DEC: return old == 0 || old > b ? b : old - 1;
    case PTX_MOD_AND: return old & b;
    case PTX_MOD_OR: return old | b;
    case PTX_MOD_XOR: return old ^ b;
    case PTX_MOD_CAS: return old == b ? c : old;
    default: return b; /* exch */
    }
}
void slice_atomic(struct slice_cta *c, struct slice_warp *w, const struct slice_op *o,
                  const uint64_t addr[32], uint32_t mask, uint64_t *rows)
{
    for (unsigned l = 0; l < 32; l++) {
        uint8_t *p = mask >> l & 1 ? at(c, w, o->space, addr[l], l, o->bytes, true) : NULL;
        if (!p)
            continue;
        uint64_t old = fetch(p, o->bytes),
                 v = combined(o, old, rows[(size_t)o->b * 32 + l], rows[(size_t)o->c * 32 + l]);
        put(c, slice_space(o->space, addr[l]), p, &v, o->bytes);
        if (o->d != SL_NONE)
            rows[(size_t)o->d * 32 + l] = old;
    }
}
void slice_async(struct slice_cta *c, struct slice_warp *w, const struct slice_op *o,
                 const uint64_t addr[32], uint32_t mask, const uint64_t *rows)
{
    for (unsigned l = 0; l < 32; l++) {
        if (!(mask >> l & 1))
            continue;
        uint8_t v[16] = { 0 };
        uint64_t n = o->flag ? rows[(size_t)o->c * 32 + l] : o->bytes;
        n = n < o->bytes ? n : o->bytes;
        const uint8_t *from = n ? at(c, w, PTX_SPACE_GLOBAL, addr[l], l, (unsigned)n, false) : v;
        uint8_t *to = at(c, w, PTX_SPACE_SHARED,
                         rows[(size_t)o->b * 32 + l] + (uint64_t)(int32_t)o->list, l, o->bytes, true);
        if (from && to && o->bytes <= sizeof v) {
            memmove(v, from, n);
            put(c, PTX_SPACE_SHARED, to, v, o->bytes);
        }
    }
}
