/* For the device tests: a launch of conf_bump over buf[i] = i, `buf[i] += 5`, with another launch before
 * it on demand. */
#ifndef GPULOCW_TESTS_DEV_SCENE_H
#define GPULOCW_TESTS_DEV_SCENE_H

#include "engine/rec/data.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"

#include "tests/conformance/conf.h"
#include "tests/fake/fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct dev;
struct dev_code;
struct dev_run;
struct diags;
struct scene;
struct str;

struct scene {
    struct launch_spec l, before;
    struct arg_spec args[2], before_args[2];
    struct launch_data data;
    char *ptx;
    size_t nptx;
    struct diags ds;
};

static inline struct arg_spec scene_u32(const char *name, uint32_t v)
{
    struct arg_spec a = { .kind = ARG_SCALAR, .name = (char *)(uintptr_t)name, .elem = ELEM_U32 };
    memcpy(a.scalar, &v, sizeof v);
    return a;
}

/* n elements, one thread each, `block` threads a CTA; before: a kernel run first with add = 2, or NULL.
 */
static inline void scene_open(struct scene *s, uint32_t n, uint32_t block, const char *before)
{
    static char buf[] = "buf", kernel[] = "conf_bump";
    memset(s, 0, sizeof *s);
    s->l = (struct launch_spec){ .kernel = kernel,
                                 .grid = { n / block, 1, 1 },
                                 .block = { block, 1, 1 },
                                 .args = s->args,
                                 .nargs = 2 };
    s->args[0] = (struct arg_spec){ .kind = ARG_BUFFER,
                                    .name = buf,
                                    .elem = ELEM_U32,
                                    .count = n,
                                    .output = true,
                                    .init = { .kind = INIT_IOTA, .b = 1, .ib = 1, .integral = true } };
    s->args[1] = scene_u32("add", 5);
    if (before) {
        s->before = (struct launch_spec){ .kernel = (char *)(uintptr_t)before,
                                          .grid = s->l.grid,
                                          .block = s->l.block,
                                          .args = s->before_args,
                                          .nargs = 2 };
        s->before_args[0] = (struct arg_spec){ .kind = ARG_SAME_AS, .name = buf, .same_as = buf };
        s->before_args[1] = scene_u32("add", 2);
        s->l.before = &s->before;
        s->l.nbefore = 1;
    }
    assert_int_equal(launch_data_make(&s->l, 1 << 24, &s->data, &s->ds), ST_OK);
    assert_int_equal(file_read(CONF_PTX, 1 << 20, &s->ptx, &s->nptx, &s->ds), ST_OK);
}

static inline void scene_close(struct scene *s)
{
    launch_data_free(&s->data);
    base_free(s->ptx);
    diags_free(&s->ds);
}

static inline struct dev_run scene_run(const struct scene *s)
{
    struct dev_run r = dev_run_default();
    r.launch = &s->l;
    r.grid = s->l.grid;
    r.block = s->l.block;
    return r;
}

static inline enum status scene_load(struct scene *s, struct dev *d, struct dev_code **c)
{
    return dev_load(d, "conf.ptx", (struct str){ s->ptx, s->nptx }, STR("conf_bump"), 0, c, &s->ds);
}

/* The hash of n elements of buf when `add` was added. */
static inline uint64_t scene_hash(size_t n, uint32_t add)
{
    uint32_t *want = calloc(n, sizeof *want);
    assert_non_null(want);
    for (size_t i = 0; i < n; i++)
        want[i] = (uint32_t)i + add;
    uint64_t h = base_hash(want, n * sizeof *want);
    free(want);
    return h;
}

/* A scene on a device of this process: a fake driver with its script, or a simulated one. */
struct scene_rig {
    struct dev *dev;
    struct dev_code *code;
    struct dev_data *bound;
    struct scene s;
    struct result r;
};

static inline void scene_rig_open(struct scene_rig *g, const char *spec, const char *driver,
                                  const char *script, uint32_t n)
{
    struct dev_env env = fake_env();
    memset(g, 0, sizeof *g);
    env.in_process = true;
    fake_use(driver, script, NULL);
    scene_open(&g->s, n, 128, NULL);
    assert_int_equal(dev_open(spec, &env, &g->dev, &g->s.ds), ST_OK);
    assert_int_equal(scene_load(&g->s, g->dev, &g->code), ST_OK);
    assert_int_equal(dev_bind(g->dev, &g->s.data, &g->bound, &g->s.ds), ST_OK);
}

static inline void scene_rig_close(struct scene_rig *g)
{
    dev_unbind(g->dev, g->bound);
    dev_unload(g->dev, g->code);
    dev_close(g->dev);
    scene_close(&g->s);
}

#endif
