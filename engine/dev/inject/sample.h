/* sample: which launches of a survey are timed.
 *
 * Activity records cost each launch some hundred nanoseconds. Where launches follow each other closely,
 * they are recorded in windows: the first launches, then some of every few thousand, and the first of
 * each kernel and shape. All launches are counted by the callbacks of the calls that make them. Once a
 * graph is seen, everything is recorded, since its kernels are seen by their records alone. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* turn: 1 on, 0 off, the records of kernels; it returns 0 unless it fails. Records are on at the start.
 * Without a call of this, everything is recorded. */
void sample_start(int (*turn)(bool on));
/* Before a launch. first: of its kernel and shape. */
void sample_launch(bool first);
/* From the call of that number on, everything is recorded; what was launched before stays counted by
 * calls. */
void sample_never(uint32_t correlation);
/* Some launches had no record, so that counts are those of the calls. */
bool sample_used(void);
/* True: the launch of that number is one that sample_launch counted. */
bool sample_counted(uint32_t correlation);
