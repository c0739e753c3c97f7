/* agents: what the files of this rewrite share. Code is written for one kernel, with names that begin
 * with the prefix of the pass. */
#pragma once

#include "engine/base/base.h"
#include "engine/rec/elem.h"

struct pass_ctx;

/* bytes from one counter to the next. Atomics take turns at a unit of 512 bytes, whichever words they
 * name there (docs/lab/micro-kernels.md): the counters of two clusters in one unit would wait for each
 * other. Of an SM's agents only as many ask as the SM holds, once. */
enum { TASKS_STEP = 512, AGENTS_STEP = 32 };
/* slot: task x, y, z, state (several: first, behind the last, -, state); best offset found; next task;
 * thread 0's cluster (first slot). Behind the slots: a bit for each cluster that a search found
 */
enum { SLOT_BEST = 16, SLOT_NEXT = 32, SLOT_HOME = 48, SLOT_BYTES = 64 };

struct agent {
    struct pass_ctx *c;
    const char *t;    /* name prefix */
    uint32_t m;       /* clusters */
    uint32_t q;       /* tasks of each, */
    uint32_t r;       /* the first r clusters have one more */
    uint32_t per_sm;  /* agents */
    uint32_t sharers; /* agents of one cluster, at most */
    bool is_short;    /* tasks, all about as long: a claim takes longer than what it shares out better */
    bool few;         /* long tasks for each agent: the last ones are shared out with care */
    bool few_search;  /* not all agents search; every cluster has an SM of its own */
    bool own;         /* nearly all tasks are run by agents of their own cluster */
    bool once;        /* as many agents as tasks, and all work: each runs one and ends */
    /* tasks claimed at once; blocks of sharers * chunk tasks in each cluster */
    uint32_t chunk, blocks;
    bool apart;        /* warps need not be at the same task */
    struct dim3u grid; /* of the tasks */
    bool prefetch, vote;
    bool one_slot;  /* called functions read it */
    uint32_t found; /* bytes from the slot to the bits of the clusters found */
    char slot[32];
};

/* agent_launch.c: tasks are claimed by cluster launch control. check: --claims launch where they cannot be.
 * by_launch: whether they are, which it says. */
bool agent_by_launch(struct pass_ctx *c);
enum status agent_launch_check(struct pass_ctx *c);
enum status agent_launch_run(struct pass_ctx *c);

/* size = number of claims there are in cluster `of`, a register's name without the prefix */
void agent_size_code(const struct agent *a, const char *of, struct buf *out);
/* ptr = the counter of cluster `of` */
void agent_counter_code(const struct agent *a, const char *of, struct buf *out);
/* Searches draw numbers (struct agent must be filled in). */
bool agent_by_number(const struct agent *a);
/* Bytes of the bits of the clusters found: a multiple of 16; 0 where searches draw no numbers. */
uint32_t agent_found_bytes(const struct agent *a);
/* Thread 0: no cluster is found yet. */
void agent_clear_found(const struct agent *a, struct buf *out);
/* All threads: which cluster has tasks left; thread 0 goes on behind it with home = that cluster. */
void agent_search_code(const struct agent *a, struct buf *out);
