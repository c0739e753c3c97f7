/* launch_read: what of a launch most of its readers ask for; they need not see how it is laid out. */
#pragma once

#include "engine/rec/elem.h"

struct arg_spec;
struct launch_spec;

const char *launch_kernel(const struct launch_spec *l);
const char *launch_name(const struct launch_spec *l); /* NULL: it has none */
struct dim3u launch_grid(const struct launch_spec *l);
struct dim3u launch_block(const struct launch_spec *l);
struct dim3u launch_cluster(const struct launch_spec *l); /* x == 0: as the kernel says */
uint32_t launch_shared(const struct launch_spec *l);      /* dynamic shared memory, bytes */
unsigned launch_guessed(const struct launch_spec *l);     /* of enum launch_guess */
size_t launch_nargs(const struct launch_spec *l);
const struct arg_spec *launch_arg(const struct launch_spec *l, size_t i);
bool launch_has_maps(const struct launch_spec *l); /* tensor maps among its arguments */
bool launch_has_sums(const struct launch_spec *l); /* float atomics reach one of its buffers */
/* Indices of arguments, SIZE_MAX: none. Of this name (may be NULL); whose buffer args[i] uses (SAME_AS);
 * the bytes it lies inside. */
size_t launch_arg_named(const struct launch_spec *l, const char *name);
size_t launch_buffer_of(const struct launch_spec *l, size_t i);
size_t launch_outer_of(const struct launch_spec *l, size_t i);
/* args[0 .. this) are the parameters; each further one is a part of one of them */
size_t launch_params(const struct launch_spec *l);
/* it is one of `before` as well */
bool launch_runs_before(const struct launch_spec *l, struct str kernel);
/* What it points to, and l itself; NULL is fine. */
void launch_spec_drop(struct launch_spec *l);
/* What of a launch is a guess: no program and no person said it. */
enum launch_guess {
    GUESS_GRID = 1,
    GUESS_BLOCK = 2,
    GUESS_SIZES = 4,
    GUESS_SHARED = 8,
    GUESS_DATA = 16
};
/* The word of guess i, "grid" first; NULL: there are no more. */
const char *launch_guess_word(unsigned i);
/* "grid, block and data". */
void launch_guess_words(unsigned guessed, struct buf *out);
/* A line that says so of figures of such a launch, behind `head`; nothing where nothing is guessed. */
void launch_guess_line(const char *head, unsigned guessed, struct buf *out);
