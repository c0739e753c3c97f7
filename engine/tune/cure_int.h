/* Parts of cure: what is asked of a limit's place. */
#pragma once

#include "engine/base/base.h"
#include "engine/rec/limits.h"

struct ana_access;
struct ana_kernel;
struct result;

struct curing {
    struct result *r;
    const struct ana_kernel *k;
    const struct limit_place *p; /* where the limit is, first of all; NULL: on no line */
    struct limit_place at;       /* what p points to, where it is none of a limit's own */
    bool whole;                  /* what it says is of the launch, and of no line */
    struct buf out;
};
#define CURE_ROWS "give a row to a warp, or to a part of one"
/* Is the access of the place? */
bool cure_here(const struct curing *c, const struct ana_access *a);
bool cure_in_global(const struct ana_access *a);
const char *cure_array(const struct ana_access *a);
/* Are neighbouring lanes further apart than the access is wide? */
bool cure_apart(const struct ana_access *a);
/* The loaded value is an element's index, not the start of a row. */
bool cure_gathers(const struct ana_access *a);
void cure_put_gather(struct curing *c, const struct ana_access *a);
/* A load (store) of the place, or of the kernel, that walks along rows, lanes apart; NULL: none does. */
const struct ana_access *cure_walking(const struct curing *c, bool anywhere, bool store);
/* Its address is one for all rounds of a loop that it is in. */
bool cure_stays(const struct ana_access *a);
/* What a loop keeps in memory though a register could have it. */
void cure_kept(struct curing *c);
/* Bytes that are on their way for nothing but where they lie. */
void cure_gather(struct curing *c);
/* Results that are waited for; a grid that does not fill the device; what keeps more warps away. */
void cure_latency(struct curing *c);
void cure_grid(struct curing *c);
/* What the warps of a small grid wait for, or more of them. */
void cure_few_warps(struct curing *c);
/* Rows of which some are longer, lanes that have nothing to do. */
void cure_imbalance(struct curing *c);
void cure_occupancy(struct curing *c);
/* Lanes that want words of one bank; that add to one place; that want different words of constant memory. */
void cure_banks(struct curing *c);
void cure_atomics(struct curing *c);
void cure_constant(struct curing *c);
/* What the instructions of the place cost, and what costs less. */
void cure_costs(struct curing *c);
/* Lanes that have nothing to do, where most of them have not. */
void cure_lanes(struct curing *c);
/* CTAs that end as soon as they have begun; of the launch. */
void cure_short(struct curing *c);
