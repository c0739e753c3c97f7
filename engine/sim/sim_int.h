/* sim_int: private to engine/sim. What the functional half (mem, decode,
 * exec) and the timing half (cache, timing) share.
 *
 *   sim_load --> struct sim_program: code[] (one exec_inst per PTX instruction)
 *   exec_launch_new --> launch-wide state      (one per sim_run)
 *   exec_worker_new --> per host thread state  (counters, allocation cache)
 *   exec_cta_new    --> registers, shared and local memory of one CTA; reusable
 *   exec_step       --> one warp instruction, with what it did
 *
 * The timing half calls exec_step on any warp in any order; the functional half
 * runs the same bodies without filling the record. A CTA and its warps belong to
 * one host thread at a time; CTAs of one launch may run on different threads. */
#pragma once

#include "engine/base/base.h"

#define WARP_LANES 32u
#define EXEC_FULL  0xffffffffu
#define EXEC_NO_ID UINT32_MAX
#define EXEC_AHEAD 7u
