/* copy: copies of rows and slices as operations, for the runtime's calls and the driver's. */
#pragma once

#include "engine/emulate/runtime/runtime.h"

/* One end of a copy: where it begins, what its rows and slices are apart (bytes). */
struct copy_side {
    char *p;
    size_t pitch;
    size_t slice;
};
/* width: bytes of a row; height: rows of a slice; depth: slices. */
struct op op_between(struct copy_side to, struct copy_side from, size_t width, size_t height,
                     size_t depth);
/* One slice. */
struct op op_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                  size_t height);
cudaError_t copy3d_op(struct op *op, const struct cudaMemcpy3DParms *p); /* texture.c */
