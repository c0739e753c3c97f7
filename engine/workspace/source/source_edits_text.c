/* What a configuration means in the source, for people and for programs. */
#include "engine/base/base.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/knobs.h"
#include "engine/rec/options.h"
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
    options_line(&k->options, &line);
    buf_printf(b, "%s: %s", ptx_label(k->kernel, label), line.s ? line.s : "");
    if (k->original_ns && k->tuned_ns)
        buf_printf(b, ", %.2fx %s on %s", ratio(k->original_ns, k->tuned_ns),
                   k->dev.kind == DEV_SIMULATED ? "simulated" : "measured", k->dev.name);
    buf_puts(b, "\n");
    buf_free_checked(&line, b);
}

void source_edits_text(const struct tuned_kernel *k, const struct source_edits *h, struct buf *b)
{
    head_text(k, b);
    for (size_t i = 0; i < h->n; i++) {
        const struct source_advice *a = &h->advice[i];
        if (a->file && a->line)
            buf_printf(b, "%s:%u: ", a->file, a->line);
        buf_printf(b, "%s%s%s%s\n", a->knob, a->knob[0] ? ": " : "", a->text,
                   a->edited ? " (in the diff)" : "");
    }
    if (!h->n)
        buf_puts(b, "nothing in the source changes\n");
    source_edits_diff(h, b);
    if (h->tried)
        buf_printf(b,
                   "compiled and simulated on %s: the patched source %.2fx, the rewritten PTX %.2fx; "
                   "outputs %s\n",
                   h->device, ratio(h->original_ns, h->patched_ns), ratio(h->original_ns, h->tuned_ns),
                   h->equal ? "equal to the original's" : "DIFFER from the original's");
    else if (h->why_not)
        buf_printf(b, "the patched source was not tried: %s\n", h->why_not);
}

/* ---- the document ---- */
static void put_string(struct buf *b, const char *key, const char *text)
{
    buf_printf(b, ",\"%s\":", key);
    if (text)
        buf_json(b, str_of(text));
    else
        buf_puts(b, "null");
}

void source_edits_json(const struct tuned_kernel *k, const struct source_edits *h, struct buf *b)
{
    struct buf line = { 0 }, diff = { 0 };
    options_line(&k->options, &line);
    source_edits_diff(h, &diff);
    buf_puts(b, "{\"name\":");
    buf_json(b, str_of(k->kernel));
    put_string(b, "language", source_lang_name(h->lang));
    put_string(b, "options", line.s ? line.s : "");
    buf_puts(b, ",\"advice\":[");
    for (size_t i = 0; i < h->n; i++) {
        const struct source_advice *a = &h->advice[i];
        buf_printf(b, "%s{\"knob\":\"%s\"", i ? ",\n" : "\n", a->knob);
        put_string(b, "file", a->file);
        if (a->line)
            buf_printf(b, ",\"line\":%u", a->line);
        else
            buf_puts(b, ",\"line\":null");
        put_string(b, "text", a->text);
        buf_printf(b, ",\"in_diff\":%s}", a->edited ? "true" : "false");
    }
    buf_puts(b, "]");
    put_string(b, "diff", diff.n ? diff.s : NULL);
    if (h->tried) {
        buf_printf(b,
                   ",\"tried\":{\"original_ns\":%lld,\"rewritten_ns\":%lld,\"patched_ns\":%lld,"
                   "\"origin\":\"simulated\",\"equal_to_original\":%s",
                   (long long)h->original_ns, (long long)h->tuned_ns, (long long)h->patched_ns,
                   h->equal ? "true" : "false");
        put_string(b, "device", h->device);
        buf_puts(b, "}");
    } else {
        buf_puts(b, ",\"tried\":null");
    }
    put_string(b, "not_tried", h->why_not);
    buf_puts(b, "}");
    buf_free_checked(&line, b);
    buf_free_checked(&diff, b);
}
