/* How many CTAs a device holds: against values by hand, a reference that hands out warps one by one,
 * what ptxas allows, and what must hold between answers. */
#include "tests/support.h"

#include "engine/ptx/flow/asks.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/device.h"
#include "engine/session/preset.h"
#include "engine/sim/mem.h"
#include "engine/sim/preset.h"
#include "engine/sim/sim.h"

#include <string.h>

static struct sim_preset preset_named(const char *name)
{
    struct sim_preset p;
    struct diags ds = { 0 };
    assert_status_ok(preset_read(NULL, name, &p, &ds), &ds);
    diags_free(&ds);
    return p;
}

static struct dev_info named(const char *name)
{
    struct sim_preset p = preset_named(name);
    struct dev_info d;
    sim_preset_info(&p, &d);
    return d;
}

static void test_values_by_hand(void **state)
{
    (void)state;
    const struct {
        const char *preset;
        struct dev_cta cta; /* threads, registers, shared, cluster, carve-out */
        uint32_t ctas;
        enum dev_limit limit;
    } v[] = {
        { "hopper-h200", { 512, 32, 0, 0, -1 }, 4, DEV_LIMIT_WARPS },  /* 64 warps */
        { "hopper-h200", { 512, 40, 0, 0, -1 }, 3, DEV_LIMIT_REGS },   /* 1280 a warp; 51 -> 48 warps */
        { "hopper-h200", { 1024, 255, 0, 0, -1 }, 0, DEV_LIMIT_REGS }, /* registers of 8 warps */
        { "hopper-h200", { 32, 32, 0, 0, -1 }, 32, DEV_LIMIT_SLOTS },
        { "hopper-h200", { 256, 32, 49152, 0, -1 }, 4, DEV_LIMIT_SHARED },  /* 49 KB of 228 */
        { "hopper-h200", { 256, 32, 232448, 0, -1 }, 1, DEV_LIMIT_SHARED }, /* 227 and 1 KB */
        { "hopper-h200",
          { 256, 32, 232449, 0, -1 },
          0,
          DEV_LIMIT_SHARED }, /* more than a CTA may have */
        { "hopper-h200",
          { 32, 32, 4096, 0, 4 },
          6,
          DEV_LIMIT_SHARED }, /* 32 KB for the system: 32 / 5 KB */
        { "hopper-h200", { 32, 32, 4097, 0, 4 }, 6, DEV_LIMIT_SHARED },   /* 5248 bytes each */
        { "hopper-h200", { 32, 32, 4400, 0, 14 }, 5, DEV_LIMIT_SHARED },  /* 31.9 -> 32 KB; 5504 each */
        { "hopper-h200", { 32, 32, 4400, 0, 15 }, 11, DEV_LIMIT_SHARED }, /* 34.2 -> 64 KB */
        { "volta-v100", { 256, 32, 49152, 0, -1 }, 2, DEV_LIMIT_SHARED }, /* 96 KB */
        { "volta-v100", { 1024, 64, 0, 0, -1 }, 1, DEV_LIMIT_REGS },
        { "volta-v100", { 64, 32, 3000, 0, -1 }, 32, DEV_LIMIT_SLOTS },  /* 3072: 96 KB / 32 */
        { "volta-v100", { 64, 32, 3073, 0, -1 }, 29, DEV_LIMIT_SHARED }, /* 3328 each */
        { "ampere-a100", { 128, 128, 0, 0, -1 }, 4, DEV_LIMIT_REGS },
        { "ampere-a100", { 64, 32, 4096, 0, -1 }, 32, DEV_LIMIT_SLOTS },  /* 5 KB: 164 / 5 = 32 */
        { "ampere-a100", { 64, 32, 4225, 0, -1 }, 31, DEV_LIMIT_SHARED }, /* 5376 each */
        { "ampere-a100", { 64, 32, 9000, 0, 10 }, 3, DEV_LIMIT_SHARED },  /* 32 KB; 10112 each */
        { "fermi-16k", { 256, 20, 0, 0, -1 }, 6, DEV_LIMIT_WARPS },       /* 48 warps */
        { "fermi-16k", { 256, 32, 0, 0, -1 }, 4, DEV_LIMIT_REGS },        /* 32768 registers */
        { "fermi-16k", { 64, 20, 6144, 0, -1 }, 8, DEV_LIMIT_SLOTS },
        { "fermi-16k", { 64, 20, 6145, 0, -1 }, 7, DEV_LIMIT_SHARED },   /* 6272 each of 48 KB */
        { "fermi-48k", { 256, 20, 17000, 0, -1 }, 2, DEV_LIMIT_SHARED }, /* raises the split to 48 KB */
        { "fermi-48k", { 64, 20, 5000, 0, -1 }, 3, DEV_LIMIT_SHARED },   /* 16 KB */
        { "kepler-k40", { 256, 32, 0, 0, -1 }, 8, DEV_LIMIT_WARPS },
        { "kepler-gtx690", { 32, 32, 3072, 0, -1 }, 16, DEV_LIMIT_SLOTS },
        { "kepler-gtx690", { 32, 32, 3200, 0, -1 }, 14, DEV_LIMIT_SHARED }, /* 3328 each of 48 KB */
        { "maxwell-750ti", { 64, 32, 2048, 0, -1 }, 32, DEV_LIMIT_WARPS },
        { "maxwell-750ti",
          { 64, 32, 2049, 0, 10 },
          28,
          DEV_LIMIT_SHARED },                                         /* memory of its own: no split */
        { "pascal-p100", { 320, 168, 0, 0, -1 }, 1, DEV_LIMIT_REGS }, /* two parts: 6 warps each */
        { "ada-4090", { 256, 32, 0, 0, -1 }, 6, DEV_LIMIT_WARPS },
    };
    for (size_t i = 0; i < ARRAY_LEN(v); i++) {
        struct dev_info d = named(v[i].preset);
        struct dev_resident r = dev_resident(&d, &v[i].cta);
        if (r.ctas_per_sm != v[i].ctas || (r.limit != v[i].limit && v[i].limit != DEV_LIMIT_WARPS))
            fail_msg("case %zu (%s): %u CTAs by %s, not %u by %s", i, v[i].preset, r.ctas_per_sm,
                     dev_limit_name(r.limit), v[i].ctas, dev_limit_name(v[i].limit));
        assert_int_equal(r.ctas, (uint64_t)r.ctas_per_sm * d.sms);
    }
}

/* ---- a reference: CTAs are put on an SM one by one until one does not fit ---- */
struct sm {
    int64_t regs[8];
    int64_t slots, warps, shared;
};

static bool put_warp(struct sm *s, int64_t parts, int64_t regs)
{
    int64_t most = 0;
    for (int64_t i = 1; i < parts; i++)
        most = s->regs[i] > s->regs[most] ? i : most;
    s->regs[most] -= regs;
    return s->regs[most] >= 0;
}

static bool put_cta(struct sm *s, const struct sim_preset *g, const struct dev_cta *c)
{
    int64_t warps = (int64_t)(c->threads + 31) / 32, regs = 0, shared = g->shared_reserved;
    while (regs < (int64_t)c->regs * 32)
        regs += g->reg_unit;
    shared += (int64_t)c->shared;
    while (shared % g->shared_unit)
        shared++;
    bool fits = (s->slots -= 1) >= 0 && (s->warps -= warps) >= 0 && (s->shared -= shared) >= 0;
    for (int64_t w = 0; w < warps; w++)
        fits &= put_warp(s, g->warp_unit, regs);
    return fits && (int64_t)c->shared <= g->shared_block_max;
}

static uint32_t put_all(const struct sim_preset *g, const struct dev_cta *c, int64_t shared)
{
    struct sm s = { .slots = g->max_ctas, .warps = g->max_warps, .shared = shared };
    uint32_t n = 0;
    for (int64_t i = 0; i < g->warp_unit; i++)
        s.regs[i] = g->regs_per_sm / g->warp_unit;
    while (put_cta(&s, g, c))
        n++;
    return n;
}

/* Tries the carve-outs from the smallest on: the first that is as much as asked for and as the system
 * takes, and holds a CTA; without a preference the first with which no more CTAs fit in a larger one. */
static uint32_t reference(const struct sim_preset *g, const struct dev_cta *c)
{
    uint32_t most = put_all(g, c, INT64_MAX / 2), n = 0;
    int64_t kept =
        g->shared_system_ctas * most < g->max_ctas ? g->shared_system_ctas * most : g->max_ctas;
    if (!g->unified_bytes)
        return put_all(g, c, g->shared_max);
    if (c->carveout < 0 && g->carve_default >= 0 && (n = put_all(g, c, g->carve_default * 1024)) > 0)
        return n;
    for (int i = 0; i < 10 && (&g->carve_0)[i] >= 0; i++) {
        int64_t room = (&g->carve_0)[i] * 1024;
        n = put_all(g, c, room);
        bool enough = c->carveout >= 0 ? room >= g->shared_max * c->carveout / 100
                                       : g->carve_default >= 0 || n == most;
        if (n && enough && (c->carveout < 0 || room >= kept * g->shared_reserved))
            return n;
    }
    return n;
}

static struct dev_cta random_cta(uint64_t seed, uint64_t k, const struct dev_info *d)
{
    uint64_t r = base_splitmix(seed, k), s = base_splitmix(seed + 1, k);
    struct dev_cta c = { .threads = 1 + r % 1024, .regs = 8 + (uint32_t)(r >> 20) % 248 };
    c.shared = s % 3 ? (s >> 8) % 12000 : (s >> 8) % (d->shared_per_block_optin + 100);
    c.carveout = s % 5 ? -1 : (int)((s >> 40) % 101);
    if (r % 7 == 0)
        c.regs = 16 + c.regs % 24;
    return c;
}

static void test_against_a_reference(void **state)
{
    (void)state;
    unsigned held = 0;
    for (size_t i = 0; i < preset_count(); i++) {
        struct sim_preset g = preset_named(preset_name(i));
        struct dev_info d = named(preset_name(i));
        for (uint64_t k = 0; k < 400; k++) {
            struct dev_cta c = random_cta(i, k, &d);
            uint32_t n = dev_resident(&d, &c).ctas_per_sm, want = reference(&g, &c);
            if (n != want)
                fail_msg("%s, %llu threads, %u registers, %llu bytes, carve-out %d: %u CTAs, not %u",
                         g.name, (unsigned long long)c.threads, c.regs, (unsigned long long)c.shared,
                         c.carveout, n, want);
            held += n > 0;
        }
    }
    assert_true(held > 3000);
}

/* Whoever asks for more is not held more often, unless the device takes a larger carve-out for it. */
static void test_more_is_never_held_more_often(void **state)
{
    (void)state;
    for (size_t i = 0; i < preset_count(); i++) {
        struct dev_info d = named(preset_name(i));
        for (uint64_t k = 0; k < 300; k++) {
            struct dev_cta c = random_cta(i + 100, k, &d), more[4] = { c, c, c, c };
            struct dev_resident r = dev_resident(&d, &c), now;
            more[0].shared += 1 + k * 7;
            more[1].regs += 1 + (uint32_t)k % 9;
            more[2].threads += 1 + k % 65;
            more[3].carveout = c.carveout > 0 ? c.carveout / 2 : c.carveout;
            for (size_t m = 0; m < ARRAY_LEN(more); m++) {
                now = dev_resident(&d, &more[m]);
                if (now.ctas_per_sm > r.ctas_per_sm && now.carveout <= r.carveout)
                    fail_msg("%s: case %llu.%zu", d.spec, (unsigned long long)k, m);
            }
        }
    }
}

/* What ptxas 13.0 gives a kernel for sm_90 that wants all registers. */
static void test_registers_that_directives_leave(void **state)
{
    (void)state;
    static const struct {
        struct dev_bounds b; /* threads, CTAs of an SM, .maxnreg */
        uint32_t regs;
    } v[] = {
        { { 0, 0, 0 }, 255 },   { { 96, 0, 0 }, 255 },  { { 96, 3, 0 }, 168 },  { { 1024, 0, 0 }, 64 },
        { { 992, 0, 0 }, 64 },  { { 256, 8, 0 }, 32 },  { { 33, 8, 0 }, 128 },  { { 256, 4, 128 }, 64 },
        { { 256, 1, 40 }, 40 }, { { 1024, 2, 0 }, 32 }, { { 160, 2, 0 }, 168 }, { { 160, 3, 0 }, 128 },
        { { 640, 3, 0 }, 32 },  { { 352, 1, 0 }, 168 }, { { 352, 3, 0 }, 56 },  { { 96, 21, 0 }, 32 },
        { { 0, 8, 0 }, 255 },   { { 1024, 3, 0 }, 64 }, { { 32, 40, 0 }, 255 },
    };
    struct dev_info d = named("hopper-h200");
    for (size_t i = 0; i < ARRAY_LEN(v); i++)
        if (dev_regs_allowed(&d, &v[i].b) != v[i].regs)
            fail_msg("case %zu: %u registers, not %u", i, dev_regs_allowed(&d, &v[i].b), v[i].regs);
}

/* Registers of so many warps are those with which they fit, and one step more no longer. */
static void test_registers_of_warps_are_the_most(void **state)
{
    (void)state;
    for (size_t i = 0; i < preset_count(); i++) {
        struct dev_info d = named(preset_name(i));
        for (uint32_t warps = 1; warps <= d.max_warps_per_sm; warps++) {
            uint32_t regs = dev_regs_of_warps(&d, warps);
            assert_true(dev_warps_of_regs(&d, regs) >= warps);
            assert_true(regs == (uint32_t)d.sm.regs_per_thread ||
                        dev_warps_of_regs(&d, regs + 1) < warps);
        }
    }
}

static void test_clusters(void **state)
{
    (void)state;
    static const struct {
        uint64_t cluster, shared, ctas;
        uint32_t places, clusters;
    } v[] = {
        { 0, 200000, 132, 132, 1 },        { 2, 200000, 132, 66, 1 }, { 2, 50000, 4 * 132, 66, 4 },
        { 4, 200000, 120 / 4 * 4, 30, 1 }, { 8, 200000, 120, 15, 1 }, { 16, 50000, 112 * 4, 7, 4 },
    };
    struct sim_preset g = preset_named("hopper-h200");
    struct dev_info d;
    g.cluster_sms_4 = g.cluster_sms_8 = 120;
    g.cluster_sms_16 = 112;
    sim_preset_info(&g, &d);
    for (size_t i = 0; i < ARRAY_LEN(v); i++) {
        struct dev_cta c = { 128, 32, v[i].shared, v[i].cluster, -1 };
        struct dev_resident r = dev_resident(&d, &c);
        assert_int_equal(r.ctas, v[i].ctas);
        assert_int_equal(r.places, v[i].places);
        assert_int_equal(r.clusters, v[i].clusters);
        assert_int_equal(r.limit == DEV_LIMIT_CLUSTER, r.ctas < 132ull * r.ctas_per_sm);
    }
}

static uint64_t l1_kb(const char *preset, uint64_t threads, uint64_t shared, int carveout)
{
    struct dev_info d = named(preset);
    struct dev_cta c = { threads, 32, shared, 0, carveout };
    return dev_resident(&d, &c).l1_bytes / 1024;
}

static void test_what_is_left_for_l1(void **state)
{
    (void)state;
    /* 256 KB less 228; of these and the following 7 only hold what is on its way (l1_fill_buffers) */
    assert_int_equal(l1_kb("hopper-h200", 512, 0, 100), 28);
    /* CTAs of 512 threads leave 240 KB (of which an H200 finds 235 again: tests/gpu/micro.c), */
    assert_int_equal(l1_kb("hopper-h200", 512, 0, 0), 256 - 16);
    assert_int_equal(l1_kb("hopper-h200", 512, 0, -1), 256 - 16);
    assert_int_equal(l1_kb("hopper-h200", 1024, 0, -1), 256 - 8); /* of 1024 248 KB (243), */
    /* of 256 and of 32 224 KB (219) */
    assert_int_equal(l1_kb("hopper-h200", 256, 0, -1), 256 - 32);
    assert_int_equal(l1_kb("hopper-h200", 32, 0, 0), 256 - 32);
    assert_int_equal(l1_kb("hopper-h200", 512, 0, 50), 256 - 132); /* 114 KB asked: next larger */
    assert_int_equal(l1_kb("fermi-16k", 512, 0, -1), 16);
    assert_int_equal(l1_kb("fermi-48k", 512, 0, -1), 48);
    assert_int_equal(l1_kb("fermi-48k", 512, 20000, -1), 16);
    assert_int_equal(l1_kb("kepler-k80-32k", 512, 0, -1), 32);
    assert_int_equal(l1_kb("pascal-p100", 512, 0, -1), 24);
    assert_int_equal(l1_kb("volta-v100", 512, 0, -1), 128);
}

/* A record without the units says so, and one of nothing holds nothing. */
static void test_what_is_not_known(void **state)
{
    (void)state;
    struct dev_info none = { 0 }, d = named("hopper-h200");
    struct dev_cta c = { 128, 32, 0, 0, -1 };
    assert_int_equal(dev_resident(&none, &c).ctas, 0);
    assert_false(dev_resident_known(&none));
    assert_true(dev_resident_known(&d));
    d.sm.shared_unit = 0;
    assert_false(dev_resident_known(&d));
    /* a driver tells the memory of an SM, not the carve-outs: those are as large as they need be */
    none = (struct dev_info){ .sms = 1, .max_warps_per_sm = 64, .shared_per_sm = 102400 };
    none.sm.unified_bytes = 131072;
    none.sm.carve_default = -1;
    c.shared = 10240;
    assert_int_equal(dev_resident(&none, &c).ctas, 10);
    assert_int_equal(dev_resident(&none, &c).l1_bytes, 131072 - 102400);
}

/* ---- what a text declares ---- */
static const char *const declared =
    ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 1 .b8 g[3];\n"
    ".func unused() { .shared .align 4 .b8 no[4000]; ret; }\n"
    ".func used() { .shared .align 8 .b8 f[9]; .reg .b32 %r; mov.u32 %r, f; ret; }\n"
    ".visible .entry other() { .shared .align 4 .b8 no[4000]; ret; }\n"
    ".visible .entry k() .reqnctapercluster 2, 2, 1\n.reqntid 7, 3, 1\n"
    "{ .shared .align 16 .b8 a[20]; .reg .b32 %r; .reg .b16 %h; mov.u32 %r, a; ld.shared.u8 %h, [g+1];\n"
    "st.shared.u8 [a], %h; call used; ret; }\n"
    ".extern .shared .align 64 .b8 dyn[];\n"
    ".visible .entry d() { .shared .align 4 .b8 a[4]; .reg .b32 %r; mov.u32 %r, dyn; ret; }\n";

/* g 0..3, a 16..36, f 40..49; the dynamic array at 64. Who does not name g has none, as with ptxas. The
 * simulator says the same. */
static void test_shared_memory_of_a_text(void **state)
{
    (void)state;
    struct diags ds = { 0 };
    struct ptx_module *m = NULL;
    assert_status_ok(ptx_parse("t.ptx", str_of(declared), &m, &ds), &ds);
    const struct ptx_func *k = ptx_find_func(m, STR("k"));
    assert_int_equal(ptx_shared_of(m, k).bytes, 64);
    assert_true(ptx_shared_of(m, k).unsized);
    assert_int_equal(ptx_shared_of(m, ptx_find_func(m, STR("d"))).bytes, 64);
    assert_int_equal(ptx_shared_of(m, ptx_find_func(m, STR("other"))).bytes, 4032);
    assert_int_equal(ptx_cluster_of(k), 4);
    assert_int_equal(ptx_threads_of(k), 21);
    struct sim_preset g = preset_named("hopper-h200");
    static const char *const names[] = { "k", "d", "other" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct sim_mem *mem = sim_mem_new(1 << 20);
        struct sim_program *p = NULL;
        assert_status_ok(sim_load(m, str_of(names[i]), &g, mem, &p, &ds), &ds);
        assert_int_equal(sim_program_resources(p).shared_static,
                         ptx_shared_of(m, ptx_find_func(m, str_of(names[i]))).bytes);
        sim_unload(p);
        sim_mem_free(mem);
    }
    ptx_free(m);
    diags_free(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_values_by_hand),
                                        cmocka_unit_test(test_against_a_reference),
                                        cmocka_unit_test(test_more_is_never_held_more_often),
                                        cmocka_unit_test(test_registers_that_directives_leave),
                                        cmocka_unit_test(test_registers_of_warps_are_the_most),
                                        cmocka_unit_test(test_clusters),
                                        cmocka_unit_test(test_what_is_left_for_l1),
                                        cmocka_unit_test(test_what_is_not_known),
                                        cmocka_unit_test(test_shared_memory_of_a_text) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
