/* For the tune tests: a demo launch opened on a simulated device, ready for a bench. */
#ifndef GPULOCW_TESTS_TUNE_SUPPORT_H
#define GPULOCW_TESTS_TUNE_SUPPORT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/analysis/analysis.h"
#include "engine/analysis/curve.h"
#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/predict/prediction.h"
#include "engine/predict/request_trace.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/data.h"
#include "engine/rec/device.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"
#include "engine/search/advice.h"
#include "engine/search/live.h"
#include "engine/search/space.h"
#include "engine/search/found.h"
#include "engine/search/tuner.h"
#include "engine/session/launch_file.h"
#include "engine/session/preset.h"
#include "engine/tune/sweep.h"
#include "engine/tune/tune.h"
#ifndef assert_status_ok /* a bench brings its own, without cmocka */
#include "tests/support.h"

struct dev;
struct options;
struct result;
struct rig;
struct seen;
struct tune_bench;
#endif

struct rig {
    struct ptx_module *module;
    struct launch_file launches;
    const struct launch_spec *launch;
    struct launch_data data;
    struct dev *dev;
    struct ana_kernel *facts;
    struct tune_subject subject;
    struct tune_bench *bench;
    struct diags ds;
};
/* What an observer saw. */
struct seen {
    struct result result[256];
    char why[256][96];
    size_t n;
    struct cancel cancel;
    size_t cancel_after; /* asks for the end at the n-th result; 0: never */
};

static inline const char *rig_preset_at(void *ctx, size_t i)
{
    (void)ctx;
    return i < preset_count() ? preset_name(i) : NULL;
}

static inline struct dev_env rig_env(void)
{
    return (struct dev_env){ .preset = preset_read, .preset_at = rig_preset_at, .threads = 1 };
}

static inline const struct launch_spec *rig_find(const struct launch_file *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++) /* NULL: the first */
        if (!name || strcmp(f->launch[i].name, name) == 0)
            return &f->launch[i];
    fail_msg("no launch '%s'", name ? name : "(first)");
    return NULL;
}

static inline void rig_facts(struct rig *r)
{
    struct ana_opts o = { .data = &r->data, .dev = dev_describe(r->dev), .quick = true };
    assert_status_ok(ana_run(r->module, str_of(r->launch->kernel), &o, &r->facts, &r->ds), &r->ds);
}

/* All but the bench. kernel: a demo kernel's name, or a path without its ending. */
static inline void rig_prepare(struct rig *r, const char *kernel, const char *launch, const char *device)
{
    char path[256];
    const char *dir = strchr(kernel, '/') ? "" : "kernels/";
    struct dev_env env = rig_env();
    memset(r, 0, sizeof *r);
    snprintf(path, sizeof path, "%s%s.launch.json", dir, kernel);
    assert_status_ok(launch_file_read(path, &r->launches, &r->ds), &r->ds);
    r->launch = rig_find(&r->launches, launch);
    if (r->launch->ptx && r->launch->dir)
        snprintf(path, sizeof path, "%s/%s", r->launch->dir, r->launch->ptx);
    else
        snprintf(path, sizeof path, "%s%s.ptx", dir, kernel);
    assert_status_ok(ptx_parse_file(path, &r->module, &r->ds), &r->ds);
    assert_status_ok(dev_open(device, &env, &r->dev, &r->ds), &r->ds);
    assert_status_ok(launch_data_make(r->launch, (uint64_t)1 << 30, &r->data, &r->ds), &r->ds);
    rig_facts(r);
    r->subject = (struct tune_subject){ r->module, r->launch, &r->data, r->dev, r->facts };
}

static inline void rig_open(struct rig *r, const char *kernel, const char *launch, const char *device)
{
    rig_prepare(r, kernel, launch, device);
    struct tune_run_opts o = tune_run_opts_default(dev_describe(r->dev));
    /* a GPU's take a profiler */
    o.counters = o.counters && dev_describe(r->dev)->kind == DEV_SIMULATED;
    assert_status_ok(tune_bench_open(&r->subject, &o, &r->bench, &r->ds), &r->ds);
}

static inline void rig_close(struct rig *r)
{
    tune_bench_close(r->bench);
    ana_free(r->facts);
    launch_data_free(&r->data);
    dev_close(r->dev);
    launch_file_free(&r->launches);
    ptx_free(r->module);
    diags_free(&r->ds);
}

static inline void seen_point(void *ctx, const struct result *r, const char *why)
{
    struct seen *s = ctx;
    if (s->n < ARRAY_LEN(s->result)) {
        s->result[s->n] = *r;
        snprintf(s->why[s->n++], sizeof *s->why, "%s", why ? why : "");
    }
    if (s->cancel_after && s->n >= s->cancel_after)
        atomic_store(&s->cancel.asked, true);
}

static inline struct tune_observer seen_observer(struct seen *s)
{
    return (struct tune_observer){ seen_point, NULL, s, &s->cancel, NULL };
}

static inline struct options options_of(const char *line)
{
    struct options o = options_default();
    struct diags ds = { 0 };
    assert_status_ok(options_parse_line(&o, str_of(line), &ds), &ds);
    diags_free(&ds);
    return o;
}

#endif
