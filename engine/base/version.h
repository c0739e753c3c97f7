/* The program's version, here and nowhere else: --version, the writer of a session,
 * reports and the manual page take it from this header. CHANGELOG.md has its contents. */
#pragma once

#define GPULOCW_VERSION "0.2.0"
