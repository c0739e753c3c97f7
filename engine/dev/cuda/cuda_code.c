/* JIT: PTX text to a driver module, its errors put at the lines they speak of,
 * and a cache per (text, register limit), so that a sweep compiles once. */
#include "engine/dev/cuda/cuda_int.h"
#include "engine/dev/cuda/dev_cuda.h"
#include "engine/ptx/flow/callgraph.h"
#include "engine/ptx/ptx.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define LOG_BYTES 16384u

/* The span of line `line` without leading blanks. */
static struct span line_span(struct str text, uint32_t line)
{
    size_t at = 0;
    for (uint32_t i = 1; i < line && at < text.n; at++)
        i += text.s[at] == '\n';
    size_t start = at;
    while (at < text.n && (text.s[at] == ' ' || text.s[at] == '\t'))
        at++;
    size_t end = at;
    while (end < text.n && text.s[end] != '\n' && text.s[end] != '\r')
        end++;
    return (struct span){ (uint32_t)at, (uint32_t)(end - at), line, (uint32_t)(at - start + 1) };
}

/* One log line: "ptxas application ptx input, line 17; error   : Unknown modifier '.u9'". */
static bool diagnose_line(struct str row, const char *path, struct str text, struct diags *ds)
{
    char s[512];
    size_t n = row.n < sizeof s - 1 ? row.n : sizeof s - 1;
    memcpy(s, row.s, n);
    s[n] = '\0';
    const char *line = strstr(s, ", line "), *error = strstr(s, "error"), *fatal = strstr(s, "fatal");
    const char *kind = error ? error : fatal;
    const char *colon = kind ? strchr(kind, ':') : NULL;
    if (!colon)
        return false;
    do
        colon++;
    while (isspace((unsigned char)*colon));
    unsigned long number = line ? strtoul(line + 7, NULL, 10) : 0;
    struct span at = number && number < UINT32_MAX ? line_span(text, (uint32_t)number) : NO_SPAN;
    if (!number && strstr(colon, "assembly aborted"))
        return false; /* says nothing that the lines before did not */
    struct diag *d = diag_add(ds, DIAG_ERROR, "jit", path, at, "%s", colon);
    if (number)
        diag_source(d, text);
    return true;
}

/* Errors of a JIT log, put at the lines of `text` they name. False: none was found in it. */
static bool cuda_jit_diagnose(const char *log, const char *path, struct str text, struct diags *ds)
{
    bool any = false;
    while (log && *log) {
        const char *end = strchr(log, '\n');
        size_t n = end ? (size_t)(end - log) : strlen(log);
        any |= diagnose_line((struct str){ log, n }, path, text, ds);
        log += n + (end != NULL);
    }
    return any;
}

static enum status jit_failed(struct cuda_dev *d, drv_result e, const char *log,
                              const struct dev_source *s, struct diags *ds)
{
    bool any = cuda_jit_diagnose(log, s->path, s->text, ds);
    if (!any) {
        cuda_check(d, e, "the driver refuses this PTX", ds);
        if (e == DRV_ERROR_UNSUPPORTED_PTX_VERSION)
            diag_hint(diags_last(ds), "the driver supports CUDA %d.%d: use a lower .version in the PTX",
                      d->drv.version / 1000, d->drv.version % 1000 / 10);
    }
    bool input = any || e == DRV_ERROR_INVALID_PTX || e == DRV_ERROR_UNSUPPORTED_PTX_VERSION ||
                 e == DRV_ERROR_NO_BINARY_FOR_GPU;
    return input ? ST_INPUT : ST_DEVICE;
}

/* GPULOCW_JIT_LEVEL, 0 to 4, for tests: is a difference the optimiser's? */
static int level_asked(void)
{
    const char *s = getenv("GPULOCW_JIT_LEVEL");
    return s && *s >= '0' && *s <= '4' ? *s - '0' : -1;
}

static void jit_option(struct cuda_jit_options *o, drv_jit_option option, uintptr_t value)
{
    o->option[o->n] = option;
    o->value[o->n++] = (void *)value;
}

static enum status jit(struct cuda_dev *d, struct cuda_module *m, const struct dev_source *s,
                       struct diags *ds)
{
    char *log = base_alloc(LOG_BYTES);
    struct cuda_jit_options o = { 0 };
    drv_result e = DRV_SUCCESS;
    if (!log)
        return ST_NOMEM;
    jit_option(&o, DRV_JIT_ERROR_LOG, (uintptr_t)log);
    jit_option(&o, DRV_JIT_ERROR_LOG_SIZE, LOG_BYTES);
    if (s->maxnreg > 0)
        jit_option(&o, DRV_JIT_MAX_REGISTERS, (uintptr_t)s->maxnreg);
    if (m->level >= 0)
        jit_option(&o, DRV_JIT_OPTIMIZATION_LEVEL, (uintptr_t)m->level);
    if (d->plain != DEV_PLAIN_OWN)
        jit_option(&o, DRV_JIT_CACHE_MODE,
                   d->plain == DEV_PLAIN_L1 ? DRV_JIT_CACHE_CA : DRV_JIT_CACHE_CG);
    enum status st = ST_OK;
    if (cuda_link_wanted(d, m->ptx))
        st = cuda_link(d, m->ptx, &o, &m->handle, &e, ds);
    else
        e = d->drv.module_load(&m->handle, m->ptx->text.s, o.n, o.option, o.value);
    log[LOG_BYTES - 1] = '\0';
    if (st != ST_INPUT && e != DRV_SUCCESS) {
        st = jit_failed(d, e, log, s, ds);
        cuda_link_hint(m->ptx, ds);
    }
    base_free(log);
    return st;
}

/* Copies of a module variable: as loaded, and as the baseline wants it. */
static enum status remember_var(struct cuda_dev *d, struct cuda_module *m, const struct ptx_symbol *g,
                                struct diags *ds)
{
    struct cuda_var v = { 0 };
    char name[256];
    if (!g->bytes || g->name.n >= sizeof name ||
        (g->space != PTX_SPACE_GLOBAL && g->space != PTX_SPACE_CONST))
        return ST_OK;
    memcpy(name, g->name.s, g->name.n);
    name[g->name.n] = '\0';
    if (d->drv.module_global(&v.live, &v.n, m->handle, name) != DRV_SUCCESS || !v.n)
        return ST_OK; /* optimised away: nothing to restore */
    v.name = arena_dup(m->ptx->arena, g->name);
    enum status st =
        v.name ? cuda_alloc(d, 2 * v.n, "a module variable's copy", &v.first, ds) : ST_NOMEM;
    if (st != ST_OK)
        return st;
    v.now = v.first + v.n;
    m->vars[m->nvars++] = v;
    st = cuda_check(d, d->drv.copy_async(v.first, v.live, v.n, d->stream), "copy of a module variable",
                    ds);
    return st == ST_OK ? cuda_check(d, d->drv.copy_async(v.now, v.live, v.n, d->stream),
                                    "copy of a module variable", ds)
                       : st;
}

static enum status remember_vars(struct cuda_dev *d, struct cuda_module *m, struct diags *ds)
{
    m->vars = base_alloc((m->ptx->nglobals + 1) * sizeof *m->vars);
    enum status st = m->vars ? ST_OK : ST_NOMEM;
    for (uint32_t i = 0; st == ST_OK && i < m->ptx->nglobals; i++)
        st = remember_var(d, m, m->ptx->globals[i], ds);
    return st;
}

static void module_free(struct cuda_dev *d, struct cuda_module *m)
{
    for (size_t i = 0; i < m->nvars; i++)
        d->drv.mem_free(m->vars[i].first);
    if (m->handle)
        d->drv.module_unload(m->handle);
    base_free(m->vars);
    ptx_free(m->ptx);
    base_free(m);
}

void cuda_modules_free(struct cuda_dev *d)
{
    for (size_t i = 0; i < d->nmodules; i++)
        module_free(d, d->modules[i]);
    base_free(d->modules);
    d->modules = NULL;
    d->nmodules = 0;
}

static enum status module_make(struct cuda_dev *d, const struct dev_source *s, struct cuda_module **out,
                               struct diags *ds)
{
    if (!base_grow((void **)&d->modules, d->nmodules, &d->cap, sizeof *d->modules))
        return ST_NOMEM;
    struct cuda_module *m = base_alloc(sizeof *m);
    if (!m)
        return ST_NOMEM;
    m->hash = base_hash(s->text.s, s->text.n);
    m->maxnreg = s->maxnreg;
    m->level = level_asked();
    enum status st = ptx_parse(s->path, s->text, &m->ptx, ds);
    if (st == ST_OK)
        st = jit(d, m, s, ds);
    if (st == ST_OK)
        st = remember_vars(d, m, ds);
    if (st != ST_OK) {
        module_free(d, m);
        return st;
    }
    d->modules[d->nmodules++] = *out = m;
    return ST_OK;
}

static enum status module_find(struct cuda_dev *d, const struct dev_source *s, struct cuda_module **out,
                               struct diags *ds)
{
    uint64_t hash = base_hash(s->text.s, s->text.n);
    int level = level_asked();
    for (size_t i = 0; i < d->nmodules; i++) {
        struct cuda_module *m = d->modules[i];
        if (m->hash == hash && m->maxnreg == s->maxnreg && m->level == level &&
            str_eq(m->ptx->text, s->text)) {
            *out = m;
            return ST_OK;
        }
    }
    return module_make(d, s, out, ds);
}

enum status cuda_function(struct cuda_dev *d, struct cuda_module *m, struct str name, drv_function *out,
                          struct diags *ds)
{
    char *text = arena_dup(m->ptx->arena, name);
    return text ? cuda_check(d, d->drv.module_function(out, m->handle, text), text, ds) : ST_NOMEM;
}

static uint32_t attribute(const struct cuda_dev *d, drv_function f, drv_func_attr a)
{
    int v = 0;
    return d->drv.func_attr(&v, a, f) == DRV_SUCCESS && v > 0 ? (uint32_t)v : 0;
}

/* Grid-wide synchronisation finds its workspace in %envreg1 and 2: only a cooperative launch sets them.
 */
static bool wants_cooperative(const struct ptx_module *m, const struct ptx_func *f)
{
    const struct ptx_func **list = base_alloc(m->nfuncs * sizeof *list);
    uint32_t *place = base_alloc(m->nfuncs * sizeof *place),
             n = list && place ? ptx_reachable(m, f, list, place) : 0;
    bool found = false;
    for (uint32_t i = 0; i < n && !found; i++) {
        struct str body = ptx_text(m, list[i]->body);
        found = body.n && memmem(body.s, body.n, "%envreg", 7) != NULL;
    }
    BASE_FREE(list, place);
    return found;
}

enum status cuda_load(struct dev *dev, struct dev_code *code, const struct dev_source *s,
                      struct diags *ds)
{
    struct cuda_dev *d = (struct cuda_dev *)dev;
    struct cuda_code *c = (struct cuda_code *)code;
    enum status st = module_find(d, s, &c->module, ds);
    if (st == ST_OK)
        st = dev_find_kernel(c->module->ptx, s, &c->func, ds);
    if (st != ST_OK)
        return st;
    st = cuda_function(d, c->module, s->kernel, &c->fn, ds);
    c->carveout = -1;
    c->cooperative = wants_cooperative(c->module->ptx, c->func);
    if (st == ST_OK)
        c->base.res =
            (struct dev_resources){ attribute(d, c->fn, DRV_FUNC_NUM_REGS),
                                    attribute(d, c->fn, DRV_FUNC_SHARED_BYTES),
                                    attribute(d, c->fn, DRV_FUNC_LOCAL_BYTES),
                                    attribute(d, c->fn, DRV_FUNC_MAX_THREADS), .regs_from = "driver" };
    return st;
}
