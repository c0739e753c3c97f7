/* Findings as text, as JSON and as SARIF 2.1.0 (docs.oasis-open.org/sarif/sarif/v2.1.0). */
#include "engine/base/version.h"
#include "engine/check/check.h"
#include "engine/invariants/invariants.h"
#include "engine/rec/limits.h"
#include "engine/rec/result_read.h"
#include "engine/session/document.h"
#include "engine/session/limits_doc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Rules that were not checked, those with one reason together. */
static void put_unchecked(const struct checked_kernel *k, const struct rules *r, struct buf *out)
{
    bool said[RULE_COUNT] = { false };
    for (int i = 0; i < RULE_COUNT; i++) {
        const char *why, *other;
        if (said[i] || findings_checked(k, r, (enum rule_id)i, &why))
            continue;
        bool began = k->ran && *rule_at((enum rule_id)i)->fault;
        const char *between = began ? "\n    not checked to the end: " : "\n    not checked: ";
        for (int j = i; j < RULE_COUNT; j++)
            if (!findings_checked(k, r, (enum rule_id)j, &other) && strcmp(why, other) == 0) {
                buf_printf(out, "%s%s", between, rule_at((enum rule_id)j)->name);
                between = ", ";
                said[j] = true;
            }
        buf_printf(out, " (%s)", why);
    }
}

/* What each kernel was checked with. */
static void put_kernels(const struct findings *f, const struct rules *r, struct buf *out)
{
    static const char *const with[] = { "no launch", "a guessed launch", "the given launch" };
    for (size_t i = 0; i < f->nkernels; i++) {
        const struct checked_kernel *k = &f->kernel[i];
        unsigned rules = 0;
        const char *why;
        for (int n = 0; n < RULE_COUNT; n++)
            rules += findings_checked(k, r, (enum rule_id)n, &why);
        buf_printf(out, "%s: %u of %d rules checked with %s%s%s", k->readable, rules, RULE_COUNT,
                   with[k->launch], k->shape ? ", " : "", k->shape ? k->shape : "");
        put_unchecked(k, r, out);
        if (k->timed && result_limits(k->timed)->valid) {
            buf_puts(out, "\n    limits: ");
            limits_first_text(k->timed, out);
        }
        buf_puts(out, "\n");
    }
}

void findings_text(const struct findings *f, const struct rules *r, struct buf *out)
{
    size_t errors = 0, warnings = 0, old = 0;
    for (size_t i = 0; i < f->n; i++) {
        const struct finding *x = &f->v[i];
        old += x->old;
        errors += !x->old && x->level == RULE_ERROR;
        warnings += !x->old && x->level == RULE_WARNING;
        if (x->old)
            continue;
        buf_printf(out, "%s:%u:%u: %s: %s [%s]\n", x->file, x->line, x->column,
                   rule_level_names[x->level], x->message, rule_at(x->rule)->name);
        buf_printf(out, "    in %s", x->kernel);
        if (strcmp(x->file, x->ptx_file) != 0)
            buf_printf(out, ", %s:%u", x->ptx_file, x->ptx_line);
        if (x->count > 1)
            buf_printf(out, ", and %u more instructions of this place", (unsigned)x->count - 1);
        buf_puts(out, "\n");
    }
    put_kernels(f, r, out);
    buf_printf(out, "%zu errors, %zu warnings, %zu in the baseline\n", errors, warnings, old);
    out->oom = out->oom || f->oom;
}

static void fingerprint(struct jw *w, const char *key, uint64_t value)
{
    char hex[32];
    snprintf(hex, sizeof hex, "%016" PRIx64, value);
    jw_put_str(w, key, hex);
}

static void put_other(struct jw *w, const struct finding *x)
{
    jw_key(w, "other");
    if (!x->other_file) {
        jw_null(w);
        return;
    }
    jw_obj(w);
    jw_put_str(w, "file", x->other_file);
    jw_put_uint(w, "line", x->other_line);
    jw_end_obj(w);
}

static enum check_launch launch_of(const struct findings *f, const struct finding *x)
{
    for (size_t i = 0; i < f->nkernels; i++)
        if (strcmp(f->kernel[i].name, x->kernel) == 0)
            return f->kernel[i].launch;
    return CHECK_LAUNCH_NONE;
}

static void put_checked(struct jw *w, const struct checked_kernel *k, const struct rules *r)
{
    jw_obj(w);
    jw_put_str(w, "name", k->name);
    jw_put_str(w, "launch", check_launch_names[k->launch]);
    jw_put_str(w, "shape", k->shape);
    jw_put_arr(w, "rules");
    for (int i = 0; i < RULE_COUNT; i++) {
        const char *why;
        jw_obj(w);
        jw_put_str(w, "rule", rule_at((enum rule_id)i)->name);
        jw_put_bool(w, "checked", findings_checked(k, r, (enum rule_id)i, &why));
        jw_put_str(w, "why", why);
        jw_end_obj(w);
    }
    jw_end_arr(w);
    json_limits(w, k->timed);
    jw_end_obj(w);
}

static void put_finding(struct jw *w, const struct findings *f, const struct finding *x)
{
    jw_obj(w);
    jw_put_str(w, "rule", rule_at(x->rule)->name);
    jw_put_str(w, "level", rule_level_names[x->level]);
    jw_put_str(w, "kernel", x->kernel);
    jw_put_str(w, "file", x->file);
    jw_put_uint(w, "line", x->line);
    jw_put_uint(w, "column", x->column);
    jw_put_str(w, "ptx_file", x->ptx_file);
    jw_put_uint(w, "ptx_line", x->ptx_line);
    jw_put_uint(w, "count", x->count);
    jw_put_str(w, "launch", check_launch_names[launch_of(f, x)]);
    put_other(w, x);
    jw_put_str(w, "message", x->message);
    jw_put_num(w, "value", x->value);
    jw_put_num(w, "limit", x->limit);
    jw_put_str(w, "unit", *rule_at(x->rule)->unit ? rule_at(x->rule)->unit : NULL);
    fingerprint(w, "fingerprint", x->fingerprint);
    jw_put_bool(w, "in_baseline", x->old);
    jw_end_obj(w);
}

void findings_list_json(struct jw *w, const struct findings *f)
{
    jw_put_arr(w, "findings");
    for (size_t i = 0; i < f->n; i++)
        put_finding(w, f, &f->v[i]);
    jw_end_arr(w);
    w->out->oom = w->out->oom || f->oom;
}

void findings_json(const struct findings *f, const struct rules *r, struct buf *out)
{
    struct jw w = document_open(out, "gpulocw-check", 2);
    jw_put_uint(&w, "new_errors", findings_new_errors(f));
    findings_list_json(&w, f);
    jw_put_arr(&w, "kernels");
    for (size_t i = 0; i < f->nkernels; i++)
        put_checked(&w, &f->kernel[i], r);
    jw_end_arr(&w);
    document_close(&w);
}

void invariants_json(const char *old, const char *now, const struct inv_seen *s,
                     const struct diags *found, struct buf *out)
{
    const struct {
        const char *key;
        uint32_t n;
    } counts[] = { { "functions", s->functions },
                   { "instructions", s->insts },
                   { "of_original", s->followed },
                   { "reads_compared", s->uses },
                   { "effects_compared", s->effects },
                   { "functions_too_large", s->large },
                   { "broken", s->broken } };
    struct jw w = document_open(out, "gpulocw-invariants", 2);
    jw_put_str(&w, "old", old);
    jw_put_str(&w, "new", now);
    for (size_t k = 0; k < ARRAY_LEN(counts); k++) {
        jw_put_uint(&w, counts[k].key, counts[k].n);
    }
    jw_key(&w, "findings");
    diags_json(found, &w);
    document_close(&w);
}

/* ---- SARIF ---- */
static void message(struct jw *w, const char *key, const char *value)
{
    jw_put_obj(w, key);
    jw_put_str(w, "text", value);
    jw_end_obj(w);
}

static void put_page(struct jw *w, const struct rule *rule)
{
    struct buf b = { 0 };
    buf_printf(&b, "https://docs.nvidia.com/%s", rule->page);
    jw_put_str(w, "helpUri", b.s);
    buf_free_checked(&b, w->out);
}

static void put_rules(struct jw *w, const struct rules *r)
{
    static const char *const levels[] = { "none", "note", "warning", "error" };
    jw_put_arr(w, "rules");
    for (int i = 0; i < RULE_COUNT; i++) {
        const struct rule *rule = rule_at((enum rule_id)i);
        jw_obj(w);
        jw_put_str(w, "id", rule->name);
        jw_put_str(w, "name", rule->title);
        message(w, "shortDescription", rule->title);
        message(w, "fullDescription", rule->help);
        message(w, "help", rule->help);
        put_page(w, rule);
        jw_put_obj(w, "defaultConfiguration");
        jw_put_str(w, "level", levels[r->level[i]]);
        jw_end_obj(w);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

/* Code scanning takes places of the repository: a path below the current folder is told from there. */
static const char *below_here(const char *path)
{
    char here[4096];
    size_t n = getcwd(here, sizeof here) ? strlen(here) : 0;
    return n > 1 && strncmp(path, here, n) == 0 && path[n] == '/' && path[n + 1] ? path + n + 1 : path;
}

/* A URI of a path: what may not stand in one is escaped. */
static void put_uri(struct jw *w, const char *path)
{
    struct buf b = { 0 };
    path = below_here(path);
    buf_puts(&b, path[0] == '/' ? "file://" : "");
    for (const unsigned char *p = (const unsigned char *)path; *p; p++)
        if (*p < 0x21 || *p > 0x7e || strchr("%#?\"<>\\^`{|}[]", *p))
            buf_printf(&b, "%%%02X", *p);
        else
            buf_put(&b, p, 1);
    jw_put_str(w, "uri", b.s);
    buf_free_checked(&b, w->out);
}

static void put_location(struct jw *w, const char *file, uint32_t line, uint32_t column)
{
    jw_obj(w);
    jw_put_obj(w, "physicalLocation");
    jw_put_obj(w, "artifactLocation");
    put_uri(w, file);
    jw_end_obj(w);
    if (line) { /* SARIF counts both from 1 */
        jw_put_obj(w, "region");
        jw_put_uint(w, "startLine", line);
        jw_put_uint(w, "startColumn", column ? column : 1);
        jw_end_obj(w);
    }
    jw_end_obj(w);
    jw_end_obj(w);
}

static void put_result(struct jw *w, const struct finding *x)
{
    jw_obj(w);
    jw_put_str(w, "ruleId", rule_at(x->rule)->name);
    jw_put_int(w, "ruleIndex", x->rule);
    jw_put_str(w, "level", rule_level_names[x->level]);
    message(w, "message", x->message);
    jw_put_arr(w, "locations");
    put_location(w, x->file, x->line, x->column);
    jw_end_arr(w);
    bool compiled = strcmp(x->file, x->ptx_file) != 0;
    jw_put_arr(w, "relatedLocations");
    if (x->other_file)
        put_location(w, x->other_file, x->other_line, 1);
    if (compiled)
        put_location(w, x->ptx_file, x->ptx_line, 1);
    jw_end_arr(w);
    jw_put_uint(w, "occurrenceCount", x->count);
    jw_put_obj(w, "partialFingerprints");
    fingerprint(w, "gpulocw/v1", x->fingerprint);
    jw_end_obj(w);
    jw_put_str(w, "baselineState", x->old ? "unchanged" : "new");
    jw_end_obj(w);
}

void findings_sarif(const struct findings *f, const struct rules *r, struct buf *out)
{
    struct jw w = jw_open(out, 4);
    jw_obj(&w);
    jw_put_str(&w, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    jw_put_str(&w, "version", "2.1.0");
    jw_put_arr(&w, "runs");
    jw_obj(&w);
    jw_put_obj(&w, "tool");
    jw_put_obj(&w, "driver");
    jw_put_str(&w, "name", "gpulocw");
    jw_put_str(&w, "version", GPULOCW_VERSION);
    put_rules(&w, r);
    jw_end_obj(&w);
    jw_end_obj(&w);
    jw_put_arr(&w, "results");
    for (size_t i = 0; i < f->n; i++)
        put_result(&w, &f->v[i]);
    jw_end_arr(&w);
    jw_put_str(&w, "columnKind", "utf16CodeUnits");
    jw_end_obj(&w);
    jw_end_arr(&w);
    jw_end_obj(&w); /* no document of fields.def: its format is SARIF's */
    buf_puts(out, "\n");
    out->oom = out->oom || f->oom;
}
