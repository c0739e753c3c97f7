/* throttle: what its files share. */
#ifndef GPULOCW_REWRITES_THROTTLE_H
#define GPULOCW_REWRITES_THROTTLE_H

#include "engine/base/base.h"

struct pass_ctx;

/* Do --maxnreg and --minctas leave what ptxas needs at least? ST_REFUSED with the number. */
enum status throttle_check_regs(struct pass_ctx *c);

#endif
