/* The worker's side of the protocol. Three threads: a reader, which takes frames in,
 * turns CANCEL into a cancel request and the end of input into one too; one that shows
 * the other side that a request is still worked on; and the caller, which serves one
 * request at a time. Handles are small numbers chosen by the other side. */
#include "engine/dev/cuda/dev_cuda.h"
#include "engine/dev/dev_int.h"
#include "engine/dev/worker/wire.h"
#include "engine/ptx/text_marks.h"
#include "engine/rec/launch.h"
#include "engine/rec/record.h"
#include "engine/rec/result_read.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRESS_NS 50000000
#define ALIVE_NS    500000000
#define MAX_HANDLES (1u << 20)
#define CUDA_SPEC   "cuda:"
/* how long a launch may go on after the other end is gone */
#define ORPHAN_NS 2000000000

struct held_data {
    struct launch_spec spec;
    struct launch_data data;
    struct dev_data *bound;
};
struct worker {
    const struct dev_env *env;
    int in, out;
    /* drove: the driver was started, with all GPUs or with one */
    struct dev *dev;
    bool drove;
    struct dev_code **codes;
    size_t ncodes, codes_cap;
    struct held_data **datas;
    struct result *result; /* of a launch */
    size_t ndatas, datas_cap;
    /* shared between the two threads, under lock */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_mutex_t out_lock;
    struct buf request;
    struct wire_frame asked;
    bool full, closed, busy;
    struct cancel cancel, stop; /* of the launch under way; of the reader */
    /* number of the launch under way; of the launch that CANCEL named last */
    uint64_t launch, cancelled;
    uint64_t taken; /* number of the last request; the reader's own */
    /* under out_lock */
    /* of the request being served, 0: none; of its next BYTES */
    uint64_t number;
    uint32_t part;
    int64_t told; /* when progress was last sent */
};

/* ---- reader ---- */
static void put_request(struct worker *w, const struct wire_frame *f, struct buf *payload)
{
    pthread_mutex_lock(&w->lock);
    while (w->full && !cancel_asked(&w->stop))
        pthread_cond_wait(&w->wake, &w->lock);
    struct buf old = w->request;
    w->request = *payload;
    *payload = old;
    w->asked = *f;
    w->full = true;
    pthread_cond_broadcast(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

/* CANCEL names a launch, so that one that comes late cannot hit the next launch. */
static void take_cancel(struct worker *w, uint64_t launch)
{
    pthread_mutex_lock(&w->lock);
    w->cancelled = launch;
    if (w->launch == launch)
        atomic_store(&w->cancel.asked, true);
    pthread_mutex_unlock(&w->lock);
}

/* Nobody is left to hear a result. A launch that does not stop would keep the GPU
 * for ever, and only the end of the process stops it. */
static void end_orphan(struct worker *w)
{
    int64_t until = base_now_ns() + ORPHAN_NS;
    struct timespec nap = { 0, 20000000 };
    bool busy = true;
    while (busy && base_now_ns() < until) {
        pthread_mutex_lock(&w->lock);
        busy = w->busy;
        pthread_mutex_unlock(&w->lock);
        nanosleep(&nap, NULL);
    }
    if (busy)
        raise(SIGKILL);
}

/* The other side is told why nothing more comes. */
static void say_ending(struct worker *w, const char *why)
{
    const struct wire_frame f = { .type = WIRE_ENDING };
    struct buf b = { 0 };
    buf_puts(&b, why);
    pthread_mutex_lock(&w->out_lock);
    wire_send(w->out, &f, &b, base_now_ns() + ORPHAN_NS, NULL);
    pthread_mutex_unlock(&w->out_lock);
    buf_free(&b);
}

/* False: nothing that follows can be trusted. A request that came twice is passed over. */
static bool take_frame(struct worker *w, const struct wire_frame *f, struct buf *payload)
{
    char why[120];
    if (f->type == WIRE_CANCEL) {
        take_cancel(w, f->number);
        return true;
    }
    if (f->number <= w->taken)
        return true;
    if (f->number != w->taken + 1) {
        snprintf(why, sizeof why, "a request was lost on the way to it: number %llu came after %llu",
                 (unsigned long long)f->number, (unsigned long long)w->taken);
        say_ending(w, why);
        return false;
    }
    w->taken = f->number;
    put_request(w, f, payload);
    return true;
}

static void *reader(void *arg)
{
    struct worker *w = arg;
    struct buf payload = { 0 };
    struct wire_stream from = { .fd = w->in };
    struct wire_frame f;
    enum wire_end e;
    while ((e = wire_recv(&from, INT64_MAX, &w->stop, &f, &payload)) == WIRE_OK)
        if (!take_frame(w, &f, &payload))
            break;
    if (e == WIRE_BAD)
        say_ending(w, "it received damaged bytes");
    pthread_mutex_lock(&w->lock);
    w->closed = true;
    atomic_store(&w->cancel.asked, true);
    pthread_cond_broadcast(&w->wake);
    pthread_mutex_unlock(&w->lock);
    buf_free(&payload);
    end_orphan(w);
    return NULL;
}

static bool next_request(struct worker *w, struct wire_frame *f, struct buf *payload)
{
    pthread_mutex_lock(&w->lock);
    w->busy = false;
    while (!w->full && !w->closed)
        pthread_cond_wait(&w->wake, &w->lock);
    bool got = w->full;
    if (got) {
        struct buf old = *payload;
        *payload = w->request;
        w->request = old;
        *f = w->asked;
        w->full = false;
        w->busy = true;
        pthread_cond_broadcast(&w->wake);
    }
    pthread_mutex_unlock(&w->lock);
    return got;
}

/* ---- replies ---- */
static bool send_frame(struct worker *w, enum wire_type type, const struct buf *b)
{
    pthread_mutex_lock(&w->out_lock);
    struct wire_frame f = { .type = type, .number = w->number, .part = w->part };
    bool ok = wire_send(w->out, &f, b, INT64_MAX, NULL);
    w->part += type == WIRE_BYTES;
    if (type == WIRE_REPLY)
        w->number = 0; /* nothing more is said of it */
    pthread_mutex_unlock(&w->out_lock);
    return ok;
}

static void begin_request(struct worker *w, uint64_t number)
{
    pthread_mutex_lock(&w->out_lock);
    w->number = number;
    w->part = 0;
    pthread_mutex_unlock(&w->out_lock);
}

/* Twice a second, as long as a request is worked on. */
static void *show_life(void *arg)
{
    struct worker *w = arg;
    pthread_mutex_lock(&w->lock);
    while (!w->closed && !cancel_asked(&w->stop)) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        t.tv_nsec += ALIVE_NS;
        t.tv_sec += t.tv_nsec / 1000000000;
        t.tv_nsec %= 1000000000;
        while (!w->closed && !cancel_asked(&w->stop) &&
               pthread_cond_timedwait(&w->wake, &w->lock, &t) == 0) {}
        pthread_mutex_unlock(&w->lock);
        pthread_mutex_lock(&w->out_lock);
        struct wire_frame f = { .type = WIRE_ALIVE, .number = w->number };
        if (f.number)
            wire_send(w->out, &f, NULL, INT64_MAX, NULL);
        pthread_mutex_unlock(&w->out_lock);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* A reply: status, unusable, diagnostics, and what the request asked for. */
static void reply_begin(struct worker *w, struct buf *b, enum status st, const struct diags *ds)
{
    buf_clear(b);
    wire_uint(b, "status", (uint64_t)st);
    wire_uint(b, "unusable", w->dev && w->dev->unusable);
    wire_put_diags(b, ds);
}

static void on_progress(void *ctx, double done)
{
    struct worker *w = ctx;
    struct buf b = { 0 };
    int64_t now = base_now_ns();
    pthread_mutex_lock(&w->out_lock);
    if (now - w->told >= PROGRESS_NS) {
        struct wire_frame f = { .type = WIRE_PROGRESS, .number = w->number };
        w->told = now;
        wire_num(&b, "done", done);
        wire_send(w->out, &f, &b, INT64_MAX, NULL);
    }
    pthread_mutex_unlock(&w->out_lock);
    buf_free(&b);
}

static bool send_bytes(struct worker *w, const char *p, uint64_t n)
{
    struct buf b = { 0 };
    bool ok = true;
    for (uint64_t at = 0; ok && at < n; at += WIRE_CHUNK) {
        buf_clear(&b);
        buf_put(&b, p + at, (size_t)(n - at < WIRE_CHUNK ? n - at : WIRE_CHUNK));
        ok = send_frame(w, WIRE_BYTES, &b);
    }
    buf_free(&b);
    return ok;
}

/* ---- requests ---- */
/* The driver starts every GPU it sees: a second on a machine with four. A worker needs one, and sees
 * only that: entry n of the user's own list where there is one. `spec` becomes cuda:0. */
static void see_one(char *spec, size_t size)
{
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    char *end, one[128];
    unsigned long n = strtoul(spec + strlen(CUDA_SPEC), &end, 10);
    if (end == spec + strlen(CUDA_SPEC) || *end)
        return;
    for (unsigned long i = 0; list && i < n; i++) {
        list = strchr(list, ',');
        if (!list)
            return; /* no such entry: the driver will say so */
        list++;
    }
    int k = list ? snprintf(one, sizeof one, "%.*s", (int)strcspn(list, ","), list)
                 : snprintf(one, sizeof one, "%lu", n);
    if (k > 0 && (size_t)k < sizeof one && setenv("CUDA_VISIBLE_DEVICES", one, 1) == 0)
        snprintf(spec, size, CUDA_SPEC "0");
}

static void list_one(void *ctx, const struct dev_info *d)
{
    struct buf *b = ctx;
    size_t item = wire_open(b, WIRE_ITEM);
    wire_put_info(b, d);
    wire_close(b, item);
}

static void serve_list(struct worker *w, struct buf *out, struct diags *ds)
{
    struct buf found = { 0 };
    bool absent;
    w->drove = true;
    enum status st = dev_cuda_list(list_one, &found, &absent, ds);
    reply_begin(w, out, st, ds);
    wire_bytes(out, "devices", found.s, found.n);
    buf_free(&found);
}

static void serve_open(struct worker *w, struct wire_in *in, struct buf *out, struct diags *ds)
{
    char spec[128], asked[128];
    wire_get_chars(in, "spec", spec, sizeof spec);
    memcpy(asked, spec, sizeof asked);
    struct dev_env env = *w->env;
    env.in_process = true;
    env.workers = NULL;
    env.nworkers = 0;
    env.threads = (unsigned)wire_get_uint(in, "threads");
    enum status st = wire_judge(in, ds);
    dev_close(w->dev);
    w->dev = NULL;
    if (st == ST_OK && wire_has(in, "preset")) {
        struct sim_preset p;
        wire_get_preset(in, &p);
        st = wire_judge(in, ds);
        st = st == ST_OK ? dev_sim_open(&p, spec, env.threads, &w->dev, ds) : st;
    } else if (st == ST_OK) {
        if (!w->drove && !strncmp(spec, CUDA_SPEC, strlen(CUDA_SPEC)))
            see_one(spec, sizeof spec);
        w->drove = true;
        st = dev_open(spec, &env, &w->dev, ds);
        if (st != ST_OK && strcmp(spec, asked))
            diag_hint(diags_last(ds), "only %s was requested; `gpulocw devices` lists the devices",
                      asked);
    }
    reply_begin(w, out, st, ds);
    if (st == ST_OK)
        wire_put_info(out, dev_describe(w->dev));
}

/* Room for handle `id`; a restarted worker is given the handles of the one before it. */
static bool room_for(void ***v, size_t *n, size_t *cap, uint32_t id)
{
    while (*n <= id && id < MAX_HANDLES) {
        if (!base_grow((void **)v, *n, cap, sizeof **v))
            return false;
        (*v)[(*n)++] = NULL;
    }
    return id < *n;
}

static uint32_t get_id(struct wire_in *in, const char *of)
{
    uint64_t id = wire_get_uint(in, of);
    return id < UINT32_MAX ? (uint32_t)id : UINT32_MAX;
}

static enum status load_code(struct worker *w, struct wire_in *in, struct dev_code **c, struct diags *ds)
{
    uint32_t id = get_id(in, "code");
    int maxnreg = (int)wire_get_uint(in, "maxnreg");
    char *path = wire_get_text(in, "path");
    struct str kernel = wire_get_bytes(in, "kernel"), text = wire_get_bytes(in, "text");
    struct text_marks marks;
    wire_get_marks(in, &marks);
    struct dev_source s = {
        .path = path, .text = text, .kernel = kernel, .maxnreg = maxnreg, .marks = &marks
    };
    wire_get_members(in, wire_compiled, &s.compiled);
    enum status st = w->dev ? wire_judge(in, ds) : ST_INPUT;
    *c = NULL;
    if (st == ST_OK && !room_for((void ***)&w->codes, &w->ncodes, &w->codes_cap, id))
        st = ST_NOMEM;
    if (st == ST_OK)
        st = dev_load_source(w->dev, &s, c, ds);
    if (st == ST_OK) {
        dev_unload(w->dev, w->codes[id]);
        w->codes[id] = *c;
    }
    base_free(path);
    text_marks_free(&marks);
    return st;
}

static void serve_load(struct worker *w, struct wire_in *in, struct buf *out, struct diags *ds)
{
    struct dev_code *c;
    enum status st = load_code(w, in, &c, ds);
    reply_begin(w, out, st, ds);
    if (st != ST_OK)
        return;
    struct dev_resources r = dev_code_resources(c);
    wire_put_members(out, wire_resources, &r);
}

static struct dev_code *code_at(struct worker *w, uint32_t id)
{
    return id < w->ncodes ? w->codes[id] : NULL;
}

static struct held_data *data_at(struct worker *w, uint32_t id)
{
    return id < w->ndatas ? w->datas[id] : NULL;
}

static void serve_unload(struct worker *w, struct wire_in *in)
{
    uint32_t id = get_id(in, "code");
    if (code_at(w, id)) {
        dev_unload(w->dev, w->codes[id]);
        w->codes[id] = NULL;
    }
}

static void held_free(struct worker *w, struct held_data *h)
{
    if (!h)
        return;
    if (h->bound)
        dev_unbind(w->dev, h->bound);
    if (h->data.spec)
        launch_data_free(&h->data);
    launch_spec_free(&h->spec);
    base_free(h);
}

/* More than the machine has is nonsense, however readily the system would promise it. */
static bool memory_for(uint64_t n)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    return pages <= 0 || bytes <= 0 || n / (uint64_t)bytes <= (uint64_t)pages;
}

static bool get_source(struct wire_in *in, enum launch_source *source)
{
    struct str name = wire_get_bytes(in, "source");
    for (int k = 0; launch_source_names[k]; k++)
        if (str_is(name, launch_source_names[k])) {
            *source = (enum launch_source)k;
            return true;
        }
    return false;
}

/* args: what they are of; NULL: symbols. */
static struct launch_buffer *get_sizes(struct wire_in *list, const struct arg_spec *args, size_t n)
{
    struct launch_buffer *v = base_alloc((n + 1) * sizeof *v);
    struct wire_in item;
    size_t i = 0;
    for (; v && i < n && wire_next(list, &item); i++) {
        uint64_t size = wire_get_uint(&item, "size");
        enum launch_source source = LAUNCH_BYTES;
        bool fine = get_source(&item, &source) && memory_for(size) && (source != LAUNCH_RULE || args);
        if (!fine || item.bad ||
            (size && !launch_buffer_make(&v[i], size, source, args ? &args[i] : NULL)))
            wire_fail(&item);
    }
    if (v && i < n)
        wire_fail(list);
    return v;
}

static bool get_all_sizes(struct wire_in *in, struct launch_data *d)
{
    const struct launch_spec *l = d->spec;
    struct wire_in buffers = wire_get_record(in, "buffer_sizes"),
                   symbols = wire_get_record(in, "symbol_sizes"),
                   before = wire_get_record(in, "before_sizes"), item;
    d->buffers = get_sizes(&buffers, l->args, l->nargs);
    d->symbols = get_sizes(&symbols, NULL, l->nsymbols);
    d->before = base_alloc((l->nbefore + 1) * sizeof *d->before);
    size_t k = 0;
    for (; d->before && k < l->nbefore && wire_next(&before, &item); k++)
        d->before[k] = get_sizes(&item, l->before[k].args, l->before[k].nargs);
    if (k < l->nbefore)
        wire_fail(&before);
    return !in->bad && d->buffers && d->symbols && d->before;
}

/* Makes room for the launch data; DATA frames fill it. */
static enum status hold_data(struct worker *w, struct wire_in *in, struct diags *ds)
{
    uint32_t id = get_id(in, "data");
    struct held_data *h = base_alloc(sizeof *h);
    if (!h)
        return ST_NOMEM;
    wire_get_launch(in, &h->spec);
    bool ok = !in->bad && w->dev && room_for((void ***)&w->datas, &w->ndatas, &w->datas_cap, id);
    if (ok) {
        h->data.spec = &h->spec;
        ok = get_all_sizes(in, &h->data);
    }
    if (!ok) {
        held_free(w, h);
        return in->bad ? wire_judge(in, ds) : ST_NOMEM;
    }
    held_free(w, w->datas[id]);
    w->datas[id] = h;
    return ST_OK;
}

static struct launch_buffer *slot(struct held_data *h, struct str of, uint64_t k, uint64_t i)
{
    const struct launch_spec *l = &h->spec;
    if (str_is(of, "buffers") && i < l->nargs)
        return &h->data.buffers[i];
    if (str_is(of, "symbols") && i < l->nsymbols)
        return &h->data.symbols[i];
    if (str_is(of, "before") && k < l->nbefore && i < l->before[k].nargs)
        return &h->data.before[k][i];
    return NULL;
}

/* No reply: errors show when the data is bound. */
static void serve_data(struct worker *w, struct wire_in *in)
{
    struct held_data *h = data_at(w, get_id(in, "data"));
    struct str of = wire_get_bytes(in, "of");
    uint64_t k = wire_get_uint(in, "launch"), i = wire_get_uint(in, "buffer");
    uint64_t at = wire_get_uint(in, "at");
    struct str bytes = wire_get_bytes(in, "bytes");
    struct launch_buffer *b = h && !in->bad ? slot(h, of, k, i) : NULL;
    if (b && at <= b->n && bytes.n <= b->n - at)
        memcpy(b->bytes + at, bytes.s, bytes.n);
}

static void serve_bound(struct worker *w, struct wire_in *in, struct buf *out, struct diags *ds)
{
    struct held_data *h = data_at(w, get_id(in, "data"));
    enum status st = h && !h->bound ? dev_bind(w->dev, &h->data, &h->bound, ds) : ST_INPUT;
    reply_begin(w, out, st, ds);
}

static void serve_unbind(struct worker *w, struct wire_in *in)
{
    uint32_t id = get_id(in, "data");
    if (data_at(w, id)) {
        held_free(w, w->datas[id]);
        w->datas[id] = NULL;
    }
}

static void begin_launch(struct worker *w, uint64_t number)
{
    pthread_mutex_lock(&w->lock);
    w->launch = number;
    atomic_store(&w->cancel.asked, w->closed || w->cancelled == number);
    pthread_mutex_unlock(&w->lock);
}

static void serve_launch(struct worker *w, struct wire_in *in, struct buf *out, struct diags *ds)
{
    begin_launch(w, w->number);
    struct dev_code *c = code_at(w, get_id(in, "code"));
    struct held_data *h = data_at(w, get_id(in, "data"));
    struct dev_run r;
    wire_get_run(in, &r);
    r.cancel = &w->cancel;
    r.progress = on_progress;
    r.ctx = w;
    result_clear(w->result);
    enum status st = wire_judge(in, ds);
    if (st == ST_OK)
        st = c && h && h->bound ? ST_OK : ST_INPUT;
    if (st == ST_OK)
        st = dev_launch(w->dev, c, h->bound, &r, w->result, ds);
    reply_begin(w, out, st, ds);
    wire_put_result(out, w->result);
    wire_run_free(&r);
}

static void serve_read(struct worker *w, enum wire_type type, struct wire_in *in, struct buf *out,
                       struct diags *ds)
{
    bool of_data = type == WIRE_READ_ARG;
    uint32_t id = get_id(in, of_data ? "data" : "code");
    uint64_t arg = of_data ? wire_get_uint(in, "arg") : 0;
    char *symbol = of_data ? NULL : wire_get_text(in, "symbol");
    uint64_t at = wire_get_uint(in, "at"), n = wire_get_uint(in, "size");
    struct held_data *h = data_at(w, id);
    bool known = of_data ? h && h->bound : code_at(w, id) && symbol;
    enum status st = known ? wire_judge(in, ds) : ST_INPUT;
    char *bytes = st == ST_OK && memory_for(n) ? base_alloc(n ? n : 1) : NULL;
    if (st == ST_OK && !bytes)
        st = ST_NOMEM;
    if (st == ST_OK)
        st = of_data ? dev_read_part(w->dev, h->bound, arg, at, bytes, n, ds)
                     : dev_read_symbol(w->dev, code_at(w, id), symbol, bytes, n, ds);
    if (st == ST_OK)
        send_bytes(w, bytes, n);
    reply_begin(w, out, st, ds);
    BASE_FREE(bytes, symbol);
}

static void serve_counters(struct worker *w, struct buf *out, struct diags *ds)
{
    struct dev_counters c;
    enum status st = w->dev ? dev_counters(w->dev, &c, ds) : ST_INPUT;
    reply_begin(w, out, st, ds);
    if (st == ST_OK)
        wire_put_counters(out, &c);
}

static void serve_bind(struct worker *w, struct wire_in *in, struct buf *out, struct diags *ds)
{
    enum status st = hold_data(w, in, ds);
    reply_begin(w, out, st, ds);
}

/* False: the request has no reply. */
static bool serve(struct worker *w, enum wire_type type, struct wire_in *in, struct buf *out,
                  struct diags *ds)
{
    switch (type) {
    case WIRE_LIST: serve_list(w, out, ds); return true;
    case WIRE_OPEN: serve_open(w, in, out, ds); return true;
    case WIRE_LOAD: serve_load(w, in, out, ds); return true;
    case WIRE_UNLOAD: serve_unload(w, in); return false;
    case WIRE_BIND: serve_bind(w, in, out, ds); return true;
    case WIRE_DATA: serve_data(w, in); return false;
    case WIRE_BOUND: serve_bound(w, in, out, ds); return true;
    case WIRE_UNBIND: serve_unbind(w, in); return false;
    case WIRE_LAUNCH: serve_launch(w, in, out, ds); return true;
    case WIRE_READ_ARG:
    case WIRE_READ_SYMBOL: serve_read(w, type, in, out, ds); return true;
    case WIRE_COUNTERS: serve_counters(w, out, ds); return true;
    default: reply_begin(w, out, ST_USAGE, ds); return true;
    }
}

static void serve_all(struct worker *w)
{
    struct buf payload = { 0 }, out = { 0 };
    struct wire_frame f;
    bool ok = wire_greet(w->out);
    while (ok && next_request(w, &f, &payload)) {
        struct wire_in in = { .p = (const uint8_t *)payload.s, .n = payload.n };
        struct diags ds = { 0 };
        buf_clear(&out);
        begin_request(w, f.number);
        if (serve(w, f.type, &in, &out, &ds))
            ok = send_frame(w, WIRE_REPLY, &out);
        else
            begin_request(w, 0);
        diags_free(&ds);
    }
    buf_free(&payload);
    buf_free(&out);
}

static void release(struct worker *w)
{
    for (size_t i = 0; i < w->ndatas; i++)
        held_free(w, w->datas[i]);
    for (size_t i = 0; i < w->ncodes; i++)
        if (w->codes[i])
            dev_unload(w->dev, w->codes[i]);
    BASE_FREE(w->datas, w->codes);
    dev_close(w->dev);
    buf_free(&w->request);
}

static void init_worker(struct worker *w)
{
    pthread_condattr_t steady;
    pthread_mutex_init(&w->lock, NULL);
    pthread_mutex_init(&w->out_lock, NULL);
    pthread_condattr_init(&steady);
    /* signs of life are not to wait for a clock that was set back */
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &steady);
    pthread_condattr_destroy(&steady);
}

enum status dev_worker_serve(const struct dev_env *env, int in_fd, int out_fd)
{
    struct worker w = { .env = env, .in = in_fd, .out = out_fd, .result = result_new() };
    pthread_t thread, life;
    init_worker(&w);
    bool reads = w.result && pthread_create(&thread, NULL, reader, &w) == 0;
    bool lives = reads && pthread_create(&life, NULL, show_life, &w) == 0;
    if (lives)
        serve_all(&w);
    pthread_mutex_lock(&w.lock);
    w.busy = false;
    atomic_store(&w.stop.asked, true);
    pthread_cond_broadcast(&w.wake);
    pthread_mutex_unlock(&w.lock);
    if (reads)
        pthread_join(thread, NULL);
    if (lives)
        pthread_join(life, NULL);
    release(&w);
    base_free(w.result);
    pthread_cond_destroy(&w.wake);
    pthread_mutex_destroy(&w.out_lock);
    pthread_mutex_destroy(&w.lock);
    return lives ? ST_OK : ST_NOMEM;
}
