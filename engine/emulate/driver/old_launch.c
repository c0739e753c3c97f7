/* The oldest form of a launch: shape and parameters are set one by one, and stay. */
#include "engine/emulate/driver/driver.h"

#include <stdlib.h>
#include <string.h>

enum { PARAMS_MOST = 4096, BLOCK_MOST = 1024, SHARED_MOST = 1 << 28 };
typedef struct kernel *CUfunction;
struct old_form {
    unsigned block[3];
    unsigned shared;
    size_t bytes; /* of the parameters */
    uint8_t param[PARAMS_MOST];
};

static CUresult form_of(CUfunction f, struct old_form **out)
{
    if (!is_function(f))
        return CUDA_ERROR_INVALID_HANDLE;
    if (!f->old)
        f->old = calloc(1, sizeof *f->old);
    *out = f->old;
    return f->old ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult set_block(CUfunction f, int x, int y, int z)
{
    struct old_form *o;
    if (x < 1 || y < 1 || z < 1 || x > BLOCK_MOST || y > BLOCK_MOST || z > BLOCK_MOST)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult e = form_of(f, &o);
    if (!e)
        memcpy(o->block, (unsigned[3]){ (unsigned)x, (unsigned)y, (unsigned)z }, sizeof o->block);
    return e;
}

SAME(cuFuncSetBlockShape, (CUfunction f, int x, int y, int z), set_block(f, x, y, z))

static CUresult set_shared(CUfunction f, unsigned n)
{
    struct old_form *o;
    CUresult e = n > SHARED_MOST ? CUDA_ERROR_INVALID_VALUE : form_of(f, &o);
    if (!e)
        o->shared = n;
    return e;
}

SAME(cuFuncSetSharedSize, (CUfunction f, unsigned n), set_shared(f, n))

static CUresult set_size(CUfunction f, unsigned n)
{
    struct old_form *o;
    CUresult e = n > PARAMS_MOST ? CUDA_ERROR_INVALID_VALUE : form_of(f, &o);
    if (!e)
        o->bytes = n;
    return e;
}

SAME(cuParamSetSize, (CUfunction f, unsigned n), set_size(f, n))

static CUresult put(CUfunction f, int at, const void *p, size_t n)
{
    struct old_form *o;
    if (!p || at < 0 || at > PARAMS_MOST || n > PARAMS_MOST - (size_t)at)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult e = form_of(f, &o);
    if (!e)
        memcpy(o->param + at, p, n);
    return e;
}

SAME(cuParamSeti, (CUfunction f, int at, unsigned v), put(f, at, &v, sizeof v))
SAME(cuParamSetf, (CUfunction f, int at, float v), put(f, at, &v, sizeof v))
SAME(cuParamSetv, (CUfunction f, int at, const void *p, unsigned n), put(f, at, p, n))

static CUresult launch(CUfunction f, int width, int height, cudaStream_t s)
{
    enum { END, BUFFER, SIZE };
    struct old_form *o;
    CUresult e = width < 1 || height < 1 ? CUDA_ERROR_INVALID_VALUE : form_of(f, &o);
    if (e || !o->block[0])
        return e ? e : CUDA_ERROR_INVALID_VALUE;
    void *extra[] = { (void *)BUFFER, o->param, (void *)SIZE, &o->bytes, (void *)END };
    const struct launch_want w = { .f = f,
                                   .grid = { (unsigned)width, (unsigned)height, 1 },
                                   .block = { o->block[0], o->block[1], o->block[2] },
                                   .shared = o->shared,
                                   .extra = extra };
    return launch_do(&w, s);
}

SAME(cuLaunch, (CUfunction f), launch(f, 1, 1, NULL))
SAME(cuLaunchGrid, (CUfunction f, int width, int height), launch(f, width, height, NULL))
SAME(cuLaunchGridAsync, (CUfunction f, int width, int height, cudaStream_t s),
     launch(f, width, height, s))
