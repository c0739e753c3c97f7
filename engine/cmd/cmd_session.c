/* replay: a saved session again, as text or in the workbench. source: what its recommendation means in
 * the source. */
#include "engine/cmd/cmd.h"
#include "engine/cmd/cmd_int.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/knobs.h"
#include "engine/search/found.h"
#include "engine/session/document.h"
#include "engine/session/roofline.h"
#include "engine/session/run.h"
#include "engine/session/session.h"
#include "engine/workspace/args.h"
#include "engine/workspace/source_edits.h"
#include "engine/workspace/tuned.h"

#include <string.h>
#include <unistd.h>

static void put_found(const struct session_run *r, struct buf *out)
{
    struct buf line = { 0 };
    unsigned all = r->found->launches, twice = r->found->whole + r->found->again;
    char label[PTX_LABEL];
    options_line(r->found->options, &line);
    buf_printf(out, "tune of %s on %s: %u of %u configurations tried\n", ptx_label(r->kernel, label),
               r->dev.name, all > twice ? all - twice : all, r->found->space);
    if (r->found->leave_alone)
        buf_printf(out, "%s: %s\n",
                   r->found->untried[0] || r->found->interrupted ? "nothing yet" : "leave it alone",
                   r->found->reason);
    else
        buf_printf(out, "recommended %s: %s\n", line.n ? line.s : "(as it is)", r->found->reason);
    buf_free(&line);
}

static void put_run(const struct session_run *r, struct roofline_device *d, struct buf *out)
{
    if (r->kind == RUN_SWEEP)
        cmd_sweep_text(&r->sweep, &r->dev, r->kernel, out);
    else if (r->kind == RUN_ONE)
        cmd_result_text(r->one, &r->dev, r->kernel, d, out);
    else
        put_found(r, out);
    if (r->race[0])
        buf_printf(out, "warning: %s\n", r->race);
    if (r->note[0])
        buf_printf(out, "note: %s\n", r->note);
}

/* Written in pieces: of a large session the text would take as much again. */
#define PIECE ((size_t)1 << 20)

static void put_session(const struct args *a, struct session *s)
{
    struct roofline_device device = { NULL, NULL };
    struct buf out = { 0 };
    buf_printf(&out, "session of %s, recorded %s\n",
               session_ptx_path(s) ? session_ptx_path(s) : "an unnamed program", session_time(s));
    for (size_t i = 0; i < session_count(s); i++) {
        const struct session_run *r = session_look(s, i);
        if (r && !r->deleted) {
            buf_printf(&out, "\n== run %zu ==\n", i + 1);
            put_run(r, &device, &out);
        }
        session_rest(s, i);
        if (out.n >= PIECE) {
            cmd_put(a, &out);
            buf_clear(&out);
        }
    }
    cmd_give(a, &out);
    roofline_device_free(&device);
}

int cmd_replay(struct args *a)
{
    struct diags ds = { 0 };
    struct session *s = NULL;
    if (!a->nfiles) {
        diag_error(&ds, "usage", "no session given");
        return cmd_finish(a, ST_USAGE, &ds);
    }
    bool screen = a->front && !a->plain && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);
    if (screen) {
        struct cmd_front_opts o = { .replay = true, .replay_speed = a->speed };
        return cmd_front(a, a->file[0], &o);
    }
    enum status st = session_load(a->file[0], &s, &ds);
    if (st == ST_OK)
        put_session(a, s);
    if (st == ST_OK && session_trouble(s, &ds))
        st = ST_INPUT;
    session_free(s);
    return cmd_finish(a, st, &ds);
}

/* ---- source ---- */
static enum status lang_of(const char *said, enum source_lang *out, struct diags *ds)
{
    *out = SOURCE_ANY;
    if (!said)
        return ST_OK;
    for (int l = SOURCE_CUDA; l <= SOURCE_NUMBA; l++)
        if (strcmp(said, source_lang_name(l)) == 0)
            *out = (enum source_lang)l;
    if (*out != SOURCE_ANY)
        return ST_OK;
    diag_error(ds, "usage", "--lang must be cuda, triton or numba, not '%s'", said);
    return ST_USAGE;
}

int cmd_source(struct args *a)
{
    struct diags ds = { 0 };
    struct tuned_kernels t = { 0 };
    struct buf b = { 0 };
    enum source_lang lang = SOURCE_ANY;
    enum status st = lang_of(a->lang, &lang, &ds);
    if (st == ST_OK && a->nfiles != 1) {
        diag_error(&ds, "usage", "no session given: gpulocw source SESSION.json");
        st = ST_USAGE;
    }
    if (st == ST_OK)
        st = tuned_read(a->file[0], a->kernel, &t, &ds);
    struct jw w = { .out = &b };
    if (a->json) {
        w = document_open(&b, "gpulocw-source-advice", 2);
        jw_put_arr(&w, "kernels");
    }
    for (size_t i = 0; i < t.n && st == ST_OK; i++) {
        struct source_edits h = { 0 };
        t.v[i].within = a->root_n ? a->root : NULL;
        t.v[i].nwithin = a->root_n;
        st = source_edits_make(&t.v[i], a->file[0], lang, &h, &ds);
        if (st == ST_OK && a->json)
            source_edits_json(&w, &t.v[i], &h);
        else if (st == ST_OK)
            source_edits_text(&t.v[i], &h, &b);
        source_edits_free(&h);
    }
    if (a->json) {
        jw_end_arr(&w);
        document_close(&w);
    }
    if (st == ST_OK)
        cmd_give(a, &b);
    tuned_free(&t);
    return cmd_finish(a, st, &ds);
}
