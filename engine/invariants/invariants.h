/* invariants: what every rewritten text keeps of its original, whichever pass wrote it. The text is read
 * anew, and nothing of the passes is asked: another look at what they claim to have shown.
 *
 *   definitions   what an instruction reads was written by those that wrote it in the original
 *   guards        a guard stands for a branch of the original, and still has that branch's value
 *   order         effects follow each other along every path as in the original, barriers among them
 *   kept          every effect of the original is still there, once on each path
 *   groups        what a whole warp, warpgroup or CTA executes together is not parted by a new branch
 *   launch        block and shared memory fit what the text declares
 *
 * An instruction of the new text is the original's, a copy of one, or new; what new ones compute is not
 * looked into, only whether all they read was written. */
#pragma once

#include "engine/base/base.h"

struct dim3u;
struct ptx_func;
struct ptx_module;

/* The statement at offset `off` of the new text is the original's at `was`, or a copy of it. */
struct inv_origin {
    uint32_t off;
    uint32_t was;
};
/* Where the instruction at `off` comes from, of a list by off; PTX_NO_INDEX: it is new. */
uint32_t inv_origin_of(const struct inv_origin *v, uint32_t n, uint32_t off);
/* The instruction that begins at `off`; PTX_NO_INDEX: none. */
uint32_t inv_inst_at(const struct ptx_func *f, uint32_t off);
/* What the writer of the new text says it does besides. */
enum inv_declared {
    INV_LANES = 1,  /* several threads of the original side by side: an effect comes once for each */
    INV_STORES = 2, /* it writes to memory of the original by stores of its own */
    INV_UNKNOWN = 4 /* nobody says what: the text stands alone */
};
struct inv_input {
    const struct ptx_module *old;
    const struct ptx_module *now;
    const struct inv_origin *origin; /* by off; NULL: found by comparing the texts */
    uint32_t norigins;
    unsigned declared;         /* enum inv_declared */
    const struct dim3u *block; /* NULL: no launch known */
    /* words that the host puts into a .const variable before a launch; NULL: what the text says */
    const char *variable;
    const uint32_t *word;
    uint32_t nwords;
};
/* What was looked at. */
struct inv_seen {
    uint32_t functions;
    uint32_t insts;    /* of the new text */
    uint32_t followed; /* of them with an origin */
    uint32_t uses;     /* of registers, compared */
    uint32_t effects;  /* of the original, found again */
    uint32_t large;    /* functions whose definitions were too many to be followed */
    uint32_t broken;   /* invariants that do not hold */
};
/* ST_OK: all hold. ST_REFUSED: those that do not are errors "invariant-..." in ds, a few of each kind,
 * with their place in the new text. ST_NOMEM. */
enum status inv_check(const struct inv_input *in, struct inv_seen *seen, struct diags *ds);
