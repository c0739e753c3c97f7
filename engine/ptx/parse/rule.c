/* The rules of rules.def, applied to a form; constants that lie where ptxas takes them. */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx_int.h"

#include <string.h>

static const struct {
    uint16_t op;
    uint8_t version;
    const char *when, *need;
} rules[] = {
#define RULE(op, when, need, version) { PTX_OP_##op, version, when, need },
#include "engine/ptx/rules.def"
#undef RULE
};

static bool category_has(struct str word, enum ptx_mod_category c)
{
    return (c == MODCAT_CACHE && str_is(word, "#cache")) || (c == MODCAT_L1 && str_is(word, "#l1")) ||
           (c == MODCAT_SCOPE && str_is(word, "#scope")) ||
           (c == MODCAT_ROUND && str_is(word, "#round"));
}

static bool has_word(const struct ptx_form *f, struct str word)
{
    for (unsigned i = 0; i < f->nmods; i++)
        if (str_is(word, ptx_mod_text((enum ptx_mod)f->mods[i]) + 1) ||
            (*word.s == '#' && category_has(word, ptx_mod_category((enum ptx_mod)f->mods[i]))))
            return true;
    return false;
}

/* One term, s..e: "a/b", "!a/b", "0:a/b". */
static bool term_holds(const struct ptx_form *f, const char *s, const char *e)
{
    bool none = *s == '!', typed = *s == '0' || *s == '1', found = false;
    unsigned slot = typed ? (unsigned)(*s - '0') : 0;
    for (s += none ? 1 : typed ? 2 : 0; s < e && !found;) {
        const char *w = s;
        while (w < e && *w != '/')
            w++;
        struct str word = { s, (size_t)(w - s) };
        found = typed ? slot < f->ntypes && str_is(word, ptx_type_name((enum ptx_type)f->type[slot]))
                      : has_word(f, word);
        s = w + (w < e);
    }
    return found != none;
}

static bool all_hold(const struct ptx_form *f, const char *s)
{
    while (*s) {
        const char *e = s + strcspn(s, " ");
        if (!term_holds(f, s, e))
            return false;
        s = e + (*e == ' ');
    }
    return true;
}

/* "a/b/c" for people: ".a .b .c" */
static void spell(const char *s, struct buf *out)
{
    static const struct {
        const char *word, *says;
    } sets[] = { { "#cache", "a cache operator" },
                 { "#l1", "an L1 eviction priority" },
                 { "#scope", "a scope (.cta .cluster .gpu .sys)" },
                 { "#round", "a rounding modifier" } };
    s += *s == '!' ? 1 : (*s == '0' || *s == '1') ? 2 : 0;
    for (bool first = true; *s && *s != ' '; first = false) {
        size_t n = strcspn(s, "/ ");
        const char *says = NULL;
        for (size_t i = 0; i < ARRAY_LEN(sets); i++)
            says = str_is((struct str){ s, n }, sets[i].word) ? sets[i].says : says;
        buf_puts(out, first ? "" : " ");
        if (says)
            buf_puts(out, says);
        else
            buf_printf(out, ".%.*s", (int)n, s);
        s += n + (s[n] == '/');
    }
}

static void report(struct ptx_parser *p, const struct ptx_form *f, struct span at, const char *need)
{
    struct buf b = { 0 };
    spell(need, &b);
    at.len = (uint32_t)f->text.n;
    ptx_error(p, "ptx-modifier", at,
              *need == '!'        ? "'%.*s' cannot have %s"
              : strchr(need, '/') ? "'%.*s' needs one of %s"
                                  : "'%.*s' needs %s",
              SV(f->text), b.s ? b.s : "");
    buf_free(&b);
}

/* 9.7.9.6, 9.7.13.8: the forms without .sync ended with PTX 6.4 for sm_70 and higher. */
static bool lacks_sync(const struct ptx_parser *p, const struct ptx_form *f)
{
    return (f->op == PTX_OP_VOTE || f->op == PTX_OP_SHFL) && p->m->version >= 64 && p->m->target >= 70 &&
           !has_word(f, str_of("sync"));
}

bool ptx_rules_hold(struct ptx_parser *p, const struct ptx_form *f, const struct span *at)
{
    if (lacks_sync(p, f)) {
        struct span word = at ? *at : NO_SPAN;
        word.len = (uint32_t)f->text.n;
        if (at)
            diag_hint(ptx_error(p, "ptx-target", word,
                                "'%.*s' needs '.sync' on sm_70 and higher, from .version 6.4 on",
                                SV(f->text)),
                      "write %s.sync with a mask of the warp's threads as the last operand",
                      ptx_op_info(f->op)->name);
        return false;
    }
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        if (rules[i].op != f->op || p->m->version < rules[i].version || !all_hold(f, rules[i].when) ||
            all_hold(f, rules[i].need))
            continue;
        if (at)
            report(p, f, *at, rules[i].need);
        return false;
    }
    return true;
}

/* ---- constants among the operands ---- */
/* low to high, and a multiple of `step`; at: the operand, counted as it is written, from 0 */
static const struct range {
    uint16_t op;
    uint8_t at, step;
    int64_t low, high;
    const char *what;
} ranges[] = {
#define NUMBER(op, at)                                  \
    {                                                   \
        PTX_OP_##op, at, 1, 0, 15, "a barrier's number" \
    }
#define COUNT(op)                                                         \
    {                                                                     \
        PTX_OP_##op, 1, 32, 0, 4096, "a number of threads in whole warps" \
    }
    NUMBER(BAR_SYNC, 0),
    COUNT(BAR_SYNC),
    NUMBER(BAR_ARRIVE, 0),
    COUNT(BAR_ARRIVE),
    NUMBER(BAR_RED, 1),
    NUMBER(BAR_CTA_SYNC, 0),
    COUNT(BAR_CTA_SYNC),
    NUMBER(BAR_CTA_ARRIVE, 0),
    COUNT(BAR_CTA_ARRIVE),
    NUMBER(BAR_CTA_RED, 1),
    NUMBER(BARRIER_SYNC, 0),
    COUNT(BARRIER_SYNC),
    NUMBER(BARRIER_ARRIVE, 0),
    COUNT(BARRIER_ARRIVE),
    NUMBER(BARRIER_RED, 1),
    NUMBER(BARRIER_CTA_SYNC, 0),
    COUNT(BARRIER_CTA_SYNC),
    NUMBER(BARRIER_CTA_ARRIVE, 0),
    COUNT(BARRIER_CTA_ARRIVE),
    NUMBER(BARRIER_CTA_RED, 1),
#undef NUMBER
#undef COUNT
    { PTX_OP_BFE, 2, 1, 0, 255, "a position" },
    { PTX_OP_BFE, 3, 1, 0, 255, "a length" },
    { PTX_OP_BFI, 3, 1, 0, 255, "a position" },
    { PTX_OP_BFI, 4, 1, 0, 255, "a length" },
};

void ptx_check_ranges(struct ptx_parser *p, const struct ptx_form *f, const struct ptx_operand *o,
                      unsigned n, struct span at)
{
    for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
        const struct range *r = &ranges[i];
        if (r->op != f->op || r->at >= n || o[r->at].kind != OPND_IMM || o[r->at].is_float)
            continue;
        int64_t v = o[r->at].imm;
        if (v < r->low || v > r->high || v % r->step)
            ptx_error(p, "ptx-operand", at, "%lld is not %s of '%s': %lld to %lld%s", (long long)v,
                      r->what, ptx_op_info(f->op)->name, (long long)r->low, (long long)r->high,
                      r->step > 1 ? ", a multiple of 32" : "");
    }
}
