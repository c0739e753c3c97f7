/* A driver and a CUPTI in one library, for tests of the injected one: the same entry points, no GPU.
 * A launch takes 1000 ns for each CTA. FAKE_BUSY: the error of subscribing (39: another subscriber is
 * there). */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/live/fake_cupti.h"
#include "tests/live/fake_live.h"

static void (*callback)(void *, int, uint32_t, const struct call *);
static void (*wanted)(uint8_t **, size_t *, size_t *);
static void (*full)(void *, uint32_t, uint8_t *, size_t, size_t);
static uint8_t enabled[1024];
static _Atomic uint8_t activity;
static struct record kept[4096];
static unsigned nkept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what was kept, and of names */
static uint32_t all_calls;
static __thread uint32_t calls; /* the number of this thread's call */
static uint64_t handles;
static struct {
    void *h;
    const char *name;
} named[256];

static void next_call(void)
{
    calls = __atomic_add_fetch(&all_calls, 1, __ATOMIC_RELAXED);
}

int cuptiSubscribe(void **s, void (*cb)(void *, int, uint32_t, const struct call *), void *own)
{
    (void)own;
    if (getenv("FAKE_BUSY"))
        return atoi(getenv("FAKE_BUSY"));
    callback = cb;
    *s = &callback;
    return 0;
}
int cuptiEnableCallback(uint32_t on, void *s, int domain, uint32_t id)
{
    (void)s;
    enabled[id] = on && domain == 1;
    return 0;
}
int cuptiActivityEnable(int kind)
{
    activity = kind == 10;
    return 0;
}
int cuptiActivityDisable(int kind)
{
    activity = activity && kind != 10;
    return 0;
}
int cuptiActivityRegisterCallbacks(void (*w)(uint8_t **, size_t *, size_t *),
                                   void (*f)(void *, uint32_t, uint8_t *, size_t, size_t))
{
    wanted = w;
    full = f;
    return 0;
}
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **r)
{
    uint8_t *next = *r ? (uint8_t *)*r + sizeof(struct record) : buffer;
    if ((size_t)(next - buffer) + sizeof(struct record) > valid)
        return 12;
    *r = next;
    return 0;
}
int cuptiActivityFlushAll(uint32_t flags)
{
    uint8_t *b;
    size_t n, most, valid = 0;
    (void)flags;
    wanted(&b, &n, &most);
    pthread_mutex_lock(&lock);
    for (; valid < nkept && (valid + 1) * sizeof *kept <= n; valid++)
        memcpy(b + valid * sizeof *kept, &kept[valid], sizeof *kept);
    nkept = 0;
    pthread_mutex_unlock(&lock);
    full(NULL, 0, b, n, valid * sizeof *kept);
    return 0;
}

static void tell(uint32_t id, int site, const void *params)
{
    static const int fine;
    struct call c = { .site = site, .params = params, .result = &fine, .correlation = calls };
    if (callback && enabled[id])
        callback(NULL, 1, id, &c);
}
#define CALL(id, ...) \
    struct {          \
        __VA_ARGS__;  \
    } p;              \
    next_call();      \
    (void)(id)

int cuInit(unsigned flags)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *l = path ? dlopen(path, RTLD_NOW) : NULL;
    int (*start)(void) = l ? (int (*)(void))dlsym(l, "InitializeInjection") : NULL;
    (void)flags;
    if (start)
        start();
    return 0;
}
static void *handle(const char *name)
{
    pthread_mutex_lock(&lock);
    uint64_t k = ++handles;
    named[k % 256].h = (void *)(uintptr_t)(0x10000 + 64 * k);
    named[k % 256].name = name;
    pthread_mutex_unlock(&lock);
    return (void *)(uintptr_t)(0x10000 + 64 * k);
}
int fake_load(unsigned id, void **module, const void *image)
{
    CALL(id, void **module; const void *image);
    p.module = module;
    p.image = image;
    tell(id, 0, &p);
    *module = handle(NULL);
    tell(id, 1, &p);
    return 0;
}
int fake_get(unsigned id, void **function, void *module, const char *name)
{
    CALL(id, void **function; void *module; const char *name);
    p.function = function;
    p.module = module;
    p.name = name;
    tell(id, 0, &p);
    *function = handle(name);
    tell(id, 1, &p);
    return 0;
}
static void ran(const char *name, int ctas, uint32_t correlation)
{
    pthread_mutex_lock(&lock);
    bool no_room = nkept == 4096;
    pthread_mutex_unlock(&lock);
    if (activity && no_room) /* CUPTI hands over what is full, from a thread of its own */
        cuptiActivityFlushAll(0);
    pthread_mutex_lock(&lock);
    if (activity && nkept < 4096)
        kept[nkept++] = (struct record){ .kind = 10,
                                         .start = 5,
                                         .end = 5 + 1000u * (unsigned)ctas,
                                         .grid = { ctas, 1, 1 },
                                         .block = { 128, 1, 1 },
                                         .shared = 64,
                                         .correlation = correlation,
                                         .name = name };
    pthread_mutex_unlock(&lock);
}
const char *fake_name(const void *f)
{
    const char *name = NULL;
    uintptr_t at = ((uintptr_t)f - 0x10000) / 64 % 256;
    pthread_mutex_lock(&lock);
    if (named[at].h == f)
        name = named[at].name;
    pthread_mutex_unlock(&lock);
    return name;
}
struct attribute {
    int id, pad;
    unsigned char value[64];
};
int fake_launch_with(unsigned id, void *f, const struct fake_launch *l)
{
    static struct attribute attributes[2] = { { .id = 4, .value = { 2, 0, 0, 0, 1, 0, 0, 0, 1 } },
                                              { .id = 1, .value = { [9] = 16 } } };
    struct {
        unsigned grid[3], block[3], shared;
        void *stream, *attribute;
        unsigned nattributes;
    } config = { { l->grid, 1, 1 }, { l->block, 1, 1 },   l->shared, NULL,
                 attributes,        l->attributes ? 2 : 0 };
    struct {
        void *f;
        unsigned grid[3], block[3], shared;
        void *stream, *params, *extra;
    } plain = { f, { l->grid, 1, 1 }, { l->block, 1, 1 }, l->shared, NULL, l->params, l->extra };
    struct {
        void *config, *f, *params, *extra;
    } ex = { &config, f, l->params, l->extra };
    const void *p = id >= 652 ? (const void *)&ex : &plain;
    next_call();
    tell(id, 0, p);
    if (fake_name(f))
        ran(fake_name(f), (int)l->grid, calls);
    if (fake_name(f) && l->params)
        fake_run(fake_name(f), l->params);
    tell(id, 1, p);
    return 0;
}
int fake_launch(unsigned id, void *f, int ctas)
{
    const struct fake_launch l = { (unsigned)ctas, 128, 64, NULL, NULL, 0 };
    return fake_launch_with(id, f, &l);
}
void fake_tell(unsigned id, int site, const void *params)
{
    if (site == 0)
        next_call();
    tell(id, site, params);
}
int fake_other(unsigned id, const void *params)
{
    next_call();
    tell(id, 0, params);
    tell(id, 1, params);
    return 0;
}
/* A graph's replay: kernels run, with the number of a call that is not watched. */
int fake_graph(const char *name, int ctas)
{
    next_call();
    ran(name, ctas, calls);
    return 0;
}
