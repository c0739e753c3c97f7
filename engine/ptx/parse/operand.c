/* Operands (PTX ISA 6): scalars, {vectors}, [addresses], [address, {vector}] and the
 * parenthesised lists of call. Lists nest at most two deep, so two levels of functions
 * read them and no input makes the C stack grow. */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx_int.h"

#include <string.h>

#define SLAB         1024u /* operands per slab */
#define MAX_ELEMENTS 4096u /* of one list */

struct ptx_operand *ptx_operands_keep(struct ptx_parser *p, const struct ptx_operand *v, size_t n)
{
    if (!n)
        return NULL;
    if (n > p->slab_left) {
        size_t want = n > SLAB / 4 ? n : SLAB;
        struct ptx_operand *s = ARENA_ARRAY(p->a, struct ptx_operand, want);
        if (!s) {
            p->oom = true;
            return NULL;
        }
        if (want == n) {
            memcpy(s, v, n * sizeof *v);
            return s;
        }
        p->slab = s;
        p->slab_left = want;
    }
    struct ptx_operand *at = p->slab;
    memcpy(at, v, n * sizeof *v);
    p->slab += n;
    p->slab_left -= n;
    return at;
}

static void finish(struct ptx_parser *p, struct ptx_operand *o, const char *from)
{
    o->off = (uint32_t)(from - p->base);
    o->len = (uint32_t)(p->c - from);
}

static bool fail(struct ptx_parser *p, struct span at, const char *what)
{
    at.len = 1;
    ptx_error(p, "ptx-syntax", at, "expected %s, found %s", what, ptx_quiet(p) ? "this" : ptx_quote(p));
    return false;
}

/* .x .y .z .w, .r .g .b .a; the selectors of video instructions .b0-.b3, .h0, .h1 and their
 * multi-lane forms (9.7.18). */
static bool read_component(struct ptx_parser *p, struct ptx_operand *o)
{
    static const char xyzw[] = "xyzw", rgba[] = "rgba";
    struct span at = ptx_here(p);
    struct str w = ptx_dotword(p);
    const char *q;
    if (w.n == 1 && (q = memchr(xyzw, *w.s, 4)))
        o->comp = (int8_t)(q - xyzw);
    else if (w.n == 1 && (q = memchr(rgba, *w.s, 4)))
        o->comp = (int8_t)(q - rgba);
    else if (w.n == 2 && *w.s == 'b' && w.s[1] >= '0' && w.s[1] <= '3')
        o->comp = (int8_t)(4 + w.s[1] - '0');
    else if (w.n == 2 && *w.s == 'h' && (w.s[1] == '0' || w.s[1] == '1'))
        o->comp = (int8_t)(8 + w.s[1] - '0');
    else if (w.n > 2 && w.n < 6 && (*w.s == 'b' || *w.s == 'h') && ptx_is(w.s[1], CH_DIGIT)) {
        o->comp = 10;
        for (size_t k = 1; k < w.n; k++)
            o->imm = o->imm << 4 | (w.s[k] & 15);
    } else {
        ptx_error(p, "ptx-operand", ptx_upto(p, at), "no component is called '.%.*s'",
                  (int)(w.n > 40 ? 40 : w.n), w.s);
        return false;
    }
    return true;
}

static bool read_offset(struct ptx_parser *p, struct ptx_operand *o)
{
    ptx_skip_blank(p);
    struct span at = ptx_here(p);
    if (*p->c == '-') { /* ptxas takes no difference here, so neither do we */
        at.len = 1;
        struct diag *d = ptx_error(p, "ptx-syntax", at, "an offset is added, not subtracted");
        diag_hint(d, "write [a+-4]");
        return false;
    }
    if (*p->c != '+')
        return true;
    p->c++;
    struct ptx_const v;
    if (!ptx_const_expr(p, &v))
        return false;
    if (v.is_float) {
        ptx_error(p, "ptx-operand", ptx_upto(p, at), "an offset is an integer");
        return false;
    }
    o->imm = v.i;
    return true;
}

static bool read_constant(struct ptx_parser *p, struct ptx_operand *o)
{
    struct ptx_const v;
    if (!ptx_const_expr(p, &v))
        return false;
    o->kind = OPND_IMM;
    o->base = BASE_IMM;
    o->imm = v.i;
    o->is_float = v.is_float;
    o->fbits = v.fbits;
    return true;
}

static bool is_constant_start(char c)
{
    return ptx_is(c, CH_DIGIT) || c == '-' || c == '+' || c == '~' || c == '(' || c == '.' || c == '!';
}

static bool name_is_reg(struct ptx_parser *p, struct ptx_operand *o, struct str name)
{
    uint32_t r = ptx_reg_find(p, name);
    if (r == PTX_NO_INDEX)
        return false;
    o->kind = OPND_REG;
    o->base = BASE_REG;
    o->index = r;
    return *p->c != '.' || read_component(p, o);
}

/* Special registers that came after PTX 1.x (section 10): .version and .target they need. */
static void check_sreg(struct ptx_parser *p, enum ptx_sreg r, struct span at)
{
    static const struct {
        uint16_t first, last;
        uint8_t version, sm;
    } since[] = {
        { PTX_SREG_NWARPID, PTX_SREG_NWARPID, 20, 20 },
        { PTX_SREG_NSMID, PTX_SREG_NSMID, 20, 20 },
        { PTX_SREG_IS_EXPLICIT_CLUSTER, PTX_SREG_CLUSTER_NCTARANK, 78, 90 },
        { PTX_SREG_LANEMASK_EQ, PTX_SREG_LANEMASK_GT, 20, 20 },
        { PTX_SREG_CLOCK_HI, PTX_SREG_CLOCK_HI, 50, 20 },
        { PTX_SREG_CLOCK64, PTX_SREG_CLOCK64, 20, 20 },
        { PTX_SREG_PM4, PTX_SREG_PM7, 30, 20 },
        { PTX_SREG_PM0_64, PTX_SREG_PM7_64, 40, 50 },
        { PTX_SREG_GLOBALTIMER, PTX_SREG_GLOBALTIMER_HI, 31, 30 },
        { PTX_SREG_RESERVED_SMEM_OFFSET_BEGIN, PTX_SREG_RESERVED_SMEM_OFFSET_1, 76, 80 },
        { PTX_SREG_TOTAL_SMEM_SIZE, PTX_SREG_TOTAL_SMEM_SIZE, 41, 20 },
        { PTX_SREG_AGGR_SMEM_SIZE, PTX_SREG_AGGR_SMEM_SIZE, 81, 90 },
        { PTX_SREG_DYNAMIC_SMEM_SIZE, PTX_SREG_DYNAMIC_SMEM_SIZE, 41, 20 },
        { PTX_SREG_CURRENT_GRAPH_EXEC, PTX_SREG_CURRENT_GRAPH_EXEC, 80, 50 },
    };
    for (size_t i = 0; i < ARRAY_LEN(since); i++) {
        if (r < since[i].first || r > since[i].last)
            continue;
        if (p->m->version < since[i].version)
            ptx_error(p, "ptx-version", ptx_upto(p, at),
                      "'%s' needs .version %u.%u; this module says %u.%u", ptx_sreg_name(r),
                      since[i].version / 10u, since[i].version % 10u, p->m->version / 10,
                      p->m->version % 10);
        else if (p->m->target < since[i].sm)
            ptx_error(p, "ptx-target", ptx_upto(p, at),
                      "'%s' needs .target sm_%u; this module says %.*s", ptx_sreg_name(r), since[i].sm,
                      SV(p->m->target_text));
        return;
    }
}

/* What an identifier names, when it is not a register. */
static bool resolve_name(struct ptx_parser *p, struct ptx_operand *o, struct str name, struct span at)
{
    uint32_t id;
    struct ptx_symbol *s;
    if (*name.s == '%' && strmap_get(&p->sregs, name, &id)) {
        o->kind = OPND_SREG;
        o->index = id;
        check_sreg(p, (enum ptx_sreg)id, at);
        return *p->c != '.' || read_component(p, o);
    }
    if (str_is(name, "WARP_SZ")) {
        p->c = name.s;
        return read_constant(p, o);
    }
    if ((s = ptx_symbol_find(p, name))) {
        o->kind = OPND_SYM;
        o->base = BASE_SYM;
        o->sym = s;
        return true;
    }
    /* .callprototype and .calltargets names; checked as labels */
    if (p->form && p->form->op == PTX_OP_CALL) {
        o->kind = OPND_LABEL;
        o->index = PTX_NO_INDEX;
        return true;
    }
    if (p->form && p->form->op == PTX_OP_OPAQUE) {
        o->kind = OPND_NONE;
        return true;
    }
    ptx_undefined(p, name, at, *name.s == '%' ? "register" : "name");
    return name_is_reg(p, o, name) || !p->oom;
}

static bool read_scalar(struct ptx_parser *p, struct ptx_operand *o, bool label)
{
    ptx_skip_blank(p);
    const char *from = p->c;
    struct span at = ptx_here(p);
    *o = (struct ptx_operand){ .comp = -1 };
    if ((*from == '!' || *from == '-') && !ptx_is(from[1], CH_DIGIT)) {
        const char *q = from + 1;
        while (*q == ' ' || *q == '\t')
            q++;
        if (ptx_is(*q, CH_START) && strncmp(q, "WARP_SZ", 7) != 0) {
            o->neg = true;
            p->c = q;
        }
    }
    struct str name = ptx_ident(p);
    if (!name.n) {
        bool ok = is_constant_start(*p->c) ? read_constant(p, o) : fail(p, at, "an operand");
        finish(p, o, from);
        return ok;
    }
    if (name.n == 1 && *name.s == '_') {
        o->kind = OPND_SINK;
    } else if (label) {
        o->kind = OPND_LABEL;
        o->index = PTX_NO_INDEX;
    } else if (!name_is_reg(p, o, name) && o->kind != OPND_REG) {
        if (!resolve_name(p, o, name, at))
            return false;
        if (o->kind == OPND_SYM && !read_offset(p, o))
            return false;
    } else if (o->kind != OPND_REG) {
        return false;
    }
    finish(p, o, from);
    return true;
}

/* Moves the scratch elements from `base` on into the module. */
static bool keep_elements(struct ptx_parser *p, struct ptx_operand *o, size_t base)
{
    size_t n = p->elem.n - base;
    o->elem = n ? ptx_operands_keep(p, p->elem.v + base, n) : NULL;
    o->nelem = (uint16_t)n;
    p->elem.n = base;
    return !n || o->elem;
}

static bool push_element(struct ptx_parser *p, const struct ptx_operand *e, size_t base)
{
    struct ptx_operand *slot = PTX_PUSH(p, p->elem);
    if (!slot)
        return false;
    *slot = *e;
    if (p->elem.n - base <= MAX_ELEMENTS)
        return true;
    ptx_error(p, "ptx-limit", ptx_here(p), "a list has at most %u elements", MAX_ELEMENTS);
    return false;
}

/* a, b, c close: scalars only. The opening character has been read. */
static bool read_list(struct ptx_parser *p, struct ptx_operand *o, char close)
{
    size_t base = p->elem.n;
    if (close == ')' && ptx_take(p, ')'))
        return keep_elements(p, o, base);
    do {
        struct ptx_operand e;
        if (!read_scalar(p, &e, false) || !push_element(p, &e, base)) {
            p->elem.n = base;
            return false;
        }
    } while (ptx_take(p, ','));
    if (!ptx_expect(p, close,
                    close == '}' ? "after the last element of this vector"
                                 : "after the last argument")) {
        p->elem.n = base;
        return false;
    }
    return keep_elements(p, o, base);
}

/* [a, {b, c}]: the first element has been read. */
static bool read_multi(struct ptx_parser *p, struct ptx_operand *o, struct ptx_operand first)
{
    size_t base = p->elem.n;
    bool ok = push_element(p, &first, base);
    do {
        struct ptx_operand e = { .comp = -1 };
        ptx_skip_blank(p);
        const char *from = p->c;
        if (ptx_take(p, '{')) {
            e.kind = OPND_VEC;
            ok = ok && read_list(p, &e, '}');
            finish(p, &e, from);
        } else {
            ok = ok && read_scalar(p, &e, false);
        }
        ok = ok && push_element(p, &e, base);
    } while (ok && ptx_take(p, ','));
    if (!ok || !ptx_expect(p, ']', "after the last element")) {
        p->elem.n = base;
        return false;
    }
    o->kind = OPND_MULTI;
    return keep_elements(p, o, base);
}

static bool read_bracket(struct ptx_parser *p, struct ptx_operand *o)
{
    struct ptx_operand first;
    if (!read_scalar(p, &first, false) || (first.kind == OPND_REG && !read_offset(p, &first)))
        return false;
    if (ptx_take(p, ']')) {
        *o = first;
        o->kind = OPND_ADDR;
        if (first.neg || (o->base == BASE_NONE && first.kind != OPND_NONE)) {
            ptx_error(p, "ptx-operand", ptx_upto(p, ptx_here(p)),
                      "an address is a register, a variable or a constant, with an offset");
            return false;
        }
        return true;
    }
    if (ptx_take(p, ','))
        return read_multi(p, o, first);
    struct span at = ptx_here(p);
    return fail(p, at, "']' or ',' in this address");
}

/* ld.b32 { %r1 }, [a]: braces around a single element, as Triton writes and ptxas takes them on loads,
 * stores and moves, are that element. */
static bool unwrap_single(const struct ptx_parser *p, struct ptx_operand *o)
{
    bool may = p->form && p->form->vec <= 1 &&
               (p->form->op == PTX_OP_LD || p->form->op == PTX_OP_ST || p->form->op == PTX_OP_LDU ||
                p->form->op == PTX_OP_MOV);
    if (!may || o->kind != OPND_VEC || o->nelem != 1)
        return false;
    struct ptx_operand only = o->elem[0];
    *o = only;
    return true;
}

static unsigned element_bytes(const struct ptx_symbol *s)
{
    unsigned bits = ptx_type_bits((enum ptx_type)s->type) * (s->vec ? s->vec : 1);
    return bits < 8 ? 1 : bits / 8;
}

/* name[2]: the third element (6.4.2), as an address where memory is named. */
static bool read_index(struct ptx_parser *p, struct ptx_operand *o)
{
    struct span at = ptx_here(p);
    struct ptx_const v;
    p->c++;
    ptx_skip_blank(p);
    if (ptx_is(*p->c, CH_START) && strncmp(p->c, "WARP_SZ", 7) != 0) {
        struct diag *d = ptx_error(p, "ptx-operand", at, "the index of an array is a constant");
        diag_hint(d, "compute the address: mov, mad.lo, and [register]");
        return false;
    }
    if (!ptx_const_expr(p, &v) || !ptx_expect(p, ']', "after the index"))
        return false;
    o->imm = (int64_t)((uint64_t)v.i * element_bytes(o->sym));
    if (p->form && p->form->op != PTX_OP_MOV)
        o->kind = OPND_ADDR;
    return true;
}

/* %r1+4, which ptxas takes for a value: the operand says so by BASE_IMM until ptx_sums_resolve. */
static bool read_sum(struct ptx_parser *p, struct ptx_operand *o)
{
    if (!read_offset(p, o))
        return false;
    o->base = BASE_IMM;
    return true;
}

/* mov.b64 %rd1, %v, with .reg .v2 .b32 %v: as {%v.x, %v.y}. */
static bool spread_vector(struct ptx_parser *p, struct ptx_operand *o)
{
    const struct ptx_reg *r = o->index < p->regs.n ? &p->regs.v[o->index] : NULL;
    struct ptx_operand elem[8];
    if (!r || r->vec < 2 || r->vec > 8)
        return true;
    for (int8_t i = 0; i < r->vec; i++) {
        elem[i] = *o;
        elem[i].comp = i;
    }
    o->elem = ptx_operands_keep(p, elem, r->vec);
    o->nelem = r->vec;
    o->kind = OPND_VEC;
    o->base = BASE_NONE;
    o->index = 0;
    return o->elem != NULL;
}

static bool finish_scalar(struct ptx_parser *p, struct ptx_operand *o, const char *from)
{
    bool ok = true;
    if (o->kind == OPND_SYM && o->sym->kind == SYM_VAR && o->sym->array && ptx_at(p, '['))
        ok = read_index(p, o);
    else if (o->kind == OPND_REG && o->comp < 0 && ptx_at(p, '+'))
        ok = read_sum(p, o);
    else if (o->kind == OPND_REG && o->comp < 0 && p->form && p->form->op == PTX_OP_MOV &&
             p->form->vec <= 1)
        return spread_vector(p, o);
    else
        return true;
    finish(p, o, from);
    return ok;
}

bool ptx_operand_read(struct ptx_parser *p, struct ptx_operand *o, const struct ptx_slot *hint)
{
    ptx_skip_blank(p);
    const char *from = p->c;
    bool ok;
    *o = (struct ptx_operand){ .comp = -1 };
    switch (*from) {
    case '{':
        p->c++;
        o->kind = OPND_VEC;
        ok = read_list(p, o, '}');
        if (ok && unwrap_single(p, o))
            return true;
        break;
    case '[':
        p->c++;
        ok = read_bracket(p, o);
        break;
    case '(':
        if (p->form && p->form->op == PTX_OP_CALL) {
            p->c++;
            o->kind = OPND_MULTI;
            ok = read_list(p, o, ')');
            break;
        }
        /* fall through */
    default: return read_scalar(p, o, hint && hint->cls == 'l') && finish_scalar(p, o, from);
    }
    finish(p, o, from);
    return ok;
}
