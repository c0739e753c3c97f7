/* result: what running one configuration came to. */
#pragma once

#include "engine/rec/energy.h"
#include "engine/rec/limits.h"
#include "engine/rec/options.h"
#include "engine/rec/result_read.h"

struct result {
    struct options options;
    enum status status; /* ST_OK or why this configuration has no time */
    char message[256];  /* reason, or a note; may be empty */
    struct timing time;
    struct counter counters[COUNTERS_MOST];
    struct output_hash outputs[RESULT_MAX_OUTPUTS];
    uint32_t noutputs;
    struct outputs_part part; /* all_ctas > 0: outputs have no hashes */
    /* simulated, by lines of the original text, those with the most sectors; 0: not counted */
    struct load_counts loads[RESULT_MAX_LOADS];
    uint32_t nloads;
    struct limits limits;
    struct energy energy;
    enum equality equal;
    /* against what a GPU left when the launch was captured; bytes that are another */
    enum equality captured;
    uint64_t captured_differ;
    /* of the code that ran; 0: unknown */
    uint32_t regs;
    char regs_from[32]; /* dev_resources.regs_from */
    uint32_t shared_static;
    uint32_t local_bytes;
    uint32_t ctas_per_sm;
    bool sampled;         /* timing from a sample of SMs, CTAs or turns of a loop */
    uint32_t timed_turns; /* of so many turns of the kernel's loop, the others like them; 0: of all */
    uint32_t loop_turns;  /* all of them */
    bool cold;            /* L2 held nothing when a launch began */
    unsigned guessed;     /* of the launch (enum launch_guess): time and counters rest on it */
    int voted;            /* elected π or agents; -1: no vote */
    int sample_voted;     /* what the sampling launch alone elected, before a run-off */
    /* not a configuration of its own: a probe on a grid of so many CTAs; 0: none */
    uint32_t probe_ctas;
};
struct result result_empty(void);
/* to its line; with no room, the line with the fewest sectors gives way */
void result_add_load(struct result *r, struct load_counts c);
