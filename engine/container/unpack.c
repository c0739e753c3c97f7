/* Unpacking, by the libraries that every distribution has. */
#include "engine/container/container_int.h"

#include <limits.h>
#include <lz4.h>
#include <zstd.h>

bool unpack(enum unpack_method m, const uint8_t *packed, size_t n, uint64_t size, char **out)
{
    *out = size <= INT_MAX && n <= INT_MAX ? base_alloc((size_t)size + 1) : NULL;
    if (!*out)
        return false;
    size_t got;
    if (m == UNPACK_LZ4) {
        int k = LZ4_decompress_safe((const char *)packed, *out, (int)n, (int)size);
        got = k < 0 ? SIZE_MAX : (size_t)k;
    } else {
        /* the entry may hold more than the frame */
        size_t frame = ZSTD_findFrameCompressedSize(packed, n);
        got = ZSTD_isError(frame) ? SIZE_MAX : ZSTD_decompress(*out, (size_t)size, packed, frame);
        got = ZSTD_isError(got) ? SIZE_MAX : got;
    }
    if (got <= size)
        return true;
    base_free(*out);
    *out = NULL;
    return false;
}
