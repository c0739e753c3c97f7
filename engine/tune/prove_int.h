/* Private to the prover: prove.c, prove_which.c. */
#pragma once

#include "engine/dev/dev.h"
#include "engine/rec/data.h"
#include "engine/rec/launch.h"
#include "engine/sim/sim.h"
#include "engine/tune/prove.h"

#define PROVER_SETS 10

/* One launch: on which data, on what machine. The first is what the others are compared with. */
struct attack {
    unsigned set;
    struct sim_hostile how;
};
/* What the original left of one buffer or variable. */
struct kept {
    struct str name;
    size_t arg;
    uint8_t *bytes;
    float *bound; /* what the order of float atomics can change in each element; NULL: not known */
    uint64_t n;
    bool written;
};
struct set {
    struct launch_spec spec; /* args are ours where it is drawn anew */
    struct launch_data data;
    const struct launch_data *use;
    bool own_data; /* data is released here */
    bool own_args; /* and spec.args */
    bool usable;
    struct dev_data *bound;
    struct kept *kept;
    size_t nkept, cap;
};
struct tune_prover {
    struct dev *dev;
    const char *path;
    struct str kernel;
    const struct launch_spec *launch;
    enum tune_level level;
    const struct cancel *cancel;
    struct dev_code *original;
    struct dev_run run;
    struct set set[PROVER_SETS]; /* the launch's own, another one, and those that went other ways */
    unsigned nsets;              /* of the last kind, from set[2] on */
    struct sim_sides *sides;     /* ways that the original's launches went */
    struct sim_sums *sums;       /* of float atomics, of the original's launch just done */
    struct result *ran;          /* of the launch made last */
    double insts;    /* instructions of warps of the original's first launch; 0: none, or not counted */
    double searched; /* the same of those on other data sets */
    bool uniform;    /* the original keeps what its .uni say */
    char unproven[320]; /* why the original proves nothing; empty: it does */
};
/* What is launched. */
struct shot {
    struct dev_code *code;
    struct str text;
    const struct dev_run *run;
};

/* ---- prove_vary.c ---- */
/* How a data set differs from the launch description's. */
struct vary {
    bool fills;     /* constants that fill whole inputs are drawn as well */
    bool less;      /* whole scalars are less by one */
    int numbers;    /* of ranges that are drawn from */
    size_t scalar;  /* the argument, counted from 1, that gets */
    uint64_t value; /* this; 0: none */
};
/* The k-th way to differ from l; false: no more. */
bool prover_vary(const struct launch_spec *l, size_t k, struct vary *v);
/* Changes the arguments of l, which are the caller's own. False: nothing changes. */
bool prover_draw(struct launch_spec *l, const struct vary *v, uint64_t seed);

/* ---- prove_launch.c ---- */
/* Into p->ran. most: of its instructions of warps; 0: as the run says. */
enum status prover_launch(struct tune_prover *p, const struct shot *s, const struct attack *a,
                          uint64_t most, struct diags *ds);
/* What the original left of `l`, the i-th of dev_left; NULL: nothing was kept. */
const struct kept *prover_kept(const struct set *s, const struct dev_left *l, size_t i);
/* Writes the first difference into text; false: there is none. */
bool prover_differs(struct tune_prover *p, struct set *s, struct dev_code *c, char *text, size_t room);
/* May the kernel of this text come to a call of that function? */
bool prover_calls(const struct tune_prover *p, struct str text, const char *name);
/* s broke under a: which part of a does it, as words that follow "differs": " with another %smid (line
 * 7: mov.u32 %r1, %smid)", " with CTAs and warps in reverse order". */
void prover_which(struct tune_prover *p, const struct shot *s, const struct attack *a, char *text,
                  size_t room);
