/* What the original wrote, where the launch states a tolerance: a result whose hash differs is compared
 * with it, number by number. A little of it is kept in memory, the rest in a file without a name. */
#include "engine/rec/elem.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/data.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch_arg.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/result_read.h"
#include "engine/sim/sums.h"
#include "engine/tune/tune_int.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define IN_MEMORY (UINT64_C(32) << 20)
#define PIECE     (UINT64_C(4) << 20)

/* Float atomics' own bound where it is known. A stated tolerance is relative to the larger magnitude, or
 * to 1 where that is more. Ours is relative to this element's own magnitudes alone: a large sum
 * elsewhere in the buffer forgives it nothing. */
bool tune_within(const struct arg_spec *arg, const float *bound, double x, double y)
{
    if (x == y || (isnan(x) && isnan(y)))
        return true;
    double own = fmax(fabs(x), fabs(y));
    if (bound && arg->atomic)
        return isfinite(own) && fabs(x - y) <= (double)*bound;
    return isfinite(own) && fabs(x - y) <= arg->tolerance * (arg->atomic ? own : fmax(1, own));
}

static bool within(const uint8_t *a, const uint8_t *b, const struct arg_spec *arg, const float *bound,
                   uint64_t n)
{
    size_t w = elem_size(arg->elem);
    for (uint64_t i = 0; i < n; i++)
        if (!tune_within(arg, bound ? &bound[i] : NULL, elem_load(a + i * w, arg->elem),
                         elem_load(b + i * w, arg->elem)))
            return false;
    return true;
}

static uint64_t bytes_of(const struct arg_spec *a)
{
    return a->count * elem_size(a->elem);
}

/* Through a piece of memory into the file. False: the file will not do. */
static bool keep_in_file(struct tune_bench *b, size_t arg, uint64_t n, enum status *st, struct diags *ds)
{
    struct tune_expected *e = b->expected;
    uint8_t *part = base_alloc(PIECE);
    bool ok = part && (e->file > 0 || (e->file = file_nameless()) > 0);
    for (uint64_t at = 0; ok && *st == ST_OK && at < n; at += PIECE) {
        uint64_t k = n - at < PIECE ? n - at : PIECE;
        *st = dev_read_part(b->subject.dev, b->data, arg, at, part, k, ds);
        ok = *st != ST_OK || file_put(e->file, e->in_file + at, part, k);
    }
    base_free(part);
    if (ok) {
        e->arg[arg].at = e->in_file;
        e->in_file += n;
    }
    return ok;
}

static enum status keep_arg(struct tune_bench *b, size_t arg, struct diags *ds)
{
    struct tune_expected *e = b->expected;
    uint64_t n = bytes_of(launch_arg(b->subject.launch, arg));
    enum status st = ST_OK;
    if (n > IN_MEMORY - e->in_memory && keep_in_file(b, arg, n, &st, ds))
        return st;
    uint8_t *bytes = e->arg[arg].bytes = base_alloc(n);
    e->in_memory += n < IN_MEMORY - e->in_memory ? n : IN_MEMORY - e->in_memory;
    return bytes ? dev_read_arg(b->subject.dev, b->data, arg, bytes, n, ds) : ST_NOMEM;
}

/* What the order of float atomics can change, where device d, which ran c, counted their sums. */
static enum status keep_bounds(struct tune_bench *b, struct dev *d, struct dev_code *c,
                               struct dev_data *data, const struct sim_sums *sums)
{
    const struct launch_spec *l = b->subject.launch;
    float **bound = base_alloc((launch_nargs(l) + 1) * sizeof *bound);
    if (!bound)
        return ST_NOMEM;
    enum status st = tune_bounds_all(d, c, data, sums, l, bound);
    for (size_t i = 0; i < launch_nargs(l); i++)
        b->expected->arg[i].bound = bound[i];
    base_free(bound);
    return st;
}

/* A GPU or a worker counts no sums: the simulated device beside it runs the original once and does.
 * A launch that cannot be simulated there keeps the stated tolerance: there are no sums. */
static enum status bounds_beside(struct tune_bench *b, struct sim_sums *sums)
{
    struct dev *d = b->opts.prover;
    struct dev_code *c = NULL;
    struct dev_data *data = NULL;
    struct diags own = { 0 };
    const struct options *none = options_none();
    struct result *r = result_new();
    struct tune_job j = { .code = b->shape[0]->code };
    const struct str text = { j.code.text, j.code.n };
    tune_fill_run(b, none, &j, true);
    j.run.nset = j.run.nzero = 0;
    j.run.persist = STR("");
    j.run.repeat = j.run.max_repeat = 1;
    j.run.sums = sums;
    j.run.max_insts = j.run.time_limit_s > 0 ? 0 : BESIDE_INSTS;
    j.run.cancel = tune_cancel(b);
    enum status st = !r ? ST_NOMEM
                        : dev_load(d, b->subject.module->path, text,
                                   str_of(launch_kernel(b->subject.launch)), 0, &c, &own);
    if (st == ST_OK)
        st = dev_bind(d, b->subject.data, &data, &own);
    if (st == ST_OK)
        st = dev_launch(d, c, data, &j.run, r, &own);
    if (st == ST_OK && result_status(r) == ST_OK && sim_sums_known(sums))
        st = keep_bounds(b, d, c, data, sums);
    if (data)
        dev_unbind(d, data);
    if (c)
        dev_unload(d, c);
    diags_free(&own);
    base_free(r);
    return tune_over(st) ? st : ST_OK;
}

static bool fits_beside(const struct tune_bench *b)
{
    return b->opts.prover && b->nshapes && b->subject.data->total_bytes <= BESIDE_BYTES;
}

enum status tune_keep_expected(struct tune_bench *b, struct sim_sums *sums, struct diags *ds)
{
    const struct launch_spec *l = b->subject.launch;
    enum status st =
        (b->expected = base_alloc(sizeof *b->expected + launch_nargs(l) * sizeof b->expected->arg[0]))
            ? ST_OK
            : ST_NOMEM;
    for (size_t i = 0; st == ST_OK && i < launch_nargs(l); i++)
        if (launch_arg(l, i)->output && launch_arg(l, i)->tolerance > 0)
            st = keep_arg(b, i, ds);
    if (st == ST_OK && sim_sums_known(sums) && b->nshapes)
        return keep_bounds(b, b->subject.dev, b->shape[0]->loaded, b->data, sums);
    return st == ST_OK && sums && fits_beside(b) ? bounds_beside(b, sums) : st;
}

enum status tune_compare_expected(struct tune_bench *b, size_t arg, bool *ok, struct diags *ds)
{
    const struct arg_spec *a = launch_arg(b->subject.launch, arg);
    const struct expected_arg *e = &b->expected->arg[arg];
    uint64_t n = bytes_of(a), piece = n < PIECE ? n : PIECE;
    uint8_t *now = base_alloc(piece), *was = e->bytes ? NULL : base_alloc(piece);
    enum status st = now && (was || e->bytes) ? ST_OK : ST_NOMEM;
    *ok = true;
    for (uint64_t at = 0; st == ST_OK && *ok && at < n; at += piece) {
        uint64_t k = n - at < piece ? n - at : piece;
        st = dev_read_part(b->subject.dev, b->data, arg, at, now, k, ds);
        if (st == ST_OK && was && !file_get(b->expected->file, e->at + at, was, k)) {
            diag_error(ds, "original", "cannot read the original's outputs from the temporary file");
            st = ST_IO;
        }
        *ok = st == ST_OK &&
              within(was ? was : e->bytes + at, now, a,
                     e->bound ? e->bound + at / elem_size(a->elem) : NULL, k / elem_size(a->elem));
    }
    BASE_FREE(now, was);
    return st;
}

void tune_free_expected(struct tune_bench *b)
{
    if (!b->expected)
        return;
    for (size_t i = 0; i < launch_nargs(b->subject.launch); i++) {
        BASE_FREE(b->expected->arg[i].bytes, b->expected->arg[i].bound);
    }
    if (b->expected->file > 0)
        close(b->expected->file);
    base_free(b->expected);
}
