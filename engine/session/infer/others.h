/* Other launches that a kernel should bear as well as its guess: for checks. */
#pragma once

#include "engine/base/base.h"
#include "engine/rec/launch.h"

struct ana_kernel;

enum { INFER_OTHERS = 3 };
struct infer_other {
    struct launch_spec l; /* launch_spec_free */
    char what[48];        /* how it differs from the guess: "block 128x1x1", "size 1920" */
};
/* From the guess l: a size that leaves threads of the last CTA beyond the bound, buffers of that size with it; where nothing in the
 * code asks for the block, one of half and one of twice the threads. *n of them; infer_others_free. */
enum status infer_others(const struct ana_kernel *facts, const struct launch_spec *l, bool free_block,
                         struct infer_other out[INFER_OTHERS], size_t *n);
void infer_others_free(struct infer_other *o, size_t n);
