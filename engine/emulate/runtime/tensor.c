/* Descriptions of tensors, as the driver and programs on the runtime ask for them. */
#include "engine/emulate/runtime/runtime.h"

#include <string.h>

EXPORT cudaError_t cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address,
                                          const uint64_t *dims, const uint64_t *strides,
                                          const uint32_t *box, const uint32_t *steps, int interleave,
                                          int swizzle, int l2, int fill)
{
    struct wire_tensor t = { .address = (uintptr_t)address,
                             .rank = rank,
                             .type = (uint32_t)type,
                             .interleave = (uint32_t)interleave,
                             .swizzle = (uint32_t)swizzle,
                             .l2 = (uint32_t)l2,
                             .nan = fill != 0 };
    struct wire_map made;
    BEGIN
    if (!map || !dims || !box || !steps || rank < 1 || rank > 5 || (rank > 1 && !strides))
        END(cudaErrorInvalidValue);
    for (uint32_t d = 0; d < rank; d++) {
        t.dims[d] = dims[d];
        t.box[d] = box[d];
        t.steps[d] = steps[d];
        t.strides[d] = d ? strides[d - 1] : 0;
    }
    if (!ask(WIRE_TENSOR, &t, sizeof t, NULL, 0, &made, sizeof made, NULL, NULL))
        END(sticky());
    if (!made.error)
        memcpy(map, made.bytes, sizeof made.bytes);
    END((cudaError_t)made.error);
}
