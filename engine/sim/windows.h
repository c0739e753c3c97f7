/* windows: where the address spaces lie among generic addresses. */
#pragma once

/* ---- address windows: generic addresses of spaces that are not global ---- */
#define SHARED_WINDOW 0x00007e0000000000ull
#define LOCAL_WINDOW  0x00007e4000000000ull
#define PARAM_WINDOW  0x00007e8000000000ull
#define WINDOW_BYTES  0x0000000100000000ull
#define CONST_BASE    0x00007ec000000000ull /* .const variables are allocations from here on */
#define GLOBAL_BASE   0x00007f0000000000ull
#define FUNC_WINDOW \
    0x00007d0000000000ull /* function handle: FUNC_WINDOW + 16 * (1 + index in its module) */
