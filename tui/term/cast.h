/* cast: frames of the workbench as an asciinema recording, version 2
 * (https://docs.asciinema.org/manual/asciicast/v2/): a header, then one line a frame. */
#pragma once

#include "engine/base/base.h"
#include "tui/draw/surface.h"

struct cast {
    struct buf *out;
    struct surface shown; /* the frame before */
    double at;            /* seconds since the beginning, of the next frame */
};
void cast_begin(struct cast *c, struct buf *out, const struct surface *s, const char *title);
/* What differs from the frame before; nothing: no line. */
void cast_frame(struct cast *c, const struct surface *s, const struct theme *theme);
void cast_pause(struct cast *c, double seconds);
/* Gives the terminal back, after the last pause. */
void cast_end(struct cast *c);
