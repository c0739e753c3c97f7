/* A byte never equals its complement, so three cases are told apart without a record of who wrote what. */
#include "engine/dev/sim_part.h"

#include "engine/dev/dev_int.h"
#include "engine/rec/launch_arg.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/result_read.h"
#include "engine/sim/mem.h"

#include <string.h>

#define KEPT_MOST (UINT64_C(256) << 20)

void sim_left_free(struct sim_left *k)
{
    for (size_t i = 0; k->bytes && i < k->n; i++)
        base_free(k->bytes[i]);
    base_free(k->bytes);
    *k = (struct sim_left){ 0 };
}

/* False: not this one, for want of memory. */
static bool keep_buffer(struct sim_left *k, const struct dev_bound *b, struct sim_mem *m, size_t i,
                        uint64_t *room)
{
    const struct dev_buffer *buf = &b->buffers[i];
    const uint8_t *host = sim_mem_host(m, buf->addr, buf->bytes);
    if (k->bytes[i])
        return true; /* two arguments are one buffer */
    if (!host || buf->bytes > *room || !(k->bytes[i] = base_alloc(buf->bytes + 1)))
        return false;
    memcpy(k->bytes[i], host, buf->bytes);
    *room -= buf->bytes;
    return true;
}

void sim_left_keep(struct sim_left *k, const struct launch_spec *l, const struct dev_bound *b,
                   struct sim_mem *m)
{
    uint64_t room = KEPT_MOST;
    sim_left_free(k);
    k->n = b->nbuffers;
    k->bytes = base_alloc((k->n + 1) * sizeof *k->bytes);
    bool ok = k->bytes != NULL;
    for (size_t i = 0; i < launch_nargs(l) && ok; i++)
        if (launch_arg(l, i)->output && b->main_use[i].buffer != SIZE_MAX)
            ok = keep_buffer(k, b, m, b->main_use[i].buffer, &room);
    if (!ok)
        sim_left_free(k);
}

void sim_left_turn(const struct sim_left *k, const struct dev_bound *b, struct sim_mem *m)
{
    for (size_t i = 0; i < k->n; i++) {
        const struct sim_alloc *a = k->bytes[i] ? sim_mem_find(m, b->buffers[i].addr) : NULL;
        uint8_t *host = a ? sim_mem_host(m, b->buffers[i].addr, b->buffers[i].bytes) : NULL;
        if (!host)
            continue;
        sim_mem_note_written(m, a);
        for (uint64_t at = 0; at < b->buffers[i].bytes; at++)
            host[at] = (uint8_t)~k->bytes[i][at];
    }
}

void sim_left_compare(const struct sim_left *k, const struct dev_bound *b, struct sim_mem *m,
                      struct outputs_part *out)
{
    for (size_t i = 0; i < k->n; i++) {
        uint64_t n = b->buffers[i].bytes, same = 0, untouched = 0;
        const uint8_t *was = k->bytes[i], *now = was ? sim_mem_host(m, b->buffers[i].addr, n) : NULL;
        for (uint64_t at = 0; now && at < n; at++) {
            same += now[at] == was[at];
            untouched += (now[at] ^ was[at]) == 0xff;
        }
        out->bytes += same;
        out->wrong += now ? n - same - untouched : 0;
        out->all_bytes += now ? n : 0;
    }
}
