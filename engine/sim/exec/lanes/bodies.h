/* bodies: bodies of lanes.def. Included by one file per instruction set, which has set the
 * target of the compiler and defines LANES_TABLE. Every loop has 32 turns and no calls, so the
 * compiler turns it into a few vector instructions. A destination is either the same slot as a
 * source or apart from it, hence the loops carry no dependence. */
#include "engine/sim/exec/access.h"
#include "engine/sim/exec/exec.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/lanes/lanes.h"
#include "engine/sim/mem.h"
#include "engine/sim/windows.h"

#include <string.h>
#if defined(LANES_256) || defined(LANES_512)
#include <immintrin.h>
#endif

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define LANES _Pragma("clang loop vectorize(assume_safety)") for (unsigned i = 0; i < WARP_LANES; i++)
#else
#define LANES _Pragma("GCC ivdep") for (unsigned i = 0; i < WARP_LANES; i++)
#endif

#include "engine/sim/exec/lanes/math.h"
#include "engine/sim/exec/lanes/math_convert.h"
#include "engine/sim/exec/lanes/math_int.h"
#include "engine/sim/exec/lanes/sfu.h"

/* ---- lane types: slot element, value, how a slot is read and a result written ---- */
#define SLOT_u16     uint32_t
#define SLOT_s16     uint32_t
#define SLOT_u32     uint32_t
#define SLOT_s32     uint32_t
#define SLOT_u64     uint64_t
#define SLOT_s64     uint64_t
#define SLOT_f32     float
#define SLOT_f32z    float
#define SLOT_f64     double
#define SLOT_f16     uint32_t
#define SLOT_f16r    uint32_t
#define SLOT_f16z    uint32_t
#define SLOT_bf16    uint32_t
#define SLOT_bf16r   uint32_t
#define GET_u16(x)   ((uint16_t)(x))
#define GET_s16(x)   ((int16_t)(x))
#define GET_u32(x)   (x)
#define GET_s32(x)   ((int32_t)(x))
#define GET_u64(x)   (x)
#define GET_s64(x)   ((int64_t)(x))
#define GET_f32(x)   (x)
#define GET_f32z(x)  ftz(x)
#define GET_f64(x)   (x)
#define GET_f16(x)   f16_to(x)
#define GET_f16z(x)  f16_to((x)&0x7c00u ? (x) : (x)&0x8000u)
#define GET_bf16(x)  bf16_to(x)
#define PUT_u16(x)   ((uint32_t)(uint16_t)(x))
#define PUT_s16(x)   ((uint32_t)(uint16_t)(x))
#define PUT_u32(x)   ((uint32_t)(x))
#define PUT_s32(x)   ((uint32_t)(x))
#define PUT_u64(x)   ((uint64_t)(x))
#define PUT_s64(x)   ((uint64_t)(x))
#define PUT_f32(x)   (x)
#define PUT_f64(x)   (x)
#define PUT_f16(x)   f16_of(x)
#define PUT_f16r(x)  f16_of_odd(x)
#define PUT_bf16(x)  bf16_of(x)
#define PUT_bf16r(x) bf16_of_odd(x)

/* Sign bits of 32 lanes as one word. */
static inline uint32_t lane_bits(const int32_t *v)
{
#if defined(LANES_512)
    return (uint32_t)_mm512_movepi32_mask(_mm512_loadu_si512(v)) |
           (uint32_t)_mm512_movepi32_mask(_mm512_loadu_si512(v + 16)) << 16;
#elif defined(LANES_256)
    uint32_t r = 0;
    for (unsigned i = 0; i < WARP_LANES; i += 8)
        r |= (uint32_t)_mm256_movemask_ps(
                 _mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)(const void *)(v + i))))
             << i;
    return r;
#else
    uint32_t r = 0;
    LANES r |= (uint32_t)v[i] >> 31 << i;
    return r;
#endif
}

#define LANE_LOOP(D, load, expr)              \
    if (mask == EXEC_FULL)                    \
        LANES                                 \
        {                                     \
            load d[i] = PUT_##D(expr);        \
        }                                     \
    else                                      \
        LANES                                 \
        {                                     \
            load SLOT_##D r_ = PUT_##D(expr); \
            d[i] = mask >> i & 1 ? r_ : d[i]; \
        }
#define LANE_HEAD(name) \
    static void lane_##name(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
#define LANE_SRC(v, T) const SLOT_##T *p##v = slot_at(w, in->v);
#define LANE_GET(v, T) const __typeof__(GET_##T(*p##v)) v = GET_##T(p##v[i]);
#define LANE_IMM                 \
    const int32_t imm = in->imm; \
    (void)imm;

#define LANE1(name, op, types, key, D, A, expr)           \
    LANE_HEAD(name)                                       \
    {                                                     \
        LANE_IMM SLOT_##D *d = slot_at(w, in->dst);       \
        LANE_SRC(a, A) LANE_LOOP(D, LANE_GET(a, A), expr) \
    }
#define LANE2(name, op, types, key, D, A, B, expr)                                      \
    LANE_HEAD(name)                                                                     \
    {                                                                                   \
        LANE_IMM SLOT_##D *d = slot_at(w, in->dst);                                     \
        LANE_SRC(a, A) LANE_SRC(b, B) LANE_LOOP(D, LANE_GET(a, A) LANE_GET(b, B), expr) \
    }
#define LANE3(name, op, types, key, D, A, B, C, expr)                                                  \
    LANE_HEAD(name)                                                                                    \
    {                                                                                                  \
        LANE_IMM SLOT_##D *d = slot_at(w, in->dst);                                                    \
        LANE_SRC(a, A)                                                                                 \
        LANE_SRC(b, B) LANE_SRC(c, C) LANE_LOOP(D, LANE_GET(a, A) LANE_GET(b, B) LANE_GET(c, C), expr) \
    }
#define LANE4(name, op, types, key, D, A, B, C, E, expr)                                     \
    LANE_HEAD(name)                                                                          \
    {                                                                                        \
        LANE_IMM SLOT_##D *d = slot_at(w, in->dst);                                          \
        LANE_SRC(a, A) LANE_SRC(b, B) LANE_SRC(c, C) const SLOT_##E *pe = slot_at(w, in->d); \
        LANE_LOOP(D, LANE_GET(a, A) LANE_GET(b, B) LANE_GET(c, C) LANE_GET(e, E), expr)      \
    }
#define LANEP(name, cmp, types, A, expr)                           \
    LANE_HEAD(name)                                                \
    {                                                              \
        LANE_SRC(a, A) LANE_SRC(b, A) int32_t r[WARP_LANES];       \
        LANES                                                      \
        {                                                          \
            LANE_GET(a, A) LANE_GET(b, A) r[i] = -(int32_t)(expr); \
        }                                                          \
        exec_put_compare(w, in, mask, lane_bits(r));               \
    }
#define LANEX(name)
#include "engine/sim/exec/lanes/lanes.def"

#include "engine/sim/exec/lanes/bodies_mem.h"

exec_fn *const LANES_TABLE[LANE_COUNT] = {
    NULL,
#define LANE1(name, ...) [LANE_##name] = lane_##name,
#define LANE2            LANE1
#define LANE3            LANE1
#define LANE4            LANE1
#define LANEP            LANE1
#define LANEX(name)      [LANE_##name] = lane_##name,
#include "engine/sim/exec/lanes/lanes.def"
};
