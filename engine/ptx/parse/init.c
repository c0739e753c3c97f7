/* Initialisers (PTX ISA 5.4.4): nested braces over the dimensions, constants, addresses of
 * symbols with generic() and mask() forms, and the field lists of samplers. Only the bytes
 * that are written are kept, so a huge array costs what its list costs. */
#include "engine/ptx/reference.h"
#include "engine/ptx/ptx_int.h"

#include <string.h>

#define MAX_GAPS (64u << 20) /* bytes left out by short rows, in all of a module */

struct init {
    struct ptx_parser *p;
    struct ptx_symbol *s;
    uint64_t row[PTX_MAX_DIMS + 1]; /* scalars in one item of each nesting level */
    uint64_t at;                    /* next element, counted in scalars */
    unsigned each;                  /* bytes of a scalar */
    PTX_VEC(uint8_t) bytes;
    PTX_VEC(struct ptx_reloc) reloc;
    bool oom;
};

static bool too_many(struct init *in)
{
    uint64_t max = in->s->unsized ? UINT32_MAX : in->s->bytes;
    if ((in->at + 1) * in->each <= max)
        return false;
    ptx_error(in->p, "ptx-initialiser", ptx_here(in->p), "more values than '%.*s' has elements",
              SV(in->s->name));
    return true;
}

/* Room for the scalar at in->at; gaps left by short rows are zero. What gaps may cost a
 * module is bounded: lists that producers write have none. */
static uint8_t *room(struct init *in)
{
    uint64_t need = (in->at + 1) * in->each;
    uint64_t gap = need > in->bytes.n + in->each ? need - in->bytes.n : 0;
    in->p->gaps += gap > MAX_GAPS ? MAX_GAPS + 1 : gap;
    if (in->p->gaps > MAX_GAPS) {
        ptx_error(in->p, "ptx-limit", ptx_here(in->p), "the gaps in this initialiser are too large");
        return NULL;
    }
    while (in->bytes.cap < need)
        if (!base_grow((void **)&in->bytes.v, in->bytes.cap, &in->bytes.cap, 1)) {
            in->oom = true;
            return NULL;
        }
    if (need > in->bytes.n)
        in->bytes.n = need;
    return in->bytes.v + in->at * in->each;
}

static bool put_constant(struct init *in)
{
    struct ptx_const v;
    ptx_skip_blank(in->p);
    struct span at = ptx_here(in->p);
    if (!ptx_const_expr(in->p, &v) || too_many(in))
        return false;
    if (v.is_float && (ptx_type_kind((enum ptx_type)in->s->type) == 'u' ||
                       ptx_type_kind((enum ptx_type)in->s->type) == 's')) {
        ptx_error(in->p, "ptx-initialiser", ptx_upto(in->p, at), "'%.*s' holds integers",
                  SV(in->s->name));
        return false;
    }
    uint64_t bits = ptx_const_bits(&v, (enum ptx_type)in->s->type);
    uint8_t *b = room(in);
    if (!b)
        return false;
    for (unsigned i = 0; i < in->each; i++)
        b[i] = i < 8 ? (uint8_t)(bits >> (8 * i)) : 0;
    in->at++;
    return true;
}

static bool put_address(struct init *in, struct str name, struct span at, bool generic, bool offset)
{
    struct ptx_symbol *s = ptx_symbol_find(in->p, name);
    if (!s) {
        ptx_undefined(in->p, name, at, "name");
        return false;
    }
    if (too_many(in) || !room(in))
        return false;
    struct ptx_reloc *r = PTX_PUSH(in, in->reloc);
    if (!r)
        return false;
    *r = (struct ptx_reloc){ in->at * in->each, s, 0, generic, (uint8_t)in->each };
    struct ptx_const v;
    ptx_skip_blank(in->p);
    if (offset && (*in->p->c == '+' || *in->p->c == '-')) {
        in->p->c += *in->p->c == '+';
        if (!ptx_const_expr(in->p, &v))
            return false;
        r->addend = v.i;
    }
    in->at++;
    return true;
}

/* generic(sym) {+ n}, mask(sym), 0xFF(sym): one byte of an address (5.4.4) */
static bool put_wrapped(struct init *in, bool generic)
{
    struct ptx_parser *p = in->p;
    if (!ptx_expect(p, '(', "before the symbol"))
        return false;
    ptx_skip_blank(p);
    struct span at = ptx_here(p);
    struct str name = ptx_ident(p);
    if (str_is(name, "generic") && ptx_take(p, '(')) { /* 0xFF(generic(sym)) */
        generic = true;
        ptx_skip_blank(p);
        at = ptx_here(p);
        name = ptx_ident(p);
        if (!ptx_expect(p, ')', "after the symbol"))
            return false;
    }
    struct ptx_const v = { 0 };
    ptx_skip_blank(p);
    if ((*p->c == '+' || *p->c == '-') && !ptx_const_expr(p, &v))
        return false;
    if (!name.n || !ptx_expect(p, ')', "after the symbol"))
        return false;
    if (!put_address(in, name, at, generic, true))
        return false;
    in->reloc.v[in->reloc.n - 1].addend += v.i;
    return true;
}

static bool put_value(struct init *in)
{
    struct ptx_parser *p = in->p;
    ptx_skip_blank(p);
    struct span at = ptx_here(p);
    if (ptx_is(*p->c, CH_START) && strncmp(p->c, "WARP_SZ", 7) != 0) {
        struct str name = ptx_ident(p);
        if (str_is(name, "generic"))
            return put_wrapped(in, true);
        return put_address(in, name, at, false, true);
    }
    const char *q = p->c; /* 0xFF00(sym) */
    if (*q == '0' && (q[1] | 0x20) == 'x') {
        for (q += 2; ptx_is(*q, CH_HEX);)
            q++;
        if (*q == '(') {
            p->c = q;
            return put_wrapped(in, false);
        }
    }
    return put_constant(in);
}

static void keep_field(struct ptx_sampling *s, struct str field, struct str word, bool on)
{
    static const char *const modes[] = { "wrap", "mirror", "clamp_ogl", "clamp_to_edge",
                                         "clamp_to_border" };
    bool mode = field.n == 11 && memcmp(field.s, "addr_mode_", 10) == 0;
    unsigned d = mode ? (unsigned)(field.s[10] - '0') : 3;
    for (unsigned k = 0; d < 3 && k < ARRAY_LEN(modes); k++)
        if (str_is(word, modes[k]))
            s->addr_mode[d] = (uint8_t)k;
    s->linear = str_is(field, "filter_mode") ? str_is(word, "linear") : s->linear;
    s->unnormalized = str_is(field, "force_unnormalized_coords") ? on : s->unnormalized;
}

/* { addr_mode_0 = wrap, filter_mode = linear }: samplers and texture references (5.3) */
static bool field_list(struct init *in)
{
    struct ptx_parser *p = in->p;
    struct ptx_sampling *said = ARENA_ARRAY(p->a, struct ptx_sampling, 1);
    if ((in->s->sampling = said))
        *said =
            (struct ptx_sampling){ { PTX_ADDR_CLAMP, PTX_ADDR_CLAMP, PTX_ADDR_CLAMP }, false, false };
    do {
        ptx_skip_blank(p);
        struct str field = ptx_ident(p);
        if (!field.n || !ptx_expect(p, '=', "after the field's name"))
            return false;
        ptx_skip_blank(p);
        struct ptx_const v = { .i = 0 };
        struct str word = ptx_ident(p);
        if (!word.n && !ptx_const_expr(p, &v))
            return false;
        if (said)
            keep_field(said, field, word, v.i != 0);
    } while (ptx_take(p, ','));
    return ptx_expect(p, '}', "after the last field");
}

static void round_up(struct init *in, unsigned level)
{
    uint64_t row = level <= PTX_MAX_DIMS ? in->row[level] : 0;
    if (row && in->at % row)
        in->at += row - in->at % row;
}

static bool braces(struct init *in)
{
    struct ptx_parser *p = in->p;
    unsigned level = 1;
    bool value = true; /* a value or '{' may come next */
    while (level) {
        if (ptx_take(p, '}')) {
            if (--level)
                round_up(in, level);
            value = false;
        } else if (value && ptx_take(p, '{')) {
            if (++level > PTX_MAX_DIMS + 2) {
                ptx_error(p, "ptx-initialiser", ptx_here(p),
                          "braces are nested deeper than the variable has dimensions");
                return false;
            }
        } else if (value) {
            if (!put_value(in))
                return false;
            value = false;
        } else if (!ptx_expect(p, ',', "between two values")) {
            return false;
        } else {
            value = true;
        }
    }
    return true;
}

static void keep(struct init *in)
{
    struct ptx_symbol *s = in->s;
    if (s->unsized) {
        uint64_t whole = (in->row[1] ? in->row[1] : 1) * in->each;
        s->bytes = (in->at * in->each + whole - 1) / whole * whole;
        s->unsized = false;
    }
    if (in->bytes.n) {
        s->init = (uint8_t *)arena_dup(in->p->a, (struct str){ (const char *)in->bytes.v, in->bytes.n });
        s->ninit = s->init ? in->bytes.n : 0;
    }
    if (in->reloc.n && (s->reloc = ARENA_ARRAY(in->p->a, struct ptx_reloc, in->reloc.n))) {
        memcpy(s->reloc, in->reloc.v, in->reloc.n * sizeof *s->reloc);
        s->nreloc = (uint32_t)in->reloc.n;
    }
}

/* Cursor after '='. */
void ptx_init_read(struct ptx_parser *p, struct ptx_symbol *s, const uint64_t *dims, unsigned ndims)
{
    unsigned bits = ptx_type_bits((enum ptx_type)s->type);
    struct init in = { .p = p, .s = s, .each = bits < 8 ? 1 : bits / 8 };
    uint64_t row = s->vec ? s->vec : 1;
    for (unsigned i = ndims; i-- > 0;) {
        in.row[i + 1] = row;
        row = dims[i] && row < UINT32_MAX ? row * dims[i] : row;
    }
    bool fields = ptx_is_reference(s), ok;
    if (ptx_take(p, '{'))
        ok = fields ? field_list(&in) : braces(&in);
    else
        ok = put_value(&in);
    if (ok)
        keep(&in);
    else
        for (ptx_skip(p); p->c < p->end && *p->c != ';';
             ptx_skip(p)) /* the caller's ';' is the place to go on */
            p->c++;
    p->oom = p->oom || in.oom;
    BASE_FREE(in.bytes.v, in.reloc.v);
}
