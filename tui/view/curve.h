/* curve: the parts of the locality panel that come from one SM's trace: the
 * miss-ratio curve and the footprint of each array. */
#pragma once

#include "engine/base/base.h"

struct app;
struct plot;

void curve_lines(struct app *a, unsigned w); /* below the plot */
void curve_arrays(struct app *a, unsigned w);
/* false: another part is in front, or there is no curve */
bool curve_plot(struct app *a, struct plot *p);
void curve_csv(struct app *a, struct buf *out);
unsigned curve_cursor(struct app *a, int by); /* enum ui_effect bits */
unsigned curve_load(struct app *a, int by);
