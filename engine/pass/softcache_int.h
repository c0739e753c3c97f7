/* softcache: what may be cached and how much fits (softcache.c), the code (softcache_code.c). */
#ifndef GPULOCW_SOFTCACHE_INT_H
#define GPULOCW_SOFTCACHE_INT_H

#include "engine/pass/pass_int.h"

enum { SOFT_MAX = 8, SOFT_LINE = 16, SOFT_SAMPLE = 300 /* accesses a thread simulates: paper */ };
struct soft_structure {
    int param;
    bool written, cacheable;
    const char *why;             /* not cacheable because; static */
    struct span at;              /* of the access that says so */
    double score;                /* static guess of hits; halved when written */
    int line;                    /* static choice: index of its line, -1: none */
};
struct soft {
    struct pass_ctx *c;
    struct pass_flow flow;
    struct soft_structure s[SOFT_MAX]; uint32_t n;
    uint32_t lines;              /* per thread */
    uint32_t threads;            /* per CTA */
    uint32_t offset;             /* of the segment in dynamic shared memory */
    bool dynamic;                /* choice inside the kernel */
    uint32_t labels;             /* counter */
};
enum status soft_begin(struct soft *s, struct pass_ctx *c);
void soft_end(struct soft *s);
/* Structure an access belongs to, or NULL. */
struct soft_structure *soft_of(struct soft *s, const struct ptx_inst *i);
void soft_emit(struct soft *s);

#endif
