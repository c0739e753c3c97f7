/* devices, calibrate, worker. */
#include "engine/cmd/cmd_int.h"
#include "engine/dev/dev.h"
#include "engine/rec/counter_ids.h"
#include "engine/session/documents.h"
#include "engine/session/preset.h"
#include "engine/session/preset_fields.h"
#include "engine/sim/host.h"
#include "engine/workspace/args.h"
#include "engine/workspace/workspace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_DEVICES 64

struct listing {
    struct dev_info info[MOST_DEVICES];
    struct dev_counters *counters[MOST_DEVICES];
    size_t n;
};

static void on_device(void *ctx, const struct dev_info *d)
{
    struct listing *l = ctx;
    if (l->n < MOST_DEVICES)
        l->info[l->n++] = *d;
}

static void put_devices(const struct listing *l, struct buf *out)
{
    int wide = 4;
    for (size_t i = 0; i < l->n; i++)
        wide = (int)strlen(l->info[i].name) > wide ? (int)strlen(l->info[i].name) : wide;
    buf_printf(out, "%-22s %-*s %-10s %4s %9s %9s %10s\n", "device", wide, "name", "kind", "SMs",
               "L1 KiB/SM", "L2 KiB", "memory MiB");
    for (size_t i = 0; i < l->n; i++) {
        const struct dev_info *d = &l->info[i];
        buf_printf(out, "%-22s %-*s %-10s %4u %9llu %9llu %10llu\n", d->spec, wide, d->name,
                   d->kind == DEV_SIMULATED ? "simulated" : "GPU", d->sms,
                   (unsigned long long)d->l1_bytes / 1024, (unsigned long long)d->l2_bytes / 1024,
                   (unsigned long long)d->mem_bytes / 1048576);
    }
}

/* ---- --counters ---- */
static void put_counters(const struct dev_info *d, const struct dev_counters *c, struct buf *out)
{
    buf_printf(out, "\ncounters of %s, %s", d->spec, d->name);
    if (c->chip[0])
        buf_printf(out, " (%s), %u passes", c->chip, c->passes);
    buf_printf(out, "%s%s\n", c->why[0] ? ": none, " : "", c->why);
    for (size_t i = 0; i < COUNTER_COUNT; i++)
        buf_printf(out, "  %-22s %s%s\n", counter_name((enum counter_id)i),
                   c->of[i].valid ? "" : "n/a: ", c->of[i].from);
    buf_printf(out, "  %-22s %s%s\n", "limits", c->limits ? "" : "n/a: ", c->limits_from);
}

/* Opening a GPU takes a while: one of each kind, unless the user names one. */
static bool asked_for(const struct args *a, const struct listing *l, size_t i)
{
    const struct dev_info *d = &l->info[i];
    if (a->device)
        return strcmp(a->device, d->spec) == 0;
    bool first = d->kind == DEV_CUDA;
    for (size_t k = 0; k < i; k++)
        first &= strcmp(l->info[k].name, d->name) != 0;
    return first;
}

static enum status find_counters(const struct args *a, const struct dev_env *env, struct listing *l,
                                 struct diags *ds)
{
    enum status st = ST_OK;
    size_t asked = 0;
    for (size_t i = 0; i < l->n && st == ST_OK; i++) {
        struct dev *d = NULL;
        if (!asked_for(a, l, i))
            continue;
        asked++;
        l->counters[i] = base_alloc(sizeof *l->counters[i]);
        st = l->counters[i] ? dev_open(l->info[i].spec, env, &d, ds) : ST_NOMEM;
        if (st == ST_OK)
            st = dev_counters(d, l->counters[i], ds);
        dev_close(d);
    }
    if (st == ST_OK && !asked) {
        diag_error(ds, "device", "%s%s",
                   a->device ? "no such device in the list: " : "no GPU with counters on this machine",
                   a->device ? a->device : "");
        st = ST_DEVICE;
    }
    return st;
}

static void print_listing(const struct args *a, const struct listing *l)
{
    struct buf out = { 0 };
    if (a->json) {
        json_devices(l->info, (const struct dev_counters *const *)l->counters, l->n, &out);
    } else {
        put_devices(l, &out);
        for (size_t i = 0; i < l->n; i++)
            if (l->counters[i])
                put_counters(&l->info[i], l->counters[i], &out);
        buf_printf(&out, "\n%s\n", sim_host());
    }
    cmd_give(a, &out);
}

/* ---- one preset ---- */
static void put_fields(const struct preset_fields *f, struct buf *out)
{
    buf_printf(out, "%s, %s\n\n%-24s %16s  %-13s source\n", f->p.name, f->p.title, "field", "value",
               "unit");
    for (size_t i = 0; i < sim_preset_field_count(); i++) {
        const struct sim_preset_field *row = sim_preset_field(i);
        buf_printf(out, "%-24s %16.12g  %-13s %s\n", row->name, sim_preset_value(&f->p, row), row->unit,
                   f->source[i]);
    }
}

static int show_preset(struct args *a)
{
    struct diags ds = { 0 };
    struct buf out = { 0 };
    struct preset_fields *f = base_alloc(sizeof *f);
    enum status st = f ? preset_fields_read(a->file[0], f, &ds) : ST_NOMEM;
    if (st == ST_OK && a->json)
        json_preset_fields(f, &out);
    else if (st == ST_OK)
        put_fields(f, &out);
    cmd_give(a, &out);
    if (st == ST_OK)
        preset_fields_free(f);
    base_free(f);
    return cmd_finish(a, st, &ds);
}

int cmd_devices(struct args *a)
{
    if (a->nfiles)
        return show_preset(a);
    struct diags ds = { 0 };
    struct listing *l = base_alloc(sizeof *l);
    struct dev_env env = *a->env;
    env.workers = a->worker_n ? a->worker : NULL;
    env.nworkers = a->worker_n;
    env.patience = workspace_patience(a);
    enum status st = l ? dev_list(&env, on_device, l, &ds) : ST_NOMEM, found = ST_OK;
    if (st == ST_OK && a->counters)
        found = find_counters(a, &env, l, &ds);
    if (st == ST_OK)
        print_listing(a, l);
    for (size_t i = 0; l && i < l->n; i++)
        base_free(l->counters[i]);
    base_free(l);
    return cmd_finish(a, st == ST_OK ? found : st, &ds);
}

/* What no benchmark shows is taken from --base, or from the shipped preset of a GPU like it. */
static enum status calibration_base(struct args *a, const struct dev_info *d, const char **name,
                                    struct sim_preset *base, struct diags *ds)
{
    *name = a->base ? a->base : preset_nearest(d->cc_major, d->cc_minor, d->l2_bytes);
    return *name ? preset_read(NULL, *name, base, ds) : ST_OK;
}

int cmd_calibrate(struct args *a)
{
    struct diags ds = { 0 };
    struct workspace s = { 0 };
    struct buf residuals = { 0 };
    struct sim_preset p, base;
    struct calibrate_note notes[SIM_PRESET_FIELDS];
    struct preset_origin from = { .notes = notes };
    enum status st = workspace_device(&s, a, &ds);
    if (st == ST_OK)
        st = calibration_base(a, dev_describe(s.dev), &from.base, &base, &ds);
    if (st == ST_OK)
        st = dev_calibrate(s.dev, from.base ? &base : NULL, a->cancel, &p, notes, &residuals, &ds);
    if (st == ST_OK && from.base)
        buf_printf(&residuals, "what is not listed here: as %s (another: --base PRESET)\n", from.base);
    cmd_put(a, &residuals);
    if (st == ST_OK && a->output) {
        from.device = dev_describe(s.dev)->name;
        st = preset_write(a->output, &p, residuals.s, &from, &ds);
    } else if (st == ST_OK)
        diag_add(&ds, DIAG_NOTE, "calibrate", NULL, NO_SPAN,
                 "nothing was written; -o PRESET.json saves the preset");
    buf_free(&residuals);
    workspace_close(&s);
    return cmd_finish(a, st, &ds);
}

int cmd_worker(struct args *a)
{
    struct diags ds = { 0 };
    struct dev_env env = *a->env;
    env.in_process = true;
    env.threads = (unsigned)a->threads;
    /* Standard output carries frames: anything else printed there would break them. */
    int out = dup(STDOUT_FILENO);
    if (out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return cmd_finish(a, ST_IO, &ds);
    (void)ds;
    enum status st = dev_worker_serve(&env, STDIN_FILENO, out);
    close(out);
    return cmd_finish(a, st, &ds);
}
