/* Matrix descriptors, and elements as floats. */
#include "engine/sim/exec/tensor/flight.h"
#include "engine/sim/exec/tensor/operand.h"

#include "engine/sim/exec/cluster.h"
#include "engine/sim/exec/faults.h"

#include <string.h>

struct mat_desc mat_desc_of(uint64_t d)
{
    static const uint8_t swizzles[] = { 0, 128, 64, 32 };
    return (struct mat_desc){ .start = (uint32_t)(d & 0x3fff) << 4,
                              .lead = (uint32_t)(d >> 16 & 0x3fff) << 4,
                              .stride = (uint32_t)(d >> 32 & 0x3fff) << 4,
                              .base = (uint8_t)(d >> 49 & 7),
                              .swizzle = swizzles[d >> 62] };
}

static unsigned units_across(const struct mat_desc *d)
{
    return d->swizzle ? d->swizzle / 16u : 1u;
}

/* Without the pattern: 16 bytes times units_across further on for each of the eight across. */
static uint32_t unit_straight(const struct mat_desc *d, unsigned bytes, bool major_mn, unsigned mn,
                              unsigned k)
{
    unsigned per = 16 / bytes, along = major_mn ? mn / per : k / per, across = major_mn ? k : mn,
             wide = units_across(d);
    uint32_t a = d->start + along % wide * 16 + across % 8 * wide * 16;
    /* without a pattern the two strides change places along mn */
    if (major_mn && !d->swizzle)
        return a + along * d->stride + across / 8 * d->lead;
    return a + along / wide * d->lead + across / 8 * d->stride;
}

static uint32_t swizzled(const struct mat_desc *d, uint32_t a)
{
    return a ^ (((a >> 7) - d->base) & (units_across(d) - 1)) << 4;
}

uint32_t mat_unit(const struct mat_desc *d, unsigned bytes, bool major_mn, unsigned mn, unsigned k)
{
    return swizzled(d, unit_straight(d, bytes, major_mn, mn, k));
}

unsigned mat_bits(enum ptx_type t)
{
    switch (t) {
    case PTX_T_TF32: return 32;
    case PTX_T_E2M3:
    case PTX_T_E3M2: return 6;
    case PTX_T_E2M1: return 4;
    default: return ptx_type_bits(t);
    }
}

#define NO_INF   INT32_MAX, 0
#define WHOLE(s) .bits = 8, .whole = true, .is_signed = (s), .used = UINT32_MAX, .special = INT32_MAX
static const struct dot_format formats[PTX_T_COUNT] = {
    [PTX_T_F16] = { 16, 10, false, false, 15, UINT32_MAX, 0x7c00, 0x7f800000, 0x1p112f },
    [PTX_T_BF16] = { 16, 7, false, false, 127, UINT32_MAX, 0x7f80, 0x7f800000, 1 },
    [PTX_T_TF32] = { 32, 23, false, false, 127, 0xffffe000, 0x7f800000, 0x7f800000, 1 },
    [PTX_T_E4M3] = { 8, 3, false, false, 7, UINT32_MAX, 0x7f, 0x7fc00000, 0x1p120f },
    [PTX_T_E5M2] = { 8, 2, false, false, 15, UINT32_MAX, 0x7c, 0x7f800000, 0x1p112f },
    [PTX_T_E2M3] = { 6, 3, false, false, 1, UINT32_MAX, NO_INF, 0x1p126f },
    [PTX_T_E3M2] = { 6, 2, false, false, 3, UINT32_MAX, NO_INF, 0x1p124f },
    [PTX_T_E2M1] = { 4, 1, false, false, 1, UINT32_MAX, NO_INF, 0x1p126f },
    [PTX_T_S8] = { WHOLE(true) },
    [PTX_T_U8] = { WHOLE(false) },
};

const struct dot_format *mat_format(enum ptx_type t)
{
    return &formats[t];
}

/* Where element (mn, k) lies among the factors; of whole numbers the first of its pair. */
static float *place_of(const struct mat_read *r, unsigned mn, unsigned k, bool whole)
{
    k = whole ? k / 2 : k;
    return r->of_b ? &r->to->b[k][mn + r->place] : &r->to->a[k][mn];
}
static int16_t *exponent_of(const struct mat_read *r, unsigned mn, unsigned k)
{
    return r->of_b ? &r->to->eb[k][mn + r->place] : &r->to->ea[k][mn];
}

void mat_put(const struct mat_read *r, unsigned mn, unsigned k, uint32_t bits)
{
    const struct dot_format *f = mat_format(r->type);
    unsigned at = r->of_b ? dot_column(mn) : mn;
    float *v = place_of(r, at, k, f->whole);
    if (f->whole) {
        int16_t n = f->is_signed ? (int8_t)bits : (uint8_t)bits;
        memcpy((uint8_t *)v + sizeof n * (k % 2), &n, sizeof n);
        return;
    }
    *v = dot_value(f, bits, exponent_of(r, at, k));
    *v = r->negated ? -*v : *v;
}

static struct dot_block block_at(const struct mat_read *r, unsigned mn, unsigned k, bool across)
{
    const struct dot_format *f = mat_format(r->type);
    return (struct dot_block){ .f = f,
                               .across = across,
                               .spread = r->of_b,
                               .negated = r->negated,
                               .v = place_of(r, mn, k, f->whole),
                               .e = exponent_of(r, mn, k),
                               .pitch = r->of_b ? DOT_N : DOT_ROWS };
}

void mat_put_runs(const struct mat_read *r, unsigned mn, unsigned k, bool across,
                  const uint8_t *const run[8])
{
    struct dot_block x = block_at(r, mn, k, across);
    memcpy(x.run, run, sizeof x.run);
    r->w->x->p->dots->block(&x);
}

/* Every four lanes have 16 bytes along k of a row of A or a column of B. */
void mat_put_register(const struct mat_read *r, unsigned i, const uint32_t *lanes)
{
    struct dot_block x = block_at(r, r->of_b ? 0 : 8 * (i & 1),
                                  128u / mat_format(r->type)->bits * (r->of_b ? i : i >> 1), true);
    for (unsigned g = 0; g < 8; g++)
        x.run[g] = (const uint8_t *)(lanes + 4 * g);
    r->w->x->p->dots->block(&x);
}

bool mat_desc5_of(struct exec_warp *w, const struct exec_inst *in, uint64_t d, struct mat_desc *out)
{
    static const uint8_t swizzles[] = { 0, 1, 128, 1, 64, 1, 32, 1 };
    *out = mat_desc_of(d);
    out->swizzle = swizzles[d >> 61];
    if (out->swizzle == 1)
        exec_fault(w, in, 0, FAULT_ARG,
                   d >> 61 == 1 ? "swizzles of 128 bytes by 32 in a matrix descriptor are not modelled\n"
                                  "run it on a GPU (--device cuda:0)"
                                : "a matrix descriptor with swizzle %u, which does not exist\n"
                                  "bits 61 to 63: 0 none, 2 128 bytes, 4 64 bytes, 6 32 bytes",
                   (unsigned)(d >> 61));
    if (out->swizzle != 1 && d >> 52 & 1)
        exec_fault(w, in, 0, FAULT_ARG,
                   "a matrix descriptor with an absolute leading address is not modelled\n"
                   "run it on a GPU (--device cuda:0)");
    return out->swizzle != 1 && !(d >> 52 & 1);
}

/* 16 bytes of the CTA's shared memory; NULL: outside, told. */
static const uint8_t *shared_at(const struct mat_read *r, uint32_t a)
{
    const struct mat_desc *m = &r->desc;
    if (a + 16ull <= r->w->x->shared_bytes) {
        flight_look(r->w, r->in, 0, r->cta, a, 16, false, true);
        exec_tell_shared(r->w, r->in, a, 16);
        return r->w->cta->fault ? NULL : r->cta->shared + a;
    }
    exec_fault(r->w, r->in, 0, FAULT_BOUNDS,
               "a matrix descriptor (start 0x%x, leading %u, stride %u bytes) reaches shared address "
               "0x%x: the CTA has %u bytes of shared memory\n"
               "the descriptor has start, leading and stride in units of 16 bytes: compare them with "
               "the tile's "
               "address and the box that was copied there",
               m->start, m->lead, m->stride, a, r->w->x->shared_bytes);
    return NULL;
}

const uint8_t *mat_unit_at(const struct mat_read *r, unsigned mn, unsigned byte)
{
    return shared_at(r, mat_unit(&r->desc, 1, false, r->first + mn, byte));
}

/* Those that hold element (mn, k). */
static const uint8_t *unit_at(const struct mat_read *r, unsigned mn, unsigned k)
{
    if (r->narrow)
        return mat_unit_at(r, mn, k / r->narrow * 16);
    return shared_at(r, mat_unit(&r->desc, mat_bits(r->type) / 8, r->major_mn, r->first + mn, k));
}

/* Eight units that follow each other across, where nobody is to be told of each. */
static bool find_units(const struct mat_read *r, unsigned mn, unsigned k, const uint8_t *run[8])
{
    const struct exec_launch *x = r->w->x;
    uint32_t a = unit_straight(&r->desc, mat_bits(r->type) / 8, r->major_mn, r->first + mn, k),
             step = 16 * units_across(&r->desc);
    bool first = (r->major_mn ? k : r->first + mn) % 8 == 0,
         told = r->cta->flight || (x->l->touch.fn && x->l->touch.shared);
    if (told || !first || ((a + 7 * step) | 127) >= x->shared_bytes)
        return false;
    for (unsigned i = 0; i < 8; i++)
        run[i] = r->cta->shared + swizzled(&r->desc, a + i * step);
    return true;
}

/* Those of eight rows of A or columns of B along k, or of eight k along mn. */
static bool load_runs(const struct mat_read *r, unsigned mn, unsigned k)
{
    const uint8_t *run[8];
    bool found = find_units(r, mn, k, run);
    for (unsigned i = 0; !found && i < 8; i++)
        if (!(run[i] = unit_at(r, mn + (r->major_mn ? 0 : i), k + (r->major_mn ? i : 0))))
            return false;
    mat_put_runs(r, mn, k, !r->major_mn, run);
    return true;
}

/* Elements of 4 or 6 bits, along k. */
static bool load_narrow(const struct mat_read *r, unsigned mn, unsigned k)
{
    unsigned bits = mat_bits(r->type);
    const uint8_t *u = unit_at(r, mn, k);
    for (unsigned i = 0; u && i < r->narrow; i++) {
        unsigned bit = i * bits, v = u[bit / 8] >> bit % 8;
        if (bit % 8 + bits > 8)
            v |= (unsigned)u[bit / 8 + 1] << (8 - bit % 8);
        mat_put(r, mn, k + i, v & ((1u << bits) - 1));
    }
    return u != NULL;
}

static bool load_unit(const struct mat_read *r, unsigned mn, unsigned k)
{
    unsigned bytes = mat_bits(r->type) / 8;
    const uint8_t *u = unit_at(r, mn, k);
    for (unsigned i = 0; u && i < 16 / bytes; i++) {
        uint32_t v = 0;
        memcpy(&v, u + i * bytes, bytes);
        mat_put(r, r->major_mn ? mn + i : mn, r->major_mn ? k : k + i, v);
    }
    return u != NULL;
}

bool mat_room(struct exec_warp *w, const struct exec_inst *in, uint32_t lane)
{
    struct mat_factors **f = &w->k->tensor.factors;
    if (!*f && !(*f = base_alloc(sizeof **f)))
        exec_fault(w, in, lane, FAULT_NOMEM, "out of memory for a matrix product");
    return *f != NULL;
}

bool mat_load(const struct mat_read *r)
{
    bool runs = !r->narrow && (!r->major_mn || mat_bits(r->type) == 16);
    unsigned per = r->narrow ? r->narrow : 128 / mat_bits(r->type),
             dmn = runs          ? 8
                   : r->major_mn ? per
                                 : 1,
             dk = !r->major_mn ? per
                  : runs       ? 8
                               : 1;
    for (unsigned mn = 0; mn < r->rows; mn += dmn)
        for (unsigned k = 0; k < r->k; k += dk)
            if (!(runs ? load_runs(r, mn, k) : r->narrow ? load_narrow(r, mn, k) : load_unit(r, mn, k)))
                return false;
    return true;
}
