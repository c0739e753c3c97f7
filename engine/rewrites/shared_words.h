/* shared_words: accesses to shared memory whose addresses a pass computes anew (swizzle.c, smem_pad.c).
 */
#pragma once

#include "engine/base/base.h"

struct pass_ctx;
struct ptx_inst;
struct ptx_operand;
struct ptx_symbol;

#define SHARED_WORDS_ROW 128u /* bytes: 32 banks of 4; variables are aligned to it */
struct shared_words {
    unsigned accesses, widest; /* bytes of the widest access, at least 4 */
};
/* A load, store or atomic of one thread at one address of its own CTA's shared memory. */
bool shared_words_access(const struct ptx_inst *i);
/* ST_REFUSED with the line where the kernel touches shared memory in another way; what: the option. */
enum status shared_words_code(struct pass_ctx *c, const char *what, struct shared_words *l);
enum status shared_words_variables(struct pass_ctx *c, const char *what);
bool shared_words_is(const struct ptx_symbol *s); /* a variable of shared memory */
/* The k-th variable that the kernel sees, those of the module behind its own; NULL: no more. */
const struct ptx_symbol *shared_words_variable(const struct pass_ctx *c, uint32_t k);
/* Declares it anew with so many bytes, aligned to a row. */
void shared_words_declare(struct pass_ctx *c, const struct ptx_symbol *s, uint64_t bytes,
                          const char *tag);
/* Code that leaves the address in <tag>a, a register of 32 bits. */
void shared_words_address(const struct pass_ctx *c, const struct ptx_operand *a, struct buf *out);
/* Puts the code before the access, which then uses <tag>a instead of its own address. Frees the code. */
void shared_words_moved(struct pass_ctx *c, const struct ptx_inst *i, struct buf *code, const char *tag);
/* The launch's shared memory becomes so many bytes. */
void shared_words_resize(struct pass_ctx *c, uint64_t bytes);
