/* banks: which words of shared memory the lanes of a request ask of which bank, and how many passes that
 * takes: 32 banks of 4 bytes. Lanes go in groups that ask for at most 128 bytes (all 32 for up to 4
 * bytes each, 16 for 8, 8 for 16); in a group, different words of one bank take a pass each, and lanes
 * that ask for one word share it. */
#pragma once

#include "engine/base/base.h"

#define BANKS_N 32u

/* The request of an access whose lanes wait longest for each other. */
struct ana_banks {
    /* mask of the lanes of the group that takes the most passes; 0: no request was made */
    uint32_t lanes;
    /* the first word that each of them asks for, counted from the first row of 32 that they ask for */
    uint16_t word[32];
    uint8_t bytes;         /* that a lane asks for */
    uint8_t passes, ideal; /* of the whole request, and the least that its lanes need */
};
/* addr: byte addresses in shared memory, of the lanes in mask (not 0). */
struct ana_banks banks_of(const uint64_t addr[32], uint32_t mask, unsigned bytes);
/* The distinct words that the group asks of `bank`, lowest first; returns how many. */
unsigned banks_words(const struct ana_banks *b, unsigned bank, uint16_t out[32]);
/* The words that the group asks of each bank, a character each: "." none, 1 to 9, A to W 10 to 32. */
void banks_map(const struct ana_banks *b, char out[BANKS_N + 1]);
/* The bank that is asked for the most words, the first of them. */
unsigned banks_fullest(const struct ana_banks *b);
/* "bank 0 is asked for 32 words: 0 32 64 96 ...", at most `most` of them named. */
void banks_say(const struct ana_banks *b, unsigned most, struct buf *out);
/* Words between each lane of the group and the next; INT32_MIN: not the same for all, or one lane. */
int32_t banks_stride(const struct ana_banks *b);

/* Another layout of shared memory. widest: bytes of the widest access to it (1 to 16). row 0: bits 2 to
 * 6 of an address are turned over by those above (--swizzle-shared); else a gap of `widest` bytes, at
 * least 4, behind each row of that many bytes (--smem-pad). */
struct banks_layout {
    uint32_t row;
    uint32_t widest;
};
/* Passes of the group there. */
unsigned banks_passes_in(const struct ana_banks *b, const struct banks_layout *l);

/* What other layouts would make of all conflicts of a kernel, by the worst request of each access. */
#define BANKS_ROWS 4u
struct banks_cure {
    double now; /* passes of the slowest group of a request, on average; 0: no access to shared memory
                   was counted */
    double swizzled;          /* the same with --swizzle-shared */
    uint32_t row[BANKS_ROWS]; /* for --smem-pad, those that leave the fewest passes first */
    double padded[BANKS_ROWS];
    unsigned nrows;
};
struct ana_kernel;
/* "16.50 passes for the slowest lanes of a request; 1.00 with --swizzle-shared, 1.00 with --smem-pad
 * 128" */
void banks_cure_say(const struct banks_cure *c, struct buf *out);
struct banks_cure banks_cure_of(const struct ana_kernel *k);
