/* Programs that call what no given file defines, linked by the driver (cuLink): with the device runtime
 * of CUDA (libcudadevrt.a of a toolkit, for kernels that launch kernels), and with the machine code that
 * GPULOCW_LINK names. */
#include "engine/dev/cuda/cuda_int.h"
#include "engine/ptx/link.h"
#include "engine/ptx/ptx.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which files ---- */
struct libraries {
    const char *named; /* GPULOCW_LINK: paths with ':' between them */
    char runtime[512]; /* libcudadevrt.a; empty: not wanted, or not found */
    bool wants_runtime;
};

static bool first_match(const char *root, const char *place, char *out, size_t room)
{
    glob_t g = { 0 };
    char pattern[512];
    size_t n = (size_t)snprintf(pattern, sizeof pattern, "%s/%s/libcudadevrt.a", root, place);
    bool found = n < sizeof pattern && glob(pattern, 0, NULL, &g) == 0;
    found = found && (size_t)snprintf(out, room, "%s", g.gl_pathv[g.gl_pathc - 1]) < room;
    globfree(&g);
    return found;
}

static void find_runtime(char *out, size_t room)
{
    static const char *const PLACES[] = { "lib64", "lib", "targets/*/lib", "lib/*-linux-gnu" };
    const char *const roots[] = { getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda", "/usr",
                                  "/usr/local/cuda-*" };
    for (size_t r = 0; r < ARRAY_LEN(roots); r++)
        for (size_t i = 0; roots[r] && *roots[r] && i < ARRAY_LEN(PLACES); i++)
            if (first_match(roots[r], PLACES[i], out, room))
                return;
    out[0] = '\0';
}

static struct libraries libraries_for(const struct ptx_module *m)
{
    struct libraries l = { .wants_runtime = ptx_link_lacks(m, true) };
    const char *named = getenv("GPULOCW_LINK");
    l.named = named && (l.wants_runtime || ptx_link_lacks(m, false)) ? named : "";
    if (l.wants_runtime)
        find_runtime(l.runtime, sizeof l.runtime);
    return l;
}

/* By what is in it: an archive, a cubin, an object for the host with code for GPUs inside, a fatbin, or
 * else PTX text. -1: it cannot be read. */
static int kind_of(const char *path)
{
    unsigned char head[20] = { 0 };
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(head, 1, sizeof head, f) : 0;
    if (f)
        fclose(f);
    if (!n)
        return -1;
    if (!memcmp(head, "!<arch>\n", 8))
        return DRV_INPUT_LIBRARY;
    if (!memcmp(head,
                "\x7f"
                "ELF",
                4)) {
        bool cuda = head[18] == 190 && head[19] == 0; /* EM_CUDA */
        return cuda ? DRV_INPUT_CUBIN : DRV_INPUT_OBJECT;
    }
    return !memcmp(head, "\x50\xed\x55\xba", 4) ? DRV_INPUT_FATBINARY : DRV_INPUT_PTX;
}

/* ---- linking ---- */
struct linking {
    struct cuda_dev *d;
    drv_link state;
    drv_result e; /* of the call that failed */
    struct diags *ds;
};

static enum status add_file(struct linking *l, const char *path)
{
    int kind = kind_of(path);
    if (kind < 0) {
        struct diag *g = diag_add(l->ds, DIAG_ERROR, "link", path, NO_SPAN, "this file cannot be read");
        diag_hint(g, "GPULOCW_LINK names it: paths of archives, objects, cubins or fatbins, with ':' "
                     "between them");
        return ST_INPUT;
    }
    l->e = l->d->drv.link_add_file(l->state, kind, path, 0, NULL, NULL);
    return l->e == DRV_SUCCESS ? ST_OK : ST_DEVICE;
}

static enum status add_named(struct linking *l, const char *list)
{
    enum status st = ST_OK;
    while (*list && st == ST_OK) {
        char path[4096];
        size_t n = strcspn(list, ":");
        snprintf(path, sizeof path, "%.*s", (int)(n < sizeof path ? n : sizeof path - 1), list);
        st = n ? add_file(l, path) : ST_OK;
        list += n + (list[n] == ':');
    }
    return st;
}

static enum status link_all(struct linking *l, const struct libraries *with, const struct ptx_module *m,
                            drv_module *out)
{
    /* the driver takes the text's zero as its end; it does not write to it */
    l->e = l->d->drv.link_add_data(l->state, DRV_INPUT_PTX, (void *)(uintptr_t)m->text.s, m->text.n + 1,
                                   m->path, 0, NULL, NULL);
    enum status st = l->e == DRV_SUCCESS ? add_named(l, with->named) : ST_DEVICE;
    if (st == ST_OK && with->runtime[0])
        st = add_file(l, with->runtime);
    void *image = NULL;
    size_t n = 0;
    if (st == ST_OK)
        l->e = l->d->drv.link_complete(l->state, &image, &n);
    if (st == ST_OK && l->e == DRV_SUCCESS)
        l->e = l->d->drv.module_load(out, image, 0, NULL, NULL);
    return st == ST_OK && l->e != DRV_SUCCESS ? ST_DEVICE : st;
}

bool cuda_link_wanted(const struct cuda_dev *d, const struct ptx_module *m)
{
    struct libraries l = libraries_for(m);
    return (l.named[0] || l.runtime[0]) && d->drv.link_create && d->drv.link_add_data &&
           d->drv.link_add_file && d->drv.link_complete && d->drv.link_destroy;
}

enum status cuda_link(struct cuda_dev *d, const struct ptx_module *m, const struct cuda_jit_options *o,
                      drv_module *out, drv_result *e, struct diags *ds)
{
    struct libraries with = libraries_for(m);
    struct linking l = { .d = d, .ds = ds };
    struct cuda_jit_options own = *o; /* the driver keeps the arrays until the end */
    l.e = d->drv.link_create(own.n, own.option, own.value, &l.state);
    enum status st = l.e == DRV_SUCCESS ? link_all(&l, &with, m, out) : ST_DEVICE;
    if (l.state)
        d->drv.link_destroy(l.state);
    *e = l.e;
    return st;
}

void cuda_link_hint(const struct ptx_module *m, struct diags *ds)
{
    struct libraries l = libraries_for(m);
    if (!ds->n || l.named[0])
        return;
    if (l.wants_runtime && !l.runtime[0])
        diag_hint(diags_last(ds),
                  "kernels that launch kernels need libcudadevrt.a of a CUDA toolkit: set CUDA_HOME");
    else if (ptx_link_lacks(m, false))
        diag_hint(diags_last(ds), "add the files that define it, or, where they have machine code "
                                  "only, name them in GPULOCW_LINK");
}
