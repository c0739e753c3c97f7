/* launch_arg: arguments and variables of a launch, and how their data are made. */
#pragma once

#include "engine/rec/elem.h"

enum init_kind {
    INIT_FILL,
    INIT_IOTA,
    INIT_RANDOM,
    INIT_PERMUTATION,
    INIT_ROWS,
    INIT_FILE,
    INIT_NPY,
    INIT_HEX,
    INIT_SORTED,
    INIT_NEIGHBOURS,
    INIT_GRAPH,
    INIT_PARTS
};
struct init_spec {
    enum init_kind kind;
    double a, b; /* fill V | iota start, step | random, sorted lo, hi */
    int64_t ia, ib;
    bool integral;         /* the same as exact integers when both were */
    uint64_t seed;         /* of parts: added to the seed of each */
    uint64_t rows, nnz;    /* rows; neighbours, graph: rows or nodes */
    uint64_t degree, span; /* neighbours, graph: entries of a row; columns to each side, 0: all */
    uint64_t offset;       /* file: bytes to skip */
    char *text;            /* path or hex digits */
    struct init_spec *part;
    size_t nparts;
    uint64_t count; /* of a part: its elements */
};
/* The buffer can be made again from its rule, also by a worker of another version. */
bool init_by_rule(const struct init_spec *in, enum elem e);
/* Its numbers are drawn from a seed. */
bool init_draws(const struct init_spec *in);
/* NULL: a buffer of so many elements can be filled so; else what it would take, in `why`. */
const char *init_misfit(const struct init_spec *in, uint64_t count, char *why, size_t n);
/* ARG_TENSOR_MAP: 128 bytes made of the tensor map in `bytes`, its address being that of the buffer that
 * same_as names and offset (tensor_map.h). ARG_TEXTURE: a handle; `bytes` holds its struct texture
 * (texture.h), whose data are that buffer likewise; one beside the arguments is a variable of the module
 */
enum arg_kind { ARG_BUFFER, ARG_SCALAR, ARG_BYTES, ARG_SAME_AS, ARG_TENSOR_MAP, ARG_TEXTURE };
struct arg_spec {
    enum arg_kind kind;
    char *name;
    enum elem elem;        /* buffer, scalar */
    uint64_t count;        /* buffer: elements */
    struct init_spec init; /* buffer */
    bool output;           /* buffer: hashed and compared after a run */
    double tolerance;      /* relative; 0: bit-identical (float atomics may state one) */
    /* the tolerance is not the description's: float atomics reach this buffer. derived: not only by
     * adding to it, but by what is stored there */
    bool atomic, derived;
    uint8_t scalar[8]; /* scalar: little-endian value */
    uint8_t *bytes;
    size_t nbytes; /* bytes: structs by value */
    char *same_as;
    uint64_t offset; /* same_as: other buffer's name, byte offset */
    /* Not NULL: no parameter of its own; it lies inside the bytes argument of this name, `at` bytes from
     * its start (a pointer or a scalar member of a struct passed by value). Such arguments stand behind
     * all others. */
    char *inside;
    uint64_t at;
    /* A buffer that is no argument at all has `inside` "" ("buffers" of a description): others point
     * into it, or the data do. */
    uint64_t address; /* buffer: where it must be on the device, as pointers in data say; 0: anywhere */
    /* output buffer: the file with what the launch left on a GPU, from byte expect_at on; NULL: none */
    char *expect;
    uint64_t expect_at;
};
/* count 0: as many bytes as `file` or `hex` has */
struct symbol_spec {
    char *name;
    struct init_spec init;
    enum elem elem;
    uint64_t count;
};
/* Arguments of a launch that is made in code: `name` is kept as it is. A buffer whose elements are
 * start, start + step ...; a scalar. */
struct arg_spec arg_buffer(const char *name, enum elem e, uint64_t count, double start, double step,
                           bool output);
struct arg_spec arg_u32(const char *name, uint32_t v);
/* It uses the buffer that same_as names. */
static inline bool arg_shares(const struct arg_spec *a)
{
    return a->kind == ARG_SAME_AS || a->kind == ARG_TENSOR_MAP ||
           (a->kind == ARG_TEXTURE && a->same_as); /* a sampler has no texels */
}
/* a buffer beside the arguments */
static inline bool arg_apart(const struct arg_spec *a)
{
    return a->inside && !*a->inside;
}
