/* as_command: the present configuration as a headless command, to be pasted into a script. */
#pragma once

#include "engine/base/base.h"

struct app;

/* A word for a shell: as it is, or in single quotes. */
void as_command_word(struct buf *b, const char *s);
/* "gpulocw run FILE ..."; the frame's. NULL: nothing is open that a command could run. */
const char *as_command(struct app *a);
/* Why it would not run the same: a launch that no file holds as it is now. NULL: it does. */
const char *as_command_lacks(struct app *a);
