/* valley_int: the points of a sweep or a search, and what may be laid over them; for the valley panel.
 */
#pragma once

#include "engine/base/base.h"
#include "tui/app/view_state.h"
#include "tui/base/plot_model.h"

struct app;
struct result;
struct session_run;

/* What is plotted of a run: a sweep's points, or the trail of a search. */
struct points {
    const struct result *v;
    size_t n;
    const char *axis;
    const struct result *bpa, *cha;
    const struct result *over; /* what gains are over; NULL: nothing */
    const char *base;          /* what that is: "cha", "the original" */
    double unit;               /* 0: x is the value; else its doublings of this */
};

bool curve_is_sweep(const struct session_run *r);
bool curve_has(const struct session_run *r);
struct points points_of(const struct app *a, const struct session_run *r);
/* The swept knob's value as text; empty: the axis is none. */
void points_text(const struct points *p, size_t i, char *out, size_t n);
/* The knob's number, or its place among the points. */
double points_number(const struct points *p, size_t i);
/* x of a point. Below the unit a doubling would never end: there x goes evenly, so that 0 has its place.
 */
double points_x(const struct points *p, size_t i);
double points_unit(const struct points *p, enum x_scale asked);
double result_ns(const struct result *r);
double points_metric(enum plot_metric m, const struct result *r, const struct result *over);
/* Are some points timed from samples of the CTAs and others from whole launches? */
bool points_mixed(const struct points *p);
bool result_wrong(const struct result *r);
/* Is point i as slow as point k, but for noise? */
bool points_within(const struct points *p, size_t i, size_t k, double significance);
/* What a curve goes over. Curves over different things have no common axis. */
const char *curve_axis(const struct session_run *r);
bool curve_same_axis(const struct session_run *x, const struct session_run *y);
/* *number: its place in the session, SIZE_MAX for one of another session. */
const struct session_run *curve_overlay(const struct app *a, size_t *number);
const char *curve_caption(struct app *a, char letter, size_t number, const struct session_run *r,
                          const struct session_run *other);
/* The one best point of a curve: what the sweep or the finished search itself names. */
size_t points_best(const struct session_run *r, const struct points *p);
