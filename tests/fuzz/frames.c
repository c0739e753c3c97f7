/* Frames of the worker protocol whose checksums hold. */
#include "tests/fuzz/frames.h"

#include "engine/base/crc.h"
#include "engine/dev/worker/wire.h"

#include <string.h>

static void put_crc(uint8_t *to, uint32_t crc)
{
    for (unsigned i = 0; i < 4; i++)
        to[i] = (uint8_t)(crc >> 8 * i);
}

void frames_mend(uint8_t *p, size_t n)
{
    while (n > WIRE_HEAD) {
        size_t left = n - WIRE_HEAD - 1, length = (p[8] | (size_t)p[9] << 8) % (left + 1);
        memcpy(p, (const uint8_t[]){ 'G', 'L', 'W', WIRE_VERSION }, 4);
        memset(p + 10, 0, 6);
        p[8] = (uint8_t)length;
        p[9] = (uint8_t)(length >> 8);
        put_crc(p + 28, base_crc32c(0, p + WIRE_HEAD, length));
        put_crc(p + 32, base_crc32c(0, p, 32));
        p[WIRE_HEAD + length] = '\n';
        p += WIRE_HEAD + length + 1;
        n -= WIRE_HEAD + length + 1;
    }
}
