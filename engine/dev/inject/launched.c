/* A number and an image in each word, so that threads need no lock. */
#include "engine/dev/inject/launched.h"

#include "engine/dev/inject/inject.h"

static uint64_t calls[MOST_CALLS];

void launched_put(uint32_t correlation, int image)
{
    __atomic_store_n(&calls[correlation % MOST_CALLS], (uint64_t)correlation << 32 | (uint32_t)image,
                     __ATOMIC_RELAXED);
}

bool launched_image(uint32_t correlation, int *image)
{
    uint64_t c = __atomic_load_n(&calls[correlation % MOST_CALLS], __ATOMIC_RELAXED);
    *image = (int)(uint32_t)c;
    return c >> 32 == correlation;
}
