/* Modules and libraries: PTX, fatbins and ELF files that the program hands over, and what is in them. */
#include "engine/emulate/driver/driver.h"
#include "engine/emulate/runtime/image.h"

#include <stdlib.h>

typedef struct image *CUmodule;
typedef struct image *CUlibrary;
typedef struct kernel *CUfunction;

static bool is_module(const struct image *m)
{
    return handle_is(m, HANDLE_MODULE);
}

static bool is_library(const struct image *m)
{
    return handle_is(m, HANDLE_LIBRARY);
}

/* ---- what the program asks of a compilation ---- */
enum { MAX_REGISTERS, INFO_LOG = 3, INFO_BYTES, ERROR_LOG, ERROR_BYTES };
struct options {
    unsigned n;
    const int *option;
    void **value;
};

static void *of_option(const struct options *o, int which)
{
    for (unsigned i = 0; i < o->n; i++)
        if (o->option[i] == which)
            return o->value[i];
    return NULL;
}

static void set_option(const struct options *o, int which, size_t v)
{
    for (unsigned i = 0; i < o->n; i++)
        if (o->option[i] == which)
            o->value[i] = (void *)(uintptr_t)v;
}

/* The log goes where the program has room for it. Frees it. */
static void put_log(const struct options *o, struct image_log *log)
{
    char *to = of_option(o, ERROR_LOG), *info = of_option(o, INFO_LOG);
    size_t room = (uintptr_t)of_option(o, ERROR_BYTES), n = log->text ? strlen(log->text) : 0;
    n = n < room ? n : room ? room - 1 : 0;
    if (to && room) {
        memcpy(to, log->text ? log->text : "", n);
        to[n] = 0;
    }
    if (info && of_option(o, INFO_BYTES))
        *info = 0;
    set_option(o, ERROR_BYTES, n);
    set_option(o, INFO_BYTES, 0);
    free(log->text);
}

static CUresult load(struct image **out, const void *data, const char *path, const struct context *owner,
                     const struct options *o)
{
    struct image_log log = { 0 };
    if (!out || (!data && !path) || (o->n && (!o->option || !o->value)))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult e = path ? image_open_file(path, owner, out, &log) : image_open(data, owner, out, &log);
    put_log(o, &log);
    uint32_t most = (uint32_t)(uintptr_t)of_option(o, MAX_REGISTERS);
    if (!e && most)
        (*out)->registers = most;
    return e;
}

/* ---- modules ---- */
static const struct options none;

SAME(cuModuleLoadData, (CUmodule * out, const void *image), load(out, image, NULL, context_now(), &none))
SAME(cuModuleLoadFatBinary, (CUmodule * out, const void *image),
     load(out, image, NULL, context_now(), &none))
SAME(cuModuleLoad, (CUmodule * out, const char *path), load(out, NULL, path, context_now(), &none))

EXPORT CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned n, const int *option,
                                   void **value)
{
    const struct options o = { n, option, value };
    DRIVER(true, load(out, image, NULL, context_now(), &o));
}

static CUresult unload(struct image *m, bool there)
{
    if (there)
        image_close(m);
    return there ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

ENDS(cuModuleUnload, (CUmodule m), unload(m, is_module(m)))

static CUresult function(CUfunction *out, const struct image *m, bool there, const char *name)
{
    if (!out || !name)
        return CUDA_ERROR_INVALID_VALUE;
    return there ? image_kernel(m, name, out) : CUDA_ERROR_INVALID_HANDLE;
}

SAME(cuModuleGetFunction, (CUfunction * out, CUmodule m, const char *name),
     function(out, m, is_module(m), name))

static CUresult variable(void **p, size_t *n, const struct image *m, bool there, const char *name)
{
    if (!name || (!p && !n))
        return CUDA_ERROR_INVALID_VALUE;
    return there ? image_variable(m, name, p, n) : CUDA_ERROR_INVALID_HANDLE;
}

SAME(cuModuleGetGlobal_v2, (void **p, size_t *n, CUmodule m, const char *name),
     variable(p, n, m, is_module(m), name))

static CUresult count(unsigned *n, const struct image *m, bool there)
{
    if (!n || !there)
        return n ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    *n = (unsigned)m->nkernels;
    return CUDA_SUCCESS;
}

SAME(cuModuleGetFunctionCount, (unsigned *n, CUmodule m), count(n, m, is_module(m)))

static CUresult enumerate(CUfunction *out, unsigned n, const struct image *m, bool there)
{
    CUresult e = !out ? CUDA_ERROR_INVALID_VALUE : there ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    for (unsigned i = 0; !e && i < n && i < m->nkernels; i++)
        e = image_kernel(m, image_name(m, i), &out[i]);
    return e;
}

SAME(cuModuleEnumerateFunctions, (CUfunction * out, unsigned n, CUmodule m),
     enumerate(out, n, m, is_module(m)))

ENDS(cuModuleGetLoadingMode, (int *mode), ANSWER(mode, 1)) /* eager */

/* ---- libraries ---- */
#define LIBRARY_OPTIONS                                                                           \
    const int *option, void **value, unsigned n, const int *library_option, void **library_value, \
        unsigned nlibrary
#define LIBRARY_LOAD(data, path)                                \
    ((void)library_option, (void)library_value, (void)nlibrary, \
     load(out, data, path, NULL, &(struct options){ n, option, value }))
ENDS(cuLibraryLoadData, (CUlibrary * out, const void *code, LIBRARY_OPTIONS), LIBRARY_LOAD(code, NULL))
ENDS(cuLibraryLoadFromFile, (CUlibrary * out, const char *path, LIBRARY_OPTIONS),
     LIBRARY_LOAD(NULL, path))
ENDS(cuLibraryUnload, (CUlibrary l), unload(l, is_library(l)))
ENDS(cuLibraryGetKernel, (CUfunction * out, CUlibrary l, const char *name),
     function(out, l, is_library(l), name))
ENDS(cuLibraryGetKernelCount, (unsigned *n, CUlibrary l), count(n, l, is_library(l)))
ENDS(cuLibraryEnumerateKernels, (CUfunction * out, unsigned n, CUlibrary l),
     enumerate(out, n, l, is_library(l)))

static CUresult within(CUmodule *out, CUlibrary l)
{
    if (!out || !is_library(l))
        return out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    struct image *m = image_within(l, context_now());
    if (m)
        *out = m;
    return m ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SAME(cuLibraryGetModule, (CUmodule * out, CUlibrary l), within(out, l))
SAME(cuLibraryGetGlobal, (void **p, size_t *n, CUlibrary l, const char *name),
     variable(p, n, l, is_library(l), name))

/* ---- of a kernel ---- */
#define OF_KERNEL(k, out, value) \
    ((out) && !is_function(k) ? CUDA_ERROR_INVALID_HANDLE : ANSWER(out, value))
SAME(cuKernelGetFunction, (CUfunction * out, CUfunction k), OF_KERNEL(k, out, k))
ENDS(cuKernelGetName, (const char **out, CUfunction k), OF_KERNEL(k, out, k->name))
ENDS(cuFuncGetName, (const char **out, CUfunction k), OF_KERNEL(k, out, k->name))

static CUresult put_image(struct image **out, const struct kernel *k, bool library)
{
    if (!out || !is_function(k))
        return out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    struct image *m = image_of(k);
    if (!m || (library && m->owner))
        return CUDA_ERROR_INVALID_HANDLE;
    *out = library || m->owner ? m : image_within(m, context_now());
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

ENDS(cuKernelGetLibrary, (CUlibrary * out, CUfunction k), put_image(out, k, true))

SAME(cuFuncGetModule, (CUmodule * out, CUfunction f), put_image(out, f, false))
SAME(cuFuncIsLoaded, (int *state, CUfunction f),
     is_function(f) ? ANSWER(state, 1) : CUDA_ERROR_INVALID_HANDLE)
SAME(cuFuncLoad, (CUfunction f), is_function(f) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE)

/* ---- the runtime's libraries ---- */
LOCKED(cudaLibraryLoadData, (CUlibrary * out, const void *code, LIBRARY_OPTIONS),
       LIBRARY_LOAD(code, NULL))
LOCKED(cudaLibraryLoadFromFile, (CUlibrary * out, const char *path, LIBRARY_OPTIONS),
       LIBRARY_LOAD(NULL, path))
LOCKED(cudaLibraryUnload, (CUlibrary l), unload(l, is_library(l)))
LOCKED(cudaLibraryGetKernel, (CUfunction * out, CUlibrary l, const char *name),
       function(out, l, is_library(l), name))
LOCKED(cudaLibraryGetGlobal, (void **p, size_t *n, CUlibrary l, const char *name),
       variable(p, n, l, is_library(l), name))
LOCKED(cudaLibraryGetKernelCount, (unsigned *n, CUlibrary l), count(n, l, is_library(l)))
LOCKED(cudaLibraryEnumerateKernels, (CUfunction * out, unsigned n, CUlibrary l),
       enumerate(out, n, l, is_library(l)))
