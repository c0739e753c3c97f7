/* What rewrites mean goes beside their text (ptx/text_marks.h): every claim and look of the agents is
 * marked whatever passes come before and behind, and no name of the text changes a time, a count or an
 * output. */
#include "engine/dev/dev.h"
#include "engine/pass/pass.h"
#include "engine/pass/pass_int.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/ptx/text_marks.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/data.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"
#include "engine/session/launch_file.h"
#include "engine/session/preset.h"
#include "tests/support.h"

#include <string.h>

/* ---- one pass after another ---- */
#define SMALL                                                                              \
    ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n" \
    "\t.reg .b64 %d;\n\t.reg .b32 %r<4>;\n\t.reg .pred %q;\n\tld.param.u64 %d, [p];\n"     \
    "\tld.global.u32 %r0, [%d];\n\tld.global.u32 %r1, [%d+4];\n\tst.global.u32 [%d], %r0;\n\tret;\n}\n"

struct text {
    struct ptx_module *m;
    struct text_marks marks;
};

static void text_open(struct text *t, const char *ptx)
{
    struct diags ds = { 0 };
    *t = (struct text){ 0 };
    assert_status_ok(ptx_parse("small.ptx", str_of(ptx), &t->m, &ds), &ds);
}

static void text_close(struct text *t)
{
    ptx_free(t->m);
    text_marks_free(&t->marks);
}

/* Applies and frees the edit. */
static void text_edit(struct text *t, struct ptx_edit *e)
{
    struct diags ds = { 0 };
    struct ptx_edit_result r;
    struct ptx_module *now = NULL;
    assert_status_ok(ptx_edit_apply(e, &r, &ds), &ds);
    assert_status_ok(ptx_parse("small.ptx", (struct str){ r.text, r.n }, &now, &ds), &ds);
    assert_true(pass_marks_carry(t->m, now, &r, &t->marks));
    ptx_edit_result_free(&r);
    ptx_edit_free(e);
    ptx_free(t->m);
    t->m = now;
}

static uint32_t stmt_of(const struct text *t, uint32_t inst)
{
    return t->m->funcs[0]->insts[inst].stmt;
}

static const char *text_at(const struct text *t, size_t k)
{
    const struct ptx_inst *i = &t->m->funcs[t->marks.v[k].func]->insts[t->marks.v[k].inst];
    return t->m->text.s + i->at.off;
}

/* A load of the small text is declared a look: what stands for it in the end. */
static void open_marked(struct text *t)
{
    struct buf b = { 0 };
    text_open(t, SMALL);
    struct ptx_edit *e = ptx_edit_new(t->m);
    buf_puts(&b, "ld.global.u32 %r2, [%d+8];\n");
    ptx_edit_mark(&b, MARK_LOOK);
    buf_puts(&b, "ld.global.u32 %r3, [%d+12];\n");
    ptx_edit_before(e, t->m->funcs[0], stmt_of(t, 2), "one", "%s", b.s);
    text_edit(t, e);
    buf_free(&b);
}

static void test_declared(void **state)
{
    struct text t;
    (void)state;
    open_marked(&t);
    assert_int_equal(t.marks.n, 1);
    assert_int_equal(t.marks.v[0].kind, MARK_LOOK);
    assert_int_equal(strncmp(text_at(&t, 0), "ld.global.u32 %r3", 17), 0);
    assert_null(memchr(t.m->text.s, '\003', t.m->text.n));
    text_close(&t);
}

static void test_moved(void **state)
{
    struct text t;
    (void)state;
    open_marked(&t);
    struct ptx_edit *e = ptx_edit_new(t.m);
    ptx_edit_entry(e, t.m->funcs[0], "two", "mov.u32 %%r0, 1;\nld.global.u32 %%r0, [%%d+16];\n");
    ptx_edit_after(e, t.m->funcs[0], stmt_of(&t, 2), "two", "ld.global.u32 %%r0, [%%d+20];\n");
    text_edit(&t, e);
    assert_int_equal(t.marks.n, 1);
    assert_int_equal(strncmp(text_at(&t, 0), "ld.global.u32 %r3", 17), 0);
    text_close(&t);
}

/* The instruction is the one of the same operation. */
static void test_replaced(void **state)
{
    struct text t;
    (void)state;
    open_marked(&t);
    struct ptx_edit *e = ptx_edit_new(t.m);
    ptx_edit_replace(e, t.m->funcs[0], stmt_of(&t, 3), "two",
                     "setp.eq.u32 %%q, %%r0, 0;\n@%%q ld.global.u32 %%r3, [%%d+24];");
    text_edit(&t, e);
    assert_int_equal(t.marks.n, 1);
    assert_int_equal(strncmp(text_at(&t, 0), "@%q ld.global.u32 %r3, [%d+24]", 30), 0);
    text_close(&t);
}

static void test_copied(void **state)
{
    struct text t;
    (void)state;
    open_marked(&t);
    struct span at = t.m->funcs[0]->insts[3].at;
    struct ptx_edit *e = ptx_edit_new(t.m);
    ptx_edit_end(e, t.m->funcs[0], "two", PTX_EDIT_COPY_OF "@%%q ld.global.u32 %%r0, [%%d+12];\n",
                 at.line, at.off);
    text_edit(&t, e);
    assert_int_equal(t.marks.n, 2);
    assert_int_equal(strncmp(text_at(&t, 1), "@%q ld.global.u32 %r0", 21), 0);
    text_close(&t);
}

static void test_removed(void **state)
{
    struct text t;
    (void)state;
    open_marked(&t);
    struct ptx_edit *e = ptx_edit_new(t.m);
    ptx_edit_replace(e, t.m->funcs[0], stmt_of(&t, 3), "two", "%s", "");
    text_edit(&t, e);
    assert_int_equal(t.marks.n, 0);
    text_close(&t);
}

/* ---- the passes ---- */
static struct dev *device;

static int open_device(void **state)
{
    struct diags ds = { 0 };
    struct dev_env env = { .preset = preset_read };
    (void)state;
    assert_status_ok(dev_open("sim:hopper-h200", &env, &device, &ds), &ds);
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    dev_close(device);
    return 0;
}

struct demo {
    struct ptx_module *m;
    struct launch_file file;
    const struct launch_spec *l;
};

static void demo_open(struct demo *d, const char *launches)
{
    struct diags ds = { 0 };
    struct buf path = { 0 };
    *d = (struct demo){ 0 };
    assert_status_ok(launch_file_read(launches, &d->file, &ds), &ds);
    d->l = &d->file.launch[0];
    buf_printf(&path, "%.*s.ptx", (int)(strstr(launches, ".launch.json") - launches), launches);
    assert_status_ok(ptx_parse_file(path.s, &d->m, &ds), &ds);
    diags_free(&ds);
    buf_free(&path);
}

static void demo_close(struct demo *d)
{
    ptx_free(d->m);
    launch_file_free(&d->file);
}

/* False: refused. */
static bool demo_rewrite(const struct demo *d, const char *line, struct pass_output *out)
{
    struct options o = options_default();
    struct diags ds = { 0 };
    assert_status_ok(options_parse_line(&o, str_of(line), &ds), &ds);
    struct pass_input in = { .module = d->m,
                             .kernel = str_of(d->l->kernel),
                             .options = &o,
                             .dev = dev_describe(device),
                             .launch = d->l };
    enum status st = pass_apply(&in, out, &ds);
    if (st != ST_REFUSED)
        assert_status_ok(st, &ds);
    diags_free(&ds);
    return st == ST_OK;
}

/* What agents claim by and look at: atomics whose old value is taken and volatile loads that the pass
 * put in. */
static enum mark_kind meant(const struct pass_output *o, const struct ptx_inst *i)
{
    const struct ptx_line_origin *l = &o->lines[i->at.line - 1];
    if (i->space != PTX_SPACE_GLOBAL || l->line || !l->tag || strcmp(l->tag, "cluster") != 0)
        return MARK_NONE;
    if (i->op == PTX_OP_ATOM)
        return MARK_CLAIM;
    return i->op == PTX_OP_LD && ptx_has_mod(i, PTX_MOD_VOLATILE) ? MARK_LOOK : MARK_NONE;
}

static unsigned check_marks(const struct pass_output *o, const char *what)
{
    unsigned n = 0;
    for (uint32_t f = 0; f < o->module->nfuncs; f++)
        for (uint32_t i = 0; i < o->module->funcs[f]->ninsts; i++) {
            enum mark_kind is = text_marks_at(&o->marks, f, i);
            is = is == MARK_LOOK_SPARE ? MARK_LOOK : is;
            if (is != meant(o, &o->module->funcs[f]->insts[i]))
                fail_msg("%s: line %u is marked %d", what, o->module->funcs[f]->insts[i].at.line, is);
            n += is != MARK_NONE;
        }
    assert_int_equal(n, o->marks.n);
    return n;
}

static const char *const demos[] = { "kernels/kmeans.launch.json", "kernels/syrk.launch.json",
                                     "kernels/histogram.launch.json", "kernels/dot_atomic.launch.json",
                                     "kernels/valley.launch.json" };

static void test_through_passes(void **state)
{
    static const struct {
        const char *line;
        unsigned least; /* demos that it is made of */
    } rows[] = {
        { "--cluster agent", 5 },
        { "--cluster agent --agents 2", 5 },
        { "--cluster agent --agents vote", 5 },
        { "--cluster agent --bypass l1 --pi 2", 3 },
        { "--cluster agent --bypass l1 --pi 1 --bypass-form predicate", 3 },
        { "--cluster agent --coarsen 2 --coarsen-mode vector", 1 },
        { "--cluster agent --coarsen 2 --bypass l1 --pi 1 --prefetch l2", 1 },
        { "--cluster agent --throttle-shared 2048", 5 },
        { "--cluster agent --softcache 1 --prefetch l1", 1 },
        { "--bypass l1 --pi 2 --throttle-shared 2048", 3 },
        { "--cluster redirect --softcache 1", 1 },
    };
    (void)state;
    for (size_t r = 0; r < ARRAY_LEN(rows); r++) {
        unsigned made = 0;
        for (size_t k = 0; k < ARRAY_LEN(demos); k++) {
            struct demo d;
            struct pass_output out;
            demo_open(&d, demos[k]);
            if (demo_rewrite(&d, rows[r].line, &out)) {
                unsigned n = check_marks(&out, rows[r].line);
                assert_int_equal(n > 0, strstr(rows[r].line, "agent") != NULL);
                made++;
            }
            pass_output_free(&out);
            demo_close(&d);
        }
        if (made < rows[r].least)
            fail_msg("%s: made of %u demos", rows[r].line, made);
    }
}

/* ---- names ---- */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

/* word: a register, or what a range of registers begins with (%r of %r<4>) */
static bool is_reg(const struct ptx_func *f, struct str word)
{
    bool found = false;
    for (uint32_t i = 0; i < f->nregs && !found; i++) {
        struct str r = f->regs[i].name, range = r;
        while (range.n && is_digit(range.s[range.n - 1]))
            range.n--;
        found = str_eq(r, word) || str_eq(range, word);
    }
    return found;
}

static bool is_named(const struct ptx_module *m, struct str word, bool functions)
{
    bool found = ptx_find_global(m, word) != NULL;
    for (uint32_t k = 0; k < m->nfuncs && !found; k++) {
        const struct ptx_func *f = m->funcs[k];
        found = (functions && str_eq(f->name, word)) || is_reg(f, word);
        for (uint32_t i = 0; i < f->nlabels && !found; i++)
            found = str_eq(f->labels[i].name, word);
        for (uint32_t i = 0; i < f->nvars && !found; i++)
            found = str_eq(f->vars[i]->name, word);
    }
    return found;
}

/* gl0_seen -> gl9_ty0_frra, as a pass could call it: digits stay, so that ranges still fit. */
static void put_renamed(struct str word, struct buf *out)
{
    if (*word.s == '%')
        buf_puts(out, "%");
    buf_puts(out, "gl9_");
    for (size_t i = *word.s == '%'; i < word.n; i++) {
        char c = word.s[i], low = (char)(c | 32);
        if (low >= 'a' && low <= 'z')
            c = (char)(low + 13 > 'z' ? c - 13 : c + 13);
        buf_put(out, &c, 1);
    }
}

/* The word, number, string or other byte at s. */
static size_t token(const char *s, const char *end)
{
    size_t n = 1;
    if (*s == '"') {
        while (s + n < end && s[n] != '"')
            n++;
        return s + n < end ? n + 1 : n;
    }
    if (is_letter(*s) || is_digit(*s) || *s == '%')
        while (s + n < end && (is_letter(s[n]) || is_digit(s[n])))
            n++;
    return n;
}

/* Registers, labels, variables and functions have other names. */
static void rename_all(const struct ptx_module *m, bool functions, struct buf *out)
{
    const char *end = m->text.s + m->text.n;
    struct strmap known = { 0 };
    for (const char *s = m->text.s; s < end;) {
        struct str word = { s, token(s, end) };
        uint32_t named = 0;
        bool may = (is_letter(*s) || *s == '%') && (s == m->text.s || s[-1] != '.');
        if (may && !strmap_get(&known, word, &named))
            strmap_set(&known, word, named = is_named(m, word, functions));
        if (named)
            put_renamed(word, out);
        else
            buf_str(out, word);
        s += word.n;
    }
    strmap_free(&known);
}

struct job {
    struct dev_symbol_value set, zero[8];
    struct buf names[9];
    struct result r;
};

static char *name_of(struct job *j, size_t k, const char *name, bool renamed)
{
    if (renamed)
        put_renamed(str_of(name), &j->names[k]);
    else
        buf_puts(&j->names[k], name);
    return j->names[k].s;
}

static void launch(const struct demo *d, const struct launch_data *data, const struct pass_output *o,
                   const struct text_marks *marks, bool renamed, bool exact, struct job *j)
{
    struct diags ds = { 0 };
    struct buf text = { 0 }, kernel = { 0 };
    struct dev_code *code = NULL;
    struct dev_data *bound = NULL;
    struct launch_spec l = *d->l;
    *j = (struct job){ .r = result_empty() };
    if (renamed) {
        rename_all(o->module, !l.nbefore, &text); /* launches before it name their kernels */
        if (!l.nbefore)
            put_renamed(str_of(l.kernel), &kernel);
        l.kernel = l.nbefore ? l.kernel : kernel.s;
    } else {
        buf_put(&text, o->text, o->n);
    }
    struct dev_run run = dev_run_default();
    run.launch = &l;
    run.grid = o->grid;
    run.block = o->block;
    run.shared = o->shared;
    run.hw_pi = o->hw_pi;
    run.exact = exact;
    j->set = (struct dev_symbol_value){ name_of(j, 8, PASS_KNOB_SYMBOL, renamed), 0, o->knob,
                                        sizeof o->knob };
    for (uint32_t k = 0; k < o->nreset; k++)
        j->zero[k] = (struct dev_symbol_value){ name_of(j, k, o->reset[k].symbol, renamed), 0, NULL,
                                                o->reset[k].bytes };
    run.set = &j->set;
    run.nset = o->knobs;
    run.zero = j->zero;
    run.nzero = o->nreset;
    assert_status_ok(dev_load_marked(device, d->m->path, (struct str){ text.s, text.n }, marks,
                                     str_of(l.kernel), 0, &code, &ds),
                     &ds);
    assert_status_ok(dev_bind(device, data, &bound, &ds), &ds);
    assert_status_ok(dev_launch(device, code, bound, &run, &j->r, &ds), &ds);
    assert_int_equal(j->r.status, ST_OK);
    dev_unbind(device, bound);
    dev_unload(device, code);
    buf_free(&text);
    buf_free(&kernel);
    for (size_t k = 0; k < ARRAY_LEN(j->names); k++)
        buf_free(&j->names[k]);
}

static void same(const struct result *a, const struct result *b, const char *what)
{
    if (a->time.median != b->time.median || a->sampled != b->sampled || a->regs != b->regs)
        fail_msg("%s: %lld and %lld ns", what, (long long)a->time.median, (long long)b->time.median);
    for (size_t k = 0; k < COUNTER_COUNT; k++)
        if (a->counters[k].valid != b->counters[k].valid ||
            (a->counters[k].valid && a->counters[k].value != b->counters[k].value))
            fail_msg("%s: counter %zu", what, k);
    assert_int_equal(a->noutputs, b->noutputs);
    for (uint32_t k = 0; k < a->noutputs; k++)
        if (a->outputs[k].hash != b->outputs[k].hash)
            fail_msg("%s: output %s", what, a->outputs[k].name);
}

/* the first WHOLE_GRID of the whole launch, so that it is sampled; the others of a few CTAs */
enum { WHOLE_GRID = 2 };
static const char *const passes[] = {
    "",
    "--cluster agent",
    "--cluster agent --bypass l1 --pi 1",
    "--cluster redirect --index column",
    "--prefetch l2",
    "--softcache 1",
    "--bypass l1 --pi 1",
    "--bypass l1 --pi 1 --bypass-form predicate",
    "--bypass l1 --pi 1 --bypass-form grouped",
    "--coarsen 2 --throttle-shared 2048",
    "--coarsen 2 --coarsen-mode vector",
};

/* The same text under other names, with the same marks: nothing differs. */
static bool same_by_any_name(const struct demo *d, const struct launch_data *data, const char *line)
{
    struct pass_output out;
    struct job a, b;
    bool made = demo_rewrite(d, line, &out);
    if (made) {
        launch(d, data, &out, &out.marks, false, false, &a);
        launch(d, data, &out, &out.marks, true, false, &b);
        same(&a.r, &b.r, line);
    }
    pass_output_free(&out);
    return made;
}

static void test_names(void **state)
{
    unsigned made[ARRAY_LEN(passes)] = { 0 };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(demos); i++) {
        struct demo d;
        struct launch_data data;
        struct diags ds = { 0 };
        demo_open(&d, demos[i]);
        struct dim3u *grid = &d.file.launch[0].grid;
        assert_status_ok(launch_data_make(d.l, UINT64_C(1) << 32, &data, &ds), &ds);
        for (size_t p = 0; p < ARRAY_LEN(passes); p++) {
            if (p == WHOLE_GRID) {
                grid->x = grid->x > 7 ? 7 : grid->x;
                grid->y = grid->y > 5 ? 5 : grid->y;
            }
            made[p] += same_by_any_name(&d, &data, passes[p]);
        }
        launch_data_free(&data);
        demo_close(&d);
        diags_free(&ds);
    }
    for (size_t p = 0; p < ARRAY_LEN(passes); p++)
        if (!made[p])
            fail_msg("%s: no demo was rewritten", passes[p]);
}

/* Without marks a launch is simulated whole: its time is that of --exact, with marks or without. */
static void test_whole_without(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(demos); k++) {
        struct demo d;
        struct launch_data data;
        struct pass_output out;
        struct diags ds = { 0 };
        struct job none, exact;
        demo_open(&d, demos[k]);
        assert_status_ok(launch_data_make(d.l, UINT64_C(1) << 32, &data, &ds), &ds);
        assert_true(demo_rewrite(&d, "--cluster agent", &out));
        launch(&d, &data, &out, NULL, false, false, &none);
        launch(&d, &data, &out, &out.marks, false, true, &exact);
        same(&none.r, &exact.r, demos[k]);
        assert_false(none.r.sampled);
        pass_output_free(&out);
        launch_data_free(&data);
        demo_close(&d);
        diags_free(&ds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_declared),      cmocka_unit_test(test_moved),
        cmocka_unit_test(test_replaced),      cmocka_unit_test(test_copied),
        cmocka_unit_test(test_removed),       cmocka_unit_test(test_through_passes),
        cmocka_unit_test(test_whole_without), cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests_name("text_marks", tests, open_device, close_device);
}
