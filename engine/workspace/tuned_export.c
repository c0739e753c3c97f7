/* Tuned kernels as files that need no gpulocw. */
#include "engine/workspace/tuned_export.h"

#include "engine/base/name.h"
#include "engine/base/tool.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/knobs.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/workspace/own_files.h"
#include "engine/workspace/tuned.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static enum status make_folder(const char *path, struct diags *ds)
{
    struct stat s;
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &s) == 0 && S_ISDIR(s.st_mode)))
        return ST_OK;
    diag_add(ds, DIAG_ERROR, "io", path, NO_SPAN, "cannot create this folder: %s", strerror(errno));
    return ST_IO;
}

/* A folder that files go to. */
struct target {
    const char *dir;
    struct own_files own;
    struct buf *said; /* names what was written */
};

/* Of a path in the folder. */
static enum status may(const struct target *t, const char *path, struct diags *ds)
{
    return own_files_may(&t->own, path + strlen(t->dir) + 1, ds);
}
static enum status claim(struct target *t, const char *path, struct diags *ds)
{
    own_files_add(&t->own, path + strlen(t->dir) + 1);
    return own_files_save(&t->own, ds);
}

static enum status put_file(struct target *t, const char *path, const char *text, size_t n,
                            struct diags *ds)
{
    enum status st = may(t, path, ds);
    if (st == ST_OK) /* first: what a full disk cuts off may be replaced */
        st = claim(t, path, ds);
    if (st == ST_OK)
        st = file_write_atomic(path, text, n, ds);
    if (st == ST_OK)
        buf_printf(t->said, "%s\n", path);
    return st;
}

/* The last part of a path, without .ptx; length in *n. */
static const char *base_name(const char *path, size_t *n)
{
    const char *name = base_file_name(path);
    *n = base_stem(name, ".ptx");
    *n = *n ? *n : strlen(name);
    return name;
}

static uint64_t number_at(const char *p, unsigned bytes)
{
    uint64_t v = 0;
    memcpy(&v, p, bytes);
    return v;
}

/* Is all of this ELF file there, its headers and sections? ptxas says nothing of a full disk. */
static bool whole(const char *p, size_t n)
{
    enum {
        PHOFF = 0x20,
        SHOFF = 0x28,
        PHENTSIZE = 0x36,
        PHNUM = 0x38,
        SHENTSIZE = 0x3a,
        SHNUM = 0x3c,
        HEADER = 64,
        NOBITS = 8
    };
    if (n < HEADER || memcmp(p, "\177ELF\2", 5) != 0)
        return false;
    uint64_t at = number_at(p + SHOFF, 8), each = number_at(p + SHENTSIZE, 2),
             k = number_at(p + SHNUM, 2);
    uint64_t first = number_at(p + PHOFF, 8);
    if (at > n || each != HEADER || k > (n - at) / each || first > n ||
        number_at(p + PHENTSIZE, 2) * number_at(p + PHNUM, 2) > n - first)
        return false;
    for (; k; k--, at += each) {
        uint64_t offset = number_at(p + at + 0x18, 8), size = number_at(p + at + 0x20, 8);
        if (number_at(p + at + 4, 4) != NOBITS && (offset > n || size > n - offset))
            return false;
    }
    return true;
}

/* The machine code that ptxas left in `from`, which goes. */
static enum status take_over(const char *from, const char *cubin, struct diags *ds)
{
    char *code = NULL;
    size_t n = 0;
    enum status st = file_read(from, 1u << 30, &code, &n, ds);
    unlink(from);
    if (st == ST_OK && !whole(code, n)) {
        diag_add(ds, DIAG_ERROR, "io", cubin, NO_SPAN,
                 "cannot write: the machine code from ptxas is incomplete; is the disk full?");
        st = ST_IO;
    }
    if (st == ST_OK)
        st = file_write_atomic(cubin, code, n, ds);
    base_free(code);
    return st;
}

enum status tuned_compile(const char *ptx, const struct tuned_kernel *k, const char *cubin,
                          struct diags *ds)
{
    char *ptxas = program_find("ptxas"), arch[48] = "", o[] = "-o";
    struct ptx_module *m = NULL;
    struct diags none = { 0 };
    int out = memfd_create("ptxas", MFD_CLOEXEC);
    if (ptxas && ptx_parse(ptx, (struct str){ k->text, k->n }, &m, &none) == ST_OK)
        snprintf(arch, sizeof arch, "-arch=%.*s", (int)m->target_text.n, m->target_text.s);
    unsigned cc = (unsigned)(k->dev.cc_major * 10 + k->dev.cc_minor);
    if (arch[0] && k->dev.kind == DEV_CUDA && !m->target_suffix && cc > m->target)
        snprintf(arch, sizeof arch, "-arch=sm_%u", cc); /* where it was measured it is to run */
    struct buf part = { 0 };
    buf_printf(&part, "%s.part", cubin);
    char *words[] = { ptxas, arch, (char *)(uintptr_t)ptx, o, part.oom ? NULL : part.s, NULL };
    arch[0] = part.oom ? 0 : arch[0];
    bool made = arch[0] && out >= 0 && program_run(words, out) == 0;
    if (!ptxas)
        diag_add(ds, DIAG_NOTE, "export", ptx, NO_SPAN,
                 "ptxas was not found: no machine code was written; the driver will compile the PTX");
    else if (!made)
        diag_add(ds, DIAG_WARNING, "export", ptx, NO_SPAN,
                 "%s was not written: ptxas cannot compile it (%s)", cubin, arch);
    enum status st = made ? take_over(part.s, cubin, ds) : ST_REFUSED;
    if (!made && part.s)
        unlink(part.s);
    buf_free(&part);
    if (out >= 0)
        close(out);
    ptx_free(m);
    diags_free(&none);
    base_free(ptxas);
    return st;
}

/* Machine code beside DIR/KERNEL.ptx, where the toolkit is here. */
static enum status compile(struct target *t, const char *ptx, const struct tuned_kernel *k,
                           struct diags *ds)
{
    struct buf cubin = { 0 };
    buf_printf(&cubin, "%.*s.cubin", (int)strlen(ptx) - 4, ptx);
    enum status st = cubin.oom ? ST_NOMEM : may(t, cubin.s, ds);
    if (st == ST_OK)
        st = tuned_compile(ptx, k, cubin.s, ds);
    if (st == ST_OK)
        st = claim(t, cubin.s, ds);
    if (st == ST_OK)
        buf_printf(t->said, "%s\n", cubin.s);
    buf_free(&cubin);
    return st == ST_REFUSED ? ST_OK : st;
}

/* CACHE/HASH/NAME.ptx of Triton's cache becomes DIR/triton/HASH/NAME.ptx. */
static enum status for_triton(struct target *t, const struct tuned_kernel *k, struct diags *ds)
{
    const char *slash = k->path ? strrchr(k->path, '/') : NULL, *hash = slash;
    struct buf sign = { 0 }, folder = { 0 }, file = { 0 };
    size_t n;
    if (!slash || slash == k->path)
        return ST_OK;
    const char *name = base_name(k->path, &n);
    buf_printf(&sign, "%.*s.ttir", (int)(slash - k->path + 1 + (ptrdiff_t)n), k->path);
    while (hash > k->path && hash[-1] != '/')
        hash--;
    enum status st = ST_OK;
    if (sign.s && access(sign.s, R_OK) == 0) {
        buf_printf(&folder, "%s/triton", t->dir);
        st = folder.oom ? ST_NOMEM : make_folder(folder.s, ds);
        buf_printf(&folder, "/%.*s", (int)(slash - hash), hash);
        if (st == ST_OK)
            st = folder.oom ? ST_NOMEM : make_folder(folder.s, ds);
        buf_printf(&file, "%s/%.*s.ptx", folder.s ? folder.s : "", (int)n, name);
        if (st == ST_OK)
            st = file.oom ? ST_NOMEM : put_file(t, file.s, k->text, k->n, ds);
    }
    buf_free(&sign);
    buf_free(&folder);
    buf_free(&file);
    return st;
}

static void put_three(struct buf *b, const char *what, struct dim3u is, struct dim3u wants)
{
    buf_printf(b, "    %-22s %u x %u x %u", what, wants.x, wants.y, wants.z);
    if (is.x != wants.x || is.y != wants.y || is.z != wants.z)
        buf_printf(b, "   (was %u x %u x %u)", is.x, is.y, is.z);
    buf_puts(b, "\n");
}

static void describe(const struct tuned_kernel *k, const char *file, bool triton, struct buf *b)
{
    struct buf line = { 0 };
    options_line(k->options, &line);
    buf_printf(b, "%s\n    kernel                 %s\n", file, k->kernel);
    if (k->has_options)
        buf_printf(b, "    configuration          %s\n", line.s ? line.s : "");
    if (k->has_launch) {
        put_three(b, "grid", k->grid, k->tgrid);
        put_three(b, "block", k->block, k->tblock);
        buf_printf(b, "    dynamic shared memory  %u bytes\n", k->tshared);
    }
    for (uint32_t i = 0; i < k->nreset; i++)
        buf_printf(b, "    before every launch    set %s (%llu bytes) to zero\n", k->reset[i].symbol,
                   (unsigned long long)k->reset[i].bytes);
    if (k->has_options && opt_occupancy(k->options)->carveout >= 0)
        buf_printf(b,
                   "    carve-out              cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_PREFERRED_"
                   "SHARED_MEMORY_CARVEOUT, %d)\n",
                   opt_occupancy(k->options)->carveout);
    if (triton)
        buf_puts(b, "    Triton                 TRITON_KERNEL_OVERRIDE=1 TRITON_OVERRIDE_DIR=triton "
                    "python3 ... (the launch must be as above; remove the kernel from Triton's cache "
                    "first)\n");
    buf_puts(b, "\n");
    buf_free_checked(&line, b);
}

static enum status export_one(struct target *t, const struct tuned_kernel *k, struct buf *readme,
                              struct diags *ds)
{
    enum { NAME_MOST = 180 }; /* mangled names can be longer than a file's */
    struct buf path = { 0 };
    char hash[32] = "";
    size_t n = strlen(k->kernel);
    if (n > NAME_MOST)
        snprintf(hash, sizeof hash, "-%016llx", (unsigned long long)base_hash(k->kernel, n));
    buf_printf(&path, "%s/%.*s%s.ptx", t->dir, NAME_MOST, k->kernel, hash);
    enum status st = path.oom ? ST_NOMEM : put_file(t, path.s, k->text, k->n, ds);
    if (st == ST_OK)
        st = compile(t, path.s, k, ds);
    size_t before = t->said->n;
    if (st == ST_OK)
        st = for_triton(t, k, ds);
    if (st == ST_OK)
        describe(k, path.s + strlen(t->dir) + 1, t->said->n > before, readme);
    buf_free(&path);
    return st;
}

#define README "README.txt"
enum status tuned_export(const struct tuned_kernels *kernels, const char *dir, bool force,
                         struct buf *said, struct diags *ds)
{
    struct target t = { .dir = dir, .said = said };
    struct buf readme = { 0 }, path = { 0 };
    enum status st = own_files_open(&t.own, dir, force, ds);
    if (st == ST_OK)
        st = own_files_may(&t.own, README, ds);
    if (st == ST_OK)
        st = make_folder(dir, ds);
    buf_puts(&readme,
             "Tuned kernels. Load the .cubin, or the .ptx, with cuModuleLoad and launch the kernel as "
             "said here.\nParameters are the original's. Variables of the module (__device__, "
             "__constant__) are the new\nmodule's own: set them there, too.\n\n");
    for (size_t i = 0; i < kernels->n && st == ST_OK; i++)
        st = export_one(&t, &kernels->v[i], &readme, ds);
    buf_printf(&path, "%s/" README, dir);
    if (st == ST_OK)
        st = path.oom || readme.oom ? ST_NOMEM : put_file(&t, path.s, readme.s, readme.n, ds);
    buf_free(&readme);
    buf_free(&path);
    own_files_close(&t.own);
    return st;
}
