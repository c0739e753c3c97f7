/* cure: what to write in the source against a limit, by what the analysis knows of the lines it is on. */
#pragma once

#include "engine/base/base.h"

struct ana_kernel;
struct result;

/* Fills r->limits.edit, the heaviest limits first; nothing where the analysis does not tell. */
void cure_limits(struct result *r, const struct ana_kernel *k);
/* r->message, where it is empty: launch bounds that take all registers of an SM; threads of the launch that
 * have nothing to do. */
void cure_note(struct result *r, const struct ana_kernel *k, uint32_t regs_per_sm);
