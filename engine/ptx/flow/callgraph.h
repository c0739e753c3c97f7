/* callgraph: which functions a kernel comes to. */
#pragma once

#include "engine/base/base.h"

struct ptx_func;
struct ptx_module;

/* Functions that `from` may come to, itself first: by calls, and, where calls are indirect or addresses
 * of functions are used, those that lie in variables too. list and place hold m->nfuncs;
 * place[f->index]: where f is in the list, PTX_NO_INDEX: not reached. Returns how many. */
uint32_t ptx_reachable(const struct ptx_module *m, const struct ptx_func *from,
                       const struct ptx_func **list, uint32_t *place);
