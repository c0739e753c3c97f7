/* proof: what an acceptance run on the simulated device tried, and whether the rewrite held (prove.c).
 */
#pragma once

#include "engine/base/base.h"

enum tune_level { TUNE_QUICK, TUNE_FULL };
enum tune_verdict_of {
    PROOF_NONE /* nothing can be said: message has why */,
    PROOF_HOLDS,
    PROOF_BROKEN
};
#define TUNE_LEFT_OUT 8
#define TUNE_UNSEEN   8
struct tune_proof {
    enum tune_verdict_of verdict;
    enum tune_level level;
    uint32_t orders, data_sets;
    uint32_t buffers;     /* buffers and module variables that were compared */
    bool nc_snapshot;     /* .nc loads read what was there when the launch began */
    bool uniform_checked; /* .uni was asserted */
    bool poisoned;        /* what the launch promises nothing about held other values */
    char message[320];
    char device[128]; /* simulated, beside the one that measures; empty: that one itself */
    /* written and not compared, each with its reason; more than these: the last says how many */
    char left_out[TUNE_LEFT_OUT][96];
    uint32_t nleft_out;
    /* full: ways of the kernel's guards, branches and selects that no data set has gone, and the first
     * of them in words: "the else of line 41". With any it is equal on what was tried, not proven. */
    uint32_t unseen;
    char not_seen[TUNE_UNSEEN][48];
};
/* Was all of the kernel tried that its data can choose, and did the rewrite hold? */
static inline bool tune_proof_proven(const struct tune_proof *p)
{
    return p->verdict == PROOF_HOLDS && p->level == TUNE_FULL && !p->unseen;
}
/* Is there anything to say of it? Not of one that was never asked for. */
static inline bool tune_proof_said(const struct tune_proof *p)
{
    return p->verdict != PROOF_NONE || p->message[0];
}
/* "proven (full: 3 orders, 2 data sets)", "equal (quick)", "not proven: ..." */
void tune_proof_text(const struct tune_proof *p, struct buf *out);
