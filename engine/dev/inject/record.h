/* What the injected library and engine/live share: names of environment variables, the lines of records,
 * and the questions that the library asks while the program runs.
 *
 * The library writes FILE.PID: a head line, then
 *   R TEXT                                    nothing could be recorded
 *   E                                         the last line: the process ended in order
 *   L N                                       so many images and launches had no room
 *   I HASH BYTES PTX CUBIN LTO                an image, numbered from 0; HASH, BYTES 0: not known
 *   K IMAGE LAUNCHES TIMED NS GX GY GZ BX BY BZ SHARED NAME
 *                                             one shape of launch; IMAGE -1: not known; TIMED: how many
 *                                             were timed; NS: of all, the others as the mean of these
 *
 * Capture: it asks at the socket FILE.ask, one question a connection, a line each way or more:
 *   want NAME                                 -> yes | no
 *   code NAME HASH KIND CC FILE               KIND: ptx (FILE has it), cubin, lto, unseen; CC: 90
 *        -> why TEXT | ptx, then lines "P OFFSET SIZE" (parameters; floats: "P OFFSET SIZE f"), "G NAME"
 *           (module variables)
 *   done NAME BYTES                           for the progress line; no answer
 * and writes FILE.PID.N.take for the N-th launch that it took, a head line, then
 *   name NAME | image HASH | launch N | grid X Y Z | block X Y Z | shared BYTES | cooperative
 *   attr ID HEX                               of the launch, its 64 bytes; of the stream: sattr
 *   func ID VALUE                             attribute of the function
 *   param OFFSET SIZE HEX                     as the kernel gets them
 *   range ADDRESS BYTES AT KIND WHOLE         memory before the launch, at AT of FILE.PID.N.data
 *   glob NAME ADDRESS BYTES AT                a variable of the module, the same
 *   left ADDRESS BYTES AT                     memory that is another after it, at AT of the data
 *   key HEX                                   of its shape (shape.h), where shapes are taken
 *   refused TEXT                              nothing or not all could be taken
 *   counted KEY LAUNCHES                      at the end, in a record of its own: launches of each shape that
 *                                             was taken
 *   apart MANY BYTES                          launches of other shapes: there are too many, or they need more
 *                                             bytes than were left
 *   end                                       the record is whole */
#pragma once

#define LIVE_RECORD_VARIABLE "GPULOCW_LIVE_RECORD"
#define LIVE_RECORD_HEAD     "gpulocw-live 2"
/* "NTH BYTES SHAPES": of each kernel the first launch of so many shapes is taken, with at most so many bytes together;
 * SHAPES 0: the N-th launch alone; not set: none. */
#define LIVE_TAKE_VARIABLE "GPULOCW_LIVE_TAKE"
#define LIVE_TAKE_HEAD     "gpulocw-take 1"
#define LIVE_ASK_SUFFIX    ".ask"
/* Kinds of memory in a range. */
enum live_memory { LIVE_DEVICE, LIVE_HOST, LIVE_MANAGED, LIVE_PEER };

/* ---- apply ---- */
#define LIVE_APPLY_VARIABLE "GPULOCW_LIVE_APPLY"
#define LIVE_APPLY_HEAD     "gpulocw-apply 1"
/* The plan, a file of lines: the head, then
 *   M MODE VERIFY SOCKET
 *   T NAME PATH             a target: kernel, and the file of the text that has it tuned
 *   O GX GY GZ BX BY BZ SHARED    its launch in the program; none: any
 *   N GX GY GZ BX BY BZ SHARED    the launch that the tuned kernel wants
 *   C PERCENT               carve-out
 *   Z BYTES SYMBOL          zeroed before each launch
 *   S BACK SYMBOL           kept the same as the original's; BACK 1: copied back, too
 *   B PATH                  the same as machine code
 *   U                       writes through pointers that it loads
 *   W PATH                  the original's text: an image that is this text may be swapped for the tuned
 * The socket is asked "NAME HASH BYTES PATH\n" (PATH: the image's PTX as a file, or -), and answers
 * "MASK MAXREG WHOLE\n": which targets (by number) that image has, the register limit it was compiled
 * with, and of which targets it is the whole text and nothing else. Lines of the record, by target:
 *   AT TARGET LAUNCHES APPLIED CAPTURED VERIFIED DIFFERED LOAD_NS ENTER_NS
 *   AW TARGET WHY COUNT     launches that ran the original, and why
 *   AS TARGET ARM N NS...   times on the GPU; ARM 3: tuned, by graphs; 4, 5: original and tuned behind a
 *                           launch of the same kind; N: of how many these are a choice
 *   AP FIRST LAST           of all: the GPU's time from the first kernel to the end of the last */
enum { LIVE_APPLY_AB, LIVE_APPLY_ALL, LIVE_APPLY_NONE };
#define LIVE_APPLY_WHY(X)                                                                        \
    X(SHAPE, "another grid, block or shared memory")                                             \
    X(IMAGE, "another image: its PTX is not the one that was tuned")                             \
    X(UNSEEN, "the image that it was loaded from was not seen")                                  \
    X(PARAMS, "the tuned kernel takes other parameters")                                         \
    X(LOAD, "the driver does not load the tuned kernel")                                         \
    X(SYMBOLS, "a variable of the module was not found")                                         \
    X(FIT, "the tuned kernel does not fit with this launch")                                     \
    X(ATTRIBUTES, "cooperative or in clusters, and the tuned kernel needs a different launch")   \
    X(FAILED, "the launch of the tuned kernel failed; the original ran")                         \
    X(STOPPED, "nothing is swapped after outputs differed")                                      \
    X(UNSURE,                                                                                    \
      "it could not be verified: it writes through pointers that it loads, or waits for others") \
    X(MEMORY, "it could not be verified: no memory for a copy of its buffers")                   \
    X(READ, "it could not be verified: memory that cannot be copied (managed, peer, IPC)")       \
    X(UNSTABLE, "it could not be verified: the original's own outputs differ from run to run")   \
    X(VERIFYING, "the original ran beside the tuned kernel, to verify it")                       \
    X(GRAPH, "captured into a graph while it is still to be verified")                           \
    X(BUILT, "put into a graph by hand (cuGraphAddKernelNode), which runs the original")
enum {
#define LIVE_APPLY_WHY_ID(id, text) LIVE_APPLY_##id,
    LIVE_APPLY_WHY(LIVE_APPLY_WHY_ID)
#undef LIVE_APPLY_WHY_ID
        LIVE_APPLY_NWHY
};

/* The library itself, as it was built. */
extern const unsigned char live_library[];
extern const unsigned long live_library_bytes;
