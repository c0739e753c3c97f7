/* nvJitLink's interface, for what it links of PTX: an image that cuModuleLoadData takes stands where its machine
 * code would. Its version is that before link-time optimization: clients that ask (numba-cuda, cuda.core)
 * then hand PTX over, not LTO-IR. */
#include "engine/emulate/driver/driver.h"
#include "engine/emulate/runtime/image.h"

#include <stdio.h>
#include <stdlib.h>

enum { FINE, INVALID_INPUT = 3, PTX_COMPILE, INTERNAL = 6, UNRECOGNIZED_INPUT = 8 };
enum { TYPE_PTX = 2, TYPE_FATBIN = 4, TYPE_OBJECT, TYPE_LIBRARY, TYPE_ANY = 10 };
struct jit_link {
    struct image_parts parts;
    void *image; /* owned, of `bytes` */
    size_t bytes;
    char *log; /* owned; NULL: nothing went wrong */
};

EXPORT int nvJitLinkVersion(unsigned *major, unsigned *minor)
{
    if (!major || !minor)
        return INVALID_INPUT;
    *major = 12;
    *minor = 0;
    return FINE;
}

EXPORT int nvJitLinkCreate(struct jit_link **out, uint32_t n, const char **option)
{
    static const char most[] = "-maxrregcount="; /* the others are for the making of machine code */
    if (!out || (n && !option) || !(*out = calloc(1, sizeof **out)))
        return out ? INTERNAL : INVALID_INPUT;
    for (uint32_t i = 0; i < n; i++)
        if (option[i] && strncmp(option[i], most, sizeof most - 1) == 0)
            (*out)->parts.registers = (uint32_t)strtoul(option[i] + sizeof most - 1, NULL, 10);
    return FINE;
}

EXPORT int nvJitLinkDestroy(struct jit_link **l)
{
    if (!l || !*l)
        return INVALID_INPUT;
    free((*l)->parts.p);
    free((*l)->image);
    free((*l)->log);
    free(*l);
    *l = NULL;
    return FINE;
}

EXPORT int nvJitLinkAddData(struct jit_link *l, int type, const void *data, size_t n, const char *name)
{
    static const char text[] =
        "%s: machine code or LTO-IR cannot be linked under emulation: hand PTX over";
    char why[300];
    bool takes = type == TYPE_PTX || (type >= TYPE_FATBIN && type <= TYPE_LIBRARY) || type == TYPE_ANY;
    if (!l || !data || !n)
        return INVALID_INPUT;
    if (takes)
        return image_add(&l->parts, data, type == TYPE_PTX ? strnlen(data, n) : n) ? INTERNAL : FINE;
    snprintf(why, sizeof why, text, name ? name : "input");
    free(l->log);
    l->log = strdup(why);
    return UNRECOGNIZED_INPUT;
}

EXPORT int nvJitLinkAddFile(struct jit_link *l, int type, const char *path)
{
    size_t n = 0;
    char *p = path ? image_read_file(path, &n) : NULL;
    int e = p ? nvJitLinkAddData(l, type, p, n, path) : INVALID_INPUT;
    free(p);
    return e;
}

EXPORT int nvJitLinkComplete(struct jit_link *l)
{
    struct image_log log = { 0 };
    if (!l || !l->parts.n)
        return INVALID_INPUT;
    CUresult e = driver_begin(false);
    e = driver_end(e ? e : image_link(&l->parts, &l->image, &l->bytes, &log));
    free(l->log);
    l->log = log.text;
    return e ? PTX_COMPILE : FINE;
}

static int put_bytes(const void *from, size_t n, void *to)
{
    if (!to || !from)
        return INVALID_INPUT;
    memcpy(to, from, n);
    return FINE;
}

#define BYTES(name, value)                                    \
    EXPORT int nvJitLink##name(struct jit_link *l, size_t *n) \
    {                                                         \
        if (!l || !n)                                         \
            return INVALID_INPUT;                             \
        *n = (value);                                         \
        return FINE;                                          \
    }
#define OUT(name, from, n)                                   \
    EXPORT int nvJitLink##name(struct jit_link *l, void *to) \
    {                                                        \
        return l ? put_bytes(from, n, to) : INVALID_INPUT;   \
    }
BYTES(GetLinkedCubinSize, l->bytes)
BYTES(GetLinkedPtxSize, l->bytes)
BYTES(GetErrorLogSize, l->log ? strlen(l->log) + 1 : 1)
BYTES(GetInfoLogSize, (size_t)1)
OUT(GetLinkedCubin, l->image, l->bytes)
OUT(GetLinkedPtx, l->image, l->bytes)
OUT(GetErrorLog, l->log ? l->log : "", l->log ? strlen(l->log) + 1 : 1)
OUT(GetInfoLog, "", 1)

void *jit_link_function(const char *name)
{
#define ONE(name)                                             \
    {                                                         \
        "nvJitLink" #name, (void *)(uintptr_t)nvJitLink##name \
    }
    const struct {
        const char *name;
        void *fn;
    } all[] = { ONE(Version),        ONE(Create),
                ONE(Destroy),        ONE(AddData),
                ONE(AddFile),        ONE(Complete),
                ONE(GetErrorLog),    ONE(GetErrorLogSize),
                ONE(GetInfoLog),     ONE(GetInfoLogSize),
                ONE(GetLinkedPtx),   ONE(GetLinkedPtxSize),
                ONE(GetLinkedCubin), ONE(GetLinkedCubinSize) };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, name) == 0)
            return all[i].fn;
    return NULL;
}
