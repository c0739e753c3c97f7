/* traffic: which load brings how much. Before a run, each load's part of the sectors that
 * the kernel's loads ask for, by the analysis; once a run has counted them, its part of the
 * sectors that L1 did not have, and its hit rate in L1. */
#pragma once

#include "engine/base/base.h"

struct ana_access;
struct app;
struct result;

struct traffic {
    /* by this result, the one in the counters panel; NULL: by the analysis */
    const struct result *counted;
    double total; /* sectors, NaN: not known of every load */
};
struct load_traffic {
    double share /* of the total, 0..1 */, hit /* percent, in L1 */;
}; /* NaN: not known */

struct traffic traffic_of(struct app *a);
struct load_traffic traffic_load(const struct traffic *t, const struct ana_access *x);
/* The loads' accesses, most traffic first, then in text order; the frame's. *n of them. */
const uint32_t *traffic_order(struct app *a, uint32_t *n);
