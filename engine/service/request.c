/* JSON arguments to the command line of a tool. */
#include "engine/base/name.h"
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
    const cJSON *program; /* with its arguments, put last; NULL: none */
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
static void say_roots(const struct service_roots *roots, const char *path, struct diags *ds)
{
    struct buf names = { 0 };
    for (size_t i = 0; i < roots->n; i++) {
        char *real = realpath(roots->folder[i], NULL);
        buf_printf(&names, "%s%s", i ? ", " : "", real ? real : roots->folder[i]);
        free(real);
    }
    struct diag *d = diag_add(ds, DIAG_ERROR, "roots", path, NO_SPAN,
                              "the path is outside the allowed folders, or its folder does not exist");
    diag_hint(d, "allowed: %s; a relative path starts there", names.s ? names.s : "nothing");
    buf_free(&names);
}

static enum status check_path(struct making *m, const char *path)
{
    if (!m->roots || !m->roots->n || file_within(path, m->roots->folder, m->roots->n))
        return ST_OK;
    say_roots(m->roots, path, m->ds);
    return ST_USAGE;
}

/* ---- where a relative path starts ---- */
/* Is `path` in `folder` (made: or could it be made there)? Then `out` is its path. */
static bool place_in(const char *folder, const char *path, bool made, struct buf *out)
{
    struct stat is;
    buf_clear(out);
    if (strcmp(folder, ".") == 0)
        buf_puts(out, path);
    else
        buf_printf(out, "%s/%s", folder, path);
    if (out->oom || lstat(out->s, &is) == 0)
        return true;
    return made && file_has_folder(out->s);
}

/* A name in the folder of the caller's own files, below a root, or the path itself. What is not there yet
 * lies in the first root that has its folder. */
static void put_place(const struct making *m, const char *path, struct buf *out)
{
    size_t n = m->roots ? m->roots->n : 0;
    if (m->folder && !strchr(path, '/') && place_in(m->folder, path, false, out))
        return;
    for (size_t i = 0; *path != '/' && i < n; i++)
        if (place_in(m->roots->folder[i], path, false, out))
            return;
    bool here =
        n && *path != '/' && access(path, F_OK) == 0 && file_within(path, m->roots->folder, m->roots->n);
    for (size_t i = 0; !here && *path != '/' && i < n; i++)
        if (place_in(m->roots->folder[i], path, true, out))
            return;
    buf_clear(out);
    buf_puts(out, path);
}

/* The launch description that the command would find by itself. */
static enum status check_beside(struct making *m, const char *ptx)
{
    struct buf b = { 0 };
    struct stat is;
    size_t stem = base_stem(ptx, ".ptx");
    buf_put(&b, ptx, stem ? stem : strlen(ptx));
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
    size_t stem = base_stem(path, ".cubin");
    if (!m->roots || !m->roots->n)
        return ST_OK;
    if (access(path, F_OK) != 0 && strstr(path, PTX_LINK_PLUS))
        return wrong(m, "give the files of a program as a list, not as '%s'", path);
    if (!stem)
        return ST_OK;
    buf_put(&b, path, stem);
    buf_puts(&b, ".ptx");
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
static enum status add_file(struct making *m, const cJSON *v)
{
    if (!cJSON_IsString(v) || !*v->valuestring)
        return wrong(m, "'%s' must be a path or a list of paths", "file");
    if (m->nfiles == CMD_MAX_FILES)
        return wrong(m, "'%s' has too many files", "file");
    struct buf *path = &m->files[m->nfiles++];
    put_place(m, v->valuestring, path);
    enum status st = path->oom ? ST_NOMEM : check_path(m, path->s);
    if (st == ST_OK && m->roots && m->roots->n && source_is_cuda(path->s))
        return wrong(m, "clients cannot run a compiler: give '%s' as PTX", v->valuestring);
    if (st == ST_OK)
        st = check_implied(m, path->s);
    return st == ST_OK ? check_beside(m, path->s) : st;
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

/* The program of a client lies where its files do: PATH is not searched for it. */
static enum status put_program(struct making *m)
{
    const cJSON *word = m->program->child;
    struct buf at = { 0 };
    enum status st = put_words(m->r, "--");
    put_place(m, word->valuestring, &at);
    if (st == ST_OK)
        st = at.oom ? ST_NOMEM : check_path(m, at.s);
    if (st == ST_OK)
        st = put_word(m->r, &at);
    buf_free(&at);
    while ((word = word->next) && st == ST_OK) {
        struct buf one = { 0 };
        buf_puts(&one, word->valuestring);
        st = put_word(m->r, &one);
    }
    return st;
}

static enum status add_program(struct making *m, const cJSON *v)
{
    const cJSON *word;
    bool words = cJSON_IsArray(v) && v->child && cJSON_IsString(v->child) && *v->child->valuestring;
    cJSON_ArrayForEach(word, v) words = words && cJSON_IsString(word);
    if (!words)
        return wrong(m, "'%s' must be a list: the program and its arguments", "program");
    m->program = v;
    return ST_OK;
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

/* "--name=before" and the path, where it lies. */
static enum status put_path(struct making *m, const char *name, const char *before, const char *path)
{
    struct buf at = { 0 }, value = { 0 };
    put_place(m, path, &at);
    enum status st = at.oom ? ST_NOMEM : check_path(m, at.s ? at.s : "");
    buf_printf(&value, "%s%s", before, at.s ? at.s : "");
    if (st == ST_OK)
        st = value.oom ? ST_NOMEM : put_option(m, name, value.s);
    buf_free(&at);
    buf_free(&value);
    return st;
}

static enum status add_launch(struct making *m, const cJSON *v)
{
    struct buf text = { 0 }, path = { 0 };
    enum status st = ST_OK;
    if (cJSON_IsString(v))
        return put_path(m, "launch", "", v->valuestring);
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
static enum status put_value(struct making *m, const char *name, const char *value)
{
    static const char *const paths[] = { "output", "resume", "session", "rules", "baseline" };
    static const char custom[] = "custom:", sim[] = "sim:";
    if (strcmp(name, "index") == 0 && strncmp(value, custom, sizeof custom - 1) == 0)
        return put_path(m, name, custom, value + sizeof custom - 1);
    if (strcmp(name, "device") == 0 && (strchr(value, '/') || strstr(value, ".json")))
        return strncmp(value, sim, sizeof sim - 1) == 0 ? put_path(m, name, sim, value + sizeof sim - 1)
                                                        : put_path(m, name, "", value);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        if (strcmp(name, paths[i]) == 0)
            return put_path(m, name, "", value);
    return put_option(m, name, value);
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
        st = put_value(m, name, text.s ? text.s : "");
    buf_free(&text);
    return st;
}

/* A knob by its name. */
static enum status add_knob(struct making *m, const cJSON *v)
{
    int knob = m->r->tool->knobs ? knob_find(str_of(v->string)) : -1;
    if (knob < 0)
        return wrong(m, "the tool has no argument '%s'", v->string);
    const struct knob_info *k = knob_info((size_t)knob);
    return add_value(m, k->name, k->kind == KNOB_KIND_FLAG, k->kind == KNOB_KIND_INT, v);
}

/* "--bypass l1 --pi 7": knobs alone, whatever else a command line may say. */
static enum status add_options_line(struct making *m, const char *line)
{
    struct options *o = options_new();
    enum status st = o ? options_parse_line(o, str_of(line), m->ds) : ST_NOMEM;
    for (size_t i = 0; i < knob_count() && st == ST_OK; i++) {
        struct buf text = { 0 };
        if (knob_is_default(o, i))
            continue;
        knob_get(o, i, &text);
        st = text.oom ? ST_NOMEM : put_value(m, knob_info(i)->name, text.s ? text.s : "");
        buf_free(&text);
    }
    base_free(o);
    return st;
}

/* The options of a configuration: as one line, or an object of knobs. */
static enum status add_options(struct making *m, const cJSON *v)
{
    const cJSON *one;
    enum status st = ST_OK;
    if (cJSON_IsString(v))
        return add_options_line(m, v->valuestring);
    if (!cJSON_IsObject(v))
        return wrong(m, "'%s' must be an object of knobs, or a line such as --bypass l1 --pi 7",
                     "options");
    cJSON_ArrayForEach(one, v) if (st == ST_OK && !cJSON_IsNull(one)) st = add_knob(m, one);
    return st;
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
    if (strcmp(key, TOOL_PROGRAM) == 0 && takes)
        return add_program(m, v);
    if (strcmp(key, "ptx") == 0 && tool_has_ptx(t))
        return add_ptx(m, v);
    if (strcmp(key, "launch") == 0 && takes)
        return add_launch(m, v);
    if (strcmp(key, "options") == 0 && t->knobs)
        return add_options(m, v);
    const struct arg_row *r = takes ? tool_row(t, key) : NULL;
    if (r)
        return add_value(m, key, r->kind == ARGK_FLAG, r->kind == ARGK_INT, v);
    return add_knob(m, v);
}

/* Source files are read where a client may read. */
static enum status put_roots(struct making *m)
{
    enum status st = ST_OK;
    for (size_t i = 0; i < m->roots->n && st == ST_OK; i++)
        st = put_option(m, "root", m->roots->folder[i]);
    return st;
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
    if (st == ST_OK && roots)
        st = put_words(out, t->agent);
    if (st == ST_OK && roots && strcmp(t->command, "source") == 0)
        st = put_roots(m);
    if (st == ST_OK && arguments && !cJSON_IsObject(arguments))
        st = wrong(m, "'%s' must be an object", "arguments");
    else if (st == ST_OK)
        cJSON_ArrayForEach(v, arguments) if (st == ST_OK) st = add(m, v);
    enum status files = put_files(m);
    if (st == ST_OK && m->program)
        st = put_program(m);
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
