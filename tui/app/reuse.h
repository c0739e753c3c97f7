/* reuse: the miss-ratio curve of one SM, traced on a thread of its own so that
 * neither the screen nor the engine waits. Started when the locality panel is
 * looked at; thrown away when kernel, launch or device change. */
#pragma once

#include "engine/base/base.h"

struct ana_curve;
struct app;

enum reuse_state { REUSE_NONE, REUSE_WORKING, REUSE_READY };
/* Starts the work when it was not. REUSE_READY: *out is the curve, valid until reuse_drop. */
enum reuse_state reuse_get(struct app *a, const struct ana_curve **out);
/* Why there is no curve, after REUSE_NONE of a launch; "" when nothing is known. */
const char *reuse_why(const struct app *a);
bool reuse_working(const struct app *a);
/* Asks the work to end and lets go of it (it frees itself). */
void reuse_drop(struct app *a);
