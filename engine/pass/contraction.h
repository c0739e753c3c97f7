/* contraction: what the compiler fuses stays as it was. */
#pragma once

#include "engine/pass/pass_int.h"

/* What runs after the passes that were asked for: first, and again while it changes something. */
extern const struct pass_row pass_contraction[2];
