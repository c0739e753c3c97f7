/* Initial data of a launch: every `init` form of the contract (docs/reference/launch.md); init_rule.c
 * makes those that are a rule. */
#include "engine/rec/data.h"

#include "engine/rec/data_int.h"
#include "engine/rec/launch.h"

#include <string.h>

static char *joined(const char *dir, const char *path)
{
    struct buf b = { 0 };
    if (path[0] != '/' && dir && *dir)
        buf_printf(&b, "%s/", dir);
    buf_puts(&b, path);
    return buf_take(&b);
}

static enum status bad(struct diags *ds, const char *name, const char *what)
{
    diag_error(ds, "launch-data", "buffer '%s': %s", name, what);
    return ST_INPUT;
}

/* Where the array data of a version 1.0 .npy file starts; 0: not such a file. */
static size_t npy_data(const char *s, size_t n)
{
    if (n < 10 || memcmp(s, "\x93NUMPY", 6) != 0)
        return 0;
    const unsigned char *u = (const unsigned char *)s;
    size_t head = u[6] == 1 ? 10 + (u[8] | (size_t)u[9] << 8)
                  : n < 12  ? n + 1
                            : 12 + (u[8] | (size_t)u[9] << 8 | (size_t)u[10] << 16);
    return head > n ? 0 : head;
}

static bool npy_type_fits(const char *s, size_t head, enum elem e)
{
    static const char *const codes[] = { "|u1", "|i1", "<u2", "<i2", "<f2", "<u4", "<i4", "<f4",
                                         "<u8", "<i8", "<f8", "V2'", "V1'", "V1'", "<f4" };
    for (size_t i = 10; i + 3 < head; i++)
        if (memcmp(s + i, codes[e], 3) == 0)
            return true;
    return false;
}

/* Where the data of a .npy file of such elements start. */
static enum status npy_start(const char *path, const char *name, enum elem e, uint64_t *at,
                             struct diags *ds)
{
    enum { HEAD_MOST = 1 << 17 };
    char *head = base_alloc(HEAD_MOST);
    uint64_t n = 0;
    enum status s = head ? file_read_part(path, 0, head, HEAD_MOST, &n, ds) : ST_NOMEM;
    *at = s == ST_OK ? npy_data(head, n) : 0;
    if (s == ST_OK && !*at)
        s = bad(ds, name, "not a .npy file");
    else if (s == ST_OK && !npy_type_fits(head, *at, e))
        s = bad(ds, name, "the .npy file has a different element type (or byte order)");
    else if (s == ST_OK && memmem(head, *at, "'fortran_order': True", 21))
        s = bad(ds, name, "the .npy file is in Fortran order");
    base_free(head);
    return s;
}

/* Large data stay known by their file, so that they need not be there as they were. */
static enum status make_file(const struct init_spec *in, const char *dir, const char *name, enum elem e,
                             struct launch_buffer *b, struct diags *ds)
{
    char *path = joined(dir, in->text);
    uint64_t at = in->offset, got = 0;
    enum status s = !path ? ST_NOMEM : in->kind == INIT_NPY ? npy_start(path, name, e, &at, ds) : ST_OK;
    if (s == ST_OK)
        s = file_read_part(path, at, b->bytes, b->n, &got, ds);
    if (s == ST_OK && got < b->n) {
        diag_error(ds, "launch-data",
                   "buffer '%s': '%s' has %llu bytes from offset %llu, %llu are needed", name, in->text,
                   (unsigned long long)got, (unsigned long long)at, (unsigned long long)b->n);
        s = ST_INPUT;
    }
    if (s == ST_OK && b->file > 0)
        s = data_know_file(b, path, at);
    base_free(path);
    return s;
}

static enum status make_hex(const char *text, const char *name, uint8_t *p, uint64_t bytes,
                            struct diags *ds)
{
    if (strlen(text) != bytes * 2)
        return bad(ds, name, "the number of hex digits does not fit its size");
    return str_unhex(str_of(text), p) ? ST_OK : bad(ds, name, "not a hex digit");
}

static void make_by_rule(const struct init_spec *in, enum elem e, uint8_t *p, uint64_t count)
{
    data_make_part(in, e, p, 0, count, 0);
}

static enum status check_fit(const struct init_spec *in, const char *name, uint64_t count,
                             struct diags *ds)
{
    char why[160];
    const char *fault = init_misfit(in, count, why, sizeof why);
    return fault ? bad(ds, name, fault) : ST_OK;
}

static enum status make_whole(const struct init_spec *in, const char *dir, const char *name, enum elem e,
                              struct launch_buffer *b, struct diags *ds)
{
    if (in->kind == INIT_HEX)
        return make_hex(in->text, name, b->bytes, b->n, ds);
    if (in->kind == INIT_FILE || in->kind == INIT_NPY)
        return make_file(in, dir, name, e, b, ds);
    make_by_rule(in, e, b->bytes, b->n / elem_size(e));
    return ST_OK;
}

/* One part after the other, each as a buffer of its own. */
static enum status make_parts(const struct init_spec *in, const char *dir, const char *name, enum elem e,
                              struct launch_buffer *b, struct diags *ds)
{
    enum status st = ST_OK;
    uint64_t at = 0;
    for (size_t k = 0; st == ST_OK && k < in->nparts; k++) {
        struct init_spec part = in->part[k];
        struct launch_buffer piece = { .bytes = b->bytes + at, .n = part.count * elem_size(e) };
        part.seed += in->seed;
        st = make_whole(&part, dir, name, e, &piece, ds);
        at += piece.n;
    }
    return st;
}

static enum status make_init(const struct init_spec *in, const char *dir, const char *name, enum elem e,
                             struct launch_buffer *b, struct diags *ds)
{
    enum status st = check_fit(in, name, b->n / elem_size(e), ds);
    if (st != ST_OK)
        return st;
    return (in->kind == INIT_PARTS ? make_parts : make_whole)(in, dir, name, e, b, ds);
}

/* Adds the bytes of every buffer argument to *total; refuses overflow before anything is allocated. */
static enum status count_bytes(const struct launch_spec *l, uint64_t max_bytes, uint64_t *total,
                               struct diags *ds)
{
    for (size_t i = 0; i < l->nargs; i++) {
        if (l->args[i].kind != ARG_BUFFER)
            continue;
        uint64_t w = elem_size(l->args[i].elem), n = l->args[i].count;
        if (n > max_bytes / w || n * w > max_bytes - *total) {
            diag_error(ds, "launch-size",
                       "buffer '%s': %llu elements of %llu bytes do not fit the device's %llu bytes",
                       l->args[i].name, (unsigned long long)n, (unsigned long long)w,
                       (unsigned long long)max_bytes);
            return ST_INPUT;
        }
        *total += n * w;
    }
    return ST_OK;
}

/* Large data lie where a device can map them rather than copy; zeros need no memory until someone writes
 * them. */
#define PAGES_FROM (1u << 20)
static enum status make_room(struct launch_buffer *b)
{
    b->bytes = b->n >= PAGES_FROM && !b->zero ? base_pages(b->n, &b->file) : NULL;
    if (!b->bytes) {
        b->file = 0;
        b->bytes = base_alloc(b->n);
    }
    return b->bytes ? ST_OK : ST_NOMEM;
}

static enum status make_arg(const struct launch_spec *l, const struct arg_spec *a,
                            struct launch_buffer *b, struct diags *ds)
{
    double none = 0;
    b->n = a->count * elem_size(a->elem);
    b->zero =
        b->n >= PAGES_FROM && a->init.kind == INIT_FILL && memcmp(&a->init.a, &none, sizeof none) == 0;
    enum status s = make_room(b);
    if (s == ST_OK && !b->zero)
        s = make_init(&a->init, l->dir, a->name, a->elem, b, ds);
    if (b->file > 0)
        base_pages_rest(b->bytes, b->n);
    b->rule = b->file > 0 && init_by_rule(&a->init, a->elem) ? a : NULL;
    return s;
}

bool launch_buffer_make(struct launch_buffer *b, uint64_t n, enum launch_source source,
                        const struct arg_spec *a)
{
    *b = (struct launch_buffer){ .n = n, .zero = source == LAUNCH_ZERO && n >= PAGES_FROM };
    bool rule = source == LAUNCH_RULE;
    if (rule && (a->kind != ARG_BUFFER || !init_by_rule(&a->init, a->elem) ||
                 a->count != n / elem_size(a->elem) || n % elem_size(a->elem) ||
                 check_fit(&a->init, "", a->count, NULL) != ST_OK))
        return false;
    if (make_room(b) != ST_OK)
        return false;
    if (rule)
        make_by_rule(&a->init, a->elem, b->bytes, a->count);
    b->rule = rule && b->file > 0 ? a : NULL;
    return true;
}

static enum status make_args(const struct launch_spec *l, struct launch_buffer *out, struct diags *ds)
{
    enum status s = ST_OK;
    for (size_t i = 0; s == ST_OK && i < l->nargs; i++)
        if (l->args[i].kind == ARG_BUFFER)
            s = make_arg(l, &l->args[i], &out[i], ds);
    return s;
}

#define SYMBOL_FILE_MOST ((uint64_t)1 << 30)
/* How many bytes a symbol's data have, before they are made. */
static enum status symbol_bytes(const struct launch_spec *l, const struct symbol_spec *y, size_t *bytes,
                                struct diags *ds)
{
    if (y->count) {
        *bytes = y->count * elem_size(y->elem);
        return ST_OK;
    }
    if (y->init.kind == INIT_HEX) {
        *bytes = strlen(y->init.text) / 2;
        return ST_OK;
    }
    if (y->init.kind != INIT_FILE) {
        struct diag *d = diag_add(ds, DIAG_ERROR, "launch-symbol", l->file, NO_SPAN,
                                  "symbol '%s': its data needs \"buffer\" and \"count\"", y->name);
        diag_hint(d, "as for an argument: \"buffer\": \"f32\", \"count\": 256; only `file` and `hex` "
                     "have a size of their own");
        return ST_INPUT;
    }
    char *path = joined(l->dir, y->init.text); /* the whole file from its offset on */
    uint64_t n = 0;
    enum status s =
        path ? file_read_part(path, y->init.offset, NULL, SYMBOL_FILE_MOST, &n, ds) : ST_NOMEM;
    base_free(path);
    *bytes = n;
    return s;
}

static enum status make_symbols(const struct launch_spec *l, struct launch_data *d, struct diags *ds)
{
    for (size_t i = 0; i < l->nsymbols; i++) {
        const struct symbol_spec *y = &l->symbols[i];
        struct launch_buffer *b = &d->symbols[i];
        enum status s = symbol_bytes(l, y, &b->n, ds);
        if (s != ST_OK)
            return s;
        b->bytes = base_alloc(b->n);
        s = b->bytes ? make_init(&y->init, l->dir, y->name, y->count ? y->elem : ELEM_U8, b, ds)
                     : ST_NOMEM;
        if (s != ST_OK)
            return s;
    }
    return ST_OK;
}

static enum status make_all(const struct launch_spec *l, struct launch_data *d, struct diags *ds)
{
    d->buffers = base_alloc((l->nargs + 1) * sizeof *d->buffers);
    d->symbols = base_alloc((l->nsymbols + 1) * sizeof *d->symbols);
    d->before = base_alloc((l->nbefore + 1) * sizeof *d->before);
    if (!d->buffers || !d->symbols || !d->before)
        return ST_NOMEM;
    enum status s = make_args(l, d->buffers, ds);
    if (s == ST_OK)
        s = make_symbols(l, d, ds);
    for (size_t i = 0; s == ST_OK && i < l->nbefore; i++) {
        d->before[i] = base_alloc((l->before[i].nargs + 1) * sizeof **d->before);
        s = d->before[i] ? make_args(&l->before[i], d->before[i], ds) : ST_NOMEM;
    }
    return s;
}

enum status launch_data_make(const struct launch_spec *l, uint64_t max_bytes, struct launch_data *out,
                             struct diags *ds)
{
    *out = (struct launch_data){ .spec = l };
    enum status s = count_bytes(l, max_bytes, &out->total_bytes, ds);
    for (size_t i = 0; s == ST_OK && i < l->nbefore; i++)
        s = count_bytes(&l->before[i], max_bytes, &out->total_bytes, ds);
    if (s == ST_OK)
        s = make_all(l, out, ds);
    if (s == ST_NOMEM)
        diag_error(ds, "memory", "not enough memory for the launch's buffers (%llu bytes)",
                   (unsigned long long)out->total_bytes);
    if (s != ST_OK)
        launch_data_free(out);
    return s;
}

static void buffers_free(struct launch_buffer *b, size_t n)
{
    for (size_t i = 0; b && i < n; i++) {
        if (b[i].file > 0)
            base_pages_free(b[i].bytes, b[i].n, b[i].file);
        else
            base_free(b[i].bytes);
        data_forget(&b[i]);
    }
    base_free(b);
}

void launch_data_free(struct launch_data *d)
{
    if (!d->spec)
        return;
    buffers_free(d->buffers, d->spec->nargs);
    buffers_free(d->symbols, d->spec->nsymbols);
    for (size_t i = 0; d->before && i < d->spec->nbefore; i++)
        buffers_free(d->before[i], d->spec->before[i].nargs);
    base_free(d->before);
    *d = (struct launch_data){ 0 };
}
