/* A device in a worker process. What the worker was told is remembered here, so
 * that a worker that died is replaced without anyone noticing but the launch that
 * killed it: code and data carry the number (epoch) of the worker that has them
 * and are sent again when it is not the present one.
 *
 * How long a worker is waited for. Its greeting: patience.start. Then every frame within `silent`
 * (dev.h) of the last: a worker that works says so twice a second. A reply also within a time that is
 * given with each request. A worker that misses one of these, sends damage or takes in nothing is ended;
 * after PROXY_STRIKES of that in a row it is not started again. */
#include "engine/dev/worker/proxy.h"

#include "engine/base/version.h"
#include "engine/dev/dev_int.h"
#include "engine/dev/worker/wire.h"
#include "engine/ptx/text_marks.h"
#include "engine/rec/launch.h"
#include "engine/rec/record.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OPEN_S           60.0
#define LOAD_S           120.0
#define SLACK_S          2.0   /* beyond a launch's own limit: restoring, hashing */
#define CUDA_SLACK_S     10.0  /* and starting the profiler */
#define BYTES_PER_S      100e6 /* the slowest copy that is still waited for */
#define LINK_BYTES_PER_S 1e6   /* the slowest link that a frame may take to the worker */
#define CUDA_LIMIT_S     10.0
#define CANCEL_S         0.08 /* a launch that does not stop by itself is ended with its worker */
#define PROXY_STRIKES    2

struct proxy_dev {
    struct dev base;
    char *spec, *command, *self;
    unsigned threads;
    bool has_preset;
    struct sim_preset preset;
    /* of everything but launches, which bring their own; may be NULL */
    const struct cancel *cancel;
    double start_s, silent_s;
    struct child child;
    bool up;
    struct wire_stream from;
    /* bytes bound at once, at most so far; counters were asked for */
    uint64_t most;
    bool counted;
    uint64_t epoch, number; /* number: of the request under way, in this worker */
    uint32_t part;          /* the next of BYTES */
    /* times in a row that it was ended for what the way to it did */
    unsigned strikes;
    bool ending;    /* ENDING is in `in` */
    char last[256]; /* why it was ended last */
    uint32_t next_code, next_data;
    struct buf out, in; /* one request at a time */
};
struct proxy_code {
    struct dev_code base;
    uint32_t id, maxnreg;
    uint64_t epoch;
    char *path, *text, *kernel;
    size_t ntext;
    struct text_marks marks;
    struct sim_compiled compiled;
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

static void say_seen(const struct proxy_dev *p, enum wire_end e, char *out, size_t n)
{
    static const char *const SEEN[] = {
        [WIRE_OK] = "was ended",
        [WIRE_CLOSED] = "died",
        [WIRE_SILENT] = "was silent",
        [WIRE_TIMEOUT] = "did not answer in time",
        [WIRE_BAD] = "sent damaged or incomplete frames",
        [WIRE_CANCELLED] = "was ended",
    };
    char words[160];
    child_last_words(&p->child, words, sizeof words);
    int k = snprintf(out, n, "the worker %s", SEEN[e]);
    if (e == WIRE_SILENT)
        k += snprintf(out + k, n - (size_t)k, " for %g s and was ended", p->silent_s);
    if (*words)
        snprintf(out + k, n - (size_t)k, ": %s", words);
}

/* The worker is ended; why[n] says what was seen and what it said last. */
static void drop(struct proxy_dev *p, enum wire_end e, char *why, size_t n)
{
    say_seen(p, e, p->last, sizeof p->last);
    if (p->ending)
        snprintf(p->last, sizeof p->last, "the worker exited: %.*s",
                 (int)(p->in.n < 200 ? p->in.n : 200), p->in.n ? p->in.s : "");
    p->ending = false;
    if (why)
        snprintf(why, n, "%s", p->last);
    p->base.astray = e == WIRE_SILENT || e == WIRE_BAD;
    p->strikes += p->base.astray;
    if (e == WIRE_CANCELLED)
        child_drop(&p->child);
    else
        child_end(&p->child);
    p->up = false;
}

/* The next request: p->out. */
static bool post(struct proxy_dev *p, enum wire_type type, const struct cancel *cancel)
{
    struct wire_frame f = { .type = type, .number = ++p->number };
    p->part = 0;
    buf_clear(&p->in);
    return wire_send(p->child.in, &f, &p->out,
                     deadline(p->silent_s + (double)p->out.n / LINK_BYTES_PER_S), cancel);
}

static bool send(struct proxy_dev *p, enum wire_type type)
{
    return post(p, type, p->cancel);
}

/* Why sending failed: one that is still there did not read. */
static enum wire_end unsent(struct proxy_dev *p, const struct cancel *cancel)
{
    struct wire_frame f = { .type = WIRE_REPLY };
    enum wire_end e = cancel_asked(cancel) ? WIRE_CANCELLED : WIRE_OK;
    for (unsigned i = 0; e == WIRE_OK && i < 64 && !p->ending; i++) {
        e = wire_recv(&p->from, deadline(CANCEL_S), NULL, &f, &p->in);
        p->ending = e == WIRE_OK && f.type == WIRE_ENDING;
    }
    return e == WIRE_CANCELLED                                 ? e
           : e == WIRE_TIMEOUT || (e == WIRE_OK && !p->ending) ? WIRE_SILENT
                                                               : WIRE_CLOSED;
}

/* Is the frame part of the reply to the request under way? What came twice or late is not. */
enum place { FITS, STRAY, GAP };
static enum place place_of(struct proxy_dev *p, const struct wire_frame *f)
{
    if (f->number != p->number)
        return STRAY;
    if (f->type == WIRE_BYTES && f->part < p->part)
        return STRAY;
    if ((f->type == WIRE_BYTES || f->type == WIRE_REPLY) && f->part != p->part)
        return GAP;
    p->part += f->type == WIRE_BYTES;
    return FITS;
}

static void hand_on_progress(const struct proxy_dev *p, const struct dev_run *r)
{
    struct wire_in in = { .p = (const uint8_t *)p->in.s, .n = p->in.n };
    double done = wire_get_num(&in, "done");
    if (r && r->progress && !in.bad)
        r->progress(r->ctx, done);
}

/* The next frame of the reply; PROGRESS is handed on. wait_s: for it, or from one progress to the next;
 * 0: as long as the worker shows that it lives. */
static enum wire_end receive(struct proxy_dev *p, double wait_s, const struct dev_run *r,
                             const struct cancel *cancel, enum wire_type *type)
{
    int64_t heard = deadline(p->silent_s), until = deadline(wait_s);
    for (;;) {
        struct wire_frame f;
        bool by_silence = heard < until;
        enum wire_end e = wire_recv(&p->from, by_silence ? heard : until, cancel, &f, &p->in);
        if (e == WIRE_CLOSED && (p->from.nhead || p->from.nbody))
            return WIRE_BAD; /* it had begun to answer */
        if (e != WIRE_OK)
            return e == WIRE_TIMEOUT && by_silence ? WIRE_SILENT : e;
        enum place where = place_of(p, &f);
        *type = f.type;
        p->ending = f.type == WIRE_ENDING;
        if (p->ending)
            return WIRE_CLOSED;
        if (where == GAP)
            return WIRE_BAD;
        if (where == FITS && f.type != WIRE_ALIVE && f.type != WIRE_PROGRESS)
            return WIRE_OK;
        p->base.dropped += where == STRAY && (f.type == WIRE_REPLY || f.type == WIRE_BYTES);
        if (where == STRAY && base_now_ns() > (by_silence ? heard : until))
            return by_silence ? WIRE_SILENT : WIRE_TIMEOUT;
        if (where == FITS)
            heard = deadline(p->silent_s);
        if (where == FITS && f.type == WIRE_PROGRESS) {
            until = deadline(wait_s);
            hand_on_progress(p, r);
        }
    }
}

/* Takes the head of a reply: status, diagnostics. */
static enum status reply_head(struct proxy_dev *p, struct wire_in *in, bool *unusable, struct diags *ds)
{
    *in = (struct wire_in){ .p = (const uint8_t *)p->in.s, .n = p->in.n };
    uint64_t st = wire_get_uint(in, "status");
    *unusable = wire_get_uint(in, "unusable");
    wire_get_diags(in, ds);
    enum status bad = wire_judge(in, ds);
    return bad != ST_OK ? bad : st > ST_IO ? ST_DEVICE : (enum status)st;
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
    enum wire_end e = send(p, type) ? receive(p, wait_s, NULL, p->cancel, &got) : unsent(p, p->cancel);
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
/* The version to speak is the newest that both do: of those of this program there is one. */
static enum status agree(struct proxy_dev *p, uint32_t version, struct diags *ds)
{
    struct wire_frame f = { .type = WIRE_REPLY };
    struct wire_hello hello = { .program = "of an earlier version",
                                .oldest = version,
                                .newest = version };
    enum wire_end e =
        version < 9 ? WIRE_OK : wire_recv(&p->from, deadline(p->silent_s), p->cancel, &f, &p->in);
    if (e == WIRE_TIMEOUT)
        e = WIRE_SILENT;
    if (version >= 9 && e == WIRE_OK && (f.type != WIRE_HELLO || !wire_get_hello(&p->in, &hello)))
        e = WIRE_BAD;
    /* HELLO may not be what it is here */
    if (version > WIRE_VERSION && e != WIRE_OK && e != WIRE_CANCELLED) {
        snprintf(hello.program, sizeof hello.program, "of a later version");
        e = WIRE_OK;
    }
    if (e != WIRE_OK)
        return lost(p, e, ds);
    if (hello.oldest <= WIRE_VERSION && hello.newest >= WIRE_OLDEST)
        return ST_OK;
    diag_error(ds, "worker",
               "the worker is gpulocw %s and speaks protocol version %u; this is gpulocw %s, version %u",
               hello.program, hello.newest < WIRE_OLDEST ? hello.newest : hello.oldest, GPULOCW_VERSION,
               WIRE_VERSION);
    diag_hint(diags_last(ds), "install the same gpulocw on both sides");
    drop(p, WIRE_OK, NULL, 0);
    return ST_DEVICE;
}

static enum status greet(struct proxy_dev *p, struct diags *ds)
{
    uint32_t version = 0;
    buf_clear(&p->in);
    enum wire_end e = wire_greeting(&p->from, deadline(p->start_s), p->cancel, &version);
    if (e == WIRE_OK)
        return agree(p, version, ds);
    size_t before = ds->n;
    enum status st = lost(p, e, ds);
    p->base.astray = st == ST_DEVICE;
    p->strikes += e == WIRE_TIMEOUT;
    if (p->command && st == ST_DEVICE && ds->n > before)
        diag_hint(diags_last(ds),
                  "no greeting from '%s': it must run `gpulocw worker` and connect its standard input "
                  "and output",
                  p->command);
    return st;
}

static enum status start(struct proxy_dev *p, struct diags *ds)
{
    if (p->strikes >= PROXY_STRIKES) {
        p->base.astray = true;
        diag_error(ds, "worker", "stopped using the worker after %u failures in a row; the last: %s",
                   p->strikes, p->last);
        return ST_DEVICE;
    }
    enum status st = child_start(&p->child, p->command, p->self, ds);
    if (st != ST_OK)
        return st;
    p->from = (struct wire_stream){ .fd = p->child.out };
    p->number = 0;
    p->epoch++;
    p->up = true;
    return greet(p, ds);
}

static enum status open_device(struct proxy_dev *p, struct diags *ds)
{
    struct wire_in in;
    buf_clear(&p->out);
    wire_text(&p->out, "spec", p->spec);
    wire_uint(&p->out, "threads", p->threads);
    if (p->has_preset)
        wire_put_preset(&p->out, &p->preset);
    enum status st = ask(p, WIRE_OPEN, OPEN_S, &in, ds);
    if (st == ST_OK)
        wire_get_info(&in, &p->base.info);
    if (!strncmp(p->spec, "cuda:", 5)) /* the worker may see one GPU alone, as its first */
        snprintf(p->base.info.spec, sizeof p->base.info.spec, "%s", p->spec);
    return st == ST_OK ? wire_judge(&in, ds) : st;
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
    wire_uint(&p->out, "code", c->id);
    wire_uint(&p->out, "maxnreg", c->maxnreg);
    wire_text(&p->out, "path", c->path);
    wire_text(&p->out, "kernel", c->kernel);
    wire_bytes(&p->out, "text", c->text, c->ntext);
    wire_put_marks(&p->out, &c->marks);
    wire_put_members(&p->out, wire_compiled, &c->compiled);
    st = ask(p, WIRE_LOAD, LOAD_S, &in, ds);
    if (st == ST_OK)
        wire_get_members(&in, wire_resources, &c->base.res);
    if (st == ST_OK)
        st = wire_judge(&in, ds);
    if (st == ST_OK)
        c->epoch = p->epoch;
    return st;
}

static void tell(struct proxy_dev *p, enum wire_type type, const char *what, uint32_t id)
{
    buf_clear(&p->out);
    wire_uint(&p->out, what, id);
    if (!send(p, type))
        drop(p, unsent(p, p->cancel), NULL, 0);
}

static void proxy_unload(struct dev *d, struct dev_code *code)
{
    struct proxy_dev *p = (struct proxy_dev *)d;
    struct proxy_code *c = (struct proxy_code *)code;
    if (p->up && c->epoch == p->epoch)
        tell(p, WIRE_UNLOAD, "code", c->id);
    BASE_FREE(c->path, c->text, c->kernel);
    text_marks_free(&c->marks);
}

static char *copy_of(struct str s)
{
    char *p = base_alloc(s.n + 1);
    if (p && s.n)
        memcpy(p, s.s, s.n);
    return p;
}

static enum status proxy_load(struct dev *d, struct dev_code *code, const struct dev_source *s,
                              struct diags *ds)
{
    struct proxy_dev *p = (struct proxy_dev *)d;
    struct proxy_code *c = (struct proxy_code *)code;
    c->id = p->next_code++;
    c->maxnreg = (uint32_t)s->maxnreg;
    c->path = base_strdup(s->path);
    c->text = copy_of(s->text);
    c->kernel = copy_of(s->kernel);
    c->ntext = s->text.n;
    c->compiled = s->compiled;
    bool have = c->text && c->kernel && (!s->marks || text_marks_copy(s->marks, &c->marks));
    return have ? send_code(p, c, ds) : ST_NOMEM;
}

/* ---- data ---- */
static enum status send_buffers(struct proxy_dev *p, uint32_t id, const char *of, size_t k,
                                const struct launch_buffer *v, size_t n, struct diags *ds)
{
    enum status st = ST_OK;
    for (size_t i = 0; v && i < n; i++)
        for (uint64_t at = 0; st == ST_OK && wire_source_of(&v[i]) == LAUNCH_BYTES && at < v[i].n;
             at += WIRE_CHUNK) {
            uint64_t m = v[i].n - at < WIRE_CHUNK ? v[i].n - at : WIRE_CHUNK;
            buf_clear(&p->out);
            wire_uint(&p->out, "data", id);
            wire_text(&p->out, "of", of);
            wire_uint(&p->out, "launch", k);
            wire_uint(&p->out, "buffer", i);
            wire_uint(&p->out, "at", at);
            st = wire_put_bytes(&p->out, &v[i], at, m, ds);
            if (st == ST_OK && !send(p, WIRE_DATA))
                st = lost(p, unsent(p, p->cancel), ds);
        }
    return st;
}

static enum status send_all_buffers(struct proxy_dev *p, const struct proxy_data *b, struct diags *ds)
{
    const struct launch_data *d = b->base.data;
    enum status st = send_buffers(p, b->id, "buffers", 0, d->buffers, d->spec->nargs, ds);
    if (st == ST_OK)
        st = send_buffers(p, b->id, "symbols", 0, d->symbols, d->spec->nsymbols, ds);
    for (size_t k = 0; st == ST_OK && d->before && k < d->spec->nbefore; k++)
        st = send_buffers(p, b->id, "before", k, d->before[k], d->spec->before[k].nargs, ds);
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
    wire_uint(&p->out, "data", b->id);
    wire_put_launch(&p->out, d->spec);
    wire_put_sizes(&p->out, "buffer_sizes", d->buffers, d->spec->nargs);
    wire_put_sizes(&p->out, "symbol_sizes", d->symbols, d->spec->nsymbols);
    size_t before = wire_open(&p->out, "before_sizes");
    for (size_t k = 0; k < d->spec->nbefore; k++)
        wire_put_sizes(&p->out, WIRE_ITEM, d->before ? d->before[k] : NULL, d->spec->before[k].nargs);
    wire_close(&p->out, before);
    double wait = OPEN_S + (double)d->total_bytes / BYTES_PER_S;
    st = ask(p, WIRE_BIND, wait, &in, ds);
    if (st == ST_OK)
        st = send_all_buffers(p, b, ds);
    if (st != ST_OK)
        return st;
    buf_clear(&p->out);
    wire_uint(&p->out, "data", b->id);
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
        tell(p, WIRE_UNBIND, "data", b->id);
}

/* What the worker makes for itself, and what a file still has, needs no memory here. */
static void rest_pages(const struct launch_buffer *v, size_t n)
{
    for (size_t i = 0; v && i < n; i++) {
        launch_buffer_hold(&v[i]);
        int file = launch_buffer_take(&v[i]);
        if (file > 0)
            close(file);
        launch_buffer_drop(&v[i]);
    }
}

static enum status proxy_bind(struct dev *d, struct dev_data *bound, struct diags *ds)
{
    struct proxy_dev *p = (struct proxy_dev *)d;
    struct proxy_data *b = (struct proxy_data *)bound;
    const struct launch_data *data = bound->data;
    b->id = p->next_data++;
    p->most = data->total_bytes > p->most ? data->total_bytes : p->most;
    rest_pages(data->buffers, data->spec->nargs);
    for (size_t k = 0; data->before && k < data->spec->nbefore; k++)
        rest_pages(data->before[k], data->spec->before[k].nargs);
    return send_data(p, b, ds);
}

/* ---- launch ---- */
/* How long a launch may go on without progress; 0: as long as the worker lives. */
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
    const struct wire_frame f = { .type = WIRE_CANCEL, .number = p->number };
    if (!wire_send(p->child.in, &f, NULL, deadline(CANCEL_S), NULL))
        return WIRE_CANCELLED;
    double patient = p->silent_s;
    p->silent_s = CANCEL_S;
    enum wire_end e = receive(p, CANCEL_S, NULL, NULL, type);
    p->silent_s = patient;
    return e == WIRE_TIMEOUT || e == WIRE_SILENT ? WIRE_CANCELLED : e;
}

static enum status launch_reply(struct proxy_dev *p, struct result *out, struct diags *ds)
{
    struct wire_in in;
    bool unusable;
    enum status st = reply_head(p, &in, &unusable, ds);
    if (!in.bad)
        wire_get_result(&in, out);
    if (st == ST_OK)
        st = wire_judge(&in, ds);
    /* that it opens and loads does not show that it works */
    p->strikes = 0;
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
    wire_uint(&p->out, "code", c->id);
    wire_uint(&p->out, "data", b->id);
    wire_put_run(&p->out, r);
    enum wire_type type = WIRE_REPLY;
    bool sent = post(p, WIRE_LAUNCH, r->cancel);
    enum wire_end e = sent ? receive(p, silence(p, r, data), r, r->cancel, &type) : unsent(p, r->cancel);
    if (e == WIRE_CANCELLED && sent)
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
    wire_uint(&p->out, type == WIRE_READ_ARG ? "data" : "code", id);
    if (type == WIRE_READ_ARG)
        wire_uint(&p->out, "arg", arg);
    else
        wire_text(&p->out, "symbol", symbol);
    wire_uint(&p->out, "at", at);
    wire_uint(&p->out, "size", n);
    return send(p, type) ? read_reply(p, bytes, n, ds) : lost(p, unsent(p, p->cancel), ds);
}

static enum status gone(struct diags *ds)
{
    diag_error(ds, "worker", "the worker of the last launch has exited and its results are lost");
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
    return wire_judge(&in, ds);
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
    child_await(&p->child);
    buf_free(&p->out);
    buf_free(&p->in);
    BASE_FREE(p->spec, p->command, p->self, p);
}

static const struct dev_ops PROXY_OPS = {
    .close = proxy_close,
    .code_bytes = sizeof(struct proxy_code),
    .data_bytes = sizeof(struct proxy_data),
    .load = proxy_load,
    .unload = proxy_unload,
    .bind = proxy_bind,
    .unbind = proxy_unbind,
    .launch = proxy_launch,
    .read_arg = proxy_read_arg,
    .read_symbol = proxy_read_symbol,
    .counters = proxy_counters,
};

static void be_patient(struct proxy_dev *p, const struct dev_patience *given)
{
    double silent = given->silent > 0 ? given->silent : DEV_SILENT_S;
    p->start_s = given->start > 0 ? given->start : DEV_START_S;
    p->silent_s = given->limit > 0 && given->limit + SLACK_S < silent ? given->limit + SLACK_S : silent;
}

enum status dev_proxy_open(const struct proxy_how *how, struct dev **out, struct diags *ds)
{
    struct proxy_dev *p = base_alloc(sizeof *p);
    if (!p)
        return ST_NOMEM;
    p->base.ops = &PROXY_OPS;
    p->child = CHILD_NONE;
    p->spec = base_strdup(how->spec);
    p->command = base_strdup(how->command);
    p->self = base_strdup(how->self);
    p->threads = how->threads;
    p->cancel = how->cancel;
    be_patient(p, &how->patience);
    p->has_preset = how->preset != NULL;
    if (how->preset)
        p->preset = *how->preset;
    struct diags own = { 0 };
    enum status st = ensure_up(p, &own);
    /* it had greeted: once more */
    if (st == ST_DEVICE && p->base.astray && p->strikes < PROXY_STRIKES && p->number) {
        diags_free(&own);
        st = ensure_up(p, &own);
    }
    diags_move(ds, &own);
    if (st == ST_OK)
        *out = &p->base;
    else
        proxy_close(&p->base);
    return st;
}

enum status dev_proxy_list(const char *command, const struct dev_env *env,
                           void (*fn)(void *ctx, const struct dev_info *i), void *ctx, struct diags *ds)
{
    struct proxy_dev *p = base_alloc(sizeof *p);
    if (!p)
        return ST_NOMEM;
    p->child = CHILD_NONE;
    p->command = base_strdup(command);
    p->cancel = env->cancel;
    be_patient(p, &env->patience);
    struct wire_in in = { .n = 0 }, list, item;
    enum status st = start(p, ds);
    if (st == ST_OK)
        st = ask(p, WIRE_LIST, OPEN_S, &in, ds);
    list = st == ST_OK ? wire_get_record(&in, "devices") : in;
    while (st == ST_OK && wire_next(&list, &item)) {
        struct dev_info i;
        wire_get_info(&item, &i);
        if (!item.bad)
            fn(ctx, &i);
    }
    if (st == ST_OK)
        st = wire_judge(&in, ds);
    proxy_close(&p->base);
    return st;
}
