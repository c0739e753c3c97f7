/* Captured launches after the program has ended: each record is read, trimmed and written. */
#include "engine/live/live.h"
#include "engine/live/live_int.h"
#include "engine/live/serve.h"
#include "engine/live/take.h"
#include "engine/ptx/ptx.h"

#include <ctype.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ID_WINDOW = 1, FUNC_SHARED = 8, FUNC_CARVEOUT = 9, STEM_MOST = 120 };

/* The kernel that a record is of; one that has no activity record is added. */
static struct live_kernel *kernel_of(struct live_survey *s, const struct take *t)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].image == t->image && strcmp(s->v[i].name, t->name) == 0)
            return &s->v[i];
    for (size_t i = 0; i < s->n; i++)
        if (!s->v[i].files && strcmp(s->v[i].name, t->name) == 0)
            return &s->v[i];
    struct live_kernel *k = live_survey_add(s, str_of(t->name), t->image);
    if (!k)
        return NULL;
    k->launches = 1;
    memcpy(k->grid, t->grid, sizeof k->grid);
    memcpy(k->block, t->block, sizeof k->block);
    k->shared = t->shared;
    return k;
}

/* A file's name: the kernel's, of letters and digits, and a number where another has it. */
static enum status stem_of(const struct live_survey *s, const char *name, struct buf *out)
{
    struct buf readable = { 0 };
    ptx_readable(str_of(name), &readable);
    const char *from = readable.s && readable.n <= STEM_MOST ? readable.s : name;
    for (size_t i = 0; from[i] && i < STEM_MOST; i++)
        buf_printf(out, "%c", isalnum((unsigned char)from[i]) ? from[i] : '_');
    while (out->n > 1 && out->s[out->n - 1] == '_')
        out->s[--out->n] = 0;
    buf_free(&readable);
    size_t n = out->n, copies = 1;
    for (size_t i = 0; !out->oom && i < s->n; i++) {
        const char *ptx = s->v[i].files ? s->v[i].files->ptx : NULL;
        if (!ptx || strncmp(ptx, out->s, out->n) != 0 || strcmp(ptx + out->n, ".ptx") != 0)
            continue;
        out->n = n;
        buf_printf(out, "_%zu", ++copies);
        i = SIZE_MAX; /* that name may be taken, too */
    }
    return out->oom ? ST_NOMEM : ST_OK;
}

static void put_attributes(struct live_files *f, const struct take *t)
{
    memcpy(f->cluster, t->cluster, sizeof f->cluster);
    f->cooperative = t->cooperative;
    f->shared_most = t->func[FUNC_SHARED];
    f->carveout = t->func[FUNC_CARVEOUT];
    f->nth = t->nth;
    for (size_t i = 0; i < t->nattr; i++) {
        float ratio;
        if (t->attr[i].id != ID_WINDOW || (f->window_bytes && t->attr[i].of_stream))
            continue;
        memcpy(&f->window_address, t->attr[i].value, 8);
        memcpy(&f->window_bytes, t->attr[i].value + 8, 8);
        memcpy(&ratio, t->attr[i].value + 16, 4);
        f->window_ratio = (double)ratio;
    }
}

static enum status say_why(struct live_files *f, const char *why)
{
    if (!f->why)
        f->why = base_strdup(why);
    return f->why ? ST_OK : ST_NOMEM;
}

/* The launch did not run on what the limit left of its memory. */
static enum status say_limit(struct live_files *f, const struct take *t, const char *why)
{
    double taken = 0, all = 0;
    for (size_t i = 0; i < t->nrange; i++) {
        taken += (double)t->range[i].n;
        all += (double)t->range[i].of;
    }
    struct buf b = { 0 };
    buf_printf(&b,
               "it does not run on the %.3g MB that --max-bytes took of %.3g MB in reach; --max-bytes "
               "%.0fM takes "
               "them all (%s)",
               taken / 1e6, all / 1e6, ceil(all / (1 << 20)), why);
    enum status st = b.oom ? ST_NOMEM : say_why(f, b.s);
    buf_free(&b);
    return st;
}

static bool was_cut(const struct take *t)
{
    bool any = false;
    for (size_t i = 0; i < t->nrange; i++)
        any |= t->range[i].of > t->range[i].n;
    return any;
}

static enum status make(struct live_survey *s, const struct live_want *w, const struct take *t,
                        const struct ptx_module *m, struct live_files *f, struct diags *ds)
{
    const struct ptx_func *entry = ptx_find_func(m, str_of(t->name));
    struct trim tr = { 0 };
    struct take_files files = { 0 };
    struct buf stem = { 0 };
    enum status st = stem_of(s, t->name, &stem);
    if (st == ST_OK)
        st = trim_run(&tr, t, m, entry, w->trim_s, ds);
    bool cut = st == ST_OK && tr.why && was_cut(t);
    if (cut)
        st = say_limit(f, t, tr.why);
    else if (st == ST_OK)
        st = take_write(&tr, m, entry, w->folder, stem.s, &files, ds);
    if (st == ST_OK && !cut) {
        f->ptx = files.ptx;
        f->launch = files.launch;
        f->data_bytes = files.data_bytes;
        f->trimmed_from = files.trimmed_from;
        f->simulated = !tr.why;
        f->differ = tr.differ;
        f->relative = tr.relative;
        f->close = tr.differ && tr.relative <= TRIM_CLOSE;
        files = (struct take_files){ 0 };
        st = tr.why ? say_why(f, tr.why) : ST_OK;
    }
    take_files_free(&files);
    trim_free(&tr);
    buf_free(&stem);
    return st;
}

/* m NULL: its code was not seen. */
static enum status add_take(struct live_survey *s, const struct live_want *w, const struct take *t,
                            const struct ptx_module *m, struct live_kernel *k, struct diags *ds)
{
    if (!k->files && !(k->files = base_alloc(sizeof *k->files)))
        return ST_NOMEM;
    if (k->files->ptx)
        return ST_OK;
    put_attributes(k->files, t);
    k->files->relative = NAN;
    return t->refused || !t->whole || !m
               ? say_why(k->files, t->refused ? t->refused : "the program ended during the capture")
               : make(s, w, t, m, k->files, ds);
}

enum status live_take_add(struct live_survey *s, const struct live_want *w, const struct take *t,
                          const struct ptx_module *m, struct diags *ds)
{
    struct live_kernel *k = kernel_of(s, t);
    return k ? add_take(s, w, t, m, k, ds) : ST_NOMEM;
}

static enum status one(struct live_survey *s, const struct live_want *w, const struct serve *served,
                       const char *path, struct diags *ds)
{
    struct take t = { 0 };
    enum status st = take_read(&t, path, ds);
    struct live_kernel *k = NULL;
    if (st == ST_OK && t.name && !(k = kernel_of(s, &t)))
        st = ST_NOMEM;
    const struct serve_code *code = st == ST_OK && k ? serve_code_of(served, t.name, t.image) : NULL;
    if (st == ST_OK && k)
        st = add_take(s, w, &t, code ? code->module : NULL, k, ds);
    if (t.data)
        unlink(t.data);
    take_free(&t);
    return st;
}

enum status live_takes(struct live_survey *s, const struct live_want *w, const struct serve *served,
                       const char *record, struct diags *ds)
{
    struct buf b = { 0 };
    glob_t g = { 0 };
    buf_printf(&b, "%s.*.take", record);
    enum status st = b.oom ? ST_NOMEM : ST_OK;
    if (st == ST_OK && glob(b.s, 0, NULL, &g) == 0)
        for (size_t i = 0; i < g.gl_pathc && st == ST_OK; i++)
            st = one(s, w, served, g.gl_pathv[i], ds);
    globfree(&g);
    buf_free(&b);
    return st;
}
