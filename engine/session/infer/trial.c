/* One trial of a guess: does it end, inside its buffers, with something written, and who works on what? */
#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/data.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch.h"
#include "engine/session/infer/trying.h"
#include "engine/session/infer/work.h"
#include "engine/session/launch_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define MOST_SECONDS 3.0
enum { MOST_TRIALS = 96, MOST_WORDS = 1 << 26 /* of all buffers */ };

/* An output's bytes are not what they were, or there is none to tell. */
static bool any_written(const struct launch_spec *l, const struct launch_data *data,
                        const struct result *r)
{
    bool none = true;
    for (size_t i = 0, k = 0; i < l->nargs && k < result_noutputs(r); i++) {
        if (!l->args[i].output || l->args[i].kind != ARG_BUFFER)
            continue;
        none = false;
        const uint8_t *was = launch_buffer_bytes(&data->buffers[i]);
        if (!was || result_outputs(r)[k++].hash != base_hash(was, data->buffers[i].n))
            return true;
    }
    return none;
}

static enum trial trial_of(const struct launch_spec *l, const struct launch_data *data, enum status s,
                           const struct result *r, const struct diags *ds)
{
    static const struct {
        const char *code;
        enum trial how;
    } codes[] = { { "hang", TRIAL_LATE },
                  { "race", TRIAL_UNCLEAN },
                  { "uninitialised", TRIAL_UNCLEAN },
                  { "out-of-bounds", TRIAL_OUTSIDE } };
    for (size_t i = 0; i < ds->n; i++)
        for (size_t k = 0; k < ARRAY_LEN(codes); k++)
            if (ds->v[i].level == DIAG_ERROR && ds->v[i].code && !strcmp(ds->v[i].code, codes[k].code))
                return codes[k].how;
    return s != ST_OK || result_status(r) != ST_OK ? TRIAL_FAILS
           : any_written(l, data, r)               ? TRIAL_WORKS
                                                   : TRIAL_IDLE;
}

static struct dev_run run_of(const struct trying *t, const struct launch_spec *l, unsigned look)
{
    struct dev_run r = dev_run_default();
    r.launch = l;
    r.grid = l->grid;
    r.block = l->block;
    r.shared = l->shared;
    r.functional = true;
    r.counters = false;
    r.check_uninit = r.check_races = t->simulated && look & LOOK_RACES;
    r.hostile.order = t->simulated ? t->order : 0;
    r.max_insts = t->simulated ? t->most : 0;
    r.time_limit_s = t->simulated ? 0 : GPU_SECONDS;
    r.cancel = t->cancel;
    return r;
}

static enum status run(struct trying *t, struct tried *x, struct launch_data *data, unsigned look,
                       enum trial *how, struct diags *ds)
{
    struct dev_data *bound = NULL;
    struct infer_marks *marks = NULL;
    enum status s = dev_bind(t->dev, data, &bound, ds);
    if (s == ST_OK && t->simulated && look & LOOK_WORK)
        s = infer_marks_make(&x->l, t->dev, bound, &marks);
    if (s == ST_OK) {
        struct dev_run r = run_of(t, &x->l, look);
        if (marks)
            r.touch = (struct sim_told){ .fn = infer_marks_touch, .ctx = marks, .shared = true };
        s = dev_launch(t->dev, t->code, bound, &r, x->r, ds);
        *how = trial_of(&x->l, data, s, x->r, ds);
    }
    if (*how == TRIAL_IDLE && t->may_idle)
        *how = TRIAL_WORKS;
    if (marks && (*how == TRIAL_WORKS || *how == TRIAL_LATE))
        infer_marks_read(marks, &x->work, x->reached, x->first);
    if (*how == TRIAL_WORKS && t->may_idle && x->work.known &&
        (x->work.unwritten >= 1 || x->work.idle_ctas >= 1))
        *how = TRIAL_IDLE; /* not even what was there is written again */
    infer_marks_free(marks);
    if (bound)
        dev_unbind(t->dev, bound);
    return s;
}

/* The first launch that ends in a fault which is the kernel's own, not its sizes': for who looks for faults. */
static enum status keep_fault(struct trying *t, const struct tried *x, enum trial how,
                              const struct diags *ds)
{
    bool refused = !ds->n;
    for (size_t i = 0; i < ds->n; i++)
        refused |= ds->v[i].code && !strcmp(ds->v[i].code, "launch");
    if (how != TRIAL_FAILS || t->fault.kernel || refused || result_status(x->r) != ST_DEVICE)
        return ST_OK;
    snprintf(t->fault_why, sizeof t->fault_why, "%s", result_message(x->r));
    return launch_copy(&x->l, &t->fault);
}

enum status infer_trial(struct trying *t, struct tried *x, unsigned look, enum trial *how)
{
    struct launch_data data = { 0 };
    struct diags quiet = { 0 };
    enum status s = launch_data_make(&x->l, (uint64_t)4 << 30, &data, &quiet);
    if (t->g->asked.trying)
        t->g->asked.trying(t->g->asked.ctx, &x->l);
    result_clear(x->r);
    x->work = (struct infer_work){ 0 };
    *how = TRIAL_FAILS;
    if (s == ST_OK)
        s = run(t, x, &data, look, how, &quiet);
    if (s == ST_OK)
        s = keep_fault(t, x, *how, &quiet);
    launch_data_free(&data);
    uint64_t data_made = 0; /* 64 bytes take about as long as an instruction of a warp */
    for (size_t i = 0; i < x->l.nargs; i++)
        if (x->l.args[i].kind == ARG_BUFFER)
            data_made += x->l.args[i].count * elem_size(x->l.args[i].elem) / 64;
    double spent = result_counters(x->r)[COUNTER_INST_WARP].valid
                       ? result_counters(x->r)[COUNTER_INST_WARP].value
                   : *how == TRIAL_LATE ? (double)t->most
                                        : 0;
    spent += (double)data_made;
    t->left -= (double)t->left > spent ? (uint64_t)spent : t->left;
    t->trials++;
    if (s != ST_OK)
        diags_move(t->ds, &quiet);
    diags_free(&quiet);
    return s;
}

enum status infer_try_next(struct trying *t, struct size_guess size, unsigned look, enum trial *how)
{
    launch_spec_free(&t->next.l);
    *how = TRIAL_FAILS;
    enum status s = infer_spec(t->g, size, t->block, &t->next.l);
    return s == ST_OK ? infer_trial(t, &t->next, look, how) : s;
}

void infer_take_next(struct trying *t)
{
    struct tried was = t->now;
    t->now = t->next;
    t->next = was;
}

uint64_t infer_outputs_hash(const struct result *r)
{
    uint64_t h = 0;
    for (uint32_t i = 0; i < result_noutputs(r); i++)
        h = h * 0x9E3779B97F4A7C15u + result_outputs(r)[i].hash;
    return h;
}

uint64_t infer_most_count(const struct guess *g)
{
    uint64_t buffers = 1;
    for (uint32_t p = 0; p < g->f->nparams; p++)
        buffers += g->use[p].address;
    return MOST_WORDS / buffers < 1u << 24 ? MOST_WORDS / buffers : 1u << 24;
}

/* Of this thread, in the program: what the system takes for its pages is another on each machine, a guess should not be. */
static double seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_THREAD, &u);
    return (double)u.ru_utime.tv_sec + 1e-6 * (double)u.ru_utime.tv_usec;
}

void infer_start_clock(struct trying *t)
{
    t->ends = seconds() + MOST_SECONDS;
}

bool infer_spent(const struct trying *t)
{
    return !t->left || t->trials >= MOST_TRIALS || seconds() > t->ends;
}

double infer_undone(const struct infer_work *w)
{
    if (!w->known)
        return 0;
    double worst = fmax(w->idle_ctas, w->idle_threads);
    worst = isnan(w->unread) ? worst : fmax(worst, w->unread);
    return isnan(w->unwritten) ? worst : fmax(worst, w->unwritten);
}
