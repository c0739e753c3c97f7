/* Edits: what they put where, what they leave alone, and whose line is whose. */
#include "tests/support.h"

#include <stdio.h>
#include <string.h>

#include "engine/ptx/edit.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"

static const char SOURCE[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                             "\n.visible .entry k(.param .u64 p)\n{\n"
                             "\t.reg .b32 \t%r<4>;\n\t.reg .b64 %rd<4>;\n\t.reg .pred %p<2>;\n\n"
                             "\tld.param.u64 %rd1, [p];   // the pointer\n"
                             "L1:\tadd.s32 %r1, %r2, 1; mov.u32 %r3, %tid.x;\n"
                             "\t@%p1 ld.global.ca.L2::128B.u32 %r2, [%rd1+4];\n"
                             "\tret;\n}\n";

struct fixture {
    struct ptx_module *m;
    struct ptx_edit *e;
    struct ptx_edit_result r;
    struct diags ds;
};

static const struct ptx_func *open_text(struct fixture *x, const char *text)
{
    memset(x, 0, sizeof *x);
    enum status st = ptx_parse("t.ptx", str_of(text), &x->m, &x->ds);
    assert_status_ok(st, &x->ds);
    assert_non_null(x->e = ptx_edit_new(x->m));
    return x->m->funcs[0];
}

static void apply(struct fixture *x, const char *want)
{
    assert_status_ok(ptx_edit_apply(x->e, &x->r, &x->ds), &x->ds);
    assert_string_equal(x->r.text, want);
    assert_int_equal(x->r.n, strlen(want));
}

static void close_text(struct fixture *x)
{
    ptx_edit_result_free(&x->r);
    ptx_edit_free(x->e);
    ptx_free(x->m);
    diags_free(&x->ds);
}

static uint32_t stmt_of(const struct ptx_func *f, enum ptx_op op)
{
    for (uint32_t i = 0; i < f->ninsts; i++)
        if (f->insts[i].op == op)
            return f->insts[i].stmt;
    fail_msg("no such instruction");
    return 0;
}

static void unchanged(void **state)
{
    (void)state;
    struct fixture x;
    open_text(&x, SOURCE);
    apply(&x, SOURCE);
    assert_int_equal(x.r.nlines, ptx_line_count(x.m));
    for (uint32_t i = 0; i < x.r.nlines; i++) {
        assert_int_equal(x.r.lines[i].line, i + 1);
        assert_null(x.r.lines[i].tag);
    }
    close_text(&x);
}

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
static void whole_lines(void **state)
{
    (void)state;
    struct fixture x;
    const struct ptx_func *f = open_text(&x, SOURCE);
    ptx_edit_before(x.e, f, stmt_of(f, PTX_OP_RET), "a", "bar.sync 0;");
    ptx_edit_before(x.e, f, stmt_of(f, PTX_OP_RET), "b", "bar.sync %d;\nbar.sync 2;", 1);
    ptx_edit_after(x.e, f, f->insts[0].stmt, "c", "mov.u64 %%rd2, %%rd1;");
    ptx_edit_global(x.e, "g", ".global .u32 n;");
    ptx_edit_entry(x.e, f, "e", "mov.u32 %%r0, 0;");
    ptx_edit_declare(x.e, f, "d", ".reg .b32 %%q;");
    ptx_edit_end(x.e, f, "z", "exit;");
    apply(&x,
          HEAD ".global .u32 n;\n"
               "\n.visible .entry k(.param .u64 p)\n{\n\t.reg .b32 %q;\n"
               "\t.reg .b32 \t%r<4>;\n\t.reg .b64 %rd<4>;\n\t.reg .pred %p<2>;\n\tmov.u32 %r0, 0;\n\n"
               "\tld.param.u64 %rd1, [p];   // the pointer\n\tmov.u64 %rd2, %rd1;\n"
               "L1:\tadd.s32 %r1, %r2, 1; mov.u32 %r3, %tid.x;\n"
               "\t@%p1 ld.global.ca.L2::128B.u32 %r2, [%rd1+4];\n"
               "\tbar.sync 0;\n\tbar.sync 1;\n\tbar.sync 2;\n\tret;\n\texit;\n}\n");
    assert_int_equal(x.r.lines[3].line, 0);
    assert_string_equal(x.r.lines[3].tag, "g");
    assert_int_equal(x.r.lines[4].line, 4);
    assert_int_equal(x.r.lines[x.r.nlines - 1].line, 15);
    assert_string_equal(x.r.lines[x.r.nlines - 2].tag, "z");
    close_text(&x);
}

static void shared_line(void **state)
{
    (void)state;
    struct fixture x;
    const struct ptx_func *f = open_text(&x, HEAD ".entry k() { .reg .b32 a; add.s32 a, a, 1; ret; }");
    ptx_edit_before(x.e, f, stmt_of(f, PTX_OP_ADD), "t", "mov.u32 a, 0;");
    ptx_edit_after(x.e, f, stmt_of(f, PTX_OP_ADD), "t", "mov.u32 a, 2;");
    apply(&x, HEAD ".entry k() { .reg .b32 a; mov.u32 a, 0;\nadd.s32 a, a, 1;\nmov.u32 a, 2;\n ret; }");
    struct ptx_module *again;
    assert_status_ok(ptx_parse("again", (struct str){ x.r.text, x.r.n }, &again, &x.ds), &x.ds);
    assert_int_equal(again->funcs[0]->ninsts, 4);
    ptx_free(again);
    close_text(&x);
}

static void replaces(void **state)
{
    (void)state;
    struct fixture x;
    const struct ptx_func *f = open_text(&x, SOURCE);
    ptx_edit_replace(x.e, f, f->insts[0].stmt, "r", "ld.param.u64 %%rd2, [p];\nmov.u64 %%rd1, %%rd2;");
    ptx_edit_replace(x.e, f, stmt_of(f, PTX_OP_RET), "gone", "%s", "");
    ptx_edit_replace(x.e, f, stmt_of(f, PTX_OP_MOV), "gone", "%s", "");
    apply(&x, HEAD "\n.visible .entry k(.param .u64 p)\n{\n"
                   "\t.reg .b32 \t%r<4>;\n\t.reg .b64 %rd<4>;\n\t.reg .pred %p<2>;\n\n"
                   "\tld.param.u64 %rd2, [p];\n\tmov.u64 %rd1, %rd2;   // the pointer\n"
                   "L1:\tadd.s32 %r1, %r2, 1; \n"
                   "\t@%p1 ld.global.ca.L2::128B.u32 %r2, [%rd1+4];\n}\n");
    assert_int_equal(x.r.lines[10].line, 11);
    assert_string_equal(x.r.lines[10].tag, "r");
    close_text(&x);
}

static void line_ends(void **state)
{
    (void)state;
    struct fixture x;
    const struct ptx_func *f =
        open_text(&x, ".version 8.0\r\n.target sm_80\r\n.entry k()\r\n{\r\n  ret;\r\n}");
    ptx_edit_before(x.e, f, 0, "t", "bar.sync 0;");
    ptx_edit_end(x.e, f, "t", "exit;");
    apply(&x,
          ".version 8.0\r\n.target sm_80\r\n.entry k()\r\n{\r\n  bar.sync 0;\r\n  ret;\r\n  exit;\r\n}");
    close_text(&x);
}

/* Where the text behind `find` stood before; PTX_NO_INDEX: nowhere. */
static uint32_t was_of(const struct fixture *x, const char *find)
{
    const char *at = strstr(x->r.text, find);
    assert_non_null(at);
    return ptx_edit_was(&x->r, (uint32_t)(at - x->r.text));
}

static void statements_know_where_they_come_from(void **state)
{
    (void)state;
    struct fixture x;
    const struct ptx_func *f = open_text(&x, SOURCE);
    const struct ptx_inst *add = &f->insts[1], *mov = &f->insts[2], *ret = &f->insts[f->ninsts - 1];
    assert_int_equal(add->at.line, mov->at.line);
    ptx_edit_before(x.e, f, add->stmt, "t", "neg.s32 %%r1, %%r1;");
    ptx_edit_replace(x.e, f, mov->stmt, "t", "mov.u32 %%r3, 5;\nadd.u32 %%r3, %%r3, 1;");
    ptx_edit_end(x.e, f, "t", PTX_EDIT_COPY_OF "mov.u32 %%r3, 6;\n" PTX_EDIT_COPY_OF "add.s32 %%r1, 6;",
                 mov->at.line, mov->at.off, add->at.line, add->at.off);
    assert_status_ok(ptx_edit_apply(x.e, &x.r, &x.ds), &x.ds);
    assert_int_equal(was_of(&x, "add.s32 %r1, %r2"), add->at.off);
    assert_int_equal(was_of(&x, "ret;"), ret->at.off);
    assert_int_equal(was_of(&x, "mov.u32 %r3, 5"), mov->at.off);
    assert_int_equal(was_of(&x, "mov.u32 %r3, 6"), mov->at.off);
    assert_int_equal(was_of(&x, "add.s32 %r1, 6"), add->at.off);
    assert_int_equal(was_of(&x, "neg.s32"), PTX_NO_INDEX);
    assert_int_equal(was_of(&x, "add.u32 %r3, %r3, 1"), PTX_NO_INDEX);
    close_text(&x);
}

static void overlap_is_refused(void **state)
{
    (void)state;
    struct fixture x;
    const struct ptx_func *f = open_text(&x, SOURCE);
    ptx_edit_replace(x.e, f, f->insts[0].stmt, "first", "ret;");
    ptx_edit_replace(x.e, f, f->insts[0].stmt, "second", "exit;");
    assert_int_equal(ptx_edit_apply(x.e, &x.r, &x.ds), ST_REFUSED);
    assert_true(support_said(&x.ds, "first and second change the same text"));
    assert_int_equal(x.ds.v[0].at.line, 11);
    close_text(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unchanged),
        cmocka_unit_test(whole_lines),
        cmocka_unit_test(shared_line),
        cmocka_unit_test(replaces),
        cmocka_unit_test(line_ends),
        cmocka_unit_test(overlap_is_refused),
        cmocka_unit_test(statements_know_where_they_come_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
