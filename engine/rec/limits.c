/* What binds a launch, from where the issue slots went. The simulated device says what each slot waited
 * for; here that becomes what a person can change:
 *
 *   waits in the queues of L2 and DRAM   go to the lines that bring the bytes there, whoever waits; bytes
 *                                        that no lane asked for are coalescing, those of atomics atomics
 *   latency                              more warps would hide: those that the device could hold and the
 *                                        launch does not, by what keeps them away
 */
#include "engine/rec/limits.h"

#include "engine/base/base.h"
#include "engine/rec/result_read.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name, *help;
} table[LIMIT_COUNT] = {
#define X(id, name, help) [LIMIT_##id] = { name, help },
    LIMIT_LIST(X)
#undef X
};

const char *limit_name(enum limit_cause c)
{
    return table[c].name;
}

const char *limit_help(enum limit_cause c)
{
    return table[c].help;
}

bool limit_named(const char *name, enum limit_cause *out)
{
    for (unsigned c = 0; name && c < LIMIT_COUNT; c++)
        if (strcmp(table[c].name, name) == 0) {
            *out = (enum limit_cause)c;
            return true;
        }
    return false;
}

/* ---- from slots to causes ---- */

/* Cycles by cause, and of each line. */
struct split {
    double sum[LIMIT_COUNT];
    double *of; /* [n][LIMIT_COUNT] */
    size_t n;
};

static void give(struct split *s, size_t row, enum limit_cause c, double cycles)
{
    s->sum[c] += cycles;
    if (row < s->n)
        s->of[row * LIMIT_COUNT + c] += cycles;
}

static double excess(uint64_t moved, uint64_t used)
{
    return moved > used ? (double)(moved - used) : 0;
}

/* Waits of one level of memory, and `more`, to those that fill it. */
static void spread_bandwidth(struct split *s, const struct limit_row *rows, enum limit_cause level,
                             double more)
{
    double waited = more, moved = 0;
    for (size_t i = 0; i < s->n; i++) {
        waited += (double)rows[i].cycles[level];
        moved += (double)(rows[i].read + rows[i].stored + rows[i].atomics + rows[i].local);
    }
    for (size_t i = 0; i < s->n && moved > 0; i++) {
        double loads = excess(rows[i].read, rows[i].used), stores = excess(rows[i].stored, rows[i].kept),
               each = waited / moved;
        give(s, i, LIMIT_COALESCING_LOAD, each * loads);
        give(s, i, LIMIT_COALESCING_STORE, each * stores);
        give(s, i, LIMIT_ATOMICS, each * (double)rows[i].atomics);
        give(s, i, LIMIT_LOCAL, each * (double)rows[i].local);
        give(s, i, level, each * ((double)(rows[i].read + rows[i].stored) - loads - stores));
    }
    if (!(moved > 0)) /* copies alone */
        for (size_t i = 0; i < s->n; i++)
            give(s, i, level, (double)rows[i].cycles[level]);
}

static void spread_latency(struct split *s, const struct limit_row *rows, const struct limit_launch *l)
{
    const struct limit_facts *f = &l->facts;
    double most = (double)fmaxf(f->warps_most, 1), room = fmin((double)f->warps_room, most),
           held = fmin((double)f->warps_held, room);
    for (size_t i = 0; i < s->n; i++) {
        double cycles = (double)rows[i].cycles[LIMIT_LATENCY];
        give(s, i, LIMIT_LATENCY, cycles * held / most);
        give(s, i, l->waves ? LIMIT_IMBALANCE : LIMIT_GRID, cycles * (room - held) / most);
        give(s, i, LIMIT_OCCUPANCY, cycles * (most - room) / most);
    }
}

static void spread_atomics(struct split *s, const struct limit_row *rows, double cycles)
{
    double all = 0;
    for (size_t i = 0; i < s->n; i++)
        all += (double)rows[i].atomics;
    for (size_t i = 0; i < s->n && all > 0; i++)
        give(s, i, LIMIT_ATOMICS, cycles * (double)rows[i].atomics / all);
    if (!(all > 0))
        give(s, s->n, LIMIT_ATOMICS, cycles);
}

/* Of all SMs, in which no row has a slot. */
static double end_cycles(const struct limit_row *rows, size_t n, const struct limit_launch *l)
{
    double all = l->idle;
    for (size_t i = 0; i < n; i++)
        for (unsigned c = 0; c < LIMIT_COUNT; c++)
            all += (double)rows[i].cycles[c];
    return l->end < 1 ? all * l->end / (1 - l->end) : 0;
}

static void spread(struct split *s, const struct limit_row *rows, const struct limit_launch *l)
{
    double end = end_cycles(rows, s->n, l), atomics = l->end_cause == LIMIT_ATOMICS ? end : 0;
    for (size_t i = 0; i < s->n; i++)
        for (unsigned c = 0; c < LIMIT_COUNT; c++)
            if (c == LIMIT_ATOMICS && (rows[i].read || rows[i].stored))
                atomics += (double)rows[i].cycles[c]; /* it waits for those of others */
            else if (c != LIMIT_DRAM && c != LIMIT_L2 && c != LIMIT_LATENCY)
                give(s, i, (enum limit_cause)c, (double)rows[i].cycles[c]);
    spread_bandwidth(s, rows, LIMIT_DRAM, 0);
    spread_bandwidth(s, rows, LIMIT_L2, l->end_cause == LIMIT_L2 ? end : 0);
    spread_latency(s, rows, l);
    spread_atomics(s, rows, atomics);
    if (l->end_cause != LIMIT_L2 && l->end_cause != LIMIT_ATOMICS)
        give(s, s->n, l->end_cause, end);
    give(s, s->n, LIMIT_GRID, l->idle);
}

/* ---- shares ---- */

static void name_file(char *to, size_t n, struct str name)
{
    size_t skip = name.n >= n ? name.n - n + 1 : 0;
    memcpy(to, name.s + skip, name.n - skip);
    to[name.n - skip] = 0;
}

uint8_t limits_file(struct limits *l, struct str name)
{
    char own[sizeof l->files[0]];
    name_file(own, sizeof own, name);
    for (uint8_t i = 0; name.n && i < LIMIT_FILES; i++) {
        if (!l->files[i][0])
            memcpy(l->files[i], own, sizeof own);
        if (strcmp(l->files[i], own) == 0)
            return (uint8_t)(i + 1);
    }
    return 0;
}

static struct limit_place place_of(struct limits *l, const struct limit_row *r, unsigned c, double share)
{
    struct limit_place p = {
        .line = r->line, .ptx = r->line, .share = (float)share, .cause = (uint8_t)c
    };
    if (r->source && (p.file = limits_file(l, r->file)))
        p.line = r->source;
    return p;
}

/* The smallest of its cause, when that has all that it may have; else of all. */
void limits_add_place(struct limits *l, struct limit_place p)
{
    uint32_t least = 0, own = LIMIT_POOL, have = 0;
    for (uint32_t i = 0; i < LIMIT_POOL; i++) {
        const struct limit_place *x = &l->place[i];
        least = x->share < l->place[least].share ? i : least;
        if (!(x->share > 0) || x->cause != p.cause)
            continue;
        have++;
        own = own == LIMIT_POOL || x->share < l->place[own].share ? i : own;
    }
    uint32_t to = have >= LIMIT_PLACES ? own : least;
    if (p.share > l->place[to].share)
        l->place[to] = p;
}

static void sort_places(struct limit_place *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct limit_place p = v[i];
        size_t k = i;
        for (; k && v[k - 1].share < p.share; k--)
            v[k] = v[k - 1];
        v[k] = p;
    }
}

void limits_sort(struct limits *l)
{
    sort_places(l->place, LIMIT_POOL);
}

size_t limits_lines(const struct limits *l, struct limit_place out[LIMIT_POOL])
{
    size_t n = 0;
    for (uint32_t i = 0; l->valid && i < LIMIT_POOL && l->place[i].share > 0; i++) {
        size_t k = 0;
        while (k < n && (out[k].file != l->place[i].file || out[k].line != l->place[i].line))
            k++;
        if (k == n)
            out[n++] = l->place[i];
        else
            out[k].share += l->place[i].share;
    }
    sort_places(out, n);
    return n;
}

const struct limit_place *limits_place(const struct limits *l, enum limit_cause c, unsigned k)
{
    for (uint32_t i = 0; i < LIMIT_POOL && l->place[i].share > 0; i++)
        if (l->place[i].cause == c && !k--)
            return &l->place[i];
    return NULL;
}

static bool one_line(const struct limit_row *a, const struct limit_row *b)
{
    if (!a->source || !b->source)
        return !a->source && !b->source && a->line == b->line;
    return a->source == b->source && a->file.n == b->file.n &&
           memcmp(a->file.s, b->file.s, a->file.n) == 0;
}

/* Rows of one line are one. */
static void join_lines(struct split *s, const struct limit_row *rows)
{
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = i + 1; k < s->n; k++)
            for (unsigned c = 0; one_line(&rows[i], &rows[k]) && c < LIMIT_COUNT; c++) {
                s->of[i * LIMIT_COUNT + c] += s->of[k * LIMIT_COUNT + c];
                s->of[k * LIMIT_COUNT + c] = 0;
            }
}

static void put_shares(struct limits *to, const struct split *s, const struct limit_row *rows,
                       const struct limit_launch *l)
{
    double all = 0, part = 1 - l->overhead;
    for (unsigned c = 0; c < LIMIT_COUNT; c++)
        all += s->sum[c];
    if (!(all > 0))
        return;
    to->valid = true;
    for (unsigned c = 0; c < LIMIT_COUNT; c++) {
        to->share[c] = (float)(part * s->sum[c] / all);
        for (size_t i = 0; i < s->n; i++)
            if (rows[i].line && s->of[i * LIMIT_COUNT + c] > 0)
                limits_add_place(to, place_of(to, &rows[i], c, part * s->of[i * LIMIT_COUNT + c] / all));
    }
    to->share[LIMIT_LAUNCH] += (float)l->overhead;
    limits_sort(to);
}

void limits_attribute(struct result *r, const struct limit_launch *l, struct limit_row *rows, size_t n)
{
    struct split s = { .n = n, .of = base_alloc((n + 1) * LIMIT_COUNT * sizeof *s.of) };
    *result_limits_set(r) = (struct limits){ .facts = l->facts };
    if (!s.of)
        return;
    spread(&s, rows, l);
    join_lines(&s, rows);
    put_shares(result_limits_set(r), &s, rows, l);
    base_free(s.of);
}

/* ---- asking ---- */

static bool heavier(const struct limits *l, unsigned a, unsigned b)
{
    return l->share[a] > l->share[b] || (l->share[a] == l->share[b] && a < b);
}

enum limit_cause limits_order(const struct limits *l, size_t i)
{
    for (unsigned c = 0; c < LIMIT_COUNT; c++) {
        size_t before = 0;
        for (unsigned k = 0; k < LIMIT_COUNT; k++)
            before += k != c && heavier(l, k, c);
        if (before == i)
            return (enum limit_cause)c;
    }
    return LIMIT_COUNT;
}

enum limit_cause limits_nth(const struct limits *l, size_t i)
{
    enum limit_cause c = l->valid ? limits_order(l, i) : LIMIT_COUNT;
    return c < LIMIT_COUNT && l->share[c] >= LIMIT_LEAST ? c : LIMIT_COUNT;
}

enum limit_cause limits_first(const struct limits *l)
{
    enum limit_cause c = limits_nth(l, 0);
    if (c == LIMIT_UNKNOWN)
        c = limits_nth(l, 1);
    return c == LIMIT_COUNT ? LIMIT_UNKNOWN : c;
}
