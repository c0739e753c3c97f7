/* Pictures for the documents, made by the program itself: opens a demo kernel on
 * the simulated device, runs what the picture shows, and writes the screens as SVG.
 * usage: pictures FOLDER   (`make pictures`) */
#include "tests/terminal/live.h"

#include "tui/control/control.h"
#include "tui/base/key.h"
#include "tui/base/request.h"
#include "tui/draw/panel.h"
#include "tui/draw/picture.h"

#include <stdio.h>
#include <string.h>

/* The whole analysis and the modelled cost come a little after the rest. */
static void settle(struct app *a)
{
    live_settle(a, 5);
}

static void picture(struct app *a, const char *folder, const char *name, int w, int h)
{
    struct surface s = { 0 };
    struct screen map = { .drag_from = -1 };
    struct buf out = { 0 };
    struct diags ds = { 0 };
    char path[512];
    a->w = w;
    a->h = h;
    *a->notice = '\0';
    if (!surface_resize(&s, w, h))
        return;
    for (int i = 0; i < 2; i++) {
        app_begin_frame(a);
        screen_draw(a, &s, &map);
        if (!i && *a->search)
            app_request(a, REQ_SEARCH_NEXT);
        settle(a); /* what the first frame asked for in the background */
    }
    picture_svg(&s, &a->theme, !strcmp(a->theme.name, "light"), &out);
    snprintf(path, sizeof path, "%s/%s.svg", folder, name);
    if (!out.oom && file_write_atomic(path, out.s, out.n, &ds) == ST_OK)
        printf("%s\n", path);
    surface_free(&s);
    buf_free(&out);
    diags_free(&ds);
}

/* One panel in front, on a small, a middling and a large screen: name-80x24 and so on. */
static void on_each_screen(struct app *a, const char *folder, const char *name)
{
    static const int size[][2] = { { 80, 24 }, { 120, 40 }, { 200, 60 } };
    for (size_t i = 0; i < ARRAY_LEN(size); i++) {
        char full[80];
        snprintf(full, sizeof full, "screen-%s-%dx%d", name, size[i][0], size[i][1]);
        picture(a, folder, full, size[i][0], size[i][1]);
    }
}

static void key(struct app *a, const char *name)
{
    struct event e = { .kind = EVENT_KEY };
    if (key_parse(str_of(name), &e.key))
        app_event(a, &e);
}

static void session(struct app *a, const char *folder)
{
    app_command(a, "device sim:fermi-16k");
    app_command(a, "open kernels/valley.ptx");
    app_command(a, "kernel fermi");
    settle(a);
    picture(a, folder, "source", 100, 26);
    app_command(a, "panel summary");
    app_command(a, "run");
    settle(a);
    on_each_screen(a, folder, "first");
    app_command(a, "panel cuda");
    key(a, "h");
    on_each_screen(a, folder, "source");
    app_command(a, "panel source");
    app_command(a, "sweep pi");
    settle(a);
    app_command(a, "panel valley");
    on_each_screen(a, folder, "valley");
    app_command(a, "panel counters");
    key(a, "z");
    snprintf(a->search, sizeof a->search, "operations a byte");
    on_each_screen(a, folder, "roofline");
    *a->search = '\0';
    key(a, "z");
    key(a, "g"); /* the top of the counters again */
    app_command(a, "panel valley");
    picture(a, folder, "valley", 100, 28);
    app_command(a, "panel counters");
    picture(a, folder, "counters", 100, 24);
    app_command(a, "panel valley");
    picture(a, folder, "workspace", 150, 44);
    app_command(a, "panel locality");
    picture(a, folder, "locality", 100, 24);
    key(a, "]");
    picture(a, folder, "misses", 100, 26);
    key(a, "]");
    picture(a, folder, "footprint", 100, 24);
    app_command(a, "tune");
    settle(a);
    app_command(a, "panel valley");
    picture(a, folder, "search", 100, 28);
    on_each_screen(a, folder, "search");
    app_command(a, "unset");
    app_command(a, "panel summary");
    picture(a, folder, "summary", 80, 24);
    app_command(a, "panel source");
    key(a, "a");
    picture(a, folder, "address-tree", 100, 30);
    key(a, "q");
    app_command(a, "open kernels/stride_4.ptx");
    settle(a);
    app_command(a, "panel coalesce");
    picture(a, folder, "coalesce", 100, 24);
}

int main(int argc, char **argv)
{
    struct app a;
    struct diags ds = { 0 };
    if (argc != 2 || live_open(&a, "/tmp/gpulocw-pictures.json", &ds) != ST_OK)
        return 2;
    session(&a, argv[1]);
    live_close(&a);
    remove("/tmp/gpulocw-pictures.json");
    return 0;
}
