/* invariants, inside: a function of the new text beside the one of the original that it is made of. */
#pragma once

#include "engine/invariants/invariants.h"

struct ptx_cfg;
struct ptx_func;
struct ptx_inst;

enum { INV_UNDEFINED = -1, INV_CODES = 8 };
/* Which definitions reach a read of a register: instructions, INV_UNDEFINED where none has come. */
struct inv_use {
    uint32_t reg;
    uint32_t first; /* in inv_side.reaching */
    uint32_t n;
};
/* One function. */
struct inv_side {
    const struct ptx_func *f;
    const struct ptx_cfg *g;
    uint32_t *use_of;     /* by instruction: its first read in `use`; one more entry at the end */
    struct inv_use *use;  /* as far as guards tell which threads write and read */
    struct inv_use *wide; /* the same reads, whatever the guards are: more, never less */
    uint32_t nuses;
    int32_t *reaching;
    size_t nreaching, cap;
    bool large; /* too many to be followed: no uses */
};
struct inv_pair {
    const struct inv_input *in;
    struct inv_side old, now;
    uint32_t *origin;  /* by instruction of now: of old; PTX_NO_INDEX: it is new */
    uint32_t *images;  /* by instruction of old: how many have it as origin, and are reached */
    bool *replaced;    /* by instruction of old: other code stands in its place */
    bool *effect_kept; /* by instruction of old: an image has this effect */
    uint32_t *next;    /* by instruction of now: the following image of its origin; PTX_NO_INDEX */
    uint32_t *first;   /* by instruction of old: its first image */
    struct inv_seen *seen;
    struct diags *ds;
    struct {
        const char *code;
        uint32_t n;
    } told[INV_CODES]; /* how often each was said */
    bool oom;
};

/* at: of the new text; NULL: of the whole function */
void inv_broken(struct inv_pair *p, const char *code, const struct ptx_inst *at, const char *fmt, ...)
    BASE_PRINTF(4, 5);

/* defs.c. False: out of memory. */
bool inv_side_make(struct inv_side *s, const struct ptx_func *f);
void inv_side_free(struct inv_side *s);
/* Does something that others may see happen here: an access of memory that can change, a barrier, a
 * call, an exchange? */
bool inv_has_effect(const struct ptx_inst *i);
/* May it be gone where nobody reads what it gives? */
bool inv_only_reads(const struct ptx_inst *i);
/* kept.c. One that stands beside instruction k of the original and does the same has become wider. */
bool inv_is_merged(const struct inv_pair *p, uint32_t k);
/* Is instruction k of the function reached? */
bool inv_reached(const struct inv_side *s, uint32_t k);
/* match.c: the origin of each instruction by the texts alone. */
bool inv_match(const struct ptx_func *old, const struct ptx_func *now, uint32_t *origin);

/* What holds of a pair. */
void inv_check_data(struct inv_pair *p);
void inv_check_guards(struct inv_pair *p);
void inv_check_order(struct inv_pair *p);
void inv_check_kept(struct inv_pair *p);
void inv_check_groups(struct inv_pair *p);
