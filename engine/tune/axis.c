/* Axes of a sweep: "pi", "agents", "carveout" and "block" know their own points; any knob is an axis
 * when its values are listed (throttle-shared=0/1024/4096, coarsen=1..4) or when it has only a few
 * (bypass-op, swap-xy).
 *
 *   pi,carveout=0/100,bypass-op     the first is the curve; every combination of the others is a slice
 */
#include "engine/rec/device.h"
#include "engine/rec/elem.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/rec/opt_schedule.h"
#include "engine/tune/sweep.h"
#include "engine/tune/tune_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- axes that know their points: each fills options from the base, at most TUNE_AXIS_MOST ---- */
static size_t axis_pi(const struct tune_subject *s, const struct options *base, struct options *out)
{
    uint32_t warps = tune_warps(s), n = 0;
    for (; n <= warps && n < TUNE_AXIS_MOST; n++) {
        struct opt_bypass *bypass = opt_bypass(options_put(out, n, base));
        bypass->pi.mode = PI_VALUE;
        bypass->pi.value = (int)n;
    }
    return n;
}

static size_t axis_agents(const struct tune_subject *s, const struct options *base, struct options *out)
{
    const struct dev_info *d = dev_describe(s->dev);
    struct dev_cta cta = tune_cta(s, base);
    uint32_t most = dev_resident(d, &cta).ctas_per_sm, n = 0;
    for (; n < most && n < TUNE_AXIS_MOST; n++) {
        struct opt_cluster *cluster = opt_cluster(options_put(out, n, base));
        cluster->kind = CLUSTER_AGENT;
        cluster->agents = (int)n + 1;
    }
    return n;
}

static size_t axis_carveout(const struct tune_subject *s, const struct options *base,
                            struct options *out)
{
    size_t n = 0;
    (void)s;
    for (int percent = 0; percent <= 100; percent += 10)
        opt_occupancy(options_put(out, n++, base))->carveout = percent;
    return n;
}

/* Block shapes of the same number of threads: powers of two along x and y, z of 1. */
static size_t axis_block(const struct tune_subject *s, const struct options *base, struct options *out)
{
    uint32_t threads = (uint32_t)dim3u_count(launch_block(s->launch));
    size_t n = 0;
    for (uint32_t x = 1; x <= threads && n < TUNE_AXIS_MOST; x *= 2)
        if (threads % x == 0)
            opt_schedule(options_put(out, n++, base))->block = (struct dim3u){ x, threads / x, 1 };
    return n;
}

static const struct {
    const char *name;
    size_t (*points)(const struct tune_subject *s, const struct options *base, struct options *out);
} own[] = {
    { "pi", axis_pi },
    { "agents", axis_agents },
    { "carveout", axis_carveout },
    { "block", axis_block },
};

/* ---- axes by listed values ---- */
static struct str cut(struct str *rest, const char *sep)
{
    size_t k = strlen(sep), n = 0;
    while (n < rest->n && (rest->n - n < k || memcmp(rest->s + n, sep, k) != 0))
        n++;
    struct str head = { rest->s, n };
    size_t skip = n < rest->n ? n + k : n;
    *rest = (struct str){ rest->s + skip, rest->n - skip };
    return head;
}

static enum status add(const struct tune_axis *a, struct str value, const struct options *base,
                       struct options *out, size_t *n, struct diags *ds)
{
    if (*n == TUNE_AXIS_MOST) {
        diag_error(ds, "axis", "axis '%s' has more than %d values", a->name, TUNE_AXIS_MOST);
        return ST_USAGE;
    }
    enum status st = knob_set(options_put(out, *n, base), (size_t)a->knob, value, ds);
    *n += st == ST_OK;
    return st;
}

/* "2..9": whole numbers, both ends included. */
static enum status add_range(const struct tune_axis *a, struct str from, struct str to,
                             const struct options *base, struct options *out, size_t *n,
                             struct diags *ds)
{
    char text[32], *end;
    snprintf(text, sizeof text, "%.*s", (int)(from.n < 20 ? from.n : 20), from.s);
    long lo = strtol(text, &end, 10);
    bool bad = !*text || *end;
    snprintf(text, sizeof text, "%.*s", (int)(to.n < 20 ? to.n : 20), to.s);
    long hi = strtol(text, &end, 10);
    if (bad || !*text || *end || hi < lo) {
        diag_error(ds, "axis", "axis '%s': '%.*s..%.*s' is not a range", a->name, (int)from.n, from.s,
                   (int)to.n, to.s);
        return ST_USAGE;
    }
    enum status st = ST_OK;
    for (long v = lo; st == ST_OK && v <= hi; v++) {
        snprintf(text, sizeof text, "%ld", v);
        st = add(a, str_of(text), base, out, n, ds);
    }
    return st;
}

static enum status listed(const struct tune_axis *a, const struct options *base, struct options *out,
                          size_t *n, struct diags *ds)
{
    struct str rest = a->values;
    enum status st = ST_OK;
    while (st == ST_OK && rest.n) {
        struct str value = cut(&rest, "/"), to = value, from = cut(&to, "..");
        st = from.n < value.n ? add_range(a, from, to, base, out, n, ds)
                              : add(a, value, base, out, n, ds);
    }
    return st;
}

enum status tune_axis_points(const struct tune_axis *a, const struct tune_subject *s,
                             const struct options *base, struct options *out, size_t *n,
                             struct diags *ds)
{
    const struct knob_info *k = knob_info((size_t)a->knob);
    enum status st = ST_OK;
    *n = 0;
    if (a->values.n)
        return listed(a, base, out, n, ds);
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (strcmp(own[i].name, a->name) == 0) {
            *n = own[i].points(s, base, out);
            return ST_OK;
        }
    for (int v = 0; st == ST_OK && k->kind == KNOB_KIND_ENUM && v <= k->max; v++)
        st = add(a, str_of(k->values[v]), base, out, n, ds);
    for (int v = 0; st == ST_OK && k->kind == KNOB_KIND_FLAG && v < 2; v++)
        st = add(a, v ? STR("on") : STR("off"), base, out, n, ds);
    return st;
}

/* ---- the list of axes ---- */
bool tune_axis_knows_points(size_t knob)
{
    enum knob_kind kind = knob_info(knob)->kind;
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (strcmp(own[i].name, knob_info(knob)->name) == 0)
            return true;
    return kind == KNOB_KIND_ENUM || kind == KNOB_KIND_FLAG;
}

static enum status parse_one(struct str text, struct tune_axis *a, struct diags *ds)
{
    struct str values = text, name = cut(&values, "=");
    *a = (struct tune_axis){ .knob = knob_find(name), .values = values };
    if (a->knob < 0) {
        struct diag *d = diag_add(ds, DIAG_ERROR, "axis", NULL, NO_SPAN, "no axis '%.*s'",
                                  (int)(name.n < 60 ? name.n : 60), name.s);
        diag_hint(
            d,
            "use pi, agents, carveout, block, or any other knob with its values, as in coarsen=1/2/4");
        return ST_USAGE;
    }
    a->name = knob_info((size_t)a->knob)->name;
    if (a->values.n || tune_axis_knows_points((size_t)a->knob))
        return ST_OK;
    struct diag *d =
        diag_add(ds, DIAG_ERROR, "axis", NULL, NO_SPAN, "axis '%s' needs its values", a->name);
    diag_hint(d, "for example %s=1/2/4 or %s=1..4", a->name, a->name);
    return ST_USAGE;
}

enum status tune_axes_check(const char *text, struct diags *ds)
{
    struct tune_axis axes[TUNE_AXES];
    size_t n;
    return tune_axes_parse(text, axes, &n, ds);
}

enum status tune_axes_parse(const char *text, struct tune_axis *axes /* TUNE_AXES */, size_t *n,
                            struct diags *ds)
{
    struct str rest = str_of(text);
    *n = 0;
    do {
        if (*n == TUNE_AXES) {
            diag_error(ds, "axis", "at most %d axes", TUNE_AXES);
            return ST_USAGE;
        }
        enum status st = parse_one(cut(&rest, ","), &axes[*n], ds);
        for (size_t i = 0; st == ST_OK && i < *n; i++)
            if (axes[i].knob == axes[*n].knob) {
                diag_error(ds, "axis", "axis '%s' is given twice", axes[i].name);
                st = ST_USAGE;
            }
        if (st != ST_OK)
            return st;
        ++*n;
    } while (rest.n);
    return ST_OK;
}
