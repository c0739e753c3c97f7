/* Matrix descriptors, and elements as floats. */
#include "engine/sim/exec/tensor/flight.h"
#include "engine/sim/exec/tensor/operand.h"

#include "engine/base/base.h"
#include "engine/sim/exec/cluster.h"
#include "engine/sim/exec/exec.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/lanes/soft.h"

#include <math.h>
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

uint32_t mat_unit(const struct mat_desc *d, unsigned bytes, bool major_mn, unsigned mn, unsigned k)
{
    unsigned per = 16 / bytes, along = major_mn ? mn / per : k / per, across = major_mn ? k : mn,
             wide = d->swizzle ? d->swizzle / 16u : 1u;
    uint32_t a = d->start + along % wide * 16 + across % 8 * wide * 16;
    /* without a pattern the two strides change places along mn */
    if (major_mn && !d->swizzle)
        a += along * d->stride + across / 8 * d->lead;
    else
        a += along / wide * d->lead + across / 8 * d->stride;
    return a ^ (((a >> 7) - d->base) & (wide - 1)) << 4;
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

void mat_value(enum ptx_type t, uint32_t bits, float *v, int32_t *e)
{
    const struct soft_format *f = soft_format_of(t);
    if (!f) {
        *v = t == PTX_T_S8 ? (float)(int8_t)bits : (float)(uint8_t)bits;
        *e = 0;
        return;
    }
    unsigned size = f->bits - f->frac - 1u;
    uint32_t u = t == PTX_T_TF32 ? bits >> 13 : bits, field = u >> f->frac & ((1u << size) - 1);
    *v = (float)soft_to_double(t == PTX_T_TF32 ? bits & 0xffffe000u : bits, f);
    *e = *v == 0 ? DOT_NONE : !isfinite(*v) ? 128 : (int32_t)(field ? field : 1) - f->bias;
}

void mat_put(const struct mat_read *r, unsigned mn, unsigned k, uint32_t bits)
{
    struct mat_factors *t = r->to;
    unsigned col = dot_column(mn + r->place);
    float *v = r->of_b ? &t->b[k][col] : &t->a[mn][k];
    mat_value(r->type, bits, v, r->of_b ? &t->eb[k][col] : &t->ea[mn][k]);
    *v = r->negated ? -*v : *v;
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

/* 8 x 8 elements of 16 bits. */
static bool load_halves(const struct mat_read *r, unsigned mn, unsigned k)
{
    struct mat_factors *t = r->to;
    struct dot_halves h = { .bf16 = r->type == PTX_T_BF16,
                            .across = r->of_b != r->major_mn,
                            .spread = r->of_b,
                            .v = r->of_b ? &t->b[k][mn + r->place] : &t->a[mn][k],
                            .e = r->of_b ? &t->eb[k][mn + r->place] : &t->ea[mn][k],
                            .pitch = r->of_b ? DOT_N : DOT_K };
    for (unsigned i = 0; i < 8; i++)
        if (!(h.run[i] = unit_at(r, mn + (r->major_mn ? 0 : i), k + (r->major_mn ? i : 0))))
            return false;
    dot_pick()->halves(&h);
    for (unsigned i = 0; r->negated && i < 8; i++)
        for (unsigned j = 0; j < 8; j++)
            h.v[i * h.pitch + j] = -h.v[i * h.pitch + j];
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

bool mat_load(const struct mat_read *r)
{
    bool halves = mat_bits(r->type) == 16;
    unsigned per = r->narrow ? r->narrow : 128 / mat_bits(r->type),
             dmn = halves        ? 8
                   : r->major_mn ? per
                                 : 1,
             dk = halves        ? 8
                  : r->major_mn ? 1
                                : per;
    for (unsigned mn = 0; mn < r->rows; mn += dmn)
        for (unsigned k = 0; k < r->k; k += dk)
            if (!(halves      ? load_halves(r, mn, k)
                  : r->narrow ? load_narrow(r, mn, k)
                              : load_unit(r, mn, k)))
                return false;
    return true;
}
