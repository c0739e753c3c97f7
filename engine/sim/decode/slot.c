/* Registers to slots. PTX gives every value a register of its own, an SM has room for those that are
 * live: registers of one kind whose ranges do not meet share a slot, so that a frame is about as large
 * as the registers ptxas would give a warp.
 *
 * The range of a register is from the first to the last place, in schedule order (exec_inst.rank), where
 * it is used or live; its stretches are the parts of it where it is live, without those that it only
 * spans. Both hold per lane: lanes of one warp that are at different places write their own lanes of a
 * slot only. A result's stretch begins where the operands' end, so that both never share. Only registers
 * of one width share, hence slots never overlap in part.
 *
 * A register that is nothing but a parameter needs no slot of a warp: the launch has its value for all
 * (BANK_SREG). */
#include "engine/ptx/facts/facts.h"
#include "engine/base/list.h"
#include "engine/ptx/facts/live.h"
#include "engine/ptx/facts/solve.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/decode/decode.h"

#include <stdlib.h>
#include <string.h>

enum {
    VECTORS = 4 /* of 1, 2, 4, 8 */,
    KIND_VALUE = VECTORS /* before: predicates */,
    KINDS = KIND_VALUE + 3 * VECTORS /* of 4, 8, 16 bytes */
};
struct range {
    uint32_t from, to;
    bool read, lost;
};
struct ranges {
    const struct exec_inst *code;
    struct range *r;           /* [nregs]; from > to: used nowhere */
    uint32_t now, first, last; /* ranks: of the instruction at hand, of its block */
    bool blocks;               /* whole blocks and more, see below */
};

static unsigned log2_of(uint32_t n)
{
    return n > 1 ? (unsigned)__builtin_ctz(n) : 0;
}

static uint8_t kind_of(const struct ptx_reg *r)
{
    unsigned of = r->type == PTX_T_PRED ? 0 : KIND_VALUE + VECTORS * log2_of(decode_bytes(r->type) / 4);
    return (uint8_t)(of + log2_of(r->vec));
}

/* Bytes of a slot: a predicate is a word, of a bit per lane. */
static uint32_t kind_bytes(unsigned k)
{
    return k < KIND_VALUE
               ? 4u << k
               : (4u * WARP_LANES) << ((k - KIND_VALUE) / VECTORS + (k - KIND_VALUE) % VECTORS);
}

/* ---- ranges ---- */
static void range_add(struct range *r, uint32_t at)
{
    r->from = at < r->from ? at : r->from;
    r->to = at > r->to ? at : r->to;
}

static void range_live(struct ranges *x, const uint64_t *set, uint32_t words, bool in, bool out)
{
    for (uint32_t w = 0; w < words; w++)
        for (uint64_t m = set[w]; m; m &= m - 1) {
            struct range *r = &x->r[w * 64 + (uint32_t)__builtin_ctzll(m)];
            if (in)
                range_add(r, x->first);
            if (out)
                range_add(r, x->last);
        }
}

/* For what is known of the time: the blocks that may come next are as good as this one, since a result
 * may be late for one reader more than for another; and registers that some way on from here does not
 * read are marked. */
static void range_around(struct ranges *x, const struct ptx_cfg *c, const struct ptx_block *b,
                         const struct ptx_live *l, const uint64_t *out)
{
    for (uint32_t s = 0; s < b->nsucc; s++) {
        const struct ptx_block *to = &c->blocks[b->succ[s]];
        for (uint32_t w = 0; w < l->words; w++)
            for (uint64_t m = out[w] & ~l->in [(size_t)b->succ[s] * l->words + w]; m; m &= m - 1)
                x->r[w * 64 + (uint32_t)__builtin_ctzll(m)].lost = true;
        if (!to->n)
            continue;
        uint32_t first = x->code[to->first].rank, last = x->code[to->first + to->n - 1].rank;
        x->first = first < x->first ? first : x->first;
        x->last = last > x->last ? last : x->last;
    }
}

static void range_blocks(struct ranges *x, const struct decode *d, const struct ptx_cfg *c,
                         const struct ptx_live *l)
{
    for (uint32_t k = 0; k < c->nrpo; k++) {
        const struct ptx_block *b = &c->blocks[c->rpo[k]];
        const size_t set = (size_t)c->rpo[k] * l->words;
        if (!b->n)
            continue;
        x->first = x->code[b->first].rank;
        x->last = x->code[b->first + b->n - 1].rank;
        range_live(x, l->in + set, l->words, true, x->blocks);
        range_live(x, l->out + set, l->words, x->blocks, true);
        if (x->blocks)
            range_around(x, c, b, l, l->out + set);
        for (uint32_t i = b->first; i < b->first + b->n; i++) {
            x->now = x->code[i].rank;
            for (struct ptx_regs r = ptx_regs_of(&d->pf->insts[i], PTX_READ | PTX_WRITE);
                 ptx_next_reg(&r);) {
                x->r[r.reg].read |= (r.access & PTX_READ) != 0;
                range_add(&x->r[r.reg], x->blocks ? x->first : x->now);
                range_add(&x->r[r.reg], x->blocks ? x->last : x->now);
            }
        }
    }
}

/* Formal parameters are written and read by calls and returns, which do not say so. */
static void range_formals(const struct decode *d, struct range *r)
{
    const struct ptx_func *f = d->pf;
    for (uint32_t k = 0; k < f->nrets + f->nparams; k++) {
        const struct ptx_symbol *s = k < f->nrets ? f->rets[k] : f->params[k - f->nrets];
        uint32_t i = s->space == PTX_SPACE_REG ? ptx_find_reg(f, s->name) : PTX_NO_INDEX;
        if (i != PTX_NO_INDEX)
            r[i] = (struct range){ 0, UINT32_MAX, true, true };
    }
}

/* ---- ranges of what is known of the time ----
 * The scoreboard has one number for registers that share a slot: a register's result may hold up only
 * who reads it, not the next owner of its slot. All that read a register wait for it, but for what is
 * folded away: its operands are waited for by its readers. */
static const struct range OWN = { 0, UINT32_MAX, true, false };

static bool may_fold(const struct ptx_inst *i)
{
    switch (i->op) {
    case PTX_OP_MOV:
    case PTX_OP_CVT:
    case PTX_OP_CVTA:
    case PTX_OP_CVTA_TO:
    case PTX_OP_MUL_WIDE:
    case PTX_OP_SHL: return true;
    case PTX_OP_LD: return i->space == PTX_SPACE_PARAM;
    default: return false;
    }
}

struct folded {
    struct range *r;
    const struct ptx_cfg *c;
};
static void fold_step(void *ctx, struct ptx_solver *s, uint32_t inst)
{
    struct folded *f = ctx;
    const struct ptx_inst *i = &f->c->func->insts[inst];
    if (!may_fold(i))
        return;
    uint32_t to = 0;
    for (struct ptx_regs r = ptx_regs_of(i, PTX_WRITE); ptx_next_reg(&r);)
        to = f->r[r.reg].to > to ? f->r[r.reg].to : to;
    for (struct ptx_regs x = ptx_regs_of(i, PTX_READ); ptx_next_reg(&x);) {
        struct range *r = &f->r[x.reg];
        if (r->to >= to)
            continue;
        r->to = to;
        r->from = to == UINT32_MAX ? 0 : r->from;
        ptx_ask_each(s, f->c->regs[x.reg].defs, f->c->regs[x.reg].ndefs);
    }
}

static void find_ranges(struct decode *d, const struct ptx_cfg *c, const struct ptx_live *l,
                        struct range *r, bool blocks)
{
    struct ranges x = { .code = d->p->code + d->f->first, .r = r, .blocks = blocks };
    for (uint32_t i = 0; i < d->pf->nregs; i++)
        r[i] = (struct range){ UINT32_MAX, 0, false, false };
    range_blocks(&x, d, c, l);
    range_formals(d, r);
    if (!blocks)
        return;
    for (uint32_t i = 0; i < d->pf->nregs; i++)
        if ((r[i].lost || !r[i].read) && r[i].from <= r[i].to)
            r[i] = OWN;
    struct folded f = { .r = r, .c = c };
    d->oom |= !ptx_solve(d->pf->ninsts, PTX_BACKWARD, fold_step, &f);
}

/* ---- sharing ---- */
static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* place[]: a number among those of its kind for every register that is used, EXEC_NO_ID for the others;
 * count[]: how many those are. Ranges are taken as they begin, and what ended before gives back its
 * number. kind NULL: all are of kind 0. */
static bool share(const struct range *r, const uint8_t *kind, uint32_t n, uint32_t *place,
                  uint32_t *count)
{
    uint64_t *begin = base_alloc(((size_t)n * 2 + 1) * sizeof *begin), *end = begin ? begin + n : NULL;
    uint32_t *next = base_alloc(((size_t)n + 1) * sizeof *next), free_of[KINDS], used = 0;
    for (uint32_t i = 0; begin && next && i < n; i++) {
        place[i] = EXEC_NO_ID;
        if (r[i].from > r[i].to)
            continue;
        begin[used] = (uint64_t)r[i].from << 32 | i;
        end[used++] = (uint64_t)r[i].to << 32 | i;
    }
    memset(free_of, 0xff, sizeof free_of);
    if (begin && next && used) {
        qsort(begin, used, sizeof *begin, by_number);
        qsort(end, used, sizeof *end, by_number);
    }
    for (uint32_t k = 0, e = 0; begin && next && k < used; k++) {
        for (; end[e] >> 32 < begin[k] >> 32; e++) {
            uint32_t was = (uint32_t)end[e], of = kind ? kind[was] : 0;
            next[was] = free_of[of];
            free_of[of] = was;
        }
        uint32_t i = (uint32_t)begin[k], of = kind ? kind[i] : 0, was = free_of[of];
        place[i] = was == EXEC_NO_ID ? count[of]++ : place[was];
        if (was != EXEC_NO_ID)
            free_of[of] = next[was];
    }
    bool ok = begin && next;
    BASE_FREE(begin, next);
    return ok;
}

/* ---- sharing by stretches ---- */
#define MOST_TRIES (1u << 23) /* registers times slots beyond which ranges will do */

struct stretch {
    uint32_t reg, from, to;
};
struct room {
    struct stretch *v;
    size_t n, cap;
}; /* what a slot has, in order */
struct fit {
    const struct ptx_func *pf;
    const uint32_t *kept; /* registers that have a place elsewhere */
    struct stretch *v;
    size_t n, cap;
    /* [nregs] going backwards: the last place where it is wanted; EXEC_NO_ID: it is not */
    uint32_t *until;
    uint32_t now;
    bool oom;
};

static void add_stretch(struct fit *f, uint32_t reg, uint32_t from, uint32_t to)
{
    if (f->kept[reg] != EXEC_NO_ID)
        return;
    f->oom = f->oom || !base_grow((void **)&f->v, f->n, &f->cap, sizeof *f->v);
    if (!f->oom)
        f->v[f->n++] = (struct stretch){ reg, from, to };
}

static void fit_inst(struct fit *f, const struct ptx_inst *i)
{
    for (struct ptx_regs r = ptx_regs_of(i, PTX_WRITE); ptx_next_reg(&r);) {
        bool wanted = f->until[r.reg] != EXEC_NO_ID, all = ptx_ends_old(f->pf, i, r.reg);
        if (all || !wanted) /* what nobody reads is written all the same */
            add_stretch(f, r.reg, f->now, wanted ? f->until[r.reg] : f->now);
        if (all)
            f->until[r.reg] = EXEC_NO_ID;
    }
    for (struct ptx_regs r = ptx_regs_of(i, PTX_READ); ptx_next_reg(&r);)
        if (f->until[r.reg] == EXEC_NO_ID)
            f->until[r.reg] = f->now;
}

static void fit_block(struct fit *f, const struct decode *d, const struct ptx_block *b,
                      const uint64_t *in, const uint64_t *out, uint32_t words)
{
    const struct exec_inst *code = d->p->code + d->f->first;
    for (uint32_t w = 0; w < words; w++)
        for (uint64_t m = out[w]; m; m &= m - 1)
            f->until[w * 64 + (uint32_t)__builtin_ctzll(m)] = code[b->first + b->n - 1].rank;
    for (uint32_t i = b->first + b->n; i-- > b->first;) {
        f->now = code[i].rank;
        fit_inst(f, &d->pf->insts[i]);
    }
    for (uint32_t w = 0; w < words; w++)
        for (uint64_t m = in[w]; m; m &= m - 1) {
            uint32_t reg = w * 64 + (uint32_t)__builtin_ctzll(m);
            add_stretch(f, reg, code[b->first].rank, f->until[reg]);
            f->until[reg] = EXEC_NO_ID;
        }
}

static int by_place(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;
    return x->reg != y->reg ? (x->reg > y->reg) - (x->reg < y->reg)
                            : (x->from > y->from) - (x->from < y->from);
}

/* Sorted, and those that touch made one. */
static void join_stretches(struct fit *f)
{
    size_t n = 0;
    if (f->n)
        qsort(f->v, f->n, sizeof *f->v, by_place);
    for (size_t i = 0; i < f->n; i++) {
        struct stretch s = f->v[i];
        if (!n || f->v[n - 1].reg != s.reg || (uint64_t)f->v[n - 1].to + 1 < s.from)
            f->v[n++] = s;
        else if (s.to > f->v[n - 1].to)
            f->v[n - 1].to = s.to;
    }
    f->n = n;
}

/* The first of what the slot has that does not end before `at`. */
static size_t room_at(const struct room *k, uint32_t at)
{
    size_t i;
    BISECT(i, k->n, k->v[i].to < at);
    return i;
}

static bool room_for(const struct room *k, const struct stretch *s, size_t n)
{
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        size_t at = room_at(k, s[i].from);
        ok = at == k->n || k->v[at].from > s[i].to;
    }
    return ok;
}

static bool room_take(struct room *k, const struct stretch *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!base_grow((void **)&k->v, k->n, &k->cap, sizeof *k->v))
            return false;
        size_t at = room_at(k, s[i].from);
        memmove(&k->v[at + 1], &k->v[at], (k->n++ - at) * sizeof *k->v);
        k->v[at] = s[i];
    }
    return true;
}

/* Registers in the order of their first stretch (key: where it begins, and its index), each to the first
 * slot of its kind that has room. False: more than `most` slots of a kind, or no memory. */
static bool first_fit(const struct fit *f, const uint8_t *kind, uint64_t *key, size_t n, uint32_t most,
                      uint32_t *place, uint32_t *count)
{
    struct room *rooms = base_alloc((size_t)KINDS * most * sizeof *rooms);
    bool ok = rooms;
    qsort(key, n, sizeof *key, by_number);
    for (size_t i = 0; ok && i < n; i++) {
        const struct stretch *s = &f->v[(uint32_t)key[i]];
        size_t len = 1;
        uint32_t k = 0, of = kind[s->reg];
        while (s + len < f->v + f->n && s[len].reg == s->reg)
            len++;
        while (k < count[of] && !room_for(&rooms[of * most + k], s, len))
            k++;
        count[of] += k == count[of] && k < most;
        ok = k < most && room_take(&rooms[of * most + k], s, len);
        place[s->reg] = k;
    }
    for (size_t i = 0; rooms && i < (size_t)KINDS * most; i++)
        base_free(rooms[i].v);
    base_free(rooms);
    return ok;
}

static uint32_t bytes_of(const uint32_t *count)
{
    uint32_t all = 0;
    for (unsigned k = 0; k < KINDS; k++)
        all += count[k] * kind_bytes(k);
    return all;
}

/* place[] and count[], which ranges gave, become what stretches give where that is less. Without memory
 * they stay. */
static void share_closer(struct decode *d, const struct ptx_cfg *c, const struct ptx_live *l,
                         const struct range *r, const uint32_t *kept, const uint8_t *kind,
                         uint32_t *place, uint32_t *count)
{
    const uint32_t n = d->pf->nregs;
    uint32_t most = 1, closer[KINDS] = { 0 }, *to = base_alloc((n + 1) * sizeof *to);
    struct fit f = { .pf = d->pf, .kept = kept, .until = base_alloc((n + 1) * sizeof *f.until) };
    for (unsigned k = 0; k < KINDS; k++)
        most = count[k] > most ? count[k] : most;
    bool ok = to && f.until && (uint64_t)n * most <= MOST_TRIES;
    if (ok) {
        memset(to, 0xff, (n + 1) * sizeof *to);
        memset(f.until, 0xff, (n + 1) * sizeof *f.until);
    }
    for (uint32_t k = 0; ok && k < c->nrpo; k++)
        if (c->blocks[c->rpo[k]].n)
            fit_block(&f, d, &c->blocks[c->rpo[k]], l->in + (size_t)c->rpo[k] * l->words,
                      l->out + (size_t)c->rpo[k] * l->words, l->words);
    for (uint32_t i = 0; ok && i < n; i++)
        if (r[i].to == UINT32_MAX)
            /* a formal parameter, named in the body or not */
            add_stretch(&f, i, r[i].from, r[i].to);
    uint64_t *key = ok && !f.oom ? base_alloc((n + 1) * sizeof *key) : NULL;
    size_t used = 0;
    if (key)
        join_stretches(&f);
    for (size_t i = 0; key && i < f.n; i++)
        if (!i || f.v[i].reg != f.v[i - 1].reg)
            key[used++] = (uint64_t)f.v[i].from << 32 | i;
    if (key && used && first_fit(&f, kind, key, used, most, to, closer) &&
        bytes_of(closer) < bytes_of(count)) {
        memcpy(place, to, n * sizeof *to);
        memcpy(count, closer, sizeof closer);
    }
    BASE_FREE(key, to, f.v, f.until);
}

/* ---- parameters ---- */
enum { DEF_NONE, DEF_ONE, DEF_OTHER };
/* [nregs] how often it is written: once and whole, or otherwise */
/* The offset of a parameter that the kernel's instruction loads as it is. */
static bool loads_param(const struct ptx_func *pf, const struct ptx_inst *i, unsigned bits,
                        uint32_t *offset)
{
    const struct ptx_operand *o = &i->opnds[1];
    if (i->op != PTX_OP_LD || i->space != PTX_SPACE_PARAM || i->nopnds != 2 || o->kind != OPND_ADDR ||
        o->base != BASE_SYM || o->sym->stmt != PTX_NO_INDEX)
        return false;
    int64_t at = (int64_t)o->sym->offset + o->imm;
    *offset = (uint32_t)at;
    return ptx_type_bits((enum ptx_type)i->type[0]) == bits && o->imm >= 0 &&
           (uint64_t)o->imm + bits / 8 <= o->sym->bytes && (uint64_t)at + bits / 8 <= pf->param_bytes;
}

/* Global addresses are generic ones as they are, and a move says nothing new. */
static bool copies(const struct decode *d, const struct ptx_inst *i, unsigned bits)
{
    const struct ptx_operand *o = &i->opnds[1];
    bool global = (i->op == PTX_OP_CVTA || i->op == PTX_OP_CVTA_TO) && ptx_has_mod(i, PTX_MOD_GLOBAL);
    return (i->op == PTX_OP_MOV || global) && i->nopnds == 2 && o->kind == OPND_REG && o->comp < 0 &&
           ptx_type_bits((enum ptx_type)i->type[0]) == bits &&
           ptx_type_bits(d->pf->regs[o->index].type) == bits;
}

/* kept[]: slots of registers of the kernel that are parameters, or copies of such, wherever they are
 * read; EXEC_NO_ID of the others. */
struct keeping {
    struct decode *d;
    const uint8_t *written;     /* enum def by register */
    const uint64_t *entry_live; /* registers live at the entry */
    uint32_t *kept;
};

static void keep_step(void *ctx, struct ptx_solver *s, uint32_t inst)
{
    struct keeping *x = ctx;
    struct decode *d = x->d;
    const struct ptx_inst *i = &d->pf->insts[inst];
    uint32_t reg = i->nopnds && i->opnds[0].kind == OPND_REG ? i->opnds[0].index : EXEC_NO_ID, offset;
    if (reg == EXEC_NO_ID || x->kept[reg] != EXEC_NO_ID || x->written[reg] != DEF_ONE ||
        ptx_bit(x->entry_live, reg))
        return;
    unsigned bits = d->pf->regs[reg].type == PTX_T_PRED ? 0 : ptx_type_bits(d->pf->regs[reg].type);
    if (bits != 32 && bits != 64)
        return;
    if (loads_param(d->pf, i, bits, &offset))
        d->oom |= !decode_param_slot(d, offset, bits / 8, &x->kept[reg]);
    else if (copies(d, i, bits))
        x->kept[reg] = x->kept[i->opnds[1].index];
    if (x->kept[reg] != EXEC_NO_ID)
        ptx_ask_each(s, ptx_cfg_of(d->pf)->regs[reg].uses, ptx_cfg_of(d->pf)->regs[reg].nuses);
}

static bool keep_params(struct decode *d, const uint64_t *entry_live, uint32_t *kept)
{
    const struct ptx_func *pf = d->pf;
    uint8_t *of = base_alloc(pf->nregs + 1);
    memset(kept, 0xff, (pf->nregs + 1) * sizeof *kept);
    for (uint32_t i = 0; of && i < pf->ninsts; i++)
        for (struct ptx_regs r = ptx_regs_of(&pf->insts[i], PTX_WRITE); ptx_next_reg(&r);) {
            bool whole = !pf->insts[i].guarded && pf->regs[r.reg].vec <= 1;
            of[r.reg] = of[r.reg] == DEF_NONE && whole ? DEF_ONE : DEF_OTHER;
        }
    struct keeping k = { d, of, entry_live, kept };
    bool ok =
        of && (!pf->entry || d->f->index != 0 || ptx_solve(pf->ninsts, PTX_FORWARD, keep_step, &k));
    base_free(of);
    return ok && !d->oom;
}

/* ---- the frame ---- */
/* Word 0 is the carry flag, then predicates, then values in units of 128 bytes; *words: how many of
 * those come before the values. */
static void lay_out(struct decode *d, const uint8_t *kind, const uint32_t *kept, const uint32_t *place,
                    const uint32_t *count, uint32_t *words)
{
    uint32_t base[KINDS], at = 4;
    for (unsigned k = 0; k < KINDS; k++) {
        at = k == KIND_VALUE ? (at + 127) / 128 * 128 : at;
        base[k] = at;
        at += count[k] * kind_bytes(k);
    }
    d->f->frame_bytes = at;
    *words = (base[KIND_VALUE] + 127) / 128;
    for (uint32_t i = 0; i < d->pf->nregs; i++)
        d->f->reg_slot[i] = place[i] == EXEC_NO_ID
                                ? kept[i]
                                : (base[kind[i]] + place[i] * kind_bytes(kind[i])) | BANK_FRAME;
}

/* 128-byte units that may be read before they are written: predicates, and registers live at the entry.
 * Zero at the start, so that results repeat. */
static bool zero_units(struct decode *d, const uint64_t *in, uint32_t words)
{
    const struct ptx_func *f = d->pf;
    uint32_t n = 0, units = d->f->frame_bytes / 128,
             *zero = ARENA_ARRAY(d->p->arena, uint32_t, units + 1);
    for (uint32_t u = 0; zero && u < words; u++)
        zero[n++] = u * 128;
    for (uint32_t r = 0; zero && r < f->nregs; r++)
        if (in[r >> 6] >> (r & 63) & 1 && f->regs[r].type != PTX_T_PRED)
            for (uint32_t k = 0; k < kind_bytes(kind_of(&f->regs[r])) / 128; k++)
                zero[n++] = (d->f->reg_slot[r] & ~3u) + k * 128;
    d->f->zero = zero;
    d->f->nzero = n;
    return zero != NULL;
}

static bool formal_slots(struct decode *d)
{
    const struct ptx_func *f = d->pf;
    d->f->formal_slot = ARENA_ARRAY(d->p->arena, uint32_t, f->nparams + f->nrets + 1);
    for (uint32_t k = 0; d->f->formal_slot && k < f->nrets + f->nparams; k++) {
        const struct ptx_symbol *s = k < f->nrets ? f->rets[k] : f->params[k - f->nrets];
        uint32_t i = s->space == PTX_SPACE_REG ? ptx_find_reg(f, s->name) : PTX_NO_INDEX;
        d->f->formal_slot[k] = i != PTX_NO_INDEX ? d->f->reg_slot[i] : EXEC_NO_ID;
    }
    return d->f->formal_slot != NULL;
}

bool decode_slots(struct decode *d, const struct ptx_cfg *c, const struct ptx_live *l)
{
    const uint32_t n = d->pf->nregs;
    uint32_t count[KINDS] = { 0 }, ready = 0, words = 0, *place = base_alloc((n + 1) * sizeof *place),
             *kept = base_alloc((n + 1) * sizeof *kept);
    uint8_t *kind = base_alloc(n + 1);
    struct range *r = base_alloc((n + 1) * sizeof *r);
    struct exec_func *f = d->f;
    f->reg_slot = ARENA_ARRAY(d->p->arena, uint32_t, n + 1);
    f->ready_slot = ARENA_ARRAY(d->p->arena, uint32_t, n + 1);
    f->read = ARENA_ARRAY(d->p->arena, bool, n + 1);
    bool ok = place && kept && kind && r && f->reg_slot && f->ready_slot && f->read &&
              keep_params(d, l->in, kept);
    for (uint32_t i = 0; ok && i < n; i++)
        kind[i] = kind_of(&d->pf->regs[i]);
    if (ok) {
        find_ranges(d, c, l, r, true);
        ok = share(r, NULL, n, f->ready_slot, &ready);
        find_ranges(d, c, l, r, false);
        for (uint32_t i = 0; i < n; i++)
            f->read[i] = r[i].read;
        for (uint32_t i = 0; i < n; i++)
            if (kept[i] != EXEC_NO_ID)
                r[i] = (struct range){ UINT32_MAX, 0, false, false };
    }
    ok = ok && share(r, kind, n, place, count);
    if (ok) {
        share_closer(d, c, l, r, kept, kind, place, count);
        f->nready = ready;
        lay_out(d, kind, kept, place, count, &words);
        ok = zero_units(d, l->in, words) && formal_slots(d);
    }
    BASE_FREE(place, kept, kind, r);
    return ok;
}
