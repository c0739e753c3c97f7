/* source_int: what the parts of the source view share. */
#pragma once

#include "engine/base/base.h"

struct ana_access;
struct app;
struct job_message;
struct ptx_func;
struct row;
struct text_lines;

/* Lists the lines to show anew: after a fold or a change of mode. */
void source_relist(struct app *a);
/* To a line, remembering where from ({back} returns). */
void source_jump(struct app *a, uint32_t line);
/* Name of register or label number k on a line; empty past the last. */
struct str source_name_on(struct str line, unsigned k);
struct str source_line_text(const struct text_lines *l, uint32_t line);
/* Original line under the cursor (of an inserted line: the one above), 0: none. */
uint32_t source_cursor_line(const struct app *a);
const struct ana_access *source_access_at(const struct app *a, uint32_t line);
/* Function whose text holds the line; NULL: none. */
const struct ptx_func *source_func_at(const struct app *a, uint32_t line);
/* Line of the definition of a register or label as seen from `line`, 0: none. */
uint32_t source_definition(const struct app *a, struct str name, uint32_t line);
/* The CUDA line that an instruction on or after this line was compiled from (.loc), with its text when
 * the file can be read. False: not told. */
bool source_cuda(struct app *a, struct row *r, uint32_t line);
/* The CUDA file `file` of the module's .file table, as it was named to the compiler or beside the PTX;
 * empty: it cannot be read. */
struct str source_cuda_text(struct app *a, uint32_t file);
/* Line n of it without the blanks around it; empty: it cannot be read, or has no such line. */
struct str source_cuda_line(struct app *a, uint32_t file, uint32_t n);
/* Fills the lines below the text: the access, or the error, of the line under the cursor. */
void source_info(struct app *a, unsigned w);
/* The engine's error about a line of the shown file, NULL: none. */
const struct job_message *source_error_at(const struct app *a, uint32_t line);
