/* Plain-C references of the demo kernels: what each kernel computes, thread by
 * thread, in the order of operations of the PTX (fmaf where nvcc contracted), so
 * that results are bit-identical. Compile with -ffp-contract=off. */
#ifndef GPULOCW_REF_H
#define GPULOCW_REF_H

#include "engine/rec/counters.h"
#include "engine/rec/data.h"
#include "engine/rec/device.h"
#include "engine/rec/elem.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/options.h"
#include "engine/rec/result.h"

struct ref_call;

/* Runs the launch (and its `before` launches) on data's buffers, in place.
 * False: no reference for one of the kernels, or an argument is missing. */
bool ref_run(const struct launch_spec *l, struct launch_data *data);
bool ref_known(const char *kernel);

/* ---- for the kernels themselves ---- */
struct ref_call {
    const struct launch_spec *l;     /* grid, block and arguments of this launch */
    const struct launch_buffer *own; /* its buffers */
    const struct launch_spec *outer; /* the main launch, for same_as across launches */
    struct launch_buffer *outer_own;
    bool missing; /* an argument asked for was not there */
};
void *ref_buffer(struct ref_call *c, const char *name);
int32_t ref_int(struct ref_call *c, const char *name);
float ref_float(struct ref_call *c, const char *name);
static inline int32_t ref_threads_x(const struct ref_call *c)
{
    return (int32_t)(c->l->grid.x * c->l->block.x);
}

#define REF_KERNELS(X)       \
    X(stride_32)             \
    X(stride_4)              \
    X(same_location)         \
    X(coalescing)            \
    X(valley)                \
    X(bfs_kernel1)           \
    X(bfs_kernel2)           \
    X(atax1)                 \
    X(atax2)                 \
    X(bicg1)                 \
    X(bicg2)                 \
    X(gesummv)               \
    X(mvt1)                  \
    X(mvt2)                  \
    X(syrk)                  \
    X(gemm)                  \
    X(conv2d)                \
    X(conv3d)                \
    X(kmeans)                \
    X(spmv)                  \
    X(backprop_forward)      \
    X(backprop_adjust)       \
    X(stencil3d)             \
    X(transpose_naive)       \
    X(transpose_tiled)       \
    X(nbody)                 \
    X(cta_locality_temporal) \
    X(cta_locality_spatial)  \
    X(tile_share)            \
    X(softcache_stream)      \
    X(histogram)             \
    X(reduction)             \
    X(dot_atomic)            \
    X(redblack)              \
    X(btree_build)           \
    X(btree_find)            \
    X(btree_range)           \
    X(particlefilter)        \
    X(streamcluster)         \
    X(similarityscore)       \
    X(srad)                  \
    X(srad2)                 \
    X(dct)                   \
    X(imd)                   \
    X(sad)                   \
    X(dxt)                   \
    X(nw)                    \
    X(blackscholes)          \
    X(montecarlo)            \
    X(nn)                    \
    X(mm_tiled)              \
    X(cta_reuse)             \
    X(hotspot)               \
    X(sgemm)                 \
    X(syr2k)                 \
    X(nodes_link)            \
    X(nodes_bfs)             \
    X(nodes_tree)            \
    X(nodes_find)            \
    X(nodes_range)
#define X(name) void ref_##name(struct ref_call *c);
REF_KERNELS(X)
#undef X

#endif
