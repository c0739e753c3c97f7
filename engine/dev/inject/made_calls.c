/* Libraries that make machine code and are no part of the driver, so that CUPTI does not tell their
 * calls: NVRTC and nvJitLink. The injected library is preloaded as well, and stands before their
 * functions, whether these are linked or looked up. */
#include "engine/dev/inject/made.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* A look-up of these functions gets ours; every other goes on as it is, with its own caller on the
 * stack, since RTLD_NEXT means whoever asks. */
typedef void *(*dlsym_fn)(void *, const char *);
static dlsym_fn real_dlsym(void)
{
    static void *kept;
    void *p = __atomic_load_n(&kept, __ATOMIC_RELAXED);
    dlsym_fn fn;
    p = p ? p : dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    p = p ? p : dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    p = p ? p : dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.17");
    __atomic_store_n(&kept, p, __ATOMIC_RELAXED);
    memcpy(&fn, &p, sizeof fn);
    return fn;
}

/* Functions that we stand before. real: what a look-up found; NULL: whatever comes behind us. */
struct wrapper {
    const char *name;
    void (*ours)(void);
    void *real;
};

/* A library that was opened for its opener alone is behind nobody: by its name then. */
static void *opened_alone(const char *name)
{
    static const char *const LIBRARIES[] = { "libnvJitLink.so.13", "libnvJitLink.so.12",
                                             "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2" };
    void *p = NULL;
    for (size_t i = 0; !p && i < sizeof LIBRARIES / sizeof *LIBRARIES; i++) {
        void *l = dlopen(LIBRARIES[i], RTLD_NOW | RTLD_NOLOAD);
        p = l ? real_dlsym()(l, name) : NULL;
    }
    return p;
}

static void *real_of(struct wrapper *s)
{
    void *p = __atomic_load_n(&s->real, __ATOMIC_RELAXED);
    p = p ? p : real_dlsym()(RTLD_NEXT, s->name);
    return p ? p : opened_alone(s->name);
}

/* The function behind ours; NULL: none. */
#define REAL(fn, wrapper) memcpy(&(fn), &(void *){ real_of(wrapper) }, sizeof(fn))

/* ---- nvJitLink: its functions carry versions in their names ---- */
enum what { ADD_DATA, ADD_FILE, GET_CUBIN, DESTROY, NWHAT };
enum { NVERSIONS = 17 };
static struct wrapper jit[NWHAT][NVERSIONS];

/* nvJitLinkInputType: none, machine code, PTX, LTO-IR, fatbin, object, library, index; 10: any */
static enum made_input input_of(int type)
{
    static const uint8_t KINDS[] = { MADE_OTHER, MADE_OTHER, MADE_PTX, MADE_LTO, MADE_FATBIN };
    return type == 10                                 ? MADE_ANY
           : type >= 0 && (size_t)type < sizeof KINDS ? (enum made_input)KINDS[type]
                                                      : MADE_OTHER;
}

enum { NOT_THERE = 6 /* NVJITLINK_ERROR_INTERNAL */ };
static int jit_data(int k, void *state, int type, const void *data, size_t n, const char *name)
{
    int (*real)(void *, int, const void *, size_t, const char *);
    REAL(real, &jit[ADD_DATA][k]);
    int r = real ? real(state, type, data, n, name) : NOT_THERE;
    if (r == 0)
        made_link_add(state, input_of(type), data, n);
    return r;
}

static int jit_file(int k, void *state, int type, const char *path)
{
    int (*real)(void *, int, const char *);
    REAL(real, &jit[ADD_FILE][k]);
    int r = real ? real(state, type, path) : NOT_THERE;
    if (r == 0)
        made_link_add_file(state, input_of(type), path);
    return r;
}

static int jit_cubin(int k, void *state, void *cubin)
{
    int (*real)(void *, void *);
    REAL(real, &jit[GET_CUBIN][k]);
    int r = real ? real(state, cubin) : NOT_THERE;
    if (r == 0)
        made_link_made(state, cubin);
    return r;
}

static int jit_destroy(int k, void **state)
{
    int (*real)(void **);
    REAL(real, &jit[DESTROY][k]);
    if (state)
        made_link_drop(*state);
    return real ? real(state) : NOT_THERE;
}

#define JIT_VERSION(k, before, after)                                                                \
    EXPORT int jit_data_##k(void *s, int t, const void *d, size_t n,                                 \
                            const char *name) __asm__(before "nvJitLinkAddData" after);              \
    int jit_data_##k(void *s, int t, const void *d, size_t n, const char *name)                      \
    {                                                                                                \
        return jit_data(k, s, t, d, n, name);                                                        \
    }                                                                                                \
    EXPORT int jit_file_##k(void *s, int t, const char *p) __asm__(before "nvJitLinkAddFile" after); \
    int jit_file_##k(void *s, int t, const char *p)                                                  \
    {                                                                                                \
        return jit_file(k, s, t, p);                                                                 \
    }                                                                                                \
    EXPORT int jit_cubin_##k(void *s, void *c) __asm__(before "nvJitLinkGetLinkedCubin" after);      \
    int jit_cubin_##k(void *s, void *c)                                                              \
    {                                                                                                \
        return jit_cubin(k, s, c);                                                                   \
    }                                                                                                \
    EXPORT int jit_destroy_##k(void **s) __asm__(before "nvJitLinkDestroy" after);                   \
    int jit_destroy_##k(void **s)                                                                    \
    {                                                                                                \
        return jit_destroy(k, s);                                                                    \
    }
#include "engine/dev/inject/jit_versions.def"
#undef JIT_VERSION

#define ROW(w, k, name, fn) [w][k] = { name, (void (*)(void))fn, NULL }
static struct wrapper jit[NWHAT][NVERSIONS] = {
#define JIT_VERSION(k, before, after)                                             \
    ROW(ADD_DATA, k, before "nvJitLinkAddData" after, jit_data_##k),              \
        ROW(ADD_FILE, k, before "nvJitLinkAddFile" after, jit_file_##k),          \
        ROW(GET_CUBIN, k, before "nvJitLinkGetLinkedCubin" after, jit_cubin_##k), \
        ROW(DESTROY, k, before "nvJitLinkDestroy" after, jit_destroy_##k),
#include "engine/dev/inject/jit_versions.def"
#undef JIT_VERSION
};

/* ---- NVRTC ---- */
typedef int (*nvrtc_fn)(void *program, char *to);
typedef int (*nvrtc_size_fn)(void *program, size_t *n);

static void *function_beside(const void *of, const char *name)
{
    Dl_info i;
    void *l = dladdr(of, &i) ? dlopen(i.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
    return l ? real_dlsym()(l, name) : NULL;
}

static void nvrtc_made(const void *of, void *program, const char *cubin)
{
    nvrtc_size_fn size;
    nvrtc_fn text;
    size_t n = 0;
    void *s = function_beside(of, "nvrtcGetPTXSize"), *t = function_beside(of, "nvrtcGetPTX");
    memcpy(&size, &s, sizeof size);
    memcpy(&text, &t, sizeof text);
    char *ptx = s && t && size(program, &n) == 0 && n ? malloc(n + 1) : NULL;
    if (ptx && text(program, ptx) == 0) {
        ptx[n] = 0;
        made_keep(cubin, ptx, strlen(ptx), false);
    } else {
        free(ptx);
    }
}

EXPORT int nvrtcGetCUBIN(void *program, char *cubin);
static struct wrapper nvrtc = { "nvrtcGetCUBIN", (void (*)(void))nvrtcGetCUBIN, NULL };
int nvrtcGetCUBIN(void *program, char *cubin)
{
    void *p = real_of(&nvrtc);
    nvrtc_fn real;
    memcpy(&real, &p, sizeof real);
    int r = real ? real(program, cubin) : -1;
    if (r == 0 && real && cubin && memcmp(cubin, "\177ELF", 4) == 0)
        nvrtc_made(p, program, cubin);
    return r;
}

/* ---- look-ups ---- */
static struct wrapper *wrapper_of(const char *name)
{
    if (strcmp(name, nvrtc.name) == 0)
        return &nvrtc;
    for (size_t w = 0; strstr(name, "nvJitLink") && w < NWHAT; w++)
        for (size_t k = 0; k < NVERSIONS; k++)
            if (strcmp(name, jit[w][k].name) == 0)
                return &jit[w][k];
    return NULL;
}

static void *looked_up(struct wrapper *s, void *library)
{
    void *p = real_dlsym()(library, s->name), *ours;
    memcpy(&ours, &s->ours, sizeof ours);
    /* The first found is ours: only a library loaded after this one has the real function. */
    if (p == ours)
        p = real_dlsym()(RTLD_NEXT, s->name);
    if (p)
        __atomic_store_n(&s->real, p, __ATOMIC_RELAXED);
    return p ? ours : NULL;
}

EXPORT void *dlsym(void *restrict library, const char *restrict name);
__attribute__((optimize("O2"))) void *dlsym(void *restrict library, const char *restrict name)
{
    if ((name[0] == 'n' || strncmp(name, "__nv", 4) == 0) && library != RTLD_NEXT) {
        struct wrapper *s = wrapper_of(name);
        if (s)
            return looked_up(s, library);
    }
    return real_dlsym()(library, name); /* a jump, not a call */
}
