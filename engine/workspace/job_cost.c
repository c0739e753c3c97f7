/* What the memory-cost model says of the options in view: predicted in the background, nothing is
 * launched. */
#include "engine/predict/prediction.h"
#include "engine/rec/knobs.h"
#include "engine/search/live.h"
#include "engine/search/tuner.h"
#include "engine/tune/tune.h"
#include "engine/workspace/job_int.h"

static void destroy_prediction(void *p)
{
    base_free(p);
}
static void destroy_live(void *p)
{
    tune_live_free(p);
}

static enum status open_model(struct job_engine *e, struct diags *ds)
{
    struct job_state *st = &e->state;
    if (st->model)
        return ST_OK;
    enum status s = job_ready(e, ds);
    if (s != ST_OK)
        return s;
    struct tune_subject subject = { st->module->p, st->spec->p, &st->data, st->dev,
                                    st->facts ? st->facts->p : NULL };
    shared_ref_put(&st->model_facts, shared_ref_ref(st->facts));
    return tune_bench_open_model(&subject, &st->model, ds);
}

static enum status predict_into(struct job_engine *e, const struct options *o, struct shared_ref **slot)
{
    struct job_predicted *p = base_alloc(sizeof *p);
    enum status s = p ? tune_predict(e->state.model, o, &p->cost) : ST_NOMEM;
    if (p)
        p->of = *o;
    if (s == ST_OK)
        shared_ref_put(slot, shared_ref_new(p, destroy_prediction));
    else
        base_free(p);
    return s;
}

enum status job_cost(struct job_engine *e, const struct cancel *cancel)
{
    struct job_state *st = &e->state;
    struct tune_observer ob = { .cancel = cancel };
    const struct options *none = options_none();
    struct diags ds = { 0 };
    enum status s = st->module && st->spec ? open_model(e, &ds) : ST_INPUT;
    diags_free(&ds); /* a run says it again, where somebody asked for it */
    if (s != ST_OK)
        return s;
    tune_bench_watch(st->model, &ob);
    if (!st->cost_original)
        s = predict_into(e, none, &st->cost_original);
    if (s == ST_OK)
        s = predict_into(e, &st->options, &st->cost);
    /* the items' gains: the model's instead of rules of thumb */
    if (s == ST_OK && !st->advice_predicted) {
        s = tune_advise_predict(st->model, st->advice, &st->nadvice, JOB_MAX_ADVICE);
        st->advice_predicted = s == ST_OK;
        job_prove_advice(st); /* items that came of it, too */
    }
    tune_bench_watch(st->model, NULL);
    return s;
}

void job_live(struct job_engine *e, const struct tune_live *l)
{
    struct tune_live *copy = tune_live_copy(l);
    if (copy)
        shared_ref_put(&e->state.search, shared_ref_new(copy, destroy_live));
}
