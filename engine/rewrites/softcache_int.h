/* softcache: what may be cached and how much fits (softcache.c), which structures (softcache_rank.c),
 * one access (softcache_access.c), the copies of the body (softcache_code.c). */
#pragma once

#include "engine/analysis/alias.h"
#include "engine/pass/pass.h"
#include "engine/pass/pass_int.h"

struct ptx_loop;

enum { SOFT_MAX = 16, SOFT_SAMPLE = PASS_SOFT_SAMPLE };
struct soft_structure {
    int param;
    bool written, cacheable;
    const char *why; /* not cacheable because; static */
    struct span at;  /* of the access that says so */
    /* hits, guessed or from a profile; a read one counts twice (paper's 2x rule) */
    double score;
    int line; /* fixed choice: index of its line, -1: none */
    /* its buffer does not end on a line; bytes from the parameter to the end of whole lines */
    bool ragged;
    uint64_t whole;
};
/* What an instruction is to the lines: of structure `own` and fit for its line, or something else that
 * may touch what some line holds (`whole`: no line can be compared with its address), or neither. */
enum soft_access_kind { SOFT_APART, SOFT_OWN, SOFT_OTHER };
struct soft_access {
    enum soft_access_kind kind;
    uint32_t own;
    bool whole, store /* or ordered: no line survives it */;
    struct alias_roots roots;
};
enum soft_mode {
    SOFT_FIXED,
    SOFT_DYNAMIC /* choice inside the kernel */,
    SOFT_PROFILE /* monitoring slice alone */
};
struct soft {
    struct pass_ctx *c;
    struct pass_flow flow;
    struct soft_structure s[SOFT_MAX];
    uint32_t n;
    struct soft_access *access; /* by instruction */
    enum soft_mode mode;
    bool counting; /* hits and accesses are reported to PASS_SOFT_SYMBOL */
    /* dynamic: all threads of a CTA must go over to the second copy at once */
    bool together;
    bool callees_meet; /* a called function holds a barrier or warp intrinsic */
    uint32_t lines;    /* per thread */
    uint32_t line;     /* bytes of one */
    uint32_t sample;   /* accesses that a thread simulates */
    uint64_t ctas;     /* resident on an SM, as the original is */
    uint32_t threads;  /* per CTA */
    uint32_t offset;   /* of the segment in dynamic shared memory */
    uint32_t labels;   /* counter */
};
/* Gives the lines to structures: by name, by a profile, by a static guess. */
enum status soft_rank(struct soft *s);
/* Does structure k have code here: a line, or in a dynamic choice and a profile the hope of one. */
bool soft_uses(const struct soft *s, uint32_t k);
/* Registers of structure k, of all (paper: softcache, section 1.1.1; our addresses take two). */
uint32_t soft_registers(const struct soft *s, uint32_t k);
uint32_t soft_all_registers(const struct soft *s);
/* May this access touch what structure k's line holds? */
bool soft_may_meet(const struct soft *s, const struct soft_access *a, uint32_t k);
/* Fills callees_meet and together. */
void soft_find_meetings(struct soft *s);
/* Is there an access in the loop that a line serves? */
bool soft_loop_has_access(const struct soft *s, const struct ptx_loop *l);
/* Can the first copy go over to the second at this loop's header? */
bool soft_can_switch(const struct soft *s, uint32_t loop);

/* ---- softcache_access.c ---- */
void soft_declare(const struct soft *s, struct buf *out);
/* Dirty bytes back and every line empty; `last`: no access follows, the lines may stay as they are. */
void soft_flush_all(struct soft *s, bool last, struct buf *out);
void soft_cached(struct soft *s, const struct ptx_inst *i, struct buf *out);
void soft_monitored(struct soft *s, const struct ptx_inst *i, struct buf *out);
/* What an access that uses no line does to the lines, then the access; false: nothing, it stays as it
 * is. */
bool soft_other(struct soft *s, const struct ptx_inst *i, bool monitor, struct buf *out);
/* Text of the instruction without its guard. */
void soft_own_text(const struct soft *s, const struct ptx_inst *i, struct buf *out);
void soft_emit(struct soft *s);
