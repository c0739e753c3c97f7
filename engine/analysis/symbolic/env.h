/* env: a launch made concrete. Where every buffer, variable and parameter lies
 * in a made-up address space, and symbolic values with the launch put in.
 *
 *   global, const   regions 1 TiB apart, so alignment up to that is as good as real
 *   shared          offsets from 0 in the CTA's window
 *   local           offsets from 0 per thread
 *   param           the kernel's parameter block
 * Generic addresses of the last three are where the executor has them (engine/sim/windows.h). */
#pragma once

#include "engine/ptx/flow/asks.h"
#include "engine/rec/data.h"
#include "engine/rec/elem.h"

struct eval;
struct symexpr;

#define ENV_REGION_SHIFT 40
#define ENV_ASSUMED_INT  1024 /* what an integer parameter is taken to be without a launch */

struct env_region {
    uint64_t base, size;
    const struct launch_buffer *of; /* whose initial content it has; NULL: a symbol's, which is */
    const uint8_t *bytes;           /* this; NULL: zeros */
    const char *name;
    int arg; /* launch argument, -1: a symbol */
    const struct ptx_symbol *sym;
};
struct env_symbol {
    const struct ptx_symbol *sym;
    uint64_t addr;
};                /* in its own space */
struct env_loop { /* by ana_loop.id */
    bool known, uniform;
    int64_t trips; /* back edges taken: exactly (uniform) or at most */
    bool bounded;
    int64_t most; /* not known, but never more back edges than this */
    /* not uniform: condition for ITER to be reached, in terms of ITER */
    const struct symexpr *again;
};
struct env {
    struct eval *e;
    const struct launch_data *data; /* NULL: assumed launch */
    struct dim3u grid, block;
    struct ptx_shared shared; /* while they are placed */
    uint32_t shared_static;   /* byte */
    uint32_t shared_dynamic;  /* byte */
    uint32_t local_bytes;     /* byte a thread */
    struct env_region *region;
    uint32_t nregions;
    struct env_symbol *symbol;
    uint32_t nsymbols;
    uint8_t *params;
    uint64_t nparams;
    uint8_t *param_known;
    uint64_t *arg_base; /* per kernel parameter: its buffer's address, 0: not a buffer */
    struct env_loop *loop;
    bool quick;      /* fewer points are looked at */
    uint64_t budget; /* most warp operations of one part of the analysis; 0: the caller set none */
    bool effects;    /* slices of it execute every write, in place */
};
/* Fills *v. Grid and block come from the launch, or from the kernel's directives and defaults. */
enum status env_make(struct env *v, struct eval *e, const struct launch_data *data);
/* The region in whose TiB an address lies; nregions: none. */
uint32_t env_region_at(const struct env *v, uint64_t addr);
/* The region an address lies in, NULL: none. Global and const space. */
const struct env_region *env_find(const struct env *v, uint64_t addr);
/* Its initial content where it is: all of it (NULL: zeros, or it would have to be made), or n bytes from
 * `at` on, made if need be (NULL: as launch_buffer_part). */
static inline const uint8_t *env_whole(const struct env_region *r)
{
    return r->of ? launch_buffer_whole(r->of) : r->bytes;
}
static inline const uint8_t *env_bytes(const struct env_region *r, uint64_t at, uint64_t n)
{
    return r->of ? launch_buffer_part(r->of, at, n) : r->bytes ? r->bytes + at : NULL;
}
/* Symbol address in its own space; false: not placed. */
bool env_symbol(const struct env *v, const struct ptx_symbol *s, uint64_t *addr);
/* The value with launch, parameters and addresses put in. Loops must be solved first for their ITER
 * bounds. */
const struct symexpr *env_concrete(struct env *v, const struct symexpr *x);
/* Works out every loop's trip count, outer loops first (env_loop.known says where it could). */
void env_solve_loops(struct env *v);
static inline uint32_t env_threads(const struct env *v)
{
    return v->block.x * v->block.y * v->block.z;
}
static inline uint32_t env_warps(const struct env *v)
{
    return (env_threads(v) + 31) / 32;
}
static inline uint64_t env_ctas(const struct env *v)
{
    return dim3u_count(v->grid);
}
