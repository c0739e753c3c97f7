/* live: a program of somebody's, run unchanged with a small library injected by the CUDA driver
 * (CUDA_INJECTION64_PATH), and what that library saw. */
#pragma once

#include "engine/base/base.h"

/* Launches of one kernel that are alike. */
struct live_group {
    unsigned grid[3];  /* CTAs */
    unsigned block[3]; /* threads */
    unsigned shared;   /* dynamic, bytes */
    uint64_t launches;
    uint64_t timed;   /* of these; the others' time is taken as the mean of theirs */
    uint64_t time_ns; /* of all of them together, on the GPU; not known where timed is 0 */
};
struct live_kernel {
    char *name;        /* as in the PTX; owned */
    char *ptx_file;    /* the PTX file of a cache that its machine code belongs to; owned; NULL: none */
    const char *why;   /* why there is no PTX; NULL: there is */
    uint64_t image;    /* hash of what was loaded, where it is one ELF file or text; 0: not known */
    uint64_t launches; /* executions on the GPU, those of graphs included */
    uint64_t timed;    /* of these; the others' time is taken as the mean of theirs */
    uint64_t time_ns;  /* of all of them together, on the GPU; not known where timed is 0 */
    bool sampled;      /* some of their times are of a sample of CTAs; simulated alone */
    /* of the first launch */
    unsigned grid[3];         /* CTAs */
    unsigned block[3];        /* threads */
    unsigned shared;          /* dynamic, bytes */
    struct live_group *shape; /* all of them, as they were met; owned */
    size_t nshapes, cap_shapes;
    struct live_files *files; /* launches that were captured, most of the time first; owned */
    size_t nfiles, cap_files;
    /* its launches of other shapes: beyond want->shapes; of more bytes than were left */
    uint64_t apart, no_room;
};
/* A captured launch. */
struct launch_spec;
struct live_files {
    char *ptx, *launch;       /* names in the folder; owned; NULL: none were written */
    char *name;               /* in the launch file; owned; NULL: it is alone there */
    unsigned grid[3];         /* CTAs */
    unsigned block[3];        /* threads */
    unsigned shared;          /* dynamic, bytes */
    uint64_t key;             /* of its shape (engine/dev/inject/shape.h); 0: one launch was asked for */
    uint64_t launches;        /* of this shape; 0: not counted */
    double share;             /* of the kernel's time that launches of this shape take; NaN: not known */
    bool left_out;            /* the others hold most of the kernel's time */
    struct launch_spec *spec; /* owned; NULL: nothing was written of it */
    unsigned number;          /* of its data files */
    char *why;                /* why nothing, or not all, was captured; owned; NULL: all was */
    uint64_t nth;             /* launch of its kernel, from 1 */
    uint64_t data_bytes;      /* of the files */
    uint64_t trimmed_from;    /* bytes that were captured */
    /* the simulated device's outputs against the GPU's: bytes that are another, and the greatest
     * relative difference of floats (NaN: other bytes differ, or nothing was simulated) */
    bool simulated, close; /* close: they differ as roundings and approximations do */
    uint64_t differ;
    double relative;
    unsigned cluster[3]; /* [0] 0: none */
    bool cooperative;
    int carveout, shared_most; /* attributes of the function; -1: not set */
    /* the access-policy window of the launch or its stream; bytes 0: none */
    uint64_t window_address, window_bytes;
    double window_ratio;
};
struct live_survey {
    struct live_kernel *v; /* longest time first */
    size_t n, cap;
    uint64_t wall_ns, gpu_ns;
    uint64_t untimed;   /* launches whose time is the mean of others of their kernel and shape */
    unsigned processes; /* that used CUDA */
    unsigned cut_off;   /* of these, ended by _exit or a signal: their last half second may be missing */
    uint64_t left_out;  /* launches and images beyond what the library keeps */
    bool emulated;      /* it ran without a GPU: times, if any, and outputs are the simulated device's */
    char *refused;      /* why nothing could be recorded in one of them; owned; NULL: it could */
    int exit;           /* the program's exit status; 128 + signal */
};
/* Runs argv (ends in NULL) and waits. Its input, output and error are those of this process.
 * ST_IO: it could not be started; ST_REFUSED: another library is injected already. Free in every case.
 */
enum status live_survey_run(char *const *argv, struct live_survey *s, struct diags *ds);
void live_survey_free(struct live_survey *s);
/* Adds launches of one kernel that are alike: t's shape, launches, timed and time_ns. why: as live_kernel
 * has it, of static text. False: out of memory. */
bool live_survey_count(struct live_survey *s, struct str name, uint64_t image, const char *why,
                       const struct live_kernel *t);
/* The PTX file in Triton's cache beside machine code with this hash (as live_kernel has it); owned;
 * NULL: none, or out of memory. */
char *live_cache_ptx(uint64_t hash);
/* The same of machine code in memory, as it was loaded. */
char *live_cache_ptx_of(const void *image, size_t n);

#define LIVE_SHAPES_HOLD 0.9
/* The share of a kernel's time that what was captured of it holds; NaN: not known. */
double live_covers(const struct live_kernel *k);
/* What is captured, and how. */
struct ptx_module;
struct live_want {
    const char *const *kernel; /* parts of names, mangled or readable; none: every kernel with PTX */
    size_t nkernels;
    unsigned shapes;    /* launches of different shapes of each, at most SHAPES_MOST, that together hold
                           LIVE_SHAPES_HOLD of its time; 0: one launch, number `nth` */
    uint64_t nth;       /* from 1 */
    uint64_t max_bytes; /* most to copy for one launch, and for all of a kernel */
    const char *folder; /* where the files go; it is there */
    const char *kept;   /* what ptxas made (ptxas.h), while the program runs; NULL: nothing; set by
                           live_capture_run */
    double trim_s;      /* most seconds of the simulated run of one launch */
    /* The module of a file (PTX, a container) with a kernel of that name, for compute capability cc (0:
     * not known). From another thread, one call at a time. */
    enum status (*open)(void *ctx, const char *path, const char *kernel, unsigned cc,
                        struct ptx_module **out, struct diags *ds);
    void (*progress)(void *ctx, const char *line); /* from another thread; may be NULL */
    void *ctx;
};
/* Is a kernel of that name to be captured? */
bool live_wanted(const struct live_want *w, const char *name);
/* The same with a capture: files in want->folder, and s->v[].files. */
enum status live_capture_run(char *const *argv, const struct live_want *w, struct live_survey *s,
                             struct diags *ds);
