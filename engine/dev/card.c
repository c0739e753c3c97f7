/* Launches from memory on a simulated device. */
#include "engine/dev/card.h"

#include "engine/dev/dev_int.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/mem.h"

#include <string.h>

struct card {
    struct sim_preset preset;
    struct dev_info info;
    struct sim_mem *mem;
    unsigned threads;
    struct card_code *codes;
};
struct card_kernel {
    struct card_code *code;
    const struct ptx_func *func;
    struct sim_program *prog;
    double insts_of_cta; /* warp instructions of the last launch, by CTA; 0: none yet */
    struct card_kernel *next;
};
struct card_code {
    struct card *m;
    struct ptx_module *module;
    struct card_kernel *kernels;
    struct card_code *next;
};

enum status card_new(const struct sim_preset *p, uint64_t variables_at, unsigned threads,
                     struct card **out, struct diags *ds)
{
    *out = NULL;
    enum status st = sim_preset_check(p, ds);
    struct card *m = st == ST_OK ? base_alloc(sizeof *m) : NULL;
    if (!m)
        return st == ST_OK ? ST_NOMEM : st;
    m->preset = *p;
    m->threads = threads;
    sim_preset_info(p, &m->info);
    m->mem = sim_mem_new(UINT64_MAX >> 1); /* the caller says what fits */
    if (!m->mem) {
        base_free(m);
        return ST_NOMEM;
    }
    sim_mem_keep_variables(m->mem, variables_at);
    *out = m;
    return ST_OK;
}

static void code_free(struct card_code *c)
{
    while (c->kernels) {
        struct card_kernel *k = c->kernels;
        c->kernels = k->next;
        sim_unload(k->prog);
        base_free(k);
    }
    sim_mem_forget(c->m->mem, c->module);
    ptx_free(c->module);
    base_free(c);
}

void card_free(struct card *m)
{
    while (m && m->codes) {
        struct card_code *c = m->codes;
        m->codes = c->next;
        code_free(c);
    }
    if (m)
        sim_mem_free(m->mem);
    base_free(m);
}

struct sim_mem *card_memory(struct card *m)
{
    return m->mem;
}

const struct dev_info *card_info(const struct card *m)
{
    return &m->info;
}

enum status card_load(struct card *m, struct ptx_module *module, struct card_code **out)
{
    struct card_code *c = base_alloc(sizeof *c);
    *out = c;
    if (!c) {
        ptx_free(module);
        return ST_NOMEM;
    }
    *c = (struct card_code){ m, module, NULL, m->codes };
    m->codes = c;
    return ST_OK;
}

const struct ptx_module *card_module(const struct card_code *c)
{
    return c->module;
}

enum status card_kernel(struct card_code *c, struct str name, struct card_kernel **out, struct diags *ds)
{
    for (*out = c->kernels; *out; *out = (*out)->next)
        if (str_eq((*out)->func->name, name))
            return ST_OK;
    struct sim_program *prog = NULL;
    struct card_kernel *k = base_alloc(sizeof *k);
    enum status st = k ? sim_load(c->module, name, &c->m->preset, c->m->mem, &prog, ds) : ST_NOMEM;
    if (st != ST_OK) {
        base_free(k);
        return st;
    }
    *k = (struct card_kernel){
        .code = c, .func = ptx_find_func(c->module, name), .prog = prog, .next = c->kernels
    };
    *out = c->kernels = k;
    return ST_OK;
}

const struct ptx_func *card_function(const struct card_kernel *k)
{
    return k->func;
}

struct sim_resources card_resources(const struct card_kernel *k)
{
    return sim_program_resources(k->prog);
}

/* Variables are placed with the first kernel that can be made ready. */
static bool any_kernel(struct card_code *c, struct diags *ds)
{
    struct diags first = { 0 };
    struct card_kernel *k = c->kernels;
    for (uint32_t i = 0; !k && i < c->module->nfuncs; i++) {
        const struct ptx_func *f = c->module->funcs[i];
        struct diags one = { 0 };
        if (f->entry && f->has_body && card_kernel(c, f->name, &k, &one) != ST_OK)
            k = NULL;
        if (!first.n)
            diags_move(&first, &one);
        diags_free(&one);
    }
    if (!k)
        diags_move(ds, &first);
    diags_free(&first);
    return k != NULL;
}

bool card_variable(struct card_code *c, struct str name, uint64_t *addr, uint64_t *bytes,
                   struct diags *ds)
{
    return any_kernel(c, ds) && sim_symbol(c->kernels->prog, name, addr, bytes);
}

enum status card_place(struct card_code *c, struct str name, uint64_t addr, struct diags *ds)
{
    const struct ptx_symbol *s = NULL;
    for (uint32_t i = 0; i < c->module->nglobals && !s; i++)
        if (c->module->globals[i]->kind == SYM_VAR && str_eq(c->module->globals[i]->name, name))
            s = c->module->globals[i];
    uint8_t *to = s ? sim_mem_host(c->m->mem, addr, s->bytes) : NULL;
    if (!to) {
        diag_error(ds, "symbol", "the module has no variable '%.*s', or there is no memory for it",
                   (int)name.n, name.s);
        return ST_INPUT;
    }
    if (s->init)
        memcpy(to, s->init, s->ninit < s->bytes ? s->ninit : s->bytes);
    return sim_mem_keep(c->m->mem, NULL, s, addr) ? ST_OK : ST_NOMEM;
}

/* Of a launch that is over sooner than threads are started, one. */
#define FEW_INSTS 50000.0
static unsigned threads_of(const struct card_kernel *k, const struct card_launch *l)
{
    double insts = k->insts_of_cta * (double)dim3u_count(l->grid);
    return !l->timed && insts > 0 && insts < FEW_INSTS ? 1 : k->code->m->threads;
}

/* Lent memory first, then the module's own variables. */
bool card_piece(const struct card_kernel *k, size_t i, struct card_piece *out)
{
    struct sim_mem *mem = k->code->m->mem;
    for (size_t e = 0; e < mem->n; e++) {
        const struct sim_mem_entry *x = &mem->v[e];
        if (!x->lent || i--)
            continue;
        *out = (struct card_piece){ x->a.addr, x->a.n, x->a.host, { NULL, 0 } };
        return true;
    }
    const struct ptx_module *m = k->code->module;
    for (uint32_t g = 0; g < m->nglobals; g++) {
        uint64_t addr, n;
        struct str name = m->globals[g]->name;
        if (m->globals[g]->space == PTX_SPACE_SHARED || !sim_symbol(k->prog, name, &addr, &n) || !n ||
            i--)
            continue;
        const struct sim_alloc *a = sim_mem_find(mem, addr);
        *out = (struct card_piece){ addr, n, a ? a->host + (addr - a->addr) : NULL, name };
        return a != NULL;
    }
    return false;
}

static struct sim_launch launch_of(const struct card_kernel *k, const struct card_launch *l)
{
    return (struct sim_launch){ .grid = l->grid,
                                .block = l->block,
                                .cluster = l->cluster,
                                .shared = l->shared,
                                .params = l->params,
                                .nparams = l->nparams,
                                .textures = l->textures,
                                .functional = !l->timed,
                                .exact = l->exact,
                                .threads = threads_of(k, l),
                                .carveout = l->carveout,
                                .hw_pi = -1,
                                .seed = 1,
                                .check_uninit = l->check_uninit,
                                .check_races = l->check_races,
                                .touch = l->touch,
                                .cancel = l->cancel,
                                .warm_l2 = l->timed };
}

struct dev_resident card_resident(const struct card_kernel *k, const struct card_launch *l)
{
    const struct sim_launch s = launch_of(k, l);
    return sim_resident(k->prog, &s);
}

enum status card_launch(struct card_kernel *k, const struct card_launch *l, struct sim_stats *out,
                        struct diags *ds)
{
    struct sim_launch s = launch_of(k, l);
    struct sim_stats all = { 0 };
    enum status st = sim_run(k->prog, &s, out, ds);
    if (st == ST_OK && !l->timed)
        k->insts_of_cta = (double)out->inst_warp / (double)dim3u_count(l->grid);
    if (st != ST_OK || !out->dry)
        return st;
    s.functional = true; /* a sample on copies: the outputs are made now */
    st = sim_run(k->prog, &s, &all, ds);
    if (st == ST_OK)
        sim_stats_complete(out, &k->code->m->preset, &all);
    if (st == ST_OK && !out->print) {
        out->print = all.print;
        out->nprint = all.nprint;
        all.print = NULL;
    }
    sim_stats_free(&all);
    return st;
}

void card_result(const struct sim_stats *s, bool timed, struct result *out)
{
    dev_sim_counters(out, s, timed);
}

/* ---- memory as it is, to be put back ---- */
#define SAVE_MOST (UINT64_C(4) << 30)
struct card_state {
    size_t n;
    struct {
        uint64_t addr, n;
        uint8_t *bytes; /* owned */
    } v[];
};

static void state_free(struct card_state *s)
{
    for (size_t i = 0; s && i < s->n; i++)
        base_free(s->v[i].bytes);
    base_free(s);
}

struct card_state *card_save(struct card *m)
{
    struct card_state *s = base_alloc(sizeof *s + m->mem->n * sizeof *s->v);
    uint64_t all = 0;
    for (size_t i = 0; s && i < m->mem->n; i++) {
        const struct sim_alloc *a = &m->mem->v[i].a;
        s->v[i].addr = a->addr;
        s->v[i].n = a->n;
        all += a->n;
        s->v[i].bytes = all <= SAVE_MOST ? base_alloc(a->n + 1) : NULL;
        s->n = i + 1;
        if (!s->v[i].bytes) {
            state_free(s);
            return NULL;
        }
        memcpy(s->v[i].bytes, a->host, a->n);
    }
    return s;
}

void card_restore(struct card *m, struct card_state *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct sim_mem_entry *e = sim_mem_entry(m->mem, s->v[i].addr);
        if (e && e->a.addr == s->v[i].addr && e->a.n == s->v[i].n)
            memcpy(e->a.host, s->v[i].bytes, s->v[i].n);
    }
    state_free(s);
}
