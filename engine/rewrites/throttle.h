/* throttle: what its files share. */
#pragma once

#include "engine/base/base.h"

struct pass_ctx;

/* Do --maxnreg and --minctas leave what ptxas needs at least? ST_REFUSED with the number. */
enum status throttle_check_regs(struct pass_ctx *c);

/* The compiler may use what registers `ctas` CTAs of the launch's block leave on an SM, where that is
 * more than the kernel has, and neither the kernel's head nor an option says otherwise: without a word
 * it keeps to few registers, and then to few loads at a time (docs/lab/registers.md). */
void throttle_lend_regs(struct pass_ctx *c, uint32_t ctas);
