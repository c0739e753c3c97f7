/* The engine thread and its queue.
 *
 *   terminal thread  --job_post-->  queue  --engine thread-->  state
 *                    <--job_snapshot_get--  snapshot  <--publish--/
 *
 * State is touched by the engine thread alone. What it publishes: job_snapshot.c. */
#include "engine/workspace/job.h"

#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/session/session.h"
#include "engine/workspace/job_int.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void queued_free(struct queued *q)
{
    if (q->has_launch)
        launch_spec_free(&q->launch);
    base_free(q->text);
    base_free(q);
}

void job_post(struct job_engine *e, const struct job *j)
{
    struct queued *q = base_alloc(sizeof *q);
    if (!q)
        return;
    q->kind = j->kind;
    q->number = j->number;
    q->options = j->options;
    q->text = base_strdup(j->text);
    q->has_launch = j->launch && launch_copy(j->launch, &q->launch) == ST_OK;
    pthread_mutex_lock(&e->lock);
    *e->tail = q;
    e->tail = &q->next;
    atomic_store(&e->idle_cancel.asked, true); /* background analysis makes way */
    pthread_cond_signal(&e->more);
    pthread_mutex_unlock(&e->lock);
}

/* Stops the running job, or what is done in the background, and drops the runs that wait behind it. */
void job_cancel(struct job_engine *e)
{
    pthread_mutex_lock(&e->lock);
    atomic_store(&e->cancel.asked, true);
    atomic_store(&e->idle_drop, true);
    atomic_store(&e->idle_cancel.asked, true);
    for (struct queued **p = &e->head; *p;) {
        struct queued *q = *p;
        if (!job_launches(q->kind)) {
            p = &q->next;
            continue;
        }
        *p = q->next;
        queued_free(q);
    }
    e->tail = &e->head;
    while (*e->tail)
        e->tail = &(*e->tail)->next;
    pthread_mutex_unlock(&e->lock);
}

/* The next request; NULL: nothing is waiting and there is something to do in the background. */
static struct queued *take(struct job_engine *e)
{
    pthread_mutex_lock(&e->lock);
    while (!e->head && !e->state.wants_facts && !e->state.wants_cost)
        pthread_cond_wait(&e->more, &e->lock);
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

static void *engine_thread(void *arg)
{
    struct job_engine *e = arg;
    for (bool quit = false; !quit;) {
        struct queued *q = take(e);
        if (!q) {
            job_background(e);
            continue;
        }
        quit = q->kind == JOB_QUIT;
        if (!quit)
            job_work(e, q);
        queued_free(q);
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
    e->state.device = base_strdup("sim:hopper-h200");
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
    struct job quit = { .kind = JOB_QUIT };
    job_cancel(e);
    job_post(e, &quit);
    pthread_join(e->thread, NULL);
    job_snapshot_release(&e->current->pub);
    pthread_mutex_destroy(&e->lock);
    pthread_cond_destroy(&e->more);
    close(e->wake);
    base_free(e);
}
