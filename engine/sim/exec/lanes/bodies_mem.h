/* Loads, stores and selects, 32 lanes at a time. Part of bodies.h. */
#include "engine/sim/exec/lanes/bodies_addr.h"
#include "engine/sim/exec/lanes/bodies_fast_path.h"

LANE_HEAD(selp_32)
{
    uint32_t *d = slot_at(w, in->dst);
    const uint32_t *a = slot_at(w, in->a), *b = slot_at(w, in->b),
                   p = pred_read(w, in->c, in->flags & EXEC_F_NEG_C);
    LANES
    {
        uint32_t r = p >> i & 1 ? a[i] : b[i];
        d[i] = mask >> i & 1 ? r : d[i];
    }
}
LANE_HEAD(selp_64)
{
    uint64_t *d = slot_at(w, in->dst);
    const uint64_t *a = slot_at(w, in->a), *b = slot_at(w, in->b);
    const uint32_t p = pred_read(w, in->c, in->flags & EXEC_F_NEG_C);
    LANES
    {
        uint64_t r = p >> i & 1 ? a[i] : b[i];
        d[i] = mask >> i & 1 ? r : d[i];
    }
}

/* T: type in memory; R: slot element; C: how the value becomes an R. */
#define LANE_LD(name, T, R, C)                                                                         \
    static inline void ld_part_##name(R *d, uint32_t mask, enum mem_pattern at, const uint64_t *p,     \
                                      unsigned off)                                                    \
    {                                                                                                  \
        if (at == MEM_SAME) {                                                                          \
            const R v = C(*(const T *)(uintptr_t)(p[first_lane(mask)] + off));                         \
            LANES d[i] = mask >> i & 1 ? v : d[i];                                                     \
        } else if (at == MEM_SEQ && off == 0) {                                                        \
            const T *s = (const T *)(uintptr_t)p[0];                                                   \
            LANES d[i] = C(s[i]);                                                                      \
        } else if (mask == EXEC_FULL) {                                                                \
            for (unsigned i = 0; i < WARP_LANES; i++)                                                  \
                d[i] = C(*(const T *)(uintptr_t)(p[i] + off));                                         \
        } else {                                                                                       \
            FOR_LANES(i, mask) d[i] = C(*(const T *)(uintptr_t)(p[i] + off));                          \
        }                                                                                              \
    }                                                                                                  \
    static __attribute__((noinline)) void any_##name(struct exec_warp *w, const struct exec_inst *in,  \
                                                     uint32_t mask, enum mem_pattern known)            \
    {                                                                                                  \
        uint64_t p[WARP_LANES];                                                                        \
        enum mem_pattern at = lane_resolve(w, in, mask, known, p);                                     \
        const uint32_t *slots = in->x;                                                                 \
        if (at == MEM_FAULT)                                                                           \
            return;                                                                                    \
        if (in->vec > 1 && at == MEM_SEQ)                                                              \
            at = MEM_ANY;                                                                              \
        for (unsigned k = 0; k < in->vec; k++)                                                         \
            if (slots[k] != EXEC_NO_ID)                                                                \
                ld_part_##name(slot_at(w, slots[k]), mask, at, p, k *(unsigned)sizeof(T));             \
    }                                                                                                  \
    static __attribute__((noinline)) void slow_##name(struct exec_warp *w, const struct exec_inst *in, \
                                                      uint32_t mask, enum mem_pattern known)           \
    {                                                                                                  \
        uint64_t p0;                                                                                   \
        enum mem_pattern at = lane_quick(w, in, mask, (unsigned)sizeof(T), &p0, &known);               \
        if (at == MEM_SEQ) {                                                                           \
            R *d = slot_at(w, *(const uint32_t *)in->x);                                               \
            const T *s = (const T *)(uintptr_t)p0;                                                     \
            LANES d[i] = C(s[i]);                                                                      \
        } else if (at == MEM_SAME) {                                                                   \
            R *d = slot_at(w, *(const uint32_t *)in->x);                                               \
            const R v = C(*(const T *)(uintptr_t)p0);                                                  \
            LANES d[i] = mask >> i & 1 ? v : d[i];                                                     \
        } else {                                                                                       \
            uint64_t off[WARP_LANES], host = lane_each(w, in, mask, (unsigned)sizeof(T), known, off);  \
            R *d = host ? slot_at(w, *(const uint32_t *)in->x) : NULL;                                 \
            if (!host)                                                                                 \
                any_##name(w, in, mask, known);                                                        \
            else if (sizeof(T) == sizeof(uint32_t) && lane_room(w->k, in, off)) {                      \
                struct exec_ahead *h = &w->k->ahead[in->group % ARRAY_LEN(w->k->ahead)];               \
                for (unsigned i = 0; i < WARP_LANES; i++) {                                            \
                    const uint8_t *p = (const uint8_t *)(uintptr_t)(host + off[i]);                    \
                    d[i] = C(*(const T *)(const void *)p);                                             \
                    for (unsigned k = 0; k < in->nahead; k++)                                          \
                        h->v[k][i] = *(const uint32_t *)(const void *)(p + in->ahead[k]);              \
                }                                                                                      \
                h->group = in->group;                                                                  \
                h->warp = w;                                                                           \
            } else                                                                                     \
                for (unsigned i = 0; i < WARP_LANES; i++)                                              \
                    d[i] = C(*(const T *)(uintptr_t)(host + off[i]));                                  \
        }                                                                                              \
    }                                                                                                  \
    static __attribute__((noinline)) void fast_##name(struct exec_warp *w, const struct exec_inst *in, \
                                                      uint32_t mask)                                   \
    {                                                                                                  \
        uint64_t p0;                                                                                   \
        const uint8_t *shared = lane_shared(w, in, mask, (unsigned)sizeof(T));                         \
        if (shared) {                                                                                  \
            R *d = slot_at(w, *(const uint32_t *)in->x);                                               \
            const uint32_t *r = slot_at(w, in->a);                                                     \
            for (unsigned i = 0; i < WARP_LANES; i++)                                                  \
                d[i] = C(*(const T *)(const void *)(shared + (r[i] + (uint32_t)in->imm)));             \
            return;                                                                                    \
        }                                                                                              \
        const uint32_t *read = sizeof(T) == sizeof(uint32_t) ? lane_was_read(w, in, mask) : NULL;      \
        if (read) {                                                                                    \
            R *d = slot_at(w, *(const uint32_t *)in->x);                                               \
            LANES d[i] = C(((const T *)(const void *)read)[i]);                                        \
            return;                                                                                    \
        }                                                                                              \
        if (in->nahead)                                                                                \
            w->k->ahead[in->group % ARRAY_LEN(w->k->ahead)].group = 0;                                 \
        enum mem_pattern known, at = lane_fast(w, in, mask, (unsigned)sizeof(T), &p0, &known);         \
        if (at == MEM_ANY) {                                                                           \
            slow_##name(w, in, mask, known);                                                           \
            return;                                                                                    \
        }                                                                                              \
        R *d = slot_at(w, *(const uint32_t *)in->x);                                                   \
        const T *s = (const T *)(uintptr_t)p0;                                                         \
        if (at == MEM_SEQ) {                                                                           \
            LANES d[i] = C(s[i]);                                                                      \
        } else {                                                                                       \
            const R v = C(*s);                                                                         \
            LANES d[i] = v;                                                                            \
        }                                                                                              \
    }                                                                                                  \
    LANE_HEAD(name)                                                                                    \
    {                                                                                                  \
        const uint64_t host = lane_hot(w, in, mask, (unsigned)sizeof(T));                              \
        if (!host) {                                                                                   \
            fast_##name(w, in, mask);                                                                  \
            return;                                                                                    \
        }                                                                                              \
        R *d = slot_at(w, *(const uint32_t *)in->x);                                                   \
        const T *s = (const T *)(uintptr_t)host;                                                       \
        LANES d[i] = C(s[i]);                                                                          \
    }
#define AS_S8_16(x) ((uint32_t)(uint16_t)(int16_t)(x))
#define AS_S32(x)   ((uint32_t)(int32_t)(x))
#define AS_S64(x)   ((uint64_t)(int64_t)(x))
LANE_LD(ld_u8_32, uint8_t, uint32_t, (uint32_t))
LANE_LD(ld_s8_16, int8_t, uint32_t, AS_S8_16)
LANE_LD(ld_s8_32, int8_t, uint32_t, AS_S32)
LANE_LD(ld_u8_64, uint8_t, uint64_t, (uint64_t))
LANE_LD(ld_s8_64, int8_t, uint64_t, AS_S64)
LANE_LD(ld_u16_32, uint16_t, uint32_t, (uint32_t))
LANE_LD(ld_s16_32, int16_t, uint32_t, AS_S32)
LANE_LD(ld_u16_64, uint16_t, uint64_t, (uint64_t))
LANE_LD(ld_s16_64, int16_t, uint64_t, AS_S64)
LANE_LD(ld_u32_32, uint32_t, uint32_t, (uint32_t))
LANE_LD(ld_u32_64, uint32_t, uint64_t, (uint64_t))
LANE_LD(ld_s32_64, int32_t, uint64_t, AS_S64)
LANE_LD(ld_u64_64, uint64_t, uint64_t, (uint64_t))

/* T: type in memory; R: slot element. Lanes at one address: the highest lane's value stays. */
#define LANE_ST(name, T, R)                                                                            \
    static inline void st_part_##name(const R *s, uint32_t mask, enum mem_pattern at,                  \
                                      const uint64_t *p, unsigned off)                                 \
    {                                                                                                  \
        if (at == MEM_SAME) {                                                                          \
            *(T *)(uintptr_t)(p[first_lane(mask)] + off) = (T)s[31u - (unsigned)__builtin_clz(mask)];  \
        } else if (at == MEM_SEQ && off == 0) {                                                        \
            T *d = (T *)(uintptr_t)p[0];                                                               \
            LANES d[i] = (T)s[i];                                                                      \
        } else if (mask == EXEC_FULL) {                                                                \
            for (unsigned i = 0; i < WARP_LANES; i++)                                                  \
                *(T *)(uintptr_t)(p[i] + off) = (T)s[i];                                               \
        } else {                                                                                       \
            FOR_LANES(i, mask) * (T *)(uintptr_t)(p[i] + off) = (T)s[i];                               \
        }                                                                                              \
    }                                                                                                  \
    static __attribute__((noinline)) void any_##name(struct exec_warp *w, const struct exec_inst *in,  \
                                                     uint32_t mask, enum mem_pattern known)            \
    {                                                                                                  \
        uint64_t p[WARP_LANES];                                                                        \
        enum mem_pattern at = lane_resolve(w, in, mask, known, p);                                     \
        const uint32_t *slots = in->x;                                                                 \
        if (at == MEM_FAULT)                                                                           \
            return;                                                                                    \
        if (in->vec > 1 && at == MEM_SEQ)                                                              \
            at = MEM_ANY;                                                                              \
        for (unsigned k = 0; k < in->vec; k++)                                                         \
            st_part_##name(slot_at(w, slots[k]), mask, at, p, k *(unsigned)sizeof(T));                 \
    }                                                                                                  \
    static __attribute__((noinline)) void slow_##name(struct exec_warp *w, const struct exec_inst *in, \
                                                      uint32_t mask, enum mem_pattern known)           \
    {                                                                                                  \
        uint64_t p0;                                                                                   \
        enum mem_pattern at = lane_quick(w, in, mask, (unsigned)sizeof(T), &p0, &known);               \
        const R *s = slot_at(w, *(const uint32_t *)in->x);                                             \
        if (at == MEM_SEQ) {                                                                           \
            T *d = (T *)(uintptr_t)p0;                                                                 \
            LANES d[i] = (T)s[i];                                                                      \
        } else if (at == MEM_SAME) {                                                                   \
            *(T *)(uintptr_t)p0 = (T)s[31u - (unsigned)__builtin_clz(mask)];                           \
        } else {                                                                                       \
            any_##name(w, in, mask, known);                                                            \
        }                                                                                              \
    }                                                                                                  \
    LANE_HEAD(name)                                                                                    \
    {                                                                                                  \
        uint64_t p0;                                                                                   \
        enum mem_pattern known;                                                                        \
        if (lane_fast(w, in, mask, (unsigned)sizeof(T), &p0, &known) != MEM_SEQ) {                     \
            slow_##name(w, in, mask, known);                                                           \
            return;                                                                                    \
        }                                                                                              \
        const R *s = slot_at(w, *(const uint32_t *)in->x);                                             \
        T *d = (T *)(uintptr_t)p0;                                                                     \
        LANES d[i] = (T)s[i];                                                                          \
    }
LANE_ST(st_u8_32, uint8_t, uint32_t)
LANE_ST(st_u8_64, uint8_t, uint64_t)
LANE_ST(st_u16_32, uint16_t, uint32_t)
LANE_ST(st_u16_64, uint16_t, uint64_t)
LANE_ST(st_u32_32, uint32_t, uint32_t)
LANE_ST(st_u32_64, uint32_t, uint64_t)
LANE_ST(st_u64_64, uint64_t, uint64_t)

/* Where a load or store goes, and nothing else: timing_slice.c. */
static __attribute__((noinline)) void any_touch(struct exec_warp *w, const struct exec_inst *in,
                                                uint32_t mask, enum mem_pattern known)
{
    uint64_t p[WARP_LANES];
    lane_resolve(w, in, mask, known, p);
}
LANE_HEAD(touch)
{
    uint64_t p0;
    enum mem_pattern known = MEM_FAULT;
    if (lanes_in_shared(w, in, mask, in->bytes * in->vec))
        count_load(w, in, mask);
    else if (lane_quick(w, in, mask, in->bytes, &p0, &known) == MEM_ANY)
        any_touch(w, in, mask, known);
}
