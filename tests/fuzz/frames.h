/* Checksums stop a fuzzer at the first frame: so that it gets further, they are made right, frame after
 * frame. */
#ifndef GPULOCW_TESTS_FUZZ_FRAMES_H
#define GPULOCW_TESTS_FUZZ_FRAMES_H

#include <stddef.h>
#include <stdint.h>

void frames_mend(uint8_t *p, size_t n);

#endif
