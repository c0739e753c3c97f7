/* search: a search of the best configuration while it goes on, and what the
 * cost model says before anything runs; parts of other panels. */
#pragma once

struct app;
struct options;
struct page;
struct session_run;
struct tune_live;

/* The state of the search that belongs to this run, NULL: none is known (a session from a file). */
const struct tune_live *search_of(const struct app *a, const struct session_run *run);
/* Below the plot of its trail: best, next and why, progress. */
void search_lines(struct app *a, struct page *p, const struct tune_live *l, unsigned w, unsigned h);
/* The whole of it, what comes next and what was tried, as lines whose items search_options knows. */
void search_table(struct app *a, struct page *p, unsigned w);
/* Options behind an item of search_table; NULL: none. */
const struct options *search_options(const struct app *a, long item);
/* Why a configuration of the trail was tried; NULL: not known. */
const char *search_why(const struct tune_live *l, const struct options *o);

void cost_brief(struct app *a, struct page *p, unsigned w); /* one line or two */
void cost_full(struct app *a, struct page *p, unsigned w);  /* both figures with their parts */
