/* The tables of statements and of recorded values, and the reader of tests. */
#include "engine/paper/claim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct claim claims[] = {
#define CLAIM(paper, section, text, test, why_not) { paper, section, text, test, why_not },
#include "engine/paper/claims.def"
#undef CLAIM
};

static const struct record recorded[] = {
#define EVIDENCE(id, date, what)
#define RECORDED(kind, id, platform, of, series, value, word) \
    { RECORD_##kind, id, platform, of, series, value, word },
#include "engine/paper/recorded.def"
#undef EVIDENCE
#undef RECORDED
};

size_t claim_count(void)
{
    return ARRAY_LEN(claims);
}
const struct claim *claim_at(size_t i)
{
    return &claims[i];
}
struct records claim_records(void)
{
    return (struct records){ recorded, ARRAY_LEN(recorded) };
}

const char *claim_result_name(enum claim_result r)
{
    static const char *const name[] = { "pass", "fail", "not tried" };
    return name[r];
}

/* ---- reading a test ---- */
enum { DEEP = 16 };
struct reader {
    const char *p;
    const struct records *records;
    const struct record *row; /* of `each`: what {series} is looked up in */
    struct buf *why;          /* NULL: nobody wants the values */
    bool bad, missing;
    unsigned deep;
};

static void blanks(struct reader *r)
{
    while (*r->p == ' ')
        r->p++;
}

static bool take(struct reader *r, const char *word)
{
    size_t n = strlen(word);
    blanks(r);
    if (strncmp(r->p, word, n) != 0)
        return false;
    r->p += n;
    return true;
}

static bool is_part(const char *have, const char *want, size_t n)
{
    return strlen(have) == n && memcmp(have, want, n) == 0;
}

static const struct record *find(const struct reader *r, const char *const part[4], const size_t n[4])
{
    for (size_t i = 0; i < r->records->n; i++) {
        const struct record *x = &r->records->v[i];
        if (is_part(x->id, part[0], n[0]) && (is_part(x->platform, part[1], n[1]) || *part[1] == '*') &&
            is_part(x->of, part[2], n[2]) && is_part(x->series, part[3], n[3]))
            return x;
    }
    return NULL;
}

static void say(struct reader *r, const char *const part[4], const size_t n[4], const struct record *x)
{
    if (!r->why)
        return;
    for (int i = 0; i < 4; i++)
        if (n[i] && *part[i] != '*')
            buf_printf(r->why, "%s%.*s", i ? " " : r->why->n ? "; " : "", (int)n[i], part[i]);
    if (!x)
        buf_puts(r->why, " is not recorded");
    else if (x->word)
        buf_printf(r->why, " is %s", x->word);
    else
        buf_printf(r->why, " %.4g", x->value);
}

/* [id|platform|of|series] */
static const struct record *reference(struct reader *r)
{
    const char *part[4];
    size_t n[4];
    for (int i = 0; i < 4; i++) {
        part[i] = ++r->p;
        n[i] = strcspn(r->p, i < 3 ? "|" : "]");
        r->p += n[i];
        r->bad |= !*r->p;
        if (r->bad)
            return NULL;
    }
    r->p++;
    const struct record *x = find(r, part, n);
    r->missing |= !x;
    say(r, part, n, x);
    return x;
}

/* {series} of the row at hand */
static const struct record *of_row(struct reader *r)
{
    const char *name = ++r->p;
    size_t n = strcspn(name, "}");
    r->p += n + (name[n] == '}');
    r->bad |= !name[n] || !r->row;
    for (size_t i = 0; !r->bad && i < r->records->n; i++) {
        const struct record *x = &r->records->v[i];
        if (x->kind == RECORD_ROW && strcmp(x->id, r->row->id) == 0 &&
            strcmp(x->platform, r->row->platform) == 0 && strcmp(x->of, r->row->of) == 0 &&
            is_part(x->series, name, n))
            return x;
    }
    r->missing = true;
    return NULL;
}

static double sum(struct reader *r);

static double factor(struct reader *r)
{
    char *end;
    blanks(r);
    if (*r->p == '[' || *r->p == '{') {
        const struct record *x = *r->p == '[' ? reference(r) : of_row(r);
        return x ? x->value : (double)NAN;
    }
    if (take(r, "(")) {
        double v = ++r->deep < DEEP ? sum(r) : (double)NAN;
        r->deep--;
        r->bad |= !take(r, ")");
        return v;
    }
    double v = strtod(r->p, &end);
    r->bad |= end == r->p;
    r->p = end;
    return v;
}

static double product(struct reader *r)
{
    double v = factor(r);
    while (!r->bad)
        if (take(r, "*"))
            v *= factor(r);
        else if (take(r, "/"))
            v /= factor(r);
        else
            break;
    return v;
}

static double sum(struct reader *r)
{
    double v = product(r);
    while (!r->bad)
        if (take(r, "+"))
            v += product(r);
        else if (take(r, "-"))
            v -= product(r);
        else
            break;
    return v;
}

static bool compare(struct reader *r)
{
    static const char *const op[] = { "<=", ">=", "<", ">", "=", "~" };
    const char *from = (blanks(r), r->p);
    double a = sum(r);
    if (!r->bad && *from == '[' && take(r, "is ")) {
        struct reader again = { .p = from, .records = r->records };
        const struct record *x = reference(&again);
        size_t n = strcspn(r->p, "&");
        const char *word = r->p;
        r->p += n;
        while (n && word[n - 1] == ' ')
            n--;
        return x && x->word && is_part(x->word, word, n);
    }
    for (size_t i = 0; i < ARRAY_LEN(op); i++)
        if (take(r, op[i])) {
            double b = sum(r);
            r->missing |= a != a || b != b;
            switch (i) {
            case 0: return a <= b;
            case 1: return a >= b;
            case 2: return a < b;
            case 3: return a > b;
            case 4: return fabs(a - b) <= 1e-9 * fabs(b);
            default: return fabs(a - b) <= 0.1 * fabs(b);
            }
        }
    r->bad = true;
    return false;
}

static bool all(struct reader *r)
{
    bool good = compare(r);
    while (!r->bad && take(r, "&"))
        good = compare(r) && good;
    return good;
}

/* ---- for each row ---- */
struct rows {
    const char *id, *platform; /* in the test's text */
    size_t id_n, platform_n;
    const char *body, *names; /* "a => b"; "": every application */
    size_t right, of;
};

static bool named(const char *list, const char *of)
{
    size_t n = strcspn(of, " ");
    for (const char *p = list; *p; p += *p == ' ') {
        size_t m = strcspn(p, " ");
        if (m == n && memcmp(p, of, n) == 0)
            return true;
        p += m;
    }
    return !*list;
}

static bool first_of_row(const struct records *r, size_t i)
{
    const struct record *x = &r->v[i];
    for (size_t k = i; k-- > 0 && strcmp(r->v[k].id, x->id) == 0;)
        if (r->v[k].kind == x->kind && strcmp(r->v[k].of, x->of) == 0 &&
            strcmp(r->v[k].platform, x->platform) == 0)
            return false;
    return true;
}

/* One row: does the condition hold, and then the rest? */
static void try_row(struct rows *w, struct reader *r, struct buf * not )
{
    r->p = w->body;
    r->missing = false;
    bool asked = all(r);
    r->bad |= !take(r, "=>");
    if (r->bad || r->missing || !asked)
        return;
    bool good = all(r);
    blanks(r);
    r->bad |= *r->p && *r->p != '@';
    if (r->missing)
        return;
    w->of++;
    w->right += good;
    if (!good)
        buf_printf(not, "%s%s", not ->n ? ", " : "", r->row->of);
}

static enum claim_result each(const char *test, const struct records *records, struct buf *why)
{
    struct rows w = { .id = test + 5 };
    struct buf not = { 0 };
    struct reader r = { .records = records };
    w.id_n = strcspn(w.id, "|");
    w.platform = w.id + w.id_n + 1;
    w.platform_n = strcspn(w.platform, ":");
    w.body = w.platform + w.platform_n + 1;
    w.names = strchr(w.body, '@') ? strchr(w.body, '@') + 1 : "";
    for (size_t i = 0; i < records->n && !r.bad; i++) {
        const struct record *x = &records->v[i];
        if (x->kind != RECORD_ROW || !is_part(x->id, w.id, w.id_n) || !named(w.names, x->of) ||
            (*w.platform != '*' && !is_part(x->platform, w.platform, w.platform_n)) ||
            !first_of_row(records, i))
            continue;
        r.row = x;
        try_row(&w, &r, &not );
    }
    if (r.bad)
        buf_printf(why, "unreadable: %s", test);
    else if (!w.of)
        buf_printf(why, "%.*s is not recorded", (int)w.id_n, w.id);
    else
        buf_printf(why, "%zu of %zu%s%s", w.right, w.of, not .n ? "; not " : "", not .s ? not .s : "");
    bool tried = !r.bad && w.of;
    buf_free_checked(&not, why);
    return !tried ? CLAIM_NOT_TRIED : w.right == w.of ? CLAIM_PASS : CLAIM_FAIL;
}

enum claim_result claim_try(const char *test, const struct records *records, struct buf *why)
{
    if (strncmp(test, "each ", 5) == 0 && strchr(test, '|') && strchr(test, ':'))
        return each(test, records, why);
    struct reader r = { .p = test, .records = records, .why = why };
    bool good = all(&r);
    blanks(&r);
    if (r.bad || *r.p) {
        buf_clear(why);
        buf_printf(why, "unreadable: %s", test);
        return CLAIM_NOT_TRIED;
    }
    return r.missing ? CLAIM_NOT_TRIED : good ? CLAIM_PASS : CLAIM_FAIL;
}

static const struct evidence evidence[] = {
#define EVIDENCE(id, date, what) { id, date, what },
#define RECORDED(...)
#include "engine/paper/recorded.def"
#undef EVIDENCE
#undef RECORDED
};

const struct evidence *claim_evidence(size_t *n)
{
    *n = ARRAY_LEN(evidence);
    return evidence;
}
