/* shape: which launches of a kernel are alike for who captures and tunes them: the same grid, block and dynamic shared
 * memory, and integer arguments of like size. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SHAPES_MOST = 8 }; /* captured of one kernel */

/* FNV-1a over what tells shapes apart; begins with one of grid, block and shared memory. */
static inline uint64_t shape_add(uint64_t key, uint64_t v)
{
    for (unsigned i = 0; i < 64; i += 8)
        key = (key ^ (v >> i & 255)) * 0x100000001b3ull;
    return key;
}

static inline uint64_t shape_key(const unsigned grid[3], const unsigned block[3], unsigned shared)
{
    uint64_t key = 0xcbf29ce484222325ull;
    for (int i = 0; i < 3; i++)
        key = shape_add(shape_add(key, grid[i]), block[i]);
    return shape_add(key, shared);
}

/* An argument: integers are alike within a factor of two, so that a counter of rounds makes few shapes. Pointers,
 * structures and what is a float say nothing. */
static inline uint64_t shape_argument(uint64_t key, const void *p, size_t n, int is_float)
{
    uint64_t v = 0, bits = 0;
    if (is_float || (n != 1 && n != 2 && n != 4 && n != 8))
        return shape_add(key, 0);
    memcpy(&v, p, n);
    if (n == 4 && v >> 31)
        v = (uint64_t) - (int64_t)(int32_t)v;
    for (; v && !(v >> 32); v >>= 1)
        bits++;
    return shape_add(key, v >> 32 ? 0 : bits);
}
