/* Addresses of a warp's access to host pointers. Part of exec_lanes.h.
 *
 * lane_quick      one element, lanes at one address or in sequence: no lane but the first is looked at
 * lane_resolve    any access that falls wholly into the allocation the instruction used last (or into shared or
 *                 local memory) and is aligned
 * exec_resolve    everything else; the only one that reports faults */

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

/* How base registers r of type T lie to each other: `step` bytes apart, all alike, or neither. */
#define LANE_PATTERN(name, T)                                                                      \
    static inline enum mem_pattern name(const T *r, uint32_t mask, unsigned step)                  \
    {                                                                                              \
        T seq = 0, same = 0;                                                                       \
        const T r0 = r[first_lane(mask)];                                                          \
        if (mask == EXEC_FULL) {                                                                   \
            LANES { seq |= r[i] ^ (r0 + (T)(i * step)); same |= r[i] ^ r0; }                       \
            return !same ? MEM_SAME : !seq ? MEM_SEQ : MEM_ANY;                                    \
        }                                                                                          \
        LANES same |= mask >> i & 1 ? r[i] ^ r0 : 0;                                               \
        return !same ? MEM_SAME : MEM_ANY;                                                         \
    }
LANE_PATTERN(lane_pattern_32, uint32_t)
LANE_PATTERN(lane_pattern_64, uint64_t)

/* Accesses of a block through one unchanged register are alike: the pattern found at the first serves the rest,
 * as long as the same lanes of the same call come by (decode_func.c forms the groups). */
static inline bool memo_holds(const struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    return in->group && w->memo.group == in->group && w->memo.mask == mask && w->memo.frame == w->frame;
}
static inline enum mem_pattern memo_keep(struct exec_warp *w, const struct exec_inst *in, uint32_t mask, enum mem_pattern at)
{
    if (in->group) {
        w->memo.group = in->group;
        w->memo.mask = mask;
        w->memo.frame = w->frame;
        w->memo.at = (uint8_t)at;
    }
    return at;
}
static inline enum mem_pattern lane_pattern(struct exec_warp *w, const struct exec_inst *in, uint32_t mask, unsigned bytes)
{
    if (memo_holds(w, in, mask))
        return w->memo.at;
    return memo_keep(w, in, mask, in->flags & EXEC_F_BASE64 ? lane_pattern_64(slot_at(w, in->a), mask, bytes)
                                                            : lane_pattern_32(slot_at(w, in->a), mask, bytes));
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
    return (in->flags & EXEC_F_BASE64 ? ((const uint64_t *)r)[lane] : ((const uint32_t *)r)[lane]) + (uint64_t)(int64_t)in->imm;
}

/* All lanes' addresses are needed: to check each, to record them, or for more than one element. */
static inline enum mem_pattern lane_resolve_each(struct exec_warp *w, const struct exec_inst *in, uint32_t mask, enum mem_pattern at,
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

/* For MEM_SAME and MEM_SEQ of single elements only the first active lane's pointer is set. MEM_FAULT: the long way. */
static inline enum mem_pattern lane_resolve_range(struct exec_warp *w, const struct exec_inst *in, uint32_t mask, enum mem_pattern known, uint64_t *p)
{
    const unsigned bytes = in->bytes * in->vec, first = first_lane(mask);
    const uint64_t a = lane_address(w, in, first);
    struct lane_range r;
    if (!lane_range(w, in, a, &r) || r.n < bytes)
        return MEM_FAULT;
    const enum mem_pattern at = known != MEM_FAULT ? known : lane_pattern(w, in, mask, bytes);
    const uint64_t last = r.n - bytes, off = a - r.lo, span = at == MEM_SEQ ? (uint64_t)bytes * (WARP_LANES - 1) : 0;
    if (off > last || span > last - off || (a & (bytes - 1)) != 0)
        return MEM_FAULT;
    p[first] = off + r.host;
    return at == MEM_ANY || in->vec > 1 || w->recording ? lane_resolve_each(w, in, mask, at, &r, p) : at;
}

/* known: the pattern of the base registers, MEM_FAULT when nobody has looked. */
static __attribute__((noinline)) enum mem_pattern lane_resolve(struct exec_warp *w, const struct exec_inst *in, uint32_t mask, enum mem_pattern known, uint64_t *p)
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

/* Offsets of all 32 lanes in the allocation used last, when they are at places of their own and all is as it should be;
 * where that lies in the host's memory, or 0: lane_resolve. */
static inline uint64_t lane_each(struct exec_warp *w, const struct exec_inst *in, uint32_t mask, unsigned bytes, enum mem_pattern known, uint64_t *off)
{
    const struct sim_alloc *c = &w->k->cache[in->mem_id];
    if (known != MEM_ANY || mask != EXEC_FULL || in->quick != QUICK_GLOBAL || w->recording || c->n < bytes)
        return 0;
    const uint64_t *r = slot_at(w, in->a), last = c->n - bytes, lo = c->addr, add = (uint64_t)(int64_t)in->imm - lo, align = bytes - 1;
    uint64_t bad = 0;
    LANES { off[i] = r[i] + add; bad |= (uint64_t)(off[i] > last) | ((off[i] + lo) & align); }
    if (bad)
        return 0;
    count_load(w, in, mask);
    return (uint64_t)(uintptr_t)c->host;
}

/* One element of `bytes`, lanes at one address or in sequence, inside the allocation used last: *p0 is the first
 * active lane's pointer. MEM_ANY: lane_resolve, which is told in *known what was found out. */
static inline enum mem_pattern lane_quick(struct exec_warp *w, const struct exec_inst *in, uint32_t mask, unsigned bytes, uint64_t *p0, enum mem_pattern *known)
{
    uint64_t a, off, n, host;
    const unsigned first = first_lane(mask);
    *known = MEM_FAULT;
    if (in->quick == QUICK_NONE)
        return MEM_ANY;
    const void *r = slot_at(w, in->a);
    if (memo_holds(w, in, mask))
        *known = w->memo.at;
    else if (w->x->checks)
        return MEM_ANY;
    else
        *known = memo_keep(w, in, mask, in->quick == QUICK_GLOBAL ? lane_pattern_64(r, mask, bytes) : lane_pattern_32(r, mask, bytes));
    if (in->quick == QUICK_GLOBAL) {
        const struct sim_alloc *c = &w->k->cache[in->mem_id];
        a = ((const uint64_t *)r)[first] + (uint64_t)(int64_t)in->imm;
        off = a - c->addr;
        n = c->n;
        host = (uint64_t)(uintptr_t)c->host;
    } else {
        a = off = ((const uint32_t *)r)[first] + (uint64_t)(int64_t)in->imm;
        n = w->x->shared_bytes;
        host = (uint64_t)(uintptr_t)w->cta->shared;
    }
    const uint64_t need = *known == MEM_SEQ ? bytes * WARP_LANES : bytes;
    if (*known == MEM_ANY || off >= n || need > n - off || (a & (bytes - 1)) != 0)
        return MEM_ANY;
    count_load(w, in, mask);
    if (w->recording)
        exec_record_run(w, in, mask, *known == MEM_SAME, a);
    *p0 = host + off;
    return *known;
}

