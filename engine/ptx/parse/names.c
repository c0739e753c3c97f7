/* Names of a module and of the scopes of one body. The table is a stack: names are only
 * ever declared in the current scope, so closing it pops the newest entries, and a lookup
 * finds the innermost declaration first. */
#include "engine/ptx/ptx_int.h"

#include <string.h>

static uint32_t hash_name(struct str s, enum ptx_name_kind kind)
{
    uint32_t h = kind == NAME_RANGE ? 0x9e3779b9u : 2166136261u;
    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.s[i]) * 16777619u;
    return h ^ h >> 15;
}

static bool rehash(struct ptx_parser *p)
{
    uint32_t n = p->nbucket ? p->nbucket * 2 : 256;
    uint32_t *b = base_alloc(n * sizeof *b);
    if (!b) {
        p->oom = true;
        return false;
    }
    for (uint32_t i = 0; i < p->names.n; i++) { /* oldest first keeps the newest in front */
        struct ptx_name *e = &p->names.v[i];
        e->next = b[e->hash & (n - 1)];
        b[e->hash & (n - 1)] = i + 1;
    }
    base_free(p->bucket);
    p->bucket = b;
    p->nbucket = n;
    return true;
}

struct ptx_name *ptx_name_find(struct ptx_parser *p, struct str name, enum ptx_name_kind kind)
{
    if (!p->nbucket)
        return NULL;
    bool range = kind == NAME_RANGE;
    uint32_t h = hash_name(name, kind);
    for (uint32_t i = p->bucket[h & (p->nbucket - 1)]; i; i = p->names.v[i - 1].next) {
        struct ptx_name *e = &p->names.v[i - 1];
        if (e->hash == h && (e->kind == NAME_RANGE) == range && str_eq(e->name, name))
            return e;
    }
    return NULL;
}

static void complain_redefined(struct ptx_parser *p, const struct ptx_name *old, struct str name,
                               struct span at)
{
    struct diag *d =
        ptx_error(p, "ptx-redefined", at, "'%.*s%s' is already declared in this scope",
                  (int)(name.n > 80 ? 80 : name.n), name.s, old->kind == NAME_RANGE ? "<n>" : "");
    diag_hint(d, "the first declaration is on line %u", old->at.line);
}

struct ptx_name *ptx_name_add(struct ptx_parser *p, struct str name, enum ptx_name_kind kind,
                              struct span at)
{
    struct ptx_name *old = ptx_name_find(p, name, kind);
    if (old && old->scope == p->scope && old->undeclared && kind != NAME_LABEL) {
        if ((old->kind == NAME_RANGE) == (kind == NAME_RANGE)) { /* told before: declared later */
            old->kind = (uint8_t)kind;
            old->undeclared = false;
            old->index = PTX_NO_INDEX;
            return old;
        }
    } else if (old && old->scope == p->scope) {
        complain_redefined(p, old, name, at);
        return NULL;
    }
    if (p->names.n >= p->nbucket && !rehash(p))
        return NULL;
    struct ptx_name *e = PTX_PUSH(p, p->names);
    if (!e)
        return NULL;
    uint32_t h = hash_name(name, kind), b = h & (p->nbucket - 1);
    *e = (struct ptx_name){ .name = name,
                            .hash = h,
                            .next = p->bucket[b],
                            .scope = p->scope,
                            .kind = (uint8_t)kind,
                            .index = PTX_NO_INDEX,
                            .at = at };
    p->bucket[b] = (uint32_t)p->names.n;
    p->module_regs = p->module_regs || (!e->scope && (kind == NAME_REG || kind == NAME_RANGE));
    return e;
}

/* Pops names and ranges down to the given counts. */
void ptx_names_reset(struct ptx_parser *p, uint32_t names, uint32_t ranges)
{
    while (p->names.n > names) {
        struct ptx_name *e = &p->names.v[--p->names.n];
        p->bucket[e->hash & (p->nbucket - 1)] = e->next;
    }
    while (p->ranges.n > ranges) {
        struct ptx_range *r = &p->ranges.v[--p->ranges.n];
        base_free(r->dense);
        strmap_free(&r->sparse);
        *r = (struct ptx_range){ 0 };
    }
}

void ptx_scope_open(struct ptx_parser *p)
{
    uint32_t parent = p->scope;
    struct ptx_scope *s = PTX_PUSH(p, p->scopes);
    if (!s)
        return;
    *s = (struct ptx_scope){ parent, (uint32_t)p->names.n, (uint32_t)p->ranges.n, PTX_NO_INDEX,
                             PTX_NO_INDEX };
    p->scope = (uint32_t)p->scopes.n - 1;
}

void ptx_scope_close(struct ptx_parser *p)
{
    struct ptx_scope *s = &p->scopes.v[p->scope];
    ptx_names_reset(p, s->names, s->ranges);
    p->scope = s->parent;
}

/* ---- registers ---- */
static size_t trailing_digits(struct str s)
{
    size_t n = 0;
    while (n < s.n && ptx_is(s.s[s.n - 1 - n], CH_DIGIT))
        n++;
    return n;
}

void ptx_reg_declare(struct ptx_parser *p, struct str name, unsigned type, unsigned vec, struct span at)
{
    struct ptx_name *e = ptx_name_add(p, name, NAME_REG, at);
    if (!e)
        return;
    e->type = (uint8_t)type;
    e->vec = (uint8_t)vec;
    p->digit_names = p->digit_names || trailing_digits(name) > 0;
}

void ptx_range_declare(struct ptx_parser *p, struct str prefix, uint64_t n, unsigned type, unsigned vec,
                       struct span at)
{
    struct ptx_name *e = ptx_name_add(p, prefix, NAME_RANGE, at);
    if (!e)
        return;
    e->type = (uint8_t)type;
    e->vec = (uint8_t)vec;
    e->index = (uint32_t)p->ranges.n;
    struct ptx_range *r = PTX_PUSH(p, p->ranges);
    if (r)
        *r = (struct ptx_range){ .count = n };
}

void ptx_regs_forget(struct ptx_parser *p)
{
    for (uint32_t i = 0; p->module_regs && i < p->names.n; i++)
        if (p->names.v[i].kind == NAME_REG)
            p->names.v[i].index = PTX_NO_INDEX;
    for (uint32_t i = 0; p->module_regs && i < p->ranges.n; i++) {
        struct ptx_range *r = &p->ranges.v[i];
        base_free(r->dense);
        strmap_free(&r->sparse);
        *r = (struct ptx_range){ .count = r->count };
    }
}

static uint32_t make_reg(struct ptx_parser *p, struct str name, const struct ptx_name *decl)
{
    struct ptx_reg *r = PTX_PUSH(p, p->regs);
    if (!r)
        return PTX_NO_INDEX;
    *r = (struct ptx_reg){ name, decl->type, decl->vec,
                           decl->scope ? decl->scope - 1 : 0 }; /* scope 0 is the module */
    return (uint32_t)p->regs.n - 1;
}

/* The slot of register number k, NULL when it belongs into the sparse map. Dense slots may
 * number eight times the uses, so memory follows the text and not the numbers in it. */
static uint32_t *dense_slot(struct ptx_parser *p, struct ptx_range *r, uint64_t k)
{
    if (k < r->ndense)
        return &r->dense[k];
    if (k >= 64 + 8ull * r->used || r->sparse.n)
        return NULL;
    uint32_t n = r->ndense ? r->ndense : 32;
    while (n <= k)
        n *= 2;
    uint32_t *v = base_realloc(r->dense, n * sizeof *v);
    if (!v) {
        p->oom = true;
        return NULL;
    }
    memset(v + r->ndense, 0, (n - r->ndense) * sizeof *v);
    r->dense = v;
    r->ndense = n;
    return &v[k];
}

static uint32_t range_reg(struct ptx_parser *p, const struct ptx_name *decl, struct str name, uint64_t k)
{
    struct ptx_range *r = &p->ranges.v[decl->index];
    uint32_t *slot = dense_slot(p, r, k), at;
    if (slot && *slot)
        return *slot - 1;
    if (!slot && strmap_get(&r->sparse, name, &at))
        return at;
    at = make_reg(p, name, decl);
    r->used++;
    if (slot)
        *slot = at + 1;
    else
        strmap_set(&r->sparse, name, at);
    p->oom = p->oom || r->sparse.oom;
    return at;
}

/* name = prefix + number with `digits` digits; NULL unless a range declares it. */
static struct ptx_name *find_range(struct ptx_parser *p, struct str name, size_t digits,
                                   uint64_t *number)
{
    const char *d = name.s + name.n - digits;
    if (!digits || digits > 10 || (*d == '0' && digits > 1))
        return NULL;
    uint64_t k = 0;
    for (size_t i = 0; i < digits; i++)
        k = k * 10 + (uint64_t)(d[i] - '0');
    struct ptx_name *e = ptx_name_find(p, (struct str){ name.s, name.n - digits }, NAME_RANGE);
    if (!e || k >= p->ranges.v[e->index].count)
        return NULL;
    *number = k;
    return e;
}

uint32_t ptx_reg_find(struct ptx_parser *p, struct str name)
{
    size_t digits = trailing_digits(name);
    uint64_t k = 0;
    struct ptx_name *range = find_range(p, name, digits, &k), *one = NULL;
    if (!digits || p->digit_names || !range)
        one = ptx_name_find(p, name, NAME_REG);
    if (one && range && range->scope > one->scope) /* scopes open are nested: the greater id is inside */
        one = NULL;
    if (one && one->kind != NAME_REG)
        return PTX_NO_INDEX;
    if (one) {
        if (one->index == PTX_NO_INDEX)
            one->index = make_reg(p, name, one);
        return one->index;
    }
    return range ? range_reg(p, range, name, k) : PTX_NO_INDEX;
}

/* ---- symbols ---- */
struct ptx_symbol *ptx_symbol_find(struct ptx_parser *p, struct str name)
{
    struct ptx_name *e = ptx_name_find(p, name, NAME_SYM);
    return e && e->kind == NAME_SYM ? e->sym : NULL;
}

struct ptx_symbol *ptx_symbol_declare(struct ptx_parser *p, struct ptx_symbol *s, struct span at)
{
    struct ptx_name *e = ptx_name_add(p, s->name, NAME_SYM, at);
    if (e)
        e->sym = s;
    return s;
}

/* ---- undefined names ---- */
static const char *sreg_at(void *ctx, size_t i)
{
    (void)ctx;
    return ptx_sreg_name((enum ptx_sreg)(i + 1));
}

static const char *name_at(void *ctx, size_t i)
{
    struct ptx_parser *p = ctx;
    const struct ptx_name *e = &p->names.v[i];
    return e->kind == NAME_RANGE || e->undeclared || e->name.n > 60 ? NULL : arena_dup(p->a, e->name);
}

const char *ptx_nearest(struct str name, const char *(*at)(void *ctx, size_t i), void *ctx, size_t n)
{
    const char *best = NULL;
    unsigned least = name.n > 5 ? 3 : name.n > 2 ? 2 : 1;
    if (name.n > 60)
        return NULL;
    for (size_t i = 0; i < n && least; i++) {
        const char *s = at(ctx, i);
        unsigned d = s ? str_distance(name, str_of(s), least) : least;
        if (s && d < least)
            least = d, best = s;
    }
    return best;
}

/* Says nothing more about the name, or about the numbers of its kind where all are missing. */
static void tell_once(struct ptx_parser *p, struct str name, struct span at, struct ptx_name *range,
                      size_t digits)
{
    struct str prefix = { name.s, name.n - digits };
    if (range) {
        p->ranges.v[range->index].count = (uint64_t)UINT32_MAX + 1;
        return;
    }
    if (digits && *name.s == '%' && prefix.n > 1) {
        ptx_range_declare(p, prefix, (uint64_t)UINT32_MAX + 1, PTX_T_NONE, 1, at);
        range = ptx_name_find(p, prefix, NAME_RANGE);
        if (range)
            range->undeclared = true;
        return;
    }
    struct ptx_name *e = ptx_name_add(p, name, NAME_REG, at);
    p->digit_names = true;
    if (e) {
        e->type = PTX_T_NONE;
        e->undeclared = true;
    }
}

void ptx_undefined(struct ptx_parser *p, struct str name, struct span at, const char *what)
{
    at.len = (uint32_t)name.n;
    struct ptx_name *known =
        ptx_name_find(p, (struct str){ name.s, name.n - trailing_digits(name) }, NAME_RANGE);
    if (p->shaken && p->f) {
        tell_once(p, name, at, trailing_digits(name) ? known : NULL, trailing_digits(name));
        return;
    }
    struct diag *d = ptx_error(p, "ptx-undefined", at, "%s '%.*s' is not declared", what,
                               (int)(name.n > 80 ? 80 : name.n), name.s);
    size_t digits = trailing_digits(name);
    struct ptx_name *r =
        digits ? ptx_name_find(p, (struct str){ name.s, name.n - digits }, NAME_RANGE) : NULL;
    r = r && r->undeclared ? NULL : r;
    if (r)
        diag_hint(d, "line %u declares %.*s<%llu>, numbers 0 to %llu", r->at.line, (int)r->name.n,
                  r->name.s, (unsigned long long)p->ranges.v[r->index].count,
                  (unsigned long long)p->ranges.v[r->index].count - 1);
    const char *near =
        d && !r ? ptx_nearest(name, name_at, p, p->names.n < 5000 ? p->names.n : 5000) : NULL;
    if (d && !r && !near && *name.s == '%')
        near = ptx_nearest(name, sreg_at, NULL, PTX_SREG_COUNT - 1);
    if (near)
        diag_hint(d, "did you mean '%s'?", near);
    tell_once(p, name, at, r, digits);
}
