/* legal: which values of the knobs with named values the kernel, the launch and
 * the device allow beside the current options, and why the others not. Worked out
 * in the background when the options panel is looked at. */
#pragma once

#include "engine/base/base.h"

struct app;

/* Why value v of knob k is not legal; NULL: it is, or nothing is known yet. Starts the work when there
 * is none for the current options. */
const char *legal_why_not(struct app *a, size_t knob, size_t value);
bool legal_working(const struct app *a);
void legal_drop(struct app *a);
