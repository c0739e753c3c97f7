/* What a worker's other end could send: bytes as a stream of frames through a pipe, and as the payload
 * of every record. Nothing may crash, leak or claim more than the bytes can hold; what was read whole is
 * written again to the same bytes. */
#include "engine/dev/dev.h"
#include "engine/dev/worker/wire.h"
#include "engine/rec/counters.h"
#include "engine/rec/device.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"
#include "engine/sim/preset.h"
#include "tests/fuzz/frames.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static struct wire_in over(const uint8_t *p, size_t n)
{
    return (struct wire_in){ .p = p, .n = n };
}

static void frames(const uint8_t *p, size_t n)
{
    int fd[2];
    struct wire_frame f;
    struct wire_hello hello;
    uint32_t version;
    struct buf b = { 0 };
    bool mend = n > 1 && p[0] & 2;
    if (n > 60000 || pipe(fd))
        return;
    struct wire_stream s = { .fd = fd[0] };
    uint8_t *copy = malloc(n + 1);
    if (copy)
        memcpy(copy, p, n);
    if (copy && mend)
        frames_mend(copy + 1, n - 1);
    if (copy && write(fd[1], copy + mend, n - mend) == (ssize_t)(n - mend)) {
        close(fd[1]);
        if (n && p[0] & 1)
            wire_greeting(&s, INT64_MAX, NULL, &version);
        while (wire_recv(&s, INT64_MAX, NULL, &f, &b) == WIRE_OK)
            wire_get_hello(&b, &hello);
    } else {
        close(fd[1]);
    }
    free(copy);
    close(fd[0]);
    buf_free(&b);
}

static void runs(const uint8_t *p, size_t n)
{
    struct wire_in in = over(p, n);
    struct dev_run r;
    struct buf b = { 0 }, c = { 0 };
    wire_get_run(&in, &r);
    if (!in.bad) {
        struct dev_run again;
        wire_put_run(&b, &r);
        struct wire_in back = over((const uint8_t *)b.s, b.n);
        wire_get_run(&back, &again);
        if (back.bad)
            abort();
        wire_put_run(&c, &again);
        if (b.n != c.n || memcmp(b.s, c.s, b.n))
            abort();
        wire_run_free(&again);
    }
    wire_run_free(&r);
    buf_free(&b);
    buf_free(&c);
}

static void records(const uint8_t *p, size_t n)
{
    struct wire_in in = over(p, n);
    struct diags ds = { 0 };
    wire_get_diags(&in, &ds);
    diags_free(&ds);
    struct result res = result_empty();
    in = over(p, n);
    wire_get_result(&in, &res);
    if (!in.bad && (res.time.n > TIMING_MAX_SAMPLES || res.noutputs > RESULT_MAX_OUTPUTS))
        abort();
    struct dev_info info;
    in = over(p, n);
    wire_get_info(&in, &info);
    struct sim_preset preset;
    in = over(p, n);
    wire_get_preset(&in, &preset);
    struct dev_counters counters;
    in = over(p, n);
    wire_get_counters(&in, &counters);
    struct launch_spec l;
    in = over(p, n);
    wire_get_launch(&in, &l);
    launch_spec_free(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    frames(p, n);
    runs(p, n);
    records(p, n);
    return 0;
}
