/* gpulocw.h: the workbench's engine as a library (libgpulocw, interface 1).
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

#ifdef __cplusplus
extern "C" {
#endif

/* The interface that this header describes. It grows when something is added. */
#define GPULOCW_INTERFACE 1

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

#ifdef __cplusplus
}
#endif

#endif
