/* Matrix descriptors, and elements as floats. */
#include "engine/sim/exec/tensor/operand.h"

#include "engine/base/base.h"
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
    return t == PTX_T_TF32 ? 32 : ptx_type_bits(t);
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
    float *v = r->of_b ? &t->b[k][dot_column(mn)] : &t->a[mn][k];
    mat_value(r->type, bits, v, r->of_b ? &t->eb[k][dot_column(mn)] : &t->ea[mn][k]);
    *v = r->negated ? -*v : *v;
}

/* The 16 bytes that hold element (mn, k), NULL: outside shared memory, told. */
static const uint8_t *unit_at(const struct mat_read *r, unsigned mn, unsigned k)
{
    const struct mat_desc *m = &r->desc;
    uint32_t a = mat_unit(m, mat_bits(r->type) / 8, r->major_mn, r->first + mn, k);
    if (a + 16ull <= r->w->x->shared_bytes)
        return r->w->cta->shared + a;
    exec_fault(r->w, r->in, 0, FAULT_BOUNDS,
               "a matrix descriptor (start 0x%x, leading %u, stride %u bytes) reaches shared address "
               "0x%x: the CTA has %u bytes of shared memory",
               m->start, m->lead, m->stride, a, r->w->x->shared_bytes);
    return NULL;
}

/* 8 x 8 elements of 16 bits. */
static bool load_halves(const struct mat_read *r, unsigned mn, unsigned k)
{
    struct mat_factors *t = r->to;
    struct dot_halves h = { .bf16 = r->type == PTX_T_BF16,
                            .across = r->of_b != r->major_mn,
                            .spread = r->of_b,
                            .v = r->of_b ? &t->b[k][mn] : &t->a[mn][k],
                            .e = r->of_b ? &t->eb[k][mn] : &t->ea[mn][k],
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
    unsigned per = 128 / mat_bits(r->type),
             dmn = halves        ? 8
                   : r->major_mn ? per
                                 : 1,
             dk = halves        ? 8
                  : r->major_mn ? 1
                                : per;
    for (unsigned mn = 0; mn < r->rows; mn += dmn)
        for (unsigned k = 0; k < r->k; k += dk)
            if (!(halves ? load_halves(r, mn, k) : load_unit(r, mn, k)))
                return false;
    return true;
}
