/* Opcode forms: the dotted text of an opcode resolved once against the op table, then
 * shared by every instruction spelled the same. Reads the little languages of ops.def. */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx_int.h"

#include <stdlib.h>
#include <string.h>

/* ---- opcode text ---- */
struct words {
    struct str w[PTX_MAX_WORDS];
    unsigned n;
    bool overflow;
};

static struct words split(struct str text)
{
    struct words r = { .n = 0 };
    for (size_t i = 0, from = 0; i <= text.n; i++) {
        if (i < text.n && text.s[i] != '.')
            continue;
        if (r.n == PTX_MAX_WORDS) {
            r.overflow = true;
            return r;
        }
        r.w[r.n++] = (struct str){ text.s + from, i - from };
        from = i + 1;
    }
    return r;
}

/* The longest table name that starts the opcode; *used says how many words it took. */
static uint16_t find_op(const struct ptx_parser *p, struct str text, const struct words *w,
                        unsigned *used)
{
    for (unsigned k = w->n < 5 ? w->n : 5; k; k--) {
        size_t n = (size_t)(w->w[k - 1].s + w->w[k - 1].n - text.s);
        uint32_t id;
        if (strmap_get(&p->ops, (struct str){ text.s, n }, &id)) {
            *used = k;
            return (uint16_t)id;
        }
    }
    *used = 1;
    return PTX_OP_OPAQUE;
}

/* ---- "@78.90a": since when ---- */
struct since {
    unsigned version, sm;
    char suffix;
};

static const char *read_since(const char *s, struct since *out)
{
    *out = (struct since){ 0 };
    if (*s != '@')
        return s;
    char *e;
    out->version = (unsigned)strtoul(s + 1, &e, 10);
    out->sm = *e == '.' ? (unsigned)strtoul(e + 1, &e, 10) : 0;
    if (*e == 'a')
        out->suffix = *e++;
    return e;
}

static bool since_met(const struct ptx_module *m, struct since s)
{
    return m->version >= s.version && m->target >= s.sm && (!s.suffix || m->target_suffix);
}

static void report_since(struct ptx_parser *p, struct span at, const char *what, struct since s)
{
    if (p->m->version < s.version) {
        struct diag *d =
            ptx_error(p, "ptx-version", at, "'%s' needs .version %u.%u; this module says %u.%u", what,
                      s.version / 10, s.version % 10, p->m->version / 10, p->m->version % 10);
        diag_hint(d, "raise .version to %u.%u or remove it", s.version / 10, s.version % 10);
    } else {
        struct diag *d =
            ptx_error(p, "ptx-target", at, "'%s' needs .target sm_%u%s; this module says %.*s", what,
                      s.sm, s.suffix ? "a" : "", SV(p->m->target_text));
        diag_hint(d, "raise .target or remove it");
    }
}

/* ---- word lists ---- */
static const char *word_end(const char *s)
{
    while (*s && !strchr(" /,|@[!*", *s))
        s++;
    return s;
}

static struct str mod_word(uint16_t m)
{
    return str_of(ptx_mod_text((enum ptx_mod)m) + 1);
}

/* "[f32,f64]": is type t in it? s stands on '['. */
static bool bracket_has(const char *s, enum ptx_type t)
{
    struct str name = str_of(ptx_type_name(t));
    for (s++; *s && *s != ']';) {
        const char *e = s;
        while (*e && *e != ',' && *e != ']')
            e++;
        if (str_eq(name, (struct str){ s, (size_t)(e - s) }))
            return true;
        s = *e == ',' ? e + 1 : e;
    }
    return false;
}

enum match { MATCH_NO, MATCH_TYPE /* the word fits, the type does not */, MATCH_YES };
struct mod_search {
    enum match how;
    struct since since;
    unsigned group;
};

static bool alternative_is(const char *s, const char *e, uint16_t m)
{
    struct str word = { s, (size_t)(e - s) };
    if (str_is(word, "#shape"))
        return ptx_mod_category((enum ptx_mod)m) == MODCAT_SHAPE;
    return str_eq(word, mod_word(m));
}

/* Where a modifier stands in a mods string. `taken` is the set of groups used already. */
static struct mod_search find_mod(const char *mods, uint16_t m, enum ptx_type type, uint64_t taken)
{
    struct mod_search best = { MATCH_NO, { 0 }, 0 };
    unsigned group = 0;
    for (const char *s = mods ? mods : ""; *s; s++) {
        const char *e = word_end(s);
        bool hit = e > s && alternative_is(s, e, m) && !(taken >> group & 1);
        struct since since;
        const char *q = read_since(e, &since);
        bool fits = *q != '[' || bracket_has(q, type);
        if (hit && (fits || best.how == MATCH_NO) && best.how != MATCH_YES)
            best = (struct mod_search){ fits ? MATCH_YES : MATCH_TYPE, since, group };
        while (*q && *q != ' ' && *q != '/')
            q++;
        group += *q == ' ';
        s = q;
        if (!*q)
            break;
    }
    return best;
}

/* ---- types ---- */
/* Does type t stand in the slot list s..e? */
static bool slot_has(const char *s, const char *e, enum ptx_type t, struct since *since)
{
    struct str name = str_of(ptx_type_name(t));
    while (s < e) {
        const char *w = word_end(s);
        const char *q = read_since(w, since);
        if (str_eq(name, (struct str){ s, (size_t)(w - s) }))
            return true;
        for (s = q; s < e && *s == ' ';)
            s++;
    }
    return false;
}

static const char *slot_end(const char *s)
{
    while (*s && *s != ',' && *s != '|')
        s++;
    return s;
}

struct type_search {
    bool ok;
    unsigned bad; /* first slot without a fit */
    unsigned slots;
    struct since since;
};

/* One alternative of a types string against the types of the form. */
static struct type_search match_types(const struct ptx_module *m, const char *s, const uint8_t *type,
                                      unsigned n)
{
    struct type_search r = { .ok = true, .bad = n };
    for (;; s++) {
        const char *e = slot_end(s);
        struct since since = { 0 };
        if (e > s) {
            if (r.slots >= n || !slot_has(s, e, (enum ptx_type)type[r.slots], &since)) {
                r.ok = false;
                r.bad = r.bad < r.slots ? r.bad : r.slots;
            } else if (!since_met(m, since)) {
                r.since = since;
            }
            r.slots++;
        }
        s = e;
        if (*s != ',')
            break;
    }
    r.ok = r.ok && r.slots == n;
    return r;
}

/* The alternative that fits best. *list points at its text. */
static struct type_search find_types(const struct ptx_module *m, const char *types, const uint8_t *type,
                                     unsigned n, const char **list)
{
    struct type_search best = { .ok = false, .bad = 0 };
    bool first = true;
    for (const char *s = types ? types : "";; s++) {
        struct type_search r = match_types(m, s, type, n);
        bool newer = best.ok && best.since.version;
        if (first || (r.ok && (!best.ok || (newer && !r.since.version))) ||
            (!best.ok && r.bad > best.bad)) {
            best = r;
            *list = s;
        }
        first = false;
        s += strcspn(s, "|");
        if (!*s)
            break;
    }
    return best;
}

/* ---- checking and reporting (report: NULL to decide only whether there is something) ---- */
struct report {
    struct ptx_parser *p;
    const struct ptx_form *f;
    const struct span *at;
    bool bad;
};

static struct span word_span(const struct report *r, const char *word, size_t n)
{
    struct span s = *r->at;
    size_t skip = (size_t)(word - r->f->text.s);
    s.off += (uint32_t)skip;
    s.col += (uint32_t)skip;
    s.len = (uint32_t)n;
    return s;
}

/* "f16@42.53 f16x2@42.53" as people read it: ".f16 .f16x2" */
static const char *pretty(struct ptx_parser *p, const char *s, const char *e)
{
    struct buf b = { 0 };
    while (s < e && *s && b.n < 200) {
        const char *w = word_end(s);
        struct since since;
        if (w > s)
            buf_printf(&b, "%s.%.*s", b.n ? " " : "", (int)(w - s), s);
        s = read_since(w, &since);
        if (s == w && *s)
            s++;
    }
    char *text = b.s ? arena_dup(p->a, (struct str){ b.s, b.n }) : NULL;
    buf_free(&b);
    return text ? text : "";
}

struct mods_ctx {
    struct ptx_parser *p;
    const char *mods;
};
static const char *table_word_at(void *ctx, size_t i)
{
    struct mods_ctx *c = ctx;
    struct mod_search s = find_mod(c->mods, (uint16_t)(i + 1), PTX_T_NONE, 0);
    return s.how != MATCH_NO || ptx_mod_category((enum ptx_mod)(i + 1)) == MODCAT_TYPE
               ? ptx_mod_text((enum ptx_mod)(i + 1)) + 1
               : NULL;
}

static void unknown_word(struct report *r, struct str word)
{
    r->bad = true;
    if (!r->at || ptx_quiet(r->p)) {
        r->p->errors += r->at != NULL;
        return;
    }
    const struct ptx_op_info *info = ptx_op_info(r->f->op);
    struct diag *d = ptx_error(r->p, "ptx-modifier", word_span(r, word.s, word.n),
                               "'%s' takes no '.%.*s'", info->name, SV(word));
    struct mods_ctx c = { r->p, info->mods };
    const char *near = ptx_nearest(word, table_word_at, &c, PTX_MOD_COUNT - 1);
    if (near)
        diag_hint(d, "did you mean '.%s'?", near);
    else if (info->mods && *info->mods)
        diag_hint(d, "it takes %s", pretty(r->p, info->mods, info->mods + strlen(info->mods)));
}

static void check_word(struct report *r, struct str word, uint16_t m, uint64_t *taken)
{
    const struct ptx_op_info *info = ptx_op_info(r->f->op);
    struct mod_search s = find_mod(info->mods, m, (enum ptx_type)r->f->type[0], *taken);
    if (s.how == MATCH_NO) {
        if (ptx_mod_category((enum ptx_mod)m) != MODCAT_TYPE ||
            find_mod(info->mods, m, PTX_T_NONE, 0).how != MATCH_NO)
            unknown_word(r, word);
        return;
    }
    *taken |= 1ull << s.group;
    if (s.how == MATCH_TYPE) {
        r->bad = true;
        if (r->at)
            ptx_error(r->p, "ptx-modifier", word_span(r, word.s, word.n),
                      "'%s' takes '.%.*s' only with other types than .%s", info->name, SV(word),
                      ptx_type_name((enum ptx_type)r->f->type[0]));
    } else if (!since_met(r->p->m, s.since)) {
        r->bad = true;
        if (r->at)
            report_since(r->p, word_span(r, word.s, word.n), ptx_mod_text((enum ptx_mod)m), s.since);
    }
}

static void check_required(struct report *r, uint64_t taken)
{
    const char *mods = ptx_op_info(r->f->op)->mods;
    unsigned group = 0;
    for (const char *s = mods ? mods : ""; *s; s++, group++) {
        const char *e = s + strcspn(s, " ");
        if (e > s && e[-1] == '!' && !(taken >> group & 1)) {
            r->bad = true;
            if (r->at)
                ptx_error(r->p, "ptx-modifier", word_span(r, r->f->text.s, r->f->text.n),
                          "'%.*s' lacks one of %s", SV(r->f->text), pretty(r->p, s, e));
            return;
        }
        s = e;
        if (!*s)
            return;
    }
}

/* mul.s32 is no row, mul.lo is: the first longer name that takes these types. */
static const char *longer_name(const struct ptx_module *m, const struct ptx_form *f)
{
    const char *name = ptx_op_info(f->op)->name, *list;
    size_t n = strlen(name);
    for (int i = 1; i < PTX_OP_COUNT; i++) {
        const struct ptx_op_info *o = ptx_op_info((unsigned)i);
        if (!strncmp(o->name, name, n) && o->name[n] == '.' &&
            find_types(m, o->types, f->type, f->ntypes, &list).ok)
            return o->name;
    }
    return NULL;
}

static void check_types(struct report *r)
{
    const struct ptx_op_info *info = ptx_op_info(r->f->op);
    const char *list = "";
    struct type_search t = find_types(r->p->m, info->types, r->f->type, r->f->ntypes, &list);
    if (t.ok && !t.since.version && !t.since.sm)
        return;
    r->bad = true;
    if (!r->at)
        return;
    struct span all = word_span(r, r->f->text.s, r->f->text.n);
    if (t.ok) {
        report_since(r->p, all,
                     r->f->ntypes
                         ? arena_printf(r->p->a, "%s with .%s", info->name,
                                        ptx_type_name((enum ptx_type)r->f->type[t.slots > 1 ? 1 : 0]))
                         : info->name,
                     t.since);
        return;
    }
    struct diag *d;
    if (t.bad < r->f->ntypes && t.slots > t.bad)
        d = ptx_error(r->p, "ptx-type", all, "'%s' has no form for .%s here", info->name,
                      ptx_type_name((enum ptx_type)r->f->type[t.bad]));
    else
        d = ptx_error(r->p, "ptx-type", all, "'%s' takes %u type%s, not %u", info->name, t.slots,
                      t.slots == 1 ? "" : "s", r->f->ntypes);
    for (unsigned i = 0; i < t.bad && *slot_end(list) == ','; i++)
        list = slot_end(list) + 1;
    const char *longer = longer_name(r->p->m, r->f);
    if (longer)
        diag_hint(d, "did you mean '%s'?", longer);
    else if (*list)
        diag_hint(d, "it takes %s", pretty(r->p, list, slot_end(list)));
}

/* Everything about the opcode itself. With `at`, says it; without, sets f->bad. */
static void form_check(struct ptx_parser *p, struct ptx_form *f, const struct span *at)
{
    if (f->op == PTX_OP_OPAQUE)
        return;
    struct report r = { p, f, at, false };
    struct words w = split(f->text);
    unsigned used;
    uint64_t taken = 0;
    find_op(p, f->text, &w, &used);
    for (unsigned i = used; i < w.n; i++) {
        uint32_t m;
        if (strmap_get(&p->mods, w.w[i], &m))
            check_word(&r, w.w[i], (uint16_t)m, &taken);
        else
            unknown_word(&r, w.w[i]);
    }
    if (!r.bad)
        check_types(&r);
    if (!r.bad)
        check_required(&r, taken);
    if (!r.bad)
        r.bad = !ptx_rules_hold(p, f, at);
    const struct ptx_op_info *info = ptx_op_info(f->op);
    struct since base = { info->version, info->sm, info->suffix };
    if (!since_met(p->m, base)) {
        r.bad = true;
        if (at)
            report_since(p, word_span(&r, f->text.s, f->text.n), info->name, base);
    }
    f->bad = r.bad;
}

void ptx_form_report(struct ptx_parser *p, const struct ptx_form *f, struct span at)
{
    struct ptx_form copy = *f;
    form_check(p, &copy, &at);
}

/* ---- signatures ---- */
static enum ptx_type twice(enum ptx_type t)
{
    switch (t) {
    case PTX_T_U16: return PTX_T_U32;
    case PTX_T_S16: return PTX_T_S32;
    case PTX_T_U32: return PTX_T_U64;
    case PTX_T_S32: return PTX_T_S64;
    default: return PTX_T_NONE;
    }
}

/* Reads one alternative of a sig string for form f; *rest: the next one, or the end. False
 * when it asks for a type that the form has not got. */
static bool sig_compile(const struct ptx_form *f, const char *s, struct ptx_sig *out, const char **rest)
{
    *out = (struct ptx_sig){ 0 };
    bool pipe = false, usable = true, has_hint = false;
    for (unsigned i = 0; i < f->nmods; i++)
        has_hint = has_hint || f->mods[i] == PTX_MOD_L2_CACHE_HINT;
    while (*s && *s != ';') {
        struct ptx_slot *o = &out->slot[out->n++];
        bool hinted = false; /* a cache policy: there exactly when .L2::cache_hint is */
        *o = (struct ptx_slot){ .cls = *s++, .type = f->type[0], .pipe = pipe };
        if (*s >= '1' && *s <= '3') {
            usable = usable && f->ntypes > *s - '0';
            o->type = f->type[*s++ - '0'];
        } else if (*s == 'W')
            o->type = (uint8_t)twice((enum ptx_type)f->type[0]), s++;
        else if (*s == '*')
            o->type = PTX_T_NONE, s++;
        else if (*s == ':') {
            const char *e = ++s;
            while (ptx_is(*e, CH_START | CH_DIGIT) && *e != '_')
                e++;
            o->type = (uint8_t)ptx_type_find((struct str){ s, (size_t)(e - s) });
            s = e;
        }
        for (; *s && !strchr(",|;", *s); s++) {
            o->optional = o->optional || *s == '?';
            o->negatable = o->negatable || *s == '!';
            o->scalar = o->scalar || *s == '~';
            o->sink = o->sink || *s == '_';
            hinted = hinted || *s == '^';
        }
        if (hinted && has_hint)
            o->optional = false;
        else if (hinted && o->optional)
            out->n--; /* always the last */
        else
            usable = usable && !hinted;
        out->least = (uint8_t)(out->least + (!o->optional && &out->slot[out->n - 1] == o));
        pipe = *s == '|';
        s += *s == ',' || *s == '|';
        if (out->n == PTX_MAX_OPERANDS)
            break;
    }
    *rest = *s == ';' ? s + 1 : s;
    return usable || f->op == PTX_OP_OPAQUE;
}

static void compile_sigs(struct ptx_parser *p, struct ptx_form *f)
{
    const char *sig = ptx_op_info(f->op)->sig;
    unsigned n = 1;
    for (const char *s = sig; *s; s++)
        n += *s == ';';
    f->sigs = ARENA_ARRAY(p->a, struct ptx_sig, n);
    if (!f->sigs)
        return;
    for (unsigned i = 0; i < n; i++) {
        if (!sig_compile(f, sig, &f->sigs[f->nsigs], &sig) && (i + 1 < n || f->nsigs))
            continue;
        const struct ptx_sig *g = &f->sigs[f->nsigs++];
        for (unsigned k = 0; k < g->n; k++)
            f->label = f->label || g->slot[k].cls == 'l';
    }
}

/* ---- resolving ---- */
static uint8_t space_of(enum ptx_mod m)
{
    switch (m) {
    case PTX_MOD_CONST: return PTX_SPACE_CONST;
    case PTX_MOD_GLOBAL: return PTX_SPACE_GLOBAL;
    case PTX_MOD_LOCAL: return PTX_SPACE_LOCAL;
    case PTX_MOD_PARAM:
    case PTX_MOD_PARAM_ENTRY:
    case PTX_MOD_PARAM_FUNC: return PTX_SPACE_PARAM;
    case PTX_MOD_SHARED:
    case PTX_MOD_SHARED_CTA: return PTX_SPACE_SHARED;
    case PTX_MOD_SHARED_CLUSTER: return PTX_SPACE_SHARED_CLUSTER;
    case PTX_MOD_TEX: return PTX_SPACE_TEX;
    case PTX_MOD_REG: return PTX_SPACE_REG;
    case PTX_MOD_SREG: return PTX_SPACE_SREG;
    default: return PTX_SPACE_GENERIC;
    }
}

/* A type word that the row lists as a modifier (ldmatrix.b6x16_p32, istypep.texref) is one. */
static void add_word(struct ptx_form *f, uint16_t m)
{
    f->mods[f->nmods++] = m;
    enum ptx_mod_category c = ptx_mod_category((enum ptx_mod)m);
    bool type = c == MODCAT_TYPE && find_mod(ptx_op_info(f->op)->mods, m, PTX_T_NONE, 0).how == MATCH_NO;
    if (type && f->ntypes < 4)
        f->type[f->ntypes++] = (uint8_t)ptx_type_find(mod_word(m));
    else if (c == MODCAT_SPACE && !f->space)
        f->space = space_of((enum ptx_mod)m);
    else if (c == MODCAT_VEC)
        f->vec = m == PTX_MOD_V2 ? 2 : m == PTX_MOD_V4 ? 4 : 8;
}

/* Words that are not in the table make the instruction opaque when the module is newer
 * than the table; in a module we know they are a mistake, and stay out of f->mods. */
static bool resolve_words(struct ptx_parser *p, struct ptx_form *f)
{
    struct words w = split(f->text);
    unsigned used = 1, unknown = 0;
    f->op = w.overflow ? PTX_OP_OPAQUE : find_op(p, f->text, &w, &used);
    f->vec = 1;
    f->mods = ARENA_ARRAY(p->a, uint16_t, w.n + 1);
    if (!f->mods)
        return false;
    for (unsigned i = used; i < w.n; i++) {
        uint32_t m;
        if (strmap_get(&p->mods, w.w[i], &m))
            add_word(f, (uint16_t)m);
        else
            unknown++;
    }
    if (unknown && p->m->version > PTX_VERSION_KNOWN)
        f->op = PTX_OP_OPAQUE;
    return true;
}

static const char *op_name_at(void *ctx, size_t i)
{
    (void)ctx;
    return ptx_op_info((unsigned)i + 1)->name;
}

static void note_opaque(struct ptx_parser *p, const struct ptx_form *f, struct span at)
{
    if (!p->ds || p->ds->n > 150)
        return;
    at.len = (uint32_t)f->text.n;
    struct diag *d =
        ptx_report(p, DIAG_NOTE, "ptx-opaque", at,
                   "'%.*s' is not in the op table: kept as it is, not analysed", SV(f->text));
    size_t n = 0;
    while (n < f->text.n && f->text.s[n] != '.')
        n++;
    const char *near = ptx_nearest((struct str){ f->text.s, n }, op_name_at, NULL, PTX_OP_COUNT - 1);
    if (near && !str_eq(str_of(near), (struct str){ f->text.s, n }))
        diag_hint(d, "did you mean '%s'?", near);
}

static bool form_relaxed(uint16_t op)
{
    switch (op) {
    case PTX_OP_LD:
    case PTX_OP_ST:
    case PTX_OP_LDU:
    case PTX_OP_CVT:
    case PTX_OP_SULD_B:
    case PTX_OP_SUST_B:
    case PTX_OP_ST_ASYNC: return true;
    default: return false;
    }
}

static struct ptx_form *make_form(struct ptx_parser *p, struct str text, uint32_t hash, struct span at)
{
    struct ptx_form *f = ARENA_NEW(p->a, struct ptx_form);
    if (!f)
        return NULL;
    f->text = text;
    f->hash = hash;
    if (!resolve_words(p, f))
        return NULL;
    compile_sigs(p, f);
    f->relaxed = form_relaxed(f->op);
    form_check(p, f, NULL);
    if (f->op == PTX_OP_OPAQUE)
        note_opaque(p, f, at);
    return f;
}

static struct ptx_form **form_slot(struct ptx_parser *p, struct str text, uint32_t hash)
{
    size_t mask = p->forms.cap - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct ptx_form *f = p->forms.v[i];
        if (!f || (f->hash == hash && str_eq(f->text, text)))
            return &p->forms.v[i];
    }
}

static bool grow_forms(struct ptx_parser *p)
{
    struct ptx_form **old = p->forms.v;
    size_t cap = p->forms.cap;
    p->forms.cap = cap ? cap * 2 : 256;
    p->forms.v = base_alloc(p->forms.cap * sizeof *old);
    if (!p->forms.v) {
        p->forms.v = old;
        p->forms.cap = cap;
        p->oom = true;
        return false;
    }
    for (size_t i = 0; i < cap; i++)
        if (old[i])
            *form_slot(p, old[i]->text, old[i]->hash) = old[i];
    base_free(old);
    return true;
}

const struct ptx_form *ptx_form_get(struct ptx_parser *p, struct str text, uint32_t hash, struct span at)
{
    if (p->nforms * 2 >= p->forms.cap && !grow_forms(p))
        return NULL;
    struct ptx_form **slot = form_slot(p, text, hash);
    if (*slot)
        return *slot;
    struct ptx_form *f = make_form(p, text, hash, at);
    if (f) {
        *slot = f;
        p->nforms++;
    } else {
        p->oom = true;
    }
    return f;
}
