/* Snapshots, keys and requests: control.h. */
#include "engine/session/run.h"
#include "tui/control/control.h"

#include "engine/rec/knobs.h"
#include "engine/session/launch_file.h"
#include "engine/session/session.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/launch/guess.h"
#include "tui/app/launch/kernels.h"
#include "tui/app/legal.h"
#include "tui/app/post.h"
#include "tui/app/reload.h"
#include "tui/app/reuse.h"
#include "tui/app/work.h"
#include "tui/app/write_best.h"
#include "tui/base/key.h"
#include "tui/control/command.h"
#include "tui/control/first_run.h"
#include "tui/control/lesson_run.h"
#include "tui/control/panels.h"
#include "tui/view/program.h"

#include <stdio.h>
#include <string.h>

#define SPIN_NS   (250LL * 1000000)
#define REPLAY_NS (400LL * 1000000)
#define SETTLE_NS (1000LL * 1000000)

static void changed(struct app *a)
{
    lesson_update(a);
}
static const struct app_hooks hooks = { changed, app_command, app_request, cmdline_begins };

/* Configurations of one allocation: those in front, then these. */
enum { KEPT_DRAFT = 1, KEPT_STEP, KEPT_GUESS, KEPT_UNDO };

static bool options_open(struct app *a)
{
    a->options = options_list(KEPT_UNDO + UNDO_MAX);
    if (!a->options)
        return false;
    a->draft = options_at(a->options, KEPT_DRAFT);
    a->lesson.at_step = options_at(a->options, KEPT_STEP);
    a->guess.options = options_at(a->options, KEPT_GUESS);
    a->undo.v = options_at(a->options, KEPT_UNDO);
    a->undo.n = a->undo.at = 1;
    return true;
}

bool app_init(struct app *a, const struct app_engine *engine, const struct job_snapshot *snap,
              const char *data_dir)
{
    memset(a, 0, sizeof *a);
    a->engine = *engine;
    a->hooks = &hooks;
    a->snap = snap;
    a->w = 80, a->h = 24;
    a->data_dir = data_dir ? base_strdup(data_dir) : NULL;
    theme_default(&a->theme);
    keymap_default(&a->keys);
    snprintf(a->set.theme, sizeof a->set.theme, "dark");
    a->set.mouse = true;
    a->set.open = PANEL_SUMMARY;
    a->source.stale = true;
    a->valley.run = a->valley.overlay = SIZE_MAX;
    a->valley.zoom = 1;
    snprintf(a->valley.axis, sizeof a->valley.axis, "pi");
    a->runs.mark[0] = a->runs.mark[1] = SIZE_MAX;
    a->replay.speed = 1;
    a->tree_access = -1;
    a->pick_wanted = -1;
    a->locality.access = -1;
    a->frame = arena_new(0);
    return options_open(a);
}

void app_free(struct app *a)
{
    reuse_drop(a);
    legal_drop(a);
    work_drop(&a->papers);
    work_drop(&a->sass);
    work_drop(&a->written);
    work_drop(&a->kernels);
    work_drop(&a->kernel_facts);
    view_program_stop(a);
    work_drop(&a->program);
    work_drop(&a->program_next);
    work_drop(&a->optimized);
    source_index_free(&a->source);
    lesson_close(a);
    history_free(&a->history);
    session_free(a->valley.other);
    for (size_t i = 0; i < a->npicks; i++) {
        BASE_FREE(a->pick[i].title, a->pick[i].path, a->pick[i].help);
    }
    BASE_FREE(a->pick, a->options, a->data_dir, a->config_dir);
    arena_free(a->frame);
    memset(a, 0, sizeof *a);
}

/* A new file brings options of its own: those of the engine count then. */
static void opened(struct app *a)
{
    a->list[PANEL_SOURCE] = (struct list){ 0 };
    a->valley.run = a->valley.overlay = SIZE_MAX;
    a->source.njumps = 0;
    a->source.kernel[0] = '\0';
    options_copy(a->options, a->snap->options);
    options_put(a->undo.v, 0, a->options);
    a->undo.n = a->undo.at = 1;
}

/* No line drawn from the old snapshot outlives it: its texts end when the caller releases it. */
static void lines_drop(struct app *a)
{
    for (int p = 0; p < PANEL_COUNT; p++) {
        page_clear(&a->page[p]);
        page_clear(&a->chart[p]);
    }
    page_clear(&a->over);
    a->source.traffic = NULL;
    a->runs.order = NULL; /* it lies in the frame */
    a->runs.norder = 0;
    a->cuda = NULL;
}

void app_snapshot(struct app *a, const struct job_snapshot *snap)
{
    const struct job_snapshot *old = a->snap;
    a->snap = snap;
    bool other_kernel = strcmp(old->kernel ? old->kernel : "", snap->kernel ? snap->kernel : "") != 0;
    if (old->module != snap->module || old->facts != snap->facts || old->preview != snap->preview ||
        other_kernel) {
        a->source.stale = true;
        work_drop(&a->sass);
    }
    if (snap->module && (!old->module || strcmp(old->module->path, snap->module->path) != 0)) {
        work_drop(&a->kernels);
        work_drop(&a->kernel_facts);
        a->kernels_wanted = !snap->nruns && !a->kernel_named && !a->kernels_declined;
    }
    if (old->module != snap->module || other_kernel)
        a->list[PANEL_CUDA] = (struct list){ 0 };
    if (old->spec != snap->spec)
        a->launch_key = snap->spec ? launch_key(snap->spec) : 0;
    if (old->facts != snap->facts || old->spec != snap->spec)
        reuse_drop(a), legal_drop(a), a->locality.access = -1;
    if (old->module != snap->module && !reload_came(a))
        opened(a);
    if (old->module != snap->module && snap->nruns && !old->nruns && !a->lesson.lesson)
        app_focus(a, PANEL_VALLEY); /* a session was opened: its curve is what one wants to see */
    if (old->module != snap->module && !a->lesson.lesson && view_program_offered(a))
        app_focus(a, PANEL_PROGRAM); /* running it tells its launches */
    if (a->valley.run != SIZE_MAX && snap->nruns > old->nruns &&
        app_run(a, snap->nruns - 1)->kind != RUN_ONE) {
        a->valley.run = SIZE_MAX; /* a new sweep or search comes to the front */
        a->valley.placed = false;
    }
    if (snap->nruns != old->nruns)
        a->counters.placed = false;
    lines_drop(a);
    source_refresh(a); /* also where the panel is not drawn: its index points into the texts */
    notice_new(a, old);
    guess_came(a, old);
    if (!snap->busy && snap->module && !options_equal(snap->options, a->options))
        /* the engine ran with others: have the present ones looked at again */
        app_options_sent(a);
    first_run(a);
    lesson_update(a);
}

void app_begin_frame(struct app *a)
{
    struct arena *fresh = arena_new(1 << 15);
    if (!fresh)
        return; /* out of memory: the old frame goes on growing */
    arena_free(a->frame);
    a->frame = fresh;
    lines_drop(a);
    source_refresh(a);
    lesson_update(a); /* what the mouse did, too */
}

static bool undo_options(struct app *a, bool redo)
{
    struct undo *u = &a->undo;
    if (redo ? u->at >= u->n : u->at <= 1) {
        app_notice(a, DIAG_NOTE, redo ? "nothing to redo" : "nothing to undo");
        return false;
    }
    u->at = redo ? u->at + 1 : u->at - 1;
    options_copy(a->options, options_at(u->v, u->at - 1));
    app_options_sent(a);
    return true;
}

/* The engine says when the run cannot go on. */
static void app_resume(struct app *a)
{
    struct job j = { .kind = JOB_RESUME, .number = -1, .options = a->options };
    if (a->focus == PANEL_RUNS && view_runs_selected(a) != SIZE_MAX)
        j.number = (long)view_runs_selected(a);
    app_launch(a, &j);
    a->valley.run = SIZE_MAX;
    a->valley.placed = false;
    a->replay.on = false;
}

/* ---- requests ---- */
/* Help opened over the list of demos goes back to it. */
static void close_overlay(struct app *a)
{
    a->overlay = a->overlay == OVERLAY_HELP && a->help_over_picker ? OVERLAY_PICKER : OVERLAY_NONE;
    a->over_list = (struct list){ 0 };
}

static unsigned quit(struct app *a)
{
    if (a->overlay != OVERLAY_NONE && !(a->overlay == OVERLAY_PICKER && !a->snap->module)) {
        close_overlay(a);
        return UI_REDRAW;
    }
    if (a->zoomed) {
        a->zoomed = false;
        return UI_REDRAW;
    }
    if (app_measuring(a) && !a->leaving && !a->first_busy) {
        a->leaving = true;
        app_notice(a, DIAG_WARNING,
                   "%s is running: {quit} again quits (results are saved), {cancel} stops it",
                   app_word(a->snap));
        return UI_REDRAW;
    }
    if (a->snap->session_unsaved && a->snap->nruns && !a->leaving) {
        a->leaving = true;
        app_notice(a, DIAG_WARNING,
                   "the results could not be saved: {quit} again discards them, "
                   ":save FILE saves them");
        return UI_REDRAW;
    }
    return UI_LEAVE;
}

/* Esc is pressed by habit: it closes and takes away, and what runs goes on. */
static unsigned close_top(struct app *a)
{
    if (a->overlay != OVERLAY_NONE && (a->overlay != OVERLAY_PICKER || a->snap->module)) {
        close_overlay(a);
    } else if (app_measuring(a)) {
        app_notice(a, DIAG_NOTE, "the %s is still running: %s", app_word(a->snap),
                   view_keys(a, "{cancel} stops it"));
    } else {
        *a->notice = '\0';
        a->leaving = false;
    }
    return UI_REDRAW;
}

static unsigned cancel(struct app *a)
{
    if (a->overlay != OVERLAY_NONE && (a->overlay != OVERLAY_PICKER || a->snap->module)) {
        close_overlay(a);
    } else if (a->snap->busy) {
        a->engine.cancel(a->engine.ctx);
        app_notice(a, DIAG_NOTE,
                   app_measuring(a) && !app_doing(a->snap, JOB_RUN)
                       ? "Stopped, results kept; {resume} resumes"
                       : "Stopped.");
    } else if (view_program_stop(a)) {
        app_notice(a, DIAG_NOTE, "stopping the program");
    } else if (a->papers && work_state(a->papers) == WORK_BUSY) {
        work_drop(&a->papers);
        app_notice(a, DIAG_NOTE, "the experiment is cancelled");
    } else if (a->snap->unsettled && !*a->notice) {
        a->engine.cancel(a->engine.ctx);
    } else {
        *a->notice = '\0';
        a->leaving = false;
    }
    return UI_REDRAW;
}

static unsigned open_overlay(struct app *a, enum overlay o)
{
    a->overlay = a->overlay == o ? OVERLAY_NONE : o;
    a->over_list = (struct list){ 0 };
    return UI_REDRAW;
}

/* Over the list of demos the help is about that list, and closing it comes back to it. */
static unsigned open_help(struct app *a)
{
    if (a->overlay != OVERLAY_HELP)
        a->help_over_picker = a->overlay == OVERLAY_PICKER;
    return open_overlay(a, OVERLAY_HELP);
}

static unsigned global_request(struct app *a, enum request r)
{
    switch (r) {
    case REQ_QUIT: return quit(a);
    case REQ_QUIT_NOW: return UI_LEAVE;
    case REQ_CANCEL: return cancel(a);
    case REQ_CLOSE: return close_top(a);
    case REQ_HELP: return open_help(a);
    case REQ_COMMAND: prompt_open(&a->prompt, PROMPT_COMMAND, ":", "", 0); return UI_REDRAW;
    case REQ_SWEEP: app_sweep(a); return UI_REDRAW;
    case REQ_RUN: app_run_once(a, a->options); return UI_REDRAW;
    case REQ_TUNE: app_tune(a, "", 0); return UI_REDRAW;
    case REQ_RESUME: app_resume(a); return UI_REDRAW;
    case REQ_NEXT_PANEL: app_focus(a, (enum panel_id)((a->focus + 1) % PANEL_COUNT)); return UI_REDRAW;
    case REQ_PREV_PANEL:
        app_focus(a, (enum panel_id)((a->focus + PANEL_COUNT - 1) % PANEL_COUNT));
        return UI_REDRAW;
    case REQ_ZOOM: a->zoomed = !a->zoomed; return UI_REDRAW;
    case REQ_PANEL_SUMMARY: app_focus(a, PANEL_SUMMARY); return UI_REDRAW;
    case REQ_PANEL_CUDA: app_focus(a, PANEL_CUDA); return UI_REDRAW;
    case REQ_PANEL_SASS: app_focus(a, PANEL_SASS); return UI_REDRAW;
    case REQ_LAYOUT: return layout_next(a);
    case REQ_BORDER_LEFT: return layout_move(a, false, -LAYOUT_STEP);
    case REQ_BORDER_RIGHT: return layout_move(a, false, LAYOUT_STEP);
    case REQ_BORDER_UP: return layout_move(a, true, -LAYOUT_STEP);
    case REQ_BORDER_DOWN: return layout_move(a, true, LAYOUT_STEP);
    case REQ_RELOAD: return reload_ask(a);
    case REQ_KERNELS: return view_kernels_open(a);
    case REQ_UNDO: undo_options(a, false); return UI_REDRAW;
    case REQ_REDO: undo_options(a, true); return UI_REDRAW;
    case REQ_WRITE: return app_command(a, "write");
    case REQ_EXPORT: return app_command(a, a->focus == PANEL_VALLEY ? "export svg" : "export text");
    case REQ_REDRAW: return UI_REDRAW | UI_REPAINT;
    case REQ_SUSPEND: return UI_SUSPEND;
    default: break;
    }
    if (r >= REQ_PANEL_1 && r <= REQ_PANEL_9) {
        app_focus(a, (enum panel_id)(r - REQ_PANEL_1));
        return UI_REDRAW;
    }
    return 0;
}

static unsigned pick(struct app *a)
{
    long i = page_item(&a->over, &a->over_list);
    if (i < 0 || (size_t)i >= a->npicks)
        return 0;
    a->overlay = OVERLAY_NONE;
    if (a->pick[i].lesson) {
        lesson_open(a, a->pick[i].path);
    } else {
        lesson_close(a);
        app_post(a, JOB_OPEN, a->pick[i].path, 0);
    }
    return UI_REDRAW;
}

static unsigned replay_request(struct app *a, enum request r)
{
    struct replay_view *v = &a->replay;
    const struct session_run *run = valley_run(a, NULL);
    size_t n = run ? run->kind == RUN_TUNE ? run->ntrail : run->sweep.npoints : 0;
    v->shown = v->shown > n ? n : v->shown;
    a->valley.placed = false;
    switch (r) {
    case REQ_REPLAY_PLAY:
        v->playing = !v->playing;
        if (v->playing && v->shown == n)
            v->shown = 0;
        v->next_ns = a->now_ns;
        break;
    case REQ_REPLAY_STEP:
        v->playing = false;
        v->shown += v->shown < n;
        break;
    case REQ_REPLAY_BACK:
        v->playing = false;
        v->shown -= v->shown > 0;
        break;
    case REQ_REPLAY_END:
        v->playing = false;
        v->shown = n;
        break;
    default: return 0;
    }
    return UI_REDRAW;
}

static unsigned lesson_request(struct app *a, enum request r)
{
    switch (r) {
    case REQ_LESSON_NEXT: lesson_move(a, 1); break;
    case REQ_LESSON_PREV: lesson_move(a, -1); break;
    case REQ_LESSON_HIDE: /* too long for the screen: first all of it, then nothing */
        if (!a->lesson.hidden && a->lesson.more)
            a->lesson.part++;
        else
            a->lesson.hidden = !a->lesson.hidden, a->lesson.part = 0;
        break;
    default: return 0;
    }
    return UI_REDRAW;
}

unsigned app_request(struct app *a, enum request r)
{
    enum scope s = request_info(r)->scope;
    struct list *l = &a->list[a->focus];
    const struct page *page = view_of(a->focus)->line ? NULL : &a->page[a->focus];
    unsigned done = 0;
    if (r != REQ_QUIT)
        a->leaving = false;
    switch (s) {
    case SCOPE_GLOBAL: return global_request(a, r);
    case SCOPE_HELP: close_overlay(a); return UI_REDRAW;
    case SCOPE_TREE:
        if (r == REQ_TREE_GOTO)
            return view_tree_goto(a);
        a->overlay = OVERLAY_NONE;
        return UI_REDRAW;
    case SCOPE_PICKER: return a->overlay == OVERLAY_KERNELS ? view_kernels_pick(a) : pick(a);
    case SCOPE_LESSON: return lesson_request(a, r);
    case SCOPE_REPLAY: return replay_request(a, r);
    case SCOPE_LIST:
        if (a->overlay != OVERLAY_NONE)
            return list_request(a, &a->over_list, &a->over, r);
        done = view_of(a->focus)->request(a, r); /* a panel may notice a movement too */
        return done | list_request(a, l, page, r);
    default: return view_of(a->focus)->request(a, r);
    }
}

/* Scopes in the order in which a key is looked up. */
static enum request find_request(const struct app *a, uint32_t key)
{
    enum scope order[6];
    unsigned n = 0;
    if (a->lesson.lesson && a->overlay == OVERLAY_NONE && (a->lesson.passed || key != TK_ENTER))
        order[n++] = SCOPE_LESSON; /* Enter belongs to the panel until the task is done */
    if (a->overlay == OVERLAY_HELP)
        order[n++] = SCOPE_HELP;
    else if (a->overlay == OVERLAY_TREE)
        order[n++] = SCOPE_TREE;
    else if (a->overlay == OVERLAY_PICKER || a->overlay == OVERLAY_KERNELS)
        order[n++] = SCOPE_PICKER;
    else {
        if (a->replay.on && a->focus == PANEL_VALLEY)
            order[n++] = SCOPE_REPLAY;
        order[n++] = (enum scope)a->focus;
    }
    if (a->overlay != OVERLAY_NONE || panel_info(a->focus)->list)
        order[n++] = SCOPE_LIST;
    order[n++] = SCOPE_GLOBAL;
    for (unsigned i = 0; i < n; i++) {
        enum request r = keymap_find(&a->keys, key, order[i]);
        if (r != REQ_NONE)
            return r;
    }
    /* nobody's Enter in a lesson: it is told why the step does not go on */
    return a->lesson.lesson && a->overlay == OVERLAY_NONE && key == TK_ENTER ? REQ_LESSON_NEXT
                                                                             : REQ_NONE;
}

/* ---- the prompt ---- */
static unsigned prompt_done(struct app *a)
{
    struct prompt p = a->prompt;
    prompt_close(&a->prompt);
    switch (p.kind) {
    case PROMPT_COMMAND: history_add(&a->history, p.text); return app_command(a, p.text) | UI_REDRAW;
    case PROMPT_SEARCH:
        if (*p.text)
            snprintf(a->search, sizeof a->search, "%.*s", (int)sizeof a->search - 1, p.text);
        return app_request(a, REQ_SEARCH_NEXT) | UI_REDRAW;
    case PROMPT_VALUE: view_options_value(a, p.target, p.text); break;
    case PROMPT_NOTE: app_post(a, JOB_NOTE, p.text, p.target); break;
    case PROMPT_FILTER:
        snprintf(a->runs.filter, sizeof a->runs.filter, "%.*s", (int)sizeof a->runs.filter - 1, p.text);
        break;
    case PROMPT_CONFIRM: return lesson_answer(a, p.text);
    case PROMPT_GUESS:
        a->prompt.target = p.target;
        guess_answer(a, p.text, true);
        break;
    case PROMPT_NONE: break;
    }
    return UI_REDRAW;
}

static unsigned prompt_event(struct app *a, uint32_t key)
{
    switch (prompt_key(&a->prompt, &a->history, key)) {
    case PROMPT_DONE: return prompt_done(a);
    case PROMPT_DROPPED: {
        bool asked = a->prompt.kind == PROMPT_CONFIRM, guess = a->prompt.kind == PROMPT_GUESS;
        prompt_close(&a->prompt);
        if (guess)
            guess_answer(a, "", false);
        return asked ? lesson_answer(a, "") : UI_REDRAW;
    }
    case PROMPT_COMPLETE:
        if (a->prompt.kind == PROMPT_COMMAND)
            cmdline_complete(a);
        break;
    case PROMPT_GOES_ON: break;
    }
    return UI_REDRAW;
}

static bool works_beside(const struct app *a)
{
    return reuse_working(a) || legal_working(a) || write_best_working(a) ||
           (a->sass && work_state(a->sass) == WORK_BUSY) ||
           (a->papers && work_state(a->papers) == WORK_BUSY) ||
           (a->kernels && work_state(a->kernels) == WORK_BUSY) || a->kernels_wanted ||
           (a->kernel_facts && work_state(a->kernel_facts) == WORK_BUSY) ||
           (a->program && work_state(a->program) == WORK_BUSY) ||
           (a->program_next && work_state(a->program_next) == WORK_BUSY) || program_optimize_busy(a);
}

/* ---- time ---- */
static unsigned tick(struct app *a)
{
    unsigned done = 0;
    struct replay_view *r = &a->replay;
    const struct session_run *run = valley_run(a, NULL);
    size_t n = run ? run->kind == RUN_TUNE ? run->ntrail : run->sweep.npoints : 0;
    if (*a->notice && a->now_ns >= a->notice_until) {
        *a->notice = '\0';
        done = UI_REDRAW;
    }
    /* without points the session is still being opened */
    if (r->on && r->playing && n && a->now_ns >= r->next_ns) {
        r->shown += r->shown < n;
        r->playing = r->shown < n;
        r->next_ns = a->now_ns + (int64_t)((double)REPLAY_NS / (r->speed > 0 ? r->speed : 1));
        done = UI_REDRAW;
    }
    if (!a->lesson.lesson && view_kernels_offer(a))
        done = UI_REDRAW;
    write_best_tell(a);
    bool working = works_beside(a);
    if (a->snap->busy || a->snap->unsettled || working || a->was_working)
        done = UI_REDRAW;
    a->was_working = working; /* its result wants a frame of its own */
    return done;
}

void app_drawn(struct app *a)
{
    a->was_working |= works_beside(a);
}

int64_t app_timer(const struct app *a)
{
    int64_t wait = -1, left;
    if (a->snap->busy || works_beside(a) || a->was_working) /* what ended since the last tick, too */
        wait = SPIN_NS;
    else if (a->snap->unsettled)
        wait = SETTLE_NS; /* what goes on for long is told */
    if (*a->notice) {
        left = a->notice_until - a->now_ns;
        wait = wait < 0 || left < wait ? left : wait;
    }
    if (a->replay.on && a->replay.playing) {
        left = a->replay.next_ns - a->now_ns;
        wait = wait < 0 || left < wait ? left : wait;
    }
    return wait < 0 && wait != -1 ? 0 : wait;
}

/* Esc and a control key that come in one piece, as over a slow line, read like Alt with that key. No
 * keyboard sends such a chord by itself: unless the key map gives it a meaning they are two keys. */
static bool two_keys(const struct app *a, uint32_t key)
{
    uint32_t second = key & ~KEY_ALT;
    return (key & KEY_ALT) && second < 0x20 &&
           (a->prompt.kind != PROMPT_NONE || find_request(a, key) == REQ_NONE);
}

/* A list of kernels that nobody asked for is in nobody's way: a key that is not its own closes it, or
 * keeps it from coming where it is still on its way, and work begins on the kernel under its cursor. */
static enum request leave_offer(struct app *a, uint32_t key, enum request r)
{
    bool own = r != REQ_NONE &&
               (request_info(r)->scope == SCOPE_PICKER || request_info(r)->scope == SCOPE_LIST ||
                r == REQ_QUIT || r == REQ_COMMAND || r == REQ_SEARCH || r == REQ_HELP);
    if (r != REQ_NONE && request_info(r)->scope != SCOPE_LIST) {
        a->kernels_wanted = false;
        a->kernels_declined = true;
    }
    if (a->overlay != OVERLAY_KERNELS || !a->kernels_offered || own)
        return r;
    if (r == REQ_RUN || r == REQ_SWEEP || r == REQ_TUNE)
        view_kernels_pick(a);
    a->overlay = OVERLAY_NONE;
    return find_request(a, key);
}

static unsigned key_event(struct app *a, uint32_t key)
{
    unsigned done = 0;
    if (two_keys(a, key)) {
        done = key_event(a, TK_ESC) & ~(unsigned)UI_LEAVE;
        return done | key_event(a, key & ~KEY_ALT);
    }
    if (a->prompt.kind != PROMPT_NONE) {
        done = prompt_event(a, key);
    } else {
        enum request r = leave_offer(a, key, find_request(a, key));
        done = r != REQ_NONE ? app_request(a, r) : 0;
        /* an Enter that had nothing to do in the panel: the lesson says what it waits for */
        if (!done && key == TK_ENTER && a->lesson.lesson && a->overlay == OVERLAY_NONE)
            done = app_request(a, REQ_LESSON_NEXT);
    }
    /* at once: the next key may be the Enter that the task decides about */
    lesson_update(a);
    return done;
}

#define PASTE_NS \
    (2LL * 1000000000) /* an end mark that never comes: after this long keys are keys again */

/* Pasted text is text: into the prompt as it is, its lines joined; without a prompt it does nothing. */
static unsigned pasted_key(struct app *a, uint32_t key)
{
    a->pasted_ns = a->now_ns;
    if (a->prompt.kind == PROMPT_NONE)
        return 0;
    if (key == TK_ENTER || key == TK_TAB)
        key = TK_SPACE;
    if (key >= 0x20 && key < KEY_SPECIAL && key != TK_BACKSPACE)
        prompt_key(&a->prompt, &a->history, key);
    return UI_REDRAW;
}

static unsigned paste_event(struct app *a, bool begins)
{
    a->pasting = begins;
    a->pasted_ns = a->now_ns;
    if (begins && a->prompt.kind == PROMPT_NONE)
        app_notice(a, DIAG_NOTE,
                   "Pasted text is not read as keys. {command} opens a line to paste into");
    return UI_REDRAW;
}

unsigned app_event(struct app *a, const struct event *e)
{
    switch (e->kind) {
    case EVENT_PASTE: return paste_event(a, e->x != 0);
    case EVENT_KEY:
        a->pasting = a->pasting && a->now_ns - a->pasted_ns < PASTE_NS;
        return a->pasting ? pasted_key(a, e->key) : key_event(a, e->key);
    case EVENT_RESIZE:
        a->w = e->x > 0 ? e->x : 1;
        a->h = e->y > 0 ? e->y : 1;
        return UI_REDRAW | UI_REPAINT;
    case EVENT_BACKGROUND: /* the terminal's answer: the built-in look is for dark ones */
        if (a->set.theme_given || !e->x)
            return 0;
        app_theme(a, "light");
        return UI_REDRAW | UI_REPAINT;
    case EVENT_RESUME: return UI_REDRAW | UI_REPAINT;
    case EVENT_TICK: return tick(a);
    default: return 0;
    }
}
