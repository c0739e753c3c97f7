/* One configuration: its votes resolved, launched, judged, and what else there is to say of it. */
#include "engine/rec/device.h"
#include "engine/rec/opt_softcache.h"
#include "engine/rec/result.h"
#include "engine/tune/cure.h"
#include "engine/tune/tune_int.h"

#include <stdio.h>

/* Softcache's hits and instructions beside its time; what else was found out before the run. */
static enum status put_notes(struct tune_bench *b, struct result *out, struct buf *said,
                             struct diags *ds)
{
    enum status st = opt_softcache(&out->options)->lines && tune_usable(out)
                         ? tune_census(b, &out->options, out, said, ds)
                         : ST_OK;
    if (st == ST_OK && said->s && !out->message[0])
        snprintf(out->message, sizeof out->message, "%s", said->s);
    return st;
}

enum status tune_run_one(struct tune_bench *b, const struct options *o, struct result *out,
                         struct diags *ds)
{
    struct diags own = { 0 };
    struct options chosen = *o;
    struct buf said = { 0 };
    struct tune_votes voted = { -1, -1 };
    *out = result_empty();
    enum status st = tune_resolve_auto(b, &chosen, &voted, &said, &own);
    if (st == ST_OK)
        st = tune_run_chosen(b, &chosen, out, &own);
    out->options = chosen;
    cure_limits(out, b->subject.facts);
    if (st == ST_OK && out->status == ST_OK)
        cure_note(out, b->subject.facts, (uint32_t)dev_describe(b->subject.dev)->regs_per_sm);
    out->voted = voted.elected;
    out->sample_voted = voted.sampled;
    if (st == ST_OK && out->status == ST_OK)
        st = put_notes(b, out, &said, &own);
    st = tune_as_result(st, &own, out);
    buf_free(&said);
    diags_move(ds, &own);
    return st;
}

/* ---- times of one kind ---- */
enum status tune_time_whole(struct tune_bench *b, const struct options *o, struct result *out,
                            struct diags *ds)
{
    bool was = b->opts.exact;
    b->opts.exact = true;
    enum status st = tune_run_one(b, o, out, ds);
    b->opts.exact = was;
    return st;
}

enum status tune_time_alike(struct tune_bench *b, struct result *const *r, size_t n, struct diags *ds)
{
    return tune_alike(b, tune_time_whole, r, n, ds);
}
