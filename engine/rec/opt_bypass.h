/* opt_bypass: which loads bypass which caches, and the threshold of the warps that cache. */
#pragma once

#include "engine/rec/option_group.h"

#define BYPASS_LEVELS(X)   \
    X(BYPASS_NONE, "none") \
    X(BYPASS_L1, "l1")     \
    X(BYPASS_RO, "ro")     \
    X(BYPASS_L2, "l2")     \
    X(BYPASS_L1L2, "l1+l2")
#define BYPASS_OPS(X)                               \
    X(BYPASS_OP_CG, "cg")                           \
    X(BYPASS_OP_NO_ALLOCATE, "no_allocate")         \
    X(BYPASS_OP_CS, "cs")                           \
    X(BYPASS_OP_EVICT_LAST, "evict_last")           \
    X(BYPASS_OP_EVICT_FIRST, "evict_first")         \
    X(BYPASS_OP_EVICT_UNCHANGED, "evict_unchanged") \
    X(BYPASS_OP_CACHE_HINT, "cache_hint")
#define BYPASS_FORMS(X)                   \
    X(BYPASS_FORM_CLONE, "clone")         \
    X(BYPASS_FORM_PREDICATE, "predicate") \
    X(BYPASS_FORM_GROUPED, "grouped")     \
    X(BYPASS_FORM_VERTICAL, "vertical")   \
    X(BYPASS_FORM_HYBRID, "hybrid")       \
    X(BYPASS_FORM_HARDWARE, "hardware")
#define PI_MODES(X)            \
    X(PI_VALUE, "value")       \
    X(PI_CHA, "cha")           \
    X(PI_BPA, "bpa")           \
    X(PI_VOTE, "vote")         \
    X(PI_VOTE_CTA, "vote-cta") \
    X(PI_VOTE_SM, "vote-sm")

enum bypass_level { BYPASS_LEVELS(OPTION_VALUE) };
enum bypass_op { BYPASS_OPS(OPTION_VALUE) };
enum bypass_form { BYPASS_FORMS(OPTION_VALUE) };
enum pi_mode { PI_MODES(OPTION_VALUE) };
/* A sampling launch elects: by SM (every SM saturated, each with one threshold), or by CTA (one CTA for
 * each threshold). PI_VOTE: by SM, then a run-off of whole launches. */
#define PI_IS_VOTE(mode) ((mode) == PI_VOTE || (mode) == PI_VOTE_CTA || (mode) == PI_VOTE_SM)
#define OPT_MAX_LOADS    64

struct opt_bypass {
    int level; /* enum bypass_level */
    int op;    /* enum bypass_op */
    int form;  /* enum bypass_form */
    struct {
        int mode;  /* enum pi_mode */
        int value; /* warps of a CTA that cache, with PI_VALUE */
    } pi;
    struct {
        uint32_t line[OPT_MAX_LOADS]; /* source lines, from 1 */
        uint32_t n;
    } loads; /* of the vertical and hybrid forms */
};
#define opt_bypass(options) OPTION_GROUP_OF(options, bypass)
OPTION_GROUP(bypass);
