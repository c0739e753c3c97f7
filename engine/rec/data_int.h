/* Between data.c, which makes initial data, and pages.c, which knows whose their pages are. */
#pragma once

#include "engine/rec/launch_arg.h"

struct launch_buffer;

/* Elements first..first+count by the rule, at p; rules that data_in_parts denies make all of them. */
void data_make_part(const struct init_spec *in, enum elem e, uint8_t *p, uint64_t first, uint64_t count,
                    unsigned threads);
bool data_in_parts(enum init_kind k);
/* b's bytes were read from byte `at` of a file: from now on they can be again. */
enum status data_know_file(struct launch_buffer *b, const char *path, uint64_t at);
void data_forget(struct launch_buffer *b); /* how they can be made, and what was made again */
