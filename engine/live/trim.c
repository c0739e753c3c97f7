/* Trimming: the captured launch on the simulated device, at the captured addresses. What the kernel
 * touches is kept; what it leaves is compared with what the GPU left. */
#include "engine/live/take.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/elem.h"
#include "engine/rec/result_read.h"
#include "engine/sim/preset.h"
#include "engine/sim/sim.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { SECTOR = 32, GAP_FIRST = 128, MOST_REGIONS = 32, READ = 1, WRITTEN = 2 };

/* What is known of each sector of a range. */
struct marks {
    uint64_t addr, n;
    _Atomic uint8_t *how; /* READ, WRITTEN */
    uint8_t *type;        /* enum ptx_type */
};
struct trim_job {
    struct trim *tr;
    struct marks *mark; /* of each range */
    struct sim_mem *mem;
    struct sim_program *prog;
    struct cancel cancel;
    int64_t until;
};

void trim_free(struct trim *tr)
{
    for (size_t i = 0; tr->t && i < tr->t->nrange; i++) {
        if (tr->before)
            base_free(tr->before[i]);
        if (tr->after)
            base_free(tr->after[i]);
    }
    BASE_FREE(tr->before, tr->after, tr->v, tr->why);
    *tr = (struct trim){ 0 };
}

static enum status why(struct trim *tr, const char *text)
{
    if (!tr->why)
        tr->why = base_strdup(text);
    return tr->why ? ST_OK : ST_NOMEM;
}

/* ---- data ---- */
static bool read_at(int f, uint64_t at, uint8_t *to, uint64_t n)
{
    while (n) {
        ssize_t k = pread(f, to, n, (off_t)at);
        if (k <= 0)
            return false;
        to += k;
        at += (uint64_t)k;
        n -= (uint64_t)k;
    }
    return true;
}

/* Bytes that the GPU changed, over those before. */
static bool put_left(struct trim *tr, int f)
{
    const struct take *t = tr->t;
    bool fine = true;
    for (size_t i = 0; i < t->nleft && fine; i++)
        for (size_t r = 0; r < t->nrange; r++) {
            uint64_t off = t->left[i].addr - t->range[r].addr;
            if (off >= t->range[r].n || t->left[i].n > t->range[r].n - off)
                continue;
            fine = read_at(f, t->left[i].at, tr->after[r] + off, t->left[i].n);
            break;
        }
    return fine;
}

static enum status load(struct trim *tr, struct diags *ds)
{
    const struct take *t = tr->t;
    tr->before = base_alloc((t->nrange + 1) * sizeof *tr->before);
    tr->after = base_alloc((t->nrange + 1) * sizeof *tr->after);
    if (!tr->before || !tr->after)
        return ST_NOMEM;
    int f = open(t->data, O_RDONLY | O_CLOEXEC);
    bool fine = f >= 0;
    for (size_t i = 0; i < t->nrange && fine; i++) {
        uint64_t n = t->range[i].n;
        tr->before[i] = base_alloc(n + 1);
        tr->after[i] = base_alloc(n + 1);
        if (!tr->before[i] || !tr->after[i]) {
            close(f);
            return ST_NOMEM;
        }
        fine = read_at(f, t->range[i].at, tr->before[i], n);
        memcpy(tr->after[i], tr->before[i], n);
        tr->from += n;
    }
    fine = fine && put_left(tr, f);
    if (f >= 0)
        close(f);
    if (!fine)
        diag_error(ds, "capture", "the captured data of %s are damaged", t->name);
    return fine ? ST_OK : ST_IO;
}

/* ---- the simulated launch ---- */
static struct marks *marks_of(const struct trim_job *j, uint64_t addr)
{
    for (size_t i = 0; i < j->tr->t->nrange; i++)
        if (addr - j->mark[i].addr < j->mark[i].n)
            return &j->mark[i];
    return NULL;
}

static void touch(void *ctx, const struct sim_touch *t)
{
    struct trim_job *j = ctx;
    struct marks *m = NULL;
    uint8_t how = (uint8_t)((t->reads ? READ : 0) | (t->writes ? WRITTEN : 0));
    for (unsigned i = 0; i < 32; i++) {
        if (!(t->mask >> i & 1))
            continue;
        if (!m || t->addr[i] - m->addr >= m->n)
            m = marks_of(j, t->addr[i]);
        for (uint64_t at = m ? t->addr[i] - m->addr : 0, end = at + t->bytes; m && at < end;
             at = (at / SECTOR + 1) * SECTOR) {
            if ((atomic_load_explicit(&m->how[at / SECTOR], memory_order_relaxed) & how) != how)
                atomic_fetch_or_explicit(&m->how[at / SECTOR], how, memory_order_relaxed);
            __atomic_store_n(&m->type[at / SECTOR], t->type, __ATOMIC_RELAXED);
        }
    }
}

static void on_progress(void *ctx, double done)
{
    struct trim_job *j = ctx;
    (void)done;
    if (base_now_ns() > j->until)
        atomic_store(&j->cancel.asked, true);
}

static enum status marks_make(struct trim_job *j)
{
    const struct take *t = j->tr->t;
    j->mark = base_alloc((t->nrange + 1) * sizeof *j->mark);
    if (!j->mark)
        return ST_NOMEM;
    for (size_t i = 0; i < t->nrange; i++) {
        struct marks *m = &j->mark[i];
        *m = (struct marks){ .addr = t->range[i].addr, .n = t->range[i].n };
        m->how = base_alloc(m->n / SECTOR + 1);
        m->type = base_alloc(m->n / SECTOR + 1);
        if (!m->how || !m->type)
            return ST_NOMEM;
    }
    return ST_OK;
}

/* Memory at its captured addresses; variables where the simulated device has them. */
static enum status place(struct trim_job *j, struct diags *ds)
{
    const struct take *t = j->tr->t;
    for (size_t i = 0; i < t->nrange; i++) {
        const struct take_range *r = &t->range[i];
        if (r->name) {
            uint64_t addr, n;
            if (!sim_symbol(j->prog, str_of(r->name), &addr, &n))
                continue;
            n = n < r->n ? n : r->n;
            j->mark[i].addr = addr;
            j->mark[i].n = n;
            enum status st = sim_symbol_write(j->prog, str_of(r->name), 0, j->tr->before[i], n);
            if (st != ST_OK)
                return st;
            continue;
        }
        if (r->n && !sim_mem_alloc_at(j->mem, r->addr, r->n, "captured memory"))
            return why(j->tr, "the simulated device cannot have memory at the captured addresses");
        if (r->n)
            memcpy(sim_mem_host(j->mem, r->addr, r->n), j->tr->before[i], r->n);
    }
    (void)ds;
    return ST_OK;
}

static enum status run_it(struct trim_job *j, const struct ptx_func *f, struct diags *ds)
{
    const struct take *t = j->tr->t;
    uint8_t *params = base_alloc(f->param_bytes + 8);
    struct sim_stats stats = { 0 };
    if (!params)
        return ST_NOMEM;
    for (size_t i = 0; i < t->nparam && i < f->nparams; i++)
        if (t->param[i].n == f->params[i]->bytes)
            memcpy(params + f->params[i]->offset, t->param[i].bytes, t->param[i].n);
    struct sim_launch l = { .grid = { t->grid[0], t->grid[1], t->grid[2] },
                            .block = { t->block[0], t->block[1], t->block[2] },
                            .cluster = { t->cluster[0], t->cluster[1], t->cluster[2] },
                            .shared = t->shared,
                            .params = params,
                            .nparams = f->param_bytes,
                            .functional = true,
                            .carveout = -1,
                            .hw_pi = -1,
                            .touch = { .fn = touch, .ctx = j },
                            .cancel = &j->cancel,
                            .progress = on_progress,
                            .ctx = j };
    enum status st = sim_run(j->prog, &l, &stats, ds);
    sim_stats_free(&stats);
    base_free(params);
    return st;
}

/* ---- what it touched, and what it left ---- */
static double as_float(enum ptx_type type, const uint8_t *p)
{
    double d = NAN;
    float f;
    if (type == PTX_T_F64 || type == PTX_T_B64)
        memcpy(&d, p, 8);
    else if ((type == PTX_T_F32 || type == PTX_T_B32) && (memcpy(&f, p, 4), true))
        d = (double)f;
    return d;
}

/* Bytes of a sector that differ, and by how much as floats. */
static void compare_sector(struct trim *tr, enum ptx_type type, const uint8_t *gpu, const uint8_t *sim,
                           uint64_t n)
{
    unsigned size = type == PTX_T_F64 || type == PTX_T_B64 ? 8 : 4;
    for (uint64_t i = 0; i < n; i++)
        tr->differ += gpu[i] != sim[i];
    for (uint64_t i = 0; i < n; i += size) {
        if (memcmp(gpu + i, sim + i, n - i < size ? n - i : size) == 0)
            continue;
        double a = n - i < size ? NAN : as_float(type, gpu + i);
        double b = n - i < size ? NAN : as_float(type, sim + i), most = fmax(fabs(a), fabs(b));
        double by = isfinite(a) && isfinite(b) && most > 0 ? fabs(a - b) / most : NAN;
        tr->relative = isnan(by) || isnan(tr->relative) ? NAN : fmax(tr->relative, by);
    }
}

static void compare(struct trim_job *j)
{
    struct trim *tr = j->tr;
    for (size_t r = 0; r < tr->t->nrange; r++) {
        struct marks *m = &j->mark[r];
        uint64_t all = m->n < tr->t->range[r].n ? m->n : tr->t->range[r].n;
        const uint8_t *left = all ? sim_mem_host(j->mem, m->addr, all) : NULL;
        for (uint64_t at = 0; left && at < all; at += SECTOR) {
            uint64_t n = all - at < SECTOR ? all - at : SECTOR;
            const uint8_t *sim = left + at, *gpu = tr->after[r] + at;
            bool changed = memcmp(gpu, tr->before[r] + at, n) != 0;
            for (uint64_t i = 0; changed && i < n; i++)
                tr->changed += gpu[i] != tr->before[r][at + i];
            if (changed)
                m->how[at / SECTOR] |= WRITTEN;
            if (m->how[at / SECTOR] & WRITTEN && memcmp(gpu, sim, n) != 0)
                compare_sector(tr, m->type[at / SECTOR], gpu, sim, n);
        }
    }
}

static bool add_region(struct trim *tr, size_t r, uint64_t from, uint64_t to, const struct marks *m)
{
    void *v = tr->v;
    if (!base_grow(&v, tr->n, &tr->cap, sizeof *tr->v))
        return false;
    tr->v = v;
    struct trim_region *g = &tr->v[tr->n++];
    *g = (struct trim_region){ .addr = tr->t->range[r].addr + from, .n = to - from, .range = r };
    for (uint64_t s = from / SECTOR; s * SECTOR < to; s++) {
        g->written |= (m->how[s] & WRITTEN) != 0;
        g->type = g->type || !m->how[s] ? g->type : m->type[s];
    }
    tr->bytes += g->n;
    return true;
}

/* Two tensors side by side: the second begins where a parameter points, and is used in another way. */
static bool another_begins(const struct trim *tr, size_t r, const struct marks *m, uint64_t at)
{
    return at && m->how[at / SECTOR - 1] != m->how[at / SECTOR] &&
           take_points_to(tr->t, tr->t->range[r].addr + at);
}

/* Runs of touched sectors; those less than `gap` bytes apart are one. */
static bool regions_of(struct trim_job *j, size_t r, uint64_t gap)
{
    const struct marks *m = &j->mark[r];
    uint64_t n = j->tr->t->range[r].n, from = UINT64_MAX, to = 0;
    for (uint64_t at = 0; at < n; at += SECTOR) {
        if (!m->how[at / SECTOR])
            continue;
        if (from != UINT64_MAX && (at - to >= gap || another_begins(j->tr, r, m, at))) {
            if (!add_region(j->tr, r, from, to, m))
                return false;
            from = UINT64_MAX;
        }
        from = from == UINT64_MAX ? at : from;
        to = at + SECTOR < n ? at + SECTOR : n;
    }
    return from == UINT64_MAX || add_region(j->tr, r, from, to, m);
}

static size_t written_regions(const struct trim *tr)
{
    size_t n = 0;
    for (size_t i = 0; i < tr->n; i++)
        n += tr->v[i].written && !tr->t->range[tr->v[i].range].name;
    return n;
}

/* Few regions: gaps widen until there are, and no more outputs than a result holds. Variables of the
 * module stay whole. */
static enum status cut(struct trim_job *j)
{
    struct trim *tr = j->tr;
    for (uint64_t gap = GAP_FIRST;; gap *= 4) {
        tr->n = 0;
        tr->bytes = 0;
        for (size_t r = 0; r < tr->t->nrange; r++)
            if (tr->t->range[r].name ? !add_region(tr, r, 0, tr->t->range[r].n, &j->mark[r])
                                     : !regions_of(j, r, gap))
                return ST_NOMEM;
        if ((tr->n <= MOST_REGIONS + tr->t->nrange && written_regions(tr) <= RESULT_MAX_OUTPUTS) ||
            gap > tr->from)
            return ST_OK;
    }
}

/* Where the kernel could not run, all of it stays. */
static enum status keep_all(struct trim_job *j)
{
    struct trim *tr = j->tr;
    for (size_t r = 0; r < tr->t->nrange; r++) {
        struct marks *m = &j->mark[r];
        for (uint64_t at = 0; at < tr->t->range[r].n; at += SECTOR) {
            uint64_t n = tr->t->range[r].n - at < SECTOR ? tr->t->range[r].n - at : SECTOR;
            bool changed = memcmp(tr->after[r] + at, tr->before[r] + at, n) != 0;
            m->how[at / SECTOR] = changed ? READ | WRITTEN : READ;
            for (uint64_t i = 0; changed && i < n; i++)
                tr->changed += tr->after[r][at + i] != tr->before[r][at + i];
        }
    }
    tr->relative = NAN;
    return cut(j);
}

static enum status simulate(struct trim_job *j, const struct ptx_module *m, const struct ptx_func *f,
                            struct diags *ds)
{
    struct trim *tr = j->tr;
    struct sim_preset p = sim_preset_default();
    struct diags told = { 0 };
    enum status st = sim_load(m, f->name, &p, j->mem, &j->prog, &told);
    if (st == ST_OK)
        st = place(j, &told);
    if (st == ST_OK && !tr->why)
        st = run_it(j, f, &told);
    if (st == ST_OK && !tr->why) {
        compare(j);
        st = cut(j);
    } else if (st == ST_CANCELLED) {
        st = why(tr,
                 "its simulated run took longer than the limit: it waits for other kernels or for the "
                 "host, or is too long");
    } else if (st != ST_NOMEM && !tr->why) {
        st =
            why(tr, told.n && told.v[0].msg ? told.v[0].msg : "it does not run on the simulated device");
    }
    diags_free(&told);
    (void)ds;
    return st == ST_OK && tr->why ? keep_all(j) : st;
}

enum status trim_run(struct trim *tr, const struct take *t, const struct ptx_module *m,
                     const struct ptx_func *f, double limit_s, struct diags *ds)
{
    *tr = (struct trim){ .t = t };
    struct trim_job j = { .tr = tr, .until = base_now_ns() + (int64_t)(limit_s * 1e9) };
    enum status st = load(tr, ds);
    if (st == ST_OK)
        st = marks_make(&j);
    if (st == ST_OK && !(j.mem = sim_mem_new(4 * tr->from + (UINT64_C(8) << 30))))
        st = ST_NOMEM;
    if (st == ST_OK)
        st = simulate(&j, m, f, ds);
    if (j.prog)
        sim_unload(j.prog);
    sim_mem_free(j.mem);
    for (size_t i = 0; j.mark && i < t->nrange; i++) {
        BASE_FREE((void *)j.mark[i].how, j.mark[i].type);
    }
    base_free(j.mark);
    return st;
}
