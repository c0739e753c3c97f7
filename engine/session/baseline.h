/* baseline: the one original that gains of a session's runs are over. A time that rests on more takes the
 * place of one that rests on less, for every run of the same text, kernel, launch and device. */
#pragma once

#include "engine/rec/elem.h"

struct result;
struct session_run;

/* What a run is a run of. */
struct run_subject {
    bool earlier;        /* of a text before the present one */
    const char *kernel;  /* NULL: any */
    const char *device;  /* dev_info.spec; NULL: any */
    bool has_launch;     /* false: any */
    uint64_t launch_key; /* 0: not recorded, then grid and block decide */
    struct dim3u grid;
    struct dim3u block;
};
struct run_subject run_subject_of(const struct session_run *r);
/* Why a run is not of that subject: "other kernel" and the like. NULL: it is. */
const char *run_other(const struct session_run *r, const struct run_subject *s);
bool run_alike(const struct session_run *x, const struct session_run *y);

/* Was L2 empty when its launches began? */
bool run_cold(const struct session_run *r);
/* Who said how many registers its kernel has (result.regs_from); "": nobody, or nothing ran. */
const char *run_regs_from(const struct session_run *r);
/* The original as this run timed it: on the evidence of `like`, or (NULL) on the best that it has. NULL: it
 * did not, or is deleted. */
const struct result *run_original(const struct session_run *r, const struct result *like);
/* What gains of `r` are over: the original by the best evidence that any of the n runs (some may be NULL)
 * or `r` has; its own where others have no better, else the latest. A sweep of which no original ran has
 * its own cha. NULL: there is none. */
const struct result *run_baseline(const struct session_run *const *runs, size_t n,
                                  const struct session_run *r);
/* The same where the best of the others is known (NULL: there is none). */
const struct result *run_baseline_of(const struct session_run *r, const struct result *others);
/* What x, a result of `r`, gains over it: by x's own time, or, where that rests on less, by the time of
 * the same configuration that rests on as much. NaN: there is no such time. */
double run_gain(const struct session_run *const *runs, size_t n, const struct session_run *r,
                const struct result *x);

/* What a sweep came to, in a sentence; where its baseline is better evidence than its own times, that. */
void run_verdict(const struct session_run *const *runs, size_t n, const struct session_run *r,
                 struct buf *out);

/* The originals alone, a run for each text, kernel, launch and device: for who goes through the runs of a
 * session one by one. Owned: run_originals_free. */
struct run_originals {
    const struct session_run **run;
    size_t n, cap;
};
bool run_originals_add(struct run_originals *o, const struct session_run *r); /* false: out of memory */
void run_originals_free(struct run_originals *o);
