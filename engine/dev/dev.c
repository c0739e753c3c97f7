/* Which device a spec names, and the dispatch to it. */
#include "engine/dev/dev_int.h"

#include <string.h>

#define DEFAULT_PRESET "hopper-h200"

struct dev_run dev_run_default(void)
{
    return (struct dev_run){
        .carveout = -1, .hw_pi = -1, .repeat = 5, .max_repeat = 20, .spread = 0.03, .counters = true, .seed = 1,
    };
}

static enum status open_sim(const char *spec, const char *preset, const struct dev_env *env, struct dev **out, struct diags *ds)
{
    struct sim_preset p;
    if (!env || !env->preset) {
        diag_error(ds, "device", "no presets are available to open '%s'", spec);
        return ST_DEVICE;
    }
    enum status st = env->preset(env->ctx, preset, &p, ds);
    return st == ST_OK ? dev_sim_open(&p, spec, env->threads, out, ds) : st;
}

enum status dev_open(const char *spec, const struct dev_env *env, struct dev **out, struct diags *ds)
{
    *out = NULL;
    if (!spec || !*spec)
        spec = "sim:" DEFAULT_PRESET;
    if (!strncmp(spec, "sim:", 4))
        return open_sim(spec, spec + 4, env, out, ds);
    if (!strncmp(spec, "cuda:", 5)) {
        diag_error(ds, "device", "no CUDA driver was found for '%s'", spec);
        return ST_DEVICE;
    }
    if (!strcmp(spec, "auto"))
        return open_sim("sim:" DEFAULT_PRESET, DEFAULT_PRESET, env, out, ds);
    return open_sim(spec, spec, env, out, ds);
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
    struct dev_source s = { path, text, kernel, maxnreg };
    *out = NULL;
    return d->ops->load(d, &s, out, ds);
}

void dev_unload(struct dev *d, struct dev_code *c)
{
    if (c)
        d->ops->unload(d, c);
}

struct dev_resources dev_code_resources(const struct dev_code *c)
{
    return c->res;
}

enum status dev_bind(struct dev *d, const struct launch_data *data, struct dev_data **out, struct diags *ds)
{
    *out = NULL;
    return d->ops->bind(d, data, out, ds);
}

void dev_unbind(struct dev *d, struct dev_data *b)
{
    if (b)
        d->ops->unbind(d, b);
}

enum status dev_launch(struct dev *d, struct dev_code *c, struct dev_data *b, const struct dev_run *r,
                       struct result *out, struct diags *ds)
{
    dev_result_begin(out);
    d->died = false;
    enum status st = d->ops->launch(d, c, b, r, out, ds);
    if (st != ST_OK && out->status == ST_OK)
        dev_result_from_diags(out, st, ds);
    return st;
}

enum status dev_read_arg(struct dev *d, struct dev_data *b, size_t arg, void *bytes, uint64_t n, struct diags *ds)
{
    return d->ops->read_arg(d, b, arg, bytes, n, ds);
}

enum status dev_read_symbol(struct dev *d, struct dev_code *c, const char *symbol, void *bytes, uint64_t n, struct diags *ds)
{
    return d->ops->read_symbol(d, c, symbol, bytes, n, ds);
}
