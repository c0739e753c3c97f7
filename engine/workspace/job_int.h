/* Private to the engine thread: its state, boxes, the queue. */
#pragma once

#include "engine/dev/dev.h"
#include "engine/predict/prediction.h"
#include "engine/rec/data.h"
#include "engine/rec/options.h"
#include "engine/search/advice.h"
#include "engine/workspace/job.h"
#include "engine/workspace/measure.h"
#include "engine/workspace/shared_ref.h"
#include "engine/workspace/snapshot.h"

#include <pthread.h>

#define JOB_MAX_MESSAGES 500
/* laid by for requests while memory is short */
#define JOB_SPARES     8
#define JOB_SPARE_TEXT 1024
/* Then what must be said or shown is tried again, every so many microseconds, so many times. */
enum { JOB_SHORT_US = 20000, JOB_SHORT_MOST = 500 };
/* What runs of a session that are made for the snapshots take at most, bytes: older ones stay in its
 * text. */
#define JOB_RUNS_BYTES ((size_t)48 << 20)
#define JOB_MAX_ADVICE 16

void job_text(char **slot, const char *text); /* replaces an owned text */

struct snap {
    struct job_snapshot pub;
    struct options options; /* pub.options */
    atomic_int refs;
    struct shared_ref **held;
    size_t nheld;
    char *text;
};
#define JOB_OWN \
    1 /* number of a JOB_RUN that the engine itself asks for: the whole run that a gain waits for */
struct queued {
    struct queued *next;
    enum job_kind kind;
    char *text;
    long number;
    struct options options;
    struct launch_spec *launch; /* NULL: none */
    struct spare *spare;        /* it is in this one; NULL: on the heap */
};
struct spare {
    struct queued q;
    bool used;
    char text[JOB_SPARE_TEXT];
};

/* The sweep or search that was stopped last, as it was asked for: runs first..first+n of the session. */
struct job_again {
    enum job_kind kind;
    char *text;
    long number;
    struct options options;
    size_t first, n;
};
/* What state.cost holds. */
struct job_predicted {
    struct tune_prediction cost;
    struct options of;
};
struct job_state { /* the engine thread's own */
    struct shared_ref *module;
    struct shared_ref *launches;
    struct shared_ref *spec; /* job_spec_put */
    uint64_t spec_key;       /* its launch_key; 0: none */
    struct shared_ref *facts;
    struct shared_ref *preview;
    /* struct tune_live; struct job_predicted */
    struct shared_ref *search;
    struct shared_ref *cost;
    struct shared_ref *cost_original;
    /* a bench that only predicts */
    struct tune_bench *model;
    struct shared_ref *model_facts;
    bool wants_cost;
    bool wants_whole; /* `whole` is to run next, timed whole */
    struct options whole;
    size_t launch;
    bool edited; /* the launch is not what its file says, or it has none */
    uint32_t guessed_n;
    /* one that was edited, while its PTX is read anew or another launch is looked at; NULL: none */
    struct shared_ref *kept;
    char *kernel;
    char *refusal;
    char *what;
    enum job_kind doing;
    char *trying;
    char *device;
    char *session_wanted;
    struct dev *dev;
    struct dev *prover; /* simulated, beside a GPU or a worker, once something was proven; or NULL */
    struct dev_info info;
    struct launch_data data;
    bool has_data;
    struct options options;
    struct measure measure;         /* its bench: NULL, or open */
    struct shared_ref *bench_facts; /* facts the bench borrows */
    struct session *session;
    bool unsaved, other_text /* than the last run's: its launch goes into the session too */;
    struct shared_ref **runs; /* as the session counts them; NULL before first_run */
    size_t nruns;
    size_t first_run;
    size_t cap_runs;
    size_t run_bytes; /* of what `runs` holds */
    struct tune_advice advice[JOB_MAX_ADVICE];
    size_t nadvice;
    bool advice_predicted;
    struct shared_ref *messages[JOB_MAX_MESSAGES];
    size_t nmessages;
    bool busy, wants_facts;
    double done, rate;
    int64_t started_ns, published_ns;
    size_t finished;
    uint64_t worked;
    struct job_again again;
};
struct job_engine {
    struct dev_env env;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct queued *head, **tail;
    size_t refused; /* posts that no memory was left for, not told yet */
    struct spare spare[JOB_SPARES];
    atomic_bool quit;
    bool stale; /* the last snapshot could not be made */
    struct cancel cancel, idle_cancel;
    /* what is done in the background is not only to make way: the user stopped it */
    atomic_bool idle_drop;
    struct snap *current;
    uint64_t version;
    int wake;
    struct job_state state;
};
void job_publish(struct job_engine *e);
/* False: out of memory, and it is not said. */
bool job_say(struct job_engine *e, enum diag_level level, const char *file, struct span at,
             const char *text);
void job_say_all(struct job_engine *e, struct diags *ds); /* frees ds */
/* run i of the session as it is now into the snapshots */
void job_show_run(struct job_engine *e, size_t i);
/* The last runs of a session just loaded, as many as JOB_RUNS_BYTES hold. Not ST_OK: it is closed. */
enum status job_runs_load(struct job_engine *e, struct diags *ds);
void job_runs_drop(struct job_state *st);
void job_runs_age(struct job_engine *e); /* they are of a text before the present one */
bool job_launches(enum job_kind k);      /* a run, a sweep, a search */
void job_work(struct job_engine *e, const struct queued *q);
void job_refused(struct job_engine *e, size_t n); /* tells that n requests were not taken */
void job_background(struct job_engine *e);        /* full analysis while nothing is asked */
void job_close(struct job_engine *e);
void job_destroy_launches(void *p); /* a heap struct launch_file */
enum status job_open(struct job_engine *e, const char *path, bool launch_follows, struct diags *ds);
enum status job_kernel(struct job_engine *e, const char *name, long number, struct diags *ds);
enum status job_device(struct job_engine *e, const char *spec, struct diags *ds);
enum status job_launch(struct job_engine *e, const struct launch_spec *l, long part, struct diags *ds);
/* n 0, like NULL: not said */
enum status job_launch_guess(struct job_engine *e, long n, const struct launch_spec *like,
                             struct diags *ds);
/* Opens what a run needs; whole: with the whole analysis. */
enum status job_bench(struct job_engine *e, bool whole, struct diags *ds);
enum status job_facts(struct job_engine *e, bool quick, const struct cancel *cancel, struct diags *ds);
/* The present launch; takes the reference. NULL: there is none. */
void job_spec_put(struct job_state *st, struct shared_ref *spec);
/* of this text, kernel, launch and device */
bool job_comparable(const struct job_state *st, const struct session_run *r);
void job_again_keep(struct job_state *st, const struct queued *q, size_t first, size_t n);
void job_again_forget(struct job_state *st);
/* What run `number` (-1: the last that was cut off) takes to go on: q->text is owned, measure_done_free(d)
 * also on failure. */
enum status job_resume(struct job_engine *e, long number, struct queued *q, struct measure_done *d,
                       struct diags *ds);
void job_advise(struct job_engine *e);
void job_prove_advice(struct job_state *st); /* real gains beside the expected ones */
/* device open and data made, nothing run */
enum status job_ready(struct job_engine *e, struct diags *ds);
/* predicts the options in view */
enum status job_cost(struct job_engine *e, const struct cancel *cancel);
/* module, launch or device changed: to be predicted anew */
void job_live(struct job_engine *e, const struct tune_live *l);
