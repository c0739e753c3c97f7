/* Rewritten code as files to go on with: its text, and the launch that it wants. */
#include "engine/base/name.h"
#include "engine/pass/pass.h"
#include "engine/rec/elem.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/opt_memory.h"
#include "engine/workspace/workspace.h"

#include <stdlib.h>
#include <string.h>

/* Knobs that are neither in the text nor in a launch description, and what sets them in a program of
 * one's own. */
static const struct {
    const char *knob, *how;
} attributes[] = {
    { "carveout", "cuFuncSetAttribute(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)" },
    { "l2-persist", "an access policy window of the stream" },
    { "tma-promotion", "l2Promotion of cuTensorMapEncodeTiled" },
};

void workspace_say_launch(const struct launch_spec *l, const struct options *o,
                          const struct pass_output *code, struct diags *ds)
{
    if (l && (!dim3u_same(l->grid, code->grid) || !dim3u_same(l->block, code->block) ||
              l->shared != code->shared))
        diag_add(
            ds, DIAG_NOTE, "launch", NULL, NO_SPAN,
            "launch the kernel with grid %ux%ux%u, block %ux%ux%u and %u bytes of dynamic shared memory",
            code->grid.x, code->grid.y, code->grid.z, code->block.x, code->block.y, code->block.z,
            code->shared);
    for (uint32_t k = 0; k < code->nreset; k++)
        diag_add(ds, DIAG_NOTE, "launch", NULL, NO_SPAN,
                 "set %s (%llu bytes) to zero before every launch", code->reset[k].symbol,
                 (unsigned long long)code->reset[k].bytes);
    for (size_t k = 0; k < ARRAY_LEN(attributes); k++) {
        int knob = knob_find(str_of(attributes[k].knob));
        struct buf value = { 0 };
        if (knob < 0 || knob_is_default(o, (size_t)knob))
            continue;
        knob_get(o, (size_t)knob, &value);
        diag_add(ds, DIAG_NOTE, "launch", NULL, NO_SPAN,
                 "--%s %s is not part of the code: pass it to run, or use %s", attributes[k].knob,
                 value.s ? value.s : "", attributes[k].how);
        buf_free(&value);
    }
}

enum status workspace_code_write(const char *path, const struct pass_output *code, struct diags *ds)
{
    struct buf text = { 0 };
    pass_standalone(code, &text);
    if (text.s &&
        !strstr(text.s, "gpulocw")) /* so that -o knows it again; behind everything: no line moves */
        buf_printf(&text, "%s" WORKSPACE_MARK_PTX "\n",
                   text.n && text.s[text.n - 1] == '\n' ? "" : "\n");
    enum status st = text.oom ? ST_NOMEM : file_write_atomic(path, text.s, text.n, ds);
    buf_free(&text);
    return st;
}

/* ---- the launch description beside it ---- */
/* A path that starts from another folder, made whole: false when out of memory. */
static bool rebase(char **path, const char *dir)
{
    struct buf b = { 0 };
    if (!*path || **path == '/')
        return true;
    char *from = realpath(dir ? dir : ".", NULL);
    buf_printf(&b, "%s/%s", from ? from : ".", *path);
    free(from);
    base_free(*path);
    *path = buf_take(&b);
    return *path != NULL;
}

static bool rebase_init(struct init_spec *in, const char *dir)
{
    bool ok = (in->kind != INIT_FILE && in->kind != INIT_NPY) || rebase(&in->text, dir);
    for (size_t k = 0; k < in->nparts && ok; k++)
        ok = rebase_init(&in->part[k], dir);
    return ok;
}

static bool rebase_files(struct launch_spec *l, const char *dir)
{
    bool ok = true;
    for (size_t i = 0; i < l->nargs && ok; i++)
        ok = rebase_init(&l->args[i].init, dir);
    for (size_t i = 0; i < l->nsymbols && ok; i++)
        ok = rebase_init(&l->symbols[i].init, dir);
    for (size_t i = 0; i < l->nbefore && ok; i++)
        ok = rebase_files(&l->before[i], dir);
    return ok;
}

/* What the engine zeroes before every launch becomes a symbol of the description, which sets it
 * likewise. */
static bool add_symbols(struct launch_spec *l, const struct pass_output *code)
{
    struct symbol_spec *all = base_alloc((l->nsymbols + code->nreset + 1) * sizeof *all);
    if (!all)
        return false;
    if (l->nsymbols)
        memcpy(all, l->symbols, l->nsymbols * sizeof *all);
    base_free(l->symbols);
    l->symbols = all;
    for (uint32_t k = 0; k < code->nreset; k++) {
        struct symbol_spec *s = &all[l->nsymbols];
        *s = (struct symbol_spec){ .name = base_strdup(code->reset[k].symbol),
                                   .elem = ELEM_U32,
                                   .count = code->reset[k].bytes / 4,
                                   .init = { .kind = INIT_FILL, .integral = true } };
        if (!s->name)
            return false;
        l->nsymbols++;
    }
    return true;
}

/* Folder of a path, "." for none; owned. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct buf b = { 0 };
    buf_printf(&b, "%.*s", slash ? (int)(slash - path) + (slash == path) : 1, slash ? path : ".");
    return buf_take(&b);
}

static enum status launch_for(const char *ptx, const struct launch_spec *spec, const struct options *o,
                              const struct pass_output *code, struct launch_spec *l)
{
    enum status st = launch_copy(spec, l);
    if (st != ST_OK)
        return st;
    char *to = folder_of(ptx);
    bool moved = !to || strcmp(to, spec->dir ? spec->dir : ".") != 0;
    base_free(to);
    l->grid = code->grid;
    l->block = code->block;
    l->shared = code->shared;
    if (opt_memory(o)->promotion != PROMOTION_KEEP)
        launch_promote(l, (uint8_t)(opt_memory(o)->promotion - PROMOTION_NONE));
    base_free(l->ptx);
    l->ptx = base_strdup(base_file_name(ptx));
    return l->ptx && add_symbols(l, code) && (!moved || rebase_files(l, spec->dir)) ? ST_OK : ST_NOMEM;
}

/* The path with another ending than .ptx; owned. */
static char *with_ending(const char *ptx, const char *ending)
{
    struct buf b = { 0 };
    size_t stem = base_stem(ptx, ".ptx");
    buf_printf(&b, "%.*s%s", (int)(stem ? stem : strlen(ptx)), ptx, ending);
    return buf_take(&b);
}

char *workspace_launch_name(const char *ptx)
{
    return with_ending(ptx, ".launch.json");
}
char *workspace_tuned_name(const char *ptx)
{
    return with_ending(ptx, ".tuned.ptx");
}

enum status workspace_launch_write(const char *ptx, const struct launch_spec *spec,
                                   const struct options *o, const struct pass_output *code,
                                   struct diags *ds)
{
    struct launch_spec l = { 0 };
    char *path = workspace_launch_name(ptx);
    enum status st = path ? launch_for(ptx, spec, o, code, &l) : ST_NOMEM;
    if (st == ST_OK)
        st = launch_file_write(path, &l, 1, ds);
    if (st == ST_OK)
        diag_add(ds, DIAG_NOTE, "launch", path, NO_SPAN,
                 "written: launch description of the rewritten kernel");
    launch_spec_free(&l);
    base_free(path);
    return st;
}
