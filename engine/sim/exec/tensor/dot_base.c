/* Products of matrices for any processor. */
#pragma GCC diagnostic ignored "-Wpsabi" /* its vectors are passed to no other file */
#define DOT_OPS dot_ops_base
#include "engine/sim/exec/tensor/dot_body.h"
