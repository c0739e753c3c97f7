/* category: categories of a threshold curve by stated numeric rules, and correlations. */
#pragma once

#include "engine/base/base.h"

/* ---- curves: categories by stated numeric rules (docs/concepts.md) ---- */
#define MODEL_CATEGORIES(X)                   \
    X(BYPASS_FAVOURITE, "bypass-favourite")   \
    X(CACHE_FAVOURITE, "cache-favourite")     \
    X(CACHE_CONGESTED, "cache-congested")     \
    X(CACHE_INSENSITIVE, "cache-insensitive") \
    X(IRREGULAR, "irregular")
enum model_category {
#define X(n, text) CATEGORY_##n,
    MODEL_CATEGORIES(X)
#undef X
};
const char *model_category_name(enum model_category c);
/* low..high: the noise band (equal to time when exact) */
struct model_point {
    double x;    /* place on the axis */
    double time; /* nanosecond */
    double low;  /* nanosecond, least of the noise */
    double high; /* nanosecond, most of it */
};
struct model_curve {
    enum model_category category;
    const char *sensitivity; /* CI MCS HCS; static text */
    /* fastest point; within noise of it, an end wins: bpa first, then cha */
    size_t best;
    size_t peak; /* fastest point (the cache peak) */
    /* slowest point after the peak; == peak when nothing follows or nothing is slower */
    size_t valley;
    /* first point of the closing run within noise of the last (the memory plateau) */
    size_t plateau;
    double significance; /* relative difference that counts, from the noise bands */
};
/* Points in rising x: first is bpa (π=0), last is cha (π=W). n == 0 gives cache-insensitive. */
struct model_curve model_categorise(const struct model_point *p, size_t n);
