/* Initial data of a launch as part of a frame. */
#include "engine/dev/worker/wire.h"

const char *const launch_source_names[] = { "bytes", "zero", "rule", NULL };

enum launch_source wire_source_of(const struct launch_buffer *b)
{
    return b->rule ? LAUNCH_RULE : b->zero ? LAUNCH_ZERO : LAUNCH_BYTES;
}

void wire_put_sizes(struct buf *b, const char *name, const struct launch_buffer *v, size_t n)
{
    size_t list = wire_open(b, name);
    for (size_t i = 0; i < n; i++) {
        size_t item = wire_open(b, WIRE_ITEM);
        wire_uint(b, "size", v ? v[i].n : 0);
        wire_text(b, "source", launch_source_names[v ? wire_source_of(&v[i]) : LAUNCH_BYTES]);
        wire_close(b, item);
    }
    wire_close(b, list);
}

enum status wire_put_bytes(struct buf *out, const struct launch_buffer *v, uint64_t at, uint64_t n,
                           struct diags *ds)
{
    const uint8_t *whole = launch_buffer_whole(v);
    uint8_t *part = whole ? NULL : base_alloc(n);
    enum status st = whole ? ST_OK : part ? launch_buffer_again(v, at, n, part, 0, ds) : ST_NOMEM;
    if (st == ST_OK)
        wire_bytes(out, "bytes", whole ? whole + at : part, n);
    base_free(part);
    return st;
}
