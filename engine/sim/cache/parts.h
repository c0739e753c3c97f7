/* parts: lines of which stores wrote sectors in part. */
#pragma once

#include "engine/sim/cache/cache.h"

/* L2 keeps which bytes of a sector were stored. What it lacks of the sector it reads from DRAM when somebody
 * asks for it, or when the line has to go; not where other stores bring the rest before. The lines that wait
 * are a queue: where there is no more room, the one that came first goes. Bytes are kept in twos: a store of
 * one alone brings nothing. */
struct cache_part {
    uint64_t line;
    uint64_t halves; /* twos of bytes that are there, 16 a sector */
    uint32_t next;   /* line of the same slot, plus one */
    uint8_t sectors; /* that wait */
};
struct cache_parts {
    struct cache_part *v; /* [n], a ring; owned */
    uint32_t *slot;       /* [slots]: the latest line of each hash, plus one; owned */
    uint32_t n;           /* lines */
    uint32_t slots;       /* a power of two */
    uint32_t at;          /* of the ring: whose turn it is to go */
    bool used;
};
/* With room for so many lines; 0: nothing waits. */
enum status cache_parts_init(struct cache_parts *p, uint32_t lines);
void cache_parts_free(struct cache_parts *p);
/* Of these sectors of a line, those that wait. */
uint8_t cache_parts_wait(const struct cache_parts *p, uint64_t line, uint8_t sectors);
/* A store of `halves` of a line, of which L2 lacks the sectors `lack`. Returns the line and the sectors that
 * are read from DRAM now: of this line, or of one that had to go. */
struct cache_part cache_parts_store(struct cache_parts *p, uint64_t line, uint8_t lack, uint64_t halves);
/* These sectors are whole from now on. Returns those of them that waited. */
uint8_t cache_parts_end(struct cache_parts *p, uint64_t line, uint8_t sectors);
