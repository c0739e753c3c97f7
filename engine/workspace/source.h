/* source: what a FILE may be besides PTX text: an executable, a library, a fatbin, a folder, CUDA
 * source. What is in it, and the module that a command works on. */
#pragma once

#include "engine/base/base.h"

struct args;
struct container;
struct ptx_module;

struct source_want {
    const char *kernel;     /* as people say it; NULL: the first there is */
    const char *arch;       /* "sm_90a"; NULL: what fits cc best */
    uint32_t cc;            /* 90: compute capability 9.0; 0: not known */
    const char *nvcc_flags; /* for CUDA source; NULL: none */
};
/* What the command line wants: --kernel, --arch, the device, --nvcc-flags. */
struct source_want source_wanted(const struct args *a);
/* The module of one file, or the program that n files are together (engine/ptx/link.h). Of a file with
 * several modules it is the one with the kernel; one that needs others (relocatable device code) is
 * linked with them. Of several files, an object or archive without the kernel is a library: the program
 * takes of it what it lacks. What was taken is told by a note. */
enum status source_read(const char *const *path, size_t n, const struct source_want *w,
                        struct ptx_module **out, struct diags *ds);
/* The same of one file and a compute capability; for struct live_survey and its like. */
enum status source_open(void *unused, const char *path, const char *kernel, unsigned cc,
                        struct ptx_module **out, struct diags *ds);
/* CUDA source, compiled with nvcc, or clang where there is no nvcc; *text owned. ST_INPUT with the
 * compiler's words, or with what to run elsewhere when there is none. */
enum status source_compile(const char *path, const struct source_want *w, char **text, size_t *n,
                           struct diags *ds);
bool source_is_cuda(const char *path); /* by its name: .cu */

/* ---- listing (source_list.c) ---- */
struct source_param {
    uint64_t offset, size;
    const char *type; /* "u64", "b8[48]" is size 48 of b8 */
};
struct source_kernel {
    char *name; /* owned */
    struct source_param *param;
    size_t nparams;
};
struct source_listing { /* of one PTX text */
    char version[16], target[32];
    struct source_kernel *kernel;
    size_t n, cap;
};
/* Kernels and parameters of a text without parsing its bodies. False: out of memory. */
bool source_list(const char *text, size_t n, struct source_listing *out);
void source_listing_free(struct source_listing *l);
/* The document of `gpulocw list` and its text for people. */
void source_list_json(const struct container *c, struct buf *out);
void source_list_text(const struct container *c, struct buf *out);
