/* The quick ways to the memory of a warp's access: see bodies_addr.h. Part of bodies.h. */

/* Offsets of all 32 lanes in the allocation used last, when they are at places of their own and all is
 * as it should be; where that lies in the host's memory, or 0: lane_resolve. */
static inline uint64_t lane_each(struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                                 unsigned bytes, enum mem_pattern known, uint64_t *off)
{
    const struct sim_alloc *c = &w->k->cache[in->mem_id];
    if (known != MEM_ANY || mask != EXEC_FULL || in->fast_path != QUICK_GLOBAL || w->recording ||
        c->n < bytes)
        return 0;
    const uint64_t *r = slot_at(w, in->a), last = c->n - bytes, lo = c->addr,
                   add = (uint64_t)(int64_t)in->imm - lo, align = bytes - 1;
    uint64_t bad = 0;
    LANES
    {
        off[i] = r[i] + add;
        bad |= (uint64_t)(off[i] > last) | ((off[i] + lo) & align);
    }
    if (bad)
        return 0;
    count_load(w, in, mask);
    return (uint64_t)(uintptr_t)c->host;
}

/* Whether the words that loads after this one will want (exec_inst.ahead) are all in the allocation, the
 * lanes being at off[]. */
static inline bool lane_room(const struct exec_worker *k, const struct exec_inst *in,
                             const uint64_t *off)
{
    uint64_t most = 0;
    if (!in->nahead)
        return false;
    LANES most = off[i] > most ? off[i] : most;
    return most + in->ahead[in->nahead - 1] + sizeof(uint32_t) <= k->cache[in->mem_id].n;
}

/* Words that were read ahead for this load, or NULL; another warp may have had a turn since. */
static inline const uint32_t *lane_was_read(struct exec_warp *w, const struct exec_inst *in,
                                            uint32_t mask)
{
    const struct exec_ahead *h = &w->k->ahead[in->group % ARRAY_LEN(w->k->ahead)];
    if (!in->nth || h->group != in->follows || h->warp != w || mask != EXEC_FULL)
        return NULL;
    count_load(w, in, mask);
    return h->v[in->nth - 1];
}

static inline uint64_t lane_note(struct exec_warp *w, const struct exec_inst *in, uint64_t host)
{
    if (in->load_id != EXEC_NO_ID) {
        struct sim_load_stats *n = &w->k->loads[in->load_id];
        n->executions++;
        n->threads += WARP_LANES;
    }
    return host;
}

/* One element of `bytes` of global memory in each lane, in sequence, as the group's first access found
 * them to be, inside the allocation used last, nothing to be recorded: the first lane's pointer, or 0:
 * lane_fast. A partial mask or another place of the program would have changed memo.seq. */
static inline uint64_t lane_hot(struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                                unsigned bytes)
{
    if (in->follows != w->memo.seq || mask != EXEC_FULL || in->fast_path != QUICK_GLOBAL)
        return 0;
    const uint64_t *r = slot_at(w, in->a);
    const struct sim_alloc *c = &w->k->cache[in->mem_id];
    const uint64_t a = r[0] + (uint64_t)(int64_t)in->imm, off = a - c->addr;
    if (off >= c->n || bytes * WARP_LANES > c->n - off || (a & (bytes - 1)) != 0)
        return 0;
    return lane_note(w, in, (uint64_t)(uintptr_t)c->host + off);
}

/* The same where nobody has looked at the lanes yet; they may be at one address too. MEM_ANY:
 * lane_quick, which is told in *known what was found out. */
static inline enum mem_pattern lane_fast(struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                                         unsigned bytes, uint64_t *p0, enum mem_pattern *known)
{
    *known = MEM_FAULT;
    if (mask != EXEC_FULL || in->fast_path != QUICK_GLOBAL || w->recording || w->x->checks)
        return MEM_ANY;
    const uint64_t *r = slot_at(w, in->a);
    *known =
        memo_holds(w, in, mask) ? w->memo.at : memo_keep(w, in, mask, lane_pattern_64(r, mask, bytes));
    const struct sim_alloc *c = &w->k->cache[in->mem_id];
    const uint64_t a = r[0] + (uint64_t)(int64_t)in->imm, off = a - c->addr;
    const uint64_t need = *known == MEM_SEQ ? bytes * WARP_LANES : bytes;
    if (*known == MEM_ANY || off >= c->n || need > c->n - off || (a & (bytes - 1)) != 0)
        return MEM_ANY;
    *p0 = lane_note(w, in, (uint64_t)(uintptr_t)c->host + off);
    return *known;
}

/* One element of `bytes`, lanes at one address or in sequence, inside the allocation used last: *p0 is
 * the first active lane's pointer. MEM_ANY: lane_resolve, which is told in *known what was found out
 * (MEM_FAULT: nothing yet). */
static inline enum mem_pattern lane_quick(struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                                          unsigned bytes, uint64_t *p0, enum mem_pattern *known)
{
    uint64_t a;
    uint64_t off;
    uint64_t n;
    uint64_t host;
    const unsigned first = first_lane(mask);
    if (in->fast_path == QUICK_NONE || *known == MEM_ANY)
        return MEM_ANY;
    const void *r = slot_at(w, in->a);
    if (*known != MEM_FAULT)
        ;
    else if (memo_holds(w, in, mask))
        *known = w->memo.at;
    else if (w->x->checks)
        return MEM_ANY;
    else
        *known = memo_keep(w, in, mask,
                           in->fast_path == QUICK_GLOBAL ? lane_pattern_64(r, mask, bytes)
                                                         : lane_pattern_32(r, mask, bytes));
    if (in->fast_path == QUICK_GLOBAL) {
        const struct sim_alloc *c = &w->k->cache[in->mem_id];
        a = ((const uint64_t *)r)[first] + (uint64_t)(int64_t)in->imm;
        off = a - c->addr;
        n = c->n;
        host = (uint64_t)(uintptr_t)c->host;
    } else {
        a = off = ((const uint32_t *)r)[first] + (uint32_t)in->imm;
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
