/* Ranges of gains from recorded runs (gain_records.def). The records are of one architecture; of others
 * nothing is said. */
#include "engine/search/gain_record.h"

#include "engine/base/base.h"
#include "engine/rec/device.h"
#include "engine/rec/gain.h"
#include "engine/rec/knobs.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_memory.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/rec/opt_prefetch.h"
#include "engine/rec/opt_schedule.h"
#include "engine/rec/opt_shared.h"
#include "engine/rec/opt_softcache.h"

#include <math.h>

/* What the model expects, in steps of the root of two: how far it is off depends on that. */
enum gain_band { BAND_LITTLE, BAND_SOME, BAND_MORE, BAND_MUCH };
struct record {
    unsigned n; /* too few: low and high are 0 */
    double low, high;
};
static const struct {
    enum gain_family family;
    enum gain_band band;
    struct record simulated, measured;
} records[] = {
#define X(family, band, sn, sl, sh, gn, gl, gh) \
    { GAIN_##family, BAND_##band, { sn, sl, sh }, { gn, gl, gh } },
#include "engine/search/gain_records.def"
#undef X
};
#define RECORDED_CC 9 /* major compute capability of the device of the records */

double gain_least(const struct options *o)
{
    return opt_cluster(o)->kind == CLUSTER_AGENT ? 1.25 : 1.05;
}

enum gain_family gain_family_of(const struct options *o)
{
    const struct options *none = options_none();
    const struct opt_schedule *s = opt_schedule(o);
    bool bypass = opt_bypass(o)->level != BYPASS_NONE;
    if (s->swap_xy || dim3u_count(s->block) != dim3u_count(opt_schedule(none)->block))
        return GAIN_BLOCK_SHAPE;
    if (opt_softcache(o)->lines != opt_softcache(none)->lines)
        return GAIN_SOFTWARE_CACHE;
    if (opt_cluster(o)->kind != CLUSTER_NONE)
        return GAIN_CTA_ORDER;
    if (s->coarsen > 1)
        return GAIN_COARSENING;
    return bypass && opt_bypass(o)->form == BYPASS_FORM_VERTICAL ? GAIN_LOAD_BYPASS
           : bypass                                              ? GAIN_WARP_BYPASS
           : opt_occupancy(o)->carveout >= 0                     ? GAIN_L1_SIZE
           : opt_prefetch(o)->level != PREFETCH_OFF              ? GAIN_PREFETCHING
           : opt_memory(o)->l2_persist[0]                        ? GAIN_PERSISTENCE
           : opt_shared(o)->swizzle || opt_shared(o)->pad        ? GAIN_SHARED_LAYOUT
                                                                 : GAIN_ANY;
}

static enum gain_band gain_band(double model)
{
    return !(model >= 1.05)   ? BAND_LITTLE
           : model < sqrt(2.) ? BAND_SOME
           : model < 2        ? BAND_MORE
                              : BAND_MUCH;
}

/* NULL: too few. */
static const struct record *record_of(enum gain_family f, enum gain_band band, bool measured)
{
    for (size_t i = 0; i < ARRAY_LEN(records); i++) {
        const struct record *r = measured ? &records[i].measured : &records[i].simulated;
        if (records[i].family == f && records[i].band == band && r->high > 0)
            return r;
    }
    return NULL;
}

struct gain_experience gain_recorded(const struct dev_info *d, const struct options *o, double model)
{
    const struct options *none = options_none();
    enum gain_band band = gain_band(model);
    if (!d || d->cc_major != RECORDED_CC || options_equal(o, none))
        return (struct gain_experience){ 0 };
    const struct record *own = record_of(gain_family_of(o), band, d->kind == DEV_CUDA);
    const struct record *r = own ? own : record_of(GAIN_ANY, band, d->kind == DEV_CUDA);
    return r ? (struct gain_experience){ { r->low, r->high }, r->n, !own }
             : (struct gain_experience){ 0 };
}

void gain_recorded_words(const char *before, const struct gain_experience *x, bool brief,
                         struct buf *out)
{
    if (!(x->gain.high > 0))
        return;
    buf_printf(out, "%s%s to %s", before, gain_words(x->gain.low).s, gain_words(x->gain.high).s);
    if (!brief)
        buf_printf(out, " in %d of 100 cases", INTERVAL_PERCENT);
    buf_printf(out, " (%u recorded%s)", x->cases, x->all_kinds && !brief ? ", of all kinds" : "");
}
