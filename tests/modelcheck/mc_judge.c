/* The verdict: what the rewritten program may do against what the original may. */
#include "tests/modelcheck/mc_int.h"

#include <string.h>

static void say(char *why, size_t n, const char *text)
{
    size_t len = strlen(text);
    len = len < n ? len : n - 1;
    memcpy(why, text, len);
    why[len] = 0;
}

enum status mc_origin_make(const struct mc_program *p, uint32_t states, struct mc_origin *o,
                           char why[128])
{
    struct mc_limits lim = { .states = states };
    memset(o, 0, sizeof *o);
    enum status st = mc_explore(p, &lim, &o->all);
    if (st != ST_OK)
        return st;
    const char *bad = o->all.unknown[0] ? o->all.unknown
                      : o->all.limit    ? "too many states"
                      : o->all.stuck    ? "it may never end"
                      : o->all.fault    ? "it faults"
                      : o->all.parted   ? "lanes part at a .uni"
                                        : NULL;
    if (bad)
        say(why, 128, bad);
    return bad ? ST_REFUSED : ST_OK;
}

void mc_origin_free(struct mc_origin *o)
{
    mc_result_free(&o->all);
    for (int k = 0; k < MC_CTAS; k++)
        mc_result_free(&o->few[k]);
}

static bool is_new(const struct mc_result *of, const struct mc_result *in, uint64_t *which)
{
    uint32_t k = 0;
    for (uint32_t n = 0; n < of->nfinal; n++) {
        while (k < in->nfinal && in->final[k] < of->final[n])
            k++;
        if (k == in->nfinal || in->final[k] != of->final[n]) {
            *which = of->final[n];
            return true;
        }
    }
    return false;
}

/* With so many CTAs at once the original ends: so must the rewritten program. */
static enum mc_verdict ends(const struct mc_program *original, struct mc_origin *o,
                            const struct mc_program *p, uint32_t resident, uint32_t states,
                            char why[160], struct buf *trace)
{
    struct mc_limits lim = { .resident = resident, .states = states };
    struct mc_result r;
    if (!o->have[resident]) {
        if (mc_explore(original, &lim, &o->few[resident]) != ST_OK)
            return MC_UNCHECKED;
        o->have[resident] = true;
    }
    if (o->few[resident].limit || o->few[resident].unknown[0]) {
        say(why, 160, "original: too many states with few resident CTAs");
        return MC_UNCHECKED;
    }
    if (o->few[resident].stuck)
        return MC_LEGAL;
    enum mc_verdict v = mc_explore(p, &lim, &r) != ST_OK || r.limit || r.unknown[0] ? MC_UNCHECKED
                        : r.stuck                                                   ? MC_ILLEGAL
                                                                                    : MC_LEGAL;
    if (v == MC_UNCHECKED)
        say(why, 160, r.limit ? "too many states with few resident CTAs" : r.unknown);
    if (v == MC_ILLEGAL) {
        say(why, 160, "it may never end where few CTAs are resident at once");
        if (trace) {
            buf_printf(trace, "with %u resident:\n", resident);
            mc_trace(p, &lim, r.stuck_state, trace);
        }
    }
    mc_result_free(&r);
    return v;
}

static enum mc_verdict first_look(const struct mc_origin *o, const struct mc_program *p,
                                  const struct mc_limits *lim, struct mc_result *r, char why[160],
                                  struct buf *trace)
{
    uint64_t which = 0;
    if (mc_explore(p, lim, r) != ST_OK || r->limit || r->unknown[0]) {
        say(why, 160, r->limit ? "too many states" : r->unknown);
        return MC_UNCHECKED;
    }
    const char *bad = r->fault    ? "an access outside everything"
                      : r->parted ? "lanes part at a .uni"
                      : r->stuck  ? "it may never end"
                      : !o->all.racy && is_new(r, &o->all, &which)
                          ? "a final memory that the original cannot have"
                          : NULL;
    if (!bad)
        return MC_LEGAL;
    say(why, 160, bad);
    if (trace && (r->stuck || which))
        mc_trace(p, lim, r->stuck ? r->stuck_state : which, trace);
    return MC_ILLEGAL;
}

enum mc_verdict mc_judge(const struct mc_program *original, struct mc_origin *o,
                         const struct mc_program *p, uint32_t states, char why[160], struct buf *trace)
{
    struct mc_limits lim = { .states = states };
    struct mc_result r;
    why[0] = 0;
    if (mc_same(original, p))
        return MC_LEGAL;
    enum mc_verdict v = first_look(o, p, &lim, &r, why, trace);
    bool waits = r.cycle || o->all.cycle;
    mc_result_free(&r);
    for (uint32_t n = 1; v == MC_LEGAL && waits && n < original->nctas && n < MC_CTAS; n++)
        v = ends(original, o, p, n, states, why, trace);
    return v;
}
