/* prove: an acceptance run that tries to break a rewrite, on a simulated device of this process.
 *
 *   quick   one hostile launch of each: .nc loads read what was there when the launch began, .uni and
 *           aligned barriers are asserted, and every buffer and module variable that is written is
 *           compared, marked output or not
 *   full    beside it two more orders of CTAs and warps with other special registers and memory that is
 *           not zero, and a second data set drawn from the same launch description
 *
 * The original takes the same launches first. Where it does not agree with itself nothing can be proven,
 * and that is said. */
#pragma once

#include "engine/tune/proof.h"

struct dev;
struct dev_run;
struct launch_data;
struct launch_spec;

/* What is launched: a text, and how (run.launch is not looked at). Borrowed. */
struct tune_text {
    struct str text;
    const struct dev_run *run;
};
struct tune_prover;
/* dev: simulated, of this process; `data` of `l` is bound to it. All borrowed until
 * tune_prover_close. ST_REFUSED: dev cannot. */
enum status tune_prover_open(struct dev *d, const char *path, const struct launch_spec *l,
                             const struct launch_data *data, const struct tune_text *original,
                             enum tune_level level, const struct cancel *cancel,
                             struct tune_prover **out, struct diags *ds);
/* Fills *out whatever the outcome is. ST_OK, ST_CANCELLED, ST_NOMEM or what binding and loading say. */
enum status tune_prover_check(struct tune_prover *p, const struct tune_text *rewritten,
                              struct tune_proof *out, struct diags *ds);
void tune_prover_close(struct tune_prover *p);
