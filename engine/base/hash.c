/* Hashing and seeded sequences: the same numbers on every machine of one byte order. */
#include "engine/base/base.h"

#include <string.h>

/* Four lanes of 8-byte words. The rotation carries a word's top bits down to where the
 * multiplication spreads them: without it two flipped signs could cancel. */
static uint64_t mix(uint64_t h, uint64_t w)
{
    h ^= w;
    return (h << 29 | h >> 35) * 0x9E3779B97F4A7C15u;
}

static uint64_t word_at(const unsigned char *s, size_t n)
{
    uint64_t w = 0;
    memcpy(&w, s, n);
    return w;
}

uint64_t base_hash(const void *p, size_t n)
{
    const unsigned char *s = p;
    uint64_t h[4] = { 0xcbf29ce484222325u, 0x84222325cbf29ce4u, 0x9ae16a3b2f90404fu,
                      0xc949d7c7509e6557u },
             out = n;
    size_t i = 0;
    for (; n - i >= 32; i += 32)
        for (int k = 0; k < 4; k++)
            h[k] = mix(h[k], word_at(s + i + 8 * k, 8));
    for (int k = 0; i < n; i += 8, k++)
        h[k] = mix(h[k], word_at(s + i, n - i < 8 ? n - i : 8));
    for (int k = 0; k < 4; k++)
        out = mix(out, h[k]);
    return out ^ out >> 32;
}
