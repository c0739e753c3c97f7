/* Tuned kernels as targets of apply: variables that both share, and which image is theirs. */
#include "engine/analysis/analysis.h"
#include "engine/base/name.h"
#include "engine/base/private_folder.h"
#include "engine/container/container.h"
#include "engine/live/apply.h"
#include "engine/ptx/flow/callgraph.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/reference.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/opt_memory.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/session/json.h"

#include "engine/workspace/source.h"
#include "engine/workspace/tuned_export.h"
#include "engine/workspace/tuned.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- variables ---- */
static bool word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static bool mentions(struct str text, struct str word)
{
    const char *p = text.s, *end = text.s + text.n;
    while ((p = memmem(p, (size_t)(end - p), word.s, word.n))) {
        bool whole = (p == text.s || !word_char(p[-1])) && (p + word.n == end || !word_char(p[word.n]));
        if (whole)
            return true;
        p += word.n;
    }
    return false;
}

/* What the analysis says of the kernel's writes. */
struct writes {
    struct ana_kernel *facts; /* NULL: nothing */
    bool elsewhere;           /* where no parameter and no variable points; not known: yes */
};

static struct writes writes_of(const struct ptx_module *m, const char *kernel)
{
    struct ana_opts o = { .quick = true };
    struct writes w = { 0 };
    if (ana_run(m, str_of(kernel), &o, &w.facts, NULL) != ST_OK) {
        ana_free(w.facts);
        w.facts = NULL;
    }
    w.elsewhere = !w.facts;
    for (uint32_t i = 0; w.facts && i < w.facts->naccess; i++) {
        const struct ana_access *a = &w.facts->access[i];
        bool own = a->space == PTX_SPACE_SHARED || a->space == PTX_SPACE_LOCAL ||
                   a->space == PTX_SPACE_CONST || a->space == PTX_SPACE_PARAM;
        w.elsewhere |= (a->store || a->atomic) && !own && a->param < 0 &&
                       (!a->array || strcmp(a->array, "data") == 0) && !a->arrays;
    }
    return w;
}

/* May it write this variable? */
static bool may_write(const struct writes *w, struct str variable)
{
    bool may = w->elsewhere;
    for (uint32_t i = 0; !may && i < w->facts->naccess; i++) {
        const struct ana_access *a = &w->facts->access[i];
        may = (a->store || a->atomic) && a->param < 0 &&
              (!a->array || a->arrays || str_is(variable, a->array));
    }
    return may;
}

/* Variables of the module that the kernel, or a function that it may call, names. */
static enum status add_mirrors(const struct ptx_module *m, const struct ptx_func *f,
                               const struct writes *w, struct live_target *t)
{
    size_t cap = 0;
    enum status st = ST_OK;
    const struct ptx_func **list = base_alloc((m->nfuncs + 1) * sizeof *list);
    uint32_t *place = base_alloc((m->nfuncs + 1) * sizeof *place);
    uint32_t n = list && place ? ptx_reachable(m, f, list, place) : 0;
    for (uint32_t g = 0; st == ST_OK && list && place && g < m->nglobals; g++) {
        const struct ptx_symbol *y = m->globals[g];
        bool used = false;
        if (!y->bytes || (y->space != PTX_SPACE_GLOBAL && y->space != PTX_SPACE_CONST) ||
            pass_adds(y->name))
            continue;
        for (uint32_t i = 0; i < n && !used; i++)
            used = mentions(ptx_text(m, list[i]->body), y->name);
        if (!used)
            continue;
        struct buf name = { 0 };
        buf_str(&name, y->name);
        struct live_symbol s = { buf_take(&name), 0,
                                 y->space == PTX_SPACE_GLOBAL && may_write(w, y->name) };
        if (!s.name || !base_grow((void **)&t->mirror, t->nmirror, &cap, sizeof *t->mirror)) {
            base_free(s.name);
            st = ST_NOMEM;
        } else {
            t->mirror[t->nmirror++] = s;
        }
    }
    if (!list || !place)
        st = ST_NOMEM;
    BASE_FREE(list, place);
    return st;
}

/* Why it cannot be put into a launch; NULL: it can. */
static const char *cannot(const struct tuned_kernel *k, const struct ptx_module *m)
{
    if (k->has_options && opt_memory(k->options)->l2_persist[0] &&
        strcmp(opt_memory(k->options)->l2_persist, "off") != 0)
        return "--l2-persist is a policy of the stream, which apply does not set";
    if (k->has_options && opt_memory(k->options)->promotion != PROMOTION_KEEP)
        return "--tma-promotion is part of the tensor maps, which the program makes";
    if (k->has_options && k->code.tiles)
        return "--tile-order is shown for the tuned launch alone, and the program may launch other "
               "sizes";
    if (k->has_options && k->code.hw_pi >= 0)
        return "the hardware form of bypass exists in the simulator only";
    if (k->has_options && !k->has_launch)
        return "the session does not hold the launch that it was tuned for";
    for (uint32_t g = 0; g < m->nglobals; g++)
        if (ptx_is_reference(m->globals[g]))
            return "the module has texture or surface references, which a second module does not share";
    return NULL;
}

static struct live_shape shape(struct dim3u grid, struct dim3u block, uint32_t shared)
{
    return (struct live_shape){ grid, block, shared };
}

/* Compiled before the program starts, where ptxas is here: it does not wait for the driver's compiler.
 */
static enum status machine_code(const struct tuned_kernel *k, struct live_target *t)
{
    struct buf ptx = { 0 }, cubin = { 0 };
    char *folder = NULL, *code = NULL;
    enum status st = private_folder_make(&folder, NULL);
    if (st == ST_OK)
        st = private_folder_put(folder, "k.ptx", k->text, k->n, &ptx, NULL);
    buf_printf(&cubin, "%s/k.cubin", folder ? folder : "");
    if (st == ST_OK && !cubin.oom && tuned_compile(ptx.s, k, cubin.s, NULL) == ST_OK &&
        file_read_regular(cubin.s, 1u << 30, &code, &t->ncode, NULL) == ST_OK)
        t->code = code;
    private_folder_remove(folder);
    buf_free(&ptx);
    buf_free(&cubin);
    return ST_OK; /* without it the driver compiles */
}

/* May the image have the tuned text from the start? Where it shares variables with the original, which
 * two modules do not, and the launch stays as it is. */
static bool swappable(const struct tuned_kernel *k, const struct live_target *t)
{
    return k->module && t->nmirror && !t->nzero && t->carveout < 0 &&
           (t->any || memcmp(&t->original, &t->tuned, sizeof t->original) == 0);
}

static enum status fill(const struct tuned_kernel *k, const struct ptx_module *m, struct live_target *t)
{
    const struct ptx_func *f = ptx_find_func(m, str_of(k->kernel));
    t->kernel = base_strdup(k->kernel);
    t->text = base_strdup(k->text);
    t->any = !k->has_launch;
    t->original = shape(k->grid, k->block, k->shared);
    t->tuned = shape(k->tgrid, k->tblock, k->tshared);
    t->carveout = k->has_options ? opt_occupancy(k->options)->carveout : -1;
    struct writes w = writes_of(m, k->kernel);
    t->unsafe = w.elsewhere || pass_waits(m, str_of(k->kernel)); /* run alone, it would not end */
    t->zero = base_alloc((k->nreset + 1) * sizeof *t->zero);
    enum status st = t->kernel && t->text && t->zero ? ST_OK : ST_NOMEM;
    for (uint32_t i = 0; i < k->nreset && st == ST_OK; i++) {
        t->zero[i] = (struct live_symbol){ base_strdup(k->reset[i].symbol), k->reset[i].bytes, false };
        t->nzero++;
        st = t->zero[i].name ? ST_OK : ST_NOMEM;
    }
    if (st == ST_OK && f)
        st = add_mirrors(m, f, &w, t);
    if (st == ST_OK && swappable(k, t)) {
        struct buf whole = { 0 };
        buf_str(&whole, k->module->text);
        t->whole = buf_take(&whole);
        st = t->whole ? ST_OK : ST_NOMEM;
    }
    ana_free(w.facts);
    return st == ST_OK ? machine_code(k, t) : st;
}

enum status tuned_targets(const struct tuned_kernels *t, struct live_apply *a, size_t *index,
                          struct diags *ds)
{
    enum status st = ST_OK;
    a->v = base_alloc((t->n + 1) * sizeof *a->v);
    for (size_t i = 0; a->v && st == ST_OK && i < t->n && a->n < 64; i++) {
        const struct tuned_kernel *k = &t->v[i];
        struct ptx_module *own = NULL;
        char label[PTX_LABEL];
        if (!k->module)
            st = ptx_parse(k->from, (struct str){ k->text, k->n }, &own, ds);
        const struct ptx_module *m = k->module ? k->module : own;
        const char *why = st == ST_OK ? cannot(k, m) : NULL;
        if (why)
            diag_add(ds, DIAG_WARNING, "apply", k->from, NO_SPAN, "%s is skipped: %s",
                     ptx_label(k->kernel, label), why);
        if (st == ST_OK && !why) {
            memset(&a->v[a->n], 0, sizeof *a->v);
            index[a->n] = i;
            st = fill(k, m, &a->v[a->n++]);
        }
        ptx_free(own);
    }
    return a->v ? st : ST_NOMEM;
}

/* ---- which image: by its PTX, or by the machine code that it was captured from ---- */
static struct str stripped(struct str s)
{
    while (s.n && isspace((unsigned char)s.s[0]))
        s.s++, s.n--;
    while (s.n && (isspace((unsigned char)s.s[s.n - 1]) || !s.s[s.n - 1]))
        s.n--;
    return s;
}

static bool same_text(struct str a, struct str b)
{
    return str_eq(stripped(a), stripped(b));
}

static int limit_of(const char *options)
{
    const char *p = options ? strstr(options, "-maxrregcount") : NULL;
    int n = 0;
    return p && sscanf(p + strlen("-maxrregcount"), "%*[= ]%d", &n) == 1 ? n : 0;
}

static bool in_container(const struct tuned_kernel *t, const char *path, int *maxreg, bool *whole)
{
    struct container c = { 0 };
    bool found = false;
    size_t texts = 0;
    if (container_read(path, &c, NULL) == ST_OK)
        for (size_t i = 0; i < c.n && !found; i++) {
            found = c.v[i].text && same_text((struct str){ c.v[i].text, c.v[i].n }, t->module->text);
            *maxreg = found ? limit_of(c.v[i].options) : 0;
        }
    for (size_t i = 0; i < c.n; i++)
        texts += c.v[i].text != NULL;
    *whole = found && texts == 1;
    container_free(&c);
    return found;
}

/* A file of text that is the original's. */
static bool is_text(const struct tuned_kernel *t, const char *path)
{
    char *text = NULL;
    size_t n = 0;
    bool same = file_read(path, 1u << 30, &text, &n, NULL) == ST_OK &&
                same_text((struct str){ text, n }, t->module->text);
    base_free(text);
    return same;
}

/* The text as opening the file gives it: linked from several, where the program is. */
static bool as_opened(const struct tuned_kernel *t, const char *path)
{
    struct source_want w = { .kernel = t->kernel,
                             .cc = (uint32_t)(t->dev.cc_major * 10 + t->dev.cc_minor) };
    struct ptx_module *m = NULL;
    struct diags none = { 0 };
    bool same =
        source_read(&path, 1, &w, &m, &none) == ST_OK && m && same_text(m->text, t->module->text);
    ptx_free(m);
    diags_free(&none);
    return same;
}

/* ---- machine code that it was captured from ---- */
static bool same_file(const char *name, const char *captured)
{
    const char *own = base_file_name(name);
    size_t stem = base_stem(own, ".tuned.ptx");
    if (stem)
        return strncmp(captured, own, stem) == 0 && strcmp(captured + stem, ".ptx") == 0;
    return strcmp(own, captured) == 0;
}

static bool is_captured(const cJSON *k, const struct tuned_kernel *t, const char *file, uint64_t hash)
{
    const char *name = json_text(k, "name"), *image = json_text(k, "image"),
               *ptx = json_text(json_get(k, "files"), "ptx");
    return name && image && ptx && strcmp(name, t->kernel) == 0 && strtoull(image, NULL, 16) == hash &&
           same_file(file, ptx);
}

/* What `capture` wrote beside the PTX says which image that came from: NVRTC's users keep machine code
 * alone from one run to the next. */
static bool captured_from(const struct tuned_kernel *t, uint64_t hash)
{
    const char *file = t->path ? t->path : t->from, *slash = strrchr(file, '/');
    struct buf path = { 0 };
    cJSON *c = NULL;
    bool found = false;
    buf_printf(&path, "%.*scapture.json", slash ? (int)(slash + 1 - file) : 0, file);
    if (!path.oom && json_read_file(path.s, &c, NULL) == ST_OK) {
        const cJSON *k;
        cJSON_ArrayForEach(k, json_get(c, "kernels")) found |= is_captured(k, t, file, hash);
    }
    cJSON_Delete(c);
    buf_free(&path);
    return found;
}

bool tuned_matches(const struct tuned_kernel *t, uint64_t hash, const char *path, int *maxreg,
                   bool *whole)
{
    char *cached = !path && hash ? live_cache_ptx(hash) : NULL;
    const char *p = path ? path : cached;
    *maxreg = 0;
    *whole = t->module && path && !container_is(path) && is_text(t, path);
    bool same = !t->module ||
                (p && ((container_is(p) && in_container(t, p, maxreg, whole)) || as_opened(t, p))) ||
                (!p && hash && captured_from(t, hash));
    base_free(cached);
    return same;
}
