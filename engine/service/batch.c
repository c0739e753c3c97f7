/* Many requests, one a line, over all CPUs: results in the order of the requests, each in the output as
 * soon as all before it are. */
#include "engine/service/batch_int.h"
#include "engine/session/document.h"

#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS    50
#define END_TRIES  300          /* times 10 ms, for commands that were told to end */
#define MOST_AHEAD 4096         /* requests behind the first without a written result */
#define MOST_HELD  (256u << 20) /* bytes of results that wait for their turn */
#define ATTEMPTS   5            /* of a request whose worker was lost each time */

static struct jw head(const struct batch_line *l, int code, double cpu_s, struct buf *out)
{
    struct jw w = document_open(out, "gpulocw-batch", 0);
    jw_put_uint(&w, "line", l->number);
    jw_put_hex(&w, "request", l->hash);
    jw_key(&w, "id");
    jw_tree(&w, json_get(l->json, "id"));
    jw_put_str(&w, "tool", json_text(l->json, "tool"));
    jw_put_int(&w, "exit", code);
    jw_put_uint(&w, "attempts", l->attempts);
    jw_put_num(&w, "cpu_s", cpu_s);
    jw_key(&w, "diagnostics");
    return w;
}

/* JSON on one line: a line feed is never part of a string there. */
static void put_flat(struct buf *out, const struct buf *text)
{
    for (size_t at = 0; at < text->n;) {
        const char *end = memchr(text->s + at, '\n', text->n - at);
        size_t n = end ? (size_t)(end - (text->s + at)) : text->n - at;
        buf_put(out, text->s + at, n);
        at += n + (end != NULL);
    }
}

static void put_result(struct batch_line *l, const struct job_end *end)
{
    const struct tool *t = l->request.tool;
    struct buf flat = { 0 };
    struct jw w = head(l, end->code, end->cpu_s, &l->result);
    summary_diagnostics(&l->job, NULL, &w);
    if (l->job.text.n && t->document == TOOL_JSON) {
        put_flat(&flat, &l->job.text);
        jw_key(&w, "result");
        jw_raw(&w, (struct str){ flat.s, flat.n });
    } else if (l->job.text.n) {
        jw_put_view(&w, "text", (struct str){ l->job.text.s, l->job.text.n });
    }
    document_close(&w);
    buf_free_checked(&flat, &l->result);
    l->state = BATCH_DONE;
}

/* A line that is no request has a result all the same. */
static void put_refusal(struct batch_line *l, enum status st, struct diags *ds)
{
    struct jw w = head(l, status_exit_code(st), 0, &l->result);
    diags_json(ds, &w);
    document_close(&w);
    l->state = BATCH_DONE;
}

static enum status make(struct batch_line *l, struct diags *ds)
{
    const char *name = json_text(l->json, "tool");
    const struct tool *t = tool_find(name);
    if (!l->json)
        return ST_INPUT;
    if (!cJSON_IsObject(l->json) || !name) {
        diag_error(ds, "request",
                   "a request has the form {\"id\": ID, \"tool\": NAME, \"arguments\": {...}}");
        return ST_INPUT;
    }
    if (!t) {
        diag_error(ds, "request", "no tool '%.100s'", name);
        return ST_INPUT;
    }
    return request_make(t, json_get(l->json, "arguments"), NULL, NULL, &l->request, ds);
}

static enum status run_in(struct batch *b, struct batch_line *l, size_t k, struct diags *ds)
{
    const struct service_batch_opts *o = b->o;
    enum status st = job_start(&l->job, o->self, &l->request,
                               o->nworkers ? o->worker[k % o->nworkers] : NULL, b->jobs > 1 ? 1 : 0, ds);
    if (st != ST_OK)
        return st;
    l->attempts++;
    l->state = BATCH_RUNS;
    l->slot = k;
    return ST_OK;
}

/* Slot k runs the line, or the line is refused at once. */
static void start(struct batch *b, struct batch_line *l, size_t k)
{
    const struct service_batch_opts *o = b->o;
    struct diags ds = { 0 };
    l->json = json_parse(o->file, l->text.s, l->text.n, &ds);
    for (size_t i = 0; i < ds.n; i++)
        ds.v[i].at.line = (uint32_t)l->number;
    enum status st = make(l, &ds);
    if (st == ST_OK)
        st = run_in(b, l, k, &ds);
    if (st != ST_OK) {
        put_refusal(l, st, &ds);
        b->counts->failed++;
        b->bad += st == ST_INPUT || st == ST_USAGE;
    }
    diags_free(&ds);
}

/* Did the command end because its worker was lost: a node that failed, a job that was preempted? A sweep
 * whose worker was lost on the way says that points are missing. */
static bool worker_lost(const struct job_end *end, const struct service_job *j)
{
    if (end->code != status_exit_code(ST_DEVICE) || !j->last.n)
        return false;
    cJSON *o = json_parse("progress", j->last.s, j->last.n, NULL);
    const cJSON *d;
    bool lost = false;
    cJSON_ArrayForEach(d, json_get(o, "diagnostics"))
    {
        const char *code = json_text(d, "code");
        lost = lost || (code && (!strcmp(code, "worker") || !strcmp(code, "missing")));
    }
    cJSON_Delete(o);
    return lost;
}

/* The same request once more, in the same slot. */
static bool again(struct batch *b, struct batch_line *l)
{
    struct diags ds = { 0 };
    job_free(&l->job);
    enum status st = run_in(b, l, l->slot, &ds);
    diags_free(&ds);
    return st == ST_OK;
}

static void finish(struct batch *b, struct batch_line *l, const struct job_end *end)
{
    b->counts->busy_s += end->cpu_s;
    if (end->cancelled) {
        l->state = BATCH_CUT;
        return;
    }
    if (b->o->nworkers && l->attempts < ATTEMPTS && worker_lost(end, &l->job) && again(b, l))
        return;
    b->counts->failed += end->code != 0;
    put_result(l, end);
    job_free(&l->job);
    request_free(&l->request);
    batch_spool(b, l);
}

static void look(struct batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        struct batch_line *l = &b->line[i];
        struct job_end end;
        if (l->state == BATCH_RUNS && job_poll(&l->job, &end)) {
            finish(b, l, &end);
            b->slot[l->slot] = l->state == BATCH_RUNS;
        }
    }
}

static size_t free_slot(const struct batch *b)
{
    for (size_t k = 0; k < b->jobs; k++)
        if (!b->slot[k])
            return k;
    return SIZE_MAX;
}

/* One long request does not hold the others up: as many run ahead of it as their results have room. */
static bool room(const struct batch *b)
{
    size_t held = 0;
    for (size_t i = 0; i < b->n; i++)
        held += b->line[i].result.n;
    return b->n < MOST_AHEAD && held < MOST_HELD;
}

static void start_more(struct batch *b)
{
    for (size_t k; b->more && room(b) && (k = free_slot(b)) != SIZE_MAX;) {
        struct batch_line *l = batch_next(b);
        if (!l)
            return;
        if (l->state == BATCH_WAITS)
            start(b, l, k);
        b->slot[k] = l->state == BATCH_RUNS;
        if (l->state == BATCH_DONE)
            batch_spool(b, l);
    }
}

static void wait_for(const struct batch *b)
{
    struct pollfd p[2 * BATCH_MOST_JOBS];
    nfds_t n = 0;
    for (size_t i = 0; i < b->n && n + 2 <= ARRAY_LEN(p); i++)
        if (b->line[i].state == BATCH_RUNS) {
            p[n++] = (struct pollfd){ .fd = b->line[i].job.out, .events = POLLIN };
            p[n++] = (struct pollfd){ .fd = b->line[i].job.steps, .events = POLLIN };
        }
    bool closed = false; /* some process has closed its pipe and has not been waited for yet */
    for (nfds_t i = 0; i < n; i += 2)
        closed = closed || p[i].fd < 0;
    if (n)
        poll(p, n, closed ? 1 : WAIT_MS);
}

static bool runs(const struct batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->line[i].state == BATCH_RUNS)
            return true;
    return false;
}

static void stop_all(struct batch *b)
{
    const struct timespec nap = { 0, 10000000 };
    for (size_t i = 0; i < b->n; i++)
        if (b->line[i].state == BATCH_RUNS)
            job_stop(&b->line[i].job);
    for (int tries = 0; runs(b) && tries < END_TRIES; tries++) {
        nanosleep(&nap, NULL);
        look(b);
    }
}

static enum status run_all(struct batch *b)
{
    while ((b->more || b->n) && !b->failed && !cancel_asked(b->o->cancel)) {
        start_more(b);
        wait_for(b);
        look(b);
        batch_flush(b);
        if (b->o->progress && b->size)
            b->o->progress(b->o->ctx, (double)b->read / (double)b->size, "requests", "");
    }
    if (cancel_asked(b->o->cancel) || b->failed)
        stop_all(b);
    batch_flush(b);
    return b->failed ? ST_IO : cancel_asked(b->o->cancel) ? ST_CANCELLED : ST_OK;
}

/* One more than CPUs where nothing was said: while a process starts or ends, another has work. */
static size_t jobs_of(const struct service_batch_opts *o)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    size_t jobs = o->jobs ? o->jobs : o->nworkers ? o->nworkers : cpus > 0 ? (size_t)cpus + 1 : 1;
    return jobs < BATCH_MOST_JOBS ? jobs : BATCH_MOST_JOBS;
}

enum status service_batch(const struct service_batch_opts *o, struct service_batch_counts *counts,
                          struct diags *ds)
{
    struct batch *b = base_alloc(sizeof *b);
    int64_t began = base_now_ns();
    *counts = (struct service_batch_counts){ 0 };
    if (!b)
        return ST_NOMEM;
    b->o = o;
    b->counts = counts;
    b->ds = ds;
    b->jobs = jobs_of(o);
    b->in = b->out = b->part = -1;
    enum status st = batch_open(b);
    if (st == ST_OK)
        st = run_all(b);
    if (st == ST_OK && b->bad) {
        diag_add(ds, DIAG_ERROR, "request", o->file, NO_SPAN,
                 "%llu lines are not requests; their results give the reason, all others were run",
                 (unsigned long long)b->bad);
        st = ST_INPUT;
    }
    enum status files = batch_close(b, (st == ST_OK || st == ST_INPUT) && !b->unread);
    st = st == ST_OK || st == ST_INPUT ? (files != ST_OK ? files : st) : st;
    base_free(b);
    counts->wall_s = 1e-9 * (double)(base_now_ns() - began);
    return st;
}
