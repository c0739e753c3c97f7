/* interp: an independent scalar interpreter of PTX, for checking the simulated device.
 * One thread at a time, one value at a time, written from the ISA's own words; it shares no code
 * with engine/sim. It knows what tests/unit/test_sim_exec_diff.c generates. */
#ifndef GPULOCW_TESTS_INTERP_H
#define GPULOCW_TESTS_INTERP_H

#include "engine/ptx/edit.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"

struct interp_launch;
struct interp_op;

struct interp_launch {
    const struct ptx_func *kernel;
    uint32_t block; /* threads, x only; one CTA */
    const uint8_t *params;
    uint64_t base; /* device address of the one buffer */
    uint8_t *mem;
    uint64_t bytes; /* its bytes */
    uint64_t steps; /* instructions a thread may execute */
};
/* False: `why` says what it does not know or what went wrong. */
bool interp_run(const struct interp_launch *l, char *why, size_t n);

/* One operation on values as bits (interp_int.c, interp_video.c, interp_float.c). False: not known. n:
 * sources. */
struct interp_op {
    const struct ptx_inst *i;
    uint64_t s[5];
    unsigned n;
    bool carry;
    uint64_t d;
    bool p, set_p, q;
};
bool interp_integer(struct interp_op *o);
bool interp_video(struct interp_op *o);
bool interp_float(struct interp_op *o);
bool interp_compare(struct interp_op *o);
bool interp_convert(struct interp_op *o, unsigned dst_bits);

#endif
