/* The tables as arrays, and the small questions asked of them and of an instruction. */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx_int.h"

static const struct ptx_op_info op_table[PTX_OP_COUNT] = {
    [PTX_OP_OPAQUE] = { .name = "(opaque)",
                        .sig = "",
                        .types = "",
                        .mods = "",
                        .effect = EFFECT_OTHER,
                        .cls = CLASS_ALU,
                        .section = "" },
#define OP(id, nm, exec, ...) [PTX_OP_##id] = { .name = nm, __VA_ARGS__ },
#include "engine/ptx/ops.def"
#undef OP
};

static const struct {
    const char *text;
    enum ptx_mod_category cat;
} mod_table[PTX_MOD_COUNT] = {
    [PTX_MOD_NONE] = { "", MODCAT_FLAG },
#define MOD(id, text, cat) [PTX_MOD_##id] = { "." text, cat },
#include "engine/ptx/mods.def"
#undef MOD
};

static const struct {
    const char *name;
    uint8_t bits;
    bool vector;
    unsigned sees;
} sreg_table[PTX_SREG_COUNT] = {
    [PTX_SREG_NONE] = { .name = "" },
#define SREG(id, name, bits, vector, kind) [PTX_SREG_##id] = { name, bits, vector, PTX_SEES_##kind },
#include "engine/ptx/sregs.def"
#undef SREG
};

static const struct {
    const char *name;
    uint8_t bits;
    char kind;
} type_table[PTX_T_COUNT] = { [PTX_T_NONE] = { "", 0, 0 },
#define X(n, text, bits, kind) [PTX_T_##n] = { text, bits, kind },
                              PTX_TYPE_LIST(X)
#undef X
};

const struct ptx_op_info *ptx_op_info(unsigned op)
{
    return &op_table[(unsigned)op < PTX_OP_COUNT ? op : PTX_OP_OPAQUE];
}
const char *ptx_mod_text(enum ptx_mod m)
{
    return (unsigned)m < PTX_MOD_COUNT ? mod_table[m].text : "";
}
enum ptx_mod_category ptx_mod_category(enum ptx_mod m)
{
    return (unsigned)m < PTX_MOD_COUNT ? mod_table[m].cat : MODCAT_FLAG;
}
const char *ptx_sreg_name(enum ptx_sreg s)
{
    return (unsigned)s < PTX_SREG_COUNT ? sreg_table[s].name : "";
}
unsigned ptx_type_bits(enum ptx_type t)
{
    return (unsigned)t < PTX_T_COUNT ? type_table[t].bits : 0;
}
char ptx_type_kind(enum ptx_type t)
{
    return (unsigned)t < PTX_T_COUNT ? type_table[t].kind : 0;
}
const char *ptx_type_name(enum ptx_type t)
{
    return (unsigned)t < PTX_T_COUNT ? type_table[t].name : "";
}

unsigned ptx_sreg_bits(enum ptx_sreg s)
{
    return (unsigned)s < PTX_SREG_COUNT ? sreg_table[s].bits : 0;
}

bool ptx_sreg_is_vector(enum ptx_sreg s)
{
    return (unsigned)s < PTX_SREG_COUNT && sreg_table[s].vector;
}

enum ptx_type ptx_type_find(struct str name)
{
    for (int t = 1; t < PTX_T_COUNT; t++)
        if (str_is(name, type_table[t].name))
            return (enum ptx_type)t;
    return PTX_T_NONE;
}

/* The lexer's keyword maps come from the tables, so a new row is a new keyword. */
void ptx_words_init(struct ptx_parser *p)
{
    for (uint32_t i = 1; i < PTX_OP_COUNT; i++)
        strmap_set(&p->ops, str_of(op_table[i].name), i);
    for (uint32_t i = 1; i < PTX_MOD_COUNT; i++)
        strmap_set(&p->mods, str_of(mod_table[i].text + 1), i);
    for (uint32_t i = 1; i < PTX_SREG_COUNT; i++)
        strmap_set(&p->sregs, str_of(sreg_table[i].name), i);
    p->oom = p->oom || p->ops.oom || p->mods.oom || p->sregs.oom;
}

/* ---- questions about an instruction ---- */
bool ptx_is_global_load(const struct ptx_inst *i)
{
    return i->op == PTX_OP_LD && i->space == PTX_SPACE_GLOBAL;
}

bool ptx_is_opaque(const struct ptx_inst *i)
{
    return i->op == PTX_OP_OPAQUE;
}

bool ptx_has_mod(const struct ptx_inst *i, enum ptx_mod m)
{
    for (unsigned k = 0; k < i->nmods; k++)
        if (i->mods[k] == m)
            return true;
    return false;
}

enum ptx_mod ptx_mod_of(const struct ptx_inst *i, enum ptx_mod_category c)
{
    bool compare = i->op == PTX_OP_SET || i->op == PTX_OP_SETP;
    for (unsigned k = 0; k < i->nmods; k++) {
        enum ptx_mod m = (enum ptx_mod)i->mods[k];
        enum ptx_mod_category has = mod_table[m].cat;
        if (has == MODCAT_BOOL && !compare && c == MODCAT_ATOM) /* atom.and: the word is shared */
            return m;
        if (has == c)
            return m;
    }
    return PTX_MOD_NONE;
}

unsigned ptx_operand_access(const struct ptx_inst *i, unsigned k)
{
    return k < i->nopnds ? i->opnds[k].access : 0;
}

struct ptx_regs ptx_regs_of(const struct ptx_inst *i, unsigned want)
{
    return (struct ptx_regs){ .i = i, .want = want, .guard = i->guarded };
}

static bool is_list(const struct ptx_operand *o)
{
    return o->kind == OPND_VEC || o->kind == OPND_MULTI;
}

/* The next that is no list. Lists nest two deep at most: [a, {b, c}]. */
static const struct ptx_operand *next_operand(struct ptx_regs *r)
{
    while (r->at[0] < r->i->nopnds) {
        const struct ptx_operand *o = &r->i->opnds[r->at[0]];
        if (!is_list(o)) {
            r->at[0]++;
            return o;
        }
        const struct ptx_operand *x = r->at[1] < o->nelem ? &o->elem[r->at[1]] : NULL;
        if (x && is_list(x) && r->at[2] < x->nelem)
            return &x->elem[r->at[2]++];
        r->at[2] = 0;
        r->at[1] = x ? r->at[1] + 1 : 0;
        r->at[0] += !x;
        if (x && !is_list(x))
            return x;
    }
    return NULL;
}

bool ptx_next_reg(struct ptx_regs *r)
{
    const struct ptx_operand *o;
    if (r->guard) {
        r->guard = false;
        r->reg = r->i->guard;
        r->access = PTX_READ;
        if (r->want & PTX_READ)
            return true;
    }
    while ((o = next_operand(r))) {
        r->reg = o->index;
        r->access = o->kind == OPND_REG                           ? o->access
                    : o->kind == OPND_ADDR && o->base == BASE_REG ? PTX_READ
                                                                  : 0;
        if (r->access & r->want)
            return true;
    }
    return false;
}

unsigned ptx_reg_access(const struct ptx_inst *i, uint32_t reg)
{
    unsigned access = 0;
    for (struct ptx_regs r = ptx_regs_of(i, PTX_READ | PTX_WRITE); ptx_next_reg(&r);)
        access |= r.reg == reg ? r.access : 0;
    return access;
}

unsigned ptx_sreg_sees(enum ptx_sreg s)
{
    return s < PTX_SREG_COUNT ? sreg_table[s].sees : 0;
}
