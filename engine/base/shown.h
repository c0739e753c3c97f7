/* Text of files as people may see it: no byte of a file steers a terminal, a browser or a reader's eye.
 *
 * One '?' stands for each control character (C0 but for newline and tab, DEL, C1), each character that
 * turns or hides the direction of writing (U+061C, U+200B..U+200F, U+2028..U+202E, U+2060..U+206F,
 * U+FEFF), each that XML does not allow, and each byte that is not UTF-8. A carriage return before a
 * newline is left out.
 *
 * One place for each kind of output: cmd_put (engine/cmd/output.c) for standard output, diags_print
 * (engine/base/diag.c) for diagnostics, surface_put (tui/draw/surface.c) for the screen, print
 * (tui/term/plain.c) for the line mode. Reports and exports go through it once more as whole pages.
 * buf_json (engine/base/text.c) escapes instead. */
#pragma once

#include "engine/base/base.h"

/* May this code point be shown as it is? Newline and tab may not: who draws decides about them. */
bool shown_point(uint32_t cp);
/* Bytes of the character at s (n > 0 left), *cp its code point; bytes that are not UTF-8: 1, and *cp is
 * UINT32_MAX. */
size_t shown_next(const char *s, size_t n, uint32_t *cp);
void buf_shown(struct buf *b, struct str s);
/* The whole of b made so from byte `from` on. */
void buf_show_from(struct buf *b, size_t from);
