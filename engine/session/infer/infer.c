/* A first launch description for a kernel that has none. What is a buffer, what an output and of what
 * type comes from the analysis; how large anything is cannot be known, so sizes are guesses, tried until
 * the kernel stays inside its buffers and writes something: a product of sizes that overflows lets no
 * thread do anything. */
#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/launch.h"
#include "engine/session/infer/infer.h"
#include "engine/session/infer/shape.h"

#include <string.h>

static unsigned guessed_of(const struct launch_spec *l, const struct infer_asked *said)
{
    unsigned sizes = 0;
    for (size_t i = 0; i < l->nargs && !said->said_n; i++)
        sizes |= l->args[i].kind == ARG_SCALAR ? GUESS_SIZES : 0;
    return GUESS_GRID | (said->said_block ? 0 : GUESS_BLOCK) | sizes | (l->shared ? GUESS_SHARED : 0) |
           (l->nargs ? GUESS_DATA : 0);
}

enum status launch_infer(const struct ana_kernel *facts, struct dev *d, struct infer_asked *asked,
                         const struct cancel *cancel, struct launch_spec *out, struct diags *ds)
{
    struct guess g = { .facts = facts, .f = facts->func, .wider = 1 };
    enum status s = ST_NOMEM;
    *out = (struct launch_spec){ 0 };
    if (asked)
        g.asked = *asked;
    g.use = base_alloc((g.f->nparams + 1) * sizeof *g.use);
    g.addresses = base_alloc((g.f->nregs + 1) * sizeof *g.addresses);
    g.bounds = base_alloc((g.f->nregs + 1) * sizeof *g.bounds);
    g.front = base_alloc((g.f->nparams + 1) * sizeof *g.front);
    if (g.bounds)
        memset(g.bounds, -1, (g.f->nregs + 1) * sizeof *g.bounds);
    if (g.use && g.addresses && g.bounds && g.front && g.f->nparams <= INFER_ARGS &&
        infer_shape(facts->module, g.f, &g.shape) && infer_fickle(&g)) {
        s = infer_uses(&g) ? infer_find(&g, d, cancel, out, ds) : ST_NOMEM;
    }
    out->guessed = guessed_of(out, &g.asked);
    if (asked)
        *asked = g.asked;
    base_free(g.use);
    base_free(g.addresses);
    base_free(g.bounds);
    base_free(g.front);
    if (s != ST_OK)
        launch_spec_free(out);
    return s;
}
