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

/* Of what was written of it; NULL: nothing. */
static const char *ptx_of(const struct live_kernel *k)
{
    const char *ptx = NULL;
    for (size_t i = 0; i < k->nfiles && !ptx; i++)
        ptx = k->files[i].ptx;
    return ptx;
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
        const char *ptx = ptx_of(&s->v[i]);
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
                        const struct ptx_module *m, const struct live_kernel *k, struct live_files *f,
                        struct diags *ds)
{
    const char *ptx = ptx_of(k);
    const struct ptx_func *entry = ptx_find_func(m, str_of(t->name));
    struct trim tr = { 0 };
    struct take_files files = { 0 };
    struct buf stem = { 0 };
    enum status st = ST_OK;
    if (ptx)
        buf_put(&stem, ptx, strlen(ptx) - strlen(".ptx"));
    else
        st = stem_of(s, t->name, &stem);
    if (st == ST_OK)
        st = trim_run(&tr, t, m, entry, w->trim_s, ds);
    bool cut = st == ST_OK && tr.why && was_cut(t);
    if (cut)
        st = say_limit(f, t, tr.why);
    else if (st == ST_OK)
        st = take_write(&tr, m, entry, w->folder, stem.s, f->number, &files, ds);
    if (st == ST_OK && !cut) {
        f->ptx = files.ptx;
        f->launch = files.launch;
        f->spec = files.spec;
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
    struct live_files *f = live_files_of(k, t);
    if (!f)
        return ST_NOMEM;
    if (f->ptx || f->left_out)
        return ST_OK;
    put_attributes(f, t);
    return t->refused || !t->whole || !m
               ? say_why(f, t->refused ? t->refused : "the program ended during the capture")
               : make(s, w, t, m, k, f, ds);
}

enum status live_take_add(struct live_survey *s, const struct live_want *w, const struct take *t,
                          const struct ptx_module *m, struct diags *ds)
{
    struct live_kernel *k = kernel_of(s, t);
    return k ? add_take(s, w, t, m, k, ds) : ST_NOMEM;
}

void live_take_count(struct live_survey *s, struct str name, uint64_t image, uint64_t key, bool room)
{
    for (size_t i = 0; i < s->n; i++) {
        struct live_kernel *k = &s->v[i];
        if (k->image != image || !k->nfiles || !str_is(name, k->name))
            continue;
        bool known = live_files_count(k, key, 1);
        k->apart += !known && !room;
        k->no_room += !known && room;
    }
}

/* ---- of records ---- */
struct records {
    struct take *v;
    size_t n;
};

/* What each is of, and how often each shape came: what is chosen is known before anything is trimmed. */
static enum status note(struct live_survey *s, const struct records *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct take *t = &r->v[i];
        struct live_kernel *k = t->name && !t->ncount ? kernel_of(s, t) : NULL;
        if (t->name && !t->ncount && (!k || !live_files_of(k, t)))
            return ST_NOMEM;
    }
    for (size_t i = 0; i < r->n; i++) {
        const struct take *t = &r->v[i];
        struct live_kernel *k = t->ncount ? kernel_of(s, t) : NULL;
        for (size_t n = 0; k && n < t->ncount; n++)
            live_files_count(k, t->count[n].key, t->count[n].launches);
        if (k) {
            k->apart += t->apart;
            k->no_room += t->no_room;
        }
    }
    live_shapes_choose(s);
    return ST_OK;
}

static enum status write_one(struct live_survey *s, const struct live_want *w,
                             const struct serve *served, const struct take *t, struct diags *ds)
{
    if (!t->name || t->ncount)
        return ST_OK;
    const struct serve_code *code = serve_code_of(served, t->name, t->image);
    return live_take_add(s, w, t, code ? code->module : NULL, ds);
}

static enum status read_all(const glob_t *g, struct records *r, struct diags *ds)
{
    enum status st = ST_OK;
    r->v = base_alloc((g->gl_pathc + 1) * sizeof *r->v);
    for (size_t i = 0; r->v && i < g->gl_pathc && st == ST_OK; i++)
        st = take_read(&r->v[r->n++], g->gl_pathv[i], ds);
    return r->v ? st : ST_NOMEM;
}

enum status live_takes(struct live_survey *s, const struct live_want *w, const struct serve *served,
                       const char *record, struct diags *ds)
{
    struct buf b = { 0 };
    struct records r = { 0 };
    glob_t g = { 0 };
    buf_printf(&b, "%s.*.take", record);
    enum status st = b.oom ? ST_NOMEM : ST_OK;
    if (st == ST_OK && glob(b.s, 0, NULL, &g) == 0)
        st = read_all(&g, &r, ds);
    if (st == ST_OK)
        st = note(s, &r);
    for (size_t i = 0; i < r.n; i++) {
        if (st == ST_OK)
            st = write_one(s, w, served, &r.v[i], ds);
        if (r.v[i].data)
            unlink(r.v[i].data);
        take_free(&r.v[i]);
    }
    base_free(r.v);
    globfree(&g);
    buf_free(&b);
    return st == ST_OK ? live_shapes_write(s, w, ds) : st;
}
