/* Things that come again and again, kept once and known by a number: the lines and the kinds of steps of
 * a trace.
 *
 *   thing --hash--> slot --> number from 0 in the order of first appearance --> thing */
#include "engine/predict/request_trace.h"

#include <string.h>

#define FIRST_SLOTS 4096u

static uint64_t word_of(const void *thing, size_t k)
{
    uint64_t w;
    memcpy(&w, (const char *)thing + k * sizeof w, sizeof w);
    return w;
}

/* Its place, or the free one where it belongs. Size: bytes, a multiple of 8. */
static size_t place_of(const struct once *o, const void *thing)
{
    uint64_t h = 0;
    for (size_t k = 0; k < o->size / sizeof h; k++)
        h = ((h >> 32) ^ (h + word_of(thing, k))) * UINT64_C(0x9E3779B97F4A7C15);
    size_t i = (size_t)(h >> 20) & o->mask;
    while (o->slot[i] && memcmp((const char *)o->v + (o->slot[i] - 1) * o->size, thing, o->size) != 0)
        i = (i + 1) & o->mask;
    return i;
}

static bool more_slots(struct once *o)
{
    uint32_t *was = o->slot;
    size_t size = was ? 2 * (o->mask + 1) : FIRST_SLOTS;
    uint32_t *slot = base_alloc(size * sizeof *slot);
    if (!slot)
        return false;
    base_free(was); /* the things themselves say where they go */
    o->slot = slot;
    o->mask = size - 1;
    for (size_t i = 0; i < o->n; i++)
        slot[place_of(o, (const char *)o->v + i * o->size)] = (uint32_t)i + 1;
    return true;
}

uint32_t tune_once(struct once *o, const void *thing)
{
    if (!o->slot || 2 * o->n > o->mask)
        if (!more_slots(o))
            return TRACE_END;
    size_t at = place_of(o, thing);
    if (o->slot[at])
        return o->slot[at] - 1;
    if (!tune_trace_room(&o->v, o->n, &o->cap, o->size))
        return TRACE_END;
    memcpy((char *)o->v + o->n * o->size, thing, o->size);
    o->slot[at] = (uint32_t)++o->n;
    return (uint32_t)o->n - 1;
}

void tune_once_done(struct once *o)
{
    base_free(o->slot);
    o->slot = NULL;
}

void tune_once_free(struct once *o)
{
    tune_once_done(o);
    base_free(o->v);
}

bool tune_trace_room(void **v, size_t n, size_t *cap, size_t size)
{
    size_t want = *cap ? 2 * *cap : 4096;
    void *p = n < *cap ? *v : base_realloc(*v, want * size);
    if (!p)
        return false;
    *cap = n < *cap ? *cap : want;
    *v = p;
    return true;
}
