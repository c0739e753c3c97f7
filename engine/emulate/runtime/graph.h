/* graph: nodes and instances of graphs, for the files that make and change them. */
#pragma once

#include "engine/emulate/runtime/runtime.h"

bool is_graph(const struct graph *g);
bool is_node(const struct node *n);
/* The node of the instance that was made from n; NULL: none. */
cudaGraphNode_t in_exec(cudaGraphExec_t x, cudaGraphNode_t n);
/* Puts another operation of the same kind into the node. Takes the op. */
cudaError_t put_op(cudaGraphNode_t n, struct op *op);
cudaError_t kernel_op(struct op *op, const struct cudaKernelNodeParams *p);
struct op set_op(const struct cudaMemsetParams *p);
struct op host_op_of(const struct cudaHostNodeParams *p);
/* Bytes of a variable to or from `other`. */
cudaError_t symbol_op(struct op *op, const void *symbol, size_t offset, void *other, size_t n, bool to);

/* An instance made like g; *result (may be NULL): 0, or 1 where it is not. */
cudaError_t graph_update(cudaGraphExec_t x, cudaGraph_t g, int *result);
