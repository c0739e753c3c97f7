/* timing_access: one executed memory instruction, ready to be timed. */
#pragma once

#include "engine/base/base.h"

struct exec_access;

struct timing_access {
    uint8_t kind, space; /* enum exec_access_kind, enum ptx_space */
    uint8_t
        nlines; /* global, local: entries at lines[first]; of stores of words apart, as many halves behind */
    /* shared, global loads: bank passes; const: distinct words; global atomics: turns */
    uint8_t passes;
    uint8_t lanes; /* active */
    uint8_t level; /* prefetch; atomics: TIMING_LOOP, TIMING_SWAP or 0 */
    uint8_t same;  /* shared atomics, global ones on floats: lanes that have one word, at most */
    /* stores: enum timing_torn, of sectors that are not written wholly */
    uint8_t torn;
    /* bulk copies: times that lines[] are moved on by 32 and issued again */
    uint8_t pieces;
    uint8_t fill;          /* exec_access.fill */
    uint8_t late, nlate;   /* things to be told when a copy is done */
    uint16_t first, bytes; /* bytes: per lane */
    uint32_t word;         /* shared atomics: address / 4 of the word that `same` lanes have */
    /* above 0: lines of a bulk or tensor copy, at timing_work.box[box] */
    uint32_t nbox, box;
    uint64_t hint;
};
/* What a store leaves of a sector: a neighbour's part, beside a row of words as long as a sector; or
 * nobody's, beside words apart. */
enum timing_torn { TIMING_ROW_END, TIMING_APART };
#define TIMING_BULK 4096u /* bytes of a bulk copy that lines[] shows */
/* An entry of the line list: line << 4 | sectors. */
static inline uint64_t timing_line(uint64_t e)
{
    return e >> 4;
}
static inline uint8_t timing_sectors(uint64_t e)
{
    return e & 15;
}
/* The entry of bytes first..last of one line. */
static inline uint64_t time_row(uint64_t first, uint64_t last)
{
    return (first >> 7) << 4 | ((2u << (last >> 5 & 3)) - (1u << (first >> 5 & 3)));
}
/* Distinct lines of an access, in order of first lane; at most 32 (64 when lanes straddle lines, then
 * capped). */
uint32_t timing_coalesce(const struct exec_access *a, uint64_t *lines);
uint32_t timing_coalesce_local(const struct exec_access *a, uint64_t base_line, uint64_t *lines);
uint8_t timing_bank_passes(const struct exec_access *a, uint32_t banks, uint32_t bank_bytes);
/* Turns that an atomic takes at L2: lanes of one sector with different words go together, those with one
 * word after each other. */
uint8_t timing_atomic_turns(const struct exec_access *a);
enum timing_torn timing_store_torn(const struct exec_access *a);
/* Which twos of bytes of each of its lines a store brings (cache/parts.h). */
void timing_store_halves(const struct exec_access *a, const uint64_t *lines, uint32_t n,
                         uint64_t *halves);
/* The most lanes that have one word; *word: its address. */
uint8_t timing_same_word(const struct exec_access *a, uint64_t *word);
uint8_t timing_distinct_words(const struct exec_access *a);
