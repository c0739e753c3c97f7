/* How a kernel's first launch uses memory and the device: what the last lines for people are made of. */
#include "engine/dev/card.h"
#include "engine/emulate/emulate_int.h"
#include "engine/ptx/ptx.h"

#define SECTOR       32u
#define THREADS_MOST (1u << 22) /* of a launch that is looked at: access by access takes longer */

bool look_wanted(const struct wire_launch *l)
{
    uint64_t threads =
        (uint64_t)l->grid[0] * l->grid[1] * l->grid[2] * l->block[0] * l->block[1] * l->block[2];
    return threads <= THREADS_MOST;
}

/* Sectors that a request touches, in the order of its lanes: mostly the one before again. */
static unsigned sectors_of(const struct sim_touch *t)
{
    uint64_t have[64];
    unsigned n = 0;
    for (unsigned i = 0; i < 32; i++) {
        if (!(t->mask >> i & 1))
            continue;
        uint64_t last = (t->addr[i] + t->bytes - 1) / SECTOR;
        for (uint64_t s = t->addr[i] / SECTOR; s <= last && n < ARRAY_LEN(have); s++) {
            unsigned k = n;
            while (k && have[k - 1] != s)
                k--;
            if (!k)
                have[n++] = s;
        }
    }
    return n;
}

void look_touch(void *ctx, const struct sim_touch *t)
{
    struct look *k = ctx;
    unsigned bytes = (unsigned)__builtin_popcount(t->mask) * t->bytes;
    unsigned sectors = sectors_of(t), least = (bytes + SECTOR - 1) / SECTOR;
    atomic_fetch_add_explicit(&k->requests, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&k->sectors, sectors, memory_order_relaxed);
    /* lanes that share an address need less */
    atomic_fetch_add_explicit(&k->least, least < sectors ? least : sectors, memory_order_relaxed);
}

void look_keep(struct emulation *e, const struct card_kernel *k, const struct wire_launch *l,
               const struct look *seen, const struct sim_stats *stats)
{
    struct emulate_seen *s = e->seen;
    struct buf name = { 0 };
    buf_str(&name, card_function(k)->name);
    struct emulate_look one = { .kernel = buf_take(&name),
                                .requests = seen->requests,
                                .sectors = seen->sectors,
                                .least = seen->least,
                                .insts = stats->inst_warp,
                                .ctas = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2] };
    pthread_mutex_lock(&e->lock);
    if (one.kernel && base_grow((void **)&s->look, s->nlooks, &s->cap_looks, sizeof *s->look))
        s->look[s->nlooks++] = one;
    else
        base_free(one.kernel);
    pthread_mutex_unlock(&e->lock);
}
