/* Programs: which functions a kernel reaches, where variables lie, decoding, resources. */
#include "engine/ptx/facts/facts.h"
#include "engine/ptx/flow/asks.h"
#include "engine/ptx/flow/callgraph.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/device.h"
#include "engine/sim/decode/decode.h"
#include "engine/sim/exec/lanes/lanes.h"
#include "engine/sim/exec/native/native.h"
#include "engine/sim/mem.h"
#include "engine/sim/part.h"
#include "engine/sim/windows.h"

#include <string.h>

#define RECURSION_BYTES 32768u /* local memory per thread for calls whose depth is not known */

static bool find_functions(struct decode *d, const struct ptx_func *kernel)
{
    size_t n = d->p->module->nfuncs;
    d->todo = base_alloc((n + 1) * sizeof *d->todo);
    d->place = base_alloc((n + 1) * sizeof *d->place);
    if (!d->todo || !d->place)
        return false;
    d->ntodo = ptx_reachable(d->p->module, kernel, d->todo, d->place);
    struct sim_program *p = d->p;
    p->nfuncs = d->ntodo;
    p->func_at = ARENA_ARRAY(p->arena, uint32_t, n + 1);
    if (p->func_at)
        memcpy(p->func_at, d->place, n * sizeof *d->place);
    else
        d->oom = true;
    p->funcs = ARENA_ARRAY(p->arena, struct exec_func, p->nfuncs + 1);
    if (!p->funcs || d->oom)
        return false;
    d->contract = p->preset.contract != 0 && !p->part;
    for (uint32_t i = 0; i < p->nfuncs; i++) {
        struct exec_func *f = &p->funcs[i];
        f->index = i;
        f->first = p->ncode;
        f->n = d->todo[i]->ninsts + 1;
        p->ncode += f->n;
        const struct ptx_func *g = d->contract ? ptx_fused_of(d->todo[i]) : d->todo[i];
        d->oom |= !g;
        if (!g || !decode_layout(d, g, f))
            return false;
    }
    p->code = ARENA_ARRAY(p->arena, struct exec_inst, p->ncode + 1);
    return p->code && !d->oom;
}

/* ---- variables ---- */
static bool place_symbol(struct decode *d, const struct ptx_symbol *s, uint32_t cap,
                         struct ptx_shared *shared_vars)
{
    struct sim_program *p = d->p;
    bool shared = s->space == PTX_SPACE_SHARED, global = s->space == PTX_SPACE_GLOBAL,
         constant = s->space == PTX_SPACE_CONST;
    if (s->kind != SYM_VAR || (!shared && !global && !constant) ||
        (shared && !ptx_shared_counts(p->module, d->todo[0], s)))
        return true;
    struct exec_symbol e = { .sym = s, .bytes = s->bytes };
    if (p->nsymbols == cap)
        return decode_why(d, "symbol table is full");
    if (p->part) {
        if (!p->part->place(p->part->ctx, s, &e.addr))
            return true;
    } else if (shared) {
        e.addr = ptx_shared_place(shared_vars, s);
    } else if (s->bytes) {
        char name[160];
        size_t n = s->name.n < sizeof name - 1 ? s->name.n : sizeof name - 1;
        memcpy(name, s->name.s, n);
        name[n] = 0;
        e.addr = sim_mem_kept(p->mem, s);
        e.kept = e.addr != 0;
        if (!e.kept)
            e.addr = sim_mem_place(p->mem, s->bytes, name, constant ? PLACE_CONSTANT : PLACE_VARIABLE);
        if (!e.addr)
            return !(d->oom = true);
    }
    if (!s->func && !shared && !strmap_get(&p->by_name, s->name, NULL))
        strmap_set(&p->by_name, s->name, p->nsymbols);
    d->oom = d->oom || p->by_name.oom;
    p->symbols[p->nsymbols++] = e;
    return !d->oom;
}

/* Constants lie below all else: placed first, and given back last, each is entered and removed at the
 * end of the memory's table. */
static bool place_all(struct decode *d, bool constants, uint32_t cap, struct ptx_shared *shared_vars)
{
    const struct sim_program *p = d->p;
    bool ok = true;
    for (uint32_t i = 0; ok && i < p->module->nglobals; i++)
        if ((p->module->globals[i]->space == PTX_SPACE_CONST) == constants)
            ok = place_symbol(d, p->module->globals[i], cap, shared_vars);
    for (uint32_t i = 0; ok && i < p->nfuncs; i++)
        for (uint32_t k = 0; ok && k < p->funcs[i].ptx->nvars; k++)
            if ((p->funcs[i].ptx->vars[k]->space == PTX_SPACE_CONST) == constants)
                ok = place_symbol(d, p->funcs[i].ptx->vars[k], cap, shared_vars);
    return ok;
}

static bool place_variables(struct decode *d)
{
    struct sim_program *p = d->p;
    struct ptx_shared shared_vars = { 0 };
    uint32_t cap = p->module->nglobals;
    for (uint32_t i = 0; i < p->nfuncs; i++)
        cap += p->funcs[i].ptx->nvars;
    p->symbols = ARENA_ARRAY(p->arena, struct exec_symbol, cap + 1);
    if (!p->symbols)
        return false;
    bool ok = place_all(d, true, cap, &shared_vars) && place_all(d, false, cap, &shared_vars);
    p->shared_static = p->shared_dyn =
        p->part ? p->part->shared : (uint32_t)ptx_shared_end(&shared_vars);
    for (uint32_t i = 0; i < p->nsymbols; i++)
        if (p->symbols[i].addr == UINT64_MAX)
            p->symbols[i].addr = p->shared_dyn;
    return ok;
}

static uint64_t reloc_value(struct decode *d, const struct ptx_reloc *r)
{
    if (r->sym->kind == SYM_FUNC)
        return decode_func_handle(r->sym->func) + (uint64_t)r->addend;
    for (uint32_t i = 0; i < d->p->nsymbols; i++)
        if (d->p->symbols[i].sym == r->sym)
            return d->p->symbols[i].addr + (uint64_t)r->addend +
                   (r->generic && r->sym->space == PTX_SPACE_SHARED ? SHARED_WINDOW : 0);
    return 0;
}

/* Initial values, addresses of other variables filled in. */
static bool fill_variables(struct decode *d)
{
    struct sim_program *p = d->p;
    for (uint32_t i = 0; i < p->nsymbols; i++) {
        const struct ptx_symbol *s = p->symbols[i].sym;
        if (s->space == PTX_SPACE_SHARED || !s->bytes || p->symbols[i].kept)
            continue;
        uint8_t *host = sim_mem_host(p->mem, p->symbols[i].addr, s->bytes);
        if (host && s->init)
            memcpy(host, s->init, s->ninit < s->bytes ? s->ninit : s->bytes);
        for (uint32_t k = 0; host && k < s->nreloc; k++) {
            uint64_t v = reloc_value(d, &s->reloc[k]);
            unsigned n = s->reloc[k].bytes ? s->reloc[k].bytes : 8;
            if (s->reloc[k].at + n <= s->bytes)
                memcpy(host + s->reloc[k].at, &v, n);
        }
        if (!sim_mem_keep(p->mem, p->module, s, p->symbols[i].addr))
            return false;
        p->symbols[i].kept = p->mem->keeps;
    }
    return true;
}

/* ---- local memory: the deepest chain of calls ---- */
struct chain {
    uint32_t func, inst, opnd;
}; /* where in a function the walk over its calls is */

/* The function that the next call from here goes to; EXEC_NO_ID: there is none left. */
static uint32_t next_callee(struct decode *d, struct chain *at)
{
    const struct ptx_func *f = d->p->funcs[at->func].ptx;
    for (; at->inst < f->ninsts; at->inst++, at->opnd = 0)
        while (f->insts[at->inst].op == PTX_OP_CALL && at->opnd < f->insts[at->inst].nopnds) {
            const struct ptx_operand *t = &f->insts[at->inst].opnds[at->opnd++];
            uint32_t g = t->kind == OPND_SYM && t->sym->kind == SYM_FUNC
                             ? decode_func_index(d, t->sym->func)
                             : EXEC_NO_ID;
            if (g != EXEC_NO_ID)
                return g;
        }
    return EXEC_NO_ID;
}

static void at_least(uint32_t *most, uint32_t n)
{
    *most = n > *most ? n : *most;
}

/* Depth first over the calls, with a stack of its own: a module may nest them as deep as it likes.
 * most[f]: bytes of the deepest chain below f, with f's own once its calls are done. A call of a
 * function that is on the stack is recursion. */
static void chain_bytes(struct decode *d, struct chain *stack, uint8_t *state, uint32_t *most)
{
    enum { UNSEEN, OPEN, DONE };
    struct sim_program *p = d->p;
    uint32_t depth = 1;
    stack[0] = (struct chain){ 0, 0, 0 };
    state[0] = OPEN;
    while (depth) {
        uint32_t f = stack[depth - 1].func, g = next_callee(d, &stack[depth - 1]);
        if (g == EXEC_NO_ID) {
            most[f] += p->funcs[f].local_bytes;
            state[f] = DONE;
            if (--depth)
                at_least(&most[stack[depth - 1].func], most[f]);
        } else if (state[g] == UNSEEN) {
            state[g] = OPEN;
            stack[depth++] = (struct chain){ g, 0, 0 };
        } else if (state[g] == OPEN) {
            p->recursive = true;
        } else {
            at_least(&most[f], most[g]);
        }
    }
}

static bool size_local(struct decode *d)
{
    struct sim_program *p = d->p;
    uint8_t *state = base_alloc(p->nfuncs + 1);
    uint32_t *most = base_alloc((p->nfuncs + 1) * sizeof *most);
    struct chain *stack = base_alloc((p->nfuncs + 1) * sizeof *stack);
    bool ok = state && most && stack;
    if (ok) {
        chain_bytes(d, stack, state, most);
        p->local_bytes = (uint32_t)sim_round_up(most[0], 16) + (p->recursive ? RECURSION_BYTES : 0);
    }
    BASE_FREE(state, most, stack);
    return ok;
}

/* ---- loading ---- */
static bool collect_loads(struct sim_program *p)
{
    p->loads = ARENA_ARRAY(p->arena, const struct exec_inst *, p->nloads + 1);
    for (uint32_t i = 0; p->loads && i < p->ncode; i++)
        if (p->code[i].load_id != EXEC_NO_ID)
            p->loads[p->code[i].load_id] = &p->code[i];
    return p->loads != NULL;
}

/* The most registers with which an SM holds as many warps as with so many: ptxas uses them up
 * (tests/tool/unrolled.py --rule, sums of many loads). */
static uint32_t regs_step(uint32_t regs, const struct dev_info *d)
{
    uint32_t step = dev_regs_of_warps(d, dev_warps_of_regs(d, regs));
    return step > regs ? step : regs;
}

/* What ptxas would allocate for so many registers live at once, in its steps of 8. It takes about ten
 * more (addresses and loads ahead), but finds room in 32, which leave an SM all its warps, for whatever
 * fits: of 33 demo kernels built for sm_90 none has more than 32. */
static uint32_t estimate_regs(uint32_t live, const struct dev_info *d)
{
    uint32_t want = live + 10;
    if (want > 32 && live < 32)
        want = 32;
    want = want < 16 ? 16 : (want + 7) / 8 * 8;
    want = want > 32 ? regs_step(want, d) : want;
    return want > (uint32_t)d->sm.regs_per_thread ? (uint32_t)d->sm.regs_per_thread : want;
}

/* ptxas spills rather than have a CTA of the promised size not fit. */
static uint32_t limited_regs(struct sim_program *p, const struct ptx_func *f, const struct dev_info *d,
                             uint32_t regs)
{
    struct dev_bounds b = { ptx_threads_of(f), f->minnctapersm, f->maxnreg };
    uint32_t most = dev_regs_allowed(d, &b);
    if (f->maxnreg || (f->minnctapersm && b.threads) || p->regs > most)
        p->regs_allowed = most < 255 ? most : 255;
    return regs > most ? most : regs;
}

static enum status decode_program(struct decode *d, const struct ptx_func *kernel)
{
    struct sim_program *p = d->p;
    bool ok = find_functions(d, kernel) && place_variables(d);
    if (!ok)
        return ST_NOMEM;
    for (uint32_t i = 0; i < p->nfuncs; i++)
        ok &= decode_function(d, i);
    if (d->oom)
        return ST_NOMEM;
    if (!ok)
        return ST_DEVICE;
    if (!p->part && !decode_lean(d))
        return ST_NOMEM;
    if (!p->part && !fill_variables(d))
        return ST_NOMEM;
    uint8_t *raw = arena_alloc(p->arena, d->nconst + 64);
    p->constants = raw ? raw + (64 - (uintptr_t)raw % 64) % 64 : NULL;
    if (p->constants && d->nconst)
        memcpy(p->constants, d->consts, d->nconst);
    p->const_bytes = d->nconst;
    p->ordered = d->atomic_order;
    struct dev_info info;
    sim_preset_info(&p->preset, &info);
    p->regs = limited_regs(p, kernel, &info, estimate_regs(p->regs, &info));
    return p->constants && collect_loads(p) && size_local(d) ? ST_OK : ST_NOMEM;
}

/* Who synchronises the whole grid finds a size and a barrier behind %envreg1 (high word) and 2, as a
 * cooperative launch leaves them (cooperative_groups/details/driver_abi.h). */
static bool place_grid_space(struct sim_program *p)
{
    for (uint32_t i = 0; i < p->nsregs && !p->grid_space; i++)
        if (p->sregs[i].sreg == PTX_SREG_ENVREG1 || p->sregs[i].sreg == PTX_SREG_ENVREG2) {
            if (!(p->grid_space = sim_mem_place(p->mem, SIM_GRID_SPACE,
                                                "workspace of the grid's barrier", PLACE_BUFFER)))
                return false;
        }
    return true;
}

/* p: the module, and what it runs on. */
static enum status load(struct sim_program *p, const struct ptx_func *f, const struct text_marks *marks,
                        unsigned limit, struct sim_program **out, struct diags *ds)
{
    p->arena = arena_new(0);
    p->lanes = exec_lanes_pick(limit);
    p->dots = dot_pick(limit);
    struct decode d = { .p = p, .ds = ds, .lanes = p->lanes, .marks = marks };
    enum status st = p->arena ? decode_program(&d, f) : ST_NOMEM;
    if (st == ST_OK && p->part && p->nfuncs > 1 && p->local_bytes > p->part->most_local) {
        diag_error(ds, "not-modelled", "calls that need %u bytes of local memory a thread",
                   p->local_bytes);
        st = ST_DEVICE;
    }
    BASE_FREE(d.consts, d.table, d.todo, d.place);
    if (st == ST_OK && !p->part && !place_grid_space(p))
        st = ST_NOMEM;
    if (st == ST_OK)
        *out = p;
    else
        sim_unload(p);
    if (st == ST_NOMEM)
        diag_error(ds, "memory", "out of memory while preparing the kernel");
    return st;
}

enum status sim_load_lanes(const struct ptx_module *m, struct str kernel, const struct text_marks *marks,
                           const struct sim_preset *preset, struct sim_mem *mem, unsigned limit,
                           struct sim_program **out, struct diags *ds)
{
    *out = NULL;
    const struct ptx_func *f = ptx_find_func(m, kernel);
    if (!f || !f->entry || !f->has_body) {
        diag_error(ds, "kernel", "no kernel named '%.*s'", (int)kernel.n, kernel.s);
        return ST_INPUT;
    }
    if (m->address_size == 32 && f->param_bytes) {
        struct diag *d = diag_add(ds, DIAG_ERROR, "not-modelled", m->path, m->header,
                                  "the simulated device has 64-bit addresses; this module has 32-bit "
                                  "addresses (.address_size)");
        diag_hint(d, "compile with -m64; current ptxas and drivers do not accept 32-bit modules either");
        return ST_DEVICE;
    }
    struct sim_program *p = base_alloc(sizeof *p);
    if (!p)
        return ST_NOMEM;
    p->module = m;
    p->mem = mem;
    p->preset = *preset;
    p->no_native = limit != 0;
    return load(p, f, marks, limit, out, ds);
}

enum status sim_load_part(const struct ptx_module *m, const struct ptx_func *kernel,
                          const struct part *part, struct sim_program **out, struct diags *ds)
{
    struct sim_program *p = base_alloc(sizeof *p);
    *out = NULL;
    if (!p)
        return ST_NOMEM;
    p->module = m;
    p->part = part;
    p->preset = sim_preset_default();
    p->preset.sms = 1;
    p->no_native = true;
    return load(p, kernel, NULL, 0, out, ds);
}

void sim_unload(struct sim_program *p)
{
    if (!p)
        return;
    for (uint32_t i = p->mem ? p->nsymbols : 0; i-- > 0;)
        if (p->symbols[i].sym->space != PTX_SPACE_SHARED && p->symbols[i].addr &&
            p->symbols[i].addr != UINT64_MAX && !p->symbols[i].kept)
            sim_mem_release(p->mem, p->symbols[i].addr);
    if (p->heap)
        sim_mem_release(p->mem, p->heap);
    if (p->grid_space)
        sim_mem_release(p->mem, p->grid_space);
    native_free(p->native);
    strmap_free(&p->by_name);
    arena_free(p->arena);
    base_free(p);
}

/* ---- what others ask ---- */
static const struct exec_symbol *find_symbol(const struct sim_program *p, struct str name)
{
    uint32_t i;
    return strmap_get(&p->by_name, name, &i) ? &p->symbols[i] : NULL;
}

bool sim_symbol(const struct sim_program *p, struct str name, uint64_t *addr, uint64_t *bytes)
{
    const struct exec_symbol *e = find_symbol(p, name);
    if (!e)
        return false;
    *addr = e->addr;
    *bytes = e->bytes;
    return true;
}

enum status sim_symbol_write(struct sim_program *p, struct str name, uint64_t off, const void *data,
                             uint64_t n)
{
    const struct exec_symbol *e = find_symbol(p, name);
    if (!e || off > e->bytes || n > e->bytes - off)
        return ST_USAGE;
    if (!n)
        return ST_OK;
    uint8_t *host = sim_mem_host(p->mem, e->addr + off, n);
    if (!host)
        return ST_USAGE;
    memcpy(host, data, n);
    return ST_OK;
}

void sim_program_set_compiled(struct sim_program *p, const struct sim_compiled *c)
{
    p->compiled = *c;
    p->regs = c->regs;
    p->spilled = c->spill_stores;
    p->regs_allowed = p->regs_allowed ? c->regs : 0;
}

struct sim_resources sim_program_resources(const struct sim_program *p)
{
    const struct ptx_func *f = p->funcs[0].ptx;
    uint64_t most = (uint64_t)p->preset.max_threads_per_block;
    uint64_t promised = ptx_threads_of(f), asked = promised ? promised : most;
    return (struct sim_resources){ p->regs,        p->shared_static,
                                   p->local_bytes, (uint32_t)f->param_bytes,
                                   p->spilled,     (uint32_t)(asked < most ? asked : most) };
}
