/* energy: see energy.h. */
#include "engine/rec/energy.h"

#include "engine/base/base.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/result_read.h"

#include <math.h>

static const struct {
    enum counter_id counter;
    double factor, picojoules;
    const char *source;
} energies[] = {
#define ENERGY(counter, factor, picojoules, source) { COUNTER_##counter, factor, picojoules, source },
#include "engine/rec/energy.def"
#undef ENERGY
};

double energy_modelled(const struct result *r)
{
    double nj = 0;
    for (size_t i = 0; i < ARRAY_LEN(energies); i++) {
        const struct counter *c = &result_counters(r)[energies[i].counter];
        if (!c->valid)
            return NAN;
        nj += c->value * energies[i].factor * energies[i].picojoules / 1000;
    }
    return nj;
}
