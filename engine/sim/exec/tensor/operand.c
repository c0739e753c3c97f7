/* Matrix descriptors, and elements as floats. */
#include "engine/sim/exec/tensor/operand.h"

#include "engine/base/base.h"
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
    unsigned size = f->bits - f->frac - 1u;
    uint32_t u = t == PTX_T_TF32 ? bits >> 13 : bits, field = u >> f->frac & ((1u << size) - 1);
    *v = (float)soft_to_double(t == PTX_T_TF32 ? bits & 0xffffe000u : bits, f);
    *e = *v == 0 ? DOT_NONE : !isfinite(*v) ? 128 : (int32_t)(field ? field : 1) - f->bias;
}
