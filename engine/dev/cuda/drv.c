/* Finds and starts the CUDA driver at run time. */
#include "engine/dev/cuda/drv.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct symbol {
    const char *name, *older;
    bool needed;
};
static const struct symbol SYMBOLS[] = {
#define X(field, sym, older, needed, params) { #sym, older, needed },
    DRV_API(X)
#undef X
};

/* dlsym gives object pointers; POSIX makes them convertible to function pointers, ISO C does not say so.
 */
static void set_function(void *field, void *found)
{
    memcpy(field, &found, sizeof found);
}

static void *find(void *library, const struct symbol *s)
{
    void *p = dlsym(library, s->name);
    return p || !s->older ? p : dlsym(library, s->older);
}

static enum status find_all(struct drv *d, const char *from, struct diags *ds)
{
    void *fields[] = {
#define X(field, sym, older, needed, params) &d->field,
        DRV_API(X)
#undef X
    };
    struct buf missing = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(SYMBOLS); i++) {
        void *p = find(d->library, &SYMBOLS[i]);
        set_function(fields[i], p);
        if (!p && SYMBOLS[i].needed)
            buf_printf(&missing, "%s%s", missing.n ? ", " : "", SYMBOLS[i].name);
    }
    if (missing.n) {
        struct diag *g =
            diag_add(ds, DIAG_ERROR, "cuda-symbols", NULL, NO_SPAN, "%s lacks %s", from, missing.s);
        diag_hint(g,
                  "a driver of CUDA 11.0 or later is needed; nvidia-smi shows which one is installed");
    }
    enum status st = missing.n ? ST_DEVICE : ST_OK;
    buf_free(&missing);
    return st;
}

static enum status start(struct drv *d, struct diags *ds)
{
    enum status st = drv_check(d, d->init(0), "the CUDA driver does not start", ds);
    if (st == ST_OK)
        st = drv_check(d, d->driver_version(&d->version), "cuDriverGetVersion", ds);
    if (st == ST_OK && d->version < DRV_OLDEST) {
        diag_error(ds, "cuda-version", "the driver supports CUDA %d.%d; 11.0 or later is needed",
                   d->version / 1000, d->version % 1000 / 10);
        st = ST_DEVICE;
    }
    return st;
}

/* Where the driver is, when the loader does not know: WSL, images of container runtimes, NixOS. */
static const char *const PLACES[] = {
    "libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
    "/usr/local/nvidia/lib64/libcuda.so.1",
    "/run/opengl-driver/lib/libcuda.so.1",
};

/* why: what the loader said of the first, the usual place. */
static void *open_library(const char **path, char *why, size_t n)
{
    const char *named = getenv("GPULOCW_LIBCUDA");
    bool own = named && *named;
    for (size_t i = 0; i < (own ? 1 : ARRAY_LEN(PLACES)); i++) {
        *path = own ? named : PLACES[i];
        void *library = dlopen(*path, RTLD_NOW | RTLD_LOCAL);
        if (library)
            return library;
        const char *said = dlerror();
        if (!i)
            snprintf(why, n, "%s", said ? said : *path);
    }
    return NULL;
}

enum status drv_open(struct drv *d, bool *absent, struct diags *ds)
{
    const char *path;
    char why[256];
    *d = (struct drv){ .library = open_library(&path, why, sizeof why) };
    *absent = !d->library;
    if (!d->library) {
        struct diag *g =
            diag_add(ds, DIAG_ERROR, "cuda-driver", NULL, NO_SPAN, "no CUDA driver: %s", why);
        diag_hint(g, "use a simulated device (--device sim:hopper-h200) or a machine with a GPU "
                     "(--worker 'ssh HOST gpulocw worker')");
        return ST_DEVICE;
    }
    enum status st = find_all(d, path, ds);
    if (st == ST_OK)
        st = start(d, ds);
    if (st != ST_OK)
        drv_close(d);
    return st;
}

void drv_close(struct drv *d)
{
    if (d->library)
        dlclose(d->library);
    *d = (struct drv){ 0 };
}

/* "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)" into out. */
static void drv_explain(const struct drv *d, drv_result e, char *out, size_t n)
{
    const char *text = NULL, *name = NULL;
    d->error_string(e, &text);
    d->error_name(e, &name);
    snprintf(out, n, "%s (%s, %d)", text ? text : "unknown error", name ? name : "?", (int)e);
}

/* What to do about errors that are the machine's, not the kernel's. */
static const struct {
    int error;
    const char *text;
} ADVICE[] = {
    { DRV_ERROR_OUT_OF_MEMORY, "other programs use the GPU's memory (nvidia-smi lists them): wait for "
                               "them, or use another device" },
    { DRV_ERROR_STUB_LIBRARY, "this libcuda is the toolkit's stub: remove its folder from "
                              "LD_LIBRARY_PATH so that the driver's is found" },
    { DRV_ERROR_DEVICE_UNAVAILABLE, "another process uses this GPU exclusively (compute mode, "
                                    "nvidia-smi -q -d COMPUTE): wait for it, or use another device" },
    { DRV_ERROR_NO_DEVICE,
      "no GPU is visible to this process: check CUDA_VISIBLE_DEVICES and nvidia-smi; containers and "
      "jobs must request one (--gpus all, --gres=gpu:1)" },
    { DRV_ERROR_ECC, "the GPU's memory is damaged (nvidia-smi -q -d ECC): use another device" },
    { DRV_ERROR_OPERATING_SYSTEM, "no permission for the GPU's device files: check ls -l /dev/nvidia*; "
                                  "containers must request a GPU (--gpus all)" },
    { DRV_ERROR_SYSTEM_NOT_READY,
      "the driver's services are not running: GPUs behind NVSwitch need nvidia-fabricmanager" },
    { DRV_ERROR_DRIVER_MISMATCH, "libcuda and the kernel module have different versions: reload the "
                                 "module, or restart the machine" },
    { DRV_ERROR_COMPAT, "this libcuda is a compatibility package that does not support this GPU: remove "
                        "its folder from LD_LIBRARY_PATH" },
    { DRV_ERROR_MPS_CONNECTION,
      "the MPS server does not answer: see CUDA_MPS_PIPE_DIRECTORY and nvidia-cuda-mps-control" },
    { DRV_ERROR_UNKNOWN, "the module nvidia_uvm may be missing or stale (after suspend or an update): "
                         "reload it, or restart the machine" },
};

enum status drv_check(const struct drv *d, drv_result e, const char *what, struct diags *ds)
{
    if (e == DRV_SUCCESS)
        return ST_OK;
    char why[200];
    drv_explain(d, e, why, sizeof why);
    struct diag *g = diag_add(ds, DIAG_ERROR, "cuda", NULL, NO_SPAN, "%s: %s", what, why);
    for (size_t i = 0; i < ARRAY_LEN(ADVICE); i++)
        if (ADVICE[i].error == (int)e)
            diag_hint(g, "%s", ADVICE[i].text);
    return ST_DEVICE;
}

/* Sticky errors are those the driver API describes as leaving the process in an
 * inconsistent state: 700 and the hardware exceptions 702, 704..721, ECC 214 and
 * the NVLink and device faults 220, 226. */
bool drv_is_sticky(drv_result e)
{
    int n = (int)e;
    return n == 214 || n == 220 || n == 226 || n == 4 || n == 46 || n == DRV_ERROR_ILLEGAL_ADDRESS ||
           n == 702 || n == 710 || (n >= 714 && n <= DRV_ERROR_LAUNCH_FAILED) || n == 721 || n == 999;
}
