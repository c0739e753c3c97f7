/* reload: the kernel is compiled anew while the workbench is open. What the user chose stays:
 * options and their undo, the launch by its name, the line of the source. What was run before
 * stays too, marked as of an earlier text, so that both curves can be laid over each other. */
#pragma once

#include "engine/base/base.h"

struct app;

/* Asks for the open PTX file again. */
unsigned reload_ask(struct app *a);
/* The engine has another module: is it the one asked for? Then the app's choices go on with it. */
bool reload_came(struct app *a);
/* The open PTX file was written: says so, or reads it again at once when it is watched (:watch on). */
void reload_written(struct app *a);
