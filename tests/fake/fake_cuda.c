/* A CUDA driver for machines without a GPU: the functions of drv.h over host
 * memory, with scripted failures. It "compiles" PTX by reading its names and runs
 * the conformance kernels as the C functions below. It is strict: a copy that
 * leaves its allocation, a launch of a faulted context, a freed pointer are errors.
 *
 * FAKE_CUDA in the environment, comma-separated: devices=N, version=V, oom=BYTES (in use at most),
 * nostart, init=ERROR, context=ERROR (what starting, a context come to), slow (a launch takes 30 ms of
 * real time), slowstart, slowjit, slowcopy (starting the driver, compiling a module, an upload of more
 * than a kilobyte take 20 s), startms=MS, jitms=MS, copyms=MS, launchms=MS (the same, and a launch, take
 * so many milliseconds).
 *
 * Durations, for kernels of the tests' own: base=NS instead of what the threads give; valley=P (least at
 * threshold P: each warp away from it costs an eighth), noise=K (uniform over K percent of the time),
 * spike=N (one launch in N takes half as long again), drift=K (each launch takes K per mille of the base
 * longer than the one before), late=NS (what the GPU waits for the host to queue a launch, unless it
 * stands behind a shut gate), nogate (it cannot wait for a word), blocking (a launch waits for its end).
 *
 * Behind a shut gate are errors: a copy from memory that is not pinned, an allocation, more commands
 * than a queue holds; and nothing comes to an end before it is opened.
 *
 * Variants: FAKE_LACKS leaves needed functions out; FAKE_OLD has only what is needed, by a CUDA 11
 * driver's names. */
#include "engine/dev/cuda/drv.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define X(field, sym, older, needed, params) drv_result sym params;
DRV_API(X)
#undef X
drv_result cuEventElapsedTime(float *ms, drv_event a, drv_event b);
drv_result cuDevicePrimaryCtxRelease(drv_device d);
long fake_cuda_live(void);       /* allocations not freed; tests look it up */
long fake_cuda_loads(void);      /* modules compiled so far */
long fake_cuda_copied_out(void); /* bytes copied to the host so far */
long fake_cuda_gates(void);      /* waits for a word so far */
long fake_cuda_launches(void);   /* of kernels of the program under test */
long fake_cuda_copies(void);     /* on the device */
/* What a kernel ran with last, and what is set now: the L2 limit, bytes and ratio (percent) of the
 * stream's window. */
void fake_cuda_window(long ran[3], long now[3]);

#define PROFILER_NS 3000 /* what an enabled profiler adds to a launch */
#define MAX_ALLOCS  4096
#define MAX_VARS    16
#define MAX_FUNCS   32
struct module;
struct function {
    char name[64];
    struct module *m;
    int dynamic_shared, carveout;
};
struct variable {
    char name[64];
    size_t n;
    uint8_t *bytes;
};
struct module {
    struct function f[MAX_FUNCS];
    size_t nf;
    struct variable v[MAX_VARS];
    size_t nv;
    bool bypasses;
    int regs; /* a thread: 24, and 40 where the text asks for CTAs an SM */
};
struct event {
    int64_t at;
    bool hung;
};
static struct {
    struct {
        uint8_t *p;
        size_t n;
    } alloc[MAX_ALLOCS];
    size_t nalloc;
    size_t bytes;
    drv_result sticky;
    bool hung, started;
    int64_t clock;
    long loads, launches, copies, copied_out, window[3], ran[3];
    /* the word that the stream waits for, the value, commands behind it; gates: so far */
    const volatile unsigned *word;
    unsigned value;
    long behind, gates;
    struct {
        const uint8_t *p;
        size_t n;
    } pinned[16];
} F;

/* ---- script ---- */
static long script(const char *key, long otherwise)
{
    const char *s = getenv("FAKE_CUDA"), *at = s ? strstr(s, key) : NULL;
    if (!at)
        return otherwise;
    at += strlen(key);
    return *at == '=' ? strtol(at + 1, NULL, 10) : 1;
}

/* What a large module or a slow link takes, as far as the other side can tell. */
static void drag(const char *key)
{
    if (script(key, 0))
        nanosleep(&(struct timespec){ 20, 0 }, NULL);
}

/* A cost of so many milliseconds, as the script says. */
static void cost(const char *key)
{
    long ms = script(key, 0);
    if (ms > 0)
        nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

/* ---- the gate ---- */
#define QUEUE_HOLDS 300

static bool shut(void)
{
    return F.word && (int)(*F.word - F.value) < 0;
}

/* A command for the stream; false: it would make the host wait behind a shut gate, for ever. */
static bool queued(void)
{
    F.behind = shut() ? F.behind + 1 : 0;
    return F.behind <= QUEUE_HOLDS;
}

static bool pinned(const void *p, size_t n)
{
    uintptr_t at = (uintptr_t)p;
    for (size_t i = 0; i < ARRAY_LEN(F.pinned); i++) {
        uintptr_t from = (uintptr_t)F.pinned[i].p;
        if (from && at >= from && at - from + n <= F.pinned[i].n)
            return true;
    }
    return false;
}

static void pin(const void *p, size_t n)
{
    for (size_t i = 0; i < ARRAY_LEN(F.pinned); i++)
        if (!F.pinned[i].p) {
            F.pinned[i].p = p;
            F.pinned[i].n = n;
            return;
        }
}

/* ---- memory ---- */
static bool inside(drv_ptr p, size_t n)
{
    for (size_t i = 0; i < F.nalloc; i++) {
        uintptr_t base = (uintptr_t)F.alloc[i].p;
        if (F.alloc[i].p && p >= base && p - base <= F.alloc[i].n && n <= F.alloc[i].n - (p - base))
            return true;
    }
    return false;
}

static void *host(drv_ptr p)
{
    return (void *)(uintptr_t)p;
}

static bool track(uint8_t *p, size_t n)
{
    for (size_t i = 0; i < MAX_ALLOCS; i++)
        if (!F.alloc[i].p) {
            F.alloc[i].p = p;
            F.alloc[i].n = n;
            F.nalloc = i >= F.nalloc ? i + 1 : F.nalloc;
            return true;
        }
    return false;
}

static void untrack(const uint8_t *p)
{
    for (size_t i = 0; i < F.nalloc; i++)
        if (F.alloc[i].p == p)
            F.alloc[i].p = NULL;
}

drv_result cuMemGetInfo_v2(size_t *left, size_t *total)
{
    *total = (size_t)script("oom", 1l << 32);
    *left = *total - F.bytes;
    return F.sticky;
}

#ifndef FAKE_LACKS
drv_result cuMemAlloc_v2(drv_ptr *p, size_t n)
{
    if (F.sticky)
        return F.sticky;
    if (shut()) /* it may wait for the stream */
        return DRV_ERROR_INVALID_VALUE;
    if (F.bytes + n > (size_t)script("oom", 1l << 32))
        return DRV_ERROR_OUT_OF_MEMORY;
    uint8_t *q = aligned_alloc(512, (n + 511) / 512 * 512);
    if (!q || !track(q, n))
        return DRV_ERROR_OUT_OF_MEMORY;
    memset(q, 0xEE, n);
    F.bytes += n;
    *p = (uintptr_t)q;
    return DRV_SUCCESS;
}
#endif

drv_result cuMemFree_v2(drv_ptr p)
{
    for (size_t i = 0; i < F.nalloc; i++)
        if (F.alloc[i].p && (uintptr_t)F.alloc[i].p == p) {
            F.bytes -= F.alloc[i].n;
            free(F.alloc[i].p);
            F.alloc[i].p = NULL;
            return DRV_SUCCESS;
        }
    return DRV_ERROR_INVALID_VALUE;
}

drv_result cuMemAllocHost_v2(void **p, size_t n)
{
    *p = malloc(n ? n : 1);
    if (*p)
        pin(*p, n);
    return *p ? DRV_SUCCESS : DRV_ERROR_OUT_OF_MEMORY;
}
drv_result cuMemFreeHost(void *p)
{
    for (size_t i = 0; i < ARRAY_LEN(F.pinned); i++)
        if (F.pinned[i].p == p)
            F.pinned[i].p = NULL;
    if ((const volatile unsigned *)p == F.word)
        F.word = NULL;
    free(p);
    return DRV_SUCCESS;
}

static drv_result copy(void *to, const void *from, size_t n, bool fine)
{
    if (F.sticky)
        return F.sticky;
    if (!fine)
        return DRV_ERROR_INVALID_VALUE;
    memmove(to, from, n);
    return DRV_SUCCESS;
}

drv_result cuMemcpyDtoH_v2(void *to, drv_ptr from, size_t n)
{
    F.copied_out += (long)n;
    return copy(to, host(from), n, inside(from, n));
}
drv_result cuMemcpyHtoDAsync_v2(drv_ptr to, const void *from, size_t n, drv_stream s)
{
    (void)s;
    if (n > 1024) {
        drag("slowcopy");
        cost("copyms");
    }
    return copy(host(to), from, n, inside(to, n) && queued() && (!shut() || pinned(from, n)));
}
drv_result cuMemcpyDtoDAsync_v2(drv_ptr to, drv_ptr from, size_t n, drv_stream s)
{
    (void)s;
    F.copies++;
    return copy(host(to), host(from), n, inside(to, n) && inside(from, n) && queued());
}
drv_result cuMemsetD8Async(drv_ptr to, unsigned char v, size_t n, drv_stream s)
{
    (void)s;
    if (F.sticky || !inside(to, n) || !queued())
        return F.sticky ? F.sticky : DRV_ERROR_INVALID_VALUE;
    memset(host(to), v, n);
    return DRV_SUCCESS;
}
long fake_cuda_live(void)
{
    long n = 0;
    for (size_t i = 0; i < F.nalloc; i++)
        n += F.alloc[i].p != NULL;
    return n;
}
long fake_cuda_loads(void)
{
    return F.loads;
}
long fake_cuda_copied_out(void)
{
    return F.copied_out;
}

/* ---- start, devices, contexts ---- */
static bool alone(int *k);
drv_result cuInit(unsigned flags)
{
    int k = 0;
    (void)flags;
    drag("slowstart");
    cost("startms");
    F.started = true;
    F.launches = 0;
    if (script("init", 0))
        return (drv_result)script("init", 0);
    return script("nostart", 0) || (alone(&k) && k >= (int)script("devices", 1)) ? DRV_ERROR_NO_DEVICE
                                                                                 : DRV_SUCCESS;
}
drv_result cuDriverGetVersion(int *v)
{
    *v = (int)script("version", 13000);
    return DRV_SUCCESS;
}
/* One GPU alone (CUDA_VISIBLE_DEVICES=N) is the first, whichever it is. */
static bool alone(int *k)
{
    const char *s = getenv("CUDA_VISIBLE_DEVICES");
    if (s && !strchr(s, ','))
        *k = atoi(s);
    return s && !strchr(s, ',');
}
drv_result cuDeviceGetCount(int *n)
{
    int k = 0, all = (int)script("devices", 1);
    *n = alone(&k) ? k < all : all;
    return DRV_SUCCESS;
}
drv_result cuDeviceGet(drv_device *d, int k)
{
    if (k < (int)script("devices", 1))
        alone(&k);
    *d = k;
    return k < (int)script("devices", 1) ? DRV_SUCCESS : DRV_ERROR_NO_DEVICE;
}
drv_result cuDeviceGetName(char *name, int n, drv_device d)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (visible && !strncmp(visible, "MIG-", 4))
        snprintf(name, (size_t)n, "Fake %s", visible);
    else
        snprintf(name, (size_t)n, "Fake GPU %d", (int)d);
    return DRV_SUCCESS;
}
drv_result cuDeviceTotalMem_v2(size_t *bytes, drv_device d)
{
    (void)d;
    *bytes = (size_t)1 << 32;
    return DRV_SUCCESS;
}
#ifndef FAKE_OLD
drv_result cuDeviceGetPCIBusId(char *id, int n, drv_device d)
{
    snprintf(id, (size_t)n, "0000:%02x:00.0", (unsigned)d);
    return DRV_SUCCESS;
}
#endif

drv_result cuDeviceGetAttribute(int *v, drv_device_attr a, drv_device d)
{
    static const struct {
        int attr, value;
    } T[] = {
        { DRV_ATTR_MAX_THREADS_PER_BLOCK, 1024 },
        { DRV_ATTR_WARP_SIZE, 32 },
        { DRV_ATTR_CLOCK_RATE, 1500000 },
        { DRV_ATTR_MULTIPROCESSOR_COUNT, 4 },
        { DRV_ATTR_L2_CACHE_SIZE, 1 << 20 },
        { DRV_ATTR_MAX_THREADS_PER_SM, 2048 },
        { DRV_ATTR_CC_MAJOR, 9 },
        { DRV_ATTR_CC_MINOR, 0 },
        { DRV_ATTR_SHARED_PER_SM, 228 * 1024 },
        { DRV_ATTR_REGS_PER_SM, 65536 },
        { DRV_ATTR_MAX_PERSISTING_L2, 1 << 14 },
        { DRV_ATTR_MAX_WINDOW, 1 << 20 },
        { DRV_ATTR_COOPERATIVE_LAUNCH, 1 },
        { DRV_ATTR_SHARED_OPTIN, 227 * 1024 },
        { DRV_ATTR_MAX_BLOCKS_PER_SM, 32 },
    };
    (void)d;
    for (size_t i = 0; i < ARRAY_LEN(T); i++)
        if (T[i].attr == (int)a) {
            *v = T[i].value;
            return DRV_SUCCESS;
        }
    return DRV_ERROR_INVALID_VALUE;
}

drv_result cuDevicePrimaryCtxRetain(drv_context *c, drv_device d)
{
    (void)d;
    *c = &F;
    return (drv_result)script("context", 0);
}
#ifdef FAKE_OLD
drv_result cuDevicePrimaryCtxRelease(drv_device d)
{
    (void)d;
    return DRV_SUCCESS;
}
#else
drv_result cuDevicePrimaryCtxRelease_v2(drv_device d)
{
    (void)d;
    return DRV_SUCCESS;
}
#endif
drv_result cuCtxSetCurrent(drv_context c)
{
    return c == &F ? DRV_SUCCESS : DRV_ERROR_INVALID_CONTEXT;
}
drv_result cuCtxSynchronize(void)
{
    return F.sticky;
}

/* ---- the part of L2 set aside ---- */
#ifndef FAKE_OLD
drv_result cuCtxGetLimit(size_t *v, drv_limit l)
{
    *v = (size_t)F.window[0];
    return (int)l == DRV_LIMIT_PERSISTING_L2 ? F.sticky : DRV_ERROR_INVALID_VALUE;
}
drv_result cuCtxSetLimit(drv_limit l, size_t v)
{
    F.window[0] = (long)v;
    return (int)l == DRV_LIMIT_PERSISTING_L2 && v <= 1 << 14 ? F.sticky : DRV_ERROR_INVALID_VALUE;
}
drv_result cuStreamSetAttribute(drv_stream s, drv_stream_attr a, const drv_stream_value *v)
{
    struct drv_window w;
    memcpy(&w, v, sizeof w);
    if (s != &F || (int)a != DRV_STREAM_WINDOW || (w.bytes && !inside((uintptr_t)w.base, w.bytes)) ||
        w.ratio < 0 || w.ratio > 1)
        return DRV_ERROR_INVALID_VALUE;
    F.window[1] = (long)w.bytes;
    F.window[2] = (long)(w.ratio * 100 + 0.5f);
    return F.sticky;
}
drv_result cuCtxResetPersistingL2Cache(void)
{
    return F.sticky;
}
#endif
void fake_cuda_window(long ran[3], long now[3])
{
    memcpy(ran, F.ran, sizeof F.ran);
    memcpy(now, F.window, sizeof F.window);
}

static const char *text_of(drv_result e)
{
    switch ((int)e) {
    case DRV_ERROR_OUT_OF_MEMORY: return "CUDA_ERROR_OUT_OF_MEMORY";
    case DRV_ERROR_ILLEGAL_ADDRESS: return "CUDA_ERROR_ILLEGAL_ADDRESS";
    case DRV_ERROR_NO_DEVICE: return "CUDA_ERROR_NO_DEVICE";
    case DRV_ERROR_INVALID_PTX: return "CUDA_ERROR_INVALID_PTX";
    default: return "CUDA_ERROR_SOMETHING";
    }
}
drv_result cuGetErrorName(drv_result e, const char **text)
{
    *text = text_of(e);
    return DRV_SUCCESS;
}
drv_result cuGetErrorString(drv_result e, const char **text)
{
    *text = (int)e == DRV_ERROR_ILLEGAL_ADDRESS ? "an illegal memory access was encountered"
                                                : "something failed";
    return DRV_SUCCESS;
}

/* ---- modules ---- */
static void copy_name(char *to, const char *from)
{
    size_t n = strspn(from, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$");
    n = n < 63 ? n : 63;
    memcpy(to, from, n);
    to[n] = '\0';
}

/* ".visible .global .align 4 .u32 g_knob = 7;" and ".b8 c_table[16] = {1, 0, ...};" */
static void read_variable(struct module *m, const char *line)
{
    const char *type = strstr(line, ".u32 "), *eol = strchr(line, '\n');
    size_t w = 4;
    if (!type || (eol && type > eol)) {
        type = strstr(line, ".b8 ");
        w = 1;
    }
    if (!type || m->nv == MAX_VARS)
        return;
    struct variable *v = &m->v[m->nv++];
    const char *name = strchr(type, ' ') + 1, *bracket = strchr(name, '['), *equals = strchr(name, '='),
               *end = strchr(name, ';');
    copy_name(v->name, name);
    v->n = w * (bracket && bracket < end ? (size_t)strtoul(bracket + 1, NULL, 10) : 1);
    v->bytes = calloc(1, v->n);
    track(v->bytes, v->n);
    if (!equals || equals > end)
        return;
    char *s = (char *)(uintptr_t)(equals + 1);
    for (size_t i = 0; i < v->n / w && s < end; i++) {
        s += strspn(s, " {,");
        unsigned long x = strtoul(s, &s, 10);
        memcpy(v->bytes + i * w, &x, w);
    }
}

static drv_result refuse(const char *text, const char *bad, unsigned n, drv_jit_option *o, void **values)
{
    unsigned line = 1;
    for (const char *s = text; s < bad; s++)
        line += *s == '\n';
    char *log = NULL;
    size_t room = 0;
    for (unsigned i = 0; i < n; i++) {
        if ((int)o[i] == DRV_JIT_ERROR_LOG)
            log = values[i];
        if ((int)o[i] == DRV_JIT_ERROR_LOG_SIZE)
            room = (size_t)(uintptr_t)values[i];
    }
    if (log)
        snprintf(log, room,
                 "ptxas application ptx input, line %u; error   : Not a name of any known instruction: "
                 "'frobnicate'\n"
                 "ptxas fatal   : Ptx assembly aborted due to errors\n",
                 line);
    return DRV_ERROR_INVALID_PTX;
}

/* ---- linking: an image is the text with this before it ---- */
static const char LINKED[] = "//linked\n";
struct link {
    char *text, *image;
    int libraries;
    unsigned n;
    drv_jit_option *o;
    void **values;
};

#ifndef FAKE_OLD
drv_result cuLinkCreate_v2(unsigned n, drv_jit_option *o, void **v, drv_link *out)
{
    struct link *l = calloc(1, sizeof *l);
    *l = (struct link){ .n = n, .o = o, .values = v };
    *out = l;
    return F.sticky;
}
drv_result cuLinkAddData_v2(drv_link h, drv_input kind, void *data, size_t n, const char *name,
                            unsigned nopts, drv_jit_option *o, void **v)
{
    struct link *l = h;
    (void)name, (void)nopts, (void)o, (void)v;
    if ((int)kind != DRV_INPUT_PTX || !n || ((char *)data)[n - 1])
        return DRV_ERROR_INVALID_VALUE;
    l->text = strdup(data);
    return strstr(data, "frobnicate") ? refuse(data, strstr(data, "frobnicate"), l->n, l->o, l->values)
                                      : DRV_SUCCESS;
}
drv_result cuLinkAddFile_v2(drv_link h, drv_input kind, const char *path, unsigned n, drv_jit_option *o,
                            void **v)
{
    struct link *l = h;
    FILE *f = fopen(path, "rb");
    (void)n, (void)o, (void)v;
    if (!f)
        return DRV_ERROR_NOT_FOUND;
    fclose(f);
    l->libraries += (int)kind == DRV_INPUT_LIBRARY;
    return DRV_SUCCESS;
}
drv_result cuLinkComplete(drv_link h, void **image, size_t *n)
{
    struct link *l = h;
    *n = strlen(l->text) + sizeof LINKED;
    l->image = calloc(1, *n);
    snprintf(l->image, *n, "%s%s", l->libraries ? LINKED : "", l->text);
    *image = l->image;
    return DRV_SUCCESS;
}
drv_result cuLinkDestroy(drv_link h)
{
    struct link *l = h;
    free(l->text);
    free(l->image);
    free(l);
    return DRV_SUCCESS;
}
#endif

static drv_result unresolved(unsigned n, drv_jit_option *o, void **values)
{
    for (unsigned i = 0; i + 1 < n; i++)
        if ((int)o[i] == DRV_JIT_ERROR_LOG && (int)o[i + 1] == DRV_JIT_ERROR_LOG_SIZE)
            snprintf(values[i], (size_t)(uintptr_t)values[i + 1],
                     "ptxas fatal   : Unresolved extern function\n");
    return DRV_ERROR_INVALID_PTX;
}

drv_result cuModuleLoadDataEx(drv_module *out, const void *image, unsigned n, drv_jit_option *o,
                              void **values)
{
    const char *text = image, *bad = strstr(text, "frobnicate");
    if (F.sticky)
        return F.sticky;
    if (bad)
        return refuse(text, bad, n, o, values);
    if (strstr(text, ".extern .func") && strncmp(text, LINKED, sizeof LINKED - 1))
        return unresolved(n, o, values);
    drag("slowjit");
    cost("jitms");
    struct module *m = calloc(1, sizeof *m);
    if (!m)
        return DRV_ERROR_OUT_OF_MEMORY;
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (!strncmp(line, ".visible .entry ", 16) && m->nf < MAX_FUNCS) {
            m->f[m->nf].m = m;
            copy_name(m->f[m->nf++].name, line + 16);
        }
        if (!strncmp(line, ".visible .global ", 17) || !strncmp(line, ".visible .const ", 16))
            read_variable(m, line);
    }
    F.loads++;
    m->bypasses = strstr(text, "ld.global.cg") != NULL;
    m->regs = strstr(text, ".minnctapersm") ? 40 : 24;
    *out = m;
    return DRV_SUCCESS;
}

drv_result cuModuleUnload(drv_module h)
{
    struct module *m = h;
    for (size_t i = 0; i < m->nv; i++) {
        untrack(m->v[i].bytes);
        free(m->v[i].bytes);
    }
    free(m);
    return DRV_SUCCESS;
}

drv_result cuModuleGetFunction(drv_function *out, drv_module h, const char *name)
{
    struct module *m = h;
    for (size_t i = 0; i < m->nf; i++)
        if (!strcmp(m->f[i].name, name)) {
            *out = &m->f[i];
            return DRV_SUCCESS;
        }
    return DRV_ERROR_NOT_FOUND;
}

static struct variable *variable(struct module *m, const char *name)
{
    for (size_t i = 0; i < m->nv; i++)
        if (!strcmp(m->v[i].name, name))
            return &m->v[i];
    return NULL;
}

drv_result cuModuleGetGlobal_v2(drv_ptr *p, size_t *n, drv_module h, const char *name)
{
    struct variable *v = variable(h, name);
    if (!v)
        return DRV_ERROR_NOT_FOUND;
    *p = (uintptr_t)v->bytes;
    *n = v->n;
    return DRV_SUCCESS;
}

drv_result cuFuncGetAttribute(int *v, drv_func_attr a, drv_function f)
{
    const struct function *of = f;
    *v = (int)a == DRV_FUNC_NUM_REGS ? of->m->regs : (int)a == DRV_FUNC_MAX_THREADS ? 1024 : 0;
    return DRV_SUCCESS;
}

drv_result cuFuncSetAttribute(drv_function h, drv_func_attr a, int v)
{
    struct function *f = h;
    if ((int)a == DRV_FUNC_MAX_DYNAMIC_SHARED && v > 227 * 1024)
        return DRV_ERROR_INVALID_VALUE;
    if ((int)a == DRV_FUNC_MAX_DYNAMIC_SHARED)
        f->dynamic_shared = v;
    if ((int)a == DRV_FUNC_CARVEOUT)
        f->carveout = v;
    return v < -1 ? DRV_ERROR_INVALID_VALUE : DRV_SUCCESS;
}

/* ---- streams, events ---- */
drv_result cuStreamCreate(drv_stream *s, unsigned flags)
{
    (void)flags;
    *s = &F;
    return F.sticky;
}
drv_result cuStreamDestroy_v2(drv_stream s)
{
    (void)s;
    return DRV_SUCCESS;
}
drv_result cuEventCreate(drv_event *e, unsigned flags)
{
    (void)flags;
    *e = calloc(1, sizeof(struct event));
    return DRV_SUCCESS;
}
drv_result cuEventDestroy_v2(drv_event e)
{
    free(e);
    return DRV_SUCCESS;
}
drv_result cuEventRecord(drv_event e, drv_stream s)
{
    (void)s;
    if (!queued())
        return DRV_ERROR_INVALID_VALUE;
    *(struct event *)e = (struct event){ F.clock, F.hung };
    return F.sticky && !F.hung ? F.sticky : DRV_SUCCESS;
}
#ifndef FAKE_LACKS
drv_result cuEventQuery(drv_event e)
{
    return ((struct event *)e)->hung || shut() ? DRV_ERROR_NOT_READY : F.sticky;
}
#endif
static drv_result elapsed(float *ms, drv_event a, drv_event b)
{
    *ms = (float)((double)(((struct event *)b)->at - ((struct event *)a)->at) / 1e6);
    return DRV_SUCCESS;
}
#ifdef FAKE_OLD
drv_result cuEventElapsedTime(float *ms, drv_event a, drv_event b)
{
    return elapsed(ms, a, b);
}
#else
drv_result cuEventElapsedTime_v2(float *ms, drv_event a, drv_event b)
{
    return elapsed(ms, a, b);
}
#endif

/* ---- kernels: tests/conformance/kernels.ptx in C ---- */
struct call {
    struct module *m;
    uint32_t threads, block;
    void **p;
    uint32_t shared;
};
static drv_ptr ptr_at(const struct call *c, unsigned i)
{
    return *(drv_ptr *)c->p[i];
}
static uint32_t u32_at(const struct call *c, unsigned i)
{
    return *(uint32_t *)c->p[i];
}

#define PLUS_ONE(name, type)                                          \
    static void name(const struct call *c)                            \
    {                                                                 \
        const type *in = host(ptr_at(c, 0));                          \
        type *out = host(ptr_at(c, 1));                               \
        for (uint32_t i = 0; i < c->threads && i < u32_at(c, 2); i++) \
            out[i] = (type)(in[i] + 1);                               \
    }
PLUS_ONE(conf_8, uint8_t)
PLUS_ONE(conf_16, uint16_t)
PLUS_ONE(conf_32, uint32_t)
PLUS_ONE(conf_64, uint64_t)
PLUS_ONE(conf_f32, float)
PLUS_ONE(conf_f64, double)

static void conf_f16(const struct call *c)
{
    const uint16_t *in = host(ptr_at(c, 0));
    uint16_t *out = host(ptr_at(c, 1));
    for (uint32_t i = 0; i < c->threads && i < u32_at(c, 2); i++)
        out[i] = (uint16_t)(in[i] + 0x400); /* twice a normal number */
}

static void conf_struct(const struct call *c)
{
    uint32_t a;
    uint64_t b, *out = host(ptr_at(c, 1));
    memcpy(&a, c->p[0], 4);
    memcpy(&b, (char *)c->p[0] + 8, 8);
    for (uint32_t i = 0; i < c->threads; i++)
        out[i] = (uint64_t)a * i + b;
}

static void conf_symbol(const struct call *c)
{
    uint32_t *out = host(ptr_at(c, 0)), *table = (uint32_t *)(void *)variable(c->m, "c_table")->bytes;
    uint32_t *knob = (uint32_t *)(void *)variable(c->m, "g_knob")->bytes,
             *count = (uint32_t *)(void *)variable(c->m, "g_count")->bytes;
    for (uint32_t i = 0; i < c->threads; i++, ++*count)
        out[i] = table[i & 3] + *knob;
}

static void conf_bump(const struct call *c)
{
    uint32_t *buf = host(ptr_at(c, 0));
    for (uint32_t i = 0; i < c->threads; i++)
        buf[i] += u32_at(c, 1);
}

static void conf_outside(const struct call *c)
{
    ((uint32_t *)host(ptr_at(c, 0)))[u32_at(c, 1)] = 1;
}
static void conf_fault(const struct call *c)
{
    (void)c;
    F.sticky = DRV_ERROR_ILLEGAL_ADDRESS;
}
static void conf_hang(const struct call *c)
{
    F.hung = *(uint32_t *)host(ptr_at(c, 0)) == 0;
}
static void conf_die(const struct call *c)
{
    (void)c;
    raise(SIGKILL);
}

/* Another result each time, as of CTAs that race. */
static void conf_race(const struct call *c)
{
    *(uint32_t *)host(ptr_at(c, 0)) = (uint32_t)F.launches;
}

/* tests/gpu/hazard.ptx */
static void hazard(const struct call *c)
{
    uint32_t *out = host(ptr_at(c, 0)), n = u32_at(c, 1), mode = u32_at(c, 2);
    for (uint32_t i = 0; i < n; i++)
        out[i] = 3 * i;
    if (mode == 1)
        out[n] = 0;
    F.sticky = mode == 2 ? DRV_ERROR_ILLEGAL_ADDRESS : mode == 4 ? DRV_ERROR_LAUNCH_FAILED : F.sticky;
    F.hung = mode == 3;
}

static void conf_shared(const struct call *c)
{
    uint32_t *buf = host(ptr_at(c, 0));
    for (uint32_t from = 0; from < c->threads; from += c->block)
        for (uint32_t i = 0; i < c->block / 2; i++) {
            uint32_t x = buf[from + i];
            buf[from + i] = buf[from + c->block - 1 - i];
            buf[from + c->block - 1 - i] = x;
        }
}

static void compare(const struct call *c)
{
    const uint8_t *a = host(ptr_at(c, 0)), *b = host(ptr_at(c, 1));
    uint64_t n = ptr_at(c, 2), lo = ptr_at(c, 3), hi = ptr_at(c, 4), *out = host(ptr_at(c, 5));
    for (uint64_t i = 0; i < n; i++) {
        if (a[i] == b[i])
            continue;
        bool in = i >= lo && i < hi;
        out[0] |= in ? 1 : 2;
        out[1] += in;
        if (in && ~(i - lo) > out[2])
            out[2] = ~(i - lo);
    }
}

static const struct {
    const char *name;
    void (*run)(const struct call *c);
} KERNELS[] = {
    { "conf_u8", conf_8 },          { "conf_s8", conf_8 },          { "conf_u16", conf_16 },
    { "conf_s16", conf_16 },        { "conf_u32", conf_32 },        { "conf_s32", conf_32 },
    { "conf_u64", conf_64 },        { "conf_s64", conf_64 },        { "conf_f16", conf_f16 },
    { "conf_f32", conf_f32 },       { "conf_f64", conf_f64 },       { "conf_struct", conf_struct },
    { "conf_symbol", conf_symbol }, { "conf_bump", conf_bump },     { "conf_outside", conf_outside },
    { "conf_fault", conf_fault },   { "conf_hang", conf_hang },     { "conf_long", conf_hang },
    { "conf_die", conf_die },       { "conf_shared", conf_shared }, { "gpulocw_compare", compare },
    { "hazard", hazard },           { "conf_race", conf_race },     { "conf_bf16", conf_16 },
    { "conf_e4m3", conf_8 },        { "conf_e5m2", conf_8 },        { "conf_tf32", conf_32 },
};

/* ---- how long a launch takes ---- */
/* The threshold of a rewritten module is the first of its knobs; without knobs all loads bypass, or
 * none. */
static long threshold(const struct call *c)
{
    const struct variable *v = variable(c->m, "gpulocw_knobs");
    uint32_t pi = 0;
    if (v)
        memcpy(&pi, v->bytes, sizeof pi);
    return v ? (long)pi : c->m->bypasses ? 0 : (long)c->block / 32;
}

/* Uniform in [0, 1), the same in every run. */
static double chance(long i)
{
    uint64_t z = ((uint64_t)i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (double)((z ^ z >> 31) >> 40) / 16777216;
}

static int64_t duration(const struct call *c)
{
    double base = (double)script("base", (long)(2000 + c->threads)), t = base;
    long p = script("valley", -1), away = p < 0 ? 0 : labs(threshold(c) - p);
    t *= 1 + (double)away / 8;
    t *= 1 + (double)script("noise", 0) / 100 * (chance(F.launches) - 0.5);
    if (script("spike", 0) && F.launches % script("spike", 0) == 0)
        t *= 1.5;
    return (int64_t)(t + base * (double)script("drift", 0) / 1000 * (double)F.launches);
}

drv_result cuLaunchKernel(drv_function h, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned shared, drv_stream s, void **params,
                          void **extra)
{
    struct function *f = h;
    (void)s;
    (void)extra;
    if (F.sticky)
        return F.sticky;
    if (bx * by * bz > 1024 || !gx || !gy || !gz ||
        (shared > 48 * 1024 && shared > (unsigned)f->dynamic_shared) || !queued())
        return DRV_ERROR_INVALID_VALUE;
    F.clock += shut() ? 0 : script("late", 0);
    while (script("blocking", 0) && shut())
        nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    struct call c = { f->m, gx * gy * gz * bx * by * bz, bx * by * bz, params, shared };
    for (size_t i = 0; i < ARRAY_LEN(KERNELS); i++)
        if (!strcmp(KERNELS[i].name, f->name))
            KERNELS[i].run(&c);
    if (strncmp(f->name, "gpulocw", 7)) {
        memcpy(F.ran, F.window, sizeof F.ran);
        F.clock += duration(&c) + (getenv("FAKE_PROFILED") ? PROFILER_NS : 0);
        F.launches++;
    }
    if (script("slow", 0))
        nanosleep(&(struct timespec){ 0, 30000000 }, NULL);
    if (strncmp(f->name, "gpulocw", 7))
        cost("launchms");
    return DRV_SUCCESS;
}

long fake_cuda_launches(void)
{
    return F.launches;
}
long fake_cuda_copies(void)
{
    return F.copies;
}
long fake_cuda_gates(void)
{
    return F.gates;
}

#ifndef FAKE_OLD
drv_result cuStreamWaitValue32_v2(drv_stream s, drv_ptr at, unsigned v, unsigned flags)
{
    if (script("nogate", 0) || s != &F || flags || !pinned(host(at), sizeof v))
        return DRV_ERROR_INVALID_VALUE;
    F.word = host(at);
    F.value = v;
    F.behind = 0;
    F.gates++;
    return DRV_SUCCESS;
}
drv_result cuLaunchCooperativeKernel(drv_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                     unsigned by, unsigned bz, unsigned shared, drv_stream s,
                                     void **params)
{
    return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, s, params, NULL);
}
#endif

drv_result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, drv_function f, int threads,
                                                       size_t shared)
{
    (void)f;
    (void)shared;
    *n = threads > 0 ? 2048 / threads : 0;
    return DRV_SUCCESS;
}
