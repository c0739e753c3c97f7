/* The statements as text for a terminal, as JSON and as Markdown. */
#include "engine/paper/claim.h"
#include "engine/base/json_write.h"
#include "engine/session/document.h"

#include <stdio.h>
#include <string.h>

static enum claim_result decide(const struct claim *c, struct buf *why)
{
    struct records r = claim_records();
    buf_clear(why);
    buf_puts(why, "");
    if (c->test)
        return claim_try(c->test, &r, why);
    buf_puts(why, c->why_not ? c->why_not : "");
    return CLAIM_NOT_TRIED;
}

struct count {
    size_t of[3];
};

/* Of one paper; NULL: of all. */
static struct count count(const char *paper)
{
    struct count n = { { 0 } };
    struct buf why = { 0 };
    for (size_t i = 0; i < claim_count(); i++)
        if (!paper || strcmp(claim_at(i)->paper, paper) == 0)
            n.of[decide(claim_at(i), &why)]++;
    buf_free(&why);
    return n;
}

static void put_count(struct buf *out, const char *name, struct count n)
{
    buf_printf(out, "%s: %zu pass, %zu fail, %zu not tried\n", name, n.of[CLAIM_PASS], n.of[CLAIM_FAIL],
               n.of[CLAIM_NOT_TRIED]);
}

/* *n: of how many experiments there are records. */
static const char *oldest(size_t *n)
{
    const struct evidence *evidence = claim_evidence(n);
    const char *date = *n ? evidence[0].date : "";
    for (size_t i = 0; i < *n; i++)
        date = strcmp(evidence[i].date, date) < 0 ? evidence[i].date : date;
    return date;
}

void claims_text(struct buf *out)
{
    struct buf why = { 0 };
    const char *last = "";
    size_t nrecorded;
    const char *date = oldest(&nrecorded);
    for (size_t i = 0; i < claim_count(); i++) {
        const struct claim *c = claim_at(i);
        enum claim_result r = decide(c, &why);
        if (strcmp(c->paper, last) != 0)
            put_count((buf_puts(out, i ? "\n" : ""), out), c->paper, count(c->paper));
        last = c->paper;
        buf_printf(out, "  %-9s %s: %s\n", claim_result_name(r), c->section, c->text);
        if (why.n)
            buf_printf(out, "            %s\n", why.s);
    }
    put_count((buf_puts(out, "\n"), out), "all", count(NULL));
    buf_printf(out,
               "tried on recorded results of %zu experiments, the oldest of %s; gpulocw paper ID runs "
               "one anew\n",
               nrecorded, date);
    buf_free_checked(&why, out);
}

static void json_claim(struct jw *w, const struct claim *c, struct buf *why)
{
    enum claim_result r = decide(c, why);
    jw_obj(w);
    jw_put_str(w, "paper", c->paper);
    jw_put_str(w, "section", c->section);
    jw_put_str(w, "claim", c->text);
    jw_put_str(w, "result", claim_result_name(r));
    jw_put_str(w, "why", why->s ? why->s : "");
    jw_put_str(w, "test", c->test);
    jw_end_obj(w);
}

void claims_json(struct buf *out)
{
    struct jw w = document_open(out, "gpulocw-claims", 2);
    struct buf why = { 0 };
    jw_put_arr(&w, "claims");
    for (size_t i = 0; i < claim_count(); i++)
        json_claim(&w, claim_at(i), &why);
    jw_end_arr(&w);
    size_t n;
    const struct evidence *evidence = claim_evidence(&n);
    jw_put_arr(&w, "evidence");
    for (size_t i = 0; i < n; i++) {
        jw_obj(&w);
        jw_put_str(&w, "id", evidence[i].id);
        jw_put_str(&w, "date", evidence[i].date);
        jw_put_str(&w, "what", evidence[i].what);
        jw_end_obj(&w);
    }
    jw_end_arr(&w);
    buf_free_checked(&why, out);
    document_close(&w);
}

static void md_text(struct buf *out, const char *s)
{
    for (; *s; s++)
        if (*s == '|')
            buf_puts(out, ", ");
        else
            buf_put(out, s, 1);
}

void claims_md(struct buf *out)
{
    size_t nrecorded;
    struct buf why = { 0 };
    struct count n = count(NULL);
    buf_printf(out,
               "%zu statements: %zu pass, %zu fail, %zu are not tried. Values are recorded results of "
               "the experiments, the oldest of %s.\n\n"
               "| paper | section | statement | result | why |\n|---|---|---|---|---|\n",
               claim_count(), n.of[CLAIM_PASS], n.of[CLAIM_FAIL], n.of[CLAIM_NOT_TRIED],
               oldest(&nrecorded));
    for (size_t i = 0; i < claim_count(); i++) {
        const struct claim *c = claim_at(i);
        enum claim_result r = decide(c, &why);
        buf_printf(out, "| %s | %s | %s | %s | ", c->paper, c->section, c->text,
                   r == CLAIM_PASS   ? "pass"
                   : r == CLAIM_FAIL ? "**fail**"
                                     : "not tried");
        md_text(out, why.s ? why.s : "");
        buf_puts(out, " |\n");
    }
    buf_free_checked(&why, out);
}
