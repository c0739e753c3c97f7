/* CUDA source through nvcc or clang. */
#include "engine/base/name.h"
#include "engine/base/private_folder.h"
#include "engine/base/tool.h"
#include "engine/workspace/source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_WORDS 64
#define MOST_PTX   (1u << 30)
#define MOST_SAID  3000 /* bytes of a compiler's words that are told */

bool source_is_cuda(const char *path)
{
    return base_stem(path, ".cu");
}

/* The words of a command line; those of flags point into `flags`, which is cut up. */
struct line {
    char *word[MOST_WORDS + 1];
    size_t n;
};
static void add(struct line *l, char *word)
{
    if (l->n < MOST_WORDS)
        l->word[l->n++] = word;
}

static void add_flags(struct line *l, char *flags)
{
    for (char *rest = flags, *w; rest && (w = strsep(&rest, " "));)
        if (*w)
            add(l, w);
}

static enum status say_none(const char *path, uint32_t cc, struct diags *ds)
{
    struct diag *d = diag_add(ds, DIAG_ERROR, "compiler", path, NO_SPAN,
                              "CUDA source, but neither nvcc nor clang with a CUDA toolkit was found");
    diag_hint(d,
              "on a machine with nvcc, run nvcc -ptx -lineinfo -arch=sm_%u %s, then open the PTX file",
              cc ? cc : 90, path);
    return ST_INPUT;
}

static enum status say_failed(const char *path, int said, struct diags *ds)
{
    char text[MOST_SAID + 1];
    ssize_t n = pread(said, text, MOST_SAID, 0);
    text[n > 0 ? n : 0] = 0;
    diag_add(ds, DIAG_ERROR, "compiler", path, NO_SPAN, "the compiler reported errors:\n%s", text);
    return ST_INPUT;
}

/* nvcc's line, or clang's. */
static void make_line(struct line *l, char *compiler, bool nvcc, char *arch, char *flags, char *out,
                      const char *path)
{
    static char ptx[] = "-ptx", info[] = "-lineinfo", o[] = "-o", device[] = "--cuda-device-only",
                assembly[] = "-S", fast[] = "-O3", end[] = "--";
    add(l, compiler);
    if (nvcc) {
        add(l, ptx);
        add(l, info);
    } else {
        add(l, device);
        add(l, assembly);
        add(l, fast);
    }
    add(l, arch);
    add_flags(l, flags);
    add(l, o);
    add(l, out);
    if (!nvcc)
        add(l, end);
    add(l, (char *)(uintptr_t)path);
    l->word[l->n] = NULL;
}

static enum status compile(const char *path, const struct source_want *w, char *compiler, bool nvcc,
                           char *out, struct diags *ds)
{
    struct line l = { .n = 0 };
    char arch[64];
    const char *digits = w->arch ? strpbrk(w->arch, "0123456789") : NULL;
    char *flags = base_strdup(w->nvcc_flags ? w->nvcc_flags : "");
    int said = memfd_create("compiler", MFD_CLOEXEC);
    if (digits)
        snprintf(arch, sizeof arch, "%ssm_%.16s", nvcc ? "-arch=" : "--cuda-gpu-arch=", digits);
    else
        snprintf(arch, sizeof arch, "%ssm_%u",
                 nvcc ? "-arch=" : "--cuda-gpu-arch=", w->cc >= 75 || !nvcc ? w->cc ? w->cc : 90 : 75);
    enum status st = flags && said >= 0 ? ST_OK : ST_NOMEM;
    if (st == ST_OK) {
        make_line(&l, compiler, nvcc, arch, flags, out, path);
        st = program_run(l.word, said) == 0 ? ST_OK : say_failed(path, said, ds);
    }
    if (said >= 0)
        close(said);
    base_free(flags);
    return st;
}

enum status source_compile(const char *path, const struct source_want *w, char **text, size_t *n,
                           struct diags *ds)
{
    struct buf out = { 0 };
    char *folder = NULL;
    char *nvcc = program_find("nvcc"), *compiler = nvcc ? nvcc : program_on_path("clang");
    if (access(path, R_OK) != 0) {
        base_free(compiler);
        diag_add(ds, DIAG_ERROR, "io", path, NO_SPAN, "cannot open: %s", strerror(errno));
        return ST_IO;
    }
    if (!compiler)
        return say_none(path, w->cc, ds);
    enum status st = private_folder_make(&folder, ds);
    buf_printf(&out, "%s/out.ptx", folder ? folder : "");
    if (st == ST_OK)
        st = out.oom ? ST_NOMEM : compile(path, w, compiler, nvcc != NULL, out.s, ds);
    if (st == ST_OK)
        st = file_read_regular(out.s, MOST_PTX, text, n, ds);
    private_folder_remove(folder);
    buf_free(&out);
    base_free(compiler);
    return st;
}
