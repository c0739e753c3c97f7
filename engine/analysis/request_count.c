/* Requests measured and summed. Source: coalesce paper, section III.C; sector
 * and bank sizes from the hardware facts. */
#include "engine/analysis/request_count.h"

#include "engine/analysis/analysis.h"
#include "engine/analysis/slice/slice.h"

#include <math.h>

/* Sorts the active lanes' start addresses; returns how many. Insertion sort: nearly sorted as a rule. */
static unsigned sorted_starts(const uint64_t addr[32], uint32_t mask, uint64_t out[32])
{
    unsigned n = 0;
    for (unsigned l = 0; l < 32; l++) {
        if (!(mask >> l & 1))
            continue;
        unsigned j = n++;
        for (; j && out[j - 1] > addr[l]; j--)
            out[j] = out[j - 1];
        out[j] = addr[l];
    }
    return n;
}
/* Blocks of 2^shift bytes touched by [a, a+bytes) over all starts, each counted once. */
static uint32_t distinct_blocks(const uint64_t *start, unsigned n, unsigned bytes, unsigned shift)
{
    uint32_t count = 0;
    uint64_t next = 0; /* first block not counted yet */
    bool any = false;
    for (unsigned i = 0; i < n; i++) {
        uint64_t first = start[i] >> shift, last = (start[i] + bytes - 1) >> shift;
        if (any && first < next)
            first = next;
        if (last >= first && (!any || last >= next)) {
            count += (uint32_t)(last - first + 1);
            next = last + 1;
            any = true;
        }
    }
    return count;
}
struct request_count_request request_count_measure(const uint64_t addr[32], uint32_t mask,
                                                   unsigned bytes, bool shared)
{
    struct request_count_request r = { 0 };
    uint64_t s[32];
    unsigned n = sorted_starts(addr, mask, s);
    r.active = n;
    r.sectors = distinct_blocks(s, n, bytes, 5);
    r.lines = distinct_blocks(s, n, bytes, 7);
    r.bytes_used = distinct_blocks(s, n, bytes, 0);
    r.least = (r.bytes_used + TALLY_SECTOR - 1) / TALLY_SECTOR;
    if (shared)
        r.banks = banks_of(addr, mask, bytes);
    uint64_t start = addr[__builtin_ctz(mask)] / TALLY_SECTOR * TALLY_SECTOR;
    for (unsigned l = 0; l < 32; l++) {
        if (!(mask >> l & 1) || addr[l] - start >= TALLY_LINE)
            continue;
        r.coalesced++;
        unsigned first = (unsigned)(addr[l] - start) / 4,
                 last = (unsigned)(addr[l] - start + bytes - 1) / 4;
        for (unsigned w = first; w <= last && w < 32; w++)
            r.word[w]++;
    }
    return r;
}

struct request_count_request request_count_runs(const struct slice_run *run, size_t n)
{
    struct request_count_request r = { .active = 1 };
    uint64_t sector = UINT64_MAX, line = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        uint64_t first = run[i].addr, last = first + run[i].bytes - 1;
        if (!run[i].bytes)
            continue;
        r.bytes_used += (uint32_t)run[i].bytes;
        r.sectors +=
            (uint32_t)(last / TALLY_SECTOR - first / TALLY_SECTOR) + (first / TALLY_SECTOR != sector);
        r.lines += (uint32_t)(last / TALLY_LINE - first / TALLY_LINE) + (first / TALLY_LINE != line);
        sector = last / TALLY_SECTOR;
        line = last / TALLY_LINE;
    }
    r.least = (r.bytes_used + TALLY_SECTOR - 1) / TALLY_SECTOR;
    return r;
}

static void take_worst(struct ana_banks *to, const struct ana_banks *b)
{
    if (b->lanes && (!to->lanes || b->passes - b->ideal > to->passes - to->ideal))
        *to = *b;
}

void request_count_add(struct tally *t, const struct request_count_request *r, unsigned present,
                       uint64_t times)
{
    t->requests += times;
    t->sectors += r->sectors * times;
    t->least += r->least * times;
    t->lines += r->lines * times;
    t->bytes_used += r->bytes_used * times;
    t->threads += r->active * times;
    t->coalesced += r->coalesced * times;
    t->present += present * times;
    t->passes += r->banks.passes * times;
    t->ideal += r->banks.ideal * times;
    take_worst(&t->worst, &r->banks);
    for (int w = 0; w < 32; w++)
        t->word[w] += r->word[w] * times;
}
void request_count_times(struct tally *t, uint64_t times)
{
    for (unsigned i = 0; i < TALLY_SUMS; i++)
        t->sum[i] *= times;
}
void request_count_merge(struct tally *to, const struct tally *from)
{
    take_worst(&to->worst, &from->worst);
    for (unsigned i = 0; i < TALLY_SUMS; i++)
        to->sum[i] += from->sum[i];
}
static unsigned sectors_in_graph(const double graph[32])
{
    unsigned n = 0;
    for (int s = 0; s < 4; s++) {
        bool any = false;
        for (int w = 0; w < 8; w++)
            any = any || graph[8 * s + w] > 0;
        n += any;
    }
    return n;
}
struct ana_coalesce request_count_coalesce(const struct tally *t)
{
    struct ana_coalesce c = { .valid = t->requests > 0 };
    if (!c.valid)
        return c;
    c.degree = (double)t->coalesced / (double)t->present;
    for (int w = 0; w < 32; w++)
        c.graph[w] = (double)t->word[w] / (double)t->requests;
    c.num_sectors = sectors_in_graph(c.graph);
    c.expected = c.degree > 0 ? c.num_sectors / c.degree : 0;
    c.sectors = (double)t->sectors / (double)t->requests;
    c.least = (double)t->least / (double)t->requests;
    return c;
}
double ana_sector_use(const struct ana_coalesce *c)
{
    return c->valid && c->sectors > 0 ? c->least / c->sectors : NAN;
}
struct ana_exact request_count_exact(const struct tally *t, bool shared)
{
    struct ana_exact x = { .valid = true,
                           .requests = t->requests,
                           .sectors = t->sectors,
                           .least = t->least,
                           .lines = t->lines,
                           .bytes_used = t->bytes_used,
                           .bytes_moved = t->sectors * TALLY_SECTOR,
                           .sectors_per_request = NAN,
                           .banks = t->worst,
                           .bank_conflicts = shared ? NAN : 0 };
    if (t->requests)
        x.sectors_per_request = (double)t->sectors / (double)t->requests;
    if (shared && t->requests)
        x.bank_conflicts = (double)(t->passes - t->ideal) / (double)t->requests;
    return x;
}
