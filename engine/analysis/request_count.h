/* request_count: what one memory request of a warp costs, and sums of such requests.
 * A request is one warp instruction with at least one active lane. Sectors are
 * 32 bytes, lines 128; both are counted over active lanes only. The paper's
 * metric (coalesce, equation 1) is taken from the same request. */
#pragma once

#include "engine/analysis/banks.h"

struct ana_coalesce;
struct ana_exact;

#define TALLY_SECTOR 32u
#define TALLY_LINE   128u

struct request_count_request {
    /* distinct bytes the active lanes ask for */
    uint32_t sectors;
    uint32_t least; /* the fewest sectors that hold those bytes */
    uint32_t lines;
    uint32_t bytes_used;
    uint32_t active, coalesced; /* lanes; those inside [start, start+128) */
    struct ana_banks banks;     /* shared memory */
    uint8_t word[32];           /* lanes that touch word w of the 128 bytes from start */
};
/* addr[32] (only active lanes are read), bytes per lane 1..64. mask must not be 0. Bank passes
 * are counted when `shared`. */
struct request_count_request request_count_measure(const uint64_t addr[32], uint32_t mask,
                                                   unsigned bytes, bool shared);

/* The same of a copy's runs of bytes, those of one line one after another: one lane, no bank, no
 * words. */
struct slice_run;
struct request_count_request request_count_runs(const struct slice_run *run, size_t n);

#define TALLY_SUMS 42u
struct tally {
    union {
        uint64_t sum[TALLY_SUMS];
        struct {
            uint64_t requests;
            uint64_t sectors;
            uint64_t least;
            uint64_t lines;
            uint64_t bytes_used; /* bytes that lanes asked for */
            uint64_t threads;
            uint64_t coalesced;
            uint64_t present;
            uint64_t passes;
            uint64_t ideal;
            uint64_t word[32];
        };
    };
    struct ana_banks worst; /* shared memory: the first request with the most extra passes */
};
/* `present`: threads the warp has (fewer than 32 in a partial warp); `times` equal requests. */
void request_count_add(struct tally *t, const struct request_count_request *r, unsigned present,
                       uint64_t times);
void request_count_times(struct tally *t, uint64_t times); /* as many as it has, that many times */
void request_count_merge(struct tally *to, const struct tally *from);
/* Figures of one access; invalid when it never ran. */
struct ana_coalesce request_count_coalesce(const struct tally *t);
struct ana_exact request_count_exact(const struct tally *t, bool shared);
