/* The fake driver's memory, variables and launches with parameters: what capture asks a driver for.
 * Memory is the host's; a launch runs the same kernel in C. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/live/fake_live.h"

enum { MOST = 64, NOT_FOUND = 1, TYPE_HOST = 1, TYPE_DEVICE = 2 };
static struct memory {
    uint64_t addr, bytes, reserved_from, reserved; /* reserved: pieces of one range of addresses */
    int kind;
} memory[MOST];
static unsigned nmemory;
static int waits; /* a kernel that never ends is running */
float fake_table[16];
int fake_count[4];

uint64_t fake_alloc(uint64_t bytes, int kind)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t addr = (uint64_t)(uintptr_t)p;
    memory[nmemory++ % MOST] = (struct memory){ addr, bytes, addr, bytes, kind };
    return addr;
}

uint64_t fake_alloc_pieces(uint64_t piece, unsigned pieces)
{
    uint64_t addr = (uint64_t)(uintptr_t)mmap(NULL, piece * (pieces + 2), PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (unsigned i = 0; i < pieces; i++)
        memory[nmemory++ % MOST] =
            (struct memory){ addr + i * piece, piece, addr, piece * (pieces + 2), FAKE_DEVICE };
    return addr;
}

static struct memory *at(uint64_t p)
{
    for (unsigned i = 0; i < MOST; i++)
        if (p - memory[i].addr < memory[i].bytes)
            return &memory[i];
    return NULL;
}

int cuPointerGetAttribute(void *to, int which, uint64_t p)
{
    const struct memory *m = at(p);
    if (!m)
        return NOT_FOUND;
    switch (which) {
    case 2: *(unsigned *)to = m->kind == FAKE_HOST ? TYPE_HOST : TYPE_DEVICE; return 0;
    case 4: *(uint64_t *)to = p; return m->kind == FAKE_HOST ? 0 : NOT_FOUND;
    case 8: *(unsigned *)to = m->kind == FAKE_MANAGED || m->kind == FAKE_LOST; return 0;
    case 9: *(int *)to = m->kind == FAKE_PEER; return 0;
    case 11: *(uint64_t *)to = m->reserved_from; return 0;
    case 12: *(size_t *)to = m->reserved; return 0;
    default: return NOT_FOUND;
    }
}
int cuMemGetAddressRange_v2(uint64_t *from, size_t *n, uint64_t p)
{
    const struct memory *m = at(p);
    if (!m)
        return NOT_FOUND;
    *from = m->addr;
    *n = m->bytes;
    return 0;
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n)
{
    const struct memory *m = at(from);
    if (m && (m->kind == FAKE_LOST || m->kind == FAKE_PEER))
        return NOT_FOUND;
    memcpy(to, (const void *)(uintptr_t)from, n);
    return 0;
}
int cuCtxGetCurrent(void **c)
{
    *c = memory;
    return 0;
}
int cuCtxSetCurrent(void *c)
{
    (void)c;
    return 0;
}
int cuCtxGetDevice(int *d)
{
    *d = 0;
    return 0;
}
int cuDeviceGetAttribute(int *v, int which, int d)
{
    (void)d;
    *v = which == 75 ? 9 : 0;
    return 0;
}
int cuCtxSynchronize(void)
{
    while (__atomic_load_n(&waits, __ATOMIC_SEQ_CST))
        usleep(1000);
    return 0;
}
void fake_release(void)
{
    __atomic_store_n(&waits, 0, __ATOMIC_SEQ_CST);
}
int cuFuncGetAttribute(int *v, int which, void *f)
{
    (void)f;
    *v = which == 9 ? 50 : which == 8 ? 4096 : 0;
    return which >= 8 && which <= 9 ? 0 : NOT_FOUND;
}
int cuStreamGetAttribute(void *s, int which, void *value)
{
    (void)s, (void)which, (void)value;
    return NOT_FOUND;
}
int cuModuleGetGlobal_v2(uint64_t *addr, size_t *n, void *module, const char *name)
{
    (void)module;
    bool table = strcmp(name, "c_table") == 0;
    if (!table && strcmp(name, "d_count") != 0)
        return NOT_FOUND;
    *addr = (uint64_t)(uintptr_t)(table ? (void *)fake_table : fake_count);
    *n = table ? sizeof fake_table : sizeof fake_count;
    return 0;
}
int cuFuncGetModule(void **m, void *f)
{
    *m = f;
    return 0;
}

/* ---- kernels of kernels.cu ---- */
struct layout {
    const char *name;
    size_t n, offset[4], bytes[4];
};
static const struct layout LAYOUT[] = { { "scale", 4, { 0, 8, 16, 20 }, { 8, 8, 4, 4 } },
                                        { "gather", 1, { 0 }, { 32 } },
                                        { "rows", 3, { 0, 8, 16 }, { 8, 8, 4 } },
                                        { "table", 2, { 0, 8 }, { 8, 4 } },
                                        { "spin", 2, { 0, 8 }, { 8, 8 } } };
int cuFuncGetParamInfo(void *f, size_t i, size_t *offset, size_t *bytes)
{
    const char *name = NULL;
    if (cuFuncGetName(&name, f) != 0)
        return NOT_FOUND;
    for (size_t k = 0; name && k < sizeof LAYOUT / sizeof *LAYOUT; k++)
        if (strcmp(LAYOUT[k].name, name) == 0 && i < LAYOUT[k].n && !getenv("FAKE_OLD")) {
            *offset = LAYOUT[k].offset[i] + (getenv("FAKE_SHIFT") ? 48 : 0);
            *bytes = LAYOUT[k].bytes[i];
            return 0;
        }
    return NOT_FOUND;
}

struct gather {
    const float *in;
    const int *index;
    float *out;
    int n;
    float scale;
};
static void *pointer(void *const *params, int i)
{
    return *(void **)params[i];
}
void fake_run(const char *name, void **p)
{
    const struct gather *g = p[0];
    if (strcmp(name, "scale") == 0) {
        const float *x = pointer(p, 0);
        float *y = pointer(p, 1);
        for (int i = 0; i < *(int *)p[3]; i++)
            y[i] = getenv("FAKE_WRONG") ? 1e6F + (float)i : *(float *)p[2] * x[i];
    } else if (strcmp(name, "gather") == 0) {
        for (int i = 0; i < g->n; i++)
            g->out[i] = g->scale * g->in[g->index[i]];
    } else if (strcmp(name, "rows") == 0) {
        float *const *row = pointer(p, 0);
        float *out = pointer(p, 1);
        for (int i = 0; i < *(int *)p[2]; i++)
            out[i] = row[i & 1][i];
    } else if (strcmp(name, "table") == 0) {
        float *out = pointer(p, 0);
        for (int i = 0; i < *(int *)p[1]; i++) {
            out[i] = fake_table[i & 15];
            fake_count[i & 3] += i < 4 ? i + 1 : 0;
        }
    } else if (strcmp(name, "spin") == 0) {
        __atomic_store_n(&waits, 1, __ATOMIC_SEQ_CST);
    }
}

/* ---- nvJitLink: what it links is its last text ---- */
static char linked[1 << 16];
static int link_data(void *state, int type, const void *data, size_t n, const char *name)
{
    (void)state, (void)type, (void)name;
    memcpy(linked, data, n < sizeof linked ? n : sizeof linked - 1);
    return 0;
}
static int link_cubin(void *state, char *cubin)
{
    (void)state;
    fake_cubin(linked, cubin);
    return 0;
}
int __nvJitLinkAddData_12_8(void *state, int type, const void *data, size_t n, const char *name)
{
    return link_data(state, type, data, n, name);
}
int __nvJitLinkGetLinkedCubin_12_8(void *state, char *cubin)
{
    return link_cubin(state, cubin);
}
int nvJitLinkAddData(void *state, int type, const void *data, size_t n, const char *name)
{
    return link_data(state, type, data, n, name);
}
int nvJitLinkGetLinkedCubin(void *state, char *cubin)
{
    return link_cubin(state, cubin);
}
int nvJitLinkDestroy(void **state)
{
    *state = NULL;
    return 0;
}

/* ---- NVRTC: a program is its text, and its machine code a small ELF file ---- */
static void put(unsigned char *to, uint64_t v, size_t n)
{
    memcpy(to, &v, n);
}
void fake_cubin(const char *text, char *cubin)
{
    unsigned char *c = (unsigned char *)cubin;
    uint64_t sum = strlen(text);
    for (size_t i = 0; text[i]; i++)
        sum = sum * 31 + (unsigned char)text[i];
    memset(c, 0, FAKE_CUBIN);
    memcpy(c, "\177ELF\2\1\1", 7);
    put(c + 40, 64, 8), put(c + 58, 64, 2), put(c + 60, 1, 2); /* one section, behind the header */
    put(c + 64 + 24, 128, 8), put(c + 64 + 32, 8, 8), put(c + 128, sum, 8);
}
int nvrtcGetCUBIN(void *program, char *cubin)
{
    fake_cubin(program, cubin);
    return 0;
}
int nvrtcGetPTXSize(void *program, size_t *n)
{
    *n = strlen(program) + 1;
    return 0;
}
int nvrtcGetPTX(void *program, char *text)
{
    memcpy(text, program, strlen(program) + 1);
    return 0;
}
