/* Control flow: hand-derived graphs, and random ones against definitions worked out the slow
 * way: a dominates b when b cannot be reached without a. */
#include "tests/support.h"

#include <stdio.h>
#include <string.h>

#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

static struct ptx_cfg *build(struct str text, struct ptx_module **m)
{
    struct diags ds = { 0 };
    assert_status_ok(ptx_parse("cfg", text, m, &ds), &ds);
    struct ptx_cfg *c = ptx_cfg_build((*m)->funcs[0]);
    assert_non_null(c);
    diags_free(&ds);
    return c;
}

/* Which blocks are reached from `from` when `without` is taken out. back: along predecessors. */
static void reach(const struct ptx_cfg *c, uint32_t from, uint32_t without, bool *seen)
{
    uint32_t stack[4096], n = 0;
    memset(seen, 0, c->nblocks);
    if (from == without)
        return;
    stack[n++] = from;
    seen[from] = true;
    while (n) {
        const struct ptx_block *b = &c->blocks[stack[--n]];
        for (uint32_t k = 0; k < b->nsucc; k++)
            if (b->succ[k] != without && !seen[b->succ[k]]) {
                seen[b->succ[k]] = true;
                stack[n++] = b->succ[k];
            }
    }
}

static bool leaves(const struct ptx_cfg *c, uint32_t b)
{
    const struct ptx_inst *last = &c->func->insts[c->blocks[b].first + c->blocks[b].n - 1];
    return !c->blocks[b].nsucc || ptx_op_info(last->op)->effect == EFFECT_EXIT ||
           c->blocks[b].first + c->blocks[b].n == c->func->ninsts;
}

static bool reaches_exit(const struct ptx_cfg *c, uint32_t from, uint32_t without)
{
    bool seen[256];
    reach(c, from, without, seen);
    for (uint32_t b = 0; b < c->nblocks; b++)
        if (seen[b] && leaves(c, b))
            return true;
    return false;
}

static void check_dominators(const struct ptx_cfg *c)
{
    bool all[256], seen[256];
    reach(c, 0, PTX_NO_INDEX, all);
    for (uint32_t a = 0; a < c->nblocks; a++) {
        assert_int_equal(c->blocks[a].reachable, all[a]);
        reach(c, 0, a, seen);
        for (uint32_t b = 0; b < c->nblocks; b++)
            assert_int_equal(ptx_dominates(c, a, b), all[a] && all[b] && !seen[b]);
    }
}

/* Every block that can leave: its post-dominators are the blocks without which it cannot. */
static void check_post_dominators(const struct ptx_cfg *c)
{
    for (uint32_t b = 0; b < c->nblocks; b++)
        if (!reaches_exit(c, b, PTX_NO_INDEX))
            return; /* endless loops: which exit stands for them is a choice */
    for (uint32_t b = 0; b < c->nblocks; b++) {
        bool is[256] = { false };
        for (uint32_t p = c->blocks[b].ipdom, n = 0; p != PTX_NO_INDEX; p = c->blocks[p].ipdom) {
            is[p] = true;
            assert_true(n++ < c->nblocks);
        }
        for (uint32_t p = 0; p < c->nblocks; p++)
            if (p != b)
                assert_int_equal(is[p], !reaches_exit(c, b, p));
    }
}

/* A block is in a loop exactly when it can come back to itself; a reducible loop's header
 * dominates its blocks; every loop is strongly connected from its header. */
static void check_loops(const struct ptx_cfg *c)
{
    bool seen[256];
    for (uint32_t b = 0; b < c->nblocks; b++) {
        if (!c->blocks[b].reachable)
            continue;
        bool cycle = false;
        for (uint32_t k = 0; k < c->blocks[b].nsucc && !cycle; k++) {
            reach(c, c->blocks[b].succ[k], PTX_NO_INDEX, seen);
            cycle = seen[b];
        }
        assert_int_equal(c->blocks[b].loop != PTX_NO_INDEX, cycle);
    }
    for (uint32_t l = 0; l < c->nloops; l++) {
        const struct ptx_loop *lp = &c->loops[l];
        assert_true(lp->parent == PTX_NO_INDEX || lp->parent < l);
        assert_int_equal(lp->depth, lp->parent == PTX_NO_INDEX ? 1 : c->loops[lp->parent].depth + 1);
        bool header = false;
        for (uint32_t i = 0; i < lp->nblocks; i++) {
            header = header || lp->blocks[i] == lp->header;
            reach(c, lp->header, PTX_NO_INDEX, seen);
            assert_true(seen[lp->blocks[i]]);
            reach(c, lp->blocks[i], PTX_NO_INDEX, seen);
            assert_true(seen[lp->header]);
            if (!lp->irreducible)
                assert_true(ptx_dominates(c, lp->header, lp->blocks[i]));
        }
        assert_true(header);
    }
}

/* n labelled blocks, each ending in a random branch, exit or nothing. */
static void random_body(struct buf *b, uint64_t seed, unsigned n)
{
    buf_puts(b, HEAD ".entry k() {\n.reg .pred p;\n.reg .b32 r;\n");
    for (unsigned i = 0; i < n; i++) {
        uint64_t z = base_splitmix(seed, i);
        buf_printf(b, "L%u: add.u32 r, r, 1;\n", i);
        if (z % 16 < 9)
            buf_printf(b, "%sbra L%u;\n", z % 16 < 6 ? "@p " : "", (unsigned)(z >> 20) % n);
        else if (z % 16 == 9)
            buf_puts(b, z >> 40 & 1 ? "@p ret;\n" : "ret;\n");
        else if (z % 16 == 10)
            buf_printf(b, "T%u: .branchtargets L%u, L%u, L%u;\nbrx.idx r, T%u;\n", i,
                       (unsigned)(z >> 20) % n, (unsigned)(z >> 30) % n, (unsigned)(z >> 40) % n, i);
    }
    buf_puts(b, "ret;\n}\n");
}

static void random_graphs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct buf b = { 0 };
        random_body(&b, seed, 3 + (unsigned)(seed % 25));
        struct ptx_module *m;
        struct ptx_cfg *c = build((struct str){ b.s, b.n }, &m);
        assert_true(c->nblocks < 256);
        check_dominators(c);
        check_post_dominators(c);
        check_loops(c);
        ptx_cfg_free(c);
        ptx_free(m);
        buf_free(&b);
    }
}

/*   0: entry ─┬─> 1: body ─┐      loop 1..2, exit 3
 *             │    ^       v
 *             │    └── 2: latch ──> 3: ret   */
static void loop_by_hand(void **state)
{
    (void)state;
    struct ptx_module *m;
    struct ptx_cfg *c =
        build(STR(HEAD ".entry k(.param .u32 n) {\n.reg .b32 %r<4>;\n.reg .pred p;\n"
                       "ld.param.u32 %r1, [n];\nmov.u32 %r2, 0;\n"
                       "L: @p bra M;\nadd.u32 %r2, %r2, %r1;\n"
                       "M: add.u32 %r2, %r2, 1;\nsetp.lt.u32 p, %r2, %r1;\n@p bra L;\nret;\n}"),
              &m);
    assert_int_equal(c->nblocks, 5);
    assert_int_equal(c->blocks[0].nsucc, 1);
    assert_int_equal(c->blocks[1].nsucc, 2);
    assert_int_equal(c->blocks[1].succ[0], 3);
    assert_int_equal(c->blocks[1].succ[1], 2);
    assert_int_equal(c->blocks[3].succ[0], 1);
    assert_int_equal(c->blocks[0].idom, PTX_NO_INDEX);
    assert_int_equal(c->blocks[3].idom, 1);
    assert_int_equal(c->blocks[1].ipdom, 3);
    assert_int_equal(c->blocks[4].ipdom, PTX_NO_INDEX);
    assert_int_equal(c->nloops, 1);
    assert_int_equal(c->loops[0].header, 1);
    assert_int_equal(c->loops[0].nblocks, 3);
    assert_false(c->loops[0].irreducible);
    assert_int_equal(c->block_of[5], 3);
    /* %r2: defined by mov (1), add (3), add (4); used by add (3), add (4), setp (5) */
    uint32_t r2 = PTX_NO_INDEX;
    for (uint32_t i = 0; i < c->func->nregs; i++)
        if (str_is(c->func->regs[i].name, "%r2"))
            r2 = i;
    static const uint32_t defs[] = { 1, 3, 4 }, uses[] = { 3, 4, 5 };
    assert_int_equal(c->regs[r2].ndefs, 3);
    assert_memory_equal(c->regs[r2].defs, defs, sizeof defs);
    assert_int_equal(c->regs[r2].nuses, 3);
    assert_memory_equal(c->regs[r2].uses, uses, sizeof uses);
    ptx_cfg_free(c);
    ptx_free(m);
}

static void irreducible_and_tables(void **state)
{
    (void)state;
    struct diags ds = { 0 };
    char *text;
    size_t n;
    assert_status_ok(file_read("tests/golden/ptx/irreducible.ptx", 1u << 20, &text, &n, &ds), &ds);
    struct ptx_module *m;
    struct ptx_cfg *c = build((struct str){ text, n }, &m);
    assert_int_equal(c->nloops, 3);
    unsigned irreducible = 0, inner = 0;
    for (uint32_t l = 0; l < c->nloops; l++) {
        irreducible += c->loops[l].irreducible;
        inner += c->loops[l].depth == 2;
    }
    assert_int_equal(irreducible, 1);
    assert_int_equal(inner, 1);
    for (uint32_t b = 0; b < c->nblocks; b++) {
        const struct ptx_inst *last = &c->func->insts[c->blocks[b].first + c->blocks[b].n - 1];
        if (last->op == PTX_OP_BRX_IDX)
            assert_int_equal(c->blocks[b].nsucc, 3); /* CASE1 is named twice, the edge is one */
    }
    check_dominators(c);
    check_post_dominators(c);
    check_loops(c);
    ptx_cfg_free(c);
    ptx_free(m);
    base_free(text);
}

/* A thousand nested loops, and thirty thousand jumps to one place: no more than linear. */
static void deep_nests(void **state)
{
    (void)state;
    struct buf b = { 0 };
    buf_puts(&b, HEAD ".entry k() {\n.reg .pred p;\n");
    for (unsigned i = 0; i < 20000; i++)
        buf_printf(&b, "L%u: @p ret;\n", i);
    for (unsigned i = 20000; i-- > 0;)
        buf_printf(&b, "@p bra L%u;\n", i);
    buf_puts(&b, "END: ");
    for (unsigned i = 0; i < 30000; i++)
        buf_puts(&b, "@p bra END;\n");
    buf_puts(&b, "ret;\n}\n");
    struct ptx_module *m;
    struct support_clock t = support_clock();
    struct ptx_cfg *c = build((struct str){ b.s, b.n }, &m);
    assert_int_equal(c->nloops, 20001);
    assert_int_equal(c->loops[19999].depth, 20000);
    assert_int_equal(c->loops[0].nblocks, 40000);
    assert_true(arena_bytes(c->arena) < 40u << 20);
    assert_true(support_since(t) < 5000000000);
    ptx_cfg_free(c);
    ptx_free(m);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs),
        cmocka_unit_test(loop_by_hand),
        cmocka_unit_test(irreducible_and_tables),
        cmocka_unit_test(deep_nests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
