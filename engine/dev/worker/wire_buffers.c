/* Initial data of a launch as part of a frame. */
#include "engine/base/base.h"
#include "engine/dev/worker/wire.h"
#include "engine/rec/data.h"

enum launch_source wire_source_of(const struct launch_buffer *b)
{
    return b->rule ? LAUNCH_RULE : b->zero ? LAUNCH_ZERO : LAUNCH_BYTES;
}

void wire_put_sizes(struct buf *b, const struct launch_buffer *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        wire_u64(b, v ? v[i].n : 0);
        wire_u32(b, v ? wire_source_of(&v[i]) : LAUNCH_BYTES);
    }
}

enum status wire_put_bytes(struct buf *out, const struct launch_buffer *v, uint64_t at, uint64_t n,
                           struct diags *ds)
{
    const uint8_t *whole = launch_buffer_whole(v);
    uint8_t *part = whole ? NULL : base_alloc(n);
    enum status st = whole ? ST_OK : part ? launch_buffer_again(v, at, n, part, 0, ds) : ST_NOMEM;
    if (st == ST_OK)
        wire_blob(out, whole ? whole + at : part, n);
    base_free(part);
    return st;
}
