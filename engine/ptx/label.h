/* label: names of PTX as people write them. */
#pragma once

#include "engine/base/base.h"

struct ptx_func;

/* "app::scale<float, 16>" for a C++ name as compilers write it into PTX; any other name as it is. */
void ptx_readable(struct str name, struct buf *out);
/* The same for a line of text, cut off where it is long; returns out. */
#define PTX_LABEL 96
const char *ptx_label(const char *name, char out[PTX_LABEL]);
/* What a parameter is called: "param_2" where a C++ function's name stands before that. */
struct str ptx_param_label(const struct ptx_func *f, uint32_t param);
