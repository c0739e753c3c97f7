/* ptxas: what a program compiles by calling ptxas (XLA does) is kept, since it loads the machine code
 * alone. */
#pragma once

#include "engine/base/base.h"

/* Puts a program called ptxas into a new folder below `folder`. It runs the one that PATH has, and keeps
 * each text and the machine code made of it there, as N.ptx and N.cubin. *made: the new folder, owned;
 * NULL where PATH has no ptxas, or a path cannot be written in a script. ST_IO, ST_NOMEM. */
enum status live_ptxas_put(const char *folder, char **made, struct diags *ds);
/* The value of PATH with that folder first; owned; NULL: out of memory. */
char *live_ptxas_path(const char *made);
