/* Options that say nothing without another. */
#include "engine/rec/knobs.h"
#include "engine/rec/opt_bypass.h"
#include "engine/workspace/measure.h"

struct need {
    const char *knob, *other, *value;
}; /* value NULL: any but the default */
static const struct need needs[] = {
    { "pi", "bypass", NULL },
    { "bypass-op", "bypass", NULL },
    { "bypass-form", "bypass", NULL },
    { "bypass-loads", "bypass", NULL },
    { "index", "cluster", NULL },
    { "clusters", "cluster", NULL },
    { "agents", "cluster", "agent" },
    { "claims", "cluster", "agent" },
    { "prefetch-distance", "prefetch", NULL },
    { "coarsen-mode", "coarsen", NULL },
    { "softcache-data", "softcache", NULL },
    { "softcache-line", "softcache", NULL },
    { "softcache-sample", "softcache", NULL },
    { "softcache-again", "softcache", "dynamic" },
};

/* Does a knob have this value (NULL: any but its default)? `unsure` where memory ran out before that was
 * known. */
static bool knob_says(const struct options *o, const char *name, const char *value, bool unsure)
{
    const struct options *d = options_none();
    struct buf b = { 0 }, usual = { 0 };
    int k = knob_find(str_of(name));
    if (k < 0)
        return false;
    knob_get(o, (size_t)k, &b);
    knob_get(d, (size_t)k, &usual);
    struct str is = { b.s, b.n };
    bool says = b.oom || usual.oom ? unsure
                : value            ? str_is(is, value)
                                   : !str_eq(is, (struct str){ usual.s, usual.n });
    buf_free(&b);
    buf_free(&usual);
    return says;
}

enum status measure_contradictions(const struct options *o, struct diags *ds)
{
    size_t before = ds->errors;
    for (size_t i = 0; i < ARRAY_LEN(needs); i++) {
        const struct need *n = &needs[i];
        if (!knob_says(o, n->knob, NULL, false) || knob_says(o, n->other, n->value, true))
            continue;
        struct diag *d =
            diag_add(ds, DIAG_ERROR, "options", NULL, NO_SPAN, "--%s has no effect without --%s%s%s",
                     n->knob, n->other, n->value ? " " : "", n->value ? n->value : "");
        diag_hint(d, "add --%s%s%s, or remove --%s", n->other, n->value ? " " : "",
                  n->value ? n->value : "", n->knob);
    }
    bool vertical = opt_bypass(o)->form == BYPASS_FORM_VERTICAL,
         by_load = vertical || opt_bypass(o)->form == BYPASS_FORM_HYBRID;
    if (opt_bypass(o)->level && vertical && knob_says(o, "pi", NULL, false))
        diag_hint(
            diag_add(ds, DIAG_ERROR, "options", NULL, NO_SPAN,
                     "--bypass-form vertical selects loads and has no threshold: --pi has no effect"),
            "--bypass-form hybrid uses both");
    if (opt_bypass(o)->level && opt_bypass(o)->loads.n && !by_load)
        diag_hint(diag_add(ds, DIAG_ERROR, "options", NULL, NO_SPAN,
                           "--bypass-loads selects loads, but this form treats all loads alike"),
                  "use --bypass-form vertical or hybrid");
    if (opt_bypass(o)->level && opt_bypass(o)->form == BYPASS_FORM_HARDWARE &&
        knob_says(o, "bypass-op", NULL, false))
        diag_hint(diag_add(ds, DIAG_ERROR, "options", NULL, NO_SPAN,
                           "--bypass-form hardware inserts no operator: --bypass-op has no effect"),
                  "remove --bypass-op");
    return ds->errors > before ? ST_REFUSED : ST_OK;
}

bool measure_say_idle(const struct options *o, struct diags *ds)
{
    bool by_load =
        opt_bypass(o)->form == BYPASS_FORM_VERTICAL || opt_bypass(o)->form == BYPASS_FORM_HYBRID;
    if (!opt_bypass(o)->level || by_load || opt_bypass(o)->pi.mode != PI_CHA)
        return false;
    diag_hint(diag_add(ds, DIAG_NOTE, "options", NULL, NO_SPAN,
                       "--bypass has no effect with --pi cha: all warps use the cache"),
              "set a threshold: --pi N, --pi bpa or --pi vote");
    return true;
}
