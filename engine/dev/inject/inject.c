/* The library that the CUDA driver loads into a program (CUDA_INJECTION64_PATH): it counts and times
 * kernels through CUPTI and says which image each came from. A build of its own, no part of the engine:
 * it uses libc alone, keeps state in globals since CUPTI's callbacks have no other place, and gives up
 * silently where anything fails, so that the program goes on as without it.
 *
 * Callbacks of driver calls say which function came from which image; activity records say when a kernel
 * ran. Both carry the correlation number of the call. Kernels of graphs carry that of the graph's
 * launch; these are found by name. */
#include "engine/dev/inject/record.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
enum { MOST_IMAGES = 1 << 14, MOST_HANDLES = 1 << 17, MOST_KERNELS = 1 << 14, MOST_CALLS = 1 << 20 };
enum {
    DOMAIN_DRIVER = 1,
    AT_EXIT = 1,
    KIND_CONCURRENT_KERNEL = 10,
    BUFFER = 1 << 20,
    MULTIPLE_SUBSCRIBERS = 39
};

/* CUpti_CallbackData and the kernel record up to the name (cupti_callbacks.h, cupti_activity.h: the
 * members up to there are the same from CUDA 11 to 13). */
struct call {
    int site;
    const char *function;
    const void *params;
    const int *result;
    const char *symbol;
    void *context;
    uint32_t context_number;
    uint64_t *own;
    uint32_t correlation;
};
struct ran {
    uint32_t kind;
    uint8_t cache, bank;
    uint16_t registers;
    uint32_t wanted, used;
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3], shared_static, shared;
    uint32_t local, local_all, correlation;
    int64_t grid_id;
    const char *name;
};
/* Parameters of the driver's calls, by the names of generated_cuda_meta.h. */
struct load_params {
    void **handle;
    const void *image;
};
struct get_params {
    void **handle;
    void *from;
    const char *name;
};
struct launch_params {
    void *f;
};
struct launch_ex_params {
    const void *config;
    void *f;
};

struct image {
    uint64_t hash, bytes;
    bool ptx, cubin, lto;
};
struct handle {
    const void *key;
    int image, kernel; /* kernel -1: not run yet */
};
struct kernel {
    char *name;
    int image, next;
    uint64_t launches, ns;
    unsigned grid[3], block[3], shared;
};
static struct {
    pthread_mutex_t lock;
    pid_t owner;
    const char *file, *refused;
    struct image image[MOST_IMAGES];
    int nimages;
    struct handle handle[MOST_HANDLES];
    unsigned nhandles;
    struct kernel kernel[MOST_KERNELS];
    int bucket[MOST_KERNELS], nkernels;
    struct {
        uint32_t correlation, handle;
    } calls[MOST_CALLS];
    int (*next_record)(uint8_t *, size_t, void **);
    int (*flush)(uint32_t);
    int (*module_of)(void **, void *), (*library_of)(void **, void *);
} S = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- images ---- */
static uint64_t hash_of(const uint8_t *p, uint64_t n)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (uint64_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

static uint64_t word(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;
    memcpy(&v, p, bytes);
    return v;
}

/* An ELF file ends with the last of its tables and sections. */
static uint64_t elf_bytes(const uint8_t *p)
{
    uint64_t sections = word(p + 40, 8), programs = word(p + 32, 8);
    uint64_t end = sections + word(p + 58, 2) * word(p + 60, 2);
    uint64_t other = programs + word(p + 54, 2) * word(p + 56, 2);
    for (uint64_t i = 0; i < word(p + 60, 2) && word(p + 58, 2) >= 64; i++) {
        const uint8_t *s = p + sections + i * word(p + 58, 2);
        uint64_t last = word(s + 4, 4) == 8 ? 0 : word(s + 24, 8) + word(s + 32, 8);
        end = last > end ? last : end;
    }
    return other > end ? other : end;
}

static void look_at_fatbin(const uint8_t *p, struct image *m)
{
    uint64_t at = word(p + 6, 2), all = at + word(p + 8, 8);
    while (at + 64 <= all) {
        uint64_t kind = word(p + at, 2), head = word(p + at + 4, 4), body = word(p + at + 8, 8);
        m->ptx |= kind == 1;
        m->cubin |= kind == 2;
        m->lto |= kind == 8;
        if (head < 64 || body > all || head + body > all - at)
            break;
        at += head + body;
    }
}

static void look_at(const uint8_t *p, struct image *m)
{
    uint64_t magic = word(p, 4);
    if (magic == 0x466243b1u && word(p + 4, 4) == 2) { /* rdc: an array of containers, ends in NULL */
        uint8_t *const *list = *(uint8_t *const *const *)(const void *)(p + 16);
        for (int i = 0; list && list[i] && i < 4096; i++)
            if (word(list[i], 4) == 0xba55ed50u)
                look_at_fatbin(list[i], m);
    }
    if (magic == 0x466243b1u) {
        p = *(const uint8_t *const *)(const void *)(p + 8);
        magic = p ? word(p, 4) : 0;
    }
    if (magic == 0xba55ed50u) {
        look_at_fatbin(p, m);
    } else if (magic == 0x464c457fu) {
        m->cubin = true;
        m->bytes = elf_bytes(p);
        m->hash = hash_of(p, m->bytes);
    } else if (p && strstr((const char *)p, ".version")) {
        m->ptx = true;
        m->bytes = strlen((const char *)p);
        m->hash = hash_of(p, m->bytes);
    }
}

/* ---- handles ---- */
static struct handle *handle_at(const void *key, bool make)
{
    uint64_t h = ((uintptr_t)key >> 4) * 0x9E3779B97F4A7C15u >> 40;
    for (;; h++) {
        struct handle *s = &S.handle[h % MOST_HANDLES];
        if (s->key == key)
            return s;
        if (s->key)
            continue;
        if (!make || S.nhandles >= MOST_HANDLES / 2)
            return NULL;
        S.nhandles++;
        *s = (struct handle){ key, -1, -1 };
        return s;
    }
}

static void loaded(const struct load_params *p)
{
    struct handle *h = p->handle && p->image ? handle_at(*p->handle, true) : NULL;
    if (!h || S.nimages == MOST_IMAGES)
        return;
    look_at(p->image, &S.image[S.nimages]);
    *h = (struct handle){ h->key, S.nimages++, -1 };
}

/* The function, kernel or module that was made of another has its image. */
static void derived(const struct get_params *p)
{
    const struct handle *from = handle_at(p->from, false);
    struct handle *h = p->handle ? handle_at(*p->handle, true) : NULL;
    if (h)
        *h = (struct handle){ h->key, from ? from->image : -1, -1 };
}

static void launched(void *f, uint32_t correlation)
{
    struct handle *h = handle_at(f, true);
    void *owner = NULL;
    if (!h)
        return;
    if (h->image < 0 && h->kernel < 0 &&
        ((S.module_of && S.module_of(&owner, f) == 0) ||
         (S.library_of && S.library_of(&owner, f) == 0))) {
        const struct handle *from = handle_at(owner, false);
        h->image = from ? from->image : -1;
    }
    S.calls[correlation % MOST_CALLS].correlation = correlation;
    S.calls[correlation % MOST_CALLS].handle = (uint32_t)(h - S.handle);
}

/* ---- CUPTI ---- */
enum what { LOAD, GET, LAUNCH, LAUNCH_EX };
static const struct {
    uint32_t id; /* cupti_driver_cbid.h */
    enum what what;
} CALLS[] = {
    { 19, LOAD },       /* cuModuleLoadData */
    { 20, LOAD },       /* cuModuleLoadDataEx */
    { 21, LOAD },       /* cuModuleLoadFatBinary */
    { 678, LOAD },      /* cuLibraryLoadData */
    { 23, GET },        /* cuModuleGetFunction */
    { 681, GET },       /* cuLibraryGetKernel */
    { 682, GET },       /* cuLibraryGetModule */
    { 683, GET },       /* cuKernelGetFunction */
    { 307, LAUNCH },    /* cuLaunchKernel */
    { 442, LAUNCH },    /* cuLaunchKernel_ptsz */
    { 477, LAUNCH },    /* cuLaunchCooperativeKernel */
    { 478, LAUNCH },    /* cuLaunchCooperativeKernel_ptsz */
    { 652, LAUNCH_EX }, /* cuLaunchKernelEx */
    { 653, LAUNCH_EX }, /* cuLaunchKernelEx_ptsz */
};
enum { NCALLS = sizeof CALLS / sizeof *CALLS };

static void on_call(void *own, int domain, uint32_t id, const struct call *c)
{
    size_t i = 0;
    (void)own;
    while (i < NCALLS && CALLS[i].id != id)
        i++;
    bool launch = i < NCALLS && CALLS[i].what >= LAUNCH, after = c->site == AT_EXIT;
    if (domain != DOMAIN_DRIVER || i == NCALLS || !c->params || launch == after ||
        (after && c->result && *c->result != 0))
        return;
    pthread_mutex_lock(&S.lock);
    switch (CALLS[i].what) {
    case LOAD: loaded(c->params); break;
    case GET: derived(c->params); break;
    case LAUNCH: launched(((const struct launch_params *)c->params)->f, c->correlation); break;
    case LAUNCH_EX: launched(((const struct launch_ex_params *)c->params)->f, c->correlation); break;
    }
    pthread_mutex_unlock(&S.lock);
}

static int kernel_find(const char *name, int image, bool any, bool *several)
{
    int found = -1;
    *several = false;
    uint64_t b = hash_of((const uint8_t *)name, strlen(name)) % MOST_KERNELS;
    for (int k = S.bucket[b] - 1; k >= 0; k = S.kernel[k].next - 1) {
        if (strcmp(S.kernel[k].name, name) != 0 || (!any && S.kernel[k].image != image))
            continue;
        *several |= found >= 0;
        found = k;
    }
    return found;
}

static int kernel_new(const struct ran *r, int image)
{
    char *name = S.nkernels < MOST_KERNELS ? strdup(r->name) : NULL;
    if (!name)
        return -1;
    uint64_t b = hash_of((const uint8_t *)name, strlen(name)) % MOST_KERNELS;
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

static void ran(const struct ran *r)
{
    struct handle *h = S.calls[r->correlation % MOST_CALLS].correlation == r->correlation
                           ? &S.handle[S.calls[r->correlation % MOST_CALLS].handle]
                           : NULL;
    bool several = false;
    int k = h ? h->kernel : -1;
    if (k < 0)
        k = kernel_find(r->name, h ? h->image : -1, !h, &several);
    if (several)
        k = kernel_find(r->name, -1, false, &several);
    if (k < 0)
        k = kernel_new(r, h ? h->image : -1);
    if (k < 0)
        return;
    if (h)
        h->kernel = k;
    S.kernel[k].launches++;
    S.kernel[k].ns += r->end > r->start ? r->end - r->start : 0;
}

static void on_wanted(uint8_t **buffer, size_t *n, size_t *most)
{
    *buffer = aligned_alloc(8, BUFFER);
    *n = *buffer ? BUFFER : 0;
    *most = 0;
}

static void on_full(void *context, uint32_t stream, uint8_t *buffer, size_t n, size_t valid)
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
static void put_record(int f)
{
    dprintf(f, "%s\n", LIVE_RECORD_HEAD);
    if (S.refused)
        dprintf(f, "R %s\n", S.refused);
    for (int i = 0; i < S.nimages; i++)
        dprintf(f, "I %llu %llu %d %d %d\n", (unsigned long long)S.image[i].hash,
                (unsigned long long)S.image[i].bytes, S.image[i].ptx, S.image[i].cubin, S.image[i].lto);
    for (int i = 0; i < S.nkernels; i++) {
        const struct kernel *k = &S.kernel[i];
        dprintf(f, "K %d %llu %llu %u %u %u %u %u %u %u %s\n", k->image, (unsigned long long)k->launches,
                (unsigned long long)k->ns, k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1],
                k->block[2], k->shared, k->name);
    }
}

static void at_end(void)
{
    char path[4200];
    if (getpid() != S.owner)
        return; /* a fork of the program's: the record is its parent's */
    if (S.flush)
        S.flush(1);
    snprintf(path, sizeof path, "%s.%ld", S.file, (long)S.owner);
    int f = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (f < 0)
        return;
    pthread_mutex_lock(&S.lock);
    put_record(f);
    pthread_mutex_unlock(&S.lock);
    close(f);
}

static void *open_like(const char *pattern)
{
    glob_t g = { 0 };
    void *l = NULL;
    if (glob(pattern, 0, NULL, &g) == 0)
        for (size_t k = g.gl_pathc; !l && k-- > 0;)
            l = dlopen(g.gl_pathv[k], RTLD_NOW);
    globfree(&g);
    return l;
}

/* CUPTI_PATH (a file, a folder or a toolkit's root) and CUDA_HOME first, as the engine does; then one
 * that the program has already; then the toolkits. */
static void *cupti_open(void)
{
    static const char *const NAMES[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so" };
    static const char *const UNDER[] = { "", "/libcupti.so*", "/extras/CUPTI/lib64/libcupti.so*",
                                         "/targets/*/lib/libcupti.so*" };
    const char *roots[] = { getenv("CUPTI_PATH"), getenv("CUDA_HOME"), getenv("CUDA_PATH"),
                            "/usr/local/cuda", "/usr/local/cuda-*" };
    enum { NROOTS = sizeof roots / sizeof *roots, NNAMES = sizeof NAMES / sizeof *NAMES };
    void *l = NULL;
    char path[4200];
    for (size_t r = 0; !l && r < NROOTS; r++) {
        for (size_t u = 0; !l && roots[r] && *roots[r] && u < sizeof UNDER / sizeof *UNDER; u++)
            if ((size_t)snprintf(path, sizeof path, "%s%s", roots[r], UNDER[u]) < sizeof path)
                l = open_like(path);
        for (size_t i = 0; !l && r == 2 && i < 2 * NNAMES; i++)
            l = dlopen(NAMES[i % NNAMES], RTLD_NOW | (i < NNAMES ? RTLD_NOLOAD : 0));
    }
    return l;
}

/* The address of a function, put where a pointer to it is kept. */
static bool find(void *library, const char *name, void *to)
{
    void *p = library ? dlsym(library, name) : NULL;
    memcpy(to, &p, sizeof p);
    return p != NULL;
}

typedef void (*call_fn)(void *, int, uint32_t, const struct call *);
typedef void (*wanted_fn)(uint8_t **, size_t *, size_t *);
typedef void (*full_fn)(void *, uint32_t, uint8_t *, size_t, size_t);
static const char *start(void)
{
    void *l = cupti_open(), *subscriber = NULL;
    int (*subscribe)(void **, call_fn, void *);
    int (*enable)(uint32_t, void *, int, uint32_t);
    int (*activity)(int);
    int (*buffers)(wanted_fn, full_fn);
    if (!l)
        return "libcupti was not found (CUPTI_PATH names it)";
    if (!find(l, "cuptiSubscribe", &subscribe) || !find(l, "cuptiEnableCallback", &enable) ||
        !find(l, "cuptiActivityEnable", &activity) ||
        !find(l, "cuptiActivityRegisterCallbacks", &buffers) ||
        !find(l, "cuptiActivityGetNextRecord", &S.next_record))
        return "libcupti lacks a function";
    int taken = subscribe(&subscriber, on_call, NULL);
    if (taken == MULTIPLE_SUBSCRIBERS)
        return "another profiler uses CUPTI in this process, and CUPTI takes one only";
    if (taken != 0)
        return "CUPTI cannot be used here (cuptiSubscribe failed)";
    for (size_t i = 0; i < NCALLS; i++)
        enable(1, subscriber, DOMAIN_DRIVER, CALLS[i].id); /* an old driver lacks some: none call them */
    if (buffers(on_wanted, on_full) != 0 || activity(KIND_CONCURRENT_KERNEL) != 0)
        return "CUPTI does not record kernels here";
    find(l, "cuptiActivityFlushAll", &S.flush);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    find(driver, "cuFuncGetModule", &S.module_of);
    find(driver, "cuKernelGetLibrary", &S.library_of);
    return NULL;
}

EXPORT int InitializeInjection(void);
int InitializeInjection(void)
{
    S.file = getenv(LIVE_RECORD_VARIABLE);
    if (!S.file || S.owner == getpid())
        return 1;
    S.owner = getpid();
    S.refused = start();
    atexit(at_end);
    return 1;
}
