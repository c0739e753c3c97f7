/* What a language adds to the advice: its source files, edits of their lines, and what is said. */
#include "engine/base/name.h"
#include "engine/rec/opt_schedule.h"
#include "engine/workspace/source_edits_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOURCE_MOST = 16 << 20 }; /* byte of a source file */

void source_say(struct source_editing *h, const char *knob, const struct source_file *file,
                uint32_t line, enum source_form form, const char *format, ...)
{
    struct source_edits *o = h->out;
    char *text = NULL;
    va_list a;
    va_start(a, format);
    struct buf b = { 0 };
    int n = vasprintf(&text, format, a);
    va_end(a);
    buf_puts(&b, n >= 0 ? text : "");
    free(n >= 0 ? text : NULL);
    char *own = buf_take(&b);
    if (n < 0 || !own || !base_grow((void **)&o->advice, o->n, &o->cap, sizeof *o->advice)) {
        base_free(own);
        h->oom = true;
        return;
    }
    o->advice[o->n++] =
        (struct source_advice){ knob, file ? base_strdup(file->name) : NULL, line, own, form };
}

/* ---- source files ---- */
static char *joined(const struct tuned_kernel *k, const char *folder_of, const char *name)
{
    const char *slash = folder_of ? strrchr(folder_of, '/') : NULL;
    struct buf b = { 0 };
    buf_printf(&b, "%.*s%s", slash ? (int)(slash - folder_of) + 1 : 0, folder_of ? folder_of : "", name);
    if (b.s && access(b.s, R_OK) == 0 && (!k->within || file_within(b.s, k->within, k->nwithin)))
        return buf_take(&b);
    buf_free(&b);
    return NULL;
}

/* Where the PTX says, or beside the program or the session. */
static char *found(const struct tuned_kernel *k, const char *name)
{
    const char *base = base_file_name(name);
    char *p = joined(k, NULL, name);
    for (int i = 0; i < 2 && !p; i++) {
        const char *beside = i ? k->from : k->path;
        p = beside && *name != '/' ? joined(k, beside, name) : NULL;
        p = p ? p : beside ? joined(k, beside, base) : NULL;
    }
    return p;
}

static bool cut_lines(struct source_file *f, size_t n)
{
    uint32_t lines = 1;
    for (size_t i = 0; i < n; i++)
        lines += f->text[i] == '\n';
    f->line = base_alloc((lines + 1) * sizeof *f->line);
    for (size_t at = 0; f->line && at < n;) {
        const char *feed = memchr(f->text + at, '\n', n - at);
        size_t len = feed ? (size_t)(feed - f->text) - at : n - at;
        f->line[f->nlines++] = (struct str){ f->text + at, len };
        at += len + 1;
    }
    return f->line != NULL;
}

struct source_file *source_file_of(struct source_editing *h, uint32_t number)
{
    const struct ptx_module *m = h->k->module;
    struct source_edits *o = h->out;
    struct buf name = { 0 };
    if (!number || number >= m->nfiles || !m->files[number].n)
        return NULL;
    buf_str(&name, m->files[number]);
    for (size_t i = 0; i < o->nfiles && name.s; i++)
        if (strcmp(o->file[i].name, name.s) == 0) {
            buf_free(&name);
            return &o->file[i];
        }
    if (!name.s || !base_grow((void **)&o->file, o->nfiles, &o->file_cap, sizeof *o->file)) {
        h->oom = true;
        buf_free(&name);
        return NULL;
    }
    struct source_file *f = &o->file[o->nfiles++];
    size_t n = 0;
    *f = (struct source_file){ .name = buf_take(&name) };
    f->path = f->name ? found(h->k, f->name) : NULL;
    if (f->path && file_read_regular(f->path, SOURCE_MOST, &f->text, &n, NULL) == ST_OK)
        h->oom |= !cut_lines(f, n);
    return f;
}

struct str source_line(const struct source_file *f, uint32_t line)
{
    for (size_t i = 0; i < f->nedits; i++)
        if (f->edit[i].line == line && !f->edit[i].insert)
            return str_of(f->edit[i].text);
    return line && line <= f->nlines ? f->line[line - 1] : STR("");
}

void source_edit(struct source_editing *h, struct source_file *f, uint32_t line, bool insert,
                 const char *text)
{
    struct buf b = { 0 };
    for (size_t i = 0; i < f->nedits; i++) {
        struct source_edit *e = &f->edit[i];
        if (e->line != line || e->insert != insert)
            continue;
        buf_printf(&b, "%s%s%s", insert ? e->text : "", insert ? "\n" : "", text);
        base_free(e->text);
        e->text = buf_take(&b);
        h->oom |= !e->text;
        return;
    }
    char *own = base_strdup(text);
    if (!own || !base_grow((void **)&f->edit, f->nedits, &f->cap, sizeof *f->edit)) {
        base_free(own);
        h->oom = true;
        return;
    }
    f->edit[f->nedits++] = (struct source_edit){ line, insert, own };
}

/* Without line information loads of one buffer are told together. */
bool source_told_together(const struct source_load *a, const struct source_load *b)
{
    bool lines = a->loc.file || b->loc.file;
    return lines ? a->loc.file == b->loc.file && a->loc.line == b->loc.line
                 : strcmp(a->op, b->op) == 0 && a->array && b->array && strcmp(a->array, b->array) == 0;
}

bool source_load_said(const struct source_editing *h, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (h->load[i].changed && source_told_together(&h->load[i], &h->load[n]))
            return true;
    return false;
}

void source_load_words(const struct source_editing *h, size_t n, const char *what, char *out,
                       size_t size)
{
    const struct source_load *l = &h->load[n];
    uint32_t last = l->ptx_line;
    unsigned count = 0;
    for (size_t i = n; i < h->nloads; i++)
        if (h->load[i].changed && source_told_together(&h->load[i], l)) {
            count++;
            last = h->load[i].ptx_line > last ? h->load[i].ptx_line : last;
        }
    if (count > 1 && last != l->ptx_line)
        snprintf(out, size, "the %u loads of %s (lines %u to %u of the PTX)", count, what, l->ptx_line,
                 last);
    else
        snprintf(out, size, "the load of %s (line %u of the PTX)", what, l->ptx_line);
}

/* T tiles, W in a row. */
void source_say_tiles(struct source_editing *h, const struct source_file *file, uint32_t line)
{
    const struct opt_schedule *o = opt_schedule(h->k->options);
    unsigned x = o->tile_order.tx, y = o->tile_order.ty;
    if (o->tile_order.kind == TILES_REVERSE)
        source_say(h, "tile-order", file, line, SOURCE_WORDS,
                   "in the loop over tiles use T - 1 - t in the place of t");
    else if (o->tile_order.kind == TILES_COLUMN)
        source_say(h, "tile-order", file, line, SOURCE_WORDS,
                   "in the loop over tiles take row t %% H and column t / H, H = T / W rows of W tiles");
    else if (o->tile_order.kind == TILES_TILE)
        source_say(
            h, "tile-order", file, line, SOURCE_WORDS,
            "in the loop over tiles take squares of %u x %u: with band = t / (%u * W), r = t %% (%u * "
            "W), "
            "rows = min(H - %u * band, %u), square = r / (%u * rows), s = r %% (%u * rows), columns = "
            "min(W - %u * square, %u) it is row %u * band + s / columns, column %u * square + s %% "
            "columns, H = T / W rows of W tiles",
            x, y, y, y, y, y, x, x, x, x, y, x);
}
