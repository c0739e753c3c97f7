/* optimized: `gpulocw optimize` of a program, run in a process of its own. */
#pragma once

#include "engine/base/base.h"

struct optimize_want {
    const char *self;    /* the program that runs it */
    const char *command; /* of the program to be optimized, as a shell takes it */
    const char *device;  /* simulated, in place of a GPU; NULL: on the GPU */
    const char *folder;  /* for launches and sessions */
    const struct cancel *cancel;
    void (*progress)(void *ctx, double done, const char *what); /* on the calling thread; may be NULL */
    void *ctx;
};
struct optimized_kernel {
    char name[256];    /* as in the source */
    char options[400]; /* recommended; empty: nothing is */
    char evidence[16]; /* of gain */
    char why[256];     /* why no more was done; empty: all was */
    double share;      /* of the time of all kernels, 0..1; NaN: not timed */
    double gain;       /* of the kernel alone; NaN: not tuned */
    uint64_t launches;
    uint64_t applied; /* launches that ran the tuned kernel */
};
struct optimized {
    struct optimized_kernel *v; /* owned */
    size_t n;
    /* ns; NaN: not known */
    double wall_ns, wall_tuned_ns; /* the whole program, start to end */
    double gpu_ns, gpu_tuned_ns;   /* its kernels; simulated, tuned: what their gains come to */
    bool cancelled;                /* it has what was found until then */
};
/* Waits for it. ST_CANCELLED; ST_DEVICE with a diagnostic: it had no result. Release in every case. */
enum status service_optimize(const struct optimize_want *w, struct optimized *out, struct diags *ds);
void optimized_free(struct optimized *o);
