/* The tables of sfu.h. */
#include "engine/sim/exec/lanes/sfu.h"

#define SFU(constant, linear, square) constant,
const int32_t sfu_constant[SFU_PIECES] = {
#include "engine/sim/exec/lanes/sfu.def"
};
#undef SFU
#define SFU(constant, linear, square) linear,
const int32_t sfu_linear[SFU_PIECES] = {
#include "engine/sim/exec/lanes/sfu.def"
};
#undef SFU
#define SFU(constant, linear, square) square,
const int32_t sfu_square[SFU_PIECES] = {
#include "engine/sim/exec/lanes/sfu.def"
};
