/* options: knobs in groups, then the launch description. Items number the knobs
 * of the table first, then grid, block, shared memory and arguments. */
#include "tui/model/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEM_GRID = 1000, ITEM_BLOCK, ITEM_SHARED, ITEM_ARG };

/* First knob of each group of options.def, and the group's title. */
static const struct { const char *first, *title; } groups[] = {
    { "bypass", "Cache bypassing" }, { "cluster", "CTA clustering and throttling" }, { "prefetch", "Prefetching" },
    { "softcache", "Software cache" }, { "block", "Loop schedule" }, { "throttle-shared", "Occupancy and carve-out" },
    { "assume-read-only", "What you vouch for" } };

static const char *group_title(const char *knob)
{
    for (size_t i = 0; i < ARRAY_LEN(groups); i++)
        if (!strcmp(groups[i].first, knob))
            return groups[i].title;
    return NULL;
}

static void knob_text(const struct options *o, size_t i, struct buf *out)
{
    buf_clear(out);
    knob_get(o, i, out);
}

/* The values of an enum, the present one in brackets; else the form or range. */
static void put_allowed(struct row *r, const struct knob_info *k, const char *value)
{
    if (k->kind == KNOB_KIND_INT) {
        row_put(r, ROLE_DIM, "%d..%d", k->min, k->max);
        return;
    }
    if (k->kind != KNOB_KIND_ENUM) {
        row_put(r, ROLE_DIM, "%s", k->kind == KNOB_KIND_FLAG ? "on off" : k->form ? k->form : "");
        return;
    }
    for (size_t v = 0; k->values[v]; v++)
        row_put(r, !strcmp(k->values[v], value) ? ROLE_VALUE : ROLE_DIM, "%s%s", v ? " " : "", k->values[v]);
}

static void put_knob(struct app *a, size_t i, unsigned w)
{
    const struct knob_info *k = knob_info(i);
    struct options def = options_default();
    struct buf value = { 0 }, plain = { 0 };
    struct row r;
    knob_text(&a->options, i, &value);
    knob_text(&def, i, &plain);
    const char *v = value.n ? value.s : "-";
    bool changed = strcmp(v, plain.n ? plain.s : "-") != 0;
    row_init(&r, a->frame);
    row_put(&r, changed ? ROLE_CHANGED : ROLE_TEXT, " %s ", changed ? "●" : " ");
    row_put(&r, ROLE_LABEL, "%-17s ", k->name);
    row_put(&r, changed ? ROLE_CHANGED : ROLE_VALUE, "%-11s", v);
    if (w >= 60) {
        row_put(&r, ROLE_TEXT, " ");
        put_allowed(&r, k, v);
        if (w >= 110) {
            row_pad(&r, 66);
            row_put(&r, ROLE_DIM, "  %s", k->help);
        }
    }
    page_add(a, &a->page[PANEL_OPTIONS], &r, (long)i);
    buf_free(&value);
    buf_free(&plain);
}

static void put_pair(struct app *a, const char *label, long item, enum role role, const char *fmt, ...)
{
    char text[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    struct row r;
    row_init(&r, a->frame);
    row_put(&r, ROLE_LABEL, "   %-17s ", label);
    row_put(&r, role, "%s", text);
    page_add(a, &a->page[PANEL_OPTIONS], &r, item);
}

static void scalar_text(const struct arg_spec *g, char *out, size_t n)
{
    union { uint8_t b[8]; float f; double d; int8_t s8; int16_t s16; int32_t s32; int64_t s64; uint8_t u8; uint16_t u16; uint32_t u32; uint64_t u64; } v;
    memcpy(v.b, g->scalar, sizeof v.b);
    switch (g->elem) {
    case ELEM_F32: snprintf(out, n, "%.9g", (double)v.f); break;
    case ELEM_F64: snprintf(out, n, "%.17g", v.d); break;
    case ELEM_S8: snprintf(out, n, "%d", v.s8); break;
    case ELEM_S16: snprintf(out, n, "%d", v.s16); break;
    case ELEM_S32: snprintf(out, n, "%d", v.s32); break;
    case ELEM_S64: snprintf(out, n, "%lld", (long long)v.s64); break;
    case ELEM_U8: snprintf(out, n, "%u", v.u8); break;
    case ELEM_U16: case ELEM_F16: snprintf(out, n, "%u", v.u16); break;
    case ELEM_U32: snprintf(out, n, "%u", v.u32); break;
    default: snprintf(out, n, "%llu", (unsigned long long)v.u64);
    }
}

static void put_arg(struct app *a, const struct arg_spec *g, long item)
{
    char text[TEXT_NUM], size[TEXT_NUM];
    const char *name = g->name ? g->name : "?";
    switch (g->kind) {
    case ARG_BUFFER:
        text_bytes(size, (double)g->count * (double)elem_size(g->elem));
        put_pair(a, name, item, ROLE_VALUE, "%s[%llu]  %s%s", elem_name(g->elem), (unsigned long long)g->count, size, g->output ? "  output" : "");
        break;
    case ARG_SCALAR:
        scalar_text(g, text, sizeof text);
        put_pair(a, name, item, ROLE_VALUE, "%s = %s", elem_name(g->elem), text);
        break;
    case ARG_BYTES: put_pair(a, name, -1, ROLE_VALUE, "%zu bytes by value", g->nbytes); break;
    case ARG_SAME_AS: put_pair(a, name, -1, ROLE_VALUE, "same buffer as %s + %llu", g->same_as, (unsigned long long)g->offset); break;
    }
}

static void put_launch(struct app *a)
{
    const struct launch_spec *l = a->snap->spec;
    struct page *p = &a->page[PANEL_OPTIONS];
    page_blank(a, p);
    if (!l) {
        page_heading(a, p, "Launch");
        put_pair(a, "", -1, ROLE_DIM, "no launch description: put NAME.launch.json beside the PTX");
        return;
    }
    page_heading(a, p, "Launch of %s", l->kernel ? l->kernel : "?");
    put_pair(a, "grid", ITEM_GRID, ROLE_VALUE, "%u x %u x %u", l->grid.x, l->grid.y, l->grid.z);
    put_pair(a, "block", ITEM_BLOCK, ROLE_VALUE, "%u x %u x %u   (%llu warps per CTA)", l->block.x, l->block.y, l->block.z,
             (unsigned long long)(dim3u_count(l->block) + 31) / 32);
    put_pair(a, "shared memory", ITEM_SHARED, ROLE_VALUE, "%u bytes dynamic", l->shared);
    for (size_t i = 0; i < l->nargs; i++)
        put_arg(a, &l->args[i], (long)(ITEM_ARG + i));
}

static void put_verdict(struct app *a, unsigned w)
{
    struct page *p = &a->page[PANEL_OPTIONS];
    const struct job_snapshot *s = a->snap;
    struct row r;
    row_init(&r, a->frame);
    if (s->refusal && options_equal(&s->options, &a->options)) {
        page_wrap(a, p, ROLE_ERROR, 1, w - 1, s->refusal, -1);
        return;
    }
    if (!options_equal(&s->options, &a->options))
        row_put(&r, ROLE_DIM, " checking ...");
    else if (s->preview && s->preview->changed)
        row_put(&r, ROLE_GOOD, " legal: v in the source panel shows the rewritten text");
    else if (s->preview)
        row_put(&r, ROLE_DIM, " the original text, unchanged");
    else
        row_put(&r, ROLE_DIM, " nothing chosen");
    page_add(a, p, &r, -1);
}

static void options_update(struct app *a, unsigned w, unsigned h)
{
    struct page *p = &a->page[PANEL_OPTIONS];
    (void)h;
    page_clear(p);
    put_verdict(a, w);
    for (size_t i = 0; i < knob_count(); i++) {
        const char *title = group_title(knob_info(i)->name);
        if (title) {
            if (h > 30)
                page_blank(a, p);
            page_heading(a, p, "%s", title);
        }
        put_knob(a, i, w);
    }
    put_launch(a);
    struct list *l = &a->list[PANEL_OPTIONS];
    list_set_count(l, p->n);
    if (page_item(p, l) < 0)
        list_move(l, p, 1);
}

static long current(const struct app *a)
{
    return page_item(&a->page[PANEL_OPTIONS], &a->list[PANEL_OPTIONS]);
}

static void set_knob(struct app *a, long i, const char *text)
{
    struct options o = a->options;
    struct diags ds = { 0 };
    if (knob_set(&o, (size_t)i, str_of(text), &ds) == ST_OK)
        app_options_set(a, &o);
    app_notice_diags(a, &ds);
    diags_free(&ds);
}

static unsigned step_enum(struct app *a, long i, int by)
{
    const struct knob_info *k = knob_info((size_t)i);
    struct buf v = { 0 };
    int n = 0, at = 0;
    knob_text(&a->options, (size_t)i, &v);
    for (; k->values[n]; n++)
        if (v.s && !strcmp(k->values[n], v.s))
            at = n;
    set_knob(a, i, k->values[(at + by + n) % n]);
    buf_free(&v);
    return UI_REDRAW;
}

/* Whole numbers step by one; named values of text knobs (vote, auto) are typed. */
static unsigned step_number(struct app *a, long i, int by)
{
    struct buf v = { 0 };
    char text[32], *end;
    knob_text(&a->options, (size_t)i, &v);
    long n = v.s ? strtol(v.s, &end, 10) : 0;
    const struct knob_info *k = knob_info((size_t)i);
    if (k->kind == KNOB_KIND_INT && (n + by < k->min || n + by > k->max))
        by = 0;
    if (v.s && (*end || end == v.s))
        n = by > 0 ? -1 : 1;             /* from a name: up to 0, the least number */
    buf_free(&v);
    if (n + by < 0 && k->kind != KNOB_KIND_INT)
        return 0;
    snprintf(text, sizeof text, "%ld", n + by);
    set_knob(a, i, text);
    return UI_REDRAW;
}

static unsigned edit(struct app *a, long item)
{
    struct buf v = { 0 };
    const struct launch_spec *l = a->snap->spec;
    char text[64] = "", label[64];
    if (item < 0)
        return 0;
    if (item < ITEM_GRID) {
        knob_text(&a->options, (size_t)item, &v);
        snprintf(label, sizeof label, "%s = ", knob_info((size_t)item)->name);
    } else if (item < ITEM_ARG) {
        const struct dim3u *d = item == ITEM_GRID ? &l->grid : &l->block;
        if (item == ITEM_SHARED)
            snprintf(text, sizeof text, "%u", l->shared);
        else
            snprintf(text, sizeof text, "%ux%ux%u", d->x, d->y, d->z);
        snprintf(label, sizeof label, "%s = ", item == ITEM_GRID ? "grid" : item == ITEM_BLOCK ? "block" : "shared bytes");
    } else {
        const struct arg_spec *g = &l->args[item - ITEM_ARG];
        if (g->kind == ARG_SCALAR)
            scalar_text(g, text, sizeof text);
        else
            snprintf(text, sizeof text, "%llu", (unsigned long long)g->count);
        snprintf(label, sizeof label, "%s%s = ", g->name ? g->name : "argument", g->kind == ARG_BUFFER ? " (elements)" : "");
    }
    prompt_open(&a->prompt, PROMPT_VALUE, label, v.s ? v.s : text, item);
    buf_free(&v);
    return UI_REDRAW;
}

static unsigned step(struct app *a, int by)
{
    long i = current(a);
    if (i < 0)
        return 0;
    if (i >= ITEM_GRID)
        return edit(a, i);
    const struct knob_info *k = knob_info((size_t)i);
    if (k->kind == KNOB_KIND_ENUM)
        return step_enum(a, i, by);
    if (k->kind == KNOB_KIND_FLAG) {
        struct buf v = { 0 };
        knob_text(&a->options, (size_t)i, &v);
        set_knob(a, i, v.s && !strcmp(v.s, "on") ? "off" : "on");
        buf_free(&v);
        return UI_REDRAW;
    }
    return step_number(a, i, by) ? UI_REDRAW : edit(a, i);
}

static unsigned reset(struct app *a, bool all)
{
    struct options def = options_default();
    long i = current(a);
    if (all) {
        app_options_set(a, &def);
    } else if (i >= 0 && i < ITEM_GRID) {
        struct buf v = { 0 };
        knob_text(&def, (size_t)i, &v);
        set_knob(a, i, v.s ? v.s : "");
        buf_free(&v);
    }
    return UI_REDRAW;
}

static unsigned options_request(struct app *a, enum request r)
{
    switch (r) {
    case REQ_OPT_NEXT: return step(a, 1);
    case REQ_OPT_PREV: return step(a, -1);
    case REQ_OPT_EDIT: return edit(a, current(a));
    case REQ_OPT_RESET: return reset(a, false);
    case REQ_OPT_RESET_ALL: return reset(a, true);
    case REQ_OPT_SAVE: app_post(a, JOB_LAUNCH_SAVE, "", 0); return UI_REDRAW;
    default: return 0;
    }
}

/* ---- values typed at the prompt ---- */
static bool parse_dim(const char *s, struct dim3u *d)
{
    unsigned x = 1, y = 1, z = 1;
    char rest;
    int n = sscanf(s, "%ux%ux%u%c", &x, &y, &z, &rest);
    *d = (struct dim3u){ x, y, z };
    return n >= 1 && n <= 3 && x && y && z;
}

static bool parse_scalar(struct arg_spec *g, const char *s)
{
    char *end;
    double f = strtod(s, &end);
    if (end == s || *end)
        return false;
    memset(g->scalar, 0, sizeof g->scalar);
    if (g->elem == ELEM_F32) {
        float v = (float)f;
        memcpy(g->scalar, &v, sizeof v);
    } else if (g->elem == ELEM_F64) {
        memcpy(g->scalar, &f, sizeof f);
    } else {
        int64_t v = *s == '-' ? strtoll(s, &end, 0) : (int64_t)strtoull(s, &end, 0);
        if (*end)
            return false;
        memcpy(g->scalar, &v, elem_size(g->elem));
    }
    return true;
}

void view_options_value(struct app *a, long item, const char *text)
{
    if (item < ITEM_GRID) {
        set_knob(a, item, text);
        return;
    }
    if (!a->snap->spec)
        return;
    struct launch_spec l = *a->snap->spec;      /* shallow: job_post copies */
    struct arg_spec *args = base_alloc(sizeof *args * (l.nargs + 1));
    bool ok = args != NULL;
    unsigned long long n = strtoull(text, NULL, 0);
    if (ok && l.nargs)
        memcpy(args, l.args, sizeof *args * l.nargs);
    l.args = args;
    if (item == ITEM_GRID || item == ITEM_BLOCK)
        ok = ok && parse_dim(text, item == ITEM_GRID ? &l.grid : &l.block);
    else if (item == ITEM_SHARED)
        l.shared = (uint32_t)n;
    else if (ok && args[item - ITEM_ARG].kind == ARG_SCALAR)
        ok = parse_scalar(&args[item - ITEM_ARG], text);
    else if (ok)
        args[item - ITEM_ARG].count = n, ok = n > 0;
    if (ok) {
        struct job j = { .kind = JOB_LAUNCH, .launch = &l };
        a->engine.post(a->engine.ctx, &j);
    } else {
        app_notice(a, DIAG_ERROR, "'%s' is not a value for this", text);
    }
    base_free(args);
}

bool view_options_launch(struct app *a, const char *field, const char *text)
{
    static const char *const names[] = { "grid", "block", "shared" };
    const struct launch_spec *l = a->snap->spec;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (l && !strcmp(names[i], field)) {
            view_options_value(a, (long)(ITEM_GRID + i), text);
            return true;
        }
    for (size_t i = 0; l && i < l->nargs; i++)
        if (l->args[i].name && !strcmp(l->args[i].name, field) && (l->args[i].kind == ARG_SCALAR || l->args[i].kind == ARG_BUFFER)) {
            view_options_value(a, (long)(ITEM_ARG + i), text);
            return true;
        }
    return false;
}

const struct view view_options = { options_update, NULL, NULL, options_request, NULL, NULL };
