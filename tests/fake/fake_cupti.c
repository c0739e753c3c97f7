/* A CUPTI for machines without a GPU: the functions of cupti_api.h with fixed
 * numbers, strict about the order of calls. FAKE_CUPTI in the environment,
 * comma-separated: noperm, nouser (no user replay), lacks=METRIC, passes=N, never
 * (never says that all passes are submitted). While it is enabled FAKE_PROFILED is set, and launches of
 * the fake driver take longer, as a GPU's do. */
#include "engine/dev/cuda/cupti_api.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define X(field, sym, type, last) int sym(struct type *p);
CUPTI_API(X)
#undef X
int fake_cupti_passes(void); /* passes run so far; tests look it up */

enum { BAD_PARAMETER = 1, BAD_OPERATION = 7, NO_METRIC = 17 };
#define CHECK_SIZE(p, type, last)                \
    do {                                         \
        if ((p)->size != CUPTI_SIZE(type, last)) \
            return BAD_PARAMETER;                \
    } while (0)
static struct {
    bool init, enabled, configured, started, pushed, decoded;
    int range;
    unsigned stops, total;
} S;
struct host {
    bool broken;
    size_t n;
};

static const char *script(const char *key)
{
    const char *s = getenv("FAKE_CUPTI"), *at = s ? strstr(s, key) : NULL;
    return at ? at + strlen(key) : NULL;
}
static unsigned passes(void)
{
    const char *s = script("passes=");
    return s ? (unsigned)strtoul(s, NULL, 10) : 2;
}
int fake_cupti_passes(void)
{
    return (int)S.total;
}

int cuptiProfilerInitialize(struct cupti_init *p)
{
    CHECK_SIZE(p, cupti_init, priv);
    S.init = true;
    return CUPTI_OK;
}
int cuptiProfilerDeInitialize(struct cupti_init *p)
{
    CHECK_SIZE(p, cupti_init, priv);
    S.init = false;
    return CUPTI_OK;
}
int cuptiDeviceGetChipName(struct cupti_chip *p)
{
    p->name = "FK100";
    return S.init ? CUPTI_OK : BAD_OPERATION;
}
int cuptiProfilerGetCounterAvailability(struct cupti_availability *p)
{
    CHECK_SIZE(p, cupti_availability, image);
    if (script("noperm"))
        return CUPTI_NO_PRIVILEGE;
    p->n = 16;
    return p->ctx ? CUPTI_OK : BAD_PARAMETER;
}

int cuptiProfilerHostInitialize(struct cupti_host_open *p)
{
    CHECK_SIZE(p, cupti_host_open, host);
    p->host = calloc(1, sizeof(struct host));
    return !strcmp(p->chip, "FK100") && p->availability ? CUPTI_OK : BAD_PARAMETER;
}
int cuptiProfilerHostDeinitialize(struct cupti_host_close *p)
{
    free(p->host);
    return CUPTI_OK;
}
int cuptiProfilerHostConfigAddMetrics(struct cupti_add *p)
{
    struct host *h = p->host;
    const char *lacks = script("lacks=");
    CHECK_SIZE(p, cupti_add, n);
    for (size_t i = 0; i < p->n; i++)
        h->broken |= lacks && !strncmp(p->names[i], lacks, strcspn(lacks, ","));
    h->n += p->n;
    return h->broken ? NO_METRIC : CUPTI_OK; /* as the real one: broken for good */
}
int cuptiProfilerHostGetConfigImageSize(struct cupti_config_size *p)
{
    p->n = 64;
    return CUPTI_OK;
}
int cuptiProfilerHostGetConfigImage(struct cupti_config *p)
{
    memset(p->image, 0x11, p->n);
    return p->n == 64 ? CUPTI_OK : BAD_PARAMETER;
}
int cuptiProfilerHostGetNumOfPasses(struct cupti_passes *p)
{
    p->passes = passes();
    return p->image[0] == 0x11 ? CUPTI_OK : BAD_PARAMETER;
}

int cuptiRangeProfilerEnable(struct cupti_enable *p)
{
    CHECK_SIZE(p, cupti_enable, object);
    if (S.enabled || !p->ctx)
        return BAD_OPERATION;
    S.enabled = true;
    setenv("FAKE_PROFILED", "1", 1);
    p->object = &S;
    return CUPTI_OK;
}
int cuptiRangeProfilerDisable(struct cupti_object *p)
{
    S.enabled = S.configured = S.started = S.pushed = S.decoded = false;
    unsetenv("FAKE_PROFILED");
    return p->object == &S ? CUPTI_OK : BAD_PARAMETER;
}
int cuptiRangeProfilerGetCounterDataSize(struct cupti_data_size *p)
{
    p->n = 128;
    return S.enabled ? CUPTI_OK : BAD_OPERATION;
}
int cuptiRangeProfilerCounterDataImageInitialize(struct cupti_data_init *p)
{
    memset(p->data, 0x22, p->n);
    return S.enabled ? CUPTI_OK : BAD_OPERATION;
}
int cuptiRangeProfilerSetConfig(struct cupti_set *p)
{
    CHECK_SIZE(p, cupti_set, target_level);
    if (!S.enabled || p->data[0] != 0x22 || p->config[0] != 0x11 ||
        (p->range == CUPTI_RANGE_USER && script("nouser")))
        return BAD_OPERATION;
    S.configured = true;
    S.range = p->range;
    S.stops = 0;
    return CUPTI_OK;
}
int cuptiRangeProfilerStart(struct cupti_object *p)
{
    (void)p;
    if (!S.configured || S.started)
        return BAD_OPERATION;
    S.started = true;
    return CUPTI_OK;
}
int cuptiRangeProfilerPushRange(struct cupti_push *p)
{
    if (!S.started || S.range != CUPTI_RANGE_USER || !p->name)
        return BAD_OPERATION;
    S.pushed = true;
    return CUPTI_OK;
}
int cuptiRangeProfilerPopRange(struct cupti_object *p)
{
    (void)p;
    if (!S.pushed)
        return BAD_OPERATION;
    S.pushed = false;
    return CUPTI_OK;
}
int cuptiRangeProfilerStop(struct cupti_stop *p)
{
    CHECK_SIZE(p, cupti_stop, all_submitted);
    if (!S.started || S.pushed)
        return BAD_OPERATION;
    S.started = false;
    S.stops++;
    S.total++;
    p->all_submitted = !script("never") && (S.stops >= passes() || S.range == CUPTI_RANGE_AUTO);
    return CUPTI_OK;
}
int cuptiRangeProfilerDecodeData(struct cupti_decode *p)
{
    (void)p;
    S.decoded = S.stops >= passes() || S.range == CUPTI_RANGE_AUTO;
    return S.decoded ? CUPTI_OK : BAD_OPERATION;
}

/* Of 4,000 cycles of a scheduler 3,000 with warps, 1,000 in which it issues; three warps wait for memory for
 * one at a barrier; DRAM is busy half of the time; lanes use a quarter of what they load. */
static bool of_limits(const char *s, double *v)
{
    static const struct {
        const char *part;
        double v;
    } is[] = { { "smsp__cycles_elapsed", 4000 },
               { "smsp__cycles_active.max", 4000 },
               { "smsp__cycles_active", 3000 },
               { "smsp__issue_active", 1000 },
               { "stalled_long_scoreboard", 3 },
               { "stalled_barrier", 1 },
               { "issue_stalled_", 0 },
               { "dram__throughput", 50 },
               { "__throughput", 10 },
               { "bytes_per_sector_mem_global_op_ld", 25 },
               { "bytes_per_sector_mem_global_op_st", 100 },
               { "mem_local", 0 },
               { "mem_global_op_st", 0 },
               { "op_atom", 0 },
               { "op_red", 0 },
               { "mem_shared", 0 },
               { "op_ldc", 0 },
               { "lts__t_sectors.avg.pct", 10 },
               { "pipe_tensor", 0 } };
    for (size_t i = 0; i < sizeof is / sizeof *is; i++)
        if (strstr(s, is[i].part)) {
            *v = is[i].v;
            return true;
        }
    return false;
}

/* 256 requests of 4 sectors, three quarters of which hit L1: what conformance's coalesced kernel does.
 * Of L2: 990 hits and 10 misses, but the launch whose reads were counted had a twentieth fewer. */
int cuptiProfilerHostEvaluateToGpuValues(struct cupti_evaluate *p)
{
    CHECK_SIZE(p, cupti_evaluate, values);
    for (size_t i = 0; i < p->count; i++) {
        const char *s = p->names[i];
        if (of_limits(s, &p->values[i]))
            continue;
        bool l2 = !strncmp(s, "lts__", 5), hit = strstr(s, "hit") != NULL;
        p->values[i] = strstr(s, ".pct")         ? 75
                       : strstr(s, "t_requests") ? 256
                       : l2                      ? (hit                 ? 990
                                                    : strstr(s, "miss") ? 10
                                                                        : 950)
                       : hit                     ? 768
                                                 : 1024;
    }
    return S.decoded ? CUPTI_OK : BAD_OPERATION;
}
