/* CRC32C (Castagnoli; RFC 3720, appendix B.4): tells damaged bytes from whole ones. */
#pragma once

#include "engine/base/base.h"

/* The checksum of what came before (`crc`; 0: nothing) followed by n bytes at p. p may be NULL where n
 * is 0. */
uint32_t base_crc32c(uint32_t crc, const void *p, size_t n);
/* The same by the table alone, whatever instructions the processor has. */
uint32_t base_crc32c_table(uint32_t crc, const void *p, size_t n);
