/* A driver with memory, modules and kernels that do something, and a CUPTI, in one library, for tests of
 * `apply`: the entry points that the injected library calls, no GPU.
 *
 * A module is a PTX text. Its kernels take a pointer to 64 words and a count; a launch does, to each
 * word, word * 3 + scale, and counter++ (variables of the module), whatever the PTX says. Comments in
 * the text change that: "// wrong" adds one, "// unsteady" adds the number of the launch, "// fast"
 * halves the time of 1000 ns for each CTA, "// needs tickets" leaves the words alone unless
 * `gpulocw_tickets` is zero, and sets it. FAKE_FAIL: names of functions that fail. FAKE_TELL: loads are told, and whether a launch is under way. FAKE_FAST: kernels
 * with this text in them are as fast as those with "// fast". */
#include "tests/live/fake_cupti.h"
#include "tests/live/fake_swap.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 64, MOST = 256, ERROR = 400 };
struct module {
    char *text;
    uint32_t scale, counter, tickets;
};
struct function {
    struct module *m;
    char name[64];
    unsigned params;
};
static struct module modules[MOST];
static struct function functions[MOST];
static unsigned nmodules, nfunctions;
static struct {
    uint64_t at;
    size_t n;
} memory[MOST];
static unsigned nmemory;

static bool fast(const char *text)
{
    const char *sign = getenv("FAKE_FAST");
    return strstr(text, "// fast") || (sign && *sign && strstr(text, sign));
}

static void (*callback)(void *, int, uint32_t, const struct call *);
static void (*wanted)(uint8_t **, size_t *, size_t *);
static void (*full)(void *, uint32_t, uint8_t *, size_t, size_t);
static uint8_t enabled[1024];
static struct record kept[8192];
static unsigned nkept, calls, launches;
static uint64_t now = 1000;
static bool capturing, launching;
static struct {
    struct function *f;
    uint64_t p, from;
    unsigned ctas; /* of a launch; f NULL: a copy, or zeroes where `from` is 0, of so many bytes */
} node[MOST];
static unsigned nnodes;

static bool fails(const char *name)
{
    const char *list = getenv("FAKE_FAIL");
    return list && strstr(list, name);
}
#define MAY_FAIL()           \
    do {                     \
        if (fails(__func__)) \
            return ERROR;    \
    } while (0)

/* ---- CUPTI ---- */
int cuptiSubscribe(void **s, void (*cb)(void *, int, uint32_t, const struct call *), void *own)
{
    (void)own;
    if (fails("cuptiSubscribe"))
        return 39;
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
    return kind != 10;
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
    size_t n, most, bytes = nkept * sizeof *kept;
    (void)flags;
    for (size_t at = 0; at < bytes;) {
        wanted(&b, &n, &most);
        n = n / sizeof *kept * sizeof *kept;
        size_t part = bytes - at < n ? bytes - at : n;
        memcpy(b, (char *)kept + at, part);
        full(NULL, 0, b, n, part);
        at += part;
    }
    nkept = 0;
    return 0;
}
static int tell_as(uint32_t id, int site, const void *params, int result, uint32_t correlation)
{
    struct call c = { .site = site, .params = params, .result = &result, .correlation = correlation };
    if (callback && enabled[id])
        callback(NULL, 1, id, &c);
    return result;
}

static int tell(uint32_t id, int site, const void *params, int result)
{
    return tell_as(id, site, params, result, calls);
}

/* ---- start ---- */
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
int cuCtxGetCurrent(void **c)
{
    MAY_FAIL();
    *c = &callback;
    return 0;
}
int cuCtxSynchronize(void)
{
    MAY_FAIL();
    return 0;
}

/* ---- memory ---- */
static int find(uint64_t p)
{
    for (unsigned i = 0; i < nmemory; i++)
        if (p >= memory[i].at && p < memory[i].at + memory[i].n)
            return (int)i;
    return -1;
}
int cuMemAlloc_v2(uint64_t *p, size_t n)
{
    MAY_FAIL();
    void *m = calloc(1, n);
    *p = (uint64_t)(uintptr_t)m;
    memory[nmemory].at = *p;
    memory[nmemory++].n = n;
    return 0;
}
int cuMemFree_v2(uint64_t p)
{
    int i = find(p);
    if (i < 0)
        return ERROR;
    free((void *)(uintptr_t)p);
    memory[i] = memory[--nmemory];
    return 0;
}
int fake_blocks(void)
{
    return (int)nmemory;
}
int cuMemcpy(uint64_t to, uint64_t from, size_t n)
{
    MAY_FAIL();
    memmove((void *)(uintptr_t)to, (void *)(uintptr_t)from, n);
    return 0;
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n)
{
    return cuMemcpy((uint64_t)(uintptr_t)to, from, n);
}
static void copied(uint64_t to, uint64_t from, size_t n)
{
    if (from)
        memmove((void *)(uintptr_t)to, (void *)(uintptr_t)from, n);
    else
        memset((void *)(uintptr_t)to, 0, n);
}
static int copy_node(uint64_t to, uint64_t from, size_t n)
{
    if (!capturing) {
        copied(to, from, n);
        return 0;
    }
    node[nnodes].f = NULL;
    node[nnodes].p = to;
    node[nnodes].from = from;
    node[nnodes++].ctas = (unsigned)n;
    return 0;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, void *stream)
{
    MAY_FAIL();
    (void)stream;
    return copy_node(to, from, n);
}
int cuMemsetD8Async(uint64_t to, unsigned char v, size_t n, void *stream)
{
    (void)stream, (void)v;
    return copy_node(to, 0, n);
}
int cuMemGetInfo_v2(size_t *left, size_t *all)
{
    *all = 1 << 30;
    *left = getenv("FAKE_FULL") ? 16 : *all;
    return 0;
}
int cuPointerGetAttribute(void *out, int what, uint64_t p)
{
    int i = find(p);
    if (i < 0)
        return 1;
    uint32_t device = 2;
    memcpy(out,
           what == 11   ? (void *)&memory[i].at
           : what == 12 ? (void *)&memory[i].n
                        : (void *)&device,
           what == 2 ? 4 : 8);
    return 0;
}
int cuMemGetAddressRange_v2(uint64_t *at, size_t *n, uint64_t p)
{
    int i = find(p);
    if (i < 0)
        return 1;
    *at = memory[i].at;
    *n = memory[i].n;
    return 0;
}

/* ---- modules ---- */
static struct module *module_of(void *h)
{
    for (unsigned i = 0; i < nmodules; i++)
        if (h == &modules[i])
            return &modules[i];
    return NULL;
}
static struct function *function_of(void *h)
{
    for (unsigned i = 0; i < nfunctions; i++)
        if (h == &functions[i])
            return &functions[i];
    return NULL;
}
int cuModuleLoadDataEx(void **m, const void *image, unsigned n, int *o, void **v)
{
    struct {
        void **m;
        const void *image;
    } p = { m, image };
    (void)n, (void)o, (void)v;
    calls++;
    tell(20, 0, &p, 0);
    image = p.image;
    if (memcmp(image, "\177ELF", 4) == 0 && memcmp((const char *)image + 128, ".version", 8) != 0)
        return ERROR; /* machine code of another GPU */
    if (memcmp(image, "\177ELF", 4) == 0)
        image = (const char *)image + 128; /* this driver's machine code */
    if (fails("cuModuleLoadDataEx") && strstr(image, "// fast"))
        return ERROR;
    if (getenv("FAKE_TELL"))
        fprintf(stderr, "loaded %s %s\n", fast(image) ? "tuned" : "original",
                launching ? "in a launch" : "before");
    modules[nmodules] = (struct module){ strdup(image), 3, 0, 1 };
    *m = &modules[nmodules++];
    return tell(20, 1, &p, 0);
}
int cuModuleUnload(void *m)
{
    module_of(m)->text[0] = 0;
    return 0;
}
int cuModuleGetFunction(void **f, void *m, const char *name)
{
    struct {
        void **f, *m;
        const char *name;
    } p = { f, m, name };
    struct function *n = &functions[nfunctions++];
    char entry[96];
    calls++;
    snprintf(entry, sizeof entry, ".entry %s(", name);
    const char *head = strstr(module_of(m)->text, entry);
    if (!head)
        return ERROR;
    n->m = m;
    snprintf(n->name, sizeof n->name, "%s", name);
    for (const char *end = strchr(head, '{'); (head = strstr(head, ".param")) && head < end; head++)
        n->params++;
    *f = n;
    return tell(23, 1, &p, 0);
}
int cuFuncGetModule(void **m, void *f)
{
    struct function *x = function_of(f);
    *m = x ? x->m : NULL;
    return x ? 0 : ERROR;
}
int cuKernelGetFunction(void **f, void *k)
{
    (void)f, (void)k;
    return ERROR;
}
int cuModuleGetGlobal_v2(uint64_t *p, size_t *n, void *h, const char *name)
{
    struct module *m = module_of(h);
    void *v = strcmp(name, "scale") == 0                                      ? &m->scale
              : strcmp(name, "counter") == 0                                  ? &m->counter
              : strcmp(name, "gpulocw_tickets") == 0 && strstr(m->text, name) ? &m->tickets
                                                                              : NULL;
    *p = (uint64_t)(uintptr_t)v;
    *n = 4;
    return v ? 0 : ERROR;
}
int cuFuncGetAttribute(int *v, int what, void *f)
{
    *v = what == 0 ? (strstr(function_of(f)->m->text, "// narrow") ? 32 : 1024) : what == 9 ? -1 : 0;
    return 0;
}
int cuFuncSetAttribute(void *f, int what, int v)
{
    (void)f;
    if (what == 9)
        fprintf(stderr, "carve-out %d\n", v);
    return 0;
}
int cuFuncGetParamInfo(void *f, size_t i, size_t *at, size_t *n)
{
    if (i >= function_of(f)->params)
        return 1;
    *at = 8 * i;
    *n = i ? 4 : 8;
    return 0;
}
int cuStreamIsCapturing(void *stream, int *status)
{
    (void)stream;
    *status = capturing;
    return 0;
}
int cuThreadExchangeStreamCaptureMode(int *mode)
{
    static int own;
    int old = own;
    own = *mode;
    *mode = old;
    return 0;
}

/* ---- launches ---- */
static void ran(const struct function *f, unsigned ctas, uint32_t correlation)
{
    uint64_t ns = (fast(f->m->text) ? 500u : 1000u) * ctas;
    if (nkept < sizeof kept / sizeof *kept)
        kept[nkept++] = (struct record){ .kind = 10,
                                         .start = now,
                                         .end = now + ns,
                                         .grid = { (int)ctas, 1, 1 },
                                         .block = { 64, 1, 1 },
                                         .correlation = correlation,
                                         .name = f->name };
    now += ns + 100;
}
static void run(struct function *f, uint64_t at, unsigned ctas, uint32_t correlation)
{
    uint32_t *word = (uint32_t *)(uintptr_t)at;
    struct module *m = f->m;
    bool blocked = strstr(m->text, "// needs tickets") && m->tickets;
    launches++;
    for (unsigned i = 0; i < WORDS && !blocked; i++)
        word[i] = word[i] * 3 + m->scale + (strstr(m->text, "// wrong") != NULL) +
                  (strstr(m->text, "// unsteady") ? launches : 0);
    m->tickets = 1;
    m->counter++;
    ran(f, ctas, correlation);
}
static int start(struct function *f, void **params, unsigned ctas, uint32_t own)
{
    if (fails("own launches") && !strstr(f->m->text, "// fast"))
        return ERROR; /* those of the original */
    if (!function_of(f) || (strstr(f->m->text, "// refuses")))
        return ERROR;
    uint64_t p;
    memcpy(&p, params[0], sizeof p);
    if (capturing) {
        node[nnodes].f = f;
        node[nnodes].p = p;
        node[nnodes++].ctas = ctas;
    } else {
        run(f, p, ctas, own);
    }
    return 0;
}
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **params, void **extra)
{
    struct {
        void *f;
        unsigned grid[3], block[3], shared;
        void *stream, **params, **extra;
    } p = { f, { gx, gy, gz }, { bx, by, bz }, shared, stream, params, extra };
    uint32_t own = ++calls; /* what is called from inside the callback has a number of its own */
    launching = true;
    tell_as(307, 0, &p, 0, own);
    launching = false;
    return tell_as(307, 1, &p, start(p.f, p.params, p.grid[0], own), own);
}
int cuLaunchKernelEx(const void *config, void *f, void **params, void **extra)
{
    struct {
        const void *config;
        void *f, **params, **extra;
    } p = { config, f, params, extra };
    uint32_t own = ++calls;
    launching = true;
    tell_as(652, 0, &p, 0, own);
    launching = false;
    return tell_as(652, 1, &p, start(p.f, p.params, *(const unsigned *)p.config, own), own);
}

/* ---- graphs built by hand ---- */
static int build(unsigned id, const struct fake_node *k, const void *params)
{
    uint64_t p;
    memcpy(&p, k->params[0], sizeof p);
    node[nnodes].f = k->f;
    node[nnodes].p = p;
    node[nnodes++].ctas = k->grid[0];
    calls++;
    tell(id, 0, params, 0);
    return tell(id, 1, params, 0);
}
int cuGraphAddKernelNode_v2(void **out, void *graph, void *const *after, size_t n,
                            const struct fake_node *k)
{
    struct {
        void **out, *graph, *const *after;
        size_t n;
        const struct fake_node *k;
    } p = { out, graph, after, n, k };
    return build(689, k, &p);
}
int cuGraphAddNode(void **out, void *graph, void *const *after, size_t n, const void *any)
{
    struct {
        void **out, *graph, *const *after;
        size_t n;
        const void *any;
    } p = { out, graph, after, n, any };
    int type;
    memcpy(&type, any, sizeof type);
    if (type == 0)
        return build(712, (const struct fake_node *)((const char *)any + 16), &p);
    calls++;
    return tell(712, 1, &p, 0);
}

/* ---- what the program says ---- */
int fake_capture(int on)
{
    capturing = on;
    nnodes = on ? 0 : nnodes;
    return 0;
}
int fake_replay(void)
{
    calls++;
    for (unsigned i = 0; i < nnodes; i++)
        if (node[i].f)
            run(node[i].f, node[i].p, node[i].ctas, calls);
        else
            copied(node[i].p, node[i].from, node[i].ctas);
    return 0;
}
