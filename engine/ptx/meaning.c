/* What an instruction computes, from the columns of its row. See meaning.h. */
#include "engine/ptx/meaning.h"

#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"

#include <stdio.h>
#include <string.h>

/* ---- what it is ---- */
bool ptx_is(const struct ptx_inst *i, unsigned traits)
{
    return (ptx_op_info(i->op)->is & traits) != 0;
}

enum ptx_effect ptx_effect_of(const struct ptx_inst *i)
{
    return ptx_op_info(i->op)->effect;
}

enum ptx_role ptx_role_of(const struct ptx_inst *i)
{
    return ptx_op_info(i->op)->role;
}

bool ptx_is_exact(const struct ptx_inst *i)
{
    const char *mods = ptx_op_info(i->op)->mods;
    return i->ntypes && i->type[0] == PTX_T_F32 && mods && strstr(mods, "approx") &&
           !ptx_has_mod(i, PTX_MOD_APPROX) && !ptx_has_mod(i, PTX_MOD_FULL);
}

bool ptx_is_plain_load(const struct ptx_inst *i)
{
    return ptx_is(i, IS_PLAIN) && ptx_effect_of(i) == EFFECT_LOAD;
}

bool ptx_is_plain_store(const struct ptx_inst *i)
{
    return ptx_is(i, IS_PLAIN) && ptx_effect_of(i) == EFFECT_STORE;
}

bool ptx_is_param_load(const struct ptx_inst *i)
{
    return ptx_is_plain_load(i) && i->space == PTX_SPACE_PARAM;
}

/* The rule of the row, whatever the words: b128 and vectors move too. */
bool ptx_is_move(const struct ptx_inst *i)
{
    return ptx_op_info(i->op)->addr == ADDR_COPY;
}

/* The rule of the row, which is that of whole numbers, here of floats. */
bool ptx_is_float_sign(const struct ptx_inst *i)
{
    enum ptx_addr_rule rule = ptx_op_info(i->op)->addr;
    return (rule == ADDR_NEG || rule == ADDR_ABS) && i->ntypes &&
           ptx_type_kind((enum ptx_type)i->type[0]) == 'f';
}

bool ptx_is_address_cast(const struct ptx_inst *i)
{
    return ptx_op_info(i->op)->addr == ADDR_CVTA;
}

bool ptx_ends_thread(const struct ptx_inst *i)
{
    return ptx_is(i, IS_RETURN | IS_STOP);
}

bool ptx_is_strong(const struct ptx_inst *i)
{
    for (unsigned k = 0; k < i->nmods; k++) {
        enum ptx_mod m = (enum ptx_mod)i->mods[k];
        if ((ptx_mod_category(m) == MODCAT_SEM && m != PTX_MOD_WEAK) || m == PTX_MOD_CV ||
            m == PTX_MOD_WT)
            return true;
    }
    return false;
}

bool ptx_reads_constant_memory(const struct ptx_inst *i)
{
    return ptx_is(i, IS_READ_ONLY) || (ptx_is_plain_load(i) && ptx_has_mod(i, PTX_MOD_NC));
}

bool ptx_is_atomic_op(const struct ptx_inst *i, enum ptx_mod op)
{
    return ptx_effect_of(i) == EFFECT_ATOMIC && ptx_has_mod(i, op);
}

unsigned ptx_sees(const struct ptx_inst *i)
{
    unsigned sees = 0;
    for (unsigned k = 0; k < i->nopnds; k++)
        if (i->opnds[k].kind == OPND_SREG)
            sees |= ptx_sreg_sees((enum ptx_sreg)i->opnds[k].index);
    return sees;
}

unsigned ptx_flops(const struct ptx_inst *i)
{
    char kind = i->ntypes ? ptx_type_kind((enum ptx_type)i->type[0]) : 0;
    return kind == 'f' || kind == 'x' ? ptx_op_info(i->op)->flops : 0;
}

bool ptx_is_pure(const struct ptx_inst *i)
{
    return ptx_effect_of(i) == EFFECT_NONE && !ptx_is_opaque(i) && i->op != PTX_OP_STACKSAVE &&
           !ptx_is(i, IS_CARRY_IN | IS_REMOTE);
}

/* ---- the rule of its row ---- */
/* Operands with which a rule holds; LOAD and PRED look at theirs by themselves. */
static unsigned operands_of(enum ptx_addr_rule rule)
{
    switch (rule) {
    case ADDR_UNKNOWN:
    case ADDR_LOAD:
    case ADDR_PRED: return 0;
    case ADDR_COPY:
    case ADDR_NOT:
    case ADDR_NEG:
    case ADDR_CVT:
    case ADDR_CVTA:
    case ADDR_ABS: return 2;
    case ADDR_MAD_LO:
    case ADDR_MAD_WIDE:
    case ADDR_SELP:
    case ADDR_BFE:
    case ADDR_SHF_L:
    case ADDR_SHF_R:
    case ADDR_PRMT: return 4;
    case ADDR_BFI:
    case ADDR_LOP3: return 5;
    default: return 3;
    }
}

static bool is_listed(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *w = words; w && *w; w += strspn(w, " ")) {
        size_t k = strcspn(w, " ");
        if (k == n && memcmp(w, word, n) == 0)
            return true;
        w += k;
    }
    return false;
}

/* Words that say of what type, where, in which order and by which test, and nothing about the result. */
static bool keeps_rule(const struct ptx_op_info *row, enum ptx_mod m)
{
    switch (ptx_mod_category(m)) {
    case MODCAT_TYPE:
    case MODCAT_SPACE:
    case MODCAT_CMP:
    case MODCAT_BOOL: return true;
    default: return is_listed(row->keeps, ptx_mod_text(m) + 1);
    }
}

/* Rules of whole numbers say nothing of floats; those that move bits do. */
static bool fits_types(enum ptx_addr_rule rule, const struct ptx_inst *i)
{
    bool moves = rule == ADDR_COPY || rule == ADDR_SELP;
    for (unsigned k = 0; k < i->ntypes; k++) {
        char kind = ptx_type_kind((enum ptx_type)i->type[k]);
        bool whole = kind == 'b' || kind == 'u' || kind == 's' || kind == 'p';
        if (ptx_type_bits((enum ptx_type)i->type[k]) > 64 || (!whole && !moves))
            return false;
    }
    return i->ntypes > 0;
}

enum ptx_addr_rule ptx_rule_of(const struct ptx_inst *i)
{
    const struct ptx_op_info *row = ptx_op_info(i->op);
    unsigned n = operands_of(row->addr);
    if (row->addr == ADDR_LOAD || row->addr == ADDR_PRED)
        return row->addr;
    if (!n || i->nopnds != n || !fits_types(row->addr, i))
        return ADDR_UNKNOWN;
    for (unsigned k = 0; k < i->nmods; k++)
        if (!keeps_rule(row, (enum ptx_mod)i->mods[k]))
            return ADDR_UNKNOWN;
    return row->addr;
}

/* ---- sums ---- */
static unsigned bits_at(const struct ptx_inst *i, unsigned k)
{
    return ptx_type_bits((enum ptx_type)i->type[k]);
}

/* Fewer than 32 bits come back to where they began after a few steps. */
static bool is_narrow(const struct ptx_inst *i)
{
    for (unsigned k = 0; k < i->ntypes; k++)
        if (bits_at(i, k) < 32)
            return true;
    return false;
}

static void put(struct ptx_sum *s, const struct ptx_operand *a, const struct ptx_operand *b, bool minus)
{
    s->term[s->n++] = (struct ptx_term){ .a = a, .b = b, .minus = minus };
}

bool ptx_sum_of(const struct ptx_inst *i, struct ptx_sum *out)
{
    enum ptx_addr_rule rule = ptx_rule_of(i);
    const struct ptx_operand *o = i->opnds;
    *out = (struct ptx_sum){ 0 };
    if (i->guarded || rule == ADDR_UNKNOWN || rule == ADDR_LOAD || rule == ADDR_PRED ||
        o[0].kind != OPND_REG || is_narrow(i))
        return false;
    out->bits = (uint8_t)bits_at(i, 0);
    switch (rule) {
    case ADDR_CVT:
        out->widens = bits_at(i, 1) < bits_at(i, 0);
        out->cuts = bits_at(i, 1) > bits_at(i, 0);
        put(out, &o[1], NULL, false);
        return true;
    case ADDR_COPY:
    case ADDR_CVTA: put(out, &o[1], NULL, false); return true;
    case ADDR_NEG: put(out, &o[1], NULL, true); return true;
    case ADDR_ADD:
    case ADDR_SUB:
        put(out, &o[1], NULL, false);
        put(out, &o[2], NULL, rule == ADDR_SUB);
        return true;
    case ADDR_SHL:
    case ADDR_MUL_LO: put(out, &o[1], &o[2], false); break;
    case ADDR_MUL_WIDE: put(out, &o[1], &o[2], false); break;
    case ADDR_MAD_LO:
    case ADDR_MAD_WIDE:
        put(out, &o[1], &o[2], false);
        put(out, &o[3], NULL, false);
        break;
    default: return false;
    }
    out->term[0].shift = rule == ADDR_SHL;
    out->widens = rule == ADDR_MUL_WIDE || rule == ADDR_MAD_WIDE;
    out->bits = (uint8_t)(out->widens ? 2 * out->bits : out->bits);
    return true;
}

const struct ptx_operand *ptx_copied(const struct ptx_inst *i)
{
    struct ptx_sum s;
    enum ptx_addr_rule rule = ptx_rule_of(i);
    if (i->guarded || (rule != ADDR_COPY && rule != ADDR_CVT) || i->opnds[0].kind != OPND_REG)
        return NULL;
    return rule == ADDR_COPY || (ptx_sum_of(i, &s) && !s.cuts) ? &i->opnds[1] : NULL;
}

bool ptx_offset_of(const struct ptx_inst *i, const struct ptx_operand **from, int64_t *number)
{
    struct ptx_sum s;
    *from = NULL;
    *number = 0;
    if (ptx_is_address_cast(i) || !ptx_sum_of(i, &s) || s.cuts || s.widens)
        return false;
    uint64_t sum = 0;
    for (unsigned k = 0; k < s.n; k++) {
        const struct ptx_term *t = &s.term[k];
        uint64_t v = ptx_is_number(t->a) ? (uint64_t)t->a->imm : 0;
        if (t->b || (!ptx_is_number(t->a) && (*from || t->minus)))
            return false;
        *from = ptx_is_number(t->a) ? *from : t->a;
        sum += t->minus ? 0 - v : v;
    }
    *number = (int64_t)sum;
    return *from != NULL;
}

bool ptx_step_of(const struct ptx_inst *i, uint32_t *reg, int64_t *by)
{
    const struct ptx_operand *from;
    if (!ptx_offset_of(i, &from, by) || ptx_copied(i))
        return false;
    *reg = i->opnds[0].index;
    return from->kind == OPND_REG && from->index == *reg;
}

enum ptx_addr_rule ptx_row_rule(const struct ptx_inst *i)
{
    return ptx_op_info(i->op)->addr;
}

bool ptx_is_float_product(const struct ptx_inst *i)
{
    return i->op == PTX_OP_MUL;
}

/* ---- comparisons and ranges ---- */
bool ptx_test_of(const struct ptx_inst *i, struct ptx_test *out)
{
    unsigned first = i->nopnds > 1 && (i->opnds[1].access & PTX_WRITE) ? 2 : 1;
    enum ptx_mod with = ptx_mod_of(i, MODCAT_BOOL);
    unsigned n = first + (with == PTX_MOD_NONE ? 2 : 3);
    if (i->op != PTX_OP_SETP || i->nopnds != n || !fits_types(ADDR_PRED, i))
        return false;
    *out = (struct ptx_test){ .how = ptx_mod_of(i, MODCAT_CMP),
                              .a = &i->opnds[first],
                              .b = &i->opnds[first + 1],
                              .bits = (uint8_t)bits_at(i, 0),
                              .sign = ptx_type_kind((enum ptx_type)i->type[0]) == 's',
                              .with = with,
                              .other = with == PTX_MOD_NONE ? NULL : &i->opnds[first + 2] };
    return true;
}

bool ptx_compared(const struct ptx_inst *i, const struct ptx_operand **a, const struct ptx_operand **b)
{
    unsigned k = 0;
    while (k < i->nopnds && ptx_operand_access(i, k) == PTX_WRITE)
        k++;
    if (ptx_role_of(i) != ROLE_COMPARE || k + 2 > i->nopnds)
        return false;
    *a = &i->opnds[k];
    *b = &i->opnds[k + 1];
    return true;
}

bool ptx_comparison_of(const struct ptx_inst *i, struct ptx_comparison *out)
{
    struct ptx_test t;
    if (!ptx_test_of(i, &t) || i->guarded || t.other || i->nopnds != 3 || i->opnds[0].kind != OPND_REG)
        return false;
    *out = (struct ptx_comparison){ i->opnds[0].index, t.how, t.a, t.b, t.bits };
    return true;
}

bool ptx_is_number(const struct ptx_operand *o)
{
    return o->kind == OPND_IMM && !o->is_float;
}

/* An unsigned number below 2^bits. */
static bool below(unsigned bits, uint64_t *lo, uint64_t *hi)
{
    *lo = 0;
    *hi = bits && bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    return bits && bits < 64;
}

/* Of the first element; 0: a register holds several. */
static unsigned loaded_bits(const struct ptx_inst *i)
{
    return ptx_is(i, IS_FRAGMENT) || !i->ntypes ? 0 : bits_at(i, i->ntypes - 1u);
}

bool ptx_range_of(const struct ptx_inst *i, uint64_t *lo, uint64_t *hi)
{
    enum ptx_addr_rule rule = ptx_rule_of(i);
    char kind = i->ntypes ? ptx_type_kind((enum ptx_type)i->type[0]) : 0;
    bool known = i->nopnds > 2 && ptx_is_number(&i->opnds[2]) && i->opnds[2].imm >= 0;
    *lo = 0;
    *hi = known ? (uint64_t)i->opnds[2].imm : UINT64_MAX;
    switch (rule) {
    case ADDR_PRED: return below(1, lo, hi);
    case ADDR_LOAD: return kind != 's' && loaded_bits(i) && below(loaded_bits(i), lo, hi);
    case ADDR_AND: return known;
    case ADDR_REM: *hi -= known && *hi; return known && *hi && kind == 'u';
    case ADDR_MIN: return known && kind == 'u';
    case ADDR_CVT: /* a signed result that is not wider may be negative, in a wider register too */
        return ptx_type_kind((enum ptx_type)i->type[1]) != 's' &&
               (kind != 's' || bits_at(i, 0) > bits_at(i, 1)) && below(bits_at(i, 1), lo, hi);
    default: break;
    }
    *hi = i->ntypes ? bits_at(i, 0) : 0;
    return ptx_op_info(i->op)->range == RANGE_BITS;
}

/* ---- operands ---- */
uint32_t ptx_wgmma_adds(const struct ptx_inst *i)
{
    uint32_t k = i->op == PTX_OP_WGMMA_MMA_ASYNC_SP ? 5 : 3;
    return ptx_is(i, IS_WGMMA) && i->nopnds > k ? k : PTX_NO_INDEX;
}

const struct ptx_operand *ptx_named_lanes(const struct ptx_inst *i)
{
    bool sync = i->op == PTX_OP_BAR_WARP_SYNC ||
                (ptx_effect_of(i) == EFFECT_WARP && ptx_has_mod(i, PTX_MOD_SYNC));
    return sync && i->nopnds ? &i->opnds[i->nopnds - 1] : NULL;
}

bool ptx_chooses_lanes(const struct ptx_inst *i)
{
    return i->op == PTX_OP_ACTIVEMASK || i->op == PTX_OP_MATCH ||
           (i->op == PTX_OP_VOTE && ptx_has_mod(i, PTX_MOD_BALLOT));
}

uint64_t ptx_divides(const struct ptx_inst *i, const struct ptx_operand **a)
{
    bool whole = !i->guarded && i->nopnds == 3 && i->opnds[2].kind == OPND_IMM && i->opnds[2].imm > 0 &&
                 i->ntypes;
    bool sign = whole && ptx_type_kind((enum ptx_type)i->type[0]) == 's';
    *a = whole ? &i->opnds[1] : NULL;
    if (whole && i->op == PTX_OP_SHR && i->opnds[2].imm < 32)
        return (uint64_t)1 << i->opnds[2].imm;
    return whole && !sign && i->op == PTX_OP_DIV ? (uint64_t)i->opnds[2].imm : 0;
}

bool ptx_writes_reg(const struct ptx_inst *i, uint32_t reg)
{
    return ptx_reg_access(i, reg) & PTX_WRITE;
}

bool ptx_shape_of(const struct ptx_inst *i, unsigned *m, unsigned *n, unsigned *k)
{
    for (unsigned q = 0; q < i->nmods; q++)
        if (ptx_mod_category((enum ptx_mod)i->mods[q]) == MODCAT_SHAPE &&
            sscanf(ptx_mod_text((enum ptx_mod)i->mods[q]), ".m%un%uk%u", m, n, k) == 3)
            return true;
    return false;
}

unsigned ptx_times_of(const struct ptx_inst *i)
{
    unsigned times = 0;
    for (unsigned q = 0; q < i->nmods; q++)
        if (sscanf(ptx_mod_text((enum ptx_mod)i->mods[q]), ".x%u", &times) == 1)
            return times;
    return 0;
}

/* ---- names ---- */
uint32_t ptx_find_reg(const struct ptx_func *f, struct str name)
{
    for (uint32_t r = 0; r < f->nregs; r++)
        if (str_eq(f->regs[r].name, name))
            return r;
    return PTX_NO_INDEX;
}

uint32_t ptx_named_reg(const struct ptx_func *f, const struct ptx_inst *i, struct str name)
{
    uint32_t found = PTX_NO_INDEX;
    for (struct ptx_regs r = ptx_regs_of(i, PTX_READ | PTX_WRITE); ptx_next_reg(&r);)
        found = str_eq(f->regs[r.reg].name, name) ? r.reg : found;
    return found;
}

static bool names_variable(const struct ptx_operand *o, struct str name)
{
    if (o->kind == OPND_VEC || o->kind == OPND_MULTI) { /* lists nest two deep at most */
        for (unsigned k = 0; k < o->nelem; k++)
            if (names_variable(&o->elem[k], name))
                return true;
        return false;
    }
    bool sym = o->kind == OPND_SYM || (o->kind == OPND_ADDR && o->base == BASE_SYM);
    return sym && o->sym && o->sym->kind == SYM_VAR && str_eq(o->sym->name, name);
}

bool ptx_names_value(const struct ptx_func *f, const struct ptx_inst *i, struct str name)
{
    bool found = ptx_named_reg(f, i, name) != PTX_NO_INDEX;
    for (uint8_t k = 0; k < i->nopnds && !found; k++)
        found = names_variable(&i->opnds[k], name);
    return found;
}

const char *ptx_sreg_word(enum ptx_sreg s)
{
    const char *name = ptx_sreg_name(s);
    return *name ? name + 1 : name;
}
