/* Private to optimize: its kernels, its steps, what it prints. */
#ifndef GPULOCW_CMD_OPTIMIZE_OPTIMIZE_H
#define GPULOCW_CMD_OPTIMIZE_OPTIMIZE_H

#include "engine/base/base.h"
#include "engine/rec/equality.h"

#include <cjson/cJSON.h>

struct args;

#define OPTIMIZE_KERNELS 64u
struct optimized {
    char *name;     /* in the PTX; owned, as all texts here */
    char *readable; /* in the source */
    char *why;      /* why nothing of it, or no more, was done; NULL: all was */
    char *file;     /* PTX that was captured; NULL: it was not */
    char *launch;   /* its description */
    char *session;  /* of its search */
    char *options;  /* recommended; NULL: nothing is */
    char *evidence; /* of gain */
    double share;   /* of the time of all kernels, 0..1; NaN: not timed */
    double gain;    /* of the kernel alone; NaN: not tuned */
    uint64_t launches;
    uint64_t applied; /* launches that ran the tuned kernel */
    uint64_t graphs;  /* launches in graphs, which nothing verifies */
    enum equality equal;
    bool ptx;
    bool chosen;
    bool captured;
    bool tuned; /* something is recommended */
    bool lost;  /* it was put into the program, and taken out again */
};
struct optimize {
    struct args *a;
    const char *dir;
    struct optimized v[OPTIMIZE_KERNELS];
    size_t n;
    double wall_ns, wall_tuned_ns; /* NaN: not known */
    double gpu_ns, gpu_tuned_ns;
    unsigned turns; /* runs that each wall time is the median of; 0: one */
    double spread;  /* by which they differ, of the least */
    enum equality output_same;
    struct buf printed[2]; /* what the unchanged program printed, twice */
    struct buf said;       /* the error of the last step */
    int exit;              /* the program's */
    struct diags *ds;
};

/* Runs a command of this program on the program that is optimized (words end with NULL; a tuning has none).
 * printed: what the program prints goes there, NULL: it runs none. *doc: the document; owned. Not ST_OK: it has
 * none, and o->said says why. */
enum status optimize_step(struct optimize *o, const char *const *word, struct buf *printed, cJSON **doc);
/* NULL: there is none of this name in the PTX. */
struct optimized *optimize_named(struct optimize *o, const char *name);
/* whole.c: times the program unchanged and with these sessions (NULL at the end) put in, by turns, into wall_ns,
 * wall_tuned_ns and gpu_tuned_ns, which stay as they are where a run fails; kernels say how many launches took them. */
void optimize_whole(struct optimize *o, const char *const *sessions);
/* The document, or a table on standard error; what the program printed before it. */
void optimize_put(struct optimize *o);

#endif
