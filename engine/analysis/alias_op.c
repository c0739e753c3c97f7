/* alias, one instruction: what it makes of values, and what it leaves in memory. */
#include "engine/analysis/alias_int.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

struct step {
    struct alias *a;
    uint32_t at; /* the function's place */
    const struct ptx_inst *i;
    const struct ptx_func *f;
};

static struct alias_value *reg_of(const struct step *s, uint32_t reg)
{
    return &s->a->value[s->a->first[s->at] + reg];
}

static void join(struct alias *a, struct alias_value *to, struct alias_value v)
{
    if ((to->roots | v.roots) == to->roots && (to->bits | v.bits) == to->bits &&
        (to->down | v.down) == to->down && (to->kind | v.kind) == to->kind)
        return;
    to->roots |= v.roots;
    to->bits |= v.bits;
    to->down |= v.down;
    to->kind |= v.kind;
    a->changed = true;
}

static bool empty(struct alias_value v)
{
    return !v.roots && !v.kind;
}

static struct alias_value operand(const struct step *s, const struct ptx_operand *o)
{
    if (o->kind == OPND_REG)
        return *reg_of(s, o->index);
    if (o->kind == OPND_SYM && o->sym && o->sym->kind == SYM_VAR && o->sym->space == PTX_SPACE_PARAM)
        s->a->dirty |= DIRTY_PARAM;
    if (o->kind == OPND_SYM)
        return alias_symbol_value(s->a, o->sym);
    return (struct alias_value){ .kind = o->kind == OPND_IMM && !o->imm ? KIND_NULL : KIND_INDEX };
}

/* ---- laundered: bits of what is read, in any order ---- */
static void gather(const struct step *s, const struct ptx_operand *o, struct alias_value *v, bool *waits)
{
    if (o->kind == OPND_VEC || o->kind == OPND_MULTI) {
        for (uint16_t k = 0; k < o->nelem; k++)
            gather(s, &o->elem[k], v, waits);
        return;
    }
    if (o->kind == OPND_ADDR || o->kind == OPND_LABEL || o->kind == OPND_SINK ||
        !(o->access & PTX_READ || o->kind == OPND_SYM))
        return;
    struct alias_value x = operand(s, o);
    *waits |= empty(x);
    v->roots |= x.roots;
    v->bits |= x.bits;
    v->down |= x.down;
    v->kind |= x.kind;
}

/* The join of everything read but addresses; empty where something is not computed yet. */
static struct alias_value all_read(const struct step *s, unsigned from, unsigned to)
{
    struct alias_value v = { .kind = 0 };
    bool waits = false;
    for (unsigned k = from; k < to && k < s->i->nopnds; k++)
        gather(s, &s->i->opnds[k], &v, &waits);
    if (!waits && empty(v)) /* nothing is read: activemask and the like */
        v.kind = KIND_INDEX;
    return waits ? (struct alias_value){ .kind = 0 } : v;
}

static struct alias_value both(struct alias_value x, struct alias_value y)
{
    return (struct alias_value){ .roots = x.roots | y.roots,
                                 .bits = x.bits | y.bits,
                                 .down = x.down | y.down,
                                 .kind = x.kind | y.kind };
}

static uint64_t bits_of(struct alias_value v)
{
    return v.roots | v.bits;
}

static struct alias_value launder(struct alias_value v)
{
    return (struct alias_value){ .kind = v.roots || v.kind & KIND_MIX ? KIND_MIX
                                         : v.kind                     ? KIND_INDEX
                                                                      : 0,
                                 .bits = bits_of(v),
                                 .down = bits_of(v) };
}

/* As launder, for an operation whose low result bits depend on low bits of its sources alone. */
static struct alias_value launder_up(struct alias_value v)
{
    struct alias_value r = launder(v);
    r.down = v.down;
    return r;
}

/* What an unknown operation makes of v and of what memory holds. */
static struct alias_value anything(const struct alias *a, struct alias_value v)
{
    uint64_t bits = bits_of(v) | a->stored;
    return (struct alias_value){ .kind = KIND_MIX, .bits = bits, .down = bits };
}

/* ---- sums ---- */
static uint8_t sum_kind(uint8_t x, uint8_t y, bool minus)
{
    if (y == KIND_WINDOW)
        return minus || x == KIND_WINDOW ? KIND_INDEX : KIND_WINDOW;
    if (x == KIND_WINDOW)
        return KIND_WINDOW;
    if (x == KIND_DATA || y == KIND_DATA)
        return KIND_DATA;
    return x == KIND_NULL && y == KIND_NULL ? KIND_NULL : KIND_INDEX;
}

static struct alias_value sum(struct alias_value x, struct alias_value y, bool minus)
{
    const uint8_t index = KIND_NULL | KIND_INDEX;
    struct alias_value r = { .kind = (x.kind | y.kind) & (KIND_MIX | KIND_STEPPED),
                             .bits = x.bits | y.bits,
                             .down = x.down | y.down };
    if (empty(x) || empty(y))
        return (struct alias_value){ .kind = 0 };
    if ((x.roots && (y.roots || y.kind & (KIND_DATA | KIND_WINDOW))) ||
        (y.roots && (minus || x.kind & (KIND_DATA | KIND_WINDOW))))
        r.kind |= KIND_MIX;
    if (r.kind & KIND_MIX)
        r.bits |= x.roots | y.roots;
    r.roots |= y.kind & index ? x.roots : 0;
    r.roots |= !minus && x.kind & index ? y.roots : 0;
    r.kind |= r.roots && (x.kind | y.kind) & KIND_INDEX ? KIND_STEPPED : 0;
    for (uint8_t p = KIND_NULL; p <= KIND_WINDOW; p = (uint8_t)(p << 1))
        for (uint8_t q = KIND_NULL; q <= KIND_WINDOW; q = (uint8_t)(q << 1))
            if (x.kind & p && y.kind & q && p != KIND_MIX && q != KIND_MIX)
                r.kind |= sum_kind(p, q, minus);
    return r;
}

/* ---- which operations follow a pointer ---- */
static bool whole(const struct ptx_inst *i, unsigned k)
{
    char kind = k < i->ntypes ? ptx_type_kind((enum ptx_type)i->type[k]) : 0;
    return kind == 'b' || kind == 'u' || kind == 's';
}
static bool wide_int(const struct ptx_inst *i)
{
    return whole(i, 0) && ptx_type_bits((enum ptx_type)i->type[0]) == 64;
}
static bool scalar(const struct ptx_inst *i, unsigned n)
{
    if (i->nopnds < n)
        return false;
    for (unsigned k = 0; k < n; k++)
        if (i->opnds[k].kind == OPND_VEC || i->opnds[k].kind == OPND_MULTI || i->opnds[k].comp >= 0)
            return i->opnds[k].kind == OPND_SREG;
    return true;
}

/* An address rounded down by less than the 256 bytes that buffers are aligned to. */
static struct alias_value mask(const struct step *s)
{
    const struct ptx_operand *o = s->i->opnds;
    struct alias_value v = operand(s, &o[1]);
    bool small = wide_int(s->i) && o[2].kind == OPND_IMM && o[2].imm >= -256 && o[2].imm < 0 &&
                 (-o[2].imm & (-o[2].imm - 1)) == 0;
    for (uint32_t k = 0; small && k < s->a->nroots; k++)
        small = !(v.roots >> k & 1) || s->a->root[k].param >= 0;
    if (small && !(v.kind & KIND_MIX))
        return v;
    v = launder_up(all_read(s, 1, 3));
    if (o[2].kind == OPND_IMM && o[2].imm >= 0 && o[2].imm < 256)
        v.bits = v.down; /* how a pointer is aligned tells nothing about where it points */
    return v;
}

static struct alias_value convert(const struct step *s)
{
    struct alias_value v = operand(s, &s->i->opnds[1]);
    bool ints = whole(s->i, 0) && whole(s->i, 1);
    bool same = ints && wide_int(s->i) && ptx_type_bits((enum ptx_type)s->i->type[1]) == 64;
    if (same || empty(v))
        return v;
    struct alias_value r = ints ? launder_up(v) : launder(v);
    if (ints && v.kind & KIND_WINDOW && !(r.kind & KIND_MIX))
        r.kind = KIND_WINDOW | (v.kind & ~(KIND_WINDOW | KIND_DATA) ? KIND_INDEX : 0);
    return r;
}

static struct alias_value to_window(const struct step *s)
{
    struct alias_value v = operand(s, &s->i->opnds[1]);
    if (s->i->space == PTX_SPACE_GLOBAL || empty(v))
        return v;
    struct alias_value r = launder_up(v);
    r.kind = r.kind & KIND_MIX ? KIND_MIX : KIND_WINDOW;
    return r;
}

static struct alias_value choose(const struct step *s, unsigned n)
{
    struct alias_value v = all_read(s, 1, 1 + n),
                       p = n + 1u < s->i->nopnds ? operand(s, &s->i->opnds[n + 1]) : v;
    if (n + 1u < s->i->nopnds && p.kind & KIND_MIX && v.kind & ~(KIND_NULL | KIND_WINDOW | KIND_STEPPED))
        v.kind |= KIND_MIX; /* the choice tells bits of the predicate */
    if (n + 1u < s->i->nopnds && p.kind & KIND_MIX && v.kind == KIND_NULL)
        v.kind |= KIND_INDEX;
    v.bits |= p.bits;
    v.down |= p.bits;
    return v;
}

/* The roots of which a comparison tells where they point. Two pointers of one root tell their indices,
 * and a pointer that nothing was added to tells nothing by being null. */
static uint64_t compared(struct alias_value x, struct alias_value y)
{
    const uint8_t plain = KIND_NULL | KIND_WINDOW, beside = KIND_INDEX | KIND_DATA | KIND_MIX;
    uint64_t bits = x.bits | y.bits, roots = x.roots | y.roots;
    bool one = x.roots == y.roots && !(roots & (roots - 1)) && !((x.kind | y.kind) & ~KIND_STEPPED);
    bool windows = !roots && x.kind & y.kind & KIND_WINDOW && !((x.kind | y.kind) & beside);
    bool windows_told = roots | bits && (x.kind | y.kind) & KIND_WINDOW;
    bool null = (!x.roots && x.kind == KIND_NULL && !(y.kind & ~plain)) ||
                (!y.roots && y.kind == KIND_NULL && !(x.kind & ~plain));
    if (one || null || windows)
        return bits;
    uint64_t all = bits_of(x) | bits_of(y) | (windows_told ? ALIAS_WINDOW : 0);
    return roots | bits && (x.kind | y.kind) & KIND_DATA ? ALIAS_ANY : all;
}

static struct alias_value condition(const struct step *s)
{
    const struct ptx_inst *i = s->i;
    unsigned k = 0;
    while (k < i->nopnds && ptx_operand_access(i, k) == PTX_WRITE)
        k++;
    struct alias_value v = all_read(s, k, i->nopnds);
    const struct ptx_operand *x, *y;
    bool two = ptx_compared(i, &x, &y);
    bool whole_pointer = ptx_role_of(i) == ROLE_WINDOW_TEST && !(v.kind & ~(KIND_NULL | KIND_WINDOW));
    uint64_t bits = whole_pointer ? v.bits : two ? compared(operand(s, x), operand(s, y)) : bits_of(v);
    for (unsigned n = k + 2; two && n < i->nopnds; n++)
        bits |= operand(s, &i->opnds[n]).bits;
    s->a->told |= bits;
    return (struct alias_value){ .kind = v.kind & KIND_MIX   ? KIND_MIX
                                         : v.roots || v.kind ? KIND_INDEX
                                                             : 0,
                                 .bits = bits,
                                 .down = bits };
}

/* and, or, xor, not, products and shifts to the left: bits only move up. */
static bool moves_up(enum ptx_addr_rule rule)
{
    return rule == ADDR_OR || rule == ADDR_XOR || rule == ADDR_NOT || rule == ADDR_AND ||
           rule == ADDR_SHL || rule == ADDR_MUL_LO;
}

/* min, max: whole values are compared, by whose low bits it may be told which was taken. */
static struct alias_value lesser(const struct step *s)
{
    struct alias_value v = all_read(s, 1, 3);
    v.down |= bits_of(v);
    return v;
}

static struct alias_value made(const struct step *s)
{
    const struct ptx_inst *i = s->i;
    const struct ptx_operand *o = i->opnds;
    enum ptx_addr_rule rule = ptx_rule_of(i);
    bool ints = wide_int(i) || (whole(i, 0) && ptx_type_bits((enum ptx_type)i->type[0]) <= 32);
    switch (rule) {
    case ADDR_COPY: return scalar(i, 2) ? operand(s, &o[1]) : launder(all_read(s, 1, i->nopnds));
    case ADDR_CVTA: return to_window(s);
    case ADDR_ADD:
    case ADDR_SUB:
        if (ints && scalar(i, 3))
            return sum(operand(s, &o[1]), operand(s, &o[2]), rule == ADDR_SUB);
        break;
    case ADDR_MAD_LO:
    case ADDR_MAD_WIDE:
        if (ints && scalar(i, 4))
            return sum(launder(all_read(s, 1, 3)), operand(s, &o[3]), false);
        break;
    case ADDR_SELP:
        if (scalar(i, 4))
            return choose(s, 2);
        break;
    case ADDR_MIN:
    case ADDR_MAX:
        if (ints && i->nopnds == 3)
            return lesser(s);
        break;
    case ADDR_AND:
        if (ints && scalar(i, 3))
            return mask(s);
        break;
    case ADDR_CVT:
        if (i->nopnds == 2 && scalar(i, 2))
            return convert(s);
        break;
    case ADDR_PRED: return condition(s);
    default: break;
    }
    struct alias_value v = all_read(s, 0, i->nopnds);
    bool stack = ptx_role_of(i) == ROLE_STACK;
    if (stack)
        join(s->a, &s->a->stack, launder(v));
    if (stack || ptx_is(i, IS_REMOTE)) {
        v = launder(stack ? both(v, s->a->stack) : v);
        v.kind = v.kind & KIND_MIX ? KIND_MIX : KIND_WINDOW;
        return v;
    }
    for (uint8_t k = 0; k < i->nopnds && !empty(v); k++) /* nothing is read there: createpolicy.range */
        if (o[k].kind == OPND_ADDR && o[k].base == BASE_REG)
            v = both(v, launder(*reg_of(s, o[k].index)));
    if (!ints || !moves_up(rule))
        return launder(v);
    if (rule == ADDR_SHL && scalar(i, 3)) /* how far is told by all bits of the amount */
        v.down |= bits_of(operand(s, &o[2]));
    return launder_up(v);
}

/* ---- memory ---- */
static uint8_t places(const struct step *s, const struct ptx_operand *address)
{
    switch (s->i->space) {
    case PTX_SPACE_LOCAL: return DIRTY_LOCAL;
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CLUSTER: return DIRTY_SHARED;
    case PTX_SPACE_GLOBAL: return DIRTY_GLOBAL;
    case PTX_SPACE_CONST: return 0;
    default: break;
    }
    if (!address || address->base != BASE_REG)
        return DIRTY_ALL | DIRTY_PARAM;
    struct alias_value v = *reg_of(s, address->index);
    if (v.kind & (KIND_MIX | KIND_INDEX | KIND_DATA) || empty(v))
        return DIRTY_ALL | DIRTY_PARAM;
    return (uint8_t)((v.roots ? DIRTY_GLOBAL : 0) |
                     (v.kind & KIND_WINDOW ? DIRTY_LOCAL | DIRTY_SHARED | DIRTY_PARAM : 0));
}

/* May this load read variable y? */
static bool may_read(const struct step *s, const struct ptx_operand *address, const struct ptx_symbol *y)
{
    struct alias_value v = { KIND_ANYTHING };
    if (address && address->base == BASE_SYM)
        return address->sym == y;
    if (address && address->base == BASE_REG)
        v = *reg_of(s, address->index);
    if (s->i->space == PTX_SPACE_CONST || y->space == PTX_SPACE_CONST)
        return y->space == PTX_SPACE_CONST &&
               (s->i->space == PTX_SPACE_CONST || s->i->space == PTX_SPACE_GENERIC);
    if (v.kind & (KIND_MIX | KIND_INDEX | KIND_DATA) || !v.roots)
        return true;
    return v.roots & alias_symbol_value(s->a, y).roots;
}

/* Roots that variables which this load may read begin with: .global .u64 t[2] = {x, y}; */
static uint64_t held(const struct step *s, const struct ptx_operand *address)
{
    const struct ptx_module *m = s->a->m;
    uint64_t roots = 0;
    enum ptx_space space = s->i->space;
    bool reads = space == PTX_SPACE_CONST || space == PTX_SPACE_GLOBAL || space == PTX_SPACE_GENERIC;
    for (uint32_t k = 0; s->a->holds && reads && k < m->nglobals; k++) {
        const struct ptx_symbol *y = m->globals[k];
        bool read = y->nreloc && may_read(s, address, y);
        for (uint32_t r = 0; read && r < y->nreloc; r++) {
            struct alias_value v = alias_symbol_value(s->a, y->reloc[r].sym);
            roots |= v.roots | v.bits;
        }
    }
    return roots;
}

static void soil(struct alias *a, uint8_t where, uint64_t roots)
{
    a->changed |= (a->dirty | where) != a->dirty || (a->stored | roots) != a->stored;
    a->dirty |= where;
    a->stored |= roots;
}

/* Bits that leak by where in memory an address lies. The root of root + index leaks nothing, nor does an
 * address in a window: only bits of the index count. */
static struct alias_value place_told(const struct step *s, const struct ptx_operand *address)
{
    struct alias_value v = { .kind = 0 };
    if (address && address->base == BASE_REG)
        v = *reg_of(s, address->index);
    bool elsewhere = v.roots && s->i->space != PTX_SPACE_GLOBAL && s->i->space != PTX_SPACE_GENERIC;
    if (!(v.kind & KIND_MIX) && !elsewhere)
        return (struct alias_value){ .kind = KIND_INDEX, .bits = v.bits, .down = v.bits };
    return launder(v);
}

/* What is loaded. An element of a table tells which one it is: bits of the address are bits of it. */
static struct alias_value from_memory(const struct step *s, const struct ptx_operand *address)
{
    unsigned bits = s->i->ntypes ? ptx_type_bits((enum ptx_type)s->i->type[0]) : 64;
    struct alias_value v = place_told(s, address);
    uint8_t dirty = s->a->dirty & places(s, address);
    uint64_t begun = held(s, address);
    if (dirty || begun) {
        v.kind = KIND_MIX;
        v.bits |= begun | (dirty & DIRTY_ALL ? s->a->stored : 0) | (dirty & DIRTY_PARAM ? ALIAS_ANY : 0);
    }
    v.down = v.bits;
    if (!(v.kind & KIND_MIX))
        v.kind = bits >= 64 ? KIND_DATA : KIND_INDEX;
    return v;
}

static unsigned element_bytes(const struct ptx_inst *i)
{
    return i->ntypes ? ptx_type_bits((enum ptx_type)i->type[0]) / 8 : 8;
}

/* Element e of a load from the parameter space. */
static struct alias_value from_param(const struct step *s, const struct ptx_operand *m, unsigned e)
{
    unsigned bytes = element_bytes(s->i);
    if (!m || m->base != BASE_SYM || !m->sym) /* at a computed place: any of them */
        return s->f->entry && !s->a->nroots ? (struct alias_value){ .kind = KIND_INDEX }
                                            : (struct alias_value){ KIND_ANYTHING };
    if (s->f->entry && alias_param_index(s->f, m->sym) >= 0)
        return alias_param_value(s->a, m->sym, alias_offset(m->imm, (uint64_t)e * bytes), bytes);
    const struct alias_slot *t = alias_slot(s->a, m->sym);
    if (!t)
        return (struct alias_value){ KIND_ANYTHING };
    struct alias_value v = bytes == 8 ? t->value : launder(t->value);
    v.bits |= s->a->indirect ? s->a->passed : 0; /* calls through a pointer may come to any function */
    v.down |= v.bits;
    return v;
}

static void load(const struct step *s)
{
    const struct ptx_operand *m = alias_address(s->i), *d = s->i->opnds;
    unsigned n = d->kind == OPND_VEC ? d->nelem : 1;
    for (unsigned e = 0; e < n; e++) {
        const struct ptx_operand *x = d->kind == OPND_VEC ? &d->elem[e] : d;
        if (x->kind == OPND_REG)
            join(s->a, reg_of(s, x->index),
                 s->i->space == PTX_SPACE_PARAM ? from_param(s, m, e) : from_memory(s, m));
    }
}

static void pass_on(struct alias *a, uint64_t bits)
{
    a->changed |= (bits & ~a->passed) != 0;
    a->passed |= bits;
}

static void store(const struct step *s)
{
    const struct ptx_operand *m = alias_address(s->i);
    struct alias_value v = { .kind = 0 };
    bool waits = false;
    for (uint8_t k = 0; k < s->i->nopnds; k++)
        if (&s->i->opnds[k] != m)
            gather(s, &s->i->opnds[k], &v, &waits);
    if (s->i->space == PTX_SPACE_PARAM) {
        struct alias_slot *t = m && m->base == BASE_SYM ? alias_slot(s->a, m->sym) : NULL;
        pass_on(s->a, bits_of(v));
        if (t)
            join(s->a, &t->value, element_bytes(s->i) == 8 ? v : launder(v));
        return;
    }
    struct alias_value where = place_told(s, m);
    if (v.roots || v.bits || (v.kind | where.kind) & KIND_MIX)
        soil(s->a, places(s, m) & DIRTY_ALL, bits_of(v) | where.bits);
}

/* Copies, and what else reads or writes memory by several operands. */
static void copy(const struct step *s)
{
    struct alias_value v = launder(all_read(s, 0, s->i->nopnds));
    for (uint8_t k = 0; k < s->i->nopnds; k++)
        if (s->i->opnds[k].kind == OPND_ADDR) {
            struct alias_value at = place_told(s, &s->i->opnds[k]);
            v.kind |= at.kind & KIND_MIX;
            v.bits |= at.bits;
        }
    if (v.kind & KIND_MIX || v.bits || s->a->dirty & DIRTY_GLOBAL)
        soil(s->a, DIRTY_SHARED, v.bits); /* tensor memory too */
    if (s->i->space == PTX_SPACE_GLOBAL || s->i->space == PTX_SPACE_GENERIC)
        if (v.kind & KIND_MIX || v.bits || s->a->dirty & DIRTY_ALL)
            soil(s->a, DIRTY_ALL, v.bits);
}

/* ---- calls ---- */
static void give(const struct step *s, const struct ptx_func *to, const struct ptx_operand *list)
{
    for (uint32_t k = 0; k < to->nparams; k++) {
        struct alias_slot *t = alias_slot(s->a, to->params[k]);
        const struct ptx_operand *o = list && k < list->nelem ? &list->elem[k] : NULL;
        const struct alias_slot *from = o && o->kind == OPND_SYM ? alias_slot(s->a, o->sym) : NULL;
        struct alias_value v = from ? from->value
                               : o && (o->kind == OPND_REG || o->kind == OPND_IMM)
                                   ? operand(s, o)
                                   : (struct alias_value){ KIND_ANYTHING };
        if (t)
            join(s->a, &t->value, v);
    }
}

/* Bits of what is handed over. */
static uint64_t handed(const struct step *s, const struct ptx_operand *list)
{
    uint64_t bits = 0;
    for (uint32_t k = 0; list && k < list->nelem; k++) {
        const struct ptx_operand *o = &list->elem[k];
        const struct alias_slot *from = o->kind == OPND_SYM ? alias_slot(s->a, o->sym) : NULL;
        struct alias_value v = from ? from->value : operand(s, o);
        bits |= bits_of(v);
    }
    return bits;
}

/* What the call's results are: of the function's k-th, or made from all that it can see. */
static void take(const struct step *s, const struct ptx_func *from, const struct ptx_operand *list,
                 uint64_t seen)
{
    for (uint16_t k = 0; list && k < list->nelem; k++) {
        const struct ptx_operand *o = &list->elem[k];
        const struct alias_slot *r = from && k < from->nrets ? alias_slot(s->a, from->rets[k]) : NULL;
        struct alias_value v =
            r ? r->value : (struct alias_value){ .kind = KIND_MIX, .bits = seen, .down = seen };
        struct alias_slot *t = o->kind == OPND_SYM ? alias_slot(s->a, o->sym) : NULL;
        if (t)
            join(s->a, &t->value, v);
        else if (o->kind == OPND_REG)
            join(s->a, reg_of(s, o->index), v);
    }
}

static void call(const struct step *s)
{
    const struct ptx_operand *rets = NULL, *args = NULL;
    bool named = false;
    struct str name;
    const struct ptx_func *to = alias_callee(s->i, &name);
    for (uint8_t k = 0; k < s->i->nopnds; k++) {
        const struct ptx_operand *o = &s->i->opnds[k];
        named |= o->kind == OPND_SYM || o->kind == OPND_REG;
        if (o->kind == OPND_MULTI && !named)
            rets = o;
        else if (o->kind == OPND_MULTI && !args)
            args = o;
    }
    if (to)
        give(s, to, args);
    else if (!alias_harmless_call(name))
        soil(s->a, DIRTY_ALL, handed(s, args));
    pass_on(s->a, handed(s, args));
    for (uint8_t k = 0; k < s->i->nopnds; k++) /* the function that is called */
        if (s->i->opnds[k].kind == OPND_REG)
            s->a->told |= operand(s, &s->i->opnds[k]).bits;
    take(s, to, rets, handed(s, args) | s->a->stored | s->a->passed);
}

/* ---- the instruction ---- */
static struct alias_value with_conditions(const struct step *s, struct alias_value v)
{
    if (ptx_is(s->i, IS_CARRY_IN | IS_CARRY_OUT)) {
        struct alias_value *cc = reg_of(s, s->f->nregs);
        join(s->a, cc, v);
        v.kind |= cc->kind & KIND_MIX;
        v.bits |= cc->bits;
        v.down |= cc->bits;
    }
    if (s->i->guarded && reg_of(s, s->i->guard)->kind & KIND_MIX &&
        v.kind & ~(KIND_MIX | KIND_WINDOW | KIND_STEPPED))
        v.kind |= KIND_MIX;
    return v;
}

/* Roots whose bits show in which way the thread goes, or in the time that it takes. */
static void tell(const struct step *s, enum ptx_effect e)
{
    if (s->i->guarded)
        s->a->told |= reg_of(s, s->i->guard)->bits;
    if (e != EFFECT_BRANCH && e != EFFECT_BARRIER && !ptx_is(s->i, IS_SLEEP))
        return;
    struct alias_value v = all_read(s, 0, s->i->nopnds);
    s->a->told |= bits_of(v);
}

/* An element of a texture or surface, of which the coordinates are told. */
static struct alias_value sampled(const struct step *s)
{
    struct alias_value v = launder(all_read(s, 0, s->i->nopnds));
    if (s->a->dirty & DIRTY_GLOBAL)
        return anything(s->a, v);
    v.kind = v.kind & KIND_MIX ? KIND_MIX : KIND_INDEX;
    return v;
}

void alias_step(struct alias *a, uint32_t at, const struct ptx_inst *i)
{
    struct step s = { a, at, i, a->func[at] };
    enum ptx_effect e = ptx_effect_of(i);
    struct alias_value v = { .kind = KIND_MIX };
    tell(&s, e);
    if (e == EFFECT_CALL) {
        call(&s);
        return;
    }
    if (e == EFFECT_STORE || e == EFFECT_ATOMIC)
        store(&s);
    if (e == EFFECT_ASYNC_COPY || e == EFFECT_TENSOR)
        copy(&s);
    if (ptx_is_opaque(i)) {
        v = anything(a, all_read(&s, 0, i->nopnds));
        soil(a, DIRTY_ALL, v.bits);
    } else if (e == EFFECT_LOAD && i->nopnds)
        load(&s);
    else if (e == EFFECT_ATOMIC)
        v = from_memory(&s, alias_address(i));
    else if (e == EFFECT_TEXTURE || e == EFFECT_SURFACE)
        v = sampled(&s);
    else
        v = made(&s);
    if (e == EFFECT_TENSOR && a->dirty & DIRTY_SHARED && !empty(v))
        v = both(v, (struct alias_value){ .kind = KIND_MIX, .bits = a->stored, .down = a->stored });
    if (e == EFFECT_SURFACE && v.kind & KIND_MIX)
        soil(a, DIRTY_GLOBAL, v.bits);
    if (e != EFFECT_LOAD) {
        v = with_conditions(&s, v);
        for (struct ptx_regs r = ptx_regs_of(i, PTX_READ | PTX_WRITE); ptx_next_reg(&r);)
            if (r.access & PTX_WRITE || ptx_is_opaque(i))
                join(a, reg_of(&s, r.reg), v);
    }
}
