/* Products of matrices for any processor. */
#pragma GCC diagnostic ignored "-Wpsabi" /* its vectors are passed to no other file */
#define DOT_LANES        4
#define DOT_INSTRUCTIONS "engine/sim/exec/tensor/dot_base.h"
#define DOT_OPS          dot_ops_base
#include "engine/sim/exec/tensor/dot_body.h"
