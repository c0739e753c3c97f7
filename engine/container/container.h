/* container: PTX wherever people have it: executables, shared objects, object files, archives, cubins,
 * fatbins, and folders of them. Formats: what nvcc 13 writes, read byte by byte and tried on an H200
 * (docs/lab/container.md). Nothing here parses PTX. */
#pragma once

#include "engine/base/base.h"

enum container_kind { CONTAINER_PTX, CONTAINER_CUBIN, CONTAINER_LTO_IR };
extern const char *const container_kind_names[]; /* by enum container_kind */

/* One entry of a fatbin, one cubin, or one PTX file. */
struct container_module {
    enum container_kind kind;
    char *where;    /* "app, fatbin 2, entry 1", or the path; owned */
    char *object;   /* the name of the object that it was compiled from; owned; NULL: not stored */
    uint32_t group; /* entries of one fatbin are the same code for several GPUs */
    uint32_t sm;    /* 90 of sm_90; 0: not stored */
    char variant;   /* 'a' or 'f' of sm_90a, sm_100f; 0: none */
    char *options;  /* compiler options that the code was made with, " -maxrregcount=40 "; owned; NULL */
    uint64_t bytes; /* of the PTX text or the code, uncompressed */
    char *text;     /* of PTX: ends in a zero byte that is not counted; owned; NULL: not PTX, or `why` */
    size_t n;
    char **kernel; /* of a cubin: names of its kernels; owned */
    size_t nkernels;
    bool code;     /* of a cubin: it has instructions, of kernels or of functions */
    bool unlooked; /* a compressed cubin whose kernels were not looked for */
    char *why;     /* why there is no text, one line; owned; NULL: there is */
};
struct container {
    struct container_module *v;
    size_t n, cap;
};
/* Limits against files that were made to be large. */
#define CONTAINER_MOST_TEXT    (512ull << 20) /* bytes of one module */
#define CONTAINER_MOST_ALL     (4ull << 30)   /* of all modules that are unpacked */
#define CONTAINER_MOST_MODULES 262144
#define CONTAINER_MOST_LOOKED  (64ull << 20) /* of compressed cubins, unpacked for their names */

/* Is the file (or folder) one of these, and no PTX text? A path that cannot be read is none. */
bool container_is(const char *path);
/* All modules. ST_INPUT with a diagnostic: damaged, or nothing of a GPU is in it; ST_REFUSED: more
 * modules than the limit. Free in every case. */
enum status container_read(const char *path, struct container *c, struct diags *ds);
/* The same of n bytes in memory: fatbins one after another, an ELF file or PTX text. name: for messages. */
enum status container_read_memory(const void *bytes, size_t n, const char *name, struct container *c,
                                  struct diags *ds);
void container_free(struct container *c);
/* How a program would start with a library of ours before its CUDA runtime. */
enum container_start {
    START_FINE, /* or no ELF file: a script, whose children may be */
    START_32BIT,
    START_STATIC,   /* no dynamic linker: nothing can be put before it */
    START_SETUID,   /* the dynamic linker ignores what is put before it */
    START_STRIPPED, /* the static CUDA runtime, and no symbols to find its functions by */
};
enum container_start container_start(const char *path);

/* What a choice among PTX modules of the same code goes by. */
struct container_want {
    const char *arch; /* "sm_90", "90a"; NULL: what fits cc best */
    uint32_t cc;      /* 90: compute capability 9.0; 0: not known, then the newest plain one */
};
/* The PTX modules for one GPU, at most one of each group; indices into c->v, in their order; *out owned
 * (base_free). *n 0: none fits, and ds says which there are. */
enum status container_choose(const struct container *c, const struct container_want *w, size_t **out,
                             size_t *n, struct diags *ds);
