/* closed_form: exact request counts without running anything.
 *
 * For a fixed warp of the CTA the address of a lane is
 *     lane(l) + c + sum_i coef_i * v_i ,   v_i = ctaid.x, .y, .z and loop iterations,
 * and the request depends on the v only through their sum modulo 128 and the
 * active lanes. The space of the v is cut in half along a dimension until every
 * condition (guards, loop ends) is decided for all lanes on the whole piece;
 * then the number of points for each residue follows from the ranges alone.
 * The cost does not depend on the launch size, only on how long the boundary of
 * the active region is. */
#pragma once

#include "engine/analysis/closed_form_cases.h"

struct tally;

/* Adds the access's requests over the whole launch to *t. *why (static or arena text) says what
 * was not linear. */
enum closed_form_result closed_form_count(struct env *v, const struct eval_access *a, struct tally *t,
                                          const char **why);
/* The same as if every lane of a warp ran the access, whatever guards and branches say (paper: coalesce,
 * whose profile is static); where that has no closed form, a few CTAs and first iterations. Not
 * CLOSED_FORM_DONE: the address has no value without running the kernel. */
enum closed_form_result closed_form_every_lane(struct env *v, const struct eval_access *a,
                                               struct tally *t);
/* Without a launch: a few CTAs and first iterations, unknown conditions taken as true (every_lane: all).
 * False: the address has no value there (it depends on loaded data). */
bool closed_form_sample(struct env *v, const struct eval_access *a, bool every_lane, struct tally *t);
/* Without a launch: where the threads of one CTA access first (all loops at their start). Appends at
 * most env_threads(v) addresses to addr from *n on. False as above. */
bool closed_form_first(struct env *v, const struct eval_access *a, const uint32_t cta[3], uint64_t *addr,
                       uint32_t *n);
