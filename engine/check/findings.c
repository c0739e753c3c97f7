/* Findings: from the analysis and from a checked run. */
#include "engine/analysis/analysis.h"
#include "engine/check/check.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/launch_arg.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/limits.h"
#include "engine/rec/result_read.h"
#include "engine/rec/tensor_map.h"
#include "engine/session/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECTOR 32.0

static struct finding *add(struct findings *f, const struct ana_kernel *k, enum rule_id rule,
                           const struct rules *r)
{
    if (!base_grow((void **)&f->v, f->n, &f->cap, sizeof *f->v)) {
        f->oom = true;
        return NULL;
    }
    struct finding *x = &f->v[f->n++];
    struct buf name = { 0 };
    buf_str(&name, k->func->name);
    *x = (struct finding){
        .rule = rule, .level = r->level[rule], .value = NAN, .limit = r->limit[rule], .count = 1
    };
    x->kernel = buf_take(&name);
    const struct checked_kernel *c = findings_kernel(f, k);
    if (c && c->launch == CHECK_LAUNCH_GUESSED && x->level == RULE_ERROR)
        x->level = RULE_WARNING;
    x->ptx_file = base_strdup(k->module->path);
    f->oom = f->oom || !x->kernel || !x->ptx_file;
    return x;
}

static char *file_of(struct findings *f, const struct ptx_module *m, struct ptx_place p)
{
    struct buf file = { 0 };
    buf_str(&file, p.line ? m->files[p.file] : str_of(m->path));
    char *name = buf_take(&file);
    f->oom = f->oom || !name;
    return name;
}

/* The place in the source where the text tells it, else in the PTX file. */
static void put_place(struct findings *f, struct finding *x, const struct ana_kernel *k, struct span at,
                      struct ptx_place p)
{
    x->ptx_line = at.line;
    x->line = p.line ? p.line : at.line;
    x->column = p.line ? p.col : at.col;
    x->file = file_of(f, k->module, p);
}

/* The partner of a race, and the message that names it by its line in the PTX. */
static void put_other(struct findings *f, struct finding *x, const struct ana_kernel *k, uint32_t line)
{
    struct ptx_place p = ptx_user_place_at(k->module, line);
    char said[32];
    x->other_file = file_of(f, k->module, p);
    x->other_line = p.line ? p.line : line;
    snprintf(said, sizeof said, " at line %u", (unsigned)line);
    const char *from = x->message ? strstr(x->message, said) : NULL;
    if (!from || !x->other_file)
        return;
    struct buf b = { 0 };
    buf_printf(&b, "%.*s at %s:%u%s", (int)(from - x->message), x->message, x->other_file,
               (unsigned)x->other_line, from + strlen(said));
    base_free(x->message);
    x->message = buf_take(&b);
    f->oom = f->oom || !x->message;
}

/* Without line numbers: the same finding keeps its name when lines move. */
static void put_fingerprint(struct finding *x, struct str text)
{
    struct buf b = { 0 };
    buf_printf(&b, "%s|%s|", rule_at(x->rule)->name, x->kernel ? x->kernel : "");
    buf_str(&b, text);
    x->fingerprint = base_hash(b.s ? b.s : "", b.n);
    buf_free(&b);
}

static struct str text_at(const struct ana_kernel *k, struct span at)
{
    return (struct str){ k->module->text.s + at.off, at.len };
}

/* The same of another launch of the kernel: the worst one is told. NULL: none is there. */
static struct finding *of_another_launch(const struct findings *f, const struct ana_kernel *k,
                                         enum rule_id rule, uint32_t line)
{
    for (size_t i = 0; i < f->n; i++) {
        struct finding *x = &f->v[i];
        if (x->rule == rule && x->ptx_line == line && x->kernel && str_is(k->func->name, x->kernel))
            return x;
    }
    return NULL;
}

static void found(struct findings *f, const struct ana_kernel *k, const struct ana_access *a,
                  enum rule_id rule, double value, const struct rules *r, const char *what)
{
    struct buf b = { 0 };
    if (r->level[rule] == RULE_OFF || !(value > r->limit[rule]))
        return;
    struct finding *x = of_another_launch(f, k, rule, a->at.line);
    if (x && x->value >= value)
        return;
    bool again = x != NULL;
    x = x ? x : add(f, k, rule, r);
    if (!x)
        return;
    x->value = value;
    base_free(x->message);
    bool ratio = rule == RULE_uncoalesced_load || rule == RULE_uncoalesced_store;
    buf_printf(&b, "%s; at most %.4g %s", what, r->limit[rule],
               ratio ? "times the least number is allowed" : "are allowed");
    if (a->array && a->space != PTX_SPACE_SHARED)
        buf_printf(&b, " (array %s)", a->array);
    x->message = buf_take(&b);
    f->oom = f->oom || !x->message;
    if (again)
        return;
    x->array = base_strdup(a->array);
    put_place(f, x, k, a->at, ptx_user_place(k->module, a->loc));
    put_fingerprint(x, text_at(k, a->at));
}

/* Sectors that the bytes of a request fill at least: those that lanes ask for, each once. */
static double least_sectors(const struct ana_exact *e)
{
    double bytes = (double)e->bytes_used / (double)e->requests;
    double least = ceil(bytes / SECTOR - 1e-9);
    return least < 1 ? 1 : least;
}

/* Without a launch: with the block that the analysis assumes. */
static void of_expected(struct findings *f, const struct ana_kernel *k, const struct ana_access *a,
                        const struct rules *r)
{
    const struct ana_coalesce *c = &a->coalesce;
    char what[200];
    if (!c->valid || !(c->least > 0))
        return;
    double ratio = c->sectors / c->least;
    snprintf(what, sizeof what,
             "%.4g sectors per request expected without a launch, %.4g times the least number of %.4g",
             c->sectors, ratio, c->least);
    found(f, k, a, a->store ? RULE_uncoalesced_store : RULE_uncoalesced_load, ratio, r, what);
}

static void of_global(struct findings *f, const struct ana_kernel *k, const struct ana_access *a,
                      const struct rules *r)
{
    const struct ana_exact *e = &a->exact;
    char what[200];
    if (!k->launched) {
        of_expected(f, k, a, r);
        return;
    }
    if (!e->valid || !e->requests)
        return;
    double least = least_sectors(e), ratio = e->sectors_per_request / least;
    snprintf(what, sizeof what, "%.4g sectors per request, %.4g times the least number of %.4g",
             e->sectors_per_request, ratio, least);
    found(f, k, a, a->store ? RULE_uncoalesced_store : RULE_uncoalesced_load, ratio, r, what);
}

static void of_shared(struct findings *f, const struct ana_kernel *k, const struct ana_access *a,
                      const struct rules *r)
{
    char what[200];
    if (!a->exact.valid || isnan(a->exact.bank_conflicts))
        return;
    snprintf(what, sizeof what, "%.4g extra passes per request by conflicts of banks",
             a->exact.bank_conflicts);
    found(f, k, a, RULE_bank_conflict, a->exact.bank_conflicts, r, what);
}

/* Constant memory gives a warp one word a pass: sectors are not what it costs. */
static void of_constant(struct findings *f, const struct ana_kernel *k, const struct ana_access *a,
                        const struct rules *r)
{
    const struct ana_exact *e = &a->exact;
    char what[200];
    if (!e->valid || !e->requests || !a->bytes)
        return;
    double words = (double)e->bytes_used / (double)e->requests / fmax(a->bytes, 4);
    snprintf(what, sizeof what,
             "%.4g extra passes per request: lanes read %.4g different words of constant memory",
             words - 1, words);
    found(f, k, a, RULE_constant_replay, words - 1, r, what);
}

void findings_of_analysis(const struct ana_kernel *k, const struct rules *r, struct findings *f)
{
    for (uint32_t i = 0; i < k->naccess; i++) {
        const struct ana_access *a = &k->access[i];
        if (a->prefetch)
            continue;
        if (a->space == PTX_SPACE_SHARED)
            of_shared(f, k, a, r);
        else if (a->space == PTX_SPACE_CONST)
            of_constant(f, k, a, r);
        else if (!a->atomic && (a->space == PTX_SPACE_GLOBAL || a->space == PTX_SPACE_GENERIC))
            of_global(f, k, a, r);
    }
}

/* ---- counters ---- */
static double counted(const struct result *r, enum counter_id c)
{
    return result_counters(r)[c].valid ? result_counters(r)[c].value : 0;
}

/* The first atomic, or access of local memory; NULL: none. */
static const struct ana_access *first_of(const struct ana_kernel *k, bool atomic)
{
    for (uint32_t i = 0; i < k->naccess; i++)
        if (atomic ? k->access[i].atomic : k->access[i].space == PTX_SPACE_LOCAL)
            return &k->access[i];
    return NULL;
}

/* What has no instruction of its own stands at the kernel's first. */
static struct ana_access entry_of(const struct ana_kernel *k)
{
    struct ana_access entry = { 0 };
    if (k->func->ninsts) {
        entry.at = k->func->insts[0].at;
        entry.loc = ptx_loc_of(k->func, &k->func->insts[0]);
    }
    return entry;
}

void findings_of_maps(const struct ana_kernel *k, const struct launch_spec *l, const struct rules *r,
                      struct findings *f)
{
    const struct ana_access entry = entry_of(k);
    char what[300];
    for (size_t i = 0; i < launch_nargs(l); i++) {
        struct tensor_map m;
        if (launch_arg(l, i)->kind != ARG_TENSOR_MAP ||
            !tensor_map_decode(launch_arg(l, i)->bytes, &m) || m.im2col)
            continue;
        for (unsigned d = 1; d < m.rank; d++) {
            uint64_t within =
                d == 1 ? m.dims[0] * tensor_map_element(&m) : m.strides[d - 1] * m.dims[d - 1];
            snprintf(what, sizeof what,
                     "tensor map %s: dimension %u goes on every %llu bytes, and %llu lie within: rows "
                     "overlap",
                     launch_arg(l, i)->name ? launch_arg(l, i)->name : "", d,
                     (unsigned long long)m.strides[d], (unsigned long long)within);
            if (m.dims[d] > 1 && m.strides[d] < within)
                found(f, k, &entry, RULE_tensor_overlap, (double)(within - m.strides[d]), r, what);
        }
    }
}

/* Where the launch waits for local memory most; else the kernel's first instruction. */
static struct ana_access local_place(const struct ana_kernel *k, const struct result *r)
{
    const struct limit_place *p = limits_place(result_limits(r), LIMIT_LOCAL, 0);
    struct ana_access a = entry_of(k);
    for (uint32_t i = 0; p && p->ptx && i < k->func->ninsts; i++)
        if (k->func->insts[i].at.line == p->ptx) {
            a.at = k->func->insts[i].at;
            a.loc = ptx_loc_of(k->func, &k->func->insts[i]);
            break;
        }
    return a;
}

static void of_local(struct findings *f, const struct ana_kernel *k, const struct result *run,
                     uint64_t threads, const struct rules *r)
{
    const struct ana_access *l = first_of(k, false), place = local_place(k, run);
    double moved = (counted(run, COUNTER_LOCAL_LOAD_BYTES) + counted(run, COUNTER_LOCAL_STORE_BYTES)) /
                   (double)threads,
           spilled = counted(run, COUNTER_REGS_SPILL_BYTES);
    char what[400], spills[80] = "";
    struct limit_try cure = { NULL, NULL };
    unsigned i = 0;
    if (spilled > 0)
        snprintf(spills, sizeof spills, "; %.6g bytes spilled, by %s", spilled, result_regs_from(run));
    while (limit_next_try(result_limits(run), LIMIT_LOCAL, &i, &cure) && !cure.edit)
        ;
    snprintf(what, sizeof what,
             "a thread loads and stores %.4g bytes of local memory (registers: %u%s)%s%s", moved,
             result_regs(run), spills, cure.edit ? "; " : "", cure.edit ? cure.edit : "");
    found(f, k, l ? l : &place, RULE_local_memory, moved > spilled ? moved : spilled, r, what);
}

void findings_of_counters(const struct ana_kernel *k, const struct result *run, uint64_t threads,
                          const struct rules *r, struct findings *f)
{
    const struct ana_access *a = first_of(k, true);
    char what[240];
    double requests = counted(run, COUNTER_ATOMIC_REQUESTS);
    if (a && requests > 0) {
        double extra = counted(run, COUNTER_ATOMIC_EXTRA_PASSES) / requests;
        snprintf(what, sizeof what,
                 "%.4g extra passes per request of the kernel's atomics: lanes of a warp change one "
                 "address, one after the other",
                 extra);
        found(f, k, a, RULE_atomic_contention, extra, r, what);
    }
    of_local(f, k, run, threads, r);
}

/* ---- a checked run ---- */
static enum rule_id rule_of(const char *code)
{
    for (int i = 0; code && i < RULE_failed_run; i++)
        if (*rule_at((enum rule_id)i)->fault && strcmp(rule_at((enum rule_id)i)->fault, code) == 0)
            return (enum rule_id)i;
    return RULE_failed_run;
}

static char *said(const char *message, const struct checked_kernel *k)
{
    struct buf b = { 0 };
    buf_printf(&b, "%s", message);
    if (k && k->beside)
        buf_printf(&b, "; with %s", k->beside);
    return buf_take(&b);
}

void findings_of_run(const struct ana_kernel *k, const struct diags *run, const struct rules *r,
                     struct findings *f)
{
    bool placed = false;
    for (size_t i = 0; i < run->n; i++)
        placed = placed || (run->v[i].level == DIAG_ERROR && run->v[i].at.line);
    for (size_t i = 0; i < run->n; i++) {
        const struct diag *d = &run->v[i];
        enum rule_id rule = rule_of(d->code);
        /* what says once more that the original failed has no place */
        if (d->level != DIAG_ERROR || r->level[rule] == RULE_OFF || (placed && !d->at.line) ||
            of_another_launch(f, k, rule, d->at.line))
            continue;
        struct finding *x = add(f, k, rule, r);
        if (!x)
            return;
        x->message = said(d->msg ? d->msg : "", findings_kernel(f, k));
        f->oom = f->oom || !x->message;
        put_place(f, x, k, d->at, ptx_user_place_at(k->module, d->at.line));
        if (d->other_line)
            put_other(f, x, k, d->other_line);
        put_fingerprint(x, d->at.line && d->at.off + d->at.len <= k->module->text.n ? text_at(k, d->at)
                                                                                    : STR(""));
    }
}

/* ---- all together ---- */
static int by_place(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    int k = strcmp(x->file ? x->file : "", y->file ? y->file : "");
    k = k ? k : (x->line > y->line) - (x->line < y->line);
    k = k ? k : (x->column > y->column) - (x->column < y->column);
    k = k ? k : (int)x->rule - (int)y->rule;
    k = k ? k : strcmp(x->kernel ? x->kernel : "", y->kernel ? y->kernel : "");
    k = k ? k : strcmp(x->array ? x->array : "", y->array ? y->array : "");
    k = k ? k : (x->value < y->value) - (x->value > y->value);
    return k ? k : (x->ptx_line > y->ptx_line) - (x->ptx_line < y->ptx_line);
}

static bool same_place(const struct finding *x, const struct finding *y)
{
    return x->file && y->file && strcmp(x->file, y->file) == 0 && x->line == y->line &&
           x->column == y->column && x->rule == y->rule && x->kernel && y->kernel &&
           strcmp(x->kernel, y->kernel) == 0 &&
           strcmp(x->array ? x->array : "", y->array ? y->array : "") == 0;
}

static void finding_free(struct finding *x)
{
    BASE_FREE(x->kernel, x->message, x->file, x->other_file, x->array, x->ptx_file);
}

/* Unrolled and inlined copies of one line of the source are one finding. */
static void merge(struct findings *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        if (n && same_place(&f->v[n - 1], &f->v[i])) {
            f->v[n - 1].count += f->v[i].count;
            finding_free(&f->v[i]);
        } else {
            f->v[n++] = f->v[i];
        }
    f->n = n;
}

/* Alike ones get numbers, so that each has a fingerprint of its own. */
void findings_finish(struct findings *f)
{
    if (f->n)
        qsort(f->v, f->n, sizeof *f->v, by_place);
    merge(f);
    for (size_t i = 0; i < f->n; i++) {
        uint32_t before = 0;
        for (size_t j = 0; j < i && f->n < 10000; j++)
            before += f->v[j].fingerprint == f->v[i].fingerprint;
        if (before) {
            uint64_t both[2] = { f->v[i].fingerprint, before };
            f->v[i].fingerprint = base_hash(both, sizeof both);
        }
    }
}

size_t findings_new_errors(const struct findings *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        n += f->v[i].level == RULE_ERROR && !f->v[i].old;
    return n;
}

static bool holds(const cJSON *list, uint64_t fingerprint)
{
    char text[32];
    const cJSON *v;
    snprintf(text, sizeof text, "%016" PRIx64, fingerprint);
    cJSON_ArrayForEach(v, list)
    {
        const char *was = json_text(v, "fingerprint");
        if (was && strcmp(was, text) == 0)
            return true;
    }
    return false;
}

enum status findings_baseline(struct findings *f, const char *path, struct diags *ds)
{
    cJSON *o = NULL;
    enum status st = json_read_file(path, &o, ds);
    if (st != ST_OK)
        return st;
    const char *format = json_text(o, "format");
    const cJSON *list = json_get(o, "findings");
    if (!format || strcmp(format, "gpulocw-check") != 0 || !cJSON_IsArray(list)) {
        struct diag *d = diag_add(ds, DIAG_ERROR, "baseline", path, NO_SPAN,
                                  "not a document written by gpulocw check --format json");
        diag_hint(d, "write one with: gpulocw check --format json FILE -o %s", path);
        st = ST_INPUT;
    }
    for (size_t i = 0; st == ST_OK && i < f->n; i++)
        f->v[i].old = holds(list, f->v[i].fingerprint);
    cJSON_Delete(o);
    return st;
}

void findings_free(struct findings *f)
{
    for (size_t i = 0; i < f->nkernels; i++) {
        BASE_FREE(f->kernel[i].name, f->kernel[i].readable, f->kernel[i].shape, f->kernel[i].unanalysed,
                  f->kernel[i].unrun, f->kernel[i].timed);
    }
    base_free(f->kernel);
    for (size_t i = 0; i < f->n; i++)
        finding_free(&f->v[i]);
    base_free(f->v);
    *f = (struct findings){ .n = 0 };
}
