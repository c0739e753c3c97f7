/* Shared memory on the page: which access asks which bank for how many words, with the worst as a
 * picture. */
#include "engine/analysis/banks.h"

#include "engine/analysis/analysis.h"
#include "engine/report/report.h"

#include <stdio.h>

#define CELL_W 16.0
#define CELL_H 9.0
#define LEFT   84.0
#define TOP    48.0
#define WIDTH  (LEFT + BANKS_N * CELL_W + 20)

static int extra(const struct ana_access *a)
{
    return (int)a->exact.banks.passes - (int)a->exact.banks.ideal;
}

/* The access with the most extra passes; NULL: none makes any. */
static const struct ana_access *worst_of(const struct ana_kernel *k)
{
    const struct ana_access *worst = NULL;
    for (uint32_t i = 0; i < k->naccess; i++)
        if (ana_banks_counted(&k->access[i]) && extra(&k->access[i]) > (worst ? extra(worst) : 0))
            worst = &k->access[i];
    return worst;
}

/* Rows of 32 words that the request touches, lowest first. */
static unsigned rows_of(const struct ana_banks *b, uint16_t row[32])
{
    unsigned n = 0;
    for (unsigned bank = 0; bank < BANKS_N; bank++) {
        uint16_t word[32];
        unsigned words = banks_words(b, bank, word);
        for (unsigned i = 0; i < words; i++) {
            unsigned at = 0;
            uint16_t r = (uint16_t)(word[i] / BANKS_N);
            while (at < n && row[at] < r)
                at++;
            if ((at < n && row[at] == r) || n == 32)
                continue;
            for (unsigned j = n++; j > at; j--)
                row[j] = row[j - 1];
            row[at] = r;
        }
    }
    return n;
}

static void put_cells(const struct ana_banks *b, const uint16_t *row, unsigned n, struct buf *out)
{
    for (unsigned bank = 0; bank < BANKS_N; bank++) {
        uint16_t word[32];
        unsigned words = banks_words(b, bank, word);
        for (unsigned i = 0; i < words; i++)
            for (unsigned r = 0; r < n; r++)
                if (row[r] == word[i] / BANKS_N)
                    buf_printf(
                        out,
                        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
                        LEFT + bank * CELL_W, TOP + r * CELL_H, CELL_W - 1, CELL_H - 1,
                        words > 1 ? "#d55e00" : "#0072b2");
        if (words)
            buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%u</text>\n",
                       LEFT + (bank + 0.5) * CELL_W, TOP + n * CELL_H + 14, words);
    }
}

/* The words that the worst request of an access asks of each bank, as one <svg>. */
static void report_banks(const struct ana_access *a, struct buf *out)
{
    const struct ana_banks *b = &a->exact.banks;
    uint16_t row[32];
    unsigned n = rows_of(b, row);
    double height = TOP + n * CELL_H + 34;
    buf_printf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
        "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"11\" fill=\"#222\">\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
        "<text x=\"8\" y=\"16\" font-size=\"13\">Line %u: the words that one request asks of the 32 "
        "banks, %u passes for %u (analysed)</text>\n",
        WIDTH, height, WIDTH, height, a->at.line, b->passes, b->ideal);
    for (unsigned bank = 0; bank < BANKS_N; bank += 4)
        buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" fill=\"#666\">%u</text>\n",
                   LEFT + (bank + 0.5) * CELL_W, TOP - 6, bank);
    buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" fill=\"#666\">bank</text>\n",
               LEFT - 8, TOP - 6);
    for (unsigned r = 0; r < n; r++) {
        buf_printf(out,
                   "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#f0f0f0\"/>\n",
                   LEFT, TOP + r * CELL_H, BANKS_N * CELL_W - 1, CELL_H - 1);
        if (r % 4 == 0)
            buf_printf(out,
                       "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" fill=\"#666\">word %u</text>\n",
                       LEFT - 8, TOP + (r + 1) * CELL_H, row[r] * BANKS_N);
    }
    put_cells(b, row, n, out);
    buf_printf(out,
               "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" fill=\"#666\">words</text>\n</svg>\n",
               LEFT - 8, TOP + n * CELL_H + 14);
}

static void put_row(const struct ana_access *a, const struct report_writer *w, struct buf *out)
{
    const struct ana_banks *b = &a->exact.banks;
    struct buf words = { 0 };
    char line[16], bytes[16], passes[32], mean[32], apart[16] = "not the same";
    int32_t stride = banks_stride(b);
    banks_say(b, 6, &words);
    snprintf(line, sizeof line, "%u", a->at.line);
    snprintf(bytes, sizeof bytes, "%u", b->bytes);
    snprintf(passes, sizeof passes, "%u for %u", b->passes, b->ideal);
    snprintf(mean, sizeof mean, "%.2f", a->exact.bank_conflicts);
    if (stride != INT32_MIN)
        snprintf(apart, sizeof apart, "%d", (int)stride);
    const char *cell[] = { line, bytes, passes, mean, apart, words.s ? words.s : "" };
    w->row(out, cell, ARRAY_LEN(cell), false, false);
    buf_free_checked(&words, out);
}

void report_shared(const struct ana_kernel *k, const struct report_writer *w, struct buf *out)
{
    static const char *const head[] = { "line",           "bytes a lane",        "passes, worst request",
                                        "extra, average", "words between lanes", "words of one bank" };
    const struct banks_cure c = banks_cure_of(k);
    const struct ana_access *worst = worst_of(k);
    struct buf text = { 0 }, svg = { 0 };
    if (!(c.now > 0))
        return;
    w->heading(out, 2, "Shared memory (analysed)");
    if (!worst) {
        w->para(out, "No request takes more passes than its lanes need.");
        return;
    }
    banks_cure_say(&c, &text);
    buf_puts(&text, ".");
    w->para(out, text.s ? text.s : "");
    w->head(out, head, ARRAY_LEN(head));
    for (uint32_t i = 0; i < k->naccess; i++)
        if (ana_banks_counted(&k->access[i]) && extra(&k->access[i]) > 0)
            put_row(&k->access[i], w, out);
    w->tail(out);
    report_banks(worst, &svg);
    if (w->plots) {
        char map[BANKS_N + 1];
        banks_map(&worst->exact.banks, map);
        buf_clear(&text);
        buf_printf(&text, "line %u, words asked of banks 0 to 31: %s\n", worst->at.line, map);
        w->pre(out, "", text.s ? text.s : "");
    } else
        w->svg(out, svg.s ? svg.s : "");
    buf_free_checked(&text, out);
    buf_free_checked(&svg, out);
}
