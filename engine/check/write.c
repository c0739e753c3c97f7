/* Findings as text, as JSON and as SARIF 2.1.0 (docs.oasis-open.org/sarif/sarif/v2.1.0). */
#include "engine/base/base.h"
#include "engine/base/version.h"
#include "engine/check/check.h"
#include "engine/invariants/invariants.h"
#include "engine/session/json.h"

#include <inttypes.h>
#include <math.h>
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

static void text(struct jw *w, const char *key, const char *value)
{
    jw_key(w, key);
    jw_str(w, value);
}

static void fingerprint(struct jw *w, const char *key, uint64_t value)
{
    char hex[32];
    snprintf(hex, sizeof hex, "%016" PRIx64, value);
    text(w, key, hex);
}

static void put_other(struct jw *w, const struct finding *x)
{
    jw_key(w, "other");
    if (!x->other_file) {
        jw_null(w);
        return;
    }
    jw_obj(w);
    text(w, "file", x->other_file);
    jw_key(w, "line");
    jw_uint(w, x->other_line);
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
    text(w, "name", k->name);
    text(w, "launch", check_launch_names[k->launch]);
    text(w, "shape", k->shape);
    jw_key(w, "rules");
    jw_arr(w);
    for (int i = 0; i < RULE_COUNT; i++) {
        const char *why;
        jw_obj(w);
        text(w, "rule", rule_at((enum rule_id)i)->name);
        jw_key(w, "checked");
        jw_bool(w, findings_checked(k, r, (enum rule_id)i, &why));
        text(w, "why", why);
        jw_end_obj(w);
    }
    jw_end_arr(w);
    jw_end_obj(w);
}

static void put_finding(struct jw *w, const struct findings *f, const struct finding *x)
{
    jw_obj(w);
    text(w, "rule", rule_at(x->rule)->name);
    text(w, "level", rule_level_names[x->level]);
    text(w, "kernel", x->kernel);
    text(w, "file", x->file);
    jw_key(w, "line");
    jw_uint(w, x->line);
    jw_key(w, "column");
    jw_uint(w, x->column);
    text(w, "ptx_file", x->ptx_file);
    jw_key(w, "ptx_line");
    jw_uint(w, x->ptx_line);
    jw_key(w, "count");
    jw_uint(w, x->count);
    text(w, "launch", check_launch_names[launch_of(f, x)]);
    put_other(w, x);
    text(w, "message", x->message);
    jw_key(w, "value");
    jw_num(w, x->value);
    jw_key(w, "limit");
    jw_num(w, x->limit);
    text(w, "unit", *rule_at(x->rule)->unit ? rule_at(x->rule)->unit : NULL);
    fingerprint(w, "fingerprint", x->fingerprint);
    jw_key(w, "in_baseline");
    jw_bool(w, x->old);
    jw_end_obj(w);
}

static void put_list(struct jw *w, const struct findings *f)
{
    jw_arr(w);
    for (size_t i = 0; i < f->n; i++)
        put_finding(w, f, &f->v[i]);
    jw_end_arr(w);
}

void findings_list_json(const struct findings *f, struct buf *out)
{
    struct jw w = jw_open(out, 2);
    put_list(&w, f);
    out->oom = out->oom || f->oom;
}

void findings_json(const struct findings *f, const struct rules *r, struct buf *out)
{
    struct jw w = jw_open(out, 2);
    jw_obj(&w);
    text(&w, "format", "gpulocw-check");
    jw_key(&w, "version");
    jw_int(&w, 1);
    jw_key(&w, "new_errors");
    jw_uint(&w, findings_new_errors(f));
    jw_key(&w, "findings");
    put_list(&w, f);
    jw_key(&w, "kernels");
    jw_arr(&w);
    for (size_t i = 0; i < f->nkernels; i++)
        put_checked(&w, &f->kernel[i], r);
    jw_end_arr(&w);
    jw_end_obj(&w);
    buf_puts(out, "\n");
    out->oom = out->oom || f->oom;
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
    struct buf list = { 0 };
    struct jw w = jw_open(out, 2);
    jw_obj(&w);
    text(&w, "format", "gpulocw-invariants");
    jw_key(&w, "version");
    jw_int(&w, 1);
    text(&w, "old", old);
    text(&w, "new", now);
    for (size_t k = 0; k < ARRAY_LEN(counts); k++) {
        jw_key(&w, counts[k].key);
        jw_uint(&w, counts[k].n);
    }
    diags_json(found, &list);
    jw_key(&w, "findings");
    jw_raw(&w, (struct str){ list.s ? list.s : "[]", list.s ? list.n : 2 });
    jw_end_obj(&w);
    buf_puts(out, "\n");
    out->oom = out->oom || list.oom;
    buf_free(&list);
}

/* ---- SARIF ---- */
static void message(struct jw *w, const char *key, const char *value)
{
    jw_key(w, key);
    jw_obj(w);
    text(w, "text", value);
    jw_end_obj(w);
}

static void put_rules(struct jw *w, const struct rules *r)
{
    static const char *const levels[] = { "none", "note", "warning", "error" };
    jw_key(w, "rules");
    jw_arr(w);
    for (int i = 0; i < RULE_COUNT; i++) {
        const struct rule *rule = rule_at((enum rule_id)i);
        jw_obj(w);
        text(w, "id", rule->name);
        text(w, "name", rule->title);
        message(w, "shortDescription", rule->title);
        message(w, "fullDescription", rule->help);
        message(w, "help", rule->help);
        jw_key(w, "defaultConfiguration");
        jw_obj(w);
        text(w, "level", levels[r->level[i]]);
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
    text(w, "uri", b.s);
    buf_free_checked(&b, w->out);
}

static void put_location(struct jw *w, const char *file, uint32_t line, uint32_t column)
{
    jw_obj(w);
    jw_key(w, "physicalLocation");
    jw_obj(w);
    jw_key(w, "artifactLocation");
    jw_obj(w);
    put_uri(w, file);
    jw_end_obj(w);
    if (line) { /* SARIF counts both from 1 */
        jw_key(w, "region");
        jw_obj(w);
        jw_key(w, "startLine");
        jw_uint(w, line);
        jw_key(w, "startColumn");
        jw_uint(w, column ? column : 1);
        jw_end_obj(w);
    }
    jw_end_obj(w);
    jw_end_obj(w);
}

static void put_result(struct jw *w, const struct finding *x)
{
    jw_obj(w);
    text(w, "ruleId", rule_at(x->rule)->name);
    jw_key(w, "ruleIndex");
    jw_int(w, x->rule);
    text(w, "level", rule_level_names[x->level]);
    message(w, "message", x->message);
    jw_key(w, "locations");
    jw_arr(w);
    put_location(w, x->file, x->line, x->column);
    jw_end_arr(w);
    bool compiled = strcmp(x->file, x->ptx_file) != 0;
    jw_key(w, "relatedLocations");
    jw_arr(w);
    if (x->other_file)
        put_location(w, x->other_file, x->other_line, 1);
    if (compiled)
        put_location(w, x->ptx_file, x->ptx_line, 1);
    jw_end_arr(w);
    jw_key(w, "occurrenceCount");
    jw_uint(w, x->count);
    jw_key(w, "partialFingerprints");
    jw_obj(w);
    fingerprint(w, "gpulocw/v1", x->fingerprint);
    jw_end_obj(w);
    text(w, "baselineState", x->old ? "unchanged" : "new");
    jw_end_obj(w);
}

void findings_sarif(const struct findings *f, const struct rules *r, struct buf *out)
{
    struct jw w = jw_open(out, 4);
    jw_obj(&w);
    text(&w, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    text(&w, "version", "2.1.0");
    jw_key(&w, "runs");
    jw_arr(&w);
    jw_obj(&w);
    jw_key(&w, "tool");
    jw_obj(&w);
    jw_key(&w, "driver");
    jw_obj(&w);
    text(&w, "name", "gpulocw");
    text(&w, "version", GPULOCW_VERSION);
    put_rules(&w, r);
    jw_end_obj(&w);
    jw_end_obj(&w);
    jw_key(&w, "results");
    jw_arr(&w);
    for (size_t i = 0; i < f->n; i++)
        put_result(&w, &f->v[i]);
    jw_end_arr(&w);
    text(&w, "columnKind", "utf16CodeUnits");
    jw_end_obj(&w);
    jw_end_arr(&w);
    jw_end_obj(&w);
    buf_puts(out, "\n");
    out->oom = out->oom || f->oom;
}
