/* tiles: the tile loop of a persistent kernel (counter.c, derived.c, carried.c), and whether what is
 * stored can tell in which turn a tile is done (turns.c). For the order of tiles (tile_order.c). */
#pragma once

#include "engine/base/base.h"

struct pass_ctx;
struct pass_flow;
struct ptx_inst;
struct ptx_operand;

/* What an instruction has to do with the number of a tile. */
enum tile_role {
    TILE_NONE,
    TILE_COUNTS,   /* makes a counter, or a derived register: its first value, or the next */
    TILE_COMPARES, /* a counter with the number of tiles */
    TILE_USES      /* reads one of both */
};
struct tile_counter {
    const struct pass_flow *fl;
    bool *counter;                    /* by register: it holds %ctaid.x + n * %nctaid.x, n the turn */
    int64_t *scale;                   /* by register: it goes on by this for each number that the counter
                                       * goes on by (derived.c); 0: it does not */
    bool *carried;                    /* by register: it goes on from turn to turn otherwise */
    bool *loop;                       /* by loop of the flow graph: a tile loop */
    uint32_t *current;                /* by tile loop: the counter that its turns go by */
    uint8_t *role;                    /* by instruction: enum tile_role */
    const struct ptx_operand *total;  /* number of tiles: a number or a register */
    const struct ptx_operand *across; /* what a tile's number is divided by; NULL: nothing */
    const struct ptx_inst *divides;   /* where */
};
/* ST_REFUSED with the place: none, or not followed. tile_counter_free in any case. */
enum status tile_counter_find(struct pass_ctx *c, const struct pass_flow *fl, struct tile_counter *t);
void tile_counter_free(struct tile_counter *t);
/* The innermost tile loop around this block; PTX_NO_INDEX: none. */
uint32_t tile_loop_of(const struct tile_counter *t, uint32_t block);
/* The counter that this instruction reads; PTX_NO_INDEX: none. several: more than one. */
uint32_t tile_counter_read(const struct tile_counter *t, const struct ptx_inst *i, bool *several);
/* %nctaid.x: the grid's size as a number, or a register that holds nothing else. */
bool tile_is_step(const struct pass_ctx *c, const struct pass_flow *fl, const struct ptx_operand *o);
/* derived.c: fills t->scale; the counters and loops are known. */
void tile_find_derived(const struct pass_ctx *c, struct tile_counter *t);
/* Marks in out, by register, what goes on from a turn of this loop to the next, counters too. false: out
 * of memory. */
bool tile_carried(const struct tile_counter *t, uint32_t loop, bool *out);
bool tile_is_wgmma(const struct ptx_inst *i);
/* Are values that a tile stores independent of the turn and the CTA that do it, addresses and branches
 * of data? ST_REFUSED with the place: not known. */
enum status tile_turns_check(struct pass_ctx *c, const struct tile_counter *t);
