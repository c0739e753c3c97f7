/* The window of --l2-persist: which bytes, how many of their lines, and how much of L2. */
#include "engine/dev/dev_int.h"
#include "engine/rec/data.h"
#include "engine/rec/launch_arg.h"
#include "engine/rec/launch_read.h"
#include "engine/sim/window.h"

#include <math.h>

static const struct dev_buffer *find_buffer(const struct dev_bound *b, struct str name, struct diags *ds)
{
    const struct launch_spec *l = b->data->spec;
    for (size_t i = 0; i < launch_nargs(l); i++)
        if (launch_arg(l, i)->name && str_is(name, launch_arg(l, i)->name) &&
            b->main_use[i].buffer != SIZE_MAX)
            return &b->buffers[b->main_use[i].buffer];
    diag_error(ds, "l2-persist", "no argument '%.*s' with a buffer to persist in L2", (int)name.n,
               name.s);
    return NULL;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

enum status dev_window(const struct dev_bound *b, const struct dev_run *r, uint64_t most_part,
                       uint64_t most_window, struct sim_window *out, struct diags *ds)
{
    *out = (struct sim_window){ 0 };
    const struct dev_buffer *of = r->persist.n ? find_buffer(b, r->persist, ds) : NULL;
    if (!of)
        return r->persist.n ? ST_INPUT : ST_OK;
    out->addr = of->addr;
    out->bytes = least(of->bytes, most_window);
    double bytes = (double)out->bytes, fraction = r->persist_fraction;
    out->part = least(fraction > 0 ? (uint64_t)llround(bytes * fraction) : out->bytes, most_part);
    /* More lines than the part holds would push each other out: without a word from the user, as many as
     * fit. */
    out->ratio = fraction > 0 ? fraction : bytes > 0 ? (double)out->part / bytes : 1;
    return ST_OK;
}

enum status dev_sim_window(const struct dev_bound *b, const struct dev_run *r,
                           const struct sim_preset *g, struct sim_window *out, struct diags *ds)
{
    return dev_window(b, r, (uint64_t)g->l2_persist_bytes, (uint64_t)g->l2_window_bytes, out, ds);
}
