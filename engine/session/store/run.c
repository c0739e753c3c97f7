/* One run of a session: its memory, and as JSON. */
#include "engine/base/base.h"
#include "engine/rec/knobs.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/result.h"
#include "engine/search/tuner.h"
#include "engine/session/session.h"
#include "engine/session/session_int.h"
#include "engine/session/store/store_int.h"
#include "engine/tune/sweep.h"

#include <string.h>

static const char *const kinds[] = { "run", "sweep", "tune", NULL };

const struct field session_run_fields[RUN_FIELDS] = {
    FIELD_E(session_run, "kind", kind, kinds),
    FIELD(session_run, FIELD_I64, "time_unix_s", time),
    FIELD(session_run, FIELD_TEXT, "kernel", kernel),
    FIELD(session_run, FIELD_TEXT, "note", note),
    FIELD(session_run, FIELD_TEXT, "race", race),
    FIELD(session_run, FIELD_BOOL, "deleted", deleted),
    FIELD(session_run, FIELD_BOOL, "earlier_text", earlier),
    FIELD(session_run, FIELD_U32, "grid_x", grid.x),
    FIELD(session_run, FIELD_U32, "grid_y", grid.y),
    FIELD(session_run, FIELD_U32, "grid_z", grid.z),
    FIELD(session_run, FIELD_U32, "block_x", block.x),
    FIELD(session_run, FIELD_U32, "block_y", block.y),
    FIELD(session_run, FIELD_U32, "block_z", block.z),
    FIELD(session_run, FIELD_HEX64, "launch_key", launch_key),
};

const struct field session_sweep_fields[SWEEP_FIELDS] = {
    FIELD(session_run, FIELD_BOOL, "complete", sweep.complete),
    FIELD(session_run, FIELD_U32, "warps", sweep.warps),
};

const struct field session_found_fields[FOUND_FIELDS] = {
    FIELD(tune_found, FIELD_BOOL, "leave_alone", leave_alone),
    FIELD(tune_found, FIELD_TEXT, "reason", reason),
    FIELD(tune_found, FIELD_U32, "launches", launches),
    FIELD(tune_found, FIELD_U32, "space", space),
    FIELD(tune_found, FIELD_U32, "skipped_by_model", skipped),
    FIELD(tune_found, FIELD_U32, "timed_whole", whole),
    FIELD(tune_found, FIELD_U32, "measured_again", again),
    FIELD(tune_found, FIELD_BOOL, "interrupted", interrupted),
    FIELD(tune_found, FIELD_TEXT, "untried", untried),
};

/* n things of `size`, copied; NULL of none. *ok: false where memory ran out, else as it was. */
static void *copied(const void *from, size_t n, size_t size, bool *ok)
{
    void *to = from && n ? base_alloc(n * size) : NULL;
    if (to)
        memcpy(to, from, n * size);
    *ok = *ok && (to || !from || !n);
    return to;
}

bool session_run_copy(struct session_run *to, const struct session_run *from)
{
    bool ok = true;
    *to = *from;
    to->sweep.points = copied(from->sweep.points, from->sweep.npoints, sizeof *to->sweep.points, &ok);
    to->trail = copied(from->trail, from->ntrail, sizeof *to->trail, &ok);
    to->found = copied(from->found, 1, sizeof *to->found, &ok);
    to->proof = copied(from->proof, from->proof != NULL, sizeof *to->proof, &ok);
    to->probe = copied(from->probe, from->nprobe, sizeof *to->probe, &ok);
    if (!ok)
        session_run_clear(to);
    return ok;
}

void session_run_clear(struct session_run *r)
{
    base_free(r->sweep.points);
    base_free(r->trail);
    base_free(r->found);
    base_free(r->probe);
    base_free(r->proof);
    memset(r, 0, sizeof *r);
}

bool session_run_prove(struct session_run *r, const struct tune_proof *p)
{
    if (!r->proof)
        r->proof = base_alloc(sizeof *r->proof);
    if (r->proof)
        *r->proof = *p;
    return r->proof;
}

static bool add_result(struct result **list, size_t *n, const struct result *r)
{
    struct result *more = base_realloc(*list, (*n + 1) * sizeof *more);
    if (!more)
        return false;
    *list = more;
    more[(*n)++] = *r;
    return true;
}

bool session_run_point(struct session_run *run, const struct result *r)
{
    struct tune_sweep *w = &run->sweep;
    bool pi = run->kind == RUN_SWEEP && strcmp(w->axis, "pi") == 0;
    if (r->probe_ctas) {
        if (run->probe && run->nprobe < SESSION_PROBES)
            run->probe[run->nprobe++] = *r;
        return true;
    }
    if (run->kind == RUN_TUNE)
        return add_result(&run->trail, &run->ntrail, r);
    if (pi && opt_bypass(&r->options)->pi.mode == PI_BPA)
        w->bpa = *r;
    else if (pi && opt_bypass(&r->options)->pi.mode == PI_CHA)
        w->cha = *r;
    else
        return add_result(&w->points, &w->npoints, r);
    return true;
}

bool session_run_room(struct session_run *r)
{
    if (r->kind != RUN_TUNE || r->found)
        return true;
    r->found = base_alloc(sizeof *r->found);
    r->probe = base_alloc(SESSION_PROBES * sizeof *r->probe);
    if (!r->found || !r->probe)
        return false;
    r->found->best = r->found->original = result_empty();
    r->found->options = options_default();
    return true;
}

void session_run_drop(struct session_run *r)
{
    if (r)
        session_run_clear(r);
    base_free(r);
}

struct session_run *session_run_new(enum run_kind kind)
{
    struct session_run *r = base_alloc(sizeof *r);
    if (!r)
        return NULL;
    r->kind = kind;
    if (!session_run_room(r)) {
        session_run_drop(r);
        return NULL;
    }
    r->one = r->sweep.bpa = r->sweep.cha = result_empty();
    r->sweep.axis = "pi";
    return r;
}

static void put_named(struct jw *w, const char *key, const struct result *r)
{
    jw_key(w, key);
    jw_obj(w);
    put_result(w, r);
    jw_end_obj(w);
}

static void put_results(struct jw *w, const char *key, const struct result *r, size_t n)
{
    jw_key(w, key);
    jw_arr(w);
    for (size_t i = 0; i < n; i++) {
        jw_obj(w);
        put_result(w, &r[i]);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

void session_run_put(struct jw *w, const struct session_run *r)
{
    jw_obj(w);
    fields_write(w, session_run_fields, RUN_FIELDS, r);
    jw_key(w, "device");
    put_device(w, &r->dev);
    if (r->kind == RUN_ONE)
        put_named(w, "result", &r->one);
    put_proof(w, r->kind == RUN_TUNE ? &r->found->proof : r->proof);
    if (r->kind == RUN_SWEEP) {
        jw_key(w, "axis");
        jw_str(w, r->sweep.axis);
        fields_write(w, session_sweep_fields, SWEEP_FIELDS, r);
        put_named(w, "bpa", &r->sweep.bpa);
        put_named(w, "cha", &r->sweep.cha);
        put_results(w, "points", r->sweep.points, r->sweep.npoints);
    }
    if (r->kind == RUN_TUNE) {
        jw_key(w, "recommended");
        put_options(w, &r->found->options);
        fields_write(w, session_found_fields, FOUND_FIELDS, r->found);
        put_named(w, "original", &r->found->original);
        put_named(w, "best", &r->found->best);
        put_data_sets(w, r->found);
        put_results(w, "tried", r->trail, r->ntrail);
        if (r->nprobe) {
            put_uint(w, "probe_ctas", r->probe[0].probe_ctas);
            put_results(w, "probes", r->probe, r->nprobe);
        }
    }
    jw_end_obj(w);
}

const struct result *session_run_recommended(const struct session_run *r)
{
    struct options none = options_default();
    const struct result *x = r->kind == RUN_ONE      ? &r->one
                             : r->kind == RUN_SWEEP  ? tune_sweep_best(&r->sweep)
                             : r->found->leave_alone ? NULL
                                                     : &r->found->best;
    return x && x->status == ST_OK && x->equal != EQUAL_NO && !options_equal(&x->options, &none) ? x
                                                                                                 : NULL;
}
