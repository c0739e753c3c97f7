/* What a timing sample leaves out (decode_lean.c): no number of it may change, whatever way a value takes to an
 * address, a branch or a guard; and values that only outputs need are left out. */
#include "engine/sim/sim_int.h"
#include "tests/unit/sim_support.h"

#define DATA (1u << 20)
#define ENTRY SIM_HEAD ".visible .entry k(.param .u64 p)\n{\n" \
    ".reg .b32 %r<40>; .reg .b64 %d<40>; .reg .pred %p<10>; .reg .f32 %f<40>; .shared .align 8 .b8 tile[1024]; .local .align 8 .b8 own[64];\n" \
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.s32 %r4, %r2, %r3, %r1;\n" \
    "and.b32 %r5, %r4, 65535; mul.wide.u32 %d2, %r5, 4; add.u64 %d3, %d1, %d2; shl.b32 %r6, %r1, 2; mov.u32 %r7, tile; add.u32 %r8, %r7, %r6;\n"
#define TWICE "cvt.u64.u32 %d20, %r20; and.b64 %d20, %d20, 65535; mul.lo.u64 %d21, %d20, 4; add.u64 %d22, %d1, %d21; ld.global.u32 %r30, [%d22];\n"
#define OUT "st.global.u32 [%d3+524288], %r30;\nret;\n}\n"

struct row { const char *name, *body; uint32_t left_out; /* at least; instructions that compute less in a sample */ bool all; };
static const struct row ROWS[] = {
    { "values for the output only", "ld.global.f32 %f1, [%d3]; fma.rn.f32 %f2, %f1, %f1, %f1; st.global.f32 [%d3+524288], %f2;\nret;\n}\n", 3, false },
    { "a value through shared memory", "ld.global.f32 %f1, [%d3]; st.shared.f32 [%r8], %f1; bar.sync 0; ld.shared.f32 %f2, [%r8]; add.f32 %f3, %f1, %f2; "
      "st.global.f32 [%d3+524288], %f3;\nret;\n}\n", 5, false },
    { "an index that was loaded", "ld.global.u32 %r20, [%d3]; ld.global.f32 %f1, [%d3]; mul.f32 %f2, %f1, %f1;\n" TWICE OUT, 3, false },
    { "an index through shared memory", "ld.global.u32 %r19, [%d3]; st.shared.u32 [%r8], %r19; bar.sync 0; xor.b32 %r9, %r8, 4; ld.shared.u32 %r20, [%r9];\n" TWICE OUT, 0, false },
    { "an index through local memory", "ld.global.u32 %r19, [%d3]; st.local.u32 [own], %r19; ld.local.u32 %r20, [own];\n" TWICE OUT, 0, false },
    { "an index through global memory", "ld.global.u32 %r18, [%d3]; add.u32 %r19, %r18, 5; st.global.u32 [%d3], %r19; ld.global.u32 %r20, [%d3];\n" TWICE OUT, 0, false },
    { "an index from another lane", "ld.global.u32 %r19, [%d3]; shfl.sync.bfly.b32 %r20, %r19, 1, 31, -1;\n" TWICE OUT, 0, false },
    { "a sum over lanes for the output", "ld.global.f32 %f1, [%d3]; mov.b32 %r19, %f1; shfl.sync.bfly.b32 %r20, %r19, 1, 31, -1; mov.b32 %f2, %r20; add.f32 %f3, %f1, %f2; "
      "st.global.f32 [%d3+524288], %f3;\nret;\n}\n", 5, false },
    { "an index from an atomic", "atom.shared.add.u32 %r20, [tile], 3;\n" TWICE OUT, 0, false },
    { "a count nobody asks for", "ld.global.u32 %r19, [%d3]; mul.lo.u32 %r18, %r19, 7; red.global.add.u32 [%d3+262144], %r18; ret;\n}\n", 2, false },
    { "a branch on data", "ld.global.u32 %r20, [%d3]; and.b32 %r21, %r20, 1; setp.eq.u32 %p1, %r21, 0; @%p1 bra L; ld.global.u32 %r22, [%d3+4096]; add.u32 %r23, %r22, 1;\nL:\nret;\n}\n",
      2, false },
    { "a guard on data", "ld.global.u32 %r20, [%d3]; setp.gt.u32 %p1, %r20, 500; @%p1 ld.global.u32 %r22, [%d3+4096];\nret;\n}\n", 1, false },
    { "a vote on data", "ld.global.u32 %r20, [%d3]; setp.gt.u32 %p1, %r20, 500; vote.sync.any.pred %p2, %p1, -1; @%p2 bra L; ld.global.u32 %r22, [%d3+4096];\nL:\nret;\n}\n", 1, false },
    { "a loop as long as data says", "ld.global.u32 %r20, [%d3]; and.b32 %r21, %r20, 15; mov.u32 %r22, 0;\nL:\nadd.u32 %r22, %r22, 1; add.u32 %r24, %r24, %r22; setp.lt.u32 %p1, %r22, %r21; @%p1 bra L;\nret;\n}\n",
      1, false },
    { "a carry into an address", "ld.global.u32 %r18, [%d3]; add.cc.u32 %r19, %r18, -9; addc.u32 %r20, %r18, 0;\n" TWICE OUT, 0, false },
    { "an asynchronous copy", "cvt.u64.u32 %d9, %r8; cp.async.ca.shared.global [%r8], [%d3], 4; cp.async.wait_all; bar.sync 0; ld.shared.u32 %r20, [%r8];\n" TWICE OUT, 0, false },
    { "a call", "call.uni helper;\nld.global.f32 %f1, [%d3]; mul.f32 %f2, %f1, %f1; ret;\n}\n", 0, true },
};

static void open_row(struct sim_case *c, const struct row *r)
{
    struct buf text = { 0 };
    if (r->all) buf_printf(&text, "%s.func helper\n{\nret;\n}\n%s%s", SIM_HEAD, &ENTRY[strlen(SIM_HEAD)], r->body);
    else buf_printf(&text, "%s%s", ENTRY, r->body);
    sim_case_open(c, text.s, "k", DATA);
    assert_status_ok(c->st, &c->ds);
    buf_free(&text);
    c->l.grid.x = 12000;         /* too many to be simulated whole */
    c->l.block.x = 128;
    c->l.functional = false;
}

/* Numbers of a sampled launch; plain: everything is computed. */
static struct sim_stats sampled(const struct row *r, bool plain, uint32_t *left_out)
{
    struct sim_case c;
    open_row(&c, r);
    for (uint32_t i = 0; i < DATA / 4; i++) ((uint32_t *)(void *)c.data)[i] = i * 2654435761u >> 7;
    *left_out = 0;
    for (uint32_t i = 0; i < c.p->ncode; i++) {
        *left_out += c.p->code[i].lean != c.p->code[i].fn;
        if (plain) c.p->code[i].lean = c.p->code[i].fn;
    }
    sim_case_run(&c);
    assert_status_ok(c.st, &c.ds);
    struct sim_stats s = c.stats;
    c.stats = (struct sim_stats){ 0 };
    sim_case_close(&c);
    return s;
}

static void test_same_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
        uint32_t less, unused;
        struct sim_stats a = sampled(&ROWS[i], false, &less), b = sampled(&ROWS[i], true, &unused);
        bool good = a.time_ns == b.time_ns && a.inst_warp == b.inst_warp && a.inst_thread == b.inst_thread && a.l1_sectors == b.l1_sectors &&
                    a.l1_hits == b.l1_hits && a.l2_hits == b.l2_hits && a.dram_read_bytes == b.dram_read_bytes && a.nloads == b.nloads &&
                    !memcmp(a.loads, b.loads, a.nloads * sizeof *a.loads);
        if (!good || less < ROWS[i].left_out || (ROWS[i].all && less) || !a.dry)
            fail_msg("%s: %.3f and %.3f ns, %u left out, %s", ROWS[i].name, a.time_ns, b.time_ns, less, a.dry ? "sampled" : "not sampled");
        sim_stats_free(&a);
        sim_stats_free(&b);
    }
}

/* The loads and sums of a loop go, what counts its turns stays. */
static void test_what_is_left(void **state)
{
    (void)state;
    struct sim_case c;
    open_row(&c, &ROWS[13]);
    uint32_t adds = 0, kept = 0;
    for (uint32_t i = 0; i < c.p->ncode; i++) {
        if (c.p->code[i].ptx->op != PTX_OP_ADD || c.p->code[i].kind != EXEC_PLAIN) continue;
        adds++;
        kept += c.p->code[i].lean == c.p->code[i].fn;
    }
    assert_int_equal(adds, 4);       /* two addresses, the counter, the sum */
    assert_int_equal(kept, 2);       /* of the addresses that of shared memory goes unused */
    sim_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_same_numbers), cmocka_unit_test(test_what_is_left) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
