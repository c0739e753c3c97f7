/* where: the lines of the user's source that a launch spends its time on, the worst first: by what a run
 * attributed, else by the traffic that the analysis expects. */
#pragma once

#include "engine/base/base.h"
#include "tui/base/theme.h"

struct ana_access;
struct app;
struct page;
struct result;

/* Sectors that a request of some accesses moves, and the fewest that would do, on average over their requests;
 * NaN: not known. */
struct sector_mean {
    double sectors;
    double least;
    double weight; /* requests */
};
/* Takes one more access; those that are no accesses to global memory do not count. From { NAN, NAN, 0 }. */
void where_mean(struct sector_mean *m, const struct ana_access *x);

struct hot_line {
    uint32_t file; /* index into the module's files; 0: the line is one of the PTX text */
    uint32_t line;
    uint32_t ptx;            /* a line of the PTX text that belongs to it */
    double share;            /* 0..1: of the issue slots, or of the sectors of all loads */
    struct sector_mean mean; /* of its loads and stores */
};
#define HOT_LINES 64u
/* Fills out[], the greatest share first; returns how many. x: a result whose limits say where its issue
 * slots went; NULL: the loads by their traffic. */
size_t where_lines(struct app *a, const struct result *r, struct hot_line out[HOT_LINES]);
/* The role of a share of the time, and of its bar. */
enum role where_heat(double share);
/* The first n of them as lines of a page of w columns. */
void where_put(struct app *a, struct page *p, const struct result *r, unsigned w, size_t n);
