/* Which device a spec names, and the dispatch to it. */
#include "engine/dev/dev.h"

#include "engine/base/name.h"
#include "engine/dev/cuda/dev_cuda.h"
#include "engine/dev/dev_int.h"
#include "engine/dev/ptxas.h"
#include "engine/dev/worker/proxy.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/data.h"
#include "engine/rec/result_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_SPEC "sim:hopper-h200"
enum { SPEC_BYTES = 512 };

/* ---- opening ---- */
/* A spec may end in +l1 or +nol1: what plain global loads do, as nvcc's -Xptxas -dlcm=ca and =cg have
 * it. What stands before goes into name. */
static enum dev_plain cut_plain(const char *spec, char *name, size_t size)
{
    static const struct {
        const char *end;
        enum dev_plain means;
    } ends[] = { { "+l1", DEV_PLAIN_L1 }, { "+nol1", DEV_PLAIN_PAST } };
    snprintf(name, size, "%s", spec);
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        size_t stem = base_stem(spec, ends[i].end);
        if (stem && strlen(spec) < size) {
            name[stem] = '\0';
            return ends[i].means;
        }
    }
    return DEV_PLAIN_OWN;
}

static const char *plain_title(enum dev_plain plain)
{
    return plain == DEV_PLAIN_L1 ? ", global loads in L1" : ", global loads past L1";
}

static enum status set_plain(struct sim_preset *p, enum dev_plain plain, struct diags *ds)
{
    if (plain == DEV_PLAIN_OWN)
        return ST_OK;
    if (plain == DEV_PLAIN_L1 && !p->l1_ca && !p->l1_plain) {
        diag_hint(diag_add(ds, DIAG_ERROR, "device", NULL, NO_SPAN, "%s never caches global loads in L1",
                           p->title),
                  "remove +l1 (--global-l1 on)");
        return ST_DEVICE;
    }
    p->l1_plain = plain == DEV_PLAIN_L1;
    size_t n = strlen(p->title);
    snprintf(p->title + n, sizeof p->title - n, "%s", plain_title(plain));
    return ST_OK;
}

/* +nofma at the end, behind +l1 or not: mul and add are never fused. */
static bool cut_nofma(char *name)
{
    size_t stem = base_stem(name, "+nofma");
    if (stem)
        name[stem] = '\0';
    return stem;
}

static void set_nofma(struct sim_preset *p)
{
    size_t n = strlen(p->title);
    p->contract = 0;
    snprintf(p->title + n, sizeof p->title - n, ", no fused additions");
}

enum status dev_preset(const char *spec, const struct dev_env *env, struct sim_preset *p,
                       struct diags *ds)
{
    char whole[SPEC_BYTES], name[SPEC_BYTES];
    snprintf(whole, sizeof whole, "%s", strncmp(spec, "sim:", 4) ? spec : spec + 4);
    bool nofma = cut_nofma(whole);
    enum dev_plain plain = cut_plain(whole, name, sizeof name);
    if (env && env->preset) {
        enum status st = env->preset(env->ctx, name, p, ds);
        if (st == ST_OK && nofma)
            set_nofma(p);
        return st == ST_OK ? set_plain(p, plain, ds) : st;
    }
    diag_error(ds, "device", "no presets are available to open '%s'", spec);
    return ST_DEVICE;
}

static bool names_cuda(const char *spec, int *ordinal)
{
    char *end, name[SPEC_BYTES];
    if (strncmp(spec, "cuda:", 5) || !spec[5])
        return false;
    cut_plain(spec, name, sizeof name);
    long n = strtol(name + 5, &end, 10);
    *ordinal = !*end && n >= 0 && n < 1024 ? (int)n : -1;
    return true;
}

/* Elsewhere: `auto` is decided by the worker; presets go along, so that a file of ours works there. */
static enum status open_worker(const char *spec, const struct dev_env *env, struct dev **out,
                               struct diags *ds)
{
    int ordinal;
    struct sim_preset p;
    bool sim = !names_cuda(spec, &ordinal) && strcmp(spec, "auto");
    enum status st = sim ? dev_preset(spec, env, &p, ds) : ST_OK;
    struct proxy_how how = { spec,
                             env->nworkers ? env->workers[0] : NULL,
                             env->self,
                             env->threads,
                             sim ? &p : NULL,
                             env->cancel,
                             env->patience };
    return st == ST_OK ? dev_proxy_open(&how, out, ds) : st;
}

static enum status open_cuda(const char *spec, int ordinal, struct dev **out, struct diags *ds)
{
    char name[SPEC_BYTES];
    enum dev_plain plain = cut_plain(spec, name, sizeof name);
    enum status st = dev_cuda_open(ordinal, plain, out, ds);
    if (st == ST_OK && plain != DEV_PLAIN_OWN) {
        struct dev_info *i = &(*out)->info;
        size_t n = strlen(i->name), k = strlen(i->spec);
        snprintf(i->name + n, sizeof i->name - n, "%s", plain_title(plain));
        snprintf(i->spec + k, sizeof i->spec - k, "%s", spec + strlen(name));
    }
    return st;
}

static enum status open_here(const char *spec, const struct dev_env *env, struct dev **out,
                             struct diags *ds)
{
    int ordinal;
    if (names_cuda(spec, &ordinal)) {
        /* Without a program to start as a worker the device is opened in this process. */
        return env && env->self && !env->in_process ? open_worker(spec, env, out, ds)
                                                    : open_cuda(spec, ordinal, out, ds);
    }
    struct sim_preset p;
    enum status st = dev_preset(spec, env, &p, ds);
    return st == ST_OK ? dev_sim_open(&p, spec, env->threads, out, ds) : st;
}

/* What a driver does not tell (latencies, L2's rates) comes from a preset: of this GPU by its name, else
 * of its compute capability, else of its generation. What was told stays. */
static unsigned alike(const struct dev_info *a, const struct dev_info *d)
{
    bool named = d->name[0] && strstr(a->name, d->name);
    bool major = a->cc_major == d->cc_major;
    return named ? 3 : major && a->cc_minor == d->cc_minor ? 2 : major;
}

static void fill_untold(struct dev_info *d, const struct dev_env *env)
{
    struct dev_info best = { 0 };
    unsigned most = 0;
    struct diags none = { 0 };
    const char *name =
        d->kind == DEV_CUDA && env && env->preset && env->preset_at ? env->preset_at(env->ctx, 0) : NULL;
    for (size_t k = 0; name; name = env->preset_at(env->ctx, ++k)) {
        struct sim_preset p;
        struct dev_info of;
        if (dev_preset(name, env, &p, &none) != ST_OK)
            continue;
        sim_preset_info(&p, &of);
        if (alike(d, &of) > most) {
            most = alike(d, &of);
            best = of;
        }
    }
    diags_free(&none);
#define FILL(f) d->f = d->f > 0 ? d->f : best.f;
    FILL(lat_l1)
    FILL(lat_l2)
    FILL(lat_dram)
    FILL(bw_l2)
    FILL(lat_alu)
    FILL(l2_shared_rate)
    FILL(l2_partial_write)
#undef FILL
    struct dev_sm told = d->sm;
    if (most && !(d->sm.l1_ways > 0))
        d->sm = best.sm;
#define X(f) d->sm.f = told.f > 0 ? told.f : d->sm.f;
    DEV_SM(X)
#undef X
    char bare[SPEC_BYTES];
    enum dev_plain plain = cut_plain(d->spec, bare, sizeof bare);
    if (plain != DEV_PLAIN_OWN)
        d->sm.l1_plain = plain == DEV_PLAIN_L1;
}

static enum status open_any(const char *spec, const struct dev_env *env, struct dev **out,
                            struct diags *ds)
{
    if (env && env->nworkers && !env->in_process)
        return open_worker(spec, env, out, ds);
    if (!strcmp(spec, "auto"))
        spec = dev_cuda_count() > 0 ? "cuda:0" : DEFAULT_SPEC;
    return open_here(spec, env, out, ds);
}

enum status dev_open(const char *spec, const struct dev_env *env, struct dev **out, struct diags *ds)
{
    *out = NULL;
    if (!spec || !*spec)
        spec = DEFAULT_SPEC;
    enum status st = open_any(spec, env, out, ds);
    if (st == ST_OK)
        fill_untold(&(*out)->info, env);
    if (st == ST_OK && env && (*out)->info.kind == DEV_SIMULATED)
        (*out)->ptxas = env->ptxas;
    return st;
}

/* ---- listing ---- */
static void list_presets(const struct dev_env *env, void (*fn)(void *ctx, const struct dev_info *d),
                         void *ctx)
{
    struct diags none = { 0 };
    const char *name = env->preset_at ? env->preset_at(env->ctx, 0) : DEFAULT_SPEC;
    for (size_t k = 0; name; name = env->preset_at ? env->preset_at(env->ctx, ++k) : NULL) {
        struct sim_preset p;
        struct dev_info d;
        if (dev_preset(name, env, &p, &none) != ST_OK)
            continue;
        sim_preset_info(&p, &d);
        snprintf(d.spec, sizeof d.spec, "sim:%s", p.name);
        fn(ctx, &d);
    }
    diags_free(&none);
}

enum status dev_list(const struct dev_env *env, void (*fn)(void *ctx, const struct dev_info *d),
                     void *ctx, struct diags *ds)
{
    bool absent;
    enum status st = ST_OK;
    if (env->nworkers)
        for (size_t k = 0; k < env->nworkers; k++)
            st = dev_proxy_list(env->workers[k], env, fn, ctx, ds);
    else
        st = dev_cuda_list(fn, ctx, &absent, ds);
    list_presets(env, fn, ctx);
    return st;
}

void dev_close(struct dev *d)
{
    if (d)
        d->ops->close(d);
}

const struct dev_info *dev_describe(const struct dev *d)
{
    return &d->info;
}

enum status dev_load(struct dev *d, const char *path, struct str text, struct str kernel, int maxnreg,
                     struct dev_code **out, struct diags *ds)
{
    return dev_load_marked(d, path, text, NULL, kernel, maxnreg, out, ds);
}

/* One that refuses the text leaves the registers to the model. */
static void ask_ptxas(const struct dev *d, struct sim_compiled *out, const struct dev_source *s)
{
    struct ptxas_want w = { s->text, s->kernel, d->info.cc_major, d->info.cc_minor, s->maxnreg };
    struct ptxas_said said;
    if (!ptxas_ask(d->ptxas, &w, &said) || said.spill_stores < 0 || said.spill_loads < 0 ||
        said.stack < 0)
        return;
    *out = (struct sim_compiled){ (uint32_t)said.registers, (uint32_t)said.spill_stores,
                                  (uint32_t)said.spill_loads, (uint32_t)said.stack, "" };
    snprintf(out->by, sizeof out->by, "ptxas %s", ptxas_version(d->ptxas));
}

enum status dev_load_source(struct dev *d, const struct dev_source *s, struct dev_code **out,
                            struct diags *ds)
{
    d->astray = false;
    *out = base_alloc(d->ops->code_bytes);
    enum status st = *out ? d->ops->load(d, *out, s, ds) : ST_NOMEM;
    if (st != ST_OK) {
        dev_unload(d, *out);
        *out = NULL;
    }
    return st;
}

enum status dev_load_marked(struct dev *d, const char *path, struct str text,
                            const struct text_marks *marks, struct str kernel, int maxnreg,
                            struct dev_code **out, struct diags *ds)
{
    struct dev_source s = {
        .path = path, .text = text, .kernel = kernel, .maxnreg = maxnreg, .marks = marks
    };
    if (d->ptxas)
        ask_ptxas(d, &s.compiled, &s);
    return dev_load_source(d, &s, out, ds);
}

void dev_unload(struct dev *d, struct dev_code *c)
{
    if (c && d->ops->unload)
        d->ops->unload(d, c);
    base_free(c);
}

struct dev_resources dev_code_resources(const struct dev_code *c)
{
    return c->res;
}

enum status dev_bind(struct dev *d, const struct launch_data *data, struct dev_data **out,
                     struct diags *ds)
{
    d->astray = false;
    *out = base_alloc(d->ops->data_bytes);
    if (!*out)
        return ST_NOMEM;
    (*out)->data = data;
    enum status st = d->ops->bind(d, *out, ds);
    if (st != ST_OK) {
        dev_unbind(d, *out);
        *out = NULL;
    }
    return st;
}

void dev_unbind(struct dev *d, struct dev_data *b)
{
    if (b)
        d->ops->unbind(d, b);
    base_free(b);
}

enum status dev_launch(struct dev *d, struct dev_code *c, struct dev_data *b, const struct dev_run *r,
                       struct result *out, struct diags *ds)
{
    dev_result_begin(out);
    d->died = d->astray = false;
    if (r->persist.n && !d->info.l2_persist_bytes) {
        dev_result_fail(out, ST_REFUSED,
                        "%s has no part of L2 that can be set aside (--l2-persist needs compute "
                        "capability 8.0 or later)",
                        d->info.name);
        return ST_OK;
    }
    if ((sim_is_hostile(&r->hostile) || r->touch.fn) && (!d->ops->left || !r->functional)) {
        dev_result_fail(
            out, ST_REFUSED,
            "only a functional launch of a simulated device of this process can be a hostile "
            "one, or tell its accesses");
        return ST_OK;
    }
    enum status st = d->ops->launch(d, c, b, r, out, ds);
    if (st != ST_OK && result_status(out) == ST_OK)
        dev_result_from_diags(out, st, ds);
    if (r->energy)
        dev_result_no_energy(out, d->info.kind == DEV_CUDA
                                      ? "the launch was not timed"
                                      : "a simulated device has no counter of energy");
    return st;
}

enum status dev_counters(struct dev *d, struct dev_counters *out, struct diags *ds)
{
    memset(out, 0, sizeof *out);
    if (d->ops->counters)
        return d->ops->counters(d, out, ds);
    for (size_t i = 0; i < COUNTER_COUNT; i++) {
        out->of[i].valid = true;
        snprintf(out->of[i].from, sizeof out->of[i].from, "simulated");
    }
    out->limits = true;
    snprintf(out->limits_from, sizeof out->limits_from, "simulated");
    return ST_OK;
}

enum status dev_read_arg(struct dev *d, struct dev_data *b, size_t arg, void *bytes, uint64_t n,
                         struct diags *ds)
{
    return d->ops->read_arg(d, b, arg, 0, bytes, n, ds);
}

bool dev_astray(const struct dev *d)
{
    return d->astray;
}

void dev_discard_outputs(struct dev *d, struct dev_data *b)
{
    if (d->ops->discard)
        d->ops->discard(d, b);
}

enum status dev_read_part(struct dev *d, struct dev_data *b, size_t arg, uint64_t at, void *bytes,
                          uint64_t n, struct diags *ds)
{
    return d->ops->read_arg(d, b, arg, at, bytes, n, ds);
}

enum status dev_read_symbol(struct dev *d, struct dev_code *c, const char *symbol, void *bytes,
                            uint64_t n, struct diags *ds)
{
    return d->ops->read_symbol(d, c, symbol, bytes, n, ds);
}
