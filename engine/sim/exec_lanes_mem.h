/* Loads, stores and selects, 32 lanes at a time. Part of exec_lanes.h.
 *
 * The quick way serves accesses that fall wholly into the allocation the instruction used last
 * (or into shared memory) and are aligned; exec_resolve looks at everything else, and is the only
 * one that reports faults. */

LANE_HEAD(selp_32)
{
    uint32_t *d = slot_at(w, in->dst);
    const uint32_t *a = slot_at(w, in->a), *b = slot_at(w, in->b), p = pred_read(w, in->c, in->flags & EXEC_F_NEG_C);
    LANES { uint32_t r = p >> i & 1 ? a[i] : b[i]; d[i] = mask >> i & 1 ? r : d[i]; }
}
LANE_HEAD(selp_64)
{
    uint64_t *d = slot_at(w, in->dst);
    const uint64_t *a = slot_at(w, in->a), *b = slot_at(w, in->b);
    const uint32_t p = pred_read(w, in->c, in->flags & EXEC_F_NEG_C);
    LANES { uint64_t r = p >> i & 1 ? a[i] : b[i]; d[i] = mask >> i & 1 ? r : d[i]; }
}

static inline void lane_addresses(struct exec_warp *w, const struct exec_inst *in, uint64_t *a)
{
    const uint64_t off = (uint64_t)(int64_t)in->imm;
    if (in->flags & EXEC_F_BASE64) {
        const uint64_t *r = slot_at(w, in->a);
        LANES a[i] = r[i] + off;
    } else {
        const uint32_t *r = slot_at(w, in->a);
        LANES a[i] = (uint64_t)r[i] + off;
    }
    if (in->flags & EXEC_F_FRAME) {
        const uint32_t *base = w->frame->base;
        LANES a[i] += base[i];
    }
}

/* True when some lane of the mask is outside [lo, lo + span - bytes] or misaligned. */
static inline bool lane_outside(const uint64_t *a, uint32_t mask, uint64_t lo, uint64_t last, uint64_t align)
{
    uint32_t bad = 0;
    LANES bad |= (uint32_t)((a[i] - lo > last) | ((a[i] & align) != 0)) << i;
    return (bad & mask) != 0;
}

static inline enum mem_pattern lane_pattern(const uint64_t *p, uint32_t mask, uint64_t step)
{
    uint64_t seq = 0, same = 0;
    const uint64_t p0 = p[first_lane(mask)];
    if (mask == EXEC_FULL) {
        LANES { seq |= p[i] ^ (p0 + i * step); same |= p[i] ^ p0; }
        return !same ? MEM_SAME : !seq ? MEM_SEQ : MEM_ANY;
    }
    LANES same |= mask >> i & 1 ? p[i] ^ p0 : 0;
    return !same ? MEM_SAME : MEM_ANY;
}

/* Where the quick way may look: the allocation last used, or shared memory. */
struct lane_range { uint64_t lo, n, host; };
static inline bool lane_range(const struct exec_warp *w, const struct exec_inst *in, uint64_t a, struct lane_range *r)
{
    const bool generic = in->space == PTX_SPACE_GENERIC;
    if (in->space == PTX_SPACE_SHARED || (generic && a - SHARED_WINDOW < WINDOW_BYTES)) {
        *r = (struct lane_range){ generic ? SHARED_WINDOW : 0, w->x->shared_bytes, (uint64_t)(uintptr_t)w->cta->shared };
        return !generic || !w->recording;
    }
    const struct sim_alloc *c = &w->k->cache[in->mem_id];
    *r = (struct lane_range){ c->addr, c->n, (uint64_t)(uintptr_t)c->host };
    return in->space == PTX_SPACE_GLOBAL || generic || in->space == PTX_SPACE_CONST;
}

/* Local memory: each lane has its own. False: the long way. */
static inline bool lane_local(struct exec_warp *w, const struct exec_inst *in, uint32_t mask, const uint64_t *a, uint64_t *p)
{
    const uint64_t n = w->x->local_bytes, bytes = (uint64_t)in->bytes * in->vec, host = (uint64_t)(uintptr_t)w->local;
    if (n < bytes || lane_outside(a, mask, 0, n - bytes, bytes - 1))
        return false;
    if (w->recording)
        exec_record(w, in, PTX_SPACE_LOCAL, mask, a);
    LANES p[i] = host + i * n + a[i];
    return true;
}

/* For MEM_SAME and MEM_SEQ of single elements only the first active lane's pointer is set. */
static inline enum mem_pattern lane_resolve(struct exec_warp *w, const struct exec_inst *in, uint32_t mask, uint64_t *p)
{
    const unsigned bytes = in->bytes * in->vec, first = first_lane(mask);
    uint64_t a[WARP_LANES];
    struct lane_range r;
    if (w->x->checks)
        return exec_resolve(w, in, mask, p);
    lane_addresses(w, in, a);
    if (in->space == PTX_SPACE_LOCAL)
        return lane_local(w, in, mask, a, p) ? MEM_ANY : exec_resolve(w, in, mask, p);
    if (!lane_range(w, in, a[first], &r) || r.n < bytes)
        return exec_resolve(w, in, mask, p);
    const enum mem_pattern at = lane_pattern(a, mask, bytes);
    const uint64_t last = r.n - bytes, off = a[first] - r.lo, span = at == MEM_SEQ ? (uint64_t)bytes * (WARP_LANES - 1) : 0;
    if (at == MEM_ANY ? lane_outside(a, mask, r.lo, last, bytes - 1) : off > last || span > last - off || (a[first] & (bytes - 1)) != 0)
        return exec_resolve(w, in, mask, p);
    if (in->load_id != EXEC_NO_ID) {
        w->k->loads[in->load_id].executions++;
        w->k->loads[in->load_id].threads += (uint32_t)__builtin_popcount(mask);
    }
    if (w->recording)
        exec_record(w, in, in->space == PTX_SPACE_GENERIC ? PTX_SPACE_GLOBAL : in->space, mask, a);
    p[first] = off + r.host;
    if (at == MEM_ANY || in->vec > 1)
        LANES p[i] = a[i] - r.lo + r.host;
    return at;
}

/* T: type in memory; R: slot element; C: how the value becomes an R. */
#define LANE_LD(name, T, R, C)                                                                     \
    static inline void ld_part_##name(R *d, uint32_t mask, enum mem_pattern at, const uint64_t *p, unsigned off) \
    {                                                                                              \
        if (at == MEM_SAME) {                                                                      \
            const R v = C(*(const T *)(uintptr_t)(p[first_lane(mask)] + off));                     \
            LANES d[i] = mask >> i & 1 ? v : d[i];                                                 \
        } else if (at == MEM_SEQ && off == 0) {                                                    \
            const T *s = (const T *)(uintptr_t)p[0];                                               \
            LANES d[i] = C(s[i]);                                                                  \
        } else if (mask == EXEC_FULL) {                                                            \
            for (unsigned i = 0; i < WARP_LANES; i++)                                              \
                d[i] = C(*(const T *)(uintptr_t)(p[i] + off));                                     \
        } else {                                                                                   \
            FOR_LANES(i, mask) d[i] = C(*(const T *)(uintptr_t)(p[i] + off));                      \
        }                                                                                          \
    }                                                                                              \
    LANE_HEAD(name)                                                                                \
    {                                                                                              \
        uint64_t p[WARP_LANES];                                                                    \
        enum mem_pattern at = lane_resolve(w, in, mask, p);                                        \
        const uint32_t *slots = in->x;                                                             \
        if (at == MEM_FAULT)                                                                       \
            return;                                                                                \
        if (in->vec > 1 && at == MEM_SEQ)                                                          \
            at = MEM_ANY;                                                                          \
        for (unsigned k = 0; k < in->vec; k++)                                                     \
            if (slots[k] != EXEC_NO_ID)                                                            \
                ld_part_##name(slot_at(w, slots[k]), mask, at, p, k * (unsigned)sizeof(T));        \
    }
#define AS_S8_16(x) ((uint32_t)(uint16_t)(int16_t)(x))
#define AS_S32(x) ((uint32_t)(int32_t)(x))
#define AS_S64(x) ((uint64_t)(int64_t)(x))
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
#define LANE_ST(name, T, R)                                                                        \
    static inline void st_part_##name(const R *s, uint32_t mask, enum mem_pattern at, const uint64_t *p, unsigned off) \
    {                                                                                              \
        if (at == MEM_SAME) {                                                                      \
            *(T *)(uintptr_t)(p[first_lane(mask)] + off) = (T)s[31u - (unsigned)__builtin_clz(mask)]; \
        } else if (at == MEM_SEQ && off == 0) {                                                    \
            T *d = (T *)(uintptr_t)p[0];                                                           \
            LANES d[i] = (T)s[i];                                                                  \
        } else if (mask == EXEC_FULL) {                                                            \
            for (unsigned i = 0; i < WARP_LANES; i++)                                              \
                *(T *)(uintptr_t)(p[i] + off) = (T)s[i];                                           \
        } else {                                                                                   \
            FOR_LANES(i, mask) *(T *)(uintptr_t)(p[i] + off) = (T)s[i];                            \
        }                                                                                          \
    }                                                                                              \
    LANE_HEAD(name)                                                                                \
    {                                                                                              \
        uint64_t p[WARP_LANES];                                                                    \
        enum mem_pattern at = lane_resolve(w, in, mask, p);                                        \
        const uint32_t *slots = in->x;                                                             \
        if (at == MEM_FAULT)                                                                       \
            return;                                                                                \
        if (in->vec > 1 && at == MEM_SEQ)                                                          \
            at = MEM_ANY;                                                                          \
        for (unsigned k = 0; k < in->vec; k++)                                                     \
            st_part_##name(slot_at(w, slots[k]), mask, at, p, k * (unsigned)sizeof(T));            \
    }
LANE_ST(st_u8_32, uint8_t, uint32_t)
LANE_ST(st_u8_64, uint8_t, uint64_t)
LANE_ST(st_u16_32, uint16_t, uint32_t)
LANE_ST(st_u16_64, uint16_t, uint64_t)
LANE_ST(st_u32_32, uint32_t, uint32_t)
LANE_ST(st_u32_64, uint32_t, uint64_t)
LANE_ST(st_u64_64, uint64_t, uint64_t)
