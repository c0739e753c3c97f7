/* Counters of one launch through CUPTI's Range Profiler.
 *
 *   open:     find the library -> chip -> which metrics it has -> config image
 *   collect:  enable -> counter data -> per pass { prepare, start, launch, stop } -> decode -> evaluate
 *
 * Enabling costs a good tenth of a second, most of it in the first start that follows (measured on an
 * H200: 150 ms against 20), so the profiler stays enabled until cupti_rest, which each timing calls: an
 * enabled profiler adds microseconds to every launch. Between passes the caller restores the buffers
 * (user replay), so that a kernel which updates in place is measured on the same data each time. Where
 * the library does not take user replay, it replays the kernel itself. */
#include "engine/dev/cuda/cupti.h"

#include "engine/dev/cuda/cupti_api.h"
#include "engine/dev/dev.h"
#include "engine/rec/counter_ids.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Preferred first; the first row of a counter whose metrics the chip has is used.
 * Value: scale * metric / over (over NULL: 1), or of the two together: scale * metric / (metric + over).
 *
 * A pass counts one kind of L2 lookup (measured on an H200: any two of hits, misses and reads need two
 * passes), and L2's reads are L1's misses, which differ from launch to launch: hits of one over reads of
 * another came out at 100.8 % for a kernel whose reads vary by 5 %. Hits over hits and misses cannot
 * pass 100; misses that vary by r put it wrong by r * rate * (1 - rate), a quarter of r at worst.
 * Collecting such a pair alone in one pass is no way out: the profiler takes one configuration per
 * enabling, which costs more than all passes. */
static const struct metric_row {
    enum counter_id id;
    double scale;
    const char *metric, *over;
    bool of_both;
} ROWS[] = {
    { COUNTER_L1_REQUESTS, 1, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", NULL, false },
    { COUNTER_L1_SECTORS, 1, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", NULL, false },
    { COUNTER_L1_SECTORS_PER_REQUEST, 1, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
      "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", false },
    { COUNTER_L1_HIT_RATE, 100, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", false },
    { COUNTER_L1_HIT_RATE, 1, "l1tex__t_sector_hit_rate.pct", NULL, false },
    { COUNTER_L2_READ_SECTORS, 1, "lts__t_sectors_srcunit_tex_op_read.sum", NULL, false },
    { COUNTER_L2_READ_SECTORS, 1, "lts__t_sectors_op_read.sum", NULL, false },
    { COUNTER_L2_HIT_RATE, 100, "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum",
      "lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum", true },
    { COUNTER_L2_HIT_RATE, 1, "lts__t_sector_hit_rate.pct", NULL, false },
    { COUNTER_DRAM_READ_BYTES, 1, "dram__bytes_read.sum", NULL, false },
    { COUNTER_DRAM_READ_BYTES, 32, "dram__sectors_read.sum", NULL, false },
    { COUNTER_WARPS_ACTIVE, 1, "sm__warps_active.avg.pct_of_peak_sustained_active", NULL, false },
    { COUNTER_INST_WARP, 1, "smsp__inst_executed.sum", NULL, false },
    { COUNTER_INST_WARP, 1, "sm__inst_executed.sum", NULL, false },
    { COUNTER_INST_THREAD, 1, "smsp__thread_inst_executed.sum", NULL, false },
    { COUNTER_INST_THREAD, 1, "sm__thread_inst_executed.sum", NULL, false },
};
#define MAX_METRICS (2 * ARRAY_LEN(ROWS) + LIMIT_METRIC_COUNT)

struct api {
#define X(field, sym, type, last) int (*field)(struct type *);
    CUPTI_API(X)
#undef X
};
struct cupti {
    void *library, *ctx;
    struct api api;
    bool initialised;
    const char *chip;
    uint8_t *availability;
    void *host; /* holds the chosen metrics */
    const struct metric_row *chosen[COUNTERS_MOST];
    bool limit[LIMIT_METRIC_COUNT]; /* the chip has it */
    char lacks[96];                 /* the first metric that limits need and it lacks; empty: none */
    const char *names[MAX_METRICS];
    size_t nnames;
    uint8_t *config;
    size_t nconfig;
    unsigned passes;
    void *object; /* the range profiler; NULL: at rest */
    uint8_t *data;
    size_t ndata;
};
#define PARAM(type, last, ...) ((struct type){ .size = CUPTI_SIZE(type, last), __VA_ARGS__ })

static void explain(char *why, size_t n, const char *what, int e)
{
    if (e == CUPTI_NO_PRIVILEGE || e == CUPTI_VIRTUAL_NO_PRIVILEGE)
        snprintf(why, n,
                 "no permission to read them; run as root, or load the driver with "
                 "'options nvidia NVreg_RestrictProfilingToAdminUsers=0' in /etc/modprobe.d");
    else
        snprintf(why, n, "%s failed (CUPTI error %d)", what, e);
}

/* ---- finding the library ---- */
static void *open_in(const char *dir)
{
    static const char *const NAMES[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so" };
    char path[512];
    for (size_t i = 0; i < ARRAY_LEN(NAMES); i++) {
        if ((size_t)snprintf(path, sizeof path, "%s%s%s", dir, *dir ? "/" : "", NAMES[i]) >= sizeof path)
            continue;
        /* libcupti wants libnvperf_host by name; beside it, off the loader's path, it must be there
         * already. */
        char helper[544];
        snprintf(helper, sizeof helper, "%s/libnvperf_host.so", dir);
        if (*dir)
            dlopen(helper, RTLD_NOW | RTLD_GLOBAL);
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library)
            return library;
    }
    return NULL;
}

static void *open_glob(const char *pattern)
{
    glob_t g;
    void *library = NULL;
    if (glob(pattern, 0, NULL, &g) == 0)
        for (size_t i = g.gl_pathc; !library && i-- > 0;)
            library = open_in(g.gl_pathv[i]);
    globfree(&g);
    return library;
}

static void *open_toolkit(const char *root)
{
    static const char *const PLACES[] = { "lib64", "lib", "extras/CUPTI/lib64", "targets/*/lib" };
    void *library = NULL;
    char pattern[512];
    for (size_t i = 0; root && *root && !library && i < ARRAY_LEN(PLACES); i++)
        if ((size_t)snprintf(pattern, sizeof pattern, "%s/%s", root, PLACES[i]) < sizeof pattern)
            library = open_glob(pattern);
    return library;
}

static void *open_library(void)
{
    const char *path = getenv("CUPTI_PATH");
    void *library = NULL;
    if (path && *path) {
        library = open_in(path);
        if (!library)
            library = open_toolkit(path);
        if (!library)
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (!library)
        library = open_toolkit(getenv("CUDA_HOME"));
    if (!library)
        library = open_toolkit(getenv("CUDA_PATH"));
    if (!library)
        library = open_toolkit("/usr/local/cuda");
    if (!library)
        library = open_in("");
    return library ? library : open_toolkit("/usr/local/cuda-*");
}

static bool find_all(struct cupti *c, char *why, size_t n)
{
    static const char *const SYMBOLS[] = {
#define X(field, sym, type, last) #sym,
        CUPTI_API(X)
#undef X
    };
    void *fields[] = {
#define X(field, sym, type, last) &c->api.field,
        CUPTI_API(X)
#undef X
    };
    for (size_t i = 0; i < ARRAY_LEN(SYMBOLS); i++) {
        void *p = dlsym(c->library, SYMBOLS[i]);
        memcpy(fields[i], &p, sizeof p);
        if (p)
            continue;
        snprintf(why, n, "this CUPTI lacks %s: 12.6 or later is needed", SYMBOLS[i]);
        return false;
    }
    return true;
}

/* ---- what the chip can count ---- */
static bool host_new(struct cupti *c, void **host)
{
    struct cupti_host_open p = PARAM(cupti_host_open, host, .profiler = CUPTI_TYPE_RANGE_PROFILER,
                                     .chip = c->chip, .availability = c->availability);
    *host = NULL;
    if (c->api.host_open(&p) != CUPTI_OK)
        return false;
    *host = p.host;
    return true;
}

static void host_free(struct cupti *c, void *host)
{
    struct cupti_host_close p = PARAM(cupti_host_close, host, .host = host);
    if (host)
        c->api.host_close(&p);
}

/* A host object that once refused a metric refuses every later one: each question gets its own. */
static bool has_metrics(struct cupti *c, const char **names, size_t n)
{
    void *host;
    if (!host_new(c, &host))
        return false;
    struct cupti_add p = PARAM(cupti_add, n, .host = host, .names = names, .n = n);
    bool ok = c->api.add(&p) == CUPTI_OK;
    host_free(c, host);
    return ok;
}

static void add_name(struct cupti *c, const char *name)
{
    for (size_t i = 0; name && i < c->nnames; i++)
        if (!strcmp(c->names[i], name))
            return;
    if (name)
        c->names[c->nnames++] = name;
}

static void gather_names(struct cupti *c)
{
    c->nnames = 0;
    for (size_t i = 0; i < COUNTER_COUNT; i++)
        if (c->chosen[i]) {
            add_name(c, c->chosen[i]->metric);
            add_name(c, c->chosen[i]->over);
        }
    for (unsigned k = 0; k < LIMIT_METRIC_COUNT; k++)
        add_name(c, c->limit[k] ? limit_metric_name((enum limit_metric)k) : NULL);
}

/* All metrics of limits, or those that the chip has; none where one that is needed is missing. */
static void choose_limits(struct cupti *c)
{
    const char *names[LIMIT_METRIC_COUNT];
    for (unsigned k = 0; k < LIMIT_METRIC_COUNT; k++)
        names[k] = limit_metric_name((enum limit_metric)k);
    bool all = has_metrics(c, names, LIMIT_METRIC_COUNT);
    for (unsigned k = 0; k < LIMIT_METRIC_COUNT; k++) {
        c->limit[k] = all || has_metrics(c, &names[k], 1);
        if (!c->limit[k] && limit_metric_needed((enum limit_metric)k) && !*c->lacks)
            snprintf(c->lacks, sizeof c->lacks, "%s", names[k]);
    }
    if (*c->lacks)
        memset(c->limit, 0, sizeof c->limit);
}

/* The preferred rows in one question; row by row only on a chip that lacks one. */
static void choose(struct cupti *c)
{
    choose_limits(c);
    for (size_t i = ARRAY_LEN(ROWS); i-- > 0;)
        c->chosen[ROWS[i].id] = &ROWS[i];
    gather_names(c);
    if (has_metrics(c, c->names, c->nnames))
        return;
    memset(c->chosen, 0, sizeof c->chosen);
    for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
        const char *names[] = { ROWS[i].metric, ROWS[i].over };
        if (!c->chosen[ROWS[i].id] && has_metrics(c, names, ROWS[i].over ? 2 : 1))
            c->chosen[ROWS[i].id] = &ROWS[i];
    }
    gather_names(c);
}

static int make_config(struct cupti *c)
{
    struct cupti_add add = PARAM(cupti_add, n, .host = c->host, .names = c->names, .n = c->nnames);
    int e = c->api.add(&add);
    struct cupti_config_size size = PARAM(cupti_config_size, n, .host = c->host);
    if (e == CUPTI_OK)
        e = c->api.config_size(&size);
    if (e != CUPTI_OK)
        return e;
    c->nconfig = size.n;
    c->config = base_alloc(size.n ? size.n : 1);
    if (!c->config)
        return -1;
    struct cupti_config config =
        PARAM(cupti_config, image, .host = c->host, .n = c->nconfig, .image = c->config);
    e = c->api.config(&config);
    struct cupti_passes passes = PARAM(cupti_passes, passes, .n = c->nconfig, .image = c->config);
    if (e == CUPTI_OK)
        e = c->api.passes(&passes);
    c->passes = (unsigned)passes.passes;
    return e;
}

static int get_availability(struct cupti *c)
{
    struct cupti_availability p = PARAM(cupti_availability, image, .ctx = c->ctx);
    int e = c->api.availability(&p);
    if (e != CUPTI_OK)
        return e;
    c->availability = p.image = base_alloc(p.n ? p.n : 1);
    return c->availability ? c->api.availability(&p) : -1;
}

static bool set_up(struct cupti *c, int ordinal, char *why, size_t n)
{
    struct cupti_init init = PARAM(cupti_init, priv, .priv = NULL);
    int e = c->api.init(&init);
    c->initialised = e == CUPTI_OK;
    const char *what = "cuptiProfilerInitialize";
    struct cupti_chip chip = PARAM(cupti_chip, name, .device = (size_t)ordinal);
    if (e == CUPTI_OK && (e = c->api.chip(&chip)) != CUPTI_OK)
        what = "cuptiDeviceGetChipName";
    c->chip = chip.name;
    if (e == CUPTI_OK && (e = get_availability(c)) != CUPTI_OK)
        what = "cuptiProfilerGetCounterAvailability";
    if (e == CUPTI_OK) {
        choose(c);
        what = "the choice of counters";
        e = c->nnames && host_new(c, &c->host) ? make_config(c) : -1;
    }
    if (e != CUPTI_OK)
        explain(why, n, what, e);
    return e == CUPTI_OK;
}

struct cupti *cupti_open(int ordinal, void *ctx, char *why, size_t n)
{
    struct cupti *c = base_alloc(sizeof *c);
    snprintf(why, n, "out of memory");
    if (!c)
        return NULL;
    c->ctx = ctx;
    c->library = open_library();
    if (!c->library)
        snprintf(why, n,
                 "libcupti was not found; install the CUDA toolkit, or set CUPTI_PATH to the folder "
                 "that has it");
    if (c->library && find_all(c, why, n) && set_up(c, ordinal, why, n))
        return c;
    cupti_close(c);
    return NULL;
}

void cupti_close(struct cupti *c)
{
    if (!c)
        return;
    struct cupti_init p = PARAM(cupti_init, priv, .priv = NULL);
    cupti_rest(c);
    host_free(c, c->host);
    if (c->initialised)
        c->api.deinit(&p);
    BASE_FREE(c->config, c->availability);
    /* The library stays loaded: it has hooks in the driver that outlive its handle. */
    base_free(c);
}

static void formula(const struct metric_row *r, char *out, size_t n)
{
    char scale[24] = "";
    if (r->scale != 1)
        snprintf(scale, sizeof scale, "%g * ", r->scale);
    if (!r->over)
        snprintf(out, n, "%s%s", scale, r->metric);
    else if (r->of_both)
        snprintf(out, n, "%s%s / (%s + %s)", scale, r->metric, r->metric, r->over);
    else
        snprintf(out, n, "%s%s / %s", scale, r->metric, r->over);
}

void cupti_sources(const struct cupti *c, struct dev_counters *out)
{
    snprintf(out->chip, sizeof out->chip, "%s", c->chip);
    out->passes = c->passes;
    for (size_t i = 0; i < COUNTER_COUNT; i++) {
        out->of[i].valid = c->chosen[i] != NULL;
        if (c->chosen[i])
            formula(c->chosen[i], out->of[i].from, sizeof out->of[i].from);
        else
            snprintf(out->of[i].from, sizeof out->of[i].from,
                     "this chip does not have the metrics it is computed from");
    }
    out->limits = !*c->lacks;
    if (*c->lacks)
        snprintf(out->limits_from, sizeof out->limits_from, "this chip does not have %s", c->lacks);
    else
        snprintf(
            out->limits_from, sizeof out->limits_from,
            "smsp__issue_active, smsp__average_warps_issue_stalled_*, throughputs of DRAM, L2 and L1");
}

/* ---- collecting ---- */
struct session {
    struct cupti *c;
    int range;
    const char *failed;
    int error;
};

static bool step(struct session *s, const char *what, int e)
{
    if (e != CUPTI_OK && !s->failed) {
        s->failed = what;
        s->error = e;
    }
    return e == CUPTI_OK;
}

static bool enable(struct session *s)
{
    struct cupti *c = s->c;
    if (c->object)
        return true;
    struct cupti_enable on = PARAM(cupti_enable, object, .ctx = c->ctx);
    if (!step(s, "cuptiRangeProfilerEnable", c->api.enable(&on)))
        return false;
    c->object = on.object;
    struct cupti_data_size size = PARAM(cupti_data_size, n, .object = c->object, .names = c->names,
                                        .count = c->nnames, .ranges = 1, .nodes = 1);
    if (!step(s, "cuptiRangeProfilerGetCounterDataSize", c->api.data_size(&size)))
        return false;
    c->ndata = size.n;
    c->data = base_alloc(size.n ? size.n : 1);
    return step(s, "memory for counters", c->data ? CUPTI_OK : -1);
}

void cupti_rest(struct cupti *c)
{
    if (!c || !c->object)
        return;
    struct cupti_object off = PARAM(cupti_object, object, .object = c->object);
    c->api.disable(&off);
    base_free(c->data);
    c->object = NULL;
    c->data = NULL;
}

static bool clear_data(struct session *s)
{
    struct cupti_data_init init =
        PARAM(cupti_data_init, data, .object = s->c->object, .n = s->c->ndata, .data = s->c->data);
    return step(s, "cuptiRangeProfilerCounterDataImageInitialize", s->c->api.data_init(&init));
}

static bool set_mode(struct session *s, int range, int replay)
{
    struct cupti_set p =
        PARAM(cupti_set, target_level, .object = s->c->object, .nconfig = s->c->nconfig,
              .config = s->c->config, .ndata = s->c->ndata, .data = s->c->data, .range = range,
              .replay = replay, .ranges_per_pass = 1, .levels = 1, .min_level = 1, .pass = 0,
              .target_level = range == CUPTI_RANGE_USER ? 1 : 0);
    s->range = range;
    return s->c->api.set(&p) == CUPTI_OK;
}

static enum status one_pass(struct session *s, const struct cupti_work *w, bool *more)
{
    struct cupti *c = s->c;
    struct cupti_object o = PARAM(cupti_object, object, .object = s->c->object);
    struct cupti_push push = PARAM(cupti_push, name, .object = s->c->object, .name = "launch");
    struct cupti_stop stop = PARAM(cupti_stop, all_submitted, .object = s->c->object);
    *more = false;
    enum status st = w->prepare(w->ctx);
    if (st != ST_OK)
        return st;
    if (!step(s, "cuptiRangeProfilerStart", c->api.start(&o)))
        return ST_DEVICE;
    if (s->range == CUPTI_RANGE_USER && !step(s, "cuptiRangeProfilerPushRange", c->api.push(&push)))
        return ST_DEVICE;
    st = w->launch(w->ctx);
    if (st != ST_OK)
        return st;
    if (s->range == CUPTI_RANGE_USER && !step(s, "cuptiRangeProfilerPopRange", c->api.pop(&o)))
        return ST_DEVICE;
    if (!step(s, "cuptiRangeProfilerStop", c->api.stop(&stop)))
        return ST_DEVICE;
    *more = !stop.all_submitted;
    return ST_OK;
}

static enum status all_passes(struct session *s, const struct cupti_work *w)
{
    bool more = true;
    enum status st = ST_OK;
    /* A library that never says it is done must not run for ever. */
    for (unsigned pass = 0; st == ST_OK && more && pass < 8 * (s->c->passes + 1); pass++)
        st = one_pass(s, w, &more);
    if (st == ST_OK && more)
        step(s, "the replay (no end of passes)", -1);
    if (s->failed)
        return st == ST_OK ? ST_DEVICE : st;
    struct cupti_decode decode = PARAM(cupti_decode, dropped, .object = s->c->object);
    if (st == ST_OK && !step(s, "cuptiRangeProfilerDecodeData", s->c->api.decode(&decode)))
        return ST_DEVICE;
    return st;
}

static double value_of(const struct cupti *c, const double *values, const char *name)
{
    for (size_t i = 0; name && i < c->nnames; i++)
        if (!strcmp(c->names[i], name))
            return values[i];
    return name ? 0 : 1;
}

static enum status evaluate(struct session *s, struct counter counters[COUNTERS_MOST],
                            struct limit_measures *measures)
{
    struct cupti *c = s->c;
    double values[MAX_METRICS] = { 0 };
    struct cupti_evaluate p =
        PARAM(cupti_evaluate, values, .host = c->host, .data = c->data, .n = c->ndata, .range = 0,
              .names = c->names, .count = c->nnames, .values = values);
    if (!step(s, "cuptiProfilerHostEvaluateToGpuValues", c->api.evaluate(&p)))
        return ST_DEVICE;
    for (size_t i = 0; i < COUNTER_COUNT; i++) {
        const struct metric_row *r = c->chosen[i];
        double v = r ? value_of(c, values, r->metric) : 0,
               over = r ? value_of(c, values, r->over) + (r->of_both ? v : 0) : 0;
        bool valid = r && over > 0 && v == v && v >= 0;
        counters[i] = (struct counter){ valid ? r->scale * v / over : 0, ORIGIN_MEASURED, valid };
    }
    for (unsigned k = 0; k < LIMIT_METRIC_COUNT; k++) {
        measures->has[k] = c->limit[k];
        measures->v[k] = c->limit[k] ? value_of(c, values, limit_metric_name((enum limit_metric)k)) : 0;
    }
    return ST_OK;
}

enum status cupti_collect(struct cupti *c, const struct cupti_work *w,
                          struct counter counters[COUNTERS_MOST], struct limit_measures *measures,
                          char *why, size_t n)
{
    struct session s = { .c = c };
    enum status st = ST_DEVICE;
    if (enable(&s) && clear_data(&s)) {
        bool user = set_mode(&s, CUPTI_RANGE_USER, CUPTI_REPLAY_USER);
        if (user || step(&s, "cuptiRangeProfilerSetConfig",
                         set_mode(&s, CUPTI_RANGE_AUTO, CUPTI_REPLAY_KERNEL) ? CUPTI_OK : -1))
            st = all_passes(&s, w);
    }
    if (st == ST_OK)
        st = evaluate(&s, counters, measures);
    if (st != ST_OK)
        cupti_rest(c); /* a pass may be half done */
    if (s.failed)
        explain(why, n, s.failed, s.error);
    return st;
}
