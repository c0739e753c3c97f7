/* Descriptions of tensors: the one function of the driver that programs on the runtime ask for by name. */
#include "engine/emulate/runtime/runtime.h"

#include <string.h>

enum { FOUND, NOT_FOUND };

static int encode_tiled(void *map, int type, uint32_t rank, void *address, const uint64_t *dims,
                        const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
                        int interleave, int swizzle, int l2, int fill)
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

static cudaError_t entry_point(const char *name, void **fn, int *found)
{
    bool there = name && strcmp(name, "cuTensorMapEncodeTiled") == 0;
    if (!name || !fn)
        return give(cudaErrorInvalidValue);
    *fn = there ? (void *)(uintptr_t)encode_tiled : NULL;
    if (!there)
        missing(name);
    if (found)
        *found = there ? FOUND : NOT_FOUND;
    return there || found ? cudaSuccess : give(cudaErrorSymbolNotFound);
}

EXPORT cudaError_t cudaGetDriverEntryPoint(const char *name, void **fn, unsigned long long flags,
                                           int *found)
{
    (void)flags;
    return entry_point(name, fn, found);
}

EXPORT cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **fn, unsigned version,
                                                    unsigned long long flags, int *found)
{
    (void)version, (void)flags;
    return entry_point(name, fn, found);
}
