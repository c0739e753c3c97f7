/* Operands to slots: registers, broadcast constants, special registers, symbols, addresses. */
#include "engine/sim/decode/decode.h"

#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/exec/sreg.h"
#include "engine/sim/key.h"
#include "engine/sim/windows.h"

#include <stdio.h>
#include <string.h>

bool decode_why(struct decode *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(d->why, sizeof d->why, fmt, ap);
    va_end(ap);
    return false;
}
bool decode_no_ptx(struct decode *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(d->why, sizeof d->why, fmt, ap);
    va_end(ap);
    d->no_ptx = true;
    return false;
}

void *decode_keep(struct decode *d, const void *x, size_t n)
{
    void *copy = arena_alloc(d->p->arena, n);
    if (copy)
        memcpy(copy, x, n);
    else
        d->oom = true;
    return copy;
}

bool decode_more(struct decode *d, struct exec_inst *in, const void *x, size_t n)
{
    return (in->x = decode_keep(d, x, n)) != NULL;
}

bool decode_whole(struct decode *d, struct exec_inst *in, exec_fn *fn, const void *x, size_t n)
{
    in->fn = fn;
    in->kind = EXEC_SYNC;
    return decode_const_slot(d, EXEC_FULL, 4, &in->d) && decode_more(d, in, x, n);
}

/* ---- reachable functions ---- */
uint32_t decode_func_index(struct decode *d, const struct ptx_func *f)
{
    return f && f->def ? d->place[f->def->index] : EXEC_NO_ID;
}

uint64_t decode_func_handle(const struct ptx_func *f)
{
    return f && f->def ? FUNC_WINDOW + 16ull * (1 + f->def->index) : 0;
}

unsigned decode_bytes(enum ptx_type t)
{
    unsigned bits = ptx_type_bits(t);
    return bits <= 32 ? 4 : bits <= 64 ? 8 : 16;
}

uint32_t decode_reg_slot(struct decode *d, uint32_t reg, int comp)
{
    if (d->nasked < ARRAY_LEN(d->asked))
        d->asked[d->nasked++] = reg;
    const struct ptx_reg *r = &d->pf->regs[reg];
    unsigned step = r->type == PTX_T_PRED ? 4 : decode_bytes(r->type) * WARP_LANES;
    return d->f->reg_slot[reg] + (comp > 0 ? (uint32_t)comp * step : 0);
}

unsigned decode_reg_bits(const struct decode *d, const struct ptx_operand *o)
{
    return o->kind == OPND_REG ? ptx_type_bits(d->pf->regs[o->index].type) : 0;
}

bool decode_is_imm(const struct ptx_operand *o, int64_t *v)
{
    *v = o->imm;
    return o->kind == OPND_IMM;
}

/* ---- constants ---- */
static struct decode_const *const_find(struct decode *d, uint64_t bits, unsigned bytes)
{
    uint64_t h = (bits ^ bytes) * 0x9e3779b97f4a7c15ull;
    for (uint32_t i = (uint32_t)(h >> 32);; i++) {
        struct decode_const *c = &d->table[i & (d->cap_table - 1)];
        if (!c->used || (c->bits == bits && c->bytes == bytes))
            return c;
    }
}

static bool const_grow(struct decode *d)
{
    uint32_t cap = d->cap_table ? d->cap_table * 2 : 256;
    struct decode_const *old = d->table, *now = base_alloc(cap * sizeof *now);
    uint32_t n = d->cap_table;
    if (!now)
        return false;
    d->table = now;
    d->cap_table = cap;
    for (uint32_t i = 0; i < n; i++)
        if (old[i].used)
            *const_find(d, old[i].bits, old[i].bytes) = old[i];
    base_free(old);
    return true;
}

static bool const_room(struct decode *d, uint32_t bytes)
{
    if (d->nconst + bytes <= d->cap_const)
        return true;
    uint32_t cap = (d->cap_const ? d->cap_const * 2 : 16384) + bytes;
    uint8_t *now = base_realloc(d->consts, cap);
    if (!now)
        return false;
    d->consts = now;
    d->cap_const = cap;
    return true;
}

/* bytes 1 stands for a predicate: one word, all lanes alike. */
bool decode_const_slot(struct decode *d, uint64_t bits, unsigned bytes, uint32_t *slot)
{
    uint32_t size = bytes == 1 ? 128 : bytes * WARP_LANES;
    if ((d->ntable * 2 >= d->cap_table && !const_grow(d)) || !const_room(d, size)) {
        d->oom = true;
        return false;
    }
    struct decode_const *c = const_find(d, bits, bytes);
    if (!c->used) {
        *c = (struct decode_const){ bits, d->nconst | BANK_CONST, (uint8_t)bytes, true };
        d->ntable++;
        for (unsigned i = 0; i < WARP_LANES; i++) {
            if (bytes >= 8)
                memcpy(d->consts + d->nconst + i * 8, &bits, 8);
            else
                memcpy(d->consts + d->nconst + i * 4, &(uint32_t){ (uint32_t)bits }, 4);
        }
        if (bytes == 16)
            memset(d->consts + d->nconst + 256, 0, 256);
        d->nconst += size;
    }
    *slot = c->slot;
    return true;
}

/* The bits an immediate has as a value of `bytes`. */
static uint64_t imm_bits(const struct ptx_operand *o, unsigned bytes)
{
    if (!o->is_float)
        return bytes == 4 ? (uint32_t)o->imm : (uint64_t)o->imm;
    if (o->fbits == 64 && bytes == 4) {
        double x;
        float f;
        memcpy(&x, &o->imm, 8);
        f = (float)x;
        uint32_t u;
        memcpy(&u, &f, 4);
        return u;
    }
    if (o->fbits == 32 && bytes == 8) {
        uint32_t u = (uint32_t)o->imm;
        float f;
        memcpy(&f, &u, 4);
        double x = f;
        uint64_t r;
        memcpy(&r, &x, 8);
        return r;
    }
    return bytes == 4 ? (uint32_t)o->imm : (uint64_t)o->imm;
}

/* ---- special registers, and parameters that are kept as they are ---- */
static bool kept_slot(struct decode *d, struct exec_sreg want, enum exec_bank bank, uint32_t *slot)
{
    struct sim_program *p = d->p;
    for (uint32_t i = 0; i < p->nsregs; i++)
        if (p->sregs[i].sreg == want.sreg && p->sregs[i].comp == want.comp &&
            p->sregs[i].bytes == want.bytes && p->sregs[i].param == want.param) {
            *slot = p->sregs[i].slot;
            return true;
        }
    if (p->nsregs == d->cap_sregs) {
        uint32_t cap = d->cap_sregs ? d->cap_sregs * 2 : 16;
        struct exec_sreg *now = ARENA_ARRAY(p->arena, struct exec_sreg, cap);
        if (!now) {
            d->oom = true;
            return false;
        }
        if (p->nsregs)
            memcpy(now, p->sregs, p->nsregs * sizeof *now);
        p->sregs = now;
        d->cap_sregs = cap;
    }
    *slot = want.slot = p->sreg_bytes[bank] | bank;
    p->sregs[p->nsregs++] = want;
    p->sreg_bytes[bank] += want.bytes * WARP_LANES;
    return true;
}

static bool sreg_slot(struct decode *d, const struct ptx_operand *o, unsigned bytes, uint32_t *slot)
{
    if (o->index >= PTX_SREG_RESERVED_SMEM_OFFSET_BEGIN && o->index <= PTX_SREG_RESERVED_SMEM_OFFSET_1)
        return decode_why(d, "shared memory that the driver reserves (%s)",
                          ptx_sreg_name((enum ptx_sreg)o->index));
    return kept_slot(
        d, (struct exec_sreg){ .sreg = (uint16_t)o->index, .comp = o->comp, .bytes = (uint8_t)bytes },
        exec_sreg_bank(o->index), slot);
}

bool decode_param_slot(struct decode *d, uint32_t offset, unsigned bytes, uint32_t *slot)
{
    return kept_slot(
        d, (struct exec_sreg){ .sreg = PTX_SREG_NONE, .bytes = (uint8_t)bytes, .param = offset },
        BANK_SREG, slot);
}

/* ---- symbols ---- */
static bool local_symbol(struct decode *d, const struct ptx_symbol *s, uint64_t *addr)
{
    for (uint32_t i = 0; i < d->pf->nvars; i++)
        if (d->pf->vars[i] == s) {
            *addr = d->f->var_off[i];
            return true;
        }
    for (uint32_t i = 0; i < d->pf->nrets; i++)
        if (d->pf->rets[i] == s) {
            *addr = d->f->param_off[i];
            return true;
        }
    for (uint32_t i = 0; i < d->pf->nparams; i++)
        if (d->pf->params[i] == s) {
            *addr = d->pf->entry ? s->offset : d->f->param_off[d->pf->nrets + i];
            return true;
        }
    return false;
}

bool decode_symbol(struct decode *d, const struct ptx_symbol *s, uint64_t *addr, bool *frame)
{
    *frame = false;
    if (s->kind == SYM_FUNC) {
        uint32_t k = decode_func_index(d, s->func);
        *addr = decode_func_handle(s->func);
        return k != EXEC_NO_ID ||
               decode_why(d, "function '%.*s' has no body", (int)s->name.n, s->name.s);
    }
    for (uint32_t i = 0; i < d->p->nsymbols; i++)
        if (d->p->symbols[i].sym == s) {
            *addr = d->p->symbols[i].addr;
            return true;
        }
    if (!local_symbol(d, s, addr))
        return decode_why(d, "'%.*s' is defined elsewhere", (int)s->name.n, s->name.s);
    *frame = s->space == PTX_SPACE_LOCAL ||
             (s->space == PTX_SPACE_PARAM && !(d->pf->entry && s->stmt == PTX_NO_INDEX));
    return true;
}

/* ---- sources and destinations ---- */
static bool reg_width_ok(struct decode *d, const struct ptx_operand *o, unsigned bytes)
{
    const struct ptx_reg *r = &d->pf->regs[o->index];
    if (o->comp > 3)
        return decode_why(d, "selector of bytes or halves");
    if (r->type == PTX_T_PRED)
        return decode_why(d, "predicate register used as a value");
    return decode_bytes(r->type) == bytes ||
           decode_why(d, "register %.*s does not have the width of the operand", (int)r->name.n,
                      r->name.s);
}

bool decode_src(struct decode *d, const struct ptx_operand *o, unsigned bytes, uint32_t *slot)
{
    uint64_t addr;
    bool frame;
    switch (o->kind) {
    case OPND_REG: *slot = decode_reg_slot(d, o->index, o->comp); return reg_width_ok(d, o, bytes);
    case OPND_IMM: return decode_const_slot(d, imm_bits(o, bytes), bytes, slot);
    case OPND_SREG: return sreg_slot(d, o, bytes, slot);
    case OPND_SYM:
        if (!decode_symbol(d, o->sym, &addr, &frame))
            return false;
        if (frame)
            return decode_why(d, "address of a local variable used other than by mov");
        addr += (uint64_t)o->imm;
        return decode_const_slot(d, bytes == 4 ? (uint32_t)addr : addr, bytes, slot);
    default: return decode_why(d, "operand of a kind that is not modelled here");
    }
}

bool decode_dst(struct decode *d, const struct ptx_operand *o, unsigned bytes, uint32_t *slot)
{
    *slot = EXEC_NO_ID;
    if (o->kind == OPND_SINK)
        return true;
    if (o->kind != OPND_REG)
        return decode_why(d, "destination is not a register");
    *slot = decode_reg_slot(d, o->index, o->comp);
    return reg_width_ok(d, o, bytes);
}

const struct ptx_operand *decode_elements(const struct ptx_operand *o, unsigned *n)
{
    *n = o->kind == OPND_VEC ? o->nelem : 1;
    return o->kind == OPND_VEC ? o->elem : o;
}

bool decode_list(struct decode *d, const struct ptx_operand *o, unsigned n, unsigned bytes, bool write,
                 uint32_t *slot)
{
    for (unsigned k = 0; k < n; k++)
        if (!(write ? decode_dst(d, &o[k], bytes, &slot[k]) : decode_src(d, &o[k], bytes, &slot[k])))
            return false;
    return true;
}

bool decode_pred(struct decode *d, const struct ptx_operand *o, uint32_t *slot, bool *neg)
{
    *neg = o->neg;
    if (o->kind == OPND_SINK) {
        *slot = EXEC_NO_ID;
        return true;
    }
    if (o->kind == OPND_IMM)
        return decode_const_slot(d, o->imm ? EXEC_FULL : 0, 1, slot);
    if (o->kind != OPND_REG || d->pf->regs[o->index].type != PTX_T_PRED)
        return decode_why(d, "operand is not a predicate");
    *slot = decode_reg_slot(d, o->index, o->comp);
    return true;
}

/* ---- addresses ---- */
bool decode_address(struct decode *d, const struct ptx_operand *o, enum ptx_space space,
                    struct exec_inst *in)
{
    uint64_t addr = 0;
    bool frame = false;
    in->space = (uint8_t)(space == PTX_SPACE_SHARED_CLUSTER ? PTX_SPACE_SHARED : space);
    in->flags |= space == PTX_SPACE_SHARED_CLUSTER ? EXEC_F_CLUSTER : 0;
    in->mem_id = d->p->nmem++;
    in->kind = EXEC_MEM;
    if (o->kind != OPND_ADDR && o->kind != OPND_REG && o->kind != OPND_SYM && o->kind != OPND_IMM)
        return decode_why(d, "address form not modelled");
    if (o->kind == OPND_REG || o->base == BASE_REG) {
        uint32_t bits = ptx_type_bits(d->pf->regs[o->index].type);
        in->imm = (int32_t)o->imm;
        in->flags |= bits == 64 ? EXEC_F_BASE64 : 0;
        in->a = decode_reg_slot(d, o->index, o->kind == OPND_REG ? o->comp : -1);
        return in->imm == o->imm || decode_why(d, "address offset of more than 32 bits");
    }
    if ((o->kind == OPND_SYM || o->base == BASE_SYM) && !decode_symbol(d, o->sym, &addr, &frame))
        return false;
    in->flags |= EXEC_F_BASE64 | (frame ? EXEC_F_FRAME : 0);
    if (frame)
        in->space = PTX_SPACE_LOCAL;
    return decode_const_slot(d, addr + (uint64_t)o->imm, 8, &in->a);
}

/* ---- modifiers ---- */
unsigned decode_key(const struct ptx_inst *i)
{
    unsigned key = 0;
    if (i->op == PTX_OP_FMA)
        key = (i->opnds[1].neg ? KEY_NEG_PRODUCT : 0) | (i->opnds[3].neg ? KEY_NEG_ADDEND : 0);
    for (unsigned k = 0; k < i->nmods; k++)
        switch (i->mods[k]) {
        case PTX_MOD_FTZ: key |= KEY_FTZ; break;
        case PTX_MOD_SAT: key |= KEY_SAT; break;
        case PTX_MOD_RZ: key |= KEY_RZ; break;
        case PTX_MOD_RM: key |= KEY_RM; break;
        case PTX_MOD_RP: key |= KEY_RP; break;
        case PTX_MOD_APPROX: key |= KEY_APPROX; break;
        case PTX_MOD_FULL: key |= KEY_FULL; break;
        case PTX_MOD_CLAMP: key |= KEY_CLAMP; break;
        case PTX_MOD_WRAP: key |= KEY_WRAP; break;
        case PTX_MOD_NAN_FLAG: key |= KEY_NAN; break;
        case PTX_MOD_XORSIGN: key |= KEY_XORSIGN; break;
        case PTX_MOD_ABS: key |= KEY_ABS; break;
        case PTX_MOD_RELU: key |= KEY_RELU; break;
        default:
            if (ptx_mod_category(i->mods[k]) != MODCAT_TYPE && i->mods[k] != PTX_MOD_RN)
                key |= KEY_OTHER;
        }
    return key;
}

static uint8_t evict_of(enum ptx_mod m)
{
    switch (m) {
    case PTX_MOD_L1_EVICT_NORMAL:
    case PTX_MOD_L2_EVICT_NORMAL: return EVICT_NORMAL;
    case PTX_MOD_L1_EVICT_FIRST:
    case PTX_MOD_L2_EVICT_FIRST: return EVICT_FIRST;
    case PTX_MOD_L1_EVICT_LAST:
    case PTX_MOD_L2_EVICT_LAST: return EVICT_LAST;
    case PTX_MOD_L1_EVICT_UNCHANGED:
    case PTX_MOD_L2_EVICT_UNCHANGED: return EVICT_UNCHANGED;
    case PTX_MOD_L1_NO_ALLOCATE: return EVICT_NO_ALLOCATE;
    default: return EVICT_NONE;
    }
}

void decode_policy(struct decode *d, const struct ptx_inst *i, struct exec_policy *p)
{
    (void)d;
    *p = (struct exec_policy){ 0 };
    bool relaxed = false;
    for (unsigned k = 0; k < i->nmods; k++) {
        enum ptx_mod m = i->mods[k];
        switch (m) {
        case PTX_MOD_CA: p->cop = COP_CA; break;
        case PTX_MOD_CG: p->cop = COP_CG; break;
        case PTX_MOD_CS: p->cop = COP_CS; break;
        case PTX_MOD_LU: p->cop = COP_LU; break;
        case PTX_MOD_CV:
        case PTX_MOD_VOLATILE:
        case PTX_MOD_MMIO: p->cop = COP_CV; break;
        case PTX_MOD_WB: p->cop = COP_WB; break;
        case PTX_MOD_WT: p->cop = COP_WT; break;
        case PTX_MOD_RELAXED:
        case PTX_MOD_ACQUIRE: relaxed = true; break;
        case PTX_MOD_NC: p->nc = 1; break;
        case PTX_MOD_L2_64B: p->l2_prefetch = 64; break;
        case PTX_MOD_L2_128B: p->l2_prefetch = 128; break;
        case PTX_MOD_L2_256B: p->l2_prefetch = 256; break;
        default:
            if (ptx_mod_category(m) == MODCAT_L1)
                p->l1 = evict_of(m);
            else if (ptx_mod_category(m) == MODCAT_L2 && m != PTX_MOD_L2_CACHE_HINT)
                p->l2 = evict_of(m);
        }
    }
    if (relaxed && !ptx_has_mod(i, PTX_MOD_CTA))
        p->cop = ptx_has_mod(i, PTX_MOD_SYS) ? COP_CV : COP_CG;
}
