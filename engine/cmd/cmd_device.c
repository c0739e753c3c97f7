/* devices, calibrate, worker. */
#include "engine/cmd/cmd_int.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_DEVICES 64

struct listing { struct dev_info info[MOST_DEVICES]; size_t n; };

static void on_device(void *ctx, const struct dev_info *i)
{
    struct listing *l = ctx;
    if (l->n < MOST_DEVICES)
        l->info[l->n++] = *i;
}

static void put_devices(const struct listing *l, struct buf *out)
{
    buf_printf(out, "%-22s %-24s %-10s %4s %9s %9s %10s\n", "device", "name", "kind", "SMs", "L1 KiB/SM", "L2 KiB", "memory MiB");
    for (size_t i = 0; i < l->n; i++) {
        const struct dev_info *d = &l->info[i];
        buf_printf(out, "%-22s %-24s %-10s %4u %9llu %9llu %10llu\n", d->spec, d->name, d->kind == DEV_SIMULATED ? "simulated" : "GPU", d->sms,
                   (unsigned long long)d->l1_bytes / 1024, (unsigned long long)d->l2_bytes / 1024, (unsigned long long)d->mem_bytes / 1048576);
    }
}

int cmd_devices(struct args *a)
{
    struct diags ds = { 0 };
    struct listing *l = base_alloc(sizeof *l);
    struct buf out = { 0 };
    struct dev_env env = *a->env;
    env.workers = a->worker_n ? a->worker : NULL;
    env.nworkers = a->worker_n;
    enum status st = l ? dev_list(&env, on_device, l, &ds) : ST_NOMEM;
    if (st == ST_OK) {
        if (a->json)
            json_devices(l->info, l->n, &out);
        else
            put_devices(l, &out);
        cmd_put(&out);
    }
    buf_free(&out);
    base_free(l);
    return cmd_finish(st, &ds);
}

int cmd_calibrate(struct args *a)
{
    struct diags ds = { 0 };
    struct subject s = { 0 };
    struct buf residuals = { 0 };
    struct sim_preset p;
    enum status st = subject_device(&s, a, &ds);
    if (st == ST_OK)
        st = dev_calibrate(s.dev, &p, &residuals, &ds);
    cmd_put(&residuals);
    if (st == ST_OK && a->output)
        st = preset_write(a->output, &p, residuals.s, &ds);
    else if (st == ST_OK)
        diag_add(&ds, DIAG_NOTE, "calibrate", NULL, NO_SPAN, "nothing written; -o PRESET.json keeps the preset");
    buf_free(&residuals);
    subject_close(&s);
    return cmd_finish(st, &ds);
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
        return cmd_finish(ST_IO, &ds);
    (void)ds;
    enum status st = dev_worker_serve(&env, STDIN_FILENO, out);
    close(out);
    return cmd_finish(st, &ds);
}
