/* part: a program of which only some instructions do anything, on memory of the caller's. What decides a
 * kernel's addresses is run so (engine/analysis/slice). */
#pragma once

#include "engine/base/base.h"

struct ptx_func;
struct ptx_inst;
struct ptx_module;
struct ptx_symbol;
struct sim_program;

/* What becomes of an instruction. */
enum part_does {
    PART_NOTHING,
    PART_ALL,   /* what it does */
    PART_PLACE, /* an access only tells which addresses it goes to */
    PART_TELL,  /* it only tells which lanes execute it */
    PART_ZERO,  /* its first operand, a register, becomes 0 (a predicate: false), */
    PART_ONE    /* or 1 */
};
/* Bytes that lie side by side from addr on; n 0: none. */
struct part_bytes {
    uint64_t addr;
    uint64_t n;
    uint8_t *host;
    bool stays; /* every later question about these addresses has this answer, unless one `moved` */
    bool moved; /* answers given before about these addresses hold no more */
};
struct part {
    void *ctx;
    enum part_does (*does)(void *ctx, const struct ptx_func *f, const struct ptx_inst *i);
    /* The executor knows no such form of an instruction that should do something: it does nothing. */
    void (*odd)(void *ctx, const struct ptx_func *f, const struct ptx_inst *i);
    /* Where a variable lies in its space; false: nowhere. */
    bool (*place)(void *ctx, const struct ptx_symbol *s, uint64_t *addr);
    /* Global and constant memory that holds n bytes at addr. From any thread that runs a CTA. */
    struct part_bytes (*at)(void *ctx, uint64_t addr, unsigned n, bool writes);
    /* A lane goes outside all memory, of any space: it reads zero. From any thread that runs a CTA. */
    void (*stray)(void *ctx);
    uint32_t shared;      /* bytes of a CTA that its variables take */
    uint32_t most_shared; /* bytes of a CTA that there are, whatever the text declares */
    uint32_t most_local;  /* bytes of a thread */
};
/* `part` is kept, with the module; sim_unload. ST_DEVICE with a diagnostic: a function has no
 * instructions. */
enum status sim_load_part(const struct ptx_module *m, const struct ptx_func *kernel,
                          const struct part *part, struct sim_program **out, struct diags *ds);
