/* JSON arguments to the command line of a tool. */
#include "engine/base/base.h"
#include "engine/base/private_folder.h"
#include "engine/ptx/link.h"
#include "engine/rec/knobs.h"
#include "engine/service/service_int.h"
#include "engine/workspace/args.h"
#include "engine/workspace/source.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct making {
    struct request *r;
    const struct service_roots *roots;
    const char *folder; /* where a name may lie before the current folder; NULL: nowhere */
    struct diags *ds;
    struct buf files[CMD_MAX_FILES]; /* positional, put last */
    size_t nfiles;
};

static enum status wrong(struct making *m, const char *fmt, const char *key)
{
    struct diag *d = diag_add(m->ds, DIAG_ERROR, "arguments", NULL, NO_SPAN, fmt, key);
    diag_hint(d, "see the input schema of the tool");
    return ST_USAGE;
}

/* `word` is emptied. */
static enum status put_word(struct request *r, struct buf *word)
{
    char *text = buf_take(word);
    if (!text || !base_grow((void **)&r->argv, r->n + 1, &r->cap, sizeof *r->argv)) {
        base_free(text);
        return ST_NOMEM;
    }
    r->argv[r->n++] = text;
    r->argv[r->n] = NULL;
    return ST_OK;
}

static enum status put_words(struct request *r, const char *list)
{
    enum status st = ST_OK;
    for (const char *p = list; *p && st == ST_OK;) {
        struct buf word = { 0 };
        size_t n = strcspn(p, " ");
        buf_put(&word, p, n);
        st = put_word(r, &word);
        p += n + (p[n] == ' ');
    }
    return st;
}

/* ---- where files may lie ---- */
static bool below(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/')
        n--;
    return strncmp(path, folder, n) == 0 && (!path[n] || path[n] == '/' || n == 1);
}

static bool inside(const struct service_roots *roots, const char *resolved)
{
    bool is = false;
    for (size_t i = 0; i < roots->n && !is; i++) {
        char *root = realpath(roots->folder[i], NULL);
        is = root && below(resolved, root);
        free(root);
    }
    return is;
}

/* The folder of a path, links followed; owned by malloc; NULL: there is none. */
static char *folder_of_path(const char *path)
{
    struct buf b = { 0 };
    const char *slash = strrchr(path, '/');
    buf_put(&b, path, slash ? (size_t)(slash - path) : 0);
    if (!slash)
        buf_puts(&b, ".");
    char *real = b.oom ? NULL : realpath(b.n ? b.s : "/", NULL);
    buf_free(&b);
    return real;
}

/* What is there is judged where its links lead; what is not there yet by its folder. */
static enum status check_path(struct making *m, const char *path)
{
    struct stat is;
    if (!m->roots || !m->roots->n)
        return ST_OK;
    bool there = lstat(path, &is) == 0;
    char *real = there ? realpath(path, NULL) : folder_of_path(path);
    bool good = real && inside(m->roots, real);
    free(real);
    if (good)
        return ST_OK;
    struct diag *d = diag_add(m->ds, DIAG_ERROR, "roots", path, NO_SPAN,
                              "the path is outside the allowed folders, or its folder does not exist");
    diag_hint(d, "gpulocw mcp --root FOLDER allows a folder");
    return ST_USAGE;
}

/* The launch description that the command would find by itself. */
static enum status check_beside(struct making *m, const char *ptx)
{
    struct buf b = { 0 };
    struct stat is;
    size_t n = strlen(ptx), end = n > 4 && strcmp(ptx + n - 4, ".ptx") == 0 ? n - 4 : n;
    buf_put(&b, ptx, end);
    buf_puts(&b, ".launch.json");
    enum status st = b.oom ? ST_NOMEM : lstat(b.s, &is) == 0 ? check_path(m, b.s) : ST_OK;
    buf_free(&b);
    return st;
}

/* What a command would open beside a file by itself, or take out of its name: NAME.ptx of a cubin, and
 * each file of "a.ptx + b.ptx". */
static enum status check_implied(struct making *m, const char *path)
{
    struct buf b = { 0 };
    size_t n = strlen(path);
    if (!m->roots || !m->roots->n)
        return ST_OK;
    if (access(path, F_OK) != 0 && strstr(path, PTX_LINK_PLUS))
        return wrong(m, "give the files of a program as a list, not as '%s'", path);
    if (n < 7 || strcmp(path + n - 6, ".cubin") != 0)
        return ST_OK;
    buf_put(&b, path, n - strlen("cubin"));
    buf_puts(&b, "ptx");
    struct stat is;
    enum status st = b.oom ? ST_NOMEM : lstat(b.s, &is) == 0 ? check_path(m, b.s) : ST_OK;
    buf_free(&b);
    return st;
}

/* ---- texts that become files ---- */
static enum status put_private(struct making *m, const char *name, struct str text, struct buf *path)
{
    enum status st = m->r->folder ? ST_OK : private_folder_make(&m->r->folder, m->ds);
    return st == ST_OK ? private_folder_put(m->r->folder, name, text.s, text.n, path, m->ds) : st;
}

/* ---- one argument ---- */
/* A name in the folder of the caller's own files, or the path itself. */
static void put_place(const struct making *m, const char *path, struct buf *out)
{
    struct stat is;
    if (m->folder && !strchr(path, '/')) {
        buf_printf(out, "%s/%s", m->folder, path);
        if (!out->oom && stat(out->s, &is) == 0)
            return;
        buf_clear(out);
    }
    buf_puts(out, path);
}

static enum status add_file(struct making *m, const cJSON *v)
{
    if (!cJSON_IsString(v) || !*v->valuestring)
        return wrong(m, "'%s' must be a path or a list of paths", "file");
    if (m->nfiles == CMD_MAX_FILES)
        return wrong(m, "'%s' has too many files", "file");
    enum status st = check_path(m, v->valuestring);
    if (st == ST_OK && m->roots && m->roots->n && source_is_cuda(v->valuestring))
        return wrong(m, "clients cannot run a compiler: give '%s' as PTX", v->valuestring);
    if (st == ST_OK)
        st = check_implied(m, v->valuestring);
    if (st == ST_OK)
        st = check_beside(m, v->valuestring);
    if (st == ST_OK)
        put_place(m, v->valuestring, &m->files[m->nfiles++]);
    return st;
}

static enum status add_files(struct making *m, const cJSON *v)
{
    const cJSON *one;
    enum status st = ST_OK;
    if (!cJSON_IsArray(v))
        return add_file(m, v);
    cJSON_ArrayForEach(one, v) if (st == ST_OK) st = add_file(m, one);
    return st;
}

static enum status add_ptx(struct making *m, const cJSON *v)
{
    if (!cJSON_IsString(v))
        return wrong(m, "'%s' must be the text of a PTX file", "ptx");
    if (m->nfiles)
        return wrong(m, "give file or '%s', not both", "ptx");
    return put_private(m, "kernel.ptx", str_of(v->valuestring), &m->files[m->nfiles++]);
}

/* "--name=value" */
static enum status put_option(struct making *m, const char *name, const char *value)
{
    struct buf word = { 0 };
    buf_printf(&word, "--%s%s%s", name, value ? "=" : "", value ? value : "");
    return put_word(m->r, &word);
}

static enum status add_launch(struct making *m, const cJSON *v)
{
    struct buf text = { 0 }, path = { 0 };
    enum status st = ST_OK;
    if (cJSON_IsString(v)) {
        st = check_path(m, v->valuestring);
        put_place(m, v->valuestring, &path);
        st = st == ST_OK ? put_option(m, "launch", path.s ? path.s : "") : st;
        buf_free(&path);
        return st;
    }
    if (!cJSON_IsObject(v))
        return wrong(m, "'%s' must be a path or a launch description", "launch");
    struct jw w = jw_open(&text, 0);
    jw_tree(&w, v);
    st = text.oom ? ST_NOMEM
                  : put_private(m, "kernel.launch.json", (struct str){ text.s, text.n }, &path);
    if (st == ST_OK)
        st = put_option(m, "launch", path.s);
    buf_free(&text);
    buf_free(&path);
    return st;
}

/* Text of a string, number or boolean. False: it is something else, or no whole number where one must
 * be. */
static bool value_text(const cJSON *v, bool whole, struct buf *out)
{
    struct jw w = jw_open(out, 0);
    if (cJSON_IsString(v))
        buf_puts(out, v->valuestring);
    else if (cJSON_IsNumber(v))
        jw_num(&w, v->valuedouble);
    else
        return false;
    return !whole || (out->n && strspn(out->s, "-0123456789") == out->n);
}

/* A value that names a file: of these options, and after "custom:" of --index. */
static enum status check_value(struct making *m, const char *name, const char *value)
{
    static const char *const paths[] = { "output", "resume", "session", "rules", "baseline" };
    static const char custom[] = "custom:";
    if (strcmp(name, "index") == 0 && strncmp(value, custom, sizeof custom - 1) == 0)
        return check_path(m, value + sizeof custom - 1);
    if (strcmp(name, "device") == 0 && (strchr(value, '/') || strstr(value, ".json")))
        return check_path(m, strncmp(value, "sim:", 4) == 0 ? value + 4 : value);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        if (strcmp(name, paths[i]) == 0)
            return check_path(m, value);
    return ST_OK;
}

static enum status add_value(struct making *m, const char *name, bool flag, bool whole, const cJSON *v)
{
    struct buf text = { 0 };
    enum status st;
    if (flag)
        return !cJSON_IsBool(v)  ? wrong(m, "'%s' must be true or false", name)
               : cJSON_IsTrue(v) ? put_option(m, name, NULL)
                                 : ST_OK;
    if (!value_text(v, whole, &text))
        st = wrong(m, whole ? "'%s' must be a whole number" : "'%s' must be a string or a number", name);
    else
        st = check_value(m, name, text.s ? text.s : "");
    if (st == ST_OK)
        st = put_option(m, name, text.s ? text.s : "");
    buf_free(&text);
    return st;
}

static const struct arg_row *row_named(const char *name)
{
    for (size_t i = 0; i < arg_count(); i++)
        if (strcmp(arg_at(i)->name, name) == 0)
            return arg_at(i);
    return NULL;
}

static enum status add(struct making *m, const cJSON *v)
{
    const struct tool *t = m->r->tool;
    const char *key = v->string;
    bool takes = tool_takes(t, key);
    if (cJSON_IsNull(v))
        return ST_OK;
    if (strcmp(key, "file") == 0 && takes)
        return add_files(m, v);
    if (strcmp(key, "ptx") == 0 && tool_takes(t, "file") && strcmp(t->command, "report") != 0)
        return add_ptx(m, v);
    if (strcmp(key, "launch") == 0 && takes)
        return add_launch(m, v);
    const struct arg_row *r = takes ? row_named(key) : NULL;
    if (r)
        return add_value(m, key, r->kind == ARGK_FLAG, r->kind == ARGK_INT, v);
    int knob = t->knobs ? knob_find(str_of(key)) : -1;
    if (knob < 0)
        return wrong(m, "the tool has no argument '%s'", key);
    const struct knob_info *k = knob_info((size_t)knob);
    return add_value(m, k->name, k->kind == KNOB_KIND_FLAG, k->kind == KNOB_KIND_INT, v);
}

/* "--" FILE...: a name that begins with a dash is a name. */
static enum status put_files(struct making *m)
{
    enum status st = m->nfiles ? put_words(m->r, "--") : ST_OK;
    for (size_t i = 0; i < m->nfiles && st == ST_OK; i++)
        st = put_word(m->r, &m->files[i]);
    for (size_t i = 0; i < m->nfiles; i++)
        buf_free(&m->files[i]);
    return st;
}

enum status request_make(const struct tool *t, const cJSON *arguments, const struct service_roots *roots,
                         const char *folder, struct request *out, struct diags *ds)
{
    *out = (struct request){ .tool = t };
    struct making *m = base_alloc(sizeof *m);
    const cJSON *v;
    if (!m)
        return ST_NOMEM;
    m->r = out;
    m->roots = roots;
    m->folder = folder;
    m->ds = ds;
    enum status st = put_words(out, t->command);
    if (st == ST_OK)
        st = put_words(out, t->fixed);
    if (st == ST_OK && arguments && !cJSON_IsObject(arguments))
        st = wrong(m, "'%s' must be an object", "arguments");
    else if (st == ST_OK)
        cJSON_ArrayForEach(v, arguments) if (st == ST_OK) st = add(m, v);
    enum status files = put_files(m);
    base_free(m);
    return st == ST_OK ? files : st;
}

void request_tidy(struct request *r)
{
    private_folder_remove(r->folder);
    r->folder = NULL;
}

void request_free(struct request *r)
{
    for (size_t i = 0; i < r->n; i++)
        base_free(r->argv[i]);
    base_free(r->argv);
    request_tidy(r);
    *r = (struct request){ .tool = NULL };
}

/* ---- for a caller in this process ---- */
enum status service_line_make(const char *tool, const char *arguments, const char *folder,
                              struct service_line *out, struct diags *ds)
{
    static const char program[] = "gpulocw";
    const struct tool *t = tool_find(tool);
    struct request r = { .tool = t };
    *out = (struct service_line){ .argc = 0 };
    if (!t) {
        diag_error(ds, "usage", "no command '%.100s'", tool ? tool : "");
        return ST_USAGE;
    }
    cJSON *json = arguments ? json_parse("arguments", arguments, strlen(arguments), ds) : NULL;
    enum status st = arguments && !json ? ST_USAGE : request_make(t, json, NULL, folder, &r, ds);
    cJSON_Delete(json);
    out->argv = base_alloc((r.n + 2) * sizeof *out->argv);
    st = st == ST_OK && !out->argv ? ST_NOMEM : st;
    if (st == ST_OK) {
        out->argv[0] = base_strdup(program);
        memcpy(out->argv + 1, r.argv, r.n * sizeof *r.argv);
        out->argc = (int)r.n + 1;
        out->folder = r.folder;
        base_free(r.argv);
        r = (struct request){ .tool = t };
    }
    request_free(&r);
    return st;
}

void service_line_free(struct service_line *l)
{
    struct request r = { .argv = l->argv, .n = (size_t)l->argc, .folder = l->folder };
    if (l->argv)
        request_free(&r);
    *l = (struct service_line){ .argc = 0 };
}
