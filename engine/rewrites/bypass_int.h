/* bypass: which loads, which operator (bypass.c); which form of code (bypass_form.c). */
#pragma once

#include "engine/pass/pass_int.h"
#include "engine/rec/opt_bypass.h"

enum bypass_pick { PICK_NONE, PICK_CHOSEN, PICK_ALL }; /* which loads of one copy of the code bypass */
struct bypass {
    struct pass_ctx *c;
    enum bypass_level level;
    const char *cop, *l1;      /* what a bypassing load gets: ".cg", ".L1::no_allocate"; NULL: none */
    bool hint;                 /* L2::cache_hint with the policy register */
    const char *priority;      /* of that policy: "evict_first" ... */
    const char *keep;          /* what a caching load gets: ".ca", ".cg"; NULL: as it is written */
    bool with_nc;              /* .nc loads are this level's too: one L1 for both since Maxwell */
    struct pass_flow flow;     /* of the kernel */
    bool vote;                 /* one launch in which SMs run different thresholds */
    char policy[24], pred[24]; /* register names */
    struct strmap clones;      /* called functions that are copied */
    uint32_t nclones;
    const struct ptx_func *clone[PASS_FUNCS_MOST];
    uint32_t ndropped_nc, nleft;
    struct span first_left;
    const char *why_left;
};
/* Is this load one that the level's choice governs? */
bool bypass_governs(struct bypass *b, const struct ptx_func *f, const struct ptx_inst *i);
bool bypass_picked(struct bypass *b, const struct ptx_func *f, const struct ptx_inst *i,
                   enum bypass_pick pick);
/* The load's text, bypassing or caching; guard: "@%p " to use instead of its own, NULL: its own. */
void bypass_write(struct bypass *b, const struct ptx_inst *i, bool bypassing, const char *guard,
                  struct buf *out);
/* Clone: the statement before which the copies part (bypass_split.c). */
uint32_t bypass_split(struct bypass *b);
/* Rewrites with the form that the options ask for. */
enum status bypass_emit(struct bypass *b);

/* ---- bypass_vote.c ---- */
enum status bypass_vote_check(struct pass_ctx *c);
void bypass_vote_threshold(const struct bypass *b, struct buf *out);
/* By CTA: a grid of one CTA for each threshold, or a little more. */
void bypass_vote_grid(struct bypass *b);
void bypass_vote_begin(struct bypass *b);
void bypass_vote_leave(const struct bypass *b, const struct ptx_inst *i, struct buf *out);
void bypass_vote_end(const struct bypass *b, struct buf *out);
