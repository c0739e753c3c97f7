/* The device of one process: what its runtime library asks, in order. */
#include "engine/dev/card.h"
#include "engine/base/list.h"
#include "engine/emulate/guest.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/device.h"
#include "engine/rec/tensor_map.h"
#include "engine/rec/texture.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ERROR_VALUE = 1, ERROR_MEMORY = 2, ERROR_SYMBOL = 13, ERROR_FUNCTION = 98, ERROR_NO_IMAGE = 209 };

/* ---- modules, kernels ---- */
static bool take_module(struct guest *s, const struct wire_module *r, const uint8_t *p, uint64_t n)
{
    if (r->id > s->nmodules + 65536)
        return false;
    while (r->id >= s->nmodules) {
        if (!LIST_PUSH(s->module, s->nmodules, s->cap_modules, (struct guest_module){ 0 }))
            return false;
    }
    struct guest_module *m = &s->module[r->id];
    base_free(m->bytes);
    *m = (struct guest_module){ .bytes = base_alloc(n + 1), .n = n, .parts = r->parts };
    if (!m->bytes)
        return false;
    memcpy(m->bytes, p, n);
    m->hash = base_hash(p, n);
    return true;
}

/* Its PTX is looked for when something of it is asked for; ds: what is wrong with it. */
static struct card_code *code_told(struct guest *s, uint64_t id, int *error, struct diags *ds)
{
    struct guest_module *m = id < s->nmodules ? &s->module[id] : NULL;
    *error = m ? m->error : ERROR_VALUE;
    if (!m || m->code || m->error)
        return m ? m->code : NULL;
    m->code = module_open(s->card, m->bytes, m->n, m->parts, &m->error, ds);
    *error = m->error;
    base_free(m->bytes);
    m->bytes = NULL;
    return m->code;
}

static struct card_code *code_of(struct guest *s, uint64_t id, int *error)
{
    struct diags ds = { 0 };
    struct card_code *code = code_told(s, id, error, &ds);
    emulation_tell(s->e, &ds);
    return code;
}

/* Opened at once: whoever loads it is told, too. */
static bool open_module(struct guest *s, const struct wire_name *r)
{
    struct diags ds = { 0 };
    struct wire_opened o = { 0 };
    struct buf b = { 0 };
    const struct card_code *code = code_told(s, r->module, &o.error, &ds);
    const struct ptx_module *m = code ? card_module(code) : NULL;
    for (uint32_t i = 0; m && i < m->nfuncs; i++)
        if (m->funcs[i]->entry && m->funcs[i]->has_body) {
            buf_str(&b, m->funcs[i]->name);
            buf_put(&b, "", 1);
            o.kernels++;
        }
    o.names = b.n;
    if (!code)
        diags_print(&ds, &b);
    emulation_tell(s->e, &ds);
    bool fine = !b.oom && stream_put(&s->io, &o, sizeof o, b.s, b.n);
    buf_free(&b);
    return fine;
}

static struct wire_kernel describe(struct guest *s, const struct guest_kernel *k)
{
    const struct ptx_func *f = card_function(k->kernel);
    struct sim_resources r = card_resources(k->kernel);
    struct wire_kernel out = { .id = (uint32_t)(k - s->kernel),
                               .nparams = f->nparams,
                               .param_bytes = (uint32_t)f->param_bytes,
                               .regs = r.regs,
                               .shared_static = r.shared_static,
                               .local_bytes = r.local_bytes,
                               .max_threads = r.max_threads,
                               .cluster = { f->reqnctapercluster.x, f->reqnctapercluster.y,
                                            f->reqnctapercluster.z },
                               .ptx_version = f->module->version };
    for (uint32_t i = 0; i < f->module->nglobals; i++)
        if (f->module->globals[i]->space == PTX_SPACE_CONST)
            out.const_bytes += (uint32_t)f->module->globals[i]->bytes;
    return out;
}

static bool tell_kernel(struct guest *s, const struct guest_kernel *k)
{
    const struct ptx_func *f = card_function(k->kernel);
    struct wire_kernel r = describe(s, k);
    struct wire_param *p = base_alloc((f->nparams + 1) * sizeof *p);
    for (uint32_t i = 0; p && i < f->nparams; i++)
        p[i] = (struct wire_param){ (uint32_t)f->params[i]->offset, (uint32_t)f->params[i]->bytes };
    bool fine = p && stream_put(&s->io, &r, sizeof r, p, f->nparams * sizeof *p);
    base_free(p);
    return fine;
}

static struct guest_kernel *kernel_of(struct guest *s, struct card_kernel *k, uint64_t module)
{
    for (size_t i = 0; i < s->nkernels; i++)
        if (s->kernel[i].kernel == k)
            return &s->kernel[i];
    if (!base_grow((void **)&s->kernel, s->nkernels, &s->cap_kernels, sizeof *s->kernel))
        return NULL;
    s->kernel[s->nkernels] = (struct guest_kernel){ .kernel = k, .module = module };
    return &s->kernel[s->nkernels++];
}

static bool ask_kernel(struct guest *s, const struct wire_name *r, struct str name)
{
    struct diags ds = { 0 };
    struct wire_kernel no = { 0 };
    struct card_kernel *k = NULL;
    int error;
    struct card_code *code = code_of(s, r->module, &error);
    enum status st = code ? card_kernel(code, name, &k, &ds) : ST_OK;
    struct guest_kernel *known = k ? kernel_of(s, k, r->module) : NULL;
    if (error == ERROR_NO_IMAGE)
        diag_hint(diag_add(&ds, DIAG_ERROR, "no-ptx", NULL, NO_SPAN,
                           "kernel %.*s has no PTX for this device", (int)name.n, name.s),
                  "build it with PTX; those of PyTorch, cuBLAS and cuDNN have none, those of "
                  "torch.compile do");
    no.error = !code ? error : st == ST_INPUT ? ERROR_FUNCTION : error_of(st, &ds);
    if (k && !known)
        no.error = ERROR_MEMORY;
    emulation_tell(s->e, &ds);
    return known ? tell_kernel(s, known) : stream_put(&s->io, &no, sizeof no, NULL, 0);
}

static bool ask_variable(struct guest *s, const struct wire_name *r, struct str name)
{
    struct diags ds = { 0 };
    struct wire_variable v = { 0 };
    struct card_code *code = code_of(s, r->module, &v.error);
    if (code && !card_variable(code, name, &v.addr, &v.bytes, &ds))
        v.error = ERROR_SYMBOL;
    emulation_tell(s->e, &ds);
    return stream_put(&s->io, &v, sizeof v, NULL, 0);
}

static bool place_variable(struct guest *s, const struct wire_range *r, struct str name)
{
    struct diags ds = { 0 };
    int error;
    struct card_code *code = code_of(s, r->module, &error);
    if (code)
        card_place(code, name, r->addr, &ds);
    emulation_tell(s->e, &ds);
    return true;
}

/* ---- memory ---- */
static bool lend(struct guest *s, const struct wire_range *r)
{
    if (r->at > s->bytes || r->n > s->bytes - r->at)
        return false;
    struct sim_mem *mem = card_memory(s->card);
    const struct sim_pages pages = { s->host + r->at, s->file, r->at };
    if (sim_mem_lend(mem, r->addr, r->n, "device memory", &pages) && r->written)
        sim_mem_host(mem, r->addr, r->n);
    return true;
}

static bool put(struct guest *s, const struct wire_range *r, const uint8_t *p, uint64_t n)
{
    uint8_t *to = r->n <= n ? sim_mem_host(card_memory(s->card), r->addr, r->n) : NULL;
    struct wire_done d = { to ? 0 : ERROR_VALUE };
    if (to)
        memcpy(to, p, r->n);
    return stream_put(&s->io, &d, sizeof d, NULL, 0);
}

static bool get(struct guest *s, const struct wire_range *r)
{
    const uint8_t *from = sim_mem_host(card_memory(s->card), r->addr, r->n);
    struct wire_done d = { from ? 0 : ERROR_VALUE };
    return stream_put(&s->io, &d, sizeof d, from, from ? r->n : 0);
}

/* ---- textures ---- */
static enum elem elem_of(const struct wire_texture *w)
{
    static const enum elem of[3][3] = { { ELEM_S8, ELEM_S16, ELEM_S32 },
                                        { ELEM_U8, ELEM_U16, ELEM_U32 },
                                        { ELEM_F16, ELEM_F16, ELEM_F32 } };
    unsigned size = w->elem_bytes == 1 ? 0 : w->elem_bytes == 2 ? 1 : 2;
    return of[w->elem_kind < 3 ? w->elem_kind : 0][size];
}

static bool take_texture(struct guest *s, const struct wire_texture *w)
{
    size_t n = s->textures ? s->textures->n : 0;
    if (w->index >= 1u << 20)
        return false;
    if (w->index >= n) {
        size_t want = w->index + 64;
        struct textures *t = base_realloc(s->textures, sizeof *t + want * sizeof *t->v);
        uint64_t *at = base_alloc(want * sizeof *at);
        if (t)
            s->textures = t;
        if (!t || !at) {
            base_free(at);
            return false;
        }
        memset(t->v + n, 0, (want - n) * sizeof *t->v);
        if (n)
            base_free(t->at);
        t->n = want;
        t->at = at;
    }
    struct texture *x = &s->textures->v[w->index];
    *x = (struct texture){ .address = w->address,
                           .pitch = w->pitch,
                           .dims = { w->dims[0], w->dims[1], w->dims[2] },
                           .layers = w->layers,
                           .rank = w->live ? w->rank : 0,
                           .elem = (uint8_t)elem_of(w),
                           .channels = w->channels,
                           .edge = { w->edge[0], w->edge[1], w->edge[2] },
                           .array = w->array,
                           .cube = w->cube,
                           .surface = w->surface,
                           .linear = w->linear,
                           .normalized = w->normalized,
                           .fraction = w->fraction,
                           .levels = (uint8_t)w->levels,
                           .mip_linear = w->mip_linear };
    return true;
}

static bool tell_tensor(struct guest *s, const struct wire_tensor *w)
{
    struct tensor_map m = { .address = w->address,
                            .rank = (uint8_t)w->rank,
                            .type = (uint8_t)w->type,
                            .interleave = (uint8_t)w->interleave,
                            .swizzle = (uint8_t)w->swizzle,
                            .l2 = (uint8_t)w->l2,
                            .nan = w->nan != 0 };
    struct wire_map made = { .error = ERROR_VALUE };
    char why[200];
    memcpy(m.dims, w->dims, sizeof m.dims);
    memcpy(m.strides, w->strides, sizeof m.strides);
    memcpy(m.box, w->box, sizeof m.box);
    memcpy(m.steps, w->steps, sizeof m.steps);
    bool numbers = w->rank <= TENSOR_RANK_MOST && w->type < TENSOR_TYPE_COUNT &&
                   w->interleave <= INTERLEAVE_32B && w->swizzle <= SWIZZLE_128B && w->l2 <= 3;
    if (numbers && tensor_map_check(&m, why, sizeof why)) {
        made.error = 0;
        tensor_map_encode(&m, made.bytes);
    }
    return stream_put(&s->io, &made, sizeof made, NULL, 0);
}

/* ---- events ---- */
static bool record(struct guest *s, uint64_t n)
{
    if (n >= 1u << 24)
        return false;
    while (n >= s->nevents) {
        if (!LIST_PUSH(s->event, s->nevents, s->cap_events, -1))
            return false;
    }
    s->event[n] = s->e->want->timed ? s->clock_ns : (double)base_now_ns();
    return true;
}

static bool time_of(struct guest *s, uint64_t n)
{
    struct wire_time t = { 0 };
    t.known = n < s->nevents && s->event[n] >= 0;
    t.ns = t.known ? s->event[n] : 0;
    return stream_put(&s->io, &t, sizeof t, NULL, 0);
}

/* ---- the connection ---- */
static bool tell_device(struct guest *s)
{
    const struct sim_preset *p = &s->e->want->preset;
    const struct dev_info *i = card_info(s->card);
    struct wire_device d = { .mem_bytes = i->mem_bytes,
                             .l2_bytes = i->l2_bytes,
                             .l2_persist_bytes = i->l2_persist_bytes,
                             .shared_per_sm = i->shared_per_sm,
                             .shared_optin = i->shared_per_block_optin,
                             .regs_per_sm = i->regs_per_sm,
                             .cc_major = (uint32_t)i->cc_major,
                             .cc_minor = (uint32_t)i->cc_minor,
                             .sms = i->sms,
                             .warp_size = i->warp_size,
                             .warps_per_sm = i->max_warps_per_sm,
                             .ctas_per_sm = i->max_ctas_per_sm,
                             .threads_per_block = i->max_threads_per_block,
                             .clock_khz = i->clock_khz,
                             .reserved_shared = (uint32_t)p->shared_reserved,
                             .checks = s->e->want->check_memory,
                             .texture_handle = TEXTURE_HANDLE };
    snprintf(d.name, sizeof d.name, "%s", i->name);
    return stream_put(&s->io, &d, sizeof d, NULL, 0);
}

/* The file is as large as the program says, and stays so: what is mapped here can be read. */
static bool is_whole(int file, uint64_t bytes)
{
    struct stat is;
    return fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK) == 0 && fstat(file, &is) == 0 &&
           (uint64_t)is.st_size >= bytes;
}

static bool hello(struct guest *s, const struct wire_hello *r)
{
    struct diags ds = { 0 };
    if (s->card || s->io.file < 0)
        return false;
    s->file = s->io.file;
    s->io.file = -1;
    if (!is_whole(s->file, r->bytes))
        return false;
    void *p = mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, s->file, 0);
    if (p == MAP_FAILED)
        return false;
    madvise(p, r->bytes, MADV_DONTDUMP);
    s->host = p;
    s->bytes = r->bytes;
    enum status st =
        card_new(&s->e->want->preset, r->base + r->bytes, s->e->want->threads, &s->card, &ds);
    emulation_tell(s->e, &ds);
    pthread_mutex_lock(&s->e->lock);
    s->e->seen->survey.processes++;
    pthread_mutex_unlock(&s->e->lock);
    return st == ST_OK && tell_device(s);
}

/* The record behind a head; stream_next has seen that it is there. */
#define RECORD(type, name) \
    struct type name;      \
    memcpy(&name, body, sizeof name)

static bool about_modules(struct guest *s, const struct wire_head *h, const uint8_t *body)
{
    RECORD(wire_name, r);
    struct str name = { (const char *)body + sizeof r, h->bytes - sizeof r };
    if (h->kind == WIRE_OPEN)
        return open_module(s, &r);
    if (h->kind == WIRE_KERNEL)
        return ask_kernel(s, &r, name);
    if (h->kind == WIRE_VARIABLE)
        return ask_variable(s, &r, name);
    if (h->kind == WIRE_PLACE) {
        RECORD(wire_range, at);
        return place_variable(s, &at,
                              (struct str){ (const char *)body + sizeof at, h->bytes - sizeof at });
    }
    RECORD(wire_module, m);
    return take_module(s, &m, body + sizeof m, h->bytes - sizeof m);
}

static bool about_memory(struct guest *s, const struct wire_head *h, const uint8_t *body)
{
    RECORD(wire_range, r);
    struct sim_mem *mem = card_memory(s->card);
    if (h->kind == WIRE_LEND)
        return lend(s, &r);
    if (h->kind == WIRE_PUT)
        return put(s, &r, body + sizeof r, h->bytes - sizeof r);
    if (h->kind == WIRE_GET)
        return get(s, &r);
    if (h->kind == WIRE_RELEASE)
        sim_mem_release(mem, r.addr);
    else
        sim_mem_host(mem, r.addr, r.n);
    return true;
}

static bool about_launches(struct guest *s, const struct wire_head *h, const uint8_t *body)
{
    if (h->kind == WIRE_SYNC || h->kind == WIRE_RESET) {
        s->error = h->kind == WIRE_RESET ? 0 : s->error;
        return h->kind == WIRE_RESET || guest_done(s);
    }
    RECORD(wire_launch, l);
    return h->kind == WIRE_FITS ? guest_fits(s, &l)
                                : guest_launch(s, &l, body + sizeof l, h->bytes - sizeof l);
}

static bool take(struct guest *s, const struct wire_head *h, const uint8_t *body)
{
    if (h->kind == WIRE_HELLO) {
        RECORD(wire_hello, r);
        return hello(s, &r);
    }
    if (h->kind == WIRE_MISSING) {
        seen_missing(s->e, (const char *)body + sizeof(struct wire_nothing),
                     h->bytes - sizeof(struct wire_nothing));
        return true;
    }
    if (!s->card)
        return false;
    switch (h->kind) {
    case WIRE_MODULE:
    case WIRE_OPEN:
    case WIRE_KERNEL:
    case WIRE_VARIABLE:
    case WIRE_PLACE: return about_modules(s, h, body);
    case WIRE_LEND:
    case WIRE_RELEASE:
    case WIRE_WROTE:
    case WIRE_PUT:
    case WIRE_GET: return about_memory(s, h, body);
    case WIRE_RECORD:
    case WIRE_TIME: {
        RECORD(wire_number, r);
        return h->kind == WIRE_RECORD ? record(s, r.n) : time_of(s, r.n);
    }
    case WIRE_TEXTURE: {
        RECORD(wire_texture, r);
        return take_texture(s, &r);
    }
    case WIRE_TENSOR: {
        RECORD(wire_tensor, r);
        return tell_tensor(s, &r);
    }
    default: return about_launches(s, h, body);
    }
}

static void guest_free(struct guest *s)
{
    for (size_t i = 0; i < s->nmodules; i++)
        base_free(s->module[i].bytes);
    card_free(s->card);
    if (s->textures)
        base_free(s->textures->at);
    BASE_FREE(s->textures, s->module, s->kernel, s->event);
    buf_free(&s->printed);
    if (s->host)
        munmap(s->host, s->bytes);
    if (s->file >= 0)
        close(s->file);
    stream_free(&s->io);
}

/* A process that reached for the device and has none ends as the program has it: why is told. */
static void tell_no_device(struct emulation *e)
{
    struct diags ds = { 0 };
    diag_add(&ds, DIAG_WARNING, "device-memory", NULL, NO_SPAN,
             "a process of the program got no device: there is no room for the device's memory");
    diag_hint(diags_last(&ds),
              "it takes address space and a file of its size: see ulimit -v and ulimit -f");
    emulation_tell(e, &ds);
}

void guest_serve(struct emulation *e, int socket)
{
    struct guest s = { .e = e, .io = { .fd = socket, .file = -1 }, .file = -1, .cancel.also = &e->stop };
    struct wire_head h;
    const uint8_t *body;
    guest_watch_start(&s);
    while (stream_next(&s.io, &h, &body) && take(&s, &h, body))
        ;
    guest_watch_stop(&s);
    if (!s.card && !cancel_asked(&s.cancel))
        tell_no_device(e);
    guest_free(&s);
}
