/* Which thread does what work, in CUDA C++. The rewrite gives the body other coordinates than the special
 * registers have; so does the source, by variables of the body that are called as the built-in ones:
 *
 *   __global__ void k(float *a, int n)            __global__ void k(float *a, int n)
 *   {                                             {
 *                                                     const uint3 blockIdx = gpulocw_cta();
 *       int i = blockIdx.x * 128 + threadIdx.x;       int i = blockIdx.x * 128 + threadIdx.x;
 *
 * The body stays as it is. Functions that it calls see the built-in variables: a kernel that calls one
 * which reads them has no such form. A coarsened body becomes a function of its own inside a loop, so that
 * `return` goes on to the next iteration. */
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_schedule.h"
#include "engine/workspace/source/cuda_text.h"

#include <string.h>

#define CTA "gpulocw_cta()"

/* ---- the order of CTAs ---- */
static void order_text(const struct source_editing *h, struct buf *b)
{
    const struct opt_cluster *o = opt_cluster(h->k->options);
    unsigned m = h->k->code.meaning.clusters, tx = o->index.tx, ty = o->index.ty;
    buf_printf(b,
               "// CTAs renamed, so that those that share data meet on one SM (%u clusters).\n"
               "static __device__ __forceinline__ uint3 gpulocw_cta()\n"
               "{\n"
               "    unsigned nx = gridDim.x, ny = gridDim.y, all = nx * ny * gridDim.z;\n"
               "    unsigned u = (blockIdx.z * ny + blockIdx.y) * nx + blockIdx.x;\n"
               "    unsigned q = all / %u, r = all %% %u, i = u %% %u;\n"
               "    unsigned v = i * q + min(i, r) + u / %u;\n"
               "    unsigned z = v / (nx * ny), w = v %% (nx * ny);\n",
               m, m, m, m, m);
    if (o->index.kind == INDEX_TILE)
        buf_printf(b,
                   "    unsigned row = w / (nx * %u), at = w %% (nx * %u);\n"
                   "    unsigned high = min(ny - row * %u, %uu), tile = at / (high * %u), in = at %% "
                   "(high * %u);\n"
                   "    unsigned wide = min(nx - tile * %u, %uu);\n"
                   "    return make_uint3(tile * %u + in %% wide, row * %u + in / wide, z);\n}",
                   ty, ty, ty, ty, tx, tx, tx, tx, tx, ty);
    else if (o->index.kind == INDEX_COLUMN)
        buf_puts(b, "    return make_uint3(w / ny, w % ny, z);\n}");
    else
        buf_puts(b, "    return make_uint3(w % nx, w / nx, z);\n}");
}

/* Is dimension d of the launch that of the original? */
static bool kept(const struct tuned_kernel *k, int d)
{
    const struct opt_schedule *o = opt_schedule(k->options);
    return !(o->swap_xy && d < 2) && dim3u_at(k->block, d) == dim3u_at(k->tblock, d) &&
           (d || o->coarsen <= 1);
}

/* "{ gpulocw_x / 64, gpulocw_at.y, gpulocw_at.z }" */
static void triple_text(const struct tuned_kernel *k, char sign, const char *as_it_is, struct buf *b)
{
    for (int d = 0; d < 3; d++) {
        buf_puts(b, d ? ", " : "{ ");
        if (kept(k, d))
            buf_printf(b, "%s.%c", as_it_is, 'x' + d);
        else
            buf_printf(b, "gpulocw_%c %c %u", 'x' + d, sign, dim3u_at(k->block, d));
    }
    buf_puts(b, " }");
}

/* What the pass `schedule` computes, dimension d of the launch driving dimension a of the original. */
static void index_text(const struct source_editing *h, int d, bool loop, struct buf *b)
{
    const struct tuned_kernel *k = h->k;
    const struct opt_schedule *o = opt_schedule(k->options);
    int a = o->swap_xy && d < 2 ? 1 - d : d;
    char from = (char)('x' + d), to = (char)('x' + a);
    uint64_t total = (uint64_t)dim3u_at(k->grid, a) * dim3u_at(k->block, a);
    uint64_t span = (uint64_t)dim3u_at(k->tgrid, d) * dim3u_at(k->tblock, d);
    bool several = loop && d == 0;
    buf_printf(b, "    %sunsigned gpulocw_%c = gpulocw_at.%c * %u + ::threadIdx.%c;\n",
               several ? "" : "const ", to, from, dim3u_at(k->tblock, d), from);
    if (several && o->coarsen_mode == COARSEN_BLOCKED)
        buf_printf(b, "    gpulocw_%c = gpulocw_%c * %d + gpulocw_k;\n", to, to, o->coarsen);
    else if (several)
        buf_printf(b, "    gpulocw_%c += gpulocw_k * %llu;\n", to, (unsigned long long)span);
    if (total != span * (several ? (unsigned)o->coarsen : 1))
        buf_printf(b, "    if (gpulocw_%c >= %llu)\n        %s;\n", to, (unsigned long long)total,
                   loop ? "continue" : "return");
}

static void thread_text(const struct source_editing *h, const char *cta, struct buf *b)
{
    const struct tuned_kernel *k = h->k;
    const struct opt_schedule *o = opt_schedule(k->options);
    bool loop = o->coarsen > 1;
    buf_printf(b,
               "    // The threads of grid (%u, %u, %u) and block (%u, %u, %u), on a launch of grid "
               "(%u, %u, %u) and block (%u, %u, %u).\n",
               k->grid.x, k->grid.y, k->grid.z, k->block.x, k->block.y, k->block.z, k->tgrid.x,
               k->tgrid.y, k->tgrid.z, k->tblock.x, k->tblock.y, k->tblock.z);
    buf_printf(b, "    const uint3 gpulocw_at = %s;\n", cta);
    if (loop)
        buf_printf(b,
                   "#pragma unroll 1\n"
                   "    for (unsigned gpulocw_k = 0; gpulocw_k < %d; gpulocw_k++) {\n",
                   o->coarsen);
    for (int d = 2; d >= 0; d--)
        if (!kept(k, d))
            index_text(h, d, loop, b);
    buf_puts(b, "    const uint3 blockIdx = ");
    triple_text(k, '/', "gpulocw_at", b);
    buf_puts(b, ", threadIdx = ");
    triple_text(k, '%', "::threadIdx", b);
    buf_printf(b, ";\n    const dim3 blockDim(%u, %u, %u), gridDim(%u, %u, %u);", k->block.x, k->block.y,
               k->block.z, k->grid.x, k->grid.y, k->grid.z);
    if (loop)
        buf_puts(b, "\n    [&] {");
}

static bool others_read(const struct cuda_kernel *d, bool threads)
{
    static const char *const words[] = { "blockIdx", "gridDim", "threadIdx", "blockDim" };
    bool any = false;
    for (size_t i = 0; i < (threads ? ARRAY_LEN(words) : 1); i++)
        any |= cuda_others_say(d, words[i]);
    return any;
}

static const char *knob_of(const struct options *o)
{
    return opt_schedule(o)->swap_xy ? "swap-xy" : opt_schedule(o)->coarsen > 1 ? "coarsen" : "block";
}

static void say_agents(struct source_editing *h, const struct cuda_kernel *d)
{
    source_say(h, "cluster", d ? d->file : NULL, d ? d->line : 0, SOURCE_WORDS,
               "persistent CTAs, which claim the work of the original's CTAs from a counter of each SM");
}

void cuda_place(struct source_editing *h, const struct cuda_kernel *d)
{
    const struct options *o = h->k->options;
    const struct opt_schedule *s = opt_schedule(o);
    bool threads = (s->block.x || s->swap_xy || s->coarsen > 1) && !h->launch_alone;
    bool order = opt_cluster(o)->kind != CLUSTER_NONE;
    bool plain = opt_cluster(o)->kind == CLUSTER_REDIRECT && h->k->code.meaning.clusters &&
                 !INDEX_BY_TABLE(opt_cluster(o)->index.kind);
    bool possible = d && (!order || plain) && (!threads || h->k->has_launch) &&
                    !(s->coarsen > 1 && s->coarsen_mode == COARSEN_VECTOR) && !others_read(d, threads);
    struct buf helper = { 0 }, first = { 0 }, last = { 0 };
    if (!threads && !order)
        return;
    if (possible && threads)
        thread_text(h, order ? CTA : "::blockIdx", &first);
    else if (possible)
        buf_puts(&first, "    const uint3 blockIdx = " CTA ";");
    if (possible && threads && s->coarsen > 1)
        buf_printf(&last, "    }();\n%s    }",
                   h->k->code.meaning.meets ? "    __syncthreads(); // before the next iteration\n"
                                            : "");
    bool edited = possible && first.s && cuda_wrap_body(h, d, first.s, last.s);
    if (edited && order) {
        order_text(h, &helper);
        source_edit(h, d->file, cuda_helper_line(d->file), true, helper.s ? helper.s : "");
    }
    enum source_form form = edited ? SOURCE_EDIT : SOURCE_WORDS;
    if (opt_cluster(o)->kind == CLUSTER_AGENT)
        say_agents(h, d);
    else if (order)
        source_say(h, "cluster", d ? d->file : NULL, d ? d->line : 0, form,
                   "the CTAs of a launch in another order: blockIdx is " CTA " in the kernel");
    if (threads)
        source_say(
            h, knob_of(o), d ? d->file : NULL, d ? d->line : 0, form,
            s->coarsen_mode == COARSEN_VECTOR && s->coarsen > 1
                ? "%d neighbours in x side by side in one thread, their loads and stores as vectors"
                : "the threads of the original's grid on another launch: the built-in variables "
                  "are variables of the kernel",
            s->coarsen);
    h->oom |= helper.oom || first.oom || last.oom;
    buf_free(&helper);
    buf_free(&first);
    buf_free(&last);
}
