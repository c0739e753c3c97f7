/* What a program takes of libraries: the texts that define what it lacks. */
#include "engine/ptx/link.h"
#include "engine/ptx/ptx_int.h"

#include <string.h>

static bool shared(enum ptx_linkage l)
{
    return l != LINK_NONE && l != LINK_EXTERN;
}

/* Shared memory without a size is the launch's to give. */
static bool lacks_variable(const struct ptx_module *m, const struct ptx_symbol *s)
{
    bool lacks = s->linkage == LINK_EXTERN && s->bytes;
    for (uint32_t i = 0; lacks && i < m->nglobals; i++)
        lacks = m->globals[i]->linkage == LINK_EXTERN || !str_eq(m->globals[i]->name, s->name);
    return lacks;
}

bool ptx_link_lacks(const struct ptx_module *m, bool runtime)
{
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        const struct ptx_func *f = m->funcs[i];
        bool wanted = runtime ? ptx_link_device_runtime(f->name) : !ptx_link_runtime(f->name);
        if (!f->has_body && !f->def && wanted)
            return true;
    }
    for (uint32_t i = 0; !runtime && i < m->nglobals; i++)
        if (lacks_variable(m, m->globals[i]))
            return true;
    return false;
}

/* ---- taking ---- */
struct taking {
    struct ptx_link_input *in;
    struct ptx_module **m; /* [n]; NULL: not parsed yet */
    size_t n;
    struct strmap names; /* each shared name: DEFINED or LACKS */
    PTX_VEC(struct str) lacks;
    struct diags *ds;
    bool oom;
};
enum { LACKS, DEFINED };

static void note(struct taking *t, struct str name, bool defined)
{
    uint32_t was;
    bool known = strmap_get(&t->names, name, &was);
    if (known && (was == DEFINED || !defined))
        return;
    strmap_set(&t->names, name, defined ? DEFINED : LACKS);
    t->oom |= t->names.oom;
    struct str *slot = known ? NULL : PTX_PUSH(t, t->lacks);
    if (slot)
        *slot = name;
}

static bool still_lacks(const struct taking *t, struct str name)
{
    uint32_t was;
    return strmap_get(&t->names, name, &was) && was == LACKS;
}

static void note_module(struct taking *t, const struct ptx_module *m)
{
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        const struct ptx_func *f = m->funcs[i];
        if (f->has_body ? shared(f->linkage) : !ptx_link_runtime(f->name))
            note(t, f->name, f->has_body);
    }
    for (uint32_t i = 0; i < m->nglobals; i++) {
        const struct ptx_symbol *s = m->globals[i];
        if (s->linkage == LINK_EXTERN ? s->bytes != 0 : shared(s->linkage))
            note(t, s->name, s->linkage != LINK_EXTERN);
    }
}

static bool defines(const struct taking *t, const struct ptx_module *m)
{
    for (uint32_t i = 0; i < m->nfuncs; i++)
        if (m->funcs[i]->has_body && shared(m->funcs[i]->linkage) && still_lacks(t, m->funcs[i]->name))
            return true;
    for (uint32_t i = 0; i < m->nglobals; i++)
        if (shared(m->globals[i]->linkage) && still_lacks(t, m->globals[i]->name))
            return true;
    return false;
}

/* Most members of a library hold none of the names: they are not parsed. */
static bool mentions(const struct taking *t, const struct ptx_link_input *in)
{
    for (size_t i = 0; i < t->lacks.n; i++)
        if (still_lacks(t, t->lacks.v[i]) &&
            memmem(in->text, in->length, t->lacks.v[i].s, t->lacks.v[i].n))
            return true;
    return false;
}

static enum status parse(struct taking *t, size_t i)
{
    const struct ptx_link_input *in = &t->in[i];
    return t->m[i] ? ST_OK : ptx_parse(in->name, (struct str){ in->text, in->length }, &t->m[i], t->ds);
}

static enum status take(struct taking *t, size_t i)
{
    enum status st = parse(t, i);
    t->in[i].library = false;
    if (st == ST_OK)
        note_module(t, t->m[i]);
    return t->oom ? ST_NOMEM : st;
}

/* One walk over the libraries; *more: something was taken, so that another walk may find more. */
static enum status walk(struct taking *t, bool *more)
{
    enum status st = ST_OK;
    *more = false;
    for (size_t i = 0; i < t->n && st == ST_OK; i++) {
        if (!t->in[i].library || !mentions(t, &t->in[i]))
            continue;
        st = parse(t, i);
        if (st != ST_OK || !defines(t, t->m[i]))
            continue;
        st = take(t, i);
        *more = true;
    }
    return st;
}

static void to_the_front(struct ptx_link_input *in, size_t n, size_t *taken)
{
    for (size_t i = *taken = 0; i < n; i++) {
        struct ptx_link_input x = in[i];
        if (x.library)
            continue;
        memmove(&in[*taken + 1], &in[*taken], (i - *taken) * sizeof *in);
        in[(*taken)++] = x;
    }
}

enum status ptx_link_take(struct ptx_link_input *in, size_t n, size_t *taken, struct diags *ds)
{
    struct taking t = { .in = in, .n = n, .ds = ds };
    bool libraries = false, more = true;
    for (size_t i = 0; i < n; i++)
        libraries |= in[i].library;
    *taken = n;
    if (!libraries)
        return ST_OK;
    t.m = base_alloc(n * sizeof *t.m);
    enum status st = t.m ? ST_OK : ST_NOMEM;
    for (size_t i = 0; i < n && st == ST_OK; i++)
        if (!in[i].library)
            st = take(&t, i);
    while (st == ST_OK && more)
        st = walk(&t, &more);
    to_the_front(in, n, taken);
    for (size_t i = 0; t.m && i < n; i++)
        ptx_free(t.m[i]);
    BASE_FREE(t.m, t.lacks.v);
    strmap_free(&t.names);
    return st;
}
