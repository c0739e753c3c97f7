/* What a guessed launch does with its threads and its memory, measured by one functional run on the
 * simulated device. */
#pragma once

#include "engine/base/base.h"
#include "engine/session/guess.h"

struct dev;
struct dev_data;
struct launch_spec;
struct sim_touch;

/* Marks of one launch whose data are bound to d. *out owned, infer_marks_free; NULL: too many threads to
 * tell. l is borrowed. */
struct infer_marks;
enum status infer_marks_make(const struct launch_spec *l, struct dev *d, struct dev_data *data,
                             struct infer_marks **out);
void infer_marks_free(struct infer_marks *m);
/* For dev_run.touch, with m as its ctx, shared memory too. */
void infer_marks_touch(void *m, const struct sim_touch *t);
/* After the launch; reached[i]: bytes of argument i up to the last that was touched, 0: none, or it is no
 * buffer; first[i]: those before the first. */
void infer_marks_read(const struct infer_marks *m, struct infer_work *out, uint64_t *reached,
                      uint64_t *first);
