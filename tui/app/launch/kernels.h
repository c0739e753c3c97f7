/* kernels: the kernels of the open file, to choose from. */
#pragma once

#include <stdbool.h>

struct app;

/* Fills a->over. */
void view_kernels_update(struct app *a, unsigned w);
unsigned view_kernels_open(struct app *a);
unsigned view_kernels_pick(struct app *a); /* the one under the cursor is opened */
/* Opens the list when a program was opened that has several kernels, or PTX with several and no launch.
 * True: it did. */
bool view_kernels_offer(struct app *a);
