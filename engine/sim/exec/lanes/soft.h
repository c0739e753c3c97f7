/* soft: numbers formats and roundings that the host does not do by itself. Exact, one value at a time.
 */
#pragma once

#include "engine/ptx/ptx_table.h"

enum soft_mode { SOFT_RN, SOFT_RZ, SOFT_RM, SOFT_RP, SOFT_RNA /* ties away from zero */ };
/* A binary format of at most 64 bits: sign (unless unsigned), exponent, fraction. */
struct soft_format {
    uint8_t bits, frac;
    int16_t bias;
    bool inf;
    bool has_nan;
    bool is_unsigned;
    uint64_t max, nan; /* largest finite value and the NaN results have, as bits */
    uint8_t shift;     /* bits below the value in its register (tf32) */
};
/* NULL when t is not a float type. */
const struct soft_format *soft_format_of(enum ptx_type t);
/* Exact (f64 included). */
double soft_to_double(uint64_t v, const struct soft_format *f);
/* x is exact or rounded to odd. finite: overflow gives the largest finite value (.satfinite). */
uint64_t soft_round(double x, const struct soft_format *f, enum soft_mode mode, bool finite);
/* Rounded to odd. */
double soft_add(double a, double b);
double soft_div(double a, double b);
double soft_sqrt(double a);
double soft_from_int(uint64_t v, bool is_signed);
/* The operation in double under a rounding mode; op is '+', '*', '/', 'f' (fma) or 's' (square root). */
double soft_f64(char op, double a, double b, double c, enum soft_mode mode);
/* Rounded to an integral value. */
double soft_integral(double x, enum soft_mode mode);
