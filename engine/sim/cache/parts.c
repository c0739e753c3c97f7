/* Sectors that stores have written in part, until the rest of them comes. */
#include "engine/sim/cache/parts.h"

enum status cache_parts_init(struct cache_parts *p, uint32_t lines)
{
    *p = (struct cache_parts){ .n = lines, .slots = 1 };
    while (p->slots < lines)
        p->slots *= 2;
    p->v = base_alloc((lines + 1) * sizeof *p->v);
    p->slot = base_alloc(p->slots * sizeof *p->slot);
    return p->v && p->slot ? ST_OK : ST_NOMEM;
}

void cache_parts_free(struct cache_parts *p)
{
    BASE_FREE(p->v, p->slot);
    *p = (struct cache_parts){ 0 };
}

static uint32_t *slot_of(const struct cache_parts *p, uint64_t line)
{
    return &p->slot[cache_mix(line) & (p->slots - 1)];
}

static struct cache_part *find_part(const struct cache_parts *p, uint64_t line)
{
    for (uint32_t i = p->used ? *slot_of(p, line) : 0; i; i = p->v[i - 1].next)
        if (p->v[i - 1].line == line && p->v[i - 1].sectors)
            return &p->v[i - 1];
    return NULL;
}

uint8_t cache_parts_wait(const struct cache_parts *p, uint64_t line, uint8_t sectors)
{
    const struct cache_part *e = find_part(p, line);
    return e ? e->sectors & sectors : 0;
}

static uint64_t sector_halves(uint32_t sector)
{
    return (uint64_t)UINT16_MAX << 16 * sector;
}

static uint8_t whole_sectors(uint64_t halves)
{
    uint8_t whole = 0;
    for (uint32_t k = 0; k < CACHE_SECTORS; k++)
        if ((halves & sector_halves(k)) == sector_halves(k))
            whole |= (uint8_t)(1u << k);
    return whole;
}

/* The place of the line that came first, which is no longer found. */
static struct cache_part *free_place(struct cache_parts *p)
{
    struct cache_part *e = &p->v[p->at];
    uint32_t *link = slot_of(p, e->line);
    p->at = (p->at + 1) % p->n;
    p->used = true;
    while (*link && &p->v[*link - 1] != e)
        link = &p->v[*link - 1].next;
    if (*link)
        *link = e->next;
    return e;
}

struct cache_part cache_parts_store(struct cache_parts *p, uint64_t line, uint8_t lack, uint64_t halves)
{
    struct cache_part *e = find_part(p, line), left = { .line = line };
    lack &= (uint8_t)~whole_sectors(halves);
    if (e) {
        for (uint32_t k = 0; k < CACHE_SECTORS; k++)
            if (!(e->sectors >> k & 1))
                e->halves &= ~sector_halves(k);
        e->halves |= halves;
        e->sectors = (uint8_t)((e->sectors | lack) & ~whole_sectors(e->halves));
    } else if (!p->n) {
        left.sectors = lack;
    } else if (lack) {
        e = free_place(p);
        left = *e;
        uint32_t *slot = slot_of(p, line);
        *e = (struct cache_part){ .line = line, .halves = halves, .next = *slot, .sectors = lack };
        *slot = (uint32_t)(e - p->v) + 1;
    }
    return left;
}

uint8_t cache_parts_end(struct cache_parts *p, uint64_t line, uint8_t sectors)
{
    struct cache_part *e = find_part(p, line);
    uint8_t waited = e ? e->sectors & sectors : 0;
    if (waited)
        e->sectors &= (uint8_t)~sectors;
    return waited;
}
