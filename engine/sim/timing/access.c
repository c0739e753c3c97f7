/* From 32 addresses to what the memory pipeline sees: 128-byte lines with the
 * 32-byte sectors touched, and passes over the shared memory banks. */
#include "engine/sim/timing/access.h"

#include "engine/sim/cache/cache.h"
#include "engine/sim/step.h"

#include <string.h>

#define FULL EXEC_FULL

static inline uint8_t sector_mask(uint32_t off, uint32_t bytes)
{
    uint32_t lo = off >> 5, hi = (off + bytes - 1) >> 5;
    return (uint8_t)((2u << (hi > 3 ? 3 : hi)) - (1u << lo));
}

/* All lanes active at equal distances: true with the distance. */
static bool is_regular(const struct exec_access *a, uint64_t *step)
{
    *step = a->shape == SHAPE_SEQ ? a->bytes : 0;
    if (a->shape != SHAPE_EACH)
        return true;
    if (a->mask != FULL)
        return false;
    uint64_t d = a->addr[1] - a->addr[0], wrong = 0;
    for (uint32_t l = 0; l < WARP_LANES; l++)
        wrong |= a->addr[l] ^ (a->addr[0] + d * l);
    *step = d;
    return !wrong;
}

static uint32_t add_run(uint64_t from, uint64_t bytes, uint64_t *lines)
{
    uint32_t n = 0;
    uint64_t end = from + bytes;
    while (from < end) {
        uint64_t line = from >> CACHE_LINE_SHIFT, stop = (line + 1) << CACHE_LINE_SHIFT;
        if (stop > end)
            stop = end;
        lines[n++] = line << 4 | sector_mask((uint32_t)(from & 127), (uint32_t)(stop - from));
        from = stop;
    }
    return n;
}

/* Adds sectors of one line; `top` is the highest line so far, so ascending lanes never search. */
static inline uint32_t add_line(uint64_t *lines, uint32_t n, uint64_t line, uint8_t sectors,
                                uint64_t *top)
{
    if (n && lines[n - 1] >> 4 == line) {
        lines[n - 1] |= sectors;
        return n;
    }
    if (!n || line > *top) {
        *top = line;
        lines[n] = line << 4 | sectors;
        return n + 1;
    }
    for (uint32_t i = 0; i < n; i++)
        if (lines[i] >> 4 == line) {
            lines[i] |= sectors;
            return n;
        }
    lines[n] = line << 4 | sectors;
    return n + 1;
}

uint32_t timing_coalesce(const struct exec_access *a, uint64_t *lines)
{
    uint64_t step;
    if (is_regular(a, &step)) {
        if (step == a->bytes)
            return add_run(a->addr[0], (uint64_t)a->bytes * WARP_LANES, lines);
        if (step == 0)
            return add_run(a->addr[0], a->bytes, lines);
    }
    uint32_t n = 0;
    uint64_t top = 0;
    for (uint32_t m = a->mask; m; m &= m - 1) {
        uint64_t at = a->addr[__builtin_ctz(m)];
        uint32_t off = (uint32_t)(at & 127);
        n = add_line(lines, n, at >> CACHE_LINE_SHIFT,
                     sector_mask(off, off + a->bytes > 128 ? 128 - off : a->bytes), &top);
        if (off + a->bytes > 128 && n < WARP_LANES)
            n = add_line(lines, n, (at >> CACHE_LINE_SHIFT) + 1, sector_mask(0, off + a->bytes - 128),
                         &top);
        if (n >= WARP_LANES)
            n = WARP_LANES - (m & (m - 1) ? 1 : 0);
    }
    return n;
}

/* Local memory is interleaved: word w of the 32 lanes of a warp fills one line. */
uint32_t timing_coalesce_local(const struct exec_access *a, uint64_t base_line, uint64_t *lines)
{
    uint32_t n = 0;
    uint64_t top = 0;
    for (uint32_t m = a->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        for (uint64_t w = a->addr[lane] >> 2; w <= (a->addr[lane] + a->bytes - 1) >> 2; w++) {
            n = add_line(lines, n, base_line + w, (uint8_t)(1u << (lane >> 3)), &top);
            if (n >= WARP_LANES)
                n = WARP_LANES - 1;
        }
    }
    return n;
}

/* Words that lanes ask of the banks, chained by bank. */
struct bank_words {
    uint64_t word[256];
    uint8_t next[256], first[64], count[64];
    uint32_t n, most;
};

static void add_word(struct bank_words *b, uint64_t w, uint32_t bank)
{
    for (uint32_t i = b->first[bank]; i; i = b->next[i])
        if (b->word[i] == w)
            return;
    if (b->n == 255)
        return;
    b->word[++b->n] = w;
    b->next[b->n] = b->first[bank];
    b->first[bank] = (uint8_t)b->n;
    if (++b->count[bank] > b->most)
        b->most = b->count[bank];
}

/* Lanes served together: as many as bring 32 words. Each pass gives one word per bank (or one word to
 * many lanes). */
static inline __attribute__((always_inline)) uint32_t passes_of(const uint64_t *addr, uint32_t mask,
                                                                uint32_t bytes, uint32_t banks,
                                                                uint32_t bank_bytes)
{
    struct bank_words b;
    memset(b.first, 0, sizeof b.first);
    memset(b.count, 0, sizeof b.count);
    b.n = b.most = 0;
    uint64_t before = UINT64_MAX;
    for (; mask; mask &= mask - 1) {
        uint64_t at = addr[__builtin_ctz(mask)], last = (at + bytes - 1) / bank_bytes;
        if (at == before)
            continue;
        before = at;
        for (uint64_t w = at / bank_bytes; w <= last; w++)
            add_word(&b, w, (uint32_t)(w % banks));
    }
    return b.most;
}

/* The banks that nearly all GPUs have: as constants, without divisions. */
static uint32_t usual_passes(const uint64_t *addr, uint32_t mask, uint32_t bytes)
{
    return passes_of(addr, mask, bytes, WARP_LANES, 4);
}

/* Lanes at equal distances, in whole accesses: as many meet in a bank as the distance has factors
 * of two. 0: lanes are not like that. */
static uint32_t strided_passes(uint64_t step, uint32_t bytes)
{
    if (bytes < 4 || step % bytes)
        return 0;
    uint64_t apart = step / bytes, together = WARP_LANES * 4 / bytes, meet = apart & (0 - apart);
    if (!apart)
        return WARP_LANES / (uint32_t)together;
    return WARP_LANES / (uint32_t)together * (uint32_t)(meet > together ? together : meet);
}

uint8_t timing_bank_passes(const struct exec_access *given, uint32_t banks, uint32_t bank_bytes)
{
    uint64_t step;
    const struct exec_access *a = given;
    struct exec_access each;
    const bool usual = banks == WARP_LANES && bank_bytes == 4;
    if (usual && is_regular(a, &step)) {
        uint32_t n = strided_passes(step, a->bytes);
        if (n)
            return (uint8_t)n;
    }
    if (a->shape != SHAPE_EACH) {
        each = *a;
        exec_access_spread(&each);
        a = &each;
    }
    uint32_t together = a->bytes > bank_bytes ? WARP_LANES * bank_bytes / a->bytes : WARP_LANES;
    if (together == 0)
        together = 1;
    uint32_t total = 0;
    for (uint32_t from = 0; from < WARP_LANES; from += together) {
        uint32_t lanes = a->mask & (together == WARP_LANES ? FULL : ((1u << together) - 1) << from);
        total += usual ? usual_passes(a->addr, lanes, a->bytes)
                       : passes_of(a->addr, lanes, a->bytes, banks, bank_bytes);
    }
    return (uint8_t)(total ? total > 255 ? 255 : total : 1);
}

/* Rows of lanes beside each other: whether each is as long as a sector. */
enum timing_torn timing_store_torn(const struct exec_access *a)
{
    if (a->shape != SHAPE_EACH)
        return a->shape == SHAPE_SEQ ? TIMING_ROW_END : TIMING_APART;
    uint64_t next = 0;
    uint32_t row = 32;
    for (uint32_t m = a->mask; m; m &= m - 1) {
        uint64_t at = a->addr[__builtin_ctz(m)];
        if (at != next && row < 32)
            return TIMING_APART;
        row = at == next ? row + a->bytes : a->bytes;
        next = at + a->bytes;
    }
    return row < 32 ? TIMING_APART : TIMING_ROW_END;
}

void timing_store_halves(const struct exec_access *a, const uint64_t *lines, uint32_t n,
                         uint64_t *halves)
{
    uint32_t i = 0;
    memset(halves, 0, n * sizeof *halves);
    for (uint32_t m = a->shape == SHAPE_SAME ? 1 : a->mask; m; m &= m - 1) {
        uint64_t at = a->addr[__builtin_ctz(m)], mask = (UINT64_C(1) << a->bytes / 2) - 1;
        uint32_t looked = 0;
        while (timing_line(lines[i]) != at >> CACHE_LINE_SHIFT && looked++ < n)
            i = i + 1 == n ? 0 : i + 1;
        if (looked <= n)
            halves[i] |= mask << (at & 127) / 2;
    }
}

uint8_t timing_distinct_words(const struct exec_access *a)
{
    uint64_t seen[WARP_LANES];
    uint32_t n = 0;
    if (a->shape != SHAPE_EACH)
        return a->shape == SHAPE_SAME ? 1 : WARP_LANES;
    for (uint32_t m = a->mask; m; m &= m - 1) {
        uint64_t at = a->addr[__builtin_ctz(m)];
        uint32_t i = 0;
        while (i < n && seen[i] != at)
            i++;
        if (i == n)
            seen[n++] = at;
    }
    return (uint8_t)(n ? n : 1);
}

/* Numbers of a warp's lanes, each once, in the order they came; chained by a hash. first, next: places
 * + 1. */
#define FEW_HEADS 64u
struct few {
    uint64_t key[WARP_LANES];
    uint8_t next[WARP_LANES], first[FEW_HEADS];
    uint32_t n;
};

static inline uint32_t few_place(struct few *f, uint64_t key)
{
    uint8_t *first = &f->first[key * 0x9E3779B97F4A7C15u >> 58];
    for (uint32_t i = *first; i; i = f->next[i - 1])
        if (f->key[i - 1] == key)
            return i - 1;
    f->key[f->n] = key;
    f->next[f->n] = *first;
    *first = (uint8_t)++f->n;
    return f->n - 1;
}

static inline void few_clear(struct few *f)
{
    memset(f->first, 0, sizeof f->first);
    f->n = 0;
}

struct same {
    struct few word;
    uint8_t lanes[WARP_LANES];
};

static void count_same(const struct exec_access *a, struct same *d)
{
    few_clear(&d->word);
    memset(d->lanes, 0, sizeof d->lanes);
    for (uint32_t m = a->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        uint64_t at = a->shape == SHAPE_SAME  ? a->addr[0]
                      : a->shape == SHAPE_SEQ ? a->addr[0] + (uint64_t)l * a->bytes
                                              : a->addr[l];
        d->lanes[few_place(&d->word, at)]++;
    }
}

uint8_t timing_same_word(const struct exec_access *a, uint64_t *word)
{
    struct same d;
    uint8_t most = 1;
    count_same(a, &d);
    *word = d.word.n ? d.word.key[0] : 0;
    for (uint32_t i = 0; i < d.word.n; i++)
        if (d.lanes[i] > most) {
            most = d.lanes[i];
            *word = d.word.key[i];
        }
    return most;
}

uint8_t timing_atomic_turns(const struct exec_access *a)
{
    struct same d;
    struct few sector;
    uint32_t most[WARP_LANES] = { 0 }, turns = 0;
    count_same(a, &d);
    few_clear(&sector);
    for (uint32_t i = 0; i < d.word.n; i++) {
        uint32_t s = few_place(&sector, d.word.key[i] >> 5);
        most[s] = d.lanes[i] > most[s] ? d.lanes[i] : most[s];
    }
    for (uint32_t s = 0; s < sector.n; s++)
        turns += most[s];
    return (uint8_t)(turns < 255 ? turns : 255);
}
