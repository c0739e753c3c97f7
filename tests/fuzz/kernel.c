/* Kernel and launch from a fuzz input. */
#include "engine/rec/knobs.h"
#include "engine/rec/options.h"

#include "tests/fuzz/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fuzz_must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}

static uint32_t cut(unsigned v, uint32_t most)
{
    return v % most + (v % most == 0);
}

static void read_line(struct fuzz_kernel *k, struct str line)
{
    char text[512];
    unsigned v[8] = { 2, 1, 1, 64, 1, 1, 0, 0 };
    int used = 0;
    size_t n = line.n < sizeof text - 1 ? line.n : sizeof text - 1;
    memcpy(text, line.s, n);
    text[n] = '\0';
    int got = sscanf(text, "//! %u %u %u %u %u %u %u %u%n", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5],
                     &v[6], &v[7], &used);
    k->launch.grid = (struct dim3u){ cut(v[0], 5), cut(v[1], 3), cut(v[2], 3) };
    k->launch.block = (struct dim3u){ cut(v[3], 97), cut(v[4], 5), cut(v[5], 3) };
    k->launch.shared = v[6] % 8193;
    k->seed = v[7];
    k->options = options_default();
    struct diags ds = { 0 };
    k->has_options = got == 8 && options_parse_line(&k->options, str_of(text + used), &ds) == ST_OK;
    if (!k->has_options)
        k->options = options_default();
    diags_free(&ds);
}

static void one_arg(struct fuzz_kernel *k, uint32_t i, const struct ptx_symbol *p)
{
    struct arg_spec *a = &k->args[i];
    snprintf(k->names[i], sizeof k->names[i], "a%u", i);
    a->name = k->names[i];
    if (!p->array && p->bytes == 8) {
        *a = (struct arg_spec){
            .kind = ARG_BUFFER,
            .name = k->names[i],
            .elem = ELEM_U32,
            .count = FUZZ_ELEMENTS,
            .output = true,
            .init = { .kind = INIT_IOTA, .a = i, .b = 1, .ia = i, .ib = 1, .integral = true }
        };
    } else if (!p->array && p->bytes == 4) {
        uint32_t bits = p->type == PTX_T_F32 ? 0x3fc00000u : 100 + i;
        a->kind = ARG_SCALAR;
        a->elem = ELEM_U32;
        memcpy(a->scalar, &bits, sizeof bits);
    } else {
        a->kind = ARG_BYTES;
        a->bytes = k->zeros;
        a->nbytes = (size_t)p->bytes;
    }
}

static const struct ptx_func *first_kernel(const struct ptx_module *m)
{
    for (uint32_t i = 0; i < m->nfuncs; i++)
        if (m->funcs[i]->entry && m->funcs[i]->has_body && m->funcs[i]->nparams <= FUZZ_ARGS &&
            m->funcs[i]->param_bytes <= 4096)
            return m->funcs[i];
    return NULL;
}

void fuzz_kernel_open(struct fuzz_kernel *k, const uint8_t *data, size_t size)
{
    struct diags ds = { 0 };
    struct str text = { (const char *)data, size }, rest = text, line = { "", 0 };
    memset(k, 0, sizeof *k);
    str_line(&rest, &line);
    read_line(k, line);
    if (ptx_parse("fuzz", text, &k->m, &ds) == ST_OK)
        k->f = first_kernel(k->m);
    diags_free(&ds);
    if (!k->f)
        return;
    k->zeros = calloc(1, k->f->param_bytes + 1);
    fuzz_must(k->zeros != NULL, "memory");
    k->launch.args = k->args;
    k->launch.nargs = k->f->nparams;
    for (uint32_t i = 0; i < k->f->nparams; i++)
        one_arg(k, i, k->f->params[i]);
}

void fuzz_kernel_close(struct fuzz_kernel *k)
{
    ptx_free(k->m);
    free(k->zeros);
}
