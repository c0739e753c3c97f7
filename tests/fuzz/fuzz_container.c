/* libFuzzer target: executables, fatbins, cubins and archives of anyone. Whatever the bytes, reading
 * them ends with modules or with a diagnostic; what is there is whole, and listing and choosing it goes
 * well. */
#include "engine/container/container.h"
#include "engine/workspace/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
    if (!good)
        abort();
}

static void look(const struct container *c)
{
    struct buf out = { 0 };
    for (size_t i = 0; i < c->n; i++) {
        const struct container_module *m = &c->v[i];
        must(m->where && (m->text || m->why));
        must(!m->text || (strlen(m->text) <= m->n && m->text[m->n] == 0));
        for (size_t k = 0; k < m->nkernels; k++)
            must(m->kernel[k]);
    }
    source_list_json(c, &out);
    must(out.n && !out.oom);
    buf_free(&out);
}

static void pick(const struct container *c, const char *arch, uint32_t cc)
{
    struct container_want w = { arch, cc };
    struct diags ds = { 0 };
    size_t *v = NULL, n = 0;
    enum status st = container_choose(c, &w, &v, &n, &ds);
    must((st == ST_OK) == (n > 0) && (n > 0 || ds.errors));
    for (size_t i = 0; i < n; i++)
        must(v[i] < c->n && c->v[v[i]].text);
    base_free(v);
    diags_free(&ds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct container c;
    struct diags ds = { 0 };
    char path[64];
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    container_is(path);
    enum status st = container_read(path, &c, &ds);
    must(st == ST_OK || ds.errors);
    look(&c);
    if (c.n) {
        pick(&c, NULL, 90);
        pick(&c, NULL, 0);
        pick(&c, "sm_90a", 0);
    }
    container_free(&c);
    diags_free(&ds);
    close(fd);
    return 0;
}
