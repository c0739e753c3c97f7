/* PTX that became machine code inside the program: NVRTC's, and the inputs of the driver's linker. It is
 * kept by the hash of the machine code, which the driver gets as an image.
 *
 * NVRTC is no part of the driver, and CUPTI does not tell its calls: the library is preloaded as well,
 * and stands before nvrtcGetCUBIN, whether that is linked or looked up. */
#include "engine/dev/inject/made.h"

#include "engine/dev/inject/inject.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
enum { MOST_MADE = 4096, MOST_LINKS = 64, INPUT_PTX = 1, HEAD = 16, ENTRY = 64 };

static struct {
    uint64_t hash;
    char *ptx;
    size_t n;
} made[MOST_MADE];
static size_t nmade;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void keep(const void *cubin, char *ptx, size_t n)
{
    pthread_mutex_lock(&lock);
    if (nmade < MOST_MADE && ptx) {
        made[nmade].hash = image_hash(cubin);
        made[nmade].ptx = ptx;
        made[nmade++].n = n;
    } else {
        free(ptx);
    }
    pthread_mutex_unlock(&lock);
}

const char *made_ptx(uint64_t hash, size_t *n)
{
    const char *ptx = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = nmade; i-- > 0 && !ptx;)
        if (made[i].hash == hash) {
            ptx = made[i].ptx;
            *n = made[i].n;
        }
    pthread_mutex_unlock(&lock);
    return ptx;
}

/* ---- NVRTC ---- */
typedef int (*nvrtc_fn)(void *program, char *to);
typedef int (*nvrtc_size_fn)(void *program, size_t *n);
static nvrtc_fn real_cubin;

static void *function_beside(const void *of, const char *name)
{
    Dl_info i;
    void *l = dladdr(of, &i) ? dlopen(i.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
    return l ? dlsym(l, name) : NULL;
}

static void nvrtc_made(nvrtc_fn from, void *program, const char *cubin)
{
    void *of;
    nvrtc_size_fn size;
    nvrtc_fn text;
    size_t n = 0;
    memcpy(&of, &from, sizeof of);
    void *s = function_beside(of, "nvrtcGetPTXSize"), *t = function_beside(of, "nvrtcGetPTX");
    memcpy(&size, &s, sizeof size);
    memcpy(&text, &t, sizeof text);
    char *ptx = s && t && size(program, &n) == 0 && n ? malloc(n + 1) : NULL;
    if (ptx && text(program, ptx) == 0) {
        ptx[n] = 0;
        keep(cubin, ptx, strlen(ptx));
    } else {
        free(ptx);
    }
}

EXPORT int nvrtcGetCUBIN(void *program, char *cubin);
int nvrtcGetCUBIN(void *program, char *cubin)
{
    nvrtc_fn real = real_cubin;
    if (!real) {
        void *p = dlsym(RTLD_NEXT, "nvrtcGetCUBIN");
        memcpy(&real, &p, sizeof real);
    }
    int r = real ? real(program, cubin) : -1;
    if (r == 0 && real && cubin && memcmp(cubin, "\177ELF", 4) == 0)
        nvrtc_made(real, program, cubin);
    return r;
}

/* A look-up of that function gets ours; every other goes on as it is, with its own caller on the stack,
 * since RTLD_NEXT means whoever asks. */
typedef void *(*dlsym_fn)(void *, const char *);
static dlsym_fn real_dlsym(void)
{
    static dlsym_fn fn;
    if (!fn) {
        void *p = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
        p = p ? p : dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        p = p ? p : dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.17");
        memcpy(&fn, &p, sizeof fn);
    }
    return fn;
}

static void *nvrtc_looked_up(void *library)
{
    void *p = real_dlsym()(library, "nvrtcGetCUBIN"), *ours;
    nvrtc_fn mine = nvrtcGetCUBIN;
    memcpy(&ours, &mine, sizeof ours);
    if (p && p != ours)
        memcpy(&real_cubin, &p, sizeof real_cubin);
    return p ? ours : NULL;
}

EXPORT void *dlsym(void *restrict library, const char *restrict name);
__attribute__((optimize("O2"))) void *dlsym(void *restrict library, const char *restrict name)
{
    if (name[0] == 'n' && library != RTLD_NEXT && strcmp(name, "nvrtcGetCUBIN") == 0)
        return nvrtc_looked_up(library);
    return real_dlsym()(library, name); /* a jump, not a call */
}

/* ---- the driver's linker ---- */
struct link_data_call {
    void *state;
    int type;
    const char *data;
    size_t n;
};
struct link_file_call {
    void *state;
    int type;
    const char *path;
};
struct link_end_call {
    void *state;
    void **cubin;
    size_t *n;
};
static struct {
    void *state;
    char *ptx; /* containers with one text each: they are one program */
    size_t n;
} links[MOST_LINKS];

static void put(unsigned char *to, uint64_t v, size_t n)
{
    memcpy(to, &v, n);
}

/* The text as an entry of a container of its own. */
static void add_text(void *state, const char *text, size_t n)
{
    size_t k = 0, padded = (n + 8) / 8 * 8;
    while (k < MOST_LINKS && links[k].state != state && links[k].state)
        k++;
    char *more = k < MOST_LINKS ? realloc(links[k].ptx, links[k].n + HEAD + ENTRY + padded) : NULL;
    if (!more)
        return;
    unsigned char *c = (unsigned char *)more + links[k].n;
    const char *target = strstr(text, ".target sm_");
    memset(c, 0, HEAD + ENTRY + padded);
    put(c, 0xba55ed50u, 4), put(c + 4, 1, 2), put(c + 6, HEAD, 2), put(c + 8, ENTRY + padded, 8);
    put(c + 16, 1, 2), put(c + 18, 0x101, 2), put(c + 20, ENTRY, 4), put(c + 24, padded, 8);
    put(c + 44, target ? (uint64_t)atoi(target + strlen(".target sm_")) : 0, 4), put(c + 56, 0x11, 8);
    memcpy(c + HEAD + ENTRY, text, n);
    links[k].state = state;
    links[k].ptx = more;
    links[k].n += HEAD + ENTRY + padded;
}

void made_link_data(const struct call *c)
{
    const struct link_data_call *p = c->params;
    if (p->type == INPUT_PTX && p->data)
        add_text(p->state, p->data, strnlen(p->data, p->n));
}

void made_link_file(const struct call *c)
{
    const struct link_file_call *p = c->params;
    char *text = p->type == INPUT_PTX && p->path ? image_file(p->path) : NULL;
    if (text)
        add_text(p->state, text, strlen(text));
    free(text);
}

void made_link_end(const struct call *c)
{
    const struct link_end_call *p = c->params;
    for (size_t k = 0; k < MOST_LINKS; k++)
        if (links[k].state == p->state && links[k].ptx && p->cubin && *p->cubin) {
            keep(*p->cubin, links[k].ptx, links[k].n);
            memset(&links[k], 0, sizeof links[k]);
        }
}
