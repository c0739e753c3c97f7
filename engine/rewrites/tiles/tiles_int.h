/* tiles: the tile loop of a persistent kernel (counter.c), whether what is stored can tell in which turn
 * a tile is done (turns.c), and the order of tiles (tile_order.c). */
#ifndef GPULOCW_REWRITES_TILES_INT_H
#define GPULOCW_REWRITES_TILES_INT_H

#include "engine/base/base.h"

struct pass_ctx;
struct pass_flow;
struct ptx_inst;
struct ptx_operand;

/* What an instruction has to do with the number of a tile. */
enum tile_role {
    TILE_NONE,
    TILE_COUNTS,   /* makes the next number: %ctaid.x, or a number + %nctaid.x */
    TILE_COMPARES, /* with the number of tiles */
    TILE_USES
};
/* Registers that hold %ctaid.x + n * %nctaid.x and nothing else. */
struct tile_counter {
    const struct pass_flow *fl;
    bool *counter;                    /* by register */
    bool *loop;                       /* by loop of the flow graph: a tile loop */
    uint8_t *role;                    /* by instruction: enum tile_role */
    const struct ptx_operand *total;  /* number of tiles: a number or a register */
    const struct ptx_operand *across; /* what a tile's number is divided by; NULL: nothing */
    const struct ptx_inst *divides;   /* where */
};
/* ST_REFUSED with the place: none, or not followed. tile_counter_free in any case. */
enum status tile_counter_find(struct pass_ctx *c, const struct pass_flow *fl, struct tile_counter *t);
void tile_counter_free(struct tile_counter *t);
/* This block is in a tile loop. */
bool tile_in_loop(const struct tile_counter *t, uint32_t block);
/* The counter that this instruction reads; PTX_NO_INDEX: none, or several. */
uint32_t tile_counter_read(const struct tile_counter *t, const struct ptx_inst *i);

/* Marks in out, by register, what goes on from a turn of this loop to the next, counters too. false: out
 * of memory. */
bool tile_carried(const struct tile_counter *t, uint32_t loop, bool *out);
bool tile_is_wgmma(const struct ptx_inst *i);
/* Are values that a tile stores independent of the turn and the CTA that do it, addresses and branches
 * of data? ST_REFUSED with the place: not known. */
enum status tile_turns_check(struct pass_ctx *c, const struct tile_counter *t);

#endif
