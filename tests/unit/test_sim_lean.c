/* What a timing sample leaves out (timing_slice.c): no number of it may change, whatever way a value
 * takes to an address, a branch or a guard; and values that only outputs need are left out. */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/text_marks.h"
#include "engine/sim/decoded.h"
#include "engine/sim/mem.h"
#include "tests/unit/sim_support.h"

#include <math.h>

#define DATA (1u << 20)
#define ENTRY                                                                                           \
    SIM_HEAD ".visible .entry k(.param .u64 p)\n{\n"                                                    \
             ".reg .b32 %r<40>; .reg .b64 %d<40>; .reg .pred %p<10>; .reg .f32 %f<40>; .shared .align " \
             "8 .b8 tile[1024]; .local .align 8 .b8 own[64];\n"                                         \
             "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, "         \
             "%ntid.x; mad.lo.s32 %r4, %r2, %r3, %r1;\n"                                                \
             "and.b32 %r5, %r4, 65535; mul.wide.u32 %d2, %r5, 4; add.u64 %d3, %d1, %d2; shl.b32 %r6, "  \
             "%r1, 2; mov.u32 %r7, tile; add.u32 %r8, %r7, %r6;\n"
#define TWICE                                                                                          \
    "cvt.u64.u32 %d20, %r20; and.b64 %d20, %d20, 65535; mul.lo.u64 %d21, %d20, 4; add.u64 %d22, %d1, " \
    "%d21; ld.global.u32 %r30, [%d22];\n"
#define OUT "st.global.u32 [%d3+524288], %r30;\nret;\n}\n"

enum {
    ALL = 1,      /* nothing is left out: there is a function to call */
    APART = 2,    /* the buffer's contents do not matter, the table's do */
    TABLE = 4,    /* there is a table: */
    DISTANCE = 8, /* its first word is how far the buffer is from it; */
    HANDED = 16,  /* the parameter is the table */
    CLAIMS = 32   /* its atomic is marked as a claim of tasks */
};
struct row {
    const char *name, *body;
    uint32_t left_out; /* at least; instructions that compute less in a sample */
    unsigned is;
};
static const struct row ROWS[] = {
    { "values for the output only",
      "ld.global.f32 %f1, [%d3]; fma.rn.f32 %f2, %f1, %f1, %f1; st.global.f32 [%d3+524288], "
      "%f2;\nret;\n}\n",
      3, 0 },
    { "a value through shared memory",
      "ld.global.f32 %f1, [%d3]; st.shared.f32 [%r8], %f1; bar.sync 0; ld.shared.f32 %f2, [%r8]; "
      "add.f32 %f3, %f1, %f2; "
      "st.global.f32 [%d3+524288], %f3;\nret;\n}\n",
      5, 0 },
    { "an index that was loaded",
      "ld.global.u32 %r20, [%d3]; ld.global.f32 %f1, [%d3]; mul.f32 %f2, %f1, %f1;\n" TWICE OUT, 3, 0 },
    { "an index through shared memory",
      "ld.global.u32 %r19, [%d3]; st.shared.u32 [%r8], %r19; bar.sync 0; xor.b32 %r9, %r8, 4; "
      "ld.shared.u32 %r20, [%r9];\n" TWICE OUT,
      0, 0 },
    { "an index through local memory",
      "ld.global.u32 %r19, [%d3]; st.local.u32 [own], %r19; ld.local.u32 %r20, [own];\n" TWICE OUT, 0,
      0 },
    { "an index through global memory",
      "ld.global.u32 %r18, [%d3]; add.u32 %r19, %r18, 5; st.global.u32 [%d3], %r19; ld.global.u32 %r20, "
      "[%d3];\n" TWICE OUT,
      0, 0 },
    { "an index from another lane",
      "ld.global.u32 %r19, [%d3]; shfl.sync.bfly.b32 %r20, %r19, 1, 31, -1;\n" TWICE OUT, 0, 0 },
    { "a sum over lanes for the output",
      "ld.global.f32 %f1, [%d3]; mov.b32 %r19, %f1; shfl.sync.bfly.b32 %r20, %r19, 1, 31, -1; mov.b32 "
      "%f2, %r20; add.f32 %f3, %f1, %f2; "
      "st.global.f32 [%d3+524288], %f3;\nret;\n}\n",
      5, 0 },
    { "an index from an atomic", "atom.shared.add.u32 %r20, [tile], 3;\n" TWICE OUT, 0, 0 },
    { "a count nobody asks for",
      "ld.global.u32 %r19, [%d3]; mul.lo.u32 %r18, %r19, 7; red.global.add.u32 [%d3+262144], %r18; "
      "ret;\n}\n",
      2, 0 },
    { "a branch on data",
      "ld.global.u32 %r20, [%d3]; and.b32 %r21, %r20, 1; setp.eq.u32 %p1, %r21, 0; @%p1 bra L; "
      "ld.global.u32 %r22, [%d3+4096]; add.u32 %r23, %r22, 1;\nL:\nret;\n}\n",
      2, 0 },
    { "a guard on data",
      "ld.global.u32 %r20, [%d3]; setp.gt.u32 %p1, %r20, 500; @%p1 ld.global.u32 %r22, "
      "[%d3+4096];\nret;\n}\n",
      1, 0 },
    { "a vote on data",
      "ld.global.u32 %r20, [%d3]; setp.gt.u32 %p1, %r20, 500; vote.sync.any.pred %p2, %p1, -1; @%p2 bra "
      "L; ld.global.u32 %r22, [%d3+4096];\nL:\nret;\n}\n",
      1, 0 },
    { "a loop as long as data says",
      "ld.global.u32 %r20, [%d3]; and.b32 %r21, %r20, 15; mov.u32 %r22, 0;\nL:\nadd.u32 %r22, %r22, 1; "
      "add.u32 %r24, %r24, %r22; setp.lt.u32 %p1, %r22, %r21; @%p1 bra L;\nret;\n}\n",
      1, 0 },
    { "a carry into an address",
      "ld.global.u32 %r18, [%d3]; add.cc.u32 %r19, %r18, -9; addc.u32 %r20, %r18, 0;\n" TWICE OUT, 0,
      0 },
    { "an asynchronous copy",
      "cvt.u64.u32 %d9, %r8; cp.async.ca.shared.global [%r8], [%d3], 4; cp.async.wait_all; bar.sync 0; "
      "ld.shared.u32 %r20, [%r8];\n" TWICE OUT,
      0, 0 },
    { "a call", "call.uni helper;\nld.global.f32 %f1, [%d3]; mul.f32 %f2, %f1, %f1; ret;\n}\n", 0, ALL },
};

/* Indices in a table of the module's own, data in the buffer. Loads of it are followed by stores that a
 * sample may leave out, or may not. */
#define ADDRESS "mov.u64 %d11, table; add.u64 %d12, %d11, %d2;\n"
#define CHANGE  "ld.global.u32 %r18, [%d3]; mad.lo.u32 %r19, %r18, 7, %r4; st.global.u32 [%d3], %r19;\n"
static const struct row TABLE_ROWS[] = {
    { "an index from a table", ADDRESS CHANGE "ld.global.u32 %r20, [%d12];\n" TWICE OUT, 5,
      TABLE | APART },
    { "an index from a table that changes",
      ADDRESS "ld.global.u32 %r20, [%d12]; add.u32 %r19, %r20, 13; st.global.u32 [%d12], %r19; "
              "ld.global.u32 %r20, [%d12];\n" TWICE OUT,
      2, TABLE | APART },
    { "a table by a vector, an address in halves",
      ADDRESS CHANGE "mov.b64 {%r15, %r16}, %d12; mov.b64 %d13, {%r15, %r16}; and.b64 %d13, %d13, -8; "
                     "ld.global.v2.u32 {%r17, %r20}, [%d13];\n" TWICE OUT,
      5, TABLE | APART },
    { "claims",
      "mov.u64 %d30, table;\nL:\natom.global.add.u32 %r20, [%d30], 1; setp.gt.u32 %p1, %r20, "
      "100000000; @%p1 bra E;\n" CHANGE TWICE "st.global.u32 [%d3+524288], %r30; bra L;\nE:\nret;\n}\n",
      4, TABLE | APART | CLAIMS },
    { "table and buffer both",
      ADDRESS CHANGE
      "ld.global.u32 %r17, [%d12]; ld.global.u32 %r16, [%d3]; add.u32 %r20, %r16, %r17;\n" TWICE OUT,
      2, TABLE },
    { "a loop as long as what was stored says, in a table",
      ADDRESS CHANGE "ld.global.u32 %r20, [%d12];\n" TWICE
                     "ld.global.u32 %r21, [%d3]; and.b32 %r21, %r21, 15; mov.u32 %r22, 0;\n"
                     "L:\nadd.u32 %r22, %r22, 1; st.global.u32 [%d3+4096], %r22; ld.global.u32 %r23, "
                     "[%d3+4096]; setp.lt.u32 %p1, %r23, %r21; @%p1 bra L;\n" OUT,
      1, TABLE },
    { "one of the two by a predicate",
      ADDRESS CHANGE "and.b32 %r15, %r1, 1; setp.eq.u32 %p1, %r15, 0; selp.b64 %d13, %d12, %d3, %p1; "
                     "ld.global.u32 %r20, [%d13];\n" TWICE OUT,
      2, TABLE },
    { "an offset of 64 bits that was loaded",
      ADDRESS
      "ld.global.u64 %d13, [%d11+8]; and.b64 %d13, %d13, 65528; add.u64 %d14, %d11, %d13;\n" CHANGE
      "ld.global.u32 %r20, [%d14];\n" TWICE OUT,
      2, TABLE },
    { "its address kept in memory",
      ADDRESS "st.global.u64 [%d1+65528], %d11; ld.global.u64 %d13, [%d1+65528]; add.u64 %d14, %d13, "
              "%d2;\n" CHANGE "ld.global.u32 %r20, [%d14];\n" TWICE OUT,
      2, TABLE },
    { "written through an address kept in memory",
      ADDRESS "ld.global.u64 %d13, [kept]; add.u64 %d14, %d13, %d2; ld.global.u32 %r18, [%d12]; xor.b32 "
              "%r18, %r18, 85; st.global.u32 [%d14], %r18; ld.global.u32 %r20, [%d12];\n" TWICE OUT,
      2, TABLE | APART },
    { "a generic address",
      ADDRESS "cvta.global.u64 %d13, %d12; ld.u32 %r18, [%d13]; add.u32 %r19, %r18, 3; st.u32 [%d13], "
              "%r19; ld.u32 %r20, [%d13];\n" TWICE OUT,
      1, TABLE },
    { "a table reached by what leads out of it",
      "mov.u64 %d11, table; ld.global.s32 %d13, [%d11]; add.u64 %d14, %d11, %d13; add.u64 %d15, %d14, "
      "%d2;\n"
      "ld.global.u32 %r18, [%d3+4096]; mad.lo.u32 %r19, %r18, 7, %r4; st.global.u32 [%d3+4096], %r19; "
      "ld.global.u32 %r20, [%d15+4096];\n" TWICE OUT,
      5, TABLE | APART | DISTANCE },
    { "a table that the launch hands over too", ADDRESS CHANGE "ld.global.u32 %r20, [%d12];\n" TWICE OUT,
      5, TABLE | APART | HANDED },
};

/* Loads it again with the mark. */
static void mark_claim(struct sim_case *c)
{
    const struct ptx_func *f = ptx_find_func(c->m, STR("k"));
    struct sim_preset g = sim_preset_default();
    struct text_marks marks = { 0 };
    for (uint32_t i = 0; i < f->ninsts; i++)
        if (f->insts[i].op == PTX_OP_ATOM)
            assert_true(text_marks_add(&marks, (struct text_mark){ MARK_CLAIM, f->index, i }));
    sim_unload(c->p);
    c->st = sim_load_marked(c->m, STR("k"), &marks, &g, c->mem, &c->p, &c->ds);
    text_marks_free(&marks);
}

static void open_row(struct sim_case *c, const struct row *r)
{
    struct buf text = { 0 };
    if (r->is & TABLE)
        buf_printf(&text, "%s.global .align 8 .b8 table[%u];\n.global .u64 kept = table;\n%s%s",
                   SIM_HEAD, DATA, &ENTRY[strlen(SIM_HEAD)], r->body);
    else if (r->is & ALL)
        buf_printf(&text, "%s.func helper\n{\nret;\n}\n%s%s", SIM_HEAD, &ENTRY[strlen(SIM_HEAD)],
                   r->body);
    else
        buf_printf(&text, "%s%s", ENTRY, r->body);
    sim_case_open(c, text.s, "k", DATA);
    if (r->is & CLAIMS)
        mark_claim(c);
    assert_status_ok(c->st, &c->ds);
    buf_free(&text);
    c->l.grid.x = 80000; /* too many to be simulated whole, also where data decide addresses */
    c->l.block.x = 128;
    c->l.functional = false;
}

static void fill(struct sim_case *c, unsigned is)
{
    uint64_t table = c->addr, bytes;
    uint32_t *v = (uint32_t *)(void *)c->data, *own = v;
    if (is & TABLE && sim_symbol(c->p, str_of("table"), &table, &bytes))
        own = (uint32_t *)(void *)sim_mem_host(c->mem, table, DATA);
    for (uint32_t i = 0; i < DATA / 4; i++) {
        own[i] = i * 2246822519u >> 9;
        v[i] = i * 2654435761u >> 7;
    }
    if (is & DISTANCE)
        own[0] = (uint32_t)(c->addr - table);
    if (is & HANDED)
        memcpy(c->params, &table, sizeof table);
}

/* Numbers of a sampled launch; plain: everything is computed. */
static struct sim_stats sampled(const struct row *r, bool plain, uint32_t *left_out)
{
    struct sim_case c;
    open_row(&c, r);
    fill(&c, r->is);
    *left_out = 0;
    for (uint32_t i = 0; i < c.p->ncode; i++) {
        *left_out += c.p->code[i].lean != c.p->code[i].fn;
        if (plain)
            c.p->code[i].lean = c.p->code[i].fn;
    }
    sim_case_run(&c);
    assert_status_ok(c.st, &c.ds);
    struct sim_stats s = c.stats;
    c.stats = (struct sim_stats){ 0 };
    sim_case_close(&c);
    return s;
}

static void same_numbers(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t less, unused;
        struct sim_stats a = sampled(&rows[i], false, &less), b = sampled(&rows[i], true, &unused);
        /* Of claims the rate is known, and the time only once all of them are counted. */
        bool good = (a.time_ns == b.time_ns ||
                     (isnan(a.time_ns) && isnan(b.time_ns) && a.cycles_per_inst > 0)) &&
                    a.cycles_per_inst == b.cycles_per_inst && a.inst_warp == b.inst_warp &&
                    a.inst_thread == b.inst_thread && a.l1_sectors == b.l1_sectors &&
                    a.l1_hits == b.l1_hits && a.l2_hits == b.l2_hits &&
                    a.dram_read_bytes == b.dram_read_bytes && a.nloads == b.nloads &&
                    !memcmp(a.loads, b.loads, a.nloads * sizeof *a.loads);
        if (!good || less < rows[i].left_out || (rows[i].is & ALL && less) || !a.dry)
            fail_msg("%s: %.3f and %.3f ns, %u left out, %s", rows[i].name, a.time_ns, b.time_ns, less,
                     a.dry ? "sampled" : "not sampled");
        sim_stats_free(&a);
        sim_stats_free(&b);
    }
}

static void test_same_numbers(void **state)
{
    (void)state;
    same_numbers(ROWS, ARRAY_LEN(ROWS));
}

/* Also where an access goes elsewhere than its address tells: such a sample is made again in full. */
static void test_table_and_buffer(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(TABLE_ROWS); i++) {
        struct sim_case c;
        open_row(&c, &TABLE_ROWS[i]);
        if (c.p->timing_reads_only_symbols != ((TABLE_ROWS[i].is & APART) != 0) ||
            c.p->timing_ignores_data)
            fail_msg("%s: told apart: %d", TABLE_ROWS[i].name, c.p->timing_reads_only_symbols);
        sim_case_close(&c);
    }
    same_numbers(TABLE_ROWS, ARRAY_LEN(TABLE_ROWS));
}

/* The loads and sums of a loop go, what counts its turns stays. */
static void test_what_is_left(void **state)
{
    (void)state;
    struct sim_case c;
    open_row(&c, &ROWS[13]);
    uint32_t adds = 0, kept = 0;
    for (uint32_t i = 0; i < c.p->ncode; i++) {
        if (c.p->code[i].ptx->op != PTX_OP_ADD || c.p->code[i].kind != EXEC_PLAIN)
            continue;
        adds++;
        kept += c.p->code[i].lean == c.p->code[i].fn;
    }
    assert_int_equal(adds, 4); /* two addresses, the counter, the sum */
    assert_int_equal(kept, 2); /* of the addresses that of shared memory goes unused */
    sim_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_same_numbers),
                                        cmocka_unit_test(test_table_and_buffer),
                                        cmocka_unit_test(test_what_is_left) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
