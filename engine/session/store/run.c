/* One run of a session: its memory, and as JSON. */
#include "engine/rec/knobs.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/result.h"
#include "engine/search/found.h"
#include "engine/session/documents.h"
#include "engine/session/run.h"
#include "engine/session/store/store_int.h"

#include <string.h>

MEMBER_NAMES(kind_name, "run", "sweep", "tune")

static const struct member run_rows[] = {
#define RECORD(name, what)
#define FIELD(...)
#define RUN(bind, name, ...) { name, bind, false },
#include "engine/rec/fields.def"
};

static const struct member sweep_rows[] = {
#define RECORD(name, what)
#define FIELD(...)
#define SWEEP(bind, name, ...) { name, bind, false },
#include "engine/rec/fields.def"
};

static const struct member found_rows[] = {
#define RECORD(name, what)
#define FIELD(...)
#define FOUND(bind, name, ...) { name, bind, false },
#include "engine/rec/fields.def"
};

const struct members session_run_members = { run_rows, ARRAY_LEN(run_rows) },
                     session_sweep_members = { sweep_rows, ARRAY_LEN(sweep_rows) },
                     session_found_members = { found_rows, ARRAY_LEN(found_rows) };

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
    to->sweep.bpa = copied(from->sweep.bpa, 2, sizeof *to->sweep.bpa, &ok);
    to->sweep.cha = to->sweep.bpa ? to->sweep.bpa + 1 : NULL;
    to->one = copied(from->one, 1, sizeof *to->one, &ok);
    to->trail = copied(from->trail, from->ntrail, sizeof *to->trail, &ok);
    to->found = from->found ? base_alloc(sizeof *to->found) : NULL;
    ok = ok && (!from->found || (to->found && tune_found_room(to->found)));
    if (ok && from->found)
        tune_found_copy(to->found, from->found);
    to->proof = copied(from->proof, from->proof != NULL, sizeof *to->proof, &ok);
    to->probe = copied(from->probe, from->nprobe, sizeof *to->probe, &ok);
    if (!ok)
        session_run_clear(to);
    return ok;
}

void session_run_clear(struct session_run *r)
{
    if (r->found)
        tune_found_clear(r->found);
    BASE_FREE(r->one, r->sweep.bpa, r->sweep.points, r->trail, r->found, r->probe, r->proof);
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
    if (result_probe_ctas(r)) {
        if (run->probe && run->nprobe < SESSION_PROBES)
            run->probe[run->nprobe++] = *r;
        return true;
    }
    if (run->kind == RUN_TUNE)
        return add_result(&run->trail, &run->ntrail, r);
    if (pi && opt_bypass(&r->options)->pi.mode == PI_BPA)
        *w->bpa = *r;
    else if (pi && opt_bypass(&r->options)->pi.mode == PI_CHA)
        *w->cha = *r;
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
    return r->found && r->probe && tune_found_room(r->found);
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
    r->one = base_alloc(sizeof *r->one);
    if (!r->one || !tune_sweep_ends(&r->sweep) || !session_run_room(r)) {
        session_run_drop(r);
        return NULL;
    }
    *r->one = result_empty();
    r->sweep.axis = "pi";
    return r;
}

static void put_results(struct jw *w, const char *key, const struct result *r, size_t n)
{
    jw_put_arr(w, key);
    for (size_t i = 0; i < n; i++) {
        jw_obj(w);
        put_result(w, result_at(r, i));
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

void session_run_put(struct jw *w, const struct session_run *r)
{
    jw_obj(w);
    members_write(w, session_run_members, r);
    jw_key(w, "device");
    put_device(w, &r->dev);
    if (r->kind == RUN_ONE)
        put_result_as(w, "result", r->one);
    json_proof(w, r->kind == RUN_TUNE ? &r->found->proof : r->proof);
    if (r->kind == RUN_SWEEP) {
        jw_put_str(w, "axis", r->sweep.axis);
        members_write(w, session_sweep_members, r);
        put_result_as(w, "bpa", r->sweep.bpa);
        put_result_as(w, "cha", r->sweep.cha);
        put_results(w, "points", r->sweep.points, r->sweep.npoints);
    }
    if (r->kind == RUN_TUNE) {
        jw_key(w, "recommended");
        put_options(w, r->found->options);
        members_write(w, session_found_members, r->found);
        put_result_as(w, "original", r->found->original);
        put_result_as(w, "best", r->found->best);
        put_data_sets(w, r->found);
        put_results(w, "tried", r->trail, r->ntrail);
        if (r->nprobe) {
            jw_put_uint(w, "probe_ctas", r->probe[0].probe_ctas);
            put_results(w, "probes", r->probe, r->nprobe);
        }
    }
    jw_end_obj(w);
}

const struct result *session_run_recommended(const struct session_run *r)
{
    const struct options *none = options_none();
    const struct result *x = r->kind == RUN_ONE      ? r->one
                             : r->kind == RUN_SWEEP  ? tune_sweep_best(&r->sweep)
                             : r->found->leave_alone ? NULL
                                                     : r->found->best;
    return x && result_status(x) == ST_OK && result_equal(x) != EQUAL_NO &&
                   !options_equal(result_options(x), none)
               ? x
               : NULL;
}
