/* source, part 4: what is known of the line under the cursor, in words: the
 * lines below the text. */
#include "engine/rec/opt_bypass.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/base/text.h"
#include "tui/view/source/source_int.h"
#include "tui/view/traffic.h"
#include "tui/view/view.h"

#include <math.h>
#include <string.h>

const struct job_message *source_error_at(const struct app *a, uint32_t line)
{
    const struct job_snapshot *s = a->snap;
    const char *path = s->module ? s->module->path : NULL;
    for (size_t i = 0; path && line && i < s->nmessages; i++) {
        const struct job_message *m = &s->messages[i];
        if (m->at.line == line && m->level == DIAG_ERROR && m->file && !strcmp(m->file, path))
            return m;
    }
    return NULL;
}

static const char *decision_words(const char *d)
{
    static const struct {
        const char *code, *words;
    } t[] = { { "ca", "cached in L1" },
              { "π", "cached by the warps below π" },
              { "cg", "bypasses L1 (cg)" },
              { "na", "leaves no line in L1 (no_allocate)" },
              { "cs", "streams: evicted first (cs)" },
              { "el", "evicted last (evict_last)" },
              { "ef", "evicted first (evict_first)" },
              { "eu", "keeps the order of eviction (evict_unchanged)" },
              { "hint", "L2 evict-first hint" } };
    for (size_t i = 0; i < ARRAY_LEN(t); i++)
        if (!strcmp(t[i].code, d))
            return t[i].words;
    return "";
}

/* What part of the traffic is this load's: of a run's misses, else of what the analysis counted. */
static void put_traffic(struct app *a, struct row *r, const struct ana_access *x)
{
    struct traffic t = traffic_of(a);
    struct load_traffic l = traffic_load(&t, x);
    if (!isnan(l.hit))
        row_put(r, view_hit_role(l.hit), "  L1 hit %.1f %% (simulated, %s)", l.hit,
                view_counters_name(a, false));
    if (!isnan(l.share))
        row_put(r, ROLE_VALUE, "  %.1f %% of %s", l.share * 100,
                t.counted ? "traffic past L1" : "load sectors");
}

static void put_facts(struct app *a, struct page *p, const struct ana_access *x, unsigned w)
{
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_MEMORY, " %s",
            x->atomic     ? "Atomic"
            : x->prefetch ? "Prefetch"
            : x->store    ? "Store"
                          : "Load");
    unsigned at = 0, of = 0;
    for (uint32_t i = 0; i < a->snap->facts->naccess; i++) {
        const struct ana_access *y = &a->snap->facts->access[i];
        of += y->store == x->store && y->prefetch == x->prefetch && y->atomic == x->atomic;
        if (y == x)
            at = of;
    }
    row_put(&r, ROLE_LABEL, " %u of %u:", at, of);
    row_put(&r, ROLE_SYMBOL, " %s", x->array ? x->array : "of an unknown array");
    if (x->coalesce.valid) {
        row_put(&r, ROLE_LABEL, "  degree ");
        row_put(&r, view_degree_role(fmax(x->coalesce.degree, ana_sector_use(&x->coalesce))), "%.0f %%",
                x->coalesce.degree * 100);
        if (x->bytes > 4)
            row_put(&r, view_degree_role(ana_sector_use(&x->coalesce)),
                    " (%.0f %% of its sectors needed)", 100 * ana_sector_use(&x->coalesce));
    }
    if (x->exact.valid && !isnan(x->exact.sectors_per_request))
        row_put(&r, ROLE_VALUE, "  %.2f sectors/request%s", x->exact.sectors_per_request,
                x->exact.sampled ? " (sampled)" : "");
    else if (x->coalesce.valid)
        row_put(&r, ROLE_LABEL, "  about %.1f sectors/request (estimate)", x->coalesce.sectors);
    row_put(&r, ROLE_NOTE, "  %s", ana_class_name(x->cls));
    if (x->cls == ANA_CLASS_STREAMING)
        row_put(&r, ROLE_DIM, " (not shared between CTAs)");
    put_traffic(a, &r, x);
    const char *d = source_decision(a->options, x);
    if (*d)
        row_put(&r, !strcmp(d, "ca") ? ROLE_LABEL : ROLE_CHANGED, "  %s", decision_words(d));
    page_flow(a, p, &r, 3, w, -1);
}

/* Two lines of it: the tree has the rest. */
static void put_address(struct app *a, struct page *p, const struct ana_access *x, unsigned w)
{
    struct page whole = { 0 };
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_LABEL, " address ");
    if (x->address)
        row_put(&r, ROLE_VALUE, "%s", x->address);
    if (x->unknown)
        row_put(&r, ROLE_WARN, "%s%s", x->address ? "  " : "unknown: ", x->unknown);
    page_flow(a, &whole, &r, 9, w, -1);
    for (size_t i = 0; i < whole.n && i < 2; i++) {
        for (unsigned k = 0; k < whole.line[i].n; k++)
            row_str(&r, whole.line[i].v[k].role, whole.line[i].v[k].s);
        if (i == 1 && whole.n > 2)
            row_put(&r, ROLE_DIM, "%s", view_keys(a, " … {address-tree} shows it all"));
        page_add(a, p, &r, -1);
    }
}

/* Where the PTX tells its source, that line stands in place of the legend's first, and below an access.
 */
static bool put_cuda(struct app *a, struct page *p, uint32_t line)
{
    struct row r = { .arena = a->frame };
    if (!source_cuda(a, &r, line))
        return false;
    page_add(a, p, &r, -1);
    return true;
}

static void put_legend(struct app *a, struct page *p, uint32_t line)
{
    struct row r = { .arena = a->frame };
    if (put_cuda(a, p, line)) {
        row_put(&r, ROLE_DIM,
                " degree: 100 %% when lanes read neighbours   s/r: 32-byte sectors   ] next load");
        page_add(a, p, &r, -1);
        return;
    }
    row_put(&r, ROLE_DIM,
            " degree: 100 %% when lanes read neighbours   s/r: 32-byte sectors per request");
    page_add(a, p, &r, -1);
    row_put(&r, ROLE_DIM, "%s",
            view_keys(a, " share: of all traffic   op: ca caches, cg bypasses, π by warp   "
                         "{next-load} {hottest-load}: loads"));
    page_add(a, p, &r, -1);
}

void source_info(struct app *a, unsigned w)
{
    uint32_t line = source_cursor_line(a);
    struct page *p = &a->chart[PANEL_SOURCE];
    const struct ana_access *x = source_access_at(a, line);
    const struct job_message *m = source_error_at(a, line);
    page_clear(p);
    if (m) {
        page_wrap(a, p, ROLE_ERROR, 1, w - 1, m->text ? m->text : "", -1);
    } else if (x && x->space == PTX_SPACE_GLOBAL) {
        put_facts(a, p, x, w);
        put_address(a, p, x, w);
        put_cuda(a, p, line);
    } else if (a->snap->module) {
        put_legend(a, p, line);
    }
}

const char *source_decision(const struct options *o, const struct ana_access *x)
{
    static const char *const ops[] = { "cg", "na", "cs", "el", "ef", "eu", "hint" };
    if (x->store || x->atomic || x->prefetch)
        return "";
    if (opt_bypass(o)->level == BYPASS_NONE)
        return "ca";
    const char *op = (unsigned)opt_bypass(o)->op < ARRAY_LEN(ops) ? ops[opt_bypass(o)->op] : "cg";
    bool vertical =
        opt_bypass(o)->form == BYPASS_FORM_VERTICAL || opt_bypass(o)->form == BYPASS_FORM_HYBRID;
    for (uint32_t i = 0; i < opt_bypass(o)->loads.n; i++)
        if (opt_bypass(o)->loads.line[i] == x->at.line)
            return op;
    if (vertical && opt_bypass(o)->form == BYPASS_FORM_VERTICAL)
        return "ca";
    return opt_bypass(o)->pi.mode == PI_CHA ? "ca" : opt_bypass(o)->pi.mode == PI_BPA ? op : "π";
}
