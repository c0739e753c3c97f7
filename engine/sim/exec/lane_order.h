/* lane_order: what orders the lanes of one warp, for the sanitiser (check.c).
 *
 * Since sm_70 lanes of a warp advance on their own: that they stand at one instruction is no order. What
 * orders them: operations that name both (bar.warp.sync, .sync instructions), barriers, and atomics, which
 * is generous. A fence alone, a volatile access or code where all lanes stand together orders none.
 * Text for older targets is taken to be in lockstep, as the compiler keeps it there. */
#pragma once

#include "engine/base/base.h"

enum { LANE_ORDER_FIRST_TARGET = 70 };

struct lane_order;                       /* of one warp */
struct lane_order *lane_order_new(void); /* NULL: out of memory */
void lane_order_free(struct lane_order *o);
/* Every lane is behind what every lane did. */
void lane_order_all(struct lane_order *o);
/* The lanes of `members` are, behind what lanes of `members` did. */
void lane_order_join(struct lane_order *o, uint32_t members);

/* Another instruction: what its lanes do at once is no race of this kind. */
void lane_order_turn(struct lane_order *o);

struct lane_meeting {
    uint32_t lane, line; /* the other lane, and the line of the text of its access */
    bool wrote;
};
/* An access of `lane` to so many bytes at `addr`; what is remembered of
 * others is the last writer and two readers of a word, of as many words as there is room for: races may
 * be missed, none is invented. True: *other did something to these bytes that nothing orders. */
bool lane_order_use(struct lane_order *o, uint32_t lane, uint64_t addr, unsigned bytes, bool write,
                    uint32_t line, struct lane_meeting *other);
