/* lesson_page: a lesson as one HTML file: texts, tasks, screens, and its curves, which answer to pointer
 * and keys. No server and no network: what the page needs is in it, and its policy forbids the rest.
 * Texts of the lesson's author are data everywhere: escaped, never markup or script. */
#pragma once

#include "engine/base/base.h"
#include "engine/session/embed.h"

struct lesson;
struct lesson_step;
struct session_run;
struct surface;
struct theme;

extern const struct embed_file page_files[]; /* lesson_page.css, lesson_page.js */

void lesson_page_begin(struct buf *out, const struct lesson *l);
/* text, task: with the names of the keys put in; task NULL: none. */
void lesson_page_step(struct buf *out, const struct lesson_step *s, unsigned number, const char *text,
                      const char *task);
/* A finished sweep, run `number` of the lesson. */
void lesson_page_curve(struct buf *out, const struct session_run *r, unsigned number);
void lesson_page_screen(struct buf *out, const struct surface *s, const struct theme *theme,
                        unsigned number);
void lesson_page_step_end(struct buf *out);
void lesson_page_end(struct buf *out);
