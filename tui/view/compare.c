/* compare: two runs side by side: those marked A and B, else what ran before the text or the options changed
 * against what ran last. The same figures as `gpulocw compare`. */
#include "engine/rec/result_read.h"
#include "engine/session/compare_doc.h"
#include "engine/session/run.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/app/results/run_line.h"
#include "tui/base/text.h"
#include "tui/view/view.h"

#include <string.h>

static bool timed(const struct app *a, size_t i)
{
    const struct session_run *r = i < a->snap->nruns ? app_run(a, i) : NULL;
    const struct result *x = r && !r->deleted ? run_best(r) : NULL;
    return x && result_time(x)->valid;
}

/* The newest timed run before `below` of the kernel (NULL: of any); SIZE_MAX: there is none. */
static size_t newest(const struct app *a, size_t below, const char *kernel)
{
    for (size_t i = below; i-- > 0;)
        if (timed(a, i) && !app_run(a, i)->aside && (!kernel || !strcmp(app_run(a, i)->kernel, kernel)))
            return i;
    return SIZE_MAX;
}

static bool sides(const struct app *a, size_t at[2])
{
    const size_t *mark = a->runs.mark;
    bool marked = mark[0] != mark[1] && timed(a, mark[0]) && timed(a, mark[1]);
    at[1] = marked ? mark[1] : newest(a, a->snap->nruns, NULL);
    at[0] = marked                ? mark[0]
            : at[1] == SIZE_MAX   ? SIZE_MAX
            : timed(a, at[1] + 1) ? at[1] + 1 /* its original, timed for it */
                                  : newest(a, at[1], app_run(a, at[1])->kernel);
    return at[0] != SIZE_MAX;
}

/* The text that is open is what a run ran with, unless it is of an earlier one. */
static const struct ptx_module *text_of(const struct app *a, const struct session_run *r)
{
    return r->earlier ? NULL : a->snap->module;
}

static void put_text(struct app *a, struct page *p, unsigned w, const char *text)
{
    for (const char *end; *text; text = *end ? end + 1 : end) {
        end = strchrnul(text, '\n');
        size_t lead = strspn(text, " ");
        const char *line =
            arena_printf(a->frame, "%.*s", (int)(end - text - (ptrdiff_t)lead), text + lead);
        page_wrap(a, p, lead ? ROLE_TEXT : ROLE_TITLE, (unsigned)lead + 1, w - 1, line, -1);
    }
}

static void compare_update(struct app *a, unsigned w, unsigned h)
{
    struct page *p = &a->page[PANEL_COMPARE];
    struct buf out = { 0 };
    size_t at[2];
    (void)h;
    page_clear(p);
    if (sides(a, at)) {
        const struct session_run *old = app_run(a, at[0]), *now = app_run(a, at[1]);
        compare_text(&(struct compared){ now->kernel, run_best(old), run_best(now), text_of(a, old),
                                         text_of(a, now) },
                     &out);
        put_text(a, p, w, out.s ? out.s : "");
    } else {
        page_empty(
            a, p, w,
            "What changed from one run to another. Run the kernel twice, with other options or an "
            "edited text; or mark two runs in Runs.");
    }
    buf_free(&out);
    list_set_count(&a->list[PANEL_COMPARE], p->n);
}

static void compare_head(struct app *a, unsigned w, struct row *r)
{
    size_t at[2];
    (void)w;
    if (!sides(a, at))
        return;
    row_put(r, ROLE_SERIES_A, " run %zu%s", at[0] + 1,
            app_run(a, at[0])->earlier ? " (earlier text)" : "");
    row_put(r, ROLE_LABEL, "  then");
    row_put(r, ROLE_SERIES_B, "  run %zu%s", at[1] + 1,
            app_run(a, at[1])->earlier ? " (earlier text)" : "");
    row_put(r, ROLE_DIM, "   old, new");
}

const struct view view_compare = { compare_update, compare_head, NULL, NULL, NULL, NULL };
