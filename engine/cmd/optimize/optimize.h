/* Private to optimize: its kernels, its steps, what it prints. */
#pragma once

#include "engine/base/base.h"
#include "engine/dev/inject/shape.h"
#include "engine/rec/equality.h"

#include <cjson/cJSON.h>

struct args;

#define OPTIMIZE_KERNELS 64u
#define OPTIMIZE_PUT     64u /* that apply puts into a program at most */
/* A launch of a kernel that was captured, and all that are like it. */
struct optimized_shape {
    char *name;    /* in the launch description; NULL: there is one alone */
    char *session; /* with what is put in; NULL: nothing is */
    char *options;
    char *why;         /* why nothing is; NULL: something is, or nothing was found */
    unsigned grid[3];  /* CTAs */
    unsigned block[3]; /* threads */
    unsigned shared;   /* dynamic, bytes */
    double share;      /* of its kernel's time; NaN: not known */
    double gain;       /* of what is put in, alone; NaN: nothing is */
    uint64_t launches; /* in the program with what was put in */
    uint64_t applied;  /* of these, with the tuned kernel */
    uint64_t graphs;   /* in graphs, which nothing verifies */
    enum equality equal;
    bool lost; /* it was put into the program, and taken out again */
};
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
    double covers;  /* of its time: the launches that were captured; NaN: not known */
    uint64_t launches;
    struct optimized_shape shape[SHAPES_MOST]; /* that with the most time first */
    size_t nshapes;
    bool several; /* shapes, as the survey saw it */
    bool ptx;
    bool chosen;
    bool captured;
    bool tuned; /* something is recommended */
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

/* ---- launches of several shapes (shapes.c) ---- */
/* Those of the document of capture. */
void optimize_captured(struct optimized *x, const cJSON *files);
/* After the search, with its document: what each shape gets. What loses on a launch that the program cannot be told
 * apart from another by is not put in. */
enum status optimize_choose(struct optimize *o, struct optimized *x, const cJSON *found);
/* Some shape gets something, that it has not lost. */
bool optimize_stands(const struct optimized *x);
bool optimize_shape_stands(const struct optimized_shape *s);
/* Launches with the tuned kernel, of all shapes that have it. */
uint64_t optimize_applied(const struct optimized *x);
enum equality optimize_equal(const struct optimized *x);
/* What a row of the document of apply is of; *x: its kernel. NULL: nothing of ours. */
struct optimized_shape *optimize_row(struct optimize *o, const cJSON *row, struct optimized **x);
void optimize_shapes_free(struct optimized *x);
/* whole.c: times the program unchanged and with these sessions (NULL at the end) put in, by turns, into wall_ns,
 * wall_tuned_ns and gpu_tuned_ns, which stay as they are where a run fails; kernels say how many launches took them. */
void optimize_whole(struct optimize *o, const char *const *sessions);
/* The document, or a table on standard error; what the program printed before it. */
void optimize_put(struct optimize *o);
