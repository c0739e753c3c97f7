/* What to write against bank conflicts, atomics and replays of constant memory. */
#include "engine/analysis/analysis.h"
#include "engine/analysis/banks.h"
#include "engine/base/base.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/tune/cure_int.h"

#include <stdlib.h>
#include <string.h>

enum { BY_X };       /* place in ana_access.step */
#define DISTANCES 3  /* between lanes, of one line's accesses to an array */
#define WIDEST    16 /* bytes of an access of a lane */

/* Bytes between lanes that are neighbours, or else between two that want the same bank; 0: none. */
static uint32_t row_of(const struct ana_banks *b, unsigned which)
{
    unsigned first = b->lanes ? (unsigned)__builtin_ctz(b->lanes) : 31, least = 0;
    if (!which) {
        int far = first < 31 && b->lanes >> (first + 1) & 1 ? b->word[first + 1] - b->word[first] : 0;
        return (uint32_t)(4 * abs(far));
    }
    for (uint32_t m = b->lanes & (b->lanes - 1); m; m &= m - 1) {
        unsigned d = (unsigned)abs(b->word[__builtin_ctz(m)] - b->word[first]);
        if (d && d % BANKS_N == 0 && (!least || d < least))
            least = d;
    }
    return 4 * least;
}

/* The least pitch, in bytes, whose lanes want different banks; 0: none was found. */
static uint32_t pitch_of(const struct ana_banks *b, uint32_t *row)
{
    uint32_t width = b->bytes > 4 ? b->bytes : 4;
    for (unsigned which = 0; which < 2; which++) {
        *row = row_of(b, which);
        for (uint32_t pad = width; *row > width && pad <= WIDEST; pad *= 2) {
            struct banks_layout l = { .row = *row, .widest = pad };
            if (banks_passes_in(b, &l) <= 1)
                return *row + pad;
        }
    }
    return 0;
}

/* How many distances, each greater than those before, lanes have in accesses of the place to the array of `a`:
 * an unrolled loop doubles them from round to round. Or one access has requests that differ as much. */
static unsigned distances(const struct curing *c, const struct ana_access *a)
{
    unsigned n = 0;
    int32_t most = 0;
    for (uint32_t i = 0; i < c->k->naccess; i++) {
        const struct ana_access *b = &c->k->access[i];
        if (b->space != PTX_SPACE_SHARED || b->store || !cure_here(c, b) || !b->exact.valid ||
            !b->array || !a->array || strcmp(b->array, a->array) != 0)
            continue;
        int32_t apart = banks_stride(&b->exact.banks);
        apart = apart == INT32_MIN ? 0 : abs(apart);
        n += apart > most;
        most = apart > most ? apart : most;
    }
    const struct ana_banks *w = &a->exact.banks;
    bool differ = a->loops && w->passes >= 2 * w->ideal * (1 + a->exact.bank_conflicts);
    return differ ? DISTANCES : n;
}

void cure_banks(struct curing *c)
{
    const struct ana_access *worst = NULL;
    for (uint32_t i = 0; i < c->k->naccess; i++) {
        const struct ana_access *a = &c->k->access[i];
        if (a->space == PTX_SPACE_SHARED && cure_here(c, a) && a->exact.bank_conflicts > 0 &&
            (!worst || a->exact.bank_conflicts > worst->exact.bank_conflicts))
            worst = a;
    }
    if (!worst)
        return;
    const struct ana_banks *b = &worst->exact.banks;
    uint32_t row = 0, pitch = pitch_of(b, &row), width = b->bytes;
    buf_printf(&c->out, "%u passes for a request that needs %u: ", b->passes, b->ideal);
    if (distances(c, worst) >= DISTANCES)
        buf_puts(&c->out,
                 "the distance between lanes grows from round to round of the loop: let neighbouring "
                 "lanes take neighbouring words in each (sequential addresses)");
    else if (pitch && row % width == 0 && pitch % width == 0)
        buf_printf(
            &c->out,
            "rows of %u elements (%u bytes each) begin in the same banks; a pitch of %u, swizzled "
            "columns, or the other index for the lanes",
            row / width, width, pitch / width);
    else
        buf_puts(&c->out, "swizzle the columns, or let neighbouring lanes take neighbouring words");
}

/* A loop that tries until nobody else was faster. */
static bool swaps_in_loop(const struct curing *c, const struct ana_access *a)
{
    return a->loops && ptx_is_atomic_op(&c->k->module->funcs[a->func]->insts[a->inst], PTX_MOD_CAS);
}

/* No number of a thread is in the address: what it is loaded from is one for the CTA. */
static bool of_cta(const struct ana_access *a)
{
    static const char *const numbers[] = { "tid.", "laneid", "warpid" };
    for (size_t k = 0; k < ARRAY_LEN(numbers); k++)
        for (const char *t = a->address; t && (t = strstr(t, numbers[k])); t++)
            if (k || t == a->address || t[-1] != 'n') /* ntid. is a size */
                return false;
    return a->address && !a->unknown;
}

enum added { ADDED_SWAPS, ADDED_IN_ROUNDS, ADDED_BY_CTAS, ADDED_BY_DATA, ADDED_BY_NUMBER, ADDED_TO_ONE };
/* What stands before the array's name, and behind it. */
static const struct {
    const char *before;
    const char *behind;
} added[] = {
    [ADDED_SWAPS] = { "a loop of compare-and-swap on ",
                      ", which lanes of one place repeat one after the other: the device's own "
                      "atomicAdd "
                      "(atomicMax ...), of float and double too, takes one turn" },
    [ADDED_IN_ROUNDS] = { "lanes add to places of their own in ",
                          " in each round of a loop: add up in shared memory (or registers) what comes "
                          "to one place, then one atomic for each" },
    [ADDED_BY_CTAS] = { "each lane has a place of its own in ",
                        ", which CTA after CTA adds to: fewer CTAs (each with more of the data), or "
                        "sums "
                        "of each CTA that a second launch adds" },
    [ADDED_BY_DATA] = { "the place in ", " is data: a private copy (histogram) of each CTA in shared "
                                         "memory, added to the "
                                         "global one once" },
    [ADDED_BY_NUMBER] = { "threads add to places of ",
                          " that follow from their numbers: let a thread have a place, and collect "
                          "(gather) what belongs to it, without atomics" },
    [ADDED_TO_ONE] = { "all lanes add to one place of ",
                       ": sum up in the warp (shuffles), then one atomic of a CTA" },
};

static enum added added_how(const struct curing *c, const struct ana_access *a)
{
    if (swaps_in_loop(c, a))
        return ADDED_SWAPS;
    if (a->stepped && a->step[BY_X])
        return a->loops ? ADDED_IN_ROUNDS : ADDED_BY_CTAS;
    if (of_cta(a))
        return ADDED_TO_ONE;
    if (a->depends_on_load)
        return ADDED_BY_DATA;
    return a->affine ? ADDED_TO_ONE : ADDED_BY_NUMBER;
}

void cure_atomics(struct curing *c)
{
    const struct ana_access *a = NULL;
    for (uint32_t i = 0; i < c->k->naccess && !a; i++)
        if (c->k->access[i].atomic && cure_here(c, &c->k->access[i]))
            a = &c->k->access[i];
    if (a && cure_stays(a) && a->step[BY_X])
        cure_kept(c);
    enum added how = a ? added_how(c, a) : ADDED_TO_ONE;
    if (a && !c->out.n)
        buf_printf(&c->out, "%s%s%s", added[how].before, cure_array(a), added[how].behind);
}

void cure_constant(struct curing *c)
{
    for (uint32_t i = 0; i < c->k->naccess && !c->out.n; i++)
        if (c->k->access[i].space == PTX_SPACE_CONST && cure_here(c, &c->k->access[i]))
            buf_printf(
                &c->out,
                "lanes read different words of %s, one pass for each: move the table to shared or "
                "global memory (const __restrict__)",
                cure_array(&c->k->access[i]));
}
