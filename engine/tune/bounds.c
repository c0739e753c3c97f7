/* What the order of float atomics can change, element by element: from the sums that a simulated device
 * counted beside the original's launch.
 *
 * - Added to by atomics: terms * eps * (sum of magnitudes), and for each term what a sum in shared
 *   memory that it may come from can change.
 * - Made of sums and stored: the most that any sum changes by, relative to itself, at most 1e-4.
 * - Neither: nothing. The bits must be the original's.
 */
#include "engine/rec/elem.h"
#include "engine/rec/launch_arg.h"
#include "engine/rec/launch_read.h"
#include "engine/sim/sums.h"
#include "engine/tune/tune_int.h"

#include <math.h>
#include <string.h>

float *tune_bounds(const struct sim_sums *s, const struct arg_spec *a, const uint8_t *bytes, uint64_t n)
{
    size_t w = elem_size(a->elem);
    float *out = base_alloc((n / w + 1) * sizeof *out);
    double shared = sim_sums_shared(s), relative = fmin(a->tolerance, sim_sums_relative(s));
    for (uint64_t i = 0; out && i < n / w; i++) {
        double terms = 0, direct = sim_sums_bound(s, bytes + i * w, &terms), own = 0;
        if (direct >= 0)
            own = direct + (a->derived ? shared * fmax(1, terms) : 0);
        if (a->derived)
            own = fmax(own, fmax(shared, relative * fabs(elem_load(bytes + i * w, a->elem))));
        /* rounded up: a bound that float rounds down would forbid what it allows */
        out[i] = nextafterf((float)own, INFINITY);
        if (own == 0)
            out[i] = 0;
    }
    return out;
}

/* The arguments of a launch that has just run, on a simulated device of this process; bound[i] stays
 * NULL where nothing is known. */
enum status tune_bounds_all(struct dev *d, struct dev_code *c, struct dev_data *b,
                            const struct sim_sums *s, const struct launch_spec *l, float **bound)
{
    struct dev_left left;
    for (size_t i = 0; sim_sums_known(s) && dev_left(d, c, b, i, &left); i++) {
        const struct arg_spec *a = left.arg < launch_nargs(l) ? launch_arg(l, left.arg) : NULL;
        if (!a || !a->atomic)
            continue;
        base_free(bound[left.arg]);
        bound[left.arg] = tune_bounds(s, a, left.bytes, left.n);
        if (!bound[left.arg])
            return ST_NOMEM;
    }
    return ST_OK;
}
