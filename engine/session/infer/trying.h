/* The search for a guess: what trial.c, fit.c and try.c share. */
#pragma once

#include "engine/base/base.h"
#include "engine/rec/launch.h"
#include "engine/rec/result_read.h"
#include "engine/session/infer/infer.h"
#include "engine/session/guess.h"

struct dev;
struct dev_code;

/* Instructions of warps: of one trial, of one that grows, of one whose accesses are checked, of all with
 * one kind of data; a third of them where the kernel multiplies matrices (trying.part). A GPU counts none:
 * seconds. */
#define TRIAL_INSTS   UINT64_C(3000000)
#define GROWN_INSTS   UINT64_C(6000000)
#define CHECKED_INSTS UINT64_C(12000000)
#define BLOCK_INSTS   UINT64_C(1000000) /* of one that asks whether threads of a block race */
#define ALL_INSTS     UINT64_C(36000000)
/* Words that lanes touch in a trial whose accesses are checked: each takes as long as an instruction of a warp. */
#define CHECKED_WORDS UINT64_C(4000000)
#define GPU_SECONDS   1.0

enum trial {
    TRIAL_FAILS,
    TRIAL_OUTSIDE /* of its buffers */,
    TRIAL_UNCLEAN,
    TRIAL_LATE /* no end in sight */,
    TRIAL_IDLE /* no output changes */,
    TRIAL_WORKS
};
/* What a trial looks at besides, on the simulated device: who works on what; races, and reads of what
 * nobody wrote. */
enum trial_look { LOOK_WORK = 1, LOOK_RACES = 2 };

/* A launch that ran, and what came of it. */
struct tried {
    struct launch_spec l;
    struct result *r; /* owned */
    struct infer_work work;
    bool in_part;      /* too much to run whole: work and r are those of fewer CTAs */
    bool checked_part; /* too much to check whole: its first CTAs were */
    uint64_t *reached; /* of each argument, bytes up to the last that it touches; INFER_ARGS of them */
    uint64_t *first;   /* and before the first, in the same memory */
};
struct trying {
    struct guess *g;
    struct dev *dev;
    struct dev_code *code;
    const struct cancel *cancel;
    struct diags *ds;
    bool simulated;
    uint32_t shared_static; /* bytes of a CTA that the text declares */
    struct tried now, next; /* the guess as it stands; one that may take its place */
    struct size_guess size; /* of now */
    unsigned block, trials;
    bool cut;                  /* an axis of now's grid is shorter, so that another could be tried */
    uint64_t left;             /* instructions */
    double ends;               /* the processor time of the thread that is too much */
    uint64_t most;             /* of one trial */
    uint64_t part;             /* what instructions are divided by: products of matrices take longer */
    bool outside;              /* all sizes led outside with some block */
    uint64_t room;             /* elements of a buffer; more did not help; 0: they were not tried */
    bool leaves;               /* some guess led outside */
    bool ahead;                /* pointers into the middle of buffers are tried */
    bool front;                /* and some are taken */
    uint8_t order;             /* of CTAs: enum sim_order */
    bool found_idle, may_idle; /* some guess changed no output; that counts as work */
    bool all_idle;             /* none did with one block and kind of data, whatever the size */
    struct size_guess idle;
    unsigned idle_block;
    uint32_t idle_brief;
    struct launch_spec
        fault; /* the first that ended in a fault, inside its buffers; kernel NULL: none */
    char fault_why[256];
    bool faults; /* it is what was found */
    /* the best so far of several blocks; any: there is one */
    bool any, clean;
    struct tried best;
    struct size_guess best_size;
    unsigned best_block;
    char unclean[256];
    char why[256]; /* the guess is not clean */
};

/* trial.c. Runs x->l, fills the rest of x. A guess that fails is no news: t->ds has only what ends the
 * search. look: bits of enum trial_look. */
enum status infer_trial(struct trying *t, struct tried *x, unsigned look, enum trial *how);
/* The launch that g, size and block say, tried as t->next; *how: what came of it. */
enum status infer_try_next(struct trying *t, struct size_guess size, unsigned look, enum trial *how);
/* t->next takes the place of t->now. */
void infer_take_next(struct trying *t);
uint64_t infer_outputs_hash(const struct result *r);
/* Elements of a buffer, where all together are to be made for each trial. */
uint64_t infer_most_count(const struct guess *g);
bool infer_spent(const struct trying *t);
void infer_start_clock(struct trying *t);
/* The largest share of what a launch leaves undone, 0 where it is not known. */
double infer_undone(const struct infer_work *w);
#define INFER_UNDONE 0.1 /* more than that is worth another guess */

/* fit.c. Corrects t->now, which works: CTAs and threads without work go, CTAs come until what lies between
 * the touched bytes is touched too, buffers end behind the last byte. Then t->now is checked. */
enum status infer_fit(struct trying *t, bool *clean /* no race, nothing unwritten is read */);
