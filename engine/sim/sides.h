/* sides: which ways the instructions of a kernel went in functional launches: each guard true and false,
 * each branch taken and not, each select one value and the other. Launches add up. */
#pragma once

#include "engine/base/base.h"

struct exec_inst;
struct sim_program;
struct sim_sides;

struct sim_sides *sim_sides_new(void); /* NULL: out of memory */
void sim_sides_free(struct sim_sides *s);
/* A launch of the program begins; one of another program than before forgets the others. False: out of
 * memory. */
bool sim_sides_begin(struct sim_sides *s, const struct sim_program *p);
/* Instruction `at` of the program's code: in some lanes it was so, in some it was not. */
void sim_sides_note(struct sim_sides *s, uint32_t at, bool yes, bool no);
/* Does an instruction decide between two ways by a predicate besides its guard? */
bool sim_selects(const struct exec_inst *in);
/* Ways of instructions that were executed, and that no lane has gone. */
uint32_t sim_sides_unseen(const struct sim_sides *s);
/* The k-th of them as words with its line: "the else of line 41"; false: there are not so many. */
bool sim_sides_text(const struct sim_sides *s, uint32_t k, char *out, size_t n);
/* Puts what was seen aside; takes it back, so that launches since then count for nothing. */
bool sim_sides_keep(struct sim_sides *s);
void sim_sides_back(struct sim_sides *s);
