/* What optimize came to: the document gpulocw-optimize, or a table for people. */
#include "engine/cmd/cmd_int.h"
#include "engine/cmd/optimize/optimize.h"
#include "engine/rec/gain.h"
#include "engine/session/document.h"
#include "engine/workspace/args.h"

#include <math.h>
#include <string.h>

/* ---- the document ---- */

static void put_equal(struct jw *w, const char *key, enum equality e)
{
    jw_key(w, key);
    if (e == EQUAL_UNKNOWN)
        jw_null(w);
    else
        jw_bool(w, e != EQUAL_NO);
}

static void put_shapes(struct jw *w, const struct optimized *x)
{
    jw_put_arr(w, "shapes");
    for (size_t i = 0; i < x->nshapes; i++) {
        const struct optimized_shape *s = &x->shape[i];
        jw_obj(w);
        jw_put_str(w, "name", s->name);
        jw_put_three(w, "grid", s->grid[0], s->grid[1], s->grid[2]);
        jw_put_three(w, "block", s->block[0], s->block[1], s->block[2]);
        jw_put_uint(w, "shared", s->shared);
        jw_put_num(w, "share", s->share);
        jw_put_num(w, "gain", s->gain);
        jw_put_str(w, "options_line", s->options);
        jw_put_uint(w, "applied", s->lost ? 0 : s->applied);
        jw_put_str(w, "session", s->session);
        jw_put_str(w, "why", s->why);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void put_kernel(struct jw *w, const struct optimized *x)
{
    jw_obj(w);
    jw_put_str(w, "name", x->name);
    jw_put_str(w, "readable", x->readable);
    jw_put_num(w, "share", x->share);
    jw_put_bool(w, "ptx", x->ptx);
    jw_put_bool(w, "captured", x->captured);
    jw_put_num(w, "gain", x->gain);
    jw_put_str(w, "evidence", x->evidence);
    jw_put_str(w, "options_line", x->options);
    jw_put_uint(w, "launches", x->launches);
    jw_put_uint(w, "applied", optimize_applied(x));
    put_equal(w, "equal", optimize_equal(x));
    jw_put_num(w, "covers", x->covers);
    put_shapes(w, x);
    jw_put_str(w, "session", x->session);
    jw_put_str(w, "why", x->why);
    jw_end_obj(w);
}

/* Kernels without PTX, by the reason. */
static void put_out_of_reach(struct jw *w, const struct optimize *o)
{
    jw_put_arr(w, "out_of_reach");
    for (size_t i = 0; i < o->n; i++) {
        const char *reason = o->v[i].why ? o->v[i].why : "no PTX";
        double share = 0;
        bool told = o->v[i].ptx;
        for (size_t k = 0; k < o->n && !o->v[i].ptx; k++) {
            bool same = !o->v[k].ptx && !strcmp(o->v[k].why ? o->v[k].why : "no PTX", reason);
            told = told || (same && k < i);
            share += same ? o->v[k].share : 0;
        }
        if (told)
            continue;
        jw_obj(w);
        jw_put_str(w, "why", reason);
        jw_put_num(w, "share", share);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void put_document(const struct optimize *o, struct buf *out)
{
    struct jw w = document_open(out, "gpulocw-optimize", 2);
    jw_put_obj(&w, "program");
    jw_put_words(&w, "command", o->a->program);
    jw_put_int(&w, "exit_status", o->exit);
    jw_put_num(&w, "wall_ns", o->wall_ns);
    jw_put_num(&w, "wall_tuned_ns", o->wall_tuned_ns);
    jw_put_uint(&w, "wall_runs", o->turns ? o->turns : 1);
    jw_put_num(&w, "wall_spread", o->turns ? o->spread : NAN);
    jw_put_num(&w, "gpu_ns", o->gpu_ns);
    jw_put_num(&w, "gpu_tuned_ns", o->gpu_tuned_ns);
    jw_put_str(&w, "evidence", evidence_name(o->a->emulate ? EVIDENCE_MODELLED : EVIDENCE_MEASURED));
    put_equal(&w, "output_same", o->output_same);
    jw_end_obj(&w);
    jw_put_arr(&w, "kernels");
    for (size_t i = 0; i < o->n; i++)
        put_kernel(&w, &o->v[i]);
    jw_end_arr(&w);
    put_out_of_reach(&w, o);
    document_close(&w);
}

/* ---- for people ---- */

/* What each shape got, where there are several. */
static void shapes_text(const struct optimized *x, struct buf *b)
{
    for (size_t i = 0; i < x->nshapes && x->nshapes > 1; i++) {
        const struct optimized_shape *s = &x->shape[i];
        if (isnan(s->share))
            buf_puts(b, "           ");
        else
            buf_printf(b, "    %5.1f %%", 100 * s->share);
        buf_printf(b, "   of it: %ux%ux%u of %ux%ux%u", s->grid[0], s->grid[1], s->grid[2], s->block[0],
                   s->block[1], s->block[2]);
        if (s->session)
            buf_printf(b, "  %s %s", gain_words(s->gain).s, s->options ? s->options : "");
        buf_printf(b, "%s%s\n", s->why ? ": " : "", s->why ? s->why : "");
    }
}

static void kernel_text(const struct optimized *x, struct buf *b)
{
    if (isnan(x->share))
        buf_puts(b, "    n/a  ");
    else
        buf_printf(b, "%5.1f %%  ", 100 * x->share);
    if (x->tuned)
        buf_printf(b, "%6s %-9s ", gain_words(x->gain).s, x->evidence ? x->evidence : "");
    else
        buf_printf(b, "%6s %-9s ", "", "");
    buf_puts(b, x->readable);
    if (x->options)
        buf_printf(b, "  %s", x->options);
    if (optimize_applied(x))
        buf_printf(b, "; in %llu of %llu launches", (unsigned long long)optimize_applied(x),
                   (unsigned long long)x->launches);
    buf_printf(b, "%s%s\n", x->why ? ": " : "", x->why ? x->why : "");
    shapes_text(x, b);
}

#define SLOWER_SHARE 0.01 /* and a millisecond: what a program may take longer */
static const char *whole_verdict(const struct optimize *o)
{
    double more = o->wall_tuned_ns - o->wall_ns;
    if (more > SLOWER_SHARE * o->wall_ns + 1e6 && more > o->spread * o->wall_ns)
        return ": as a whole it takes longer tuned, leave it alone";
    return fabs(more) <= o->spread * o->wall_ns ? ": no difference beyond that" : "";
}

static void whole_text(const struct optimize *o, struct buf *b)
{
    static const char *const said[] = {
        [EQUAL_UNKNOWN] =
            "not compared: the program prints something else each time, or nothing was put in",
        [EQUAL_YES] = "the same",
        [EQUAL_WITHIN] = "the same",
        [EQUAL_NO] = "DIFFERENT: do not use it",
        [EQUAL_PART] = "not compared"
    };
    const double *pair[][2] = { { &o->gpu_ns, &o->gpu_tuned_ns }, { &o->wall_ns, &o->wall_tuned_ns } };
    static const char *const what[] = { "kernels", "program" };
    for (size_t i = 0; i < ARRAY_LEN(pair); i++)
        if (!isnan(*pair[i][0]) && !isnan(*pair[i][1]))
            buf_printf(b, "%s  %.3f ms unchanged, %.3f ms tuned (%s%s)\n", what[i], *pair[i][0] / 1e6,
                       *pair[i][1] / 1e6, gain_words(gain_between(*pair[i][0], *pair[i][1])).s,
                       o->a->emulate ? ", expected of simulated times" : "");
    if (o->turns)
        buf_printf(b, "         medians of %u runs each, by turns, which differ by up to %.1f %%%s\n",
                   o->turns, 100 * o->spread, whole_verdict(o));
    if (!o->a->emulate)
        buf_printf(b, "output   %s\n", said[o->output_same]);
    buf_printf(b, "files    %s: sessions and launches; gpulocw apply puts them in again\n", o->dir);
}

static void put_table(const struct optimize *o, struct buf *b)
{
    bool any = false;
    buf_puts(b, "  share    gain           kernel\n");
    for (size_t i = 0; i < o->n; i++) {
        kernel_text(&o->v[i], b);
        any |= optimize_stands(&o->v[i]);
    }
    if (any)
        whole_text(o, b);
    else
        buf_puts(b, "nothing was found that makes the program faster: leave it alone\n");
}

void optimize_put(struct optimize *o)
{
    struct buf b = { 0 }, program = { 0 };
    buf_put(&program, o->printed[0].s ? o->printed[0].s : "", o->printed[0].n);
    (o->a->aside ? cmd_put_aside : cmd_put_exact)(o->a, &program);
    if (o->a->json) {
        put_document(o, &b);
        cmd_put(o->a, &b);
    } else {
        put_table(o, &b);
        cmd_put_aside(o->a, &b);
    }
    buf_free(&program);
    buf_free(&b);
}
