/* guess: a launch for a kernel that has none. The engine guesses; what no code tells, the user is asked:
 * how large the problem is, and how many threads a block has. The prompt holds the guess. */
#pragma once

#include "engine/base/base.h"

struct app;
struct job;
struct job_snapshot;

/* Starts a guess; `then`: what is posted once the questions are answered, or NULL. */
void guess_start(struct app *a, const struct job *then);
/* A snapshot came: asks when the guess is there, and gives up when it failed. */
void guess_came(struct app *a, const struct job_snapshot *old);
/* An answer at the prompt; false: the question was dropped, and the rest stays as guessed. */
void guess_answer(struct app *a, const char *text, bool given);
