#include "tests/ref_kernels/ref.h"

#include <string.h>

static const struct {
    const char *kernel;
    void (*run)(struct ref_call *c);
} table[] = {
#define X(name) { #name, ref_##name },
    REF_KERNELS(X)
#undef X
};

static size_t find_kernel(const char *kernel)
{
    size_t i = 0;
    while (i < ARRAY_LEN(table) && strcmp(table[i].kernel, kernel))
        i++;
    return i;
}

bool ref_known(const char *kernel)
{
    return find_kernel(kernel) < ARRAY_LEN(table);
}

static const struct arg_spec *find_arg(const struct launch_spec *l, const char *name, size_t *at)
{
    for (*at = 0; l && *at < l->nargs; ++*at)
        if (l->args[*at].name && !strcmp(l->args[*at].name, name))
            return &l->args[*at];
    return NULL;
}

void *ref_buffer(struct ref_call *c, const char *name)
{
    size_t i;
    const struct arg_spec *a = find_arg(c->l, name, &i);
    if (a && a->kind == ARG_BUFFER)
        return (uint8_t *)(uintptr_t)launch_buffer_bytes(&c->own[i]);
    if (a && a->kind == ARG_SAME_AS && find_arg(c->outer, a->same_as, &i) && c->outer_own[i].n)
        return (uint8_t *)(uintptr_t)launch_buffer_bytes(&c->outer_own[i]) + a->offset;
    c->missing = true;
    return NULL;
}

static uint32_t scalar(struct ref_call *c, const char *name)
{
    uint32_t v = 0;
    size_t i;
    const struct arg_spec *a = find_arg(c->l, name, &i);
    if (a && a->kind == ARG_SCALAR)
        memcpy(&v, a->scalar, sizeof v);
    else
        c->missing = true;
    return v;
}

int32_t ref_int(struct ref_call *c, const char *name)
{
    return (int32_t)scalar(c, name);
}

float ref_float(struct ref_call *c, const char *name)
{
    uint32_t bits = scalar(c, name);
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static bool has_buffers(struct ref_call *c)
{
    for (size_t i = 0; i < c->l->nargs; i++)
        if (c->l->args[i].kind != ARG_SCALAR && !ref_buffer(c, c->l->args[i].name))
            return false;
    return true;
}

static bool run_one(struct ref_call c)
{
    size_t k = find_kernel(c.l->kernel);
    if (k == ARRAY_LEN(table) || !has_buffers(&c))
        return false;
    table[k].run(&c);
    return !c.missing;
}

bool ref_run(const struct launch_spec *l, struct launch_data *data)
{
    for (size_t i = 0; i < l->nbefore; i++)
        if (!run_one((struct ref_call){
                .l = &l->before[i], .own = data->before[i], .outer = l, .outer_own = data->buffers }))
            return false;
    return run_one((struct ref_call){ .l = l, .own = data->buffers });
}
