/* config: see config.h. Settings file: lines "name = value", '#' comments. */
#include "tui/app/config.h"

#include "engine/base/name.h"
#include "engine/session/lesson.h"
#include "tui/app/app.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool set_open(struct app_settings *set, struct str name)
{
    for (int p = 0; p < PANEL_COUNT; p++)
        if (str_is(name, panel_info((enum panel_id)p)->name)) {
            set->open = (enum panel_id)p;
            return true;
        }
    return false;
}

static bool setting(struct app_settings *set, struct str key, struct str v)
{
    if (str_is(key, "open"))
        return set_open(set, v);
    if (str_is(key, "layout"))
        return layout_set(&set->layout, v);
    if (str_is(key, "borders"))
        return layout_set_borders(&set->layout, v);
    if (str_is(key, "theme") && str_is(v, "auto"))
        return true; /* what it is: by the terminal's background */
    if (str_is(key, "theme")) {
        set->theme_given = true;
        snprintf(set->theme, sizeof set->theme, "%.*s", (int)v.n, v.s);
        return v.n > 0;
    }
    if (str_is(key, "mouse")) {
        set->mouse = str_is(v, "on");
        return set->mouse || str_is(v, "off");
    }
    for (int i = 0; str_is(key, "plot") && i < 3; i++)
        if (str_is(v, plot_style_name((enum plot_style)i))) {
            set->style = (enum plot_style)i;
            set->style_given = true;
            return true;
        }
    return str_is(key, "plot") && str_is(v, "auto"); /* the terminal chooses */
}

void config_parse(struct app_settings *set, const char *path, struct str text, struct diags *ds)
{
    struct str rest = text, whole;
    for (uint32_t line = 1; str_line(&rest, &whole); line++) {
        struct str s = str_trim(whole);
        if (!s.n || *s.s == '#')
            continue;
        const char *eq = memchr(s.s, '=', s.n);
        struct str key = str_trim((struct str){ s.s, eq ? (size_t)(eq - s.s) : s.n });
        struct str val =
            eq ? str_trim((struct str){ eq + 1, (size_t)(s.s + s.n - eq - 1) }) : (struct str){ "", 0 };
        if (eq && setting(set, key, val))
            continue;
        struct span where = { (uint32_t)(s.s - text.s), (uint32_t)s.n, line,
                              (uint32_t)(s.s - whole.s) + 1 };
        struct diag *d =
            diag_add(ds, DIAG_WARNING, "config", path, where, "not a setting: '%.*s'", (int)s.n, s.s);
        diag_source(d, text);
        diag_hint(d, "the settings are theme = NAME|auto, mouse = on|off, plot = braille|block|ascii, "
                     "layout = auto|one|two|three|plot|code, borders = LAYOUT PERCENT ..., "
                     "open = PANEL (summary: the original runs at once)");
    }
}

static char *path_of(const char *dir, const char *name)
{
    struct buf b = { 0 };
    buf_printf(&b, "%s/%s", dir, name);
    return buf_take(&b);
}

/* $XDG_..._HOME/gpulocw, or HOME's usual place. Returns owned, NULL when there is no home. */
static char *xdg(const char *variable, const char *fallback)
{
    const char *dir = getenv(variable), *home = getenv("HOME");
    struct buf b = { 0 };
    if (dir && *dir == '/')
        buf_printf(&b, "%s/gpulocw", dir);
    else if (home && *home)
        buf_printf(&b, "%s/%s/gpulocw", home, fallback);
    return b.n ? buf_take(&b) : NULL;
}

static void read_part(struct app *a, const char *dir, const char *name, struct diags *ds,
                      void (*use)(struct app *, const char *, struct str, struct diags *))
{
    char *path = path_of(dir, name), *data = NULL;
    size_t n;
    if (path && access(path, R_OK) == 0 && file_read_regular(path, 1 << 20, &data, &n, NULL) == ST_OK)
        use(a, path, (struct str){ data, n }, ds);
    BASE_FREE(data, path);
}

static void use_settings(struct app *a, const char *path, struct str text, struct diags *ds)
{
    config_parse(&a->set, path, text, ds);
}
static void use_keys(struct app *a, const char *path, struct str text, struct diags *ds)
{
    keymap_parse(&a->keys, path, text, ds);
}

static void use_history(struct app *a, const char *path, struct str text, struct diags *ds)
{
    char line[PROMPT_TEXT];
    struct str one;
    (void)path, (void)ds;
    while (str_line(&text, &one)) {
        snprintf(line, sizeof line, "%.*s", (int)(one.n < sizeof line ? one.n : sizeof line - 1), one.s);
        history_add(&a->history, line);
    }
}

void config_load(struct app *a, const char *home, struct diags *ds)
{
    a->config_dir = home ? base_strdup(home) : xdg("XDG_CONFIG_HOME", ".config");
    char *data = home ? base_strdup(home) : xdg("XDG_DATA_HOME", ".local/share");
    if (a->config_dir) {
        read_part(a, a->config_dir, "config", ds, use_settings);
        read_part(a, a->config_dir, "keys", ds, use_keys);
    }
    if (data)
        read_part(a, data, "history", ds, use_history);
    base_free(data);
}

static bool write_file(const char *dir, const char *name, const struct buf *b, struct diags *ds)
{
    char *path = path_of(dir, name);
    bool ok =
        path && !b->oom && file_make_dirs(path) && file_write_atomic(path, b->s, b->n, ds) == ST_OK;
    base_free(path);
    return ok;
}

void config_save(struct app *a)
{
    struct buf b = { 0 };
    if (!a->config_dir)
        return;
    buf_puts(&b, "# gpulocw settings; the workbench writes this file when you change one\n");
    buf_printf(&b, "theme = %s\nmouse = %s\nplot = %s\n", a->set.theme_given ? a->set.theme : "auto",
               a->set.mouse ? "on" : "off", a->set.style_given ? plot_style_name(a->set.style) : "auto");
    if (a->set.open != PANEL_SUMMARY)
        buf_printf(&b, "open = %s\n", panel_info(a->set.open)->name);
    layout_settings(&a->set.layout, &b);
    if (!write_file(a->config_dir, "config", &b, NULL))
        app_notice(a, DIAG_WARNING, "the settings could not be written to %s", a->config_dir);
    buf_free(&b);
}

void config_write_keys(struct app *a)
{
    struct buf b = { 0 };
    buf_puts(&b, "# gpulocw key map: REQUEST = KEY KEY ...   Lines left out keep their keys.\n");
    for (int r = REQ_NONE + 1; r < REQ_COUNT; r++) {
        const struct request_info *q = request_info((enum request)r);
        if (r == REQ_NONE + 1 || request_info((enum request)(r - 1))->scope != q->scope)
            buf_printf(&b, "\n# %s\n", scope_name(q->scope));
        buf_printf(&b, "%s = ", q->name);
        keymap_keys(&a->keys, (enum request)r, &b);
        buf_puts(&b, "\n");
    }
    if (a->config_dir && write_file(a->config_dir, "keys", &b, NULL))
        app_notice(a, DIAG_NOTE, "written: %s/keys; used from the next start", a->config_dir);
    else
        app_notice(a, DIAG_ERROR, "the key map could not be written");
    buf_free(&b);
}

void config_save_history(const struct app *a)
{
    struct buf b = { 0 };
    char *dir = xdg("XDG_DATA_HOME", ".local/share");
    for (size_t i = 0; i < a->history.n; i++)
        buf_printf(&b, "%s\n", a->history.v[i]);
    if (dir && b.n)
        write_file(dir, "history", &b, NULL);
    buf_free(&b);
    base_free(dir);
}

bool config_theme_path(const struct app *a, const char *name, char *out, size_t n)
{
    snprintf(out, n, "%s", name);
    if (strchr(name, '/') || strstr(name, ".theme"))
        return access(out, R_OK) == 0;
    const char *dirs[] = { a->config_dir, a->data_dir };
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
        if (!dirs[i])
            continue;
        snprintf(out, n, "%s/themes/%s.theme", dirs[i], name);
        if (access(out, R_OK) == 0)
            return true;
    }
    return false;
}

/* ---- demos ---- */
static void add_pick(struct app *a, size_t *cap, char *title, char *path, char *help, bool lesson)
{
    if (!title || !path || !base_grow((void **)&a->pick, a->npicks, cap, sizeof *a->pick)) {
        BASE_FREE(title, path, help);
        return;
    }
    a->pick[a->npicks++] = (struct pick){ title, path, help, lesson };
}

static void add_lesson(struct app *a, size_t *cap, const char *path)
{
    struct lesson *l = NULL;
    struct buf title = { 0 };
    if (lesson_read(path, &l, NULL) == ST_OK) {
        buf_printf(&title, "%2d  %s", l->number, l->title);
        add_pick(a, cap, buf_take(&title), base_strdup(path),
                 l->summary ? base_strdup(l->summary) : NULL, true);
        lesson_free(l);
    }
}

/* The comment that the CUDA source beside it begins with says what a kernel shows. */
static char *kernel_help(const char *ptx)
{
    char path[600], line[256];
    struct buf text = { 0 };
    snprintf(path, sizeof path, "%.*s.cu", (int)(strlen(ptx) - 4), ptx);
    FILE *f = fopen(path, "r");
    for (bool more = f != NULL; more && text.n < 512 && fgets(line, sizeof line, f);) {
        const char *s = line + strspn(line, "/* "), *end = strstr(s, "*/");
        size_t n = end ? (size_t)(end - s) : strcspn(s, "\n");
        while (n && s[n - 1] == ' ')
            n--;
        buf_printf(&text, "%s%.*s", text.n ? " " : "", (int)n, s);
        more = !end && (!strncmp(line, "/*", 2) || !strncmp(line, " *", 2));
    }
    if (f)
        fclose(f);
    return text.n ? buf_take(&text) : NULL;
}

static void add_kernel(struct app *a, size_t *cap, const char *path, const char *name)
{
    struct buf title = { 0 };
    buf_printf(&title, "%.*s", (int)(strlen(name) - 4), name);
    add_pick(a, cap, buf_take(&title), base_strdup(path), kernel_help(path), false);
}

static int not_hidden(const struct dirent *e)
{
    return *e->d_name != '.';
}

static void scan(struct app *a, size_t *cap, const char *sub, const char *suffix, bool lesson)
{
    struct dirent **list = NULL;
    char dir[512], path[1024];
    snprintf(dir, sizeof dir, "%s/%s", a->data_dir, sub);
    int n = scandir(dir, &list, not_hidden, versionsort);
    for (int i = 0; i < n; i++) {
        const char *name = list[i]->d_name;
        snprintf(path, sizeof path, "%s/%s", dir, name);
        if (base_stem(name, suffix))
            lesson ? add_lesson(a, cap, path) : add_kernel(a, cap, path, name);
        free(list[i]);
    }
    free(list);
}

void config_find_demos(struct app *a)
{
    size_t cap = 0;
    if (!a->data_dir || a->pick)
        return;
    scan(a, &cap, "sessions/lessons", ".json", true);
    scan(a, &cap, "kernels", ".ptx", false);
}
