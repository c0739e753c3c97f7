/* fuse: a function as ptxas makes it: an add that takes a product unrounded is an fma, and a mul that nothing
 * else uses is nothing. */
#pragma once

struct arena;
struct ptx_contracted;
struct ptx_func;

struct ptx_fused {
    const struct ptx_func *func; /* f itself, where nothing is fused */
    struct ptx_func *copy;       /* NULL: none; its instructions stand in the arena */
    struct arena *arena;
};
/* all: its ptx_contract. The copy has no facts yet. NULL: out of memory. f outlives it. */
struct ptx_fused *ptx_fuse(const struct ptx_func *f, const struct ptx_contracted *all);
void ptx_fused_free(struct ptx_fused *x); /* NULL is fine */
