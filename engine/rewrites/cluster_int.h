/* cluster: legality and redirection (cluster.c), agents (agent.c), CTA orders (order.c). */
#pragma once

#include "engine/pass/pass.h"

struct pass_ctx;
struct ptx_func;

#define CLUSTER_TASKS  PASS_PREFIX "tasks"  /* u32 per cluster, 512 bytes apart: its next task */
#define CLUSTER_AGENTS PASS_PREFIX "agents" /* u32 per SM, 32 bytes apart: agents there */
#define CLUSTER_ORDER  PASS_PREFIX "order"  /* u32 per CTA: a custom order */
enum { CLUSTER_SM_SLOTS = 1024 };           /* %smid is taken modulo this */

/* What the order code works with: register names or immediates. */
struct order_code {
    const char *tag;
    const char *v;       /* place in the order; register, overwritten */
    const char *nx, *ny; /* grid sizes, registers or immediates */
    /* registers that get the CTA's coordinates */
    const char *x;
    const char *y;
    const char *z;
};
/* Thread-block clusters that the kernel is launched in, as far as the kernel and the launch say; 1, 1,
 * 1: none. What is renamed are they, then. */
bool cluster_threads(const struct pass_ctx *c); /* it is, or may be, launched in them */
/* Number of clusters: the option, or as many as the device's SMs hold; 0: neither is known. */
uint32_t cluster_count(const struct pass_ctx *c);
/* Scratch registers that order_decode uses. */
void order_declare(const char *tag, struct buf *out);
/* place v of the order -> coordinates (paper: cluster, section 4.1 and the digest's indexing). */
void order_decode(const struct pass_ctx *c, const struct order_code *o, struct buf *out);
/* The same in one plane. */
void order_decode_tile(const struct order_code *o, unsigned tx, unsigned ty, struct buf *out);
void order_decode_column(const struct order_code *o, struct buf *out);
/* The custom order's permutation as a module variable; checks it. */
enum status order_check(struct pass_ctx *c);
enum status order_put_table(struct pass_ctx *c);
/* %ctaid (and, under agents, %nctaid) of an instruction as what the rewrite put in registers. */
struct cluster_names {
    char ctaid[3][24];
    char clusterid[3][24]; /* empty: %clusterid stays */
    char nctaid[3][24];
    bool grid;
};
bool cluster_reads(const struct ptx_func *f);
/* Copies of called functions that read %ctaid; entry: code at their start. */
void cluster_clone_callees(struct pass_ctx *c, struct cluster_names *n, const char *entry,
                           struct strmap *clones);
void cluster_virtualise(struct pass_ctx *c, struct cluster_names *n, const struct strmap *clones);
/* Redirection of the CTA (or cluster) with these numbers, %ctaid or registers, to n's registers; t: the
 * tag. Registers <tag><letter>x, y, z as names. */
void cluster_redirect_declare(const char *t, struct buf *out);
void cluster_redirect_code(const struct pass_ctx *c, const char *const id[3],
                           const struct cluster_names *n, struct buf *out);
void cluster_name_registers(struct pass_ctx *c, char letter, char to[3][24]);
enum status agent_check(struct pass_ctx *c);
enum status agent_run(struct pass_ctx *c);
/* agent_vote.c; t: the prefix of names */
void agent_vote_declare(const char *t, struct buf *out);
void agent_vote_number(const char *t, uint32_t most, struct buf *out);
void agent_vote_count(const char *t, struct buf *out);
void agent_vote_put(struct pass_ctx *c);
/* prefetch.c: code that prefetches what the loads of a task with these coordinates will touch. */
enum status prefetch_task_code(struct pass_ctx *c, const char *const next[3], struct buf *decls,
                               struct buf *code, uint32_t *nloads);
