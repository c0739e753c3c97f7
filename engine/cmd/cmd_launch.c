/* launch: a first launch description for kernels that have none. */
#include "engine/analysis/analysis.h"
#include "engine/cmd/cmd_int.h"
#include "engine/cmd/io.h"
#include "engine/rec/launch.h"
#include "engine/session/guess.h"
#include "engine/workspace/args.h"
#include "engine/workspace/workspace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASKED_KERNELS = 4 /* of more, -k picks the one that is asked about */, ASK_AGAIN = 3 };

struct telling {
    const struct args *a;
    const char *kernel;
    double done;
};
static void tell_trial(void *ctx, const struct launch_spec *l)
{
    const struct telling *t = ctx;
    char what[192];
    snprintf(what, sizeof what, "%.120s: grid %ux%ux%u, block %ux%ux%u", t->kernel, l->grid.x, l->grid.y,
             l->grid.z, l->block.x, l->block.y, l->block.z);
    cmd_progress_detail(t->a, t->done, "trying sizes", what);
}

static enum status infer_kernel(const struct workspace *s, const struct args *a,
                                const struct ptx_func *f, const char *name, struct infer_asked *asked,
                                struct launch_spec *l, struct diags *ds)
{
    struct ana_kernel *facts = NULL;
    struct telling telling = { a, name, (double)f->index / s->module->nfuncs };
    asked->trying = tell_trial;
    asked->ctx = &telling;
    struct ana_opts o = { .cancel = a->cancel, .quick = true };
    enum status st = ana_run(s->module, f->name, &o, &facts, ds);
    if (st == ST_OK)
        st = launch_infer(facts, s->dev, asked, a->cancel, l, ds);
    ana_free(facts);
    return st;
}

/* ---- the two questions ---- */
static bool read_size(const char *text, struct infer_asked *to)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (end == text || *end || !n || n > INT32_MAX)
        return false;
    to->n = (uint32_t)n;
    return true;
}

static bool read_shape(const char *text, struct infer_asked *to)
{
    struct dim3u b = { 1, 1, 1 };
    int used = 0;
    if ((sscanf(text, "%ux%ux%u%n", &b.x, &b.y, &b.z, &used) < 3 || text[used]) &&
        (b.z = 1, sscanf(text, "%ux%u%n", &b.x, &b.y, &used) < 2 || text[used]) &&
        (b.y = 1, sscanf(text, "%u%n", &b.x, &used) < 1 || text[used]))
        return false;
    if (!b.x || !b.y || !b.z || b.x > 1024 || b.y > 1024 || b.z > 64 || dim3u_count(b) > 1024)
        return false;
    to->block = b;
    return true;
}

/* An empty line is the guess. True: *to is another one now. */
static bool ask_one(const struct args *a, const char *question, const char *again,
                    bool (*read)(const char *text, struct infer_asked *to), struct infer_asked *to)
{
    char answer[64];
    for (int k = 0; k < ASK_AGAIN; k++) {
        if (!a->io->ask(a->io->ctx, k ? again : question, answer, sizeof answer) || !answer[0])
            return false;
        if (read(answer, to))
            return true;
    }
    return false;
}

/* Sizes and shapes cannot be known: on a terminal the user is asked, with the guess as what an empty
 * line means. */
static enum status ask_kernel(const struct workspace *s, const struct args *a, const struct ptx_func *f,
                              const char *name, struct infer_asked *took, struct launch_spec *l,
                              bool *other, struct diags *ds)
{
    struct infer_asked now = { 0 };
    char size[256], shape[256];
    snprintf(size, sizeof size, "%s: size of the problem, for its integer parameters [%u]?", name,
             took->n);
    snprintf(shape, sizeof shape, "%s: threads of a block [%ux%ux%u]?", name, took->block.x,
             took->block.y, took->block.z);
    cmd_progress_end(a);
    *other = ask_one(a, size, "a whole number above 0:", read_size, &now);
    *other |= ask_one(a, shape, "X, XxY or XxYxZ, at most 1024 in all:", read_shape, &now);
    if (!*other)
        return ST_OK;
    launch_spec_free(l);
    *took = now;
    return infer_kernel(s, a, f, name, took, l, ds);
}

static uint32_t kernels_with_body(const struct ptx_module *m)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->nfuncs; i++)
        n += m->funcs[i]->entry && m->funcs[i]->has_body;
    return n;
}

/* Guessed, and asked about where somebody is there. */
static enum status describe_kernel(const struct workspace *s, const struct args *a,
                                   const struct ptx_func *f, const char *name, struct launch_spec *l,
                                   struct infer_asked *took, struct diags *ds)
{
    struct diags first = { 0 }, then = { 0 };
    *took = (struct infer_asked){ 0 };
    enum status st = infer_kernel(s, a, f, name, took, l, &first);
    if (st == ST_OK && a->io->ask && (a->kernel || kernels_with_body(s->module) <= ASKED_KERNELS)) {
        bool other = false;
        st = ask_kernel(s, a, f, name, took, l, &other, &then);
        if (other) /* what was said of the first guess holds no more */
            diags_free(&first);
    }
    diags_move(ds, &first);
    diags_move(ds, &then);
    diags_free(&first);
    diags_free(&then);
    return st;
}

static void put_name(struct str name, char *out, size_t n)
{
    struct buf b = { 0 };
    ptx_readable(name, &b);
    snprintf(out, n, "%s", b.s ? b.s : "");
    buf_free(&b);
}

/* A launch is called as its kernel is; the second of that name has its number. */
static enum status name_launch(struct launch_spec *l, size_t i)
{
    struct buf b = { 0 };
    unsigned same = 1;
    ptx_readable(str_of(l[i].kernel), &b);
    for (size_t k = 0; k < i; k++) {
        struct buf other = { 0 };
        ptx_readable(str_of(l[k].kernel), &other);
        same += b.n == other.n && b.n && !memcmp(b.s, other.s, b.n);
        buf_free(&other);
    }
    if (same > 1)
        buf_printf(&b, " #%u", same);
    base_free(l[i].name);
    l[i].name = buf_take(&b);
    return l[i].name ? ST_OK : ST_NOMEM;
}

/* What is worth a word: parts of the launch that do nothing. */
static void say_work(const struct infer_work *w, struct buf *b)
{
    const struct {
        double share;
        const char *what;
    } rows[] = { { w->idle_ctas, "of the CTAs do nothing" },
                 { w->idle_threads, "of the threads do nothing" },
                 { w->unread, "of the input is not read" },
                 { w->unwritten, "of the output is not written" } };
    for (size_t i = 0; w->known && i < ARRAY_LEN(rows); i++)
        if (rows[i].share >= 0.01) /* not where there is none (NaN) */
            buf_printf(b, "; %.0f %% %s", rows[i].share * 100, rows[i].what);
}

static void say_guess(const struct launch_spec *l, const struct infer_asked *took, struct diags *ds)
{
    struct buf b = { 0 };
    for (size_t i = 0; i < l->nargs; i++)
        if (l->args[i].kind == ARG_BUFFER)
            buf_printf(&b, "%s%s %s x %llu%s", b.n ? ", " : "", l->args[i].name,
                       elem_name(l->args[i].elem), (unsigned long long)l->args[i].count,
                       l->args[i].output ? " (output)" : "");
    for (size_t i = 0; i < l->nsymbols; i++)
        buf_printf(&b, "%s%s %s x %llu (constant)", b.n ? ", " : "", l->symbols[i].name,
                   elem_name(l->symbols[i].elem), (unsigned long long)l->symbols[i].count);
    if (!b.n)
        buf_puts(&b, "no buffers");
    say_work(&took->work, &b);
    if (took->in_part)
        buf_puts(&b,
                 "; too much to try whole: fewer CTAs ran clean, of these its first and its last ran");
    if (took->checked_part)
        buf_puts(&b, "; too much to check whole: its first CTAs are clean");
    diag_add(ds, DIAG_NOTE, "guess", NULL, NO_SPAN, "%s: grid %ux%ux%u, block %ux%ux%u (%s); %s",
             l->name, l->grid.x, l->grid.y, l->grid.z, l->block.x, l->block.y, l->block.z,
             took->why ? took->why : "as given", b.s ? b.s : "");
    buf_free(&b);
}

/* The description to its file; to standard output the document, or without a file the description. */
static enum status put_launches(const struct args *a, const struct launch_spec *l,
                                const struct infer_asked *took, size_t n, struct diags *ds)
{
    struct buf out = { 0 };
    enum status st = a->output ? launch_file_write(a->output, l, n, ds) : ST_OK;
    if (st == ST_OK && a->json)
        json_guess(l, took, n, &out);
    else if (st == ST_OK && !a->output)
        launch_file_text(l, n, &out);
    if (st == ST_OK && (a->json || !a->output))
        cmd_give(a, &out);
    return st;
}

int cmd_launch(struct args *a)
{
    struct diags ds = { 0 };
    struct workspace s = { 0 };
    struct launch_spec *l = NULL;
    struct infer_asked *took = NULL;
    size_t n = 0;
    bool found = false;
    const struct ptx_func *only = NULL;
    enum status st = workspace_ptx(&s, a, &ds);
    if (st == ST_OK && a->kernel)
        st = workspace_find_entry(s.module, a->kernel, &only, &ds);
    if (st == ST_OK)
        st = workspace_device(&s, a, &ds);
    if (st == ST_OK && (!(l = base_alloc((s.module->nfuncs + 1) * sizeof *l)) ||
                        !(took = base_alloc((s.module->nfuncs + 1) * sizeof *took))))
        st = ST_NOMEM;
    for (uint32_t i = 0; st == ST_OK && i < s.module->nfuncs; i++) {
        const struct ptx_func *f = s.module->funcs[i];
        if (!f->entry || !f->has_body || (a->kernel && f != only))
            continue;
        found = true;
        char name[128];
        put_name(f->name, name, sizeof name);
        cmd_progress_detail(a, (double)i / s.module->nfuncs, "trying sizes", name);
        st = describe_kernel(&s, a, f, name, &l[n], &took[n], &ds);
        if (st == ST_OK)
            st = name_launch(l, n);
        if (st == ST_OK) {
            say_guess(&l[n], &took[n], &ds);
            n++;
        }
    }
    cmd_progress_end(a);
    if (st == ST_OK && !found) {
        diag_add(&ds, DIAG_ERROR, "kernel", s.module->path, NO_SPAN, "no kernel '%s' in this module",
                 a->kernel ? a->kernel : "with a body");
        st = ST_INPUT;
    }
    if (n)
        diag_add(&ds, DIAG_NOTE, "guess", NULL, NO_SPAN,
                 a->io->ask ? "data are guesses: replace them with your own"
                            : "sizes and data are guesses: replace them with your own, or run launch "
                              "on a terminal");
    if (n)
        st = put_launches(a, l, took, n, &ds) == ST_OK ? st : ST_IO;
    for (size_t i = 0; i < n; i++)
        launch_spec_free(&l[i]);
    BASE_FREE(l, took);
    workspace_close(&s);
    return cmd_finish(a, st, &ds);
}
