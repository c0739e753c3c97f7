/* Fetches and surface accesses of a warp. Each texel is read where it lies; the record of a fetch holds,
 * where a filter reads several texels a lane, the sectors that the warp touches, each once. */
#include "engine/ptx/reference.h"
#include "engine/sim/exec/access.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/lanes/math.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/exec/texture/texture.h"

#include <math.h>

enum { SECTOR = 32 };

static uint64_t handle_value(const struct exec_warp *w, const struct exec_ref *ref, uint32_t lane)
{
    uint64_t h = 0;
    if (ref->space != PTX_SPACE_PARAM)
        return lane_read(w, ref->slot, lane, ref->wide ? 8 : 4) + (uint64_t)(int64_t)ref->imm;
    if ((uint64_t)ref->imm + sizeof h <= w->x->nparams)
        memcpy(&h, w->x->params + ref->imm, sizeof h);
    return h;
}

/* What a lane's handle stands for; NULL after a fault. */
static const struct texture *object_of(struct exec_warp *w, const struct exec_inst *in,
                                       const struct exec_ref *ref, uint32_t lane)
{
    uint64_t h = handle_value(w, ref, lane), i = h - TEXTURE_HANDLE;
    const struct textures *all = w->x->l->textures;
    for (size_t k = 0; all && i >= all->n && k < all->n; k++) /* the address of a variable */
        i = all->at[k] && all->at[k] == h ? k : i;
    const struct texture *t = all && i < all->n && all->v[i].rank ? &all->v[i] : NULL;
    if (!t)
        exec_fault(w, in, lane, FAULT_ARG,
                   "0x%llx is no handle: the launch description gives none (\"texture\", \"surface\", "
                   "\"sampler\", of a variable under \"symbols\")",
                   (unsigned long long)h);
    return t;
}

/* The same, and of the shape that the instruction names. */
static const struct texture *texture_of(struct exec_warp *w, const struct exec_inst *in, uint32_t lane)
{
    const struct exec_tex *x = in->x;
    const struct texture *t = object_of(w, in, &x->handle, lane);
    if (t && t->sampler) {
        exec_fault(w, in, lane, FAULT_ARG, "the handle is of a sampler, which has no texels");
        return NULL;
    }
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

static bool passes(enum texture_compare c, float reference, float texel)
{
    switch (c) {
    case COMPARE_LESS: return reference < texel;
    case COMPARE_EQUAL: return reference == texel;
    case COMPARE_LESS_EQUAL: return reference <= texel;
    case COMPARE_GREATER: return reference > texel;
    case COMPARE_NOT_EQUAL: return reference != texel;
    case COMPARE_GREATER_EQUAL: return reference >= texel;
    case COMPARE_ALWAYS: return true;
    default: return false;
    }
}

/* Channel c of a texel; of a depth compare whether it passes, 1 or 0. */
static uint32_t channel_of(const struct exec_warp *w, const struct exec_tex *x, const struct texture *t,
                           const uint8_t *p, unsigned c, uint32_t lane)
{
    uint32_t v = texel_channel(t, p, x->gather ? x->component : c, x->is_float);
    if (x->reference == EXEC_NO_ID)
        return v;
    float reference = f32_bits((uint32_t)lane_read(w, x->reference, lane, 4));
    return bits_f32(passes((enum texture_compare)t->compare, reference, f32_bits(v)) ? 1 : 0);
}

static void put_results(struct exec_warp *w, const struct exec_tex *x, uint32_t lane,
                        const uint32_t out[4])
{
    for (unsigned c = 0; c < x->n; c++) {
        uint32_t v = out[c];
        if (x->half == 1)
            v = f16_of(f32_bits(v));
        else if (x->half)
            v = f16_of(f32_bits(out[2 * c & 3])) | f16_of(f32_bits(out[(2 * c + 1) & 3])) << 16;
        lane_write(w, x->value[c], lane, 4, v);
    }
    pred_write(w, x->resident, 1u << lane, EXEC_FULL); /* all of a buffer is there */
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
            uint32_t v = channel_of(w, x, t, p, c, lane);
            if (x->gather && c == k)
                out[k] = v;
            else if (!x->gather && s->n == 1)
                out[c] = v;
            else if (!x->gather)
                sum[c] += (double)s->v[k].weight * (double)f32_bits(v);
        }
    }
    for (unsigned c = 0; c < 4 && !x->gather && s->n > 1; c++)
        out[c] = bits_f32(rounded(sum[c]));
    put_results(w, x, lane, out);
    return true;
}

static double float_at(const struct exec_warp *w, uint32_t slot, uint32_t lane)
{
    return slot == EXEC_NO_ID ? 0 : (double)f32_bits((uint32_t)lane_read(w, slot, lane, 4));
}

static void place_of(const struct exec_warp *w, const struct exec_tex *x, const struct texture *t,
                     uint32_t lane, struct texture_place *p)
{
    double gradient[2][3];
    *p = (struct texture_place){ .layer = layer_of(w, x, lane) };
    for (unsigned d = 0; d < x->ncoord; d++)
        p->c[d] = coordinate(w, x, d, lane);
    for (unsigned d = 0; d < 3; d++) {
        gradient[0][d] = float_at(w, x->gradient[0][d], lane);
        gradient[1][d] = float_at(w, x->gradient[1][d], lane);
        if (x->offset[d] != EXEC_NO_ID)
            p->offset[d] = (int32_t)(uint32_t)lane_read(w, x->offset[d], lane, 4);
    }
    if (x->level == TEX_LEVEL)
        p->level = x->floats ? float_at(w, x->lod, lane)
                             : (double)(int32_t)(uint32_t)lane_read(w, x->lod, lane, 4);
    else if (x->level == TEX_GRAD)
        p->level = texture_gradient_level(t, x, gradient);
}

/* The texture as its sampler has it read; false after a fault. */
static bool read_as(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, struct texture *t)
{
    const struct exec_tex *x = in->x;
    const struct texture *own = texture_of(w, in, lane), *sampler = NULL;
    const char *fault = NULL;
    if (!own)
        return false;
    *t = *own;
    if (x->sampler.slot != EXEC_NO_ID) {
        if (!(sampler = object_of(w, in, &x->sampler, lane)))
            return false;
        *t = texture_sampled(own, sampler);
    }
    if (sampler && !sampler->sampler)
        fault = "the second handle is of no sampler";
    else if (t->linear && x->floats && !x->gather && !x->is_float)
        fault = "a linear filter returns .f32, not integers";
    else if (x->reference != EXEC_NO_ID && !t->compare)
        fault = "a depth compare needs \"compare\" in the texture or sampler of the launch description";
    else if (sampler && t->linear && !elem_is_float((enum elem)t->elem) && !t->fraction)
        fault = "the sampler's linear filter needs floats, or \"read\": \"normalized\"";
    if (fault)
        exec_fault(w, in, lane, FAULT_ARG, "%s", fault);
    return !fault;
}

void exec_tex(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_tex *x = in->x;
    struct touched touched = { .n = 0 };
    FOR_LANES(i, mask)
    {
        struct texture t;
        struct texels s;
        struct texture_place p;
        if (!read_as(w, in, i, &t))
            return;
        place_of(w, x, &t, i, &p);
        texels_of(&t, x, &p, &s);
        touched.sectors |= s.n > 1 && !touched.mask;
        if (!sample(w, in, i, &t, &s, &touched))
            return;
    }
    tell(w, in, &touched, ACCESS_LOAD);
}

/* ---- queries ---- */
/* As OpenCL numbers them, which PTX ISA 5.3.1 lists. */
static uint32_t type_number(const struct texture *t)
{
    switch (t->elem) {
    case ELEM_S8: return t->fraction ? 0x10d0 : 0x10d7;
    case ELEM_S16: return t->fraction ? 0x10d1 : 0x10d8;
    case ELEM_U8: return t->fraction ? 0x10d2 : 0x10da;
    case ELEM_U16: return t->fraction ? 0x10d3 : 0x10db;
    case ELEM_S32: return 0x10d9;
    case ELEM_U32: return 0x10dc;
    case ELEM_F16: return 0x10dd;
    default: return 0x10de;
    }
}

static uint32_t edge_number(const struct texture *t, unsigned d)
{
    static const uint8_t modes[EDGE_COUNT] = { [EDGE_WRAP] = PTX_ADDR_WRAP,
                                               [EDGE_MIRROR] = PTX_ADDR_MIRROR,
                                               [EDGE_CLAMP] = PTX_ADDR_CLAMP,
                                               [EDGE_BORDER] = PTX_ADDR_BORDER };
    return modes[t->edge[d]];
}

static uint32_t answer(const struct texture *t, const struct texture *level, unsigned query)
{
    switch (query) {
    case QUERY_WIDTH: return level->dims[0];
    case QUERY_HEIGHT: return t->rank > 1 ? level->dims[1] : 0;
    case QUERY_DEPTH: return t->rank > 2 ? level->dims[2] : 0;
    case QUERY_LAYERS: return t->array ? t->layers : 0;
    case QUERY_LEVELS: return texture_levels(t);
    case QUERY_NORMALIZED: return t->normalized;
    case QUERY_SAMPLES: return 1;
    case QUERY_FILTER: return t->linear;
    case QUERY_EDGE:
    case QUERY_EDGE_Y:
    case QUERY_EDGE_Z: return edge_number(t, query - QUERY_EDGE);
    case QUERY_UNNORMALIZED: return t->sampler && !t->normalized;
    case QUERY_TYPE: return type_number(t);
    case QUERY_ORDER: return t->channels == 1 ? 0x10b0 : t->channels == 2 ? 0x10b2 : 0x10b5;
    default: return 0; /* arrays of a GPU do not lie row after row */
    }
}

void exec_tex_query(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_tex *x = in->x;
    FOR_LANES(i, mask)
    {
        const struct texture *t = object_of(w, in, &x->handle, i);
        if (!t)
            return;
        uint32_t lod = x->lod == EXEC_NO_ID ? 0 : (uint32_t)lane_read(w, x->lod, i, 4);
        struct texture level = texture_level(t, lod < texture_levels(t) ? lod : texture_levels(t) - 1);
        lane_write(w, in->dst, i, 4, answer(t, &level, x->query));
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
