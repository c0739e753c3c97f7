/* energy: what one launch takes. */
#pragma once

#include "engine/base/base.h"

struct result;

/* As a GPU's counter measured it. */
struct energy {
    double nj;         /* of a launch; NaN: n/a */
    double step;       /* of the counter, over the difference that was read; NaN: n/a */
    uint64_t launches; /* the mean of */
    char why[96];      /* n/a: why */
};
/* The device was asked. */
static inline bool energy_asked(const struct energy *e)
{
    return e->launches || e->why[0];
}
/* Nanojoules from stated energies of each access (energy.def); NaN: a counter is missing. */
double energy_modelled(const struct result *r);
