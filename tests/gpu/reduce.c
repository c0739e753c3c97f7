/* Delta debugging over the statements of a generated program: halves, quarters, … are left out as long
 * as the devices still part. */
#include "tests/gpu/diff.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 4096, TRIES = 400 };
struct reduce {
    struct diff *d;
    unsigned long seed, data;
    uint8_t skip[MOST / 8];
    unsigned tries;
};

static bool parts(struct reduce *r)
{
    bool same = true;
    uint64_t at;
    r->tries++;
    bool ok = diff_bind(r->d, r->seed, 1, r->data) && diff_run(r->d, 0, &same, &at);
    diff_unbind(r->d);
    return ok && !same;
}

/* Leaves out statements [from, to) of those that are left when the devices part without them too. */
static bool drop(struct reduce *r, unsigned from, unsigned to)
{
    uint8_t before[MOST / 8];
    memcpy(before, r->skip, sizeof before);
    for (unsigned k = from; k < to; k++)
        r->skip[k / 8] |= (uint8_t)(1u << k % 8);
    if (!memcmp(before, r->skip, sizeof before))
        return false;
    if (parts(r))
        return true;
    memcpy(r->skip, before, sizeof before);
    return false;
}

static void shrink(struct reduce *r)
{
    unsigned n = r->d->g.statements < MOST ? r->d->g.statements : MOST;
    for (unsigned size = (n + 1) / 2; size && r->tries<TRIES; size = size> 1 ? (size + 1) / 2 : 0) {
        bool any = true;
        while (any && r->tries < TRIES) {
            any = false;
            for (unsigned at = n; at && r->tries<TRIES; at = at> size ? at - size : 0)
                any |= drop(r, at > size ? at - size : 0, at);
            any = any && size == 1; /* single ones until none can go */
        }
    }
}

static void levels(struct reduce *r, struct buf *out)
{
    char text[2] = "0";
    buf_puts(out, "differs at level");
    for (; text[0] <= '4'; text[0]++) {
        diff_level(text);
        if (parts(r))
            buf_printf(out, " %s", text);
    }
    diff_level(NULL);
}

void diff_reduce(struct diff *d, unsigned long seed, unsigned long data, struct buf *out)
{
    struct reduce *r = calloc(1, sizeof *r);
    if (!r)
        return;
    r->d = d;
    r->seed = seed;
    r->data = data;
    d->g.skip = r->skip;
    bool same = true;
    uint64_t at = 0;
    if (parts(r))
        shrink(r);
    buf_printf(out, "-- seed %lu, %u tries, ", seed, r->tries);
    levels(r, out);
    if (diff_bind(d, seed, 1, data) && diff_run(d, 0, &same, &at) && !same) {
        buf_puts(out, "; ");
        diff_describe(d, at, out);
    }
    diff_unbind(d);
    buf_printf(out, "\n%.*s", (int)(d->g.end - d->g.body), d->g.b.s + d->g.body);
    d->g.skip = NULL;
    free(r);
}
