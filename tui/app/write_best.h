/* write_best: the best of a search that goes on, as files. The engine works on the search: this is done beside it. */
#pragma once

#include "engine/base/base.h"

struct app;

/* Writes what the search has found so far to `path` (empty: FILE.tuned.ptx), and says so when it is done. False:
 * no search runs, or nothing in it has beaten the original yet. */
bool write_best(struct app *a, const char *path);
/* Tells what became of it, once. */
void write_best_tell(struct app *a);
bool write_best_working(const struct app *a);
