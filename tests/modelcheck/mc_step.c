/* Executing: one instruction of one thread; every thread up to its next visible operation. */
#include "engine/ptx/ptx_table.h"

#include "tests/modelcheck/mc_int.h"

#include <string.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

static uint64_t zext(uint64_t v, unsigned bits)
{
    return bits >= 64 ? v : v & ((1ull << bits) - 1);
}
static int64_t sext(uint64_t v, unsigned bits)
{
    return bits >= 64 ? (int64_t)v : (int64_t)(v << (64 - bits)) >> (64 - bits);
}

uint64_t mc_hash(const void *data, size_t n, uint64_t seed)
{
    const uint8_t *p = data;
    uint64_t a = seed ^ 0x9e3779b97f4a7c15ull, b = seed + 0xbf58476d1ce4e5b9ull, v;
    for (; n >= 8; n -= 8, p += 8) {
        memcpy(&v, p, 8);
        a = (a ^ v) * 0xff51afd7ed558ccdull;
        a ^= a >> 32;
        b = (b + v) * 0xc4ceb9fe1a85ec53ull ^ a;
    }
    for (; n; n--, p++)
        a = (a ^ *p) * 0x100000001b3ull;
    a ^= b >> 29;
    a *= 0x94d049bb133111ebull;
    return a ^ (a >> 31);
}

void mc_layout_make(struct mc_run *x)
{
    const struct mc_program *p = x->p;
    struct mc_layout *l = &x->at;
    l->cta = 0;
    l->thread = l->cta + p->nctas * (uint32_t)sizeof(struct mc_cta);
    l->regs = l->thread + p->nthreads * (uint32_t)sizeof(struct mc_thread);
    l->priv = l->regs + p->nthreads * p->nregs * 8;
    l->mem = l->priv + p->nthreads * p->priv;
    l->hashed = (l->mem + p->flat + 7) & ~7u;
    l->uni = l->hashed;
    l->bytes = l->uni + p->nuni * p->nthreads * (uint32_t)sizeof(struct mc_uni);
}

/* ---- values ---- */
static uint64_t special(const struct mc_run *x, const uint8_t *s, unsigned t, const struct mc_val *v,
                        bool *ok)
{
    const struct mc_launch *l = &x->p->launch;
    uint32_t cta = t / x->p->block, lin = t % x->p->block;
    uint32_t tid[4] = { lin % l->block.x, lin / l->block.x % l->block.y, lin / l->block.x / l->block.y,
                        0 };
    uint32_t cid[4] = { cta % l->grid.x, cta / l->grid.x % l->grid.y, cta / l->grid.x / l->grid.y, 0 };
    uint32_t nt[4] = { l->block.x, l->block.y, l->block.z, 0 },
             nc[4] = { l->grid.x, l->grid.y, l->grid.z, 0 };
    uint32_t lane = lin % l->warp;
    switch (v->reg) {
    case PTX_SREG_TID: return tid[v->comp & 3];
    case PTX_SREG_NTID: return nt[v->comp & 3];
    case PTX_SREG_CTAID: return cid[v->comp & 3];
    case PTX_SREG_NCTAID: return nc[v->comp & 3];
    case PTX_SREG_LANEID: return lane;
    case PTX_SREG_WARPID: return lin / l->warp;
    case PTX_SREG_NWARPID: return (x->p->block + l->warp - 1) / l->warp;
    case PTX_SREG_NSMID: return l->sms;
    case PTX_SREG_SMID: return CTA(x, s)[cta].sm;
    case PTX_SREG_GRIDID: return 1;
    case PTX_SREG_LANEMASK_EQ: return 1u << lane;
    case PTX_SREG_LANEMASK_LT: return (1u << lane) - 1;
    case PTX_SREG_LANEMASK_LE: return (2u << lane) - 1;
    case PTX_SREG_LANEMASK_GT: return ~((2u << lane) - 1);
    case PTX_SREG_LANEMASK_GE: return ~((1u << lane) - 1);
    case PTX_SREG_DYNAMIC_SMEM_SIZE: return l->shared;
    case PTX_SREG_TOTAL_SMEM_SIZE: return x->p->shared_static + l->shared;
    case PTX_SREG_CLUSTER_CTARANK: return 0;
    case PTX_SREG_CLUSTER_NCTARANK: return 1;
    default: *ok = false; return 0;
    }
}

static uint64_t value(const struct mc_run *x, const uint8_t *s, unsigned t, const struct mc_val *v,
                      bool *ok)
{
    if (v->kind == SRC_REG)
        return v->neg ? !REGS(x, s, t)[v->reg] : REGS(x, s, t)[v->reg];
    return v->kind == SRC_IMM ? v->imm : special(x, s, t, v, ok);
}

static void set(struct mc_run *x, uint8_t *s, unsigned t, uint32_t reg, uint64_t v)
{
    if (reg != UINT32_MAX)
        REGS(x, s, t)[reg] = v;
}

/* ---- arithmetic ---- */
static float as_float(uint64_t v)
{
    uint32_t w = (uint32_t)v;
    float f;
    memcpy(&f, &w, 4);
    return f;
}

static uint64_t of_float(float f)
{
    uint32_t w;
    memcpy(&w, &f, 4);
    return w;
}

static bool float_op(const struct mc_inst *o, const uint64_t *v, uint64_t *r)
{
    float a = as_float(v[0]), b = as_float(v[1]), c = as_float(v[2]), f;
    switch (o->op) {
    case MC_ADD: f = a + b; break;
    case MC_SUB: f = a - b; break;
    case MC_MUL: f = a * b; break;
    case MC_FMA: f = __builtin_fmaf(a, b, c); break;
    case MC_NEG: f = -a; break;
    default: return false;
    }
    *r = of_float(f);
    return true;
}

static uint64_t high(uint64_t a, uint64_t b, unsigned bits, bool sign)
{
    if (sign)
        return (uint64_t)(((wide)sext(a, bits) * sext(b, bits)) >> bits);
    return (uint64_t)(((uwide)a * b) >> bits);
}

static uint64_t divide(const struct mc_inst *o, uint64_t a, uint64_t b)
{
    int64_t sa = sext(a, o->bits), sb = sext(b, o->bits);
    bool rem = o->op == MC_REM;
    if (!b)
        return ~0ull;
    if (!o->sign)
        return rem ? a % b : a / b;
    if (sb == -1)
        return rem ? 0 : 0 - (uint64_t)sa;
    return (uint64_t)(rem ? sa % sb : sa / sb);
}

static uint64_t field(const struct mc_inst *o, const uint64_t *v)
{
    unsigned pos = (unsigned)v[1] & 255, len = (unsigned)v[2] & 255;
    uint64_t r = pos < o->bits ? v[0] >> pos : 0;
    if (!len)
        return 0;
    bool negative = o->sign && (v[0] >> (pos + len - 1 < o->bits ? pos + len - 1 : o->bits - 1u) & 1);
    if (pos + len > o->bits)
        len = pos < o->bits ? o->bits - pos : 0;
    r = zext(r, len ? len : 1) * (len != 0);
    return negative && len < 64 ? r | ~0ull << len : r;
}

static uint64_t insert(const struct mc_inst *o, const uint64_t *v)
{
    unsigned pos = (unsigned)v[2] & 255, len = (unsigned)v[3] & 255;
    uint64_t mask = len >= 64 ? ~0ull : (1ull << len) - 1;
    if (pos >= o->bits)
        return v[1];
    return (v[1] & ~(mask << pos)) | ((v[0] & mask) << pos);
}

static uint64_t permute(const uint64_t *v)
{
    uint64_t all = zext(v[0], 32) | v[1] << 32, r = 0;
    for (unsigned k = 0; k < 4; k++) {
        unsigned sel = (unsigned)(v[2] >> (4 * k)) & 15;
        uint64_t byte = all >> (8 * (sel & 7)) & 255;
        if (sel & 8)
            byte = byte & 128 ? 255 : 0;
        r |= byte << (8 * k);
    }
    return r;
}

static uint64_t logic3(const uint64_t *v)
{
    uint64_t r = 0;
    for (unsigned k = 0; k < 32; k++) {
        unsigned n = (unsigned)((v[0] >> k & 1) << 2 | (v[1] >> k & 1) << 1 | (v[2] >> k & 1));
        r |= (v[3] >> n & 1) << k;
    }
    return r;
}

static uint64_t funnel(const struct mc_inst *o, const uint64_t *v)
{
    unsigned n = o->sub ? (unsigned)v[2] & 31 : v[2] > 32 ? 32 : (unsigned)v[2];
    uint64_t both = v[1] << 32 | zext(v[0], 32);
    return o->op == MC_SHFL_L ? zext((n ? both << n : both) >> 32, 32) : zext(both >> n, 32);
}

static bool compare(const struct mc_inst *o, const uint64_t *v)
{
    int c;
    if (o->flt) {
        float a = as_float(v[0]), b = as_float(v[1]);
        if (a != a || b != b)
            return false;
        c = a < b ? -1 : a > b;
    } else if (o->sign) {
        c = sext(v[0], o->bits) < sext(v[1], o->bits) ? -1 : sext(v[0], o->bits) > sext(v[1], o->bits);
    } else {
        c = v[0] < v[1] ? -1 : v[0] > v[1];
    }
    static const uint8_t on[] = {
        [CMP_EQ] = 2, [CMP_NE] = 5, [CMP_LT] = 1, [CMP_LE] = 3, [CMP_GT] = 4, [CMP_GE] = 6
    };
    bool r = on[o->sub] >> (c + 1) & 1;
    return o->comb == 1 ? r && v[2] : o->comb == 2 ? r || v[2] : o->comb == 3 ? r != (v[2] != 0) : r;
}

static bool convert(const struct mc_inst *o, uint64_t v, uint64_t *r)
{
    if (o->flt != o->flt2) {
        if ((o->flt && o->bits != 32) || (o->flt2 && o->bits2 != 32))
            return false;
        *r = o->flt ? of_float(o->sign2 ? (float)sext(v, o->bits2) : (float)zext(v, o->bits2))
                    : (uint64_t)(int64_t)as_float(v);
        return true;
    }
    if (o->flt)
        return o->bits == o->bits2 && (*r = v, true);
    *r = o->sign2 ? (uint64_t)sext(v, o->bits2) : zext(v, o->bits2);
    return true;
}

static bool integer_op(const struct mc_inst *o, uint64_t *v, uint64_t *r)
{
    unsigned b = o->bits;
    int64_t sa = sext(v[0], b), sb = sext(v[1], b);
    switch (o->op) {
    case MC_ADD: *r = v[0] + v[1]; break;
    case MC_SUB: *r = v[0] - v[1]; break;
    case MC_MUL: *r = v[0] * v[1]; break;
    case MC_MULHI: *r = high(v[0], v[1], b, o->sign); break;
    case MC_MAD: *r = v[0] * v[1] + v[2]; break;
    case MC_MADHI: *r = high(v[0], v[1], b, o->sign) + v[2]; break;
    case MC_DIV:
    case MC_REM: *r = divide(o, v[0], v[1]); break;
    case MC_MIN: *r = o->sign ? (sa < sb ? v[0] : v[1]) : v[0] < v[1] ? v[0] : v[1]; break;
    case MC_MAX: *r = o->sign ? (sa > sb ? v[0] : v[1]) : v[0] > v[1] ? v[0] : v[1]; break;
    case MC_ABS: *r = sa < 0 ? 0 - v[0] : v[0]; break;
    case MC_NEG: *r = 0 - v[0]; break;
    case MC_AND: *r = v[0] & v[1]; break;
    case MC_OR: *r = v[0] | v[1]; break;
    case MC_XOR: *r = v[0] ^ v[1]; break;
    case MC_NOT: *r = b == 1 ? !v[0] : ~v[0]; break;
    case MC_SHL: *r = v[1] >= b ? 0 : v[0] << v[1]; break;
    case MC_SHR:
        *r = o->sign ? (uint64_t)(sa >> (v[1] >= b ? b - 1u : v[1])) : v[1] >= b ? 0 : v[0] >> v[1];
        break;
    case MC_POPC: *r = (uint64_t)__builtin_popcountll(v[0]); break;
    case MC_CLZ: *r = v[0] ? (uint64_t)__builtin_clzll(v[0]) - (64 - b) : b; break;
    case MC_BFE: *r = field(o, v); break;
    case MC_BFI: *r = insert(o, v); break;
    case MC_PRMT: *r = permute(v); break;
    case MC_LOP3: *r = logic3(v); break;
    case MC_SHFL_L:
    case MC_SHFL_R: *r = funnel(o, v); break;
    default: return false;
    }
    return true;
}

static bool window(const struct mc_run *x, uint8_t space, uint64_t v)
{
    bool shared = v >= MC_SHARED_BASE && v < MC_SHARED_BASE + x->p->shared_all,
         local = v >= MC_LOCAL_BASE && v < MC_LOCAL_BASE + x->p->priv;
    return space == PTX_SPACE_SHARED ? shared : space == PTX_SPACE_LOCAL ? local : !shared && !local;
}

static bool wide_op(struct mc_inst o, uint64_t *v, uint64_t *r)
{
    *r = o.sign ? (uint64_t)(sext(v[0], o.bits) * sext(v[1], o.bits)) : v[0] * v[1];
    *r = zext(*r + (o.op == MC_MADWIDE ? v[2] : 0), 2u * o.bits);
    return true;
}

/* Everything that touches registers alone. */
static bool compute(struct mc_run *x, uint8_t *s, unsigned t, const struct mc_inst *o)
{
    uint64_t v[MC_OPERANDS] = { 0 }, r = 0;
    bool ok = true;
    for (unsigned k = 0; k < o->ns; k++) {
        v[k] = value(x, s, t, &o->s[k], &ok);
        bool count = (k == 1 && (o->op == MC_SHL || o->op == MC_SHR)) || (o->op == MC_BFE && k) ||
                     (o->op == MC_BFI && k > 1);
        bool whole = (o->op == MC_MADWIDE && k == 2) || (o->op == MC_SELP && k == 2) ||
                     (o->op == MC_SETP && k == 2) || o->op == MC_CVT || o->op == MC_PACK;
        if (!whole)
            v[k] = zext(v[k], count ? 32 : o->bits);
    }
    switch (o->op) {
    case MC_MOV: r = v[0]; break;
    case MC_SELP: r = v[2] ? v[0] : v[1]; break;
    case MC_SETP: r = compare(o, v); break;
    case MC_CVT: ok = ok && convert(o, v[0], &r); break;
    case MC_CVTA:
        r = v[0] + (o->sub == PTX_SPACE_SHARED  ? MC_SHARED_BASE
                    : o->sub == PTX_SPACE_LOCAL ? MC_LOCAL_BASE
                                                : 0);
        break;
    case MC_CVTATO:
        r = v[0] - (o->sub == PTX_SPACE_SHARED  ? MC_SHARED_BASE
                    : o->sub == PTX_SPACE_LOCAL ? MC_LOCAL_BASE
                                                : 0);
        break;
    case MC_ISSPACE: r = window(x, o->sub, v[0]); break;
    case MC_MULWIDE:
    case MC_MADWIDE:
        wide_op(*o, v, &r);
        set(x, s, t, o->d[0], r);
        return ok;
    case MC_PACK:
        for (unsigned k = 0; k < o->ns; k++)
            r |= zext(v[k], o->bits / o->ns) << (k * (o->bits / o->ns));
        break;
    case MC_UNPACK:
        for (unsigned k = 0; k < o->nd; k++)
            set(x, s, t, o->d[k], zext(v[0] >> (k * (o->bits / o->nd)), o->bits / o->nd));
        return ok;
    default: ok = ok && (o->flt ? float_op(o, v, &r) : integer_op(o, v, &r)); break;
    }
    set(x, s, t, o->d[0],
        o->op == MC_CVT && o->sign ? (uint64_t)sext(r, o->bits)
        : o->op == MC_SETP         ? r
                                   : zext(r, o->bits));
    return ok;
}

/* ---- memory ---- */
static bool place_global(const struct mc_program *p, uint64_t v, uint32_t bytes, bool write,
                         uint32_t *at)
{
    for (uint32_t k = 0; k < p->nregions; k++)
        if (v >= p->region[k].base && v - p->region[k].base + bytes <= p->region[k].bytes) {
            *at = p->region[k].at + (uint32_t)(v - p->region[k].base);
            return !write || !p->region[k].readonly;
        }
    return false;
}

/* Kind of place: 0 flat memory, 1 private, 2 parameter. */
static bool place(const struct mc_run *x, const uint8_t *s, unsigned t, const struct mc_inst *o,
                  int *kind, uint32_t *at)
{
    bool ok = true;
    const struct mc_program *p = x->p;
    uint64_t v = o->s[0].kind == SRC_REG ? REGS(x, s, t)[o->s[0].reg] + o->s[0].imm : o->s[0].imm;
    uint32_t bytes = o->bits / 8u * (o->op == MC_LD || o->op == MC_ST ? o->vec : 1u);
    uint8_t space = o->space;
    if (space == PTX_SPACE_GENERIC)
        space = window(x, PTX_SPACE_SHARED, v)  ? PTX_SPACE_SHARED
                : window(x, PTX_SPACE_LOCAL, v) ? PTX_SPACE_LOCAL
                                                : PTX_SPACE_GLOBAL;
    if (o->space == PTX_SPACE_GENERIC)
        v -= space == PTX_SPACE_SHARED ? MC_SHARED_BASE : space == PTX_SPACE_LOCAL ? MC_LOCAL_BASE : 0;
    if (space == PTX_SPACE_SHARED)
        v = zext(v, 32);
    *kind = space == PTX_SPACE_LOCAL ? 1 : space == PTX_SPACE_PARAM ? 2 : 0;
    *at = (uint32_t)v;
    if (v % (bytes ? bytes : 1) != 0 && *kind != 2)
        return false;
    if (space == PTX_SPACE_SHARED) {
        *at = p->shared_at + t / p->block * p->shared_all + (uint32_t)v;
        return v + bytes <= p->shared_static + p->launch.shared;
    }
    if (space == PTX_SPACE_LOCAL)
        return v + bytes <= p->priv;
    if (space == PTX_SPACE_PARAM)
        return v + bytes <= sizeof p->param;
    return ok && place_global(p, v, bytes, o->op != MC_LD, at);
}

void mc_access(const struct mc_run *x, const uint8_t *s, unsigned t, struct mc_access *a)
{
    const struct mc_inst *o = &x->p->inst[THREAD(x, s)[t].pc];
    int kind;
    memset(a, 0, sizeof *a);
    if (o->op != MC_LD && o->op != MC_ST && o->op != MC_ATOM)
        return;
    if (o->guarded && (REGS(x, s, t)[o->guard] != 0) == o->guard_neg)
        return;
    a->ok = place(x, s, t, o, &kind, &a->at);
    a->bytes = o->bits / 8u * (o->op == MC_ATOM ? 1u : o->vec);
    a->memory = a->ok && kind == 0;
    a->read = o->op != MC_ST;
    a->write = o->op != MC_LD;
    a->weak = o->weak;
    a->nc = o->nc;
    a->atomic = o->op == MC_ATOM;
    a->result = a->atomic && o->nd && o->d[0] != UINT32_MAX;
}

/* Lanes of one CTA that meet between two barriers. */
static void record_near(struct mc_run *x, unsigned t, uint32_t g, unsigned ph, const struct mc_access *a)
{
    struct mc_seen *n = x->seen;
    struct mc_word *w = &n->word[g];
    uint32_t me = 1u << t, cta = t / x->p->block,
             mates = (uint32_t)(((1ull << x->p->block) - 1) << (cta * x->p->block)),
             before = w->rd | w->wr, wrote = w->wr;
    if (a->write)
        w->wr |= me, w->wrp[ph] |= me;
    n->reads |= a->read && !w->rd && 4 * g >= x->p->buffers;
    if (a->read)
        w->rd |= me, w->rdp[ph] |= me;
    uint32_t here = (w->wrp[ph] | w->rdp[ph]) & mates;
    if ((w->wrp[ph] & mates) && (here & (here - 1)) && !w->next)
        w->next = n->changed = true;
    bool global = g < x->fut->words;
    if (global && ((w->wr & ~mates) || (w->wr && ((w->rd | w->wr) & ~mates))))
        mc_future_far(x->fut, g);
    if ((w->next || (global && x->fut->far[g])) && ((w->rd | w->wr) != before || w->wr != wrote))
        n->changed = true;
}

/* Where CTAs were exchanged, what one did any may do. */
static void record(struct mc_run *x, const uint8_t *s, unsigned t, const struct mc_access *a)
{
    uint32_t block = x->p->block, cta = t / block;
    unsigned ph = CTA(x, s)[cta].phase;
    for (uint32_t g = a->at / 4; g <= (a->at + a->bytes - 1) / 4; g++) {
        bool global = g < x->fut->words;
        for (uint32_t c = x->sym ? 0 : cta; c < (x->sym ? x->p->nctas : cta + 1); c++)
            record_near(x, c * block + t % block,
                        global ? g : g + c * (x->p->shared_all / 4) - cta * (x->p->shared_all / 4), ph,
                        a);
        if (!global || x->brute)
            continue;
        if (a->atomic && a->result)
            mc_future_control(x->fut, g);
        mc_future_add(x->fut, x->key[cta], t % block, g, a->read, a->write);
    }
}

static void read_into(struct mc_run *x, uint8_t *s, unsigned t, const struct mc_inst *o,
                      const uint8_t *from)
{
    unsigned b = o->bits / 8u;
    for (unsigned k = 0; k < o->vec && k < o->nd; k++) {
        uint64_t v = 0;
        memcpy(&v, from + k * b, b);
        set(x, s, t, o->d[k], o->sign ? (uint64_t)sext(v, o->bits) : v);
    }
}

static uint64_t atomic(const struct mc_inst *o, uint64_t old, uint64_t b, uint64_t c)
{
    int64_t so = sext(old, o->bits), sb = sext(b, o->bits);
    switch (o->sub) {
    case AT_ADD: return old + b;
    case AT_MIN: return o->sign ? (so < sb ? old : b) : old < b ? old : b;
    case AT_MAX: return o->sign ? (so > sb ? old : b) : old > b ? old : b;
    case AT_EXCH: return b;
    case AT_CAS: return old == b ? c : old;
    case AT_AND: return old & b;
    case AT_OR: return old | b;
    case AT_XOR: return old ^ b;
    case AT_INC: return old >= b ? 0 : old + 1;
    default: return old == 0 || old > b ? b : old - 1;
    }
}

static void memory(struct mc_run *x, uint8_t *s, unsigned t, const struct mc_inst *o, unsigned choice)
{
    struct mc_access a;
    bool ok = true;
    int kind;
    mc_access(x, s, t, &a);
    if (!a.ok || !place(x, s, t, o, &kind, &a.at)) {
        x->fault = true;
        THREAD(x, s)[t].status = T_FAULT;
        return;
    }
    uint8_t *m = kind == 1   ? PRIV(x, s, t) + a.at
                 : kind == 2 ? (uint8_t *)(uintptr_t)x->p->param + a.at
                             : MEM(x, s) + a.at;
    if (kind == 0)
        record(x, s, t, &a);
    if (o->op == MC_LD) {
        read_into(x, s, t, o, choice ? x->p->init + a.at : m);
        return;
    }
    unsigned b = o->bits / 8u;
    if (o->op == MC_ST) {
        for (unsigned k = 0; k < o->vec && k + 1 < o->ns; k++) {
            uint64_t v = value(x, s, t, &o->s[1 + k], &ok);
            memcpy(m + k * b, &v, b);
        }
    } else {
        uint64_t old = 0, v = zext(value(x, s, t, &o->s[1], &ok), o->bits),
                 c = o->ns > 2 ? value(x, s, t, &o->s[2], &ok) : 0;
        memcpy(&old, m, b);
        c = zext(atomic(o, old, v, zext(c, o->bits)), o->bits);
        memcpy(m, &c, b);
        set(x, s, t, o->d[0], old);
    }
    if (!ok)
        x->unknown = "special register";
}

/* ---- control ---- */
static void note_uni(struct mc_run *x, uint8_t *s, unsigned t, const struct mc_inst *o, bool taken)
{
    struct mc_uni *u = UNI(x, s, o->unislot, t);
    uint32_t cta = t / x->p->block, warp = t % x->p->block / x->p->launch.warp,
             first = cta * x->p->block;
    if (u->count >= 32)
        return;
    u->way |= (uint32_t)taken << u->count;
    for (uint32_t k = first; k < first + x->p->block; k++) {
        const struct mc_uni *v = UNI(x, s, o->unislot, k);
        if (k != t && (k - first) / x->p->launch.warp == warp && v->count > u->count &&
            (v->way >> u->count & 1) != taken)
            x->parted = true;
    }
    u->count++;
}

static void finish(struct mc_run *x, uint8_t *s, unsigned t)
{
    struct mc_thread *th = &THREAD(x, s)[t];
    th->status = T_DONE;
    th->pc = 0;
    memset(REGS(x, s, t), 0, x->p->nregs * 8);
    memset(PRIV(x, s, t), 0, x->p->priv);
    CTA(x, s)[t / x->p->block].live--;
}

void mc_step(struct mc_run *x, uint8_t *s, unsigned t, unsigned choice)
{
    struct mc_thread *th = &THREAD(x, s)[t];
    const struct mc_inst *o = &x->p->inst[th->pc];
    bool on = !o->guarded || (REGS(x, s, t)[o->guard] != 0) != o->guard_neg;
    struct mc_cta *c = &CTA(x, s)[t / x->p->block];
    th->status = T_RUN;
    if (o->uni)
        note_uni(x, s, t, o, on);
    for (unsigned k = 0; on && k < o->ns; k++)
        if (o->s[k].kind == SRC_SREG && o->s[k].reg == PTX_SREG_SMID && !c->sm_set)
            c->sm = (uint8_t)choice, c->sm_set = 1;
    if (!on || o->op == MC_NOP) {
        th->pc++;
        return;
    }
    switch (o->op) {
    case MC_BRA:
    case MC_JUMP: th->pc = o->target; return;
    case MC_EXIT: finish(x, s, t); return;
    case MC_TRAP:
        x->fault = true;
        th->status = T_FAULT;
        return;
    case MC_BAR: th->status = T_BAR; return;
    case MC_SHFL:
    case MC_VOTE:
    case MC_WARPSYNC: th->status = T_WARP; return;
    case MC_LD:
    case MC_ST:
    case MC_ATOM:
        memory(x, s, t, o, choice);
        th->pc++;
        return;
    case MC_UNKNOWN:
        x->unknown = "an instruction that is not modelled";
        th->status = T_FAULT;
        return;
    default:
        if (!compute(x, s, t, o)) {
            x->unknown = "an operation or special register that is not modelled";
            th->status = T_FAULT;
        }
        th->pc++;
    }
}

unsigned mc_choices(const struct mc_run *x, const uint8_t *s, unsigned t)
{
    const struct mc_inst *o = &x->p->inst[THREAD(x, s)[t].pc];
    if (o->guarded && (REGS(x, s, t)[o->guard] != 0) == o->guard_neg)
        return 1;
    for (unsigned k = 0; k < o->ns; k++)
        if (o->s[k].kind == SRC_SREG && o->s[k].reg == PTX_SREG_SMID &&
            !CTA(x, s)[t / x->p->block].sm_set)
            return x->p->launch.sms;
    struct mc_access a;
    if (o->op != MC_LD || !o->nc)
        return 1;
    mc_access(x, s, t, &a);
    return a.memory && memcmp(MEM(x, s) + a.at, x->p->init + a.at, a.bytes) != 0 ? 2 : 1;
}

/* Another CTA may still use this word, and one of the two writes it. */
static bool met_from_afar(const struct mc_run *x, unsigned t, const struct mc_access *a, uint32_t g)
{
    if (g >= x->fut->words || !x->fut->far[g])
        return false;
    for (uint32_t c = 0; c < x->p->nctas; c++)
        for (unsigned l = 0; l < x->p->block && c != t / x->p->block; l++)
            if (mc_future_meets(x->fut, x->key[c], l, g, a->write))
                return true;
    return false;
}

/* Does the thread stop here, because others could see or change what comes next? */
static bool stops(const struct mc_run *x, const uint8_t *s, unsigned t)
{
    const struct mc_inst *o = &x->p->inst[THREAD(x, s)[t].pc];
    struct mc_access a;
    if (mc_choices(x, s, t) > 1)
        return true;
    if (o->op != MC_LD && o->op != MC_ST && o->op != MC_ATOM)
        return false;
    mc_access(x, s, t, &a);
    if (!a.memory)
        return false;
    if (x->brute)
        return true;
    for (uint32_t g = a.at / 4; g <= (a.at + a.bytes - 1) / 4; g++)
        if (x->seen->word[g].visible || met_from_afar(x, t, &a, g))
            return true;
    return false;
}

/* Registers that nothing reads any more are nobody's business. */
static void forget(struct mc_run *x, uint8_t *s, unsigned t)
{
    const uint64_t *live = x->p->live + (size_t)THREAD(x, s)[t].pc * x->p->words;
    uint64_t *r = REGS(x, s, t);
    for (uint32_t k = 0; k < x->p->nregs; k++)
        if (!(live[k / 64] >> (k % 64) & 1))
            r[k] = 0;
}

/* Up to the next visible operation. A loop that reads the same again and again without one spins:
 * T_SPIN. */
static void run_thread(struct mc_run *x, uint8_t *s, unsigned t)
{
    struct mc_thread *th = &THREAD(x, s)[t];
    uint64_t saved = 0;
    uint32_t steps = 0, mark = 64;
    while (th->status == T_RUN) {
        if (stops(x, s, t)) {
            th->status = T_MEM;
            break;
        }
        uint32_t pc = th->pc;
        mc_step(x, s, t, 0);
        steps++;
        if (th->status != T_RUN || th->pc > pc || steps < 64)
            continue;
        forget(x, s, t);
        uint64_t h = mc_hash(REGS(x, s, t), x->p->nregs * 8, th->pc) ^
                     mc_hash(PRIV(x, s, t), x->p->priv, 1) ^ mc_hash(MEM(x, s), x->p->flat, 2);
        if (h == saved)
            th->status = T_SPIN;
        else if (steps >= mark)
            saved = h, mark = 2 * steps;
        if (steps > 60000) {
            x->unknown = "a long loop";
            th->status = T_FAULT;
        }
    }
    if (th->status != T_DONE)
        forget(x, s, t);
}

/* ---- meeting points ---- */
/* Lanes that met do not part any more from what they did before: executions are counted anew. A lane
 * that left one task of an agent early has executed its .uni less often than the others. */
static void forget_ways(struct mc_run *x, uint8_t *s, uint32_t cta)
{
    for (uint32_t slot = 0; slot < x->p->nuni; slot++)
        memset(UNI(x, s, slot, cta * x->p->block), 0, x->p->block * sizeof(struct mc_uni));
}

static bool open_barrier(struct mc_run *x, uint8_t *s, uint32_t cta)
{
    struct mc_thread *th = THREAD(x, s);
    uint32_t first = cta * x->p->block;
    uint64_t id = 0;
    bool any = false, ok = true;
    for (uint32_t t = first; t < first + x->p->block; t++) {
        if (th[t].status == T_DONE)
            continue;
        if (th[t].status != T_BAR)
            return false;
        uint64_t v = value(x, s, t, &x->p->inst[th[t].pc].s[0], &ok);
        if (any && v != id)
            return false;
        any = true;
        id = v;
    }
    for (uint32_t t = first; any && t < first + x->p->block; t++)
        if (th[t].status == T_BAR)
            th[t].status = T_RUN, th[t].pc++;
    if (any) {
        CTA(x, s)[cta].phase = (uint8_t)((CTA(x, s)[cta].phase + 1) % MC_PHASES);
        forget_ways(x, s, cta);
    }
    return any;
}

static void exchange(struct mc_run *x, uint8_t *s, uint32_t base, uint32_t mask)
{
    uint64_t got[32] = { 0 }, ok[32] = { 0 }, in[32] = { 0 };
    uint32_t ballot = 0, w = x->p->launch.warp;
    bool good = true;
    for (uint32_t k = 0; k < 32; k++)
        if (mask >> k & 1) {
            const struct mc_inst *o = &x->p->inst[THREAD(x, s)[base + k].pc];
            in[k] = o->ns ? value(x, s, base + k, &o->s[0], &good) : 0;
            ballot |= (uint32_t)(in[k] != 0) << k;
        }
    for (uint32_t k = 0; k < 32; k++) {
        if (!(mask >> k & 1))
            continue;
        const struct mc_inst *o = &x->p->inst[THREAD(x, s)[base + k].pc];
        if (o->op == MC_VOTE)
            got[k] = o->sub == 0 ? ballot == mask : o->sub == 1 ? ballot != 0 : ballot;
        if (o->op != MC_SHFL)
            continue;
        uint32_t b = (uint32_t)value(x, s, base + k, &o->s[1], &good) & 31,
                 c = (uint32_t)value(x, s, base + k, &o->s[2], &good);
        uint32_t seg = c >> 8 & 31, max = (k & seg) | (c & 31 & ~seg), min = k & seg, j;
        bool in_range;
        switch (o->sub) {
        case 0:
            j = k - b;
            in_range = (int32_t)j >= (int32_t)(c & 31);
            break;
        case 1:
            j = k + b;
            in_range = j <= max;
            break;
        case 2:
            j = k ^ b;
            in_range = j <= max;
            break;
        default:
            j = min | (b & ~seg);
            in_range = j <= max;
            break;
        }
        j = in_range ? j : k;
        if (j >= w || !(mask >> j & 1))
            x->unknown = "a shuffle from a lane that is not there";
        got[k] = in[j & 31];
        ok[k] = in_range;
    }
    for (uint32_t k = 0; k < 32; k++)
        if (mask >> k & 1) {
            struct mc_thread *th = &THREAD(x, s)[base + k];
            const struct mc_inst *o = &x->p->inst[th->pc];
            if (o->nd)
                set(x, s, base + k, o->d[0], zext(got[k], 32));
            if (o->nd > 1)
                set(x, s, base + k, o->d[1], ok[k]);
            th->status = T_RUN;
            th->pc++;
        }
}

/* Lanes of the mask that are all at one warp operation go on together. */
static bool open_warp(struct mc_run *x, uint8_t *s, uint32_t t)
{
    struct mc_thread *th = THREAD(x, s);
    const struct mc_inst *o = &x->p->inst[th[t].pc];
    uint32_t cta = t / x->p->block, w = x->p->launch.warp,
             first = cta * x->p->block + t % x->p->block / w * w, mask = 0;
    bool ok = true;
    uint32_t want = o->ns ? (uint32_t)value(x, s, t, &o->s[o->ns - 1], &ok) : ~0u;
    for (uint32_t k = 0; k < w && first + k < (cta + 1) * x->p->block; k++) {
        if (!(want >> k & 1) || th[first + k].status == T_DONE)
            continue;
        if (th[first + k].status != T_WARP || th[first + k].pc != th[t].pc)
            return false;
        mask |= 1u << k;
    }
    if (!(mask >> (t - first) & 1))
        return false;
    exchange(x, s, first, mask);
    return true;
}

static void start_ctas(struct mc_run *x, uint8_t *s)
{
    uint32_t running = 0, k = 0;
    struct mc_cta *c = CTA(x, s);
    for (k = 0; k < x->p->nctas; k++)
        running += c[k].started && c[k].live;
    for (k = 0; k < x->p->nctas && running < x->resident; k++)
        if (!c[k].started) {
            c[k].started = 1;
            running++;
            for (uint32_t t = k * x->p->block; t < (k + 1) * x->p->block; t++)
                THREAD(x, s)[t].status = T_RUN;
        }
}

void mc_settle(struct mc_run *x, uint8_t *s)
{
    for (bool more = true; more;) {
        more = false;
        start_ctas(x, s);
        for (unsigned t = 0; t < x->p->nthreads; t++)
            if (THREAD(x, s)[t].status == T_RUN) {
                run_thread(x, s, t);
                more = true;
            }
        for (uint32_t c = 0; c < x->p->nctas; c++)
            if (CTA(x, s)[c].started && CTA(x, s)[c].live)
                more |= open_barrier(x, s, c);
        for (unsigned t = 0; t < x->p->nthreads; t++)
            if (THREAD(x, s)[t].status == T_WARP)
                more |= open_warp(x, s, t);
    }
}

void mc_begin(struct mc_run *x, uint8_t *s)
{
    memset(s, 0, x->at.bytes);
    memcpy(MEM(x, s), x->p->init, x->p->flat);
    for (uint32_t k = 0; k < x->p->nctas; k++)
        CTA(x, s)[k].live = x->p->block;
    for (unsigned t = 0; t < x->p->nthreads; t++)
        THREAD(x, s)[t].status = T_UNSTARTED;
}
