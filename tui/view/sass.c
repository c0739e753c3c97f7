/* sass: the kernel's machine code. Of a PTX text ptxas makes it, with the present options' rewrite; of a
 * program or cubin it is the code in the file, as long as no option rewrites the kernel. It is made on
 * a thread of its own and kept until text, kernel or options change. */
#include "engine/pass/pass.h"
#include "engine/workspace/machine/machine.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/app/work.h"
#include "tui/base/text.h"
#include "tui/view/view.h"

#include <stdio.h>
#include <string.h>

#define OLDEST_CC 75 /* what ptxas of CUDA 13 still makes code for */

struct sass_worker {
    struct work work;
    struct machine_code code;
    bool program, rewritten; /* read from a file; of the rewritten text */
    char why[300];
};

/* ---- the work ---- */
static void clear(struct work *w)
{
    machine_free(&((struct sass_worker *)w)->code);
}

/* Does the file hold machine code? Executables, libraries and cubins are ELF files. */
static bool is_program(const char *path)
{
    char head[4] = { 0 };
    FILE *f = path ? fopen(path, "rb") : NULL;
    bool elf = f && fread(head, 1, sizeof head, f) == sizeof head && !memcmp(head, "\177ELF", 4);
    if (f)
        fclose(f);
    return elf;
}

static bool make(struct work *w)
{
    struct sass_worker *s = (struct sass_worker *)w;
    const struct job_snapshot *n = w->snap;
    struct buf text = { 0 };
    struct diags ds = { 0 };
    if (!n->module || !n->kernel)
        return false;
    s->rewritten = n->preview && n->preview->changed;
    s->program = !s->rewritten && is_program(n->module->path);
    char target[32];
    snprintf(target, sizeof target, "%.*s", (int)n->module->target_text.n, n->module->target_text.s);
    if (s->rewritten)
        pass_standalone(n->preview, &text);
    uint32_t cc = n->has_dev ? (uint32_t)(n->dev.cc_major * 10 + n->dev.cc_minor) : 0;
    if (cc < OLDEST_CC) /* of a simulated device that ptxas no longer knows */
        cc = 0;
    struct machine_want want = { .ptx = s->rewritten ? (struct str){ text.s, text.n } : n->module->text,
                                 .file = s->program ? n->module->path : NULL,
                                 .kernel = n->kernel,
                                 .target = target,
                                 .cc = cc };
    enum status st = text.oom ? ST_NOMEM : machine_make(&want, &s->code, &ds);
    if (st != ST_OK)
        snprintf(s->why, sizeof s->why, "%s", ds.n && ds.v[0].msg ? ds.v[0].msg : status_text(st));
    diags_free(&ds);
    buf_free(&text);
    return st == ST_OK;
}

static const struct sass_worker *present(struct app *a)
{
    if (!a->sass && a->engine.hold && a->snap->module && a->snap->kernel) {
        struct sass_worker *s = base_alloc(sizeof *s);
        if (s) {
            s->work.run = make;
            s->work.clear = clear;
            a->sass = work_start(&a->engine, &s->work);
            a->list[PANEL_SASS] = (struct list){ 0 };
        }
    }
    return (const struct sass_worker *)a->sass;
}

static const struct sass_worker *ready(const struct app *a)
{
    return a->sass && work_state(a->sass) == WORK_READY ? (const struct sass_worker *)a->sass : NULL;
}

/* ---- the page ---- */
static void put_number(struct row *r, int v, const char *what, bool bad)
{
    if (v >= 0)
        row_put(r, bad && v > 0 ? ROLE_WARN : ROLE_VALUE, "  %d %s", v, what);
}

/* Registers, spills and how many instructions touch which memory. */
static void put_summary(struct app *a, const struct sass_worker *s, unsigned w)
{
    const struct machine_code *c = &s->code;
    struct page *p = &a->chart[PANEL_SASS];
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_TITLE, " %s",
            s->program     ? "as stored in the file"
            : s->rewritten ? "the rewritten text through ptxas"
                           : "the original through ptxas");
    if (*c->arch)
        row_put(&r, ROLE_LABEL, " for %s:", c->arch);
    put_number(&r, c->said.registers, "registers", false);
    put_number(&r, c->said.spill_stores, "bytes spilled", true);
    put_number(&r, c->said.spill_loads, "bytes reloaded", true);
    put_number(&r, c->said.stack, "bytes of stack", true);
    put_number(&r, c->said.shared, "bytes of shared memory", false);
    page_flow(a, p, &r, 3, w, -1);
    if (!c->n)
        return;
    row_put(&r, ROLE_LABEL, " instructions that");
    row_put(&r, ROLE_MEMORY, "  load: %u,", c->loads);
    row_put(&r, ROLE_MEMORY, "  store: %u", c->stores);
    row_put(&r, ROLE_VALUE, "  to or from shared memory: %u,", c->shared_accesses);
    row_put(&r, c->local_accesses ? ROLE_WARN : ROLE_VALUE, "  local memory: %u", c->local_accesses);
    page_flow(a, p, &r, 3, w, -1);
}

static void put_state(struct app *a, struct page *p, const struct sass_worker *s, unsigned w)
{
    if (!a->snap->module || !a->snap->kernel)
        page_hint(a, p, w, view_unready(a, ""));
    else if (!s)
        page_hint(a, p, w, "The machine code cannot be generated here.");
    else if (work_state(a->sass) == WORK_BUSY)
        page_hint(a, p, w, "Running ptxas and the disassembler ...");
    else
        page_wrap(a, p, ROLE_WARN, 2, w - 2,
                  work_state(a->sass) == WORK_READY
                      ? arena_printf(a->frame, "The instructions cannot be shown: %s.", s->code.missing)
                      : s->why,
                  -1);
}

static void sass_update(struct app *a, unsigned w, unsigned h)
{
    struct page *p = &a->page[PANEL_SASS];
    (void)h;
    page_clear(p);
    page_clear(&a->chart[PANEL_SASS]);
    const struct sass_worker *s = present(a), *done = ready(a);
    if (!done || !done->code.n)
        put_state(a, p, s, w);
    if (done)
        put_summary(a, done, w);
    list_set_count(&a->list[PANEL_SASS], done && done->code.n ? done->code.n : p->n);
}

/* Offset, CUDA line, instruction. */
static void sass_line(struct app *a, size_t i, unsigned w, struct row *r)
{
    const struct sass_worker *s = ready(a);
    const struct machine_line *l = s && i < s->code.n ? &s->code.v[i] : NULL;
    if (!l)
        return;
    if (!l->inst) {
        row_put(r, ROLE_SYMBOL, " %.*s", (int)l->text.n, l->text.s);
        return;
    }
    row_put(r, ROLE_DIM, " %05x ", l->offset);
    if (w >= 40 && l->cuda)
        row_right(r, ROLE_LABEL, 6, "%u", l->cuda);
    else if (w >= 40)
        row_put(r, ROLE_DIM, "%6s", "");
    row_put(r, ROLE_TEXT, "  ");
    row_put(r, l->memory ? ROLE_MEMORY : ROLE_TEXT, "%.*s", (int)l->text.n, l->text.s);
}

static void sass_head(struct app *a, unsigned w, struct row *r)
{
    const struct sass_worker *s = ready(a);
    if (s && s->code.n)
        row_put(r, ROLE_LABEL, w >= 40 ? "  byte   CUDA  instruction" : "  byte  instruction");
}

static unsigned next_access(struct app *a, int by)
{
    const struct sass_worker *s = ready(a);
    struct list *l = &a->list[PANEL_SASS];
    size_t n = s ? s->code.n : 0, at = l->cursor;
    for (size_t k = 0; k < n; k++) {
        at = by > 0 ? (at + 1) % n : (at + n - 1) % n;
        if (s->code.v[at].memory) {
            list_show(l, at);
            return UI_REDRAW;
        }
    }
    app_notice(a, DIAG_NOTE, "%s", "no access to global memory here");
    return UI_REDRAW;
}

static unsigned sass_request(struct app *a, enum request r)
{
    switch (r) {
    case REQ_SASS_NEXT: return next_access(a, 1);
    case REQ_SASS_PREV: return next_access(a, -1);
    default: return 0;
    }
}

const struct view view_sass = { sass_update, sass_head, sass_line, sass_request, NULL, NULL };
