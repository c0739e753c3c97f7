/* The linker: texts, fatbins and files as one image, which cuModuleLoadData takes. */
#include "engine/emulate/driver/driver.h"
#include "engine/emulate/runtime/image.h"

#include <stdio.h>
#include <stdlib.h>

enum { INPUT_CUBIN, INPUT_PTX, INPUT_FATBIN, INPUT_OBJECT, INPUT_LIBRARY, INPUTS };
enum { MAX_REGISTERS, ERROR_LOG = 5, ERROR_BYTES };
enum { FILE_NOT_FOUND = 301 };
struct link {
    struct image_parts parts;
    void *image; /* owned: what cuLinkComplete gave out */
    char *log;   /* borrowed: the program's buffer, until the link is destroyed */
    size_t room;
};
typedef struct link *CUlinkState;

static bool is_link(const struct link *l)
{
    return handle_is(l, HANDLE_LINK);
}

static CUresult create(unsigned n, const int *option, void **value, CUlinkState *out)
{
    struct link *l = out && (!n || (option && value)) ? calloc(1, sizeof *l) : NULL;
    if (!l)
        return out ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < n; i++) {
        l->log = option[i] == ERROR_LOG ? value[i] : l->log;
        l->room = option[i] == ERROR_BYTES ? (uintptr_t)value[i] : l->room;
        if (option[i] == MAX_REGISTERS)
            l->parts.registers = (uint32_t)(uintptr_t)value[i];
    }
    if (!handle_add(l, HANDLE_LINK)) {
        free(l);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = l;
    return CUDA_SUCCESS;
}

SAME(cuLinkCreate_v2, (unsigned n, const int *option, void **value, CUlinkState *out),
     create(n, option, value, out))

/* Machine code cannot be linked here. */
static CUresult add(CUlinkState l, int type, const void *data, size_t n)
{
    enum { NO_BINARY = 209 };
    if (!is_link(l) || !data || !n || type < 0)
        return is_link(l) ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    if (type == INPUT_CUBIN || type >= INPUTS)
        return NO_BINARY;
    if (type == INPUT_PTX)
        n = strnlen(data, n);
    return image_add(&l->parts, data, n);
}

SAME(cuLinkAddData_v2,
     (CUlinkState l, int type, const void *data, size_t n, const char *name, unsigned noptions,
      const int *option, void **value),
     ((void)name, (void)noptions, (void)option, (void)value, add(l, type, data, n)))

static CUresult add_file(CUlinkState l, int type, const char *path)
{
    size_t n = 0;
    char *p = path ? image_read_file(path, &n) : NULL;
    CUresult e = p ? add(l, type, p, n) : path ? FILE_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
    free(p);
    return e;
}

SAME(cuLinkAddFile_v2,
     (CUlinkState l, int type, const char *path, unsigned noptions, const int *option, void **value),
     ((void)noptions, (void)option, (void)value,
      is_link(l) ? add_file(l, type, path) : CUDA_ERROR_INVALID_HANDLE))

static CUresult complete(CUlinkState l, void **image, size_t *n)
{
    struct image_log log = { 0 };
    size_t bytes = 0;
    if (!is_link(l) || !image)
        return is_link(l) ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    free(l->image);
    l->image = NULL;
    CUresult e = image_link(&l->parts, &l->image, &bytes, &log);
    if (l->log && l->room)
        snprintf(l->log, l->room, "%s", log.text ? log.text : "");
    free(log.text);
    if (e)
        return e;
    *image = l->image;
    if (n)
        *n = bytes;
    return CUDA_SUCCESS;
}

SAME(cuLinkComplete, (CUlinkState l, void **image, size_t *n), complete(l, image, n))

static CUresult destroy(CUlinkState l)
{
    if (!is_link(l))
        return CUDA_ERROR_INVALID_HANDLE;
    handle_drop(l);
    free(l->parts.p);
    free(l->image);
    free(l);
    return CUDA_SUCCESS;
}

SAME(cuLinkDestroy, (CUlinkState l), destroy(l))
