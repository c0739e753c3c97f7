/* PTX files of Triton's cache, by the hash of the machine code beside them. */
#include "engine/base/base.h"
#include "engine/live/live.h"
#include "engine/live/live_int.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CUBIN_MOST = 256 << 20 };

/* FNV-1a, as the injected library computes it. */
static uint64_t hash_of(const char *p, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (uint8_t)p[i]) * 0x100000001b3u;
    return h;
}

static enum status look_at(struct live_survey *s, const char *cubin)
{
    struct diags unread = { 0 };
    struct buf ptx = { 0 };
    char *data = NULL;
    size_t n = 0;
    enum status st = file_read_regular(cubin, CUBIN_MOST, &data, &n, &unread);
    uint64_t hash = st == ST_OK ? hash_of(data, n) : 0;
    buf_printf(&ptx, "%.*s.ptx", (int)(strlen(cubin) - strlen(".cubin")), cubin);
    bool there = st == ST_OK && !ptx.oom && access(ptx.s, R_OK) == 0;
    st = st == ST_NOMEM || ptx.oom ? ST_NOMEM : ST_OK; /* one that cannot be read is none */
    for (size_t i = 0; there && i < s->n && st == ST_OK; i++) {
        struct live_kernel *k = &s->v[i];
        if (k->image != hash || !k->why || k->ptx_file)
            continue;
        k->ptx_file = base_strdup(ptx.s);
        k->why = k->ptx_file ? NULL : k->why;
        st = k->ptx_file ? ST_OK : ST_NOMEM;
    }
    base_free(data);
    buf_free(&ptx);
    diags_free(&unread);
    return st;
}

char *live_cache_ptx(uint64_t hash)
{
    struct live_kernel k = { .image = hash, .why = "" };
    struct live_survey s = { .v = &k, .n = 1 };
    if (live_survey_caches(&s) != ST_OK) {
        base_free(k.ptx_file);
        k.ptx_file = NULL;
    }
    return k.ptx_file;
}

enum status live_survey_caches(struct live_survey *s)
{
    const char *set = getenv("TRITON_CACHE_DIR"), *home = getenv("HOME");
    struct buf b = { 0 };
    glob_t g = { 0 };
    bool wanted = false;
    for (size_t i = 0; i < s->n; i++)
        wanted |= s->v[i].why && s->v[i].image;
    if (set && *set)
        buf_printf(&b, "%s/*/*.cubin", set);
    else
        buf_printf(&b, "%s/.triton/cache/*/*.cubin", home ? home : "");
    enum status st = b.oom ? ST_NOMEM : ST_OK;
    if (st == ST_OK && wanted && glob(b.s, 0, NULL, &g) == 0)
        for (size_t i = 0; i < g.gl_pathc && st == ST_OK; i++)
            st = look_at(s, g.gl_pathv[i]);
    globfree(&g);
    buf_free(&b);
    return st;
}
