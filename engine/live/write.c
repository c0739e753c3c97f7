/* A trimmed capture as files: PTX, a launch description, the data before, and what the GPU left. */
#include "engine/analysis/analysis.h"
#include "engine/base/file.h"
#include "engine/live/take.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch.h"
#include "engine/rec/result_read.h"
#include "engine/rec/tensor_map.h"
#include "engine/session/launch_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_TIMES = 3, KEPT_BYTES = 16 << 20, ALIGN = 256 };

struct writing {
    const struct trim *tr;
    struct launch_spec l;
    char **name;               /* of each region's buffer; owned */
    uint64_t *at, *after;      /* of each region in the data files */
    bool *zero;                /* all of it is */
    char data[300], left[300]; /* names of the files */
    uint64_t ndata, nleft;
    size_t outputs;
    size_t apart; /* regions that are no argument */
    bool oom;
};

void take_files_free(struct take_files *f)
{
    BASE_FREE(f->ptx, f->launch);
    launch_spec_drop(f->spec);
    *f = (struct take_files){ 0 };
}

/* ---- which regions must keep their addresses ---- */
static size_t region_at(const struct trim *tr, uint64_t addr)
{
    for (size_t i = 0; i < tr->n; i++)
        if (!tr->t->range[tr->v[i].range].name && addr - tr->v[i].addr < tr->v[i].n)
            return i;
    return SIZE_MAX;
}

static size_t range_at(const struct take *t, uint64_t addr)
{
    for (size_t i = 0; i < t->nrange; i++)
        if (!t->range[i].name && addr - t->range[i].addr < t->range[i].n)
            return i;
    return SIZE_MAX;
}

/* Regions of one range are reached by one pointer, unless each begins where a parameter points. */
static void fix_range(struct trim *tr, size_t range)
{
    for (size_t i = 0; i < tr->n; i++)
        tr->v[i].fixed |= tr->v[i].range == range;
}

/* Does the kernel reach memory by addresses that it loads? Otherwise whatever looks like one in its data is none. */
static bool loads_pointers(const struct ptx_module *m, const struct ptx_func *f)
{
    struct ana_opts o = { .quick = true };
    struct ana_kernel *facts = NULL;
    bool any = ana_run(m, f->name, &o, &facts, NULL) != ST_OK;
    for (uint32_t i = 0; !any && i < facts->naccess; i++) {
        const struct ana_access *a = &facts->access[i];
        bool memory = a->space == PTX_SPACE_GLOBAL || a->space == PTX_SPACE_GENERIC;
        any = memory && a->param < 0 && (!a->array || strcmp(a->array, "data") == 0);
    }
    ana_free(facts);
    return any;
}

/* Pointers that lie in kept memory. */
static void fix_by_data(struct trim *tr)
{
    for (size_t i = 0; i < tr->n; i++) {
        const struct trim_region *g = &tr->v[i];
        const uint8_t *p = tr->before[g->range] + (g->addr - tr->t->range[g->range].addr);
        for (uint64_t at = (8 - g->addr % 8) % 8; at + 8 <= g->n; at += 8) {
            uint64_t v;
            memcpy(&v, p + at, 8);
            size_t r = v >> 32 && !(v >> 49) ? range_at(tr->t, v) : SIZE_MAX;
            if (r != SIZE_MAX)
                fix_range(tr, r);
        }
    }
}

/* Memory between what the kernel uses may be kept with it: as much again a few times, or some megabytes. Then one
 * buffer holds all that one pointer reaches, and the launch runs anywhere. */
static bool may_keep(uint64_t gap, uint64_t used)
{
    return gap <= KEPT_TIMES * used || gap <= KEPT_BYTES;
}

/* A pointer to before what the kernel uses: what lies between is kept. Where that is too much, addresses stay. */
static void reach_down(struct trim *tr, uint64_t v)
{
    size_t r = range_at(tr->t, v), first = SIZE_MAX;
    if (r == SIZE_MAX || region_at(tr, v) != SIZE_MAX)
        return;
    for (size_t i = 0; i < tr->n; i++)
        if (tr->v[i].range == r && tr->v[i].addr > v &&
            (first == SIZE_MAX || tr->v[i].addr < tr->v[first].addr))
            first = i;
    if (first == SIZE_MAX || !may_keep(tr->v[first].addr - v, tr->v[first].n)) {
        fix_range(tr, r);
        return;
    }
    tr->bytes += tr->v[first].addr - v;
    tr->v[first].n += tr->v[first].addr - v;
    tr->v[first].addr = v;
}

static bool join_two(struct trim *tr, size_t low, size_t high)
{
    struct trim_region *a = &tr->v[low], *b = &tr->v[high];
    uint64_t gap = b->addr - a->addr - a->n;
    if (take_points_to(tr->t, b->addr) || !may_keep(gap, a->n + b->n))
        return false;
    tr->bytes += gap;
    a->n = b->addr + b->n - a->addr;
    a->written |= b->written;
    a->type = a->type ? a->type : b->type;
    *b = tr->v[--tr->n];
    return true;
}

/* Regions of one range that no parameter tells apart become one. */
static void join(struct trim *tr)
{
    for (size_t i = 0; i < tr->n; i++) {
        size_t next = SIZE_MAX;
        for (size_t k = 0; k < tr->n; k++)
            if (k != i && tr->v[k].range == tr->v[i].range && tr->v[k].addr > tr->v[i].addr &&
                (next == SIZE_MAX || tr->v[k].addr < tr->v[next].addr))
                next = k;
        if (next != SIZE_MAX && join_two(tr, i, next))
            i = SIZE_MAX; /* from the start: they have other numbers */
    }
}

static void fix(struct trim *tr, const struct ptx_module *m, const struct ptx_func *f)
{
    const struct take *t = tr->t;
    join(tr);
    for (size_t i = 0; i < t->nparam; i++)
        for (uint64_t at = 0; at + 8 <= t->param[i].n; at += 8) {
            uint64_t v;
            memcpy(&v, t->param[i].bytes + at, 8);
            reach_down(tr, v);
        }
    for (size_t i = 0; i < tr->n; i++)
        for (size_t k = 0; k < i; k++)
            if (tr->v[i].range == tr->v[k].range &&
                (!take_points_to(t, tr->v[i].addr) || !take_points_to(t, tr->v[k].addr)))
                fix_range(tr, tr->v[i].range);
    if (loads_pointers(m, f))
        fix_by_data(tr);
}

/* How many variables have a name that is before this one's. */
static uint32_t names_before(const struct trim *tr, const char *name)
{
    uint32_t n = 0;
    for (size_t i = 0; i < tr->n; i++) {
        const char *other = tr->t->range[tr->v[i].range].name;
        n += other && strcmp(other, name) < 0;
    }
    return n;
}

/* The order of the files: that of the parameters and of variables' names, whatever addresses memory got. */
static void number_regions(struct trim *tr)
{
    uint32_t n = 0;
    for (size_t i = 0; i < tr->n; i++) {
        const char *name = tr->t->range[tr->v[i].range].name;
        tr->v[i].first = name ? UINT32_MAX - (uint32_t)tr->n + names_before(tr, name) : UINT32_MAX;
    }
    for (size_t i = 0; i < tr->t->nparam; i++)
        for (uint64_t at = 0; at + 8 <= tr->t->param[i].n; at += 8, n++) {
            uint64_t v;
            memcpy(&v, tr->t->param[i].bytes + at, 8);
            size_t r = region_at(tr, v);
            if (r != SIZE_MAX && n < tr->v[r].first)
                tr->v[r].first = n;
        }
}

static int by_parameter(const void *a, const void *b)
{
    const struct trim_region *x = a, *y = b;
    int first = (x->first > y->first) - (x->first < y->first);
    return first ? first : (x->addr > y->addr) - (x->addr < y->addr);
}

/* ---- data files ---- */
static const uint8_t *bytes_of(const struct writing *w, size_t region, bool after)
{
    const struct trim_region *g = &w->tr->v[region];
    uint8_t *const *of = after ? w->tr->after : w->tr->before;
    return of[g->range] + (g->addr - w->tr->t->range[g->range].addr);
}

static bool is_zero(const uint8_t *p, uint64_t n)
{
    uint64_t i = 0;
    while (i < n && !p[i])
        i++;
    return i == n;
}

static enum status put_file(const struct writing *w, const char *folder, bool after, struct diags *ds)
{
    static const uint8_t zeros[ALIGN];
    struct buf path = { 0 };
    struct file_new f;
    buf_printf(&path, "%s/%s", folder, after ? w->left : w->data);
    if (path.oom) {
        buf_free(&path);
        return ST_NOMEM;
    }
    bool fine = file_new_open(&f, path.s);
    uint64_t end = 0;
    for (size_t i = 0; i < w->tr->n && fine; i++) {
        const struct trim_region *g = &w->tr->v[i];
        if (after ? !g->written : w->zero[i])
            continue;
        fine = file_new_put(&f, bytes_of(w, i, after), g->n);
        end += g->n;
        fine = fine && file_new_put(&f, zeros, (ALIGN - end % ALIGN) % ALIGN);
        end += (ALIGN - end % ALIGN) % ALIGN;
    }
    fine = fine && file_new_done(&f);
    if (!fine)
        diag_error(ds, "write", "%s: %s: %s", path.s, f.what, strerror(f.err));
    file_new_drop(&f);
    buf_free(&path);
    return fine ? ST_OK : ST_IO;
}

static void lay_out(struct writing *w)
{
    for (size_t i = 0; i < w->tr->n; i++) {
        uint64_t n = (w->tr->v[i].n + ALIGN - 1) / ALIGN * ALIGN;
        w->zero[i] = is_zero(bytes_of(w, i, false), w->tr->v[i].n);
        w->at[i] = w->ndata;
        w->after[i] = w->nleft;
        w->ndata += w->zero[i] ? 0 : n;
        w->nleft += w->tr->v[i].written ? n : 0;
    }
}

/* ---- the description ---- */
static char *text_of(struct writing *w, const char *format, ...) BASE_PRINTF(2, 3);
static char *text_of(struct writing *w, const char *format, ...)
{
    struct buf b = { 0 };
    va_list ap;
    va_start(ap, format);
    buf_vprintf(&b, format, ap);
    va_end(ap);
    char *s = buf_take(&b);
    w->oom |= !s;
    return s;
}

static enum elem element_of(const struct trim_region *g)
{
    const char *name = ptx_type_name((enum ptx_type)g->type);
    enum elem e = ELEM_U8;
    if (!name || !elem_parse(str_of(name), &e)) {
        unsigned bits = ptx_type_bits((enum ptx_type)g->type);
        e = bits == 64 ? ELEM_U64 : bits == 32 ? ELEM_U32 : bits == 16 ? ELEM_U16 : ELEM_U8;
    }
    return g->n % elem_size(e) || g->addr % elem_size(e) ? ELEM_U8 : e;
}

static void put_init(struct writing *w, struct init_spec *in, size_t region)
{
    if (w->zero[region]) {
        *in = (struct init_spec){ .kind = INIT_FILL, .integral = true };
        return;
    }
    *in = (struct init_spec){ .kind = INIT_FILE,
                              .offset = w->at[region],
                              .text = text_of(w, "%s", w->data) };
}

static void put_buffer(struct writing *w, struct arg_spec *a, size_t region, char *name)
{
    const struct trim_region *g = &w->tr->v[region];
    a->kind = ARG_BUFFER;
    bool near = w->tr->relative > 0 && w->tr->relative <= TRIM_CLOSE;
    a->elem = element_of(g);
    if (near && g->written && a->elem == ELEM_U32 && g->type == PTX_T_B32)
        a->elem = ELEM_F32; /* the data are floats, as their differences say */
    a->count = g->n / elem_size(a->elem);
    a->name = name;
    a->output = g->written && w->outputs++ < RESULT_MAX_OUTPUTS;
    a->address = g->fixed ? g->addr : 0;
    if (g->written && near && elem_is_float(a->elem))
        a->tolerance = 2 * w->tr->relative;
    if (a->output) {
        a->expect = text_of(w, "%s", w->left);
        a->expect_at = w->after[region];
    }
    put_init(w, &a->init, region);
}

/* The buffer's name, which it gets when it is first pointed to. */
static const char *name_of(struct writing *w, size_t region)
{
    if (!w->name[region])
        w->name[region] = text_of(w, "memory_%zu", w->apart++);
    return w->name[region] ? w->name[region] : "";
}

static void put_pointer(struct writing *w, struct arg_spec *a, size_t region, uint64_t v)
{
    a->kind = ARG_SAME_AS;
    a->same_as = text_of(w, "%s", name_of(w, region));
    a->offset = v - w->tr->v[region].addr;
}

static struct arg_spec *arg_new(struct writing *w)
{
    return &w->l.args[w->l.nargs++]; /* there is room for all */
}

/* Pointers inside a struct, behind all parameters. */
static void put_inner(struct writing *w, const struct take_param *p, const char *outer)
{
    for (uint64_t at = 0; at + 8 <= p->n; at += 8) {
        uint64_t v;
        memcpy(&v, p->bytes + at, 8);
        size_t region = region_at(w->tr, v);
        if (region == SIZE_MAX)
            continue;
        struct arg_spec *a = arg_new(w);
        put_pointer(w, a, region, v);
        a->inside = text_of(w, "%s", outer);
        a->at = at;
        a->name = text_of(w, "%s+%llu", outer, (unsigned long long)at);
    }
}

static bool put_tensor(struct writing *w, struct arg_spec *a, const struct take_param *p)
{
    struct tensor_map m;
    if (p->n != TENSOR_MAP_BYTES || !tensor_map_decode(p->bytes, &m) ||
        region_at(w->tr, m.address) == SIZE_MAX)
        return false;
    uint64_t addr = m.address;
    put_pointer(w, a, region_at(w->tr, addr), addr);
    a->kind = ARG_TENSOR_MAP;
    m.address = 0;
    a->bytes = base_alloc(TENSOR_MAP_BYTES);
    a->nbytes = TENSOR_MAP_BYTES;
    w->oom |= !a->bytes;
    if (a->bytes)
        tensor_map_encode(&m, a->bytes);
    return true;
}

/* Does it name this parameter, in a list, too? */
static bool names(const struct ptx_operand *o, const struct ptx_symbol *s)
{
    if (o->kind == OPND_VEC) {
        for (uint16_t i = 0; i < o->nelem; i++)
            if (names(&o->elem[i], s))
                return true;
        return false;
    }
    return (o->kind == OPND_SYM || (o->kind == OPND_ADDR && o->base == BASE_SYM)) && o->sym == s;
}

/* Copies from `was` what the instruction reads of a parameter of n bytes: a load its bytes, all else the whole. */
static void keep_read(const struct ptx_inst *i, const struct ptx_symbol *s, const uint8_t *was,
                      uint8_t *to, uint64_t n)
{
    for (unsigned j = 0; j < i->nopnds; j++) {
        const struct ptx_operand *o = &i->opnds[j];
        bool load = o->kind == OPND_ADDR && o->imm >= 0 && ptx_is_param_load(i);
        uint64_t at = load ? (uint64_t)o->imm : 0;
        uint64_t size = load ? ptx_type_bits((enum ptx_type)i->type[0]) / 8 * i->vec : n;
        if (names(o, s) && at < n)
            memcpy(to + at, was + at, size < n - at ? size : n - at);
    }
}

/* Pointers inside are arguments of their own (put_inner): their bytes, which are another GPU's addresses there,
 * are zero here, and so is filling that the kernel does not read: a program leaves it as it was. */
static void put_bytes(struct writing *w, struct arg_spec *a, const struct take_param *p,
                      const struct ptx_func *f, const struct ptx_symbol *s)
{
    a->kind = ARG_BYTES;
    a->bytes = base_alloc(p->n ? p->n : 1);
    a->nbytes = p->n;
    w->oom |= !a->bytes;
    for (uint32_t i = 0; a->bytes && i < f->ninsts; i++)
        keep_read(&f->insts[i], s, p->bytes, a->bytes, p->n);
    for (uint64_t at = 0; a->bytes && at + 8 <= p->n; at += 8) {
        uint64_t v;
        memcpy(&v, p->bytes + at, 8);
        if (region_at(w->tr, v) != SIZE_MAX)
            memset(a->bytes + at, 0, 8);
    }
}

static bool put_scalar(struct arg_spec *a, const struct ptx_symbol *s, const struct take_param *p)
{
    const char *name = ptx_type_name((enum ptx_type)s->type);
    unsigned bits = ptx_type_bits((enum ptx_type)s->type);
    enum elem e;
    if (s->array || !name || bits != 8 * p->n)
        return false;
    if (!elem_parse(str_of(name), &e))
        e = bits == 64 ? ELEM_U64 : bits == 32 ? ELEM_U32 : bits == 16 ? ELEM_U16 : ELEM_U8;
    double d = 0;
    float f = 0;
    if (elem_is_float(e) && e != ELEM_F32 && e != ELEM_F64)
        return false;
    if (e == ELEM_F32 && (memcpy(&f, p->bytes, 4), !isfinite(f)))
        return false;
    if (e == ELEM_F64 && (memcpy(&d, p->bytes, 8), !isfinite(d)))
        return false;
    a->kind = ARG_SCALAR;
    a->elem = e;
    memcpy(a->scalar, p->bytes, p->n);
    return true;
}

static bool first_user(const struct writing *w, size_t region)
{
    return !w->name[region] && !w->tr->v[region].fixed;
}

static void put_param(struct writing *w, const struct take_param *p, const struct ptx_func *f,
                      uint32_t k)
{
    struct str label = ptx_param_label(f, k);
    struct arg_spec *a = arg_new(w);
    char *name = text_of(w, "%.*s", (int)label.n, label.s);
    uint64_t v = 0;
    if (p->n == 8)
        memcpy(&v, p->bytes, 8);
    size_t region = p->n == 8 ? region_at(w->tr, v) : SIZE_MAX;
    if (region != SIZE_MAX && v == w->tr->v[region].addr && first_user(w, region)) {
        w->name[region] = text_of(w, "%s", name ? name : "");
        put_buffer(w, a, region, name);
        return;
    }
    if (region != SIZE_MAX)
        put_pointer(w, a, region, v);
    else if (!put_tensor(w, a, p) && !put_scalar(a, f->params[k], p))
        put_bytes(w, a, p, f, f->params[k]);
    a->name = name;
}

/* Parameter k of the kernel as captured; NULL: none of its size. Places are not compared: the driver
 * puts some space before parameters that are aligned to more than 16 bytes. */
static const struct take_param *captured(const struct take *t, const struct ptx_func *f, uint32_t k)
{
    return k < t->nparam && t->param[k].n == f->params[k]->bytes ? &t->param[k] : NULL;
}

static bool is_argument(const struct writing *w, size_t region)
{
    for (size_t i = 0; i < w->l.nargs; i++)
        if (w->l.args[i].kind == ARG_BUFFER && w->name[region] &&
            strcmp(w->l.args[i].name, w->name[region]) == 0)
            return true;
    return false;
}

static void put_rest(struct writing *w)
{
    for (size_t i = 0; i < w->tr->n; i++) {
        if (w->tr->t->range[w->tr->v[i].range].name || is_argument(w, i))
            continue;
        name_of(w, i);
        struct arg_spec *a = arg_new(w);
        put_buffer(w, a, i, text_of(w, "%s", w->name[i] ? w->name[i] : ""));
        a->inside = text_of(w, "%s", "");
    }
}

static void put_symbols(struct writing *w)
{
    for (size_t i = 0; i < w->tr->n; i++) {
        const struct take_range *r = &w->tr->t->range[w->tr->v[i].range];
        if (!r->name)
            continue;
        struct symbol_spec *y = &w->l.symbols[w->l.nsymbols++];
        y->name = text_of(w, "%s", r->name);
        y->elem = ELEM_U8;
        y->count = r->n;
        put_init(w, &y->init, i);
    }
}

static size_t words_of(const struct take *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->nparam; i++)
        n += 1 + t->param[i].n / 8;
    return n;
}

static enum status no_such_param(const struct take *t, const struct ptx_func *f, uint32_t k,
                                 struct diags *ds)
{
    char has[60] = "none";
    if (k < t->nparam)
        snprintf(has, sizeof has, "%llu bytes", (unsigned long long)t->param[k].n);
    diag_error(ds, "capture", "parameter %u of %s has %llu bytes in its PTX, and %s in the launch", k,
               t->name, (unsigned long long)f->params[k]->bytes, has);
    return ST_INPUT;
}

static enum status describe(struct writing *w, const struct ptx_func *f, const char *stem,
                            struct diags *ds)
{
    const struct take *t = w->tr->t;
    w->l.args = base_alloc((words_of(t) + w->tr->n + 1) * sizeof *w->l.args);
    w->l.symbols = base_alloc((w->tr->n + 1) * sizeof *w->l.symbols);
    if (!w->l.args || !w->l.symbols)
        return ST_NOMEM;
    w->l.ptx = text_of(w, "%s.ptx", stem);
    w->l.kernel = text_of(w, "%s", t->name);
    w->l.grid = (struct dim3u){ t->grid[0], t->grid[1], t->grid[2] };
    w->l.block = (struct dim3u){ t->block[0], t->block[1], t->block[2] };
    w->l.cluster = (struct dim3u){ t->cluster[0], t->cluster[1], t->cluster[2] };
    w->l.shared = t->shared;
    for (uint32_t k = 0; k < f->nparams; k++) {
        const struct take_param *p = captured(t, f, k);
        if (!p) {
            return no_such_param(t, f, k, ds);
        }
        put_param(w, p, f, k);
    }
    for (uint32_t k = 0; k < f->nparams; k++)
        if (w->l.args[k].kind == ARG_BYTES)
            put_inner(w, captured(t, f, k), w->l.args[k].name ? w->l.args[k].name : "");
    put_rest(w);
    put_symbols(w);
    return w->oom ? ST_NOMEM : ST_OK;
}

static enum status put_all(struct writing *w, const struct ptx_module *m, const char *folder,
                           const char *stem, struct take_files *out, struct diags *ds)
{
    struct buf path = { 0 };
    buf_printf(&path, "%s/%s.ptx", folder, stem);
    enum status st = path.oom ? ST_NOMEM : file_write_atomic(path.s, m->text.s, m->text.n, ds);
    buf_free(&path);
    if (st == ST_OK && w->ndata)
        st = put_file(w, folder, false, ds);
    if (st == ST_OK && w->nleft)
        st = put_file(w, folder, true, ds);
    out->ptx = text_of(w, "%s.ptx", stem);
    out->launch = text_of(w, "%s.launch.json", stem);
    out->data_bytes = w->tr->bytes;
    out->trimmed_from = w->tr->from;
    out->spec = base_alloc(sizeof *out->spec);
    w->oom |= !out->spec;
    if (out->spec) {
        *out->spec = w->l;
        w->l = (struct launch_spec){ 0 };
    }
    return st == ST_OK && w->oom ? ST_NOMEM : st;
}

void take_data_name(const char *stem, unsigned number, bool left, char *out, size_t n)
{
    char further[16] = "";
    if (number)
        snprintf(further, sizeof further, ".%u", number + 1);
    snprintf(out, n, "%.200s%s.%s.bin", stem, further, left ? "left" : "data");
}

enum status take_write(struct trim *tr, const struct ptx_module *m, const struct ptx_func *f,
                       const char *folder, const char *stem, unsigned number, struct take_files *out,
                       struct diags *ds)
{
    struct writing w = { .tr = tr };
    *out = (struct take_files){ 0 };
    take_data_name(stem, number, false, w.data, sizeof w.data);
    take_data_name(stem, number, true, w.left, sizeof w.left);
    w.name = base_alloc((tr->n + 1) * sizeof *w.name);
    w.at = base_alloc((tr->n + 1) * sizeof *w.at);
    w.after = base_alloc((tr->n + 1) * sizeof *w.after);
    w.zero = base_alloc((tr->n + 1) * sizeof *w.zero);
    enum status st = w.name && w.at && w.after && w.zero ? ST_OK : ST_NOMEM;
    if (st == ST_OK) {
        fix(tr, m, f);
        number_regions(tr);
        if (tr->n)
            qsort(tr->v, tr->n, sizeof *tr->v, by_parameter);
        lay_out(&w);
        st = describe(&w, f, stem, ds);
    }
    if (st == ST_OK)
        st = put_all(&w, m, folder, stem, out, ds);
    for (size_t i = 0; w.name && i < tr->n; i++)
        base_free(w.name[i]);
    BASE_FREE(w.name, w.at, w.after, w.zero);
    launch_spec_free(&w.l);
    return st;
}
