/* sim_dev: private to the simulated device: what it, its code, its data and one launch under way hold. */
#pragma once

#include "engine/dev/dev_int.h"
#include "engine/dev/sim_part.h"
#include "engine/rec/result_read.h"
#include "engine/sim/preset.h"
#include "engine/sim/stats.h"

struct sim_dev {
    struct dev base;
    struct sim_preset preset;
    struct sim_mem *mem;
    unsigned threads;
    uint64_t serial;
};
/* a module variable: as loaded, after `before` */
struct sim_var {
    struct str name;
    uint8_t *first, *kept;
    uint64_t n;
    bool addresses; /* struct dev_left */
};
struct sim_helper {
    struct str kernel;
    struct sim_program *prog;
}; /* a kernel that runs before */
/* What a functional launch of all CTAs came to. */
struct sim_made {
    uint64_t data; /* serial of the data; 0: there was none */
    const struct launch_spec *launch;
    struct dim3u grid, block;
    uint32_t shared;
    struct sim_stats stats;
    struct output_hash outputs[RESULT_MAX_OUTPUTS];
    uint32_t noutputs;
};
struct sim_code {
    struct dev_code base;
    struct ptx_module *module;
    const struct ptx_func *func;
    struct sim_program *prog;
    struct sim_var *vars;
    size_t nvars;
    struct sim_helper *helpers;
    size_t nhelpers, cap;
    /* kept_for: serial of the data whose state vars[].kept is */
    uint64_t serial, kept_for;
    struct sim_made made;
};
/* holds: what device memory was last filled with; it still holds that unless a launch has stored into
 * it. */
enum sim_holds { HOLDS_UNKNOWN, HOLDS_INIT, HOLDS_KEPT };
/* after: what it holds once the `before` launches have run. kept: a copy of that, where it is HOLDS_KEPT
 * and the launch itself changes it (as it does an output, or was seen to); other buffers still hold it
 * by themselves. */
struct sim_buffer {
    uint8_t holds, after;
    bool changes;
    uint8_t *kept;
    /* of the launch data: their pages, held, are this memory's own, or somebody else's */
    bool held, taken;
    struct sim_data *of;
};
struct sim_data {
    struct dev_data base;
    struct dev_bound bound;
    struct sim_buffer *state; /* [bound.nbuffers] */
    /* bytes of the launch data that are there as they were, and changed */
    uint64_t twice;
    /* kept_for: serial of the code whose `before` launches `after` is of, 0: none */
    uint64_t serial, kept_for;
    struct sim_left left; /* of a launch that made all outputs */
    /* the last timed launch came from a sample: the next will, most likely */
    bool ran_dry;
};

/* One launch under way. */
struct sim_job {
    struct sim_dev *d;
    struct sim_code *c;
    struct sim_data *b;
    const struct dev_run *r;
    const struct cancel *cancel;
    struct diags *ds;
};

/* sim_state.c: everything as it must be when the kernel starts. */
enum status sim_job_prepare(struct sim_job *j);
/* sim_launch.c: dev_ops.launch */
enum status sim_job_launch(struct dev *d, struct dev_code *c, struct dev_data *b,
                           const struct dev_run *r, struct result *out, struct diags *ds);
