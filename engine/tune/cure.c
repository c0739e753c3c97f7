/* What to write against a limit, from the accesses on its line: how far apart lanes are, what a thread
 * walks over, whose address was loaded. One edit for a limit, two of a small grid; each names its line,
 * where it is not of the whole launch, and the figures that it rests on. */
#include "engine/tune/cure.h"

#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/elem.h"
#include "engine/rec/limits.h"
#include "engine/rec/result.h"
#include "engine/tune/cure_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BY_X, BY_Y, BY_LOOP = ANA_STEPS - 1 }; /* places in ana_access.step */
#define SECTOR     32
#define FAR        2000 /* bytes: from there on a step stands for some number above it */
#define REGS_UNIT  8    /* registers are handed out in so many */
#define IDLE       0.4  /* threads without an access that are worth a word */
#define SMALL      0.05 /* of the launch: what takes less is worth no edit */
#define ASIDE      0.25 /* of the first place of a limit: places with less are beside the point */
#define WIDEST     16   /* bytes that one load of a lane can bring */
#define LONELY     2    /* lanes of a request */
#define NARROW     4    /* bytes of a load, below which several fit into a register */
#define MOST_LANES 16   /* of a request that has words of their own, at least */
#define LOOSE      4    /* bytes of sectors for one that is read, at most */

/* ---- the accesses of a place ---- */

static double excess(const struct ana_access *a)
{
    return a->exact.valid ? (double)a->exact.sectors - (double)a->exact.least : 0;
}

/* The access of the place that moves most for nothing; NULL: there is none. */
static const struct ana_access *spread_access(const struct curing *c, bool store)
{
    const struct ana_access *most = NULL;
    for (uint32_t i = 0; i < c->k->naccess; i++) {
        const struct ana_access *a = &c->k->access[i];
        if (cure_here(c, a) && cure_in_global(a) && !a->atomic && a->store == store &&
            (!most || excess(a) > excess(most)))
            most = a;
    }
    return most;
}

/* Accesses of the same array whose lanes are as far apart: the fields of a structure. */
static unsigned fields_of(const struct curing *c, const struct ana_access *a)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < c->k->naccess; i++) {
        const struct ana_access *b = &c->k->access[i];
        n += b->stepped && b->param == a->param && b->step[BY_X] == a->step[BY_X] && !b->prefetch;
    }
    return n;
}

/* Does a thread go through all the bytes between it and the next, by accesses of the place? */
static bool goes_through(const struct curing *c, const struct ana_access *a)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < c->k->naccess; i++) {
        const struct ana_access *b = &c->k->access[i];
        n += cure_here(c, b) && b->stepped && b->param == a->param && b->store == a->store &&
                     b->step[BY_X] == a->step[BY_X]
                 ? b->bytes
                 : 0;
    }
    return n >= llabs(a->step[BY_X]);
}

static void put_apart(struct curing *c, const struct ana_access *a)
{
    long long x = llabs(a->step[BY_X]);
    if (x < FAR)
        buf_printf(&c->out, "lanes are %lld bytes apart in %s and %s %u", x, cure_array(a),
                   a->store ? "write" : "read", a->bytes);
    else
        buf_printf(&c->out, "neighbouring lanes are a row apart in %s", cure_array(a));
}

/* Would y for x make neighbours of the lanes, or one word for all, in every access of the kernel? */
static bool exchanged(const struct curing *c)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < c->k->naccess; i++) {
        const struct ana_access *b = &c->k->access[i];
        if (!cure_in_global(b) || b->prefetch || (b->exact.valid && !b->exact.requests))
            continue;
        if (!b->stepped || (b->step[BY_Y] && llabs(b->step[BY_Y]) != b->bytes))
            return false;
        n += b->step[BY_Y] != 0;
    }
    return n && c->k->block.y > 1;
}

/* A row of the CTA is less than a sector, and the next one lies elsewhere. */
static bool narrow(const struct curing *c, const struct ana_access *a)
{
    return a->stepped && llabs(a->step[BY_X]) == a->bytes && c->k->block.y > 1 &&
           c->k->block.x * a->bytes < SECTOR && llabs(a->step[BY_Y]) > c->k->block.x * a->bytes;
}

static void put_narrow(struct curing *c, const struct ana_access *a)
{
    buf_printf(
        &c->out,
        "a row of the CTA is %u bytes of a sector of %d in %s: blocks of x = %u or more, or the CTAs "
        "beside each other on one SM (--cluster agent)",
        c->k->block.x * a->bytes, SECTOR, cure_array(a), SECTOR / a->bytes);
}

/* Records of 3, 6 or 12 bytes: no access of the device is as wide. */
static void put_padding(struct curing *c, const struct ana_access *a, unsigned bytes)
{
    unsigned padded = 4;
    while (padded < bytes)
        padded *= 2;
    buf_printf(&c->out,
               ": pad the %u bytes to %u (%s), which one access %s; or bring words to shared memory and "
               "take them from there",
               bytes, padded,
               a->bytes == 1   ? "uchar4"
               : a->bytes == 2 ? "ushort4"
                               : "float4",
               a->store ? "writes" : "reads");
}

static void put_apart_fields(struct curing *c, const struct ana_access *a)
{
    unsigned n = fields_of(c, a);
    long long x = llabs(a->step[BY_X]);
    put_apart(c, a);
    if (goes_through(c, a) && x < WIDEST && (x & (x - 1))) {
        put_padding(c, a, (unsigned)x);
        return;
    }
    if (goes_through(c, a) && (x == WIDEST || x == WIDEST / 2)) {
        buf_printf(&c->out, ": one access of %lld bytes (a %s of 4-byte words) has all that a thread %s",
                   x, x == WIDEST ? "float4" : "float2", a->store ? "writes" : "reads");
        return;
    }
    buf_printf(&c->out, ": a structure of arrays%s", n > 1 ? ", one for each field" : "");
    if (goes_through(c, a))
        buf_puts(&c->out,
                 "; or let a warp go through them together, each thread walks along its own now");
}

/* One or two lanes of the requests have something to do. */
static bool lonely(const struct ana_access *a)
{
    return a->exact.valid && a->exact.requests && a->bytes &&
           a->exact.bytes_used <= LONELY * a->exact.requests * a->bytes && a->stepped &&
           a->step[BY_X] != 0;
}
#define EXCHANGE ": exchange x and y, neighbours along y are neighbours in memory"

/* A thread goes on by what it reads or writes: it could take more of it at once. */
static void put_in_order(struct curing *c, const struct ana_access *row)
{
    if (row->stepped && row->bytes < WIDEST)
        buf_printf(&c->out, "; or %d bytes at once (float4), where a thread needs its row in order",
                   WIDEST);
}

static void cure_loads(struct curing *c)
{
    const struct ana_access *a = spread_access(c, false), *row = cure_walking(c, false, false);
    if (!a)
        return;
    if (cure_apart(a) && exchanged(c)) {
        put_apart(c, a);
        buf_puts(&c->out, EXCHANGE);
    } else if (row) {
        if (cure_apart(row))
            put_apart(c, row);
        else
            buf_puts(&c->out, "the start of each row is loaded");
        buf_puts(&c->out, ", and each thread reads a row of its own: " CURE_ROWS);
        put_in_order(c, row);
    } else if (cure_apart(a) && llabs(a->step[BY_X]) < FAR) {
        put_apart_fields(c, a);
    } else if (cure_apart(a)) {
        put_apart(c, a);
        buf_puts(&c->out, ": read it through a tile in shared memory, or exchange x and y");
    } else if (narrow(c, a)) {
        put_narrow(c, a);
    } else if (cure_gathers(a)) {
        cure_put_gather(c, a);
    }
}

static void cure_stores(struct curing *c)
{
    const struct ana_access *a = spread_access(c, true), *row = cure_walking(c, false, true);
    if (a)
        cure_kept(c);
    if (!a || c->out.n)
        return;
    if (lonely(a)) {
        cure_lanes(c);
    } else if (cure_apart(a) && exchanged(c)) {
        put_apart(c, a);
        buf_puts(&c->out, EXCHANGE);
    } else if (row) {
        put_apart(c, row);
        buf_puts(&c->out,
                 ", and each thread writes a row of its own: let neighbouring lanes write neighbours in "
                 "each round (exchange the thread's index and the loop's, or a warp for a row)");
    } else if (cure_apart(a) && llabs(a->step[BY_X]) < FAR && fields_of(c, a) > 1) {
        put_apart_fields(c, a);
    } else if (cure_apart(a)) {
        put_apart(c, a);
        buf_puts(&c->out,
                 ": write it through a tile in shared memory (pitch 33 for 32), so that lanes write "
                 "neighbours");
    } else if (narrow(c, a)) {
        put_narrow(c, a);
    } else {
        cure_lanes(c);
    }
}

/* Do the lanes of a request read what lies side by side? Of single bytes: most of it. */
static bool side_by_side(const struct ana_access *a)
{
    const struct ana_exact *e = &a->exact;
    if (a->stepped && llabs(a->step[BY_X]) == a->bytes)
        return true;
    return e->valid && e->requests && e->bytes_used >= e->requests * a->bytes * MOST_LANES &&
           (a->bytes < NARROW ? e->sectors * SECTOR <= LOOSE * e->bytes_used : e->sectors <= e->least);
}

/* Loads of neighbouring lanes that bring less than they could. */
static void cure_narrow_loads(struct curing *c, unsigned most)
{
    for (uint32_t i = 0; i < c->k->naccess && !c->out.n; i++) {
        const struct ana_access *a = &c->k->access[i];
        if (!cure_here(c, a) || !cure_in_global(a) || a->store || a->atomic || a->bytes >= most ||
            (!a->loops && a->bytes >= NARROW) || !side_by_side(a))
            continue;
        buf_printf(&c->out,
                   "a load of %s brings %u byte%s a lane, it can bring %d: vector loads (float4, uint4 "
                   "of eight halves), 1/%d as many",
                   cure_array(a), a->bytes, a->bytes == 1 ? "" : "s", WIDEST, WIDEST / a->bytes);
        if (!a->stepped || llabs(a->step[BY_X]) != a->bytes)
            buf_puts(&c->out, "; words through shared memory, where records are not aligned to them");
    }
}

/* A loop whose loads bring one word for all lanes, of which there are some. */
static void cure_same_word(struct curing *c)
{
    bool some = dim3u_count(c->k->block) > MOST_LANES;
    for (uint32_t i = 0; some && i < c->k->naccess && !c->out.n; i++) {
        const struct ana_access *a = &c->k->access[i];
        if (cure_here(c, a) && cure_in_global(a) && !a->store && !a->atomic && a->loops && a->stepped &&
            !a->step[BY_X] && a->step[BY_LOOP] && a->bytes < WIDEST)
            buf_printf(&c->out,
                       "all lanes read one word of %s at a time: let the CTA bring a tile of it to "
                       "shared memory together, or read %d bytes (float4) at once and unroll",
                       cure_array(a), WIDEST);
    }
}

/* At the first of its places where something is dear. */
static void cure_issue(struct curing *c)
{
    const struct limit_place *first = c->p;
    for (unsigned k = 0; !c->out.n && k < LIMIT_PLACES; k++) {
        c->p = limits_place(&c->r->limits, LIMIT_ISSUE, k);
        if (!c->p || (double)c->p->share < ASIDE * (double)first->share)
            break;
        cure_costs(c);
        if (!c->out.n)
            cure_narrow_loads(c, NARROW);
        if (!c->out.n)
            cure_same_word(c);
    }
    if (c->out.n)
        return;
    c->p = first;
    cure_lanes(c);
}

/* Bytes of the arrays that the function declares in local memory. */
static unsigned long long local_arrays(const struct ptx_func *f)
{
    unsigned long long n = 0;
    for (uint32_t i = 0; i < f->nvars; i++)
        n += f->vars[i]->space == PTX_SPACE_LOCAL ? f->vars[i]->bytes : 0;
    return n;
}

/* An array that is indexed by data; or launch bounds leave too few registers for what is live. */
static void cure_local(struct curing *c)
{
    const struct ptx_func *f = c->k->func;
    unsigned long long array = local_arrays(f);
    if (array)
        buf_printf(
            &c->out,
            "an array of %llu bytes for each thread is indexed by data: a column of shared memory for "
            "each thread, or loops unrolled so that its indices are constants",
            array);
    else if (f->minnctapersm && c->r->regs)
        buf_printf(
            &c->out,
            "launch bounds ask for %u CTAs of an SM, which leaves %u registers: what does not fit "
            "spills; ask for fewer",
            f->minnctapersm, c->r->regs);
    else if (c->r->counters[COUNTER_REGS_SPILL_BYTES].value > 0)
        buf_printf(&c->out,
                   "%.6g bytes of a thread spill, with %u registers (%s): allow it more of them "
                   "(maxnreg, launch bounds), or keep less at once",
                   c->r->counters[COUNTER_REGS_SPILL_BYTES].value, c->r->regs, c->r->regs_from);
}

/* What concerns lines, then what may have none. */
static void cure_one(struct curing *c, enum limit_cause cause)
{
    switch (c->p ? cause : LIMIT_COUNT) {
    case LIMIT_COALESCING_LOAD: cure_loads(c); break;
    case LIMIT_COALESCING_STORE: cure_stores(c); break;
    case LIMIT_BANKS: cure_banks(c); break;
    case LIMIT_ATOMICS: cure_atomics(c); break;
    case LIMIT_CONSTANT: cure_constant(c); break;
    case LIMIT_LATENCY: cure_latency(c); break;
    case LIMIT_DRAM:
    case LIMIT_L2: cure_gather(c); break;
    case LIMIT_L1:
        cure_narrow_loads(c, WIDEST);
        if (!c->out.n)
            cure_same_word(c);
        break;
    case LIMIT_ISSUE: cure_issue(c); break;
    case LIMIT_LOCAL: cure_local(c); break;
    case LIMIT_BARRIERS:
        buf_puts(
            &c->out,
            "warps wait here for those that still work: share the work before the barrier among all "
            "threads; shuffles, or a warp for a whole row, need no barrier");
        break;
    default: break;
    }
    switch (cause) {
    case LIMIT_GRID: cure_grid(c); break;
    case LIMIT_IMBALANCE: cure_imbalance(c); break;
    case LIMIT_OCCUPANCY: cure_occupancy(c); break;
    case LIMIT_LAUNCH:
        if (c->p && (double)c->p->share >= SMALL) /* of CTAs: what starts the launch has no line */
            cure_short(c);
        break;
    default: break;
    }
}

static bool said(const struct limits *l, const char *text)
{
    for (size_t k = 0; k < LIMIT_EDITS; k++)
        if (strcmp(l->edit[k].text, text) == 0)
            return true;
    return false;
}

/* Edit n of r, unless it is said already; returns how many there are. */
static size_t put_edit(struct curing *c, enum limit_cause cause, size_t n)
{
    struct limit_edit *e = &c->r->limits.edit[n];
    char text[sizeof e->text];
    if (c->out.n && (c->whole || !c->p))
        snprintf(text, sizeof text, "%s", c->out.s);
    else if (c->out.n)
        snprintf(text, sizeof text, "line %u: %s", c->p->line, c->out.s);
    bool fresh = c->out.n && !said(&c->r->limits, text);
    if (fresh) {
        e->cause = (uint8_t)cause;
        memcpy(e->text, text, sizeof text);
    }
    buf_free(&c->out);
    return n + fresh;
}

/* Of a grid that is too small first what is of the launch, then what its few warps wait for. */
void cure_limits(struct result *r, const struct ana_kernel *k)
{
    size_t n = 0;
    memset(r->limits.edit, 0, sizeof r->limits.edit);
    for (size_t i = 0; k && i < LIMIT_COUNT && n < LIMIT_EDITS; i++) {
        enum limit_cause cause = limits_nth(&r->limits, i);
        if (cause == LIMIT_COUNT || (double)r->limits.share[cause] < SMALL)
            return;
        struct curing c = { .r = r, .k = k, .p = limits_place(&r->limits, cause, 0) };
        cure_one(&c, cause);
        n = put_edit(&c, cause, n);
        if (cause != LIMIT_GRID || n == LIMIT_EDITS)
            continue;
        c = (struct curing){ .r = r, .k = k };
        cure_few_warps(&c);
        n = put_edit(&c, cause, n);
    }
}

/* ---- what is plain ---- */

/* Launch bounds that take all the registers there are for so many CTAs. */
static bool bounded(const struct result *r, const struct ptx_func *f, uint32_t regs_per_sm)
{
    uint64_t threads = (uint64_t)f->maxntid.x * (f->maxntid.y ? f->maxntid.y : 1) *
                       (f->maxntid.z ? f->maxntid.z : 1) * f->minnctapersm;
    return threads && r->regs && (uint64_t)(r->regs + REGS_UNIT) * threads > regs_per_sm;
}

/* What an assembler has said is certain, also that it spills nothing. */
static void note_bounds(struct result *r, uint32_t ctas)
{
    const struct counter *c = &r->counters[COUNTER_REGS_SPILL_BYTES];
    char spills[80] = "if ptxas -v tells of spills, ask for fewer";
    if (c->valid && c->value > 0)
        snprintf(spills, sizeof spills, "%.6g bytes spill (%s); ask for fewer", c->value, r->regs_from);
    else if (c->valid && c->origin == ORIGIN_COMPILED)
        return;
    snprintf(r->message, sizeof r->message,
             "launch bounds ask for %u CTAs of an SM, which leaves a thread %u registers: %s", ctas,
             r->regs, spills);
}

void cure_note(struct result *r, const struct ana_kernel *k, uint32_t regs_per_sm)
{
    if (k && !r->message[0] && bounded(r, k->func, regs_per_sm))
        note_bounds(r, k->func->minnctapersm);
    double threads = k ? (double)dim3u_count(k->grid) * (double)dim3u_count(k->block) : 0, most = 0;
    bool counted = false;
    for (uint32_t i = 0; threads > 0 && i < k->naccess; i++) {
        const struct ana_access *a = &k->access[i];
        if (a->space == ANA_SPACE_COPY)
            return;
        if (!cure_in_global(a) || a->prefetch)
            continue;
        if (!a->exact.valid || a->exact.sampled || !a->bytes)
            return;
        counted = true;
        most = fmax(most, (double)a->exact.bytes_used / a->bytes);
    }
    /* lanes that ask for one word count once: only what asks for words of its own tells */
    if (counted && most > 0 && !r->message[0] && 1 - most / threads >= IDLE)
        snprintf(r->message, sizeof r->message,
                 "%.0f %% of the launch's threads have no access of their own to global memory",
                 100 * (1 - most / threads));
}
