/* Activity records: which kernels ran, how often and how long; and the record of all of it. */
#include "engine/dev/inject/inject.h"
#include "engine/dev/inject/launched.h"
#include "engine/dev/inject/record.h"
#include "engine/dev/inject/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIND_CONCURRENT_KERNEL = 10, BUFFER = 1 << 20 };

/* One row for each shape of launch. */
static bool same_shape(const struct kernel *k, const struct ran *r)
{
    bool same = k->shared == (unsigned)r->shared;
    for (int d = 0; d < 3; d++)
        same = same && k->grid[d] == (unsigned)r->grid[d] && k->block[d] == (unsigned)r->block[d];
    return same;
}

static uint64_t bucket_of(const char *name)
{
    return hash_of(name, strlen(name)) % MOST_KERNELS;
}

/* The image of the kernels of that name; -1: none, or of several images. */
static int image_of(const char *name)
{
    int image = -1;
    for (int k = S.bucket[bucket_of(name)] - 1; k >= 0; k = S.kernel[k].next - 1) {
        if (strcmp(S.kernel[k].name, name) != 0 || S.kernel[k].image < 0)
            continue;
        if (image >= 0 && image != S.kernel[k].image)
            return -1;
        image = S.kernel[k].image;
    }
    return image;
}

static int kernel_find(const struct ran *r, int image)
{
    for (int k = S.bucket[bucket_of(r->name)] - 1; k >= 0; k = S.kernel[k].next - 1)
        if (S.kernel[k].image == image && strcmp(S.kernel[k].name, r->name) == 0 &&
            same_shape(&S.kernel[k], r))
            return k;
    return -1;
}

static int kernel_new(const struct ran *r, int image)
{
    char *name = S.nkernels < MOST_KERNELS ? strdup(r->name) : NULL;
    if (!name) {
        S.left_out++;
        return -1;
    }
    uint64_t b = bucket_of(name);
    struct kernel *k = &S.kernel[S.nkernels];
    *k = (struct kernel){
        .name = name, .image = image, .next = S.bucket[b], .shared = (unsigned)r->shared
    };
    for (int d = 0; d < 3; d++) {
        k->grid[d] = (unsigned)r->grid[d];
        k->block[d] = (unsigned)r->block[d];
    }
    S.bucket[b] = ++S.nkernels;
    return S.nkernels - 1;
}

/* The row of launches like this; made is true where it is new. -1: there is no room, or no name. */
static int row_of_launch(const struct launch *l, bool *made)
{
    struct ran r = { .name = l->name, .shared = (int32_t)l->shared };
    for (int d = 0; d < 3; d++) {
        r.grid[d] = (int32_t)l->grid[d];
        r.block[d] = (int32_t)l->block[d];
    }
    int k = l->name ? kernel_find(&r, l->image) : -1;
    *made = l->name && k < 0;
    return *made ? kernel_new(&r, l->image) : k;
}

void survey_known(const struct launch *l)
{
    bool made;
    if (l->image >= 0)
        row_of_launch(l, &made);
}

void survey_count(const struct launch *l)
{
    bool made;
    pthread_mutex_lock(&S.lock);
    int k = row_of_launch(l, &made);
    bool first = k >= 0 && S.kernel[k].counted == 0;
    if (k >= 0)
        __atomic_add_fetch(&S.kernel[k].counted, 1, __ATOMIC_RELAXED);
    if (l->handle)
        __atomic_store_n(&l->handle->row, k + 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&S.lock);
    if (k < 0)
        sample_never(l->correlation); /* what is not counted has to be recorded */
    else
        sample_launch(first);
}

bool survey_count_like(int row, const struct launch *l)
{
    struct kernel *k = &S.kernel[row];
    if (k->shared != l->shared || memcmp(k->grid, l->grid, sizeof k->grid) != 0 ||
        memcmp(k->block, l->block, sizeof k->block) != 0)
        return false;
    __atomic_add_fetch(&k->counted, 1, __ATOMIC_RELAXED);
    sample_launch(false);
    return true;
}

static void ran(const struct ran *r)
{
    apply_ran(r->correlation, r->name, r->start, r->end);
    int image;
    bool called = launched_image(r->correlation, &image);
    if (!called)
        image = image_of(r->name);
    int k = kernel_find(r, image);
    if (k < 0)
        k = kernel_new(r, image);
    if (k < 0)
        return;
    struct timed *t =
        called && sample_counted(r->correlation) ? &S.kernel[k].by_call : &S.kernel[k].other;
    S.ran++;
    t->launches++;
    t->ns += r->end > r->start ? r->end - r->start : 0;
}

void survey_wanted(uint8_t **buffer, size_t *n, size_t *most)
{
    *buffer = aligned_alloc(8, BUFFER);
    *n = *buffer ? BUFFER : 0;
    *most = 0;
}

void survey_full(void *context, uint32_t stream, uint8_t *buffer, size_t n, size_t valid)
{
    void *r = NULL;
    (void)context, (void)stream, (void)n;
    pthread_mutex_lock(&S.lock);
    while (valid && S.next_record(buffer, valid, &r) == 0)
        if (((const struct ran *)r)->kind == KIND_CONCURRENT_KERNEL && ((const struct ran *)r)->name)
            ran(r);
    pthread_mutex_unlock(&S.lock);
    free(buffer);
}

/* ---- the record ---- */
/* All executions of a kernel and their time; returns how many of them were timed. The time of the others
 * is taken as the mean of those. */
static uint64_t executions(const struct kernel *k, struct timed *all)
{
    uint64_t counted = __atomic_load_n(&k->counted, __ATOMIC_RELAXED), timed = k->by_call.launches;
    *all = k->by_call;
    if (sample_used() && counted > timed) {
        all->launches = counted;
        all->ns = timed ? (uint64_t)((double)k->by_call.ns / (double)timed * (double)counted) : 0;
    }
    all->launches += k->other.launches;
    all->ns += k->other.ns;
    return timed + k->other.launches;
}

void survey_put(int f)
{
    dprintf(f, "%s\n", LIVE_RECORD_HEAD);
    if (S.refused)
        dprintf(f, "R %s\n", S.refused);
    if (S.left_out)
        dprintf(f, "L %llu\n", (unsigned long long)S.left_out);
    for (int i = 0; i < S.nimages; i++)
        dprintf(f, "I %llu %llu %d %d %d\n", (unsigned long long)S.image[i].hash,
                (unsigned long long)S.image[i].bytes, S.image[i].ptx, S.image[i].cubin, S.image[i].lto);
    for (int i = 0; i < S.nkernels; i++) {
        const struct kernel *k = &S.kernel[i];
        struct timed all;
        uint64_t timed = executions(k, &all);
        if (!all.launches)
            continue;
        dprintf(f, "K %d %llu %llu %llu %u %u %u %u %u %u %u %s\n", k->image,
                (unsigned long long)all.launches, (unsigned long long)timed, (unsigned long long)all.ns,
                k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1], k->block[2], k->shared,
                k->name);
    }
}
