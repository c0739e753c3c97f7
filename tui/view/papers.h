/* papers: an experiment of the papers (engine/paper), run on a thread of its own; the screen and the
 * engine go on. One at a time; its result stays until another one starts. */
#pragma once

#include "engine/base/base.h"

struct app;
struct paper_experiment;
struct paper_result;

enum papers_state { PAPERS_NONE, PAPERS_WORKING, PAPERS_READY, PAPERS_FAILED };
struct papers_now {
    const struct paper_experiment *of; /* NULL: none was started */
    enum papers_state state;
    double done;                       /* 0..1, while it works */
    const struct paper_result *result; /* when ready; valid until papers_drop or papers_start */
    const char *why;                   /* when failed */
};
struct papers_now papers_now(const struct app *a);
/* Starts it; what was under way is given up. False: no thread, or no memory. */
bool papers_working(const struct app *a);
void papers_drop(struct app *a);
