/* What the tests' headers (rig_open and others) ask of their program, where that is no test: to end with
 * the reason. */
#ifndef GPULOCW_BENCH_NEED_H
#define GPULOCW_BENCH_NEED_H

#include <stdio.h>
#include <stdlib.h>

#include "engine/base/base.h"

static inline void bench_need(enum status st, const struct diags *ds)
{
    struct buf b = { 0 };
    if (st == ST_OK)
        return;
    diags_print(ds, &b);
    fprintf(stderr, "%s: %s\n", status_text(st), b.s ? b.s : "");
    exit(status_exit_code(st));
}
#define assert_status_ok(st, ds) bench_need((st), (ds))
#define fail_msg(...)            (fprintf(stderr, __VA_ARGS__), exit(1))

#endif
