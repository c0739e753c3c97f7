/* picture: a surface as an SVG image in the colours of a theme: screenshots that
 * are made from the program, not from a screen. */
#pragma once

#include "engine/base/base.h"

struct surface;
struct theme;

/* Appends a standalone SVG document; default colours are those of a dark or light ground. */
void picture_svg(const struct surface *s, const struct theme *theme, bool light, struct buf *out);
