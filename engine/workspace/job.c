/* The engine thread and its queue.
 *
 *   terminal thread  --job_post-->  queue  --engine thread-->  state
 *                    <--job_snapshot_get--  snapshot  <--publish--/
 *
 * State is touched by the engine thread alone. What it publishes: job_snapshot.c. */
#include "engine/workspace/job.h"

#include "engine/rec/knobs.h"
#include "engine/rec/launch_read.h"
#include "engine/session/launch_file.h"
#include "engine/workspace/args.h"
#include "engine/workspace/job_int.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void queued_free(struct job_engine *e, struct queued *q)
{
    struct spare *spare = q->spare;
    launch_spec_drop(q->launch);
    q->launch = NULL;
    if (!spare) {
        BASE_FREE(q->text, q);
        return;
    }
    pthread_mutex_lock(&e->lock);
    spare->used = false;
    pthread_mutex_unlock(&e->lock);
}

/* All of it into q, whose text has room for n bytes (0: it is allocated), or (false) nothing. */
static bool copy_into(struct queued *q, const struct job *j, size_t n)
{
    q->kind = j->kind;
    q->number = j->number;
    q->options = j->options ? *j->options : options_default();
    q->launch = NULL;
    bool copied = !j->launch || launch_copied(j->launch, &q->launch) == ST_OK;
    if (!n)
        q->text = base_strdup(j->text);
    else if (!j->text || snprintf(q->text, n, "%s", j->text) >= (int)n)
        q->text = NULL;
    return (!j->text || q->text) && copied;
}

/* NULL: out of memory. */
static struct queued *copy_of(struct job_engine *e, const struct job *j)
{
    struct queued *q = base_alloc(sizeof *q);
    if (!q || copy_into(q, j, 0))
        return q;
    queued_free(e, q);
    return NULL;
}

/* Memory is short: one that is laid by. NULL: none is left, or it has no room for this one. */
static struct queued *spare_of(struct job_engine *e, const struct job *j)
{
    struct spare *to = NULL;
    pthread_mutex_lock(&e->lock);
    for (size_t i = 0; i < JOB_SPARES && !to; i++)
        to = e->spare[i].used ? NULL : &e->spare[i];
    if (to)
        to->used = true;
    pthread_mutex_unlock(&e->lock);
    if (!to)
        return NULL;
    to->q = (struct queued){ .spare = to, .text = to->text };
    if (copy_into(&to->q, j, sizeof to->text))
        return &to->q;
    queued_free(e, &to->q);
    return NULL;
}

bool job_post(struct job_engine *e, const struct job *j)
{
    struct queued *q = copy_of(e, j);
    q = q ? q : spare_of(e, j);
    pthread_mutex_lock(&e->lock);
    if (q) {
        *e->tail = q;
        e->tail = &q->next;
    } else {
        e->refused++;
    }
    atomic_store(&e->idle_cancel.asked, true); /* background analysis makes way */
    pthread_cond_signal(&e->more);
    pthread_mutex_unlock(&e->lock);
    return q != NULL;
}

/* Stops the running job, or what is done in the background, and drops the runs that wait behind it. */
void job_cancel(struct job_engine *e)
{
    pthread_mutex_lock(&e->lock);
    atomic_store(&e->cancel.asked, true);
    atomic_store(&e->idle_drop, true);
    atomic_store(&e->idle_cancel.asked, true);
    struct queued *dropped = NULL;
    for (struct queued **p = &e->head; *p;) {
        struct queued *q = *p;
        if (!job_launches(q->kind)) {
            p = &q->next;
            continue;
        }
        *p = q->next;
        q->next = dropped;
        dropped = q;
    }
    e->tail = &e->head;
    while (*e->tail)
        e->tail = &(*e->tail)->next;
    pthread_mutex_unlock(&e->lock);
    for (struct queued *q; (q = dropped); queued_free(e, q))
        dropped = q->next;
}

/* The next request; NULL: nothing is waiting and there is something to do in the background. */
static struct queued *take(struct job_engine *e, size_t *refused)
{
    pthread_mutex_lock(&e->lock);
    while (!e->head && !e->refused && !e->quit && !e->state.wants_facts && !e->state.wants_cost)
        pthread_cond_wait(&e->more, &e->lock);
    *refused = e->refused;
    e->refused = 0;
    struct queued *q = e->head;
    if (q) {
        e->head = q->next;
        if (!e->head)
            e->tail = &e->head;
    }
    atomic_store(&e->cancel.asked, false);
    atomic_store(&e->idle_cancel.asked, false);
    atomic_store(&e->idle_drop, false);
    pthread_mutex_unlock(&e->lock);
    return q;
}

/* The run that the last one's gain waits for: of nobody's asking, and nobody sees the engine idle before it. */
static void work_wanted(struct job_engine *e)
{
    const struct queued own = { .kind = JOB_RUN, .number = JOB_OWN, .options = e->state.whole };
    if (!e->state.wants_whole)
        return;
    e->state.wants_whole = false;
    if (!atomic_load(&e->quit)) {
        job_work(e, &own);
        return;
    }
    e->state.busy = false;
    job_publish(e);
}

static void *engine_thread(void *arg)
{
    struct job_engine *e = arg;
    for (;;) { /* what was asked for before the end is done before it */
        size_t refused;
        struct queued *q = take(e, &refused);
        if (refused)
            job_refused(e, refused);
        if (q) {
            job_work(e, q);
            queued_free(e, q);
            work_wanted(e);
        } else if (atomic_load(&e->quit)) {
            break;
        } else if (!refused) {
            job_background(e);
        }
        for (int i = 0; e->stale && i < JOB_SHORT_MOST; i++) { /* who waits for the end is to see it */
            usleep(JOB_SHORT_US);
            job_publish(e);
        }
    }
    job_close(e);
    return NULL;
}

/* Signals stay with the terminal thread. */
static int start_thread(struct job_engine *e)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(&e->thread, NULL, engine_thread, e);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r;
}

enum status job_engine_new(const struct dev_env *env, const char *session, struct job_engine **out,
                           struct diags *ds)
{
    struct job_engine *e = base_alloc(sizeof *e);
    *out = NULL;
    if (!e)
        return ST_NOMEM;
    e->env = *env;
    e->env.cancel = &e->cancel;
    e->tail = &e->head;
    e->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->more, NULL);
    e->state.options = options_default();
    e->state.again.first = SIZE_MAX;
    e->state.session_wanted = base_strdup(session);
    e->state.device = base_strdup(DEFAULT_DEVICE);
    if (e->wake >= 0)
        job_publish(e);
    if (e->wake < 0 || !e->current || start_thread(e) != 0) {
        diag_error(ds, "engine", "cannot start the engine thread: %s", strerror(errno));
        base_free(e);
        return ST_IO;
    }
    *out = e;
    return ST_OK;
}

void job_engine_free(struct job_engine *e)
{
    if (!e)
        return;
    job_cancel(e);
    pthread_mutex_lock(&e->lock);
    atomic_store(&e->quit, true);
    pthread_cond_signal(&e->more);
    pthread_mutex_unlock(&e->lock);
    pthread_join(e->thread, NULL);
    job_snapshot_release(&e->current->pub);
    pthread_mutex_destroy(&e->lock);
    pthread_cond_destroy(&e->more);
    close(e->wake);
    base_free(e);
}
