/* The accesses of a limit's place: how far apart lanes are, what a thread walks over, whose address was loaded. */
#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/ptx/loc.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/limits.h"
#include "engine/tune/cure_int.h"

#include <stdlib.h>
#include <string.h>

enum { BY_X, BY_LOOP = ANA_STEPS - 1 }; /* places in ana_access.step */
#define SECTOR 32
#define LINE   128
#define MORE   1.25 /* lines of a scattered request over those of neighbours */

static uint32_t line_of(const struct curing *c, const struct ana_access *a)
{
    const struct ptx_func *f = c->k->module->funcs[a->func];
    return c->p->file ? ptx_place_near(c->k->module, f, &f->insts[a->inst]).line : a->at.line;
}

bool cure_here(const struct curing *c, const struct ana_access *a)
{
    return !a->prefetch && line_of(c, a) == c->p->line;
}

bool cure_in_global(const struct ana_access *a)
{
    return a->space == PTX_SPACE_GLOBAL || a->space == PTX_SPACE_GENERIC;
}

const char *cure_array(const struct ana_access *a)
{
    return a->array ? a->array : "the array";
}

bool cure_apart(const struct ana_access *a)
{
    return a->stepped && llabs(a->step[BY_X]) > a->bytes;
}

bool cure_stays(const struct ana_access *a)
{
    return a->loops && a->stepped && !a->step[BY_LOOP];
}

/* Behind the last loaded value of the address: a counter of a loop, or nothing. */
static bool counts_on(const struct ana_access *a)
{
    const char *end = a->address ? strrchr(a->address, ']') : NULL;
    return end && strstr(end, "+ k");
}

/* A thread goes on by small steps, from a row's start on that it may have loaded. */
static bool walks(const struct ana_access *a)
{
    if (!a->loops)
        return false;
    return a->stepped ? llabs(a->step[BY_LOOP]) && llabs(a->step[BY_LOOP]) <= SECTOR
                      : a->depends_on_load && counts_on(a);
}

bool cure_gathers(const struct ana_access *a)
{
    return a->depends_on_load && !counts_on(a);
}

const struct ana_access *cure_walking(const struct curing *c, bool anywhere, bool store)
{
    for (uint32_t i = 0; i < c->k->naccess; i++) {
        const struct ana_access *a = &c->k->access[i];
        if ((anywhere || cure_here(c, a)) && cure_in_global(a) && a->store == store && walks(a) &&
            (cure_apart(a) || (!store && a->depends_on_load)))
            return a;
    }
    return NULL;
}

/* Do the requests touch more lines than lanes that are neighbours would? */
static bool scattered(const struct ana_access *a)
{
    return a->exact.valid && (double)a->exact.lines >
                                 (double)a->exact.requests + MORE * (double)a->exact.bytes_used / LINE;
}

void cure_put_gather(struct curing *c, const struct ana_access *a)
{
    buf_printf(&c->out,
               "a gather: the index into %s is loaded; sort the indices, keep a small table in shared "
               "memory, or a larger one in L2 (--l2-persist)",
               cure_array(a));
}

void cure_gather(struct curing *c)
{
    for (uint32_t i = 0; i < c->k->naccess && !c->out.n; i++) {
        const struct ana_access *a = &c->k->access[i];
        if (cure_here(c, a) && cure_in_global(a) && !a->store && !a->atomic && cure_gathers(a) &&
            scattered(a))
            cure_put_gather(c, a);
    }
}
