/* stage: the workbench without terminal and engine: an app over a hand-made
 * snapshot, a surface, a clock that the test sets. Include after support.h. */
#ifndef GPULOCW_TESTS_STAGE_H
#define GPULOCW_TESTS_STAGE_H

#include "tests/terminal/snapshots.c"

#include "engine/analysis/analysis.h"
#include "engine/analysis/curve.h"
#include "engine/cmd/cmd_int.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch.h"
#include "engine/search/space.h"
#include "tui/control/control.h"
#include "tui/base/key.h"
#include "tui/draw/panel.h"
#include "tui/term/term.h"

struct ana_access;
struct ana_coalesce;
struct app;
struct app_engine;
struct buf;
struct event;
struct job_snapshot;
struct ptx_func;
struct recorder;
struct rect;
struct stage;
struct surface;

struct stage {
    struct recorder rec;
    struct job_snapshot *snap;
    struct app app;
    struct surface s;
    struct screen map;
};

static inline void stage_open(struct stage *t, enum snapshot_kind kind, int w, int h)
{
    memset(t, 0, sizeof *t);
    struct app_engine engine = { .ctx = &t->rec, .post = recorder_post, .cancel = recorder_cancel };
    t->snap = snapshot_make(kind);
    app_init(&t->app, &engine, t->snap, NULL);
    t->app.now_ns = 1000000000;
    t->app.w = w;
    t->app.h = h;
    t->map.drag_from = -1;
    surface_resize(&t->s, w, h);
}

static inline void stage_close(struct stage *t)
{
    app_free(&t->app);
    surface_free(&t->s);
    snapshot_free(t->snap);
}

static inline void stage_frame(struct stage *t)
{
    if (t->s.w != t->app.w || t->s.h != t->app.h)
        surface_resize(&t->s, t->app.w, t->app.h);
    app_begin_frame(&t->app);
    screen_draw(&t->app, &t->s, &t->map);
}

static unsigned stage_press(struct stage *t, const char *key)
{
    struct event e = { .kind = EVENT_KEY };
    if (!key_parse(str_of(key), &e.key))
        return 0;
    unsigned r = app_event(&t->app, &e);
    stage_frame(t);
    return r;
}

/* Keys separated by blanks. Returns the effects of the last one. */
static inline unsigned stage_keys(struct stage *t, const char *keys)
{
    char word[32];
    unsigned r = 0;
    for (int n; sscanf(keys, "%31s%n", word, &n) == 1; keys += n)
        r = stage_press(t, word);
    return r;
}

/* Types a text as it is. */
static inline void stage_type(struct stage *t, const char *text)
{
    for (; *text; text++) {
        struct event e = { .kind = EVENT_KEY, .key = (uint8_t)*text };
        app_event(&t->app, &e);
    }
    stage_frame(t);
}

/* Is this text on the screen? */
static inline bool stage_shows(struct stage *t, const char *text)
{
    struct buf b = { 0 };
    surface_plain(&t->s, (struct rect){ 0, 0, t->s.w, t->s.h }, &b);
    bool found = b.s && strstr(b.s, text);
    buf_free(&b);
    return found;
}

#endif
