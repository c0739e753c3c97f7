/* What the compiler's host code registers: fatbins, kernels by their stubs, variables by their host
 * addresses. Nothing is sent before it is asked for. */
#include "engine/emulate/runtime/context.h"
#include "engine/emulate/runtime/image.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define WRAPPER_MAGIC 0x466243b1u
#define PARTS_MOST    65536

struct module {
    const void *const *wrapper; /* magic and version, data, more */
    uint64_t id;
    bool sent;
};
struct variable {
    struct module *module;
    const void *host;
    char *name;
    size_t size;
    bool constant, managed;
    void **managed_at; /* where the program looks for its address */
    void *p;           /* on the device; NULL: not asked yet */
    size_t bytes;
    struct variable *next;
};
static struct {
    uint64_t modules;
    struct kernel *kernels;
    struct variable *variables;
    bool managed;       /* some managed variable has no memory yet */
    struct module **of; /* by number; NULL: an image's, or none */
    size_t cap;
} R;

/* ---- fatbins ---- */
/* Of version 2 the wrapper ends in a list of containers; else there is one. */
static size_t parts_of(const struct module *m, const uint8_t **part, size_t most)
{
    const uint32_t *head = (const uint32_t *)m->wrapper;
    if (head[0] != WRAPPER_MAGIC || !m->wrapper[1])
        return 0;
    const uint8_t *const *list = (const uint8_t *const *)m->wrapper[2];
    if (head[1] < 2 || !list) {
        part[0] = m->wrapper[1];
        return 1;
    }
    size_t n = 0;
    while (n < most && list[n]) {
        part[n] = list[n];
        n++;
    }
    return n;
}

static bool put_parts(const uint8_t *const *part, size_t n, char *to, uint64_t *bytes)
{
    *bytes = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t size = fatbin_bytes(part[i]);
        if (to) {
            memcpy(to + *bytes, &size, sizeof size);
            memcpy(to + *bytes + sizeof size, part[i], size);
        }
        *bytes += sizeof size + size;
    }
    return true;
}

static void send_module(struct module *m)
{
    const uint8_t **part = malloc(PARTS_MOST * sizeof *part);
    size_t n = part ? parts_of(m, part, PARTS_MOST) : 0;
    uint64_t bytes = 0;
    put_parts(part, n, NULL, &bytes);
    char *all = malloc(bytes + 1);
    if (all) {
        put_parts(part, n, all, &bytes);
        struct wire_module r = { m->id, n };
        tell(WIRE_MODULE, &r, sizeof r, all, bytes);
    }
    free(all);
    free(part);
    m->sent = true;
}

/* Managed variables have memory that both sides see, before any kernel is made ready. */
static void place_managed(struct module *m)
{
    for (struct variable *v = R.variables; v; v = v->next) {
        if (v->module != m || !v->managed || v->p)
            continue;
        if (memory_take(v->size ? v->size : 1, BLOCK_MANAGED, &v->p) != cudaSuccess)
            continue;
        v->bytes = v->size;
        struct wire_range r = { .module = m->id, .addr = (uintptr_t)v->p, .n = v->size };
        tell(WIRE_PLACE, &r, sizeof r, v->name, strlen(v->name));
        if (v->managed_at)
            *v->managed_at = v->p;
        launched();
    }
}

static void use_module(struct module *m)
{
    if (m->sent)
        return;
    send_module(m);
    place_managed(m);
}

static void number(struct module *m)
{
    m->id = R.modules++;
    if (m->id >= R.cap) {
        size_t cap = 2 * m->id + 64;
        struct module **of = realloc(R.of, cap * sizeof *of);
        if (!of)
            return;
        memset(of + R.cap, 0, (cap - R.cap) * sizeof *of);
        R.of = of;
        R.cap = cap;
    }
    R.of[m->id] = m;
}

EXPORT void **__cudaRegisterFatBinary(void *wrapper)
{
    struct module *m = calloc(1, sizeof *m);
    runtime_enter();
    if (m) {
        m->wrapper = wrapper;
        number(m);
    }
    runtime_leave();
    return (void **)m;
}

EXPORT void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

EXPORT void __cudaUnregisterFatBinary(void **handle)
{
    (void)handle; /* kernels may still be called by name from atexit functions */
}

/* Managed variables must be there before the program looks at them: the host code asks first. */
EXPORT char __cudaInitModule(void **handle)
{
    runtime_enter();
    if (!ready())
        use_module((struct module *)handle);
    drain();
    runtime_leave();
    return 1;
}

/* ---- kernels ---- */
static struct kernel *kernel_add(uint64_t module, const void *stub, const char *name)
{
    struct kernel *k = calloc(1, sizeof *k);
    char *own = strdup(name);
    if (!k || !own || !handle_add(k, HANDLE_KERNEL)) {
        free(k);
        free(own);
        return NULL;
    }
    *k = (struct kernel){
        .module = module, .name = own, .stub = stub, .shared_most = -1, .carveout = -1
    };
    k->next = R.kernels;
    R.kernels = k;
    return k;
}

EXPORT void __cudaRegisterFunction(void **handle, const char *stub, char *device_fun, const char *name,
                                   int limit, void *tid, void *bid, void *bdim, void *gdim, int *wsize)
{
    (void)device_fun, (void)limit, (void)tid, (void)bid, (void)bdim, (void)gdim, (void)wsize;
    runtime_enter();
    if (handle)
        kernel_add(((struct module *)handle)->id, stub, name);
    runtime_leave();
}

/* Its sizes, once. */
static cudaError_t ask_facts(struct kernel *k)
{
    void *rest = NULL;
    size_t n = 0;
    struct wire_name r = { k->module };
    struct module *m = k->module < R.cap ? R.of[k->module] : NULL;
    if (m)
        use_module(m);
    if (!ask(WIRE_KERNEL, &r, sizeof r, k->name, strlen(k->name), &k->facts, sizeof k->facts, &rest, &n))
        return sticky();
    k->asked = true;
    k->param = rest;
    if (n < k->facts.nparams * sizeof *k->param)
        k->facts.error = cudaErrorInvalidDeviceFunction;
    return k->facts.error;
}

/* Of which object it is, once. */
static void say_unknown(const void *f)
{
    static bool said;
    Dl_info in = { 0 };
    if (said || !dladdr(f, &in))
        return;
    said = true;
    fprintf(
        stderr,
        "gpulocw: %s+0x%zx (%s) is launched or asked for as a kernel, but was not registered as one\n",
        in.dli_fname ? in.dli_fname : "?", (size_t)((const char *)f - (const char *)in.dli_fbase),
        in.dli_sname ? in.dli_sname : "no name");
}

/* By its handle or its stub, whether or not it can be used. */
static struct kernel *registered(const void *f)
{
    struct kernel *k = handle_is(f, HANDLE_KERNEL) ? (struct kernel *)(uintptr_t)f : NULL;
    for (struct kernel *s = R.kernels; s && f && !k; s = s->next)
        k = s->stub == f ? s : NULL;
    if (!k && f)
        say_unknown(f);
    return k;
}

struct kernel *kernel_of(const void *f, cudaError_t *error)
{
    struct kernel *k = registered(f);
    *error = !k ? cudaErrorInvalidDeviceFunction : k->asked ? k->facts.error : ask_facts(k);
    return *error ? NULL : k;
}

uint64_t module_number(void)
{
    return R.modules++;
}

struct kernel *kernel_named(uint64_t module, const char *name, cudaError_t *error)
{
    struct kernel *k = R.kernels;
    while (k && (k->module != module || strcmp(k->name, name) != 0))
        k = k->next;
    if (!k)
        k = kernel_add(module, NULL, name);
    *error = cudaErrorMemoryAllocation;
    return k ? kernel_of(k, error) : NULL;
}

/* Graphs may still launch them: they stay, without a handle. */
void kernels_forget(uint64_t module)
{
    for (struct kernel *k = R.kernels; k; k = k->next)
        if (k->module == module)
            handle_drop(k);
}

/* The newer compilers' host code looks a kernel up once; that it cannot be used is the launch's error. */
EXPORT cudaError_t __cudaGetKernel(void **out, const void *stub)
{
    BEGIN
    if (!out)
        END(cudaErrorInvalidValue);
    struct kernel *k = registered(stub);
    *out = k;
    END(k ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

PLAIN(cudaGetKernel, (void **out, const void *stub), __cudaGetKernel(out, stub))
PLAIN(cudaGetFuncBySymbol, (void **out, const void *stub), __cudaGetKernel(out, stub))

EXPORT cudaError_t cudaFuncGetName(const char **name, const void *f)
{
    cudaError_t e;
    BEGIN
    if (!name)
        END(cudaErrorInvalidValue);
    struct kernel *k = kernel_of(f, &e);
    if (k)
        *name = k->name;
    END(e);
}

/* ---- variables ---- */
static struct variable *variable_add(void **handle, const void *host, const char *name, size_t size)
{
    struct variable *v = calloc(1, sizeof *v);
    char *own = strdup(name);
    if (!v || !own || !handle) {
        free(v);
        free(own);
        return NULL;
    }
    *v = (struct variable){ .module = (struct module *)handle, .host = host, .name = own, .size = size };
    v->next = R.variables;
    R.variables = v;
    return v;
}

EXPORT void __cudaRegisterVar(void **handle, char *host, char *device_name, const char *name, int ext,
                              size_t size, int constant, int global)
{
    (void)device_name, (void)ext, (void)global;
    runtime_enter();
    struct variable *v = variable_add(handle, host, name, size);
    if (v)
        v->constant = constant;
    runtime_leave();
}

EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext,
                                     size_t size, int constant, int global)
{
    (void)device, (void)ext, (void)constant, (void)global;
    runtime_enter();
    struct variable *v = variable_add(handle, host, name, size);
    if (v) {
        v->managed = true;
        v->managed_at = host;
    }
    runtime_leave();
}

/* Texture and surface references of old toolkits. */
EXPORT void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size)
{
    (void)handle, (void)name, (void)host, (void)size;
}

EXPORT void __cudaRegisterUnifiedTable(void **handle, void *table)
{
    (void)handle, (void)table;
}

static cudaError_t ask_variable(struct variable *v)
{
    struct wire_name r = { v->module->id };
    struct wire_variable a;
    use_module(v->module);
    if (v->p)
        return cudaSuccess;
    if (!ask(WIRE_VARIABLE, &r, sizeof r, v->name, strlen(v->name), &a, sizeof a, NULL, NULL))
        return sticky();
    v->p = (void *)(uintptr_t)a.addr;
    v->bytes = a.bytes;
    return a.error;
}

cudaError_t variable_address(const void *symbol, void **p, size_t *n)
{
    struct variable *v = R.variables;
    while (v && v->host != symbol && !(v->managed && v->p && v->p == symbol))
        v = v->next;
    if (!v)
        return cudaErrorInvalidSymbol;
    cudaError_t e = v->p ? cudaSuccess : ask_variable(v);
    *p = v->p;
    *n = v->bytes;
    return e;
}

EXPORT cudaError_t cudaGetSymbolAddress(void **p, const void *symbol)
{
    size_t n;
    BEGIN
    END(variable_address(symbol, p, &n));
}

EXPORT cudaError_t cudaGetSymbolSize(size_t *n, const void *symbol)
{
    void *p;
    BEGIN
    END(variable_address(symbol, &p, n));
}
