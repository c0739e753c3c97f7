/* A guess made into a launch description. */
#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/ptx/link.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch.h"
#include "engine/rec/result_read.h"
#include "engine/rec/texture.h"
#include "engine/session/infer/infer.h"
#include "engine/session/infer/shape.h"

#include <stdlib.h>
#include <string.h>

enum {
    PER_ROW = 16 /* entries of a sparse row, on average */,
    ROW_OF_CTA = 1024 /* where a CTA has the row */,
    IN_ROW = 256 /* and as much of it is walked at once */
};
#define SIDES   (INFER_BOUNDS_ROWS | INFER_BOUNDS_FACTOR)
#define POINTED UINT64_C(0x6f0000000000) /* where buffers lie that hold pointers, 4 GB for each */

static uint32_t log_2(uint32_t n)
{
    uint32_t log = 0;
    while (n >>= 1)
        log++;
    return log;
}

/* What an instruction makes of an integer that is its operand k: a mask (not n & 3), a count of bits. */
static bool masks(const struct ptx_inst *x, unsigned k)
{
    return ptx_rule_of(x) == ADDR_AND && x->opnds[3 - k].kind == OPND_REG;
}
static bool shifts_by(const struct ptx_inst *x, unsigned k)
{
    enum ptx_addr_rule rule = ptx_rule_of(x);
    return (rule == ADDR_SHL || rule == ADDR_SHR) && k == 2;
}

unsigned infer_bounds_of(const struct guess *g, const struct ptx_inst *x)
{
    if (!x || x->opnds[0].kind != OPND_REG)
        return 0;
    int16_t *known = &g->bounds[x->opnds[0].index];
    if (*known < 0) {
        int found = infer_bounds(g->f, x->opnds[0].index);
        *known = (int16_t)(found < 0 ? 0 : found);
    }
    return (unsigned)*known;
}

bool infer_has_bound(const struct guess *g, enum infer_bound kind)
{
    for (uint32_t p = 0; p < g->f->nparams; p++)
        if (infer_bounds_of(g, infer_param_load(g, p, 0)) == kind)
            return true;
    return false;
}

/* What is counted along one axis has several sides: those that an index is divided by, and what is left. All are
 * as long. */
static uint32_t side_of(const struct guess *g, uint32_t n)
{
    unsigned sides = 0, rest = 1;
    for (uint32_t p = 0; p < g->f->nparams; p++) {
        unsigned by = infer_bounds_of(g, infer_param_load(g, p, 0));
        sides += (by & SIDES) != 0;
        rest = (by & SIDES) == INFER_BOUNDS_FACTOR ? 0 : rest;
    }
    sides += rest || sides < 2;
    return 1u << log_2(n) / sides;
}

/* The problem's size, where it bounds CTAs, or nothing is known of it; else a row's, or the turns of a
 * loop. In two dimensions rows are as long as the problem is wide. */
static uint32_t sized(const struct guess *g, const struct ptx_inst *load, struct size_guess size)
{
    unsigned by = infer_bounds_of(g, load);
    bool wide = g->shape.dims > 1 && by & INFER_BOUNDS_PITCH,
         rows = g->rows && g->cta_rows && size.row > IN_ROW;
    uint32_t n = by == INFER_BOUNDS_PITCH                ? (size.pitch ? size.pitch : size.n)
                 : by == INFER_BOUNDS_OFFSET             ? (size.offset ? size.offset : size.n)
                 : by == INFER_BOUNDS_PARTS              ? size.parts
                 : !by || by & INFER_BOUNDS_CTAS || wide ? size.n
                 : by & INFER_BOUNDS_THREADS && rows     ? IN_ROW
                 : by & INFER_BOUNDS_THREADS             ? size.row
                                                         : size.turns;
    if (by & SIDES && g->shape.dims == 1 && !g->asked.n)
        return side_of(g, size.n);
    bool walks = by & INFER_BOUNDS_TURNS && !(by & INFER_BOUNDS_CTAS) && g->table;
    return walks && n > g->table ? g->table : n;
}

/* What the kernel does with an integer parameter: a mask is one less than the size, a count of bits,
 * also taken from another (32 - n), its logarithm. */
static uint32_t scalar_value(const struct guess *g, const struct ptx_inst *load, struct size_guess size)
{
    uint32_t n = sized(g, load, size);
    if (g->brief && load && load->opnds[0].kind == OPND_REG &&
        infer_counts_turns(g->f, load->opnds[0].index) > 0)
        return g->brief < n ? g->brief : n;
    int64_t mode = 0;
    if (g->modes && load && load->opnds[0].kind == OPND_REG &&
        infer_mode(g->f, load->opnds[0].index, &mode) > 0)
        return (uint32_t)mode;
    uint32_t other = UINT32_MAX; /* what is left of a number without it */
    for (uint32_t i = 0; load && load->opnds[0].kind == OPND_REG && i < g->f->ninsts; i++) {
        const struct ptx_inst *x = &g->f->insts[i];
        for (unsigned k = 1; k < x->nopnds; k++) {
            if (x->opnds[k].kind != OPND_REG)
                continue;
            bool itself = x->opnds[k].index == load->opnds[0].index;
            if (itself && masks(x, k))
                return size.n - 1;
            if ((itself || x->opnds[k].index == other) && shifts_by(x, k))
                return log_2(size.n);
            if (itself && ptx_rule_of(x) == ADDR_SUB && k == 2)
                other = x->opnds[0].index;
        }
    }
    return n;
}

static bool is_buffer(const struct guess *g, uint32_t p)
{
    const struct ptx_symbol *s = g->f->params[p];
    bool wide = s->bytes * 8 == g->facts->module->address_size && !s->array;
    return wide && (g->use[p].address || s->is_ptr || infer_loads_address(g, infer_param_load(g, p, 0)));
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

static enum elem with_sign(enum elem e)
{
    return e == ELEM_U8    ? ELEM_S8
           : e == ELEM_U16 ? ELEM_S16
           : e == ELEM_U32 ? ELEM_S32
           : e == ELEM_U64 ? ELEM_S64
                           : e;
}

/* Element i goes on at 2 i + 1 or 2 i + 2, as a tree in an array does; in the second half it ends, by -1. */
static void links(struct arg_spec *a, uint32_t n, uint64_t seed)
{
    struct init_spec *part = base_alloc(2 * sizeof *part);
    if (!part)
        return;
    int64_t first = 1 + (int64_t)(seed % 2);
    part[0] = (struct init_spec){
        .kind = INIT_IOTA, .a = (double)first, .b = 2, .ia = first, .ib = 2, .integral = true
    };
    part[0].count = n / 2 > 1 ? n / 2 - 1 : 1;
    part[1] = (struct init_spec){ .kind = INIT_FILL, .a = -1, .ia = -1, .integral = true };
    part[1].count = a->count - part[0].count;
    a->init = (struct init_spec){ .kind = INIT_PARTS, .part = part, .nparts = 2 };
}

/* Pointers lie in the buffer that they lead into, at an address of its own. Those of a list or a tree: every word leads a
 * node further, n nodes in all, and then there is none. Others: n of them, each to its part of what lies behind. */
static void pointers(const struct guess *g, struct size_guess size, uint64_t seed, struct arg_spec *a)
{
    uint64_t words = g->follows ? (uint64_t)size.n * g->node / 8 : size.n;
    struct init_spec *part = base_alloc(2 * sizeof *part);
    if (!part)
        return;
    a->elem = ELEM_U64;
    a->address = POINTED + (seed << 32);
    words = words < a->count / 2 ? words : a->count / 2;
    uint64_t most = (a->count - words) / words;
    uint64_t each = g->follows ? 1 : size.pitch && size.pitch < most ? size.pitch : most;
    part[0] = (struct init_spec){ .kind = INIT_IOTA, .integral = true, .count = words };
    part[0].ia = (int64_t)(a->address + (g->follows ? g->node - g->link : words * 8));
    part[0].ib = (int64_t)each * 8;
    part[0].a = (double)part[0].ia;
    part[0].b = (double)part[0].ib;
    part[1] = (struct init_spec){ .kind = g->follows ? INIT_FILL : INIT_RANDOM, .integral = true };
    part[1].ib = g->follows ? 0 : (int64_t)size.n - 1;
    part[1].b = (double)part[1].ib;
    part[1].count = a->count - words;
    a->init = (struct init_spec){ .kind = INIT_PARTS, .part = part, .nparts = 2, .seed = seed };
}

/* Indices: each of n is there once, so that none is left out; behind them, whatever is there. */
static void indices(struct arg_spec *a, uint32_t n)
{
    struct init_spec *part = a->count > n ? base_alloc(2 * sizeof *part) : NULL;
    if (a->count < n || (a->count > n && !part))
        return;
    if (part) {
        part[0] = (struct init_spec){ .kind = INIT_PERMUTATION, .count = n };
        part[1] = a->init;
        part[1].count = a->count - n;
        a->init =
            (struct init_spec){ .kind = INIT_PARTS, .part = part, .nparts = 2, .seed = a->init.seed };
    } else
        a->init.kind = INIT_PERMUTATION;
}

static void infer_buffer(const struct guess *g, uint64_t seed, const struct param_use *u,
                         struct size_guess size, struct arg_spec *a)
{
    a->kind = ARG_BUFFER;
    a->elem = elem_of(g, u->type);
    a->count = size.count;
    a->output = u->stored && !u->fickle;
    a->tolerance = u->float_atomic ? 1e-4 : 0;
    a->atomic = u->float_atomic;
    a->init.kind = (u->loaded || !u->address) && !(g->zero && u->stored) ? INIT_RANDOM : INIT_FILL;
    a->init.seed = seed;
    a->init.integral = !elem_is_float(a->elem);
    a->init.ib = elem_size(a->elem) == 1                         ? 100
                 : size.n - 1 > 30000 && elem_size(a->elem) == 2 ? 30000
                                                                 : (int64_t)size.n - 1;
    if (g->few && a->init.ib >= g->few)
        a->init.ib = g->few - 1;
    a->init.b = a->init.integral ? (double)a->init.ib : 1;
    if (g->ends && a->init.kind == INIT_RANDOM && (a->init.integral || u->type == PTX_T_NONE)) {
        a->elem = u->type == PTX_T_NONE ? ELEM_S32 : with_sign(a->elem);
        links(a, size.n, seed);
    }
    bool whole = a->init.integral && a->init.ib == (int64_t)size.n - 1;
    if (a->init.kind == INIT_RANDOM && whole && g->indexed && !u->stored)
        indices(a, size.n);
    if (a->init.kind == INIT_FILL)
        a->init.b = 0, a->init.ib = 0;
    if (u->pointers)
        pointers(g, size, seed, a);
    if (g->rows && u->offsets) {
        uint64_t most = (uint64_t)(g->cta_rows ? ROW_OF_CTA : PER_ROW) * size.n;
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
    struct texture t;
    bool written;
    a->name = str_dup(ptx_param_label(g->f, p));
    if (infer_texture(g, p, size.n, &t, &written))
        a->kind = ARG_TEXTURE; /* with its texels (infer_textures) */
    else if (is_buffer(g, p))
        infer_buffer(g, p + 1, &g->use[p], size, a);
    else if (!s->array && s->bytes <= 8)
        infer_scalar(s->type, s->bytes, scalar_value(g, infer_param_load(g, p, 0), size), a);
    else {
        a->kind = ARG_BYTES;
        a->nbytes = s->bytes;
        a->bytes = base_alloc(s->bytes);
    }
    return a->name && (a->kind != ARG_BYTES || a->bytes) ? ST_OK : ST_NOMEM;
}

/* Texels lie in buffers that are no arguments, behind all that are. */
static enum status infer_textures(const struct guess *g, struct size_guess size, struct launch_spec *l)
{
    enum status s = ST_OK;
    for (uint32_t p = 0; s == ST_OK && p < g->f->nparams && l->nargs < INFER_ARGS; p++)
        if (l->args[p].kind == ARG_TEXTURE)
            s = infer_texture_arg(g, p, size.n, &l->args[p], &l->args[l->nargs++]);
    return s;
}

/* Members of a struct by value: whatever the kernel reads from it by itself. */
static enum status infer_members(const struct guess *g, size_t p, struct size_guess size,
                                 struct launch_spec *l)
{
    const char *outer = l->args[p].name;
    for (uint64_t at = 0;
         l->args[p].kind == ARG_BYTES && at < l->args[p].nbytes && l->nargs < INFER_ARGS; at++) {
        const struct ptx_inst *x = infer_param_load(g, (uint32_t)p, at);
        struct arg_spec *a = &l->args[l->nargs];
        struct buf name = { 0 };
        if (!x || !x->ntypes)
            continue;
        if (infer_loads_address(g, x)) {
            struct param_use u = infer_member_use(g, (uint32_t)p, at);
            infer_buffer(g, l->nargs + 1, &u, size, a);
        } else
            infer_scalar(x->type[0], ptx_type_bits(x->type[0]) / 8, scalar_value(g, x, size), a);
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
            return elem_of(g, infer_access_type(g, a));
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
                                      .integral = !elem_is_float(y->elem),
                                      .b = elem_is_float(y->elem) ? 1 : 100,
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

void infer_cut(struct arg_spec *a, uint64_t count)
{
    a->count = count;
    if (a->init.kind != INIT_PARTS)
        return;
    struct init_spec *part = a->init.part;
    part[0].count = part[0].count < count ? part[0].count : count;
    part[1].count = count - part[0].count;
    a->init.nparts = part[1].count ? 2 : 1;
}

/* A pointer into its buffer, which lies apart then: a stencil reads in front of where it points. */
static enum status infer_front(uint64_t front, struct arg_spec *a, struct arg_spec *buffer)
{
    struct buf name = { 0 };
    buf_printf(&name, "%s_buffer", a->name);
    *buffer = *a;
    buffer->name = buf_take(&name);
    buffer->inside = base_strdup("");
    infer_cut(buffer, a->count + front / elem_size(a->elem));
    *a = (struct arg_spec){ .kind = ARG_SAME_AS, .name = a->name, .offset = front };
    a->same_as = buffer->name ? base_strdup(buffer->name) : NULL;
    return buffer->inside && a->same_as ? ST_OK : ST_NOMEM;
}

static enum status infer_fronts(const struct guess *g, struct launch_spec *l)
{
    enum status s = ST_OK;
    for (uint32_t p = 0; s == ST_OK && p < g->f->nparams && l->nargs < INFER_ARGS; p++) {
        struct arg_spec *a = &l->args[p];
        uint64_t front = g->ahead ? a->count / 2 * elem_size(a->elem) : g->front[p];
        if (front && a->kind == ARG_BUFFER && !a->address && a->init.kind != INIT_ROWS)
            s = infer_front(front, a, &l->args[l->nargs++]);
    }
    return s;
}

/* A number, or a register that is given one and nothing else. */
static bool number_of(const struct ptx_func *f, const struct ptx_operand *o, int64_t *v)
{
    bool known = ptx_is_number(o);
    *v = known ? o->imm : 0;
    for (uint32_t i = 0; o->kind == OPND_REG && i < f->ninsts; i++) {
        const struct ptx_inst *x = &f->insts[i];
        if (!x->nopnds || x->opnds[0].kind != OPND_REG || x->opnds[0].index != o->index)
            continue;
        if (known || x->nopnds != 2 || !ptx_is_move(x) || !ptx_is_number(&x->opnds[1]))
            return false;
        *v = x->opnds[1].imm;
        known = true;
    }
    return known;
}

/* The number that a parameter divides into parts, one for each CTA; 0: none, or it is no number of the text. */
static uint64_t parts_most(const struct guess *g)
{
    if (!infer_has_bound(g, INFER_BOUNDS_PARTS))
        return 0;
    for (uint32_t i = 0; i < g->f->ninsts; i++) {
        const struct ptx_inst *x = &g->f->insts[i];
        int64_t v;
        if (ptx_rule_of(x) == ADDR_DIV && number_of(g->f, &x->opnds[1], &v) && v > 1 && v <= UINT32_MAX)
            return (uint64_t)v;
    }
    return 0;
}

enum status infer_spec(const struct guess *g, struct size_guess size, unsigned block,
                       struct launch_spec *l)
{
    const struct block_guess *b = &g->blocks[block];
    struct dim3u c = b->covers;
    *l =
        (struct launch_spec){ .shared = g->shape.shared, .block = g->threads.x ? g->threads : b->block };
    l->grid = (struct dim3u){ ctas(size.n, c.x, 65536), g->shape.dims > 1 ? ctas(size.n, c.y, 4096) : 1,
                              g->shape.dims > 2 ? ctas(size.n, c.z, 64) : 1 };
    l->grid.x = g->shape.one_thread || !g->shape.cta[0] ? 1 : l->grid.x * g->wider;
    l->grid.y = g->shape.cta[1] ? l->grid.y : 1;
    l->grid.z = g->shape.cta[2] ? l->grid.z : 1;
    uint64_t most = parts_most(g);
    if (most)
        l->grid.x = ctas((uint32_t)most, l->block.x, l->grid.x);
    l->grid = g->grid.x ? g->grid : l->grid;
    size.parts = l->grid.x;
    l->kernel = str_dup(g->f->name);
    l->ptx = infer_file(g->facts->module->path);
    l->args = base_alloc((INFER_ARGS + 1) * sizeof *l->args);
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
        s = infer_textures(g, size, l);
    if (s == ST_OK)
        s = infer_symbols(g, l);
    size_t fronts = l->nargs;
    if (s == ST_OK)
        s = infer_fronts(g, l);
    for (size_t i = 0; g->bytes && i < l->nargs; i++)
        if (l->args[i].kind == ARG_BUFFER && l->args[i].init.kind != INIT_ROWS &&
            (i >= fronts || !arg_apart(&l->args[i])) && g->bytes[i])
            infer_cut(&l->args[i],
                      (g->bytes[i] + elem_size(l->args[i].elem) - 1) / elem_size(l->args[i].elem));
    for (size_t i = 0, outputs = 0; i < l->nargs; i++)
        if (l->args[i].output && ++outputs > RESULT_MAX_OUTPUTS)
            l->args[i].output = false;
    return s;
}
