/* What a run, a sweep and a search are: see measure.h. */
#include "engine/session/run.h"
#include "engine/workspace/measure.h"

#include "engine/rec/counter_ids.h"
#include "engine/rec/gain.h"
#include "engine/dev/dev.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/data.h"
#include "engine/rec/device.h"
#include "engine/rec/elem.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_schedule.h"
#include "engine/rec/result.h"
#include "engine/search/found.h"
#include "engine/search/tuner.h"
#include "engine/session/baseline.h"
#include "engine/session/launch_file.h"
#include "engine/session/session.h"

#include <stdio.h>
#include <string.h>

/* A proof keeps copies of what the original wrote: unasked, only where the buffers are no larger than
 * this (bytes). */
#define UNASKED_PROOF (32ull << 20)

/* ---- the bench ---- */
/* Tiles in another order are shown to be independent there, too. */
bool measure_wants_prover(const struct measure *m, enum run_kind kind, const struct options *o)
{
    return m->how.prove || kind != RUN_ONE || launch_has_sums(m->subject.launch) ||
           opt_schedule(o)->tile_order.kind > TILES_ROW;
}

bool measure_wants_facts(enum run_kind kind, const struct options *o)
{
    const struct opt_bypass *b = opt_bypass(o);
    bool by_reuse = b->level &&
                    !b->loads.n && /* which loads have no reuse is known from the trace alone */
                    (b->form == BYPASS_FORM_VERTICAL || b->form == BYPASS_FORM_HYBRID);
    return kind == RUN_TUNE || by_reuse || opt_cluster(o)->index.kind == INDEX_GRAPH;
}

static struct tune_run_opts run_opts(const struct measure *m, struct dev *prover)
{
    struct tune_run_opts o = tune_run_opts_default(dev_describe(m->subject.dev));
    o.counters = !m->how.no_counters;
    o.exact = m->how.exact;
    o.cold = m->how.cold;
    o.energy = m->how.energy;
    o.outputs = m->how.outputs;
    o.unread = m->how.unread;
    o.tries = m->how.tries;
    o.check_memory = m->how.check_memory;
    o.cancel = m->cancel;
    o.time_limit_s = m->how.time_limit_s;
    o.prover = prover;
    if (m->how.repeat > 0) {
        o.repeat = m->how.repeat;
        o.max_repeat = o.repeat > o.max_repeat ? o.repeat : o.max_repeat;
    }
    return o;
}

enum status measure_open(struct measure *m, struct dev *prover, struct diags *ds)
{
    struct tune_run_opts o = run_opts(m, prover);
    if (o.check_memory && dev_describe(m->subject.dev)->kind != DEV_SIMULATED) {
        diag_error(ds, "check-memory",
                   "--check-memory needs a simulated device; on a GPU use compute-sanitizer");
        return ST_USAGE;
    }
    enum status st = tune_bench_open(&m->subject, &o, &m->bench, ds);
    return st == ST_OK && m->how.outputs == DEV_OUTPUTS_ALL ? tune_races(m->bench, ds) : st;
}

void measure_head(const struct measure *m, struct session_run *r)
{
    const struct launch_spec *l = m->subject.launch;
    snprintf(r->kernel, sizeof r->kernel, "%s", m->kernel);
    snprintf(r->race, sizeof r->race, "%s", m->bench ? tune_race(m->bench) : "");
    r->dev = *dev_describe(m->subject.dev);
    r->grid = l->grid;
    r->block = l->block;
    r->launch_key = launch_key(l);
}

/* ---- one configuration ---- */
enum status measure_run(struct measure *m, const struct options *o, struct result *out, struct diags *ds)
{
    enum status st = measure_contradictions(o, ds);
    return st == ST_OK ? tune_run_one(m->bench, o, out, ds) : st;
}

#define WHOLE_MOST 4e6 /* warp instructions of the original: seconds */
enum status measure_like(struct measure *m, const struct result *original, struct result *r,
                         struct diags *ds)
{
    if (!original || gain_lacks(original, r) != r ||
        !(original->counters[COUNTER_INST_WARP].value <= WHOLE_MOST))
        return ST_OK;
    struct options o = r->options;
    return tune_time_whole(m->bench, &o, r, ds);
}

static bool attacked(const struct measure *m)
{
    return m->how.prove || (m->local && m->subject.data->total_bytes <= UNASKED_PROOF);
}

enum status measure_attack(struct measure *m, struct result *r, struct tune_proof *proof,
                           struct diags *ds)
{
    const struct options *none = options_none();
    *proof = (struct tune_proof){ .verdict = PROOF_NONE, .level = m->how.level };
    snprintf(proof->message, sizeof proof->message,
             "n/a: the configuration did not run with equal outputs");
    if (!attacked(m) || r->status != ST_OK || r->equal == EQUAL_NO ||
        m->how.outputs != DEV_OUTPUTS_ALL || (!m->how.prove && options_equal(&r->options, none)))
        return ST_OK;
    enum status st = tune_prove(m->bench, &r->options, m->how.level, proof, ds);
    if (st == ST_OK && proof->verdict == PROOF_BROKEN) {
        r->equal = EQUAL_NO;
        snprintf(r->message, sizeof r->message, "%.250s", proof->message);
    }
    return st;
}

/* ---- a sweep ---- */
enum status measure_family(struct measure *m, const char *axes, const struct options *o,
                           struct tune_family *f, struct diags *ds)
{
    const char *said = axes && *axes ? axes : "pi";
    enum status st = tune_axes_check(said, ds);
    return st == ST_OK ? tune_family_list(m->bench, said, o, f, ds) : st;
}

void measure_slice_begin(const struct measure *m, const struct tune_family *f, size_t i,
                         struct session_run *r)
{
    struct buf line = { 0 };
    measure_head(m, r);
    options_line(tune_family_base(f, i), &line);
    if (f->n > 1)
        snprintf(r->note, sizeof r->note, "%s", line.n ? line.s : "as it is");
    buf_free(&line);
    r->sweep.axis = f->axis[0];
    r->sweep.warps = (uint32_t)((dim3u_count(r->block) + 31) / 32);
}

/* All of its points, and the second round's samples. */
void measure_slice_end(const struct measure *m, const struct tune_family *f, size_t i,
                       struct session_run *r)
{
    struct session_run whole = *r, copy;
    whole.sweep = f->slice[i].sweep;
    if (m->how.prove)
        whole.proof = &f->slice[i].proof;
    if (session_run_copy(&copy, &whole)) {
        session_run_clear(r);
        *r = copy;
    }
}

/* What breaks is no longer the best. Unasked, nothing is said of what holds. */
static enum status prove_family(struct measure *m, struct tune_family *f, const struct tune_observer *ob,
                                struct diags *ds)
{
    if (!attacked(m))
        return ST_OK;
    enum status st = tune_family_prove(m->bench, f, ob, m->how.level, ds);
    for (size_t i = 0; !m->how.prove && i < f->n; i++)
        f->slice[i].proof = (struct tune_proof){ .verdict = PROOF_NONE };
    return st;
}

enum status measure_sweep(struct measure *m, struct tune_family *f, const struct measure_done *done,
                          const struct tune_observer *ob, struct diags *ds)
{
    enum status st = tune_family_run(m->bench, f, ob, done->result, done->n, ds);
    return st == ST_OK ? prove_family(m, f, ob, ds) : st;
}

/* ---- a search ---- */
/* Bytes of a launch's buffers times its threads' worth: how much longer another data set takes, roughly.
 */
static double work_of(const struct launch_spec *l)
{
    double bytes = 0;
    for (size_t i = 0; i < l->nargs; i++)
        bytes += l->args[i].kind == ARG_BUFFER
                     ? (double)l->args[i].count * (double)elem_size(l->args[i].elem)
                     : 0;
    return bytes + 16 * (double)dim3u_count(l->grid) * (double)dim3u_count(l->block);
}

/* The other launches of the same kernel, copied. A simulator takes seconds where a GPU takes none: there,
 * those of at most four times the work. */
struct data_sets {
    struct launch_spec launch[TUNE_SETS];
    const struct launch_spec *list[TUNE_SETS];
    size_t n;
};

static enum status other_sets(const struct measure *m, const struct launch_file *launches, size_t own,
                              struct data_sets *out)
{
    const struct launch_spec *mine = m->subject.launch;
    bool gpu = dev_describe(m->subject.dev)->kind == DEV_CUDA;
    enum status st = ST_OK;
    for (size_t i = 0; st == ST_OK && launches && i < launches->n && out->n < TUNE_SETS; i++) {
        const struct launch_spec *l = &launches->launch[i];
        if (i == own || strcmp(l->kernel, mine->kernel) != 0 || (!gpu && work_of(l) > 4 * work_of(mine)))
            continue;
        st = launch_copy(l, &out->launch[out->n]);
        if (st != ST_OK)
            break;
        tune_tolerate_atomics(m->subject.module, &out->launch[out->n]);
        out->list[out->n] = &out->launch[out->n];
        out->n++;
    }
    return st;
}

enum status measure_tune(struct measure *m, const struct tune_search_opts *o,
                         const struct launch_file *launches, size_t own, const struct measure_done *done,
                         const struct tune_observer *ob, struct tune_found *found, struct diags *ds)
{
    struct data_sets *sets = base_alloc(sizeof *sets);
    struct tune_search_opts all = *o;
    enum status st = sets ? other_sets(m, launches, own, sets) : ST_NOMEM;
    if (st == ST_OK) {
        all.prove = m->how.prove ? m->how.level : TUNE_FULL;
        all.done = done->result;
        all.ndone = done->n;
        all.probes = done->probe;
        all.nprobes = done->nprobe;
        all.other = sets->list;
        all.nother = sets->n;
        st = tune_search(m->bench, &all, ob, found, ds);
    }
    for (size_t i = 0; sets && i < sets->n; i++)
        launch_spec_free(&sets->launch[i]);
    base_free(sets);
    return st;
}

/* ---- going on ---- */
bool measure_alike(const struct measure *m, const struct session *of, const struct session_run *r)
{
    const struct launch_spec *l = m->subject.launch;
    struct str text = session_ptx_text(of);
    struct run_subject now = { false,   m->kernel,     dev_describe(m->subject.dev)->spec,
                               true,    launch_key(l), l->grid,
                               l->block };
    return !r->deleted && (!text.n || str_eq(text, m->subject.module->text)) && !run_other(r, &now) &&
           run_cold(r) == m->how.cold &&
           (!m->bench || gain_same_registers(run_regs_from(r), tune_regs_from(m->bench)));
}

static bool add(struct measure_done *d, const struct result *r)
{
    if (!base_grow((void **)&d->result, d->n, &d->cap, sizeof *d->result))
        return false;
    d->result[d->n++] = *r;
    return true;
}

bool measure_done_add(struct measure_done *d, const struct session_run *r)
{
    bool ok = true;
    for (size_t k = 0; ok && r->kind == RUN_SWEEP && k < r->sweep.npoints; k++)
        ok = add(d, &r->sweep.points[k]);
    if (ok && r->kind == RUN_SWEEP)
        ok = add(d, r->sweep.bpa) && add(d, r->sweep.cha);
    for (size_t k = 0; ok && r->kind == RUN_TUNE && k < r->ntrail; k++)
        ok = add(d, &r->trail[k]);
    d->probe = ok && r->kind == RUN_TUNE ? r->probe : NULL;
    d->nprobe = ok && r->kind == RUN_TUNE ? r->nprobe : 0;
    return ok;
}

void measure_done_free(struct measure_done *d)
{
    base_free(d->result);
    *d = (struct measure_done){ NULL, 0, 0, NULL, 0 };
}
