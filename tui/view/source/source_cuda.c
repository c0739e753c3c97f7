/* source, part 5: from PTX back to the CUDA line it was compiled from. A text compiled with -lineinfo or
 * -G has .file and .loc directives (PTX ISA 11.5); without them there is nothing to tell. */
#include "engine/ptx/ptx.h"
#include "engine/base/list.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/base/text.h"
#include "tui/view/source/source_int.h"

#include <stdio.h>
#include <string.h>

/* First instruction of the function on this line or after it; NULL: none. */
static const struct ptx_inst *inst_from(const struct ptx_func *f, uint32_t line)
{
    uint32_t k;
    BISECT(k, f->ninsts, f->insts[k].at.line < line);
    return k < f->ninsts ? &f->insts[k] : NULL;
}

/* As it was named to the compiler, or beside the PTX, for who moved both. */
static bool read_cuda(struct app *a, struct str name)
{
    struct cuda_text *c = &a->source.cuda;
    const char *ptx = a->snap->module->path, *slash = ptx ? strrchr(ptx, '/') : NULL;
    size_t base = name.n;
    char path[1200];
    while (base && name.s[base - 1] != '/')
        base--;
    snprintf(path, sizeof path, "%.*s", (int)name.n, name.s);
    if (file_read(path, 4u << 20, &c->text, &c->n, NULL) == ST_OK)
        return true;
    snprintf(path, sizeof path, "%.*s%.*s", slash ? (int)(slash - ptx + 1) : 0, ptx ? ptx : "",
             (int)(name.n - base), name.s + base);
    return file_read(path, 4u << 20, &c->text, &c->n, NULL) == ST_OK;
}

struct str source_cuda_text(struct app *a, uint32_t file)
{
    struct cuda_text *c = &a->source.cuda;
    const struct ptx_module *m = a->snap->module;
    if (c->file != file) {
        base_free(c->text);
        *c = (struct cuda_text){ .file = file };
        if (!read_cuda(a, m->files[file]))
            c->text = NULL;
    }
    return (struct str){ c->text, c->text ? c->n : 0 };
}

struct str source_cuda_line(struct app *a, uint32_t file, uint32_t n)
{
    struct str rest = source_cuda_text(a, file), line = { NULL, 0 };
    bool there = rest.s != NULL;
    for (uint32_t i = 1; there && i <= n; i++)
        there = str_line(&rest, &line);
    return there ? str_trim(line) : (struct str){ NULL, 0 };
}

bool source_cuda(struct app *a, struct row *r, uint32_t line)
{
    const struct ptx_func *f = source_func_at(a, line);
    const struct ptx_inst *i = f ? inst_from(f, line) : NULL;
    struct ptx_loc l = i ? ptx_loc_of(f, i) : (struct ptx_loc){ 0 };
    struct buf place = { 0 };
    bool told = ptx_loc_text(a->snap->module, l, &place);
    if (told) {
        bool inlined = l.at_file && l.at_file < a->snap->module->nfiles && l.at_line;
        struct str text =
            source_cuda_line(a, inlined ? l.at_file : l.file, inlined ? l.at_line : l.line);
        row_put(r, ROLE_LABEL, " %s  ", place.s);
        row_put(r, ROLE_TEXT, "%.*s", (int)(text.n < 400 ? text.n : 400), text.n ? text.s : "");
    }
    buf_free(&place);
    return told;
}
