/* A first launch description for a kernel that has none. What is a buffer, what an output and of what
 * type comes from the analysis; how large anything is cannot be known, so sizes are guesses, tried until
 * the kernel stays inside its buffers and writes something: a product of sizes that overflows lets no
 * thread do anything. */
#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/ptx/link.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/data.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"
#include "engine/session/launch_infer_shape.h"
#include "engine/session/session.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    DIMS = GUESS_DIMS,
    BLOCKS = 8,
    LEAST_COUNT = 1024,
    MOST_ARGS = 1024,
    MOST_CTAS = 1024 /* that a guess grows to */,
    SHIFT = 4,
    PER_ROW = 16 /* entries of a sparse row, on average */
};
#define TRIAL_SECONDS 1.0 /* what takes longer is no size to explore with */

/* One guess: what an integer parameter says, how many elements a buffer has. */
struct size_guess {
    uint32_t n;
    uint64_t count;
};
/* By the number of grid dimensions that the kernel reads, without and with loops: kernels that loop
 * often do so up to an integer parameter, and touch n, n*n or n*n*n elements. */
static const struct size_guess first_sizes[2][DIMS] = {
    { { 1u << 20, 1u << 20 }, { 1024, 1u << 20 }, { 128, 1u << 21 } },
    { { 1024, 1u << 20 }, { 256, 1u << 18 }, { 64, 1u << 18 } },
};
/* Then, for all: more room for each index, then smaller problems. n 0: the first guess's, with 16 times
 * its room. */
static const struct size_guess next_sizes[] = {
    { 0, 0 }, { 256, 1u << 22 }, { 256, 1u << 24 }, { 64, 1u << 20 }, { 16, 1u << 22 }
};
/* A block, and how many indices one CTA covers where that is more than its threads (0: the block
 * itself). */
static const struct block_guess {
    struct dim3u block, covers;
} block_guesses[DIMS][BLOCKS] = {
    { { { 256, 1, 1 }, { 0 } },
      { { 128, 1, 1 }, { 0 } },
      { { 64, 1, 1 }, { 0 } },
      { { 32, 1, 1 }, { 0 } },
      { { 256, 1, 1 }, { 1024, 1, 1 } },
      { { 512, 1, 1 }, { 0 } },
      { { 1024, 1, 1 }, { 0 } },
      { { 16, 1, 1 }, { 0 } } },
    { { { 16, 16, 1 }, { 0 } },
      { { 32, 8, 1 }, { 0 } },
      { { 32, 8, 1 }, { 32, 32, 1 } },
      { { 32, 32, 1 }, { 0 } },
      { { 8, 8, 1 }, { 0 } },
      { { 32, 4, 1 }, { 0 } },
      { { 16, 8, 1 }, { 0 } },
      { { 8, 16, 1 }, { 0 } } },
    { { { 8, 8, 4 }, { 0 } },
      { { 32, 4, 2 }, { 0 } },
      { { 4, 4, 4 }, { 0 } },
      { { 8, 8, 8 }, { 0 } },
      { { 32, 8, 1 }, { 0 } },
      { { 16, 4, 4 }, { 0 } },
      { { 16, 16, 1 }, { 0 } },
      { { 8, 8, 1 }, { 0 } } },
};

/* What the analysis tells of one parameter. */
struct param_use {
    bool address, loaded, stored, float_atomic, offsets /* where rows start */;
    enum ptx_type type;
};
struct guess {
    const struct ana_kernel *facts;
    const struct ptx_func *f;
    struct param_use *use;
    struct infer_shape shape;
    bool loops, indexed, all_wide /* whatever is as wide as a pointer is taken for one */;
    bool *addresses /* by register */;
    uint32_t wider /* times as many CTAs along x */;
    bool zero /* what is read and written starts at zero */, rows /* offsets of rows ascend */;
};
enum trial { TRIAL_FAILS, TRIAL_IDLE /* runs, and no output changes */, TRIAL_WORKS };

static enum ptx_type access_type(const struct guess *g, const struct ana_access *a)
{
    const struct ptx_inst *i = &g->facts->module->funcs[a->func]->insts[a->inst];
    return i->ntypes ? i->type[0] : PTX_T_B32;
}

static void merge_use(const struct guess *g, const struct ana_access *a, struct param_use *u)
{
    u->address = true;
    u->loaded |= !a->store || a->atomic;
    u->stored |= a->store || a->atomic;
    /* Stores of zero and exchanges of floats are written as of integers: a float anywhere tells. */
    bool floats = ptx_type_kind(access_type(g, a)) == 'f' && ptx_type_kind(u->type) != 'f' &&
                  ptx_type_bits(access_type(g, a)) == ptx_type_bits(u->type);
    u->type = u->type == PTX_T_NONE || floats ? access_type(g, a) : u->type;
    u->float_atomic |= a->atomic && ptx_type_kind(access_type(g, a)) == 'f';
}

static void read_accesses(struct guess *g)
{
    for (uint32_t k = 0; k < g->facts->naccess; k++) {
        const struct ana_access *a = &g->facts->access[k];
        if (a->space != PTX_SPACE_GLOBAL && a->space != PTX_SPACE_GENERIC)
            continue;
        g->indexed |= a->depends_on_load;
        g->loops |= a->loops != NULL;
        if (a->param < 0 || (uint32_t)a->param >= g->f->nparams)
            continue;
        merge_use(g, a, &g->use[a->param]);
    }
}

/* The same of one member of a struct by value, which the analysis calls STRUCT{OFFSET}; of all of the
 * struct, where it cannot tell. */
static struct param_use member_use(const struct guess *g, uint32_t p, uint64_t at)
{
    struct param_use u = { 0 };
    for (uint32_t k = 0; k < g->facts->naccess; k++) {
        const struct ana_access *a = &g->facts->access[k];
        const char *member = a->array ? strrchr(a->array, '{') : NULL;
        if (a->param == (int)p && (!member || strtoull(member + 1, NULL, 10) == at))
            merge_use(g, a, &u);
    }
    return u.address ? u : g->use[p];
}

/* Offsets of rows, as compressed sparse rows have them: two neighbouring elements of an array that are
 * compared with one another. */
static bool neighbours(const struct guess *g, const struct ana_access *a, const struct ana_access *b)
{
    const struct ptx_operand *x = &g->f->insts[a->inst].opnds[1], *y = &g->f->insts[b->inst].opnds[1];
    return a->param == b->param && a->bytes == b->bytes && a->bytes >= 4 &&
           ptx_type_kind(access_type(g, a)) != 'f' && x->kind == OPND_ADDR && y->kind == OPND_ADDR &&
           x->base == BASE_REG && y->base == BASE_REG && x->index == y->index &&
           (x->imm - y->imm == a->bytes || y->imm - x->imm == a->bytes);
}

static bool read_offsets(struct guess *g)
{
    const struct ana_access **by_reg = base_alloc((g->f->nregs + 1) * sizeof *by_reg);
    if (!by_reg)
        return false;
    for (uint32_t k = 0; k < g->facts->naccess; k++) {
        const struct ana_access *a = &g->facts->access[k];
        const struct ptx_inst *i = &g->facts->module->funcs[a->func]->insts[a->inst];
        if (a->func == g->f->index && a->param >= 0 && (uint32_t)a->param < g->f->nparams && !a->store &&
            !a->atomic && i->op == PTX_OP_LD && i->opnds[0].kind == OPND_REG)
            by_reg[i->opnds[0].index] = a;
    }
    for (uint32_t i = 0; i < g->f->ninsts; i++) {
        const struct ptx_inst *x = &g->f->insts[i];
        if (x->op != PTX_OP_SETP || x->nopnds < 3 || x->opnds[1].kind != OPND_REG ||
            x->opnds[2].kind != OPND_REG)
            continue;
        const struct ana_access *a = by_reg[x->opnds[1].index], *b = by_reg[x->opnds[2].index];
        if (a && b && neighbours(g, a, b) && !g->use[a->param].stored)
            g->rows = g->use[a->param].offsets = true;
    }
    base_free(by_reg);
    return true;
}

/* Stores that the analysis does not list (matrix fragments, asynchronous copies, functions of
 * elsewhere): then any buffer may be an output. */
static void read_outputs(struct guess *g)
{
    bool any = !g->shape.writes_unlisted;
    for (uint32_t p = 0; p < g->f->nparams; p++)
        any |= g->use[p].stored;
    for (uint32_t p = 0; !any && p < g->f->nparams; p++)
        g->use[p].stored = true;
}

/* ---- registers that hold addresses: bases of addresses, and what they are sums and copies of ---- */
static bool passes_address(const struct ptx_inst *i)
{
    return i->op == PTX_OP_ADD || i->op == PTX_OP_SUB || i->op == PTX_OP_MOV || i->op == PTX_OP_CVTA ||
           i->op == PTX_OP_CVTA_TO || i->op == PTX_OP_SELP || i->op == PTX_OP_MAD_LO ||
           i->op == PTX_OP_MAD_WIDE;
}

static void mark_bases(struct guess *g)
{
    for (uint32_t i = 0; i < g->f->ninsts; i++)
        for (unsigned k = 0; k < g->f->insts[i].nopnds; k++) {
            const struct ptx_operand *o = &g->f->insts[i].opnds[k];
            if ((o->kind == OPND_ADDR && o->base == BASE_REG) ||
                ((g->f->insts[i].op == PTX_OP_CVTA || g->f->insts[i].op == PTX_OP_CVTA_TO) &&
                 o->kind == OPND_REG))
                g->addresses[o->index] = true;
        }
}

static void mark_addresses(struct guess *g)
{
    bool more = true;
    mark_bases(g);
    for (unsigned round = 0; more && round < 64; round++) {
        more = false;
        for (uint32_t i = g->f->ninsts; i-- > 0;) {
            const struct ptx_inst *x = &g->f->insts[i];
            if (!passes_address(x) || x->opnds[0].kind != OPND_REG || !g->addresses[x->opnds[0].index])
                continue;
            for (unsigned k = x->op == PTX_OP_MAD_LO || x->op == PTX_OP_MAD_WIDE ? 3 : 1; k < x->nopnds;
                 k++)
                if (x->opnds[k].kind == OPND_REG && !g->addresses[x->opnds[k].index])
                    more = g->addresses[x->opnds[k].index] = true;
        }
    }
}

/* Instruction that reads parameter p at byte `at`; NULL: none. */
static const struct ptx_inst *param_load(const struct guess *g, uint32_t p, uint64_t at)
{
    for (uint32_t i = 0; i < g->f->ninsts; i++) {
        const struct ptx_inst *x = &g->f->insts[i];
        if (x->op == PTX_OP_LD && x->space == PTX_SPACE_PARAM && x->vec <= 1 &&
            x->opnds[1].kind == OPND_ADDR && x->opnds[1].base == BASE_SYM &&
            x->opnds[1].sym == g->f->params[p] && (uint64_t)x->opnds[1].imm == at)
            return x;
    }
    return NULL;
}

/* What the kernel does with an integer parameter as it stands: a mask is one less than a power of two, a
 * shift small. */
static uint32_t scalar_value(const struct guess *g, const struct ptx_inst *load, uint32_t n)
{
    for (uint32_t i = 0; load && load->opnds[0].kind == OPND_REG && i < g->f->ninsts; i++) {
        const struct ptx_inst *x = &g->f->insts[i];
        for (unsigned k = 1; k < x->nopnds; k++) {
            if (x->opnds[k].kind != OPND_REG || x->opnds[k].index != load->opnds[0].index)
                continue;
            if (x->op == PTX_OP_AND)
                return n - 1;
            if ((x->op == PTX_OP_SHL || x->op == PTX_OP_SHR) && k == 2)
                return SHIFT;
        }
    }
    return n;
}

static bool loads_address(const struct guess *g, const struct ptx_inst *x)
{
    return x && x->ntypes && ptx_type_bits(x->type[0]) == g->facts->module->address_size &&
           x->opnds[0].kind == OPND_REG && (g->all_wide || g->addresses[x->opnds[0].index]);
}

static bool is_buffer(const struct guess *g, uint32_t p)
{
    const struct ptx_symbol *s = g->f->params[p];
    bool wide = s->bytes * 8 == g->facts->module->address_size && !s->array;
    return wide && (g->use[p].address || s->is_ptr || loads_address(g, param_load(g, p, 0)));
}

/* Untyped bits are indices where loaded values make addresses, else numbers. */
static enum elem elem_of(const struct guess *g, enum ptx_type t)
{
    static const struct {
        unsigned bits;
        enum elem u, s, f;
    } by_size[] = {
        { 8, ELEM_U8, ELEM_S8, ELEM_U8 },
        { 16, ELEM_U16, ELEM_S16, ELEM_F16 },
        { 32, ELEM_U32, ELEM_S32, ELEM_F32 },
        { 64, ELEM_U64, ELEM_S64, ELEM_F64 },
    };
    char kind = ptx_type_kind(t);
    for (size_t i = 0; i < ARRAY_LEN(by_size); i++)
        if (ptx_type_bits(t) == by_size[i].bits)
            return kind == 'u'                 ? by_size[i].u
                   : kind == 's'               ? by_size[i].s
                   : kind == 'b' && g->indexed ? by_size[i].u
                                               : by_size[i].f;
    return ELEM_F32;
}

static char *str_dup(struct str s)
{
    struct buf b = { 0 };
    buf_put(&b, s.s, s.n);
    return buf_take(&b);
}

static bool floating(enum elem e)
{
    return e == ELEM_F16 || e == ELEM_F32 || e == ELEM_F64;
}

static void infer_buffer(const struct guess *g, uint64_t seed, const struct param_use *u,
                         struct size_guess size, struct arg_spec *a)
{
    a->kind = ARG_BUFFER;
    a->elem = elem_of(g, u->type);
    a->count = size.count;
    a->output = u->stored;
    a->tolerance = u->float_atomic ? 1e-4 : 0;
    a->atomic = u->float_atomic;
    a->init.kind = (u->loaded || !u->address) && !(g->zero && u->stored) ? INIT_RANDOM : INIT_FILL;
    a->init.seed = seed;
    a->init.integral = !floating(a->elem);
    a->init.ib = elem_size(a->elem) == 1                         ? 100
                 : size.n - 1 > 30000 && elem_size(a->elem) == 2 ? 30000
                                                                 : (int64_t)size.n - 1;
    a->init.b = a->init.integral ? (double)a->init.ib : 1;
    if (a->init.kind == INIT_FILL)
        a->init.b = 0, a->init.ib = 0;
    if (g->rows && u->offsets) {
        uint64_t most = (uint64_t)PER_ROW * size.n;
        a->init = (struct init_spec){
            .kind = INIT_ROWS, .rows = size.n, .nnz = most < size.count ? most : size.count, .seed = seed
        };
        a->count = (uint64_t)size.n + 1;
    }
}

static void infer_scalar(enum ptx_type t, uint64_t bytes, uint32_t n, struct arg_spec *a)
{
    bool is_float = ptx_type_kind(t) == 'f';
    float f = 1.5f;
    double d = 1.5;
    uint64_t whole = bytes == 1 && n > 100 ? 100 : bytes == 2 && n > 30000 ? 30000 : n;
    a->kind = ARG_SCALAR;
    a->elem = bytes == 1   ? ELEM_U8
              : bytes == 2 ? ELEM_U16
              : bytes == 4 ? (is_float ? ELEM_F32 : ELEM_S32)
              : is_float   ? ELEM_F64
                           : ELEM_S64;
    if (a->elem == ELEM_F32)
        memcpy(a->scalar, &f, sizeof f);
    else if (a->elem == ELEM_F64)
        memcpy(a->scalar, &d, sizeof d);
    else
        memcpy(a->scalar, &whole, sizeof whole); /* little-endian: the low bytes count */
}

static enum status infer_arg(const struct guess *g, uint32_t p, struct size_guess size,
                             struct arg_spec *a)
{
    const struct ptx_symbol *s = g->f->params[p];
    a->name = str_dup(ptx_param_label(g->f, p));
    if (is_buffer(g, p))
        infer_buffer(g, p + 1, &g->use[p], size, a);
    else if (!s->array && s->bytes <= 8)
        infer_scalar(s->type, s->bytes, scalar_value(g, param_load(g, p, 0), size.n), a);
    else {
        a->kind = ARG_BYTES;
        a->nbytes = s->bytes;
        a->bytes = base_alloc(s->bytes);
    }
    return a->name && (a->kind != ARG_BYTES || a->bytes) ? ST_OK : ST_NOMEM;
}

/* Members of a struct by value: whatever the kernel reads from it by itself. */
static enum status infer_members(const struct guess *g, size_t p, struct size_guess size,
                                 struct launch_spec *l)
{
    const char *outer = l->args[p].name;
    for (uint64_t at = 0; l->args[p].kind == ARG_BYTES && at < l->args[p].nbytes && l->nargs < MOST_ARGS;
         at++) {
        const struct ptx_inst *x = param_load(g, (uint32_t)p, at);
        struct arg_spec *a = &l->args[l->nargs];
        struct buf name = { 0 };
        if (!x || !x->ntypes)
            continue;
        if (loads_address(g, x)) {
            struct param_use u = member_use(g, (uint32_t)p, at);
            infer_buffer(g, l->nargs + 1, &u, size, a);
        } else
            infer_scalar(x->type[0], ptx_type_bits(x->type[0]) / 8, scalar_value(g, x, size.n), a);
        buf_printf(&name, "%s+%llu", outer, (unsigned long long)at);
        a->name = buf_take(&name);
        a->inside = base_strdup(outer);
        a->at = at;
        l->nargs++;
        if (!a->name || !a->inside)
            return ST_NOMEM;
    }
    return ST_OK;
}

/* ---- tables in constant memory that the host fills ---- */

/* nvcc declares tables as bytes: what they hold, the loads tell. */
static enum elem symbol_elem(const struct guess *g, const struct ptx_symbol *s)
{
    for (uint32_t k = 0; k < g->facts->naccess; k++) {
        const struct ana_access *a = &g->facts->access[k];
        if (a->space == PTX_SPACE_CONST && a->array && str_is(s->name, a->array))
            return elem_of(g, access_type(g, a));
    }
    return elem_of(g, (enum ptx_type)s->type);
}

static enum status infer_symbols(const struct guess *g, struct launch_spec *l)
{
    const struct ptx_module *m = g->facts->module;
    l->symbols = base_alloc((m->nglobals + 1) * sizeof *l->symbols);
    if (!l->symbols)
        return ST_NOMEM;
    for (uint32_t i = 0; i < m->nglobals; i++) {
        const struct ptx_symbol *s = m->globals[i];
        if (s->space != PTX_SPACE_CONST || s->init || s->nreloc || s->unsized || !infer_names(g->f, s))
            continue;
        struct symbol_spec *y = &l->symbols[l->nsymbols++];
        *y = (struct symbol_spec){ .name = str_dup(s->name), .elem = symbol_elem(g, s) };
        if (s->bytes % elem_size(y->elem))
            y->elem = ELEM_U8;
        y->count = s->bytes / elem_size(y->elem);
        y->init = (struct init_spec){ .kind = INIT_RANDOM,
                                      .seed = i + 1,
                                      .integral = !floating(y->elem),
                                      .b = floating(y->elem) ? 1 : 100,
                                      .ib = 100 };
        if (!y->name)
            return ST_NOMEM;
    }
    return ST_OK;
}

static uint32_t ctas(uint32_t n, uint32_t block, uint32_t most)
{
    uint32_t c = (n + block - 1) / block;
    return c > most ? most : c;
}

static struct dim3u block_of(const struct guess *g, unsigned trial)
{
    const struct dim_directive *r = &g->f->reqntid, *m = &g->f->maxntid;
    struct dim3u b = g->shape.one_thread ? (struct dim3u){ 1, 1, 1 }
                                         : block_guesses[g->shape.block_dims - 1][trial % BLOCKS].block;
    if (r->x)
        return (struct dim3u){ r->x, r->y, r->z };
    while (m->x && dim3u_count(b) > (uint64_t)m->x * m->y * m->z)
        *(b.z > 1 ? &b.z : b.y > 1 ? &b.y : &b.x) /= 2;
    return b;
}

/* The file's name without its folder; of a program of several files, the first's. */
static char *infer_file(const char *path)
{
    struct buf b = { 0 };
    const char *plus = strstr(path, PTX_LINK_PLUS);
    size_t n = plus ? (size_t)(plus - path) : strlen(path), from = n;
    while (from && path[from - 1] != '/')
        from--;
    buf_put(&b, path + from, n - from);
    return buf_take(&b);
}

static enum status infer_spec(const struct guess *g, struct size_guess size, unsigned trial,
                              struct launch_spec *l)
{
    *l = (struct launch_spec){ .shared = g->shape.shared, .block = block_of(g, trial) };
    struct dim3u c = block_guesses[g->shape.block_dims - 1][trial % BLOCKS].covers;
    c = c.x && !g->f->reqntid.x ? c : l->block;
    l->grid = (struct dim3u){ ctas(size.n, c.x, 65536), g->shape.dims > 1 ? ctas(size.n, c.y, 4096) : 1,
                              g->shape.dims > 2 ? ctas(size.n, c.z, 64) : 1 };
    l->grid.x = g->shape.one_thread || !g->shape.cta[0] ? 1 : l->grid.x * g->wider;
    l->grid.y = g->shape.cta[1] ? l->grid.y : 1;
    l->grid.z = g->shape.cta[2] ? l->grid.z : 1;
    l->kernel = str_dup(g->f->name);
    l->ptx = infer_file(g->facts->module->path);
    l->args = base_alloc((MOST_ARGS + 1) * sizeof *l->args);
    if (!l->kernel || !l->ptx || !l->args)
        return ST_NOMEM;
    for (l->nargs = 0; l->nargs < g->f->nparams;) {
        enum status s = infer_arg(g, (uint32_t)l->nargs, size, &l->args[l->nargs]);
        l->nargs++;
        if (s != ST_OK)
            return s;
    }
    enum status s = ST_OK;
    for (size_t p = 0; s == ST_OK && p < g->f->nparams; p++)
        s = infer_members(g, p, size, l);
    if (s == ST_OK)
        s = infer_symbols(g, l);
    for (size_t i = 0, outputs = 0; i < l->nargs; i++)
        if (l->args[i].output && ++outputs > RESULT_MAX_OUTPUTS)
            l->args[i].output = false;
    return s;
}

/* An output's bytes are not what they were, or there is none to tell. */
static bool any_written(const struct launch_spec *l, const struct launch_data *data,
                        const struct result *r)
{
    bool none = true;
    for (size_t i = 0, k = 0; i < l->nargs && k < r->noutputs; i++) {
        if (!l->args[i].output || l->args[i].kind != ARG_BUFFER)
            continue;
        none = false;
        const uint8_t *was = launch_buffer_bytes(&data->buffers[i]);
        if (!was || r->outputs[k++].hash != base_hash(was, data->buffers[i].n))
            return true;
    }
    return none;
}

/* Does it run inside its buffers? *out says what happened. */
static enum status try_spec(const struct launch_spec *l, struct dev *dev, struct dev_code *code,
                            bool strict, const struct cancel *cancel, struct result *out,
                            enum trial *how, struct diags *ds)
{
    struct launch_data data = { 0 };
    struct dev_data *bound = NULL;
    enum status s = launch_data_make(l, (uint64_t)4 << 30, &data, ds);
    if (s == ST_OK)
        s = dev_bind(dev, &data, &bound, ds);
    if (s == ST_OK) {
        struct dev_run r = dev_run_default();
        r.launch = l;
        r.grid = l->grid;
        r.block = l->block;
        r.shared = l->shared;
        r.functional = true;
        r.counters = false;
        /* A block or grid that the kernel was not made for reads shared memory nobody wrote, or writes
         * twice. */
        r.check_uninit = r.check_races = strict;
        r.time_limit_s = TRIAL_SECONDS;
        r.cancel = cancel;
        *out = result_empty();
        s = dev_launch(dev, code, bound, &r, out, ds);
        *how = s != ST_OK || out->status != ST_OK ? TRIAL_FAILS
               : any_written(l, &data, out)       ? TRIAL_WORKS
                                                  : TRIAL_IDLE;
    }
    if (bound)
        dev_unbind(dev, bound);
    launch_data_free(&data);
    return s;
}

static struct size_guess size_at(const struct guess *g, unsigned trial)
{
    struct size_guess first = first_sizes[g->loops][g->shape.dims - 1];
    if (trial < BLOCKS)
        return first;
    struct size_guess next = next_sizes[trial / BLOCKS - 1];
    return next.n ? next : (struct size_guess){ first.n, first.count * 16 };
}

/* A trial's surroundings: its number, and whether reads of what nobody wrote and races count against it.
 */
struct trying {
    struct dev *dev;
    struct dev_code *code;
    const struct cancel *cancel;
    unsigned number;
    bool strict, growing;
};

static uint64_t outputs_hash(const struct result *r)
{
    uint64_t h = 0;
    for (uint32_t i = 0; i < r->noutputs; i++)
        h = h * 0x9E3779B97F4A7C15u + r->outputs[i].hash;
    return h;
}

/* The guess of g's state in place of *out where it runs; *better says whether. *r: of this trial. */
static enum status replace(const struct guess *g, struct size_guess size, const struct trying *t,
                           struct launch_spec *out, struct result *r, bool *better)
{
    struct launch_spec other;
    struct diags quiet = { 0 }; /* a guess that fails is no news */
    enum trial how = TRIAL_FAILS;
    uint64_t before = outputs_hash(r);
    enum status s = infer_spec(g, size, t->number, &other);
    if (s == ST_OK)
        s = try_spec(&other, t->dev, t->code, t->strict, t->cancel, r, &how, &quiet);
    diags_free(&quiet);
    *better = s == ST_OK && how == TRIAL_WORKS && (!t->growing || outputs_hash(r) != before);
    launch_spec_free(*better ? out : &other);
    if (*better)
        *out = other;
    return s;
}

/* More CTAs, for as long as they write more: where a thread's index runs to a product of sizes, or a CTA
 * has a row. What that may take is processor time: a guess is the same on a machine that is busy. */
static enum status grow(struct guess *g, struct trying *t, struct launch_spec *out, struct result *r)
{
    struct result last = *r;
    enum status s = ST_OK;
    bool better = g->shape.dims == 1 && !g->shape.one_thread && g->shape.cta[0];
    t->growing = true;
    while (s == ST_OK && better && (uint64_t)out->grid.x * 4 <= MOST_CTAS) {
        clock_t began = clock();
        g->wider *= 4;
        s = replace(g, size_at(g, t->number), t, out, &last, &better);
        if (!better)
            g->wider /= 4;
        better &= clock() - began < (clock_t)(TRIAL_SECONDS * CLOCKS_PER_SEC / 4);
    }
    t->growing = false;
    return s;
}

/* Half as much room, for as long as it still runs: what the kernel does not touch is no part of its
 * problem. */
static enum status trim(const struct guess *g, const struct trying *t, struct launch_spec *out)
{
    struct size_guess size = size_at(g, t->number);
    struct result r = result_empty();
    enum status s = ST_OK;
    uint64_t least = g->rows ? (uint64_t)PER_ROW * size.n : LEAST_COUNT;
    for (bool better = true; s == ST_OK && better && size.count > least;) {
        size.count /= 2;
        s = replace(g, size, t, out, &r, &better);
    }
    return s;
}

/* One trial. *how: whether *out runs, and writes. */
static enum status try_one(struct guess *g, struct trying *t, struct launch_spec *out, struct result *r,
                           enum trial *how, struct diags *ds)
{
    struct diags quiet = { 0 };
    launch_spec_free(out);
    *how = TRIAL_FAILS;
    g->wider = 1;
    enum status s = infer_spec(g, size_at(g, t->number), t->number, out);
    if (s == ST_OK)
        s = try_spec(out, t->dev, t->code, t->strict, t->cancel, r, how, &quiet);
    if (s != ST_OK)
        diags_move(ds, &quiet);
    diags_free(&quiet);
    return s;
}

static bool any_updated(const struct guess *g)
{
    for (uint32_t p = 0; p < g->f->nparams; p++)
        if (g->use[p].loaded && g->use[p].stored)
            return true;
    return false;
}

/* The first guess that runs and writes, grown and trimmed; else the first that runs. *r: how the last
 * trial ended; its status is ST_OK when *out runs. */
static enum status try_all(struct guess *g, struct trying *t, struct launch_spec *out, struct result *r,
                           struct diags *ds)
{
    enum status s = ST_OK;
    unsigned idle = UINT_MAX;
    for (unsigned round = g->shape.tiles ? 0 : 1; round < 2;
         round++) /* tiles: first for the shape they were made for */
        for (unsigned k = 0; k < BLOCKS * (1 + ARRAY_LEN(next_sizes)); k++) {
            enum trial how;
            int64_t began = base_now_ns();
            t->number = k;
            t->strict = round == 0;
            s = try_one(g, t, out, r, &how, ds);
            bool late = base_now_ns() - began >= (int64_t)(TRIAL_SECONDS * 1e9);
            if (s == ST_OK && how == TRIAL_FAILS && late && !g->zero && any_updated(g)) {
                g->zero = true; /* it may wait for a flag, or look for an empty place */
                s = try_one(g, t, out, r, &how, ds);
                g->zero = how == TRIAL_WORKS;
            }
            if (s == ST_OK && how == TRIAL_WORKS)
                s = grow(g, t, out, r);
            if (s != ST_OK || how == TRIAL_WORKS)
                return s == ST_OK ? trim(g, t, out) : s;
            if (how == TRIAL_IDLE && idle == UINT_MAX)
                idle = k;
            if (how == TRIAL_IDLE || g->f->reqntid.x || late)
                /* one block shape only; or it took too long or did nothing, whatever the block */
                k += BLOCKS - 1 - k % BLOCKS;
        }
    if (idle == UINT_MAX)
        return s;
    enum trial how;
    t->number = idle;
    t->strict = false;
    return try_one(g, t, out, r, &how, ds);
}

/* Debug builds pass pointers through local memory, where nothing tells them from other wide numbers:
 * then all are tried as pointers. */
static bool hides_pointers(const struct guess *g)
{
    for (uint32_t p = 0; p < g->f->nparams; p++) {
        const struct ptx_symbol *s = g->f->params[p];
        for (uint64_t at = 0; at < s->bytes; at += 8) {
            const struct ptx_inst *x = param_load(g, p, at);
            if (x && x->ntypes && ptx_type_bits(x->type[0]) == g->facts->module->address_size &&
                !loads_address(g, x))
                return true;
        }
    }
    return false;
}

static enum status find_spec(struct guess *g, struct trying *t, struct launch_spec *out,
                             struct diags *ds)
{
    struct result r = result_empty();
    enum status s = try_all(g, t, out, &r, ds);
    if (s == ST_OK && r.status != ST_OK && g->rows) {
        g->rows = false; /* they were offsets of something else */
        s = try_all(g, t, out, &r, ds);
    }
    if (s == ST_OK && r.status != ST_OK && hides_pointers(g)) {
        g->all_wide = true;
        s = try_all(g, t, out, &r, ds);
    }
    if (s == ST_OK && r.status != ST_OK && any_updated(g)) {
        g->zero = true; /* flags, counters and tables that start empty */
        s = try_all(g, t, out, &r, ds);
    }
    if (s != ST_OK || r.status == ST_OK)
        return s;
    launch_spec_free(out);
    g->zero = false;
    g->wider = 1;
    s = infer_spec(g, size_at(g, 0), 0, out);
    struct diag *d = diag_add(ds, DIAG_WARNING, "guess", g->facts->module->path, NO_SPAN,
                              "no guess lets '%.*s' run to its end inside its buffers: %.180s",
                              (int)g->f->name.n, g->f->name.s, r.message);
    diag_hint(d, "the sizes and data in the description must be set by hand");
    return s;
}

enum status launch_infer(const struct ana_kernel *facts, struct dev *dev, const struct cancel *cancel,
                         struct launch_spec *out, struct diags *ds)
{
    struct guess g = { .facts = facts, .f = facts->func, .wider = 1 };
    struct trying t = { .dev = dev, .cancel = cancel };
    *out = (struct launch_spec){ 0 };
    g.use = base_alloc((g.f->nparams + 1) * sizeof *g.use);
    g.addresses = base_alloc((g.f->nregs + 1) * sizeof *g.addresses);
    if (!g.use || !g.addresses || g.f->nparams > MOST_ARGS ||
        !infer_shape(facts->module, g.f, &g.shape)) {
        base_free(g.use);
        base_free(g.addresses);
        return ST_NOMEM;
    }
    mark_addresses(&g);
    read_accesses(&g);
    read_outputs(&g);
    enum status s = read_offsets(&g) ? dev_load(dev, facts->module->path, facts->module->text, g.f->name,
                                                0, &t.code, ds)
                                     : ST_NOMEM;
    if (s == ST_OK)
        s = find_spec(&g, &t, out, ds);
    if (t.code)
        dev_unload(dev, t.code);
    base_free(g.use);
    base_free(g.addresses);
    if (s != ST_OK)
        launch_spec_free(out);
    return s;
}
