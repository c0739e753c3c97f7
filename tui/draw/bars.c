/* bars: title and tabs above, message or prompt and keys below. */
#include "engine/base/name.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/search/live.h"
#include "engine/session/launch_file.h"
#include "engine/session/lesson.h"
#include "engine/workspace/job.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/base/text.h"
#include "tui/control/panels.h"
#include "tui/draw/panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PROGRESS_ROWS  16 /* a screen this high has a row for the progress alone */
#define NOTICE_BUSY_NS (4LL * 1000000000)

static const char *base_name(const char *path)
{
    return path ? base_file_name(path) : "";
}

/* What stands on the right: device and session, or as much of it as leaves room for the names on the
 * left. */
static int title_right(const struct job_snapshot *n, const struct surface *s, char *out, size_t size)
{
    snprintf(out, size, "%s%s%s%s ", n->has_dev ? n->dev.spec : "no device", n->session_path ? "  " : "",
             n->session_path ? base_name(n->session_path) : "", n->session_unsaved ? " *" : "");
    if ((int)text_width(str_of(out)) * 2 > s->w)
        snprintf(out, size, "%s ", n->has_dev ? n->dev.spec : "no device");
    int w = (int)text_width(str_of(out));
    return w * 2 > s->w ? 0 : w;
}

static void title(struct app *a, struct surface *s)
{
    const struct job_snapshot *n = a->snap;
    char right[300];
    struct row r = { .arena = a->frame };
    int w = title_right(n, s, right, sizeof right);
    surface_fill(s, (struct rect){ 0, 0, s->w, 1 }, ' ', ROLE_BAR);
    row_put(&r, ROLE_BAR_KEY, " gpulocw");
    if (n->module)
        row_put(&r, ROLE_BAR, "  %s", base_name(n->module->path));
    else
        row_put(&r, ROLE_BAR, "  the GPU locality workbench");
    char label[PTX_LABEL] = "";
    if (n->module && n->kernel)
        row_put(&r, ROLE_BAR, " ▸ %s", ptx_label(n->kernel, label));
    if (n->launches && n->launches->n > 1 && n->spec && n->spec->name &&
        strcmp(n->spec->name, label) != 0)
        row_put(&r, ROLE_BAR, " (%s)", n->spec->name);
    if (w && (int)r.width + w + 1 > s->w && n->session_path) {
        snprintf(right, sizeof right, "%s ", n->has_dev ? n->dev.spec : "no device");
        w = (int)text_width(str_of(right));
    }
    surface_row(s, 0, 0, s->w - w - (w > 0), &r, 0);
    if (w)
        surface_print(s, s->w - w, 0, ROLE_BAR, "%s", right);
}

static unsigned errors_unseen(const struct app *a)
{
    unsigned n = 0;
    for (size_t i = a->messages.seen; i < a->snap->nmessages; i++)
        n += a->snap->messages[i].level == DIAG_ERROR;
    return n;
}

/* Tabs as roomy as they fit: titles, short titles, their first letters, or bare numbers beside the one
 * in front. */
enum tab_style { TAB_TITLES, TAB_BRIEF, TAB_LETTERS, TAB_FEW, TAB_NUMBERS };
static const int letters_of[TAB_NUMBERS + 1] = { 16, 16, 4, 3, 0 };

/* The key of a panel past the number keys; false: it has none. */
static bool panel_letter(const struct app *a, int p, char *key)
{
    static const struct {
        enum panel_id panel;
        enum request request;
    } letters[] = { { PANEL_SUMMARY, REQ_PANEL_SUMMARY },
                    { PANEL_CUDA, REQ_PANEL_CUDA },
                    { PANEL_SASS, REQ_PANEL_SASS } };
    *key = '\0';
    for (size_t i = 0; i < ARRAY_LEN(letters); i++)
        if ((int)letters[i].panel == p)
            keymap_key(&a->keys, letters[i].request, key);
    return *key != '\0';
}

static void tab_text(const struct app *a, int p, enum tab_style style, char *out, size_t n)
{
    const struct panel_info *info = panel_info((enum panel_id)p);
    bool front = p == (int)a->focus;
    char key[16];
    const char *name = style == TAB_TITLES ? info->title : info->brief;
    if (panel_letter(a, p, key) && (front || style != TAB_NUMBERS)) /* what brings it here */
        snprintf(out, n, front ? " %s %.*s " : "%s %.*s", key,
                 front ? 16 : letters_of[style < TAB_FEW ? style : TAB_LETTERS], name);
    else if (*key)
        snprintf(out, n, "%s", key);
    else if (style == TAB_NUMBERS && !front)
        snprintf(out, n, "%d", p + 1);
    else if (style >= TAB_LETTERS && !front)
        snprintf(out, n, "%d %.*s", p + 1, letters_of[style], info->brief);
    else
        snprintf(out, n, style != TAB_TITLES && !front ? "%d %s" : " %d %s ", p + 1, name);
}

/* Panels past the last number key take room in the line of tabs only while they are in front; the summary
 * has its place, and so has the CUDA source where the PTX says its lines. */
static bool has_tab(const struct app *a, int p)
{
    return p <= REQ_PANEL_9 - REQ_PANEL_1 || p == PANEL_SUMMARY || p == (int)a->focus ||
           (p == PANEL_CUDA && view_cuda_known(a));
}

/* The tabs from left to right: the summary, which the program opens with, the source, then by number. */
static int tab_panel(int k)
{
    return !k ? PANEL_SUMMARY : k == 1 ? PANEL_CUDA : k <= PANEL_CUDA ? k - 2 : k;
}

static enum tab_style tab_style(const struct app *a, int w)
{
    for (enum tab_style style = TAB_TITLES; style < TAB_NUMBERS; style++) {
        int x = 1;
        for (int p = 0; p < PANEL_COUNT; p++) {
            char text[40];
            if (!has_tab(a, p))
                continue;
            tab_text(a, p, style, text, sizeof text);
            x += (int)strlen(text) + 1;
        }
        if (x <= w + 1)
            return style;
    }
    return TAB_NUMBERS;
}

void bars_draw_top(struct app *a, struct surface *s, struct screen *map, bool tabs)
{
    title(a, s);
    if (!tabs)
        return;
    enum tab_style style = tab_style(a, s->w);
    int x = 1;
    for (int k = 0; k < PANEL_COUNT; k++) {
        int p = tab_panel(k);
        bool front = p == (int)a->focus;
        char text[40];
        int x0 = x;
        if (!has_tab(a, p))
            continue;
        bool alarm = p == PANEL_MESSAGES && errors_unseen(a);
        enum role role = front ? ROLE_TAB_ACTIVE : alarm ? ROLE_ERROR : ROLE_TAB;
        tab_text(a, p, style, text, sizeof text);
        x = surface_print(s, x, 1, role, "%s", text);
        screen_hit(map, HIT_TAB, (struct rect){ x0, 1, x - x0, 1 }, p);
        x++;
    }
}

/* How much a row of progress says: what comes later is left out first where a screen is narrow. */
enum { SAYS_LEFT = 1, SAYS_BAR, SAYS_COUNT, SAYS_RATE };

static void put_rate(struct row *r, double rate)
{
    if (rate >= 1)
        row_put(r, ROLE_DIM, "  %.1f points/s", rate);
    else if (rate > 0)
        row_put(r, ROLE_DIM, "  %.1f s/point", 1 / rate);
}

/* Estimates are coarse: steps of 5 s, of minutes from two on. Too little done says nothing of the rest.
 */
static void put_left(struct row *r, double age_s, double done)
{
    enum { STEP_S = 5, MINUTE_S = 60 };
    double left = age_s * (1 - done) / done;
    if (left >= 2 * MINUTE_S)
        row_put(r, ROLE_DIM, "  about %.0f min left", ceil(left / MINUTE_S));
    else
        row_put(r, ROLE_DIM, "  about %.0f s left", STEP_S * ceil(left / STEP_S));
}

static void put_progress(struct app *a, struct row *r, int w, int says)
{
    const struct job_snapshot *n = a->snap;
    static const char *const spin[] = { "⠋", "⠙", "⠸", "⠴", "⠦", "⠇" };
    const struct tune_live *l = app_doing(n, JOB_TUNE) ? n->search : NULL;
    int64_t age = a->now_ns - n->started_ns;
    double done = n->done;
    *r = (struct row){ .arena = a->frame };
    row_put(r, ROLE_NOTE, " %s ", spin[(a->now_ns / 250000000) % 6]);
    row_put(r, ROLE_VALUE, "%.60s ", app_word(n));
    if (l && l->budget && says >= SAYS_COUNT)
        row_put(r, ROLE_VALUE, "%u of %u launches ", l->launches, l->budget);
    if (done > 0 && says >= SAYS_BAR)
        row_bar(r, ROLE_NOTE, w >= 100 ? 24 : 12, done);
    if (done > 0)
        row_put(r, ROLE_VALUE, " %3.0f %%", floor(done * 100));
    if (age > 1000000000 && says >= SAYS_RATE)
        put_rate(r, n->rate);
    if (age > 1000000000 && done > 0.05 && done < 1 && says >= SAYS_LEFT)
        put_left(r, (double)age / 1e9, done);
    row_put(r, ROLE_DIM, "%s", view_keys(a, "   {cancel} stops"));
}

static void progress(struct app *a, struct surface *s, int y)
{
    struct row r;
    int says = SAYS_RATE;
    do
        put_progress(a, &r, s->w, says);
    while (r.width > (unsigned)s->w && says-- > 0);
    surface_row(s, 0, y, s->w, &r, 0);
}

static void prompt(struct app *a, struct surface *s, int y)
{
    const struct prompt *p = &a->prompt;
    int x = surface_print(s, 1, y, ROLE_KEY, "%s", p->label);
    int room = s->w - x - 2, at = (int)text_width((struct str){ p->text, p->at }),
        skip = at > room ? at - room : 0;
    struct row r = { .arena = a->frame };
    row_str(&r, p->selected ? ROLE_TAB_ACTIVE : ROLE_TITLE, (struct str){ p->text, p->n });
    surface_row(s, x, y, s->w - x, &r, (unsigned)skip);
    s->cursor_x = x + at - skip;
    s->cursor_y = y;
}

/* What Tab found, in columns above the prompt, as shells show it. At most half of the screen. */
static void choices(struct app *a, struct surface *s, int prompt_y)
{
    const struct prompt *p = &a->prompt;
    struct str all = { p->choices, p->nchoices }, rest = all, one;
    unsigned wide = 0, shown = 0;
    while (str_line(&rest, &one))
        wide = text_width(one) > wide ? text_width(one) : wide;
    if (!p->offered || prompt_y < 2)
        return;
    int cell = (int)wide + 2, across = s->w / cell > 0 ? s->w / cell : 1, most = prompt_y / 2 + 1;
    int down = (int)(p->offered + (size_t)across - 1) / across, rows = down < most ? down : most;
    surface_fill(s, (struct rect){ 0, prompt_y - rows, s->w, rows }, ' ', ROLE_TEXT);
    for (rest = all; str_line(&rest, &one) && shown < (unsigned)(rows * across); shown++) {
        struct row r = { .arena = a->frame };
        row_str(&r, ROLE_CHANGED, one);
        surface_row(s, 1 + (int)shown / rows * cell, prompt_y - rows + (int)shown % rows, cell, &r, 0);
    }
    if (shown < p->offered)
        surface_print(s, s->w - 24, prompt_y - 1, ROLE_NOTE, "… %zu more: type on", p->offered - shown);
}

static void line(struct app *a, struct surface *s, int y, enum role role, const char *head,
                 const char *text)
{
    struct row r = { .arena = a->frame };
    row_str(&r, role, str_of(head));
    row_str(&r, role, str_of(text));
    surface_row(s, 1, y, s->w - 2, &r, 0);
}

/* A warning that does not fit ends in the key of the panel that has the rest. */
static void notice(struct app *a, struct surface *s, int y, enum role role)
{
    const char *tail = view_keys(a, " … {panel-9} has the rest");
    unsigned room = s->w > 2 ? (unsigned)s->w - 2 : 0, end = text_width(str_of(tail));
    struct str text = str_of(a->notice);
    if (a->notice_level == DIAG_NOTE || text_width(text) <= room || room < 2 * end) {
        line(a, s, y, role, "", a->notice);
        return;
    }
    struct str head = text_head(text, room - end);
    line(a, s, y, role, arena_printf(a->frame, "%.*s", (int)head.n, head.s), tail);
}

#define SETTLING_NS 2000000000 /* most analyses are done by then: they are not worth a word */
static void message(struct app *a, struct surface *s, int y)
{
    static const enum role roles[] = { ROLE_NOTE, ROLE_WARN, ROLE_ERROR };
    if (a->prompt.kind != PROMPT_NONE) {
        choices(a, s, y);
        prompt(a, s, y);
        return;
    }
    if (a->overlay == OVERLAY_PICKER && view_picker_help(a) && !a->snap->busy) {
        struct str help = text_sentences(str_of(view_picker_help(a)), s->w > 2 ? (unsigned)s->w - 2 : 0);
        line(a, s, y, ROLE_NOTE, "", arena_printf(a->frame, "%.*s", (int)help.n, help.s));
        return;
    }
    bool fresh = a->notice_until - a->now_ns > NOTICE_BUSY_NS; /* progress takes the line back soon */
    bool apart = bars_progress_row(a, s);
    if (*a->notice && (!a->snap->busy || apart || a->notice_level == DIAG_ERROR || a->leaving || fresh))
        notice(a, s, y, roles[a->notice_level]);
    else if (a->snap->busy && !apart)
        progress(a, s, y);
    else if (a->snap->refusal && options_equal(a->snap->options, a->options))
        line(a, s, y, ROLE_ERROR, "not legal here: ", a->snap->refusal);
    else if (a->snap->unsettled && !a->snap->busy && a->now_ns - a->snap->started_ns > SETTLING_NS)
        line(a, s, y, ROLE_DIM, "", view_keys(a, "analysing the whole launch   {cancel} stops it"));
}

/* Requests that go two ways stand as one hint: "←→ point", "[ ] load". */
static const struct {
    enum request back, on;
    const char *what;
} pairs[] = {
    { REQ_VAL_LEFT, REQ_VAL_RIGHT, "point" },          { REQ_SRC_PREV_LOAD, REQ_SRC_NEXT_LOAD, "load" },
    { REQ_SRC_CHANGE_BACK, REQ_SRC_CHANGE, "change" }, { REQ_COA_PREV, REQ_COA_NEXT, "load" },
    { REQ_COA_WARP_DOWN, REQ_COA_WARP_UP, "warp" },    { REQ_COA_ROUND_DOWN, REQ_COA_ROUND_UP, "round" },
    { REQ_LOC_PREV_PART, REQ_LOC_NEXT_PART, "part" },  { REQ_LOC_SMALLER, REQ_LOC_LARGER, "size" },
    { REQ_LOC_PREV_LOAD, REQ_LOC_NEXT_LOAD, "load" },  { REQ_OPT_PREV, REQ_OPT_NEXT, "change" },
    { REQ_CNT_PREV, REQ_CNT_NEXT, "result" },          { REQ_CUDA_PREV, REQ_CUDA_NEXT, "load" },
    { REQ_SASS_PREV, REQ_SASS_NEXT, "access" },
};

/* Is this key among those of the request? */
static bool has_key(const struct app *a, enum request q, const char *key)
{
    struct buf b = { 0 };
    keymap_keys(&a->keys, q, &b);
    struct str rest = { b.s ? b.s : "", b.n };
    bool found = false;
    while (rest.n && !found) {
        size_t n = 0;
        while (n < rest.n && rest.s[n] != ' ')
            n++;
        found = str_is((struct str){ rest.s, n }, key);
        rest.s += n + (n < rest.n), rest.n -= n + (n < rest.n);
    }
    buf_free(&b);
    return found;
}

static const char *pair_keys(struct app *a, enum request back, enum request on)
{
    char x[16], y[16];
    if (has_key(a, back, "Left") && has_key(a, on, "Right"))
        return "←→";
    keymap_key(&a->keys, back, x);
    keymap_key(&a->keys, on, y);
    return arena_printf(a->frame, *x && *y ? "%s %s" : "%s%s", x, y);
}

/* The word beside a key. Nothing follows a lesson's last step. */
static const char *bar_word(const struct app *a, enum request q)
{
    const struct lesson_view *v = &a->lesson;
    bool last = q == REQ_LESSON_NEXT && v->lesson && v->step + 1 == v->lesson->nsteps;
    return last ? "end lesson" : request_info(q)->bar;
}

/* limit: the first column that is not for it */
static int put_key(struct app *a, struct surface *s, struct screen *map, int x, int y, enum request q,
                   int limit)
{
    char key_text_of[16];
    const struct request_info *i = request_info(q);
    const char *key = key_text_of, *what = bar_word(a, q);
    keymap_key(&a->keys, q, key_text_of);
    for (size_t k = 0; k < ARRAY_LEN(pairs); k++)
        if (pairs[k].on == q && *what)
            key = arena_printf(a->frame, "%s", pair_keys(a, pairs[k].back, q)), what = pairs[k].what;
    int need = (int)(text_width(str_of(key)) + strlen(what)) + 3;
    if (!*i->bar || !*key || x + need > limit)
        return x;
    int x0 = x;
    x = surface_print(s, x, y, ROLE_BAR_KEY, "%s", key);
    x = surface_print(s, x, y, ROLE_BAR, " %s", what);
    screen_hit(map, HIT_REQUEST, (struct rect){ x0, y, x - x0, 1 }, (int)q);
    return x + 2;
}

/* Keys that would do nothing now are not offered. */
static bool of_use(const struct app *a, enum request q)
{
    if (q == REQ_LESSON_NEXT)
        return a->lesson.passed;
    char next[16], key[16];
    keymap_key(&a->keys, REQ_LESSON_NEXT, next);
    keymap_key(&a->keys, q, key);
    if (a->lesson.lesson && a->lesson.passed && a->overlay == OVERLAY_NONE && strcmp(next, key) == 0)
        return false; /* the lesson takes it */
    if (q == REQ_SRC_CHANGE)
        return a->source.mode != SRC_ORIGINAL;
    bool works = q == REQ_SWEEP || q == REQ_RUN || q == REQ_TUNE || q == REQ_ZOOM;
    return !works || (a->snap->module && a->overlay != OVERLAY_PICKER);
}

/* Help and the way out stand at the right end at every width. Returns their first column. */
static int key_bar_end(struct app *a, struct surface *s, struct screen *map, int y)
{
    bool over = a->overlay != OVERLAY_NONE;
    const char *out = view_keys(a, over ? "{quit} close" : "{quit} quit");
    int w = (int)text_width(str_of(out)), x = s->w - w - 1;
    if (x < 1)
        return s->w;
    surface_print(s, x, y, ROLE_BAR, "%s", out);
    screen_hit(map, HIT_REQUEST, (struct rect){ x, y, w, 1 }, REQ_QUIT);
    if (a->overlay == OVERLAY_HELP || x < 10)
        return x;
    x -= 8;
    put_key(a, s, map, x, y, REQ_HELP, s->w);
    return x;
}

static void key_bar(struct app *a, struct surface *s, struct screen *map, int y)
{
    enum scope order[5];
    unsigned n = 0;
    surface_fill(s, (struct rect){ 0, y, s->w, 1 }, ' ', ROLE_BAR);
    if (a->prompt.kind != PROMPT_NONE) {
        surface_print(s, 1, y, ROLE_BAR,
                      a->prompt.kind == PROMPT_COMMAND
                          ? "Enter accept, Esc cancel, ↑ history, Tab complete"
                          : "Enter accept, Esc cancel");
        return;
    }
    if (a->overlay == OVERLAY_TREE)
        order[n++] = SCOPE_TREE;
    if (a->overlay == OVERLAY_HELP || a->overlay == OVERLAY_TREE)
        order[n++] = SCOPE_LIST;
    else if (a->overlay == OVERLAY_PICKER || a->overlay == OVERLAY_KERNELS)
        order[n++] = SCOPE_PICKER;
    else {
        if (a->lesson.lesson)
            order[n++] = SCOPE_LESSON;
        if (a->replay.on && a->focus == PANEL_VALLEY)
            order[n++] = SCOPE_REPLAY;
        order[n++] = (enum scope)a->focus;
    }
    order[n++] = SCOPE_GLOBAL;
    int x = 1, limit = key_bar_end(a, s, map, y);
    for (unsigned i = 0; i < n; i++)
        for (int q = REQ_NONE + 1; q < REQ_COUNT; q++)
            if (request_info((enum request)q)->scope == order[i] && of_use(a, (enum request)q) &&
                q != REQ_HELP)
                x = put_key(a, s, map, x, y, (enum request)q, limit);
}

bool bars_progress_row(const struct app *a, const struct surface *s)
{
    return s->h >= PROGRESS_ROWS && app_measuring(a);
}

/* Of a list the line of the cursor; of a text the last line in view. */
static size_t list_place(const struct page *p, const struct list *l)
{
    if (p->n < l->count || page_selects(p))
        return l->cursor + 1;
    return l->top + l->rows < l->count ? l->top + l->rows : l->count;
}

/* Where one is in a list that is longer than its place: "12 of 62", at the right end. */
static void position(struct app *a, struct surface *s, int y)
{
    bool over = a->overlay != OVERLAY_NONE;
    const struct list *l = over ? &a->over_list : &a->list[a->focus];
    if (a->prompt.kind != PROMPT_NONE || !l->rows || l->count <= l->rows ||
        (!over && !panel_info(a->focus)->list))
        return;
    const char *text = arena_printf(a->frame, "%zu of %zu",
                                    list_place(over ? &a->over : &a->page[a->focus], l), l->count);
    int w = (int)text_width(str_of(text)), x = s->w - w - 1;
    for (int i = x - 1; i >= 0 && i < s->w; i++)
        if (s->cell[(size_t)y * (size_t)s->w + (size_t)i].cp != ' ')
            return; /* what is said is worth more */
    if (x > 0)
        surface_print(s, x, y, ROLE_DIM, "%s", text);
}

void bars_draw_bottom(struct app *a, struct surface *s, struct screen *map, bool keys)
{
    int y = keys ? s->h - 2 : s->h - 1;
    if (bars_progress_row(a, s))
        progress(a, s, y - 1);
    message(a, s, y);
    position(a, s, y);
    if (keys)
        key_bar(a, s, map, s->h - 1);
}
