/* Private to the driver's interface: copies of rows and slices, as the program gives them. */
#pragma once

#include "engine/emulate/driver/driver.h"

struct side_given {
    size_t x; /* bytes, rows, slices */
    size_t y;
    size_t z;
    int type; /* of the memory: 1 host, 2 device, 3 array, 4 either */
    const void *host;
    CUdeviceptr device;
    cudaArray_t array;
    size_t pitch, height; /* bytes of a row, rows of a slice */
};
struct copy_given {
    struct side_given from, to;
    size_t width; /* bytes, rows, slices */
    size_t height;
    size_t depth;
};
/* CUDA_MEMCPY3D of cuda.h, and CUDA_MEMCPY3D_PEER: they differ in `context`, which the first reserves. */
struct memcpy3d_side {
    size_t x;
    size_t y;
    size_t z;
    size_t lod;
    int type;
    const void *host;
    CUdeviceptr device;
    cudaArray_t array;
    CUcontext context;
    size_t pitch, height;
};
struct memcpy3d {
    struct memcpy3d_side from, to;
    size_t width;
    size_t height;
    size_t depth;
};
/* CUDA_ERROR_INVALID_VALUE: NULL, or levels of an array. */
CUresult copy3d_given(const struct memcpy3d *c, struct copy_given *out);
/* An operation of nothing where nothing is copied. What cannot be copied is an error, and *op holds
 * nothing. */
CUresult copy_op(struct op *op, const struct copy_given *c);
