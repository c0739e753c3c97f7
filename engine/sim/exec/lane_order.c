/* Order of the lanes of a warp: see lane_order.h.
 *
 *   base         counts operations that order all lanes; a record of an older base is behind them
 *   clock[a][b]  how far lane a knows what lane b did in this base; [a][a]: a's own time
 *   record[...]  by word of 4 bytes, the one that was used last where two have one place */
#include "engine/sim/exec/lane_order.h"

#include <string.h>

enum { LANES = 32, RECORDS = 512, WORD = 4 };

struct past { /* an access of a lane */
    uint32_t clock, line, turn;
    uint8_t lane, bytes; /* bytes: a bit per byte of the word; 0: none */
};
struct record {
    uint64_t word, base;
    struct past wrote, read[2];
};
struct lane_order {
    uint64_t base;
    uint32_t clock[LANES][LANES];
    bool apart;    /* clocks say more than base */
    uint32_t turn; /* counts instructions: accesses of one are no order among themselves */
    struct record record[RECORDS];
};

struct lane_order *lane_order_new(void)
{
    struct lane_order *o = base_alloc(sizeof *o);
    if (o)
        lane_order_all(o);
    return o;
}

void lane_order_free(struct lane_order *o)
{
    base_free(o);
}

void lane_order_all(struct lane_order *o)
{
    o->base++;
    if (o->base > 1 && !o->apart)
        return;
    memset(o->clock, 0, sizeof o->clock);
    for (unsigned i = 0; i < LANES; i++)
        o->clock[i][i] = 1;
    o->apart = false;
}

void lane_order_turn(struct lane_order *o)
{
    o->turn++;
}

void lane_order_join(struct lane_order *o, uint32_t members)
{
    uint32_t most[LANES] = { 0 };
    if (members == UINT32_MAX) {
        lane_order_all(o);
        return;
    }
    for (unsigned a = 0; a < LANES; a++)
        for (unsigned b = 0; b < LANES && members >> a & 1; b++)
            most[b] = o->clock[a][b] > most[b] ? o->clock[a][b] : most[b];
    for (unsigned a = 0; a < LANES; a++)
        if (members >> a & 1) {
            memcpy(o->clock[a], most, sizeof most);
            o->clock[a][a]++;
        }
    o->apart = true;
}

static bool use_word(struct lane_order *o, uint32_t lane, uint64_t word, uint8_t bytes, bool write,
                     uint32_t line, struct lane_meeting *other)
{
    struct record *r = &o->record[(word ^ word >> 10) % RECORDS];
    struct past now = { o->clock[lane][lane], line, o->turn, (uint8_t)lane, bytes };
    if (r->word != word || r->base != o->base)
        *r = (struct record){ .word = word, .base = o->base };
    const struct past *all[] = { &r->wrote, &r->read[0], &r->read[1] };
    for (unsigned k = 0; k < (write ? 3u : 1u); k++)
        if (all[k]->bytes & bytes && all[k]->lane != lane && all[k]->turn != o->turn &&
            all[k]->clock > o->clock[lane][all[k]->lane]) {
            *other = (struct lane_meeting){ all[k]->lane, all[k]->line, k == 0 };
            return true;
        }
    if (write)
        r->wrote = now;
    else
        r->read[r->read[0].bytes && r->read[0].lane != now.lane] = now;
    return false;
}

bool lane_order_use(struct lane_order *o, uint32_t lane, uint64_t addr, unsigned bytes, bool write,
                    uint32_t line, struct lane_meeting *other)
{
    while (bytes) {
        unsigned at = (unsigned)(addr % WORD), n = bytes < WORD - at ? bytes : WORD - at;
        if (use_word(o, lane, addr / WORD, (uint8_t)(((1u << n) - 1) << at), write, line, other))
            return true;
        addr += n;
        bytes -= n;
    }
    return false;
}
