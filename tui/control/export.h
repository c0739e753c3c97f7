/* export: the current panel as text or JSON, the plot as SVG or CSV. */
#pragma once

#include "engine/base/base.h"
#include "tui/base/request.h"

struct app;

/* Writes to path (NULL: PANEL.EXT in the current folder) and says so in the notice. */
void export_panel(struct app *a, const char *format, const char *path);
/* The file's name without a path given; false: no such format. */
bool export_name(const struct app *a, const char *format, char *name, size_t n);
/* Lines of a panel as plain text; the plot as a table. */
void export_text(struct app *a, enum panel_id p, unsigned w, struct buf *out);
