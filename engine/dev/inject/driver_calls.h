/* Structs that the driver's calls take, as cuda.h and generated_cuda_meta.h have them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct launch_attribute { /* CUlaunchAttribute */
    int id;
    char pad[4];
    unsigned char value[64];
};
struct launch_config { /* CUlaunchConfig */
    unsigned grid[3];  /* CTAs */
    unsigned block[3]; /* threads */
    unsigned shared;   /* dynamic, bytes */
    void *stream;
    struct launch_attribute *attribute;
    unsigned nattributes;
};
/* Parameters of its calls, by the names of generated_cuda_meta.h. */
struct launch_call {
    void *f;
    unsigned grid[3];  /* CTAs */
    unsigned block[3]; /* threads */
    unsigned shared;   /* dynamic, bytes */
    void *stream;
    void **params, **extra; /* a cooperative launch has no extra */
};
struct launch_ex_call {
    const struct launch_config *config;
    void *f;
    void **params, **extra;
};

struct node_params { /* CUDA_KERNEL_NODE_PARAMS_v2; version 1 ends before `kernel` */
    void *f;
    unsigned grid[3];  /* CTAs */
    unsigned block[3]; /* threads */
    unsigned shared;   /* dynamic, bytes */
    void **params, **extra;
    void *kernel, *context;
};
struct copy3d {    /* CUDA_MEMCPY3D_v2 */
    size_t from_x; /* bytes */
    size_t from_y; /* rows */
    size_t from_z; /* slices */
    size_t from_lod;
    int from_type;
    const void *from_host;
    uint64_t from_device;
    void *from_array, *none0;
    size_t from_pitch, from_height;
    size_t to_x; /* bytes */
    size_t to_y; /* rows */
    size_t to_z; /* slices */
    size_t to_lod;
    int to_type;
    void *to_host;
    uint64_t to_device;
    void *to_array, *none1;
    size_t to_pitch, to_height;
    size_t width;  /* bytes */
    size_t height; /* rows */
    size_t depth;  /* slices */
};
