/* flight: asynchronous copies under way in the shared memory of one CTA, for the sanitiser.
 *
 * A copy is made when it is issued, whatever a device does. Here stands until when it could still be
 * under way there: what it writes must not be read or written before, what it reads must not be
 * written. Also whether plain stores were followed by a fence.proxy.async before the copy engine or
 * a tensor core reads them (PTX ISA 8.9, 9.7.9.25, 9.7.9.27). Whoever waits, waits for all threads of
 * the CTA: what is missed is a thread that nothing orders with the one that waited. */
#pragma once

#include "engine/sim/exec/exec.h"

enum flight_kind {
    FLIGHT_THREAD, /* cp.async writes here until its warp has waited for the group */
    FLIGHT_BYTES,  /* a bulk copy writes here until a wait for its mbarrier has succeeded */
    FLIGHT_READS   /* a bulk copy reads here until its warp has waited for the bulk group */
};

/* For a CTA of a kernel that copies; NULL: out of memory. Owned: flight_free. */
struct exec_flight *flight_new(uint32_t shared_bytes, uint32_t nwarps);
void flight_free(struct exec_flight *f);
void flight_start(struct exec_flight *f); /* the CTA is another one now */

/* A copy of this warp at offset `off` of c's shared memory, `bytes` long. bar: FLIGHT_BYTES, the offset
 * of its mbarrier. c->flight may be NULL. Several of one instruction may follow each other. */
void flight_add(struct exec_warp *w, const struct exec_inst *in, struct exec_cta *c,
                enum flight_kind kind, uint64_t off, uint64_t bytes, uint32_t bar);
/* An access of c's shared memory; async: by the copy engine or a tensor core. A fault where it meets a
 * copy under way, or what no proxy fence has followed. */
void flight_look(struct exec_warp *w, const struct exec_inst *in, uint32_t lane,
                 const struct exec_cta *c, uint64_t off, uint64_t bytes, bool write, bool async);
/* A wait for this mbarrier has told that the phase of this parity is over. */
void flight_phase(struct exec_cta *c, uint64_t bar, bool parity);
/* cp.async.mbarrier.arrive: the warp's copies so far end with this phase. */
void flight_tie(struct exec_warp *w, uint64_t bar, bool parity);
