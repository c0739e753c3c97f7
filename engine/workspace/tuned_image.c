/* Which image has a tuned kernel: by its PTX, where the image has it or a cache does, or by the machine
 * code that it was captured from. */
#include "engine/container/container.h"
#include "engine/live/apply.h"
#include "engine/ptx/ptx.h"
#include "engine/session/json.h"
#include "engine/workspace/source.h"
#include "engine/workspace/tuned.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static bool in_container(const struct tuned_kernel *t, const char *path, int *maxreg)
{
    struct container c = { 0 };
    struct diags none = { 0 };
    bool found = false;
    if (container_read(path, &c, &none) == ST_OK)
        for (size_t i = 0; i < c.n && !found; i++) {
            found = c.v[i].text && same_text((struct str){ c.v[i].text, c.v[i].n }, t->module->text);
            *maxreg = found ? limit_of(c.v[i].options) : 0;
        }
    container_free(&c);
    diags_free(&none);
    return found;
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
    const char *slash = strrchr(name, '/');
    struct str a = str_of(slash ? slash + 1 : name);
    static const char TUNED[] = ".tuned.ptx";
    size_t n = sizeof TUNED - 1, stem = a.n > n ? a.n - n : 0;
    if (stem && memcmp(a.s + stem, TUNED, n) == 0)
        return strncmp(captured, a.s, stem) == 0 && strcmp(captured + stem, ".ptx") == 0;
    return str_is(a, captured);
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
    struct diags none = { 0 };
    cJSON *c = NULL;
    bool found = false;
    buf_printf(&path, "%.*scapture.json", slash ? (int)(slash + 1 - file) : 0, file);
    if (!path.oom && json_read_file(path.s, &c, &none) == ST_OK) {
        const cJSON *k;
        cJSON_ArrayForEach(k, json_get(c, "kernels")) found |= is_captured(k, t, file, hash);
    }
    cJSON_Delete(c);
    diags_free(&none);
    buf_free(&path);
    return found;
}

bool tuned_matches(const struct tuned_kernel *t, uint64_t hash, const char *path, int *maxreg)
{
    char *cached = !path && hash ? live_cache_ptx(hash) : NULL;
    const char *p = path ? path : cached;
    *maxreg = 0;
    bool same = !t->module ||
                (p && ((container_is(p) && in_container(t, p, maxreg)) || as_opened(t, p))) ||
                (!p && hash && captured_from(t, hash));
    base_free(cached);
    return same;
}
