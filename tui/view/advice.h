/* advice: what the advice and the summary panel both tell. */
#pragma once

#include "engine/base/base.h"

struct app;
struct options;
struct tune_advice;

/* The fastest that has run of this text, launch and device with right outputs, against the original
 * timed in the same way: its options (the snapshot's), gain and run. Samples of the CTAs count where no
 * whole launch beat the original. NULL: nothing beat it by more than 2 %. */
const struct options *advice_best(const struct app *a, double *gain, size_t *run);
/* The first advice of the snapshot that is still to be tried, knowing whether something was faster;
 * SIZE_MAX: none. */
size_t advice_next(const struct app *a, bool better);
/* "Leave it alone" is no advice once something ran faster. */
bool advice_overtaken(const struct tune_advice *x, bool better);
/* Where the gain of x lies by recorded runs; the frame's. brief: without how often it holds. NULL: it
 * was tried, or too little is recorded. */
const char *advice_expected(struct app *a, const struct tune_advice *x, bool brief);
/* Takes the options of advice i and runs them. */
void advice_run(struct app *a, size_t i);
