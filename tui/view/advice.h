/* advice: what the advice and the summary panel both tell. */
#ifndef GPULOCW_TUI_VIEW_ADVICE_H
#define GPULOCW_TUI_VIEW_ADVICE_H

#include "engine/base/base.h"
#include "engine/rec/options.h"

struct app;

/* The fastest that has run of this text, launch and device with right outputs, against the original
 * timed in the same way: its options, gain and run. Samples of the CTAs count where no whole launch beat
 * the original. False: nothing beat it by more than 2 %. */
bool advice_best(const struct app *a, struct options *o, double *gain, size_t *run);
/* The first advice of the snapshot that is still to be tried, knowing whether something was faster;
 * SIZE_MAX: none. */
size_t advice_next(const struct app *a, bool better);
/* Takes the options of advice i and runs them. */
void advice_run(struct app *a, size_t i);

#endif
