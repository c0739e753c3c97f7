/* contraction: what the compiler fuses stays as it was. */
#ifndef GPULOCW_PASS_CONTRACTION_H
#define GPULOCW_PASS_CONTRACTION_H

#include "engine/pass/pass_int.h"

/* What runs after the passes that were asked for: first, and again while it changes something. */
extern const struct pass_row pass_contraction[2];

#endif
