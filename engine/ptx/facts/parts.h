/* parts: the strongly connected parts of a graph: nodes that all reach each other. */
#pragma once

#include "engine/base/base.h"

/* The next node that `node` leads to, from its *at-th on, which is moved on; PTX_NO_INDEX: no more. */
typedef uint32_t ptx_next(void *ctx, uint32_t node, uint32_t *at);
/* part: by node, numbered so that a part comes after those it leads to. Nodes whose part is PTX_NO_INDEX
 * at first are not looked at, and `next` does not name them. *n: how many parts there are. false: out of
 * memory */
bool ptx_parts(uint32_t nodes, ptx_next *next, void *ctx, uint32_t *part, uint32_t *n);
