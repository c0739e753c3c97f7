/* Findings as JUnit's XML, which continuous integration shows as tests. */
#include "engine/check/check.h"

#include <string.h>

static void put_xml(const char *s, struct buf *out)
{
    for (; *s; s++)
        switch (*s) {
        case '<': buf_puts(out, "&lt;"); break;
        case '>': buf_puts(out, "&gt;"); break;
        case '&': buf_puts(out, "&amp;"); break;
        case '"': buf_puts(out, "&quot;"); break;
        default:
            if ((unsigned char)*s >= ' ' || *s == '\t') /* XML has no other control characters */
                buf_put(out, s, 1);
        }
}

static bool is_new_error(const struct finding *x, const struct checked_kernel *k, int rule)
{
    return x->rule == (enum rule_id)rule && !x->old && x->level == RULE_ERROR &&
           strcmp(x->kernel, k->name) == 0;
}

/* Errors are failures; what is less is told in the case's output. */
static void put_case(const struct findings *f, const struct rules *r, const struct checked_kernel *k,
                     int rule, struct buf *out)
{
    const char *why, *close = "/>\n";
    bool checked = findings_checked(k, r, (enum rule_id)rule, &why);
    buf_puts(out, "    <testcase classname=\"");
    put_xml(k->readable, out);
    buf_printf(out, "\" name=\"%s\"", rule_at((enum rule_id)rule)->name);
    for (size_t i = 0; i < f->n; i++) {
        const struct finding *x = &f->v[i];
        if (!is_new_error(x, k, rule))
            continue;
        buf_puts(out, *close == '/' ? ">\n      <failure message=\"" : "      <failure message=\"");
        put_xml(x->message, out);
        buf_puts(out, "\">");
        put_xml(x->file, out);
        buf_printf(out, ":%u:%u</failure>\n", (unsigned)x->line, (unsigned)x->column);
        close = "    </testcase>\n";
    }
    if (!checked && *close == '/') {
        buf_puts(out, ">\n      <skipped message=\"");
        put_xml(why, out);
        buf_puts(out, "\"/>\n");
        close = "    </testcase>\n";
    }
    buf_puts(out, close);
}

static void count_cases(const struct findings *f, const struct rules *r, const struct checked_kernel *k,
                        unsigned *failed, unsigned *skipped)
{
    const char *why;
    *failed = *skipped = 0;
    for (int n = 0; n < RULE_COUNT; n++) {
        bool fails = false;
        for (size_t i = 0; i < f->n; i++)
            fails |= is_new_error(&f->v[i], k, n);
        *failed += fails;
        *skipped += !fails && !findings_checked(k, r, (enum rule_id)n, &why);
    }
}

void findings_junit(const struct findings *f, const struct rules *r, struct buf *out)
{
    buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"gpulocw check\">\n");
    for (size_t i = 0; i < f->nkernels; i++) {
        const struct checked_kernel *k = &f->kernel[i];
        unsigned failed, skipped;
        count_cases(f, r, k, &failed, &skipped);
        buf_puts(out, "  <testsuite name=\"");
        put_xml(k->readable, out);
        buf_printf(out, "\" tests=\"%d\" failures=\"%u\" skipped=\"%u\">\n", RULE_COUNT, failed,
                   skipped);
        for (int n = 0; n < RULE_COUNT; n++)
            put_case(f, r, k, n, out);
        buf_puts(out, "  </testsuite>\n");
    }
    buf_puts(out, "</testsuites>\n");
    out->oom = out->oom || f->oom;
}
