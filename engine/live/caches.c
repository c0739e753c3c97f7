/* PTX files of caches, by the hash of the machine code beside them. */
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

/* Calls fn with every cubin of the caches that has PTX beside it, and with its hash, until it says stop.
 */
typedef bool (*cubin_fn)(void *ctx, uint64_t hash, const char *ptx);

static enum status look_at(const char *cubin, cubin_fn fn, void *ctx, bool *more)
{
    struct buf ptx = { 0 };
    char *data = NULL;
    size_t n = 0;
    buf_printf(&ptx, "%.*s.ptx", (int)(strlen(cubin) - strlen(".cubin")), cubin);
    enum status st = ptx.oom                    ? ST_NOMEM
                     : access(ptx.s, R_OK) != 0 ? ST_IO
                                                : file_read_regular(cubin, CUBIN_MOST, &data, &n, NULL);
    if (st == ST_OK)
        *more = fn(ctx, hash_of(data, n), ptx.s);
    base_free(data);
    buf_free(&ptx);
    return st == ST_NOMEM ? st : ST_OK; /* one that cannot be read is none */
}

static enum status look_in(const char *pattern, cubin_fn fn, void *ctx, bool *more)
{
    glob_t g = { 0 };
    enum status st = ST_OK;
    if (glob(pattern, 0, NULL, &g) == 0)
        for (size_t i = 0; i < g.gl_pathc && st == ST_OK && *more; i++)
            st = look_at(g.gl_pathv[i], fn, ctx, more);
    globfree(&g);
    return st;
}

/* What ptxas made (ptxas.h); Triton's cache; Inductor's, which has one of Triton's in it. */
static enum status each_cubin(const char *kept, cubin_fn fn, void *ctx)
{
    const char *triton = getenv("TRITON_CACHE_DIR"), *inductor = getenv("TORCHINDUCTOR_CACHE_DIR"),
               *home = getenv("HOME"), *tmp = getenv("TMPDIR");
    struct buf b[4] = { 0 };
    bool more = true;
    enum status st = ST_OK;
    if (kept)
        buf_printf(&b[3], "%s/*.cubin", kept);
    if (triton && *triton)
        buf_printf(&b[0], "%s/*/*.cubin", triton);
    else
        buf_printf(&b[0], "%s/.triton/cache/*/*.cubin", home ? home : "");
    if (inductor && *inductor) {
        buf_printf(&b[1], "%s/triton/*/*/*.cubin", inductor);
        buf_printf(&b[2], "%s/*/*/*/*.cubin", inductor);
    } else {
        buf_printf(&b[1], "%s/torchinductor_*/triton/*/*/*.cubin", tmp && *tmp ? tmp : "/tmp");
        buf_puts(&b[2], "/tmp/torchinductor_*/triton/*/*/*.cubin");
    }
    for (size_t i = kept ? 4 : 3; i-- > 0;) {
        if (st == ST_OK && more)
            st = b[i].oom ? ST_NOMEM : look_in(b[i].s, fn, ctx, &more);
        buf_free(&b[i]);
    }
    return st;
}

struct survey_look {
    struct live_survey *s;
    bool oom;
};

static bool for_survey(void *ctx, uint64_t hash, const char *ptx)
{
    struct survey_look *l = ctx;
    for (size_t i = 0; i < l->s->n; i++) {
        struct live_kernel *k = &l->s->v[i];
        if (k->image != hash || !k->why || k->ptx_file)
            continue;
        k->ptx_file = base_strdup(ptx);
        k->why = k->ptx_file ? NULL : k->why;
        l->oom |= !k->ptx_file;
    }
    return !l->oom;
}

enum status live_survey_caches(struct live_survey *s, const char *kept)
{
    struct survey_look l = { s, false };
    bool wanted = false;
    for (size_t i = 0; i < s->n; i++)
        wanted |= s->v[i].why && s->v[i].image;
    enum status st = wanted ? each_cubin(kept, for_survey, &l) : ST_OK;
    return l.oom ? ST_NOMEM : st;
}

struct hash_look {
    uint64_t hash;
    char *ptx;
    bool oom;
};

static bool for_hash(void *ctx, uint64_t hash, const char *ptx)
{
    struct hash_look *l = ctx;
    if (hash != l->hash)
        return true;
    l->ptx = base_strdup(ptx);
    l->oom = !l->ptx;
    return false;
}

char *live_cache_ptx(uint64_t hash)
{
    char *ptx = NULL;
    return live_cache_find(NULL, hash, &ptx) == ST_OK ? ptx : NULL;
}

char *live_cache_ptx_of(const void *image, size_t n)
{
    return live_cache_ptx(hash_of(image, n));
}

enum status live_cache_find(const char *kept, uint64_t hash, char **ptx)
{
    struct hash_look l = { .hash = hash };
    enum status st = hash ? each_cubin(kept, for_hash, &l) : ST_OK;
    *ptx = l.ptx;
    return l.oom ? ST_NOMEM : st;
}

/* ---- XLA's dump (JAX, TensorFlow) ---- */
static bool has_entry(const char *path, const char *kernel)
{
    char *text = NULL;
    size_t n = 0, len = strlen(kernel);
    bool has = false;
    if (file_read_regular(path, CUBIN_MOST, &text, &n, NULL) == ST_OK)
        for (const char *p = text; !has && (p = strstr(p, ".entry ")); p += strlen(".entry "))
            has = strncmp(p + strlen(".entry "), kernel, len) == 0 &&
                  strchr("( \n\r\t", p[strlen(".entry ") + len]) != NULL;
    base_free(text);
    return has;
}

enum status live_dump_find(const char *kernel, char **ptx, bool *several)
{
    static const char flag[] = "--xla_dump_to=";
    const char *flags = getenv("XLA_FLAGS"), *folder = flags ? strstr(flags, flag) : NULL;
    struct buf b = { 0 };
    glob_t g = { 0 };
    *ptx = NULL;
    *several = false;
    if (!folder)
        return ST_OK;
    folder += strlen(flag);
    buf_printf(&b, "%.*s/*.ptx", (int)strcspn(folder, " "), folder);
    enum status st = b.oom ? ST_NOMEM : ST_OK;
    if (st == ST_OK && glob(b.s, 0, NULL, &g) == 0)
        for (size_t i = 0; i < g.gl_pathc && st == ST_OK; i++) {
            if (!has_entry(g.gl_pathv[i], kernel))
                continue;
            *several |= *ptx != NULL;
            if (!*ptx && !(*ptx = base_strdup(g.gl_pathv[i])))
                st = ST_NOMEM;
        }
    globfree(&g);
    buf_free(&b);
    if (*several) {
        base_free(*ptx);
        *ptx = NULL;
    }
    return st;
}
