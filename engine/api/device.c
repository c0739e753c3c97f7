/* Launches from memory: a simulated device of a handle (engine/dev/card.h). */
#include "engine/api/api_int.h"
#include "engine/dev/card.h"
#include "engine/dev/dev.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/device.h"
#include "engine/rec/result_read.h"
#include "engine/session/documents.h"
#include "engine/session/preset.h"
#include "engine/sim/mem.h"
#include "engine/workspace/args.h"

#include <string.h>

#define DEVICE_ALIVE 0x67706c64u
#define FIRST        (UINT64_C(1) << 36) /* address of the first buffer */
#define BEYOND       (UINT64_C(1) << 46) /* variables of modules lie from here on */
#define ALIGN        UINT64_C(256)
#define APART        UINT64_C(4096) /* at least, between buffers: what is beyond an end is a fault */

struct gpulocw_device {
    _Atomic unsigned alive;
    gpulocw *g;
    struct card *card;
    struct card_code **code;
    size_t n, cap;
    uint64_t next, lent; /* where the next buffer goes; bytes that are lent */
};

/* A function on a device: its handle is taken until finish. */
struct doing {
    gpulocw_device *d;
    struct diags ds;
    struct api_quiet quiet;
};

static bool begin(struct doing *w, gpulocw_device *d)
{
    *w = (struct doing){ .d = d };
    return d && atomic_load(&d->alive) == DEVICE_ALIVE && api_begin(d->g, &w->quiet);
}

static gpulocw_status finish(struct doing *w, enum status st)
{
    gpulocw *g = w->d->g;
    api_say(g, &w->ds);
    diags_free(&w->ds);
    int code = g->document.oom || g->diagnostics.oom ? status_exit_code(ST_NOMEM) : status_exit_code(st);
    api_end(g, &w->quiet);
    return (gpulocw_status)code;
}

static void device_free(gpulocw_device *d)
{
    card_free(d->card);
    BASE_FREE(d->code, d);
}

static enum status device_make(gpulocw *g, const char *spec, gpulocw_device **out, struct diags *ds)
{
    struct dev_env env = { .preset = preset_read, .self = "gpulocw", .cancel = &g->cancel };
    struct sim_preset *p = base_alloc(sizeof *p);
    gpulocw_device *d = base_alloc(sizeof *d);
    enum status st = p && d ? dev_preset(spec ? spec : DEFAULT_DEVICE, &env, p, ds) : ST_NOMEM;
    if (st == ST_OK)
        st = card_new(p, BEYOND, 0, &d->card, ds);
    base_free(p);
    if (st != ST_OK) {
        base_free(d);
        return st;
    }
    d->g = g;
    d->next = FIRST;
    atomic_store(&d->alive, DEVICE_ALIVE);
    *out = d;
    return ST_OK;
}

gpulocw_status gpulocw_device_new(gpulocw *g, const char *spec, gpulocw_device **out)
{
    struct diags ds = { 0 };
    struct api_quiet q;
    if (!out)
        return GPULOCW_WRONG_USAGE;
    *out = NULL;
    if (!api_begin(g, &q))
        return GPULOCW_WRONG_USAGE;
    enum status st = device_make(g, spec, out, &ds);
    api_say(g, &ds);
    api_end(g, &q);
    diags_free(&ds);
    return (gpulocw_status)status_exit_code(st);
}

void gpulocw_device_free(gpulocw_device *d)
{
    struct doing w;
    if (!begin(&w, d))
        return;
    gpulocw *g = d->g;
    atomic_store(&d->alive, 0);
    device_free(d);
    api_end(g, &w.quiet);
}

/* ---- memory ---- */
static enum status bad(struct diags *ds, const char *code, const char *what)
{
    diag_error(ds, code, "%s", what);
    return ST_INPUT;
}

static enum status lend(gpulocw_device *d, void *host, size_t n, uint64_t *address, struct diags *ds)
{
    uint64_t at = *address ? *address : d->next, room = card_info(d->card)->mem_bytes;
    const struct sim_pages pages = { host, -1, 0 };
    if (!host || !n || (uintptr_t)host % 16)
        return bad(ds, "usage", "a buffer begins at a multiple of 16, and has bytes");
    if (n > room || d->lent > room - n)
        return bad(ds, "memory", "the device has not so much memory");
    if (at % ALIGN || at >= BEYOND || n > BEYOND - at)
        return bad(ds, "usage", "an address is a multiple of 256 below 2^46");
    if (!sim_mem_lend(card_memory(d->card), at, n, "buffer", &pages))
        return bad(ds, "memory", "the buffer overlaps another one, or memory ran out");
    sim_mem_host(card_memory(d->card), at, n); /* what it holds counts as written */
    d->lent += n;
    if (!*address)
        d->next = (at + n + APART + ALIGN - 1) / ALIGN * ALIGN;
    *address = at;
    return ST_OK;
}

gpulocw_status gpulocw_device_lend(gpulocw_device *d, void *host, size_t n, uint64_t *address)
{
    struct doing w;
    if (!address || !begin(&w, d))
        return GPULOCW_WRONG_USAGE;
    return finish(&w, lend(d, host, n, address, &w.ds));
}

gpulocw_status gpulocw_device_release(gpulocw_device *d, uint64_t address)
{
    struct doing w;
    if (!begin(&w, d))
        return GPULOCW_WRONG_USAGE;
    struct sim_mem *m = card_memory(d->card);
    const struct sim_alloc *a = sim_mem_find(m, address);
    uint64_t n = a && a->addr == address && address < BEYOND ? a->n : 0;
    enum status st = n ? sim_mem_release(m, address) : bad(&w.ds, "memory", "no buffer begins there");
    d->lent -= st == ST_OK ? n : 0;
    return finish(&w, st);
}

static uint8_t *bytes_at(gpulocw_device *d, uint64_t address, size_t n, struct diags *ds)
{
    uint8_t *host = sim_mem_host(card_memory(d->card), address, n);
    if (!host)
        bad(ds, "memory", "there is no memory of the device at this address for so many bytes");
    return host;
}

gpulocw_status gpulocw_device_write(gpulocw_device *d, uint64_t address, const void *from, size_t n)
{
    struct doing w;
    if ((n && !from) || !begin(&w, d))
        return GPULOCW_WRONG_USAGE;
    uint8_t *to = bytes_at(d, address, n, &w.ds);
    if (to && n)
        memcpy(to, from, n);
    return finish(&w, to ? ST_OK : ST_INPUT);
}

gpulocw_status gpulocw_device_read(gpulocw_device *d, uint64_t address, void *to, size_t n)
{
    struct doing w;
    if ((n && !to) || !begin(&w, d))
        return GPULOCW_WRONG_USAGE;
    const uint8_t *from = bytes_at(d, address, n, &w.ds);
    if (from && n)
        memcpy(to, from, n);
    return finish(&w, from ? ST_OK : ST_INPUT);
}

/* ---- modules ---- */
gpulocw_status gpulocw_device_module(gpulocw_device *d, const char *ptx, size_t n, unsigned *module)
{
    struct doing w;
    struct ptx_module *m = NULL;
    if (!ptx || !module || !begin(&w, d))
        return GPULOCW_WRONG_USAGE;
    bool room = base_grow((void **)&d->code, d->n, &d->cap, sizeof *d->code);
    enum status st = room ? ptx_parse("module", (struct str){ ptx, n }, &m, &w.ds) : ST_NOMEM;
    if (st == ST_OK)
        st = card_load(d->card, m, &d->code[d->n]);
    else
        ptx_free(m);
    if (st == ST_OK)
        *module = (unsigned)d->n++;
    return finish(&w, st);
}

static struct card_code *code_of(gpulocw_device *d, unsigned module, struct diags *ds)
{
    if (module < d->n)
        return d->code[module];
    bad(ds, "usage", "no module has this number");
    return NULL;
}

gpulocw_status gpulocw_device_variable(gpulocw_device *d, unsigned module, const char *name,
                                       uint64_t *address, uint64_t *bytes)
{
    struct doing w;
    if (!name || !address || !bytes || !begin(&w, d))
        return GPULOCW_WRONG_USAGE;
    struct card_code *c = code_of(d, module, &w.ds);
    bool there = c && card_variable(c, str_of(name), address, bytes, &w.ds);
    if (c && !there)
        diag_error(&w.ds, "symbol", "the module has no variable '%.200s'", name);
    return finish(&w, there ? ST_OK : ST_INPUT);
}

/* ---- launches ---- */
static enum status kernel_of(struct card_code *c, const char *entry, struct card_kernel **k,
                             struct diags *ds)
{
    const struct ptx_module *m = card_module(c);
    const struct ptx_func *f = NULL;
    struct buf several = { 0 };
    unsigned entries = 0;
    for (uint32_t i = 0; i < m->nfuncs && !entry; i++)
        if (m->funcs[i]->entry && m->funcs[i]->has_body) {
            f = m->funcs[i];
            entries++;
        }
    if (entry)
        f = ptx_find_entry(m, str_of(entry), &several);
    enum status st = f && entries < 2 ? card_kernel(c, f->name, k, ds) : ST_INPUT;
    if (!f || entries > 1)
        diag_error(ds, "kernel",
                   several.n ? "'%.200s' may be any of: %s"
                             : "the module has no kernel '%.200s', or several%s",
                   entry ? entry : "", several.s ? several.s : "");
    buf_free(&several);
    return st;
}

static struct dim3u shape(const unsigned v[3])
{
    return (struct dim3u){ v[0] ? v[0] : 1, v[1] ? v[1] : 1, v[2] ? v[2] : 1 };
}

/* Looked at on memory that is put back. */
static enum status check(gpulocw_device *d, struct card_kernel *k, const struct card_launch *l,
                         struct diags *ds)
{
    struct card_launch c = *l;
    struct sim_stats stats = { 0 };
    struct card_state *state = card_save(d->card);
    c.timed = c.exact = false;
    c.check_uninit = c.check_races = true;
    if (!state)
        return ST_NOMEM;
    enum status st = card_launch(k, &c, &stats, ds);
    card_restore(d->card, state);
    sim_stats_free(&stats);
    return st;
}

static void tell(gpulocw_device *d, const struct card_kernel *k, const struct sim_stats *stats,
                 bool timed, struct diags *ds)
{
    struct buf name = { 0 }, printed = { 0 };
    struct result *r = result_new();
    buf_str(&name, card_function(k)->name);
    if (r) {
        card_result(stats, timed, r);
        json_result(r, card_info(d->card), name.s ? name.s : "", "", NULL, NULL, &d->g->document);
    }
    d->g->document.oom |= !r || name.oom;
    if (stats->nprint) {
        buf_put(&printed, stats->print, stats->nprint);
        diag_add(ds, DIAG_NOTE, "printf", NULL, NO_SPAN, "%s", printed.s ? printed.s : "");
    }
    base_free(r);
    buf_free(&name);
    buf_free(&printed);
}

static enum status launch(gpulocw_device *d, const gpulocw_launch *l, struct diags *ds)
{
    struct card_code *c = code_of(d, l->module, ds);
    struct card_kernel *k = NULL;
    struct sim_stats stats = { 0 };
    enum status st = c ? kernel_of(c, l->entry, &k, ds) : ST_INPUT;
    if (st != ST_OK)
        return st;
    uint64_t want = card_function(k)->param_bytes;
    if (l->nparams < want || (l->nparams && !l->params)) {
        diag_error(ds, "usage", "the kernel takes %llu bytes of parameters, not %zu",
                   (unsigned long long)want, l->params ? l->nparams : 0);
        return ST_INPUT;
    }
    const struct card_launch m = { .grid = shape(l->grid),
                                   .block = shape(l->block),
                                   .cluster = { l->cluster[0], l->cluster[1], l->cluster[2] },
                                   .shared = l->shared,
                                   .carveout = -1,
                                   .params = l->params,
                                   .nparams = l->nparams,
                                   .timed = l->flags & GPULOCW_LAUNCH_TIMED,
                                   .exact = l->flags & GPULOCW_LAUNCH_EXACT,
                                   .cancel = &d->g->cancel };
    if (l->flags & GPULOCW_LAUNCH_CHECK)
        st = check(d, k, &m, ds);
    if (st == ST_OK)
        st = card_launch(k, &m, &stats, ds);
    if (st == ST_OK)
        tell(d, k, &stats, m.timed, ds);
    sim_stats_free(&stats);
    return st;
}

gpulocw_status gpulocw_device_launch(gpulocw_device *d, const gpulocw_launch *l)
{
    struct doing w;
    gpulocw_launch whole = { 0 };
    if (!l || l->size < offsetof(gpulocw_launch, nparams) + sizeof l->nparams || !begin(&w, d))
        return GPULOCW_WRONG_USAGE;
    memcpy(&whole, l, l->size < sizeof whole ? l->size : sizeof whole);
    return finish(&w, launch(d, &whole, &w.ds));
}
