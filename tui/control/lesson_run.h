/* lesson_run: a lesson being taken: its step, its check, its strip of text. */
#pragma once

#include "engine/base/base.h"

struct app;
struct lesson;
struct page;

/* Opens a lesson file: loads it, opens its kernel and device. Mistakes are the notice. */
bool lesson_open(struct app *a, const char *path);
void lesson_close(struct app *a);
void lesson_move(struct app *a, int by);
/* Looks whether the present step's check holds; true when that changed. */
bool lesson_update(struct app *a);
/* Lesson strip: narration, task and whether it is done. Lines are added to *p. */
void view_lesson_update(struct app *a, struct page *p, unsigned w);
/* A command that writes waits for a yes; the strip above the panel shows the whole path, and a yes
 * counts only when all of it was drawn. lesson_answer: what was typed; "": no.
 */
unsigned lesson_ask(struct app *a, const char *line, const char *name, const char *args);
unsigned lesson_answer(struct app *a, const char *typed);

/* Checks: comparisons joined by "and" and "or" (and binds tighter), e.g.
 *   l1.hit_rate >= 60 and pi > 0        category == cache-congested
 * Left sides: counters of the last finished result; time_ms; speedup (cha over it); equal (1, 0); runs,
 * sweeps (since the lesson began); best.NAME (a knob at the best point of the last sweep); knobs (of the
 * current options, numbers or words); degree (percent), expected, sectors (exact per request) of the
 * kernel; category, class, kernel, device, panel, axis, metric (words); overlay (1 when a second curve
 * is shown).
 * Right sides are numbers or words, or best.NAME again. What is not known makes a comparison false. */
enum check_result { CHECK_NO, CHECK_YES, CHECK_BAD };
/* Are the panels, checks and commands of the steps understood? Diagnostics name the step. */
enum status lesson_check(const struct lesson *l, struct diags *ds);
/* CHECK_BAD: not a check; *bad (may be NULL) is the word that is wrong. CHECK_NO: unmet (may be NULL)
 * gets what the first comparison that does not hold lacks: "l1.hit_rate is 31, it should be below 20".
 */
enum check_result check_eval(const struct app *a, const char *text, struct str *bad, struct buf *unmet);
