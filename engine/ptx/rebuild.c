/* Instruction text with changes, made from the instruction's own text so that the author's
 * blanks and comments stay; and names nobody has taken. */
#include "engine/ptx/ptx_int.h"

#include <stdio.h>
#include <string.h>

/* ---- renaming ---- */
static bool is_special(struct str name)
{
    if (str_is(name, "WARP_SZ") || str_is(name, "_"))
        return true;
    for (int s = 1; *name.s == '%' && s < PTX_SREG_COUNT; s++)
        if (str_is(name, ptx_sreg_name((enum ptx_sreg)s)))
            return true;
    return false;
}

static const char *skip_comment(const char *s, const char *e)
{
    if (s + 1 < e && s[0] == '/' && s[1] == '/')
        while (s < e && *s != '\n')
            s++;
    else if (s + 1 < e && s[0] == '/' && s[1] == '*')
        for (s += 2; s < e && !(s[-1] == '/' && s[-2] == '*');)
            s++;
    return s;
}

/* Copies s..e with every name renamed; numbers, components and comments are no names. */
static void copy_renamed(const struct ptx_rebuild *how, const char *s, const char *e, struct buf *out)
{
    while (s < e) {
        const char *from = s;
        if ((s = skip_comment(s, e)) > from) {
            buf_put(out, from, (size_t)(s - from));
        } else if (ptx_is(*s, CH_START)) {
            while (s < e && ptx_is(*s, CH_START | CH_DIGIT))
                s++;
            struct str name = { from, (size_t)(s - from) };
            buf_str(out, how->rename && !is_special(name) ? how->rename(how->ctx, name) : name);
        } else if (ptx_is(*s, CH_DIGIT) || (*s == '.' && s + 1 < e && ptx_is(s[1], CH_START))) {
            for (s++; s < e && ptx_is(*s, CH_START | CH_DIGIT);)
                s++;
            buf_put(out, from, (size_t)(s - from));
        } else {
            buf_put(out, s++, 1);
        }
    }
}

/* ---- opcode ---- */
static const char *word_end(const char *s, const char *e)
{
    for (s += *s == '.'; s < e; s++)
        if (!ptx_is(*s, CH_START | CH_DIGIT) && !(*s == ':' && s + 1 < e && s[1] == ':') && !(*s == ':' && s[-1] == ':'))
            break;
    return s;
}

static bool dropped(const struct ptx_rebuild *how, enum ptx_mod m)
{
    for (uint32_t i = 0; i < how->ndrop; i++)
        if (how->drop[i] == m)
            return true;
    return false;
}

/* Which modifier (index) the added one goes before; nmods: the end. */
static unsigned add_place(const struct ptx_inst *i, const struct ptx_rebuild *how)
{
    unsigned type = i->nmods;
    for (unsigned k = i->nmods; k-- > 0;)
        if (ptx_mod_category((enum ptx_mod)i->mods[k]) == MODCAT_TYPE || ptx_mod_category((enum ptx_mod)i->mods[k]) == MODCAT_VEC)
            type = k;
    for (unsigned k = 0; k < i->nmods; k++)
        if (ptx_mod_category((enum ptx_mod)i->mods[k]) == how->add_before)
            return k;
    return type;
}

static unsigned words_of_name(const char *name)
{
    unsigned n = 1;
    for (; *name; name++)
        n += *name == '.';
    return n;
}

/* Copies the opcode from s; returns where it ends. Blanks between its words are kept. */
static const char *copy_opcode(const struct ptx_inst *i, const struct ptx_rebuild *how, const char *s, const char *e, struct buf *out)
{
    unsigned name = words_of_name(ptx_op_info((enum ptx_op)i->op)->name), word = 0, mod = 0, place = add_place(i, how);
    for (;;) {
        const char *end = word_end(s, e);
        bool is_mod = word >= name && i->op != PTX_OP_OPAQUE && mod < i->nmods;
        if (is_mod && mod == place && how->add)
            buf_puts(out, how->add);
        if (!is_mod || !dropped(how, (enum ptx_mod)i->mods[mod]))
            buf_put(out, s, (size_t)(end - s));
        mod += is_mod;
        word++;
        const char *next = end;
        while (next < e && ptx_is(*next, CH_SPACE))
            next++;
        if (next >= e || *next != '.' || !ptx_is(next[1], CH_START | CH_DIGIT)) {
            if (how->add && mod <= place && mod == i->nmods)
                buf_puts(out, how->add);
            return end;
        }
        buf_put(out, end, (size_t)(next - end));
        s = next;
    }
}

static const char *copy_guard(const struct ptx_rebuild *how, const char *s, const char *e, struct buf *out)
{
    const char *from = s;
    if (s < e && *s == '@') {
        for (s++; s < e && !ptx_is(*s, CH_START);)
            s++;
        while (s < e && ptx_is(*s, CH_START | CH_DIGIT))
            s++;
        while (s < e && (ptx_is(*s, CH_SPACE) || skip_comment(s, e) > s))
            s = skip_comment(s, e) > s ? skip_comment(s, e) : s + 1;
    }
    if (how->guard)
        buf_puts(out, how->guard);
    else
        copy_renamed(how, from, s, out);
    return s;
}

void ptx_inst_rebuild(const struct ptx_module *m, const struct ptx_inst *i, const struct ptx_rebuild *how, struct buf *out)
{
    struct str text = ptx_text(m, i->at);
    const char *s = text.s, *e = text.s + text.n, *operands;
    s = copy_guard(how, s, e, out);
    s = copy_opcode(i, how, s, e, out);
    operands = i->nopnds ? m->text.s + i->opnds[i->nopnds - 1].off + i->opnds[i->nopnds - 1].len : s;
    copy_renamed(how, s, operands, out);
    if (how->extra)
        buf_puts(out, how->extra);
    copy_renamed(how, operands, e, out);
}

/* ---- fresh names ---- */
static bool occurs(struct str text, const char *word, char next)
{
    size_t n = strlen(word);
    for (const char *s = text.s, *e = text.s + text.n; s < e;) {
        const char *hit = memmem(s, (size_t)(e - s), word, n);
        if (!hit)
            return false;
        bool starts = hit == text.s || !ptx_is(hit[-1], CH_START | CH_DIGIT);
        if (starts && (next ? hit[n] == next : !ptx_is(hit[n], CH_START | CH_DIGIT)))
            return true;
        s = hit + 1;
    }
    return false;
}

/* Also refuses what a register range could make: %r12 when the text has "%r<". */
static bool taken(const struct ptx_module *m, const char *name)
{
    char prefix[256];
    size_t n = strlen(name);
    if (occurs(m->text, name, 0))
        return true;
    if (n >= sizeof prefix)
        return false;
    memcpy(prefix, name, n + 1);
    while (n && ptx_is(prefix[n - 1], CH_DIGIT)) {
        prefix[--n] = 0;
        if (n && occurs(m->text, prefix, '<'))
            return true;
    }
    return false;
}

void ptx_fresh_name(const struct ptx_module *m, const char *prefix, char *out, size_t n)
{
    const char *fmt = occurs(m->text, prefix, '<') ? "%s_%u" : "%s%u";
    snprintf(out, n, "%s", prefix);
    for (unsigned k = 1; taken(m, out); k++)
        snprintf(out, n, fmt, prefix, k);
}
