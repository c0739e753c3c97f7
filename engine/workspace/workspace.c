/* What a command works on: module, launch, data, device, facts. */
#include "engine/workspace/workspace.h"

#include "engine/analysis/analysis.h"
#include "engine/dev/dev.h"
#include "engine/dev/dev_pool.h"
#include "engine/pass/pass.h"
#include "engine/ptx/link.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/launch.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_memory.h"
#include "engine/rec/opt_softcache.h"
#include "engine/session/documents.h"
#include "engine/session/preset.h"
#include "engine/workspace/args.h"
#include "engine/workspace/measure.h"
#include "engine/workspace/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Beside the first file of a program that has several. */
char *launch_beside(const char *ptx)
{
    const char *plus = access(ptx, F_OK) != 0 ? strstr(ptx, PTX_LINK_PLUS) : NULL;
    char *first = base_strdup(ptx);
    if (first && plus)
        first[plus - ptx] = 0;
    char *path = first ? workspace_launch_name(first) : NULL;
    base_free(first);
    if (path && access(path, R_OK) == 0)
        return path;
    base_free(path);
    return NULL;
}

size_t launch_pick(const struct launch_file *f, const char *name)
{
    if (!name)
        return f->n ? 0 : SIZE_MAX;
    for (size_t i = 0; i < f->n; i++)
        if (f->launch[i].name && strcmp(f->launch[i].name, name) == 0)
            return i;
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->launch[i].kernel, name) == 0)
            return i;
    return SIZE_MAX;
}

enum status workspace_read(const char *path, const struct source_want *w, struct ptx_module **out,
                           struct diags *ds)
{
    const char *file[CMD_MAX_FILES];
    size_t n = 0, plus = strlen(PTX_LINK_PLUS);
    if (!strstr(path, PTX_LINK_PLUS) || access(path, F_OK) == 0)
        return source_read(&path, 1, w, out, ds);
    char *names = base_strdup(path);
    *out = NULL;
    if (!names)
        return ST_NOMEM;
    for (char *at = names; at && n < CMD_MAX_FILES;) {
        char *next = strstr(at, PTX_LINK_PLUS);
        if (next)
            *next = 0;
        file[n++] = at;
        at = next ? next + plus : NULL;
    }
    enum status st = source_read(file, n, w, out, ds);
    base_free(names);
    return st;
}

char *workspace_join(const char *const *file, size_t n)
{
    struct buf b = { 0 };
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%s%s", i ? PTX_LINK_PLUS : "", file[i]);
    return buf_take(&b);
}

enum status workspace_ptx(struct workspace *s, const struct args *a, struct diags *ds)
{
    if (!a->nfiles) {
        diag_error(ds, "usage", "no PTX file given");
        return ST_USAGE;
    }
    struct source_want want = source_wanted(a);
    return a->nfiles > 1 ? source_read(a->file, a->nfiles, &want, &s->module, ds)
                         : workspace_read(a->file[0], &want, &s->module, ds);
}

enum status workspace_find_entry(const struct ptx_module *m, const char *said, const struct ptx_func **f,
                                 struct diags *ds)
{
    struct buf several = { 0 };
    *f = ptx_find_entry(m, str_of(said), &several);
    enum status st = several.n ? ST_INPUT : ST_OK;
    if (several.n) {
        struct diag *d = diag_add(ds, DIAG_ERROR, "kernel", m->path, NO_SPAN,
                                  "more than one kernel is called '%s'", said);
        diag_hint(d, "they are %s", several.s ? several.s : "");
    }
    buf_free(&several);
    return st;
}

/* What --kernel says as the name of a launch or of a kernel in full. *full NULL: it is neither. */
static enum status full_name(struct workspace *s, const char *said, const char **full, struct diags *ds)
{
    const struct ptx_func *f;
    *full = said;
    if (!said || launch_pick(&s->launches, said) != SIZE_MAX)
        return ST_OK;
    enum status st = workspace_find_entry(s->module, said, &f, ds);
    *full = f ? arena_dup(s->module->arena, f->name) : NULL;
    return f && !*full ? ST_NOMEM : st;
}

static enum status no_such(const struct workspace *s, const char *said, struct diags *ds)
{
    enum { MOST = 24 };
    struct buf b = { 0 };
    size_t n = 0;
    for (size_t k = 0; k < s->launches.n; k++, n++)
        buf_printf(&b, "%s'%s'", n ? ", " : "",
                   s->launches.launch[k].name ? s->launches.launch[k].name
                                              : s->launches.launch[k].kernel);
    for (uint32_t k = 0; !s->launches.n && k < s->module->nfuncs && n < MOST; k++)
        if (s->module->funcs[k]->entry) {
            buf_puts(&b, n++ ? ", '" : "'");
            ptx_readable(s->module->funcs[k]->name, &b);
            buf_puts(&b, "'");
        }
    struct diag *d = s->launches.n ? diag_add(ds, DIAG_ERROR, "launch-kernel", s->launches.path, NO_SPAN,
                                              "no launch or kernel '%s'", said ? said : "")
                                   : diag_add(ds, DIAG_ERROR, "kernel", s->module->path, NO_SPAN,
                                              "no kernel '%s' in this module", said ? said : "");
    diag_hint(d, "there is %s%s", b.n ? b.s : "none", n == MOST ? " ..." : "");
    buf_free(&b);
    return ST_INPUT;
}

static enum status pick(struct workspace *s, const char *said, const char *full, struct diags *ds)
{
    size_t i = said && !full ? SIZE_MAX : launch_pick(&s->launches, full);
    if (i == SIZE_MAX && full)
        return ST_OK; /* a kernel that the launch file says nothing of */
    if (i == SIZE_MAX)
        return no_such(s, said, ds);
    s->spec = &s->launches.launch[i];
    s->kernel = s->spec->kernel;
    return launch_check(s->spec, s->module, NULL, ds);
}

static const char *first_kernel(const struct ptx_module *m)
{
    for (uint32_t i = 0; i < m->nfuncs; i++)
        if (m->funcs[i]->entry)
            return arena_dup(m->arena, m->funcs[i]->name);
    return NULL;
}

enum status workspace_launch(struct workspace *s, const struct args *a, bool required, struct diags *ds)
{
    char *beside = a->launch ? base_strdup(a->launch) : launch_beside(a->file[0]);
    enum status st = beside ? launch_file_read(beside, &s->launches, ds) : ST_OK;
    const char *full = NULL;
    if (st == ST_OK)
        st = launch_name_kernels(&s->launches, s->module);
    if (st == ST_OK)
        st = full_name(s, a->kernel, &full, ds);
    if (st == ST_OK && beside)
        st = pick(s, a->kernel, full, ds);
    base_free(beside);
    if (st != ST_OK)
        return st;
    if (!s->spec && required) {
        struct diag *d = diag_add(ds, DIAG_ERROR, "launch", a->file[0], NO_SPAN,
                                  "no launch description: grid, block and arguments are unknown");
        diag_hint(d, "write a first one with gpulocw launch FILE.ptx -o FILE.launch.json (format: "
                     "docs/reference/launch.md)");
        return ST_INPUT;
    }
    if (!s->spec)
        s->kernel = a->kernel ? full : first_kernel(s->module);
    return a->kernel && !s->kernel ? no_such(s, a->kernel, ds) : ST_OK;
}

/* --devices a,b or several --worker make a pool. What needs one device has it from the first member; on
 * a simulated one it opens its own, since a second set of buffers in a member would move its addresses.
 */
static enum status open_pool(struct workspace *s, const struct args *a, const struct dev_env *env,
                             struct diags *ds)
{
    enum { MOST = 64 };
    const char *specs[MOST];
    size_t n = 0;
    char *list = base_strdup(a->devices  ? a->devices
                             : a->device ? a->device
                                         : DEFAULT_DEVICE),
         *rest = list;
    if (!list)
        return ST_NOMEM;
    for (char *one; n < MOST && (one = strsep(&rest, ","));)
        if (*one)
            specs[n++] = one;
    enum status st = dev_pool_open(specs, n, env, &s->pool, ds);
    if (st == ST_OK && dev_describe(dev_pool_first(s->pool))->kind == DEV_SIMULATED)
        st = dev_open(specs[0], a->env, &s->own, ds);
    base_free(list);
    if (st == ST_OK)
        s->dev = s->own ? s->own : dev_pool_first(s->pool);
    return st;
}

static double seconds_of(const char *variable)
{
    const char *text = getenv(variable);
    double v = text ? strtod(text, NULL) : 0;
    return v > 0 && v < 1e6 ? v : 0;
}

struct dev_patience workspace_patience(const struct args *a)
{
    return (struct dev_patience){ .start = seconds_of("GPULOCW_WORKER_START"),
                                  .silent = seconds_of("GPULOCW_WORKER_SILENT"),
                                  .limit = a->time_limit };
}

enum status workspace_device(struct workspace *s, const struct args *a, struct diags *ds)
{
    struct dev_env env = *a->env;
    env.workers = a->worker_n ? a->worker : NULL;
    env.nworkers = a->worker_n;
    env.threads = (unsigned)a->threads;
    env.patience = workspace_patience(a);
    enum status st = a->devices || a->worker_n > 1
                         ? open_pool(s, a, &env, ds)
                         : dev_open(a->device ? a->device : DEFAULT_DEVICE, &env, &s->dev, ds);
    if (st == ST_OK)
        s->info = *dev_describe(s->dev);
    return st;
}

struct dev *workspace_prover_for(const struct dev_info *d, const struct dev_env *env, unsigned threads)
{
    struct dev_env own = *env;
    struct diags none = { 0 };
    struct dev *out = NULL;
    char spec[sizeof d->spec + 8];
    const char *like =
        d->kind == DEV_CUDA ? preset_nearest(d->cc_major, d->cc_minor, d->l2_bytes) : NULL;
    snprintf(spec, sizeof spec, "%s", d->spec);
    if (d->kind == DEV_CUDA)
        snprintf(spec, sizeof spec, "sim:%s", like ? like : "hopper-h200");
    own.workers = NULL;
    own.nworkers = 0;
    own.threads = threads;
    if (dev_open(spec, &own, &out, &none) != ST_OK)
        out = NULL;
    diags_free(&none);
    return out;
}

void workspace_prover(struct workspace *s, const struct args *a)
{
    bool own = s->info.kind == DEV_SIMULATED && (s->own || !a->worker_n);
    if (!own && !s->prover)
        s->prover = workspace_prover_for(&s->info, a->env, (unsigned)a->threads);
}

enum status workspace_data(struct workspace *s, struct diags *ds)
{
    uint64_t most = s->info.mem_bytes ? s->info.mem_bytes : (uint64_t)1 << 40;
    enum status st = launch_check(s->spec, s->module, &s->info, ds);
    if (st == ST_OK)
        st = launch_data_make(s->spec, most, &s->data, ds);
    s->has_data = st == ST_OK;
    return st;
}

enum status workspace_open(struct workspace *s, const struct args *a, struct diags *ds)
{
    enum status st = workspace_ptx(s, a, ds);
    if (st == ST_OK)
        st = workspace_launch(s, a, false, ds);
    if (st == ST_OK)
        st = workspace_device(s, a, ds);
    if (st == ST_OK && s->spec)
        st = workspace_data(s, ds);
    return st;
}

uint32_t workspace_registers(struct dev *d, const struct ptx_module *m, struct str kernel)
{
    struct diags none = { 0 };
    struct dev_code *code = NULL;
    uint32_t regs = 0;
    if (d && dev_load(d, m->path, m->text, kernel, 0, &code, &none) == ST_OK) {
        regs = dev_code_resources(code).regs;
        dev_unload(d, code);
    }
    diags_free(&none); /* what it does not run, it says when it is to run it */
    return regs;
}

struct pass_input workspace_input(const struct workspace *s, const struct options *o)
{
    return (struct pass_input){ .module = s->module,
                                .kernel = str_of(s->kernel),
                                .options = o,
                                .dev = &s->info,
                                .launch = s->spec,
                                .facts = s->facts,
                                .regs = s->facts && s->facts->regs ? s->facts->regs
                                        : opt_softcache(o)->lines && s->dev && s->spec
                                            ? workspace_registers(s->dev, s->module, str_of(s->kernel))
                                            : 0 };
}

struct load_classes workspace_classes(const struct workspace *s, const struct options *o)
{
    struct pass_input in = workspace_input(s, o);
    struct pass_output code = { 0 };
    bool rewritten = pass_apply(&in, &code, NULL) == ST_OK && code.changed;
    struct load_classes c = load_classes_of(&s->info, rewritten ? code.module : s->module, s->kernel);
    pass_output_free(&code);
    return c;
}

struct ana_opts workspace_analysis(const struct workspace *s, const struct args *a, struct str kernel)
{
    return (struct ana_opts){ .data = s->has_data ? &s->data : NULL,
                              .dev = s->dev ? &s->info : NULL,
                              .assume_read_only = opt_memory(a->options)->assume_read_only,
                              .assume_restrict = opt_memory(a->options)->assume_restrict,
                              .cancel = a->cancel,
                              .regs = s->has_data ? workspace_registers(s->dev, s->module, kernel) : 0 };
}

/* A value of the axis asks for what only a whole analysis has. */
static bool axis_wants(const struct args *a, const char *value)
{
    return a->axis && strstr(a->axis, value);
}

enum status workspace_facts(struct workspace *s, const struct args *a, bool quick, struct diags *ds)
{
    struct ana_opts o = workspace_analysis(s, a, str_of(s->kernel));
    o.order = opt_cluster(a->options)->index.kind == INDEX_GRAPH || axis_wants(a, "graph");
    o.quick = quick && !o.order && !measure_wants_facts(RUN_ONE, a->options) &&
              !axis_wants(a, "vertical") && !axis_wants(a, "hybrid");
    return ana_run(s->module, str_of(s->kernel), &o, &s->facts, ds);
}

void workspace_close(struct workspace *s)
{
    ana_free(s->facts);
    if (s->has_data)
        launch_data_free(&s->data);
    if (s->own)
        dev_close(s->own);
    if (s->prover)
        dev_close(s->prover);
    if (s->pool)
        dev_pool_close(s->pool);
    else if (s->dev)
        dev_close(s->dev);
    launch_file_free(&s->launches);
    ptx_free(s->module);
    memset(s, 0, sizeof *s);
}
