/* Spills. A block that more values enter than a thread may have registers cannot be compiled without
 * local memory; where an assembler was asked, it has said how many bytes go there. Which values go there is chosen as the best possible order of a block would: where a
 * register is needed, the value that is read again last gives up its own. A value that was not in memory
 * yet is stored, and one that is read after it was given up is loaded first. Blocks are taken as loops:
 * what is read before it is written comes round again. */
#include "engine/sim/timing/spill.h"

#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/sim/timing/access.h"
#include "engine/sim/timing/group.h"
#include "engine/sim/timing/sm.h"
#include "engine/sim/timing/warp.h"

#define NEVER       UINT32_MAX
#define LATER       (UINT32_MAX - 1) /* in another block */
#define STACK_REGS  2u               /* the stack's address */
#define MOST_SPILLS 255u             /* of one instruction */
#define MOST_HELD   256u
#define STACK_LINES (UINT64_C(1) << 19) /* of local memory, where no variable lies */

struct held {
    uint32_t reg, next; /* where it is read next */
    bool stored;        /* memory has it too */
};
struct file {
    struct timing_plan *t;
    const struct exec_func *f;
    uint32_t first, end; /* of the block */
    uint32_t room, used, n;
    struct held v[MOST_HELD];
    uint32_t *next;  /* [nregs] while a block is read backwards: where a register is read next */
    uint32_t *reads; /* [nregs] instructions of the function that read it */
    uint8_t *width;  /* [nregs] machine registers; 0: made again where it is needed */
    uint32_t *place; /* [nregs] in the stack, + 1; 0: none yet */
    uint32_t nplaces, values; /* given out; live at once at most, so many are in use */
    uint32_t **at;            /* [end - first]: where each operand is read next after the instruction */
    size_t cap;
    bool nomem;
};

static uint32_t width_of(const struct ptx_func *f, uint32_t reg)
{
    enum ptx_type type = (enum ptx_type)f->regs[reg].type;
    return type == PTX_T_PRED ? 0 : (ptx_type_bits(type) + 31) / 32;
}

static void note(struct file *x, uint32_t pc, uint32_t reg, bool store)
{
    struct timing_op *o = &x->t->op[pc];
    if (x->nomem || o->spill_loads + o->spill_stores >= MOST_SPILLS)
        return;
    if (!base_grow((void **)&x->t->spill, x->t->nspill, &x->cap, sizeof *x->t->spill)) {
        x->nomem = true;
        return;
    }
    if (!o->spill_loads && !o->spill_stores)
        o->spill = x->t->nspill;
    if (!x->place[reg])
        x->place[reg] = x->nplaces++ % x->values + 1;
    o->spill_loads += !store;
    o->spill_stores += store;
    o->slots++;
    x->t->spill[x->t->nspill++] =
        (struct timing_spill){ .at = 2 * (x->place[reg] - 1), .words = x->width[reg], .store = store };
}

static struct held *find(struct file *x, uint32_t reg)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->v[i].reg == reg)
            return &x->v[i];
    return NULL;
}

static void give_up(struct file *x, struct held *h)
{
    x->used -= x->width[h->reg];
    *h = x->v[--x->n];
}

static bool names(const struct exec_inst *in, uint32_t reg)
{
    for (uint32_t k = 0; k < (uint32_t)in->ndst + in->nsrc; k++)
        if (in->regs[k] == reg)
            return true;
    return false;
}

/* Room for `reg`, as seen from the instruction at pc. */
static void hold(struct file *x, uint32_t pc, uint32_t reg, uint32_t next, bool stored)
{
    while (x->used + x->width[reg] > x->room || x->n == MOST_HELD) {
        struct held *last = NULL;
        for (uint32_t i = 0; i < x->n; i++)
            if (!names(&x->t->p->code[pc], x->v[i].reg) && (!last || x->v[i].next > last->next))
                last = &x->v[i];
        if (!last)
            return; /* one instruction alone needs more */
        if (!last->stored && last->next != NEVER)
            note(x, pc, last->reg, true);
        give_up(x, last);
    }
    x->v[x->n++] = (struct held){ reg, next, stored };
    x->used += x->width[reg];
}

/* What is read first is there when the block begins. */
static void begin(struct file *x)
{
    x->n = x->used = 0;
    for (uint32_t pc = x->first; pc < x->end; pc++) {
        const struct exec_inst *in = &x->t->p->code[pc];
        for (uint32_t k = in->ndst; k < (uint32_t)in->ndst + in->nsrc; k++) {
            uint32_t r = in->regs[k];
            if (x->next[r] != pc || find(x, r))
                continue;
            if (x->used + x->width[r] > x->room || x->n == MOST_HELD)
                return;
            x->v[x->n++] = (struct held){ r, pc, true };
            x->used += x->width[r];
        }
    }
}

static void step(struct file *x, uint32_t pc)
{
    const struct exec_inst *in = &x->t->p->code[pc];
    const uint32_t *next = x->at[pc - x->first];
    for (uint32_t i = 0; i < (uint32_t)in->ndst + in->nsrc; i++) {
        /* sources first */
        uint32_t k = i < in->nsrc ? in->ndst + i : i - in->nsrc, r = in->regs[k];
        bool read = k >= in->ndst;
        struct held *h = find(x, r);
        if (!x->width[r])
            continue;
        if (!h && read)
            note(x, pc, r, false);
        if (!h)
            hold(x, pc, r, next[k], read);
        else {
            h->next = next[k];
            h->stored &= read;
        }
        if (read && next[k] == NEVER && (h = find(x, r)))
            give_up(x, h);
    }
}

/* x->at, and in x->next where each register is read first. */
static bool look_back(struct file *x)
{
    struct timing_plan *t = x->t;
    for (uint32_t turn = 0; turn < 2; turn++) { /* the second knows what comes round again */
        for (uint32_t r = 0; r < x->f->nregs; r++)
            x->next[r] = turn && x->next[r] < LATER ? x->next[r] : x->reads[r] ? LATER : NEVER;
        for (uint32_t pc = x->end; pc-- > x->first;) {
            const struct exec_inst *in = &t->p->code[pc];
            uint32_t n = (uint32_t)in->ndst + in->nsrc, **at = &x->at[pc - x->first];
            if (!turn && !(*at = ARENA_ARRAY(t->arena, uint32_t, n + 1)))
                return false;
            for (uint32_t k = 0; k < n; k++) {
                uint32_t next = x->next[in->regs[k]];
                (*at)[k] = next < LATER && next <= pc ? next + (x->end - x->first) : next;
            }
            for (uint32_t k = 0; k < in->ndst; k++)
                x->next[in->regs[k]] = NEVER;
            for (uint32_t k = in->ndst; k < n; k++)
                x->next[in->regs[k]] = pc;
        }
    }
    return true;
}

/* Reads of registers in the block. */
static void count_reads(const struct file *x, uint32_t first, uint32_t end, uint32_t by)
{
    for (uint32_t pc = first; pc < end; pc++) {
        const struct exec_inst *in = &x->t->p->code[pc];
        for (uint32_t k = in->ndst; k < (uint32_t)in->ndst + in->nsrc; k++)
            x->reads[in->regs[k]] += by;
    }
}

static bool spill_block(struct file *x)
{
    x->at = ARENA_ARRAY(x->t->arena, uint32_t *, x->end - x->first + 1);
    if (!x->at)
        return false;
    count_reads(x, x->first, x->end, UINT32_MAX); /* those of other blocks are left */
    bool ok = look_back(x);
    count_reads(x, x->first, x->end, 1);
    if (!ok)
        return false;
    begin(x);
    for (uint32_t pc = x->first; pc < x->end && !x->nomem; pc++)
        step(x, pc);
    return true;
}

/* Registers of the values that enter a block, of the block with most. */
static uint32_t most_entering(const struct timing_plan *t, const struct exec_func *f)
{
    uint32_t most = 0;
    for (uint32_t i = f->first; i < f->first + f->n; i++)
        if (t->p->code[i].leader & LEADS_BLOCK && t->p->code[i].live > most)
            most = t->p->code[i].live;
    return most;
}

static void set_widths(const struct file *x)
{
    for (uint32_t r = 0; r < x->f->nregs; r++)
        x->width[r] = (uint8_t)width_of(x->f->ptx, r);
    for (uint32_t i = x->f->first; i < x->f->first + x->f->n; i++)
        for (uint32_t k = 0;
             !x->t->p->code[i].nsrc && x->t->op[i].flags & TIMING_FREE && k < x->t->p->code[i].ndst; k++)
            x->width[x->t->p->code[i].regs[k]] = 0;
}

static void spill_function(struct timing_plan *t, const struct exec_func *f, uint32_t room,
                           uint32_t values)
{
    struct file x = { .t = t, .f = f, .room = room, .values = values };
    x.next = ARENA_ARRAY(t->arena, uint32_t, f->nregs + 1);
    x.reads = ARENA_ARRAY(t->arena, uint32_t, f->nregs + 1);
    x.place = ARENA_ARRAY(t->arena, uint32_t, f->nregs + 1);
    x.width = ARENA_ARRAY(t->arena, uint8_t, f->nregs + 1);
    if (arena_failed(t->arena))
        return;
    set_widths(&x);
    count_reads(&x, f->first, f->first + f->n, 1);
    for (x.first = f->first; x.first < f->first + f->n; x.first = x.end) {
        x.end = x.first + 1;
        while (x.end < f->first + f->n && !(t->p->code[x.end].leader & LEADS_BLOCK))
            x.end++;
        if (!spill_block(&x))
            return;
    }
}

static void forget(struct timing_plan *t)
{
    for (uint32_t i = 0; t->nspill && i < t->p->ncode; i++) {
        t->op[i].slots -= (uint16_t)(t->op[i].spill_loads + t->op[i].spill_stores);
        t->op[i].spill_loads = t->op[i].spill_stores = 0;
    }
    base_free(t->spill);
    t->spill = NULL;
    t->nspill = 0;
}

static uint32_t moved(const struct timing_plan *t, bool stores, bool loads)
{
    uint32_t words = 0;
    for (uint32_t i = 0; i < t->nspill; i++)
        words += (t->spill[i].store ? stores : loads) ? t->spill[i].words : 0;
    return 4 * words;
}

/* The assembler keeps registers for what is no value of the text: the most room that makes as many bytes
 * of it as were told. Of that and the next smaller one, the nearer. */
static void spill_as_told(struct timing_plan *t, uint32_t values)
{
    const struct sim_compiled *c = &t->p->compiled;
    const struct exec_func *f = &t->p->funcs[0];
    uint32_t told = c->spill_stores + c->spill_loads, least = 1, most = MOST_HELD, last = 0;
    uint32_t places = c->stack / 4 > values ? c->stack / 4 : values;
    while (told && least < most) { /* with `most` fewer bytes than told are moved */
        uint32_t room = (least + most) / 2;
        forget(t);
        spill_function(t, f, room, places);
        uint32_t now = moved(t, true, true);
        if (now >= told)
            least = room + 1;
        else {
            most = room;
            last = now;
        }
    }
    forget(t);
    if (!told)
        return;
    spill_function(t, f, most - (most > 1), places);
    if (moved(t, true, true) - told > told - last) {
        forget(t);
        spill_function(t, f, most, places);
    }
}

void timing_spills(struct timing_plan *t)
{
    uint32_t allowed = t->p->regs_allowed; /* what is estimated has room for all values */
    const struct exec_func *f = &t->p->funcs[0];
    uint32_t values = most_entering(t, f);
    if (t->p->compiled.regs)
        spill_as_told(t, values);
    else if (allowed > STACK_REGS && values > allowed - STACK_REGS)
        spill_function(t, f, allowed - STACK_REGS, values);
}

uint32_t timing_spilled(const struct timing_plan *t)
{
    return moved(t, true, false);
}

uint32_t timing_spill_issue(struct timing_sm *s, struct timing_warp *w, struct timing_sched *q,
                            const struct timing_slot *o, uint32_t t)
{
    const struct timing_plan *plan = &s->group->t->plan;
    const struct timing_op *op = &plan->op[o->pc];
    uint64_t *lines = w->work->lines, line;
    uint32_t there = t, last = t + (o->flags & TIMING_MEMORY ? 0 : o->latency);
    w->work->lines = &line;
    for (uint32_t i = 0; i < (uint32_t)op->spill_loads + op->spill_stores; i++) {
        const struct timing_spill *v = &plan->spill[op->spill + i];
        struct timing_access a = { .kind = v->store ? ACCESS_STORE : ACCESS_LOAD,
                                   .space = PTX_SPACE_LOCAL,
                                   .nlines = 1,
                                   .passes = 1,
                                   .lanes = WARP_LANES,
                                   .bytes = 4 };
        for (uint32_t k = 0; k < v->words; k++) {
            line = (timing_local_line(s, w) + STACK_LINES + v->at + k) << 4 | 15;
            uint32_t done = timing_lsu_issue(s, w, q, &plan->p->code[o->pc], &a, t);
            if (v->store || done <= there)
                continue;
            there = done;
            last = done + (o->flags & TIMING_MEMORY ? 0 : o->latency);
            timing_waits_put(w->work->waits, last, s->now.why);
        }
    }
    w->work->lines = lines;
    return last;
}
