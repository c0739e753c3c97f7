/* Proofs for a bench: on its own device where that is a simulated one of this process, else on the one
 * beside it. */
#include "engine/ptx/ptx.h"
#include "engine/rec/data.h"
#include "engine/rec/device.h"
#include "engine/rec/elem.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/result.h"
#include "engine/tune/prove.h"
#include "engine/tune/sweep.h"
#include "engine/tune/tune_int.h"

#include <stdio.h>

static struct dev *prover_device(const struct tune_bench *b)
{
    return b->opts.prover ? b->opts.prover : b->subject.dev;
}

static enum status fits_beside(const struct tune_bench *b, struct diags *ds)
{
    if (!b->opts.prover || b->subject.data->total_bytes <= BESIDE_BYTES)
        return ST_OK;
    diag_error(ds, "prove", "the buffers (%.1f GB) are too large to simulate on %s for the proof",
               (double)b->subject.data->total_bytes / 1e9, dev_describe(b->opts.prover)->name);
    return ST_REFUSED;
}

/* A part of L2 that is set aside changes nothing but time, and no simulated device has one. */
static void fill(struct tune_bench *b, const struct options *o, struct tune_job *j)
{
    tune_fill_run(b, o, j, true);
    j->run.persist = STR("");
}

static enum status open_prover(struct tune_bench *b, enum tune_level level, struct diags *ds)
{
    const struct options *none = options_none();
    struct tune_job j = { 0 };
    if (b->prover && b->prover_level == level)
        return ST_OK;
    tune_prover_close(b->prover);
    b->prover = NULL;
    b->prover_level = level;
    enum status st = fits_beside(b, ds);
    if (st == ST_OK)
        st = tune_rewrite(b, none, &j.code, ds);
    if (st != ST_OK)
        return st;
    fill(b, none, &j);
    j.run.nset = j.run.nzero = 0;
    if (b->opts.prover && !(j.run.time_limit_s > 0))
        j.run.max_insts = BESIDE_INSTS;
    struct tune_text original = { { j.code.text, j.code.n }, &j.run };
    st = tune_prover_open(prover_device(b), b->subject.module->path, b->subject.launch, b->subject.data,
                          &original, level, tune_cancel(b), &b->prover, ds);
    pass_output_free(&j.code);
    return st;
}

/* j: filled by fill. */
static enum status check(struct tune_bench *b, struct str text, const struct tune_job *j,
                         enum tune_level level, struct tune_proof *out, struct diags *ds)
{
    enum status st = open_prover(b, level, ds);
    struct tune_text rewritten = { text, &j->run };
    return st == ST_OK ? tune_prover_check(b->prover, &rewritten, out, ds) : st;
}

/* What stood in the way, and where it was tried. */
static enum status told(const struct tune_bench *b, enum status st, const struct diags *ds,
                        struct tune_proof *out)
{
    if (st != ST_OK) {
        struct result r = result_empty();
        tune_reason(ds, &r);
        out->verdict = PROOF_NONE;
        snprintf(out->message, sizeof out->message, "n/a: %.240s",
                 r.message[0] ? r.message : "no simulated device of this process beside it");
    }
    if (b->opts.prover)
        snprintf(out->device, sizeof out->device, "%s", dev_describe(b->opts.prover)->name);
    return tune_over(st) ? st : ST_OK;
}

enum status tune_prove(struct tune_bench *b, const struct options *o, enum tune_level level,
                       struct tune_proof *out, struct diags *ds)
{
    struct tune_job j = { 0 };
    struct diags own = { 0 };
    *out = (struct tune_proof){ .verdict = PROOF_NONE, .level = level };
    enum status st = tune_rewrite(b, o, &j.code, &own);
    if (st == ST_OK) {
        fill(b, o, &j);
        st = check(b, (struct str){ j.code.text, j.code.n }, &j, level, out, &own);
    }
    pass_output_free(&j.code);
    st = told(b, st, &own, out);
    diags_free(&own);
    (void)ds;
    return st;
}

enum status tune_prove_text(struct tune_bench *b, const struct options *o, struct pass_output *code,
                            struct str text, enum tune_level level, struct tune_proof *out)
{
    struct tune_job j = { .code = *code };
    struct diags own = { 0 };
    *out = (struct tune_proof){ .verdict = PROOF_NONE, .level = level };
    fill(b, o, &j);
    j.run.nset = 0;
    enum status st = told(b, check(b, text, &j, level, out, &own), &own, out);
    diags_free(&own);
    return st;
}

/* ---- sweeps ---- */
/* The best of a slice and, on a curve over pi, the point that stands for it. */
static void condemn(struct tune_sweep *s, const struct result *best, const struct tune_proof *p)
{
    struct options o = best->options;
    for (size_t i = 0; i < s->npoints + 2; i++) {
        struct result *r = i < s->npoints ? &s->points[i] : i == s->npoints ? s->bpa : s->cha;
        if (!options_equal(&r->options, &o) || !tune_usable(r))
            continue;
        r->equal = EQUAL_NO;
        snprintf(r->message, sizeof r->message, "%.250s", p->message);
    }
}

static enum status prove_slice(struct tune_bench *b, struct tune_slice *slice, enum tune_level level,
                               struct diags *ds)
{
    const struct dev_info *dev = dev_describe(b->subject.dev);
    double threads = (double)dim3u_count(launch_block(b->subject.launch));
    const struct result *best;
    enum status st = ST_OK;
    while (st == ST_OK && (best = tune_sweep_best(&slice->sweep))) {
        st = tune_prove(b, &best->options, level, &slice->proof, ds);
        if (st != ST_OK || slice->proof.verdict != PROOF_BROKEN)
            break;
        condemn(&slice->sweep, best, &slice->proof);
        tune_sweep_judge(&slice->sweep, dev, threads);
    }
    return st;
}

enum status tune_family_prove(struct tune_bench *b, struct tune_family *f,
                              const struct tune_observer *ob, enum tune_level level, struct diags *ds)
{
    const struct result *fastest = NULL;
    enum status st = ST_OK;
    b->observer = ob;
    f->has_best = false;
    for (size_t i = 0; i < f->n; i++) {
        struct tune_slice *s = &f->slice[i];
        st = st == ST_OK ? prove_slice(b, s, level, ds) : st;
        const struct result *r = tune_sweep_best(&s->sweep);
        if (!r || (fastest && r->time.median >= fastest->time.median))
            continue;
        fastest = r;
        f->best = i;
        f->has_best = true;
    }
    b->observer = NULL;
    return st;
}
