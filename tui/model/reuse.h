/* reuse: reuse distances of one SM's trace, computed on a thread of its own so
 * that neither the screen nor the engine waits. Started when the locality panel
 * is looked at; thrown away when kernel, launch or device change. */
#ifndef GPULOCW_TUI_REUSE_H
#define GPULOCW_TUI_REUSE_H

#include "tui/model/app.h"

enum reuse_state { REUSE_NONE, REUSE_WORKING, REUSE_READY };
struct reuse_result { struct model_hist hist; unsigned line_bytes; uint64_t requests; bool cut; };
/* Starts the work when it was not; REUSE_READY fills *out. */
enum reuse_state reuse_get(struct app *a, struct reuse_result *out);
bool reuse_working(const struct app *a);
/* Asks the work to end and lets go of it (it frees itself). */
void reuse_drop(struct app *a);

#endif
