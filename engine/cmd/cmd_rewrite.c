/* rewrite: the PTX that a configuration asks for, as a file, a diff or a document. */
#include "engine/cmd/cmd_int.h"
#include "engine/cmd/io.h"
#include "engine/dev/dev.h"
#include "engine/pass/pass.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/flow/asks.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/opt_memory.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/rec/opt_softcache.h"
#include "engine/rec/result_read.h"
#include "engine/session/document.h"
#include "engine/session/documents.h"
#include "engine/workspace/args.h"
#include "engine/workspace/measure.h"
#include "engine/workspace/workspace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* --color, or whether standard output is a terminal */
static bool cmd_color(const struct args *a)
{
    if (a->color && strcmp(a->color, "always") == 0)
        return true;
    return !(a->color && strcmp(a->color, "never") == 0) && a->io->terminal && !getenv("NO_COLOR");
}

static unsigned columns(void)
{
    struct winsize w;
    const char *env = getenv("COLUMNS");
    if (env && atoi(env) > 0)
        return (unsigned)atoi(env);
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col : 160;
}

/* ---- what it costs before it is launched ---- */
struct cost {
    bool known;
    struct dev_resources code;
    uint32_t shared, ctas;
};

static struct cost cost_of(const struct workspace *s, struct str text, struct dim3u block,
                           uint32_t dynamic, int carveout)
{
    struct diags none = { 0 };
    struct dev_code *code = NULL;
    struct cost c = { 0 };
    if (dev_load(s->dev, s->module->path, text, str_of(s->kernel), 0, &code, &none) == ST_OK) {
        c.known = true;
        c.code = dev_code_resources(code);
        c.shared = c.code.shared_static + dynamic;
        const struct ptx_func *f = ptx_find_func(s->module, str_of(s->kernel));
        struct dev_cta cta = { .threads = dim3u_count(block),
                               .regs = c.code.regs,
                               .shared = c.shared,
                               .cluster = s->spec && launch_cluster(s->spec).x
                                              ? dim3u_count(launch_cluster(s->spec))
                                          : f ? ptx_cluster_of(f)
                                              : 1,
                               .carveout = carveout };
        c.ctas = s->spec ? dev_resident(&s->info, &cta).ctas_per_sm : 0;
    }
    dev_unload(s->dev, code);
    diags_free(&none);
    return c;
}

struct costs {
    struct cost before, after;
};

static struct costs costs_of(const struct workspace *s, const struct pass_output *code,
                             const struct options *o)
{
    struct dim3u block = s->spec ? launch_block(s->spec) : code->block;
    return (struct costs){ cost_of(s, s->module->text, block, s->spec ? launch_shared(s->spec) : 0, -1),
                           cost_of(s, (struct str){ code->text, code->n }, code->block, code->shared,
                                   opt_occupancy(o)->carveout) };
}

static void say_cost(const struct workspace *s, const struct pass_output *code, const struct costs *c,
                     struct diags *ds)
{
    if (!c->before.known || !c->after.known) {
        diag_add(ds, DIAG_NOTE, "cost", NULL, NO_SPAN,
                 "the rewrite adds about %d registers and %u bytes of shared memory", code->extra_regs,
                 code->extra_shared);
        return;
    }
    const char *how = c->after.code.estimated ? ", estimated" : "";
    if (!s->spec)
        diag_add(ds, DIAG_NOTE, "cost", NULL, NO_SPAN,
                 "registers %u -> %u per thread%s, shared memory %u -> %u bytes per CTA",
                 c->before.code.regs, c->after.code.regs, how, c->before.shared, c->after.shared);
    else
        diag_add(ds, DIAG_NOTE, "cost", NULL, NO_SPAN,
                 "registers %u -> %u per thread%s, shared memory %u -> %u bytes per CTA; %s holds %u -> "
                 "%u CTAs per SM",
                 c->before.code.regs, c->after.code.regs, how, c->before.shared, c->after.shared,
                 s->info.name, c->before.ctas, c->after.ctas);
}

static void say_classes(const struct workspace *s, const struct pass_output *code, struct diags *ds)
{
    struct load_classes c = load_classes_of(&s->info, code->module, s->kernel);
    struct buf b = { 0 };
    cmd_classes_text(&c, &b);
    if (b.n)
        diag_add(ds, DIAG_NOTE, "loads", NULL, NO_SPAN, "loads on %s: %s", s->info.name, b.s);
    buf_free(&b);
    cmd_classes_warn(&c, &s->info, ds);
}

/* ---- the document ---- */
static void put_lines(struct jw *w, const struct pass_output *o)
{
    jw_put_arr(w, "lines");
    for (uint32_t k = 0; k < o->nlines; k++) {
        const struct ptx_line_origin *l = &o->lines[k];
        jw_obj(w);
        jw_put_uint(w, "line", k + 1);
        jw_put_uint_if(w, "original", l->line != 0, l->line);
        jw_put_str(w, "pass", l->tag);
        jw_put_bool(w, "copy", l->copy);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void put_pair(struct jw *w, const char *key, bool known, uint32_t before, uint32_t after)
{
    if (!known) {
        jw_put_null(w, key);
        return;
    }
    jw_put_obj(w, key);
    jw_put_uint(w, "original", before);
    jw_put_uint(w, "rewritten", after);
    jw_end_obj(w);
}

static void put_costs(struct jw *w, const struct costs *c, bool launched)
{
    bool both = c->before.known && c->after.known;
    jw_put_obj(w, "cost");
    put_pair(w, "registers", both, c->before.code.regs, c->after.code.regs);
    jw_put_bool(w, "registers_estimated", c->after.code.estimated);
    put_pair(w, "shared_bytes", both, c->before.shared, c->after.shared);
    put_pair(w, "ctas_per_sm", both && launched, c->before.ctas, c->after.ctas);
    jw_end_obj(w);
}

/* The launch that goes with the text, and what the host writes into it. */
static void put_launch(struct jw *w, const struct pass_output *o)
{
    jw_put_obj(w, "launch");
    jw_put_dim(w, "grid", o->grid);
    jw_put_dim(w, "block", o->block);
    jw_put_uint(w, "shared", o->shared);
    jw_end_obj(w);
    if (o->knobs) {
        jw_put_obj(w, "knobs");
        jw_put_str(w, "symbol", PASS_KNOB_SYMBOL);
        jw_put_arr(w, "words");
        for (unsigned k = 0; k < PASS_KNOB_COUNT; k++)
            jw_uint(w, o->knob[k]);
        jw_end_arr(w);
        jw_end_obj(w);
    } else {
        jw_put_null(w, "knobs");
    }
    jw_put_arr(w, "zeroed");
    for (uint32_t k = 0; k < o->nreset; k++) {
        jw_obj(w);
        jw_put_str(w, "symbol", o->reset[k].symbol);
        jw_put_uint(w, "bytes", o->reset[k].bytes);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void put_document(const struct workspace *s, const struct args *a, const struct pass_output *o,
                         const struct costs *c, const struct tune_proof *proof, const struct diags *ds,
                         struct buf *b)
{
    struct buf line = { 0 }, text = { 0 };
    struct jw w = document_open(b, "gpulocw-rewrite", 2);
    options_line(a->options, &line);
    pass_standalone(o, &text);
    jw_put_str(&w, "file", s->module->path);
    jw_put_str(&w, "kernel", s->kernel);
    jw_put_str(&w, "options", line.s ? line.s : "");
    jw_put_bool(&w, "changed", o->changed);
    put_launch(&w, o);
    put_costs(&w, c, s->spec != NULL);
    put_lines(&w, o);
    json_proof(&w, proof);
    jw_key(&w, "notes");
    diags_json(ds, &w);
    jw_put_view(&w, "text", (struct str){ text.s ? text.s : "", text.n });
    document_close(&w);
    buf_free_checked(&line, b);
    buf_free_checked(&text, b);
}

/* ---- the command ---- */
static enum status write_out(const struct args *a, const struct workspace *s,
                             const struct pass_output *code, const struct costs *c,
                             const struct tune_proof *proof, struct diags *ds)
{
    struct buf out = { 0 };
    bool side = a->diff && (a->io->terminal || (a->color && strcmp(a->color, "always") == 0));
    if (a->json)
        put_document(s, a, code, c, proof, ds, &out);
    else if (side)
        cmd_side_by_side(s->module, code, columns(), cmd_color(a), cmd_utf8(), &out);
    else if (a->diff)
        pass_diff(s->module, code, &out);
    else if (!a->output)
        pass_standalone(code, &out);
    enum status st = out.oom ? ST_NOMEM : a->output ? workspace_code_write(a->output, code, ds) : ST_OK;
    if (st == ST_OK && !a->json && !a->diff)
        cmd_put_code(a, &out);
    else if (st == ST_OK && side)
        /* has colours of ours; cmd_side_by_side shows what it takes from files as cmd_put does */
        cmd_put_exact(a, &out);
    else if (st == ST_OK)
        cmd_give(a, &out);
    return st;
}

/* `data` and the device are open. bench: tune_bench_close. */
static enum status open_bench(const struct args *a, const struct workspace *s, struct tune_bench **bench,
                              struct diags *ds)
{
    struct tune_subject subject = { s->module, s->spec, &s->data, s->dev, s->facts };
    struct tune_run_opts opts = tune_run_opts_default(&s->info);
    opts.counters = false;
    opts.cancel = a->cancel;
    opts.prover = s->prover;
    return tune_bench_open(&subject, &opts, bench, ds);
}

/* --softcache auto is settled by a launch, so that what is written holds the lines that a profile chose.
 */
static enum status settle_softcache(struct args *a, struct workspace *s, struct diags *ds)
{
    struct tune_bench *bench = NULL;
    if (opt_softcache(a->options)->lines != OPT_SOFTCACHE_AUTO || opt_softcache(a->options)->data[0] ||
        !s->spec)
        return ST_OK;
    struct options *o = options_new();
    struct result *r = result_new();
    enum status st = o && r ? open_bench(a, s, &bench, ds) : ST_NOMEM;
    if (st == ST_OK) {
        opt_softcache(o)->lines = OPT_SOFTCACHE_AUTO;
        opt_memory(o)->assume_restrict = opt_memory(a->options)->assume_restrict;
        st = tune_run_one(bench, o, r, ds);
    }
    if (st == ST_OK && result_status(r) == ST_OK) {
        const struct opt_softcache *chosen = opt_softcache(result_options(r));
        opt_softcache(a->options)->lines = chosen->lines;
        memcpy(opt_softcache(a->options)->data, chosen->data, sizeof chosen->data);
        diag_add(ds, DIAG_NOTE, "profile", NULL, NO_SPAN, "%s", result_message(r));
    }
    tune_bench_close(bench);
    st = st == ST_OK ? result_status(r) : st;
    BASE_FREE(o, r);
    return st;
}

/* Tiles in another order are written where a launch has shown that they are independent. */
static enum status settle_tiles(const struct args *a, struct workspace *s,
                                const struct pass_output *code, struct diags *ds)
{
    struct tune_bench *bench = NULL;
    if (!code->tiles)
        return ST_OK;
    workspace_prover(s, a);
    enum status st = open_bench(a, s, &bench, ds);
    if (st == ST_OK)
        st = tune_tiles_check(bench, a->options, ds);
    tune_bench_close(bench);
    return st;
}

static void say_proof(const struct tune_proof *p, struct diags *ds)
{
    struct buf text = { 0 };
    tune_proof_text(p, &text);
    diag_add(ds,
             p->verdict == PROOF_BROKEN ? DIAG_ERROR
             : p->verdict == PROOF_NONE ? DIAG_WARNING
                                        : DIAG_NOTE,
             "prove", NULL, NO_SPAN, "%s%s", text.s ? text.s : "",
             p->verdict == PROOF_BROKEN ? "; nothing was written" : "");
    buf_free(&text);
}

/* What would be written is launched beside the original and attacked. ST_DIFFER: it broke. */
static enum status prove(const struct args *a, struct workspace *s, struct pass_output *code,
                         enum tune_level level, struct tune_proof *out, struct diags *ds)
{
    struct tune_bench *bench = NULL;
    struct buf text = { 0 };
    enum status st = ST_OK;
    if (!a->prove || !code->changed)
        return ST_OK;
    *out = (struct tune_proof){ .level = level };
    if (s->spec) {
        workspace_prover(s, a);
        pass_standalone(code, &text);
        st = text.oom ? ST_NOMEM : open_bench(a, s, &bench, ds);
        if (st == ST_OK)
            st = tune_prove_text(bench, a->options, code, (struct str){ text.s, text.n }, level, out);
        tune_bench_close(bench);
        buf_free(&text);
    } else {
        snprintf(out->message, sizeof out->message,
                 "no launch description, so nothing could be run (gpulocw launch FILE.ptx writes one)");
    }
    if (st == ST_OK)
        say_proof(out, ds);
    return st == ST_OK && out->verdict == PROOF_BROKEN ? ST_DIFFER : st;
}

/* Without --kernel, and with several kernels in the module: which one it is. */
static void say_kernel(const struct workspace *s, const struct args *a, struct diags *ds)
{
    unsigned entries = 0;
    char label[PTX_LABEL];
    for (uint32_t i = 0; i < s->module->nfuncs; i++)
        entries += s->module->funcs[i]->entry;
    if (a->kernel || entries < 2 || !s->kernel)
        return;
    struct diag *d =
        diag_add(ds, DIAG_NOTE, "kernel", s->module->path, NO_SPAN,
                 "'%s' is rewritten, one of %u kernels", ptx_label(s->kernel, label), entries);
    diag_hint(d, "--kernel NAME selects another one");
}

int cmd_rewrite(struct args *a)
{
    struct diags ds = { 0 };
    struct workspace s = { 0 };
    struct pass_output code = { 0 };
    struct costs c = { 0 };
    struct tune_proof proof = { .verdict = PROOF_NONE };
    enum tune_level level = TUNE_QUICK;
    enum status st = measure_contradictions(a->options, &ds);
    if (st == ST_OK)
        st = cmd_prove_level(a->prove, TUNE_QUICK, &level, &ds);
    if (st == ST_OK && a->with_launch && !a->output) {
        diag_error(&ds, "usage",
                   "--with-launch needs -o FILE.ptx: the launch description is written beside it");
        st = ST_USAGE;
    }
    if (st == ST_OK && a->with_launch)
        st = workspace_code_check(a->output, true, a->force, &ds);
    if (st == ST_OK)
        st = workspace_open(&s, a, &ds);
    if (st == ST_OK)
        say_kernel(&s, a, &ds);
    if (st == ST_OK && a->with_launch && !s.spec) {
        diag_error(&ds, "launch", "--with-launch needs a launch description of the original");
        st = ST_INPUT;
    }
    if (st == ST_OK)
        st = workspace_facts(&s, a, true, &ds);
    if (st == ST_OK)
        st = settle_softcache(a, &s, &ds);
    if (st == ST_OK) {
        struct pass_input in = workspace_input(&s, a->options);
        st = pass_apply(&in, &code, &ds);
    }
    if (st == ST_OK)
        st = settle_tiles(a, &s, &code, &ds);
    if (st == ST_OK && code.changed) {
        c = costs_of(&s, &code, a->options);
        say_cost(&s, &code, &c, &ds);
        say_classes(&s, &code, &ds);
    }
    if (st == ST_OK)
        workspace_say_launch(s.spec, a->options, &code, &ds);
    if (st == ST_OK && !code.changed && !measure_say_idle(a->options, &ds))
        diag_add(&ds, DIAG_NOTE, "options", NULL, NO_SPAN, "the options change nothing in '%s'",
                 s.kernel);
    if (st == ST_OK)
        st = prove(a, &s, &code, level, &proof, &ds);
    if (st == ST_OK)
        st = write_out(a, &s, &code, &c, &proof, &ds);
    if (st == ST_OK && a->with_launch)
        st = workspace_launch_write(a->output, s.spec, a->options, &code, &ds);
    pass_output_free(&code);
    workspace_close(&s);
    return cmd_finish(a, st, &ds);
}
