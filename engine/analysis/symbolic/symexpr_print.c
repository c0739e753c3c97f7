/* Expressions as people write them: pointers first, a common factor pulled out
 * (A + 4*(ctaid.x*ntid.x + tid.x)), loads in brackets, harmless widenings left
 * out. A conversion that could change the value is shown: u32(tid.x - 1). */
#include "engine/analysis/symbolic/symexpr.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

#include <inttypes.h>

#define MAX_DEPTH 14
#define MAX_TEXT  600

struct printing {
    const struct symexpr_names *names;
    struct buf *out;
};
/* Binding strength of the context: what needs parentheses there. */
enum prec { PREC_TOP, PREC_CMP, PREC_SUM, PREC_MUL };
static void show(struct printing *p, const struct symexpr *e, enum prec prec, int depth);

static int rank(const struct symexpr *e)
{
    if (e->kind == SYMEXPR_ADDR ||
        ((e->kind == SYMEXPR_PARAM || e->kind == SYMEXPR_LOAD) && e->bits == 64))
        return 0;
    if (e->kind == SYMEXPR_OP && e->op == AXO_SELECT && e->bits == 64) /* one of two pointers */
        return rank(e->arg[1]) || rank(e->arg[2]) ? 5 : 0;
    if (e->kind == SYMEXPR_PROD)
        return 1;
    if (e->kind == SYMEXPR_SREG)
        return e->c == PTX_SREG_CTAID ? 2 : e->c == PTX_SREG_NTID || e->c == PTX_SREG_NCTAID ? 3 : 4;
    return e->kind == SYMEXPR_ITER || e->kind == SYMEXPR_TRIPS ? 6 : 5;
}
static uint64_t magnitude(int64_t v)
{
    return v < 0 ? -(uint64_t)v : (uint64_t)v;
}
static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}
/* ---- sums, for reading: conversions that change nothing opened, like terms put together ---- */
#define MAX_SHOWN 40
struct shown {
    const struct symexpr *a;
    int64_t k, plus; /* a product's sum gets this much more */
    bool done;
};
struct shown_sum {
    struct shown t[MAX_SHOWN];
    uint32_t n;
    int64_t c;
};

static const struct symexpr *opened(const struct symexpr *a)
{
    while (a->kind == SYMEXPR_SEXT || (a->kind == SYMEXPR_ZEXT && symexpr_counts(a->arg[0])))
        a = a->arg[0];
    return a;
}
/* The same to a reader, whatever the width. */
static bool alike(const struct symexpr *a, const struct symexpr *b)
{
    a = opened(a);
    b = opened(b);
    return a == b || (!a->n && !b->n && a->kind == b->kind && a->kind != SYMEXPR_SUM && a->c == b->c &&
                      a->op == b->op && a->ref == b->ref);
}
static void put_shown(struct shown_sum *s, const struct symexpr *a, int64_t k)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (alike(s->t[i].a, a) && !__builtin_add_overflow(s->t[i].k, k, &s->t[i].k))
            return;
    s->t[s->n++] = (struct shown){ .a = a, .k = k };
}
/* Adds k*e; false: more terms or larger numbers than can be shown. */
static bool flatten(struct shown_sum *s, const struct symexpr *e, int64_t k)
{
    int64_t x;
    e = opened(e);
    if (e->kind != SYMEXPR_SUM) {
        if (s->n == MAX_SHOWN)
            return false;
        put_shown(s, e, k);
        return true;
    }
    bool ok = !__builtin_mul_overflow(e->c, k, &x) && !__builtin_add_overflow(s->c, x, &s->c);
    for (uint32_t i = 0; ok && i < e->n; i++)
        ok = !__builtin_mul_overflow(e->coef[i], k, &x) && flatten(s, e->arg[i], x);
    return ok;
}
/* n*(y + 1) - n reads n*y: a term that is the other factor goes into the product's sum. */
static void fold_products(struct shown_sum *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const struct symexpr *a = s->t[i].a;
        if (a->kind != SYMEXPR_PROD || a->n != 2)
            continue;
        int f = opened(a->arg[0])->kind == SYMEXPR_SUM   ? 1
                : opened(a->arg[1])->kind == SYMEXPR_SUM ? 0
                                                         : -1;
        for (uint32_t j = 0; f >= 0 && j < s->n; j++)
            if (j != i && s->t[i].k && s->t[j].k % s->t[i].k == 0 && alike(s->t[j].a, a->arg[f])) {
                s->t[i].plus += s->t[j].k / s->t[i].k;
                s->t[j].k = 0;
            }
    }
}
static void sort_shown(struct shown_sum *s)
{
    uint32_t n = 0;
    fold_products(s);
    for (uint32_t i = 0; i < s->n; i++) {
        struct shown t = s->t[i];
        uint32_t j = n;
        if (!t.k)
            continue;
        for (; j && rank(s->t[j - 1].a) > rank(t.a); j--)
            s->t[j] = s->t[j - 1];
        s->t[j] = t;
        n++;
    }
    s->n = n;
}
static void sign(struct printing *p, bool negative, bool *first)
{
    buf_puts(p->out, *first ? negative ? "-" : "" : negative ? " - " : " + ");
    *first = false;
}
static void show_factors(struct printing *p, const struct shown *t, int depth);
static void one_term(struct printing *p, const struct shown *t, uint64_t k, int depth)
{
    if (k != 1)
        buf_printf(p->out, "%" PRIu64 "*", k);
    if (t->plus)
        show_factors(p, t, depth);
    else
        show(p, t->a, k != 1 ? PREC_MUL : PREC_SUM, depth + 1);
}
/* Terms from..n-1 divided by g, those with one factor side by side; then the constant. */
static void show_terms(struct printing *p, struct shown_sum *s, uint32_t from, uint64_t g, bool first,
                       bool with_const, int depth)
{
    bool lead = false;
    int64_t c = with_const ? s->c / (int64_t)g : 0;
    for (uint32_t i = from; i < s->n; i++) {
        s->t[i].done = false;
        lead = lead || s->t[i].k > 0;
    }
    if (first && !lead && c > 0) { /* 127 - tid.x */
        buf_printf(p->out, "%" PRId64, c);
        first = false;
        c = 0;
    }
    for (int positive = lead && first && from < s->n && s->t[from].k < 0; positive >= 0; positive--)
        for (uint32_t i = from; i < s->n && !(positive && !first); i++) {
            uint64_t k = magnitude(s->t[i].k) / g, same = 0;
            if (s->t[i].done || (positive && s->t[i].k < 0))
                continue;
            for (uint32_t j = i; j < s->n; j++)
                same += !s->t[j].done && s->t[j].k == s->t[i].k;
            bool group = k > 1 && same > 1;
            sign(p, s->t[i].k < 0, &first);
            if (group)
                buf_printf(p->out, "%" PRIu64 "*(", k);
            bool inner = true;
            for (uint32_t j = i; j < s->n; j++) {
                if (j != i && (!group || s->t[j].done || s->t[j].k != s->t[i].k))
                    continue;
                if (group)
                    sign(p, false, &inner);
                one_term(p, &s->t[j], group ? 1 : k, depth);
                s->t[j].done = true;
            }
            if (group)
                buf_puts(p->out, ")");
        }
    if (c)
        buf_printf(p->out, first ? "%s%" PRIu64 : " %s %" PRIu64,
                   c < 0   ? "-"
                   : first ? ""
                           : "+",
                   magnitude(c));
}
static void show_shown(struct printing *p, struct shown_sum *s, enum prec prec, int depth)
{
    uint32_t ptrs = 0;
    uint64_t g = 0;
    sort_shown(s);
    while (ptrs < s->n && rank(s->t[ptrs].a) == 0 && s->t[ptrs].k == 1)
        ptrs++;
    for (uint32_t i = ptrs; i < s->n; i++)
        g = gcd(g, magnitude(s->t[i].k));
    if (s->c && gcd(g, magnitude(s->c)) >= 4) /* x + 4*(4*k + 1): elements, not x + 16*k + 4 */
        g = gcd(g, magnitude(s->c));
    bool inside = s->c && g > 1 && magnitude(s->c) % g == 0, factor = g > 1 && s->n - ptrs + inside > 1,
         first = true;
    bool one = s->n + (s->c != 0) <= 1 || (factor && !ptrs && (inside || !s->c)),
         negative = s->n && s->t[0].k < 0 && s->c <= 0;
    bool paren = one ? negative && prec >= PREC_SUM : prec > PREC_SUM || (prec == PREC_SUM && negative);
    if (paren)
        buf_puts(p->out, "(");
    for (uint32_t i = 0; i < ptrs; i++) {
        sign(p, false, &first);
        one_term(p, &s->t[i], 1, depth);
    }
    if (factor) {
        sign(p, false, &first);
        buf_printf(p->out, "%" PRIu64 "*(", g);
        show_terms(p, s, ptrs, g, true, inside, depth);
        buf_puts(p->out, ")");
        if (s->c && !inside)
            buf_printf(p->out, " %s %" PRIu64, s->c < 0 ? "-" : "+", magnitude(s->c));
    } else {
        show_terms(p, s, ptrs, 1, first, true, depth);
    }
    if (paren)
        buf_puts(p->out, ")");
}
static void show_factors(struct printing *p, const struct shown *t, int depth)
{
    int f = opened(t->a->arg[0])->kind == SYMEXPR_SUM ? 1 : 0;
    struct shown_sum s = { .n = 0 };
    show(p, t->a->arg[f], PREC_MUL, depth + 1);
    buf_puts(p->out, "*");
    if (flatten(&s, t->a->arg[!f], 1) && !__builtin_add_overflow(s.c, t->plus, &s.c))
        show_shown(p, &s, PREC_MUL, depth + 1);
    else
        buf_puts(p->out, "...");
}
static void show_sum(struct printing *p, const struct symexpr *e, enum prec prec, int depth)
{
    struct shown_sum s = { .n = 0 };
    if (e->n == 0)
        buf_printf(p->out, "%" PRId64, e->c);
    else if (flatten(&s, e, 1))
        show_shown(p, &s, prec, depth);
    else
        buf_puts(p->out, "...");
}
/* Reading order of the arguments (node order is by id, which depends on the code). */
static uint32_t ordered(const struct symexpr *e, uint32_t idx[SYMEXPR_MAX_TERMS])
{
    uint32_t n = e->n < SYMEXPR_MAX_TERMS ? e->n : SYMEXPR_MAX_TERMS;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = i;
        for (; j && rank(e->arg[idx[j - 1]]) > rank(e->arg[i]); j--)
            idx[j] = idx[j - 1];
        idx[j] = i;
    }
    return n;
}
static void show_product(struct printing *p, const struct symexpr *e, int depth)
{
    uint32_t idx[SYMEXPR_MAX_TERMS], n = ordered(e, idx);
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            buf_puts(p->out, "*");
        show(p, e->arg[idx[i]], PREC_MUL, depth + 1);
    }
}
/* Certainly not negative by its looks: sums of things that count. Nested too deeply: not certain. */
static bool counts_at(const struct symexpr *e, int depth)
{
    if (e->lo >= 0)
        return true;
    bool ok = depth < 6 && (e->kind == SYMEXPR_SUM ? e->c >= 0 : e->kind == SYMEXPR_PROD);
    for (uint32_t i = 0; ok && i < e->n; i++)
        ok = (e->kind == SYMEXPR_PROD || e->coef[i] > 0) && counts_at(e->arg[i], depth + 1);
    return ok || e->kind == SYMEXPR_PARAM || e->kind == SYMEXPR_ADDR || e->kind == SYMEXPR_LOAD ||
           e->kind == SYMEXPR_ITER || e->kind == SYMEXPR_TRIPS;
}
bool symexpr_counts(const struct symexpr *e)
{
    return counts_at(e, 0);
}
static void show_op(struct printing *p, const struct symexpr *e, enum prec prec, int depth)
{
    const char *t = symexpr_op_text((enum symexpr_op)e->op);
    bool infix = !(t[0] >= 'a' && t[0] <= 'z');
    if (e->op == AXO_BNOT) {
        buf_puts(p->out, "!");
        show(p, e->arg[0], PREC_MUL, depth + 1);
        return;
    }
    if (!infix)
        buf_puts(p->out, t);
    if (!infix || prec > PREC_TOP)
        buf_puts(p->out, "(");
    bool turn = e->op == AXO_EQ && symexpr_is_const(e->arg[0]); /* the number last */
    for (uint32_t at = 0; at < e->n; at++) {
        uint32_t i = turn ? 1 - at : at;
        if (at && e->op == AXO_SELECT)
            buf_puts(p->out, at == 1 ? " ? " : " : ");
        else if (at)
            buf_printf(p->out, infix ? " %s " : ", ", t);
        if (at && (e->op == AXO_UDIV || e->op == AXO_UREM) && symexpr_is_const(e->arg[i]) &&
            e->arg[i]->c < 0)
            buf_printf(p->out, "%" PRIu64,
                       e->bits >= 64 ? (uint64_t)e->arg[i]->c
                                     : (uint64_t)e->arg[i]->c & ((UINT64_C(1) << e->bits) - 1));
        else
            show(p, e->arg[i],
                 infix && e->op != AXO_BAND && e->op != AXO_BOR ? PREC_MUL
                 : infix                                        ? PREC_CMP
                                                                : PREC_TOP,
                 depth + 1);
    }
    if (!infix || prec > PREC_TOP)
        buf_puts(p->out, ")");
}
static void show_leaf(struct printing *p, const struct symexpr *e)
{
    const char *name = NULL;
    if ((e->kind == SYMEXPR_PARAM || e->kind == SYMEXPR_ADDR) && p->names && p->names->array)
        name = p->names->array(p->names->ctx, e);
    if ((e->kind == SYMEXPR_ITER || e->kind == SYMEXPR_TRIPS) && p->names && p->names->loop)
        name = p->names->loop(p->names->ctx, e->ref);
    if (e->kind == SYMEXPR_PARAM || e->kind == SYMEXPR_ADDR) {
        const struct ptx_symbol *s = e->ref;
        if (name)
            buf_puts(p->out, name);
        else if (s)
            buf_str(p->out, s->name);
        if (e->c && !name)
            buf_printf(p->out, "{%" PRId64 "}", e->c);
    } else if (e->kind == SYMEXPR_ITER) {
        buf_puts(p->out, name ? name : "k");
    } else if (e->kind == SYMEXPR_TRIPS) {
        buf_printf(p->out, "trips(%s)", name ? name : "k");
    } else {
        buf_puts(p->out, "?");
    }
}
static void show(struct printing *p, const struct symexpr *e, enum prec prec, int depth)
{
    if (depth > MAX_DEPTH || p->out->n > MAX_TEXT) {
        buf_puts(p->out, "...");
        return;
    }
    switch (e->kind) {
    case SYMEXPR_SUM: show_sum(p, e, prec, depth); break;
    case SYMEXPR_PROD: show_product(p, e, depth); break;
    case SYMEXPR_SREG: {
        buf_puts(p->out, ptx_sreg_word((enum ptx_sreg)e->c));
        if (e->c == PTX_SREG_TID || e->c == PTX_SREG_NTID || e->c == PTX_SREG_CTAID ||
            e->c == PTX_SREG_NCTAID)
            buf_printf(p->out, ".%c", "xyzw"[e->op & 3]);
        break;
    }
    case SYMEXPR_LOAD:
        buf_puts(p->out, "[");
        if (e->n)
            show(p, e->arg[0], PREC_TOP, depth + 1);
        else
            buf_puts(p->out, "?");
        buf_puts(p->out, "]");
        if (e->c > 0)
            buf_printf(p->out, ".%c", e->c < 4 ? "xyzw"[e->c] : '?');
        break;
    case SYMEXPR_PHI:
        buf_puts(p->out, "any(");
        for (uint32_t i = 0; i < e->n; i++) {
            if (i)
                buf_puts(p->out, ", ");
            show(p, e->arg[i], PREC_TOP, depth + 1);
        }
        buf_puts(p->out, e->n ? ")" : "?)");
        break;
    case SYMEXPR_SEXT: show(p, e->arg[0], prec, depth + 1); break;
    case SYMEXPR_ZEXT:
    case SYMEXPR_TRUNC:
        if (e->kind == SYMEXPR_ZEXT && symexpr_counts(e->arg[0])) {
            show(p, e->arg[0], prec, depth + 1);
            break;
        }
        buf_printf(p->out, "u%u(", e->kind == SYMEXPR_ZEXT ? e->arg[0]->bits : e->bits);
        show(p, e->arg[0], PREC_TOP, depth + 1);
        buf_puts(p->out, ")");
        break;
    case SYMEXPR_OP: show_op(p, e, prec, depth); break;
    default: show_leaf(p, e); break;
    }
}
void symexpr_print(const struct symexpr *e, const struct symexpr_names *names, struct buf *out)
{
    struct printing p = { names, out };
    show(&p, e, PREC_TOP, 0);
}
