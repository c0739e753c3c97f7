/* Passes that are wrong in one respect: what a pass wrote is changed in one place, and the acceptance
 * run is to say so. The table of tests/mutants/caught.md is what this test finds
 * (MUTANTS_PRINT=1 prints it). */
#include "tests/unit/tune_support.h"

#include "engine/pass/pass.h"
#include "engine/rec/knobs.h"
#include "engine/rec/result.h"
#include "engine/tune/prove.h"
#include "engine/tune/tune_int.h"

#include <stdio.h>
#include <stdlib.h>

/* `find` in what the pass wrote, its nth occurrence from 1 (0: the last), becomes `put`. */
struct mutant {
    const char *what, *launch, *options, *find;
    unsigned nth;
    const char *put;
    enum tune_level level;      /* the least that is to catch it */
    const char *says, *catches; /* part of the message; which part of the proof that is */
    const char *survives;       /* why nothing is to be caught; NULL: it must be */
};
#define BYPASS   "--bypass l1 --pi 1"
#define GUARDED  "--bypass l1 --bypass-form predicate --pi 1"
#define REDIRECT "--cluster redirect --clusters 2"
#define AGENT    "--cluster agent --agents 2 --clusters 2"
#define OUT      "buffer '"
static const struct mutant mutants[] = {
#define ROW(what, launch, options, find, nth, put, level, says, catches) \
    { what, launch, options, find, nth, put, level, says, catches, NULL },
#define SURVIVES(what, launch, options, find, nth, put, why) \
    { what, launch, options, find, nth, put, TUNE_FULL, NULL, NULL, why },
#include "tests/mutants/mutants.def"
#undef ROW
#undef SURVIVES
};

static enum status read_options(const char *text, struct options *o, struct diags *ds)
{
    char copy[200], *rest = copy, *word;
    enum status st = ST_OK;
    snprintf(copy, sizeof copy, "%s", text);
    *o = options_default();
    while (st == ST_OK && (word = strsep(&rest, " "))) {
        const char *value = rest ? strsep(&rest, " ") : NULL;
        int k = knob_find(str_of(word + 2));
        assert_true(k >= 0);
        st = knob_set(o, (size_t)k, str_of(value ? value : "on"), ds);
    }
    return st;
}

static char *mutate(const char *text, const struct mutant *m)
{
    const char *at = strstr(text, m->find), *last = at;
    for (unsigned n = 1; at && n != m->nth; n++) {
        last = at;
        at = strstr(at + 1, m->find);
    }
    if (!m->nth)
        at = last;
    if (!at)
        fail_msg("%s: what the pass wrote has no '%s' any more", m->what, m->find);
    size_t before = (size_t)(at - text), behind = strlen(at) - strlen(m->find);
    char *out = malloc(before + strlen(m->put) + behind + 1);
    memcpy(out, text, before);
    memcpy(out + before, m->put, strlen(m->put));
    memcpy(out + before + strlen(m->put), at + strlen(m->find), behind + 1);
    return out;
}

static struct tune_proof prove(struct rig *r, const struct options *o, struct pass_output *code,
                               const char *text, enum tune_level level)
{
    struct tune_job original = { 0 }, job = { .code = *code };
    struct options none = options_default();
    struct tune_prover *p = NULL;
    struct tune_proof proof;
    assert_status_ok(tune_rewrite(r->bench, &none, &original.code, &r->ds), &r->ds);
    tune_fill_run(r->bench, &none, &original, true);
    tune_fill_run(r->bench, o, &job, true);
    original.run.time_limit_s = job.run.time_limit_s = 5;
    struct tune_text was = { { original.code.text, original.code.n }, &original.run },
                     is = { str_of(text), &job.run };
    assert_status_ok(
        tune_prover_open(r->dev, "mutants.ptx", r->launch, &r->data, &was, level, NULL, &p, &r->ds),
        &r->ds);
    assert_status_ok(tune_prover_check(p, &is, &proof, &r->ds), &r->ds);
    tune_prover_close(p);
    pass_output_free(&original.code);
    return proof;
}

/* Kills it, or fails. */
static void try_mutant(const struct mutant *m)
{
    struct rig r;
    struct options o;
    struct pass_output code = { 0 };
    rig_open(&r, "tests/mutants/mutants", m->launch, "sim:hopper-h200");
    assert_status_ok(read_options(m->options, &o, &r.ds), &r.ds);
    assert_status_ok(tune_rewrite(r.bench, &o, &code, &r.ds), &r.ds);
    struct tune_proof p = prove(&r, &o, &code, code.text, TUNE_FULL);
    if (p.verdict != PROOF_HOLDS)
        fail_msg("%s: the pass itself does not hold: %s", m->what, p.message);
    char *text = mutate(code.text, m);
    p = prove(&r, &o, &code, text, TUNE_QUICK);
    bool quick = p.verdict == PROOF_BROKEN;
    if (!quick)
        p = prove(&r, &o, &code, text, TUNE_FULL);
    if (getenv("MUTANTS_VERBOSE"))
        print_message("%-50s %s: %s\n", m->what, quick ? "quick" : "full", p.message);
    if (m->survives ? p.verdict != PROOF_HOLDS
                    : p.verdict != PROOF_BROKEN || quick != (m->level == TUNE_QUICK) ||
                          !strstr(p.message, m->says))
        fail_msg("%s: %s %d: %s", m->what, quick ? "quick" : "full", (int)p.verdict, p.message);
    free(text);
    pass_output_free(&code);
    rig_close(&r);
}

static void test_every_mutant_is_killed(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(mutants); i++)
        try_mutant(&mutants[i]);
}

static void put_row(const struct mutant *m, struct buf *out)
{
    if (m->survives)
        buf_printf(out, "| `%s` | %s | survives: %s |\n", m->options, m->what, m->survives);
    else
        buf_printf(out, "| `%s` | %s | %s: %s |\n", m->options, m->what,
                   m->level == TUNE_QUICK ? "quick" : "full", m->catches);
}

static void test_the_table_is_in_the_documents(void **state)
{
    (void)state;
    struct buf table = { 0 };
    struct diags ds = { 0 };
    char *doc = NULL;
    size_t n = 0, killed = 0;
    for (size_t i = 0; i < ARRAY_LEN(mutants); i++) {
        put_row(&mutants[i], &table);
        killed += !mutants[i].survives;
    }
    buf_printf(&table, "\n%zu of %zu are killed.\n", killed, ARRAY_LEN(mutants));
    if (getenv("MUTANTS_PRINT"))
        fputs(table.s, stdout);
    assert_status_ok(file_read("tests/mutants/caught.md", 1 << 20, &doc, &n, &ds), &ds);
    assert_non_null(memmem(doc, n, table.s, table.n));
    base_free(doc);
    buf_free(&table);
    diags_free(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_mutant_is_killed),
        cmocka_unit_test(test_the_table_is_in_the_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
