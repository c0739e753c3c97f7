/* Conformance and a few figures of one real device, without any library beyond
 * libc: `gpu_check [DEVICE]`, default cuda:0, from the repository's root. The device
 * lives in a worker, which is this program again (`gpu_check worker`).
 * Exit: 0 passed, 1 failed, 77 there is no GPU (and no other device was named). */
#include "engine/rec/counter_ids.h"
#include "engine/rec/data.h"
#include "engine/rec/device.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"

#include "tests/conformance/conf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT  (1u << 22)
#define NO_GPU 77 /* what test runners take for "skipped" */

static enum status no_preset(void *ctx, const char *name, struct sim_preset *out, struct diags *ds)
{
    (void)ctx;
    (void)name;
    (void)ds;
    *out = sim_preset_default();
    return ST_OK;
}

static double since(int64_t from)
{
    return (double)(base_now_ns() - from) / 1e6;
}

static void say(const struct diags *ds)
{
    struct buf b = { 0 };
    diags_print(ds, &b);
    if (b.s)
        fputs(b.s, stderr);
    buf_free(&b);
}

static void print_device(void *ctx, const struct dev_info *i)
{
    *(int *)ctx += i->kind == DEV_CUDA;
    printf("%-20s %-24s sm_%d%d %u SMs, L1 %llu KB, L2 %llu KB, %llu MB, %u KB shared a block\n",
           i->spec, i->name, i->cc_major, i->cc_minor, i->sms, (unsigned long long)i->l1_bytes >> 10,
           (unsigned long long)i->l2_bytes >> 10, (unsigned long long)i->mem_bytes >> 20,
           i->shared_per_block_optin >> 10);
}

static int run_cases(struct conf_env *e, const char *what)
{
    int failed = 0;
    for (size_t i = 0; i < conf_count(); i++) {
        static const char *const WORD[] = { "pass", "FAIL", "skip" };
        int64_t from = base_now_ns();
        e->why[0] = '\0';
        enum conf_verdict v = conf_case(i)->run(e);
        printf("%-10s %-28s %s %8.1f ms  %s\n", what, conf_case(i)->name, WORD[v], since(from),
               v == CONF_PASS ? "" : e->why);
        fflush(stdout);
        failed += v == CONF_FAIL;
    }
    return failed;
}

/* ---- figures: a streaming kernel over 16 MiB, as a sweep would run it ---- */
struct stream {
    struct launch_spec l;
    struct arg_spec args[3];
    struct launch_data data;
    struct dev_code *code;
    struct dev_data *bound;
};

static enum status stream_open(struct stream *s, struct dev *d, struct str ptx, struct diags *ds)
{
    static char names[4][8] = { "in", "out", "n", "conf_" };
    static char kernel[] = "conf_f32";
    uint32_t n = COUNT;
    memset(s, 0, sizeof *s);
    s->l = (struct launch_spec){ .kernel = kernel,
                                 .grid = { COUNT / 256, 1, 1 },
                                 .block = { 256, 1, 1 },
                                 .args = s->args,
                                 .nargs = 3 };
    for (int i = 0; i < 2; i++)
        s->args[i] = (struct arg_spec){
            .kind = ARG_BUFFER, .name = names[i], .elem = ELEM_F32, .count = COUNT, .output = i == 1
        };
    s->args[2] = (struct arg_spec){ .kind = ARG_SCALAR, .name = names[2], .elem = ELEM_U32 };
    memcpy(s->args[2].scalar, &n, sizeof n);
    enum status st = launch_data_make(&s->l, 1u << 30, &s->data, ds);
    if (st == ST_OK)
        st = dev_load(d, CONF_PTX, ptx, str_of(kernel), 0, &s->code, ds);
    return st == ST_OK ? dev_bind(d, &s->data, &s->bound, ds) : st;
}

static enum status points(struct stream *s, struct dev *d, int n, bool counters, struct result *r,
                          struct diags *ds)
{
    struct dev_run run = dev_run_default();
    run.launch = &s->l;
    run.grid = s->l.grid;
    run.block = s->l.block;
    run.repeat = run.max_repeat = 5;
    run.counters = counters;
    enum status st = ST_OK;
    for (int i = 0; st == ST_OK && i < n; i++)
        st = dev_launch(d, s->code, s->bound, &run, r, ds);
    return st;
}

static void print_figures(const struct result *r)
{
    printf("%-44s median %.1f min %.1f max %.1f us, %u samples%s\n", "time of the kernel",
           (double)r->time.median / 1e3, (double)r->time.min / 1e3, (double)r->time.max / 1e3, r->time.n,
           r->time.throttled ? ", throttled" : "");
    for (int i = 0; i < COUNTER_COUNT; i++) {
        if (r->counters[i].valid)
            printf("  %-42s %.6g %s\n", counter_name((enum counter_id)i), r->counters[i].value,
                   counter_unit((enum counter_id)i));
        else
            printf("  %-42s n/a\n", counter_name((enum counter_id)i));
    }
    if (r->message[0])
        printf("  note: %s\n", r->message);
}

static enum status figures(struct dev *d, struct str ptx, struct diags *ds)
{
    struct stream s;
    struct result r = result_empty();
    int64_t from = base_now_ns();
    enum status st = stream_open(&s, d, ptx, ds);
    printf("%-44s %.1f ms\n", "load and bind, 32 MiB", since(from));
    if (st == ST_OK)
        st = points(&s, d, 1, false, &r, ds);
    from = base_now_ns();
    if (st == ST_OK)
        st = points(&s, d, 17, false, &r, ds);
    printf("%-44s %.1f ms (kernels alone: %.1f ms)\n", "17 points of 5 repetitions", since(from),
           17 * 6 * (double)r.time.median / 1e6);
    from = base_now_ns();
    if (st == ST_OK)
        st = points(&s, d, 1, true, &r, ds);
    printf("%-44s %.1f ms\n", "first point with counters", since(from));
    from = base_now_ns();
    if (st == ST_OK)
        st = points(&s, d, 17, true, &r, ds);
    printf("%-44s %.1f ms\n", "17 points with counters", since(from));
    if (st == ST_OK)
        print_figures(&r);
    if (s.bound)
        dev_unbind(d, s.bound);
    if (s.code)
        dev_unload(d, s.code);
    launch_data_free(&s.data);
    return st;
}

static int check(const char *spec, const struct dev_env *env, const char *what, bool survives,
                 bool figure, struct str ptx)
{
    struct dev *d;
    struct diags ds = { 0 };
    int64_t from = base_now_ns();
    int failed = 0;
    enum status st = dev_open(spec, env, &d, &ds);
    printf("%-44s %.1f ms\n", what, since(from));
    if (st == ST_OK) {
        struct conf_env e = { .dev = d, .ptx = ptx, .survives = survives };
        failed = run_cases(&e, what);
        if (figure)
            st = figures(d, ptx, &ds);
        dev_close(d);
    }
    if (st != ST_OK || failed)
        say(&ds);
    diags_free(&ds);
    return failed + (st != ST_OK);
}

int main(int argc, char **argv)
{
    static char self[1024];
    struct diags ds = { 0 };
    struct dev_env env = { .preset = no_preset, .self = self };
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return 1;
    if (argc > 1 && !strcmp(argv[1], "worker"))
        return dev_worker_serve(&env, 0, 1) == ST_OK ? 0 : 4;
    const char *spec = argc > 1 ? argv[1] : "cuda:0";
    char *text;
    size_t n;
    if (file_read(CONF_PTX, 1 << 20, &text, &n, &ds) != ST_OK) {
        say(&ds);
        return 1;
    }
    struct dev_env here = env;
    here.in_process = true;
    int64_t from = base_now_ns();
    int gpus = 0;
    enum status st = dev_list(&env, print_device, &gpus, &ds);
    printf("%-44s %.1f ms\n", "list of devices", since(from));
    say(&ds);
    if (st == ST_OK && !gpus && !strncmp(spec, "cuda:", 5)) {
        puts("skip: there is no GPU here");
        return NO_GPU;
    }
    int failed = st != ST_OK;
    failed += check(spec, &env, "worker", true, true, (struct str){ text, n });
    failed += check(spec, &here, "in process", false, false, (struct str){ text, n });
    printf("%s: %d failed\n", spec, failed);
    diags_free(&ds);
    base_free(text);
    return failed ? 1 : 0;
}
