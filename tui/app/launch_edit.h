/* launch_edit: arguments of a launch description as a line of text and back, for
 * the launch part of the options panel.
 *
 *   buffer   f32 1048576 random 0 1 seed 3 output        scalar   s32 4096
 *   inits    fill V | iota START STEP | random LO HI | permutation | rows R NNZ |
 *            file PATH | npy PATH | hex DIGITS;   seed N, offset N, tolerance T, output */
#pragma once

#include "engine/base/base.h"

struct arg_spec;
struct dim3u;

/* Text that launch_arg_parse reads back; appended to out. */
void launch_arg_text(const struct arg_spec *g, struct buf *out);
/* Changes *g, which keeps its name; texts lie in `arena`. False: *bad (static or in text) says what is
 * wrong. */
bool launch_arg_parse(struct arg_spec *g, const char *text, struct arena *arena, const char **bad);
const char *launch_arg_help(const struct arg_spec *g);
bool launch_dim_parse(const char *s, struct dim3u *d); /* "64", "32x8", "8x8x4"; no zeros */
