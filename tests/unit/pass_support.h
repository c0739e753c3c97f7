/* For the pass tests: a module, a small launch and a device to rewrite it for. */
#ifndef GPULOCW_TESTS_PASS_SUPPORT_H
#define GPULOCW_TESTS_PASS_SUPPORT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/pass/pass.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/device.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/options.h"
#include "tests/support.h"

struct diags;
struct dim3u;
struct workspace;

struct workspace {
    struct ptx_module *m;
    struct launch_spec launch;
    struct arg_spec args[4];
    struct dev_info dev;
    struct diags ds;
    struct pass_output out;
};

/* Arguments: two f32 buffers of their own, then two integers. */
static inline void workspace_open(struct workspace *s, const char *path, struct dim3u grid,
                                  struct dim3u block, int cc)
{
    static char names[4][4] = { "a", "out", "n", "m" };
    memset(s, 0, sizeof *s);
    assert_status_ok(ptx_parse_file(path, &s->m, &s->ds), &s->ds);
    for (int k = 0; k < 4; k++) {
        s->args[k] = (struct arg_spec){ .name = names[k],
                                        .kind = k < 2 ? ARG_BUFFER : ARG_SCALAR,
                                        .elem = k < 2 ? ELEM_F32 : ELEM_S32 };
        s->args[k].count = 4096;
        s->args[k].output = k == 1;
    }
    s->launch = (struct launch_spec){ .grid = grid, .block = block, .args = s->args };
    for (uint32_t k = 0; k < s->m->nfuncs; k++)
        if (s->m->funcs[k]->entry)
            s->launch.nargs = s->m->funcs[k]->nparams;
    s->dev = (struct dev_info){ .kind = DEV_SIMULATED,
                                .cc_major = cc / 10,
                                .cc_minor = cc % 10,
                                .sms = 4,
                                .warp_size = 32,
                                .max_warps_per_sm = 64,
                                .max_ctas_per_sm = 16,
                                .max_threads_per_block = 1024,
                                .regs_per_sm = 65536,
                                .shared_per_sm = 100 << 10,
                                .shared_per_block_optin = 99 << 10,
                                .sm = { .reg_unit = 256, .warp_unit = 4, .shared_unit = 128 } };
    memcpy(s->dev.name, "a test device", 14);
}

/* Rewrites with options written as on the command line. */
static inline enum status subject_rewrite(struct workspace *s, const char *line)
{
    struct options o = options_default();
    pass_output_free(&s->out);
    diags_free(&s->ds);
    memset(&s->ds, 0, sizeof s->ds);
    assert_status_ok(options_parse_line(&o, str_of(line), &s->ds), &s->ds);
    struct pass_input in = { .module = s->m,
                             .options = &o,
                             .dev = s->dev.cc_major ? &s->dev : NULL,
                             .launch = s->launch.grid.x ? &s->launch : NULL };
    return pass_apply(&in, &s->out, &s->ds);
}

static inline void workspace_close(struct workspace *s)
{
    pass_output_free(&s->out);
    diags_free(&s->ds);
    ptx_free(s->m);
}

#endif
