/* What the injected library and live.c share: names of environment variables and the record's lines.
 *
 * The library writes FILE.PID: a head line, then
 *   R TEXT                                    nothing could be recorded
 *   I HASH BYTES PTX CUBIN LTO                an image, numbered from 0; HASH, BYTES 0: not known
 *   K IMAGE LAUNCHES NS GX GY GZ BX BY BZ SHARED NAME    IMAGE -1: not known */
#ifndef GPULOCW_DEV_INJECT_RECORD_H
#define GPULOCW_DEV_INJECT_RECORD_H

#define LIVE_RECORD_VARIABLE "GPULOCW_LIVE_RECORD"
#define LIVE_RECORD_HEAD     "gpulocw-live 1"

/* The library itself, as it was built. */
extern const unsigned char live_library[];
extern const unsigned long live_library_bytes;

#endif
