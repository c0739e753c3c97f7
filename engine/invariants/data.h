/* data, inside invariants: what reads of the new text get, told in instructions of the original. */
#pragma once

#include "engine/base/base.h"

struct inv_pair;
struct inv_use;

enum { INV_GOT = 64 };
struct inv_got {
    int32_t v[INV_GOT]; /* instructions of the original, INV_UNDEFINED among them */
    uint32_t n;
    bool more;  /* there are more */
    bool fresh; /* new code computes some of it */
};
struct inv_got inv_gets(const struct inv_pair *p, const struct inv_use *u);
bool inv_got_has(const struct inv_got *g, int32_t inst);
/* Instruction n and its origin are the same operation and read equally many registers, guards that one
 * of them alone has left out: *was and *is are the first of them. */
bool inv_same_reads(const struct inv_pair *p, uint32_t n, uint32_t *was, uint32_t *is);
