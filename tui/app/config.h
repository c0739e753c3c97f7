/* config: files under XDG_CONFIG_HOME/gpulocw (settings, key map) and history
 * under XDG_DATA_HOME/gpulocw. A missing file is no error; a bad line is a
 * located message and the rest counts. */
#pragma once

#include "engine/base/base.h"

struct app;
struct app_settings;

/* Reads settings, keys and history into a. home: for tests; NULL: from the environment. */
void config_load(struct app *a, const char *home, struct diags *ds);
void config_parse(struct app_settings *set, const char *path, struct str text, struct diags *ds);
/* Writes the settings; without a folder nothing happens. */
void config_save(struct app *a);
void config_write_keys(struct app *a);
void config_save_history(const struct app *a);
/* Path of a theme: a file as it is, else themes/NAME.theme of the config or data folder. False: none. */
bool config_theme_path(const struct app *a, const char *name, char *out, size_t n);
/* Demo kernels and lessons of the data folder, in order; into a->pick. */
void config_find_demos(struct app *a);
