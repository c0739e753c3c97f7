/* gpulocw.h: the workbench's engine as a library (libgpulocw, interface 2).
 *
 *     gpulocw *g = gpulocw_new();
 *     gpulocw_status s = gpulocw_call(g, "run", "{\"file\":\"app.ptx\",\"bypass\":\"l1\",\"pi\":3}");
 *     puts(gpulocw_document(g));       // the document that `gpulocw run --json` prints
 *     puts(gpulocw_diagnostics(g));    // [{"level","code","file","line","message","hint"}, ...]
 *     gpulocw_free(g);
 *
 * A call is a command of the program with its arguments as a JSON object; gpulocw_tools lists the
 * calls with the schemas of their arguments. The library prints nothing, keeps no state outside
 * handles and changes neither signals, locale nor environment of the process. Different handles may be
 * used by different threads at once; calls on one handle wait for each other. All text is UTF-8, ends
 * with a zero byte, belongs to the handle and is valid until the handle's next call. */
#ifndef GPULOCW_H
#define GPULOCW_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The interface that this header describes. It grows when something is added. */
#define GPULOCW_INTERFACE 2

#if defined(__GNUC__)
#define GPULOCW_API __attribute__((visibility("default")))
#else
#define GPULOCW_API
#endif

/* The exit codes of the program. */
typedef enum gpulocw_status {
    GPULOCW_DONE = 0,
    GPULOCW_BAD_INPUT = 1, /* a file or argument is wrong, or could not be read or written */
    /* no such call or argument; a handle that is none, or one whose call runs further up in this thread
     * (a progress function may only cancel and read) */
    GPULOCW_WRONG_USAGE = 2,
    GPULOCW_REFUSED = 3,   /* the rewrite is not proven legal; the diagnostics say where and why */
    GPULOCW_DEVICE = 4,    /* the device failed, or memory ran out */
    GPULOCW_DIFFERENT = 5, /* results differ from the original's */
    GPULOCW_CANCELLED = 130
} gpulocw_status;

typedef struct gpulocw gpulocw; /* opaque */

/* The version of the library, "0.2.0", and the interface that it has: at least GPULOCW_INTERFACE. */
GPULOCW_API const char *gpulocw_version(void);
GPULOCW_API int gpulocw_interface(void);

/* A new handle, to be released with gpulocw_free. NULL: out of memory. */
GPULOCW_API gpulocw *gpulocw_new(void);
/* Releases a handle and the files that were put into it. Not while a call on it runs: from a progress
 * function it does nothing. NULL is fine. */
GPULOCW_API void gpulocw_free(gpulocw *g);

/* [{"name","title","description","inputSchema"}, ...]: every call, as JSON schemas. NULL: no handle, or
 * out of memory. */
GPULOCW_API const char *gpulocw_tools(gpulocw *g);

/* A file in the handle's own folder, so that nothing need be written by the caller: `name` has no slash.
 * Calls find it as "file" or "launch" under this name, before a file of the current folder. `data` of n
 * bytes is copied. */
GPULOCW_API gpulocw_status gpulocw_put(gpulocw *g, const char *name, const void *data, size_t n);

/* Runs one call. `arguments`: a JSON object, or NULL. Blocks until it has ended or gpulocw_cancel was
 * called. From a progress function of the same handle: GPULOCW_WRONG_USAGE, at once. */
GPULOCW_API gpulocw_status gpulocw_call(gpulocw *g, const char *tool, const char *arguments);
/* What the last call answered; "" when there is nothing. NULL only for a handle that is none. */
GPULOCW_API const char *gpulocw_document(gpulocw *g);
/* What the last call had to say: a JSON array. */
GPULOCW_API const char *gpulocw_diagnostics(gpulocw *g);

/* fn(ctx, done, what) is called while a call runs, by its thread: done is 0..1. NULL: no more. It may
 * cancel, and call other handles. */
typedef void (*gpulocw_progress)(void *ctx, double done, const char *what);
GPULOCW_API gpulocw_status gpulocw_on_progress(gpulocw *g, gpulocw_progress fn, void *ctx);
/* Asks the call that runs to end, from any thread; it ends with GPULOCW_CANCELLED, and what a session
 * holds stays. Without a call it does nothing. */
GPULOCW_API gpulocw_status gpulocw_cancel(gpulocw *g);

/* ---- launches from memory (interface 2) ----
 * A simulated device of a handle: modules of PTX text, buffers of the caller's own memory, and launches
 * one after the other, each of which finds what those before it left. docs/examples/launch.c shows it.
 * All functions take their turn on the handle, as gpulocw_call does; they say why in its diagnostics. */
typedef struct gpulocw_device gpulocw_device; /* opaque */

/* spec: "sim:ampere-a100", or NULL for the usual one; a GPU cannot be asked for. *out is to be released
 * with gpulocw_device_free, before its handle. GPULOCW_DEVICE: no such device; *out is NULL. */
GPULOCW_API gpulocw_status gpulocw_device_new(gpulocw *g, const char *spec, gpulocw_device **out);
/* Not while a launch on it runs. NULL is fine. */
GPULOCW_API void gpulocw_device_free(gpulocw_device *d);

/* `n` bytes at `host`, a multiple of 16, are memory of the device at *address from now on: launches read
 * and write them in place, and the caller keeps them until gpulocw_device_release or _free. *address 0:
 * the device chooses, and says which; else a multiple of 256 below 2^46. GPULOCW_BAD_INPUT: it overlaps
 * another buffer, or is more than the device has. */
GPULOCW_API gpulocw_status gpulocw_device_lend(gpulocw_device *d, void *host, size_t n,
                                               uint64_t *address);
GPULOCW_API gpulocw_status gpulocw_device_release(gpulocw_device *d, uint64_t address);

/* PTX text of n bytes, which is copied; *module is its number for launches and variables. Lives as long as
 * the device. GPULOCW_BAD_INPUT: it is no PTX; the diagnostics have the line. */
GPULOCW_API gpulocw_status gpulocw_device_module(gpulocw_device *d, const char *ptx, size_t n,
                                                 unsigned *module);
/* Where a variable of a module lies, and how many bytes it has. */
GPULOCW_API gpulocw_status gpulocw_device_variable(gpulocw_device *d, unsigned module, const char *name,
                                                   uint64_t *address, uint64_t *bytes);
/* Bytes of buffers and variables by their device address. GPULOCW_BAD_INPUT: not all of them are memory. */
GPULOCW_API gpulocw_status gpulocw_device_write(gpulocw_device *d, uint64_t address, const void *from,
                                                size_t n);
GPULOCW_API gpulocw_status gpulocw_device_read(gpulocw_device *d, uint64_t address, void *to, size_t n);

typedef struct gpulocw_launch {
    size_t size; /* sizeof(gpulocw_launch): what a later interface adds is 0 for this caller */
    unsigned module;
    unsigned flags;    /* of GPULOCW_LAUNCH_... */
    const char *entry; /* in the PTX, or as the source calls it; NULL: the only one of the module */
    unsigned grid[3], block[3]; /* x, y, z; 0 counts as 1 */
    unsigned cluster[3];        /* x 0: as the kernel says */
    unsigned shared;            /* dynamic shared memory, bytes */
    const void *params;         /* of the kernel, laid out as it declares them */
    size_t nparams;             /* bytes; at least what the kernel takes */
} gpulocw_launch;
#define GPULOCW_LAUNCH_TIMED 1u /* simulates the time, too: counters and limits */
#define GPULOCW_LAUNCH_EXACT 2u /* with TIMED: every CTA instead of a sample */
#define GPULOCW_LAUNCH_CHECK 4u /* first looks for races and reads of what nobody wrote, on copies */

/* Runs it to its end; buffers and variables are as the kernel leaves them, for any flags. The document is
 * that of `gpulocw run`, without a comparison; what the kernel printed is a note "printf" of the
 * diagnostics. GPULOCW_BAD_INPUT: it does not fit kernel or device. GPULOCW_DEVICE: the kernel faults, or
 * CHECK found something: then nothing was changed. GPULOCW_CANCELLED. */
GPULOCW_API gpulocw_status gpulocw_device_launch(gpulocw_device *d, const gpulocw_launch *l);

#ifdef __cplusplus
}
#endif

#endif
