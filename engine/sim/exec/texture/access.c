/* Fetches and surface accesses of a warp. Each texel is read where it lies; the record of a fetch holds,
 * where a filter reads several texels a lane, the sectors that the warp touches, each once. */
#include "engine/base/base.h"
#include "engine/rec/texture.h"
#include "engine/sim/decoded.h"
#include "engine/sim/exec/access.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/exec.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/lanes/math.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/exec/texture/texture.h"
#include "engine/sim/step.h"

#include <math.h>
#include <string.h>

enum { SECTOR = 32 };

/* What a lane's handle stands for; NULL after a fault. */
static const struct texture *object_of(struct exec_warp *w, const struct exec_inst *in, uint32_t lane)
{
    const struct exec_tex *x = in->x;
    uint64_t h = lane_read(w, x->handle.slot, lane, x->handle.wide ? 8 : 4) +
                 (uint64_t)(int64_t)x->handle.imm,
             i = h - TEXTURE_HANDLE;
    const struct textures *all = w->x->l->textures;
    const struct texture *t = all && i < all->n && all->v[i].rank ? &all->v[i] : NULL;
    if (!t)
        exec_fault(w, in, lane, FAULT_ARG,
                   "0x%llx is no handle: the launch description gives none (\"texture\", \"surface\")",
                   (unsigned long long)h);
    return t;
}

/* The same, and of the shape that the instruction names. */
static const struct texture *texture_of(struct exec_warp *w, const struct exec_inst *in, uint32_t lane)
{
    const struct exec_tex *x = in->x;
    const struct texture *t = object_of(w, in, lane);
    if (t &&
        (t->surface != x->surface || t->array != x->array || t->cube != x->cube || t->rank != x->rank)) {
        exec_fault(
            w, in, lane, FAULT_ARG,
            "the instruction is for a %s%s%s with %u dimensions, the handle is of a %s%s%s with %u",
            x->cube ? "cube " : "", x->surface ? "surface" : "texture", x->array ? " array" : "",
            x->rank, t->cube ? "cube " : "", t->surface ? "surface" : "texture",
            t->array ? " array" : "", t->rank);
        t = NULL;
    }
    return t;
}

/* One lane's n bytes; NULL after a fault. */
static uint8_t *host_of(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, uint64_t addr,
                        unsigned n, enum exec_access_kind kind)
{
    uint64_t a[WARP_LANES] = { 0 }, p[WARP_LANES];
    bool recording = w->recording;
    a[lane] = addr;
    w->recording = false;
    bool ok = exec_resolve_at(w, in, 1u << lane, PTX_SPACE_GLOBAL, n, kind, a, p);
    w->recording = recording;
    return ok ? (uint8_t *)(uintptr_t)p[lane] : NULL;
}

/* What a warp touched: per lane where each has one address, else by sectors. */
struct touched {
    uint64_t addr[WARP_LANES];
    uint32_t mask;
    unsigned n, bytes;
    bool sectors;
};

static void touch(struct touched *t, uint32_t lane, uint64_t addr, unsigned bytes)
{
    if (!t->sectors) {
        t->addr[lane] = addr;
        t->mask |= 1u << lane;
        t->bytes = bytes;
        return;
    }
    uint64_t at = addr / SECTOR * SECTOR;
    for (unsigned i = t->n; i-- > 0;)
        if (t->addr[i] == at)
            return;
    if (t->n < WARP_LANES)
        t->addr[t->n++] = at;
}

static void tell(struct exec_warp *w, const struct exec_inst *in, struct touched *t,
                 enum exec_access_kind kind)
{
    if (!w->recording)
        return;
    if (t->sectors) {
        t->mask = t->n >= WARP_LANES ? EXEC_FULL : (1u << t->n) - 1;
        t->bytes = SECTOR;
    }
    w->rec->kind = ACCESS_NONE;
    if (!t->mask)
        return;
    exec_record(w, in, PTX_SPACE_GLOBAL, t->mask, t->addr);
    w->rec->bytes = (uint16_t)t->bytes;
    w->rec->kind = (uint8_t)kind;
}

static double coordinate(const struct exec_warp *w, const struct exec_tex *x, unsigned d, uint32_t lane)
{
    uint32_t v = (uint32_t)lane_read(w, x->coord[d], lane, 4);
    return x->floats ? (double)f32_bits(v) : (double)(int32_t)v;
}

static int64_t layer_of(const struct exec_warp *w, const struct exec_tex *x, uint32_t lane)
{
    return x->array ? (int64_t)(uint32_t)lane_read(w, x->layer, lane, 4) : 0;
}

/* x to the nearest float, halves away from 0, as a linear filter of an H200 rounds. */
static float rounded(double x)
{
    float near = (float)x;
    if ((double)near == x)
        return near;
    float other = nextafterf(near, (double)near < x ? INFINITY : -INFINITY);
    bool half = fabs(x - (double)near) == fabs((double)other - x);
    return half && fabsf(other) > fabsf(near) ? other : near;
}

/* The results of one lane out of its texels. */
static bool sample(struct exec_warp *w, const struct exec_inst *in, uint32_t lane,
                   const struct texture *t, const struct texels *s, struct touched *touched)
{
    const struct exec_tex *x = in->x;
    uint32_t texel = texture_texel(t), out[4] = { 0, 0, 0, 0 };
    double sum[4] = { 0, 0, 0, 0 };
    static const uint8_t none[16];
    for (unsigned k = 0; k < s->n; k++) {
        const uint8_t *p =
            s->v[k].inside ? host_of(w, in, lane, s->v[k].addr, texel, ACCESS_LOAD) : none;
        if (!p)
            return false;
        if (s->v[k].inside)
            touch(touched, lane, s->v[k].addr, texel);
        for (unsigned c = 0; c < 4; c++) {
            uint32_t v = texel_channel(t, p, x->gather ? x->component : c, x->is_float);
            if (x->gather && c == k)
                out[k] = v;
            else if (!x->gather && s->n == 1)
                out[c] = v;
            else if (!x->gather)
                sum[c] += (double)s->v[k].weight * (double)f32_bits(v);
        }
    }
    for (unsigned c = 0; c < x->n; c++)
        lane_write(w, x->value[c], lane, 4, !x->gather && s->n > 1 ? bits_f32(rounded(sum[c])) : out[c]);
    return true;
}

void exec_tex(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_tex *x = in->x;
    struct touched touched = { .n = 0 };
    FOR_LANES(i, mask)
    {
        const struct texture *t = texture_of(w, in, i);
        struct texels s;
        double c[3] = { 0, 0, 0 };
        if (!t)
            return;
        if (t->linear && x->floats && !x->gather && !x->is_float) {
            exec_fault(w, in, i, FAULT_ARG, "a linear filter returns .f32, not integers");
            return;
        }
        for (unsigned d = 0; d < x->ncoord; d++)
            c[d] = coordinate(w, x, d, i);
        texels_of(t, x, c, layer_of(w, x, i), &s);
        touched.sectors |= s.n > 1 && !touched.mask;
        if (!sample(w, in, i, t, &s, &touched))
            return;
    }
    tell(w, in, &touched, ACCESS_LOAD);
}

void exec_tex_query(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_tex *x = in->x;
    FOR_LANES(i, mask)
    {
        const struct texture *t = object_of(w, in, i);
        if (!t)
            return;
        uint32_t v = x->query == QUERY_WIDTH    ? t->dims[0]
                     : x->query == QUERY_HEIGHT ? (t->rank > 1 ? t->dims[1] : 0)
                     : x->query == QUERY_DEPTH  ? (t->rank > 2 ? t->dims[2] : 0)
                     : x->query == QUERY_LAYERS ? (t->array ? t->layers : 0)
                     : x->query == QUERY_LEVELS ? 1
                                                : t->normalized;
        lane_write(w, in->dst, i, 4, v);
    }
}

/* ---- surfaces ---- */
/* Where a lane's access begins. 1: there; 0: outside, and nothing is to happen; -1: a fault. */
static int surface_at(struct exec_warp *w, const struct exec_inst *in, const struct texture *t,
                      uint32_t lane, unsigned bytes, uint64_t *addr)
{
    const struct exec_tex *x = in->x;
    int64_t row = 0, i[4] = { 0, 0, 0, layer_of(w, x, lane) };
    int64_t n[4] = { (int64_t)t->dims[0] * texture_texel(t) - bytes + 1, t->dims[1], t->dims[2],
                     t->layers };
    for (unsigned d = 0; d < x->ncoord; d++)
        i[d] = (int32_t)lane_read(w, x->coord[d], lane, 4);
    if (x->formatted)
        i[0] *= texture_texel(t);
    for (unsigned d = 0; d < 4; d++) {
        if (i[d] >= 0 && i[d] < n[d])
            continue;
        if (x->edge == SURFACE_ZERO)
            return 0;
        if (x->edge == SURFACE_TRAP) {
            exec_fault(w, in, lane, FAULT_BOUNDS, "%s %lld is outside the surface (0 to %lld)",
                       d == 0   ? "byte"
                       : d == 1 ? "row"
                       : d == 2 ? "slice"
                                : "layer",
                       (long long)i[d], (long long)n[d] - 1);
            return -1;
        }
        i[d] = i[d] < 0 ? 0 : d ? n[d] - 1 : (n[0] - 1) / bytes * bytes;
    }
    row = (i[3] * t->dims[2] + i[2]) * t->dims[1] + i[1];
    *addr = t->address + (uint64_t)row * t->pitch + (uint64_t)i[0];
    return 1;
}

/* Calls `body` for each lane that is inside; a lane outside of a load gets zeros. */
typedef void surface_fn(struct exec_warp *w, const struct exec_inst *in, const struct texture *t,
                        uint32_t lane, uint8_t *p);
static void each_lane(struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                      enum exec_access_kind kind, surface_fn *body)
{
    const struct exec_tex *x = in->x;
    struct touched touched = { .n = 0 };
    FOR_LANES(i, mask)
    {
        const struct texture *t = texture_of(w, in, i);
        unsigned bytes = t && x->formatted ? texture_texel(t) : (unsigned)x->bytes * x->n;
        uint64_t addr;
        int in_it = t ? surface_at(w, in, t, i, bytes, &addr) : -1;
        uint8_t *p = in_it > 0 ? host_of(w, in, i, addr, bytes, kind) : NULL;
        if (in_it < 0 || (in_it && !p))
            return;
        if (p)
            touch(&touched, i, addr, bytes);
        if (p || kind == ACCESS_LOAD)
            body(w, in, t, i, p);
    }
    tell(w, in, &touched, kind);
}

static void load_lane(struct exec_warp *w, const struct exec_inst *in, const struct texture *t,
                      uint32_t lane, uint8_t *p)
{
    const struct exec_tex *x = in->x;
    (void)t;
    for (unsigned k = 0; k < x->n; k++) {
        uint64_t v = 0;
        if (p)
            memcpy(&v, p + k * x->bytes, x->bytes);
        lane_write(w, x->value[k], lane, x->reg_bytes, v);
    }
}

static void store_lane(struct exec_warp *w, const struct exec_inst *in, const struct texture *t,
                       uint32_t lane, uint8_t *p)
{
    const struct exec_tex *x = in->x;
    unsigned bytes = x->formatted ? (unsigned)elem_size((enum elem)t->elem) : x->bytes;
    unsigned n = x->formatted && t->channels < x->n ? t->channels : x->n;
    for (unsigned k = 0; k < n; k++) {
        uint64_t v = lane_read(w, x->value[k], lane, x->reg_bytes);
        memcpy(p + k * bytes, &v, bytes);
    }
}

static void reduce_lane(struct exec_warp *w, const struct exec_inst *in, const struct texture *t,
                        uint32_t lane, uint8_t *p)
{
    const struct exec_tex *x = in->x;
    struct exec_atom atom = x->atom;
    if (x->formatted && atom.bytes == 4)
        atom.type = t->elem == ELEM_S32 ? PTX_T_S32 : PTX_T_U32;
    exec_atom_apply(&atom, p, lane_read(w, x->value[0], lane, x->reg_bytes), 0, true);
}

void exec_surface_load(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    each_lane(w, in, mask, ACCESS_LOAD, load_lane);
}
void exec_surface_store(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    each_lane(w, in, mask, ACCESS_STORE, store_lane);
}
void exec_surface_reduce(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    each_lane(w, in, mask, ACCESS_RED, reduce_lane);
}
