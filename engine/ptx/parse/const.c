/* Numbers and constant expressions (PTX ISA 4.5): operator precedence with explicit,
 * bounded stacks, so depth of nesting costs no C stack. */
#include "engine/ptx/ptx_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXPR_DEPTH 128u

/* ---- literals ---- */
static unsigned digit_of(char c)
{
    return c >= '0' && c <= '9'   ? (unsigned)(c - '0')
           : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
           : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
                                  : 99u;
}

static bool scan_radix(struct ptx_parser *p, unsigned radix, uint64_t *out)
{
    uint64_t v = 0;
    bool fits = true;
    for (unsigned d; (d = digit_of(*p->c)) < radix; p->c++) {
        fits = fits && v <= (UINT64_MAX - d) / radix;
        v = v * radix + d;
    }
    *out = v;
    return fits;
}

static bool bad_number(struct ptx_parser *p, struct span at, const char *why)
{
    while (ptx_is(*p->c, CH_START | CH_DIGIT))
        p->c++;
    at = ptx_upto(p, at);
    ptx_error(p, "ptx-number", at, "%s", why);
    return false;
}

/* 0fXXXXXXXX and 0dXXXXXXXXXXXXXXXX: the bits themselves. */
static bool hex_float(struct ptx_parser *p, struct ptx_const *out, struct span at)
{
    unsigned want = (p->c[1] | 0x20) == 'f' ? 8 : 16, n = 0;
    p->c += 2;
    uint64_t v = 0;
    for (; ptx_is(*p->c, CH_HEX) && n < want; n++)
        v = v << 4 | digit_of(*p->c++);
    if (n != want || ptx_is(*p->c, CH_START | CH_DIGIT))
        return bad_number(p, at,
                          want == 8 ? "0f takes exactly 8 hexadecimal digits"
                                    : "0d takes exactly 16 hexadecimal digits");
    *out = (struct ptx_const){ .is_float = true, .fbits = (uint8_t)(want * 4), .i = (int64_t)v };
    if (want == 8) {
        uint32_t bits = (uint32_t)v;
        float f;
        memcpy(&f, &bits, sizeof f);
        out->d = f;
    } else {
        memcpy(&out->d, &v, sizeof v);
    }
    return true;
}

static bool decimal_float(struct ptx_parser *p, struct ptx_const *out, struct span at)
{
    char text[64];
    const char *e = p->c;
    while (ptx_is(*e, CH_DIGIT) || *e == '.' || ((*e == '+' || *e == '-') && (e[-1] | 0x20) == 'e') ||
           (*e | 0x20) == 'e')
        e++;
    size_t n = (size_t)(e - p->c);
    if (n >= sizeof text)
        return bad_number(p, at, "this number is too long");
    memcpy(text, p->c, n);
    text[n] = 0;
    char *stop;
    double d = strtod(text, &stop);
    if (stop == text || *stop)
        return bad_number(p, at, "this is not a number");
    p->c = e;
    *out = (struct ptx_const){ .is_float = true, .fbits = 64, .d = d };
    memcpy(&out->i, &d, sizeof d);
    return true;
}

static bool is_decimal_float(const char *s)
{
    while (ptx_is(*s, CH_DIGIT))
        s++;
    return (*s == '.' && ptx_is(s[1], CH_DIGIT)) || (*s == '.' && !ptx_is(s[1], CH_START)) ||
           ((*s | 0x20) == 'e' && (ptx_is(s[1], CH_DIGIT) || s[1] == '-' || s[1] == '+'));
}

bool ptx_number(struct ptx_parser *p, struct ptx_const *out)
{
    struct span at = ptx_here(p);
    char x = p->c[0] == '0' ? p->c[1] | 0x20 : 0;
    if (x == 'f' || x == 'd')
        return hex_float(p, out, at);
    if (x != 'x' && is_decimal_float(p->c))
        return decimal_float(p, out, at);
    uint64_t v;
    unsigned radix = x == 'x' ? 16 : x == 'b' ? 2 : p->c[0] == '0' ? 8 : 10;
    p->c += radix == 16 || radix == 2 ? 2 : 0;
    const char *digits = p->c;
    bool fits = scan_radix(p, radix, &v);
    if (p->c == digits)
        return bad_number(p, at, "a number has no digits here");
    *out = (struct ptx_const){ .i = (int64_t)v, .is_unsigned = v > INT64_MAX };
    if (*p->c == 'U') {
        out->is_unsigned = true;
        p->c++;
    }
    if (ptx_is(*p->c, CH_START | CH_DIGIT))
        return bad_number(p, at,
                          radix == 8 ? "an octal number takes the digits 0 to 7"
                                     : "letters follow this number");
    return fits || bad_number(p, at, "this number does not fit 64 bits");
}

/* ---- expressions ---- */
enum { UNARY = 100, PAREN = 101, CAST_S = 102, CAST_U = 103 };
struct oper {
    uint8_t code, prec;
}; /* code: character, or doubled character | 0x80 */
struct expr {
    struct ptx_const v[EXPR_DEPTH];
    struct oper op[EXPR_DEPTH];
    unsigned nv, nop, parens;
};

#define DOUBLED(c) ((uint8_t)((c) | 0x80))
static struct oper binary_at(const char *s)
{
    switch (*s) {
    case '*':
    case '/':
    case '%': return (struct oper){ (uint8_t)*s, 11 };
    case '+':
    case '-': return (struct oper){ (uint8_t)*s, 10 };
    case '<':
        return s[1] == '<' ? (struct oper){ DOUBLED('<'), 9 }
                           : (struct oper){ s[1] == '=' ? 'l' : '<', 8 };
    case '>':
        return s[1] == '>' ? (struct oper){ DOUBLED('>'), 9 }
                           : (struct oper){ s[1] == '=' ? 'g' : '>', 8 };
    case '=': return s[1] == '=' ? (struct oper){ DOUBLED('='), 7 } : (struct oper){ 0, 0 };
    case '!': return s[1] == '=' ? (struct oper){ DOUBLED('!'), 7 } : (struct oper){ 0, 0 };
    case '&': return s[1] == '&' ? (struct oper){ DOUBLED('&'), 3 } : (struct oper){ '&', 6 };
    case '^': return (struct oper){ '^', 5 };
    case '|': return s[1] == '|' ? (struct oper){ DOUBLED('|'), 2 } : (struct oper){ '|', 4 };
    case '?': return (struct oper){ '?', 1 };
    default: return (struct oper){ 0, 0 };
    }
}

static unsigned oper_length(uint8_t code)
{
    return code & 0x80 || code == 'l' || code == 'g' ? 2 : 1;
}

static int64_t compute_int(uint8_t op, struct ptx_const a, struct ptx_const b, bool *ok)
{
    uint64_t x = (uint64_t)a.i, y = (uint64_t)b.i;
    bool uns = a.is_unsigned || b.is_unsigned;
    switch (op) {
    case '*': return (int64_t)(x * y);
    case '/':
    case '%':
        if (!y || (!uns && a.i == INT64_MIN && b.i == -1)) {
            *ok = y != 0;
            return op == '/' ? a.i : 0;
        }
        return op == '/' ? (uns ? (int64_t)(x / y) : a.i / b.i) : (uns ? (int64_t)(x % y) : a.i % b.i);
    case '+': return (int64_t)(x + y);
    case '-': return (int64_t)(x - y);
    case DOUBLED('<'): return y > 63 ? 0 : (int64_t)(x << y);
    case DOUBLED('>'):
        return a.is_unsigned ? (y > 63 ? 0 : (int64_t)(x >> y)) : a.i >> (y > 63 ? 63 : y);
    case '<': return uns ? x < y : a.i < b.i;
    case '>': return uns ? x > y : a.i > b.i;
    case 'l': return uns ? x <= y : a.i <= b.i;
    case 'g': return uns ? x >= y : a.i >= b.i;
    case DOUBLED('='): return x == y;
    case DOUBLED('!'): return x != y;
    case '&': return (int64_t)(x & y);
    case '^': return (int64_t)(x ^ y);
    case '|': return (int64_t)(x | y);
    case DOUBLED('&'): return x && y;
    default: return x || y;
    }
}

static struct ptx_const compute_float(uint8_t op, double a, double b)
{
    struct ptx_const r = { .is_float = true, .fbits = 64 };
    switch (op) {
    case '*': r.d = a * b; break;
    case '/': r.d = a / b; break;
    case '+': r.d = a + b; break;
    case '-': r.d = a - b; break;
    default:
        return (struct ptx_const){ .i = op == '<'            ? a < b
                                        : op == '>'          ? a > b
                                        : op == 'l'          ? a <= b
                                        : op == 'g'          ? a >= b
                                        : op == DOUBLED('=') ? a == b
                                        : op == DOUBLED('!') ? a != b
                                                             : 0 };
    }
    memcpy(&r.i, &r.d, sizeof r.d);
    return r;
}

static bool apply_unary(struct ptx_const *v, uint8_t op)
{
    if (v->is_float && (op == '-' || op == '!')) {
        if (op == '!')
            *v = (struct ptx_const){ .i = v->d == 0 };
        else if (v->fbits == 32)
            v->d = -v->d, v->i ^= 0x80000000;
        else
            v->d = -v->d, memcpy(&v->i, &v->d, sizeof v->d);
        return true;
    }
    if (v->is_float)
        return op == '+';
    v->i = op == '-' ? (int64_t)(0 - (uint64_t)v->i) : op == '~' ? ~v->i : op == '!' ? !v->i : v->i;
    return true;
}

/* Applies the operator on top of the stack; false: the operands do not fit it. */
static bool reduce(struct expr *e)
{
    struct oper o = e->op[--e->nop];
    if (o.prec == UNARY)
        return e->nv && apply_unary(&e->v[e->nv - 1], o.code);
    if (o.code == CAST_S || o.code == CAST_U) {
        e->v[e->nv - 1].is_unsigned = o.code == CAST_U;
        return !e->v[e->nv - 1].is_float;
    }
    if (o.code == ':') { /* condition, then, else */
        if (e->nv < 3 || !e->nop || e->op[--e->nop].code != '?')
            return false;
        e->nv -= 2;
        e->v[e->nv - 1] = e->v[e->nv - 1].i ? e->v[e->nv] : e->v[e->nv + 1];
        return true;
    }
    if (e->nv < 2 || o.code == '?')
        return false;
    struct ptx_const b = e->v[--e->nv], a = e->v[e->nv - 1];
    bool ok = true;
    if (a.is_float != b.is_float)
        return false;
    if (a.is_float)
        e->v[e->nv - 1] = compute_float(o.code, a.d, b.d);
    else
        e->v[e->nv - 1] = (struct ptx_const){ .i = compute_int(o.code, a, b, &ok),
                                              .is_unsigned = a.is_unsigned || b.is_unsigned };
    return ok;
}

static bool push_oper(struct expr *e, struct oper o)
{
    if (e->nop == EXPR_DEPTH)
        return false;
    e->op[e->nop++] = o;
    return true;
}

/* (.s64) and (.u64) */
static bool cast_at(struct ptx_parser *p, struct expr *e)
{
    const char *s = p->c + 1;
    while (*s == ' ')
        s++;
    if (strncmp(s, ".s64", 4) != 0 && strncmp(s, ".u64", 4) != 0)
        return false;
    uint8_t code = s[1] == 's' ? CAST_S : CAST_U;
    for (s += 4; *s == ' ';)
        s++;
    if (*s != ')' || !push_oper(e, (struct oper){ code, UNARY - 1 }))
        return false;
    p->c = s + 1;
    return true;
}

/* Prefix operators, parentheses and one literal. */
static bool read_primary(struct ptx_parser *p, struct expr *e)
{
    for (;;) {
        ptx_skip_blank(p);
        char c = *p->c;
        if (c == '(' && cast_at(p, e))
            continue;
        if (c == '+' || c == '-' || c == '!' || c == '~' || c == '(') {
            if (!push_oper(e, (struct oper){ (uint8_t)c, c == '(' ? 0 : UNARY }))
                return false;
            e->parens += c == '(';
            p->c++;
            continue;
        }
        if (e->nv == EXPR_DEPTH)
            return false;
        if (ptx_is(c, CH_DIGIT) || (c == '.' && ptx_is(p->c[1], CH_DIGIT)))
            return ptx_number(p, &e->v[e->nv]) && ++e->nv;
        if (!strncmp(p->c, "WARP_SZ", 7) && !ptx_is(p->c[7], CH_START | CH_DIGIT)) {
            p->c += 7;
            e->v[e->nv++] = (struct ptx_const){ .i = 32, .is_unsigned = true };
            return true;
        }
        return false;
    }
}

static bool close_parens(struct ptx_parser *p, struct expr *e)
{
    while (e->parens && ptx_take(p, ')')) {
        while (e->nop && e->op[e->nop - 1].code != '(')
            if (!reduce(e))
                return false;
        e->nop--;
        e->parens--;
    }
    return true;
}

/* Without an operator the cursor stays behind the last literal. */
static bool read_binary(struct ptx_parser *p, struct expr *e, bool *more)
{
    const char *c = p->c, *line_start = p->line_start;
    uint32_t line = p->line;
    ptx_skip_blank(p);
    struct oper o = binary_at(p->c);
    if (*p->c == ':' && p->c[1] != ':') {
        bool asked = false;
        for (unsigned i = e->nop; i-- && e->op[i].code != '(';)
            asked = asked || e->op[i].code == '?';
        o = asked ? (struct oper){ ':', 1 } : o;
    }
    *more = o.code != 0;
    if (!o.code) {
        p->c = c;
        p->line_start = line_start;
        p->line = line;
        return true;
    }
    while (e->nop && e->op[e->nop - 1].code != '(' && e->op[e->nop - 1].prec >= o.prec &&
           !(o.prec == 1 && e->op[e->nop - 1].code == '?') &&
           !(o.code == '?' && e->op[e->nop - 1].prec == 1))
        if (!reduce(e))
            return false;
    p->c += oper_length(o.code);
    return push_oper(e, o);
}

static bool expression(struct ptx_parser *p, struct expr *e)
{
    for (bool more = true; more;)
        if (!read_primary(p, e) || !close_parens(p, e) || !read_binary(p, e, &more))
            return false;
    while (e->nop)
        if (e->op[e->nop - 1].code == '(' || !reduce(e))
            return false;
    return e->nv == 1;
}

bool ptx_const_expr(struct ptx_parser *p, struct ptx_const *out)
{
    ptx_skip_blank(p);
    struct span at = ptx_here(p);
    size_t errors = p->errors;
    if (ptx_is(*p->c, CH_DIGIT)) { /* one literal and no operator: nearly always */
        if (!ptx_number(p, out))
            return false;
        if (*p->c == ',' || *p->c == ';' || *p->c == ']' || *p->c == '}')
            return true;
        p->c = p->base + at.off;
    }
    struct expr e;
    e.nv = e.nop = e.parens = 0;
    if (expression(p, &e)) {
        *out = e.v[0];
        return true;
    }
    if (p->errors == errors) {
        at = ptx_upto(p, at);
        at.len = at.len ? at.len : 1;
        ptx_error(p, "ptx-constant", at, "a constant expression is expected here");
    }
    return false;
}

bool ptx_const_uint(struct ptx_parser *p, uint64_t *out)
{
    ptx_skip_blank(p);
    struct span at = ptx_here(p);
    struct ptx_const v;
    if (!ptx_const_expr(p, &v))
        return false;
    if (v.is_float || (v.i < 0 && !v.is_unsigned)) {
        ptx_error(p, "ptx-constant", ptx_upto(p, at), "a non-negative integer is expected here");
        return false;
    }
    *out = (uint64_t)v.i;
    return true;
}

/* ---- a constant as the bytes of a variable ---- */
static uint64_t f16_bits(double d)
{
    float f = (float)d;
    uint32_t x;
    memcpy(&x, &f, sizeof x);
    uint32_t sign = x >> 16 & 0x8000, mag = x & 0x7fffffff;
    if (mag >= 0x7f800000)
        return sign | (mag > 0x7f800000 ? 0x7fff : 0x7c00);
    double m = fabs(d), scaled = m < 0x1p-14 ? nearbyint(m * 0x1p24) : 0;
    if (m < 0x1p-14)
        return sign | (uint32_t)scaled;
    int e;
    double frac = frexp(m, &e);
    /* 11 bits; a carry into 2048 moves the exponent */
    uint32_t r = (uint32_t)nearbyint(frac * 2048);
    uint32_t bits = (uint32_t)(e + 14) * 1024 + (r - 1024);
    return sign | (bits >= 0x7c00 ? 0x7c00 : bits);
}

uint64_t ptx_const_bits(const struct ptx_const *v, enum ptx_type t)
{
    if (!v->is_float && ptx_type_kind(t) != 'f')
        return (uint64_t)v->i;
    double d = v->is_float ? v->d : v->is_unsigned ? (double)(uint64_t)v->i : (double)v->i;
    float f = (float)d;
    uint32_t x;
    switch (t) {
    case PTX_T_F64:
    case PTX_T_B64:
    case PTX_T_U64:
    case PTX_T_S64: {
        uint64_t bits;
        memcpy(&bits, &d, sizeof bits);
        return bits;
    }
    case PTX_T_F16:
    case PTX_T_B16:
    case PTX_T_U16:
    case PTX_T_S16: return f16_bits(d);
    case PTX_T_BF16: memcpy(&x, &f, sizeof x); return (x + 0x7fff + (x >> 16 & 1)) >> 16;
    default:
        if (v->is_float && v->fbits == 32)
            return (uint64_t)v->i;
        memcpy(&x, &f, sizeof x);
        return x;
    }
}
