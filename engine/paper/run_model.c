/* Runners without a launch: the valley model, the schedule paper's example, lines of the software cache.
 */
#include "engine/dev/dev.h"
#include "engine/paper/paper_int.h"
#include "engine/perfmodel/reuse.h"
#include "engine/perfmodel/valley.h"
#include "engine/rec/device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static enum status describe(struct paper_cell *c, struct dev_info *info)
{
    struct dev *d = NULL;
    struct buf spec = { 0 };
    cell_device(c, &spec);
    c->st = spec.oom ? ST_NOMEM : dev_open(spec.s, c->q->env, &d, &c->ds);
    if (c->st == ST_OK) {
        *info = *dev_describe(d);
        dev_close(d);
    }
    buf_free(&spec);
    return c->st;
}

/* ---- valley: three localities on one machine ---- */
/* Sketches: the paper gives shapes. CI climbs to the memory plateau, MCS falls back to it from its peak,
 * HCS falls below it first. */
enum { VALLEY_STEPS = 24, VALLEY_STEP = 64 };
static const struct locality {
    const char *name;
    double alpha, beta, sharpness;
} localities[] = { { "CI", 1.02, 512, 1 }, { "MCS", 2, 18, 3 }, { "HCS", 4, 48, 8 } };

struct shape {
    double y[VALLEY_STEPS]; /* operations per second */
    size_t peak;
    double plateau, valley; /* at the end; the least beyond the peak */
};

static struct shape shape_of(const struct model_valley *machine, const struct locality *l, double p)
{
    struct shape s = { .peak = 0 };
    struct model_valley v = *machine;
    v.alpha = l->alpha;
    v.beta = l->beta;
    v.sharpness = p;
    for (size_t i = 0; i < VALLEY_STEPS; i++) {
        s.y[i] = model_perf(&v, (double)((i + 1) * VALLEY_STEP));
        s.peak = s.y[i] > s.y[s.peak] ? i : s.peak;
    }
    s.plateau = s.valley = s.y[VALLEY_STEPS - 1];
    for (size_t i = s.peak; i < VALLEY_STEPS; i++)
        s.valley = s.y[i] < s.valley ? s.y[i] : s.valley;
    return s;
}

static void shape_fact(struct paper_cell *c, const struct locality *l, const char *what, double v)
{
    char name[96];
    snprintf(name, sizeof name, "%s: %s", l->name, what);
    cell_fact(c, name, v);
}

static void shape_facts(struct paper_cell *c, const struct model_valley *machine,
                        const struct locality *l)
{
    struct shape s = shape_of(machine, l, l->sharpness), law = shape_of(machine, l, 1);
    shape_fact(c, l, "α", l->alpha);
    shape_fact(c, l, "β, bytes of a thread", l->beta);
    shape_fact(c, l, "exponent p, the paper's law has 1", l->sharpness);
    shape_fact(c, l, "π, threads at the cache peak", (double)((s.peak + 1) * VALLEY_STEP));
    shape_fact(c, l, "memory plateau over the cache peak", s.plateau / s.y[s.peak]);
    shape_fact(c, l, "cache valley over the memory plateau", s.valley / s.plateau);
    shape_fact(c, l, "the same by the paper's law", law.valley / law.plateau);
}

static void valley_rows(struct paper_cell *c, const struct model_valley *machine, size_t from, size_t n)
{
    struct shape s[ARRAY_LEN(localities)];
    for (size_t k = 0; k < n; k++)
        s[k] = shape_of(machine, &localities[from + k], localities[from + k].sharpness);
    for (size_t i = 0; i < VALLEY_STEPS; i++) {
        struct paper_row *row = cell_row(c);
        if (!row)
            return;
        snprintf(row->point, sizeof row->point, "%zu threads", (i + 1) * VALLEY_STEP);
        for (size_t k = 0; k < n; k++)
            row->v[k].ours = s[k].y[i] / s[k].y[s[k].peak];
    }
    for (size_t k = 0; k < n; k++)
        shape_facts(c, machine, &localities[from + k]);
}

void paper_run_valley(struct paper_cell *c)
{
    struct dev_info d;
    bool one = strcmp(c->e->id, "s1-fig3") == 0;
    if (describe(c, &d) != ST_OK)
        return;
    double hz = d.clock_khz * 1000.0;
    struct model_valley v = { .cache_bytes = (double)d.l1_bytes,
                              .t_cache = d.lat_l1,
                              .t_mem = d.lat_dram,
                              .npe = 32,
                              .freq_hz = hz,
                              .cpi = 1,
                              .r_m = 0.2,
                              .b_reg = 4,
                              .bandwidth = d.bw_dram / d.sms };
    valley_rows(c, &v, one ? 1 : 0, one ? 1 : ARRAY_LEN(localities));
    cell_fact(c, "L1 bytes", v.cache_bytes);
    cell_fact(c, "memory instructions of all, assumed", v.r_m);
}

/* ---- table 1 of the bypass paper: L1 and threads of the GPUs in it ---- */
void paper_run_shares(struct paper_cell *c)
{
    struct dev_info d;
    struct paper_row *row = cell_row(c);
    if (!row || describe(c, &d) != ST_OK)
        return;
    double threads = (double)d.max_warps_per_sm * d.warp_size;
    snprintf(row->point, sizeof row->point, "an SM");
    row->v[0].ours = (double)d.l1_bytes / 1024;
    row->v[1].ours = threads;
    row->v[2].ours = floor((double)d.l1_bytes / threads);
}

/* ---- table 1 of the schedule paper ---- */
void paper_run_distances(struct paper_cell *c)
{
    static const uint64_t address[] = { 0, 8, 16, 96, 8, 16, 17, 104 };
    enum { LINE = 16, CACHE = 32 };
    struct model_reuse *m = model_reuse_new(ARRAY_LEN(address));
    if (!m)
        c->st = ST_NOMEM;
    for (size_t i = 0; m && i < ARRAY_LEN(address); i++) {
        struct paper_row *row = cell_row(c);
        if (!row)
            break;
        uint64_t d = model_reuse_touch(m, address[i] / LINE);
        snprintf(row->application, sizeof row->application, "address %u", (unsigned)address[i]);
        snprintf(row->point, sizeof row->point, "access %zu", i + 1);
        row->v[0].ours = (double)(address[i] / LINE);
        if (d == MODEL_COLD)
            row->v[1].ours_text = "INF";
        else
            row->v[1].ours = (double)d;
        row->v[2].ours_text = d < CACHE / LINE ? "hit" : "miss";
    }
    model_reuse_free(m);
}

/* ---- software cache: lines of a thread ---- */
void paper_run_lines(struct paper_cell *c)
{
    static const unsigned threads[] = { 256, 512, 768, 1024, 1536, 2048 };
    struct dev_info d;
    if (describe(c, &d) != ST_OK)
        return;
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        struct paper_row *row = cell_row(c);
        if (!row)
            return;
        snprintf(row->point, sizeof row->point, "%u threads", threads[i]);
        double share = floor((double)d.shared_per_sm / threads[i]);
        row->v[0].ours = share;
        row->v[1].ours = floor(share / 16);
        row->v[2].ours = 100.0 * 2 * threads[i] / d.regs_per_sm;
        row->v[3].ours = 100.0 * 3 * threads[i] / d.regs_per_sm;
    }
}
