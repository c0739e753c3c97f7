/* Further data sets, until every way of the kernel was gone or the search gives up. A launch description
 * says what the data are like; what it leaves open is drawn from, one thing at a time:
 *
 *   seeds                 other numbers of the same ranges
 *   constants that fill   the constant and its neighbour
 *   whole scalars         one less, so that a guard which all threads pass fails for some; each alone 0,
 *                         3 and 1, so that loops end early
 *   floats                both signs; a thousand times as large
 *   whole numbers         the two least of their range; all the least
 *
 * A set on which the original faults, never ends or has no one result is none. */
#include "engine/rec/elem.h"
#include "engine/tune/prove_int.h"

#include <string.h>

#define DRAW UINT64_C(0x9e3779b97f4a7c15) /* added to the seeds */

enum { NUMBERS_AS_ARE, FLOATS_SIGNED, FLOATS_WIDE, INTS_FEW, INTS_LEAST };
static const struct vary varies[] = {
    { .fills = true },
    { .fills = false },
    { .less = true },
    { .numbers = FLOATS_SIGNED, .fills = true },
    { .less = true, .numbers = FLOATS_WIDE },
    { .numbers = INTS_FEW },
    { .numbers = INTS_LEAST },
};
static const uint64_t small[] = { 0, 3, 1 };

/* A whole number of 32 bits or more. */
static bool is_whole(const struct arg_spec *a)
{
    return a->kind == ARG_SCALAR && !elem_is_float(a->elem) && elem_size(a->elem) >= 4;
}

bool prover_vary(const struct launch_spec *l, size_t k, struct vary *v)
{
    if (k < ARRAY_LEN(varies)) {
        *v = varies[k];
        return true;
    }
    k -= ARRAY_LEN(varies);
    *v = (struct vary){ .value = small[k % ARRAY_LEN(small)] };
    k /= ARRAY_LEN(small);
    for (size_t i = 0; i < l->nargs; i++)
        if (is_whole(&l->args[i]) && !k--) {
            v->scalar = i + 1;
            return true;
        }
    return false;
}

/* Numbers of a range that is drawn from. */
static void vary_range(struct init_spec *in, bool floats, int how)
{
    if (in->kind != INIT_RANDOM)
        return;
    double most = in->b > -in->a ? in->b : -in->a;
    if (floats && (how == FLOATS_SIGNED || how == FLOATS_WIDE)) {
        in->b = how == FLOATS_WIDE ? 1000 * most : most;
        in->a = -in->b;
        in->integral = false;
    }
    if (!floats && (how == INTS_FEW || how == INTS_LEAST)) {
        int64_t width = how == INTS_FEW && in->ib > in->ia;
        in->ib = in->ia + width;
        in->b = in->a + (double)width;
    }
}

static bool vary_buffer(struct arg_spec *a, const struct vary *v, uint64_t seed)
{
    struct init_spec *in = &a->init;
    bool fill = in->kind == INIT_FILL && v->fills && !a->output;
    if (fill) {
        in->kind = INIT_RANDOM;
        in->b = in->a + 1;
        in->ib = in->ia + 1;
    }
    if (!fill && !init_draws(in))
        return false;
    vary_range(in, elem_is_float(a->elem), v->numbers);
    in->seed += DRAW * seed;
    return true;
}

static bool vary_scalar(struct arg_spec *a, const struct vary *v, bool chosen)
{
    uint64_t n = 0, bytes = elem_size(a->elem);
    if (!is_whole(a) || (!v->less && !chosen))
        return false;
    memcpy(&n, a->scalar, bytes);
    if (n < 2 || n >> (8 * bytes - 1)) /* negative ones too */
        return false;
    n = chosen ? v->value : n - 1;
    memcpy(a->scalar, &n, bytes);
    return true;
}

/* One that varies scalars and finds none is no other set than the second. */
bool prover_draw(struct launch_spec *l, const struct vary *v, uint64_t seed)
{
    bool any = false, scalars = false;
    for (size_t i = 0; i < l->nargs; i++)
        if (l->args[i].kind == ARG_BUFFER)
            any |= vary_buffer(&l->args[i], v, seed);
        else
            any |= scalars |= vary_scalar(&l->args[i], v, v->scalar == i + 1);
    return v->less || v->scalar ? scalars : any;
}
