/* What the interpreter's float files share. */
#ifndef GPULOCW_TESTS_INTERP_FLOAT_H
#define GPULOCW_TESTS_INTERP_FLOAT_H

#include "tests/ref/interp.h"

struct interp_op;
struct ptx_inst;

/* 113 bits of significand */
#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 quad;
#else
typedef long double quad;
#endif

/* interp_float.c */
float interp_f32(uint64_t bits);
int interp_rounding(const struct ptx_inst *i); /* as for fesetround */

/* interp_narrow.c. The value of one f16 or bf16; an operation on types of them; a conversion of x (of
 * packed types: of o's sources) to a narrow type. False: not such a type or operation. */
double interp_narrow_value(uint64_t v, enum ptx_type t);
bool interp_narrow(struct interp_op *o);
bool interp_to_narrow(struct interp_op *o, long double x);

#endif
