/* notice: the line above the key bar (app_notice of app.h). */
#pragma once

#include "engine/base/base.h"

struct app;

/* The line stays for some seconds, an error for longer. */
void notice_until(struct app *a, enum diag_level level);
