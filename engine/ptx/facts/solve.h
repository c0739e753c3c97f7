/* solve: the one worklist. A problem is a number of nodes (blocks, instructions, functions), each with a
 * fact that the problem keeps. A step works out the fact of one node anew from the facts it depends on;
 * where that changes something, it asks for the nodes that depend on it. The solver calls the step for
 * every node that is asked for, until there is none.
 *
 * Order: by number, upwards or downwards, again and again; nodes that nobody asks for cost nothing.
 * Blocks and instructions are numbered as they stand in the text, so most facts are there after two or
 * three turns. The order depends on the problem alone.
 *
 * End: a fact may only grow, and only so often, H times at most. A node is asked for at the start and
 * when one of the facts it depends on has grown: with E dependences that makes nodes + H * E steps.
 *
 * Result: the least facts that no step changes, whatever the order, if a step that sees more never finds
 * less. */
#pragma once

#include "engine/base/base.h"

enum ptx_way { PTX_FORWARD /* numbers rise; successors */, PTX_BACKWARD };
struct ptx_solver {
    uint64_t *todo; /* a bit per node: it is asked for */
    uint32_t nodes;
    uint32_t left; /* how many are asked for */
    uint32_t at;   /* the node that was looked at last */
    bool all;      /* when none is left, all are asked for once more */
    enum ptx_way way;
};
typedef void ptx_step(void *ctx, struct ptx_solver *s, uint32_t node);

/* All nodes are asked for. false: out of memory */
bool ptx_solve(uint32_t nodes, enum ptx_way way, ptx_step *step, void *ctx);

/* The same in parts, for problems that begin with some nodes or come up again and again. */
bool ptx_solver_make(struct ptx_solver *s, uint32_t nodes, enum ptx_way way);
void ptx_solver_free(struct ptx_solver *s);
void ptx_solver_run(struct ptx_solver *s, ptx_step *step, void *ctx);
void ptx_ask(struct ptx_solver *s, uint32_t node);
void ptx_ask_each(struct ptx_solver *s, const uint32_t *nodes, uint32_t n);
/* What changed is seen by any node: all come once more, when those asked for are done. */
void ptx_ask_all(struct ptx_solver *s);
