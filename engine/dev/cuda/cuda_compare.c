/* What a launch changed, found on the device: writes into guard zones, modified
 * buffers, and whether an output is byte for byte what an earlier launch left.
 * Only an output that no launch left before is read back to be hashed. */
#include "engine/dev/cuda/cuda_int.h"
#include "engine/rec/data.h"
#include "engine/rec/launch_arg.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/result_read.h"

#define STAGING_MAX (256ull << 20)
#define THREADS     256u
#define CHUNK       16u /* bytes that one thread compares at a time */

/* Compares n bytes (a multiple of 16) at a and b and adds what it finds to *out (struct cuda_diff):
 * flags bit 0 a byte in [lo, hi) differs, bit 1 one outside does; the number of those in it; the
 * greatest ~(offset - lo) of one. A thread takes 16 bytes at a time, and looks at single bytes only
 * where they differ. */
static const char COMPARE_PTX[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry gpulocw_compare(.param .u64 a, .param .u64 b, .param .u64 n, .param .u64 lo, "
    ".param .u64 hi, .param .u64 out)\n"
    "{\n"
    "  .reg .pred %p<8>; .reg .b32 %r<20>; .reg .b64 %d<20>; .shared .align 8 .u64 sum[3];\n"
    "  ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u64 %d3, [n];\n"
    "  ld.param.u64 %d4, [lo]; ld.param.u64 %d5, [hi]; ld.param.u64 %d6, [out];\n"
    "  cvta.to.global.u64 %d1, %d1; cvta.to.global.u64 %d2, %d2; cvta.to.global.u64 %d6, %d6;\n"
    "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mov.u32 %r4, %nctaid.x;\n"
    "  mul.wide.u32 %d7, %r1, %r2; cvt.u64.u32 %d8, %r3; add.u64 %d7, %d7, %d8; shl.b64 %d7, %d7, 4;\n"
    "  mul.wide.u32 %d9, %r4, %r2; shl.b64 %d9, %d9, 4;\n"
    "  mov.u32 %r10, 0; mov.u64 %d12, 0; mov.u64 %d13, 0;\n"
    "  setp.ne.u32 %p0, %r3, 0;\n"
    "  @%p0 bra ready;\n"
    "  st.shared.u64 [sum], %d12; st.shared.u64 [sum+8], %d12; st.shared.u64 [sum+16], %d12;\n"
    "ready:\n"
    "  bar.sync 0;\n"
    "again:\n"
    "  setp.ge.u64 %p1, %d7, %d3;\n"
    "  @%p1 bra done;\n"
    "  add.u64 %d10, %d1, %d7; add.u64 %d11, %d2, %d7;\n"
    "  ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d10]; ld.global.v4.u32 {%r11, %r12, %r13, %r14}, "
    "[%d11];\n"
    "  xor.b32 %r4, %r4, %r11; xor.b32 %r5, %r5, %r12; xor.b32 %r6, %r6, %r13; xor.b32 %r7, %r7, %r14;\n"
    "  or.b32 %r15, %r4, %r5; or.b32 %r16, %r6, %r7; or.b32 %r15, %r15, %r16;\n"
    "  setp.eq.u32 %p2, %r15, 0;\n"
    "  @%p2 bra next;\n"
    "  mov.u32 %r17, 0;\n"
    "bytes:\n"
    "  and.b32 %r18, %r4, 255;\n"
    "  setp.eq.u32 %p3, %r18, 0;\n"
    "  @%p3 bra same;\n"
    "  cvt.u64.u32 %d14, %r17; add.u64 %d14, %d7, %d14;\n"
    "  setp.ge.u64 %p4, %d14, %d4; setp.lt.and.u64 %p5, %d14, %d5, %p4;\n"
    "  @%p5 bra inside;\n"
    "  or.b32 %r10, %r10, 2;\n"
    "  bra same;\n"
    "inside:\n"
    "  or.b32 %r10, %r10, 1; add.u64 %d12, %d12, 1;\n"
    "  sub.u64 %d15, %d14, %d4; not.b64 %d15, %d15; max.u64 %d13, %d13, %d15;\n"
    "same:\n"
    "  shf.r.wrap.b32 %r4, %r4, %r5, 8; shf.r.wrap.b32 %r5, %r5, %r6, 8; shf.r.wrap.b32 %r6, %r6, %r7, "
    "8; shr.u32 %r7, %r7, 8;\n"
    "  add.u32 %r17, %r17, 1;\n"
    "  setp.lt.u32 %p6, %r17, 16;\n"
    "  @%p6 bra bytes;\n"
    "next:\n"
    "  add.u64 %d7, %d7, %d9;\n"
    "  bra again;\n"
    "done:\n"
    "  setp.eq.u32 %p1, %r10, 0;\n"
    "  @%p1 bra meet;\n"
    "  cvt.u64.u32 %d16, %r10;\n"
    "  red.shared.or.b64 [sum], %d16; red.shared.add.u64 [sum+8], %d12; red.shared.max.u64 [sum+16], "
    "%d13;\n"
    "meet:\n"
    "  bar.sync 0;\n"
    "  ld.shared.u64 %d16, [sum]; ld.shared.u64 %d12, [sum+8]; ld.shared.u64 %d13, [sum+16];\n"
    "  setp.eq.or.u64 %p2, %d16, 0, %p0;\n"
    "  @%p2 bra end;\n"
    "  red.global.or.b64 [%d6], %d16; red.global.add.u64 [%d6+8], %d12; red.global.max.u64 [%d6+16], "
    "%d13;\n"
    "end:\n"
    "  ret;\n"
    "}\n";

const char *cuda_compare_ptx(void)
{
    return COMPARE_PTX;
}

/* Room for n comparisons. Where the kernel cannot be had every buffer counts as modified and outputs are
 * read back. */
static bool helper_ready(struct cuda_dev *d, size_t n)
{
    if (!d->helper_tried) {
        d->helper_tried = true;
        if (d->drv.module_load(&d->helper, COMPARE_PTX, 0, NULL, NULL) != DRV_SUCCESS ||
            d->drv.module_function(&d->compare, d->helper, "gpulocw_compare") != DRV_SUCCESS)
            d->compare = NULL;
    }
    if (d->ndiffs < n) {
        if (d->diffs)
            d->drv.mem_free(d->diffs);
        d->ndiffs = d->drv.mem_alloc(&d->diffs, n * sizeof(struct cuda_diff)) == DRV_SUCCESS ? n : 0;
    }
    return d->compare && d->ndiffs >= n;
}

/* One comparison, its findings in slot `to`; n is rounded up to what a thread takes: both sides must
 * have that much. */
static enum status compare(struct cuda_job *j, drv_ptr a, drv_ptr b, uint64_t n, uint64_t lo,
                           uint64_t hi, size_t to)
{
    struct cuda_dev *d = j->d;
    uint64_t whole = (n + CHUNK - 1) / CHUNK * CHUNK, blocks = (whole / CHUNK + THREADS - 1) / THREADS,
             most = 16ull * d->base.info.sms;
    drv_ptr out = d->diffs + to * sizeof(struct cuda_diff);
    void *params[] = { &a, &b, &whole, &lo, &hi, &out };
    unsigned grid = (unsigned)(blocks < most || !most ? blocks : most);
    drv_result e =
        d->drv.launch(d->compare, grid ? grid : 1, 1, 1, THREADS, 1, 1, 0, d->stream, params, NULL);
    return cuda_check(d, e, "comparison of buffers", j->ds);
}

/* Slots 0..n-1: live against pristine, guard zones included; n..2n-1: data against the output kept. */
static enum status compare_all(struct cuda_job *j)
{
    enum status st = ST_OK;
    size_t n = j->b->bound.nbuffers;
    for (size_t i = 0; st == ST_OK && i < n; i++) {
        const struct cuda_buffer *c = &j->b->buffers[i];
        uint64_t bytes = j->b->bound.buffers[i].bytes;
        st = compare(j, c->live, c->pristine, c->bytes, CUDA_GUARD, CUDA_GUARD + bytes, i);
        if (st == ST_OK && j->b->ref[i].valid)
            st = compare(j, c->live + CUDA_GUARD, j->b->ref[i].copy, bytes, 0, bytes, n + i);
    }
    return st;
}

static enum status find_diffs(struct cuda_job *j, struct cuda_diff *diffs, size_t n)
{
    struct cuda_dev *d = j->d;
    enum status st = cuda_check(d, d->drv.set_async(d->diffs, 0, n * sizeof *diffs, d->stream),
                                "comparison of buffers", j->ds);
    if (st == ST_OK)
        st = compare_all(j);
    if (st == ST_OK)
        st = cuda_check(d, d->drv.context_sync(), "comparison of buffers", j->ds);
    return st == ST_OK ? cuda_check(d, d->drv.copy_out(diffs, d->diffs, n * sizeof *diffs),
                                    "comparison of buffers", j->ds)
                       : st;
}

static enum status judge(struct cuda_job *j, const struct cuda_diff *diffs)
{
    for (size_t i = 0; i < j->b->bound.nbuffers; i++) {
        j->b->buffers[i].modified = diffs[i].flags != 0;
        if (!(diffs[i].flags & CUDA_DIFF_OUTSIDE))
            continue;
        j->b->dirty = true;
        for (size_t k = 0; k < j->b->bound.nbuffers; k++) /* it may have written there, too */
            j->b->ref[k].valid = false;
        const char *name = j->b->bound.buffers[i].name;
        diag_error(j->ds, "out-of-bounds", "the kernel wrote outside buffer '%s'", name ? name : "?");
        return ST_DEVICE;
    }
    return ST_OK;
}

/* ---- outputs ---- */
/* Page-locked memory kept between launches: copies into it run at the link's speed. NULL: none to be
 * had. */
static uint8_t *cuda_staging(struct cuda_dev *d, uint64_t n)
{
    if (n <= d->staging_bytes)
        return d->staging;
    if (n > STAGING_MAX)
        return NULL;
    void *p = NULL;
    if (d->staging)
        d->drv.host_free(d->staging);
    d->staging_bytes = d->drv.host_alloc(&p, (size_t)n) == DRV_SUCCESS ? n : 0;
    d->staging = d->staging_bytes ? p : NULL;
    return d->staging;
}

static enum status read_hash(struct cuda_job *j, const struct dev_buffer *buf, uint64_t *hash)
{
    uint8_t *fast = cuda_staging(j->d, buf->bytes),
            *own = fast ? NULL : base_alloc(buf->bytes ? buf->bytes : 1);
    uint8_t *bytes = fast ? fast : own;
    if (!bytes)
        return ST_NOMEM;
    enum status st =
        cuda_check(j->d, j->d->drv.copy_out(bytes, buf->addr, buf->bytes), "reading an output", j->ds);
    if (st == ST_OK)
        *hash = base_hash(bytes, buf->bytes);
    base_free(own);
    return st;
}

/* Keeps a first output, if there is room for it. */
static enum status keep(struct cuda_job *j, size_t i, uint64_t hash)
{
    struct cuda_dev *d = j->d;
    struct cuda_reference *ref = &j->b->ref[i];
    const struct dev_buffer *buf = &j->b->bound.buffers[i];
    uint64_t room = (buf->bytes + CHUNK - 1) / CHUNK * CHUNK;
    if (ref->valid || !d->compare ||
        (!ref->copy && d->drv.mem_alloc(&ref->copy, (size_t)room) != DRV_SUCCESS))
        return ST_OK;
    enum status st = cuda_check(d, d->drv.copy_async(ref->copy, buf->addr, buf->bytes, d->stream),
                                "copy of an output", j->ds);
    ref->hash = hash;
    ref->valid = st == ST_OK;
    return st;
}

/* diff: against the output kept; NULL: none was, or it could not be compared. Its flag for bytes outside
 * is of the padding and says nothing. */
static enum status take_output(struct cuda_job *j, const struct arg_spec *a, size_t i,
                               const struct cuda_diff *diff)
{
    const struct cuda_reference *ref = &j->b->ref[i];
    struct output_hash h = { .hash = ref->hash };
    enum status st = ST_OK;
    if (!diff || diff->count) {
        st = read_hash(j, &j->b->bound.buffers[i], &h.hash);
        if (st == ST_OK)
            st = keep(j, i, h.hash);
    }
    if (diff && diff->count) {
        h.other = ref->hash;
        h.differ = diff->count;
        h.first = ~diff->not_first;
    }
    if (st == ST_OK)
        dev_result_hash(j->out, a->name, &h);
    return st;
}

static enum status take_outputs(struct cuda_job *j, const struct cuda_diff *diffs)
{
    const struct launch_spec *l = j->b->base.data->spec;
    enum status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < launch_nargs(l); i++) {
        size_t k = j->b->bound.main_use[i].buffer;
        if (launch_arg(l, i)->output && k != SIZE_MAX)
            st = take_output(j, launch_arg(l, i), k, diffs && j->b->ref[k].valid ? &diffs[k] : NULL);
    }
    return st;
}

enum status cuda_inspect(struct cuda_job *j)
{
    size_t n = j->b->bound.nbuffers;
    if (!n)
        return ST_OK;
    if (!helper_ready(j->d, 2 * n))
        return take_outputs(j, NULL);
    struct cuda_diff *diffs = base_alloc(2 * n * sizeof *diffs);
    enum status st = diffs ? find_diffs(j, diffs, 2 * n) : ST_NOMEM;
    if (st == ST_OK)
        st = judge(j, diffs);
    if (st == ST_OK)
        st = take_outputs(j, diffs + n);
    base_free(diffs);
    return st;
}
