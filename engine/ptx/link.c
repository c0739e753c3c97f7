/* Several modules as one program: names are what they share (PTX ISA 11.6). */
#include "engine/ptx/link.h"
#include "engine/ptx/ptx_int.h"

#include <string.h>

struct place {
    const struct ptx_module *m;
    struct span at;
    enum ptx_linkage linkage;
    uint64_t bytes;
    bool defined, func;
    struct str name;
};
struct link {
    PTX_VEC(struct place) v;
    struct strmap map;
    struct diags *ds;
    bool oom;
};

static void say(struct link *l, enum diag_level level, const struct place *p, const char *fmt,
                const char *other, uint32_t line)
{
    struct buf b = { 0 };
    buf_printf(&b, "'%.*s' ", SV(p->name));
    buf_puts(&b, fmt);
    struct diag *d = diag_add(l->ds, level, "ptx-link", p->m->path, p->at, "%s", b.s ? b.s : fmt);
    diag_source(d, p->m->text);
    if (other)
        diag_hint(d, "the other declaration is at %s:%u", other, line);
    buf_free(&b);
}

static void meet(struct link *l, struct place *old, const struct place *p)
{
    bool both = old->defined && p->defined;
    if (old->func != p->func || (old->bytes && p->bytes && old->bytes != p->bytes))
        say(l, DIAG_ERROR, p, "is declared differently elsewhere", old->m->path, old->at.line);
    else if (both && old->linkage == LINK_VISIBLE && p->linkage == LINK_VISIBLE)
        say(l, DIAG_ERROR, p, "is defined twice", old->m->path, old->at.line);
    if (p->defined && (!old->defined || (old->linkage == LINK_WEAK && p->linkage != LINK_WEAK)))
        *old = *p;
}

/* Names without linkage belong to their module alone. */
static void add(struct link *l, struct place p)
{
    uint32_t at;
    if (p.linkage == LINK_NONE)
        return;
    if (strmap_get(&l->map, p.name, &at)) {
        meet(l, &l->v.v[at], &p);
        return;
    }
    struct place *slot = PTX_PUSH(l, l->v);
    if (!slot)
        return;
    *slot = p;
    strmap_set(&l->map, p.name, (uint32_t)l->v.n - 1);
    l->oom = l->oom || l->map.oom;
}

static void add_module(struct link *l, const struct ptx_module *m)
{
    for (uint32_t i = 0; i < m->nglobals; i++) {
        const struct ptx_symbol *s = m->globals[i];
        add(l,
            (struct place){ m, s->at, s->linkage, s->bytes, s->linkage != LINK_EXTERN, false, s->name });
    }
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        const struct ptx_func *f = m->funcs[i];
        struct span at = { f->at.off, f->head.len, f->at.line, f->at.col };
        add(l, (struct place){ m, at, f->linkage, f->param_bytes, f->has_body, true, f->name });
    }
}

bool ptx_link_device_runtime(struct str name)
{
    static const char *const known[] = { "cudaGetParameterBuffer", "cudaGetParameterBufferV2",
                                         "cudaLaunchDevice",       "cudaLaunchDeviceV2",
                                         "cudaDeviceSynchronize",  "cudaStreamCreateWithFlags",
                                         "cudaStreamDestroy",      "cudaGetLastError",
                                         "cudaPeekAtLastError",    "cudaGetDevice",
                                         "cudaGetErrorString" };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_is(name, known[i]))
            return true;
    return name.n > 9 && !memcmp(name.s, "__cudaCDP", 9);
}

bool ptx_link_runtime(struct str name)
{
    static const char *const known[] = {
        "vprintf", "malloc", "free", "__assertfail", "memcpy", "memset"
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_is(name, known[i]))
            return true;
    return ptx_link_device_runtime(name);
}

/* The runtime library's own functions, and shared memory whose size the launch gives, are
 * resolved when the program is loaded. */
static bool resolved_at_load(const struct place *p)
{
    return ptx_link_runtime(p->name) || (!p->func && !p->bytes);
}

enum status ptx_link_check(struct ptx_module *const *m, size_t n, struct diags *ds)
{
    struct link l = { .ds = ds };
    size_t errors = ds ? ds->errors : 0;
    for (size_t i = 0; i < n; i++)
        add_module(&l, m[i]);
    for (size_t i = 0; i < l.v.n; i++)
        if (!l.v.v[i].defined && !resolved_at_load(&l.v.v[i]))
            say(&l, DIAG_NOTE, &l.v.v[i], "is not defined in any of these modules", NULL, 0);
    bool failed = ds && ds->errors != errors;
    base_free(l.v.v);
    strmap_free(&l.map);
    return l.oom ? ST_NOMEM : failed ? ST_INPUT : ST_OK;
}
