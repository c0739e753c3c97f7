/* A device in a worker process. What the worker was told is remembered here, so
 * that a worker that died is replaced without anyone noticing but the launch that
 * killed it: code and data carry the number (epoch) of the worker that has them
 * and are sent again when it is not the present one. */
#include "engine/dev/worker/proxy.h"

#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/dev/dev_int.h"
#include "engine/dev/worker/wire.h"
#include "engine/rec/data.h"
#include "engine/rec/device.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"
#include "engine/sim/preset.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define START_S      60.0 /* a launcher may queue or ask for a host key */
#define OPEN_S       60.0
#define LOAD_S       120.0
#define SLACK_S      2.0   /* beyond a launch's own limit: restoring, hashing */
#define CUDA_SLACK_S 10.0  /* and starting the profiler */
#define BYTES_PER_S  100e6 /* the slowest link and copy that is still waited for */
#define CUDA_LIMIT_S 10.0
#define CANCEL_S     0.08 /* a launch that does not stop by itself is ended with its worker */

struct proxy_dev {
    struct dev base;
    char *spec, *command, *self;
    unsigned threads;
    bool has_preset;
    struct sim_preset preset;
    /* of everything but launches, which bring their own; may be NULL */
    const struct cancel *cancel;
    struct child child;
    bool up;
    /* bytes bound at once, at most so far; counters were asked for */
    uint64_t most;
    bool counted;
    uint64_t epoch, serial;
    uint32_t next_code, next_data;
    struct buf out, in; /* one request at a time */
};
struct proxy_code {
    struct dev_code base;
    uint32_t id, maxnreg;
    uint64_t epoch;
    char *path, *text, *kernel;
    size_t ntext;
};
struct proxy_data {
    struct dev_data base;
    uint32_t id;
    uint64_t epoch, ran;
};

/* ---- one request, one reply ---- */
static int64_t deadline(double seconds)
{
    return seconds > 0 ? base_now_ns() + (int64_t)(seconds * 1e9) : INT64_MAX;
}

/* The worker is ended; why[n] says what was seen and what it said last. */
static void drop(struct proxy_dev *p, enum wire_end e, char *why, size_t n)
{
    static const char *const SEEN[] = {
        [WIRE_OK] = "was ended",
        [WIRE_CLOSED] = "died",
        [WIRE_TIMEOUT] = "did not answer in time",
        [WIRE_BAD] = "sent no sense",
        [WIRE_CANCELLED] = "was ended",
    };
    char words[160];
    child_last_words(&p->child, words, sizeof words);
    if (why)
        snprintf(why, n, "the worker %s%s%s", SEEN[e], *words ? ": " : "", words);
    if (e == WIRE_CANCELLED)
        child_drop(&p->child);
    else
        child_end(&p->child);
    p->up = false;
}

static bool send(struct proxy_dev *p, enum wire_type type)
{
    return wire_send(p->child.in, type, &p->out, p->cancel);
}

/* Why sending failed. */
static enum wire_end unsent(const struct proxy_dev *p)
{
    return cancel_asked(p->cancel) ? WIRE_CANCELLED : WIRE_CLOSED;
}

/* The next frame; PROGRESS is handed on. wait_s is for each silence, 0: for ever. */
static enum wire_end receive(struct proxy_dev *p, double wait_s, const struct dev_run *r,
                             const struct cancel *cancel, enum wire_type *type)
{
    for (;;) {
        enum wire_end e = wire_recv(p->child.out, deadline(wait_s), cancel, type, &p->in);
        if (e != WIRE_OK || *type != WIRE_PROGRESS)
            return e;
        struct wire_in in = { (const uint8_t *)p->in.s, p->in.n, false };
        if (r && r->progress)
            r->progress(r->ctx, wire_get_f64(&in));
    }
}

/* Takes the head of a reply: status, diagnostics. */
static enum status reply_head(struct proxy_dev *p, struct wire_in *in, bool *unusable, struct diags *ds)
{
    *in = (struct wire_in){ (const uint8_t *)p->in.s, p->in.n, false };
    uint32_t st = wire_get_u32(in);
    *unusable = wire_get_u32(in);
    wire_get_diags(in, ds);
    return in->bad || st > ST_IO ? ST_DEVICE : (enum status)st;
}

static enum status lost(struct proxy_dev *p, enum wire_end e, struct diags *ds)
{
    char why[256];
    drop(p, e, why, sizeof why);
    if (e == WIRE_CANCELLED)
        return ST_CANCELLED;
    diag_error(ds, "worker", "%s", why);
    return ST_DEVICE;
}

/* Sends p->out as a request and takes the reply's head. A lost worker is ST_DEVICE. */
static enum status ask(struct proxy_dev *p, enum wire_type type, double wait_s, struct wire_in *in,
                       struct diags *ds)
{
    enum wire_type got;
    bool unusable;
    enum wire_end e = send(p, type) ? receive(p, wait_s, NULL, p->cancel, &got) : unsent(p);
    if (e == WIRE_OK && got != WIRE_REPLY)
        e = WIRE_BAD;
    if (e != WIRE_OK)
        return lost(p, e, ds);
    enum status st = reply_head(p, in, &unusable, ds);
    if (unusable)
        drop(p, WIRE_OK, NULL, 0);
    return st;
}

/* ---- starting ---- */
static enum status greet(struct proxy_dev *p, struct diags *ds)
{
    uint32_t version = 0;
    enum wire_end e = wire_greeting(p->child.out, deadline(START_S), p->cancel, &version);
    if (e != WIRE_OK) {
        enum status st = lost(p, e, ds);
        if (p->command && st == ST_DEVICE)
            diag_hint(&ds->v[ds->n - 1],
                      "no greeting came from '%s': it must run `gpulocw worker` there and pass its "
                      "input and output on",
                      p->command);
        return st;
    }
    if (version == WIRE_VERSION)
        return ST_OK;
    diag_error(
        ds, "worker",
        "the worker speaks protocol version %u, this program %u: install the same gpulocw on both sides",
        version, WIRE_VERSION);
    drop(p, WIRE_OK, NULL, 0);
    return ST_DEVICE;
}

static enum status start(struct proxy_dev *p, struct diags *ds)
{
    enum status st = child_start(&p->child, p->command, p->self, ds);
    if (st != ST_OK)
        return st;
    p->epoch++;
    p->up = true;
    return greet(p, ds);
}

static enum status open_device(struct proxy_dev *p, struct diags *ds)
{
    struct wire_in in;
    buf_clear(&p->out);
    wire_text(&p->out, p->spec);
    wire_u32(&p->out, p->threads);
    wire_u32(&p->out, p->has_preset);
    if (p->has_preset)
        wire_put_preset(&p->out, &p->preset);
    enum status st = ask(p, WIRE_OPEN, OPEN_S, &in, ds);
    if (st == ST_OK)
        wire_get_info(&in, &p->base.info);
    if (!strncmp(p->spec, "cuda:", 5)) /* the worker may see one GPU alone, as its first */
        snprintf(p->base.info.spec, sizeof p->base.info.spec, "%s", p->spec);
    return st == ST_OK && in.bad ? ST_DEVICE : st;
}

static enum status ensure_up(struct proxy_dev *p, struct diags *ds)
{
    if (p->up)
        return ST_OK;
    enum status st = cancel_asked(p->cancel) ? ST_CANCELLED : start(p, ds);
    if (st == ST_OK)
        st = open_device(p, ds);
    if (st != ST_OK && p->up)
        drop(p, WIRE_OK, NULL, 0);
    return st;
}

/* ---- code ---- */
static enum status send_code(struct proxy_dev *p, struct proxy_code *c, struct diags *ds)
{
    enum status st = ensure_up(p, ds);
    if (st != ST_OK || c->epoch == p->epoch)
        return st;
    struct wire_in in;
    buf_clear(&p->out);
    wire_u32(&p->out, c->id);
    wire_u32(&p->out, c->maxnreg);
    wire_text(&p->out, c->path);
    wire_blob(&p->out, c->kernel, strlen(c->kernel));
    wire_blob(&p->out, c->text, c->ntext);
    st = ask(p, WIRE_LOAD, LOAD_S, &in, ds);
    if (st != ST_OK)
        return st;
    c->base.res.regs = wire_get_u32(&in);
    c->base.res.shared_static = wire_get_u32(&in);
    c->base.res.local_bytes = wire_get_u32(&in);
    c->base.res.max_threads = wire_get_u32(&in);
    c->base.res.estimated = wire_get_u32(&in);
    c->epoch = p->epoch;
    return ST_OK;
}

static void code_free(struct proxy_code *c)
{
    base_free(c->path);
    base_free(c->text);
    base_free(c->kernel);
    base_free(c);
}

static void tell(struct proxy_dev *p, enum wire_type type, uint32_t id)
{
    buf_clear(&p->out);
    wire_u32(&p->out, id);
    if (!wire_send(p->child.in, type, &p->out, NULL))
        drop(p, WIRE_CLOSED, NULL, 0);
}

static void proxy_unload(struct dev *d, struct dev_code *code)
{
    struct proxy_dev *p = (struct proxy_dev *)d;
    struct proxy_code *c = (struct proxy_code *)code;
    if (p->up && c->epoch == p->epoch)
        tell(p, WIRE_UNLOAD, c->id);
    code_free(c);
}

static char *copy_of(struct str s)
{
    char *p = base_alloc(s.n + 1);
    if (p && s.n)
        memcpy(p, s.s, s.n);
    return p;
}

static enum status proxy_load(struct dev *d, const struct dev_source *s, struct dev_code **out,
                              struct diags *ds)
{
    struct proxy_dev *p = (struct proxy_dev *)d;
    struct proxy_code *c = base_alloc(sizeof *c);
    if (!c)
        return ST_NOMEM;
    c->id = p->next_code++;
    c->maxnreg = (uint32_t)s->maxnreg;
    c->path = base_strdup(s->path);
    c->text = copy_of(s->text);
    c->kernel = copy_of(s->kernel);
    c->ntext = s->text.n;
    enum status st = c->text && c->kernel ? send_code(p, c, ds) : ST_NOMEM;
    if (st == ST_OK)
        *out = &c->base;
    else
        code_free(c);
    return st;
}

/* ---- data ---- */
static enum launch_source source_of(const struct launch_buffer *b)
{
    return b->rule ? LAUNCH_RULE : b->zero ? LAUNCH_ZERO : LAUNCH_BYTES;
}

static void put_sizes(struct buf *b, const struct launch_buffer *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        wire_u64(b, v ? v[i].n : 0);
        wire_u32(b, v ? source_of(&v[i]) : LAUNCH_BYTES);
    }
}

/* Bytes at..at+n of initial data, which need not be there. */
static enum status put_bytes(struct buf *out, const struct launch_buffer *v, uint64_t at, uint64_t n,
                             struct diags *ds)
{
    const uint8_t *whole = launch_buffer_whole(v);
    uint8_t *part = whole ? NULL : base_alloc(n);
    enum status st = whole ? ST_OK : part ? launch_buffer_again(v, at, n, part, 0, ds) : ST_NOMEM;
    if (st == ST_OK)
        wire_blob(out, whole ? whole + at : part, n);
    base_free(part);
    return st;
}

static enum status send_buffers(struct proxy_dev *p, uint32_t id, uint32_t kind, size_t k,
                                const struct launch_buffer *v, size_t n, struct diags *ds)
{
    enum status st = ST_OK;
    for (size_t i = 0; v && i < n; i++)
        for (uint64_t at = 0; st == ST_OK && source_of(&v[i]) == LAUNCH_BYTES && at < v[i].n;
             at += WIRE_CHUNK) {
            uint64_t m = v[i].n - at < WIRE_CHUNK ? v[i].n - at : WIRE_CHUNK;
            buf_clear(&p->out);
            wire_u32(&p->out, id);
            wire_u32(&p->out, kind);
            wire_u32(&p->out, (uint32_t)k);
            wire_u32(&p->out, (uint32_t)i);
            wire_u64(&p->out, at);
            st = put_bytes(&p->out, &v[i], at, m, ds);
            if (st == ST_OK && !send(p, WIRE_DATA))
                st = lost(p, unsent(p), ds);
        }
    return st;
}

static enum status send_all_buffers(struct proxy_dev *p, const struct proxy_data *b, struct diags *ds)
{
    const struct launch_data *d = b->base.data;
    enum status st = send_buffers(p, b->id, 0, 0, d->buffers, d->spec->nargs, ds);
    if (st == ST_OK)
        st = send_buffers(p, b->id, 1, 0, d->symbols, d->spec->nsymbols, ds);
    for (size_t k = 0; st == ST_OK && d->before && k < d->spec->nbefore; k++)
        st = send_buffers(p, b->id, 2, k, d->before[k], d->spec->before[k].nargs, ds);
    return st;
}

static enum status send_data(struct proxy_dev *p, struct proxy_data *b, struct diags *ds)
{
    enum status st = ensure_up(p, ds);
    if (st != ST_OK || b->epoch == p->epoch)
        return st;
    const struct launch_data *d = b->base.data;
    struct wire_in in;
    buf_clear(&p->out);
    wire_u32(&p->out, b->id);
    wire_put_launch(&p->out, d->spec);
    put_sizes(&p->out, d->buffers, d->spec->nargs);
    put_sizes(&p->out, d->symbols, d->spec->nsymbols);
    for (size_t k = 0; k < d->spec->nbefore; k++)
        put_sizes(&p->out, d->before ? d->before[k] : NULL, d->spec->before[k].nargs);
    double wait = OPEN_S + (double)d->total_bytes / BYTES_PER_S;
    st = ask(p, WIRE_BIND, wait, &in, ds);
    if (st == ST_OK)
        st = send_all_buffers(p, b, ds);
    if (st != ST_OK)
        return st;
    buf_clear(&p->out);
    wire_u32(&p->out, b->id);
    st = ask(p, WIRE_BOUND, wait, &in, ds);
    if (st == ST_OK)
        b->epoch = p->epoch;
    return st;
}

static void proxy_unbind(struct dev *d, struct dev_data *data)
{
    struct proxy_dev *p = (struct proxy_dev *)d;
    struct proxy_data *b = (struct proxy_data *)data;
    if (p->up && b->epoch == p->epoch)
        tell(p, WIRE_UNBIND, b->id);
    base_free(b);
}

/* What the worker makes for itself, and what a file still has, needs no memory here. */
static void rest_pages(const struct launch_buffer *v, size_t n)
{
    for (size_t i = 0; v && i < n; i++) {
        launch_buffer_hold(&v[i]);
        int file = launch_buffer_take(&v[i]);
        if (file > 0)
            close(file);
        launch_buffer_let_go(&v[i]);
    }
}

static enum status proxy_bind(struct dev *d, const struct launch_data *data, struct dev_data **out,
                              struct diags *ds)
{
    struct proxy_dev *p = (struct proxy_dev *)d;
    struct proxy_data *b = base_alloc(sizeof *b);
    if (!b)
        return ST_NOMEM;
    b->base.data = data;
    b->id = p->next_data++;
    p->most = data->total_bytes > p->most ? data->total_bytes : p->most;
    rest_pages(data->buffers, data->spec->nargs);
    for (size_t k = 0; data->before && k < data->spec->nbefore; k++)
        rest_pages(data->before[k], data->spec->before[k].nargs);
    enum status st = send_data(p, b, ds);
    if (st == ST_OK)
        *out = &b->base;
    else
        base_free(b);
    return st;
}

/* ---- launch ---- */
/* How long a worker may be silent during a launch; 0: for ever. */
static double silence(const struct proxy_dev *p, const struct dev_run *r, const struct dev_data *b)
{
    bool cuda = p->base.info.kind == DEV_CUDA;
    double limit = r->time_limit_s > 0 ? r->time_limit_s : cuda ? CUDA_LIMIT_S : 0;
    if (limit <= 0)
        return 0;
    return limit + (cuda ? CUDA_SLACK_S : SLACK_S) + (double)b->data->total_bytes / BYTES_PER_S;
}

/* After a cancel: the worker is asked, and ended when it does not answer at once. */
static enum wire_end cancel_launch(struct proxy_dev *p, enum wire_type *type)
{
    buf_clear(&p->out);
    wire_u64(&p->out, p->serial);
    if (!wire_send(p->child.in, WIRE_CANCEL, &p->out, NULL))
        return WIRE_CLOSED;
    enum wire_end e = receive(p, CANCEL_S, NULL, NULL, type);
    return e == WIRE_TIMEOUT ? WIRE_CANCELLED : e;
}

static enum status launch_reply(struct proxy_dev *p, struct result *out, struct diags *ds)
{
    struct wire_in in;
    bool unusable;
    enum status st = reply_head(p, &in, &unusable, ds);
    wire_get_result(&in, out);
    if (unusable)
        drop(p, WIRE_OK, NULL, 0);
    return st;
}

static enum status launch_lost(struct proxy_dev *p, enum wire_end e, const struct dev_run *r,
                               struct result *out)
{
    char why[256];
    drop(p, e, why, sizeof why);
    if (e == WIRE_CANCELLED)
        return ST_CANCELLED;
    p->base.died = true;
    if (e == WIRE_TIMEOUT)
        dev_result_fail(out, ST_DEVICE, "time limit of %g s reached: the worker was ended",
                        r->time_limit_s > 0 ? r->time_limit_s : CUDA_LIMIT_S);
    else
        dev_result_fail(out, ST_DEVICE, "%s", why);
    return ST_OK;
}

static enum status proxy_launch(struct dev *d, struct dev_code *code, struct dev_data *data,
                                const struct dev_run *r, struct result *out, struct diags *ds)
{
    struct proxy_dev *p = (struct proxy_dev *)d;
    struct proxy_code *c = (struct proxy_code *)code;
    struct proxy_data *b = (struct proxy_data *)data;
    enum status st = cancel_asked(r->cancel) ? ST_CANCELLED : send_code(p, c, ds);
    if (st == ST_OK)
        st = send_data(p, b, ds);
    if (st != ST_OK)
        return st;
    p->counted |= r->counters;
    buf_clear(&p->out);
    wire_u64(&p->out, ++p->serial);
    wire_u32(&p->out, c->id);
    wire_u32(&p->out, b->id);
    wire_put_run(&p->out, r);
    enum wire_type type = WIRE_REPLY;
    enum wire_end e = wire_send(p->child.in, WIRE_LAUNCH, &p->out, NULL)
                          ? receive(p, silence(p, r, data), r, r->cancel, &type)
                          : WIRE_CLOSED;
    if (e == WIRE_CANCELLED)
        e = cancel_launch(p, &type);
    if (e == WIRE_OK && type != WIRE_REPLY)
        e = WIRE_BAD;
    if (e != WIRE_OK)
        return launch_lost(p, e, r, out);
    st = launch_reply(p, out, ds);
    b->ran = p->up ? p->epoch : 0;
    return st;
}

/* ---- reading back ---- */
static enum status read_reply(struct proxy_dev *p, void *bytes, uint64_t n, struct diags *ds)
{
    uint64_t at = 0;
    double wait = OPEN_S + (double)n / BYTES_PER_S;
    for (;;) {
        enum wire_type type;
        enum wire_end e = receive(p, wait, NULL, p->cancel, &type);
        if (e == WIRE_OK && type == WIRE_BYTES && p->in.n <= n - at) {
            memcpy((char *)bytes + at, p->in.s, p->in.n);
            at += p->in.n;
            continue;
        }
        if (e == WIRE_OK && type != WIRE_REPLY)
            e = WIRE_BAD;
        if (e != WIRE_OK)
            return lost(p, e, ds);
        struct wire_in in;
        bool unusable;
        enum status st = reply_head(p, &in, &unusable, ds);
        return st == ST_OK && at != n ? ST_DEVICE : st;
    }
}

static enum status read_back(struct proxy_dev *p, enum wire_type type, uint32_t id, size_t arg,
                             const char *symbol, uint64_t at, void *bytes, uint64_t n, struct diags *ds)
{
    buf_clear(&p->out);
    wire_u32(&p->out, id);
    wire_u32(&p->out, arg < UINT32_MAX ? (uint32_t)arg : UINT32_MAX);
    wire_text(&p->out, symbol);
    wire_u64(&p->out, at);
    wire_u64(&p->out, n);
    return send(p, type) ? read_reply(p, bytes, n, ds) : lost(p, unsent(p), ds);
}

static enum status gone(struct diags *ds)
{
    diag_error(ds, "worker",
               "the worker that ran the last launch is gone, and what it had computed with it");
    return ST_DEVICE;
}

static enum status proxy_read_arg(struct dev *d, struct dev_data *data, size_t arg, uint64_t at,
                                  void *bytes, uint64_t n, struct diags *ds)
{
    struct proxy_dev *p = (struct proxy_dev *)d;
    struct proxy_data *b = (struct proxy_data *)data;
    if (!p->up || b->ran != p->epoch)
        return gone(ds);
    return read_back(p, WIRE_READ_ARG, b->id, arg, NULL, at, bytes, n, ds);
}

static enum status proxy_read_symbol(struct dev *d, struct dev_code *code, const char *symbol,
                                     void *bytes, uint64_t n, struct diags *ds)
{
    struct proxy_dev *p = (struct proxy_dev *)d;
    struct proxy_code *c = (struct proxy_code *)code;
    if (!p->up || c->epoch != p->epoch)
        return gone(ds);
    return read_back(p, WIRE_READ_SYMBOL, c->id, 0, symbol, 0, bytes, n, ds);
}

static enum status proxy_counters(struct dev *d, struct dev_counters *out, struct diags *ds)
{
    struct proxy_dev *p = (struct proxy_dev *)d;
    struct wire_in in;
    enum status st = ensure_up(p, ds);
    buf_clear(&p->out);
    if (st == ST_OK)
        st = ask(p, WIRE_COUNTERS, OPEN_S, &in, ds);
    if (st != ST_OK)
        return st;
    p->counted = true;
    wire_get_counters(&in, out);
    return in.bad ? ST_DEVICE : ST_OK;
}

/* ---- open and close ---- */
/* Could the next program miss what this worker still holds while it ends? Its memory (each buffer is
 * there two or three times), or the counters, which one process has at a time. */
static bool is_missed(const struct proxy_dev *p)
{
    return p->counted || p->most > p->base.info.mem_bytes / 8;
}

static void proxy_close(struct dev *d)
{
    struct proxy_dev *p = (struct proxy_dev *)d;
    if (is_missed(p))
        child_end(&p->child);
    else
        child_leave(&p->child);
    buf_free(&p->out);
    buf_free(&p->in);
    base_free(p->spec);
    base_free(p->command);
    base_free(p->self);
    base_free(p);
}

static const struct dev_ops PROXY_OPS = {
    .close = proxy_close,
    .load = proxy_load,
    .unload = proxy_unload,
    .bind = proxy_bind,
    .unbind = proxy_unbind,
    .launch = proxy_launch,
    .read_arg = proxy_read_arg,
    .read_symbol = proxy_read_symbol,
    .counters = proxy_counters,
};

enum status dev_proxy_open(const struct proxy_how *how, struct dev **out, struct diags *ds)
{
    struct proxy_dev *p = base_alloc(sizeof *p);
    if (!p)
        return ST_NOMEM;
    p->base.ops = &PROXY_OPS;
    p->child = (struct child){ 0, -1, -1, -1, false, 0 };
    p->spec = base_strdup(how->spec);
    p->command = base_strdup(how->command);
    p->self = base_strdup(how->self);
    p->threads = how->threads;
    p->cancel = how->cancel;
    p->has_preset = how->preset != NULL;
    if (how->preset)
        p->preset = *how->preset;
    enum status st = ensure_up(p, ds);
    if (st == ST_OK)
        *out = &p->base;
    else
        proxy_close(&p->base);
    return st;
}

enum status dev_proxy_list(const char *command, const struct cancel *cancel,
                           void (*fn)(void *ctx, const struct dev_info *i), void *ctx, struct diags *ds)
{
    struct proxy_dev *p = base_alloc(sizeof *p);
    if (!p)
        return ST_NOMEM;
    p->child = (struct child){ 0, -1, -1, -1, false, 0 };
    p->command = base_strdup(command);
    p->cancel = cancel;
    struct wire_in in = { 0 };
    enum status st = start(p, ds);
    if (st == ST_OK)
        st = ask(p, WIRE_LIST, OPEN_S, &in, ds);
    while (st == ST_OK && wire_get_u32(&in) && !in.bad) {
        struct dev_info i;
        wire_get_info(&in, &i);
        if (!in.bad)
            fn(ctx, &i);
    }
    proxy_close(&p->base);
    return st;
}
