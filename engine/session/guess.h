/* guess: a first launch description for a kernel that has none. */
#pragma once

#include "engine/rec/elem.h"

struct ana_kernel;
struct dev;
struct launch_spec;

/* What a launch does with its threads and its memory, in shares of 1. */
struct infer_work {
    bool known;           /* measured: a simulated device ran it clean */
    double idle_ctas;     /* CTAs none of whose threads touch memory */
    double idle_threads;  /* threads of the other CTAs that touch none */
    double unread;        /* bytes of inputs before the last that is used; NaN: there is no input */
    double unwritten;     /* the same of outputs */
    struct dim3u ctas;    /* the smallest grid from 0 on that has all CTAs at work */
    struct dim3u threads; /* the smallest block that has all threads at work */
    uint64_t written;     /* words of outputs */
    uint64_t touched;     /* words that lanes touch, each as often as one does */
    uint64_t shared;      /* bytes of shared memory up to the last that a CTA touches */
};
/* What the user says of a launch that is guessed; n 0, block.x 0: nothing. */
struct infer_asked {
    uint32_t n; /* what integer parameters say */
    struct dim3u block;
    /* told each launch that is tried; NULL: nobody is */
    void (*trying)(void *ctx, const struct launch_spec *l);
    void *ctx;
    /* then: */
    bool said_n, said_block;
    const char *why; /* what in the code the block comes from; NULL: it was said */
    bool runs;       /* it ran to its end, inside its buffers */
    bool clean;      /* and without a race, or a read of what nobody wrote */
    bool
        faults; /* none runs, and this one ends in a fault that is none of its sizes: not out of bounds */
    bool in_part; /* too much to run whole: its first and last CTAs ran, work is that of fewer CTAs */
    bool checked_part; /* too much to check whole: clean is of its first CTAs */
    bool free_block;   /* nothing in the code asks for its block */
    bool front; /* a pointer leads into the middle of its buffer: something in front of it is touched */
    char unclean[256]; /* why it did not; empty: it did */
    struct infer_work work;
};
/* The n launches in l and what is known of each as the document gpulocw-guess. */
void json_guess(const struct launch_spec *l, const struct infer_asked *took, size_t n, struct buf *out);
/* A first description for a kernel that has none: buffers, outputs and types from the analysis; sizes
 * are guesses, tried on `dev` until the kernel runs clean (a warning when none does). asked: NULL, or
 * what the user says; then what was taken. *out: launch_spec_free. */
enum status launch_infer(const struct ana_kernel *facts, struct dev *d, struct infer_asked *asked,
                         const struct cancel *cancel, struct launch_spec *out, struct diags *ds);
/* Row i of what a guess reads in the code; false: past the last. */
struct infer_row {
    const char *where;   /* part of the launch */
    const char *has;     /* what the code has */
    const char *becomes; /* what the guess makes of it */
};
bool infer_row(size_t i, struct infer_row *out);
