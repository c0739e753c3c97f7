/* Private to the runtime and the driver: modules that a program hands over as memory: PTX text, a fatbin,
 * an ELF file, or what image_link made of several. */
#pragma once

#include "engine/emulate/runtime/runtime.h"

#include <string.h>

struct image {
    uint64_t id;                 /* of the device's module */
    const struct context *owner; /* NULL: a library, of all contexts */
    const struct image *of;      /* a library's module: the library; NULL: neither */
    char *names;                 /* of its kernels, each with its zero byte; owned */
    size_t nkernels;
    uint32_t registers; /* at most so many of a thread; 0: as many as its kernels use */
    struct image *next;
};
/* What a call of the driver says of why an image cannot be used; owned (free), NULL: nothing. */
struct image_log {
    char *text;
};
/* Opens what `data` points to; its head says how much that is, and bytes that cannot be read are an error,
 * not a fault. owner NULL: a library. 200: no image; 209: no PTX for this GPU; 218: PTX with errors. *out
 * is the runtime's, until image_close or its context ends. */
cudaError_t image_open(const void *data, const struct context *owner, struct image **out,
                       struct image_log *log);
cudaError_t image_open_file(const char *path, const struct context *owner, struct image **out,
                            struct image_log *log);
/* A file's bytes and a zero byte, owned (free); NULL: it cannot be read. */
char *image_read_file(const char *path, size_t *n);
/* The module of a library in a context: the same one again; NULL: out of memory. */
struct image *image_within(struct image *library, const struct context *owner);
/* Its handle and those of its kernels are gone. */
void image_close(struct image *m);
/* By name; 500: there is none. *out is the image's. */
cudaError_t image_kernel(const struct image *m, const char *name, struct kernel **out);
cudaError_t image_variable(const struct image *m, const char *name, void **p, size_t *n);
const char *image_name(const struct image *m, size_t i); /* of a kernel, i below nkernels */
/* Whose kernel it is; NULL: of no image. */
struct image *image_of(const struct kernel *k);

/* By its head; 0: it is none. */
static inline uint64_t fatbin_bytes(const void *fatbin)
{
    uint32_t magic;
    uint16_t head;
    uint64_t size;
    const uint8_t *p = fatbin;
    memcpy(&magic, p, 4);
    memcpy(&head, p + 6, 2);
    memcpy(&size, p + 8, 8);
    return magic == 0xba55ed50u ? head + size : 0;
}

/* ---- several as one ---- */
struct image_parts {
    uint8_t *p; /* each with its size (u64) before it; owned (free) */
    size_t n;
    uint64_t parts;
    uint32_t registers; /* as an image's */
};
/* Adds a copy of the n bytes at data, 0: as its head says. */
cudaError_t image_add(struct image_parts *to, const void *data, size_t n);
/* One image of the parts that image_open takes, *n bytes; owned (free). The error of whoever would open
 * it. */
cudaError_t image_link(const struct image_parts *from, void **out, size_t *n, struct image_log *log);
