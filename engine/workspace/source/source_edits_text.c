/* What a configuration means in the source, for people and for programs. */
#include "engine/base/json_write.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/knobs.h"
#include "engine/workspace/source_edits.h"
#include "engine/workspace/tuned.h"

static double ratio(int64_t a, int64_t b)
{
    return b > 0 ? (double)a / (double)b : 0;
}

/* ---- for people ---- */
static void head_text(const struct tuned_kernel *k, struct buf *b)
{
    struct buf line = { 0 };
    char label[PTX_LABEL];
    options_line(k->options, &line);
    buf_printf(b, "%s: %s", ptx_label(k->kernel, label), line.s ? line.s : "");
    if (k->original_ns && k->tuned_ns)
        buf_printf(b, ", %.2fx %s on %s", ratio(k->original_ns, k->tuned_ns),
                   k->dev.kind == DEV_SIMULATED ? "simulated" : "measured", k->dev.name);
    buf_puts(b, "\n");
    buf_free_checked(&line, b);
}

/* Where the times of both are not the same, what differs. */
static void put_difference(const struct source_edits *h, struct buf *b)
{
    double r = ratio(h->patched_ns, h->tuned_ns);
    if (r > 0.95 && r < 1.05)
        return;
    buf_printf(b,
               "the difference: the edited source executes %.0f warp instructions with %u registers a "
               "thread, the rewritten PTX %.0f with %u\n",
               h->patched_insts, h->patched_regs, h->tuned_insts, h->tuned_regs);
}

static void put_state(const struct tuned_kernel *k, const struct source_edits *h, struct buf *b)
{
    if (h->state == SOURCE_VERIFIED) {
        buf_printf(b,
                   "verified: compiled, outputs equal; simulated on %s: the source %.2fx, the rewritten "
                   "PTX %.2fx; %.0f and %.0f sectors loaded\n",
                   h->device, ratio(h->original_ns, h->patched_ns), ratio(h->original_ns, h->tuned_ns),
                   h->patched_sectors, h->tuned_sectors);
        put_difference(h, b);
        return;
    }
    if (h->state == SOURCE_UNTRIED)
        buf_printf(b, "untried: %s\n", h->why ? h->why : "");
    else
        buf_printf(b,
                   "%s; the rewritten PTX itself goes into the program: gpulocw apply %s -- COMMAND\n",
                   h->why ? h->why : "", k->from);
}

static bool edited(const struct source_edits *h)
{
    size_t n = 0;
    for (size_t i = 0; i < h->nfiles; i++)
        n += h->file[i].nedits;
    return n > 0;
}

void source_edits_text(const struct tuned_kernel *k, const struct source_edits *h, struct buf *b)
{
    head_text(k, b);
    for (size_t i = 0; i < h->n; i++) {
        const struct source_advice *a = &h->advice[i];
        if (a->file && a->line)
            buf_printf(b, "%s:%u: ", a->file, a->line);
        buf_printf(b, "%s%s%s%s\n", a->knob, a->knob[0] ? ": " : "", a->text,
                   a->form == SOURCE_EDIT ? " (in the diff)" : "");
    }
    if (!edited(h) && h->state == SOURCE_VERIFIED)
        buf_puts(b, h->n ? "the kernel's source stays as it is\n" : "nothing in the source changes\n");
    source_edits_diff(h, b);
    put_state(k, h, b);
}

/* ---- the document ---- */
static void put_advice(struct jw *w, const struct source_advice *a)
{
    jw_obj(w);
    jw_put_str(w, "knob", a->knob);
    jw_put_str(w, "file", a->file);
    jw_put_uint_if(w, "line", a->line != 0, a->line);
    jw_put_str(w, "text", a->text);
    jw_put_bool(w, "in_diff", a->form == SOURCE_EDIT);
    jw_end_obj(w);
}

/* before: the line, empty where lines are put in before it. */
static void put_edits(struct jw *w, const struct source_edits *h)
{
    jw_put_arr(w, "edits");
    for (size_t i = 0; i < h->nfiles; i++)
        for (size_t k = 0; k < h->file[i].nedits; k++) {
            const struct source_file *f = &h->file[i];
            const struct source_edit *e = &f->edit[k];
            jw_obj(w);
            jw_put_str(w, "file", f->name);
            jw_put_uint(w, "line", e->line);
            jw_put_view(w, "before", e->insert ? STR("") : f->line[e->line - 1]);
            jw_put_str(w, "after", e->text);
            jw_end_obj(w);
        }
    jw_end_arr(w);
}

static void put_launch(struct jw *w, const struct tuned_kernel *k)
{
    if (!k->has_launch) {
        jw_put_null(w, "launch");
        return;
    }
    jw_put_obj(w, "launch");
    jw_put_dim(w, "grid", k->tgrid);
    jw_put_dim(w, "block", k->tblock);
    jw_put_uint(w, "shared", k->tshared);
    jw_end_obj(w);
}

static void put_tried(struct jw *w, const struct source_edits *h)
{
    if (!h->tried) {
        jw_put_null(w, "tried");
        return;
    }
    jw_put_obj(w, "tried");
    jw_put_int(w, "original_ns", h->original_ns);
    jw_put_int(w, "rewritten_ns", h->tuned_ns);
    jw_put_int(w, "patched_ns", h->patched_ns);
    jw_put_str(w, "origin", "simulated");
    jw_put_bool(w, "equal_to_original", h->equal);
    jw_put_num(w, "rewritten_sectors", h->tuned_sectors);
    jw_put_num(w, "patched_sectors", h->patched_sectors);
    jw_put_str(w, "device", h->device);
    jw_end_obj(w);
}

void source_edits_json(struct jw *w, const struct tuned_kernel *k, const struct source_edits *h)
{
    struct buf line = { 0 }, diff = { 0 };
    options_line(k->options, &line);
    source_edits_diff(h, &diff);
    jw_obj(w);
    jw_put_str(w, "name", k->kernel);
    jw_put_str(w, "language", source_lang_name(h->lang));
    jw_put_str(w, "options", line.s ? line.s : "");
    jw_put_arr(w, "advice");
    for (size_t i = 0; i < h->n; i++)
        put_advice(w, &h->advice[i]);
    jw_end_arr(w);
    put_edits(w, h);
    put_launch(w, k);
    jw_put_str(w, "diff", diff.n ? diff.s : NULL);
    jw_put_bool(w, "changes_source", edited(h) || h->state != SOURCE_VERIFIED);
    jw_put_bool(w, "certain", h->state == SOURCE_VERIFIED);
    jw_put_str(w, "verified", h->state == SOURCE_VERIFIED ? "compiled, outputs equal" : NULL);
    jw_put_str(w, "why", h->why);
    put_tried(w, h);
    jw_put_str(w, "not_tried", h->tried ? NULL : h->why);
    jw_end_obj(w);
    buf_free_checked(&line, w->out);
    buf_free_checked(&diff, w->out);
}
