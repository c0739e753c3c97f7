/* vector: several neighbouring threads of the original in one thread, side by side (plan.c, groups.c),
 * with their loads and stores as vectors (code.c). For --coarsen-mode vector (schedule.c). */
#pragma once

#include "engine/pass/pass_int.h"

/* How the code for all lanes has an instruction of the original. A lane is one of the threads. */
enum vector_how {
    VECTOR_ONCE,  /* once: it is the same for all lanes */
    VECTOR_LANES, /* for each lane */
    VECTOR_SAME,  /* a branch or return: once, where all lanes go the same way */
    VECTOR_LEAD,  /* all accesses of a group stand here */
    VECTOR_REST   /* another access of a group: nothing */
};
enum { VECTOR_INSTS = 16, VECTOR_ELEMENTS = 64, VECTOR_ROOTS = 8 };
/* Loads or stores off one base register that are done together, for all lanes. Loads: what several lanes
 * read is read once. */
struct vector_group {
    uint32_t inst[VECTOR_INSTS]; /* instructions, in text order */
    uint32_t n;
    uint32_t base;  /* register; lane 0's */
    unsigned bytes; /* of an element */
    int64_t stride; /* bytes from lane to lane */
    unsigned align; /* bytes: base lies `phase` behind a multiple of it */
    unsigned phase;
    /* pure registers that base is the sum of: one that varies, which lies so behind a multiple, and
     * multiples. A loop may add more multiples. */
    uint32_t root[VECTOR_ROOTS];
    uint32_t nroots;
    /* what is accessed, by offset from base: so many elements at once */
    struct {
        int64_t at;
        unsigned width;
    } access[VECTOR_ELEMENTS];
    uint32_t naccesses;
};
struct vector_plan {
    struct pass_flow flow;
    const struct ptx_func *f;
    unsigned lanes;
    bool *varies; /* by register: lanes may differ in it */
    bool *pure; /* by register: follows from coordinates and parameters alone, and has one definition */
    uint32_t *order; /* instructions that define pure registers, each behind those it reads */
    uint32_t norder;
    bool *early; /* by instruction: computed before the body */
    bool *wraps; /* by instruction: widens what varies; the lanes are in step only if it does not wrap */
    uint8_t *how; /* by instruction: enum vector_how */
    /* by instruction: the branch around it that each lane decides; PTX_NO_INDEX: none */
    uint32_t *within;
    struct vector_group *group;
    uint32_t *of; /* by instruction: its group */
    uint32_t ngroups;
    int64_t *value; /* by register, pure: in the first thread of the launch, as far as */
    bool *known;    /* this is known; where its address lies between vectors follows from it */
};
/* ST_REFUSED with the place: an instruction that lanes cannot have side by side, a branch that comes too
 * late, or nothing becomes a vector. vector_plan_free in any case. */
enum status vector_plan_make(struct pass_ctx *c, unsigned lanes, struct vector_plan *p);
void vector_plan_free(struct vector_plan *p);
/* Is it a branch that each lane decides, around code that writes its predicate? */
bool vector_keeps_guard(const struct vector_plan *p, const struct ptx_inst *i);
/* groups.c: fills p->group; the rest of the plan is made. false: out of memory. */
bool vector_find_groups(struct vector_plan *p);
/* value.c: fills p->value and p->known. */
void vector_find_values(const struct pass_ctx *c, struct vector_plan *p);
/* By offset from the group's base: where element `e` of instruction i of the group lies for this lane.
 */
int64_t vector_place(const struct vector_plan *p, const struct vector_group *g, uint32_t i,
                     unsigned lane, unsigned e);
/* What an instruction of a group reads or writes: element e of its data. */
const struct ptx_operand *vector_data(const struct ptx_inst *i, unsigned e);
unsigned vector_elements(const struct ptx_inst *i); /* of one thread's access */
/* code.c: the body for all lanes, from <tag>tx, lane 0's %tid.x; `other` says what takes the place of
 * other coordinates. It ends the thread, or goes to $<tag>slow before anything is written. decls: its
 * registers. */
void vector_code(struct pass_ctx *c, const struct vector_plan *p, const struct pass_virtual *other,
                 struct buf *decls, struct buf *out);
/* source.c: what an instruction reads. */
struct vector_sources {
    bool varies, pure; /* one of them varies; all are pure */
    uint32_t reg;      /* a register that varies; PTX_NO_INDEX: none */
    uint32_t n;        /* above 1: several vary; %tid.x counts */
};
struct vector_sources vector_sources(const struct vector_plan *p, const struct ptx_inst *i);
