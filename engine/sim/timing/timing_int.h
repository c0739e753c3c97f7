/* timing_int: private to the timing half of engine/sim.
 *
 *   plan    what each instruction costs, and the order ptxas would give it
 *   fold    additions of addresses, as an assembler makes them
 *   call    what calls, returns and the driver's functions cost
 *   access  32 addresses -> sectors per line, bank conflicts
 *   warp    runs a region of a warp's code (exec_step) and keeps it to be timed
 *   sm      schedulers, scoreboard, units: which warp issues when
 *   lsu     load/store unit and L1; requests to the memory system
 *   mem     L2 slices, DRAM channels, interconnect: shared by the SMs of a group
 *   group   SMs stepped together in epochs; CTA dispatch
 *   pool    host threads that step the SMs of a group
 *   phase   warps that do not keep step, in launches longer than the sample
 *   timing  sampling policy, extrapolation, statistics
 *
 * Every cost of an issued instruction is known when it issues: queues are kept as
 * the time at which they are next free, so nothing is ever called back and SMs
 * jump from event to event. The SMs of a group advance by epochs of EPOCH cycles.
 * Within one they see L2 as it was at its start and note their requests, entered
 * in order after it. So numbers do not depend on how many host threads ran it. */
#pragma once

#include "engine/base/base.h"

#define TIMING_NEVER    UINT32_MAX
#define TIMING_EPOCH    128u /* cycles; shorter than any trip to L2 */
#define TIMING_MEMS     32u  /* memory instructions kept per warp */
#define TIMING_LATES    64u  /* things to be told to mbarriers, kept per warp */
#define TIMING_LINES    256u /* lines kept per warp */
#define TIMING_SM_WARPS 128u
#define TIMING_FLIGHTS  2048u
enum { TIMING_LOOP = 1 /* no machine instruction does it at once */, TIMING_SWAP };
