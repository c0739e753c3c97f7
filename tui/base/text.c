/* text: see text.h. */
#include "tui/base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

unsigned utf8_decode(const char *s, size_t n, uint32_t *cp)
{
    const uint8_t *p = (const uint8_t *)s;
    unsigned need = p[0] < 0x80             ? 1
                    : (p[0] & 0xe0) == 0xc0 ? 2
                    : (p[0] & 0xf0) == 0xe0 ? 3
                    : (p[0] & 0xf8) == 0xf0 ? 4
                                            : 0;
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    *cp = 0xfffd;
    if (!need || need > n)
        return 1;
    uint32_t v = need == 1 ? p[0] : p[0] & (0x7fu >> need);
    for (unsigned i = 1; i < need; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 1;
        v = v << 6 | (p[i] & 0x3f);
    }
    if (v < least[need] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
        return 1;
    *cp = v;
    return need;
}

unsigned utf8_encode(uint32_t cp, char *out)
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    unsigned n = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    for (unsigned i = n; i-- > 1; cp >>= 6)
        out[i] = (char)(0x80 | (cp & 0x3f));
    static const uint8_t lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    out[0] = (char)(lead[n] | cp);
    return n;
}

/* Enough of Unicode's tables for kernel names, comments and notes. */
unsigned cp_width(uint32_t cp)
{
    static const struct {
        uint32_t lo, hi;
    } zero[] = { { 0x300, 0x36f },   { 0x483, 0x489 },   { 0x591, 0x5bd },   { 0x610, 0x61a },
                 { 0x64b, 0x65f },   { 0x200b, 0x200f }, { 0x202a, 0x202e }, { 0x2060, 0x2064 },
                 { 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f } };
    static const struct {
        uint32_t lo, hi;
    } wide[] = { { 0x1100, 0x115f },   { 0x2e80, 0x303e },   { 0x3041, 0x33ff },  { 0x3400, 0x4dbf },
                 { 0x4e00, 0x9fff },   { 0xa000, 0xa4cf },   { 0xac00, 0xd7a3 },  { 0xf900, 0xfaff },
                 { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },  { 0x1f300, 0x1f64f },
                 { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd } };
    if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0))
        return 0;
    if (cp < 0x300)
        return 1;
    for (size_t i = 0; i < ARRAY_LEN(zero); i++)
        if (cp >= zero[i].lo && cp <= zero[i].hi)
            return 0;
    for (size_t i = 0; i < ARRAY_LEN(wide); i++)
        if (cp >= wide[i].lo && cp <= wide[i].hi)
            return 2;
    return 1;
}

static unsigned char_width(uint32_t cp)
{
    return cp == '\t' ? 1 : cp_width(cp);
}

unsigned text_width(struct str s)
{
    unsigned w = 0;
    uint32_t cp;
    for (size_t i = 0; i < s.n;) {
        i += utf8_decode(s.s + i, s.n - i, &cp);
        w += char_width(cp);
    }
    return w;
}

struct str text_head(struct str s, unsigned cols)
{
    size_t i = 0;
    uint32_t cp;
    for (unsigned w = 0; i < s.n;) {
        unsigned n = utf8_decode(s.s + i, s.n - i, &cp);
        w += char_width(cp);
        if (w > cols)
            break;
        i += n;
    }
    return (struct str){ s.s, i };
}

struct str text_sentences(struct str s, unsigned cols)
{
    size_t fits = 0;
    for (size_t i = 0; i < s.n; i++)
        if (s.s[i] == '.' && (i + 1 == s.n || s.s[i + 1] == ' ') &&
            text_width((struct str){ s.s, i + 1 }) <= cols)
            fits = i + 1;
    return fits ? (struct str){ s.s, fits } : s;
}

size_t text_find(struct str hay, struct str needle)
{
    if (!needle.n || needle.n > hay.n)
        return SIZE_MAX;
    for (size_t i = 0; i + needle.n <= hay.n; i++) {
        size_t k = 0;
        while (k < needle.n &&
               tolower((unsigned char)hay.s[i + k]) == tolower((unsigned char)needle.s[k]))
            k++;
        if (k == needle.n)
            return i;
    }
    return SIZE_MAX;
}

void row_str(struct row *r, enum role role, struct str s)
{
    if (!s.n || r->n == ROW_MAX_SPANS)
        return;
    r->v[r->n++] = (struct row_span){ s, role };
    r->width += text_width(s);
}

static struct str row_format(struct row *r, const char *fmt, va_list ap)
{
    char tmp[512];
    int n = vsnprintf(tmp, sizeof tmp, fmt, ap);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof tmp ? (size_t)n : sizeof tmp - 1;
    char *copy = arena_dup(r->arena, (struct str){ tmp, len });
    return (struct str){ copy, copy ? len : 0 };
}

void row_put(struct row *r, enum role role, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    row_str(r, role, row_format(r, fmt, ap));
    va_end(ap);
}

void row_pad(struct row *r, unsigned col)
{
    if (r->width < col)
        row_put(r, ROLE_TEXT, "%*s", (int)(col - r->width), "");
}

void row_right(struct row *r, enum role role, unsigned cols, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str s = row_format(r, fmt, ap);
    va_end(ap);
    unsigned w = text_width(s);
    if (w < cols)
        row_put(r, ROLE_TEXT, "%*s", (int)(cols - w), "");
    row_str(r, role, s);
}

void row_bar(struct row *r, enum role role, unsigned cols, double share)
{
    static const char *const eighth[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
    if (!(share > 0))
        share = 0;
    unsigned units = (unsigned)lround((share > 1 ? 1 : share) * cols * 8), start = r->width;
    struct buf b = { 0 };
    for (unsigned i = 0; i < units / 8; i++)
        buf_puts(&b, "█");
    buf_puts(&b, eighth[units % 8]);
    if (b.n)
        row_put(r, role, "%s", b.s);
    if (r->width - start < cols) {
        buf_clear(&b);
        for (unsigned i = r->width - start; i < cols; i++)
            buf_puts(&b, "·");
        row_put(r, ROLE_DIM, "%s", b.s);
    }
    buf_free(&b);
}

/* Mean of the values that column c of `cols` stands for, NaN: none is known. */
static double spark_value(const double *v, size_t n, unsigned c, unsigned cols)
{
    size_t from = n * c / cols, to = n * (c + 1) / cols, known = 0;
    double sum = 0;
    for (size_t i = from; i < (to > from ? to : from + 1); i++)
        if (!isnan(v[i]))
            sum += v[i], known++;
    return known ? sum / (double)known : NAN;
}

void row_spark(struct row *r, enum role role, unsigned cols, const double *v, size_t n, double low,
               double high)
{
    static const char *const step[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    unsigned used = n < cols ? (unsigned)n : cols;
    double least = INFINITY, most = -INFINITY;
    struct buf b = { 0 };
    for (unsigned c = 0; c < used; c++) {
        least = fmin(least, spark_value(v, n, c, used)); /* fmin takes the number, not the NaN */
        most = fmax(most, spark_value(v, n, c, used));
    }
    low = isnan(low) ? least : low;
    high = isnan(high) ? most : high;
    for (unsigned c = 0; c < cols; c++) {
        double x = c < used ? spark_value(v, n, c, used) : NAN;
        double share = high > low ? fmin(fmax((x - low) / (high - low), 0), 1) : 0.5;
        buf_puts(&b, isnan(x) ? " " : step[lround(share * 7)]);
    }
    row_put(r, role, "%s", b.s ? b.s : "");
    buf_free(&b);
}

struct str row_text(const struct row *r)
{
    size_t n = 0;
    for (unsigned i = 0; i < r->n; i++)
        n += r->v[i].s.n;
    char *p = arena_alloc_unaligned(r->arena, n + 1);
    if (!p)
        return (struct str){ "", 0 };
    size_t at = 0;
    for (unsigned i = 0; i < r->n; i++) {
        memcpy(p + at, r->v[i].s.s, r->v[i].s.n);
        at += r->v[i].s.n;
    }
    p[n] = '\0';
    return (struct str){ p, n };
}

/* Three to four significant digits, one blank, then the unit. */
static void text_scaled(char *out, double v, double step, const char *const *units, size_t nunits)
{
    size_t u = 0;
    if (isnan(v)) {
        snprintf(out, TEXT_NUM, "n/a");
        return;
    }
    while (fabs(v) >= step * 0.99995 && u + 1 < nunits) {
        v /= step;
        u++;
    }
    int digits = fabs(v) >= 100 ? 0 : fabs(v) >= 10 ? 1 : 2;
    if (u == 0 && v == floor(v))
        digits = 0;
    snprintf(out, TEXT_NUM, "%.*f%s%s", digits, v, *units[u] ? " " : "", units[u]);
}

void text_time(char *out, double ns)
{
    static const char *const u[] = { "ns", "µs", "ms", "s" };
    text_scaled(out, ns, 1000, u, ARRAY_LEN(u));
}

void text_count(char *out, double v)
{
    static const char *const u[] = { "", "k", "M", "G", "T" };
    text_scaled(out, v, 1000, u, ARRAY_LEN(u));
}

void text_bytes(char *out, double v)
{
    static const char *const u[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    text_scaled(out, v, 1024, u, ARRAY_LEN(u));
}

void text_percent(char *out, double v)
{
    if (isnan(v))
        snprintf(out, TEXT_NUM, "n/a");
    else
        snprintf(out, TEXT_NUM, "%.1f %%", v);
}
