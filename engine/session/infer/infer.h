/* What the files of this folder share: the guess of a launch description.
 *
 *   infer.c   launch_infer                             uses.c    what the code tells of each parameter
 *   shape.c   what the code tells of grid and block     blocks.c  block shapes to try, best first
 *   fickle.c  values that differ from run to run        spec.c    a guess made into a description
 *   try.c     guesses are tried until one runs clean    handles.c textures and surfaces
 *   trial.c   one trial                                 fit.c     a guess corrected until its threads work
 *   work.c    who is idle, what nobody touches          reach.c   where a value goes, what bounds it
 *   others.c  launches beside the guess, for checks */
#pragma once

#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/elem.h"
#include "engine/session/infer/shape.h"
#include "engine/session/guess.h"

struct arg_spec;
struct dev;
struct launch_spec;
struct texture;

enum { INFER_BLOCKS = 16, INFER_ARGS = 1024 };
enum infer_construct {
#define CONSTRUCT(id, where, has, becomes) INFER_##id,
#include "engine/session/infer/constructs.def"
#undef CONSTRUCT
};

/* One guess. */
struct size_guess {
    uint32_t n;      /* what an integer parameter says */
    uint64_t count;  /* elements of a buffer */
    uint32_t row;    /* an integer that bounds only the threads of a CTA */
    uint32_t turns;  /* one that bounds a counter */
    uint32_t pitch;  /* the length of rows that are only stepped over; 0: n */
    uint32_t offset; /* what only moves addresses; 0: n */
    uint32_t parts;  /* CTAs along x, where a parameter says how many there are */
};
/* A block, and how many indices one CTA covers where that is more than its threads (0: the block
 * itself). */
struct block_guess {
    struct dim3u block, covers;
    bool fixed; /* the text fixes it: n is a multiple */
    enum infer_construct why;
};
/* What the analysis tells of one parameter. */
struct param_use {
    bool address, loaded, stored, float_atomic, offsets /* where rows start */;
    bool flag;     /* a load of it is volatile, relaxed or acquire: another CTA may have stored there */
    bool fickle;   /* what is stored differs from run to run */
    bool pointers; /* what is loaded is an address */
    enum ptx_type type;
};
struct guess {
    const struct ana_kernel *facts;
    const struct ptx_func *f;
    struct param_use *use;
    struct infer_shape shape;
    struct block_guess blocks[INFER_BLOCKS];
    unsigned nblocks;
    uint32_t chunk; /* a CTA takes so many blocks' indices along x */
    bool loops;
    bool indexed;         /* loaded values make addresses */
    bool all_wide;        /* whatever is as wide as a pointer is taken for one */
    uint32_t table;       /* elements of the least table in constant memory that a loop walks; 0: none */
    bool follows;         /* loaded pointers lead to further ones: a list, a tree */
    uint32_t node, link;  /* bytes from such a pointer to the last that is used, to the next pointer */
    bool parts;           /* loaded pointers lead to arrays */
    bool counted;         /* loaded values are places in a small array, of shared or constant memory */
    uint32_t few;         /* integers in memory are below it; 0: below the size */
    bool ends;            /* integers in memory go on to other places, and end by -1: a list, a tree */
    bool modes;           /* integers that are only compared with one number are that number */
    bool *addresses;      /* by register */
    int16_t *bounds;      /* by register: enum infer_bound, worked out when asked for (-1: not yet) */
    uint32_t wider;       /* times as many CTAs along x */
    struct dim3u grid;    /* x 0: what covers the size */
    struct dim3u threads; /* a block in place of the tried one; x 0: none */
    const uint64_t *bytes; /* of each argument's buffer; NULL: as the size says */
    bool zero;             /* what is read and written starts at zero */
    bool rows;             /* offsets of rows ascend */
    bool cta_rows;         /* a CTA has a row */
    bool ahead;            /* pointers lead into the middle of their buffers */
    uint64_t *front;       /* by parameter: else so many bytes into it, whole vectors */
    uint32_t brief;        /* at most so often is what only counts turns; 0: as the size says */
    /* as the user says; n 0, block.x 0: not said */
    struct infer_asked asked;
};

/* uses.c: use, addresses, loops, indexed and rows of g; false: out of memory */
bool infer_uses(struct guess *g);
enum ptx_type infer_access_type(const struct guess *g, const struct ana_access *a);
/* The use of one member of a struct by value. */
struct param_use infer_member_use(const struct guess *g, uint32_t p, uint64_t at);
/* Instruction that reads parameter p at byte `at`; NULL: none. */
const struct ptx_inst *infer_param_load(const struct guess *g, uint32_t p, uint64_t at);
bool infer_loads_address(const struct guess *g, const struct ptx_inst *x);
/* Some parameter is as wide as a pointer and not known to be one. */
bool infer_hides_pointers(const struct guess *g);

/* handles.c: the texture or surface that parameter p is the handle of, n texels along each dimension;
 * false: it is none. */
bool infer_texture(const struct guess *g, uint32_t p, uint32_t n, struct texture *out, bool *written);
/* The same into argument *a, which has its name, and its texels into *texels, which stays as it is where
 * p is no handle. */
enum status infer_texture_arg(const struct guess *g, uint32_t p, uint32_t n, struct arg_spec *a,
                              struct arg_spec *texels);
/* blocks.c: fills g->blocks */
void infer_blocks(struct guess *g);
/* fickle.c: param_use.fickle of every parameter; false: out of memory */
bool infer_fickle(struct guess *g);
/* spec.c: *l owned, launch_spec_free, whatever the status */
enum status infer_spec(const struct guess *g, struct size_guess size, unsigned block,
                       struct launch_spec *l);
/* The buffer has so many elements from now on, no more than it had; its parts, too. */
void infer_cut(struct arg_spec *a, uint64_t count);
/* What bounds the integer that x loads, as bits of enum infer_bound; 0: nothing, or it is not known. */
unsigned infer_bounds_of(const struct guess *g, const struct ptx_inst *x);
/* Some parameter is of this kind, and nothing else is said of it. */
bool infer_has_bound(const struct guess *g, enum infer_bound kind);
/* try.c: the first guess that runs clean, else one that runs (a warning says what is in its way), else
 * the first (a warning says so) */
enum status infer_find(struct guess *g, struct dev *d, const struct cancel *cancel,
                       struct launch_spec *out, struct diags *ds);
