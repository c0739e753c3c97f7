/* coalesce: the paper's graph (32 word positions from the warp's first address),
 * degree, sectors, and which lane of one warp touches which sector.
 * Item 0 is the kernel; item i+1 the access i of the analysis. */
#include "engine/rec/counter_ids.h"
#include "engine/rec/launch_arg.h"
#include "engine/rec/launch_read.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/base/expr.h"
#include "tui/base/text.h"
#include "tui/view/banks.h"
#include "tui/view/traffic.h"
#include "tui/view/view.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS_MOST 1000000u

static bool listed(const struct ana_access *x)
{
    return (x->space == PTX_SPACE_GLOBAL && !x->prefetch) || ana_banks_counted(x);
}

#define WITH_EXPECTED 60
static void put_metric(struct row *r, const struct ana_coalesce *c, const struct ana_exact *e,
                       unsigned w)
{
    if (c->valid) {
        enum role role = view_degree_role(fmax(c->degree, ana_sector_use(c)));
        row_bar(r, role, 8, fmax(c->degree, ana_sector_use(c)));
        row_right(r, role, 8, "%.1f %%", c->degree * 100);
        row_right(r, ROLE_VALUE, 6, "%u", c->num_sectors);
        if (w >= WITH_EXPECTED && ana_expected_tells(c->expected))
            row_right(r, ROLE_LABEL, 9, "%.2f", c->expected);
        else if (w >= WITH_EXPECTED)
            row_right(r, ROLE_DIM, 9, "-");
    } else {
        row_put(r, ROLE_DIM, "%-8s%8s%6s%*s", "n/a", "", "", w >= WITH_EXPECTED ? 9 : 0, "");
    }
    if (e->valid && e->requests)
        row_right(r, ROLE_TITLE, 8, "%.2f", e->sectors_per_request);
    else
        row_put(r, ROLE_DIM, "%8s", "n/a");
}

#define WITH_TRAFFIC 76
static void put_traffic(struct row *r, const struct traffic *t, const struct ana_access *x)
{
    struct load_traffic l = traffic_load(t, x);
    if (isnan(l.share))
        row_right(r, ROLE_DIM, 8, "%s", x->store || x->atomic ? "" : "n/a");
    else
        row_right(r, l.share >= 0.25 ? ROLE_WARN : ROLE_VALUE, 8, "%.1f %%", l.share * 100);
    if (isnan(l.hit))
        row_right(r, ROLE_DIM, 9, "%s", x->store || x->atomic || !t->counted ? "" : "n/a");
    else
        row_right(r, view_hit_role(l.hit), 9, "%.1f %%", l.hit);
}

static void put_total(struct row *r, const struct traffic *t)
{
    char hit[TEXT_NUM] = "";
    row_right(r, ROLE_DIM, 8, "%s", t->total > 0 ? "100 %" : "n/a");
    if (t->counted)
        view_counter(t->counted, COUNTER_L1_HIT_RATE, hit);
    row_right(r, ROLE_VALUE, 9, "%s", hit);
}

/* The 32 positions of the graph in a few columns, where the line has room for them. */
#define SHAPE     8
#define FULL_NAME 80 /* column after "all global loads" */
static void put_shape(struct row *r, const struct ana_coalesce *c, unsigned w)
{
    double top = 1;
    if (!c->valid || r->width + 1 + SHAPE > w)
        return;
    for (int i = 0; i < 32; i++)
        top = fmax(top, c->graph[i]);
    row_pad(r, w >= 100 ? r->width + 2 : w - SHAPE);
    row_spark(r, ROLE_LINE_A, SHAPE, c->graph, 32, 0, top);
}

static void put_access(struct app *a, long item, unsigned w, const struct traffic *t)
{
    const struct ana_kernel *k = a->snap->facts;
    struct row r = { .arena = a->frame };
    if (item == 0) {
        row_put(&r, ROLE_DIM, "%6s ", "");
        put_metric(&r, &k->coalesce, &k->exact, w);
        if (w >= WITH_TRAFFIC)
            put_total(&r, t);
        row_put(&r, ROLE_TITLE, w >= 100 ? "  all global loads" : "  all loads");
        put_shape(&r, &k->coalesce, w);
    } else {
        const struct ana_access *x = &k->access[item - 1];
        row_right(&r, ROLE_DIM, 6, "%u", x->at.line);
        row_put(&r, ROLE_TEXT, " ");
        if (ana_banks_counted(x))
            view_banks_metric(&r, x, w >= WITH_EXPECTED ? 39 : 30);
        else
            put_metric(&r, &x->coalesce, &x->exact, w);
        if (w >= WITH_TRAFFIC && ana_banks_counted(x))
            row_put(&r, ROLE_DIM, "%17s", "shared memory");
        else if (w >= WITH_TRAFFIC)
            put_traffic(&r, t, x);
        row_put(&r, x->store ? ROLE_LABEL : ROLE_MEMORY, "  %-6s",
                x->atomic     ? "atom"
                : x->prefetch ? "pref"
                : x->store    ? "store"
                              : "load");
        row_put(&r, ROLE_SYMBOL, "%s", x->array ? x->array : "?");
        if (w >= 100)
            row_pad(&r, r.width < FULL_NAME ? FULL_NAME : r.width);
        if (!ana_banks_counted(x))
            put_shape(&r, &x->coalesce, w);
        if (w >= 100)
            row_put(&r, ROLE_DIM, "  %s", x->address ? x->address : "");
    }
    page_add(a, &a->page[PANEL_COALESCE], &r, item);
}

/* ---- the graph ---- */
static void put_column(struct row *r, double v, double top, int line, int lines, unsigned cols,
                       enum role role)
{
    static const char *const part[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    double units = top > 0 ? v / top * lines * 8 - (lines - 1 - line) * 8 : 0;
    int u = units <= 0 ? 0 : units >= 8 ? 8 : (int)lround(units);
    if (u == 0 && v > 0 && line == lines - 1)
        u = 1;
    for (unsigned i = 0; i < cols; i++)
        row_put(r, role, "%s", part[u]);
}

static void put_graph(struct app *a, const struct ana_coalesce *c, int lines, unsigned cols)
{
    struct page *p = &a->chart[PANEL_COALESCE];
    double top = 1;
    struct row r = { .arena = a->frame };
    for (int i = 0; i < 32; i++)
        top = fmax(top, c->graph[i]);
    for (int line = 0; line < lines; line++) {
        if (line == 0)
            row_right(&r, ROLE_AXIS, 6, "%.2g", top);
        else if (line == lines - 1)
            row_right(&r, ROLE_AXIS, 6, "0");
        else
            row_pad(&r, 6);
        row_put(&r, ROLE_AXIS, line == 0 || line == lines - 1 ? " ┤" : " │");
        for (int i = 0; i < 32; i++) {
            if (i && i % 8 == 0)
                row_put(&r, ROLE_AXIS, "┊");
            put_column(&r, c->graph[i], top, line, lines, cols,
                       (i / 8) % 2 ? ROLE_SERIES_B : ROLE_SERIES_A);
        }
        page_add(a, p, &r, -1);
    }
    row_put(&r, ROLE_AXIS, "  word  ");
    for (unsigned s = 0; s < 4; s++) {
        char label[24];
        snprintf(label, sizeof label, cols > 1 ? "%u..%u sector %u" : "sec %u", cols > 1 ? s * 8 : s,
                 s * 8 + 7, s);
        row_put(&r, ROLE_AXIS, "%s%-*.*s", s ? "┊" : "", (int)(8 * cols), (int)(8 * cols), label);
    }
    page_add(a, p, &r, -1);
}

/* ---- one warp's lanes ---- */
struct lane {
    const struct launch_spec *l;
    uint32_t tid, cta;
    const struct ana_access *x;
    const unsigned *round;
};

/* The analysis calls loop counters k, k1, k2 ...; -1: it is none. */
static int loop_of(struct str n)
{
    int v = 0;
    if (!n.n || n.s[0] != 'k')
        return -1;
    for (size_t i = 1; i < n.n; i++) {
        if (n.s[i] < '0' || n.s[i] > '9' || v > LOOPS_MOST)
            return -1;
        v = v * 10 + n.s[i] - '0';
    }
    return v < LOOPS_MOST ? v : -1;
}

/* Bit per loop whose counter stands in the address. */
static unsigned loops_in(const char *address)
{
    unsigned found = 0;
    for (const char *s = address; s && *s;) {
        size_t n = 0;
        while (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '.')
            n++;
        int k = loop_of((struct str){ s, n });
        if (k >= 0)
            found |= 1u << k;
        s += n ? n : 1;
    }
    return found;
}

static int64_t part(struct str name, struct dim3u d)
{
    char c = name.s[name.n - 1];
    return c == 'x' ? d.x : c == 'y' ? d.y : d.z;
}

static struct dim3u unflatten(uint64_t i, struct dim3u d)
{
    return (struct dim3u){ (uint32_t)(i % d.x), (uint32_t)(i / d.x % d.y), (uint32_t)(i / d.x / d.y) };
}

static bool lane_name(void *ctx, struct str n, int64_t *v)
{
    const struct lane *e = ctx;
    if (n.s[0] == '%')
        n.s++, n.n--;
    struct str head = { n.s, n.n > 2 && n.s[n.n - 2] == '.' ? n.n - 2 : 0 };
    if (str_is(head, "tid"))
        *v = part(n, unflatten(e->tid, launch_block(e->l)));
    else if (str_is(head, "ctaid"))
        *v = part(n, unflatten(e->cta, launch_grid(e->l)));
    else if (str_is(head, "ntid"))
        *v = part(n, launch_block(e->l));
    else if (str_is(head, "nctaid"))
        *v = part(n, launch_grid(e->l));
    else if (str_is(n, "laneid"))
        *v = e->tid % 32;
    else if (str_is(n, "warpid"))
        *v = e->tid / 32;
    else if (e->x->array && str_is(n, e->x->array))
        *v = 0; /* buffers start on a line */
    else if (loop_of(n) >= 0)
        *v = e->round[loop_of(n)];
    else {
        for (size_t i = 0; i < launch_nargs(e->l); i++)
            if (launch_arg(e->l, i)->name && str_is(n, launch_arg(e->l, i)->name) &&
                launch_arg(e->l, i)->kind == ARG_SCALAR) {
                memcpy(v, launch_arg(e->l, i)->scalar, sizeof *v);
                return true;
            }
        return false;
    }
    return true;
}

/* sector: index into order, -1: the lane is idle; order: sectors as they are met, from the array's start
 */
struct lanes {
    int64_t sector[32], order[32], low, high;
    unsigned active, sectors;
    struct str bad;
};

static bool lanes_eval(const struct app *a, const struct ana_access *x, const unsigned *round,
                       struct lanes *out)
{
    const struct launch_spec *l = a->snap->spec;
    *out = (struct lanes){ .low = INT64_MAX, .high = INT64_MIN };
    uint64_t threads = l ? dim3u_count(launch_block(l)) : 0, grid = l ? dim3u_count(launch_grid(l)) : 0,
             warps = (threads + 31) / 32;
    if (!warps || !grid || !x->address)
        return false;
    struct lane env = { l, 0, (uint32_t)(a->coalesce.warp / warps % grid), x, round };
    struct expr_env e = { lane_name, &env };
    for (unsigned lane = 0; lane < 32; lane++) {
        int64_t at;
        env.tid = (uint32_t)(a->coalesce.warp % warps * 32 + lane);
        out->sector[lane] = -1;
        if (env.tid >= threads)
            continue;
        if (!expr_eval(str_of(x->address), &e, &at, &out->bad))
            return false;
        out->low = at < out->low ? at : out->low;
        out->high = at + x->bytes - 1 > out->high ? at + x->bytes - 1 : out->high;
        int64_t s = at >> 5;
        unsigned k = 0;
        while (k < out->sectors && out->order[k] != s)
            k++;
        if (k == out->sectors)
            out->order[out->sectors++] = s;
        out->sector[lane] = k;
        out->active++;
    }
    return true;
}

/* The loop that the round keys change: the chosen one when the address has it, else its first. */
static unsigned shown_loop(const struct app *a, unsigned loops)
{
    for (unsigned i = 0; i < LOOPS_MOST; i++)
        if (loops >> (a->coalesce.loop + i) % LOOPS_MOST & 1)
            return (a->coalesce.loop + i) % LOOPS_MOST;
    return LOOPS_MOST;
}

/* How many of these sectors the warp asked for in the round before as well. */
static unsigned repeated(const struct app *a, const struct ana_access *x, const struct lanes *now,
                         unsigned loop)
{
    unsigned round[LOOPS_MOST], same = 0;
    struct lanes before;
    memcpy(round, a->coalesce.round, sizeof round);
    round[loop]--;
    if (!lanes_eval(a, x, round, &before))
        return 0;
    for (unsigned i = 0; i < now->sectors; i++)
        for (unsigned k = 0; k < before.sectors; k++)
            same += now->order[i] == before.order[k];
    return same;
}

static void put_bytes(struct app *a, struct page *p, const struct ana_access *x, const struct lanes *l,
                      unsigned loop)
{
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_LABEL, "  bytes   ");
    row_put(&r, ROLE_VALUE, "%lld..%lld", (long long)l->low, (long long)l->high);
    row_put(&r, ROLE_LABEL, " of %s", x->array ? x->array : "the array");
    if (loop < LOOPS_MOST && a->coalesce.round[loop] > 0)
        row_put(&r, ROLE_NOTE, "; %u of %u sectors were asked for in round %u too",
                repeated(a, x, l, loop), l->sectors, a->coalesce.round[loop] - 1);
    page_add(a, p, &r, -1);
}

static void put_lanes(struct app *a, const struct ana_access *x)
{
    struct page *p = &a->chart[PANEL_COALESCE];
    struct lanes l;
    struct row r = { .arena = a->frame };
    if (!lanes_eval(a, x, a->coalesce.round, &l)) {
        row_put(&r, ROLE_DIM, "  lanes   not drawn: ");
        if (!a->snap->spec)
            row_put(&r, ROLE_DIM, "no launch description");
        else if (x->address && l.bad.n)
            row_put(&r, ROLE_DIM, "'%.*s' varies at run time", (int)(l.bad.n > 40 ? 40 : l.bad.n),
                    l.bad.s);
        else
            row_put(&r, ROLE_DIM, "the address is unknown");
        page_add(a, p, &r, -1);
        return;
    }
    row_put(&r, ROLE_LABEL, "  lane    0         1         2         3       warp ");
    row_put(&r, ROLE_VALUE, "%u", a->coalesce.warp);
    unsigned loops = loops_in(x->address), shown = shown_loop(a, loops);
    for (unsigned k = 0; k < LOOPS_MOST; k++)
        if (loops >> k & 1) {
            row_put(&r, ROLE_LABEL, k == shown ? "  round " : " ");
            row_put(&r, k == shown ? ROLE_CHANGED : ROLE_VALUE, "%s=%u",
                    k ? arena_printf(a->frame, "k%u", k) : "k", a->coalesce.round[k]);
        }
    page_add(a, p, &r, -1);
    row_put(&r, ROLE_LABEL, "  sector  ");
    for (unsigned i = 0; i < 32; i++) {
        char c = (char)(l.sector[i] < 0    ? '.'
                        : l.sector[i] < 26 ? 'a' + l.sector[i]
                                           : 'A' + l.sector[i] - 26);
        row_put(&r,
                l.sector[i] < 0   ? ROLE_DIM
                : l.sector[i] % 2 ? ROLE_SERIES_B
                                  : ROLE_SERIES_A,
                "%c", c);
    }
    row_put(&r, ROLE_VALUE, "  %u lanes, %u sector%s", l.active, l.sectors, l.sectors == 1 ? "" : "s");
    page_add(a, p, &r, -1);
    put_bytes(a, p, x, &l, shown);
}

static void put_summary(struct app *a, const struct ana_coalesce *c, const struct ana_exact *e,
                        unsigned w)
{
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_LABEL, "  degree ");
    row_put(&r, view_degree_role(c->degree), "%.2f %%", c->degree * 100);
    /* over all 32 lanes, where that is another figure: both fit a line of 80 columns */
    bool two = isnan(c->every.degree) || fabs(c->every.degree - c->degree) >= 5e-5;
    if (two)
        row_put(&r, ROLE_LABEL, ", all lanes ");
    if (two && isnan(c->every.degree))
        row_put(&r, ROLE_DIM, "n/a");
    else if (two)
        row_put(&r, view_degree_role(c->every.degree), "%.2f %%", c->every.degree * 100);
    row_put(&r, ROLE_LABEL, "%s", two || w < 64 ? "  " : "   sectors a request: ");
    row_put(&r, ROLE_VALUE, "%u", c->num_sectors);
    row_put(&r, ROLE_LABEL, " in range, ");
    if (ana_expected_tells(c->expected)) {
        row_put(&r, ROLE_VALUE, "%.2f", c->expected);
        row_put(&r, ROLE_LABEL, " expected, ");
    }
    if (e->valid && e->requests)
        row_put(&r, ROLE_TITLE, "%.2f", e->sectors_per_request);
    else
        row_put(&r, ROLE_DIM, "n/a");
    row_put(&r, ROLE_LABEL, " exact");
    page_add(a, &a->chart[PANEL_COALESCE], &r, -1);
    row_put(&r, ROLE_LABEL, "  each request moves ");
    row_put(&r, ROLE_VALUE, "%.2f", c->sectors);
    row_put(&r, ROLE_LABEL, " sectors, ");
    row_put(&r, ROLE_VALUE, "%.2f", c->least);
    row_put(&r, ROLE_LABEL, " would do: ");
    row_put(&r, view_degree_role(ana_sector_use(c)), "%.1f %%", 100 * ana_sector_use(c));
    row_put(&r, ROLE_LABEL, " needed");
    if (traffic_of(a).counted)
        row_put(&r, ROLE_DIM, "  L1: %s", view_counters_name(a, true));
    page_add(a, &a->chart[PANEL_COALESCE], &r, -1);
}

/* Long addresses are cut after two lines: the tree of the source panel has the rest. */
static void put_address(struct app *a, struct page *p, unsigned w, const char *address)
{
    struct str s = str_of(address), head = text_head(s, 2 * (w > 12 ? w - 8 : 4));
    page_say(a, p, ROLE_VALUE, 2, w - 1, "%.*s%s", (int)head.n, head.s, head.n < s.n ? " …" : "");
}

#define LOW 16 /* rows: with fewer not all of the chart has room */
static void chart(struct app *a, long item, unsigned w, unsigned h)
{
    const struct ana_kernel *k = a->snap->facts;
    const struct ana_access *x = item > 0 ? &k->access[item - 1] : NULL;
    const struct ana_coalesce *c = x ? &x->coalesce : &k->coalesce;
    const struct ana_exact *e = x ? &x->exact : &k->exact;
    struct page *p = &a->chart[PANEL_COALESCE];
    if (h >= 14)
        page_blank(a, p);
    if (x && x->address)
        put_address(a, p, w, x->address);
    if (x && ana_banks_counted(x)) {
        view_banks_chart(a, p, x, w, h);
        return;
    }
    if (!c->valid) {
        page_wrap(a, p, ROLE_DIM, 2, w - 1, x && x->unknown ? x->unknown : "the degree is unknown here",
                  -1);
        return;
    }
    bool low = h < LOW; /* the end is cut: the lanes are in no column of the list, the summary is */
    if (x && low)
        put_lanes(a, x);
    put_graph(a, c, h >= 30 ? 10 : h >= 18 ? 6 : h >= 14 ? 4 : 2, w >= 76 ? 2 : 1);
    put_summary(a, c, e, w);
    if (x && !low)
        put_lanes(a, x);
}

static void put_accesses(struct app *a, unsigned w)
{
    const struct ana_kernel *k = a->snap->facts;
    struct traffic t = traffic_of(a);
    uint32_t n = 0;
    const uint32_t *hot = a->coalesce.hot_first ? traffic_order(a, &n) : NULL;
    bool *put = ARENA_ARRAY(a->frame, bool, k->naccess + 1);
    put_access(a, 0, w, &t);
    for (uint32_t i = 0; hot && put && i < n; i++) {
        put_access(a, (long)hot[i] + 1, w, &t);
        put[hot[i]] = true;
    }
    for (uint32_t i = 0; put && i < k->naccess; i++)
        if (listed(&k->access[i]) && !put[i])
            put_access(a, (long)i + 1, w, &t);
}

static void coalesce_update(struct app *a, unsigned w, unsigned h)
{
    const struct ana_kernel *k = a->snap->facts;
    struct page *p = &a->page[PANEL_COALESCE];
    struct list *l = &a->list[PANEL_COALESCE];
    page_clear(p);
    page_clear(&a->chart[PANEL_COALESCE]);
    if (!k) {
        page_hint(a, p, w, view_unready(a, "Analysing ..."));
        list_set_count(l, p->n);
        return;
    }
    put_accesses(a, w);
    list_set_count(l, p->n);
    chart(a, page_item(p, l), w, h);
}

static void coalesce_head(struct app *a, unsigned w, struct row *r)
{
    struct traffic t = traffic_of(a);
    row_put(r, ROLE_LABEL, "  line   degree       range%s   exact",
            w >= WITH_EXPECTED ? " expected" : "");
    if (w >= WITH_TRAFFIC)
        row_put(r, ROLE_LABEL, "%8s%9s", t.counted ? "past L1" : "asked", t.counted ? "L1 hit" : "");
    row_put(r, ROLE_LABEL, "  access");
    if (t.counted && w >= 100)
        row_put(r, ROLE_DIM, " (simulated)");
    if (w >= 100)
        row_pad(r, FULL_NAME + 2);
    bool room = w >= 100 || r->width + 1 + SHAPE <= w;
    if (w < 100 && room)
        row_pad(r, w - SHAPE);
    if (room)
        row_put(r, ROLE_LABEL, "32 words");
    if (a->coalesce.hot_first && w >= 100)
        row_put(r, ROLE_CHANGED, "  by traffic");
}

static unsigned change_round(struct app *a, int by, bool other)
{
    const struct ana_kernel *k = a->snap->facts;
    long i = page_item(&a->page[PANEL_COALESCE], &a->list[PANEL_COALESCE]);
    unsigned loops = k && i > 0 && (uint32_t)i <= k->naccess ? loops_in(k->access[i - 1].address) : 0,
             at = shown_loop(a, loops);
    if (at == LOOPS_MOST) {
        app_notice(a, DIAG_NOTE, "%s",
                   i > 0 ? "the address of this access is the same in every iteration"
                         : "choose one load first: the picture shows the lanes of one load");
        return UI_REDRAW;
    }
    unsigned *round = &a->coalesce.round[at];
    if (other)
        a->coalesce.loop = at + 1;
    else
        *round = by < 0 ? *round - (*round > 0) : *round + (*round < ROUNDS_MOST);
    return UI_REDRAW;
}

static unsigned coalesce_request(struct app *a, enum request r)
{
    struct list *l = &a->list[PANEL_COALESCE];
    switch (r) {
    case REQ_COA_NEXT: list_move(l, &a->page[PANEL_COALESCE], 1); break;
    case REQ_COA_PREV: list_move(l, &a->page[PANEL_COALESCE], -1); break;
    case REQ_COA_SORT:
        a->coalesce.hot_first = !a->coalesce.hot_first;
        app_notice(a, DIAG_NOTE,
                   a->coalesce.hot_first ? "the loads with the most traffic first"
                                         : "in the order of the text");
        break;
    case REQ_COA_ROUND_UP: return change_round(a, 1, false);
    case REQ_COA_ROUND_DOWN: return change_round(a, -1, false);
    case REQ_COA_LOOP: return change_round(a, 0, true);
    case REQ_COA_WARP_UP: a->coalesce.warp++; break;
    case REQ_COA_WARP_DOWN: a->coalesce.warp -= a->coalesce.warp > 0; break;
    default: return 0;
    }
    return UI_REDRAW;
}

const struct view view_coalesce = { coalesce_update, coalesce_head, NULL, coalesce_request, NULL, NULL };
