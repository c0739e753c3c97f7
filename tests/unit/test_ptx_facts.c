/* Facts of functions (engine/ptx/facts): sets worked out the slow way on random graphs, and values that
 * are said to be the same in all threads against what the simulated device computes. */
#include "tests/unit/sim_support.h"

#include "engine/ptx/facts/diverge.h"
#include "engine/ptx/facts/facts.h"
#include "engine/ptx/facts/live.h"
#include "engine/ptx/facts/parts.h"
#include "engine/ptx/facts/reach.h"
#include "engine/ptx/facts/solve.h"

#include <pthread.h>

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
enum { MOST = 40, REGS = 6 };

static const struct ptx_func *build(struct str text, struct ptx_module **m)
{
    struct diags ds = { 0 };
    assert_status_ok(ptx_parse("facts", text, m, &ds), &ds);
    const struct ptx_func *x = (*m)->funcs[0];
    assert_non_null(x);
    diags_free(&ds);
    return x;
}

/* n labelled blocks of a few writes and reads, each ending in a random branch, exit or nothing. */
static void random_body(struct buf *b, uint64_t seed, unsigned n)
{
    buf_puts(b, HEAD ".entry k() {\n.reg .pred p;\n.reg .b32 r<6>;\n");
    for (unsigned i = 0; i < n; i++) {
        uint64_t z = base_splitmix(seed, i), y = base_splitmix(seed, i + 1000);
        buf_printf(b, "L%u:\n", i);
        for (unsigned k = 0; k < y % 3; k++, y >>= 12)
            buf_printf(b, "%sadd.u32 r%u, r%u, r%u;\n", y >> 4 & 3 ? "" : "@p ",
                       (unsigned)(y >> 8) % REGS, (unsigned)(y >> 20) % REGS,
                       (unsigned)(y >> 32) % REGS);
        if (z % 16 < 9)
            buf_printf(b, "%sbra L%u;\n", z % 16 < 6 ? "@p " : "", (unsigned)(z >> 20) % n);
        else if (z % 16 == 9)
            buf_puts(b, z >> 40 & 1 ? "@p ret;\n" : "ret;\n");
        else
            buf_printf(b, "setp.eq.u32 p, r%u, 0;\n", (unsigned)(z >> 50) % REGS);
    }
    buf_puts(b, "ret;\n}\n");
}

/* Calls check for many random functions. */
static void each_random(void (*check)(const struct ptx_func *x))
{
    for (uint64_t seed = 1; seed <= 150; seed++) {
        struct buf b = { 0 };
        struct ptx_module *m;
        random_body(&b, seed, 2 + (unsigned)(seed % (MOST - 4)));
        const struct ptx_func *x = build((struct str){ b.s, b.n }, &m);
        assert_true(ptx_cfg_of(x)->nblocks < 3 * MOST);
        check(x);
        ptx_free(m);
        buf_free(&b);
    }
}

/* ---- the solver ---- */
/* Each node has the greatest number that reaches it. */
struct greatest {
    uint32_t n;
    const bool (*edge)[MOST];
    uint32_t best[MOST];
    uint64_t steps;
};

static void greatest_step(void *ctx, struct ptx_solver *s, uint32_t node)
{
    struct greatest *g = ctx;
    g->steps++;
    for (uint32_t to = 0; to < g->n; to++)
        if (g->edge[node][to] && g->best[to] < g->best[node]) {
            g->best[to] = g->best[node];
            ptx_ask(s, to);
        }
}

static void test_solver(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        uint32_t n = 1 + (uint32_t)(seed % MOST);
        bool edge[MOST][MOST] = { 0 }, path[MOST][MOST] = { 0 };
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < n; k++)
                path[i][k] = edge[i][k] = base_splitmix(seed, i * MOST + k) % n < 2;
        for (uint32_t v = 0; v < n; v++) /* Warshall's closure */
            for (uint32_t i = 0; i < n; i++)
                for (uint32_t k = 0; k < n; k++)
                    path[i][k] |= path[i][v] && path[v][k];
        for (int way = PTX_FORWARD; way <= PTX_BACKWARD; way++) {
            struct greatest g = { .n = n, .edge = (const bool(*)[MOST])edge };
            for (uint32_t i = 0; i < n; i++)
                g.best[i] = i;
            assert_true(ptx_solve(n, (enum ptx_way)way, greatest_step, &g));
            assert_true(g.steps >= n);
            for (uint32_t k = 0; k < n; k++) {
                uint32_t want = k;
                for (uint32_t i = 0; i < n; i++)
                    want = path[i][k] && i > want ? i : want;
                assert_int_equal(g.best[k], want);
            }
        }
    }
}

static void test_solver_of_nothing(void **state)
{
    struct greatest g = { 0 };
    (void)state;
    assert_true(ptx_solve(0, PTX_BACKWARD, greatest_step, &g));
    assert_int_equal(g.steps, 0);
}

/* ---- blocks that are reached ---- */
/* By paths of at least one edge that do not enter `without`. */
static void closure(const struct ptx_cfg *c, uint32_t without, bool path[3 * MOST][3 * MOST])
{
    for (uint32_t b = 0; b < c->nblocks; b++)
        for (uint32_t k = 0; k < c->nblocks; k++)
            path[b][k] = false;
    for (uint32_t b = 0; b < c->nblocks; b++)
        for (uint32_t k = 0; k < c->blocks[b].nsucc; k++)
            path[b][c->blocks[b].succ[k]] = c->blocks[b].succ[k] != without && b != without;
    for (uint32_t v = 0; v < c->nblocks; v++)
        for (uint32_t b = 0; b < c->nblocks; b++)
            for (uint32_t k = 0; k < c->nblocks && path[b][v]; k++)
                path[b][k] |= path[v][k];
}

static void check_reach(const struct ptx_func *x)
{
    static bool path[3 * MOST][3 * MOST];
    const struct ptx_cfg *c = ptx_cfg_of(x);
    closure(c, PTX_NO_INDEX, path);
    for (uint32_t b = 0; b < c->nblocks; b++) {
        bool on[3 * MOST] = { 0 }, back[3 * MOST] = { 0 };
        on[b] = back[b] = true;
        assert_true(ptx_reach(c, PTX_FORWARD, on));
        assert_true(ptx_reach(c, PTX_BACKWARD, back));
        for (uint32_t k = 0; k < c->nblocks; k++) {
            assert_int_equal(on[k], k == b || path[b][k]);
            assert_int_equal(back[k], k == b || path[k][b]);
        }
    }
}

static void test_reach(void **state)
{
    (void)state;
    each_random(check_reach);
}

/* Against the closure of the edges between blocks of the region. */
static void check_within(struct ptx_region *r, const struct ptx_cfg *c)
{
    static bool path[3 * MOST][3 * MOST];
    memset(path, 0, sizeof path);
    for (uint32_t b = 0; b < c->nblocks; b++)
        for (uint32_t e = 0; e < c->blocks[b].nsucc; e++)
            path[b][c->blocks[b].succ[e]] =
                ptx_region_has(r, b) && ptx_region_has(r, c->blocks[b].succ[e]);
    for (uint32_t m = 0; m < c->nblocks; m++)
        for (uint32_t i = 0; i < c->nblocks; i++)
            for (uint32_t j = 0; path[i][m] && j < c->nblocks; j++)
                path[i][j] |= path[m][j];
    for (uint32_t i = 0; i < c->nblocks; i++)
        for (uint32_t j = 0; j < c->nblocks; j++)
            assert_int_equal(ptx_region_reaches(r, i, j),
                             path[i][j] || (i == j && ptx_region_has(r, i)));
}

static void check_regions(const struct ptx_func *x)
{
    static bool path[3 * MOST][3 * MOST];
    const struct ptx_cfg *c = ptx_cfg_of(x);
    struct ptx_region r;
    assert_true(ptx_region_make(&r, c));
    for (uint32_t b = 0; b < c->nblocks; b++) {
        uint32_t n = 0;
        if (c->blocks[b].ipdom == b)
            continue;
        closure(c, c->blocks[b].ipdom, path);
        ptx_region_take(&r, b);
        for (uint32_t k = 0; k < c->nblocks; k++) {
            assert_int_equal(ptx_region_has(&r, k), path[b][k]);
            n += path[b][k];
        }
        assert_int_equal(r.n, n);
        check_within(&r, c);
    }
    ptx_region_free(&r);
}

static void test_regions(void **state)
{
    (void)state;
    each_random(check_regions);
}

static uint32_t next_block(void *ctx, uint32_t node, uint32_t *at)
{
    const struct ptx_block *b = &((const struct ptx_cfg *)ctx)->blocks[node];
    return *at < b->nsucc ? b->succ[(*at)++] : PTX_NO_INDEX;
}

/* Two blocks are of one part when each reaches the other; a part comes after those it leads to. */
static void check_parts(const struct ptx_func *x)
{
    static bool path[3 * MOST][3 * MOST];
    uint32_t part[3 * MOST] = { 0 }, n;
    closure(ptx_cfg_of(x), PTX_NO_INDEX, path);
    assert_true(
        ptx_parts(ptx_cfg_of(x)->nblocks, next_block, (void *)(uintptr_t)ptx_cfg_of(x), part, &n));
    for (uint32_t b = 0; b < ptx_cfg_of(x)->nblocks; b++)
        for (uint32_t k = 0; k < ptx_cfg_of(x)->nblocks; k++) {
            assert_int_equal(part[b] == part[k], b == k || (path[b][k] && path[k][b]));
            assert_true(!path[b][k] || part[b] >= part[k]);
            assert_true(part[b] < n);
        }
}

static void test_parts(void **state)
{
    (void)state;
    each_random(check_parts);
}

/* ---- liveness, along ways through the instructions ---- */
struct seek {
    const struct ptx_cfg *c;
    uint32_t reg;
    bool *seen; /* by instruction */
};

/* Is the register read on some way from instruction i on, before it is written for sure? */
static bool read_from(struct seek *s, uint32_t i)
{
    if (i >= s->c->func->ninsts || s->seen[i])
        return false;
    const struct ptx_inst *in = &s->c->func->insts[i];
    const struct ptx_block *b = &s->c->blocks[s->c->block_of[i]];
    unsigned access = ptx_reg_access(in, s->reg);
    s->seen[i] = true;
    if (access & PTX_READ)
        return true;
    if (access & PTX_WRITE && !in->guarded)
        return false;
    if (i + 1 < b->first + b->n)
        return read_from(s, i + 1);
    for (uint32_t k = 0; k < b->nsucc; k++)
        if (read_from(s, s->c->blocks[b->succ[k]].first))
            return true;
    return false;
}

static bool live_at(const struct ptx_cfg *c, uint32_t reg, uint32_t block)
{
    bool seen[8 * MOST] = { 0 };
    struct seek s = { c, reg, seen };
    assert_true(c->func->ninsts < 8 * MOST);
    return read_from(&s, c->blocks[block].first);
}

static void check_live(const struct ptx_func *x)
{
    const struct ptx_cfg *c = ptx_cfg_of(x);
    const struct ptx_live *l = ptx_live_of(x);
    assert_non_null(l);
    for (uint32_t b = 0; b < c->nblocks; b++)
        for (uint32_t r = 0; r < c->func->nregs && c->blocks[b].reachable; r++) {
            bool out = false;
            for (uint32_t k = 0; k < c->blocks[b].nsucc; k++)
                out |= live_at(c, r, c->blocks[b].succ[k]);
            assert_int_equal(ptx_bit(l->in + b * l->words, r), live_at(c, r, b));
            assert_int_equal(ptx_bit(l->out + b * l->words, r), out);
        }
}

static void test_live(void **state)
{
    (void)state;
    each_random(check_live);
}

/* A register of several elements is not written by a write of one of them. */
static void test_live_vector(void **state)
{
    struct ptx_module *m;
    (void)state;
    const struct ptx_func *x =
        build(STR(HEAD ".entry k() {\n.reg .v2 .b32 v;\n.reg .b32 r;\n"
                       "mov.b32 v.x, 1;\nmov.b32 r, v.y;\nst.shared.b32 [r], v.x;\nret;\n}\n"),
              &m);
    const struct ptx_live *l = ptx_live_of(x);
    assert_true(ptx_bit(l->in, 0));
    assert_false(ptx_bit(l->in, 1));
    ptx_free(m);
}

/* ---- divergence, by running ---- */
/* A structured program over %a0 .. %a5, which it stores at its end: [thread of the grid][register]. */
struct program {
    struct buf b;
    uint64_t seed, n;
    unsigned labels, loops;
    bool control; /* branches, loops and guards as well */
};

static unsigned pick(struct program *p, unsigned n)
{
    return (unsigned)(base_splitmix(p->seed, p->n++) % n);
}

static void put_value(struct program *p)
{
    static const char *const sregs[] = { "%tid.x",    "%laneid",      "%warpid", "%ctaid.x",
                                         "%nctaid.x", "%lanemask_lt", "%ntid.x", "%smid" };
    static const char *const ops[] = { "add.s32", "xor.b32", "mul.lo.s32", "min.s32" };
    unsigned to = pick(p, REGS);
    if (pick(p, 7) == 0)
        buf_printf(&p->b, "mov.u32 %%a%u, %s;\n", to, sregs[pick(p, 8)]);
    else if (pick(p, 7) == 0)
        buf_printf(&p->b, "setp.lt.u32 %%v, %%a%u, 9;\nbarrier.red.popc.u32 %%a%u, 0, %%v;\n",
                   pick(p, REGS), to);
    else if (pick(p, 5) == 0)
        buf_printf(&p->b, "add.cc.u32 %%a%u, %%a%u, -3;\naddc.u32 %%a%u, 0, 0;\n", pick(p, REGS),
                   pick(p, REGS), to);
    else
        buf_printf(&p->b, "%s %%a%u, %%a%u, %%a%u;\n", ops[pick(p, 4)], to, pick(p, REGS),
                   pick(p, REGS));
}

/* Barriers stand at the outermost level alone, where all threads come. */
static void put_plain(struct program *p)
{
    unsigned to = pick(p, REGS);
    buf_printf(&p->b, "%s %%a%u, %%a%u, %u;\n", pick(p, 2) ? "add.s32" : "xor.b32", to, pick(p, REGS),
               pick(p, 9));
}

static void put_block(struct program *p, unsigned depth)
{
    for (unsigned k = 1 + pick(p, 3); k--;) {
        unsigned l = p->labels, what = p->control ? pick(p, depth ? 8 : 4) : 4;
        if (what > 3 || (what == 3 && !depth)) {
            put_plain(p);
        } else if (what == 2) {
            buf_printf(&p->b, "setp.lt.u32 %%p, %%a%u, %u;\n@%%p ", pick(p, REGS), pick(p, 60));
            put_plain(p);
        } else if (what == 3 && p->loops < 8) { /* round it at most four times */
            unsigned loop = p->loops++;
            p->labels += 2;
            buf_printf(&p->b, "and.b32 %%n%u, %%a%u, 3;\nL%u:\n", loop, pick(p, REGS), l);
            put_block(p, depth - 1);
            buf_printf(&p->b, "sub.s32 %%n%u, %%n%u, 1;\nsetp.gt.s32 %%p, %%n%u, 0;\n@%%p bra L%u;\n",
                       loop, loop, loop, l);
        } else if (depth) {
            p->labels += 2;
            buf_printf(&p->b, "setp.lt.u32 %%p, %%a%u, %u;\n@%%p bra L%u;\n", pick(p, REGS), pick(p, 60),
                       l);
            put_block(p, depth - 1);
            buf_printf(&p->b, "bra L%u;\nL%u:\n", l + 1, l);
            if (what)
                put_block(p, depth - 1);
            buf_printf(&p->b, "L%u:\n", l + 1);
        }
    }
}

static void put_program(struct program *p)
{
    buf_puts(&p->b, SIM_HEAD
             ".visible .entry k(.param .u64 out) {\n.reg .pred %p, %v;\n.reg .b32 %a<6>, %n<8>, "
             "%t<3>;\n.reg .b64 %o<3>;\n");
    for (unsigned r = 0; r < REGS; r++)
        buf_printf(&p->b, "mov.u32 %%a%u, %u;\n", r, r * 7);
    for (unsigned k = 0; k < 5; k++) {
        put_value(p);
        put_block(p, 2);
    }
    buf_puts(&p->b,
             "ld.param.u64 %o0, [out];\nmov.u32 %t0, %tid.x;\nmov.u32 %t1, %ctaid.x;\nmov.u32 %t2, "
             "%ntid.x;\nmad.lo.u32 %t0, %t1, %t2, %t0;\nmul.wide.u32 %o1, %t0, 24;\nadd.u64 %o2, %o0, "
             "%o1;\n");
    for (unsigned r = 0; r < REGS; r++)
        buf_printf(&p->b, "st.global.u32 [%%o2+%u], %%a%u;\n", r * 4, r);
    buf_puts(&p->b, "ret;\n}\n");
}

enum { CTAS = 2, BLOCK = 64, THREADS = CTAS * BLOCK };
static const uint32_t thread_mask[] = { [PTX_OF_WARP] = ~31u, [PTX_OF_CTA] = ~63u, [PTX_OF_GRID] = 0 };

/* Is value k of all threads the same wherever two are of one warp, CTA or grid? */
static bool alike(const uint32_t *v, uint32_t stride, uint32_t k, enum ptx_threads scope)
{
    for (uint32_t t = 0; t < THREADS; t++)
        if (v[t * stride + k] != v[(t & thread_mask[scope]) * stride + k])
            return false;
    return true;
}

/* Returns how many of the registers are said to be the same. */
static unsigned check_program(uint64_t seed, bool control)
{
    struct program p = { .seed = seed, .control = control };
    unsigned same = 0;
    put_program(&p);
    struct sim_case c = sim_text_ok(p.b.s, CTAS, BLOCK);
    const struct ptx_func *x = c.m->funcs[0];
    assert_non_null(x);
    for (int scope = PTX_OF_WARP; scope <= PTX_OF_GRID; scope++) {
        const bool *varying =
            ptx_varying_of(x, (enum ptx_threads)scope, control ? PTX_BY_CONTROL : PTX_BY_DATA);
        assert_non_null(varying);
        for (uint32_t r = 0; r < c.m->funcs[0]->nregs; r++) {
            struct str name = c.m->funcs[0]->regs[r].name;
            if (name.n != 3 || name.s[1] != 'a' || varying[r])
                continue;
            same++;
            if (!alike((const uint32_t *)(const void *)c.data, REGS, (uint32_t)(name.s[2] - '0'),
                       (enum ptx_threads)scope))
                fail_msg("seed %llu, scope %d: %.*s differs\n%s", (unsigned long long)seed, scope,
                         (int)name.n, name.s, p.b.s);
        }
    }
    sim_case_close(&c);
    buf_free(&p.b);
    return same;
}

static void test_same_by_data(void **state)
{
    unsigned same = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 150; seed++)
        same += check_program(seed, false);
    assert_true(same > 400); /* it says so of a fair share of 150 * 3 * 6 */
}

static void test_same_by_control(void **state)
{
    unsigned same = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 250; seed++)
        same += check_program(seed, true);
    assert_true(same > 400);
}

static void test_special_registers(void **state)
{
    unsigned seen = 0;
    (void)state;
    for (unsigned s = PTX_SREG_NONE + 1; s < PTX_SREG_COUNT; s++) {
        unsigned bits = ptx_sreg_bits((enum ptx_sreg)s);
        char text[600];
        if (bits == 1)
            continue;
        snprintf(text, sizeof text,
                 SIM_HEAD ".visible .entry k(.param .u64 out) {\n.reg .b32 %%t<4>;\n.reg .b64 %%o<4>;\n"
                          "mov.u%u %%%c3, %s%s;\n%sld.param.u64 %%o0, [out];\nmov.u32 %%t0, %%tid.x;\n"
                          "mov.u32 %%t1, %%ctaid.x;\nmov.u32 %%t2, %%ntid.x;\n"
                          "mad.lo.u32 %%t0, %%t1, %%t2, %%t0;\nmul.wide.u32 %%o1, %%t0, 4;\n"
                          "add.u64 %%o2, %%o0, %%o1;\nst.global.u32 [%%o2], %%t3;\nret;\n}\n",
                 bits, bits == 64 ? 'o' : 't', ptx_sreg_name((enum ptx_sreg)s),
                 ptx_sreg_is_vector((enum ptx_sreg)s) ? ".x" : "",
                 bits == 64 ? "cvt.u32.u64 %t3, %o3;\n" : "");
        struct sim_case c = sim_text(text, CTAS, BLOCK);
        for (int scope = PTX_OF_WARP; c.st == ST_OK && scope <= PTX_OF_GRID; scope++)
            if (!ptx_sreg_varies((enum ptx_sreg)s, (enum ptx_threads)scope)) {
                seen++;
                if (!alike((const uint32_t *)(const void *)c.data, 1, 0, (enum ptx_threads)scope))
                    fail_msg("%s differs in scope %d", ptx_sreg_name((enum ptx_sreg)s), scope);
            }
        sim_case_close(&c);
    }
    assert_true(seen > 40);
}

/* Does register `name` of the kernel vary in a CTA? */
static bool varies(const char *body, const char *name, enum ptx_threads scope)
{
    struct buf b = { 0 };
    struct ptx_module *m;
    bool found = false, is = false;
    buf_printf(
        &b,
        HEAD
        ".entry k(.param .u64 q) {\n.reg .pred p;\n.reg .b32 a, b, c, d;\n.reg .b64 l;\n%sret;\n}\n",
        body);
    const struct ptx_func *x = build((struct str){ b.s, b.n }, &m);
    const bool *v = ptx_varying_of(x, scope, PTX_BY_CONTROL);
    for (uint32_t r = 0; r < m->funcs[0]->nregs; r++)
        if (str_is(m->funcs[0]->regs[r].name, name)) {
            found = true;
            is = v[r];
        }
    assert_true(found);
    ptx_free(m);
    buf_free(&b);
    return is;
}

static void test_vote_differs_between_ctas(void **state)
{
    const char *vote = "mov.u32 a, %tid.x;\nsetp.lt.u32 p, a, 5;\nbarrier.red.popc.u32 b, 0, p;\n";
    (void)state;
    assert_false(varies(vote, "b", PTX_OF_CTA));
    assert_true(varies(vote, "b", PTX_OF_GRID));
}

static void test_vote_of_some(void **state)
{
    (void)state;
    assert_true(varies("setp.eq.u32 p, a, a;\nbarrier.red.popc.u32 b, 0, 32, p;\n", "b", PTX_OF_CTA));
    assert_true(varies(
        "mov.u32 a, %tid.x;\nshr.u32 a, a, 5;\nsetp.eq.u32 p, a, a;\nbarrier.red.popc.u32 b, a, p;\n",
        "b", PTX_OF_CTA));
}

static void test_packed_special_register(void **state)
{
    (void)state;
    assert_true(varies("mov.b64 l, {%tid.x, a};\n", "l", PTX_OF_CTA));
    assert_false(varies("mov.b64 l, {%ctaid.x, a};\n", "l", PTX_OF_CTA));
}

static void test_carry(void **state)
{
    (void)state;
    assert_true(
        varies("mov.u32 a, %tid.x;\nadd.cc.u32 a, a, -3;\naddc.u32 b, 0, 0;\n", "b", PTX_OF_CTA));
    assert_false(
        varies("mov.u32 a, %ntid.x;\nadd.cc.u32 a, a, -3;\naddc.u32 b, 0, 0;\n", "b", PTX_OF_CTA));
}

/* ---- many threads ask at once: all get what the first one made ---- */
enum { ASKERS = 8 };
struct asker {
    pthread_t thread;
    const struct ptx_func *f;
    const void *got[6];
};

static void *ask_all(void *ctx)
{
    struct asker *a = ctx;
    a->got[0] = ptx_cfg_of(a->f);
    a->got[1] = ptx_live_of(a->f);
    a->got[2] = ptx_varying_of(a->f, PTX_OF_CTA, PTX_BY_CONTROL);
    a->got[3] = ptx_fixed_of(a->f);
    a->got[4] = ptx_contracted_of(a->f);
    a->got[5] = ptx_fused_of(a->f);
    return NULL;
}

static void test_many_ask(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct buf b = { 0 };
        struct ptx_module *m;
        struct asker a[ASKERS];
        random_body(&b, seed, MOST - 4);
        const struct ptx_func *f = build((struct str){ b.s, b.n }, &m);
        for (unsigned k = 0; k < ASKERS; k++) {
            a[k] = (struct asker){ .f = f };
            assert_int_equal(pthread_create(&a[k].thread, NULL, ask_all, &a[k]), 0);
        }
        for (unsigned k = 0; k < ASKERS; k++)
            assert_int_equal(pthread_join(a[k].thread, NULL), 0);
        for (unsigned k = 0; k < ASKERS; k++)
            for (unsigned n = 0; n < ARRAY_LEN(a[k].got); n++)
                assert_true(a[k].got[n] && a[k].got[n] == a[0].got[n]);
        assert_ptr_equal(a[0].got[5], f); /* nothing is fused there: the function itself */
        ptx_free(m);
        buf_free(&b);
    }
}

int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solver),
        cmocka_unit_test(test_solver_of_nothing),
        cmocka_unit_test(test_reach),
        cmocka_unit_test(test_regions),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_live),
        cmocka_unit_test(test_live_vector),
        cmocka_unit_test(test_same_by_data),
        cmocka_unit_test(test_same_by_control),
        cmocka_unit_test(test_special_registers),
        cmocka_unit_test(test_vote_differs_between_ctas),
        cmocka_unit_test(test_vote_of_some),
        cmocka_unit_test(test_packed_special_register),
        cmocka_unit_test(test_carry),
        cmocka_unit_test(test_many_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
