/* The CUDA device: opening it, what it is, reading back. Lives in a worker
 * process (proxy.c): a fault here costs the process, not the session. */
#include "engine/dev/cuda/dev_cuda.h"

#include "engine/dev/cuda/cuda_int.h"
#include "engine/dev/cuda/cupti.h"
#include "engine/dev/cuda/nvml.h"

#include <stdio.h>
#include <string.h>

/* ---- what a device is ---- */
static uint32_t attr(const struct drv *v, drv_device d, drv_device_attr a)
{
    int x = 0;
    return v->device_attr(&x, a, d) == DRV_SUCCESS && x > 0 ? (uint32_t)x : 0;
}

/* L1 and shared memory are one array from compute capability 7.0 on; its size is
 * not an attribute (CUDA programming guide, "Compute Capabilities"): KB by version. */
static uint64_t l1_bytes(int major, int minor)
{
    static const struct {
        int cc, kb;
    } TABLE[] = {
        { 50, 24 },   { 52, 48 },   { 53, 24 },   { 60, 24 },   { 61, 48 },   { 62, 48 },  { 70, 128 },
        { 72, 128 },  { 75, 96 },   { 80, 192 },  { 86, 128 },  { 87, 192 },  { 89, 128 }, { 90, 256 },
        { 100, 256 }, { 103, 256 }, { 110, 256 }, { 120, 128 }, { 121, 128 },
    };
    for (size_t i = 0; i < ARRAY_LEN(TABLE); i++)
        if (TABLE[i].cc == 10 * major + minor)
            return (uint64_t)TABLE[i].kb * 1024;
    return 0;
}

/* The units in which an SM is shared out: no attributes, but the same for all GPUs of an architecture.
 */
static void describe_units(const struct drv *v, drv_device d, const struct sim_preset *arch,
                           struct dev_info *i)
{
    i->sm.shared_reserved = attr(v, d, DRV_ATTR_RESERVED_SHARED);
    i->sm.reg_unit = (double)arch->reg_unit;
    i->sm.warp_unit = (double)arch->warp_unit;
    i->sm.shared_unit = (double)arch->shared_unit;
    i->sm.regs_per_thread = (double)arch->regs_per_thread;
    i->sm.carve_default = -1;
    if (arch->unified_bytes) /* L1 and shared memory are one array */
        i->sm.unified_bytes = (double)i->l1_bytes;
}

static void describe(const struct drv *v, drv_device d, int ordinal, struct dev_info *i)
{
    *i = (struct dev_info){ .kind = DEV_CUDA };
    snprintf(i->spec, sizeof i->spec, "cuda:%d", ordinal);
    v->device_name(i->name, (int)sizeof i->name, d);
    i->cc_major = (int)attr(v, d, DRV_ATTR_CC_MAJOR);
    i->cc_minor = (int)attr(v, d, DRV_ATTR_CC_MINOR);
    i->sms = attr(v, d, DRV_ATTR_MULTIPROCESSOR_COUNT);
    i->warp_size = attr(v, d, DRV_ATTR_WARP_SIZE);
    i->max_warps_per_sm = i->warp_size ? attr(v, d, DRV_ATTR_MAX_THREADS_PER_SM) / i->warp_size : 0;
    i->max_ctas_per_sm = attr(v, d, DRV_ATTR_MAX_BLOCKS_PER_SM);
    i->max_threads_per_block = attr(v, d, DRV_ATTR_MAX_THREADS_PER_BLOCK);
    i->regs_per_sm = attr(v, d, DRV_ATTR_REGS_PER_SM);
    i->shared_per_sm = attr(v, d, DRV_ATTR_SHARED_PER_SM);
    i->shared_per_block_optin = attr(v, d, DRV_ATTR_SHARED_OPTIN);
    i->l1_bytes = l1_bytes(i->cc_major, i->cc_minor);
    i->l2_bytes = attr(v, d, DRV_ATTR_L2_CACHE_SIZE);
    i->l2_persist_bytes = cuda_can_persist(v) ? attr(v, d, DRV_ATTR_MAX_PERSISTING_L2) : 0;
    i->clock_khz = attr(v, d, DRV_ATTR_CLOCK_RATE);
    /* Memory clock in kHz, bus width in bits, two transfers a clock. */
    i->bw_dram =
        2.0 * 1e3 * attr(v, d, DRV_ATTR_MEMORY_CLOCK_RATE) * attr(v, d, DRV_ATTR_MEMORY_BUS_WIDTH) / 8;
    struct sim_preset arch = sim_preset_default_for(i->cc_major, i->cc_minor);
    i->issue_per_cycle = (double)arch.schedulers / (double)arch.issue_interval;
    describe_units(v, d, &arch, i);
    size_t bytes = 0;
    if (v->device_memory(&bytes, d) == DRV_SUCCESS)
        i->mem_bytes = bytes;
}

enum status dev_cuda_list(void (*fn)(void *ctx, const struct dev_info *i), void *ctx, bool *absent,
                          struct diags *ds)
{
    struct drv v;
    struct diags own = { 0 };
    enum status st = drv_open(&v, absent, &own);
    if (st == ST_OK) {
        int n = 0;
        st = drv_check(&v, v.device_count(&n), "cuDeviceGetCount", &own);
        for (int k = 0; st == ST_OK && k < n; k++) {
            drv_device d;
            struct dev_info i;
            if (v.device_get(&d, k) != DRV_SUCCESS)
                continue;
            describe(&v, d, k, &i);
            fn(ctx, &i);
        }
        drv_close(&v);
    }
    if (*absent)
        st = ST_OK;
    else
        diags_move(ds, &own);
    diags_free(&own);
    return st;
}

static void count_one(void *ctx, const struct dev_info *d)
{
    (void)d;
    ++*(int *)ctx;
}

int dev_cuda_count(void)
{
    struct diags none = { 0 };
    bool absent;
    int n = 0;
    dev_cuda_list(count_one, &n, &absent, &none);
    diags_free(&none);
    return n;
}

/* ---- open and close ---- */
static void cuda_close(struct dev *dev)
{
    struct cuda_dev *d = (struct cuda_dev *)dev;
    cuda_gate_free(d);
    /* After a fault or in a hang the driver may block for ever: the process is about to end anyway. */
    if (!d->base.unusable) {
        cupti_close(d->cupti);
        cuda_modules_free(d);
#define END(call, thing) (void)((thing) && d->drv.call(thing))
        END(module_unload, d->helper);
        END(mem_free, d->diffs);
        END(mem_free, d->flush);
        END(host_free, d->staging);
        END(event_destroy, d->begin);
        END(event_destroy, d->end);
        for (size_t i = 0; i < ARRAY_LEN(d->batch); i++)
            END(event_destroy, d->batch[i]);
        END(stream_destroy, d->stream);
#undef END
        if (d->retained)
            d->drv.primary_release(d->device);
        nvml_close(d->nvml);
        drv_close(&d->drv);
    }
    base_free(d);
}

static enum status cuda_read_arg(struct dev *dev, struct dev_data *data, size_t arg, uint64_t at,
                                 void *bytes, uint64_t n, struct diags *ds)
{
    struct cuda_dev *d = (struct cuda_dev *)dev;
    struct cuda_data *b = (struct cuda_data *)data;
    uint64_t offset;
    const struct dev_buffer *buf = dev_bound_arg(&b->bound, arg, at, n, &offset, ds);
    return buf ? cuda_check(d, d->drv.copy_out(bytes, buf->addr + offset, n), "reading a buffer", ds)
               : ST_INPUT;
}

static enum status cuda_read_symbol(struct dev *dev, struct dev_code *code, const char *symbol,
                                    void *bytes, uint64_t n, struct diags *ds)
{
    struct cuda_dev *d = (struct cuda_dev *)dev;
    const struct cuda_module *m = ((struct cuda_code *)code)->module;
    for (size_t i = 0; i < m->nvars; i++)
        if (!strcmp(m->vars[i].name, symbol) && n <= m->vars[i].n)
            return cuda_check(d, d->drv.copy_out(bytes, m->vars[i].live, n), "reading a variable", ds);
    diag_error(ds, "symbol", "the module has no variable '%s' with %llu bytes", symbol,
               (unsigned long long)n);
    return ST_INPUT;
}

static const struct dev_ops CUDA_OPS = {
    .close = cuda_close,
    .code_bytes = sizeof(struct cuda_code),
    .data_bytes = sizeof(struct cuda_data),
    .load = cuda_load,
    .bind = cuda_bind,
    .unbind = cuda_unbind,
    .launch = cuda_launch,
    .read_arg = cuda_read_arg,
    .read_symbol = cuda_read_symbol,
    .counters = cuda_counters,
};

static enum status pick(struct cuda_dev *d, int ordinal, struct diags *ds)
{
    int n = 0;
    enum status st = drv_check(&d->drv, d->drv.device_count(&n), "cuDeviceGetCount", ds);
    if (st != ST_OK)
        return st;
    if (ordinal < 0 || ordinal >= n) {
        diag_error(ds, "device", "there is no cuda:%d: %d GPU%s here", ordinal, n, n == 1 ? "" : "s");
        return ST_DEVICE;
    }
    return drv_check(&d->drv, d->drv.device_get(&d->device, ordinal), "cuDeviceGet", ds);
}

static enum status enter(struct cuda_dev *d, struct diags *ds)
{
    enum status st =
        cuda_check(d, d->drv.primary_retain(&d->ctx, d->device), "a context on the GPU", ds);
    d->retained = st == ST_OK;
    if (st == ST_OK)
        st = cuda_check(d, d->drv.context_set(d->ctx), "a context on the GPU", ds);
    if (st == ST_OK)
        st = cuda_check(d, d->drv.stream_create(&d->stream, DRV_STREAM_NON_BLOCKING), "a stream", ds);
    if (st == ST_OK)
        st = cuda_check(d, d->drv.event_create(&d->begin, 0), "an event", ds);
    return st == ST_OK ? cuda_check(d, d->drv.event_create(&d->end, 0), "an event", ds) : st;
}

enum status dev_cuda_open(int ordinal, enum dev_plain plain, struct dev **out, struct diags *ds)
{
    struct cuda_dev *d = base_alloc(sizeof *d);
    if (!d)
        return ST_NOMEM;
    d->base.ops = &CUDA_OPS;
    d->ordinal = ordinal;
    d->plain = plain;
    bool absent;
    enum status st = drv_open(&d->drv, &absent, ds);
    if (st != ST_OK) {
        base_free(d);
        return st;
    }
    st = pick(d, ordinal, ds);
    if (st == ST_OK)
        st = enter(d, ds);
    if (st != ST_OK) {
        cuda_close(&d->base);
        return st;
    }
    describe(&d->drv, d->device, ordinal, &d->base.info);
    char pci[32];
    if (d->drv.device_pci && d->drv.device_pci(pci, (int)sizeof pci, d->device) == DRV_SUCCESS)
        d->nvml = nvml_open(pci);
    *out = &d->base;
    return ST_OK;
}
