/* What the launches before this one leave in its buffers: where a slice reads
 * memory, their kernels are executed whole, as slices in which every write
 * counts, on private copies of the buffers. */
#include "engine/analysis/facts.h"
#include "engine/analysis/slice/slice.h"
#include "engine/rec/launch.h"

#define BEFORE_BYTES (UINT64_C(1) << 29) /* copies larger than this are not made */

static void copies_free(struct launch_buffer *v, size_t n)
{
    for (size_t i = 0; v && i < n; i++)
        if (v[i].file < 0)
            base_pages_free(v[i].bytes, v[i].n, -1);
        else
            base_free(v[i].bytes);
    base_free(v);
}
/* Private copies of v[0..n), which cost what is written to them where that can be had. */
static struct launch_buffer *copies(const struct launch_buffer *v, size_t n)
{
    struct launch_buffer *out = base_alloc((n + 1) * sizeof *out);
    bool ok = out != NULL;
    for (size_t i = 0; ok && v && i < n; i++) {
        struct launch_buffer *b = &out[i];
        b->n = v[i].n;
        if (b->n && (v[i].zero || v[i].file > 0) && (b->bytes = base_pages_copy(b->n, v[i].file))) {
            b->file = -1; /* to be unmapped */
            continue;
        }
        ok = !b->n || (b->bytes = base_alloc(b->n));
        ok = ok && (!b->n || launch_buffer_fill(&v[i], b->bytes, 0, NULL) == ST_OK);
    }
    if (!ok)
        copies_free(out, n);
    return ok ? out : NULL;
}
/* The buffer an argument of a before-launch stands for: its own, or the main launch's by name. */
static struct launch_buffer buffer_for(struct facts *f, const struct launch_spec *l,
                                       const struct launch_buffer *own, size_t i)
{
    const struct arg_spec *a = &l->args[i];
    uint64_t off = 0;
    if (a->kind == ARG_BUFFER && own && own[i].n)
        return own[i];
    for (size_t hop = 0; hop <= l->nargs && a->kind == ARG_SAME_AS; hop++) {
        size_t next = launch_arg_named(l, a->same_as);
        off += a->offset;
        if (next == SIZE_MAX) {
            size_t m = launch_arg_named(f->patched.spec, a->same_as);
            size_t root = m == SIZE_MAX ? m : launch_buffer_of(f->patched.spec, m);
            if (root == SIZE_MAX || off > f->patched.buffers[root].n)
                return (struct launch_buffer){ 0 };
            return (struct launch_buffer){ .bytes = f->patched.buffers[root].bytes + off,
                                           .n = f->patched.buffers[root].n - off };
        }
        a = &l->args[next];
        if (a->kind == ARG_BUFFER && own && own[next].n && off <= own[next].n)
            return (struct launch_buffer){ .bytes = own[next].bytes + off, .n = own[next].n - off };
    }
    size_t m = launch_arg_named(f->patched.spec, a->name);
    return m != SIZE_MAX && f->patched.buffers[m].n ? f->patched.buffers[m]
                                                    : (struct launch_buffer){ 0 };
}
static bool nothing(void *ctx, const struct slice_event *ev)
{
    (void)ctx, (void)ev;
    return true;
}
static enum status execute(struct facts *f, const struct ptx_module *m, const struct ptx_func *k,
                           const struct launch_data *d, const char **why)
{
    struct eval e;
    struct env v;
    struct slice *s = NULL;
    uint64_t budget = UINT64_C(1) << 27;
    enum status st = eval_kernel(&e, f->arena, m, k, f->o->cancel);
    if (st == ST_OK)
        st = env_make(&v, &e, d);
    v.effects = true;
    if (st == ST_OK)
        st = slice_make(&v, NULL, 0, &s);
    if (st == ST_OK && (s->refused || s->taint_why)) {
        *why = s->refused ? s->refused : s->taint_why;
        st = ST_REFUSED;
    }
    if (st == ST_OK) {
        st = slice_run(s, 0, env_ctas(&v), 1, nothing, NULL, &budget);
        if (st == ST_REFUSED)
            *why = slice_fault(s) ? arena_dup(f->arena, str_of(slice_fault(s)))
                   : s->spun      ? arena_printf(f->arena, SLICE_SPUN, s->spun)
                                  : "it runs too long";
    }
    slice_free(s);
    eval_done(&e);
    return st;
}
/* One launch; the description with every pointer argument made a buffer of its own. */
static enum status run_one(struct facts *f, const struct ptx_module *m, size_t k, const char **why)
{
    const struct launch_spec *l = &f->patched.spec->before[k];
    const struct ptx_func *func = ptx_find_func(m, str_of(l->kernel));
    struct launch_spec spec = *l;
    struct launch_data d = { .spec = &spec };
    if (!func || !func->entry || !func->has_body) {
        *why = "its kernel is not in this module";
        return ST_REFUSED;
    }
    spec.args = ARENA_ARRAY(f->arena, struct arg_spec, l->nargs + 1);
    d.buffers = ARENA_ARRAY(f->arena, struct launch_buffer, l->nargs + 1);
    struct launch_buffer *own = copies(f->o->data->before ? f->o->data->before[k] : NULL, l->nargs);
    if (!spec.args || !d.buffers || !own) {
        copies_free(own, l->nargs);
        return ST_NOMEM;
    }
    spec.nsymbols = 0;
    for (size_t i = 0; i < l->nargs; i++) {
        spec.args[i] = l->args[i];
        if (l->args[i].kind != ARG_BUFFER && l->args[i].kind != ARG_SAME_AS)
            continue;
        spec.args[i].kind = ARG_BUFFER;
        d.buffers[i] = buffer_for(f, l, own, i);
    }
    enum status st = execute(f, m, func, &d, why);
    copies_free(own, l->nargs);
    return st;
}
static void not_executed(struct facts *f, const char *why)
{
    f->prior_launches_gap = arena_printf(f->arena,
                                         "the launches before this one are not executed (%s): loaded "
                                         "values are the buffers' initial data",
                                         why);
}
/* The buffers, and why the launches could not be executed: owned; NULL: they were. */
struct ana_before {
    struct launch_buffer *buffers;
    size_t n;
    char *gap;
};

void ana_before_free(struct ana_before *b)
{
    if (!b)
        return;
    copies_free(b->buffers, b->n);
    BASE_FREE(b->gap, b);
}
/* Leaves the buffers to the caller, for its next analysis of this launch. */
static void keep(struct facts *f)
{
    struct ana_before *b = f->o->before ? base_alloc(sizeof *b) : NULL;
    if (!b)
        return; /* the next analysis makes them again */
    *b = (struct ana_before){ f->patched.buffers, f->patched.spec->nargs,
                              f->prior_launches_gap ? base_strdup(f->prior_launches_gap) : NULL };
    *f->o->before = b;
}
void prior_launches_plan(struct facts *f, const struct ptx_module *m)
{
    const struct launch_data *d = f->o->data;
    if (!d || !d->spec->nbefore)
        return;
    bool quick = f->o->quick && !f->o->before;
    if (quick || d->total_bytes > BEFORE_BYTES)
        not_executed(f, quick ? "a quick analysis" : "the buffers are too large to copy");
    else
        f->before = m;
}
static enum status run_all(struct facts *f, const struct ptx_module *m)
{
    const struct launch_data *d = f->o->data;
    const char *why = NULL;
    enum status st = ST_OK;
    if (!(f->patched.buffers = copies(d->buffers, d->spec->nargs)))
        return ST_NOMEM;
    for (size_t k = 0; k < d->spec->nbefore && st == ST_OK; k++)
        st = run_one(f, m, k, &why);
    if (why)
        not_executed(f, why);
    st = st == ST_REFUSED ? ST_OK : st;
    if (st == ST_OK)
        keep(f);
    return st;
}
enum status prior_launches_run(struct facts *f)
{
    const struct ptx_module *m = f->before;
    const struct ana_before *kept = f->o->before ? *f->o->before : NULL;
    enum status st = ST_OK;
    f->before = NULL;
    f->patched = *f->o->data;
    if (kept)
        f->patched.buffers = kept->buffers;
    else
        st = run_all(f, m);
    if (kept && kept->gap)
        f->prior_launches_gap = arena_dup(f->arena, str_of(kept->gap));
    for (uint32_t i = 0; i < f->v.nregions && f->patched.buffers; i++)
        if (f->v.region[i].of)
            f->v.region[i].of = &f->patched.buffers[f->v.region[i].arg];
    return st;
}
void prior_launches_free(struct facts *f)
{
    const struct ana_before *kept = f->o->before ? *f->o->before : NULL;
    if (f->patched.buffers && !(kept && kept->buffers == f->patched.buffers))
        copies_free(f->patched.buffers, f->patched.spec->nargs);
}
