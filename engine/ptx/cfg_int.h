/* cfg_int: what cfg.c, loop.c and refs.c share. */
#ifndef GPULOCW_PTX_CFG_INT_H
#define GPULOCW_PTX_CFG_INT_H

#include "engine/ptx/ptx.h"

struct cfg_exits { uint32_t *v, n; bool *is; };    /* blocks with an edge to the virtual exit */
bool cfg_make_loops(struct ptx_cfg *c);
bool cfg_make_refs(struct ptx_cfg *c);

#endif
