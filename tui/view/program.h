/* program: what the program panel does beside listing kernels. */
#pragma once

#include "engine/base/base.h"

struct app;

/* Starts `optimize` of this command line; emulated: on the simulated device. False: it cannot be started. */
bool program_optimize_start(struct app *a, const char *command, bool emulated);
bool program_optimize_busy(const struct app *a);
bool program_optimize_stop(struct app *a); /* false: none runs */
/* Its progress, or what came of it, below the panel's list of w columns; nothing before the first. */
void program_optimize_put(struct app *a, unsigned w);
