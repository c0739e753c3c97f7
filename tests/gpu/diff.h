/* diff: one generated program on two devices (diff_run.c), and what is left of it when the statements
 * that do not matter are gone (reduce.c). Used by diff.c, which hands ranges of seeds to processes. */
#ifndef GPULOCW_TESTS_GPU_DIFF_H
#define GPULOCW_TESTS_GPU_DIFF_H

#include "engine/dev/dev.h"
#include "engine/rec/data.h"
#include "engine/rec/launch.h"
#include "tests/ref/gen.h"

struct buf;
struct dev;
struct dev_data;
struct diags;
struct diff;
struct diff_side;
struct gen;

enum { DIFF_BATCH = 32 /* programs of one module */ };

struct diff_side {
    struct dev *dev;
    struct dev_data *data;
    uint8_t bytes[GEN_BYTES];
};
struct diff {
    struct diff_side side[2]; /* the device in question, the simulated one */
    struct gen g;
    struct diags ds;
    struct launch_spec l;
    struct arg_spec arg;
    struct launch_data data;
    char hex[2 * GEN_BYTES + 1], name[16];
    bool rows; /* seeds are numbers of rows: one operation each */
    /* the device in question is made to be wrong where a program holds these words; NULL: no */
    const char *pretend;
};

/* spec: the device in question. False: d->ds says why. */
bool diff_open(struct diff *d, const char *spec);
void diff_close(struct diff *d);
/* A module of n programs from seed `first` on becomes d->g.b; its data, those of seed `data`, are bound
 * on both devices. */
bool diff_bind(struct diff *d, unsigned long first, unsigned n, unsigned long data);
void diff_unbind(struct diff *d);
/* Kernel k of what is bound on both devices. False: one of them did not run it. *same; else *at is the
 * first byte. */
bool diff_run(struct diff *d, unsigned k, bool *same, uint64_t *at);
/* "record 3 byte 44: 00000001, simulated 00000000; also 48 300" */
void diff_describe(const struct diff *d, uint64_t at, struct buf *out);
/* Statements of the program of this seed that part the devices, without the others, and the optimisation
 * levels of the driver's compiler at which they do. Appends to out. */
void diff_reduce(struct diff *d, unsigned long seed, unsigned long data, struct buf *out);
/* From now on the driver compiles at this level of optimisation; NULL: at its own choice. */
void diff_level(const char *level);

#endif
