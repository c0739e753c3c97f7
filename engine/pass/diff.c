/* Unified diff of a rewrite. The origins of the new lines say which original line
 * each one is, so no search is needed: what is not claimed was removed. */
#include "engine/pass/pass.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/ptx.h"

enum { CONTEXT = 3 };

struct differ {
    const struct ptx_module *a, *b;
    struct pass_diff_line *v;
    size_t n, cap;
    bool oom;
};

static void add(struct differ *d, char sign, uint32_t old, uint32_t now)
{
    if (d->oom || !base_grow((void **)&d->v, d->n, &d->cap, sizeof *d->v)) {
        d->oom = true;
        return;
    }
    d->v[d->n++] = (struct pass_diff_line){ sign, old, now };
}

static void removed_up_to(struct differ *d, uint32_t *old, uint32_t stop, uint32_t now)
{
    while (*old < stop)
        add(d, '-', (*old)++, now);
}

static void align(struct differ *d, const struct pass_output *o)
{
    uint32_t old = 1, olds = ptx_line_count(d->a), news = ptx_line_count(d->b), k;
    for (k = 1; k <= news; k++) {
        uint32_t from = k <= o->nlines ? o->lines[k - 1].line : 0;
        if (!from || from < old) {
            add(d, '+', old, k);
            continue;
        }
        removed_up_to(d, &old, from, k);
        if (str_eq(ptx_line_text(d->a, from), ptx_line_text(d->b, k))) {
            add(d, ' ', old, k);
        } else {
            add(d, '-', old, k);
            add(d, '+', old + 1, k);
        }
        old++;
    }
    removed_up_to(d, &old, olds + 1, k);
}

/* One hunk: from..to, with the counts its header states. */
static void hunk(const struct differ *d, size_t from, size_t to, struct buf *out)
{
    uint32_t old = 0, now = 0;
    for (size_t k = from; k < to; k++) {
        old += d->v[k].sign != '+';
        now += d->v[k].sign != '-';
    }
    buf_printf(out, "@@ -%u,%u +%u,%u @@\n", old ? d->v[from].old : d->v[from].old - 1, old,
               now ? d->v[from].now : d->v[from].now - 1, now);
    for (size_t k = from; k < to; k++) {
        struct str t =
            d->v[k].sign == '+' ? ptx_line_text(d->b, d->v[k].now) : ptx_line_text(d->a, d->v[k].old);
        buf_printf(out, "%c%.*s\n", d->v[k].sign, (int)t.n, t.s);
    }
}

static void hunks(const struct differ *d, struct buf *out)
{
    for (size_t k = 0; k < d->n;) {
        while (k < d->n && d->v[k].sign == ' ')
            k++;
        if (k == d->n)
            return;
        size_t from = k > CONTEXT ? k - CONTEXT : 0, quiet = 0, to = k;
        while (to < d->n && quiet <= 2 * CONTEXT) {
            quiet = d->v[to].sign == ' ' ? quiet + 1 : 0;
            to++;
        }
        size_t keep = quiet > CONTEXT ? to - (quiet - CONTEXT) : to;
        hunk(d, from, keep, out);
        k = keep;
    }
}

struct pass_diff_line *pass_diff_lines(const struct ptx_module *original, const struct pass_output *o,
                                       size_t *n)
{
    struct differ d = { .a = original, .b = o->module };
    *n = 0;
    if (o->module)
        align(&d, o);
    if (d.oom) {
        base_free(d.v);
        return NULL;
    }
    *n = d.n;
    return d.v;
}

void pass_diff(const struct ptx_module *original, const struct pass_output *o, struct buf *out)
{
    if (!o->changed || !o->module)
        return;
    const char *path = original->path ? original->path : "original.ptx";
    struct differ d = { .a = original, .b = o->module };
    align(&d, o);
    out->oom |= d.oom;
    buf_printf(out, "--- %s\n+++ %s (rewritten)\n", path, path);
    hunks(&d, out);
    base_free(d.v);
}
