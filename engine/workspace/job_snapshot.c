/* What the engine thread publishes for the terminal thread, and its messages.
 *
 * What a snapshot shows is held by reference counts (struct shared_ref), so publishing copies
 * pointers, not contents. */
#include "engine/session/session.h"
#include "engine/workspace/job_int.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void snap_free(struct snap *s)
{
    for (size_t i = 0; i < s->nheld; i++)
        shared_ref_unref(s->held[i]);
    BASE_FREE(s->held, (void *)(uintptr_t)s->pub.runs, (void *)(uintptr_t)s->pub.messages,
              (void *)(uintptr_t)s->pub.advice, s->text, s);
}

void job_snapshot_release(const struct job_snapshot *p)
{
    struct snap *s = (struct snap *)(uintptr_t)p; /* pub is the first member */
    if (s && atomic_fetch_sub(&s->refs, 1) == 1)
        snap_free(s);
}

static void *hold(struct snap *s, struct shared_ref *b)
{
    if (!b)
        return NULL;
    s->held[s->nheld++] = shared_ref_ref(b);
    return b->p;
}

/* Texts of a snapshot are copied into one block of its own. */
static const char *keep_text(struct buf *b, const char *text, size_t *at)
{
    *at = b->n;
    if (text)
        buf_put(b, text, strlen(text) + 1);
    return text;
}

static void snap_texts(struct job_engine *e, struct snap *s)
{
    struct job_state *st = &e->state;
    struct buf b = { 0 };
    size_t kernel, refusal, what, path, trying;
    bool k = keep_text(&b, st->kernel, &kernel), r = keep_text(&b, st->refusal, &refusal),
         w = keep_text(&b, st->what, &what);
    bool p = keep_text(&b, st->session ? session_path(st->session) : NULL, &path),
         t = keep_text(&b, st->trying, &trying);
    s->text = buf_take(&b);
    if (!s->text)
        return;
    s->pub.kernel = k ? s->text + kernel : NULL;
    s->pub.refusal = r ? s->text + refusal : NULL;
    s->pub.what = w ? s->text + what : NULL;
    s->pub.session_path = p ? s->text + path : NULL;
    s->pub.trying = t ? s->text + trying : NULL;
}

static void snap_lists(struct job_state *st, struct snap *s)
{
    const struct session_run **runs = base_alloc((st->nruns + 1) * sizeof *runs);
    struct job_message *messages = base_alloc((st->nmessages + 1) * sizeof *messages);
    struct tune_advice *advice = base_alloc((st->nadvice + 1) * sizeof *advice);
    for (size_t i = 0; runs && i < st->nruns; i++)
        runs[s->pub.nruns++] = hold(s, st->runs[i]);
    s->pub.first_run = st->first_run;
    for (size_t i = 0; messages && i < st->nmessages; i++)
        messages[s->pub.nmessages++] = *(struct job_message *)hold(s, st->messages[i]);
    if (advice && st->nadvice)
        memcpy(advice, st->advice, st->nadvice * sizeof *advice);
    s->pub.runs = runs;
    s->pub.messages = messages;
    s->pub.advice = advice;
    s->pub.nadvice = advice ? st->nadvice : 0;
}

static struct snap *snap_make(struct job_engine *e)
{
    struct job_state *st = &e->state;
    struct snap *s = base_alloc(sizeof *s);
    if (!s)
        return NULL;
    atomic_init(&s->refs, 1);
    s->held = base_alloc((st->nruns + st->nmessages + 12) * sizeof *s->held);
    if (!s->held) {
        base_free(s);
        return NULL;
    }
    struct job_snapshot *p = &s->pub;
    p->module = hold(s, st->module);
    p->launches = hold(s, st->launches);
    p->launch = st->launch;
    p->launch_edited = st->spec && st->edited;
    p->guessed_n = st->spec ? st->guessed_n : 0;
    p->spec = hold(s, st->spec);
    p->facts = hold(s, st->facts);
    p->preview = hold(s, st->preview);
    p->search = hold(s, st->search);
    const struct job_predicted *cost = hold(s, st->cost), *original = hold(s, st->cost_original);
    p->cost = cost ? &cost->cost : NULL;
    p->cost_of = cost ? &cost->of : NULL;
    p->cost_original = original ? &original->cost : NULL;
    p->dev = st->info;
    p->has_dev = st->dev != NULL;
    s->options = st->options;
    p->options = &s->options;
    p->self = e->env.self;
    p->busy = st->busy;
    p->doing = (uint8_t)st->doing;
    p->worked = st->worked;
    p->unsettled = st->wants_facts || st->wants_cost;
    p->done = st->done;
    p->started_ns = st->started_ns;
    p->rate = st->rate;
    p->session_unsaved = st->unsaved;
    snap_texts(e, s);
    snap_lists(st, s);
    return s;
}

void job_publish(struct job_engine *e)
{
    struct snap *s = snap_make(e), *old;
    uint64_t one = 1;
    e->stale = !s;
    if (!s)
        return; /* out of memory: the last snapshot stays for a while */
    pthread_mutex_lock(&e->lock);
    s->pub.version = ++e->version;
    old = e->current;
    e->current = s;
    pthread_mutex_unlock(&e->lock);
    if (old)
        job_snapshot_release(&old->pub);
    e->state.published_ns = base_now_ns();
    if (write(e->wake, &one, sizeof one) < 0 && errno != EAGAIN)
        return;
}

const struct job_snapshot *job_snapshot_get(struct job_engine *e)
{
    uint64_t n;
    if (read(e->wake, &n, sizeof n) < 0 && errno != EAGAIN)
        n = 0;
    pthread_mutex_lock(&e->lock);
    struct snap *s = e->current;
    atomic_fetch_add(&s->refs, 1);
    pthread_mutex_unlock(&e->lock);
    return &s->pub;
}

int job_wake_fd(struct job_engine *e)
{
    return e->wake;
}

static void message_free(void *p)
{
    struct job_message *m = p;
    BASE_FREE(m->text, m->file, m);
}

bool job_say(struct job_engine *e, enum diag_level level, const char *file, struct span at,
             const char *text)
{
    struct job_state *st = &e->state;
    struct job_message *m = base_alloc(sizeof *m);
    if (!m)
        return false;
    *m = (struct job_message){ level, base_now_ns(), base_strdup(text), at, base_strdup(file) };
    struct shared_ref *b = shared_ref_new(m, message_free);
    if (!b)
        return false;
    if (st->nmessages == JOB_MAX_MESSAGES) { /* the oldest goes */
        shared_ref_unref(st->messages[0]);
        memmove(st->messages, st->messages + 1, (JOB_MAX_MESSAGES - 1) * sizeof *st->messages);
        st->nmessages--;
    }
    st->messages[st->nmessages++] = b;
    return true;
}

void job_say_all(struct job_engine *e, struct diags *ds)
{
    for (size_t i = 0; i < ds->n; i++) {
        struct buf b = { 0 };
        buf_puts(&b, ds->v[i].msg ? ds->v[i].msg : "out of memory");
        if (ds->v[i].hint)
            buf_printf(&b, " (%s)", ds->v[i].hint);
        job_say(e, ds->v[i].level, ds->v[i].file, ds->v[i].at, b.s ? b.s : "out of memory");
        buf_free(&b);
    }
    diags_free(ds);
}
