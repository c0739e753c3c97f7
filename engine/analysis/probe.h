/* probe: what single CTAs touch, byte by byte, for sharing and reuse. A set maps
 * a 32-byte sector to the mask of its bytes. */
#pragma once

#include "engine/base/base.h"

struct facts;
struct slice;
struct slice_cta;

struct probe_set {
    uint64_t *key;
    uint32_t *mask;
    size_t cap, n;
    bool oom;
};
/* Adds bytes; returns those that were there before. */
uint32_t probe_set_or(struct probe_set *s, uint64_t key, uint32_t mask);
uint32_t probe_set_get(const struct probe_set *s, uint64_t key);
void probe_set_free(struct probe_set *s);

/* Bytes that the loads of one CTA ask for, split by who asked before (bytes pre-L1: duplicates inside
 * one request count once). total = new to the warp + again by the warp, and so on. */
struct probe_part {
    uint64_t total;
    uint64_t warp_new;
    uint64_t cta_new;
    uint64_t all_new;
};
struct probe_split {
    struct probe_part bytes, sectors;
    uint64_t lines, lines_new;
};

#define PROBE_KEY(access, sector) ((uint64_t)(access) << 44 | (sector))
#define PROBE_ACCESS(key)         ((uint32_t)((key) >> 44))
#define PROBE_SECTOR(key)         ((key) & ((UINT64_C(1) << 44) - 1))
#define PROBE_MAX_DEPTH           4096 /* stack distances are followed up to so many lines */

struct probe {
    struct facts *f;
    struct slice *s;
    struct slice_cta *cta;
    uint64_t budget, cap; /* warp operations; sectors reported per warp, 0: all */
    /* of the CTA probed last */
    struct probe_set loads, stores; /* key: PROBE_KEY */
    bool cut;                       /* some warp went on past the cap */
    /* over all CTAs probed since the last reset */
    struct probe_split split;
    struct probe_set everything; /* sectors of every CTA, when `all` */
    bool all;
    /* with `all`: of large arrays only one sector in 2^sample is followed; what loads ask for, by access
     */
    unsigned sample;
    struct probe_split *by;
    /* line reuse, by access */
    /* lines asked for; of them, those some load asks for again soon enough, or ever in the CTA */
    uint64_t *touches;
    uint64_t *again;
    uint64_t *ever;
    uint64_t near_lines; /* soon enough: so many lines of the same warp in between */
    uint64_t depth[PROBE_MAX_DEPTH + 1], deep; /* stack distances inside the first warp of each CTA */
    /* internal */
    struct probe_set warp_seen, cta_seen;
    uint64_t *line_key;
    struct probe_touch {
        uint32_t access;
        uint32_t warp;
        uint32_t pos;
    } * line_val;
    size_t line_cap, line_n;
    uint64_t stack[PROBE_MAX_DEPTH];
    uint32_t nstack;
    uint32_t *pos;
    uint64_t *reported;
    uint64_t last_line; /* of the request being counted */
};
enum status probe_make(struct probe *p, struct facts *f, struct slice *s);
void probe_free(struct probe *p);
/* Runs one CTA and fills loads, stores, split and reuse. */
enum status probe_cta(struct probe *p, uint64_t cta);

/* Shared between two CTAs' sets. */
struct probe_overlap {
    uint64_t bytes;
    uint64_t sectors;
    uint64_t lines;
    uint64_t of_bytes;
    uint64_t of_sectors;
    uint64_t of_lines;
};
/* by access: array of f->n; lines and sectors of `a` that `b` also has through the same access. */
enum status probe_compare(const struct facts *f, const struct probe_set *a, const struct probe_set *b,
                          struct probe_overlap *by_access, struct probe_overlap *all);
/* Moves the set out of p (the caller frees it). */
struct probe_set probe_take(struct probe_set *s);
