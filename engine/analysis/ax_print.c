/* Expressions as people write them: pointers first, a common factor pulled out
 * (A + 4*(ctaid.x*ntid.x + tid.x)), loads in brackets, harmless widenings left
 * out. A conversion that could change the value is shown: u32(tid.x - 1). */
#include "engine/analysis/ax.h"

#include <inttypes.h>
#include <string.h>

#define MAX_DEPTH 14
#define MAX_TEXT 600

struct printing { const struct ax_names *names; struct buf *out; };
/* Binding strength of the context: what needs parentheses there. */
enum prec { PREC_TOP, PREC_CMP, PREC_SUM, PREC_MUL };
static void show(struct printing *p, const struct ax *e, enum prec prec, int depth);

static int rank(const struct ax *e)
{
    if (e->kind == AX_ADDR || (e->kind == AX_PARAM && e->bits == 64))
        return 0;
    if (e->kind == AX_PROD)
        return 1;
    if (e->kind == AX_SREG)
        return e->c == PTX_SREG_CTAID ? 2 : e->c == PTX_SREG_NTID || e->c == PTX_SREG_NCTAID ? 3 : 4;
    return e->kind == AX_ITER || e->kind == AX_TRIPS ? 6 : 5;
}
/* Reading order of the arguments (node order is by id, which depends on the code). */
static uint32_t ordered(const struct ax *e, uint32_t idx[AX_MAX_TERMS])
{
    uint32_t n = e->n < AX_MAX_TERMS ? e->n : AX_MAX_TERMS;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = i;
        for (; j && rank(e->arg[idx[j - 1]]) > rank(e->arg[i]); j--)
            idx[j] = idx[j - 1];
        idx[j] = i;
    }
    return n;
}
static uint64_t magnitude(int64_t v) { return v < 0 ? -(uint64_t)v : (uint64_t)v; }
static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}
/* The factor all terms and the constant of a sum share. */
static uint64_t common(const struct ax *e, uint32_t n)
{
    uint64_t g = magnitude(e->c);
    for (uint32_t i = 0; i < n; i++)
        g = gcd(g, magnitude(e->coef[i]));
    return g;
}
static void rest(struct printing *p, const struct ax *e, const uint32_t *idx, uint32_t from, uint64_t g, bool first, bool with_const, int depth);
static void term(struct printing *p, const struct ax *a, int64_t k, bool first, int depth)
{
    int64_t product;
    while (a->kind == AX_SEXT)
        a = a->arg[0];
    if (a->kind == AX_SUM && a->n == 1 && a->c == 0 && !__builtin_mul_overflow(k, a->coef[0], &product)) {
        k = product;                 /* 4*(32*i), split by a widening, reads 128*i */
        a = a->arg[0];
    }
    if (first && k < 0)
        buf_puts(p->out, "-");
    else if (!first)
        buf_puts(p->out, k < 0 ? " - " : " + ");
    uint32_t idx[AX_MAX_TERMS];
    uint64_t g = a->kind == AX_SUM && a->n > 1 ? common(a, ordered(a, idx)) : 0;
    if (g > 1 && magnitude(k) != 1 && !__builtin_mul_overflow((int64_t)g, k, &product)) {
        buf_printf(p->out, "%" PRIu64 "*(", magnitude(product));
        rest(p, a, idx, 0, g, true, true, depth);
        buf_puts(p->out, ")");
        return;
    }
    if (magnitude(k) != 1)
        buf_printf(p->out, "%" PRIu64 "*", magnitude(k));
    show(p, a, magnitude(k) != 1 ? PREC_MUL : PREC_SUM, depth + 1);
}
/* The terms that are not pointers, divided by g. */
static void rest(struct printing *p, const struct ax *e, const uint32_t *idx, uint32_t from, uint64_t g, bool first, bool with_const, int depth)
{
    for (uint32_t i = from; i < e->n; i++) {
        term(p, e->arg[idx[i]], e->coef[idx[i]] / (int64_t)g, first, depth);
        first = false;
    }
    if (with_const && e->c)
        buf_printf(p->out, first ? "%s%" PRIu64 : " %s %" PRIu64, e->c < 0 ? "-" : first ? "" : "+", magnitude(e->c) / g);
}
static void show_sum(struct printing *p, const struct ax *e, enum prec prec, int depth)
{
    uint32_t idx[AX_MAX_TERMS], n = ordered(e, idx), ptrs = 0;
    if (e->n == 0) {
        buf_printf(p->out, "%" PRId64, e->c);
        return;
    }
    while (ptrs < n && rank(e->arg[idx[ptrs]]) == 0 && e->coef[idx[ptrs]] == 1)
        ptrs++;
    uint64_t g = 0;
    for (uint32_t i = ptrs; i < n; i++)
        g = gcd(g, magnitude(e->coef[idx[i]]));
    bool single = n == 1 && e->c == 0, paren = prec > PREC_SUM || (prec == PREC_SUM && e->coef[idx[0]] < 0);
    paren = paren && !(single && prec <= PREC_MUL && e->coef[0] > 0);
    if (paren)
        buf_puts(p->out, "(");
    for (uint32_t i = 0; i < ptrs; i++)
        term(p, e->arg[idx[i]], 1, i == 0, depth);
    bool factor = g > 1 && n - ptrs + (e->c && magnitude(e->c) % g == 0) > 1;
    if (n > ptrs && factor) {
        bool inside = e->c && magnitude(e->c) % g == 0;
        buf_printf(p->out, "%s%" PRIu64 "*(", ptrs ? " + " : "", g);
        rest(p, e, idx, ptrs, g, true, inside, depth);
        buf_puts(p->out, ")");
        if (e->c && !inside)
            buf_printf(p->out, " %s %" PRIu64, e->c < 0 ? "-" : "+", magnitude(e->c));
    } else {
        rest(p, e, idx, ptrs, 1, ptrs == 0, true, depth);
    }
    if (paren)
        buf_puts(p->out, ")");
}
static void show_product(struct printing *p, const struct ax *e, int depth)
{
    uint32_t idx[AX_MAX_TERMS], n = ordered(e, idx);
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            buf_puts(p->out, "*");
        show(p, e->arg[idx[i]], PREC_MUL, depth + 1);
    }
}
/* Certainly not negative by its looks: sums of things that count. Nested too deeply: not certain. */
static bool counts_at(const struct ax *e, int depth)
{
    if (e->lo >= 0)
        return true;
    bool ok = depth < 6 && (e->kind == AX_SUM ? e->c >= 0 : e->kind == AX_PROD);
    for (uint32_t i = 0; ok && i < e->n; i++)
        ok = (e->kind == AX_PROD || e->coef[i] > 0) && counts_at(e->arg[i], depth + 1);
    return ok || e->kind == AX_PARAM || e->kind == AX_LOAD || e->kind == AX_ITER;
}
bool ax_counts(const struct ax *e) { return counts_at(e, 0); }
static void show_op(struct printing *p, const struct ax *e, enum prec prec, int depth)
{
    const char *t = ax_op_text((enum ax_op)e->op);
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
    for (uint32_t i = 0; i < e->n; i++) {
        if (i && e->op == AXO_SELECT)
            buf_puts(p->out, i == 1 ? " ? " : " : ");
        else if (i)
            buf_printf(p->out, infix ? " %s " : ", ", t);
        show(p, e->arg[i], infix && e->op != AXO_BAND && e->op != AXO_BOR ? PREC_MUL : infix ? PREC_CMP : PREC_TOP, depth + 1);
    }
    if (!infix || prec > PREC_TOP)
        buf_puts(p->out, ")");
}
static void show_leaf(struct printing *p, const struct ax *e)
{
    const char *name = NULL;
    if ((e->kind == AX_PARAM || e->kind == AX_ADDR) && p->names && p->names->array)
        name = p->names->array(p->names->ctx, e);
    if ((e->kind == AX_ITER || e->kind == AX_TRIPS) && p->names && p->names->loop)
        name = p->names->loop(p->names->ctx, e->ref);
    if (e->kind == AX_PARAM || e->kind == AX_ADDR) {
        const struct ptx_symbol *s = e->ref;
        if (name)
            buf_puts(p->out, name);
        else if (s)
            buf_str(p->out, s->name);
        if (e->c)
            buf_printf(p->out, "{%" PRId64 "}", e->c);
    } else if (e->kind == AX_ITER) {
        buf_puts(p->out, name ? name : "k");
    } else if (e->kind == AX_TRIPS) {
        buf_printf(p->out, "trips(%s)", name ? name : "k");
    } else {
        buf_puts(p->out, "?");
    }
}
static void show(struct printing *p, const struct ax *e, enum prec prec, int depth)
{
    if (depth > MAX_DEPTH || p->out->n > MAX_TEXT) {
        buf_puts(p->out, "...");
        return;
    }
    switch (e->kind) {
    case AX_SUM: show_sum(p, e, prec, depth); break;
    case AX_PROD: show_product(p, e, depth); break;
    case AX_SREG: {
        const char *s = ptx_sreg_name((enum ptx_sreg)e->c);
        buf_puts(p->out, s[0] == '%' ? s + 1 : s);
        if (e->c == PTX_SREG_TID || e->c == PTX_SREG_NTID || e->c == PTX_SREG_CTAID || e->c == PTX_SREG_NCTAID)
            buf_printf(p->out, ".%c", "xyzw"[e->op & 3]);
        break;
    }
    case AX_LOAD:
        buf_puts(p->out, "[");
        if (e->n)
            show(p, e->arg[0], PREC_TOP, depth + 1);
        else
            buf_puts(p->out, "?");
        buf_puts(p->out, "]");
        if (e->c > 0)
            buf_printf(p->out, ".%c", e->c < 4 ? "xyzw"[e->c] : '?');
        break;
    case AX_PHI:
        buf_puts(p->out, "any(");
        for (uint32_t i = 0; i < e->n; i++) {
            if (i)
                buf_puts(p->out, ", ");
            show(p, e->arg[i], PREC_TOP, depth + 1);
        }
        buf_puts(p->out, e->n ? ")" : "?)");
        break;
    case AX_SEXT: show(p, e->arg[0], prec, depth + 1); break;
    case AX_ZEXT: case AX_TRUNC:
        if (e->kind == AX_ZEXT && ax_counts(e->arg[0])) {
            show(p, e->arg[0], prec, depth + 1);
            break;
        }
        buf_printf(p->out, "u%u(", e->kind == AX_ZEXT ? e->arg[0]->bits : e->bits);
        show(p, e->arg[0], PREC_TOP, depth + 1);
        buf_puts(p->out, ")");
        break;
    case AX_OP: show_op(p, e, prec, depth); break;
    default: show_leaf(p, e); break;
    }
}
void ax_print(const struct ax *e, const struct ax_names *names, struct buf *out)
{
    struct printing p = { names, out };
    show(&p, e, PREC_TOP, 0);
}
