/* One instruction: guard, opcode, operands; then the operands against the signatures of
 * its row (classes and types of ops.def). */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx_int.h"

#include <string.h>

/* ---- types of operands (9.4) ---- */
/* Types that exist in instructions only; their registers are declared .b16, .b32 ... */
static bool instruction_only(enum ptx_type t)
{
    return ptx_type_kind(t) == 'x' || t == PTX_T_BF16;
}

/* May a register of type r stand where the instruction works on t? relaxed: it may be wider (9.4.1). */
static bool type_fits(enum ptx_type t, enum ptx_type r, bool relaxed)
{
    if (t == r || t == PTX_T_NONE || r == PTX_T_NONE)
        return true;
    char kt = ptx_type_kind(t), kr = ptx_type_kind(r);
    if (kt == 'p' || kr == 'p')
        return false;
    unsigned bt = ptx_type_bits(t), br = ptx_type_bits(r);
    bool wider = relaxed && br > bt && (kt == 'b' || kr == 'b' || (kt != 'f' && kr != 'f'));
    if (bt != br && !wider)
        return false;
    if (kt == 'b' || kr == 'b')
        return true;
    if (r == PTX_T_F16X2) /* the one packed type that registers have */
        return t == PTX_T_U16X2 || t == PTX_T_S16X2 || (relaxed && (kt == 'u' || kt == 's'));
    return !instruction_only(t) && (kt == 'f') == (kr == 'f');
}

struct check {
    struct ptx_parser *p;
    const struct ptx_form *f;
    struct span at;
    bool say;
};

/* Counted on from the instruction's own place, so a line of any length costs nothing. */
static struct span operand_span(const struct check *c, const struct ptx_operand *o)
{
    struct span at = { o->off, o->len, c->at.line, c->at.col };
    for (uint32_t i = c->at.off; i < o->off; i++) {
        bool nl = c->p->base[i] == '\n';
        at.line += nl;
        at.col = nl ? 1 : at.col + 1;
    }
    return at;
}

static bool mismatch(const struct check *c, const struct ptx_operand *o, const char *needs)
{
    bool told = o->kind == OPND_REG && o->index < c->p->regs.n &&
                c->p->regs.v[o->index].type == PTX_T_NONE; /* that it is not declared */
    if (c->say && !told) {
        struct span at = operand_span(c, o);
        struct str text = { c->p->base + o->off, o->len };
        ptx_error(c->p, "ptx-operand", at, "'%.*s' is not allowed here: '%s' needs %s", SV(text),
                  ptx_op_info(c->f->op)->name, needs);
    }
    return false;
}

static bool type_mismatch(const struct check *c, const struct ptx_operand *o, enum ptx_type want,
                          enum ptx_type has)
{
    if (c->say) {
        struct str text = { c->p->base + o->off, o->len };
        struct diag *d =
            ptx_error(c->p, "ptx-type", operand_span(c, o), "'%.*s' is .%s where '%.*s' works on .%s",
                      SV(text), ptx_type_name(has), SV(c->f->text), ptx_type_name(want));
        if (ptx_type_kind(want) == 'p')
            diag_hint(d, "use a register declared .pred");
        else if (ptx_type_bits(want) != ptx_type_bits(has))
            diag_hint(d, "%u bits and %u bits: convert with cvt, or declare the register .b%u",
                      ptx_type_bits(has), ptx_type_bits(want), ptx_type_bits(want));
        else
            diag_hint(d, "move it through a .b%u register with mov.b%u", ptx_type_bits(want),
                      ptx_type_bits(want));
    }
    return false;
}

static bool reg_fits(const struct check *c, const struct ptx_slot *s, const struct ptx_operand *o)
{
    if (o->index >= c->p->regs.n)
        return true;
    enum ptx_type has = (enum ptx_type)c->p->regs.v[o->index].type;
    if (type_fits((enum ptx_type)s->type, has, c->f->relaxed))
        return true;
    return type_mismatch(c, o, (enum ptx_type)s->type, has);
}

static bool imm_fits(const struct check *c, const struct ptx_slot *s, const struct ptx_operand *o)
{
    char k = ptx_type_kind((enum ptx_type)s->type);
    if (o->is_float && (k == 'u' || k == 's'))
        return mismatch(c, o, "an integer constant");
    if (!o->is_float && k == 'f')
        return mismatch(c, o, "a floating point constant (0f3F800000, 1.0)");
    if (k == 'p' && o->is_float) /* any integer will do: nvcc -G writes mov.pred %p1, -1 */
        return mismatch(c, o, "a predicate");
    if (k == 'b' && o->is_float && o->fbits != ptx_type_bits((enum ptx_type)s->type))
        return mismatch(c, o,
                        o->fbits == 32 ? "an integer or a 64-bit floating point constant (0d...)"
                                       : "an integer or a 32-bit floating point constant (0f...)");
    return true;
}

static const char *space_name(uint8_t space)
{
    static const char *const name[] = { "generic", "reg",   "sreg",   "const",           "global",
                                        "local",   "param", "shared", "shared::cluster", "tex" };
    return space < ARRAY_LEN(name) ? name[space] : "?";
}

static bool names_memory(uint16_t op)
{
    switch (op) {
    case PTX_OP_LD:
    case PTX_OP_ST:
    case PTX_OP_LDU:
    case PTX_OP_ATOM:
    case PTX_OP_RED:
    case PTX_OP_PREFETCH:
    case PTX_OP_DISCARD:
    case PTX_OP_CVTA:
    case PTX_OP_MAPA:
    case PTX_OP_GETCTARANK: return true;
    default: return false;
    }
}

/* Constants and parameters have no generic address. */
static bool space_fits(const struct check *c, const struct ptx_operand *o)
{
    bool cluster = c->f->op == PTX_OP_MAPA || c->f->op == PTX_OP_GETCTARANK ||
                   c->f->space == PTX_SPACE_SHARED_CLUSTER;
    uint8_t want = cluster ? PTX_SPACE_SHARED : c->f->space, has = o->sym->space;
    bool generic = want == PTX_SPACE_GENERIC && has != PTX_SPACE_CONST && has != PTX_SPACE_PARAM;
    if (!names_memory(c->f->op))
        return true;
    if (o->sym->kind != SYM_VAR || generic || want == has || has == PTX_SPACE_REG)
        return true;
    if (c->say) {
        struct str text = { c->p->base + o->off, o->len };
        struct diag *d =
            ptx_error(c->p, "ptx-space", operand_span(c, o), "%.*s is in .%s, '%.*s' works on .%s",
                      SV(text), space_name(has), SV(c->f->text), space_name(want));
        if (!cluster)
            diag_hint(d, "write .%s in the opcode", space_name(has));
    }
    return false;
}

/* A variable as a value is its address, and only some instructions take that. */
static bool symbol_fits(const struct check *c, const struct ptx_slot *s, const struct ptx_operand *o)
{
    char k = ptx_type_kind((enum ptx_type)s->type);
    unsigned bits = ptx_type_bits((enum ptx_type)s->type);
    bool whole = k == 'b' || k == 'u' || k == 's', sum = o->imm != 0; /* v+4 is a constant */
    switch (c->f->op) {
    case PTX_OP_CVTA:
    case PTX_OP_MAPA:
    case PTX_OP_GETCTARANK: return space_fits(c, o);
    case PTX_OP_MOV:
        if (o->sym->space == PTX_SPACE_GLOBAL && bits == 32 && !sum && c->p->m->address_size == 64)
            return mismatch(c, o, "64 bits for an address of global memory");
        if (whole || c->f->vec > 1)
            return true;
        return mismatch(c, o, "an integer type for an address");
    default:
        return (sum && whole) || mismatch(c, o, "a register: take the address of a variable with mov");
    }
}

/* mov copies all bits; .u16 reads the low half, as PTX 1 did. */
static bool sreg_fits(const struct check *c, enum ptx_type t, enum ptx_sreg r)
{
    char k = ptx_type_kind(t);
    unsigned bits = ptx_sreg_bits(r);
    bool mov = c->f->op == PTX_OP_MOV && c->f->vec <= 1;
    return (k == 'p') == (bits == 1) && (!mov || (k != 'f' && ptx_type_bits(t) <= bits));
}

/* A source value that is not a list. */
static bool value_fits(const struct check *c, const struct ptx_slot *s, const struct ptx_operand *o)
{
    switch (o->kind) {
    case OPND_REG:
        return (!o->neg || s->negatable || o->comp > 3 || c->f->op == PTX_OP_VMAD ||
                mismatch(c, o, "a value without '!' or '-'")) &&
               (o->comp > 3 || reg_fits(c, s, o));
    case OPND_IMM: return imm_fits(c, s, o);
    case OPND_SREG:
        if (c->f->op != PTX_OP_MOV && c->f->op != PTX_OP_CVT)
            return mismatch(c, o, "a register: read special registers with mov");
        if (o->comp < 0 && c->f->vec <= 1 && ptx_sreg_is_vector((enum ptx_sreg)o->index))
            return mismatch(c, o, "one component of it: .x, .y or .z");
        return sreg_fits(c, (enum ptx_type)s->type, (enum ptx_sreg)o->index) ||
               mismatch(c, o, "a register of the instruction's type");
    case OPND_SYM:
        if (o->sym->kind == SYM_VAR && !symbol_fits(c, s, o))
            return false; /* fallthrough */
    case OPND_NONE:
        return ptx_type_kind((enum ptx_type)s->type) != 'p' || mismatch(c, o, "a predicate register");
    default: return mismatch(c, o, "a register or a constant");
    }
}

static bool dest_fits(const struct check *c, const struct ptx_slot *s, const struct ptx_operand *o)
{
    if (o->kind == OPND_SINK)
        return s->sink || mismatch(c, o, "a register: the result cannot be discarded");
    return o->kind == OPND_REG && !o->neg ? reg_fits(c, s, o) : mismatch(c, o, "a register to write");
}

static bool list_fits(const struct check *c, const struct ptx_slot *s, const struct ptx_operand *o,
                      bool write)
{
    for (unsigned i = 0; i < o->nelem; i++) {
        const struct ptx_operand *e = &o->elem[i];
        if (write ? e->kind != OPND_SINK && !dest_fits(c, s, e) : !value_fits(c, s, e))
            return false;
    }
    return true;
}

/* {a, b} under .v2 and the like: as many elements as the modifier says. */
static bool vector_fits(const struct check *c, const struct ptx_slot *s, const struct ptx_operand *o,
                        bool write)
{
    if (o->nelem != c->f->vec && c->f->vec > 1) {
        if (c->say) {
            struct diag *d = ptx_error(c->p, "ptx-operand", operand_span(c, o),
                                       "this vector has %u elements where .v%u needs %u", o->nelem,
                                       c->f->vec, c->f->vec);
            diag_hint(d, "change the modifier or the list");
        }
        return false;
    }
    return list_fits(c, s, o, write);
}

/* mov.b64 {a, b}, c (9.7.9.4): the elements' sizes sum up to the type's. */
static bool pack_fits(const struct check *c, const struct ptx_slot *s, const struct ptx_operand *o,
                      bool write)
{
    unsigned each = o->nelem ? ptx_type_bits((enum ptx_type)s->type) / o->nelem : 0;
    enum ptx_type first = PTX_T_NONE;
    for (unsigned i = 0; i < o->nelem; i++) {
        const struct ptx_operand *e = &o->elem[i];
        if (e->kind == OPND_REG && e->index < c->p->regs.n) {
            enum ptx_type t = (enum ptx_type)c->p->regs.v[e->index].type;
            if (t != PTX_T_NONE && ptx_type_bits(t) != each)
                return type_mismatch(c, e,
                                     each == 8    ? PTX_T_B8
                                     : each == 16 ? PTX_T_B16
                                     : each == 32 ? PTX_T_B32
                                     : each == 64 ? PTX_T_B64
                                                  : (enum ptx_type)s->type,
                                     t);
            if (first != PTX_T_NONE && t != first)
                return mismatch(c, e, "elements of one type");
            first = t;
        } else if (write && e->kind != OPND_SINK && e->kind != OPND_REG) {
            return mismatch(c, e, "a register to write");
        } else if (!write && e->kind == OPND_SINK) {
            return mismatch(c, e, "a value");
        }
        if (e->kind == OPND_REG && e->neg)
            return mismatch(c, e, "a value without '!' or '-'");
    }
    return true;
}

static bool vec_operand_fits(const struct check *c, const struct ptx_slot *s,
                             const struct ptx_operand *o, bool write)
{
    if (c->f->op == PTX_OP_MOV && c->f->vec == 1)
        return pack_fits(c, s, o, write);
    return list_fits(c, s, o, write);
}

static bool address_fits(const struct check *c, const struct ptx_operand *o)
{
    if (o->kind != OPND_ADDR)
        return mismatch(c, o, "an [address]");
    if (o->base == BASE_SYM)
        return space_fits(c, o);
    if (o->base == BASE_IMM && names_memory(c->f->op) && c->f->space != PTX_SPACE_LOCAL)
        return mismatch(c, o, "a register or a variable: only .local has constant addresses");
    if (o->base != BASE_REG || o->index >= c->p->regs.n)
        return true;
    enum ptx_type t = (enum ptx_type)c->p->regs.v[o->index].type;
    char k = ptx_type_kind(t);
    if (t != PTX_T_NONE && k != 'b' && k != 'u' && k != 's')
        return mismatch(c, o, "an integer register as address");
    bool whole = c->f->space == PTX_SPACE_GLOBAL || c->f->space == PTX_SPACE_GENERIC;
    if (ptx_type_bits(t) == 64 && whole && !c->p->address_given && names_memory(c->f->op))
        c->p->m->address_size = 64;
    bool narrow = ptx_type_bits(t) == 32 && whole && names_memory(c->f->op);
    if (narrow && c->p->m->address_size == 64)
        return mismatch(c, o, "a 64-bit address (.address_size 64)");
    c->p->narrow_address |= narrow;
    return true;
}

static bool slot_fits(const struct check *c, const struct ptx_slot *s, const struct ptx_operand *o)
{
    switch (s->cls) {
    case 'd':
    case 'x':
        if (o->kind == OPND_VEC && !s->scalar && (c->f->vec > 1 || s->cls == 'x'))
            return vector_fits(c, s, o, true);
        return dest_fits(c, s, o);
    case 's':
        if (o->kind == OPND_VEC && !s->scalar && c->f->vec > 1)
            return vector_fits(c, s, o, false);
        return value_fits(c, s, o);
    case 'w': return o->kind == OPND_VEC ? vec_operand_fits(c, s, o, true) : dest_fits(c, s, o);
    case 'v': return o->kind == OPND_VEC ? vec_operand_fits(c, s, o, false) : value_fits(c, s, o);
    case 'q': {
        struct ptx_slot pred = { .cls = 'd', .type = PTX_T_PRED, .sink = true };
        return dest_fits(c, &pred, o);
    }
    case 'p': {
        struct ptx_slot pred = { .cls = 's', .type = PTX_T_PRED, .negatable = s->negatable };
        return value_fits(c, &pred, o);
    }
    case 'r': return o->kind == OPND_REG ? reg_fits(c, s, o) : mismatch(c, o, "a register");
    case 'i': return o->kind == OPND_IMM || mismatch(c, o, "a constant");
    case 'm': return address_fits(c, o);
    case 't':
        return o->kind == OPND_MULTI || o->kind == OPND_ADDR ||
               mismatch(c, o, "a bracketed list like [a, {b, c}]");
    case 'h':
        return o->kind == OPND_SYM || o->kind == OPND_REG ||
               mismatch(c, o, "a texture, sampler or surface");
    case 'l': return o->kind == OPND_LABEL || mismatch(c, o, "a label");
    default: return true;
    }
}

/* ---- which signature ---- */
static uint32_t sig_pipes(const struct ptx_sig *g)
{
    uint32_t pipes = 0;
    for (unsigned i = 0; i < g->n; i++)
        pipes |= (uint32_t)g->slot[i].pipe << i;
    return pipes;
}

/* How many of n operands fit, from the first on; n: all do. The first optional slots are
 * used, the last are left out. */
static unsigned sig_fits(const struct check *c, const struct ptx_sig *g, const struct ptx_operand *o,
                         unsigned n)
{
    unsigned spare = n - g->least, k = 0;
    for (unsigned i = 0; i < g->n && k < n; i++) {
        if (g->slot[i].optional && !spare)
            continue;
        spare -= g->slot[i].optional;
        if (!slot_fits(c, &g->slot[i], &o[k]))
            return k;
        k++;
    }
    return k;
}

static const char *access_name(char cls)
{
    switch (cls) {
    case 'm':
    case 't': return "[addr]";
    case 'd':
    case 'w':
    case 'x': return "d";
    case 'q': return "p";
    case 'p': return "pred";
    case 'i': return "const";
    case 'l': return "label";
    case 'v': return "{...}";
    default: return "a";
    }
}

static void report_count(const struct check *c, unsigned n, uint32_t pipes)
{
    struct buf b = { 0 };
    const struct ptx_sig *g = &c->f->sigs[0];
    for (unsigned i = 0; i < g->n; i++)
        buf_printf(&b, "%s%s%s%s", i ? (g->slot[i].pipe ? "|" : ", ") : " ",
                   g->slot[i].optional ? "{" : "", access_name(g->slot[i].cls),
                   g->slot[i].optional ? "}" : "");
    struct diag *d =
        ptx_error(c->p, "ptx-operands", c->at, "'%s' does not take %u operand%s%s",
                  ptx_op_info(c->f->op)->name, n, n == 1 ? "" : "s", pipes ? " with '|'" : "");
    diag_hint(d, "the form is %.*s%s", SV(c->f->text), b.s ? b.s : "");
    buf_free(&b);
}

static unsigned memory_access(const struct ptx_form *f, bool first)
{
    switch (ptx_op_info(f->op)->effect) {
    case EFFECT_LOAD:
    case EFFECT_PREFETCH:
    case EFFECT_TEXTURE: return PTX_READ;
    case EFFECT_STORE: return PTX_WRITE;
    case EFFECT_ASYNC_COPY: return first ? PTX_WRITE : PTX_READ;
    default: return PTX_READ | PTX_WRITE;
    }
}

static void set_access(struct ptx_operand *o, unsigned access, unsigned element)
{
    o->access = (uint8_t)access;
    if (o->kind != OPND_VEC && o->kind != OPND_MULTI)
        return;
    for (unsigned i = 0; i < o->nelem; i++) {
        o->elem[i].access = (uint8_t)element;
        if (o->elem[i].kind == OPND_VEC)
            for (unsigned k = 0; k < o->elem[i].nelem; k++)
                o->elem[i].elem[k].access = (uint8_t)element;
    }
}

static void apply_access(const struct ptx_form *f, const struct ptx_sig *g, struct ptx_operand *o,
                         unsigned n)
{
    unsigned spare = n - g->least, k = 0;
    bool first = true;
    for (unsigned i = 0; i < g->n && k < n; i++) {
        if (g->slot[i].optional && !spare)
            continue;
        spare -= g->slot[i].optional;
        switch (g->slot[i].cls) {
        case 'd':
        case 'q':
        case 'w': set_access(&o[k], PTX_WRITE, PTX_WRITE); break;
        case 'x': set_access(&o[k], PTX_READ | PTX_WRITE, PTX_READ | PTX_WRITE); break;
        case 'm':
        case 't':
            set_access(&o[k], memory_access(f, first), PTX_READ);
            first = false;
            break;
        default: set_access(&o[k], PTX_READ, PTX_READ); break;
        }
        k++;
    }
}

/* An instruction we do not know may read and write everything it names. */
static void access_unknown(struct ptx_operand *o, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        set_access(&o[i], PTX_READ | PTX_WRITE, PTX_READ | PTX_WRITE);
}

static void ptx_check_operands(struct ptx_parser *p, const struct ptx_form *f, struct ptx_operand *o,
                               unsigned n, uint32_t pipes, struct span at)
{
    const struct ptx_sig *near = NULL;
    unsigned best = 0;
    struct check c = { p, f, at, false };
    if (f->op == PTX_OP_OPAQUE) {
        access_unknown(o, n);
        return;
    }
    for (unsigned i = 0; i < f->nsigs; i++) {
        const struct ptx_sig *g = &f->sigs[i];
        if (n < g->least || n > g->n || sig_pipes(g) != pipes)
            continue;
        unsigned fit = sig_fits(&c, g, o, n);
        if (fit == n) {
            apply_access(f, g, o, n);
            ptx_check_ranges(p, f, o, n, at);
            return;
        }
        if (!near || fit > best || (fit == best && o[fit].kind == OPND_VEC)) {
            near = g;
            best = fit;
        }
    }
    if (f->bad) /* the opcode was reported; its types are not to be trusted */
        return;
    c.say = true;
    if (near)
        sig_fits(&c, near, o, n);
    else
        report_count(&c, n, pipes);
}

/* ---- reading ---- */
static bool read_guard(struct ptx_parser *p, struct ptx_inst *in)
{
    p->c++;
    in->guard_neg = ptx_take(p, '!');
    ptx_skip_blank(p);
    struct span at = ptx_here(p);
    struct str name = ptx_ident(p);
    in->guarded = true;
    in->guard = name.n ? ptx_reg_find(p, name) : PTX_NO_INDEX;
    if (!name.n) {
        at.len = 1;
        ptx_error(p, "ptx-syntax", at, "expected a predicate register after '@', found %s",
                  ptx_quote(p));
        return false;
    }
    if (in->guard == PTX_NO_INDEX) {
        ptx_undefined(p, name, at, "predicate register");
        in->guard = ptx_reg_find(p, name);
        return in->guard != PTX_NO_INDEX;
    }
    uint8_t t = p->regs.v[in->guard].type;
    if (t != PTX_T_PRED && t != PTX_T_NONE) {
        struct diag *d =
            ptx_error(p, "ptx-type", ptx_upto(p, at), "'%.*s' is .%s; a guard is a .pred register",
                      SV(name), ptx_type_name((enum ptx_type)t));
        diag_hint(d, "make the predicate with setp");
    }
    return true;
}

/* Blanks or comments may stand between the dot-words; then the text is put together. */
static struct str opcode_in_pieces(struct ptx_parser *p, struct str first)
{
    struct buf b = { 0 };
    buf_str(&b, first);
    while (ptx_at(p, '.') && ptx_is(p->c[1], CH_START | CH_DIGIT)) {
        struct str w = ptx_dotword(p);
        buf_put(&b, ".", 1);
        buf_str(&b, w);
    }
    char *s = arena_dup(p->a, (struct str){ b.s, b.n });
    size_t n = b.n;
    p->oom = p->oom || b.oom || !s;
    buf_free(&b);
    return (struct str){ s, s ? n : 0 };
}

static struct str read_opcode(struct ptx_parser *p)
{
    const char *s = p->c;
    while (ptx_is(*p->c, CH_START | CH_DIGIT) ||
           (*p->c == '.' && ptx_is(p->c[1], CH_START | CH_DIGIT)) ||
           (*p->c == ':' && p->c[1] == ':' && ptx_is(p->c[2], CH_START | CH_DIGIT)))
        p->c += *p->c == ':' ? 2 : 1;
    struct str text = { s, (size_t)(p->c - s) };
    ptx_skip_blank(p);
    return *p->c == '.' && ptx_is(p->c[1], CH_START | CH_DIGIT) ? opcode_in_pieces(p, text) : text;
}

static uint32_t hash_opcode(struct str s)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.s[i]) * 16777619u;
    return h ^ h >> 13;
}

static bool read_operands(struct ptx_parser *p, unsigned *n, uint32_t *pipes)
{
    p->opnd.n = 0;
    *n = 0;
    *pipes = 0;
    if (ptx_at(p, ';'))
        return true;
    for (;;) {
        const struct ptx_form *f = p->form;
        const struct ptx_slot *hint = f->label && *n < f->sigs[0].n ? &f->sigs[0].slot[*n] : NULL;
        struct ptx_operand o;
        if (!ptx_operand_read(p, &o, hint))
            return false;
        struct ptx_operand *slot = PTX_PUSH(p, p->opnd);
        if (!slot)
            return false;
        *slot = o;
        if (++*n == 64) {
            ptx_error(p, "ptx-limit", ptx_here(p), "an instruction has fewer than 64 operands");
            return false;
        }
        if (ptx_take(p, '|'))
            *pipes |= *n < 32 ? 1u << *n : 0;
        else if (!ptx_take(p, ','))
            return true;
    }
}

static void add_label_refs(struct ptx_parser *p, struct ptx_inst *in, struct span at)
{
    for (unsigned i = 0; i < in->nopnds; i++) {
        struct ptx_operand *o = &in->opnds[i];
        if (o->kind != OPND_LABEL)
            continue;
        struct ptx_label_ref *r = PTX_PUSH(p, p->refs);
        struct check c = { p, p->form, at, false };
        if (r)
            *r = (struct ptx_label_ref){
                &o->index, { p->base + o->off, o->len }, operand_span(&c, o), in->stmt, REF_LABEL
            };
    }
}

static void add_inst(struct ptx_parser *p, struct ptx_inst *in, unsigned n)
{
    const struct ptx_form *f = p->form;
    in->op = f->op;
    in->mods = f->mods;
    in->nmods = f->nmods;
    in->ntypes = f->ntypes;
    memcpy(in->type, f->type, sizeof in->type);
    in->space = f->space;
    in->vec = f->vec;
    in->nopnds = (uint8_t)n;
    in->opnds = ptx_operands_keep(p, p->opnd.v, n);
    in->index = (uint32_t)p->insts.n;
    in->stmt = (uint32_t)p->stmts.n;
    in->nounroll = p->nounroll_next || p->nounroll_func || p->nounroll_all;
    p->nounroll_next = false;
    p->m->nopaque += f->op == PTX_OP_OPAQUE;
    struct ptx_inst *slot = PTX_PUSH(p, p->insts);
    struct ptx_stmt *stmt = PTX_PUSH(p, p->stmts);
    if (!slot || !stmt || (n && !in->opnds)) {
        p->oom = true;
        return;
    }
    *slot = *in;
    *stmt = (struct ptx_stmt){ STMT_INST, in->index, in->at };
    if (f->label || f->op == PTX_OP_CALL)
        add_label_refs(p, in, in->at);
}

/* ---- %r1+4 as a value: an addition of its own before the instruction, without text ---- */
static const struct ptx_form *add_form(struct ptx_parser *p, unsigned bits, struct span at)
{
    struct str text = str_of(bits == 16 ? "add.s16" : bits == 32 ? "add.s32" : "add.s64");
    return ptx_form_get(p, text, hash_opcode(text), at);
}

static bool add_sum(struct ptx_parser *p, struct ptx_operand *o, struct span at)
{
    struct ptx_reg from = p->regs.v[o->index];
    unsigned bits = ptx_type_bits((enum ptx_type)from.type);
    const struct ptx_form *f = add_form(p, bits, at);
    struct ptx_reg *r = f ? PTX_PUSH(p, p->regs) : NULL;
    if (!r)
        return false;
    *r = (struct ptx_reg){ { p->base + o->off, o->len },
                           bits == 16   ? PTX_T_B16
                           : bits == 32 ? PTX_T_B32
                                        : PTX_T_B64,
                           1,
                           from.scope };
    struct ptx_operand v[3] = { *o, *o, *o };
    v[0].index = (uint32_t)p->regs.n - 1;
    v[0].access = PTX_WRITE;
    v[2].kind = OPND_IMM;
    v[0].base = v[1].base = BASE_REG;
    v[0].imm = v[1].imm = 0;
    v[1].access = v[2].access = PTX_READ;
    struct ptx_inst in = { .op = f->op,
                           .nmods = f->nmods,
                           .nopnds = 3,
                           .ntypes = f->ntypes,
                           .space = f->space,
                           .vec = f->vec,
                           .mods = f->mods,
                           .index = (uint32_t)p->insts.n,
                           .stmt = (uint32_t)p->stmts.n,
                           .at = { at.off, 0, at.line, at.col } };
    memcpy(in.type, f->type, sizeof in.type);
    for (unsigned i = 0; i < 3; i++) {
        v[i].off = at.off;
        v[i].len = 0;
    }
    in.opnds = ptx_operands_keep(p, v, 3);
    struct ptx_inst *slot = PTX_PUSH(p, p->insts);
    struct ptx_stmt *stmt = PTX_PUSH(p, p->stmts);
    if (!slot || !stmt || !in.opnds)
        return false;
    *slot = in;
    *stmt = (struct ptx_stmt){ STMT_INST, in.index, in.at };
    o->index = v[0].index;
    o->base = BASE_REG;
    o->imm = 0;
    return true;
}

/* Operands that are sums become registers; a sum that is no source of whole numbers is an error. */
static void ptx_sums_resolve(struct ptx_parser *p, struct ptx_operand *o, unsigned n, struct span at)
{
    for (unsigned i = 0; i < n; i++) {
        if (o[i].kind != OPND_REG || o[i].base != BASE_IMM || o[i].index >= p->regs.n)
            continue;
        char k = ptx_type_kind((enum ptx_type)p->regs.v[o[i].index].type);
        unsigned bits = ptx_type_bits((enum ptx_type)p->regs.v[o[i].index].type);
        bool whole = (k == 'b' || k == 'u' || k == 's') && bits >= 16 && bits <= 64;
        if (!whole || (o[i].access & PTX_WRITE)) {
            struct check c = { p, p->form, at, true };
            mismatch(&c, &o[i],
                     o[i].access & PTX_WRITE ? "a register to write" : "an integer register before '+'");
            o[i].base = BASE_REG;
            o[i].imm = 0;
        } else if (!add_sum(p, &o[i], at)) {
            p->oom = true;
        }
    }
}

/* The cursor stands on '@' or on the opcode. */
void ptx_inst_read(struct ptx_parser *p)
{
    struct ptx_inst in = { .at = ptx_here(p) };
    if (*p->c == '@' && !read_guard(p, &in)) {
        ptx_resync(p);
        return;
    }
    ptx_skip_blank(p);
    struct span at = ptx_here(p);
    struct str text = ptx_is(*p->c, CH_DIGIT) ? (struct str){ p->c, 0 } : read_opcode(p);
    if (!text.n) {
        at.len = 1;
        ptx_error(p, "ptx-syntax", at, "expected an instruction, found %s",
                  ptx_quiet(p) ? "this" : ptx_quote(p));
        p->c += p->c < p->end && *p->c != '}' && *p->c != '{';
        ptx_resync(p);
        return;
    }
    p->form = ptx_form_get(p, text, hash_opcode(text), at);
    if (!p->form)
        return;
    if (p->form->bad)
        ptx_form_report(p, p->form, at);
    unsigned n;
    uint32_t pipes;
    if (!read_operands(p, &n, &pipes) || !ptx_expect(p, ';', "after the operands")) {
        ptx_resync(p);
        p->form = NULL;
        return;
    }
    in.at = ptx_upto(p, in.at);
    if (p->form->op == PTX_OP_CALL)
        ptx_check_call(p, p->opnd.v, n, in.at);
    else
        ptx_check_operands(p, p->form, p->opnd.v, n, pipes, in.at);
    ptx_sums_resolve(p, p->opnd.v, n, in.at);
    add_inst(p, &in, n);
    p->form = NULL;
}
