/* What broke a launch: it is repeated with one part of the hostile machine at a time. */
#include "engine/ptx/flow/callgraph.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/result_read.h"
#include "engine/tune/prove_int.h"

#include <stdio.h>
#include <string.h>

#define X(name, text) text,
static const char *const called[] = { SIM_POISON_LIST(X) };
#undef X

/* ---- the line that reads it ---- */
static bool is_of(uint32_t sreg, enum sim_poison what)
{
    switch (what) {
    case SIM_POISON_SMID: return sreg == PTX_SREG_SMID;
    case SIM_POISON_NSMID: return sreg == PTX_SREG_NSMID;
    case SIM_POISON_WARPID: return sreg == PTX_SREG_WARPID;
    case SIM_POISON_NWARPID: return sreg == PTX_SREG_NWARPID;
    case SIM_POISON_GRIDID: return sreg == PTX_SREG_GRIDID;
    case SIM_POISON_GRAPH: return sreg == PTX_SREG_CURRENT_GRAPH_EXEC;
    case SIM_POISON_CLOCK:
        return (sreg >= PTX_SREG_CLOCK && sreg <= PTX_SREG_CLOCK64) ||
               (sreg >= PTX_SREG_GLOBALTIMER && sreg <= PTX_SREG_GLOBALTIMER_HI);
    case SIM_POISON_COUNTER: return sreg >= PTX_SREG_PM0 && sreg <= PTX_SREG_PM7_64;
    case SIM_POISON_TOTAL_SHARED:
        return sreg == PTX_SREG_TOTAL_SMEM_SIZE || sreg == PTX_SREG_AGGR_SMEM_SIZE;
    case SIM_POISON_DYNAMIC_SHARED: return sreg == PTX_SREG_DYNAMIC_SMEM_SIZE;
    default: return false;
    }
}

/* The first instruction with a register that nothing in its function writes. */
static const struct ptx_inst *reads_unwritten(const struct ptx_func *f)
{
    bool *written = base_alloc(f->nregs + 1);
    const struct ptx_inst *found = NULL;
    for (uint32_t i = 0; written && i < f->ninsts; i++)
        for (struct ptx_regs r = ptx_regs_of(&f->insts[i], PTX_WRITE); ptx_next_reg(&r);)
            written[r.reg] = true;
    for (uint32_t i = 0; written && i < f->ninsts && !found; i++)
        for (struct ptx_regs r = ptx_regs_of(&f->insts[i], PTX_READ); ptx_next_reg(&r);)
            found = written[r.reg] ? found : &f->insts[i];
    base_free(written);
    return found;
}

static const struct ptx_inst *reads(const struct ptx_func *f, enum sim_poison what)
{
    if (what == SIM_POISON_REGISTERS)
        return reads_unwritten(f);
    for (uint32_t i = 0; i < f->ninsts; i++)
        for (unsigned k = 0; k < f->insts[i].nopnds; k++)
            if (f->insts[i].opnds[k].kind == OPND_SREG && is_of(f->insts[i].opnds[k].index, what))
                return &f->insts[i];
    return NULL;
}

static bool calls(const struct ptx_func *f, struct str name)
{
    for (uint32_t i = 0; i < f->ninsts; i++)
        for (unsigned k = 0; k < f->insts[i].nopnds && ptx_effect_of(&f->insts[i]) == EFFECT_CALL; k++) {
            const struct ptx_operand *o = &f->insts[i].opnds[k];
            if (o->kind == OPND_SYM && o->sym && str_eq(o->sym->name, name))
                return true;
        }
    return false;
}

/* The functions of a text that the kernel may come to; NULL: none. looked_shut. */
struct looked {
    struct ptx_module *m;
    const struct ptx_func **list;
    uint32_t n;
};

static void look(const struct tune_prover *p, struct str text, struct looked *out)
{
    *out = (struct looked){ 0 };
    bool ok = ptx_parse(p->path, text, &out->m, NULL) == ST_OK;
    const struct ptx_func *entry = ok ? ptx_find_func(out->m, p->kernel) : NULL;
    out->list = entry ? base_alloc((out->m->nfuncs + 1) * sizeof *out->list) : NULL;
    uint32_t *place = out->list ? base_alloc((out->m->nfuncs + 1) * sizeof *place) : NULL;
    out->n = place ? ptx_reachable(out->m, entry, out->list, place) : 0;
    base_free(place);
}

static void looked_shut(struct looked *l)
{
    base_free(l->list);
    ptx_free(l->m);
}

bool prover_calls(const struct tune_prover *p, struct str text, const char *name)
{
    struct looked l;
    bool any = false;
    if (!memmem(text.s, text.n, name, strlen(name)))
        return false;
    look(p, text, &l);
    for (uint32_t i = 0; i < l.n && !any; i++)
        any = calls(l.list[i], str_of(name));
    looked_shut(&l);
    return any;
}

/* " (line 7: mov.u32 %r1, %smid)", or nothing. */
static void put_line(const struct tune_prover *p, struct str text, enum sim_poison what, struct buf *out)
{
    const struct ptx_inst *in = NULL;
    struct looked l;
    look(p, text, &l);
    for (uint32_t i = 0; i < l.n && !in; i++)
        in = reads(l.list[i], what);
    if (in) {
        struct str t = ptx_text(l.m, in->at);
        while (t.n && (t.s[t.n - 1] == ';' || t.s[t.n - 1] == ' '))
            t.n--;
        buf_printf(out, " (line %u: %.*s)", in->at.line, (int)(t.n < 60 ? t.n : 60), t.s);
    }
    looked_shut(&l);
}

/* ---- one part at a time ---- */
static bool breaks(struct tune_prover *p, const struct shot *s, const struct attack *a)
{
    struct diags none = { 0 };
    char text[200];
    bool broken = prover_launch(p, s, a, 0, &none) == ST_OK &&
                  (result_status(p->ran) != ST_OK ||
                   prover_differs(p, &p->set[a->set], s->code, text, sizeof text));
    diags_free(&none);
    return broken;
}

static void put_poison(struct tune_prover *p, const struct shot *s, const struct attack *a,
                       struct buf *out)
{
    struct attack one = *a;
    bool any = false;
    for (unsigned k = 0; k < SIM_POISON_COUNT; k++) {
        one.how.poison = a->how.poison & 1u << k;
        if (!one.how.poison || !breaks(p, s, &one))
            continue;
        bool value = k < SIM_POISON_MEMORY;
        buf_printf(out, "%s%s%s", any ? ", and" : "", value ? " with another value of " : " through ",
                   called[k]);
        put_line(p, s->text, (enum sim_poison)k, out);
        any = true;
    }
    if (!any)
        buf_puts(out, " with other special registers and memory that is not zero, together");
}

static void put_order(uint8_t order, struct buf *out)
{
    if (order == ORDER_DOWN)
        buf_puts(out, " with CTAs and warps in reverse order");
    else if (order == ORDER_SHUFFLED)
        buf_puts(out, " with CTAs in shuffled order and warps that take turns often");
}

void prover_which(struct tune_prover *p, const struct shot *s, const struct attack *a, char *text,
                  size_t room)
{
    struct attack plain = *a, ordered = *a;
    struct buf out = { 0 };
    plain.how.poison = ordered.how.poison = 0;
    plain.how.order = ORDER_UP;
    bool hostile = a->how.poison || a->how.order;
    if (hostile && !breaks(p, s, &plain)) {
        if (breaks(p, s, &ordered))
            put_order(a->how.order, &out);
        else
            put_poison(p, s, a, &out);
    }
    if (a->set)
        buf_puts(&out, " on a second data set of the same description");
    snprintf(text, room, "%s", out.s ? out.s : "");
    buf_free(&out);
}
