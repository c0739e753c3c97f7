/* Which loads take part in bypassing and why the others do not, and a load as it is written with the
 * operator of one side. */
#include "engine/analysis/alias.h"
#include "engine/analysis/analysis.h"
#include "engine/pass/words.h"
#include "engine/ptx/meaning.h"
#include "engine/rewrites/bypass_int.h"

#include <string.h>

static void left_alone(struct bypass *b, const struct ptx_inst *i, const char *why)
{
    if (!b->nleft++) {
        b->first_left = i->at;
        b->why_left = why;
    }
}

static bool proven_global(struct bypass *b, const struct ptx_func *f, const struct ptx_inst *i)
{
    if (i->space == PTX_SPACE_GLOBAL)
        return true;
    if (i->space != PTX_SPACE_GENERIC)
        return false;
    struct alias_roots r;
    pass_address_roots(b->c, f, inst_address(i), &r);
    return !r.unknown && !r.window;
}

bool bypass_governs(struct bypass *b, const struct ptx_func *f, const struct ptx_inst *i)
{
    if (!ptx_is_plain_load(i) || (i->space != PTX_SPACE_GLOBAL && i->space != PTX_SPACE_GENERIC))
        return false;
    bool nc = ptx_has_mod(i, PTX_MOD_NC);
    const char *why = NULL;
    if (ptx_is_strong(i))
        why = "it is volatile or ordered";
    else if (!proven_global(b, f, i))
        why = "its address is generic and not proven to be global";
    else if (ptx_has_mod(i, PTX_MOD_UNIFIED) || ptx_has_mod(i, PTX_MOD_L2_CACHE_HINT) ||
             ptx_is_opaque(i))
        why = "it already has a cache policy";
    else if (nc && b->level != BYPASS_RO && !b->with_nc)
        why = "it goes through the read-only cache (--bypass ro)";
    else if (b->level == BYPASS_RO && i->space != PTX_SPACE_GLOBAL)
        why = "only ld.global can be .nc";
    else if (b->level == BYPASS_RO && !nc && (f != b->c->f || !pass_proven_read_only(b->c, i, &why)))
        why = why ? why : "it is in a called function";
    else
        return true;
    left_alone(b, i, why);
    return false;
}

/* Is it among the loads picked by line or by the analysis? */
static bool bypass_chosen(struct bypass *b, const struct ptx_inst *i)
{
    const struct options *o = b->c->opt;
    uint32_t line = pass_line(b->c, i->at.line);
    for (uint32_t k = 0; k < opt_bypass(o)->loads.n; k++)
        if (line && opt_bypass(o)->loads.line[k] == line)
            return true;
    if (opt_bypass(o)->loads.n)
        return false;
    const struct ana_kernel *k = pass_facts(b->c);
    const struct ana_access *a = pass_access(b->c, i);
    if (!a || a->executions == 0)
        return false;
    /* traced, or by its address alone */
    return k->footprint.valid ? !a->reused : a->cls == ANA_CLASS_STREAMING;
}

bool bypass_picked(struct bypass *b, const struct ptx_func *f, const struct ptx_inst *i,
                   enum bypass_pick pick)
{
    return pick != PICK_NONE && bypass_governs(b, f, i) && (pick == PICK_ALL || bypass_chosen(b, i));
}

/* Order of the words of a load (PTX ISA 9.7.9.8): ld .weak .space .cop .nc .L1:: .L2::evict
 * .L2::cache_hint .L2::size .vec .type */
enum {
    ORDER_WEAK,
    ORDER_SPACE,
    ORDER_COP,
    ORDER_NC,
    ORDER_L1,
    ORDER_L2,
    ORDER_HINT,
    ORDER_SIZE,
    ORDER_REST,
    ORDER_COUNT,
    ORDER_DROP
};

static bool is_priority(enum ptx_mod m)
{
    return m == PTX_MOD_L2_EVICT_NORMAL || m == PTX_MOD_L2_EVICT_UNCHANGED ||
           m == PTX_MOD_L2_EVICT_FIRST || m == PTX_MOD_L2_EVICT_LAST;
}

static int order_of(enum ptx_mod m)
{
    switch (ptx_mod_category(m)) {
    case MODCAT_SPACE: return ORDER_SPACE;
    case MODCAT_CACHE: return ORDER_COP;
    case MODCAT_L1: return ORDER_L1;
    case MODCAT_L2: return is_priority(m) ? ORDER_L2 : ORDER_SIZE;
    default: return m == PTX_MOD_WEAK ? ORDER_WEAK : m == PTX_MOD_NC ? ORDER_NC : ORDER_REST;
    }
}

/* What one side of the threshold puts into a load. */
struct words {
    const char *cop, *l1;
    bool hint;
};

static struct words words_of(const struct bypass *b, bool bypassing)
{
    return bypassing ? (struct words){ b->cop, b->l1, b->hint } : (struct words){ .cop = b->keep };
}

/* The words of one place in the order, the inserted one instead of the written ones where there is one.
 */
static void write_place(struct bypass *b, const struct ptx_inst *i, int place, struct words w,
                        struct buf *out)
{
    bool nc = ptx_has_mod(i, PTX_MOD_NC);
    if ((place == ORDER_COP || place == ORDER_L1) && (w.cop || w.l1)) {
        const char *own = place == ORDER_COP ? w.cop : w.l1;
        buf_puts(out, own ? own : "");
        return;
    }
    if (w.hint && place == ORDER_L2)
        return;
    if (w.hint && place == ORDER_HINT)
        buf_puts(out, ".L2::cache_hint");
    if (place == ORDER_NC) {
        if (!w.cop && (nc || b->level == BYPASS_RO))
            buf_puts(out, ".nc");
        return;
    }
    for (uint8_t k = 0; k < i->nmods; k++)
        if (order_of((enum ptx_mod)i->mods[k]) == place)
            buf_puts(out, ptx_mod_text((enum ptx_mod)i->mods[k]));
}

/* Does a load that caches stay as it is written? One that names its place in L1 knows better. */
static bool stays(const struct bypass *b, const struct ptx_inst *i)
{
    if (b->level == BYPASS_RO || b->level == BYPASS_L2)
        return false;
    return !b->keep || ptx_has_mod(i, PTX_MOD_NC) || ptx_mod_of(i, MODCAT_CACHE) != PTX_MOD_NONE ||
           ptx_mod_of(i, MODCAT_L1) != PTX_MOD_NONE;
}

void bypass_write(struct bypass *b, const struct ptx_inst *i, bool bypassing, const char *guard,
                  struct buf *out)
{
    struct str t = ptx_text(b->c->m, i->at), op = words_opcode(b->c->m, i),
               rest = { op.s + op.n, (size_t)(t.s + t.n - op.s) - op.n };
    if (guard)
        buf_puts(out, guard);
    else
        buf_put(out, t.s, (size_t)(op.s - t.s));
    struct words w = words_of(b, bypassing);
    if (!bypassing && stays(b, i)) {
        buf_str(out, op);
        buf_str(out, rest);
        return;
    }
    if (w.cop && ptx_has_mod(i, PTX_MOD_NC))
        b->ndropped_nc++;
    buf_puts(out, "ld");
    for (int place = 0; place < ORDER_COUNT; place++)
        write_place(b, i, place, w, out);
    if (w.hint && rest.n && rest.s[rest.n - 1] == ';') {
        buf_put(out, rest.s, rest.n - 1);
        buf_printf(out, ", %s;", b->policy);
    } else {
        buf_str(out, rest);
    }
}
