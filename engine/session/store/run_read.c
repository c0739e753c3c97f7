/* One run of a session, read from its piece of the file. */
#include "engine/rec/knobs.h"
#include "engine/rec/result.h"
#include "engine/search/found.h"
#include "engine/session/run.h"
#include "engine/session/store/store_int.h"

#include <string.h>

#define AHEAD 64u /* runs that are read at once */

static enum status get_results(const cJSON *list, struct result **out, size_t *n, struct diags *ds)
{
    const cJSON *o;
    *n = 0;
    *out = base_alloc(((size_t)cJSON_GetArraySize(list) + 1) * sizeof **out);
    if (!*out)
        return ST_NOMEM;
    cJSON_ArrayForEach(o, list)
    {
        enum status s = get_result(o, &(*out)[*n], ds);
        if (s != ST_OK)
            return s;
        (*n)++;
    }
    return ST_OK;
}

static enum status get_sweep(const cJSON *o, struct session_run *r, struct diags *ds)
{
    const char *axis = json_text(o, "axis");
    int knob = axis ? knob_find(str_of(axis)) : -1;
    if (knob >= 0)
        r->sweep.axis = knob_info((size_t)knob)->name;
    enum status s = members_read(o, session_sweep_members, r, "sweep", ds);
    if (s == ST_OK && json_get(o, "bpa"))
        s = get_result(json_get(o, "bpa"), r->sweep.bpa, ds);
    if (s == ST_OK && json_get(o, "cha"))
        s = get_result(json_get(o, "cha"), r->sweep.cha, ds);
    if (s == ST_OK)
        s = get_results(json_get(o, "points"), &r->sweep.points, &r->sweep.npoints, ds);
    return s;
}

static enum status get_probes(const cJSON *o, struct session_run *r, struct diags *ds)
{
    const cJSON *ctas = json_get(o, "probe_ctas"), *list = json_get(o, "probes");
    struct result *v = NULL;
    size_t n = 0;
    if (!cJSON_IsNumber(ctas) || ctas->valuedouble < 1 || ctas->valuedouble > UINT32_MAX || !list)
        return ST_OK;
    enum status s = get_results(list, &v, &n, ds);
    for (size_t i = 0; i < n && i < SESSION_PROBES && s == ST_OK; i++) {
        r->probe[r->nprobe] = v[i];
        r->probe[r->nprobe++].probe_ctas = (uint32_t)ctas->valuedouble;
    }
    base_free(v);
    return s;
}

static enum status get_tune(const cJSON *o, struct session_run *r, struct diags *ds)
{
    enum status s = get_options(json_get(o, "recommended"), r->found->options, ds);
    if (s == ST_OK)
        s = members_read(o, session_found_members, r->found, "tune", ds);
    if (s == ST_OK && json_get(o, "original"))
        s = get_result(json_get(o, "original"), r->found->original, ds);
    if (s == ST_OK && json_get(o, "best"))
        s = get_result(json_get(o, "best"), r->found->best, ds);
    if (s == ST_OK)
        s = get_data_sets(o, r->found, ds);
    if (s == ST_OK)
        s = get_probes(o, r, ds);
    return s == ST_OK ? get_results(json_get(o, "tried"), &r->trail, &r->ntrail, ds) : s;
}

static enum status get_run(const cJSON *o, struct session_run *r, struct diags *ds)
{
    enum status st = members_read(o, session_run_members, r, "run", ds);
    if (st == ST_OK)
        st = get_device(json_get(o, "device"), &r->dev, ds);
    if (st == ST_OK && r->kind == RUN_ONE)
        st = get_result(json_get(o, "result"), r->one, ds);
    if (st == ST_OK && r->kind == RUN_SWEEP)
        st = get_sweep(o, r, ds);
    if (st == ST_OK && !session_run_room(r))
        st = ST_NOMEM;
    if (st == ST_OK && r->kind == RUN_TUNE)
        st = get_tune(o, r, ds);
    struct tune_proof proof = { .verdict = PROOF_NONE };
    if (st == ST_OK)
        st = get_proof(json_get(o, "proof"), &proof, ds);
    if (st == ST_OK && r->kind == RUN_TUNE)
        r->found->proof = proof;
    else if (st == ST_OK && tune_proof_said(&proof) && !session_run_prove(r, &proof))
        st = ST_NOMEM;
    return st;
}

static enum status read_run(struct str text, const char *path, struct session_run **out,
                            struct diags *ds)
{
    struct session_run *r = session_run_new(RUN_ONE);
    cJSON *o = r ? json_parse(path, text.s, text.n, ds) : NULL;
    enum status st = !r ? ST_NOMEM : !o ? ST_INPUT : get_run(o, r, ds);
    cJSON_Delete(o);
    *out = st == ST_OK ? r : NULL;
    if (st != ST_OK)
        session_run_drop(r);
    return st;
}

struct reading {
    const char *path;
    struct session_slot *slot[AHEAD];
    enum status st[AHEAD];
    struct diags *ds; /* of the first */
};

/* A run of its text. What a curve shows is not in the file: it is worked out again. */
static void read_one(void *ctx, size_t i)
{
    struct reading *g = ctx;
    struct session_slot *t = g->slot[i];
    g->st[i] = read_run((struct str){ t->text, t->n }, g->path, &t->run, i ? NULL : g->ds);
    if (g->st[i] == ST_OK && t->run->kind == RUN_SWEEP)
        tune_sweep_judge(&t->run->sweep, &t->run->dev, (double)dim3u_count(t->run->block));
}

/* On all processors. What is wrong with another than the first is told when it is looked at itself. */
enum status session_read_ahead(struct session *s, size_t first, struct diags *ds)
{
    struct reading g = { .path = s->path, .ds = ds };
    size_t n = 0, ahead = first < s->looked ? 1 : AHEAD;
    for (size_t i = first; i < s->n && i < first + ahead; i++)
        if (!s->slots[i].run)
            g.slot[n++] = &s->slots[i];
    base_parallel(0, n, read_one, &g);
    return n ? g.st[0] : ST_OK;
}
