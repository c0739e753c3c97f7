/* What the parser makes of a module: every field others build on, with lines and columns. */
#include "tests/support.h"

#include <string.h>

#include "engine/ptx/link.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"

#define HEAD ".version 8.3\n.target sm_90a\n.address_size 64\n"

static struct ptx_module *parse(const char *text)
{
    struct diags ds = { 0 };
    struct ptx_module *m;
    assert_status_ok(ptx_parse("t.ptx", str_of(text), &m, &ds), &ds);
    diags_free(&ds);
    return m;
}

#define assert_str(view, want) assert_true(str_is((view), (want)))

static void header(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse(HEAD ".file 2 \"b.cu\"\n.file 1 \"a.cu\"\n.visible .entry k() { ret; }\n");
    assert_int_equal(m->version, 83);
    assert_int_equal(m->target, 90);
    assert_int_equal(m->target_suffix, 'a');
    assert_str(m->target_text, "sm_90a");
    assert_int_equal(m->address_size, 64);
    assert_int_equal(m->nfiles, 3);
    assert_str(m->files[1], "a.cu");
    assert_str(m->files[2], "b.cu");
    assert_str(ptx_text(m, m->header), ".version 8.3\n.target sm_90a\n.address_size 64");
    assert_int_equal(ptx_line_count(m), 6);
    assert_str(ptx_line_text(m, 2), ".target sm_90a");
    ptx_free(m);
}

static void parameters(void **state)
{
    (void)state;
    struct ptx_module *m = parse(HEAD ".visible .entry k(.param .u32 a, .param .u64 .ptr .global .align "
                                      "16 p, .param .align 8 .b8 s[12], .param .u8 c)\n"
                                      ".maxntid 128, 2 .minnctapersm 3 .reqnctapercluster 2 { ret; }");
    const struct ptx_func *f = ptx_find_func(m, STR("k"));
    assert_non_null(f);
    assert_true(f->entry);
    assert_true(f->has_body);
    assert_int_equal(f->linkage, LINK_VISIBLE);
    assert_int_equal(f->nparams, 4);
    static const uint64_t offset[] = { 0, 8, 16, 28 }, bytes[] = { 4, 8, 12, 1 };
    for (int i = 0; i < 4; i++) {
        assert_int_equal(f->params[i]->offset, offset[i]);
        assert_int_equal(f->params[i]->bytes, bytes[i]);
        assert_int_equal(f->params[i]->space, PTX_SPACE_PARAM);
    }
    assert_int_equal(f->param_bytes, 29);
    assert_true(f->params[1]->is_ptr);
    assert_int_equal(f->params[1]->ptr_space, PTX_SPACE_GLOBAL);
    assert_int_equal(f->params[1]->ptr_align, 16);
    assert_true(f->params[2]->array);
    assert_int_equal(f->maxntid.x, 128);
    assert_int_equal(f->maxntid.y, 2);
    assert_int_equal(f->maxntid.z, 1);
    assert_int_equal(f->reqntid.x, 0);
    assert_int_equal(f->minnctapersm, 3);
    assert_int_equal(f->reqnctapercluster.x, 2);
    ptx_free(m);
}

#define BODY(text)                                                                               \
    HEAD ".global .f32 g[8];\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\n.reg .b64 " \
         "%rd<9>;\n.reg .f32 %f<9>;\n.reg .pred %p<4>;\n" text "\nret;\n}\n"
static const struct ptx_inst *inst(const struct ptx_module *m, uint32_t i)
{
    return &m->funcs[0]->insts[i];
}
static struct str reg_name(const struct ptx_module *m, uint32_t r)
{
    return m->funcs[0]->regs[r].name;
}

static void loads(void **state)
{
    (void)state;
    struct ptx_module *m = parse(BODY("@!%p1 ld.global.nc.L1::no_allocate.L2::128B.v2.f32 \t{%f1, _}, "
                                      "[%rd1+-16];\nld.param.u64 %rd2, [p+0];\nld.f32 %f3, [g+4];"));
    const struct ptx_inst *i = inst(m, 0);
    assert_int_equal(i->op, PTX_OP_LD);
    assert_int_equal(i->space, PTX_SPACE_GLOBAL);
    assert_int_equal(i->vec, 2);
    assert_int_equal(i->ntypes, 1);
    assert_int_equal(i->type[0], PTX_T_F32);
    assert_true(i->guarded);
    assert_true(i->guard_neg);
    assert_str(reg_name(m, i->guard), "%p1");
    assert_true(ptx_has_mod(i, PTX_MOD_NC));
    assert_true(ptx_has_mod(i, PTX_MOD_V2));
    assert_true(!ptx_has_mod(i, PTX_MOD_CG));
    assert_int_equal(ptx_mod_of(i, MODCAT_L1), PTX_MOD_L1_NO_ALLOCATE);
    assert_int_equal(ptx_mod_of(i, MODCAT_L2), PTX_MOD_L2_128B);
    assert_int_equal(ptx_mod_of(i, MODCAT_CACHE), PTX_MOD_NONE);
    assert_int_equal(i->nopnds, 2);
    assert_int_equal(i->opnds[0].kind, OPND_VEC);
    assert_int_equal(i->opnds[0].nelem, 2);
    assert_int_equal(i->opnds[0].elem[0].kind, OPND_REG);
    assert_int_equal(i->opnds[0].elem[1].kind, OPND_SINK);
    assert_int_equal(i->opnds[1].kind, OPND_ADDR);
    assert_int_equal(i->opnds[1].base, BASE_REG);
    assert_int_equal(i->opnds[1].imm, -16);
    assert_int_equal(ptx_operand_access(i, 0), PTX_WRITE);
    assert_int_equal(ptx_operand_access(i, 1), PTX_READ);
    assert_int_equal(i->at.line, 11);
    assert_int_equal(i->at.col, 1);
    assert_str(ptx_text(m, i->at),
               "@!%p1 ld.global.nc.L1::no_allocate.L2::128B.v2.f32 \t{%f1, _}, [%rd1+-16];");
    i = inst(m, 1);
    assert_int_equal(i->space, PTX_SPACE_PARAM);
    assert_int_equal(i->opnds[1].base, BASE_SYM);
    assert_ptr_equal(i->opnds[1].sym, m->funcs[0]->params[0]);
    i = inst(m, 2);
    assert_int_equal(i->space, PTX_SPACE_GENERIC);
    assert_int_equal(i->vec, 1);
    assert_ptr_equal(i->opnds[1].sym, ptx_find_global(m, STR("g")));
    assert_int_equal(i->opnds[1].imm, 4);
    ptx_free(m);
}

static void operands(void **state)
{
    (void)state;
    struct ptx_module *m = parse(
        BODY("setp.lt.and.s32 %p1|%p2, %r1, -5, !%p3;\nmov.f32 %f1, 0f3F800000;\nmov.f32 %f1, "
             "1.5;\nmov.u32 %r1, %ctaid.y;\nmov.u64 %rd1, g+8;\n"
             "cvt.rn.f32.s32 %f1, %r1;\nadd.u64 %rd1, %rd1, 0xffffffffffffffff;\nshfl.sync.bfly.b32 "
             "%r1|%p1, %r2, 1, 31, -1;\natom.global.and.b32 %r1, [%rd1], 3;\n"
             "mov.b64 {%r1, %r2}, %rd1;\ntex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];"));
    const struct ptx_inst *i = inst(m, 0);
    assert_int_equal(i->nopnds, 5);
    assert_int_equal(ptx_mod_of(i, MODCAT_CMP), PTX_MOD_LT);
    assert_int_equal(ptx_mod_of(i, MODCAT_BOOL), PTX_MOD_AND);
    assert_int_equal(ptx_operand_access(i, 1), PTX_WRITE);
    assert_int_equal(i->opnds[3].imm, -5);
    assert_true(i->opnds[4].neg);
    i = inst(m, 1);
    assert_true(i->opnds[1].is_float);
    assert_int_equal(i->opnds[1].fbits, 32);
    assert_int_equal(i->opnds[1].imm, 0x3F800000);
    i = inst(m, 2);
    assert_int_equal(i->opnds[1].fbits, 64);
    assert_int_equal(i->opnds[1].imm, 0x3FF8000000000000);
    i = inst(m, 3);
    assert_int_equal(i->opnds[1].kind, OPND_SREG);
    assert_int_equal(i->opnds[1].index, PTX_SREG_CTAID);
    assert_int_equal(i->opnds[1].comp, 1);
    i = inst(m, 4);
    assert_int_equal(i->opnds[1].kind, OPND_SYM);
    assert_int_equal(i->opnds[1].imm, 8);
    i = inst(m, 5);
    assert_int_equal(i->ntypes, 2);
    assert_int_equal(i->type[0], PTX_T_F32);
    assert_int_equal(i->type[1], PTX_T_S32);
    assert_int_equal(ptx_mod_of(i, MODCAT_ROUND), PTX_MOD_RN);
    assert_int_equal(inst(m, 6)->opnds[2].imm, -1);
    assert_int_equal(inst(m, 7)->op, PTX_OP_SHFL);
    i = inst(m, 8);
    assert_int_equal(ptx_mod_of(i, MODCAT_ATOM), PTX_MOD_AND);
    assert_int_equal(ptx_operand_access(i, 1), PTX_READ | PTX_WRITE);
    i = inst(m, 9);
    assert_int_equal(ptx_operand_access(i, 0), PTX_WRITE);
    assert_int_equal(i->opnds[0].elem[1].access, PTX_WRITE);
    assert_int_equal(ptx_operand_access(i, 1), PTX_READ);
    i = inst(m, 10);
    assert_int_equal(i->opnds[1].kind, OPND_MULTI);
    assert_int_equal(i->opnds[1].nelem, 2);
    assert_int_equal(i->opnds[1].elem[1].kind, OPND_VEC);
    assert_int_equal(i->opnds[1].elem[1].elem[1].access, PTX_READ);
    ptx_free(m);
}

static void separate_rows(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse(BODY("mul.lo.s32 %r1, %r2, %r3;\nmul.wide.u32 %rd1, %r2, %r3;\nmul.f32 %f1, %f2, "
                   "%f3;\nmad.lo.cc.u32 %r1, %r2, %r3, %r4;\nbar.red.popc.u32 %r1, 0, %p1;\n"
                   "fence.proxy.tensormap::generic.release.gpu;\nmbarrier.try_wait.parity.shared::cta."
                   "b64 %p1, [%r1], %r2;\nbarrier.cluster.arrive.release.aligned;"));
    static const uint16_t want[] = { PTX_OP_MUL_LO,
                                     PTX_OP_MUL_WIDE,
                                     PTX_OP_MUL,
                                     PTX_OP_MAD_LO_CC,
                                     PTX_OP_BAR_RED,
                                     PTX_OP_FENCE_PROXY_TENSORMAP,
                                     PTX_OP_MBARRIER_TRY_WAIT_PARITY,
                                     PTX_OP_BARRIER_CLUSTER_ARRIVE };
    for (uint32_t k = 0; k < ARRAY_LEN(want); k++)
        assert_int_equal(inst(m, k)->op, want[k]);
    ptx_free(m);
}

static void scopes(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse(HEAD ".entry k() { .reg .b32 x, %r<4>; mov.u32 x, 1; { .reg .b64 x; mov.u64 x, 2; { .reg "
                   ".f32 %r<2>; mov.f32 %r1, 0f00000000; } mov.u32 %r1, 3; }\n"
                   "{ L: bra L; } { L: bra L; } mov.u32 x, 4; }");
    const struct ptx_func *f = m->funcs[0];
    const uint32_t outer = f->insts[0].opnds[0].index, inner = f->insts[1].opnds[0].index,
                   shadow = f->insts[2].opnds[0].index, plain = f->insts[3].opnds[0].index;
    assert_int_equal(f->nregs, 4);
    assert_int_equal(f->regs[outer].type, PTX_T_B32);
    assert_int_equal(f->regs[inner].type, PTX_T_B64);
    assert_int_equal(f->regs[shadow].type, PTX_T_F32);
    assert_int_equal(f->regs[plain].type, PTX_T_B32);
    assert_true(f->regs[outer].scope == 0);
    assert_true(f->regs[inner].scope != 0);
    assert_true(f->regs[shadow].scope != f->regs[inner].scope);
    assert_int_equal(f->nlabels, 2);
    assert_int_equal(f->insts[4].opnds[0].index, 0);
    assert_int_equal(f->insts[5].opnds[0].index, 1);
    assert_int_equal(f->insts[6].opnds[0].index, outer);
    ptx_free(m);
}

static void initialisers(void **state)
{
    (void)state;
    struct ptx_module *m = parse(
        HEAD
        ".global .u16 t[2][3] = { {1}, {2, 0x304} };\n.global .f32 f = 1.5;\n.global .f64 d = "
        "0d3FF0000000000000;\n.const .b8 c[1000000000] = {9};\n"
        ".global .u64 p[2] = {0, generic(t)+6};\n.global .f16 h = 1.0;\n.extern .shared .b8 s[];\n");
    const struct ptx_symbol *t = ptx_find_global(m, STR("t")), *p = ptx_find_global(m, STR("p"));
    static const uint8_t table[] = { 1, 0, 0, 0, 0, 0, 2, 0, 4, 3 }, one_half[] = { 0, 0, 0xc0, 0x3f },
                         one[] = { 0, 0, 0, 0, 0, 0, 0xf0, 0x3f };
    assert_int_equal(t->bytes, 12);
    assert_int_equal(t->ninit, sizeof table);
    assert_memory_equal(t->init, table, sizeof table);
    assert_memory_equal(ptx_find_global(m, STR("f"))->init, one_half, 4);
    assert_memory_equal(ptx_find_global(m, STR("d"))->init, one, 8);
    assert_memory_equal(ptx_find_global(m, STR("h"))->init, "\x00\x3c", 2);
    assert_int_equal(ptx_find_global(m, STR("c"))->bytes, 1000000000);
    assert_int_equal(ptx_find_global(m, STR("c"))->ninit, 1);
    assert_int_equal(p->nreloc, 1);
    assert_int_equal(p->reloc[0].at, 8);
    assert_int_equal(p->reloc[0].addend, 6);
    assert_true(p->reloc[0].generic);
    assert_ptr_equal(p->reloc[0].sym, t);
    assert_true(ptx_find_global(m, STR("s"))->unsized);
    assert_int_equal(ptx_find_global(m, STR("s"))->linkage, LINK_EXTERN);
    ptx_free(m);
}

static void source_lines(void **state)
{
    (void)state;
    struct ptx_module *m = parse(
        HEAD ".file 1 \"a.cu\"\n.entry k() {\n.reg .b32 r;\nmov.u32 r, 0;\n.loc 1 7 3\nmov.u32 r, "
             "1;\nmov.u32 r, 2;\n.loc 1 9 5, function_name S, inlined_at 1 7 3\nmov.u32 r, 3;\nret;\n}");
    const struct ptx_func *f = m->funcs[0];
    static const uint32_t line[] = { 0, 7, 7, 9, 9 };
    for (uint32_t i = 0; i < f->ninsts; i++)
        assert_int_equal(ptx_loc_of(f, &f->insts[i]).line, line[i]);
    assert_int_equal(ptx_loc_of(f, &f->insts[3]).col, 5);
    ptx_free(m);
}

static void calls(void **state)
{
    (void)state;
    struct ptx_module *m = parse(HEAD ".func (.param .b32 r) f(.param .b32 a) { ret; }\n.entry k() { "
                                      ".param .b32 x, y; call.uni (y), f, (x); ret; }");
    const struct ptx_inst *i = &m->funcs[1]->insts[0];
    assert_int_equal(i->op, PTX_OP_CALL);
    assert_int_equal(i->nopnds, 3);
    assert_int_equal(i->opnds[0].kind, OPND_MULTI);
    assert_int_equal(i->opnds[0].access, PTX_WRITE);
    assert_ptr_equal(i->opnds[1].sym->func, m->funcs[0]);
    assert_int_equal(i->opnds[2].elem[0].sym->space, PTX_SPACE_PARAM);
    assert_int_equal(m->funcs[1]->nvars, 2);
    ptx_free(m);
}

static void linking(void **state)
{
    (void)state;
    struct diags ds = { 0 };
    struct ptx_module *m[3];
    assert_status_ok(ptx_parse_file("tests/golden/ptx/linked_a.ptx", &m[0], &ds), &ds);
    assert_status_ok(ptx_parse_file("tests/golden/ptx/linked_b.ptx", &m[1], &ds), &ds);
    assert_int_equal(ptx_link_check(m, 1, &ds), ST_OK);
    assert_true(support_said(&ds, "'twice' is not defined in any of these modules"));
    diags_free(&ds);
    memset(&ds, 0, sizeof ds);
    assert_int_equal(ptx_link_check(m, 2, &ds), ST_OK);
    assert_int_equal(ds.n, 0);
    m[2] = m[1];
    assert_int_equal(ptx_link_check(m, 3, &ds), ST_INPUT);
    assert_true(support_said(&ds, "'data' is defined twice"));
    diags_free(&ds);
    ptx_free(m[0]);
    ptx_free(m[1]);
}

/* More mistakes than are kept: the rest is counted. */
static void many_errors(void **state)
{
    (void)state;
    struct buf b = { 0 };
    buf_puts(&b, HEAD ".entry k() {\n");
    for (int i = 0; i < 500; i++)
        buf_printf(&b, "add.s32 a%d b%d;\n", i, i);
    buf_puts(&b, "}\n");
    struct diags ds = { 0 };
    struct ptx_module *m;
    assert_int_equal(ptx_parse("many", (struct str){ b.s, b.n }, &m, &ds), ST_INPUT);
    assert_true(ds.errors >= 500);
    assert_true(ds.n <= DIAG_MAX_ERRORS + 1);
    assert_int_equal(ds.v[0].at.line, 5);
    ptx_free(m);
    diags_free(&ds);
    buf_free(&b);
}

/* Every type named in mods.def is one, and every modifier of a row exists. */
static void tables_agree(void **state)
{
    (void)state;
    for (int m = 1; m < PTX_MOD_COUNT; m++) {
        bool found = false;
        for (int t = 1; t < PTX_T_COUNT; t++)
            found = found || !strcmp(ptx_mod_text((enum ptx_mod)m) + 1, ptx_type_name((enum ptx_type)t));
        if ((ptx_mod_category((enum ptx_mod)m) == MODCAT_TYPE) != found &&
            strcmp(ptx_mod_text((enum ptx_mod)m), ".b1024") != 0)
            fail_msg("%s is a type in one table only", ptx_mod_text((enum ptx_mod)m));
    }
    for (int op = 1; op < PTX_OP_COUNT; op++) {
        const struct ptx_op_info *o = ptx_op_info((unsigned)op);
        assert_non_null(o->name);
        assert_non_null(o->sig);
        assert_true(o->section);
        assert_true(!strncmp(o->section, "9.7.", 4));
        for (const char *s = o->mods ? o->mods : ""; *s;) {
            size_t n = strcspn(s, " /@[!*");
            bool found = n == 0 || *s == '#';
            for (int m = 1; m < PTX_MOD_COUNT && !found; m++)
                found = strlen(ptx_mod_text((enum ptx_mod)m)) == n + 1 &&
                        !strncmp(ptx_mod_text((enum ptx_mod)m) + 1, s, n);
            if (!found)
                fail_msg("%s lists '%.*s', which mods.def does not have", o->name, (int)n, s);
            s += strcspn(s, " /[");
            if (*s == '[')
                s += strcspn(s, "]");
            s += strcspn(s, " /");
            s += *s != 0;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header),       cmocka_unit_test(parameters),    cmocka_unit_test(loads),
        cmocka_unit_test(operands),     cmocka_unit_test(separate_rows), cmocka_unit_test(scopes),
        cmocka_unit_test(initialisers), cmocka_unit_test(source_lines),  cmocka_unit_test(calls),
        cmocka_unit_test(linking),      cmocka_unit_test(many_errors),   cmocka_unit_test(tables_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
