/* The tables of sfu_unit.h. */
#include "engine/sim/exec/lanes/sfu_unit.h"

const struct sfu_part sfu_tanh_parts[11] = { { 0, 0, 41 },  { 1, 0, 40 },  { 2, 0, 39 },  { 3, 1, 39 },
                                             { 5, 1, 38 },  { 7, 2, 38 },  { 11, 2, 37 }, { 15, 2, 36 },
                                             { 19, 3, 37 }, { 27, 4, 39 }, { 43, 3, 41 } };

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
