/* Addresses of a warp's access to host pointers. Part of bodies.h.
 *
 * lane_hot        one element of global memory, all lanes in sequence, known from the access before,
 *                 nothing to record
 * lane_fast       the same, but for what is known; or all lanes at one address
 * lane_quick      one element, lanes at one address or in sequence: no lane but the first is looked at
 * lane_resolve    any access that falls wholly into the allocation the instruction used last (or into
 *                 shared or local memory) and is aligned
 * exec_resolve    everything else; the only one that reports faults */

/* A base register of 32 bits and its offset make an address of 32 bits (6.4.1): compilers count down
 * from the end of shared memory. */
static inline void lane_addresses(struct exec_warp *w, const struct exec_inst *in, uint64_t *a)
{
    const uint64_t off = (uint64_t)(int64_t)in->imm;
    if (in->flags & EXEC_F_BASE64) {
        const uint64_t *r = slot_at(w, in->a);
        LANES a[i] = r[i] + off;
    } else {
        const uint32_t *r = slot_at(w, in->a);
        LANES a[i] = r[i] + (uint32_t)off;
    }
    if (in->flags & EXEC_F_FRAME) {
        const uint32_t *base = w->frame->base;
        LANES a[i] += base[i];
    }
}

/* True when some lane of the mask is outside [lo, lo + span - bytes] or misaligned. */
static inline bool lane_outside(const uint64_t *a, uint32_t mask, uint64_t lo, uint64_t last,
                                uint64_t align)
{
    uint32_t bad = 0;
    LANES bad |= (uint32_t)((a[i] - lo > last) | ((a[i] & align) != 0)) << i;
    return (bad & mask) != 0;
}

/* How base registers r of type T lie to each other: `step` bytes apart, all alike, or neither. The
 * second lane says which of the two it can be. */
#define LANE_PATTERN(name, T)                                                     \
    static inline enum mem_pattern name(const T *r, uint32_t mask, unsigned step) \
    {                                                                             \
        T wrong = 0;                                                              \
        const T r0 = r[first_lane(mask)];                                         \
        if (mask == EXEC_FULL) {                                                  \
            if (r[1] == r0) {                                                     \
                LANES wrong |= r[i] ^ r0;                                         \
                return wrong ? MEM_ANY : MEM_SAME;                                \
            }                                                                     \
            if (r[1] - r0 != (T)step)                                             \
                return MEM_ANY;                                                   \
            LANES wrong |= r[i] ^ (r0 + (T)(i * step));                           \
            return wrong ? MEM_ANY : MEM_SEQ;                                     \
        }                                                                         \
        LANES wrong |= mask >> i & 1 ? r[i] ^ r0 : 0;                             \
        return wrong ? MEM_ANY : MEM_SAME;                                        \
    }
LANE_PATTERN(lane_pattern_32, uint32_t)
LANE_PATTERN(lane_pattern_64, uint64_t)

/* Accesses of a block through one unchanged register are alike: the pattern found at the first serves
 * the rest, as long as the same lanes of the same call come by (func.c forms the groups). The first
 * itself always looks: a loop may come by with another pattern. */
static inline bool memo_holds(const struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    return in->follows && w->memo.group == in->follows && w->memo.mask == mask &&
           w->memo.frame == w->frame;
}
static inline enum mem_pattern memo_keep(struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                                         enum mem_pattern at)
{
    if (in->group) {
        w->memo.group = in->group;
        w->memo.mask = mask;
        w->memo.frame = w->frame;
        w->memo.at = (uint8_t)at;
        w->memo.seq = mask == EXEC_FULL && at == MEM_SEQ && !w->recording ? in->group : EXEC_NO_ID;
    }
    return at;
}
static inline enum mem_pattern lane_pattern(struct exec_warp *w, const struct exec_inst *in,
                                            uint32_t mask, unsigned bytes)
{
    if (memo_holds(w, in, mask))
        return w->memo.at;
    return memo_keep(w, in, mask,
                     in->flags & EXEC_F_BASE64 ? lane_pattern_64(slot_at(w, in->a), mask, bytes)
                                               : lane_pattern_32(slot_at(w, in->a), mask, bytes));
}

/* Where the quick way may look: the allocation last used, or shared memory. */
struct lane_range {
    uint64_t lo;
    uint64_t n;
    uint64_t host;
};
static inline bool lane_range(const struct exec_warp *w, const struct exec_inst *in, uint64_t a,
                              struct lane_range *r)
{
    const bool generic = in->space == PTX_SPACE_GENERIC;
    if (in->space == PTX_SPACE_SHARED || (generic && a - SHARED_WINDOW < WINDOW_BYTES)) {
        *r = (struct lane_range){ generic ? SHARED_WINDOW : 0, w->x->shared_bytes,
                                  (uint64_t)(uintptr_t)w->cta->shared };
        return !generic || !w->recording;
    }
    const struct sim_alloc *c = &w->k->cache[in->mem_id];
    *r = (struct lane_range){ c->addr, c->n, (uint64_t)(uintptr_t)c->host };
    return in->space == PTX_SPACE_GLOBAL || generic || in->space == PTX_SPACE_CONST;
}

/* All lanes are active, each with `bytes` bytes in shared memory of the CTA, aligned, and nothing is to be recorded. */
static inline bool lanes_in_shared(const struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                                   unsigned bytes)
{
    const uint64_t n = w->x->shared_bytes;
    if (in->space != PTX_SPACE_SHARED || mask != EXEC_FULL || w->recording || w->x->checks ||
        n < bytes || in->flags & (EXEC_F_BASE64 | EXEC_F_FRAME))
        return false;
    const uint32_t *r = slot_at(w, in->a), last = (uint32_t)(n - bytes), low = bytes - 1;
    uint32_t bad = 0;
    LANES
    {
        const uint32_t a = r[i] + (uint32_t)in->imm;
        bad |= (uint32_t)(a > last) | (a & low);
    }
    return !bad;
}

/* Shared memory of the CTA, which one element of each of all lanes is read of; else NULL. */
static inline const uint8_t *lane_shared(const struct exec_warp *w, const struct exec_inst *in,
                                         uint32_t mask, unsigned bytes)
{
    return in->vec == 1 && lanes_in_shared(w, in, mask, bytes) ? w->cta->shared : NULL;
}

/* Local memory: each lane has its own. False: the long way. */
static inline bool lane_local(struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                              const uint64_t *a, uint64_t *p)
{
    const uint64_t n = w->x->local_bytes, bytes = (uint64_t)in->bytes * in->vec,
                   host = (uint64_t)(uintptr_t)w->local;
    if (n < bytes || lane_outside(a, mask, 0, n - bytes, bytes - 1))
        return false;
    if (w->recording)
        exec_record(w, in, PTX_SPACE_LOCAL, mask, a);
    LANES p[i] = host + i * n + a[i];
    return true;
}

static inline void count_load(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    if (in->load_id == EXEC_NO_ID)
        return;
    struct sim_load_stats *s = &w->k->loads[in->load_id];
    s->executions++;
    s->threads += lane_count(mask);
}

static inline uint64_t lane_address(const struct exec_warp *w, const struct exec_inst *in, unsigned lane)
{
    const void *r = slot_at(w, in->a);
    return in->flags & EXEC_F_BASE64 ? ((const uint64_t *)r)[lane] + (uint64_t)(int64_t)in->imm
                                     : ((const uint32_t *)r)[lane] + (uint32_t)in->imm;
}

/* All lanes' addresses are needed: to check each, to record them, or for more than one element. */
static inline enum mem_pattern lane_resolve_each(struct exec_warp *w, const struct exec_inst *in,
                                                 uint32_t mask, enum mem_pattern at,
                                                 const struct lane_range *r, uint64_t *p)
{
    const unsigned bytes = in->bytes * in->vec;
    uint64_t own[WARP_LANES], *a = w->recording ? w->rec->addr : own;
    lane_addresses(w, in, a);
    if (at == MEM_ANY && lane_outside(a, mask, r->lo, r->n - bytes, bytes - 1))
        return MEM_FAULT;
    if (w->recording)
        exec_record(w, in, in->space == PTX_SPACE_GENERIC ? PTX_SPACE_GLOBAL : in->space, mask, a);
    const uint64_t move = r->host - r->lo;
    LANES p[i] = a[i] + move;
    return at;
}

/* For MEM_SAME and MEM_SEQ of single elements only the first active lane's pointer is set. MEM_FAULT:
 * the long way. */
static inline enum mem_pattern lane_resolve_range(struct exec_warp *w, const struct exec_inst *in,
                                                  uint32_t mask, enum mem_pattern known, uint64_t *p)
{
    const unsigned bytes = in->bytes * in->vec, first = first_lane(mask);
    const uint64_t a = lane_address(w, in, first);
    struct lane_range r;
    if (!lane_range(w, in, a, &r) || r.n < bytes)
        return MEM_FAULT;
    const enum mem_pattern at = known != MEM_FAULT ? known : lane_pattern(w, in, mask, bytes);
    const uint64_t last = r.n - bytes, off = a - r.lo,
                   span = at == MEM_SEQ ? (uint64_t)bytes * (WARP_LANES - 1) : 0;
    if (off > last || span > last - off || (a & (bytes - 1)) != 0)
        return MEM_FAULT;
    p[first] = off + r.host;
    return at == MEM_ANY || in->vec > 1 || w->recording ? lane_resolve_each(w, in, mask, at, &r, p) : at;
}

/* known: the pattern of the base registers, MEM_FAULT when nobody has looked. */
static __attribute__((noinline)) enum mem_pattern lane_resolve(struct exec_warp *w,
                                                               const struct exec_inst *in, uint32_t mask,
                                                               enum mem_pattern known, uint64_t *p)
{
    enum mem_pattern at = MEM_FAULT;
    if (w->x->checks)
        return exec_resolve(w, in, mask, p);
    if (in->space == PTX_SPACE_LOCAL) {
        uint64_t a[WARP_LANES];
        lane_addresses(w, in, a);
        at = lane_local(w, in, mask, a, p) ? MEM_ANY : MEM_FAULT;
    } else if (!(in->flags & EXEC_F_FRAME)) {
        at = lane_resolve_range(w, in, mask, known, p);
    }
    if (at == MEM_FAULT)
        return exec_resolve(w, in, mask, p);
    count_load(w, in, mask);
    return at;
}
