#include "engine/analysis/banks.h"

#include "engine/analysis/analysis.h"

#include <string.h>

bool ana_is_global_load(const struct ana_access *a)
{
    return !a->store && !a->atomic && !a->prefetch &&
           (a->space == PTX_SPACE_GLOBAL || a->space == PTX_SPACE_GENERIC);
}

bool ana_banks_counted(const struct ana_access *a)
{
    return a->space == PTX_SPACE_SHARED && a->exact.valid && a->exact.banks.lanes;
}

#define SPACE_WORDS 0xffffu /* 256 KB: more than an SM has */

struct turn { /* words asked of each bank by one group */
    uint64_t seen[BANKS_N][32];
    uint32_t n[BANKS_N], most;
};

static void ask(struct turn *t, uint64_t word)
{
    unsigned b = (unsigned)(word % BANKS_N);
    uint32_t k = 0;
    while (k < t->n[b] && t->seen[b][k] != word)
        k++;
    if (k == t->n[b] && k < 32)
        t->seen[b][t->n[b]++] = word;
    t->most = t->n[b] > t->most ? t->n[b] : t->most;
}

static unsigned words_of(unsigned bytes)
{
    return bytes <= 4 ? 1 : bytes / 4;
}

static uint32_t group_passes(const uint64_t addr[32], uint32_t lanes, unsigned bytes)
{
    struct turn t;
    memset(t.n, 0, sizeof t.n);
    t.most = 0;
    for (uint32_t m = lanes; m; m &= m - 1)
        for (unsigned w = 0; w < words_of(bytes); w++)
            ask(&t, addr[__builtin_ctz(m)] / 4 + w);
    return t.most;
}

struct ana_banks banks_of(const uint64_t addr[32], uint32_t mask, unsigned bytes)
{
    struct ana_banks b = { .bytes = (uint8_t)bytes };
    unsigned group = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
    uint32_t most = 0, passes = 0;
    for (unsigned from = 0; from < 32; from += group) {
        uint32_t lanes = mask & (group == 32 ? UINT32_MAX : ((UINT32_C(1) << group) - 1) << from);
        uint32_t n = lanes ? group_passes(addr, lanes, bytes) : 0;
        passes += n;
        b.ideal = (uint8_t)(b.ideal + (n > 0));
        if (n <= most)
            continue;
        most = n;
        b.lanes = lanes;
    }
    b.passes = (uint8_t)(passes < 255 ? passes : 255);
    uint64_t first = UINT64_MAX;
    for (uint32_t m = b.lanes; m; m &= m - 1)
        if (addr[__builtin_ctz(m)] < first)
            first = addr[__builtin_ctz(m)];
    for (uint32_t m = b.lanes; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        b.word[l] = (uint16_t)((addr[l] / 4 - first / 4 / BANKS_N * BANKS_N) & SPACE_WORDS);
    }
    return b;
}

unsigned banks_words(const struct ana_banks *b, unsigned bank, uint16_t out[32])
{
    unsigned n = 0;
    for (uint32_t m = b->lanes; m; m &= m - 1)
        for (unsigned w = 0; w < words_of(b->bytes); w++) {
            uint16_t word = (uint16_t)(b->word[__builtin_ctz(m)] + w);
            unsigned at = 0;
            while (at < n && out[at] < word)
                at++;
            if (word % BANKS_N != bank || (at < n && out[at] == word) || n == 32)
                continue;
            memmove(&out[at + 1], &out[at], (n - at) * sizeof *out);
            out[at] = word;
            n++;
        }
    return n;
}

void banks_map(const struct ana_banks *b, char out[BANKS_N + 1])
{
    static const char mark[] = ".123456789ABCDEFGHIJKLMNOPQRSTUVW";
    uint16_t word[32];
    for (unsigned k = 0; k < BANKS_N; k++)
        out[k] = mark[banks_words(b, k, word)];
    out[BANKS_N] = '\0';
}

unsigned banks_fullest(const struct ana_banks *b)
{
    uint16_t word[32];
    unsigned best = 0, most = 0;
    for (unsigned k = 0; k < BANKS_N; k++) {
        unsigned n = banks_words(b, k, word);
        best = n > most ? k : best;
        most = n > most ? n : most;
    }
    return best;
}

void banks_say(const struct ana_banks *b, unsigned most, struct buf *out)
{
    uint16_t word[32];
    unsigned bank = banks_fullest(b), n = banks_words(b, bank, word);
    buf_printf(out, "bank %u serves %u word%s:", bank, n, n == 1 ? "" : "s");
    for (unsigned i = 0; i < n && i < most; i++)
        buf_printf(out, " %u", word[i]);
    if (n > most)
        buf_puts(out, " ...");
}

int32_t banks_stride(const struct ana_banks *b)
{
    int32_t stride = INT32_MIN;
    if (!b->lanes)
        return stride;
    int last = __builtin_ctz(b->lanes);
    for (uint32_t m = b->lanes & (b->lanes - 1); m; m &= m - 1) {
        int l = __builtin_ctz(m);
        int32_t d = (int32_t)b->word[l] - (int32_t)b->word[last];
        if (l != last + 1 || (stride != INT32_MIN && d != stride))
            return INT32_MIN;
        stride = d;
        last = l;
    }
    return stride;
}

static uint64_t moved(uint64_t a, const struct banks_layout *l)
{
    if (l->row)
        return a + a / l->row * (l->widest > 4 ? l->widest : 4);
    unsigned bits = 7 - (unsigned)__builtin_ctz(l->widest > 4 ? l->widest : 4);
    return a ^ ((a >> bits ^ a >> 2 * bits) & (128 - (1u << (7 - bits))));
}

unsigned banks_passes_in(const struct ana_banks *b, const struct banks_layout *l)
{
    uint64_t addr[32];
    for (uint32_t m = b->lanes; m; m &= m - 1) {
        int k = __builtin_ctz(m);
        addr[k] = moved((uint64_t)b->word[k] * 4, l);
    }
    return b->lanes ? group_passes(addr, b->lanes, b->bytes) : 0;
}

/* ---- all of a kernel ---- */

/* Passes of a request, on average. l NULL: as it is. */
static double mean_passes(const struct ana_kernel *k, const struct banks_layout *l)
{
    double passes = 0, requests = 0;
    for (uint32_t i = 0; i < k->naccess; i++) {
        const struct ana_access *a = &k->access[i];
        const struct banks_layout none = { .row = UINT32_MAX, .widest = 4 };
        if (!ana_banks_counted(a))
            continue;
        requests += (double)a->exact.requests;
        passes += (double)a->exact.requests * banks_passes_in(&a->exact.banks, l ? l : &none);
    }
    return requests > 0 ? passes / requests : 0;
}

/* Rows in order of what they leave; of equals, the one that came first. */
static void try_row(const struct ana_kernel *k, struct banks_cure *c, uint32_t row, uint32_t widest)
{
    struct banks_layout l = { row, widest };
    unsigned at = 0;
    if (row < 32 || row % widest || row > 1u << 16)
        return;
    for (unsigned i = 0; i < c->nrows; i++)
        if (c->row[i] == row)
            return;
    double passes = mean_passes(k, &l);
    while (at < c->nrows && c->padded[at] <= passes)
        at++;
    if (at == BANKS_ROWS || passes >= c->now)
        return;
    c->nrows += c->nrows < BANKS_ROWS;
    for (unsigned i = c->nrows - 1; i > at; i--) {
        c->row[i] = c->row[i - 1];
        c->padded[i] = c->padded[i - 1];
    }
    c->row[at] = row;
    c->padded[at] = passes;
}

struct banks_cure banks_cure_of(const struct ana_kernel *k)
{
    static const uint32_t usual[] = { 128, 256, 512, 1024 }; /* of 32 to 256 words */
    struct banks_cure c = { 0 };
    uint32_t widest = 4;
    for (uint32_t i = 0; k && i < k->naccess; i++)
        if (k->access[i].space == PTX_SPACE_SHARED && k->access[i].bytes > widest)
            widest = k->access[i].bytes;
    if (!k || !(c.now = mean_passes(k, NULL)))
        return c;
    c.swizzled = mean_passes(k, &(struct banks_layout){ 0, widest });
    for (uint32_t i = 0; i < k->naccess; i++) {
        const struct ana_access *a = &k->access[i];
        int32_t stride = ana_banks_counted(a) && a->exact.banks.passes > a->exact.banks.ideal
                             ? banks_stride(&a->exact.banks)
                             : INT32_MIN;
        if (stride != INT32_MIN)
            try_row(k, &c, (uint32_t)(stride < 0 ? -stride : stride) * 4, widest);
    }
    for (size_t i = 0; i < ARRAY_LEN(usual); i++)
        try_row(k, &c, usual[i], widest);
    return c;
}

void banks_cure_say(const struct banks_cure *c, struct buf *out)
{
    buf_printf(out, "%.2f passes for the slowest lanes of a request; %.2f with --swizzle-shared", c->now,
               c->swizzled);
    for (unsigned i = 0; i < c->nrows && i < 2; i++)
        buf_printf(out, ", %.2f with --smem-pad %u", c->padded[i], c->row[i]);
}
