/* banks: which words of shared memory the lanes of a request ask of which bank. */
#include "tui/view/banks.h"

#include "engine/analysis/banks.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/base/text.h"
#include "tui/view/view.h"

#include <math.h>

static enum role role_of(const struct ana_access *x)
{
    double extra = x->exact.bank_conflicts;
    return extra < 0.5 ? ROLE_GOOD : extra < 4 ? ROLE_WARN : ROLE_ERROR;
}

void view_banks_metric(struct row *r, const struct ana_access *x, unsigned cols)
{
    const struct ana_banks *b = &x->exact.banks;
    unsigned end = r->width + cols;
    row_put(r, ROLE_LABEL, "passes ");
    row_put(r, ROLE_VALUE, "%u", b->passes);
    row_put(r, ROLE_LABEL, " for ");
    row_put(r, ROLE_VALUE, "%u", b->ideal);
    row_put(r, role_of(x), "  +%.2f a request", x->exact.bank_conflicts);
    row_pad(r, end);
}

static void put_text(struct app *a, struct page *p, unsigned w, struct buf *text)
{
    page_say(a, p, ROLE_VALUE, 2, w - 1, "%s", text->s ? text->s : "");
    buf_free(text);
}

/* A column a bank, as high as it is asked for words. */
static void put_columns(struct app *a, struct page *p, const struct ana_banks *b, unsigned lines,
                        unsigned cols)
{
    static const char *const part[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    uint16_t word[32];
    double top = banks_words(b, banks_fullest(b), word);
    for (unsigned line = 0; line < lines; line++) {
        struct row r = { .arena = a->frame };
        if (line == 0)
            row_right(&r, ROLE_AXIS, 6, "%.0f", top);
        else
            row_right(&r, ROLE_AXIS, 6, "%s", line == lines - 1 ? "0" : "");
        row_put(&r, ROLE_AXIS, line == 0 || line == lines - 1 ? " ┤" : " │");
        for (unsigned k = 0; k < BANKS_N; k++) {
            double eighths = ceil(banks_words(b, k, word) / top * lines * 8) - (lines - 1 - line) * 8.0;
            unsigned u = eighths <= 0 ? 0 : eighths >= 8 ? 8 : (unsigned)eighths;
            for (unsigned c = 0; c < cols; c++)
                row_put(&r, k / 8 % 2 ? ROLE_SERIES_B : ROLE_SERIES_A, "%s", part[u]);
        }
        page_add(a, p, &r, -1);
    }
}

static void put_map(struct app *a, struct page *p, const struct ana_banks *b, unsigned cols)
{
    char map[BANKS_N + 1];
    struct row r = { .arena = a->frame };
    banks_map(b, map);
    row_put(&r, ROLE_LABEL, "  words ");
    for (unsigned k = 0; k < BANKS_N; k++)
        row_put(&r,
                map[k] == '.'   ? ROLE_DIM
                : map[k] == '1' ? ROLE_VALUE
                                : ROLE_WARN,
                "%c%s", map[k], cols > 1 ? " " : "");
    page_add(a, p, &r, -1);
    row_put(&r, ROLE_AXIS, "  bank  ");
    for (unsigned k = 0; k < BANKS_N; k += 8)
        row_put(&r, ROLE_AXIS, "%-*u", (int)(8 * cols), k);
    page_add(a, p, &r, -1);
}

void view_banks_chart(struct app *a, struct page *p, const struct ana_access *x, unsigned w, unsigned h)
{
    const struct ana_banks *b = &x->exact.banks;
    unsigned cols = w >= 76 ? 2 : 1;
    int32_t stride = banks_stride(b);
    struct buf text = { 0 };
    put_columns(a, p, b, h >= 30 ? 8 : h >= 18 ? 5 : h >= 14 ? 3 : 2, cols);
    put_map(a, p, b, cols);
    banks_say(b, 8, &text);
    if (stride != INT32_MIN)
        buf_printf(&text, "; lanes lie %d word%s apart", (int)stride, stride == 1 ? "" : "s");
    put_text(a, p, w, &text);
    const struct banks_cure c = banks_cure_of(a->snap->facts);
    buf_puts(&text, "all accesses: ");
    banks_cure_say(&c, &text);
    put_text(a, p, w, &text);
}
