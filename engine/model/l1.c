/* Set-associative LRU with misses that take time (Nugteren et al., HPCA'14).
 *
 * The three refinements over the plain stack distance that matter on a GPU:
 * distances per set instead of over the whole cache, touches of a line that is still
 * on its way (pending: no second fetch, but no fast hit either), and a bounded number
 * of misses in flight. Latency being one constant, misses complete in order. */
#include "engine/model/model.h"

struct way { uint64_t tag1 /* line + 1; 0: empty */, used, ready; };
struct model_l1 {
    struct model_l1_config c;
    struct way *way;                 /* sets x ways */
    uint64_t *flight;                /* ring of completion times, oldest first */
    uint32_t head, nflight;
    uint64_t time;
};

struct model_l1 *model_l1_new(const struct model_l1_config *c)
{
    if (!c->sets || !c->ways)
        return NULL;
    struct model_l1 *l = base_alloc(sizeof *l);
    if (!l)
        return NULL;
    l->c = *c;
    l->way = base_alloc((size_t)c->sets * c->ways * sizeof *l->way);
    l->flight = base_alloc(((size_t)c->mshrs + 1) * sizeof *l->flight);
    if (!l->way || !l->flight) {
        model_l1_free(l);
        return NULL;
    }
    return l;
}

void model_l1_free(struct model_l1 *l)
{
    if (!l)
        return;
    base_free(l->way);
    base_free(l->flight);
    base_free(l);
}

static struct way *set_of(struct model_l1 *l, uint64_t line)
{
    uint64_t n = l->c.sets, index = line % n;
    if (l->c.xor_sets)
        for (uint64_t rest = line / n; rest; rest /= n > 1 ? n : rest + 1)
            index = (index ^ (rest % n)) % n;
    return l->way + index * l->c.ways;
}

/* Takes an MSHR, waiting for the oldest miss when all are taken. */
static void take_mshr(struct model_l1 *l)
{
    while (l->nflight && l->flight[l->head] <= l->time) {
        l->head = (l->head + 1) % l->c.mshrs;
        l->nflight--;
    }
    if (l->nflight == l->c.mshrs) {
        l->time = l->flight[l->head];
        l->head = (l->head + 1) % l->c.mshrs;
        l->nflight--;
    }
    l->flight[(l->head + l->nflight) % l->c.mshrs] = l->time + l->c.latency;
    l->nflight++;
}

enum model_l1_outcome model_l1_touch(struct model_l1 *l, uint64_t line)
{
    struct way *set = set_of(l, line), *victim = set;
    l->time++;
    for (uint32_t w = 0; w < l->c.ways; w++) {
        if (set[w].tag1 == line + 1) {
            set[w].used = l->time;
            return set[w].ready > l->time ? MODEL_L1_PENDING : MODEL_L1_HIT;
        }
        if (set[w].used < victim->used)
            victim = &set[w];
    }
    if (l->c.mshrs)
        take_mshr(l);
    *victim = (struct way){ .tag1 = line + 1, .used = l->time, .ready = l->time + l->c.latency };
    return MODEL_L1_MISS;
}
