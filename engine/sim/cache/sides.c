/* Which partition of L2 has a copy: one byte for each line of the launch's buffers. Measured launches
 * that read what copies or stores wrote show it (docs/lab/l2-sides.md). */
#include "engine/sim/cache/sides.h"

#include <string.h>

#define BOTH      0xffu
#define SECTORS   0x0fu
#define MAX_LINES (UINT64_C(1) << 27) /* 16 GB of buffers; of the rest everything is found */

static uint8_t on_side(unsigned side, uint8_t sectors)
{
    return (uint8_t)((sectors & SECTORS) << (side ? 4 : 0));
}

/* Of a restored buffer, as a share of its size, what one side touches between two launches' reads: half
 * of what is copied from, and by the copies and the launch 7 of 8 lines that are copied to (a line of
 * the side's own always, one of the other side unless both times an SM of the other side stores it). */
#define RESTORED_SHARE (0.5 + 7.0 / 8)

static void weigh(struct cache_sides *c, uint64_t lines)
{
    c->holds = (double)lines / 2;
    for (size_t i = 0; i < c->nranges; i++)
        if (c->range[i].restored)
            c->between += RESTORED_SHARE * (double)c->range[i].lines;
        else
            c->only_read += (double)c->range[i].lines;
}

enum status cache_sides_init(struct cache_sides *c, const struct cache_range *v, size_t n,
                             uint64_t lines, double spread)
{
    *c = (struct cache_sides){ 0 };
    uint64_t all = 0;
    for (size_t i = 0; i < n; i++)
        all += v[i].lines;
    if (!all || all > MAX_LINES)
        return ST_OK;
    struct cache_range *range = base_alloc(n * sizeof *range);
    uint8_t *copy = base_alloc(all);
    if (!range || !copy) {
        BASE_FREE(range, copy);
        return ST_NOMEM;
    }
    memcpy(range, v, n * sizeof *range);
    *c = (struct cache_sides){ .range = range, .nranges = n, .copy = copy, .spread = spread };
    weigh(c, lines);
    return ST_OK;
}

void cache_sides_free(struct cache_sides *c)
{
    BASE_FREE(c->range, c->copy);
    *c = (struct cache_sides){ 0 };
}

/* The byte of a line, and the buffer it lies in; NULL: of no buffer. */
static uint8_t *find_copy(const struct cache_sides *c, uint64_t line, const struct cache_range **of)
{
    uint8_t *p = c->copy;
    for (size_t i = 0; i < c->nranges; p += c->range[i].lines, i++)
        if (line - c->range[i].first < c->range[i].lines) {
            *of = &c->range[i];
            return p + (line - c->range[i].first);
        }
    return NULL;
}

/* Copies before the launch are made by SMs of both sides, half of the lines each. */
static uint8_t as_restored(uint64_t line)
{
    return (cache_mix(line) >> 41 & 1) ? BOTH : on_side(cache_side_of(line), SECTORS);
}

/* A number from 0 to 1 that belongs to a line. */
static double chance(uint64_t line, uint64_t salt)
{
    return (double)(cache_mix(line ^ salt << 56) >> 11) / 9007199254740992.0;
}

/* Whether a partition still has a read-only line: read-only lines touched since come to any share of
 * them; to those of its own SMs where launches are alike. */
static bool stays(const struct cache_sides *c, uint64_t line, unsigned side)
{
    return c->between + c->only_read * (c->alike ? 0.5 : chance(line, 1 + side)) <=
           c->holds * (1 + c->spread * (chance(line, 3 + side) - 0.5));
}

static uint8_t as_read_before(const struct cache_sides *c, uint64_t line)
{
    return (uint8_t)((stays(c, line, 0) ? on_side(0, SECTORS) : 0) |
                     (stays(c, line, 1) ? on_side(1, SECTORS) : 0));
}

static uint8_t first_copy(const struct cache_sides *c, const struct cache_range *of, uint64_t line,
                          uint8_t hit, double left)
{
    if (!hit || chance(line, 5) >= left)
        return BOTH; /* this launch brings it */
    return of->restored ? as_restored(line) : as_read_before(c, line);
}

struct cache_sides_outcome cache_sides_access(struct cache_sides *c, const struct cache_l2_request *r,
                                              uint8_t hit, double left)
{
    struct cache_sides_outcome o = { 0 };
    const struct cache_range *of = NULL;
    uint8_t *copy = c->copy ? find_copy(c, r->line, &of) : NULL;
    if (!copy)
        return o;
    if (!*copy)
        *copy = first_copy(c, of, r->line, hit, left);
    unsigned home = cache_side_of(r->line), near = r->lanes ? home : r->side;
    if (r->write) {
        *copy &= (uint8_t) ~(on_side(0, r->sectors) | on_side(1, r->sectors));
        *copy |= on_side(home, r->sectors);
    } else {
        uint8_t lack = (uint8_t)(hit & ~(*copy >> (near ? 4 : 0)));
        o.crossed = near == home ? 0 : lack & (uint8_t)(*copy >> (home ? 4 : 0));
        o.lost = lack & (uint8_t)~o.crossed;
    }
    *copy |= on_side(near, r->sectors);
    return o;
}
