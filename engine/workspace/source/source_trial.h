/* source_trial: is an edit of the source the rewrite? Compiled where a compiler is here, and simulated. */
#pragma once

#include "engine/rec/data.h"
#include "engine/rec/launch.h"
#include "engine/workspace/source_edits.h"

struct dev;
struct session;

struct source_trial {
    struct session *session;
    const struct launch_spec *spec; /* as the session has it */
    struct launch_spec edited;      /* as the rewritten code is launched */
    struct launch_data data;
    struct dev *dev; /* NULL: not open */
};
/* On ST_OK or not: source_trial_close. A session of a GPU is tried on the nearest preset. */
enum status source_trial_open(const struct tuned_kernel *k, const char *session, struct source_trial *t,
                              struct diags *ds);
void source_trial_close(struct source_trial *t);
/* Does the original, launched with the other block, the same work as the rewrite that maps threads? Its
 * accesses are checked. */
bool source_trial_launch_alone(struct source_trial *t, const struct tuned_kernel *k);
/* Fills in h->state, and why it is no other; ST_NOMEM. */
enum status source_trial_judge(struct source_trial *t, const struct tuned_kernel *k,
                               struct source_edits *h);
